"""Bindings: what is printed, what the server would refuse, what brings back the old state."""

import pytest

from rules.changes import ase_binding
from rules.changes.ase_binding import NotBindable
from rules.finding import Change, Effect

QUOTED = 'x"; drop table y --'
HOSTILE = [QUOTED, "a.b", "a]", "a\nshutdown", "a\rshutdown", "a\u202eb", "a\u2028b"]
TABLES = [("sysobjects", None), ("syscolumns", None), ("sysindexes", "csysindexes")]


def executable(change: Change) -> list[str]:
    return [line for line in (*change.apply, *change.undo) if not line.startswith("-- ")]


def test_a_table_or_an_index_is_bound_and_unbound() -> None:
    change = ase_binding.bind("hot", "sales", "dbo", "orders", old="default data cache", needs=("k",))
    assert 'sp_bindcache "hot", sales, "dbo.orders"' in change.apply
    assert 'sp_unbindcache sales, "dbo.orders"' in change.undo
    assert (change.old, change.new, change.takes_effect) == ("default data cache", "hot", Effect.ONLINE)
    assert change.needs == ("k",)
    index = ase_binding.bind("hot", "sales", "dbo", "orders", "orders_i1")
    assert (change.target, index.target) == (
        "sales.dbo.orders: cache binding",
        "sales.dbo.orders.orders_i1: cache binding",
    )
    assert 'sp_bindcache "hot", sales, "dbo.orders", "orders_i1"' in index.apply
    assert 'sp_unbindcache sales, "dbo.orders", "orders_i1"' in index.undo
    assert any("861, 864" in caution for caution in change.cautions)


def test_an_index_without_a_name_is_looked_up_and_bound_by_a_person() -> None:
    change = ase_binding.bind_unnamed("hot", "sales", "dbo", "orders", 3, old="default data cache", needs=("k",))
    assert "select name from sysindexes where id = object_id('dbo.orders') and indid = 3" in executable(change)
    assert not any("bindcache" in line for line in executable(change))
    assert (change.target, change.takes_effect) == ("sales.dbo.orders.index 3: cache binding", Effect.ADVICE)


def test_a_script_looks_before_it_binds_and_checks_after_it() -> None:
    apply = ase_binding.bind("hot", "sales", "dbo", "orders").apply
    bound = apply.index('sp_bindcache "hot", sales, "dbo.orders"')
    assert apply.index("sp_helpcache") < bound < apply.index('sp_helpcache "hot"')
    assert apply[0] == "use sales"


@pytest.mark.parametrize("hostile", HOSTILE)
def test_what_is_not_a_plain_name_is_bound_by_hand(hostile: str) -> None:
    for change in (
        ase_binding.bind("hot", "sales", "dbo", hostile),
        ase_binding.bind("hot", hostile, "dbo", "orders"),
        ase_binding.bind("hot", "sales", hostile, "orders"),
        ase_binding.bind("hot", "sales", "dbo", "orders", hostile),
        ase_binding.bind_unnamed("hot", hostile, "dbo", "orders", 2, old="default data cache"),
        ase_binding.bind_unnamed("hot", "sales", "dbo", hostile, 2, old="default data cache"),
        ase_binding.bind_system_tables("hot", hostile, TABLES),
        ase_binding.bind_system_tables("hot", "sales", [("sysobjects", hostile)]),
    ):
        assert change.takes_effect is Effect.ADVICE
        assert executable(change) == []
        assert "\n" not in change.key + change.target


def test_system_tables_are_bound_alone_in_their_database_and_it_is_opened_again() -> None:
    change = ase_binding.bind_system_tables("sys1", "sales", TABLES, old="default data cache")
    assert change.takes_effect is Effect.OFFLINE
    for way, word in ((change.apply, "sp_bindcache"), (change.undo, "sp_unbindcache")):
        steps = [line.removeprefix("--!") for line in way if not line.startswith("-- ") and line.lstrip("-!") != "go"]
        closed = steps.index('sp_dboption "sales", "single user", true')
        opened = steps.index('sp_dboption "sales", "single user", false')
        moves = [i for i, line in enumerate(steps) if line.startswith(word)]
        assert steps.index("sp_who") < closed < min(moves)
        assert max(moves) < opened
        assert len(moves) == 3
        assert steps[closed + 1 : closed + 3] == ["use sales", "checkpoint"]
        assert steps[opened - 1] == "use master", "sp_dboption runs in master alone"
        assert "checkpoint" in steps[opened:], "what sp_dboption set is in force after a checkpoint"
        live = [line for line in way if not line.startswith("--")]
        assert not [line for line in live if line.startswith(("sp_dboption", word))], "nobody is thrown out unasked"
    assert '--!sp_bindcache "sys1", sales, "dbo.sysindexes", "csysindexes"' in change.apply


