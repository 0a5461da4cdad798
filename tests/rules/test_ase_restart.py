"""Settings that wait for a restart: what is shown, how they are taken back, and names that nobody may script."""

import pytest

from collectors.facts.ase import ConfigParameter, NamedCache
from rules.audit import with_pending
from rules.changes.ase_cache_back import take_back_partitions
from rules.changes.ase_config import configure
from rules.changes.ase_restart import AFTER, BY_HAND, cache_waits, restart_cache, restart_setting, take_back
from rules.finding import Change, Effect, Finding, Severity
from rules.plan import make_plan
from rules.ranking import Ranked

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


def every(*waiting: ConfigParameter | NamedCache) -> list[Change]:
    found: list[Change] = []
    for one in waiting:
        found += [restart_setting(one)] if isinstance(one, ConfigParameter) else restart_cache(one)
    return found


def back(*changes: Change) -> list[str]:
    """The way back, which is a comment because these settings are somebody else's, out of its comment."""
    lines = [line for change in changes for line in change.way_back]
    assert all(line.startswith("--") for line in lines)
    return [line.removeprefix("--   ") for line in lines]


def test_undo_writes_back_all_that_runs() -> None:
    changes = every(setting(), cache())
    assert 'sp_configure "lock spinlock ratio", 85' in back(*changes)
    assert 'sp_cacheconfig "hot", "59.44M"' in back(*changes)
    assert 'sp_cacheconfig "hot", relaxed' in back(*changes)
    assert 'sp_cacheconfig "hot", "cache_partition=2"' in back(*changes)
    assert {change.takes_effect for change in changes} == {Effect.RESTART}


def test_apply_sets_nothing() -> None:
    lines = [line for change in every(setting(), cache()) for line in change.script if line.startswith("sp_")]
    assert set(lines) == {'sp_configure "lock spinlock ratio"', 'sp_cacheconfig "hot"'}


def test_each_setting_is_a_change_of_its_own() -> None:
    keys = [change.key for change in every(setting(), cache())]
    assert keys == [
        "ase.restart:lock spinlock ratio",
        "ase.restart:cache hot:size",
        "ase.restart:cache hot:cache_partition",
        "ase.restart:cache hot:replacement",
    ]
    assert [change.old for change in every(setting())] == [85]
    assert [change.new for change in every(setting())] == [20]


def test_the_plan_leaves_out_what_another_change_sets_or_takes_back() -> None:
    others = [configure("lock spinlock ratio", 85, 10, configured=20), take_back_partitions("hot", 8, 2)]
    plan = make_plan([*every(setting(), setting("stack size"), cache()), *others])
    restart = next(step for step in plan.steps if step.takes_effect is Effect.RESTART)
    assert "ase.restart:stack size" in restart.change_keys
    assert "ase.restart:cache hot:replacement" in restart.change_keys
    assert "ase.restart:lock spinlock ratio" not in restart.change_keys
    assert "ase.restart:cache hot:cache_partition" not in restart.change_keys
    assert plan.conflicts == ()


def test_a_plan_says_once_what_belongs_to_all() -> None:
    (step,) = make_plan(every(setting("a"), setting("b"))).steps
    assert step.apply.count("ask who set them") == step.apply.count(AFTER) == 1
    assert step.undo.count("is left as it is") == step.undo.count("if it was restarted meanwhile") == 1
    assert step.undo.index('sp_configure "b", 85') < step.undo.index('sp_configure "a", 85')


@pytest.mark.parametrize("name", HOSTILE)
def test_a_hostile_name_reaches_no_line_of_the_script(name: str) -> None:
    for change in every(setting(name), cache(name)):
        assert (*change.script, *back(change)) == (BY_HAND, BY_HAND)
        assert change.takes_effect is Effect.ADVICE
        assert not any(mark in change.key + change.target for mark in "\n\u202e\u2028")


def test_quotes_and_brackets_are_quoted_not_refused() -> None:
    for change in every(cache('x"; drop table y --]')):
        assert 'sp_cacheconfig "x""; drop table y --]"' in change.apply
        assert not [line for line in change.script if line.startswith("-- ") and "--]" in line], (
            "a comment in a comment"
        )


