"""Waits for locks that ended within the interval and lasted much longer: no measure of how many tasks wait, but known.

A wait is booked when it ends (knowledge/ase-waits-caches.md, 1.1), so three waits of half an hour that end in one
minute are no ninety waiting tasks; and who held them is gone from every table when they are booked.
"""

from collectors.facts.ase import HeldLock, LogHolder, MonProcess, MonProcessSQLText
from rules.ase._evidence.waits.tasks import Waited
from rules.finding import Evidence, Finding, MissingInput, Severity

WHILE_IT_LASTS = (
    MissingInput("for which lock they wait, and who holds it", HeldLock.COLLECTED_BY),
    MissingInput("who waits now, and since when", MonProcess.COLLECTED_BY),
    MissingInput("what the head of the chain runs", MonProcessSQLText.COLLECTED_BY),
    MissingInput("whose transaction is open, and since when", LogHolder.COLLECTED_BY),
)
"""What names the head of a chain, and can be collected only while somebody waits."""


def ended_long(subject: str, waited: Waited, limit: float) -> Finding:
    """Say of such waits what is known, and what to collect; `limit`: from which mean length on, s."""
    one, mean = waited.waits == 1, waited.mean_seconds
    many = "1 wait for a lock" if one else f"{waited.waits:,.0f} waits for locks"
    lasted = f"had lasted {mean:,.0f} s{'' if one else ' each on average'}"
    return Finding(
        subject=subject,
        severity=Severity.ADVICE,
        title=f"{many} that {lasted} ended in these {waited.seconds:,.0f} s",
        seen=f"{many} ended in {waited.seconds:,.0f} s; {'it' if one else 'they'} {lasted}.",
        because="A wait is booked when it ends: most of that time is of before, and no measure of how many tasks wait.",
        do="Change nothing yet: while tasks wait, collect monLocks, monProcess, monProcessSQLText and "
        "master..syslogshold, which show who blocks them, with what statement, and since when its transaction is open. "
        "Its program must not keep a transaction open so long.",
        unknown="For which table they waited, and who held it, is not in the export.",
        evidence=(
            Evidence("waits for locks that ended", waited.waits, "", waited.source),
            Evidence("mean wait for locks", round(mean, 1), "s, begun before", waited.source, limit),
        ),
    )
