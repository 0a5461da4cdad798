"""One load series with its law: what a page says of it, in figures and in words. Every law is one of `rules.laws`."""

from collections.abc import Sequence
from dataclasses import dataclass

from markupsafe import Markup

from advisor.charts.loads import LoadLine, load_chart
from advisor.core.jinja import of_law, one_of
from collectors.facts.scaling import LoadPoint, LoadSeries
from rules.laws.modes import MODES, modes_of
from rules.laws.series import TimeSeries, course_of
from rules.laws.usl import NOISE_PERCENT, Model, harm_from, model_of
from rules.laws.work import uneven_work

MODE_WORDS = {
    "idle": "Idle",
    "interrupt": "Interrupt",
    "mp_synch": "MP synch",
    "kernel": "Kernel",
    "exec": "Exec",
    "super": "Super",
    "user": "User",
}
SHAPES = {
    "linear": "a straight line: neither contention nor coherency",
    "Amdahl": "levels off and never falls: contention without coherency (Amdahl's law)",
    "retrograde": "rises to a peak and falls beyond it",
}


@dataclass(frozen=True)
class Run:
    """One run as a row of the table."""

    point: LoadPoint
    share: float | None
    """Of the highest mean rate, per cent."""
    fitted: float | None
    """What the law gives at this load; only of a law that may be used."""
    processors: tuple[float | None, ...]
    """Time in each mode of `Fitted.modes`, in processors' worth: 100 per cent of one CPU is 1."""
    where: str
    """File and line."""


@dataclass(frozen=True)
class Coefficient:
    """A row of the table of coefficients."""

    symbol: str
    name: str
    value: float
    error: float | None