def test_a_hostile_value_is_not_written_back() -> None:
    change = restart_setting(setting("kernel mode", "process", "x\nshutdown"))
    assert "shutdown" not in "\n".join((*change.script, *back(change)))
    assert "\n" not in str(change.old)


def test_one_hostile_name_does_not_hide_the_others() -> None:
    steps = make_plan(every(setting("x\ny"), setting())).steps
    assert [step.takes_effect for step in steps] == [Effect.RESTART, Effect.ADVICE]


def test_a_name_for_a_value_goes_back_as_a_name() -> None:
    assert 'sp_configure "kernel mode", 0, "threaded"' in back(
        restart_setting(setting("kernel mode", "process", "threaded"))
    )


def test_a_size_that_was_never_configured_is_not_written_back() -> None:
    one = NamedCache(name="hot", config_size_mb=0.0, run_size_mb=59.44, config_partitions=4.0, run_partitions=2.0)
    assert [line for line in back(*every(one)) if line.startswith("sp_")] == [
        'sp_cacheconfig "hot", "cache_partition=2"'
    ]


def test_what_was_not_printed_is_not_written_back() -> None:
    one = NamedCache(name="hot", config_size_mb=10.0, config_replacement="strict LRU", run_replacement="relaxed LRU")
    two = NamedCache(name="hot", run_partitions=2.0, config_size_mb=10.0, run_size_mb=20.0)
    assert [line for line in back(*every(one, two)) if line.startswith("sp_")] == [
        'sp_cacheconfig "hot", relaxed',
        'sp_cacheconfig "hot", "20.00M"',
    ]


@pytest.mark.parametrize("status", ["Pend/Act", "Act/Del", "Pend/Del"])
def test_a_cache_on_its_way_in_or_out_is_taken_back_by_hand(status: str) -> None:
    undo = back(*every(NamedCache(name="hot", status=status, config_size_mb=10.0, run_size_mb=80.0)))
    assert not [line for line in undo if line.startswith("sp_")]
    assert len([line for line in undo if "by hand" in line]) == 2


def test_what_belongs_to_one_instance_is_taken_back_there_by_hand() -> None:
    one = ConfigParameter(name="lock spinlock ratio", config_value=20.0, run_value=85.0, kind="static", instance="i2")
    change = restart_setting(one)
    assert not [line for line in back(change) if line.startswith("sp_")]
    assert [line for line in back(change) if "one instance" in line]
    assert change.key != restart_setting(setting()).key


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


def test_what_is_taken_back_is_what_runs_and_needs_no_restart() -> None:
    change = take_back(restart_setting(setting()))
    assert 'sp_configure "lock spinlock ratio", 85' in change.apply
    assert change.takes_effect is Effect.ONLINE
    assert all(line.startswith("--") for line in change.undo)


def test_a_take_back_gives_way_to_a_change_of_the_same_setting() -> None:
    plan = make_plan([take_back(restart_setting(setting())), configure("lock spinlock ratio", 85, 20)])
    assert [step.change_keys for step in plan.steps] == [("ase.config:lock spinlock ratio",)]


def test_every_other_restart_says_what_would_come_along() -> None:
    pending = take_back(restart_setting(setting("max online engines")))
    other = configure("lock address spinlock ratio", 100, 10)
    found = [
        Ranked(name, Finding("server", Severity.WARNING, "", "", (), changes=(change,)))
        for name, change in (("pending", pending), ("ratio", other))
    ]
    told = [change for one in with_pending(found, {pending.key, other.key}) for change in one.finding.changes]
    assert [change.key for change in told] == [pending.key, other.key]
    assert "max online engines: 20 configured, 85 running" in " ".join(told[1].cautions)
    assert told[0].cautions == ()


def test_what_the_plan_changes_is_not_listed_as_pending_too() -> None:
    changes = (restart_setting(setting()), configure("lock spinlock ratio", 85, 10, configured=20))
    (one,) = with_pending(
        [Ranked("r", Finding("server", Severity.ADVICE, "", "", (), changes=changes))], {changes[1].key}
    )
    assert [change.key for change in one.finding.changes] == ["ase.config:lock spinlock ratio"]