@pytest.mark.parametrize(
    ("database", "table", "message"),
    [
        ("master", "sysobjects", "18089"),
        ("tempdb", "sysobjects", "18098"),
        ("tempdb_batch", "syscolumns", "18098"),
        ("batch_tempdb", "syscolumns", "18098"),
        ("sales", "sysattributes", "867"),
        ("sales", "sysallocpg", "868"),
        ("sales", "syslogs", "logs alone"),
        ("sybsystemprocs", "sysobjects", "belongs to the server"),
        ("sales", "orders", "no system table"),
    ],
)
def test_what_the_server_refuses_is_not_written(database: str, table: str, message: str) -> None:
    with pytest.raises(NotBindable, match=message):
        ase_binding.bind_system_tables("c", database, [(table, None)])


@pytest.mark.parametrize(("database", "table"), [("tempdb", "t"), ("sales", "#t"), ("sales", "sysobjects")])
def test_temporary_and_system_tables_are_not_bound_like_user_tables(database: str, table: str) -> None:
    with pytest.raises(NotBindable):
        ase_binding.bind("c", database, "dbo", table)


@pytest.mark.parametrize("database", ["order", "fin dept", "fin-2024", "München"])
def test_a_database_whose_name_needs_delimiters_is_used_in_brackets_and_named_as_a_string(database: str) -> None:
    user = ase_binding.bind("hot", database, "dbo", "lines", "lines by day")
    assert f"use [{database}]" in user.apply
    assert f'sp_bindcache "hot", "{database}", "dbo.lines", "lines by day"' in user.apply
    assert f'sp_unbindcache "{database}", "dbo.lines", "lines by day"' in user.undo
    system = ase_binding.bind_system_tables("hot", database, [("sysobjects", None)])
    assert f'--!sp_bindcache "hot", "{database}", "dbo.sysobjects"' in system.apply
    assert system.apply.count(f"--!use [{database}]") == 2
    log = ase_binding.bind_log("log_cache", database)
    assert f'--!sp_bindcache "log_cache", "{database}", syslogs' in log.apply
    assert f'--!sp_unbindcache "{database}", syslogs' in log.undo
    temporary = ase_binding.bind_temporary("t", database)
    assert f'sp_bindcache "t", "{database}"' in temporary.script
    assert f'sp_unbindcache "{database}"' in temporary.way_back
    assert all(one.takes_effect is not Effect.ADVICE for one in (user, system, log, temporary))


@pytest.mark.parametrize("part", ["a b", "a.b", "o'hare"])
def test_an_owner_or_a_table_that_needs_delimiters_is_bound_by_hand(part: str) -> None:
    for owner, table in ((part, "orders"), ("dbo", part)):
        assert ase_binding.bind("hot", "sales", owner, table).takes_effect is Effect.ADVICE
    assert ase_binding.bind("hot", "sales", "dbo", "order").takes_effect is Effect.ONLINE


def test_the_outage_of_a_replicated_database_needs_its_rep_agent_stopped() -> None:
    change = ase_binding.bind_system_tables("hot", "sales", [("sysobjects", None)])
    assert any("sp_stop_rep_agent" in caution and "sp_start_rep_agent" in caution for caution in change.cautions)


def test_a_temporary_database_is_bound_as_a_whole_right_after_a_restart() -> None:
    change = ase_binding.bind_temporary("tempdb_cache", "tempdb", old="default data cache", needs=("k",))
    assert 'sp_bindcache "tempdb_cache", tempdb' in change.script
    assert "sp_unbindcache tempdb" in change.way_back
    assert change.script[0] == change.way_back[0] == "use master"
    assert (change.takes_effect, change.needs) == (Effect.RESTART, ("k",))
    assert change.after_restart
    assert any("857" in caution for caution in change.cautions)


def test_a_log_is_bound_and_unbound_in_an_outage_of_its_database() -> None:
    change = ase_binding.bind_log("log_cache", "sales")
    for script, line in (
        (change.apply, '--!sp_bindcache "log_cache", sales, syslogs'),
        (change.undo, "--!sp_unbindcache sales, syslogs"),
    ):
        alone = script.index('--!sp_dboption "sales", "single user", true')
        assert alone < script.index("--!checkpoint") < script.index(line)
        assert script.index(line) < script.index('--!sp_dboption "sales", "single user", false')
    assert "sp_logiosize" in change.apply
    assert change.takes_effect is Effect.OFFLINE


@pytest.mark.parametrize("database", ["tempdb", "TempDB_batch", "master", "sybsystemprocs"])
def test_the_log_of_a_temporary_database_or_one_of_the_server_is_not_bound_alone(database: str) -> None:
    with pytest.raises(NotBindable):
        ase_binding.bind_log("log_cache", database)


@pytest.mark.parametrize("hostile", HOSTILE)
def test_a_database_with_a_hostile_name_is_bound_by_hand(hostile: str) -> None:
    changes = [ase_binding.bind_temporary("c", hostile), ase_binding.bind_log("c", hostile)]
    changes += [ase_binding.bind_temporary("a\nb", "tempdb"), ase_binding.bind_log("a\nb", "sales", old="log_cache")]
    assert [change.old for change in changes] == [None, None, None, "log_cache"]
    for change in changes:
        assert executable(change) == []
        assert change.takes_effect is Effect.ADVICE
