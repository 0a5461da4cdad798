"""Files that hold both sides: runs of two releases, variants of record locking, series with and without something."""

from collections.abc import Iterator
from itertools import chain, islice

from collectors.facts import Capture, Source
from collectors.facts.scaling import LoadSeries
from collectors.facts.zvm import PerformanceRun
from rules.compare.comparison import Comparison, End
from rules.compare.load_series import RUN, metrics_of, pair_of
from rules.compare.metrics import Metric
from rules.compare.similarity import Part
from rules.compare.verdict import NOT_COMPARABLE, judge
from rules.laws.settings import all_that_differ
from rules.unix._evidence import runs as locking
from rules.unix._evidence.clock import clock_of, distrusted
from rules.zvm._evidence import runs as zvm
from rules.zvm._evidence.releases import comparable, parsed

MOST = 60
"""Comparisons of one capture: a table of 16 numbers of processes and three variants has 32."""


def comparisons_within(capture: Capture) -> tuple[Comparison, ...]:
    """Every comparison whose both sides stand in one capture."""
    return tuple(islice(chain(_zvm(capture), _unix(capture), _switched(capture)), MOST))


def _zvm(capture: Capture) -> Iterator[Comparison]:
    for pair in zvm.pairs(capture.facts.every(PerformanceRun)):
        metrics = of_zvm(pair)
        same = Part("processors", 1.0, f"both on {pair.processors:g} processors, runs of one table")
        judged = judge(metrics, [same], zvm.UNIT_OF_WORK, "zvm", None)
        first, last = sorted((pair.base.source, pair.run.source), key=lambda one: one.first)
        yield Comparison(
            name=capture.system.name,
            product="zvm",
            before=End(_run_said(pair.base), files=(pair.base.source.file,)),
            after=End(_run_said(pair.run), files=(pair.run.source.file,)),
            score=None if pair.doubt else judged.score,
            parts=(same,),
            unit_of_work=zvm.UNIT_OF_WORK,
            metrics=metrics,
            verdict=NOT_COMPARABLE if pair.doubt else judged.verdict,
            why=f"{_capital(zvm.conclusion(pair))}.",
            source=Source(first.file, first.first, max(first.last, last.last)),
        )


def _run_said(run: PerformanceRun) -> str:
    return f"{run.run}, z/VM {run.release}" if run.release else run.run


def of_zvm(pair: zvm.Pair, prefix: str = "") -> tuple[Metric, ...]:
    """The figures of two runs of z/VM; those per transaction are per unit of work as they are printed.

    Spin figures of two releases that count spins otherwise have no better side.
    """
    other_spins = comparable(parsed(pair.base.release), parsed(pair.run.release)) is False
    return tuple(
        Metric(
            key=f"zvm.{one.key}{f':{prefix}' if prefix else ''}",
            label=f"{prefix}: {_once(one)}" if prefix else _once(one),
            unit=one.unit,
            before=one.before,
            after=one.after,
            direction=None if other_spins and one.key.startswith("spin") else one.better,
            work_unit=f"{one.unit} per {zvm.UNIT_OF_WORK}" if one.key.endswith("_per_tx") else None,
            work_before=one.before if one.key.endswith("_per_tx") else None,
            work_after=one.after if one.key.endswith("_per_tx") else None,
            tested=True,
            decides=one.decides,
        )
        for one in zvm.metrics(pair)
    )


def _once(one: zvm.Metric) -> str:
    """The label without the unit of work, where the unit says it."""
    return one.label.removesuffix(f" per {zvm.UNIT_OF_WORK}") if one.key.endswith("_per_tx") else one.label


def _unix(capture: Capture) -> Iterator[Comparison]:
    clock = clock_of(capture.facts)
    for pair in locking.pairs(capture.facts):
        doubt = distrusted(pair, clock)
        same = Part(
            "work", 0.0 if doubt else 1.0, doubt or f"both with {locking.counted(pair.processes)}, of one table"
        )
        judged = judge(pair.metrics, [same], pair.unit_of_work, "unix", None)
        yield Comparison(
            name=capture.system.name,
            product="unix",
            before=End(pair.before.name, samples=len(pair.before.runs), files=(pair.source.file,)),
            after=End(pair.after.name, samples=len(pair.after.runs), files=(pair.source.file,)),
            score=judged.score,
            parts=(same,),
            unit_of_work=pair.unit_of_work,
            metrics=pair.metrics,
            verdict=judged.verdict,
            why=f"{pair.records:,.0f} records: {judged.why}" if pair.records is not None else judged.why,
            source=pair.source,
        )


def _switched(capture: Capture) -> Iterator[Comparison]:
    """Series of one machine that differ in one setting: a dedicated lock manager, threads, value blocks, a size."""
    for found in all_that_differ(capture.facts.every(LoadSeries)):
        pair = pair_of(found.before, found.after)
        if pair is None:
            continue
        metrics = tuple(metrics_of(pair, named=False))
        same = Part("loads", 1.0, f"one machine by its title, {len(pair.common)} loads that both series ran at")
        judged = judge(metrics, [same], RUN, "scaling", None)
        first, second = pair.before, pair.after
        inside = first.source.file == second.source.file
        places = sorted((one.source.first, one.source.last) for one in (first, second))
        yield Comparison(
            name=capture.system.name,
            product=capture.system.product,
            before=End(first.title, files=(first.source.file,)),
            after=End(second.title, files=(second.source.file,)),
            score=judged.score,
            parts=(same,),
            unit_of_work=RUN,
            metrics=metrics,
            verdict=judged.verdict,
            why=" ".join((judged.why, *pair.says, *(_taken(second) if found.setting == "dlm" else ()))),
            source=Source(first.source.file, places[0][0], places[1][1]) if inside else second.source,
        )


def _taken(series: LoadSeries) -> Iterator[str]:
    """What the after takes that no rate shows."""
    yield f"A dedicated lock manager takes one {f'of {series.cores} CPUs' if series.cores else 'CPU'} at all hours."


def _capital(text: str) -> str:
    return text[:1].upper() + text[1:]
