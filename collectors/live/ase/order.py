"""What is to be collected from an ASE."""

import re
from dataclasses import dataclass

LENGTH = re.compile(r"[0-9]{2}:[0-5][0-9]:[0-5][0-9]")
"""Of a sample of sp_sysmon."""


@dataclass(frozen=True)
class Order:
    """What is to be collected, and how long a server may take to answer."""

    seconds: float = 60.0
    """Between the beginnings of the two snapshots."""
    sysmon: str = ""
    """`HH:MM:SS`, or empty: no sp_sysmon."""
    without: tuple[str, ...] = ()
    """Names of questions that are not asked."""
    login_seconds: float = 20.0
    question_seconds: float = 120.0


def seconds_of(length: str) -> float:
    """The seconds of `HH:MM:SS`; 0 for an empty text."""
    hours, minutes, seconds = (int(part) for part in (length or "0:0:0").split(":"))
    return 3600.0 * hours + 60.0 * minutes + seconds
