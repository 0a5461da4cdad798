"""Changing a lock scheme: every prerequisite in its place, the way back whole, hostile names harmless."""

import re

import pytest

from rules.changes import ase_table
from rules.changes.ase_table import NotConvertible, Pages, alter_lock_scheme, lock_scheme_template
from rules.finding import Change, Effect

SAVE = "-- first dump the whole database, never go on without it: dump database sales to <your dump device>"
CHECK = '--!dbcc checktable("dbo.orders")'
OPTION = '--!sp_dboption "sales", "select into/bulkcopy/pllsort", true'
OUTAGE = "-- an outage of this table begins here: one table at a time, never together with the next"


def orders(
    old: str = "allpages", new: str = "datarows", *, database: str = "sales", owner: str = "dbo", table: str = "orders"
) -> Change:
    return alter_lock_scheme(database=database, owner=owner, table=table, old=old, new=new)


def executable(lines: tuple[str, ...]) -> list[str]:
    return [line for line in lines if not line.startswith("--")]


def test_allpages_to_datarows_prepares_alters_and_checks_in_order() -> None:
    apply = orders().apply
    wanted = [
        "use sales",
        'sp_spaceused "dbo.orders", 1',
        'sp_helpdb "sales"',
        SAVE,
        OUTAGE,
        CHECK,
        OPTION,
        "--!checkpoint",
        "--!alter table dbo.[orders] lock datarows",
        "--!update statistics dbo.[orders]",
    ]
    places = [apply.index(line) for line in wanted]
    assert places == sorted(places)
    altered = apply.index("--!alter table dbo.[orders] lock datarows")
    assert CHECK in apply[altered:], "and once more afterwards"
    assert any(line.startswith("-- now dump the whole database") for line in apply[altered:])
    assert apply[0] == "use sales"
    between = apply[apply.index(OPTION) : apply.index("--!checkpoint")]
    assert "--!use sales" in between, "the checkpoint must be in the database"
    text = "\n".join(apply)
    assert "dump database sales to <your dump device>" in text
    assert "check that the lock scheme is datarows" in text
    assert text.count("lockscheme(o.id)") == 2, "before and after"


@pytest.mark.parametrize("change", [orders(), orders("datapages"), lock_scheme_template("allpages", "datarows")])
def test_a_statement_of_two_lines_is_sent_whole(change: Change) -> None:
    for script in (change.apply, change.undo):
        lines = [line.removeprefix("--").strip() for line in script]
        where = [at for at, line in enumerate(lines) if line.startswith("where ")]
        assert where
        assert all(lines[at - 1].startswith("select ") and lines[at + 1] == "go" for at in where)


def test_nothing_of_a_copy_blocks_anybody_before_a_person_has_dumped_the_database() -> None:
    change = orders()
    assert change.takes_effect is Effect.OFFLINE
    for script in (change.apply, change.undo):
        shows = ("use sales", "go", "select ", "where ", "sp_spaceused ", "sp_helpindex ", "sp_helpdb ")
        assert [line for line in executable(script) if not line.startswith(shows)] == []
        released = [line.removeprefix("--!") for line in script]
        assert released.index(OUTAGE) < released.index(CHECK.removeprefix("--!"))


def test_the_way_back_is_the_same_with_the_old_scheme() -> None:
    change = orders()
    assert "--!alter table dbo.[orders] lock allpages" in change.undo
    assert OPTION in change.undo
    assert "dump database sales" in "\n".join(change.undo)
    assert orders("datarows", "allpages").apply == change.undo


def test_cautions_of_a_copy() -> None:
    text = " ".join(orders().cautions)
    for piece in (
        "Exclusive lock",
        "Space",
        "dump transaction",
        "1960",
        "placement index",
        "number of locks",
        "forwarded",
    ):
        assert piece in text


def test_datapages_to_datarows_needs_neither_copy_nor_dump() -> None:
    change = orders("datapages", "datarows")
    text = "\n".join((*change.apply, *change.undo))
    assert "alter table dbo.[orders] lock datarows" in change.apply
    assert "alter table dbo.[orders] lock datapages" in change.undo
    assert "sp_dboption" not in text
    assert "dbcc" not in text
    assert "dump" not in text + " ".join(change.cautions)
    assert "number of locks" in " ".join(change.cautions)


def test_back_to_allpages_warns_of_no_row_locks() -> None:
    assert "exp_row_size" not in " ".join(orders("datarows", "allpages").cautions)


@pytest.mark.parametrize(("old", "new"), [("allpages", "allpages"), ("allpages", "rows"), ("", "datarows")])
def test_a_scheme_that_is_none(old: str, new: str) -> None:
    with pytest.raises(ValueError, match="lock scheme"):
        orders(old, new)
    with pytest.raises(ValueError, match="lock scheme"):
        lock_scheme_template(old, new)


@pytest.mark.parametrize(
    "name",
    [
        {"table": "sysobjects"},
        {"table": "SYSINDEXES"},
        {"table": "systypes", "owner": "x"},
        {"database": "master"},
        {"database": "sybsystemprocs"},
        {"database": "tempdb"},
        {"database": "tempdb_2"},
        {"database": "app_tempdb"},
    ],
)
def test_system_tables_and_databases_are_never_converted(name: dict[str, str]) -> None:
    with pytest.raises(NotConvertible):
        orders(**name)


