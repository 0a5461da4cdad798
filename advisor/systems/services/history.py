"""What was seen of a system over its newest captures: figures and findings; and what people add to it.

The captures are one light query, the findings two over their audits' digests. What a capture does not tell of is "not
in the export": neither zero nor gone.
"""

from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any

from django.db.models import Exists, OuterRef
from django.http import HttpRequest
from django.utils import timezone

from advisor.accounts.models import User
from advisor.audits.models import NEWEST_FIRST, OLDEST_FIRST, Audit, Capture, Finding
from advisor.core import journal
from advisor.core.access import systems_of
from advisor.findings.models import TrackedFinding
from advisor.findings.services.states import accepted_now
from advisor.systems.models import Note, System

MOST_CAPTURES = 200
LONGEST_FILE = 60
"""Characters of a file's name, its last ones, that tell a capture from another of the same time."""
MOST_AUDITS = 30
"""Audits in the history of findings."""
MOST_FINDINGS = 60
"""Rows of that history; what stands comes first."""
SPANS = {
    "day": timedelta(days=1),
    "week": timedelta(days=7),
    "month": timedelta(days=31),
    "year": timedelta(days=366),
    "all": None,
}
NOT_FOUND, NOT_JUDGED, NOT_APPLICABLE = "not found", "not judged", "not applicable"
QUIET = {"fired": NOT_FOUND, "clean": NOT_FOUND, "not-applicable": NOT_APPLICABLE}
"""What the verdict of a rule means for an object it has no finding about; any other verdict: it was not judged."""


@dataclass(frozen=True)
class Seen:
    """One capture, as light as the histories need it."""

    pk: int
    taken: datetime
    own: datetime
    """The export's own time; without a zone where it has none."""
    timed: bool
    audit: int = 0
    """0: never audited."""
    settings: int = 0
    """The list of settings it told of; 0: it told of none."""
    figures: tuple[tuple[str, str, str, float, str | None], ...] = ()
    named: str = ""

    @property
    def when(self) -> str:
        """The time as the export has it, or that of the upload, which is said; with what tells it from its like."""
        return self.named or when(self.own, self.timed)


def when(own: datetime, timed: bool) -> str:
    """A capture's time for people, with seconds where it has any; `own` as `own_time` gives it."""
    if timed:
        return f"{own:%Y-%m-%d %H:%M:%S}" if own.second else f"{own:%Y-%m-%d %H:%M}"
    return f"{timezone.localtime(own):%Y-%m-%d %H:%M} (upload)"


def when_each(captures: Iterable[Capture]) -> dict[int, str]:
    """The times of captures that are shown together, by their numbers: `when`.

    Where several of a system have the same, each with a file that the others do not have, else with its number.
    """
    said = {one: when(own_time(one.taken, one.timed, one.interval), one.timed) for one in captures}
    same: dict[tuple[int, str], list[Capture]] = {}
    for one, time in said.items():
        same.setdefault((one.system_id, time), []).append(one)
    named = {one.pk: time for one, time in said.items()}
    for alike in (ones for ones in same.values() if len(ones) > 1):
        files = Counter(file for one in alike for file in set(one.files))
        for one in alike:
            own = next((file for file in one.files if files[file] == 1), f"capture {one.pk}")
            named[one.pk] += f", {own[-LONGEST_FILE:]}"
    return named


def own_time(taken: datetime, timed: bool, interval: dict[str, Any]) -> datetime:
    """The time as the export has it, with or without a zone; of a capture without a time that of its upload."""
    told = interval.get("end") or interval.get("start") if timed else None
    return datetime.fromisoformat(told) if told else taken


def recent(system: System) -> list[Seen]:
    """The newest captures of a system, oldest first."""
    columns = ("taken", "timed", "interval", "audit", "settings", "figures", "files", "system")
    rows = list(system.captures.order_by(*NEWEST_FIRST).only(*columns)[:MOST_CAPTURES])
    named = when_each(rows)
    found = [
        Seen(
            one.pk,
            one.taken,
            own_time(one.taken, one.timed, one.interval),
            one.timed,
            one.audit_id or 0,
            one.settings_id or 0,
            one.figures,
            named[one.pk],
        )
        for one in rows
    ]
    return found[::-1]


