"""The three views of real stories: exports read as a DBA brings them, judged by all rules."""

import re
from collections import Counter
from collections.abc import Callable

import pytest

from advisor.ase.services.planned import planned
from advisor.ase.services.stored import views_of
from advisor.audits.models import Audit
from advisor.uploads.models import Upload
from tests.advisor.people import AsUser, People, text_of

STORIES = (
    "vlh_4_hot_tables",
    "eight_engines_no_ratio_due",
    "relaxed_advice_not_to_follow",
    "healthy_ledger_server",
    "untrusted_counters_cleared",
)
ASKED = "?address=5&lock=20&buckets=4096&object=10&cut-0=8&size-0=9000&engines=4"


@pytest.mark.parametrize("story", STORIES)
def test_every_view_of_a_story_is_there(
    people: People, bring: Callable[..., Upload], as_user: AsUser, story: str
) -> None:
    bring(story)
    client = as_user(people.colleague)
    audits = list(Audit.objects.filter(system__product="ase"))
    assert audits
    for audit in audits:
        for view in ("caches/", "spinlocks/", "what-if/", f"what-if/{ASKED}"):
            text_of(client, f"/audits/{audit.pk}/{view}")


def test_hot_tables_show_their_partitions_and_the_one_plan(
    people: People, bring: Callable[..., Upload], as_user: AsUser
) -> None:
    bring("vlh_4_hot_tables")
    audit = Audit.objects.get()
    page = text_of(as_user(people.colleague), f"/audits/{audit.pk}/caches/")
    assert "hottest partition" in page
    assert "After the plan" in page
    created = {key for step in audit.plan["steps"] for key in step["change_keys"] if key.endswith(":create")}
    planned = Counter(re.findall(r"([\w ]+), planned", page))
    assert len(planned) == len(created), planned
    assert len(set(planned.values())) == 1, "each once in the map of each width"


def test_counters_that_were_cleared_are_listed_as_not_believed(
    people: People, bring: Callable[..., Upload], as_user: AsUser
) -> None:
    bring("untrusted_counters_cleared")
    page = text_of(as_user(people.colleague), f"/audits/{Audit.objects.latest('pk').pk}/spinlocks/")
    assert "Not believed" in page
    assert "they are not zero" in page
    assert "counters were cleared" in page


def test_what_all_findings_move_is_added_up_in_the_map_after_the_plan(
    people: People, bring: Callable[..., Upload], as_user: AsUser
) -> None:
    """Of 200 million searches, tables 89, system tables 9, the log 22, temporary databases 54.4: 25.6 million stay."""
    bring("caches_without_free_memory")
    audit = Audit.objects.get()
    plan = planned(audit, views_of(audit.capture).caches)
    assert plan is not None
    assert plan.shares == {"default data cache": pytest.approx(0.128, abs=0.002)}
    assert (plan.restarts, plan.outages) == (1, 1)
    default = plan.of("default data cache")
    assert default is not None
    assert (default.size_mb, default.partitions, default.several, default.waited) == (32528.0, 16, True, None)
    assert plan.freed_mb >= plan.memory_mb
    page = text_of(as_user(people.colleague), f"/audits/{audit.pk}/caches/")
    assert "expected: 13 % of all searches" in page
    assert "several changes: not computed" in page
    assert "It takes 1 restart of the server and 1 step in which a database or table cannot be used" in page


def test_a_healthy_server_with_many_caches_has_no_plan(
    people: People, bring: Callable[..., Upload], as_user: AsUser
) -> None:
    bring("many_caches_in_order")
    page = text_of(as_user(people.colleague), f"/audits/{Audit.objects.get().pk}/caches/")
    assert "This audit changes no cache" in page
    assert "After the plan" not in page
