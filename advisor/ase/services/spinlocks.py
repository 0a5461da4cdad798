"""The spinlocks of one capture: ranked by spins where they are known, and by the share of grabs that waited.

What the rules believe is ranked; what they do not is listed with the reason, never as 0. sp_sysmon's shares stand
apart, because they have neither grabs nor spins and cover another time. The page ranks as the findings of the audit do,
and says of a large spinlock without a finding why it is none.
"""

import math
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

from advisor.audits.models import Audit
from collectors.facts import Facts, Missing, known
from collectors.facts.ase import CacheActivity, LockHashtable, MetadataSpinlock, MonSpinlockActivity, Snapshot
from rules.ase._evidence.server import engines_of
from rules.ase._evidence.spinlocks.large import why_normal
from rules.ase._evidence.spinlocks.monitored import (
    OF_HASHTABLE,
    OF_METADATA,
    SCHEDULER,
    Spinlock,
    names_read,
    not_believed,
    not_measured,
    spinlocks_by_name,
)
from rules.ase._evidence.spinlocks.names import BY_NAME, BY_RATIO, plain_name
from rules.ase._evidence.spinlocks.survey import cache_names
from rules.engine import limits_for, rules_of

CACHES, REST = "ase/data_cache_spinlock_contended", "ase/spinlock_dear"
QUEUES, UNEXPLAINED = "ase/run_queue_spinlock_contended", "ase/spinning_unexplained"
BY_SUBJECT = (CACHES, REST, QUEUES, "ase/procedure_cache_spinlock_contended")
"""Rules that speak of several spinlocks: their findings are called as the spinlocks are."""
NOTE = 1
"""Severity of a finding that asks for nothing."""
NOT_JUDGED = ("", "unknown", "untrusted", "broken")
"""Verdicts that are no reason to call anything normal."""
MOST = 2_000
"""Names that are shown; a server has some hundreds."""
MOST_DOUBTS = 100
"""Names that cannot be believed and are listed with the reason; the others are counted."""


@dataclass(frozen=True)
class Row:
    """All rows of one name, in figures. `None`: cannot be said."""

    name: str
    grabs: float
    waits: float
    spins: float | None
    """`None` where the export has no such column."""
    spins_share: float | None
    percent: float | None
    spins_per_wait: float | None
    rows: int
    doubtful: int
    """Further rows of this name that cannot be believed and are in none of these figures."""
    hottest: float | None
    coldest: float | None
    rule: str
    """Which rule speaks of it."""


@dataclass(frozen=True)
class Doubt:
    """A name whose counts are not shown, and why."""

    name: str
    why: str


@dataclass(frozen=True)
class Share:
    """What sp_sysmon says of one spinlock."""

    name: str
    percent: float | None
    why: str
    """Why there is no figure."""
    rule: str


@dataclass(frozen=True)
class Spinlocks:
    """Everything about the spinlocks of a capture."""

    rows: tuple[Row, ...]
    """Believed, most spins first."""
    has_spins: bool
    of_interval: bool
    when: str
    certificates: tuple[str, ...]
    doubts: tuple[Doubt, ...]
    more_doubts: int
    shares: tuple[Share, ...]
    """sp_sysmon's, highest first."""
    left_out: int
    vanished: int
    bring: tuple[str, ...]

    @property
    def by_share(self) -> tuple[Row, ...]:
        """The same rows, the highest share of waits first; those without a grab last."""
        return tuple(sorted(self.rows, key=lambda row: (row.percent is None, -(row.percent or 0.0), row.name)))


@dataclass(frozen=True)
class Verdict:
    """What this audit says about a spinlock through the rule that owns it."""

    word: str
    """`fired`, `clean`, …; `fired for others` where the rule speaks of other objects alone; empty: not judged."""
    number: int | None = None
    """The place of its finding in the audit: the dearest is 0."""
    severity: int = 0
    """Of its finding, 1 note to 4 critical; 0 without one."""
    title: str = ""
    because: str = ""
    """What its finding gives as the cause."""


