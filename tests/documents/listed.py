"""Entries of the list of documents and rules by id, for the tests."""

import re

from advisor.audits.services.documents import Document, Entry, source_documents
from rules.engine import Rule, rules

DOCUMENTS = source_documents()

NUMBER = re.compile(r"(?<![\w.])\d[\d,]*(?:\.\d+)?|(?<![\w.])\.\d+")


def document(number: str) -> Document:
    (found,) = [one for one in DOCUMENTS if one.number == number]
    return found


def entry(number: str, place: str) -> Entry:
    (found,) = [one for one in document(number).entries if one.place == place]
    return found


def rule_of(rule_id: str) -> Rule:
    (found,) = [one for one in rules() if one.id == rule_id]
    return found


def numbers_in(text: str) -> list[float]:
    """Every number as printed: `1,031` is one, `206.2` is one."""
    return [float(found.replace(",", "")) for found in NUMBER.findall(text)]
