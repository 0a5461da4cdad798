"""Between two snapshots of SAP ASE: whether the server was restarted or its counters cleared; and a snapshot alone.

And an sp_sysmon whose sample was too long for its counters.

Looked up by the times that the snapshots print (`@@boottime`, `CountersCleared` of monState), whatever a rule declared.
"""

from collectors.facts import Facts
from collectors.facts.ase import Snapshot, SysmonSample
from collectors.facts.counted import Counted
from rules.finding import MissingInput

RESET = "the server was restarted or its counters were cleared between the snapshots"
"""Where the times do not tell which."""
RESTARTED = "the server was restarted between the snapshots"
CLEARED = "the counters of the monitoring tables were cleared between the snapshots"
AGAIN = MissingInput(
    "two snapshots with nothing between them",
    "both snapshots of the monitoring tables again, without a restart or a clearing of counters between them",
)
WRAPPED = "a 32-bit counter wrapped; take a shorter sample"
"""As a rule says it of one figure of sp_sysmon."""
SAMPLE_WRAPPED = "a counter of sp_sysmon wrapped; take a shorter sample"
"""As it is said of the report: where one counter is seen to have wrapped, others may have so unseen."""
SHORTER = MissingInput(
    "a sample in which no counter wraps",
    'sp_sysmon "00:01:00" -- at the busiest hour, over a shorter time than the sample whose counter wrapped',
)
ONE_ALONE = "one snapshot has totals since the start only; collect a second"


def which_reset(facts: Facts) -> str:
    """Which of the two it was, as a clause; both where no snapshot tells."""
    for one in reversed(_snapshots(facts)):
        if one.previous and one.booted and one.booted > one.previous:
            return RESTARTED
        if one.previous and one.counters_cleared and one.counters_cleared > one.previous:
            return CLEARED
    return RESET


def one_alone(facts: Facts) -> str:
    """That there is one snapshot and no sp_sysmon beside it, as a clause; empty where there is more.

    Differences that somebody made are counters of an interval, though only one snapshot bears them.
    """
    taken = _snapshots(facts)
    more = facts.by_type.get(SysmonSample) or any(one.previous for one in taken)
    more = more or any(rows and isinstance(rows[0], Counted) and rows[0].of_interval for rows in facts.by_type.values())
    return ONE_ALONE if taken and not more else ""


def _snapshots(facts: Facts) -> list[Snapshot]:
    return [one for one in facts.by_type.get(Snapshot, []) if isinstance(one, Snapshot)]
