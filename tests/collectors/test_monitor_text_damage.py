"""MONITOR as text that is damaged, or meant to harm: nothing raises, nothing takes long."""

import random

import pytest

from collectors.facts.base import ABSENT
from collectors.facts.openvms import LockRates
from tests.collectors.test_monitor_text import EXPORTS, read
from tests.yardstick import no_longer_than


def damaged(text: str, dice: random.Random) -> str:
    """Cut, double, drop, swap, splice, spoil."""
    lines = text.split("\n")
    for _ in range(dice.randint(1, 8)):
        at, to = dice.randrange(len(lines)), dice.randrange(len(lines))
        spot = dice.randrange(len(lines[at]) + 1)
        match dice.randrange(6):
            case 0:
                lines[at] = lines[at][:spot]
            case 1:
                lines.insert(to, lines[at])
            case 2:
                del lines[at]
                lines = lines or [""]
            case 3:
                lines[at], lines[to] = lines[to], lines[at]
            case 4:
                lines[at] = lines[at][:spot] + lines[to]
            case _:
                lines[at] = lines[at][:spot] + dice.choice(["*" * 9, "-1", "9" * 40, "|", "(", "\t", "é", "1.2.3"])
    return "\n".join(lines)


def test_damage_never_raises_and_numbers_stay_numbers() -> None:
    dice = random.Random(4)
    texts = [path.read_text(encoding="utf-8") for path in sorted(EXPORTS.glob("*.txt"))]
    for _ in range(150):
        text = damaged(dice.choice(texts), dice)
        count = len(text.split("\n"))
        for found in read(text):
            for fact in found.facts:
                assert 1 <= fact.source.first <= fact.source.last <= count
                if isinstance(fact, LockRates):
                    assert fact.new_enq_per_second is ABSENT or fact.new_enq_per_second != float("inf")


HOSTILE = (
    "|",
    "| ",
    "+ -",
    "* ",
    "A ",
    "(",
    "0 ",
    "1.00",
    "A  ",
    "3-FEB-2021 ",
    "CPU Busy (",
    "Row Sum ",
    "<",
    "Node: ",
)


@pytest.mark.parametrize("piece", HOSTILE)
def test_hostile_lines_are_read_in_no_time(piece: str) -> None:
    line = "x" * (len(piece) % 2) + piece * (390 // len(piece)) + "~"
    with no_longer_than(1):
        for name in ("LOCK MANAGEMENT", "SYSTEM", "CLUSTER", "DISK I/O"):
            head = f"  OpenVMS Monitor Utility\n  {name} STATISTICS\n  on node LEWIS\n"
            read(head + f"{line}\n" * 20)
            read(head + "  MULTI-FILE SUMMARY\n Node: A B\n" + f"{line}\n" * 20)
