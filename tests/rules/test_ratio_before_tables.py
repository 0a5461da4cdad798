"""A table is not converted in the plan that lowers the ratio: the ratio first, then measure."""

from collectors.facts import Fact, Facts
from collectors.facts.ase import (
    ConfigParameter,
    EngineBusy,
    LockHashtable,
    LockRequests,
    MonOpenObjectActivity,
    TableScheme,
)
from rules.engine import judge_one, rules
from rules.finding import Change
from rules.plan import make_plan

RATIO = "ase.config:lock address spinlock ratio"
TABLE = "ase.table:trade.dbo.fills:lock scheme"


def changes(ratio: float) -> list[Change]:
    facts: tuple[Fact, ...] = (
        EngineBusy(engine=0, user_percent=90.0),
        EngineBusy(engine=1, user_percent=90.0),
        LockRequests(lock_type="Exclusive Page", total=0.0),
        LockHashtable(table="address", lookups_per_second=9000.0, contention_percent=30.0),
        ConfigParameter(name="lock address spinlock ratio", config_value=ratio, run_value=ratio, kind="static"),
        MonOpenObjectActivity(
            database="trade",
            object_name="fills",
            index_id=0,
            over="interval",
            certificate="ok",
            seconds=60.0,
            rows_inserted=900.0,
            lock_requests=90_000.0,
            lock_waits=30_000.0,
        ),
        TableScheme(database="trade", owner="dbo", table="fills", scheme="allpages", clustered=False),
    )
    wanted = ("ase/address_lock_spinlock_contended", "ase/allpages_table_contended")
    judged = [judge_one(one, Facts(facts), {}) for one in rules() if one.id in wanted]
    return [change for verdict in judged for finding in verdict.findings for change in finding.changes]


def test_the_ratio_goes_first_and_the_table_waits_for_a_measurement() -> None:
    every = changes(100.0)
    assert {change.key for change in every} == {RATIO, TABLE}, "the finding keeps its script"
    assert [step.change_keys for step in make_plan(every).steps] == [(RATIO,)]


def test_where_the_ratio_has_nothing_left_to_give_the_table_is_next() -> None:
    assert [step.change_keys for step in make_plan(changes(1.0)).steps] == [(TABLE,)]
