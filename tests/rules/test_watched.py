"""What is watched over time of the monitoring tables: of intervals alone, and under sp_sysmon's keys where the same."""

from collectors.facts import Facts
from collectors.facts.ase import EngineBusy, LockHashtable, MonEngine, MonSpinlockActivity, MonState
from rules.figures import key_figures

LOCK = MonSpinlockActivity(
    name="addrlockspins", over="interval", certificate="ok", seconds=50.0, grabs=1000.0, waits=300.0, spins=5000.0
)


def figures(*facts: object) -> dict[str, float]:
    return {one.key: one.value for one in key_figures(Facts(facts))}  # type: ignore[arg-type]


def test_spins_and_contention_of_an_interval_are_watched() -> None:
    seen = figures(LOCK)
    assert seen["ase.spins"] == 100.0
    assert seen["ase.spins:addrlockspins"] == 100.0
    assert seen["ase.lock_hashtable_contention:address"] == 30.0


def test_totals_since_boot_are_not() -> None:
    assert figures(MonSpinlockActivity(name="addrlockspins", grabs=1000.0, waits=300.0, spins=5000.0)) == {}


def test_counters_that_cannot_be_believed_are_not() -> None:
    assert figures(MonSpinlockActivity(name="addrlockspins", over="interval", certificate="reset")) == {}


def test_an_offline_engine_is_no_engine() -> None:
    online = MonEngine(engine=0, status="online", over="interval", certificate="ok", user_seconds=9.0, idle_seconds=1.0)
    offline = MonEngine(
        engine=1, status="offline", over="interval", certificate="ok", user_seconds=0.0, idle_seconds=0.0
    )
    seen = figures(online, offline)
    assert seen["ase.engines"] == 1
    assert seen["ase.engine_busy"] == 90.0


def test_of_the_same_figure_that_of_sp_sysmon_counts() -> None:
    printed = LockHashtable(table="address", contention_percent=12.0)
    assert figures(LOCK, printed)["ase.lock_hashtable_contention:address"] == 12.0
    engines = [EngineBusy(engine=0, user_percent=50.0), EngineBusy(engine=1, user_percent=70.0)]
    assert figures(*engines)["ase.engine_busy"] == 60.0


def test_transactions_are_a_rate() -> None:
    row = MonState(over="interval", certificate="ok", seconds=20.0, transactions=500.0)
    assert figures(row)["ase.transactions"] == 25.0
