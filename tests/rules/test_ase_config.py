"""Parameters of SAP ASE: legal range, when they take effect, and an undo that restores what ran."""

import pytest

from collectors.facts.ase import ConfigParameter
from rules.changes.ase_config import PARAMETERS, configure, more_memory, waiting_number
from rules.changes.out_of_range import OutOfRange
from rules.finding import Effect


@pytest.mark.parametrize("name", sorted(PARAMETERS))
def test_every_parameter_takes_the_ends_of_its_range_and_nothing_beyond(name: str) -> None:
    one = PARAMETERS[name]
    low, high = one.low, 2.0**30 if one.power_of_two and one.high > 2**30 else one.high
    for value in (low, high):
        assert f'sp_configure "{name}", {value:.0f}' in configure(name, None, value).apply
    for value in (low - 1, one.high + 1, low + 0.5, float("nan"), float("inf"), -float("inf")):
        with pytest.raises(OutOfRange):
            configure(name, None, value)


@pytest.mark.parametrize(
    ("name", "low", "high", "static", "default"),
    [
        ("lock address spinlock ratio", 1, 2147483647, True, 100),
        ("lock spinlock ratio", 1, 2147483647, True, 85),
        ("lock table spinlock ratio", 1, 2147483647, True, 20),
        ("lock hashtable size", 2048, 2147483647, True, 2048),
        ("open object spinlock ratio", 1, 2147483647, False, 100),
        ("open index spinlock ratio", 1, 2147483647, False, 100),
        ("open index hash spinlock ratio", 1, 2147483647, False, 100),
        ("partition spinlock ratio", 1, 2147483647, False, 10),
        ("number of open objects", 100, 2147483647, False, 500),
        ("number of open indexes", 100, 2147483647, False, 500),
        ("number of open partitions", 100, 2147483647, False, 500),
        ("number of locks", 1000, 2147483647, False, None),
        ("user log cache spinlock ratio", 1, 2147483647, False, 20),
        ("global cache partition number", 1, 256, True, 1),
        ("engine local cache percent", 0, 100, True, None),
        ("enable large chunk elc", 0, 1, True, None),
        ("max online engines", 1, 1024, True, None),
    ],
)
def test_the_table_is_the_vendors(name: str, low: int, high: int, static: bool, default: int | None) -> None:
    one = PARAMETERS[name]
    assert (one.low, one.high, one.static, one.default) == (low, high, static, default)


def test_cache_partitions_are_a_power_of_two() -> None:
    with pytest.raises(OutOfRange):
        configure("global cache partition number", 1, 6)


def test_a_hash_table_is_a_power_of_two_and_never_under_the_vendors_minimum() -> None:
    for value in (3000, 4097, 1024):
        with pytest.raises(OutOfRange):
            configure("lock hashtable size", 2048, value)


def test_the_script_shows_then_sets_then_checks() -> None:
    script = configure("lock hashtable size", 2048, 4096).apply
    show = [n for n, line in enumerate(script) if line == 'sp_configure "lock hashtable size"']
    assert show[0] < script.index('sp_configure "lock hashtable size", 4096') < show[1]
    assert "check that Run Value is 4096" in script[show[1] - 1]
    assert all(not line.startswith("sp_") or script[n + 1] == "go" for n, line in enumerate(script))


def test_what_to_look_at_before_comes_first() -> None:
    script = configure("number of open objects", 500, 700, look=('sp_countmetadata "open objects"', "go")).apply
    assert script[:2] == ('sp_countmetadata "open objects"', "go")


def test_undo_restores_the_value_that_ran() -> None:
    change = configure("lock spinlock ratio", 85, 20)
    assert change.undo[0] == 'sp_configure "lock spinlock ratio", 85'
    assert change.undo[-1] == "-- restart the server"
    assert change.takes_effect is Effect.RESTART
    assert "needs a restart" in " ".join(change.cautions)


def test_undo_never_restores_a_value_that_has_not_run() -> None:
    change = configure("lock address spinlock ratio", 100, 5, configured=200)
    assert change.undo[:2] == (
        "-- 100 ran. 200 was configured and had not run: it is not restored",
        'sp_configure "lock address spinlock ratio", 100',
    )
    assert change.old == 100
    assert not [line for line in change.way_back if "200" in line and not line.startswith("--")]


@pytest.mark.parametrize(
    ("config", "run", "waits"), [(200.0, 100.0, 200.0), (100.0, 100.0, None), ("DEFAULT", 20.0, 85.0), ("x", 1.0, None)]
)
def test_what_waits(config: float | str, run: float, waits: float | None) -> None:
    setting = ConfigParameter(name="x", default_value=85.0, config_value=config, run_value=run, kind="static")
    assert waiting_number(setting) == waits
    assert waiting_number(None) is None


def test_a_dynamic_parameter_needs_no_restart_either_way() -> None:
    change = configure("open object spinlock ratio", 100, 10)
    assert change.takes_effect is Effect.ONLINE
    assert not [line for line in (*change.apply, *change.undo, *change.cautions) if "restart" in line]


@pytest.mark.parametrize("old", [None, 0, 12.0, 1e12])
def test_an_unknown_or_illegal_old_value_is_never_written_back(old: float | None) -> None:
    assert "<the Run Value shown" in configure("number of open objects", old, 700).undo[0]


@pytest.mark.parametrize(
    ("name", "old", "new", "stays"),
    [
        ("procedure cache size", 40_000, 90_000, True),
        ("number of locks", None, 30_000, True),
        ("number of open indexes", 4000, 2000, False),
        ("deadlock checking period", 500, 900, False),
        ("user log cache size", 2048, 4096, False),
    ],
)
def test_memory_that_a_raised_parameter_took_comes_back_with_a_restart_alone(
    name: str, old: float | None, new: float, stays: bool
) -> None:
    change = configure(name, old, new)
    assert any("memory in use stays taken" in line for line in change.undo) is stays
    assert (change.risk is not None) is stays


def test_memory_grows_in_proportion_to_what_the_export_says() -> None:
    setting = ConfigParameter(name="lock hashtable size", memory_used_kb=48.0)
    megabytes, caution = more_memory(setting, 2048, 8192)
    assert megabytes == pytest.approx(144 / 1024)
    assert "0.14 MB more" in caution


def test_memory_of_descriptors_goes_by_the_vendors_figure_where_none_is_printed() -> None:
    megabytes, caution = more_memory(ConfigParameter(name="number of open objects", memory_used_kb=0.0), 500, 840)
    assert megabytes == pytest.approx(140.8 / 1024)
    assert "340 descriptors" in caution


def test_a_change_takes_no_memory_unless_that_is_said() -> None:
    assert configure("number of open objects", 500, 700).memory_mb == 0
    assert configure("number of open objects", 500, 700, memory_mb=2.5).memory_mb == 2.5


def test_memory_of_locks_goes_by_155_bytes_where_none_is_printed() -> None:
    megabytes, caution = more_memory(ConfigParameter(name="number of locks"), 10_000, 1_010_000)
    assert megabytes == pytest.approx(155_000_000 / 1024 / 1024)
    assert "155 bytes" in caution


@pytest.mark.parametrize(
    "setting",
    [
        None,
        ConfigParameter(name="x"),
        ConfigParameter(name="x", memory_used_kb=0.0),
        ConfigParameter(name="x", memory_used_kb=4096.0, memory_counted=False),
    ],
)
def test_memory_that_nobody_printed_is_not_made_up(setting: ConfigParameter | None) -> None:
    megabytes, caution = more_memory(setting, 2048, 8192)
    assert megabytes == 0
    assert "max memory" in caution
