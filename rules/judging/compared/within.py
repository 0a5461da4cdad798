"""Tables that hold both sides: runs of two releases on the same processors, variants of record locking."""

from collections.abc import Iterator

from collectors.facts import Capture, Source
from collectors.facts.zvm import PerformanceRun
from rules.judging.compared.alike import Part
from rules.judging.compared.comparison import Comparison, End
from rules.judging.compared.metrics import Metric
from rules.judging.compared.verdict import NOT_COMPARABLE, judge
from rules.judging.unix import runs as locking
from rules.judging.unix.clock import clock_of, distrusted
from rules.judging.zvm import runs as zvm
from rules.judging.zvm.releases import comparable, parsed

MOST = 60
"""Comparisons of one capture: a table of 16 numbers of processes and three variants has 32."""


def comparisons_within(capture: Capture) -> tuple[Comparison, ...]:
    """Every comparison whose both sides stand in one capture."""
    return (*_zvm(capture), *_unix(capture))[:MOST]


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


def _capital(text: str) -> str:
    return text[:1].upper() + text[1:]