@dataclass(frozen=True)
class Fitted:
    """A series, what stands in it without any law, and the law."""

    number: int
    """Its place in the capture, from 1."""
    series: LoadSeries
    model: Model
    course: TimeSeries | None
    refused: str | None
    """Why these figures cannot be what they claim; then there is no course."""
    harm: float | None
    """The load from which adding more does harm."""

    @property
    def load_name(self) -> str:
        """`processes`, in words."""
        return self.series.load_name.replace("_", " ")

    @property
    def rate_name(self) -> str:
        """`lock operations per second`, in words."""
        return self.series.rate_name.replace("_", " ")

    @property
    def modes(self) -> tuple[str, ...]:
        """The modes that any row gives."""
        given = {mode for point in self.series.points for mode in modes_of(point)}
        return tuple(mode for mode in MODES if mode in given)

    @property
    def further(self) -> tuple[str, ...]:
        """The other columns, which only the CSV file has."""
        modes = {f"{mode}_percent" for mode in MODES}
        names = dict.fromkeys(name for point in self.series.points for name, _ in point.others)
        return tuple(name for name in names if name not in modes)

    def runs(self, most: int | None = None) -> list[Run]:
        """The runs in rising order of load, the first `most` of them."""
        best, modes = self.course.peak.rate if self.course else 0.0, self.modes
        return [self._run(point, best, modes) for point in self.series.points[:most]]

    def _run(self, point: LoadPoint, best: float, modes: Sequence[str]) -> Run:
        given = modes_of(point)
        return Run(
            point,
            100 * point.rate / best if best > 0 else None,
            self.model.rate(point.load) if self.model.usable else None,
            tuple(given[mode] / 100 if mode in given else None for mode in modes),
            str(self.series.source_of(point)),
        )

    @property
    def coefficients(self) -> tuple[Coefficient, ...]:
        """α, β and γ with their standard errors; none where nothing was fitted."""
        if not self.model.fitted:
            return ()
        errors: Sequence[float | None] = self.model.errors or (None, None, None)
        model = self.model
        return (
            Coefficient("α", "contention: queueing for what is shared", model.alpha, errors[0]),
            Coefficient("β", "coherency: keeping copies in step", model.beta, errors[1]),
            Coefficient("γ", f"{self.rate_name} at one {one_of(self.load_name)}", model.gamma, errors[2]),
        )

    @property
    def law_name(self) -> str:
        """The law and its shape, in words."""
        name = "Universal Scalability Law"
        if self.model.cap is not None:
            name += f", its load capped at the {self.model.cap} processors"
        return f"{name}; {SHAPES[self.model.shape]}" if self.model.shape else name

    @property
    def peak_said(self) -> str:
        """The peak of the law with the digits that its picture has; empty without one."""
        rate, load = self.model.peak_rate, self.model.peak_load
        if rate is None or load is None:
            return ""
        return f"{of_law(rate)} {self.rate_name} at {of_law(load)} {self.load_name}"

    @property
    def level_said(self) -> str:
        """Where the law would level off; empty where it does not."""
        return "" if self.model.limit is None else of_law(self.model.limit)

    @property
    def harm_said(self) -> str:
        """Where adding does harm, or why nothing is said of it, in one sentence."""
        model, course = self.model, self.course
        if course is None:
            return f"Nothing can be said of adding more: {self.refused}."
        best, last = course.peak, course.last
        fell = f"at {last.load:,g}, the highest measured, {_less(course.fall_percent)} {best.load:,g}"
        if self.harm is not None:
            by = "by the law" if model.usable else "by the measured rates alone, no law is used"
            by = "as measured" if model.usable and self.harm != model.best_load else by
            many = self._counted(self.harm)
            if self.series.derived:
                return f"More than {many} did less, and the processors were busy ({by}): {fell}."
            return f"Adding does harm beyond {many} ({by}){f'; {fell}' if course.beyond else ''}."
        if uneven := uneven_work(self.series):
            return f"Nothing is said of adding more: {uneven}."
        if not course.beyond:
            return f"No harm was measured: the highest load measured, {self._counted(last.load)}, did most."
        if course.fall_percent <= NOISE_PERCENT:
            return f"Not said to do harm: {fell}; two equal runs may differ by {NOISE_PERCENT:g} %."
        if model.usable:
            return f"Not said to do harm: {fell}, and the law proves no peak inside the measured range."
        if course.overlaps:
            return f"Not said to do harm: {fell}, but repeated runs at the two overlap: measure again."
        if self.series.derived:
            return f"Not said to do harm: {fell}, but these captures do not show that the machine could not do more."
        return f"Not said to do harm: {fell}, but {len(course.steps)} different loads are too few to say so."

    def _counted(self, load: float) -> str:
        """`1 process`, `8 processes`."""
        return f"{load:,g} {one_of(self.load_name) if load == 1 else self.load_name}"

    def line(self, name: str = "", factor: float = 1.0) -> LoadLine:
        """What a picture wants; `factor` scales the rates."""
        model, course = self.model, self.course
        peak = (model.peak_load, model.peak_rate) if model.usable else (None, None)
        return LoadLine(
            name or self.series.title,
            [(point.load, point.rate * factor) for point in self.series.points],
            [(step.load, step.rate * factor) for step in course.steps] if course else (),
            (lambda load: model.rate(load) * factor) if model.usable else None,
            (peak[0], peak[1] * factor) if peak[0] is not None and peak[1] is not None else None,
            self.harm,
            model.cap if model.usable else None,
        )

    @property
    def picture(self) -> Markup:
        """The series alone."""
        what = "measured rates and the fitted law" if self.model.usable else "measured rates"
        title = f"{self.series.title}: {what}"
        return load_chart(self.line(), x_name=self.load_name, y_name=self.rate_name, title=title)


def fitted(number: int, series: LoadSeries) -> Fitted:
    """Fit the law to a series; `number` is its place in the capture, from 1."""
    course = course_of(series)
    model = model_of(series)
    harm = harm_from(model)
    if isinstance(course, str):
        return Fitted(number, series, model, None, course, harm)
    return Fitted(number, series, model, course, None, harm)


def _less(percent: float) -> str:
    """How much less was done, up to the words before the load it is held against."""
    return f"{percent:.0f} % less was done than at" if percent >= 0.5 else "about as much was done as at"
