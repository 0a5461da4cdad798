"""What rules of one database ask for together: one plan, without two changes that undo each other."""

from collectors.facts import Fact, Facts, Source
from collectors.facts.rdb import Database, StatisticRow, WaitGroup
from rules.engine import judge_one, rules
from rules.finding import Change
from rules.plan import make_plan

ROOT = "DISK$DB:[PAY]PAYROLL.RDB;1"
AT = Source("header.txt", 1, 1)
HEADER = Database(
    source=AT,
    database=ROOT,
    snapshot_mode="deferred",
    after_image_journaling=True,
    fast_commit=True,
    commit_to_journal=False,
)
READER = WaitGroup(
    source=AT,
    kind="stall",
    resource_kind="snapshot",
    resource="snapshot 3",
    logged=3,
    longest_seconds=41.5,
    seconds=60.0,
)


def row(lock_type: str, item: str, rate: float) -> StatisticRow:
    screen = "Summary Locking Statistics" if lock_type == "total" else f"Locking ({lock_type.upper()} lock)"
    return StatisticRow(
        source=AT, screen=screen, item=item, label=item, lock_type=lock_type, mean_per_second=rate, database=ROOT
    )


ROWS = tuple(
    row(kind, item, rate)
    for kind, rate, stalled in (("total", 1000.0, 20.0), ("seqblk", 300.0, 12.0), ("tsnblk", 100.0, 3.0))
    for item, rate in (
        ("locks requested", rate),
        ("locks promoted", rate),
        ("requests stalled", stalled),
        ("promotions stalled", stalled),
    )
)


def changes(rule_id: str, *facts: Fact) -> list[Change]:
    one = next(one for one in rules() if one.id == rule_id)
    return [change for finding in judge_one(one, Facts(facts), {}).findings for change in finding.changes]


def test_commit_to_journal_leaves_a_plan_that_makes_snapshots_immediate() -> None:
    journal = changes("rdb/root_file_locks_hot", HEADER, *ROWS)
    snapshots = changes("rdb/snapshots_block_readers", HEADER, READER)
    assert [change.target for change in journal] == ["COMMIT TO JOURNAL OPTIMIZATION"]
    assert [change.target for change in snapshots] == ["SNAPSHOT"]
    plan = make_plan([*journal, *snapshots])
    assert [step.change_keys for step in plan.steps] == [(snapshots[0].key,)]
    assert make_plan(journal).steps[0].change_keys == (journal[0].key,)
