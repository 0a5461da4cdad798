"""Exports for faults: the storm of the examples under other names and at other times, one sample or hundreds."""

import re
from datetime import datetime, timedelta
from pathlib import Path

STORM = Path(__file__).resolve().parents[2] / "advisor" / "examples" / "audits" / "address_lock_storm" / "sysmon.txt"
START = datetime(2026, 2, 11, 10, 30)  # noqa: DTZ001 - as the export has it
SAMPLE = timedelta(minutes=10)


def sysmon(name: str, number: int = 0) -> bytes:
    """One sample of ten minutes of the server `name`, the `number`th since the storm."""
    text = STORM.read_text("latin-1")
    written = "%b %d, %Y %H:%M:%S"
    new = {f"{START + n * SAMPLE:{written}}": f"{START + (number + n) * SAMPLE:{written}}" for n in (0, 1)}
    new["CLAIMS1"] = name
    return re.sub("|".join(new), lambda found: new[found[0]], text).encode("latin-1")


def many(name: str, samples: int) -> bytes:
    """One file with so many samples one after the other: an upload that takes its time."""
    return b"\n".join(sysmon(name, number) for number in range(samples))
