"""What the figures of a run must keep, as far as their printed digits tell [D, zvm-unix-scalability.md a3]."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from collectors.reports.zvm.performance_runs.cells import Figure, Table

SPIN_SLACK = 0.001
"""Of the product of rate and time: 0.1 %; the six published runs keep it within 0.03 %."""
SUM_SLACK = 0.002
"""Milliseconds per transaction: the six published runs keep CP + emulation within 0.001."""


@dataclass(frozen=True)
class Fault:
    """An identity that does not hold: in words, and the index of the line that states it."""

    what: str
    index: int


def faults_of(table: Table, column: int, bases: Sequence[int | None]) -> Iterator[Fault]:
    """Every identity that the figures of this run do not keep; `bases` are the base columns of all runs."""
    rate, one, spin = (table.figure(name, column) for name in ("spin_rate", "spin_time_usec", "spin_percent"))
    if rate and one and spin and not spins(rate, one, spin):
        product = (rate.number or 0.0) * (one.number or 0.0) * 1e-4
        what = f"spin rate {rate.number:g} × spin time {one.number:g} µs make {product:.4g} %, not {spin.number:g} %"
        yield Fault(what, spin.index)
    names = ("total_msec_per_tx", "cp_msec_per_tx", "emul_msec_per_tx")
    total, cp, emul = (table.figure(name, column) for name in names)
    if total and cp and emul and not _adds_up(total, cp, emul):
        what = f"CP {cp.number:g} + emulation {emul.number:g} ms per transaction do not make {total.number:g} ms"
        yield Fault(what, total.index)
    for name in table.ratios:
        words = name.replace("_", " ")
        ratio, exact = table.ratio(name, column), _ratio(table, name, column, bases[column])
        if ratio and exact is not None:
            yield Fault(
                f"the ratio of {words} is printed as {ratio.number:g}, its values give {exact:.4g}", ratio.index
            )
        value = table.figure(name, column)
        against = [at for at, base in enumerate(bases) if base == column and at != column]
        if value and against and all(_ratio(table, name, at, column) is not None for at in against):
            yield Fault(f"no printed ratio to its {words} goes with {value.number:g}", value.index)


def _ratio(table: Table, name: str, column: int, base: int | None) -> float | None:
    """What the values make the ratio of a run, if that is not what is printed."""
    if base is None:
        return None
    ratio, value, against = table.ratio(name, column), table.figure(name, column), table.figure(name, base)
    if not ratio or not value or not against or divides(ratio, value, against):
        return None
    return (value.number or 0.0) / against.number if against.number else 0.0


def spins(rate: Figure, one: Figure, spin: Figure) -> bool:
    """Whether rate × time × 1e-4 is the per cent; true where one of them is no number."""
    if rate.number is None or one.number is None or spin.number is None:
        return True
    low = (rate.number - rate.half) * (one.number - one.half) * 1e-4 * (1 - SPIN_SLACK)
    high = (rate.number + rate.half) * (one.number + one.half) * 1e-4 * (1 + SPIN_SLACK)
    return low <= spin.number + spin.half and high >= spin.number - spin.half


def _adds_up(total: Figure, cp: Figure, emul: Figure) -> bool:
    if total.number is None or cp.number is None or emul.number is None:
        return True
    room = max(SUM_SLACK, total.half + cp.half + emul.half)
    return abs(total.number - cp.number - emul.number) <= room * (1 + 1e-9)


def divides(ratio: Figure, value: Figure, against: Figure) -> bool:
    """Whether a printed ratio is value ÷ base; true where one of them is no number."""
    if ratio.number is None or value.number is None or against.number is None:
        return True
    low = max(0.0, value.number - value.half) / (against.number + against.half)
    least = against.number - against.half
    high = (value.number + value.half) / least if least > 0 else float("inf")
    return low <= ratio.number + ratio.half and high >= ratio.number - ratio.half


def base_of(table: Table, column: int) -> int | None:
    """The column that this run's ratios are against, maybe itself; `None` where none is printed or none is a base.

    A base prints 1 for more than half of its ratios: one group of them may have been swapped.
    """
    if not _ones(table, column):
        return None
    if all(_ones(table, column)):
        return column
    bases = [at for at in range(table.runs) if 2 * sum(_ones(table, at)) > len(_ones(table, at))]
    near = sorted(bases, key=lambda at: (at == column, at > column, abs(column - at)))
    good = {at: _agreeing(table, column, at) for at in near}
    return max(near, key=lambda at: good[at]) if near else None


def _ones(table: Table, column: int) -> list[bool]:
    """Whether each ratio that is printed of a run is 1."""
    ratios = (table.ratio(name, column) for name in table.ratios)
    return [ratio.number == 1 for ratio in ratios if ratio and ratio.number is not None]


def _agreeing(table: Table, column: int, base: int) -> int:
    """How many of this run's ratios go with this base, the figures of both being there."""
    found = 0
    for name in table.ratios:
        ratio, value, against = table.ratio(name, column), table.figure(name, column), table.figure(name, base)
        found += bool(ratio and value and against and divides(ratio, value, against))
    return found