def spinlocks_of(facts: Facts) -> Spinlocks:
    """Gather them."""
    locks = spinlocks_by_name(facts)
    caches = set(cache_names(facts))
    ordered = sorted(locks.values(), key=lambda one: (-one.spins, -one.waits, one.name))
    believed = [row for one in locks.values() for row in one.rows]
    first = believed[0] if believed else None
    doubtful = _doubtful(facts, locks)
    rows = tuple(_row(one, caches, doubtful.get(one.name, 0)) for one in ordered[:MOST])
    names = sorted(names_read(facts) - locks.keys())
    bring = [] if any(row.spins is not None for row in rows) else [MonSpinlockActivity.COLLECTED_BY]
    return Spinlocks(
        rows=rows,
        has_spins=any(row.spins is not None for row in rows),
        of_interval=first.of_interval if first else False,
        when=next(iter(locks.values())).when if locks else "",
        certificates=tuple(sorted({row.certificate for row in believed if row.certificate})),
        doubts=tuple(Doubt(name, _why(facts, name)) for name in names[:MOST_DOUBTS]),
        more_doubts=max(0, len(names) - MOST_DOUBTS),
        shares=tuple(sorted(_shares(facts), key=lambda one: (one.percent is None, -(one.percent or 0.0), one.name))),
        left_out=max(0, len(ordered) - MOST),
        vanished=max((one.vanished for one in facts.every(Snapshot)), default=0),
        bring=tuple(bring),
    )


def _row(one: Spinlock, caches: set[str], doubtful: int) -> Row:
    spun = any(known(row.spins) for row in one.rows)
    several = len(one.rows) > 1 and one.grabs > 0
    return Row(
        name=one.name,
        grabs=one.grabs,
        waits=one.waits,
        spins=one.spins if spun else None,
        spins_share=one.spins_share if spun else None,
        percent=one.percent,
        spins_per_wait=one.spins_per_wait if spun else None,
        rows=sum(row.rows for row in one.rows),
        doubtful=doubtful,
        hottest=one.hottest.waited_percent if several else None,
        coldest=one.coldest.waited_percent if several else None,
        rule=owner(one.name, caches),
    )


def _doubtful(facts: Facts, locks: Mapping[str, Spinlock]) -> Counter[str]:
    """Rows of believed names, of the same kind of figures, that are not among the believed ones."""
    known_rows = {(row.instance, row.name, row.slot, row.rows) for one in locks.values() for row in one.rows}
    of_interval = any(one.of_interval for one in locks.values())
    rows = {
        (row.instance, row.name, row.slot, row.rows)
        for row in facts.every(MonSpinlockActivity)
        if row.of_interval == of_interval and row.name in locks
    }
    return Counter(name for _, name, _, _ in rows - known_rows)


def owner(name: str, caches: set[str]) -> str:
    """The rule that speaks of a spinlock of this name."""
    plain = plain_name(name)
    if plain in BY_RATIO:
        return BY_RATIO[plain][0]
    if plain in BY_NAME:
        return BY_NAME[plain]
    if plain in SCHEDULER:
        return QUEUES
    return CACHES if name in caches else REST


def _why(facts: Facts, name: str) -> str:
    doubt = not_believed(facts, name)
    if doubt:
        return doubt.why.removeprefix(f"{name}: ")
    if not_measured(facts, name):
        return "not measured: the switch enable spinlock monitoring is off"
    kinds = {
        row.grabs.value
        for row in facts.every(MonSpinlockActivity)
        if row.name == name and isinstance(row.grabs, Missing)
    }
    return "; ".join(sorted(kinds)) or "no counts in the export"


def _shares(facts: Facts) -> Iterator[Share]:
    """What sp_sysmon prints; of two reports the later one counts."""
    tables = {one.table: one for one in facts.every(LockHashtable)}
    for table, one in tables.items():
        lock = OF_HASHTABLE.get(table)
        yield _share(f"{table} lock hash table", one.contention_percent, BY_RATIO[lock][0] if lock else REST)
    for name, spun in {one.name: one for one in facts.every(MetadataSpinlock)}.items():
        lock = OF_METADATA.get(name)
        yield _share(f"{name} metadata", spun.contention_percent, owner(lock, set()) if lock else REST)
    for name, cache in {one.name: one for one in facts.every(CacheActivity)}.items():
        yield _share(f"cache {name}", cache.contention_percent, CACHES)


