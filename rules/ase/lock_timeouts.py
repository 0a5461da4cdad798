"""Lock waits are ended by `lock wait period`, which rolls work back.

Finds: lock timeouts counted by sp_sysmon (message 12205), one or more of them each minute.

Why it matters: at the end of `lock wait period`, of `set lock wait` or of `lock table … wait` the command fails and its
transaction is rolled back (vendor: Configuration parameters 15.7, lock wait period), so somebody has to do the work
again. Waits that are cut off last no longer than that, so they look few and short where their time is measured.

What to do: find what is waited for, and shorten the transaction that holds it: `lock timeout pipe active` fills
monLockTimeout (15.7), monOpenObjectActivity counts lock waits by table. A longer `lock wait period` ends fewer
commands, but their tasks wait meanwhile with the locks they hold: that is for the owner of the application to decide,
and it alone removes no wait (knowledge/ase-waits-caches.md). Where most of the time waited for locks ended so, after a
short period of the server, that is what users see: then the command stands there with its condition.

When to ignore it: where the application asks for this on purpose, as a queue reader that tries `set lock wait 1` and
goes on. Then the count is the rate of its tries.
"""

from collections.abc import Iterator
from dataclasses import dataclass

from collectors.facts import Facts, known
from collectors.facts.ase import ConfigParameter, LockEvents, Server, SysmonSample
from rules.ase._evidence.server import subject_of
from rules.ase._evidence.waits.events import LOCKS
from rules.ase._evidence.waits.promotion import PROMOTION_FACTS, promotions
from rules.ase._evidence.waits.tables import TABLE_FACTS, waiting_tables
from rules.ase._evidence.waits.tasks import WAIT_FACTS, Waited, waited_for
from rules.ase._evidence.waits.timeouts import PERIOD, ending_period, total_ended
from rules.engine import limit, rule
from rules.finding import Clean, Evidence, Finding, Outcome, Severity, Unknown, Untrusted, joined

LINKS = (
    "https://infocenter.sybase.com/help/topic/com.sybase.infocenter.dc31654.1570/html/sag1/X13872.htm",
    "https://infocenter-archive.sybase.com/help/topic/com.sybase.help.ase_15.0.sqlug/html/sqlug/sqlug882.htm",
)
NAMED = 3
ROLLED_BACK = (
    "Each ended its command with message 12205 and rolled its transaction back, so the work has to be done again."
)
FIND = (
    "Find the table and who holds it: sp_configure 'lock timeout pipe max messages', 1000 and 'lock timeout pipe "
    "active', 1, then select * from master..monLockTimeout."
)
FIND_BEFORE = "Find the table and who holds it while others wait: sp_lock and sp_who."
"""Before 15.7, which brought monLockTimeout, or where the release is not known."""
SHORTEN = "Shorten the transactions that hold the locks of {0}."
MOST = (
    "Find who holds the locks of {0} (monLocks, or sp_lock, while others wait) and shorten its transaction. Until then "
    '`sp_configure "lock wait period", {1:.0f}` (dynamic; {2:,.0f} s now) rolls less work back, if the owner of the '
    "application agrees that tasks wait longer with the locks they hold."
)
MOST_SEEN = "They are {0:.0f} % of all time waited for locks."
MOST_PERCENT, LONG_PERIOD = 50.0, 60.0
"""This project: the part of the time waited for locks that ended so, from which on the period is what users see; and a
period in seconds that outlasts most transactions, at most half of which the one in force must be."""
LONGER = (
    "Raise lock wait period{0} only if the owner of the application agrees: fewer commands fail, but their tasks wait "
    "longer with the locks they hold."
)
OF_SESSION = (
    "Which period ended them is not in the export: sp_configure 'lock wait period', or set lock wait of the session."
)


@dataclass(frozen=True)
class Limits:
    """From how many on. No vendor names a figure."""

    per_hour: float = limit(60.0, "this project: one command fails each minute; no vendor names a limit", unit="/h")
    warning_per_hour: float = limit(
        1800.0, "this project: one fails every other second; no vendor names a limit", unit="/h"
    )
    least: float = limit(10.0, "this project: fewer are chance, however short the time", unit="timeouts")


