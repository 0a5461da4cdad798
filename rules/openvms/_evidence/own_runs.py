"""Runs of a lock test on this very node: where they were made, they say more of it than what was published of others.

Taken for the node's own are load series of lock operations that name it (the lock laboratory's column `node`, or a
title with its name), of one node alone and of as many cores as it has CPUs now, where both are known. CPUs that are
co-threads of one core count once for a run with threads; a run without them says nothing of such a node now, but of
what the threads give. Their work is that of the test: what production does at the same rate may cost more or less.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

from collectors.facts import Facts
from collectors.facts.scaling import FOLLOWS, LoadSeries, ParameterSeries
from rules.finding import Clean, Evidence, Expectation, capitalized
from rules.laws.dedicated import LOCKS, Dedicated, dedicated
from rules.laws.flattening import Step as ValueStep
from rules.laws.flattening import enough_of, steps_of
from rules.laws.modes import spinning_share
from rules.laws.series import NOISE, Step, TimeSeries, course_of, held_against
from rules.laws.settings import Differ, all_that_differ, settings_of
from rules.laws.work import uneven_work
from rules.openvms._evidence.cpu_layout import LAYOUT_FACTS, Layout, Pair
from rules.openvms._evidence.node import cpus_named, in_prose, node_name
from rules.openvms._evidence.releases import machine_of

ON_NODE, ON_MODEL = "in a test on this node", "in a test on a machine of this model and clock"
LEAST_LOADS = 3
"""This project: of fewer loads none is the peak."""
LEAST_ALIKE = 2
"""This project: loads at which both series of a pair ran, where no peak is asked for: co-threads against none."""


BATCH = ("streams", "jobs")
"""Loads that a batch queue starts, as many as its JOB_LIMIT lets run at once."""


@dataclass(frozen=True)
class OwnRun:
    """One series of the node, and its course."""

    series: LoadSeries
    course: TimeSeries
    where: str = ON_NODE
    """Where it was made, to stand behind a rate."""

    @property
    def peak(self) -> Step:
        """The load that did most."""
        return self.course.peak

    @property
    def told(self) -> dict[str, str]:
        """Its settings."""
        return settings_of(self.series)

    @property
    def at_once(self) -> str:
        """How many to run at once, where the work is that of the test, as a clause; batch jobs wait in their queue."""
        many, name = f"{self.peak.load:g}", self.series.load_name
        batch = f" (SET QUEUE/JOB_LIMIT={many} for their batch queue, at once; its limit of today is the way back)"
        return (
            f"where this is the work of that test, run {many} {name} at once and let the rest queue"
            f"{batch if name in BATCH else ''}"
        )

    @cached_property
    def share_at_peak(self) -> float | None:
        """MP synch at the peak, per cent of the busy time; `None` where a run of it does not tell."""
        return _share(self.peak)

    @cached_property
    def past_share(self) -> float | None:
        """The share of MP synch from which the node is past its peak: half way to that of the next load.

        `None` where the series does not fall by more than noise right beyond its peak, or the share does not rise.
        """
        after = next(iter(self.course.beyond), None)
        at, then = self.share_at_peak, _share(after) if after else None
        if after is None or at is None or then is None or then <= at or after.rate >= (1 - NOISE) * self.peak.rate:
            return None
        return (at + then) / 2

    @property
    def alone_usec(self) -> float | None:
        """What one operation takes where one process is alone, µs; `None`: not measured."""
        first = self.course.first
        return 1e6 / first.rate if first.load == 1 and first.rate > 0 else None

    @property
    def stopped(self) -> bool:
        """Whether CPUs were stopped for it."""
        return self.told.get("stopped_cpus", "0") not in ("", "0")

    @property
    def at_most(self) -> str:
        """Its peak, as a clause."""
        return f"{in_prose(self.peak.rate)} lock operations per second at {self.peak.load:g} {self.series.load_name}"

    @property
    def proof(self) -> Evidence:
        """The peak as evidence."""
        return Evidence(
            f"most in a test on this node, at {self.peak.load:g} {self.series.load_name}",
            round(self.peak.rate, 1),
            "/s",
            self.peak.source,
        )


@dataclass(frozen=True)
class WithAndWithout:
    """Two series of the node that differ in one setting alone, at the loads both ran at."""

    without: OwnRun
    with_it: OwnRun
    last: tuple[Step, Step]
    """The highest load of both."""
    most: tuple[Step, Step]
    """The load of each that did most, of those both ran at."""
    alone: tuple[Step, Step] | None
    """One process alone, where both measured it."""

    @property
    def gains(self) -> bool:
        """Whether more was done with it at the highest load, or at most, by more than noise."""
        return any(_ratio(pair) > 1 + NOISE for pair in (self.last, self.most))

    @property
    def loses(self) -> bool:
        """Whether less was done with it at most, by more than noise."""
        return _ratio(self.most) < 1 - NOISE

    @property
    def spares(self) -> bool:
        """Whether one process alone was faster with it by more than noise, and nothing else slower."""
        slower = any(_ratio(pair) < 1 - NOISE for pair in (self.last, self.most))
        return self.alone is not None and _ratio(self.alone) > 1 + NOISE and not slower

    @property
    def where(self) -> str:
        """Where both were made, to stand behind a rate."""
        return self.without.where

    @property
    def begins(self) -> str:
        """Where both were made, at the beginning of a sentence."""
        return capitalized(self.where)

    @property
    def costs(self) -> bool:
        """Whether it gained neither at most nor at the highest load, and cost more than noise there or alone."""
        pairs = (self.last, self.most, *((self.alone,) if self.alone else ()))
        return not self.gains and any(_ratio(pair) < 1 - NOISE for pair in pairs)

    @property
    def brief(self) -> str:
        """Both at the highest load, as a clause without its subject."""
        with_it, without = (in_prose(step.rate) for step in self.last[::-1])
        return f"{with_it} against {without} per second at {self.last[0].load:g} {self.without.series.load_name}"

    @property
    def percent(self) -> float:
        """How the most that was done changed with it, per cent."""
        return 100 * (_ratio(self.most) - 1)

    @property
    def said(self) -> str:
        """Both at the peak, at the highest load and alone, as a clause without its subject."""
        name = self.without.series.load_name
        peak, last = (" against ".join(in_prose(step.rate) for step in pair[::-1]) for pair in (self.most, self.last))
        alone = ""
        if self.alone and min(step.rate for step in self.alone) > 0:
            times = " against ".join(in_prose(1e6 / step.rate) for step in self.alone[::-1])
            alone = f", and {times} µs for one alone"
        return f"{peak} per second at most, {last} at {self.last[0].load:g} {name}{alone}"

    @property
    def proof(self) -> tuple[Evidence, ...]:
        """Both at the peak and at the highest load."""
        words = ("without", "with")
        return tuple(
            Evidence(f"{what}, {word} it, {self.where}", round(step.rate, 1), "/s", step.source)
            for what, pair in (("most", self.most), (f"rate at {self.last[0].load:g}", self.last))
            for word, step in zip(words, pair, strict=True)
        )


def own_runs(facts: Facts, *, either: bool = False, of_model: bool = False, least: int = LEAST_LOADS) -> list[OwnRun]:
    """The series of this node that can be what they claim. A rule need not declare anything for it.

    `either`: with those that ran on the same cores without the co-threads that run now; `of_model`: with those whose
    title is the name of the node's machine, of as many cores as it has CPUs, or as it has cores where threads count.
    """
    facts = facts.also(LoadSeries, *LAYOUT_FACTS)
    name = node_name(facts)
    layout = Layout(facts)
    active, cores = layout.active, layout.cores or _cores_by_half(layout)
    found = []
    for series in facts.every(LoadSeries):
        threads = either or settings_of(series).get("threads") == "on"
        sizes = {active, cores} if threads else {active}
        own = bool(name) and of_node(series, name or "")
        alike = of_model and active is not None and series.cores in sizes - {None} and _of_machine(series, facts)
        if not (own or alike) or series.derived or series.rate_name != LOCKS or uneven_work(series):
            continue
        if dict(series.setup).get("nodes", "1") != "1" or (series.cores and active and series.cores not in sizes):
            continue
        course = course_of(series)
        if isinstance(course, TimeSeries) and len(course.steps) >= least:
            found.append(OwnRun(series, course, ON_NODE if own else ON_MODEL))
    return found


def _cores_by_half(layout: Layout) -> float | None:
    """Half of the active CPUs, where a display shows two of a core: then a test of so many cores was of all of them.

    `None` where none shows that, or where the CPUs are no even number. It tells of no core which CPUs it has.
    """
    shown = any(isinstance(pair, Pair) for pair in layout.pairs())
    return layout.active / 2 if shown and layout.active and layout.active % 2 == 0 else None


def own_peak(facts: Facts, *, with_it: bool) -> OwnRun | None:
    """The run of the node that did most, with a dedicated lock manager or without; what is not told counts as without.

    Only where the peak is inside the loads that were tried: else it may lie beyond them.
    """
    found = [
        one for one in own_runs(facts) if (one.told.get("dlm") == "on") == with_it and (with_it or one.course.beyond)
    ]
    return max(found, key=lambda one: one.peak.rate, default=None)


def own_alone(facts: Facts) -> float | None:
    """What an operation takes on this node where one process is alone, µs, the least of its tests."""
    return min((time for run in own_runs(facts) if (time := run.alone_usec) is not None), default=None)


def with_and_without(facts: Facts, setting: str, *, of_model: bool = False) -> WithAndWithout | None:
    """Of the pairs of this node's runs that differ in a setting alone, the one that did most; `None`: there is none.

    `of_model`: else of those of its machine, too.
    """
    threads = setting == "threads"  # with the co-threads stopped it ran without them
    least = LEAST_ALIKE if threads else LEAST_LOADS
    own = {
        id(one.series): one
        for one in own_runs(facts, either=threads, of_model=of_model, least=least)
        if not (threads and one.stopped)
    }
    pairs = [pair for pair in all_that_differ([one.series for one in own.values()]) if pair.setting == setting]
    found = [
        made for pair in pairs if (made := _held(pair, own[id(pair.before)], own[id(pair.after)], least)) is not None
    ]
    return max(found, key=lambda one: (one.without.where == ON_NODE, one.most[0].rate), default=None)


def with_stopped(facts: Facts, tried: WithAndWithout | None) -> tuple[tuple[int, ...], WithAndWithout] | None:
    """The CPUs that were stopped in a run else like the one with co-threads, and both held against each other.

    `None` where none was made that gained by it; of several the one that did most. `tried`: the pair whose run with
    co-threads it is; without one any such run of the node.
    """
    every = own_runs(facts, either=True, least=LEAST_ALIKE)
    running = [one for one in every if not one.stopped and one.told.get("threads") == "on"]
    bases = [tried.with_it] if tried else running
    alike = [(base, one) for base in bases for one in every if one.stopped and _but_stopped(one) == _but_stopped(base)]
    found = []
    for base, one in alike:
        held = _held(Differ("stopped_cpus", base.series, one.series), base, one, LEAST_ALIKE)
        cpus = cpus_named(one.told["stopped_cpus"])
        if held is not None and (held.gains or held.spares) and cpus:
            found.append((tuple(sorted(cpus)), held))
    return max(found, key=lambda pair: pair[1].most[1].rate, default=None)


def _but_stopped(run: OwnRun) -> dict[str, str]:
    return {name: text for name, text in run.told.items() if name not in ("stopped_cpus", *FOLLOWS["stopped_cpus"])}


@dataclass(frozen=True)
class OwnValue:
    """What a series of this node over the values of one parameter says."""

    series: ParameterSeries
    low: ValueStep
    """Of the value that runs, else the smallest that was tried."""
    enough: ValueStep
    """The smallest value that does as much as the best."""
    last: ValueStep
    where: str = ON_NODE
    """Where it was made, to stand behind a rate."""

    @property
    def said(self) -> str:
        """The gain, as a clause."""
        low, enough = (f"{in_prose(one.rate)}/s at {one.value:,.0f}" for one in (self.low, self.enough))
        return f"{self.where} {low}, {enough}, and no more up to {self.last.value:,.0f}"

    @property
    def proof(self) -> tuple[Evidence, ...]:
        """Both rates."""
        name = self.series.parameter
        return tuple(
            Evidence(f"rate at {name} {one.value:,.0f}, {self.where}", round(one.rate, 1), "/s", one.source)
            for one in (self.low, self.enough)
        )

    @property
    def expects(self) -> tuple[Expectation, ...]:
        """What the test gained."""
        at = f"lock operations per second in the test, at {self.series.parameter} {self.enough.value:,.0f}"
        return (Expectation(at, round(self.low.rate), round(self.enough.rate), "measured"),)


def own_value(facts: Facts, name: str, now: float) -> OwnValue | None:
    """The value of a parameter from which on this node gains nothing, by its own series of lock operations.

    A series whose title is the name of the node's machine counts, too, after one of the node. `now`: the value that
    runs. `None` where none was made, where the best is not above it, or where the rate still
    rises at the largest value that was tried.
    """
    facts, node = facts.also(ParameterSeries), node_name(facts)
    every = facts.every(ParameterSeries)
    for series in sorted(every, key=lambda one: not (node and of_node(one, node))):
        steps = [one for one in steps_of(series) if one.rate > 0]
        if not node or series.parameter.upper() != name or series.rate_name != LOCKS or len(steps) < LEAST_LOADS:
            continue
        enough, last = enough_of(steps), steps[-1]
        flat = enough is not last and last.rate >= (1 - NOISE) * max(one.rate for one in steps)
        same = _of_machine(series, facts)
        if (of_node(series, node) or same) and flat and enough.value > now:
            where = ON_NODE if of_node(series, node) else ON_MODEL
            return OwnValue(series, next((one for one in steps if one.value == now), steps[0]), enough, last, where)
    return None


def gained_nothing(facts: Facts, synch: float) -> Clean | None:
    """Why a dedicated lock manager is not advised at this MP synch, per cent of one CPU: here it was tried in vain."""
    tried = with_and_without(facts, "dlm", of_model=True)
    if tried is None or tried.gains:
        return None
    return Clean(
        f"MP synch {synch:g} % of one CPU, but {tried.where} a dedicated lock manager gained nothing beyond "
        f"noise: with it against without {tried.said}"
    )


def gain_of(tried: WithAndWithout | None, inferred: Dedicated | None, operations: float) -> Expectation:
    """What it gives: measured on this node, inferred from a test of it, else as published of another."""
    if tried:
        at = f"lock operations per second, at {tried.last[0].load:g} {tried.without.series.load_name} in the test"
        return Expectation(at, round(tried.last[0].rate), round(tried.last[1].rate), "measured")
    if inferred:
        most = "lock operations per second under overload in the test, most that one CPU may serve"
        return Expectation(most, round(inferred.left.rate), two_digits(inferred.ceiling), "heuristic")
    return Expectation(
        "lock operations per second",
        operations,
        "a little more at the peak, a far gentler decline beyond it (rx4640, eight cores)",
        "published",
    )


def by_kernel_time(facts: Facts) -> Dedicated | None:
    """What one CPU may serve by the node's own test without a dedicated lock manager: an inference."""
    own = own_peak(facts, with_it=False)
    return dedicated(own.series, own.course) if own else None


