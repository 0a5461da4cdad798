"""Runs of one machine under several values of one setting: drawn, compared, and what was published of the setting.

Compared are runs that differ in that setting alone, as far as their tables tell, at the loads both ran at. What the
source documents measured stands beside them: of another machine, so its course may be held against, its rates not.
"""

from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass

from markupsafe import Markup

from advisor.audits.services.documents import Document, PublishedRun, runs_about
from advisor.charts.loads import LoadLine, compared_loads, load_chart
from advisor.charts.parameters import ParameterLine, parameter_chart
from advisor.charts.plotted import legend
from advisor.charts.words import figure
from advisor.series.services.fitted import Fitted
from collectors.facts.scaling import FOLLOWS, ParameterSeries
from rules.compare.load_series import PER_SECOND, RUN, metrics_of, pair_of
from rules.compare.metrics import Metric
from rules.compare.similarity import Part
from rules.compare.verdict import IMPROVED, MIXED, NO_EFFECT, NOT_COMPARABLE, WORSE, judge
from rules.laws.series import NOISE
from rules.laws.settings import SETTINGS, differ, order_of, settings_of

MOST_FAMILIES, MOST_VALUES, MOST_LINES, MOST_ROWS = 12, 6, 6, 60
"""Groups of runs on the page, values of a setting and lines in one picture, values in a table."""
SAID = {
    IMPROVED: "better",
    WORSE: "worse",
    MIXED: "better in one, worse in another",
    NO_EFFECT: "no difference beyond noise",
    NOT_COMPARABLE: "not comparable",
}
OF_PARAMETER = {
    "RESHASHTBL": "reshashtbl",
    "LOCKIDTBL": "lockidtbl",
    "LVB bytes": "lvb_bytes",
    "value blocks": "lvb_bytes",
    "dedicated lock manager": "dlm",
    "hyperthreads": "threads",
}
"""What a series over a parameter calls it → the lock laboratory's name."""


@dataclass(frozen=True)
class Published:
    """What a source document measured under the setting."""

    document: Document
    run: PublishedRun

    @property
    def picture(self) -> Markup | None:
        """Its runs, where the text gives their rates."""
        run = self.run
        if not run.points:
            return None
        line = LoadLine(run.machine, run.points, run.points)
        title = f"Reference, not this machine: {run.machine} ({self.document.by})"
        return load_chart(line, x_name=run.load_name, y_name=run.rate_name, title=title, height=160)


@dataclass(frozen=True)
class Against:
    """One value of the setting held against the first."""

    value: str
    base: str
    verdict: str
    """In words, of the value."""
    why: str
    rows: tuple[Metric, ...]
    """What decides, each singly."""


@dataclass(frozen=True)
class Family:
    """Series that differ in one setting alone, in the order of its values."""

    number: int
    setting: str
    values: tuple[str, ...]
    series: tuple[Fitted, ...]
    left_out: int
    """Values beyond those in the picture."""
    against: tuple[Against, ...]
    kept: str
    """What all of them share, in words."""
    published: tuple[Published, ...]

    @property
    def name(self) -> str:
        """The setting in words."""
        return SETTINGS.get(self.setting, self.setting)

    @property
    def picture(self) -> Markup:
        """The rates over the load, a line for each value."""
        first = self.series[0]
        lines = [one.line(value) for one, value in zip(self.series, self.values, strict=True)]
        title = f"{first.rate_name} over {first.load_name}, by {self.name}: {', '.join(self.values)}"
        return compared_loads(lines, x_name=first.load_name, y_name=first.rate_name, title=title)

    @property
    def legend(self) -> Markup:
        """The values as the picture tells them apart, for narrow screens."""
        return legend(self.values, shapes=True)


@dataclass(frozen=True)
class Cell:
    """The runs at one value."""

    rate: float | None
    """Their mean; `None`: not measured there."""
    microseconds: float | None
    """Time per operation of the whole machine, 1 ÷ rate; only of rates per second."""
    share: float | None
    """Of the highest mean rate of the line, per cent."""
    good: bool
    """Whether that is within noise of the highest."""


@dataclass(frozen=True)
class OverParameter:
    """Series over one parameter that differ in other settings: a line each."""

    number: int
    parameter: str
    rate_name: str
    names: tuple[str, ...]
    series: tuple[ParameterSeries, ...]
    left_out: int
    labels: dict[float, str]
    rows: tuple[tuple[str, tuple[Cell, ...]], ...]
    """Each value with the cells of the lines."""
    more_rows: int
    published: tuple[Published, ...]
    shown: bool
    """Whether what was published of it stands with a group of series that differ in it."""

    @property
    def picture(self) -> Markup:
        """The rates over the values."""
        lines = [
            ParameterLine(name, [(point.value, point.rate) for point in one.points])
            for name, one in zip(self.names, self.series, strict=True)
        ]
        title = f"{self.rate_name} over {self.parameter}"
        return parameter_chart(lines, self.labels, x_name=self.parameter, y_name=self.rate_name, title=title)

    @property
    def legend(self) -> Markup:
        """The lines by name, for narrow screens."""
        return legend(self.names, shapes=True)