@rule(
    needs=(LockEvents,),
    uses=(SysmonSample, ConfigParameter, Server, *TABLE_FACTS, *WAIT_FACTS, *PROMOTION_FACTS),
    links=LINKS,
    limits=Limits,
)
def check(facts: Facts, limits: Limits) -> Iterator[Outcome]:
    """Hold the timeouts of the sample against its length."""
    rows = [one for one in facts.every(LockEvents) if one.event == "timeout"]
    total = total_ended(facts)
    sample = facts.latest(SysmonSample)
    if total is None or not known(total.count) or sample is None or not sample.seconds:
        yield Unknown.of(LockEvents)
        return
    count = total.count
    if count < 0:
        yield Untrusted(f"{total.kind}: {count:g} is below zero: its counter wrapped or was cleared")
        return
    rate = count * 3600 / sample.seconds
    said = f"{count:,.0f} lock waits were ended in {sample.seconds:,.0f} s of sp_sysmon"
    if rate < limits.per_hour or count < limits.least:
        yield Clean(f"{said} (limits {limits.per_hour:g} an hour and {limits.least:g} in all)")
        return
    yield _finding(facts, limits, total, (count, rate), said, [one for one in rows if not one.kind.startswith("Total")])


def _finding(
    facts: Facts, limits: Limits, total: LockEvents, figures: tuple[float, float], said: str, kinds: list[LockEvents]
) -> Finding:
    count, rate = figures
    setting = ending_period(facts)
    ends = setting.run_number if setting else None
    counted = [(one.kind, one.count, one.source) for one in kinds if known(one.count) and one.count > 0]
    counted.sort(key=lambda one: -one[1])
    named = ", ".join(f"{kind} {many:,.0f}" for kind, many, _ in counted[:NAMED])
    tables = [one for one in waiting_tables(facts) if not one.system]
    now = f" ({ends:,.0f} s now)" if ends is not None else ""
    part = _part(facts, rate, ends)
    most = part is not None and bool(tables)
    server = facts.latest(Server)
    piped = server is not None and server.reached("15.7") is True
    return Finding(
        subject=subject_of(facts),
        severity=Severity.WARNING if rate >= limits.warning_per_hour else Severity.ADVICE,
        title=f"{count:,.0f} lock waits ended with message 12205"
        + (f" after {ends:,.0f} s ({PERIOD})" if ends is not None else "")
        + (f", most for {tables[0].name}" if most else ""),
        seen=joined(
            f"{said}, {rate:,.0f} an hour.",
            MOST_SEEN.format(part) if part else f"Waited for were locks of type {named}." if named else "",
        ),
        because=ROLLED_BACK,
        do=MOST.format(tables[0].name, LONG_PERIOD, ends)
        if most
        else joined(SHORTEN.format(tables[0].name) if tables else FIND if piped else FIND_BEFORE, LONGER.format(now)),
        unknown=joined("" if ends is not None else OF_SESSION),
        evidence=(
            Evidence("lock timeouts (message 12205)", count, "", total.source, limits.least),
            Evidence(
                "lock timeouts per hour", round(rate, 1), "/h", total.source, limits.per_hour, "from count and length"
            ),
            *(Evidence(f"timeouts of {kind} locks", many, "", source) for kind, many, source in counted[:NAMED]),
            *((Evidence(PERIOD, ends, "s", setting.source),) if setting and ends is not None else ()),
        ),
        explains=("ase/lock_waits_high",)
        if most and not any(promotions(facts, kind) for kind in ("row", "page"))
        else (),
    )


def _part(facts: Facts, rate: float, ends: float | None) -> float | None:
    """Which part of the time waited for locks ended by a short period, per cent; `None`: not most, or not known.

    `rate`: waits that ended so in an hour.
    """
    waited = waited_for(facts, "locks", LOCKS)
    if ends is None or ends > LONG_PERIOD / 2 or not isinstance(waited, Waited) or waited.unsure or not waited.tasks:
        return None
    part = 100.0 * rate / 3600.0 * ends / waited.tasks
    return min(part, 100.0) if part >= MOST_PERCENT else None