def two_digits(rate: float) -> float:
    """No more of an inference is known."""
    return float(f"{rate:.2g}")


def _held(pair: Differ, before: OwnRun, after: OwnRun, least: int) -> WithAndWithout | None:
    common = held_against(pair.before, pair.after)
    if isinstance(common, str):
        return None
    lone = {step.load for run in (before, after) for step in run.course.alone}
    kept = [at for at in common if at.load not in lone]
    if len(kept) < least:
        return None
    first, last = kept[0], kept[-1]
    return WithAndWithout(
        before,
        after,
        (last.before, last.after),
        (_most([at.before for at in kept]), _most([at.after for at in kept])),
        (first.before, first.after) if first.load == 1 else None,
    )


def _most(steps: Sequence[Step]) -> Step:
    return max(steps, key=lambda step: step.rate)


def _ratio(pair: tuple[Step, Step]) -> float:
    return pair[1].rate / pair[0].rate if pair[0].rate > 0 else 1.0


def of_node(series: LoadSeries | ParameterSeries, name: str) -> bool:
    """Whether the runs were made on the node of this name: by their column of it, else by a word of the title."""
    if series.node:
        return series.node.upper() == name.upper()
    return name.upper() in series.title.upper().replace(",", " ").replace("(", " ").split()


def _of_machine(series: LoadSeries | ParameterSeries, facts: Facts) -> bool:
    """Whether its title begins with the name of the node's machine, and no column names another node."""
    machine = (machine_of(facts).hardware or "").upper()
    return bool(machine) and not series.node and series.title.upper().startswith(machine)


def _share(step: Step) -> float | None:
    shares = [share for run in step.runs if (share := spinning_share(run)) is not None]
    return sum(shares) / len(shares) if shares and len(shares) == len(step.runs) else None