def test_a_user_table_may_begin_with_sys() -> None:
    assert "--!alter table dbo.[system_orders] lock datarows" in orders(table="system_orders").apply
    assert any("type must be U" in line for line in orders(table="system_orders").apply)


def test_a_table_named_like_a_keyword_is_delimited() -> None:
    assert "--!alter table dbo.[order] lock datarows" in orders(table="order").apply


def test_a_table_name_with_quotes_is_delimited_and_looked_up_by_value() -> None:
    evil = 'x"; drop table y --'
    change = orders(table=evil)
    for line in executable(tuple(line.removeprefix("--!") for line in (*change.apply, *change.undo))):
        rest = line.replace(f"[{evil}]", "").replace(f"'{evil}'", "")
        assert "drop" not in rest, line
    assert f"--!alter table dbo.[{evil}] lock datarows" in change.apply
    assert not any("sp_spaceused" in line for line in executable(change.apply)), "that takes a name in a string"
    for line in change.apply:
        assert not (line.startswith("-- ") and "drop table" in line), "not even in a comment"


@pytest.mark.parametrize("hostile", ["a\ngo\nshutdown", "a\rb", "a]b", "[a", "a\u202eb", "a\u2028b", "t" * 300, ""])
@pytest.mark.parametrize("part", ["database", "owner", "table"])
def test_a_name_that_cannot_be_written_makes_no_executable_line(part: str, hostile: str) -> None:
    change = orders(**{part: hostile})
    assert change.takes_effect is Effect.ADVICE
    assert executable(change.apply) == executable(change.undo) == []
    assert not re.search(r"[\n\r\u202e\u2028]", change.key + change.target)
    assert hostile == "" or all(hostile not in line for line in (*change.apply, *change.undo))


def test_a_template_cannot_be_run() -> None:
    change = lock_scheme_template("allpages", "datarows")
    assert change.takes_effect is Effect.ADVICE
    assert executable(change.apply) == executable(change.undo) == []
    text = "\n".join(change.apply)
    for piece in ("alter table <owner>.<table> lock datarows", "never a system table", "select into/bulkcopy/pllsort"):
        assert piece in text
    assert "lock allpages" in "\n".join(change.undo)


def test_only_row_locks_need_more_locks_but_every_data_only_table_forwards_rows() -> None:
    for old, new, locks, forwards in (
        ("allpages", "datapages", False, True),
        ("allpages", "datarows", True, True),
        ("datapages", "datarows", True, True),
        ("datarows", "datapages", False, True),
        ("datapages", "allpages", False, False),
    ):
        text = " ".join(orders(old, new).cautions)
        assert ("number of locks" in text, "exp_row_size" in text) == (locks, forwards)


def test_expressions_take_single_quotes_which_hold_under_quoted_identifier() -> None:
    text = "\n".join((*orders().apply, *lock_scheme_template("allpages", "datarows").apply))
    assert "u.name = 'dbo' and o.name = 'orders'" in text
    assert "object_id('<owner>.<table>')" in text
    assert "o.name = 'it''s'" in "\n".join(orders(table="it's").apply)


def test_the_way_back_of_a_template_is_only_for_tables_that_came_that_far() -> None:
    for old, new in (("allpages", "datapages"), ("datapages", "datarows")):
        undo = lock_scheme_template(old, new).undo
        assert f"converted that far, {old} to {new}" in undo[0]


def test_templates_of_a_route_do_not_exclude_each_other() -> None:
    first, second = lock_scheme_template("allpages", "datapages"), lock_scheme_template("datapages", "datarows")
    assert first.key != second.key
    assert first.target != second.target


def test_every_system_table_begins_with_sys_once() -> None:
    assert all(not name.startswith("sys") for name in ase_table.SYSTEM_TABLES.split())


@pytest.mark.parametrize("no_table", [0, -8, 2**31])
def test_a_number_that_no_table_has_stands_in_no_script(no_table: int) -> None:
    change = alter_lock_scheme(
        database="sales", owner="dbo", table="orders", old="allpages", new="datarows", object_id=no_table
    )
    assert sum('dbcc checktable("dbo.orders")' in line for line in change.apply) == 2
    assert not any(f"checktable({no_table})" in line for line in change.apply)


def test_the_table_is_checked_by_its_number_where_that_is_known() -> None:
    change = alter_lock_scheme(
        database="sales", owner="dbo", table="odd name", old="allpages", new="datarows", object_id=77
    )
    assert change.apply.count("--!dbcc checktable(77)") == 2
    by_hand = orders(table="odd name")
    assert not any(line.startswith("dbcc") for line in by_hand.apply)
    assert "-- check the table by hand (dbcc checktable with its number): not a plain name" in by_hand.apply


@pytest.mark.parametrize(
    ("pages", "said"),
    [
        (Pages(2048.0, 1024.0), "the data take 2 MB and the indexes 1 MB, so about 4 MB must be free"),
        (Pages(2048.0), "the size of the indexes is not in the export, so at least 2 MB must be free"),
        (Pages(), "its size is not in the export; sp_spaceused shows it"),
        (Pages(None, 1024.0), "its size is not in the export"),
    ],
)
def test_the_room_a_copy_needs_is_computed_where_its_size_is_known(pages: Pages, said: str) -> None:
    assert said in pages.caution


def test_a_table_taken_from_allpages_is_watched_for_latches() -> None:
    assert "Latch Contention" in " ".join(orders().cautions)
    assert "Latch Contention" not in " ".join(orders("datapages", "datarows").cautions)
