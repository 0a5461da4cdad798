"""ALTER DATABASE of Oracle Rdb: what is written, in which order, what must never be, and that the way back is whole."""

import dataclasses
import re
from typing import Any

import pytest

from collectors.facts import Facts
from collectors.facts.openvms import ClusterNode
from collectors.facts.rdb import Database, DatabaseUse, RowCache
from rules.changes.legal import refusal
from rules.changes.out_of_range import OutOfRange
from rules.changes.quoting import Unquotable, rdb_file, rdb_name
from rules.changes.rdb_clauses import CLAUSES
from rules.changes.rdb_database import Place, alter, key_of
from rules.finding import Change, Effect, RefusedValue
from rules.plan import make_plan
from rules.rdb._evidence.databases import databases
from rules.rdb._evidence.prerequisites import changes_to

ROOT = "DISK$DB:[PAY]PAYROLL.RDB;1"
BARE = "DISK$DB:[PAY]PAYROLL.RDB"
ALONE = Place(ROOT, "MANUAL", elsewhere=False)
HOSTILE = (
    "PAY'ROLL.RDB",
    "PAYROLL.RDB\n$ DELETE SYS$SYSTEM:*.*;*",
    "PAYROLL!.RDB",
    "PAYROLL.RDB/CONFIRM",
    "'F$PID()'.RDB",
    "&X.RDB",
    "PAYROLL-",
    "DISK:[PAY]PAYROLL-.RDB-",
    'ORKNEY"SYSTEM PW"::DISK:[PAY]PAYROLL.RDB',
    "ORKNEY::PAYROLL.RDB",
    "PAYROLL.RDB; DROP DATABASE",
    "PAY ROLL.RDB",
    "*.RDB",
    "PAYROLL.RDB\u202e",
    "A" * 300,
    "-",
    "<root file>",
    "",
)


def executed(lines: tuple[str, ...]) -> list[str]:
    """What DCL, RMU and SQL would run: comments left out."""
    return [line for line in lines if not line.startswith("$!")]


def decided(lines: tuple[str, ...]) -> list[str]:
    """What would run once the lines that are held back were released."""
    return [line.removeprefix("$!") for line in lines if re.match(r"\$!(?=\$ |ALTER|  [A-Z]|EXIT)|(?!\$!)", line)]


def changes(place: Place = ALONE) -> list[Change]:
    """One change of every clause that is set by a script."""
    made = []
    for name, clause in CLAUSES.items():
        new = clause.words[0] if clause.words else clause.low
        old = clause.words[1] if clause.words else clause.high
        made.append(alter(name, place, old, new, area="PAY_ROWS" if "{area}" in clause.sql else None))
    return made


@pytest.mark.parametrize("name", HOSTILE)
def test_a_hostile_root_file_is_never_written(name: str) -> None:
    with pytest.raises(Unquotable):
        rdb_file(name)
    for change in changes(dataclasses.replace(ALONE, root=name)):
        assert change.takes_effect is Effect.ADVICE
        assert not executed((*change.script, *change.way_back))
        assert all("\n" not in line for line in (*change.script, *change.way_back, change.key))


@pytest.mark.parametrize("name", ["a b", "X'", "X;", "SELECT", "1X", "X\nY", "A" * 40, ""])
def test_a_hostile_storage_area_is_never_written(name: str) -> None:
    with pytest.raises(Unquotable):
        rdb_name(name)
    change = alter("area_locking", ALONE, "ROW", "PAGE", area=name)
    assert not executed((*change.script, *change.way_back))


def test_plain_names_are_written_bare_and_without_their_version() -> None:
    assert rdb_file(" disk$db:[pay.live]payroll.rdb;12 ") == "DISK$DB:[PAY.LIVE]PAYROLL.RDB"
    assert rdb_file("DISK:[ROOT.][PAY]PAY-ROLL.RDB") == "DISK:[ROOT.][PAY]PAY-ROLL.RDB"
    assert rdb_file("PAYROLL") == "PAYROLL"
    assert rdb_name("pay_rows") == "PAY_ROWS"


def test_users_leave_by_themselves_then_a_backup_is_made_and_read_before_anything_is_altered() -> None:
    run = decided(alter("cluster_nodes", ALONE, 16, 1).script)
    order = (
        "$ SHOW DEVICE LOCKWRIGHT_BACKUP",
        "$ RMU/CLOSE/CLUSTER/NOABORT/WAIT",
        "$ RMU/BACKUP/LOG",
        "$ RMU/DUMP/BACKUP_FILE",
        "$ MCR SQL$",
        "$ RMU/OPEN",
    )
    places = [next(number for number, line in enumerate(run) if line.startswith(words)) for words in order]
    assert places == sorted(places)
    assert not any("ABORT" in line.replace("NOABORT", "") for line in run)
    assert run[run.index("$ MCR SQL$") :][1:4] == [
        f"ALTER DATABASE FILENAME '{BARE}'",
        "  NUMBER OF CLUSTER NODES 1;",
        "EXIT",
    ]