def families(series: Sequence[Fitted]) -> tuple[Family, ...]:
    """The groups of these series that differ in one setting alone, without those that cannot be what they claim."""
    usable = [one for one in series if not one.refused]
    found: list[tuple[str, list[Fitted]]] = []
    for at, one in enumerate(usable):
        for other in usable[at + 1 :]:
            pair = differ(one.series, other.series)
            if pair is None:
                continue
            group = next((own for name, own in found if name == pair.setting and _fits(own, one, other)), None)
            if group is None:
                found.append((pair.setting, [one, other]))
            else:
                group += [each for each in (one, other) if each not in group]
    return tuple(_family(number, *group) for number, group in enumerate(found[:MOST_FAMILIES], 1))


def _fits(group: Sequence[Fitted], one: Fitted, other: Fitted) -> bool:
    """Whether one of two is in a group already, from which the other differs in the same alone."""
    return any(each is one or each is other for each in group) and all(
        each is new or differ(each.series, new.series) is not None for each in group for new in (one, other)
    )


def _family(number: int, setting: str, group: Sequence[Fitted]) -> Family:
    def value(one: Fitted) -> str:
        told = settings_of(one.series)
        return told.get(setting, one.series.title)

    group = sorted(group, key=lambda one: order_of(value(one)))
    shown = tuple(group[:MOST_VALUES])
    values = tuple(_worded(setting, value(one)) for one in shown)
    base = shown[0]
    against = (_against(base, one, values[0], said) for one, said in zip(shown[1:], values[1:], strict=True))
    told = {name: text for name, text in settings_of(base.series).items() if name != setting}
    kept = _told(told, but=(setting, *FOLLOWS.get(setting, ())))
    return Family(number, setting, values, shown, len(group) - len(shown), tuple(against), kept, published_of(setting))


def _against(base: Fitted, other: Fitted, first: str, value: str) -> Against:
    pair = pair_of(base.series, other.series)
    if pair is None:
        return Against(value, first, SAID[NOT_COMPARABLE], "No load was measured at both.", ())
    metrics = tuple(metrics_of(pair, named=False))
    same = Part("loads", 1.0, f"{len(pair.common)} loads that both ran at")
    judged = judge(metrics, [same], RUN, "scaling", None)
    rows = tuple(one for one in metrics if one.decides)
    return Against(value, first, SAID[judged.verdict], " ".join((judged.why, *pair.says)), rows)


def over_parameters(series: Sequence[ParameterSeries], beside: Sequence[Family] = ()) -> tuple[OverParameter, ...]:
    """The series over a parameter, those of one machine and rate together; `beside`: the groups on the same page."""
    groups: dict[tuple[object, ...], list[ParameterSeries]] = {}
    for one in series:
        told = dict(one.setup)
        machine = tuple(told.get(name) for name in ("title", "node", "model", "release")) if told else (one.title,)
        groups.setdefault((one.parameter, one.rate_name, one.switch, *machine), []).append(one)
    shown = {family.setting for family in beside}
    return tuple(_over(number, own, shown) for number, own in enumerate(list(groups.values())[:MOST_FAMILIES], 1))


def _over(number: int, own: Sequence[ParameterSeries], above: Collection[str]) -> OverParameter:
    shown = own[:MOST_LINES]
    differs = {
        name for name in dict.fromkeys(name for one in shown for name, _ in one.setup) if len(_texts(shown, name)) > 1
    }
    names = tuple(_told({name: text for name, text in one.setup if name in differs}) or one.title for one in shown)
    values = sorted({point.value for one in shown for point in one.points})
    words = {0.0: "off", 1.0: "on"} if own[0].switch else {}
    labels = {value: words.get(value) or figure(value) for value in values}
    means = [dict(ParameterLine("", [(each.value, each.rate) for each in one.points]).means) for one in shown]
    first = own[0]
    timed = first.rate_name.endswith(PER_SECOND)
    rows = tuple((labels[value], tuple(_cell(line, value, timed=timed) for line in means)) for value in values)
    return OverParameter(
        number,
        first.parameter,
        first.rate_name.replace("_", " "),
        names,
        tuple(shown),
        len(own) - len(shown),
        labels,
        rows[:MOST_ROWS],
        max(0, len(rows) - MOST_ROWS),
        () if (setting := OF_PARAMETER.get(first.parameter, "")) in above else published_of(setting),
        setting in above,
    )


def _texts(series: Iterable[ParameterSeries], name: str) -> set[str | None]:
    return {dict(one.setup).get(name) for one in series}


def _cell(means: dict[float, float], value: float, *, timed: bool) -> Cell:
    rate, best = means.get(value), max(means.values(), default=0.0)
    if rate is None:
        return Cell(None, None, None, good=False)
    micro = 1e6 / rate if timed and rate > 0 else None
    return Cell(rate, micro, 100 * rate / best if best > 0 else None, good=0 < best * (1 - NOISE) <= rate)


def published_of(setting: str) -> tuple[Published, ...]:
    """What the source documents have of a setting."""
    return tuple(Published(document, run) for document, run in runs_about(setting))


def _told(told: dict[str, str], but: Sequence[str] = ()) -> str:
    """Settings in words: `hyperthreads off, RESHASHTBL 8192`."""
    return ", ".join(
        f"{SETTINGS[name]} {_worded(name, text)}" for name, text in told.items() if name in SETTINGS and name not in but
    )


def _worded(setting: str, text: str) -> str:
    """`16 bytes`, `none`, `8,192`, `off`."""
    if setting == "lvb_bytes":
        return {"0": "none", "on": "on"}.get(text, f"{text} bytes")
    return f"{int(text):,}" if text.isascii() and text.isdecimal() else text
