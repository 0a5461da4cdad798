"""The rule that tests of the rule book are told with, where it stands, and what a page of it says."""

import re

from django.test import Client
from django.urls import reverse

RULE = "ase/address_lock_spinlock_contended"
LIMIT = f"{RULE}.contention_percent"


def words_of(client: Client, address: str) -> str:
    answer = client.get(address)
    assert answer.status_code == 200
    return " ".join(re.sub(r"<[^>]*>", " ", answer.content.decode()).split())


def of_rule(rule: str = RULE) -> str:
    return reverse("rule", kwargs={"rule_id": rule})