def test_pasted_without_a_decision_nothing_alters_the_database_on_the_way_there_or_back() -> None:
    scripts = [lines for change in changes() for lines in (change.script, change.way_back)]
    for lines in scripts:
        assert not [line for line in executed(lines) if "SQL$" in line or "ALTER" in line or line.startswith(" ")]
    assert any("$ MCR SQL$" in decided(lines) for lines in scripts)


def test_the_value_is_shown_before_and_after_it_is_set() -> None:
    for change in changes():
        if change.takes_effect is Effect.ADVICE:
            continue
        run = decided(change.apply)
        shown = [number for number, line in enumerate(run) if line.startswith("$ SEARCH")]
        assert shown[0] < run.index("$ MCR SQL$") < shown[-1]


def test_the_way_back_has_the_old_value_and_its_own_backup_and_close() -> None:
    change = alter("lock_partitioning", ALONE, "DISABLED", "ENABLED")
    run = decided(change.way_back)
    assert "  LOCK PARTITIONING IS DISABLED;" in run
    assert any("PAYROLL_BACK.RBF" in line for line in run)
    assert f"$ RMU/CLOSE/CLUSTER/NOABORT/WAIT {BARE}" in run


def test_an_old_value_that_no_export_showed_is_asked_for_and_never_guessed() -> None:
    change = alter("lock_partitioning", ALONE, None, "ENABLED")
    assert "note it for the way back" in change.apply[0]
    assert not any("ALTER" in line for line in executed(change.way_back))
    assert "the value shown before the change" in change.undo[0]
    assert change.undo[1] == f"$!   ALTER DATABASE FILENAME '{BARE}' LOCK PARTITIONING IS <ENABLED or DISABLED>;"


@pytest.mark.parametrize("known", [True, False])
def test_every_way_back_is_a_statement_with_the_value_read_or_says_what_shows_it(known: bool) -> None:
    """Also of what is only ever a template: `back to DISABLED` is no SQL, and no value to note may be executable."""
    for place in (ALONE, dataclasses.replace(ALONE, elsewhere=None, another_time="header of 1-Jan, figures of 2-Jan")):
        for name, clause in CLAUSES.items():
            new, old = (clause.words[0], clause.words[1]) if clause.words else (clause.low, clause.high)
            area = "PAY_ROWS" if "{area}" in clause.sql else None
            change = alter(name, place, old if known else None, new, area=area)
            back = [line for line in decided(change.way_back) if "ALTER DATABASE" in line or line.startswith("  ")]
            back += [line for line in change.undo if "ALTER DATABASE FILENAME" in line]
            assert any(line.endswith(";") and ("<" not in line) is known for line in back), (name, change.undo)
            assert all(line.count("(") == line.count(")") for line in back), (name, back)
            if not known:
                shown = "\n".join((*change.script, *change.way_back))
                assert "RMU/DUMP/HEADER" in shown, name
                assert not [
                    line
                    for line in executed(change.way_back)
                    if "ALTER" in line or ("<" in line and "DEFINE" not in line)
                ]


def test_the_way_back_of_fast_commit_and_of_commit_to_journal_are_the_vendors_clauses() -> None:
    fast = alter("fast_commit", ALONE, "DISABLED", "ENABLED")
    assert fast.undo[-1].endswith(f"'{BARE}' JOURNAL IS ENABLED (FAST COMMIT IS DISABLED);")
    to_journal = alter("commit_to_journal", ALONE, "DISABLED", "ENABLED", when="when it is known")
    assert to_journal.undo[-1].endswith("(FAST COMMIT IS ENABLED (NO COMMIT TO JOURNAL OPTIMIZATION));")


def test_an_open_database_is_backed_up_online_and_not_closed_where_users_may_stay() -> None:
    change = alter("carry_over_locks", ALONE, "ENABLED", "DISABLED")
    assert change.takes_effect is Effect.ONLINE
    assert not any("RMU/CLOSE" in line for line in executed(change.script))
    assert any("RMU/BACKUP/ONLINE" in line for line in executed(change.script))


def test_an_automatic_database_is_opened_by_its_first_user_and_not_by_the_script() -> None:
    change = alter("cluster_nodes", dataclasses.replace(ALONE, open_mode="AUTOMATIC"), 16, 1)
    assert not any("RMU/OPEN" in line for line in executed(change.script))
    opened = alter("cluster_nodes", dataclasses.replace(ALONE, open_mode="AUTOMATIC", by_operator=True), 16, 1)
    assert f"$ RMU/OPEN {BARE}" in executed(opened.script)


