"""The report on an audit, for the DBA who reads it on a telephone at night: what changed, what is worst, what to do."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from advisor.mail.letter import LEVELS, LONGEST_NAME, Enclosed, Letter, cut, one_line, write
from advisor.models import Audit, Recipient, Site
from advisor.report.render import EFFECTS, PRODUCT_NAMES
from collectors.facts import is_command


@dataclass(frozen=True)
class Told:
    """One finding as a letter tells of it."""

    title: str
    severity: int
    address: str
    """Where it stands on the page; empty for one that has gone."""
    state: str = ""
    """`new`, `worse`, `better`, `judged again`; empty: as before, or nothing is known from before."""
    was: int = 0
    """Its severity before, where it is another one."""
    data: Mapping[str, Any] = field(default_factory=dict)
    """The whole finding as the contract prints it; empty where it is told in a line."""
    explained_by: Sequence[str] = ()
    course: str = ""
    """Its first figure over the captures, in words."""
    key: str = ""


@dataclass(frozen=True)
class Measured:
    """A figure that decides a comparison, as a letter tells it."""

    name: str
    """With its unit of work."""
    before: str
    after: str
    ratio: str
    """After ÷ before, with its interval where noise was measured."""
    noise: str
    """`no noise measured`; empty where it was."""
    words: str
    """`better`, `worse`, `within noise`."""


@dataclass(frozen=True)
class BeforeAndAfter:
    """How this capture compares with the one it is told against."""

    heading: str
    figures: Sequence[Measured]
    """Those that decide, the first few."""
    more: int
    """Further figures that decide."""
    findings: Sequence[tuple[str, Sequence[str], int]]
    """For `gone` and `new` the keys of findings at the recipient's level, and how many more there are."""
    address: str


@dataclass(frozen=True)
class Law:
    """A load series with what was fitted to it, as `audit/1` prints it under `models`."""

    data: Mapping[str, Any]
    key: str
    """Of its picture."""


@dataclass(frozen=True)
class Contents:
    """What a report tells."""

    audit: Audit
    when: str
    """The time of the capture and the length of its interval."""
    before: str
    """When the capture was taken that this one is compared with; empty: there is none."""
    summary: str
    """What changed, in numbers; empty where nothing did or there is nothing to compare with."""
    changes: Sequence[tuple[str, Sequence[Told], int]]
    """For each word (`new`, `worse`, …) the findings, and how many more there are."""
    full: Sequence[Told]
    others: Sequence[Told]
    more: int
    """Findings at the recipient's level that are not even told in a line."""
    below: int
    """Findings below the recipient's level."""
    bring: Mapping[str, Sequence[str]]
    """Commands whose output would let more be judged, each with its rules."""
    more_to_bring: int
    quiet: Sequence[Mapping[str, Any]]
    """Verdicts of rules that could not judge, for another reason than missing facts."""
    judged: int
    in_order: int
    not_judged: int
    address: str
    after_trouble: str = ""
    first: bool = False
    """Whether no capture of the system was audited before."""
    laws: Sequence[Law] = ()
    more_laws: int = 0
    compared: BeforeAndAfter | None = None
    """`None`: nothing to compare with, or the two cannot be compared."""
    within: Sequence[tuple[str, str]] = ()
    """Of tables that hold both sides: which runs, and what came of it; the first few."""
    more_within: int = 0
    anew: str = ""
    """Why the very capture that was told before was judged anew (`Audit.why`); empty: this is another one."""

    @property
    def unchanged(self) -> bool:
        """Whether nothing changed at the recipient's level: what stands, if anything, stood before."""
        return all(word == "still" for word, _, _ in self.changes)


def compose(site: Site, recipient: Recipient, told: Contents, enclosed: Enclosed, thread: str) -> Letter:
    """Make the report."""
    system = told.audit.system
    counts = counted(told.audit, recipient.severity)
    context = {
        "told": told,
        "system": system,
        "name": cut(one_line(system.name, 120), LONGEST_NAME),
        "counts": counts,
        "found": counts or nothing_found(told, recipient.severity),
        "worst": one_line(told.audit.headline, 300) if counts else "",
        "least": LEVELS[recipient.severity],
        "effects": EFFECTS,
        "product": PRODUCT_NAMES.get(system.product, system.product),
        "is_command": is_command,
        "law_words": law_words,
    }
    headers = about("report", told.audit)
    return write("report", recipient, context, site, thread=thread, headers=headers, enclosed=enclosed)


def law_words(one: Mapping[str, Any]) -> str:
    """A load series and the law fitted to it, in a sentence or two."""
    named = one.get("title") or one["file"]
    if one["gamma"] is None:
        return f"{named}: no law fitted: {one['why_not']}"
    capped = f", its load capped at {one['cap']} processors" if one.get("cap") else ""
    said = (
        f"{named}: Universal Scalability Law{capped}, contention {one['alpha']:.4g}, coherency {one['beta']:.4g}, "
        f"rate at one {one['gamma']:.6g}, R² {one['r2']:.3f}"
    )
    if not one["usable"]:
        return f"{said}. Not used: {one['why_not']}"
    load = one["load_name"].replace("_", " ")
    peak = "no peak" if one["peak_load"] is None else f"peak {one['peak_rate']:.6g} at {one['peak_load']:.1f} {load}"
    harm = ""
    if one.get("harm_from") is not None:
        many = f"{one['harm_from']:g} {load}"
        harm = f"; more than {many} did less" if one.get("derived") else f"; adding does harm beyond {many}"
    return f"{said}; {peak}{harm}"


def counted(audit: Audit, least: int) -> str:
    """How many findings of each severity from `least` on, worst first: `3 critical, 1 warning`; empty for none."""
    words = [(level, LEVELS[level]) for level in (4, 3, 2, 1) if level >= least]
    return ", ".join(f"{audit.counts[word]} {word}" for _, word in words if audit.counts.get(word))


def nothing_found(told: Contents, least: int) -> str:
    """How it is said that there is no finding from `least` on: with what was judged, for that is what it rests on."""
    if not told.judged:
        return "nothing could be judged"
    judged = f"{told.judged} rule{'' if told.judged == 1 else 's'} judged"
    none = "no findings" if least <= 1 else f"no findings from {LEVELS[least]} on"
    return f"{none}, {judged}, {told.not_judged} not" if told.not_judged else f"{none}, {judged}"


def about(kind: str, audit: Audit) -> dict[str, str]:
    """Headers by which a mail program can sort."""
    return {
        "X-Lockwright-Kind": kind,
        "X-Lockwright-System": audit.system.name,
        "X-Lockwright-Worst": LEVELS[audit.worst],
        "X-Lockwright-Audit": str(audit.pk),
    }