def within(seen: list[Seen], span: str) -> list[Seen]:
    """Those of the last day, week, … before the newest one."""
    reach = SPANS.get(span)
    return [one for one in seen if reach is None or seen[-1].taken - one.taken <= reach]


@dataclass(frozen=True)
class KeyFigure:
    """One key figure as the newest capture that holds it has it."""

    key: str
    label: str
    unit: str
    better: str | None
    """`low`, `high`, or None where neither is."""
    newest: float
    newest_in: Seen


@dataclass(frozen=True)
class TimeSeries:
    """A key figure over the captures; None where a capture does not hold it."""

    figure: KeyFigure
    series: tuple[tuple[datetime, float | None], ...]

    @property
    def before(self) -> float | None:
        """The figure before the newest one, if there is one."""
        known = [value for _, value in self.series if value is not None]
        return known[-2] if len(known) > 1 else None


def figures(seen: list[Seen]) -> list[KeyFigure]:
    """Every key figure there is, those of the newest capture first and in its order."""
    told: dict[str, KeyFigure] = {}
    for one in reversed(seen):
        for key, label, unit, value, better in one.figures:
            if key not in told:
                told[key] = KeyFigure(key, label, unit, better, value, one)
    return list(told.values())


def courses(seen: list[Seen], wanted: Iterable[KeyFigure]) -> list[TimeSeries]:
    """These figures over the captures."""
    keys = list(wanted)
    names = {figure.key for figure in keys}
    values = [{held[0]: held[3] for held in one.figures if held[0] in names} for one in seen]
    times = [one.own for one in seen]
    return [TimeSeries(one, tuple(zip(times, (held.get(one.key) for held in values), strict=True))) for one in keys]


def every_figure(system: System) -> Iterator[tuple[str, str, str, str, str, float, str]]:
    """Rows for a table of all figures: time, whose time it is, key, label, unit, value, which way is better."""
    rows = system.captures.order_by(*OLDEST_FIRST).values_list("taken", "timed", "interval", "figures")
    for taken, timed, interval, held in rows.iterator(chunk_size=500):
        time = own_time(taken, timed, interval).isoformat()
        for key, label, unit, value, better in held:
            yield time, "export" if timed else "upload", key, label, unit, value, better or ""


@dataclass(frozen=True)
class FindingHistory:
    """One finding over the audits of the captures, oldest first."""

    key: str
    rule: str
    subject: str
    title: str
    states: tuple[int | str, ...]
    """For each capture its severity 1 to 4, or `not found`, `not judged`, `not applicable`."""
    worst: int
    times: int
    stands: bool
    """Whether the newest capture in which it could be judged has it."""
    since: Seen
    """The first capture of those without a break in which it was found last; what was not judged is no break."""
    last: Seen
    gone: Seen | None
    """The first capture after that in which it was looked for and not found."""

    @property
    def judged(self) -> int:
        """In how many of the captures one could tell."""
        return sum(state != NOT_JUDGED for state in self.states)


@dataclass(frozen=True)
class FindingsOverTime:
    """The histories, what stands first, the captures they run over, and how many histories were left out."""

    rows: tuple[FindingHistory, ...]
    over: tuple[Seen, ...]
    left_out: int
    limits_differ: bool = False
    """Whether these audits were judged by different limits: what comes or goes may be the limit's doing."""


def findings(seen: list[Seen]) -> FindingsOverTime:
    """What was found in the newest captures, from their audits' digests: two queries, however many there are."""
    over = [one for one in seen if one.audit][-MOST_AUDITS:]
    audits = {}
    limits: list[dict[str, float]] = []
    columns = Audit.objects.filter(pk__in=[one.audit for one in over]).values_list(
        "pk", "findings_digest", "verdicts", "limits"
    )
    for pk, digest, verdicts, own in columns:
        audits[pk] = (digest, {verdict["rule"]: verdict["verdict"] for verdict in verdicts})
        limits.append(own)
    over = [one for one in over if one.audit in audits]
    newest = {key: one for one in over for key in audits[one.audit][0]}
    rows = []
    for key, last in newest.items():
        rule = key.split(":", 1)[0]
        states = tuple(
            digest.get(key) or QUIET.get(verdicts.get(rule, ""), NOT_JUDGED)
            for digest, verdicts in (audits[one.audit] for one in over)
        )
        rows.append(_history(key, rule, states, over, over.index(last)))
    rows.sort(key=lambda row: (not row.stands, -_newest_level(row), -row.last.taken.timestamp(), row.key))
    shown = rows[:MOST_FINDINGS]
    titles = _titles(shown)
    return FindingsOverTime(
        tuple(FindingHistory(**{**vars(row), "title": titles.get(row.key[:400], row.subject)}) for row in shown),
        tuple(over),
        len(rows) - len(shown),
        any(one != limits[0] for one in limits),
    )


