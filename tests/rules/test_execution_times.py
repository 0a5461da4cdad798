"""What the engines' time went into stands beside their account, and only what was counted in the interval."""

from typing import Any

import pytest

from collectors.facts import Facts, Source
from collectors.facts.ase import MonEngine, MonSysExecutionTime
from rules.ase._evidence.account import measured

LINE = Source("mda.txt", 1, 1)
INTERVAL: dict[str, Any] = {"over": "interval", "certificate": "ok", "seconds": 30.0}
ENGINES = [
    MonEngine(
        engine=at, status="online", user_seconds=26.0, system_seconds=3.0, idle_seconds=1.0, source=LINE, **INTERVAL
    )
    for at in range(8)
]
TIMES = {"Unknown": 34.0e6, "Execution": 100.0e6, "Sorting": 146.0, "Compilation": 8.0e6, "Device\u202eIO": 58.0e6}


def remarks(over: dict[str, Any]) -> list[str]:
    rows = [
        MonSysExecutionTime(operation=at, name=name, microseconds=time, source=LINE, **over)
        for at, (name, time) in enumerate(TIMES.items())
    ]
    made = measured(Facts((*ENGINES, *rows)))
    return [one for account in made for one in account.remarks if "monSysExecutionTime" in one]


def test_parts_are_named_by_size_and_a_small_one_is_not() -> None:
    (said,) = remarks(INTERVAL)
    assert said.endswith("went into: Execution 50 %, Device?IO 29 %, Unknown 17 %, Compilation 4 %.")


@pytest.mark.parametrize("over", [{}, {**INTERVAL, "certificate": "reset"}])
def test_totals_since_boot_and_counters_that_were_reset_say_nothing(over: dict[str, Any]) -> None:
    assert remarks(over) == []
