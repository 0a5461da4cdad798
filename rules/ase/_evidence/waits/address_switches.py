"""Address locks of SAP ASE that tasks wait for, where the task switches of sp_sysmon are all that shows them.

Only index pages of allpages tables take address locks (vendor, Performance and Tuning 12.5 X13465), so the cause is
known without the changed rows; which table it is, is not.
"""

from collections.abc import Sequence

from collectors.facts import Facts
from rules.ase._evidence.server import subject_of
from rules.ase._evidence.waits.switches import Switches, switches_of
from rules.ase._evidence.waits.verdict import SWITCHES_LOUD, SWITCHES_PER_SECOND
from rules.finding import Finding, MissingInput, Severity

CAUSE = "Address Lock Contention"
ONLY_INDEXES = (
    "Only index pages of allpages tables take address locks: one blocks all who take that path through the index, and "
    "no setting avoids them."
)
FIND = (
    "Find the table: `{0}` shows whose requests wait, `{1}` in each database which of them are allpages. Take that one "
    "to datapages (it is copied, and asks for a full dump), and if 15 % still wait, on to datarows."
)
NOT_TOLD = "Neither the table nor how long they waited is in these task switches: monSysWaits has the time."


def by_switches(facts: Facts, least_percent: float, names: Sequence[MissingInput]) -> Finding | None:
    """What is said of them; `None` where they are few. `names`: what names tables, then what lists lock schemes."""
    switches = switches_of(facts, CAUSE)
    if not isinstance(switches, Switches) or switches.percent < least_percent:
        return None
    if (switches.per_second or 0.0) < SWITCHES_PER_SECOND:
        return None
    return Finding(
        subject=subject_of(facts),
        severity=Severity.WARNING if switches.percent >= SWITCHES_LOUD else Severity.ADVICE,
        title=f"{switches.percent:g} % of all task switches wait for address locks, index pages of allpages tables",
        seen=f"{switches.says}.",
        because=ONLY_INDEXES,
        do=FIND.format(*(one.command for one in names[:2])),
        unknown=NOT_TOLD,
        evidence=(switches.evidence(least_percent),),
    )
