"""The spinlocks of a capture: by spins and by share, whose rule it is, and what is not believed listed as such."""

import csv
import io
import re
from dataclasses import replace

from markupsafe import escape

from advisor.ase.services.spinlocks import (
    MOST_DOUBTS,
    FindingShown,
    Verdicts,
    judged,
    ranked,
    ranked_shares,
    spinlocks_of,
    verdicts,
)
from advisor.audits.models import Audit
from collectors.facts import ABSENT, NOT_MEASURED, OVERFLOW, Facts
from collectors.facts.ase import EngineBusy, LockHashtable, MonSpinlockActivity, Snapshot
from tests.advisor.ase.servers import DEFAULT, audited, contended, spun, sysmon_only
from tests.advisor.people import AsUser, People, text_of

ROW = re.compile(r'<th scope="row" class="said">\s*([^<]+?)\s*</th>')


def test_they_rank_by_spins_and_apart_from_that_by_share() -> None:
    found = spinlocks_of(Facts(tuple(contended())))
    assert [row.name for row in found.rows] == ["addrlockspins", DEFAULT, "Sched Q", "lookup", "Resource->rtmpdb_spin"]
    assert found.by_share[0].name == "Resource->rtmpdb_spin", "40 % of 100 grabs"
    assert (found.of_interval, found.certificates, found.has_spins) == (True, ("ok",), True)
    cache = found.rows[1]
    assert (cache.grabs, cache.waits, cache.spins, cache.rows) == (12_000_000.0, 2_400_000.0, 72_000_000.0, 4)
    assert (cache.percent, cache.spins_per_wait) == (20.0, 30.0)
    assert cache.hottest == 32.0


def test_each_belongs_to_the_rule_that_speaks_of_it() -> None:
    rules = {row.name: row.rule for row in spinlocks_of(Facts(tuple(contended()))).rows}
    assert rules == {
        "addrlockspins": "ase/address_lock_spinlock_contended",
        DEFAULT: "ase/data_cache_spinlock_contended",
        "lookup": "ase/data_cache_spinlock_contended",
        "Sched Q": "ase/run_queue_spinlock_contended",
        "Resource->rtmpdb_spin": "ase/spinlock_dear",
    }


def test_the_verdict_is_that_of_this_audit_and_of_this_spinlock(people: People) -> None:
    said = verdicts(audited(people, contended()))
    mine = said.of("ase/data_cache_spinlock_contended", DEFAULT)
    assert mine.word == "fired"
    assert mine.number is not None
    other = said.of("ase/data_cache_spinlock_contended", "lookup")
    assert (other.word, other.number) == ("fired for others", None)
    assert said.of("ase/run_queue_spinlock_contended", "Sched Q").word == "clean"
    assert said.of("ase/no_such_rule", "x").word == ""


def test_they_rank_as_the_findings_do_and_the_rest_by_spins() -> None:
    found = spinlocks_of(Facts(tuple(contended())))
    said = Verdicts(
        {"ase/data_cache_spinlock_contended": "fired", "ase/spinlock_dear": "fired"},
        {("ase/spinlock_dear", "Resource->rtmpdb_spin"): 0, ("ase/data_cache_spinlock_contended", "lookup"): 4},
    )
    names = [row.name for row in ranked(found.rows, said)]
    assert names == ["Resource->rtmpdb_spin", "lookup", "addrlockspins", DEFAULT, "Sched Q"]
    by_spins = [row.name for row in ranked(found.rows, Verdicts({}, {}))]
    assert by_spins == ["addrlockspins", DEFAULT, "Sched Q", "lookup", "Resource->rtmpdb_spin"]


def test_shares_of_sysmon_rank_as_the_findings_do_too() -> None:
    shares = spinlocks_of(Facts(tuple(sysmon_only()))).shares
    said = Verdicts({"ase/data_cache_spinlock_contended": "fired"}, {("ase/data_cache_spinlock_contended", "logs"): 2})
    names = [one.name for one in ranked_shares(shares, said)]
    assert names == ["cache logs", "address lock hash table", f"cache {DEFAULT}", "Object metadata"]


def test_of_several_findings_about_one_spinlock_the_worst_is_its_verdict() -> None:
    findings = {("ase/lock_hash_spinlock_contended", "CLAIMS"): 9, ("ase/spinlock_dear", "fglockspins"): 3}
    shown = {3: FindingShown(2, "fglockspins is the most expensive spinlock", "")}
    words = {"ase/lock_hash_spinlock_contended": "clean", "ase/spinlock_dear": "fired"}
    said = Verdicts(words, findings, shown).of("ase/lock_hash_spinlock_contended", "fglockspins")
    assert (said.number, said.severity, said.title) == (3, 2, "fglockspins is the most expensive spinlock")