@pytest.mark.parametrize(("elsewhere", "said"), [(True, True), (None, True), (False, False)])
def test_what_was_closed_on_all_nodes_is_opened_again_on_each_that_had_it_open(
    elsewhere: bool | None, said: bool
) -> None:
    change = alter("lock_partitioning", Place(ROOT, "MANUAL", elsewhere=elsewhere), "DISABLED", "ENABLED")
    for script in (change.script, change.way_back):
        assert any("every other node that had it open" in line for line in script) is said


def test_one_node_is_never_written_where_several_have_it_open_and_only_a_template_where_nobody_knows() -> None:
    with pytest.raises(OutOfRange, match="several nodes"):
        alter("cluster_nodes", dataclasses.replace(ALONE, elsewhere=True), 16, 1)
    unsure = alter("cluster_nodes", dataclasses.replace(ALONE, elsewhere=None), 16, 1)
    assert unsure.takes_effect is Effect.ADVICE
    assert not executed(unsure.script)


@pytest.mark.parametrize(
    ("clause", "old", "new"),
    [
        ("cluster_nodes", 16, 0),
        ("cluster_nodes", 16, 97),
        ("cluster_nodes", 16, 1.5),
        ("cluster_nodes", 1, 1),
        ("transaction_interval", 256, 4),
        ("transaction_interval", 256, 2048),
        ("fast_commit", None, "ON"),
        ("snapshot", "DEFERRED", "DISABLED"),
        ("lock_timeout", None, "10"),
        ("area_locking", "ROW", "PAGE"),
        ("drop", None, "ENABLED"),
    ],
)
def test_a_value_or_clause_outside_what_rdb_takes_is_never_written(clause: str, old: object, new: object) -> None:
    with pytest.raises(OutOfRange):
        alter(clause, ALONE, old, new)  # type: ignore[arg-type]


def test_a_journal_is_only_ever_a_template_that_names_the_error() -> None:
    change = alter("journal", ALONE, "DISABLED", "ENABLED")
    assert not executed(change.script)
    assert "%RDMS-F-NOAIJENB" in " ".join(change.apply)
    assert all(len(line) <= 160 for line in change.apply)


def test_recalled_spellings_say_so() -> None:
    for change in changes():
        sql = " ".join(change.script)
        if "JOURNAL IS" in sql or "PARTITIONING" in sql or "CACHE" in sql or "GLOBAL BUFFERS" in sql:
            assert any("HELP ALTER DATABASE" in caution for caution in change.cautions), change.target


NEARLY: dict[str, Any] = {
    "after_image_journaling": True,
    "fast_commit": True,
    "maximum_nodes": 16,
    "reserved_row_caches": 0,
}
"""All that takes a decision is there; one node and a slot are missing."""


def header(*, cache: bool = True, **fields: object) -> Facts:
    row_caches = {"row_cache_enabled": False, "reserved_row_caches": 1, "maximum_users": 40}
    facts = Database(database=ROOT, **{**row_caches, **fields})  # type: ignore[arg-type]
    defined = (RowCache(database=ROOT, name="RATES", slots=20_000.0, row_bytes=80.0),) if cache else ()
    return Facts((facts, DatabaseUse(database=ROOT, node="ORKNEY"), ClusterNode(name="ORKNEY"), *defined))


def goal(facts: Facts, name: str = "row_cache") -> tuple[Change, ...]:
    (one,) = databases(facts)
    return changes_to(name, facts, one, "DISABLED", "ENABLED")


def test_prerequisites_come_in_their_order_and_share_one_backup_one_close_and_one_open() -> None:
    made = goal(header(**NEARLY))
    place = Place(ROOT)
    assert [change.key for change in made] == [
        key_of("cluster_nodes", place),
        key_of("cache_slots", place),
        key_of("row_cache", place),
    ]
    assert set(made[-1].needs) == {made[0].key, made[1].key}
    (step,) = make_plan(made).steps
    assert step.takes_effect is Effect.OFFLINE
    for once in ("RMU/CLOSE", "RMU/BACKUP/LOG", "let users, queues"):
        assert step.apply.count(once) == 1
        assert step.undo.count(once) == 1
    assert (
        step.apply.index("NODES 1;") < step.apply.index("RESERVE 1 CACHE SLOTS;") < step.apply.index("CACHE IS ENABLED")
    )
    assert step.undo.index("CACHE IS DISABLED") < step.undo.index("NODES 16;")


