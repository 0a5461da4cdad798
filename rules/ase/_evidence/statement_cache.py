"""The statement cache of SAP ASE: how many statements are found again, how many are thrown out, and its settings."""

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass

from collectors.facts import Fact, Facts, Source, known
from collectors.facts.ase import (
    ConfigParameter,
    MonCachedStatement,
    MonStatementCache,
    ProcedureCacheActivity,
    Server,
    SysmonSample,
)
from collectors.statement_text import without_literals
from rules.ase._evidence.caches.figures import seconds_of
from rules.ase._evidence.objects.statements import shown
from rules.ase._evidence.server import interval_first, offers, setting_of
from rules.changes.ase_config import configure, waiting_number
from rules.finding import Change, Evidence

STATEMENT_FACTS: tuple[type[Fact], ...] = (
    ConfigParameter, MonCachedStatement, MonStatementCache, ProcedureCacheActivity, SysmonSample, Server,
)  # fmt: skip
"""What a rule declares that asks for it."""
SIZE = "statement cache size"
LITERALS, STREAMLINED = "enable literal autoparam", "streamlined dynamic SQL"
HIT_PERCENT, HIT_ORIGIN = 25.0, "practice: fewer hits in the statement cache are an alarm (DbxTune)"
PROGRAM = "parameters in the program"
KEEP_OUT = "sessions that send very many of them can be kept out (set statement_cache off)"
FEW_COPIES = 3
"""This project: copies of a statement, below which they may have been recompiled and are no habit of a program."""
TEXT = 90
"""Characters of the statement that are shown."""
PLANS = (
    "Statements that differ in literals share a plan from then on: try it with the application's own statements first, "
    "and see that none of them got slower."
)


@dataclass(frozen=True)
class Searches:
    """How often statements were looked for in an interval, and found."""

    count: float
    hits: float
    seconds: float | None
    source: Source

    @property
    def percent(self) -> float:
        """Share that was found."""
        return 100.0 * self.hits / self.count

    @property
    def per_second(self) -> float | None:
        """Searches a second; `None` where the length of the interval is not known."""
        return self.count / self.seconds if self.seconds else None

    def evidence(self, least: float | None = None) -> Evidence:
        """The share."""
        what = "searches of the statement cache that found theirs"
        return Evidence(what, round(self.percent, 1), "%", self.source, least)


@dataclass(frozen=True)
class Copies:
    """The statement that most of the cached ones are, but for their literals."""

    text: str
    """Without its literals."""
    number: int
    listed: int
    """All statements whose text is in the export."""
    source: Source

    @property
    def says(self) -> str:
        """Which, and how many, as a clause."""
        copies = f"{self.number} of the {self.listed} listed are one that differs in literals alone"
        return f"{copies}: {shown(self.text, TEXT)}"


def copies_of(facts: Facts) -> Copies | None:
    """The most such copies, of `FEW_COPIES` at least; `None` where the statements that are listed all differ."""
    listed = {(row.instance, row.statement): row for row in facts.every(MonCachedStatement) if row.text}.values()
    texts = [(" ".join(without_literals(row.text or "").split()), row) for row in listed]
    if not texts:
        return None
    text, number = Counter(text for text, _ in texts).most_common(1)[0]
    first = next(row for own, row in texts if own == text)
    return Copies(text, number, len(texts), first.source) if number >= FEW_COPIES else None


def searches_of(facts: Facts) -> Searches | None:
    """Between two snapshots, else by sp_sysmon; `None` where nothing counts them, or nothing was looked for.

    Snapshots without times come behind a sample of sp_sysmon, which has its own.
    """
    rows = [row for row in interval_first(facts, MonStatementCache) if row.of_interval and row.believed]
    counted = [
        Searches(row.searches, row.hits, row.seconds, row.source)
        for row in reversed(rows)
        if known(row.searches) and known(row.hits) and 0 <= row.hits <= row.searches and row.searches
    ]
    timed = next((one for one in counted if one.seconds), None)
    sampled = None if timed else _sampled(facts)
    return timed or (sampled if sampled and (sampled.seconds or not counted) else next(iter(counted), None))


def _sampled(facts: Facts) -> Searches | None:
    """By sp_sysmon."""
    one = facts.latest(ProcedureCacheActivity)
    if one is None or not known(one.statements_found) or not known(one.statements_not_found):
        return None
    found, missed = one.statements_found, one.statements_not_found
    if found < 0 or missed < 0 or not found + missed:
        return None
    return Searches(found + missed, found, seconds_of(facts), one.source)


def thrown_out(facts: Facts) -> Evidence | None:
    """Statements thrown out, by two snapshots, else by sp_sysmon; `None` where nothing counts them."""
    rows = [row for row in interval_first(facts, MonStatementCache) if row.of_interval and row.believed]
    for row in reversed(rows):
        if known(row.removals):
            return Evidence("statements thrown out", row.removals, "", row.source)
    sample = facts.latest(ProcedureCacheActivity)
    if sample and known(sample.statements_dropped):
        return Evidence("statements thrown out", sample.statements_dropped, "", sample.source)
    return None


@dataclass(frozen=True)
class Turnover:
    """What the statement cache took in and threw out in an interval."""

    inserted: float
    removed: float
    seconds: float
    held: float | None
    """Statements in it; `None` where nothing counts them."""
    source: Source

    @property
    def percent(self) -> float:
        """What is thrown out, of what is taken in; above 100 where statements of before go, too."""
        return 100.0 * self.removed / self.inserted

    @property
    def per_second(self) -> float:
        """Statements thrown out."""
        return self.removed / self.seconds

    @property
    def stays_seconds(self) -> float | None:
        """How long a statement stays on average, at this rate."""
        return self.held / self.per_second if self.held and self.removed > 0 else None


def turnover_of(facts: Facts) -> Turnover | None:
    """Between two snapshots, else by sp_sysmon; `None` where nothing counts both, or nothing was taken in."""
    rows = [row for row in interval_first(facts, MonStatementCache) if row.of_interval and row.believed]
    for row in reversed(rows):
        if known(row.inserts) and known(row.removals) and row.inserts > 0 <= row.removals and row.seconds:
            held = row.statements if known(row.statements) else None
            return Turnover(row.inserts, row.removals, row.seconds, held, row.source)
    one, seconds = facts.latest(ProcedureCacheActivity), seconds_of(facts)
    if one is None or not seconds or not known(one.statements_cached) or not known(one.statements_dropped):
        return None
    if one.statements_cached <= 0 or one.statements_dropped < 0:
        return None
    return Turnover(one.statements_cached, one.statements_dropped, seconds, None, one.source)


def literal_autoparam(facts: Facts) -> Iterator[Change]:
    """Literal autoparam as a change, where it is known to be off and nothing waits."""
    setting = setting_of(facts, LITERALS)
    if setting and setting.run_number == 0 and waiting_number(setting) != 1:
        yield configure(LITERALS, 0, 1, cautions=(PLANS,))


def fewer(facts: Facts) -> str:
    """How statements become fewer different ones, by what is not set already, as a sentence."""
    now = {name: one.run_number for name in (LITERALS, STREAMLINED) if (one := setting_of(facts, name))}
    ways = (
        []
        if now.get(LITERALS) is not None or not offers(facts, LITERALS)
        else [f"{LITERALS} (sp_configure shows whether it is on)"]
    )
    ways += [f"{name} (dynamic, off now)" for name in (LITERALS, STREAMLINED) if now.get(name) == 0]
    return f"Send fewer different statements: {' or '.join([*ways, PROGRAM])}; {KEEP_OUT}."