def _large(people: People, *, spins: float, waits: float, busy: float = 80.0) -> dict[str, tuple[str, str]]:
    """By name the verdict and why it is normal, of a server whose Sched Q spins most."""
    facts = [one for one in contended() if not isinstance(one, MonSpinlockActivity)]
    facts = [replace(one, user_percent=busy) if isinstance(one, EngineBusy) else one for one in facts]
    facts += [
        spun("Sched Q", 50_000_000.0, waits, spins),
        spun("fglockspins", 8_000_000.0, 16_000.0, 4_000_000.0),
        spun("tablockspins", 8_000_000.0, 160.0, 1_600.0),
        spun("Resource->rtmpdb_spin", 100.0, 40.0, 400.0),
    ]
    audit = audited(people, facts)
    found, said = spinlocks_of(Facts(tuple(facts))), verdicts(audit)
    return {
        one.row.name: (one.verdict.word, one.normal)
        for one in judged(ranked(found.rows, said), Facts(tuple(facts)), audit, said)
    }


def test_a_large_but_normal_row_says_why_it_is_normal(people: People) -> None:
    said = _large(people, spins=20_000_000.0, waits=65_000.0)
    word, why = said["Sched Q"]
    assert word == "clean"
    assert why.startswith("It is a queue of the threaded kernel"), why
    assert "0.13 % of its grabs had to wait; the rule of these queues speaks from 10 % on." in why
    assert "Only 8,333 spins a second and engine (limit 100,000)." in said["fglockspins"][1]
    assert "guards page and row locks" in said["fglockspins"][1]
    assert "Only 1 spins a second" in said["Resource->rtmpdb_spin"][1], "40 % of 100 grabs"
    assert said["tablockspins"][1] == "", "it is not large"


def test_idle_engines_are_a_reason_and_a_queue_that_is_contended_is_not_normal(people: People) -> None:
    assert (
        "The engines are 5.0 % busy: nothing to gain."
        in _large(people, spins=2e7, waits=65_000.0, busy=5.0)["fglockspins"][1]
    )
    contended_queue = _large(people, spins=2e9, waits=9_000_000.0)
    word, why = contended_queue["Sched Q"]
    assert word == "fired"
    assert not why


def test_nothing_is_called_normal_where_its_rule_could_not_judge() -> None:
    facts = Facts(tuple(contended()))
    row = next(one for one in spinlocks_of(facts).rows if one.name == "Sched Q")
    audit = Audit(limits={"ase/spinlock_dear.spins_share_percent": 1.0})
    for word in ("", "unknown", "untrusted", "broken"):
        (one,) = judged([row], facts, audit, Verdicts({row.rule: word}, {}))
        assert not one.normal, word
    (one,) = judged([row], facts, audit, Verdicts({row.rule: "clean"}, {}))
    assert one.normal.startswith("It is a queue"), "large by the limit that this audit was made with"


def test_the_page_links_each_spinlock_to_its_finding_by_its_title(people: People, as_user: AsUser) -> None:
    audit = audited(people, contended())
    page = text_of(as_user(people.owner), f"/audits/{audit.pk}/spinlocks/").partition('id="sysmon"')[0]
    numbers = [int(found) for found in re.findall(rf'<a href="/audits/{audit.pk}/#f(\d+)">', page)]
    assert len(numbers) >= 2
    assert numbers == sorted(numbers), "in the order of the findings"
    first = audit.findings.get(number=numbers[0])
    assert f'#f{numbers[0]}">{escape(first.title)}</a>' in page


def test_spinning_that_nothing_explains_is_the_verdict_on_its_spinlock() -> None:
    words = {"ase/spinning_unexplained": "fired", "ase/lock_hash_spinlock_contended": "clean"}
    found = Verdicts(words, {("ase/spinning_unexplained", "fglockspins"): 3})
    said = found.of("ase/lock_hash_spinlock_contended", "fglockspins")
    assert (said.word, said.number) == ("fired", 3)
    assert found.of("ase/lock_hash_spinlock_contended", "tablockspins").word == "clean"


def test_what_is_not_believed_is_listed_with_its_reason_and_never_as_zero() -> None:
    facts = [
        spun("good", 1000.0, 10.0, 100.0),
        MonSpinlockActivity(name="cleared", over="interval", certificate="reset"),
        MonSpinlockActivity(name="wrapped twice", over="interval", certificate="ambiguous"),
        MonSpinlockActivity(name="off", over="interval", certificate="ok", grabs=NOT_MEASURED),
        MonSpinlockActivity(name="stars", over="interval", certificate="ok", grabs=OVERFLOW),
        spun("impossible", 10.0, 20.0, 5.0),
    ]
    found = spinlocks_of(Facts(tuple(facts)))
    assert [row.name for row in found.rows] == ["good"]
    why = {one.name: one.why for one in found.doubts}
    assert "counters were cleared" in why["cleared"]
    assert "wrapped more than once" in why["wrapped twice"]
    assert "switch" in why["off"]
    assert "asterisks" in why["stars"]
    assert "negative" in why["impossible"]


def test_a_name_of_which_some_rows_are_not_believed_says_how_many() -> None:
    lost = MonSpinlockActivity(name="queue", slot=1, over="interval", certificate="ambiguous")
    (row,) = spinlocks_of(Facts((spun("queue", 1000.0, 10.0, 100.0, slot=0), lost))).rows
    assert (row.rows, row.doubtful) == (1, 1)