def test_two_findings_that_ask_for_the_same_prerequisites_keep_their_order_in_the_plan() -> None:
    facts = header(**NEARLY)
    nodes = alter("cluster_nodes", Place(ROOT, elsewhere=False), 16, 1)
    (step,) = make_plan((nodes, *goal(facts))).steps
    assert step.change_keys.index(key_of("row_cache", Place(ROOT))) == 2
    assert len(step.change_keys) == 3


def test_without_one_of_its_prerequisites_a_change_leaves_the_plan() -> None:
    made = goal(header(**NEARLY))
    plan = make_plan(made[1:])
    assert [key for step in plan.steps for key in step.change_keys] == [made[1].key]
    assert plan.conflicts[0].change_keys[0] == made[2].key


def test_what_a_person_has_to_make_first_leaves_all_of_it_a_template_for_one_closing() -> None:
    made = {
        change.target: change
        for change in goal(header(after_image_journaling=False, fast_commit=False, maximum_nodes=4))
    }
    assert not executed(made["FAST COMMIT"].script)
    assert not executed(made["ROW CACHE"].script)
    assert not executed(made["NUMBER OF CLUSTER NODES"].script)
    assert "in one closing of the database" in " ".join(made["NUMBER OF CLUSTER NODES"].apply)
    assert executed(goal(header(**NEARLY))[0].script)


def test_without_a_cache_to_add_the_database_is_not_closed_for_row_caches() -> None:
    made = {change.target: change for change in goal(header(cache=False, **NEARLY))}
    assert not executed(made["ROW CACHE"].script)
    assert not executed(made["RESERVE CACHE SLOTS"].script)
    assert executed(made["NUMBER OF CLUSTER NODES"].script), "of use by itself"
    assert "nothing takes it back to 0" in made["RESERVE CACHE SLOTS"].undo[0]
    assert any("in one closing" in said for said in made["NUMBER OF CLUSTER NODES"].cautions)
    script = "\n".join(made["ROW CACHE"].script)
    for piece in (
        "ROW CACHE IS ENABLED\n",
        "ADD CACHE <cache> CACHE SIZE IS <rows> ROWS",
        "CACHE USING <cache>;",
    ):
        assert piece in script
    assert made["ROW CACHE"].key == key_of("row_cache", Place(ROOT)), "one setting, one key"


def test_nothing_is_written_where_two_nodes_have_it_open() -> None:
    facts = header(after_image_journaling=True, fast_commit=True, maximum_nodes=16)
    shared = Facts((*facts.items, DatabaseUse(database=ROOT, node="SKYE")))
    assert goal(shared) == ()


def test_two_databases_of_one_name_are_two_changes() -> None:
    other = Place("DISK$DB:[TEST]PAYROLL.RDB", elsewhere=False)
    plan = make_plan((alter("cluster_nodes", ALONE, 16, 1), alter("cluster_nodes", other, 16, 1)))
    (step,) = plan.steps
    assert len(step.change_keys) == 2
    assert step.apply.count("RMU/CLOSE") == 2


def test_no_remark_holds_an_apostrophe_or_ends_in_a_hyphen() -> None:
    """DCL puts symbols in behind an apostrophe, in remarks too, and goes on with the next line after a hyphen."""
    for place in (ALONE, dataclasses.replace(ALONE, root=None), dataclasses.replace(ALONE, elsewhere=None)):
        for change in changes(place):
            remarks = [line for line in (*change.script, *change.way_back) if line.startswith("$!")]
            assert not [line for line in remarks if line.endswith("-")]
            assert not [line for line in remarks if "'" in line and "ALTER DATABASE FILENAME" not in line]
            assert not [caution for caution in change.cautions if "'" in caution]


def test_a_way_back_that_rdb_would_refuse_is_no_change() -> None:
    assert "Rdb takes 1 to 96" in refusal(
        alter("cluster_nodes", Place("D:[A]B.RDB", elsewhere=False), 4_294_967_290, 1)
    )
    assert not refusal(alter("cache_slots", Place("D:[A]B.RDB"), 0, 1)), "no slot is what a database begins with"
    assert not refusal(alter("snapshot", Place("D:[A]B.RDB"), "DEFERRED", "IMMEDIATE"))


def test_what_rdb_would_refuse_is_no_fault_of_the_rule() -> None:
    assert issubclass(OutOfRange, RefusedValue), "the engine calls the export untrusted, not the rule broken"


def test_an_online_backup_says_that_it_needs_snapshots() -> None:
    opening = " ".join(alter("carry_over_locks", Place("D:[A]B.RDB"), "ENABLED", "DISABLED").opening)
    assert "/ONLINE/LOG" in opening
    assert "It needs snapshots" in opening, "HELP RMU BACKUP: immediate or deferred; else it fails"
    assert "snapshots" not in " ".join(alter("snapshot", Place("D:[A]B.RDB"), "DEFERRED", "IMMEDIATE").opening)
