"""What is shown of a comparison: its verdict in plain words, its figures as rows and as a picture, what to bring.

Works from the shape of `compare/1` alone, so it serves a comparison of stored captures and one that an audit holds.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import islice
from typing import Any

from markupsafe import Markup

from advisor.audits.models import Capture, Finding
from advisor.audits.report.compared import row_of
from advisor.charts.compared import Ratio, ratio_chart
from advisor.charts.fluid import Pair, pair_bars
from advisor.charts.sized import sized
from advisor.findings.models import TrackedFinding
from rules.compare.verdict import SAME, SAME_WORK
from rules.compare.words import number, percent

VERDICTS = {
    "improved": "It got better",
    "worse": "It got worse",
    "mixed": "Better in one way, worse in another",
    "no-effect": "No effect to be seen",
    "not-comparable": "These two cannot be compared",
}
"""The verdict as a heading."""
MOST_ANSWERED = 2
"""Figures in the sentence of the verdict; what decides besides stands below it."""
MOST_DRAWN = 4
"""Figures drawn before and after: a page of paper holds no more beside all else."""
TONES = {"improved": "success", "worse": "error", "mixed": "warning", "no-effect": "", "not-comparable": "warning"}
"""Classes of the page's message; the words say the same."""
SIDES = {"low": "less is better", "high": "more is better"}


@dataclass(frozen=True)
class Row:
    """One figure before and after."""

    data: Mapping[str, Any]
    """As the contract prints it."""
    words: str
    """`better`, `worse`, `within noise`, `too little to tell` (no noise was measured), `no better side`; empty where
    there is no ratio."""
    side: str
    """`less is better`, `more is better`; empty where neither is."""

    @property
    def quiet(self) -> bool:
        """Whether it neither decides nor got better or worse."""
        return not self.data["decides"] and self.data["better"] is None

    @property
    def name(self) -> str:
        """What the ratio is of: the figure per unit of work, where there is one."""
        said = row_of(self.data)
        return f"{said.name}, {said.unit}" if said.per_work and said.unit else said.name


def rows_of(data: Mapping[str, Any]) -> list[Row]:
    """The figures of a comparison: those that decide first, then those that are better or worse."""
    found = [_row(metric) for metric in data["metrics"]]
    return sorted(found, key=lambda row: (not row.data["decides"], row.quiet))


def answer_of(data: Mapping[str, Any]) -> str:
    """The verdict in one sentence, with what it rests on and the noise of that; without figures where there is none.

    `It got better: 29 % less CPU ms per committed transaction (95 % interval -37 to -28 %)`.
    """
    heading = VERDICTS[data["verdict"]]
    if data["verdict"] == "not-comparable":
        return heading
    deciding = [one for one in data["metrics"] if one["decides"]]
    ways = {"improved": [True], "worse": [False], "mixed": [True, False]}.get(data["verdict"], [None])
    said = [one for way in ways for one in islice((m for m in deciding if m["better"] is way), 3 - len(ways))]
    return f"{heading}: {'; '.join(map(_moved, said[:MOST_ANSWERED]))}" if said else heading


def _moved(metric: Mapping[str, Any]) -> str:
    """How far one figure moved, and what is known of its noise."""
    row = row_of(metric)
    what = row.unit if row.per_work and row.unit else f"{row.name}{f', {row.unit}' if row.unit else ''}"
    if metric["ratio"] is None:
        return f"{what} {number(row.before)} → {number(row.after)} (cannot be divided)"
    change = percent(metric["ratio"])
    far = "less than half a per cent apart" if change == "0" else ""
    far = far or f"{change.lstrip('+-')} % {'less' if metric['ratio'] < 1 else 'more'}"
    noise = row.change.partition(", ")[2] or "no noise measured"
    return f"{what} {far} ({noise})" if change == "0" else f"{far} {what} ({noise})"


@dataclass(frozen=True)
class Drawn:
    """One figure before and after as a picture, with what stands beside it."""

    row: Row
    name: str
    unit: str
    before: str
    after: str
    change: str
    """`-29 %, 95 % interval -37 to -28 %`; empty where there is nothing to divide by."""
    bars: Markup