def test_spins_that_are_not_in_the_export_are_none_not_zero(people: People, as_user: AsUser) -> None:
    facts = [replace(one, spins=ABSENT) if isinstance(one, MonSpinlockActivity) else one for one in contended()]
    found = spinlocks_of(Facts(tuple(facts)))
    assert not found.has_spins
    assert {row.spins for row in found.rows} == {None}
    assert "Spins are not in the export" in text_of(
        as_user(people.owner), f"/audits/{audited(people, facts).pk}/spinlocks/"
    )


def test_totals_of_one_snapshot_without_a_time_are_not_called_since_boot(people: People, as_user: AsUser) -> None:
    facts = [
        replace(one, over="since boot", seconds=None, certificate=None) if isinstance(one, MonSpinlockActivity) else one
        for one in contended()
    ]
    page = text_of(as_user(people.owner), f"/audits/{audited(people, facts).pk}/spinlocks/")
    assert "in totals of which the export does not say since when" in page
    assert "since the server started" not in page
    assert "hide the peak" in page


def test_an_interval_says_its_certificate_and_what_vanished(people: People, as_user: AsUser) -> None:
    facts = [*contended(), Snapshot(number=2, vanished=3)]
    page = text_of(as_user(people.owner), f"/audits/{audited(people, facts).pk}/spinlocks/")
    assert "certificate of the differences: ok" in page
    assert "3 rows of the earlier snapshot are not in the later one: not known, not zero" in page


def test_sysmon_alone_ranks_by_share_and_says_so(people: People, as_user: AsUser) -> None:
    found = spinlocks_of(Facts(tuple(sysmon_only())))
    assert not found.rows
    assert [(one.name, one.percent) for one in found.shares] == [
        ("address lock hash table", 52.1),
        (f"cache {DEFAULT}", 12.5),
        ("Object metadata", 1.5),
        ("cache logs", 0.0),
    ]
    page = text_of(as_user(people.owner), f"/audits/{audited(people, sysmon_only()).pk}/spinlocks/")
    assert "neither grabs nor spins: this ranks by share alone" in page
    assert "monSpinlockActivity" in page
    assert "By spins" not in page


def test_a_share_that_cannot_be_one_is_said_not_shown() -> None:
    facts = Facts(
        (
            LockHashtable(table="table", contention_percent=-3.0),
            LockHashtable(table="address", contention_percent=OVERFLOW),
        )
    )
    why = {one.name: (one.percent, one.why) for one in spinlocks_of(facts).shares}
    assert why["table lock hash table"] == (None, "-3 % cannot be a share of grabs")
    assert why["address lock hash table"][0] is None
    assert "asterisks" in why["address lock hash table"][1]


def test_nothing_at_all_says_what_to_bring(people: People, as_user: AsUser) -> None:
    facts = [one for one in sysmon_only() if not hasattr(one, "contention_percent")]
    page = text_of(as_user(people.owner), f"/audits/{audited(people, facts).pk}/spinlocks/")
    assert "No spinlock figures" in page
    assert "sp_sysmon" in page


def test_very_many_doubts_are_counted() -> None:
    facts = [MonSpinlockActivity(name=f"n{n}", over="interval", certificate="reset") for n in range(MOST_DOUBTS + 5)]
    found = spinlocks_of(Facts(tuple(facts)))
    assert (len(found.doubts), found.more_doubts) == (MOST_DOUBTS, 5)


def test_the_table_sorts_by_links_and_pages(people: People, as_user: AsUser) -> None:
    facts = [*contended(), *(spun(f"lock {n:03}", 1000.0 + n, 1.0, 10.0) for n in range(80))]
    address = f"/audits/{audited(people, facts).pk}/spinlocks/"

    def first(query: str) -> str:
        page = text_of(as_user(people.owner), address + query)
        return str(ROW.findall(page[page.index('id="table"') :])[0])

    assert first("") == "addrlockspins"
    assert first("?sort=grabs") == "Sched Q"
    assert first("?sort=-grabs") == "Resource-&gt;rtmpdb_spin"
    assert first("?sort=-name") == "Sched Q"
    assert first("?sort=grabs&page=2").startswith("lock 0")


def test_the_csv_file_has_everything_and_no_figure_for_what_is_not_believed(people: People, as_user: AsUser) -> None:
    facts = [*contended(), MonSpinlockActivity(name="@cleared", over="interval", certificate="reset")]
    answer = as_user(people.owner).get(f"/audits/{audited(people, facts).pk}/spinlocks/spinlocks.csv")
    rows = {row["spinlock"]: row for row in csv.DictReader(io.StringIO(answer.content.decode()))}
    assert rows[DEFAULT]["spins"] == "72000000.0"
    assert rows[DEFAULT]["verdict"] == "fired"
    lost = rows["'@cleared"]
    assert {value for key, value in lost.items() if key not in ("spinlock", "remark")} == {""}
    assert "not believed" in lost["remark"]
    assert rows["address lock hash table"]["spins"] == ""
