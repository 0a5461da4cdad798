"""The cache map of a capture: what each cache is and does, the binding plan of the audit, nothing that was not read."""

import csv
import io
from dataclasses import replace

import pytest

from advisor.ase.services.caches import MOST_CACHES, CacheMap, Shown, cache_map
from advisor.ase.services.planned import planned
from advisor.audits.models import Audit
from collectors.facts import OVERFLOW, Fact, Facts, known
from collectors.facts.ase import (
    CacheActivity,
    EngineBusy,
    MemoryHeadroom,
    MonDataCache,
    MonOpenObjectActivity,
    MonSpinlockActivity,
    NamedCache,
)
from rules.ase._evidence.caches.contents import contents_of
from tests.advisor.ase.servers import DEFAULT, EVEN, audited, contended, engines, setting, spun, sysmon_only
from tests.advisor.charts.pictures import HOSTILE
from tests.advisor.people import AsUser, People, text_of


def renamed(one: Fact, name: str) -> Fact:
    """The fact, where it is of the cache lookup with another name for it."""
    if isinstance(one, MonSpinlockActivity | MonDataCache | NamedCache) and one.name == "lookup":
        return replace(one, name=name)
    return one


def caches_of(facts: list[Fact]) -> dict[str, Shown]:
    made = Facts(tuple(facts))
    return {one.name: one for one in cache_map(made, contents_of(made)).caches}


def test_a_cache_shows_its_shares_its_partitions_and_what_lives_in_it() -> None:
    shown = caches_of(contended())
    assert list(shown) == [DEFAULT, "lookup"], "the largest first"
    one = shown[DEFAULT]
    assert (one.size_mb, one.partitions, one.replacement) == (8000.0, 4, "strict LRU")
    assert one.searches_share == pytest.approx(0.9)
    assert one.load.percent == 20.0
    assert one.load.cells == pytest.approx((32.0, 100 / 6, 10.0, 100 / 30))
    assert (one.load.hottest, one.load.coldest) == pytest.approx((32.0, 100 / 30))
    assert one.load.spins_share == pytest.approx(100 * 72_000_000 / 170_009_400)
    assert one.pools == ("2 KB: 6,000 MB", "16 KB: 2,000 MB")
    assert [(held.name, round(held.of_all, 3)) for held in one.residents] == [
        ("claims.dbo.claim", 0.3),
        ("claims.dbo.claim.claim_pk", 0.2),
        ("claims.dbo.tariff", 0.15),
    ]


def test_what_waits_for_a_restart_and_what_is_bound_are_said() -> None:
    one = caches_of(contended())["lookup"]
    assert one.pending == ("partitions 1, 2 after the next restart",)
    assert (one.bound, one.bound_count) == (("claims.dbo.country",), 1)
    assert one.load.cells == ()
    assert "one figure for all partitions" in one.load.said


def test_sysmon_alone_gives_one_figure_for_a_cache_and_no_spins() -> None:
    one = caches_of(sysmon_only())[DEFAULT]
    assert (one.load.percent, one.load.spins_share, one.load.cells) == (12.5, None, ())
    assert one.load.said.startswith("sp_sysmon")
    assert one.searches_share == pytest.approx(0.8)
    assert (one.size_mb, one.partitions, one.replacement) == (None, None, None)


def test_zero_asterisks_and_absent_stay_apart() -> None:
    facts = [one for one in sysmon_only() if not isinstance(one, CacheActivity)]
    facts += [
        CacheActivity(name="zero", contention_percent=0.0),
        CacheActivity(name="stars", contention_percent=OVERFLOW),
    ]
    shown = caches_of([*facts, NamedCache(name="silent", run_size_mb=5.0)])
    assert shown["zero"].load.percent == 0.0
    assert shown["stars"].load.percent is None
    assert shown["silent"].load.percent is None
    assert shown["silent"].load.said == "not in the export"


def test_counts_that_cannot_be_believed_are_no_zero() -> None:
    facts = [one for one in contended() if not isinstance(one, MonSpinlockActivity)]
    facts.append(MonSpinlockActivity(name=DEFAULT, over="interval", seconds=120.0, certificate="reset"))
    one = caches_of(facts)[DEFAULT]
    assert one.load.percent is None
    assert "cannot be believed" in one.load.said
    assert "restarted or its counters were cleared" in one.load.said


def test_shares_of_searches_are_shown_only_where_every_cache_was_counted() -> None:
    facts = [one for one in sysmon_only() if not isinstance(one, CacheActivity)]
    facts += [CacheActivity(name="one", searches=900.0), CacheActivity(name="other")]
    assert all(one.searches_share is None for one in caches_of(facts).values())


def test_a_server_with_very_many_caches_is_cut_and_the_rest_counted() -> None:
    many = Facts(tuple(NamedCache(name=f"c{n}", run_size_mb=float(n)) for n in range(MOST_CACHES + 7)))
    shown = cache_map(many, contents_of(many))
    assert len(shown.caches) == MOST_CACHES
    assert shown.left_out == 7
    assert shown.caches[0].size_mb == MOST_CACHES + 6


