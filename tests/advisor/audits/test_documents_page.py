"""The page of the source documents: everything that is listed, with what is made of it, and nothing made up."""

import json
import re

import pytest
from django.core.management import call_command
from django.test import Client
from django.urls import resolve, reverse

from advisor.audits.services.documents import documents, platforms, source_documents
from tests.advisor.audits.rule_pages import of_rule, words_of
from tests.advisor.people import AsUser, People


def test_every_entry_is_on_the_page_with_its_figures_and_its_rules_and_no_test(people: People, as_user: AsUser) -> None:
    client = as_user(people.colleague)
    page = client.get(reverse("documents")).content.decode()
    said = words_of(client, reverse("documents")).replace("&#39;", "'").replace("&gt;", ">").replace("&lt;", "<")
    for one in source_documents():
        assert f'id="document-{one.number}"' in page
        for entry in one.entries:
            for text in (entry.place, entry.shows, *entry.figures):
                assert " ".join(text.split()) in said.replace("&amp;", "&"), text
            assert entry.tests, "what the page does not name is still held by a test"
            assert not [test for test in entry.tests if test in page]
    assert "tests/" not in page
    assert "test_" not in page
    for entry in (entry for one in documents() for entry in one["entries"]):
        assert all(f'href="{of_rule(rule)}"' in page for rule in entry["rules"])


def test_charts_without_figures_and_slips_are_counted_and_said(people: People, as_user: AsUser) -> None:
    entries = [entry for one in source_documents() for entry in one.entries]
    charts = sum(entry.kind == "chart" for entry in entries)
    said = words_of(as_user(people.colleague), reverse("documents"))
    assert said.count("The chart's figures are not in the text.") == charts
    assert f"{charts} charts are pictures" in said
    assert said.count("Does not fit:") == sum(bool(entry.slip) for entry in entries) == 4
    assert f"{len(entries)} in all" in said


def test_platforms_stand_side_by_side_and_what_is_not_in_the_text_is_no_figure(people: People, as_user: AsUser) -> None:
    said = words_of(as_user(people.colleague), reverse("documents"))
    after = said[said.rindex("Alpha, Integrity and an emulator, side by side") :]
    for pieces in (("178.21 s", "34.2"), ("14.59 s", "2.8"), ("2,084", "10,999", "5.3"), ("improved by about 38 %",)):
        assert all(piece in after for piece in pieces), pieces
    assert after.count("not in the text") == sum(one["times"] is None for one in platforms()["pairs"]) + 1
    assert "promise nothing" in after


def test_the_page_needs_a_login_and_is_linked_from_the_rule_book(people: People, as_user: AsUser) -> None:
    assert Client().get(reverse("documents")).status_code == 302
    page = as_user(people.colleague).get(reverse("rulebook")).content.decode()
    assert f'href="{reverse("documents")}"' in page


def test_the_address_is_not_taken_for_a_rule() -> None:
    assert resolve("/rules/documents/").url_name == "documents"
    assert resolve("/rules/openvms/spinlock_hot/").url_name == "rule"


def test_the_page_has_one_table_for_each_document_and_one_of_platforms(people: People, as_user: AsUser) -> None:
    page = as_user(people.colleague).get(reverse("documents")).content.decode()
    assert len(re.findall(r"<table\b", page)) == len(source_documents()) + 1
    assert page.count("<caption") == len(source_documents()) + 1


def test_the_command_prints_the_documents_in_the_contract_of_the_rules(capsys: pytest.CaptureFixture[str]) -> None:
    call_command("rules", "documents", "--format", "json")
    found = json.loads(capsys.readouterr().out)
    assert (found["contract"], found["rules"]) == ("rules/1", [])
    assert [one["document"] for one in found["documents"]] == ["000", "001", "002", "003", "004"]
    assert found["platforms"]["pairs"][0]["times"] == pytest.approx(34.2, abs=0.01)
    call_command("rules", "documents")
    text = capsys.readouterr().out
    assert all(entry.place in " ".join(text.split()) for one in source_documents() for entry in one.entries)


def test_the_command_still_prints_rules_by_product_and_by_id(capsys: pytest.CaptureFixture[str]) -> None:
    call_command("rules", "openvms/spinlock_hot", "--format", "json")
    found = json.loads(capsys.readouterr().out)
    assert [one["rule"] for one in found["rules"]] == ["openvms/spinlock_hot"]
    assert set(found) == {"contract", "rules"}