def _share(name: str, reading: float | Missing, rule: str) -> Share:
    if isinstance(reading, Missing):
        return Share(name, None, reading.value, rule)
    if not 0 <= reading <= 100:
        return Share(name, None, f"{reading:g} % cannot be a share of grabs", rule)
    return Share(name, reading, "", rule)


@dataclass(frozen=True)
class FindingShown:
    """What the page says of a finding."""

    severity: int
    title: str
    because: str


def verdicts(audit: Audit) -> "Verdicts":
    """What the audit says, in a form that rows can be held against."""
    words = {one["rule"]: one["verdict"] for one in audit.verdicts}
    found = audit.findings.values_list("rule", "subject", "number", "severity", "title", "data")
    subjects, shown = {}, {}
    for rule, subject, number, severity, title, data in found:
        subjects[rule, subject] = number
        shown[number] = FindingShown(severity, title, data.get("because") or "")
    return Verdicts(words, subjects, shown)


@dataclass(frozen=True)
class Verdicts:
    """Verdicts by rule, and findings by rule and subject."""

    words: dict[str, Any]
    findings: dict[tuple[str, str], int]
    """Rule and subject → its place in the audit."""
    shown: dict[int, FindingShown] = field(default_factory=dict)
    """By that place."""

    def of(self, rule: str, name: str) -> Verdict:
        """The verdict on the spinlock `name`: its worst finding by the rule that owns it or one that speaks of any."""
        subject = plain_name(name).removeprefix("cache ")
        named = {(UNEXPLAINED, name), (REST, name), (rule, subject)}
        numbers = [self.findings[one] for one in named if one in self.findings]
        word = str(self.words.get(rule, ""))
        if not numbers and word == "fired" and rule not in BY_SUBJECT:
            numbers = [at for (of, _), at in self.findings.items() if of == rule]
        if numbers:
            number = min(numbers)
            seen = self.shown.get(number)
            return (
                Verdict("fired", number, seen.severity, seen.title, seen.because) if seen else Verdict("fired", number)
            )
        return Verdict("fired for others" if word == "fired" else word)

    def place(self, rule: str, name: str) -> float:
        """Where it stands among the findings; infinite without one."""
        number = self.of(rule, name).number
        return math.inf if number is None else number


def ranked(rows: Iterable[Row], said: Verdicts) -> list[Row]:
    """As the findings rank them: that of the worst finding first; those without one by spins, then by waits."""
    return sorted(rows, key=lambda row: (said.place(row.rule, row.name), -(row.spins or 0.0), -row.waits, row.name))


def ranked_shares(shares: Iterable[Share], said: Verdicts) -> list[Share]:
    """The same for what sp_sysmon prints; those without a finding by their share, those without a figure last."""
    return sorted(
        shares,
        key=lambda one: (said.place(one.rule, one.name), one.percent is None, -(one.percent or 0.0), one.name),
    )


@dataclass(frozen=True)
class Judged:
    """A row with what the audit says of it."""

    row: Row
    verdict: Verdict
    normal: str
    """Why a large row asks for nothing, in sentences; empty where it is not large, or a finding asks for something."""

    @property
    def heading(self) -> str:
        """What `normal` explains."""
        return "Why it is only a note" if self.verdict.severity == NOTE else "Why it is normal"


def judged(rows: Iterable[Row], facts: Facts, audit: Audit, said: Verdicts) -> list[Judged]:
    """Each row with its verdict, and why it is normal where it is large; by the limits that the audit was made with."""
    limits = limits_for(next(one for one in rules_of("ase") if one.id == REST), audit.limits)
    locks, caches = spinlocks_by_name(facts), cache_names(facts)
    made = []
    for row in rows:
        verdict, lock, normal = said.of(row.rule, row.name), locks.get(row.name), ""
        if lock is not None and verdict.severity <= NOTE and verdict.word not in NOT_JUDGED:
            normal = why_normal(facts, limits, lock, engines_of(facts, interval=lock.of_interval), caches)
            normal = normal or (verdict.because if verdict.severity == NOTE else "")
        made.append(Judged(row, verdict, normal))
    return made
