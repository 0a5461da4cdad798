"""The rule about hot spinlocks does as much work as there are lines: a trace of 4 MB is judged as it is read."""

from collections.abc import Callable

import pytest

from collectors.facts import Fact, Facts, Source
from collectors.facts.openvms import SpinlockTrace, SpinlockTraceRun
from rules.engine import judge_one, rules
from tests.yardstick import work_of

COMMAND = "SHOW TRACE/SUMMARY"


def outputs_one_after_the_other(count: int) -> list[Fact]:
    """Each traces the same two spinlocks."""
    found: list[Fact] = []
    for line in range(1, 10 * count, 10):
        found.append(SpinlockTraceRun(source=Source("spl.txt", line, line), command=COMMAND, seconds=12.5))
        for number, name in enumerate(("LCKMGR", "SCHED"), 1):
            at = Source("spl.txt", line + number, line + number)
            found.append(SpinlockTrace(source=at, spinlock=name, command=COMMAND, hold_percent=70.0, spin_percent=90.0))
    return found


def one_output_of_many_spinlocks(count: int) -> list[Fact]:
    """One for each process, as PCB$ spinlocks are."""
    return [
        SpinlockTraceRun(source=Source("spl.txt", 1, 1), command=COMMAND, seconds=12.5),
        *(
            SpinlockTrace(
                source=Source("spl.txt", 2 + number, 2 + number),
                spinlock=f"PCB${number:08X}",
                command=COMMAND,
                hold_percent=70.0,
                spin_percent=90.0 if number % 2 else 0.0,
            )
            for number in range(count)
        ),
    ]


@pytest.mark.parametrize("make", [outputs_one_after_the_other, one_output_of_many_spinlocks])
def test_twice_the_lines_are_about_twice_the_work(make: Callable[[int], list[Fact]]) -> None:
    rule = next(one for one in rules() if one.id == "openvms/spinlock_hot")
    works = []
    for count in (150, 300):
        facts = Facts(tuple(make(count)))
        works.append(work_of(lambda facts=facts: judge_one(rule, facts, {})))  # type: ignore[misc]
    assert works[1] < 2.5 * works[0], works