def _history(key: str, rule: str, states: tuple[int | str, ...], over: list[Seen], last: int) -> FindingHistory:
    since = last
    for place in range(last, -1, -1):
        if isinstance(states[place], int):
            since = place
        elif states[place] != NOT_JUDGED:
            break
    gone = next((over[place] for place in range(last + 1, len(over)) if states[place] != NOT_JUDGED), None)
    levels = [state for state in states if isinstance(state, int)]
    subject = key.removeprefix(f"{rule}:")
    return FindingHistory(
        key, rule, subject, subject, states, max(levels), len(levels), gone is None, over[since], over[last], gone
    )


def _newest_level(row: FindingHistory) -> int:
    return next(state for state in reversed(row.states) if isinstance(state, int))


def _titles(rows: Iterable[FindingHistory]) -> dict[str, str]:
    """Each finding's title as the newest audit that has it puts it."""
    wanted = {(row.last.audit, row.key[:400]) for row in rows}
    found = Finding.objects.filter(audit__in={pk for pk, _ in wanted}, key__in={key for _, key in wanted})
    return {
        key: title for pk, key, title in found.values_list("audit_id", "key", "title").order_by() if (pk, key) in wanted
    }


@dataclass(frozen=True)
class FiredAt:
    """A system whose newest audit has findings of a rule."""

    pk: int
    name: str
    product: str
    team: str
    audit: int
    worst: int
    """The severity of its worst finding of the rule that is not accepted; 0: all are accepted."""
    objects: int
    accepted: int
    """How many of them."""


def fired_now(user: User, rule: str | None = None) -> tuple[dict[str, list[FiredAt]], dict[str, int]]:
    """For each rule the systems this person sees that have it now, worst first; and how many systems each product has.

    One query, and one more where anything is accepted; a system without an audit does not count. With `rule` that one
    alone: a large site has tens of thousands of findings.
    """
    accepted = TrackedFinding.objects.filter(accepted_now())
    some = Exists(accepted.filter(system=OuterRef("pk")))
    rows = list(
        systems_of(user)
        .exclude(latest=None)
        .order_by("name")
        .values_list("pk", "name", "product", "team__name", "latest_id", "latest__findings_digest", some)
    )
    asked = [row[0] for row in rows if row[-1]]
    quiet = set(accepted.filter(system__in=asked).values_list("system", "key").order_by()) if asked else set()
    fired: defaultdict[str, list[FiredAt]] = defaultdict(list)
    systems: Counter[str] = Counter()
    begin = f"{rule}:" if rule else ""
    for pk, name, product, team, audit, digest, _ in rows:
        systems[product] += 1
        levels: defaultdict[str, list[int]] = defaultdict(list)
        for key, level in digest.items():
            if key.startswith(begin):
                levels[key.partition(":")[0]].append(0 if quiet and (pk, key[:400]) in quiet else level)
        for of, of_rule in levels.items():
            fired[of].append(FiredAt(pk, name, product, team, audit, max(of_rule), len(of_rule), of_rule.count(0)))
    for at in fired.values():
        at.sort(key=lambda one: -one.worst)
    return fired, systems


def add_note(system: System, by: User, text: str, request: HttpRequest | None = None) -> Note:
    """Write a note about a system; line ends become plain ones."""
    made = Note.objects.create(system=system, by=by, text=text.replace("\r\n", "\n").replace("\r", "\n").strip())
    journal.note(by, "note added", f"note {made.pk}", system=system, request=request)
    return made


def expect_every(system: System, hours: int | None, by: User, request: HttpRequest | None = None) -> None:
    """Say how often a capture is expected, in hours; `None`: nobody says."""
    System.objects.filter(pk=system.pk).update(expected_hours=hours)
    said = f"every {hours} h" if hours else "no expectation"
    journal.note(by, "capture expected", said, system=system, request=request)
