"""Disk I/Os wait before they are asked of the operating system.

Finds: in sp_sysmon's Disk I/O Management, I/Os that were delayed because the server had no free disk I/O structure, or
because it reached its own limit, that of an engine, or that of the operating system.

Why it matters: a read or write that is delayed has not begun, so a task waits longer than the device takes, and what
asynchronous prefetch asks for beyond the limit is discarded (vendor: Performance and Tuning: Basics, 15.7). No I/O
should be delayed, says the vendor.

What to do: of `disk i/o structures` more (dynamic; the vendor advises as many as the operating system allows at a
time); of the limits of server and engine `max async i/os per server` and `max async i/os per engine` (static; their
ranges are the platform's, and no more than the operating system takes); of the operating system's limit its own
setting. How many are needed is in no report, so this project doubles what was reached and asks to measure again.

How loud it is: a note below one I/O in a hundred, a warning from one in ten, advice between (this project).

When to ignore it: where one load or dump in the sample made them, or fewer than one in a hundred was delayed.
"""

from collections.abc import Iterator
from dataclasses import dataclass

from collectors.facts import OVERFLOW, Facts, known
from collectors.facts.ase import DelayedIO
from rules.ase._evidence.caches.memory import MEMORY_FACTS, free_evidence, too_little
from rules.ase._evidence.server import setting_of, subject_of
from rules.changes.ase_config import LARGEST, PARAMETERS, configure, more_memory, waiting_number
from rules.engine import percent, rule
from rules.finding import Change, Clean, Evidence, Expectation, Finding, Outcome, Severity, Unknown, Untrusted, joined

LINKS = (
    "https://infocenter.sybase.com/help/topic/com.sybase.infocenter.dc31654.1570/html/sag1/X99667.htm",
    "https://infocenter.sybase.com/help/topic/com.sybase.infocenter.dc20020.1570/html/basics/basics204.htm",
    "https://infocenter.sybase.com/help/topic/com.sybase.infocenter.dc31654.1570/html/sag1/X21210.htm",
)
STRUCTURES, SETTING = "Disk I/O Structures", "disk i/o structures"
SYSTEM_LIMIT = "Operating System Limit"
STEP = 2
"""This project: how many times as many are tried; no source has a formula."""
SETTINGS = {
    STRUCTURES: SETTING,
    "Server Config Limit": "max async i/os per server",
    "Engine Config Limit": "max async i/os per engine",
}
SYSTEM = (
    "Raise the operating system's own limit of asynchronous I/Os: the engines ask for more at a time than it takes."
)
NO_HIGHER = "No higher than the operating system takes at a time: look up its own limit of asynchronous I/Os first."
REACHED = "Whether the operating system takes more I/Os at a time, no export of the server shows."
WAITS = "An I/O that is delayed has not begun, and what prefetch asks for beyond the limit is discarded."


@dataclass(frozen=True)
class Limits:
    """From which share of all disk I/Os on delays are advice, and a warning."""

    delayed_percent: float = percent(
        1.0, "this project: the vendor wants none, and fewer cost nothing that can be seen"
    )
    warning_percent: float = percent(10.0, "this project: one I/O in ten begins late")


@rule(needs=(DelayedIO,), uses=MEMORY_FACTS, links=LINKS, limits=Limits)
def check(facts: Facts, limits: Limits) -> Iterator[Outcome]:
    """Judge each reason by its share of all disk I/Os."""
    rows = {one.reason: one for one in facts.every(DelayedIO)}
    figures = [figure for one in rows.values() for figure in (one.count, one.requested)]
    if OVERFLOW in figures or any(known(one) and one < 0 for one in figures):
        yield Untrusted("delayed disk I/Os: a count is negative or printed as asterisks")
        return
    if not any(known(one.count) for one in rows.values()):
        yield Unknown.of(DelayedIO)
        return
    delayed = {reason: one for reason, one in rows.items() if known(one.count) and one.count > 0}
    for reason, one in delayed.items():
        yield _finding(facts, limits, reason, one)
    if not delayed:
        whole = next((one.requested for one in rows.values() if known(one.requested)), None)
        yield Clean(f"none of {whole:,.0f} disk I/Os was delayed" if whole is not None else "no disk I/O was delayed")