@pytest.fixture
def audit(people: People) -> Audit:
    return audited(people, contended(EVEN))


def test_the_plan_shown_is_the_plan_of_the_audit(people: People, audit: Audit, as_user: AsUser) -> None:
    facts = Facts(tuple(contended(EVEN)))
    plan = planned(audit, cache_map(facts, contents_of(facts)))
    assert plan is not None
    by_name = {cache.name: cache for cache in plan.new}
    assert by_name["claim_relaxed"].members == ("claims.dbo.claim",)
    assert (by_name["claim_relaxed"].size_mb, by_name["claim_relaxed"].partitions) == (320.0, 4)
    assert by_name["claim_relaxed"].relaxed
    assert by_name["claim_relaxed"].share == pytest.approx(0.3)
    assert plan.shares == {DEFAULT: pytest.approx(0.25)}
    assert (plan.basis, plan.free_mb) == ("arithmetic", 2048.0)
    finding = audit.findings.get(rule="ase/hot_table_in_default_cache")
    assert f"takes {plan.memory_mb:,.0f} of 2,048 MB that are free" in finding.data["says"]
    page = text_of(as_user(people.colleague), f"/audits/{audit.pk}/caches/")
    assert "expected: 30 % of all searches" in page
    assert f'href="/audits/{audit.pk}/#f{finding.number}"' in page
    assert "sp_bindcache" not in page, "the script stays where it is"


def test_a_change_that_conflicts_is_not_in_the_plan_that_is_shown(audit: Audit) -> None:
    facts = Facts(tuple(contended(EVEN)))
    shown = cache_map(facts, contents_of(facts))
    lost, left_out = "ase.cache:claim_relaxed:create", "ase.bind:claims.dbo.claim"
    for step in audit.plan["steps"]:
        step["change_keys"] = [key for key in step["change_keys"] if key not in (lost, left_out)]
    audit.plan["conflicts"] = [{"change_keys": [lost], "why": "asked to become two things"}]
    plan = planned(audit, shown)
    assert plan is not None
    assert "claim_relaxed" not in {cache.name for cache in plan.new}
    assert {what for what, _, _ in plan.moved} == {"claims.dbo.claim.claim_pk", "claims.dbo.tariff"}
    assert plan.conflicts == ("asked to become two things",)


def test_without_a_plan_the_page_says_what_the_rules_said(people: People, as_user: AsUser) -> None:
    page = text_of(as_user(people.colleague), f"/audits/{audited(people, sysmon_only()).pk}/caches/")
    assert "This audit changes no cache" in page
    assert "sp_cacheconfig" in page, "what to bring"
    assert "After the plan" not in page


def test_a_capture_without_any_cache_says_what_to_bring(people: People, as_user: AsUser) -> None:
    page = text_of(
        as_user(people.colleague), f"/audits/{audited(people, [setting('number of locks', 5e4)]).pk}/caches/"
    )
    assert "No data cache is in the exports" in page
    assert "<svg" not in page
    assert "sp_cacheconfig" in page


def test_only_the_team_sees_it_and_only_of_an_ase(people: People, audit: Audit, as_user: AsUser) -> None:
    node = audited(people, [setting("number of locks", 5e4)], "NODE", "openvms")
    for view in ("caches/", "caches/caches.csv", "spinlocks/", "spinlocks/spinlocks.csv", "what-if/"):
        assert as_user(people.stranger).get(f"/audits/{audit.pk}/{view}").status_code == 404
        assert as_user(people.colleague).get(f"/audits/{audit.pk}/{view}").status_code == 200
        assert as_user(people.administrator).get(f"/audits/{audit.pk}/{view}").status_code == 200
        assert as_user(people.owner).get(f"/audits/{node.pk}/{view}").status_code == 404
    assert f"/audits/{audit.pk}/caches/" in text_of(as_user(people.colleague), f"/audits/{audit.pk}/")
    assert "/caches/" not in text_of(as_user(people.colleague), f"/audits/{node.pk}/")


@pytest.mark.parametrize(
    "view", ["caches/", "spinlocks/", "what-if/?cut-1=2&size-1=9&move=%3Cscript%3Ealert(1)%3C/script%3E"]
)
@pytest.mark.parametrize("name", [*HOSTILE, "long " * 60])
def test_hostile_and_long_names_are_text(people: People, as_user: AsUser, name: str, view: str) -> None:
    name = name.replace("\x00", "").replace("\ud800", "").replace("\ufffe", "")
    facts = [renamed(one, name) for one in contended()]
    page = text_of(as_user(people.colleague), f"/audits/{audited(people, facts).pk}/{view}")
    assert "<script>alert" not in page
    assert '" onload="' not in page
    assert "\x1b" not in page


