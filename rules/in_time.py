"""The audits of one system at several times: what decides first, and what was set in between named with its command.

What is to be done is decided by the newest capture, so it is read first, unless one before it with the same settings
has a worse finding: an idle hour does not take back what a busy one showed. Where the newest ran with other settings
than the one before it, what they did is a comparison (`lockwright compare`), which an audit does not make by itself:
two captures may be of other work. Settings are those that the listings of each capture show (`rules.settings`).
"""

from collections.abc import Sequence
from dataclasses import replace
from datetime import datetime
from pathlib import PurePath
from shlex import quote

from collectors.facts import Capture
from collectors.facts.ase import Snapshot, SysmonSample
from rules.audit import Audit
from rules.changes.quoting import comment
from rules.finding import Severity, rounded
from rules.settings import WAITS, settings_of

AT = "%Y-%m-%d %H:%M"
NAMED = 2
"""Settings that a sentence names."""
BEFORE, AFTER = "FILES OF THEN", "FILES OF NOW"
"""In the command, where the files of two captures do not lie in a folder each."""


def in_reading_order(audits: Sequence[Audit]) -> list[Audit]:
    """The same audits, those of one server among their places: what decides first, then the newest; no time last.

    Nodes of OpenVMS stay in the order of their cluster: its plan is of all nodes and times. Databases that are only
    named, as RMU/SHOW SYSTEM names all that a node has open, stand behind those that were measured.
    """
    found = list(audits)
    for places in _of_servers(audits):
        newest, *older = sorted((audits[at] for at in places), key=_when, reverse=True)
        alike = [newest, *(one for one in older if not _set_since(one, newest))]
        first = max(alike, key=_worst)  # of the same severity the newest
        ordered = [first, *(one for one in (newest, *older) if one is not first)]
        for at, one in zip(places, ordered, strict=True):
            found[at] = one
    return sorted(found, key=_only_named)


def _only_named(one: Audit) -> bool:
    """Whether it is of a database of which nothing was measured, and nothing is to be done."""
    return one.capture.system.product == "rdb" and _time(one) is None and _worst(one) <= Severity.NOTE


def with_changed_settings(audits: Sequence[Audit]) -> list[Audit]:
    """The same audits; the newest of each server says what was set since the one before, and how to compare both."""
    found = list(audits)
    for places in _of_servers(audits):
        then, now = sorted(places, key=lambda at: _when(audits[at]))[-2:]
        found[now] = _with_changed(audits[now], audits[then])
    return found


def _of_servers(audits: Sequence[Audit]) -> list[list[int]]:
    """The places of the audits of each SAP ASE server that has several."""
    places: dict[str, list[int]] = {}
    for at, one in enumerate(audits):
        if one.capture.system.product == "ase":
            places.setdefault(one.capture.system.name, []).append(at)
    return [found for found in places.values() if len(found) > 1]


def _when(one: Audit) -> tuple[bool, str]:
    taken = _time(one)
    return taken is not None, taken.isoformat() if taken else ""


def _time(one: Audit) -> datetime | None:
    span = one.capture.interval
    return span.end or span.start


def _worst(one: Audit) -> Severity:
    """The severity of the worst finding; a note is nothing to be done, as no finding is."""
    return max((ranked.finding.severity for ranked in one.findings), default=Severity.NOTE)


def _set_since(then: Audit, now: Audit) -> list[str]:
    """The settings in force that both captures list with another value in each: `name old → new`."""
    old, new = settings_of(then.capture.facts), settings_of(now.capture.facts)
    names = [name for name in new if name in old and old[name] != new[name] and not name.endswith(WAITS)]
    return [f"{comment(name)} {_value(old[name])} → {_value(new[name])}" for name in names]


def _with_changed(now: Audit, then: Audit) -> Audit:
    """The newest audit, its verdict with what is set differently since the one before, and how to compare both."""
    taken = _time(then)
    changed = _set_since(then, now)
    if not taken or not _time(now) or not changed:
        return now
    said = ", ".join(changed[:NAMED])
    more = f" and {len(changed) - NAMED} more" if len(changed) > NAMED else ""
    before, after = _folders(then.capture, now.capture)
    verdict = (
        f"{now.summary.verdict.removesuffix('.')}; set since the capture of {taken.strftime(AT)}: {said}{more}, and "
        f"lockwright compare --before {before} --after {after} tells what that did."
    )
    return replace(now, summary=replace(now.summary, verdict=verdict))


def _value(value: str | float) -> str:
    return comment(value) if isinstance(value, str) else rounded(value)


def _folders(then: Capture, now: Capture) -> tuple[str, str]:
    """The folders that two captures lie in, where each has its own; else what to put in their place."""
    found = [
        {
            str(PurePath(one.source.file).parent)
            for kind in (SysmonSample, Snapshot)
            for one in capture.facts.every(kind)
        }
        for capture in (then, now)
    ]
    if all(len(one) == 1 for one in found) and found[0].isdisjoint(found[1]) and not {".", ""} & set().union(*found):
        before, after = (quote(comment(folder, 300)) for (folder,) in found)
        return before, after
    return BEFORE, AFTER
