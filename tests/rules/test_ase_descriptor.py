"""Binding the descriptor of a table: harmless whatever the table is called, and only where it is a user's table."""

import pytest

from rules.changes.ase_descriptor import bind_descriptor, bindable
from rules.finding import Change, Effect


def bound(table: str = "orders", database: str = "sales", db_id: int | None = 7) -> Change:
    return bind_descriptor(database=database, db_id=db_id, table=table)


def executable(lines: tuple[str, ...]) -> list[str]:
    return [line for line in lines if not line.startswith("--")]


def test_it_looks_first_then_binds_and_the_way_back_unbinds() -> None:
    change = bound()
    assert executable(change.apply)[0] == "select db_id('sales'), db_name(7)"
    assert 'dbcc tune(des_bind, 7, "orders")' in change.apply
    assert 'dbcc tune(des_unbind, 7, "orders")' in change.undo
    assert change.takes_effect is Effect.ONLINE
    assert any("Lost at every restart" in caution for caution in change.cautions)


@pytest.mark.parametrize("table", ['x"; drop table y --', "x'; shutdown --", "a b", "order", "*/ go"])
def test_a_hostile_table_name_stays_inside_its_quotes(table: str) -> None:
    (line,) = [line for line in bound(table).apply if "des_bind" in line]
    inside = line.removeprefix('dbcc tune(des_bind, 7, "').removesuffix('")')
    assert inside.replace('""', "") == table.replace('"', "")
    assert '"' not in inside.replace('""', "")
    assert len(bound(table).apply) == len(bound().apply)


def test_a_hostile_database_name_stays_inside_its_quotes() -> None:
    assert executable(bound(database="s'; shutdown --").apply)[0] == "select db_id('s''; shutdown --'), db_name(7)"


@pytest.mark.parametrize(
    ("table", "database", "db_id"),
    [
        ("a\nshutdown", "sales", 7),
        ("a", "s\ngo", 7),
        ("orders", "sales", None),
        ("orders", "sales", -1),
        ("\u202e", "s", 7),
    ],
)
def test_what_cannot_be_written_safely_is_left_to_hands(table: str, database: str, db_id: int | None) -> None:
    change = bound(table, database, db_id)
    assert change.takes_effect is Effect.ADVICE
    assert not executable((*change.apply, *change.undo))
    assert "\n" not in change.key + change.target


@pytest.mark.parametrize(
    ("database", "table"),
    [
        ("tempdb", "t"),
        ("tempdb_user", "t"),
        ("user_tempdb", "t"),
        ("sales", "#t"),
        ("sales", "sysobjects"),
        ("master", "t"),
        ("sybsystemprocs", "t"),
    ],
)
def test_temporary_and_system_tables_are_not_bound(database: str, table: str) -> None:
    assert not bindable(database, table)
    with pytest.raises(ValueError, match="not bound"):
        bound(table, database)
