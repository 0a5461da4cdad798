"""What is to be collected from an ASE."""

import re
from dataclasses import dataclass

LENGTH = re.compile(r"[0-9]{2}:[0-5][0-9]:[0-5][0-9]")
"""Of a sample of sp_sysmon."""
WITHOUT = "leave questions out (--without; of a data source: Change, Questions left out)"
"""What to do where it is too much, by the command line and by the page."""
LONGER = "give each question longer (--question-seconds; of a data source: Change, Seconds for one question)"
TOTAL = "let all of it take longer (--total-seconds; of a data source: TASK_SECONDS of the service)"
MOST_ASKING = 0.1
"""Part of the time that asking for samples may take, at most (this project): what is slow is sampled less often."""
STOP = "stop"
"""A file of this name in its folder has the collecting process end its samples and take the last snapshot."""
SECOND = ", second snapshot"
"""Stands behind the name of a question that was asked for the second time."""


@dataclass(frozen=True)
class CollectRequest:
    """What is to be collected, and how long a server may take to answer."""

    seconds: float = 60.0
    """Between the beginnings of the two snapshots."""
    sysmon: str = ""
    """`HH:MM:SS`, or empty: no sp_sysmon."""
    every: float = 0.0
    """Seconds from sample to sample between the snapshots; 0: none is taken."""
    without: tuple[str, ...] = ()
    """Names of questions that are not asked."""
    sizes: bool = True
    """Whether sizes and lock schemes of every table are asked."""
    login_seconds: float = 20.0
    first_word_seconds: float | None = None
    """For the first question, who the server is; `None`: as long as that question has."""
    question_seconds: float | None = None
    """For each question; `None`: as long as `questions.sql` gives it."""
    least_question_seconds: float = 0.0
    """For each question at least, where `questions.sql` gives it less."""
    total_seconds: float = 3600.0
    """For all of it, the wait between the snapshots included; what there is no time for is not asked."""


def seconds_of(length: str) -> float:
    """The seconds of `HH:MM:SS`; 0 for an empty text."""
    hours, minutes, seconds = (int(part) for part in (length or "0:0:0").split(":"))
    return 3600.0 * hours + 60.0 * minutes + seconds
