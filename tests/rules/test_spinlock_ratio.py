"""What the rules about ratios have in common, as far as the yml exhibits cannot say it: what must not be there."""

from collectors.facts import Fact, Facts, Source
from collectors.facts.ase import ConfigParameter, EngineBusy, LockHashtable, LockSummary, Server
from rules.ase._evidence.server import server_of, subject_of
from rules.engine import judge_one, rules
from rules.finding import Verdict

ENGINES = (EngineBusy(engine=0, user_percent=80.0), EngineBusy(engine=1, user_percent=90.0))
HASH = LockHashtable(table="page and row", lookups_per_second=9000.0, contention_percent=20.0)


def setting(name: str, value: float) -> ConfigParameter:
    return ConfigParameter(name=name, config_value=value, run_value=value, kind="static")


def judged(rule_id: str, *facts: Fact) -> Verdict:
    (one,) = [one for one in rules() if one.id == rule_id]
    return judge_one(one, Facts(facts), {})


def test_nothing_is_asked_for_that_was_brought() -> None:
    every = (*ENGINES, HASH, setting("lock spinlock ratio", 85.0), setting("lock hashtable size", 2048.0))
    verdict = judged("ase/lock_hash_spinlock_contended", *every)
    assert verdict.verdict == "fired"
    assert verdict.missing == ()
    assert "not in the export" not in verdict.findings[0].says


def test_a_figure_that_was_not_read_is_no_evidence() -> None:
    table = LockHashtable(table="table", contention_percent=20.0)
    (finding,) = judged("ase/table_lock_spinlock_contended", *ENGINES, table).findings
    assert [one.metric for one in finding.evidence] == ["table lock hash table spinlock contention"]


def test_the_evidence_stands_where_the_figure_was_read() -> None:
    table = LockHashtable(table="table", lookups_per_second=0.0, contention_percent=20.0, source=Source("a", 30, 31))
    summary = LockSummary(requests_per_second=9000.0, source=Source("a", 5, 5))
    (finding,) = judged("ase/table_lock_spinlock_contended", *ENGINES, table, summary).findings
    assert [one.source.first for one in finding.evidence] == [30, 5]
    (finding,) = judged("ase/lock_hash_spinlock_contended", *ENGINES, HASH).findings
    assert {one.source for one in finding.evidence} == {HASH.source}


def test_the_newest_release_that_can_be_read_counts() -> None:
    facts = Facts((Server(name="A", version="15.7"), Server(version="16.0 SP02"), Server(version="cut off")))
    server = server_of(facts)
    assert server is not None
    assert server.release == (16, 0)
    assert subject_of(facts) == "A"