def _finding(facts: Facts, limits: Limits, reason: str, one: DelayedIO) -> Finding:
    count = one.count if known(one.count) else 0.0
    share = 100.0 * count / one.requested if known(one.requested) and one.requested else None
    severity = (
        Severity.ADVICE
        if share is None or limits.delayed_percent <= share < limits.warning_percent
        else Severity.WARNING
        if share >= limits.warning_percent
        else Severity.NOTE
    )
    of = f" of {one.requested:,.0f} ({share:.1f} %)" if share is not None and known(one.requested) else ""
    loud = severity > Severity.NOTE
    name = SETTINGS.get(reason, "")
    change = _more(facts, name) if name and loud else None
    short = too_little(facts, name, change.memory_mb) if change and change.memory_mb else ""
    most = one.outstanding if known(one.outstanding) else None
    return Finding(
        subject=f"{subject_of(facts)}: {reason}",
        severity=severity,
        title=f"Disk I/Os are delayed by {_words(reason)}: {count:,.0f}{of}",
        seen=joined(
            f"{count:,.0f}{of} disk I/Os of the sample were delayed by {_words(reason)}.",
            f"The server had {most:,.0f} outstanding at most." if most else "",
        ),
        because=WAITS,
        do=joined(_advice(facts, name, change), short) if name else SYSTEM if reason == SYSTEM_LIMIT else "",
        unknown=REACHED,
        evidence=(
            Evidence("delayed disk I/Os", count, "", one.source),
            *(
                (
                    Evidence(
                        "share of disk I/Os that were delayed", round(share, 1), "%", one.source, limits.delayed_percent
                    ),
                )
                if share is not None
                else ()
            ),
            *(free_evidence(facts) if short else ()),
        ),
        changes=(change,) if change and not short else (),
        expects=(Expectation("delayed disk I/Os", count, "lower", "vendor"),) if change and not short else (),
    )


def _words(reason: str) -> str:
    """The reason in words; the server's own where it is none of the four."""
    return {
        STRUCTURES: "a lack of disk I/O structures",
        "Server Config Limit": "the limit of the server",
        "Engine Config Limit": "the limit of an engine",
        SYSTEM_LIMIT: "the limit of the operating system",
    }.get(reason, reason)


def _advice(facts: Facts, name: str, change: Change | None) -> str:
    """What to do about structures or a limit of the server, with figures where these are in the export."""
    setting = setting_of(facts, name)
    now = setting.run_number if setting else None
    waiting, static = waiting_number(setting), PARAMETERS[name].static
    if now is not None and waiting is not None and waiting > now:
        why = "wait for a restart" if static else "do not run: see the error log, and max memory"
        return f"More are configured already ({waiting:,.0f}), but {why}."
    values = f" from {change.old:,.0f} to {change.new:,.0f}" if change else ""
    there = "" if now is None or change else f", {now:,.0f} now"
    how, most = ("static", ", no higher than the operating system takes") if static else ("dynamic", "")
    return f"Raise {name}{values} ({how}{there}){most}, and measure the same load again."


def _more(facts: Facts, name: str) -> Change | None:
    """Twice as many; `None` where the export does not show how many there are, or more are waiting."""
    setting = setting_of(facts, name)
    now, waiting = setting.run_number if setting else None, waiting_number(setting)
    if setting is None or not now or now * STEP > LARGEST or (waiting is not None and waiting > now):
        return None
    memory_mb, caution = more_memory(setting, now, now * STEP) if name == SETTING else (0.0, NO_HIGHER)
    return configure(name, now, now * STEP, cautions=(caution,), memory_mb=memory_mb, configured=waiting)
