"""Settings that wait for a restart: what is shown, how they are taken back, and names that nobody may script."""

import pytest

from collectors.facts.ase import ConfigParameter, NamedCache
from rules.changes.ase_restart import BY_HAND, cache_waits, restart
from rules.finding import Change, Effect

HOSTILE = ["x\ngo\nshutdown", "x" * 300, "x\u202eoitar", "x\u2028drop table y", ""]


def setting(name: str = "lock spinlock ratio", config: float | str = 20.0, run: float | str = 85.0) -> ConfigParameter:
    return ConfigParameter(name=name, config_value=config, run_value=run, kind="static")


def cache(name: str = "hot") -> NamedCache:
    return NamedCache(
        name=name,
        status="Active",
        config_size_mb=100.0,
        run_size_mb=59.44,
        config_replacement="strict LRU",
        run_replacement="relaxed LRU",
        config_partitions=8.0,
        run_partitions=2.0,
    )


def back(change: Change) -> list[str]:
    """The way back, which is a comment because these settings are somebody else's, out of its comment."""
    assert all(line.startswith("--") for line in change.undo)
    return [line.removeprefix("--   ") for line in change.undo]


def test_undo_writes_back_all_that_runs() -> None:
    change = restart([setting()], [cache()])
    assert 'sp_configure "lock spinlock ratio", 85' in back(change)
    assert 'sp_cacheconfig "hot", "59.44M"' in back(change)
    assert 'sp_cacheconfig "hot", relaxed' in back(change)
    assert 'sp_cacheconfig "hot", "cache_partition=2"' in back(change)
    assert change.takes_effect is Effect.RESTART


def test_apply_sets_nothing() -> None:
    change = restart([setting()], [cache()])
    assert [line for line in change.apply if line.startswith("sp_")] == [
        'sp_configure "lock spinlock ratio"',
        'sp_cacheconfig "hot"',
    ]


def test_undo_goes_the_other_way_round() -> None:
    undo = back(restart([setting("a"), setting("b")], []))
    assert undo.index('sp_configure "b", 85') < undo.index('sp_configure "a", 85')


@pytest.mark.parametrize("name", HOSTILE)
def test_a_hostile_name_reaches_no_line_of_the_script(name: str) -> None:
    change = restart([setting(name)], [cache(name)])
    lines = (*change.apply, *back(change))
    assert lines.count(BY_HAND) == 4
    assert all(line.startswith("-- ") for line in lines)
    assert change.takes_effect is Effect.ADVICE


def test_quotes_and_brackets_are_quoted_not_refused() -> None:
    change = restart([], [cache('x"; drop table y --]')])
    assert 'sp_cacheconfig "x""; drop table y --]"' in change.apply
    assert not [line for line in change.apply if line.startswith("-- ") and "--]" in line], (
        "no comment inside a comment"
    )


def test_a_hostile_value_is_not_written_back() -> None:
    change = restart([setting("kernel mode", "process", "x\nshutdown")], [])
    assert "shutdown" not in "\n".join((*change.apply, *back(change)))


def test_one_hostile_name_does_not_hide_the_others() -> None:
    change = restart([setting("x\ny"), setting()], [])
    assert change.takes_effect is Effect.RESTART
    assert BY_HAND in change.apply
    assert 'sp_configure "lock spinlock ratio", 85' in back(change)


def test_a_name_for_a_value_goes_back_as_a_name() -> None:
    assert 'sp_configure "kernel mode", 0, "threaded"' in back(
        restart([setting("kernel mode", "process", "threaded")], [])
    )


def test_a_size_that_was_never_configured_is_not_written_back() -> None:
    one = NamedCache(name="hot", config_size_mb=0.0, run_size_mb=59.44, config_partitions=4.0, run_partitions=2.0)
    assert [line for line in back(restart([], [one])) if line.startswith("sp_")] == [
        'sp_cacheconfig "hot", "cache_partition=2"'
    ]


def test_what_was_not_printed_is_not_written_back() -> None:
    one = NamedCache(name="hot", config_size_mb=10.0, config_replacement="strict LRU", run_replacement="relaxed LRU")
    two = NamedCache(name="hot", run_partitions=2.0, config_size_mb=10.0, run_size_mb=20.0)
    assert [line for line in back(restart([], [one, two])) if line.startswith("sp_")] == [
        'sp_cacheconfig "hot", "20.00M"',
        'sp_cacheconfig "hot", relaxed',
    ]


@pytest.mark.parametrize("status", ["Pend/Act", "Act/Del", "Pend/Del"])
def test_a_cache_on_its_way_in_or_out_is_taken_back_by_hand(status: str) -> None:
    undo = back(restart([], [NamedCache(name="hot", status=status, config_size_mb=0.0, run_size_mb=80.0)]))
    assert not [line for line in undo if line.startswith("sp_")]
    assert [line for line in undo if "by hand" in line]


def test_what_belongs_to_one_instance_is_taken_back_there_by_hand() -> None:
    one = ConfigParameter(name="lock spinlock ratio", config_value=20.0, run_value=85.0, kind="static", instance="i2")
    undo = back(restart([one], []))
    assert not [line for line in undo if line.startswith("sp_")]
    assert [line for line in undo if "one instance" in line]


@pytest.mark.parametrize(
    ("one", "waits"),
    [
        (NamedCache(name="c", config_size_mb=0.0, run_size_mb=59.44), ""),
        (NamedCache(name="c", config_partitions=0.0, run_partitions=4.0), ""),
        (NamedCache(name="c", config_replacement="Strict LRU ", run_replacement="strict LRU"), ""),
        (NamedCache(name="c", config_replacement="DEFAULT", run_replacement="strict LRU"), ""),
        (NamedCache(name="c", status="active"), ""),
        (NamedCache(name="c", config_size_mb=10.0), ""),
        (NamedCache(name="c", config_size_mb=10.0, run_size_mb=9.5), "10 MB configured, 9.50 MB running"),
        (NamedCache(name="c", status="Pend/Act"), "status Pend/Act"),
    ],
)
def test_what_of_a_cache_waits(one: NamedCache, waits: str) -> None:
    assert cache_waits(one) == waits
