"""Lock promotion thresholds of a table: all three in the first call, never on a table that is not a user's."""

import pytest

from rules.changes.ase_promotion import Thresholds, set_promotion
from rules.changes.ase_table import NotConvertible
from rules.changes.out_of_range import OutOfRange
from rules.finding import Change, Effect

NOW = Thresholds(200, 200, 100)


def made(*, hwm: int = 2000, kind: str = "row", database: str = "shop", table: str = "stock") -> Change:
    return set_promotion(database=database, owner="dbo", table=table, kind=kind, now=NOW, hwm=hwm)


def executable(lines: tuple[str, ...]) -> list[str]:
    return [line for line in lines if not line.startswith("--") and line != "go"]


def test_it_shows_what_is_in_force_then_sets_all_three_and_the_way_back_drops_them() -> None:
    change = made()
    sent = executable(change.apply)
    assert sent[:2] == ["use shop", 'sp_configure "row lock promotion"']
    assert sent.index('sp_helpdb "shop"') < sent.index('sp_setrowlockpromote "table", "dbo.stock", 200, 2000, 100')
    assert executable(change.undo)[:2] == ["use shop", 'sp_droprowlockpromote "table", "dbo.stock"']
    assert (change.old, change.new) == ("LWM 200, HWM 200, PCT 100", "LWM 200, HWM 2000, PCT 100")
    assert change.takes_effect is Effect.ONLINE


def test_the_way_back_leaves_no_thresholds_of_page_locks_on_the_table() -> None:
    change = made(kind="page")
    assert 'sp_setpglockpromote "table", "dbo.stock", 200, 2000, 100' in change.apply
    assert executable(change.undo)[:2] == ["use shop", 'sp_dropglockpromote "table", "dbo.stock"']
    assert not any("setpglockpromote" in line for line in change.undo)


def test_a_lower_threshold_takes_the_low_water_mark_with_it() -> None:
    assert made(hwm=100).new == "LWM 100, HWM 100, PCT 100"


def test_where_free_locks_are_not_known_it_changes_nothing_until_a_person_has_looked() -> None:
    change = set_promotion(database="shop", owner="dbo", table="stock", kind="row", now=NOW, hwm=2000, free_first=20000)
    sent = executable(change.apply)
    assert 'sp_monitorconfig "number of locks"' in sent
    assert not [line for line in sent if "promote" in line]
    assert '--!sp_setrowlockpromote "table", "dbo.stock", 200, 2000, 100' in change.apply


@pytest.mark.parametrize("hwm", [1, 0, -5, 2**31])
def test_what_the_server_would_refuse_is_never_written(hwm: int) -> None:
    with pytest.raises(OutOfRange):
        made(hwm=hwm)


@pytest.mark.parametrize(
    ("database", "table"), [("master", "t"), ("tempdb2", "t"), ("shop", "sysindexes"), ("shop", "#t")]
)
def test_only_tables_of_users(database: str, table: str) -> None:
    with pytest.raises(NotConvertible):
        made(database=database, table=table)


@pytest.mark.parametrize("table", ['x"; drop table y --', "a b", "order", "a\nshutdown", "\u202e"])
def test_a_name_that_is_not_plain_is_left_to_hands(table: str) -> None:
    change = made(table=table)
    assert change.takes_effect is Effect.ADVICE
    assert not executable((*change.apply, *change.undo))
    assert "\n" not in change.key + change.target