def drawn_of(rows: Sequence[Row]) -> list[Drawn]:
    """The figures that decide, then others per unit of work that got better or worse: those of one unit on one scale.

    Without a figure that one side does not tell, or that is below zero.
    """
    told = [
        (row, row_of(row.data)) for row in rows if row.data["decides"] or (row.data["per_work_unit"] and not row.quiet)
    ]
    pairs = []
    for row, said in told:
        if said.before is None or said.after is None or min(said.before, said.after) < 0:
            continue
        kind = row.words if row.words in ("better", "worse") else "same"
        name = f"{said.name}, {said.unit}" if said.unit else said.name
        pairs.append((row, said, Pair(name, said.before, said.after, row.data["low"], row.data["high"], kind)))
    pairs = pairs[:MOST_DRAWN]
    most: dict[str, float] = {}
    for _, said, pair in pairs:
        most[said.unit or said.name] = max(most.get(said.unit or said.name, 0.0), pair.most)
    return [
        Drawn(
            row,
            said.name,
            said.unit,
            number(said.before),
            number(said.after),
            said.change,
            pair_bars(pair, most[said.unit or said.name]),
        )
        for row, said, pair in pairs
    ]


def _row(metric: Mapping[str, Any]) -> Row:
    return Row(metric, _words(metric), SIDES.get(metric.get("direction") or "", ""))


def _words(metric: Mapping[str, Any]) -> str:
    """What the ratio comes to."""
    if metric["ratio"] is None:
        return ""
    if metric["better"] is not None:
        return "better" if metric["better"] else "worse"
    if metric["low"] is not None and metric["low"] <= 1 <= metric["high"]:
        return "within noise"
    return "too little to tell" if metric.get("direction") else "no better side"


def picture_of(rows: Sequence[Row]) -> Markup | None:
    """Their ratios as a picture, without what is quiet and the same to the digit; `None` where no figure has one."""
    ratios = [
        Ratio(row.name, row.data["ratio"], row.data["low"], row.data["high"], row.words, row.side, row.data["decides"])
        for row in rows
        if row.data["ratio"] is not None and not (row.quiet and row.data["ratio"] == 1)
    ]
    return sized(lambda width: ratio_chart(ratios, title="Ratios after ÷ before", width=width)) if ratios else None


@dataclass(frozen=True)
class Within:
    """A comparison of a file that holds both sides, as an audit keeps it, with its figures and their picture."""

    data: Mapping[str, Any]
    rows: Sequence[Row]
    picture: Markup | None


def within(comparisons: Iterable[Mapping[str, Any]]) -> list[Within]:
    """What an audit shows of its own comparisons."""
    found = [(one, rows_of(one)) for one in comparisons]
    return [Within(one, rows, picture_of(rows)) for one, rows in found]


@dataclass(frozen=True)
class Named:
    """A finding as a comparison names it, and where it stands."""

    key: str
    title: str
    severity: int
    """0: of no audit that is kept."""
    audit: int | None
    number: int | None
    followed: TrackedFinding | None
    """What is followed of it: its page, and the state it has today."""

    @property
    def rule(self) -> str:
        """The rule that made it."""
        return self.key.split(":", 1)[0]


def findings_of(data: Mapping[str, Any], before: Iterable[Capture], after: Iterable[Capture]) -> dict[str, list[Named]]:
    """The findings under the words gone, new, still and not judged, each where an audit of its side has it."""
    early, late = _audits(before), _audits(after)
    found = data["findings"]
    keys = {key[:400] for named in found.values() for key in named}
    known: dict[tuple[bool, str], Finding] = {}
    columns = ("key", "title", "severity", "number", "audit_id")
    held = Finding.objects.filter(audit__in=early | late, key__in=keys).order_by("audit__capture__taken")
    for one in held.only(*columns):
        known[one.audit_id in late, one.key] = one
    systems = {one.system_id for one in (*before, *after)}
    followed = {row.key: row for row in TrackedFinding.objects.filter(system__in=systems, key__in=keys)}
    return {
        word: [
            _named(key, known.get((word not in ("gone", "not_judged"), key[:400])), followed.get(key[:400]))
            for key in named
        ]
        for word, named in found.items()
    }


def _audits(captures: Iterable[Capture]) -> set[int]:
    return {one.audit_id for one in captures if one.audit_id is not None}


def _named(key: str, found: Finding | None, followed: TrackedFinding | None) -> Named:
    if found is None:
        return Named(key, key, 0, None, None, followed)
    return Named(key, found.title, found.severity, found.audit_id, found.number, followed)


def to_bring(data: Mapping[str, Any]) -> list[str]:
    """What would let it be judged, nothing where it is: work that is alike, else the figures that are missing."""
    if data["verdict"] != "not-comparable":
        return []
    if data["unit_of_work"] is None:
        return list(data["bring"])
    parts = (one for one in data["comparable"]["parts"] if not one["meant"])
    unlike = [one["part"] for one in parts if one["similarity"] < data["comparable"]["limit"]]
    return list(dict.fromkeys(SAME.get(part, SAME_WORK) for part in unlike)) or list(data["bring"])