def test_the_table_sorts_by_links_both_ways(people: People, audit: Audit, as_user: AsUser) -> None:
    def order(sort: str) -> bool:
        page = text_of(as_user(people.colleague), f"/audits/{audit.pk}/caches/?sort={sort}")
        table = page[page.index('id="table"') :]
        return table.index(DEFAULT) < table.index("lookup")

    assert order("size")
    assert not order("-size")
    assert order("name")
    assert not order("-name")
    assert order("hottest"), "without a figure comes last"
    assert order("-hottest")
    assert order("nonsense"), "as without"


def test_the_csv_file_is_safe_for_a_spreadsheet(people: People, as_user: AsUser) -> None:
    facts = [renamed(one, "=HYPERLINK(1)") for one in contended()]
    audit = audited(people, facts)
    answer = as_user(people.colleague).get(f"/audits/{audit.pk}/caches/caches.csv")
    rows = list(csv.DictReader(io.StringIO(answer.content.decode())))
    assert [row["cache"] for row in rows] == [DEFAULT, "'=HYPERLINK(1)"]
    assert rows[0]["hottest percent"] == "32.0"
    assert rows[1]["hottest percent"] == "", "one figure for all is not the hottest"
    assert 'filename="lockwright-CLAIMS-' in answer["Content-Disposition"]


def test_rows_of_a_thousand_partitions_stay_a_page(people: People, as_user: AsUser) -> None:
    facts = [
        one for one in contended() if getattr(one, "name", "") != DEFAULT or not isinstance(one, MonSpinlockActivity)
    ]
    facts += [spun(DEFAULT, 1000.0 + n, 10.0, 100.0, slot=n) for n in range(1000)]
    assert len(text_of(as_user(people.colleague), f"/audits/{audited(people, facts).pk}/caches/")) < 100_000


def shown_of(facts: list[Fact]) -> CacheMap:
    made = Facts(tuple(facts))
    return cache_map(made, contents_of(made))


def without_memory() -> list[Fact]:
    """The contended server with no free memory, whose default data cache reads next to nothing from disk."""
    facts = [one for one in contended(EVEN) if not isinstance(one, MemoryHeadroom)]
    hits = {"physical_reads": 900.0, "apf_reads": 0.0}
    facts = [replace(one, **hits) if isinstance(one, MonDataCache) else one for one in facts]  # type: ignore[arg-type]
    return [*facts, MemoryHeadroom(available_kb=0.0)]


def test_the_map_after_the_plan_has_the_smaller_default_data_cache_and_one_restart(
    people: People, as_user: AsUser
) -> None:
    audit = audited(people, without_memory())
    plan = planned(audit, shown_of(without_memory()))
    assert plan is not None
    default = plan.of(DEFAULT)
    assert default is not None
    assert (default.partitions, default.spins) == (None, None)
    assert default.size_mb is not None
    assert default.size_mb < 8000.0
    assert plan.freed_mb == 8000.0 - default.size_mb
    assert plan.freed_mb >= plan.memory_mb
    assert plan.restarts == 1
    assert {cache.name for cache in plan.new} == {"claim_relaxed", "claim_pk_relaxed"}
    page = text_of(as_user(people.colleague), f"/audits/{audit.pk}/caches/")
    assert "It takes 1 restart of the server" in page
    assert f"8,000 → {default.size_mb:,.0f}" in page
    assert "come from caches that become smaller" in page


def test_spins_are_told_ahead_where_the_partitions_alone_change(people: People, as_user: AsUser) -> None:
    gone = (MonOpenObjectActivity, EngineBusy)
    facts = [*(one for one in contended(EVEN) if not isinstance(one, gone)), *engines(16)]
    facts = [
        replace(one, spins=(one.waits if known(one.waits) else 0.0) * 2000)
        if isinstance(one, MonSpinlockActivity) and one.name == DEFAULT
        else one
        for one in facts
    ]
    audit = audited(people, facts)
    plan = planned(audit, shown_of(facts))
    assert plan is not None
    (default,) = plan.altered
    assert (default.partitions, default.size_mb, default.waited) == (16, None, 5.0)
    assert default.cache.load.spins == 4.8e9
    assert default.spins == pytest.approx(4.8e9 * 5 / 20)
    assert (plan.new, plan.moved, plan.restarts) == ((), (), 1)
    page = text_of(as_user(people.colleague), f"/audits/{audit.pk}/caches/")
    assert "4 → 16" in page
    assert "4,800,000,000 → about 1,200,000,000" in page
    assert "New caches take" not in page


def test_nothing_is_shown_of_a_plan_that_changes_no_cache(people: People, as_user: AsUser) -> None:
    facts = [one for one in contended() if not isinstance(one, MonSpinlockActivity) or one.name != DEFAULT]
    audit = audited(people, facts)
    assert planned(audit, shown_of(facts)) is None
    page = text_of(as_user(people.colleague), f"/audits/{audit.pk}/caches/")
    assert "Today and after the plan" not in page
