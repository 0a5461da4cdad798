"""What proves that a screen was read as it was meant, and what speaks against it: arithmetic of the screen itself."""

from collections.abc import Mapping, Sequence

from collectors.facts.base import ABSENT, Reading, known
from collectors.layouts.figures import alone_above
from collectors.reports.openvms.monitor import classes
from collectors.reports.openvms.monitor.frame import Row

ROUNDING = 0.011
"""Two figures of two decimals, each rounded."""
OF_FOUR, OF_FOUR_BARS = 0.05, 2.0
"""The sum of three rounded figures against a fourth: 1,438 real samples differ by 0.02 at most."""
PER_CPU, OF_EIGHT_BARS = 1.0, 4.0
"""Per cent that the modes may lack of 100 for each CPU; bars are whole numbers, eight of them."""
OPERATIONS = {
    "new enq rate": "new ENQ",
    "converted enq rate": "converted ENQ",
    "deq rate": "DEQ",
    "blocking ast rate": "blocking AST",
}
LOCK_RATES = tuple(OPERATIONS)[:3]
"""Those of them that are operations of their own."""
WAYS = ("local", "incoming", "outgoing")
REASONS = ("(higher activity)", "(higher lckdirwt)", "(higher lockdirwt)", "(sole interest)")
By = Mapping[str, Mapping[str, Reading]]
"""Figures by statistic, by label."""


def by_label(rows: Sequence[Row]) -> dict[str, dict[str, Reading]]:
    """The figures of one screen by label."""
    return {classes.key(row.label): row.cells for row in rows}


def out_of_order(rows: Sequence[Row]) -> Row | None:
    """The first line whose current or average figure lies outside of its minimum and maximum."""
    for row in rows:
        low, high = row.cells.get("minimum", ABSENT), row.cells.get("maximum", ABSENT)
        for name in ("current", "mean"):
            figure = row.cells.get(name, ABSENT)
            if known(figure) and known(low) and figure < low - ROUNDING:
                return row
            if known(figure) and known(high) and figure > high + ROUNDING:
                return row
    return None


def no_rates(figures: Mapping[str, Reading]) -> dict[str, float]:
    """Rates of lock operations of one screen, by label, that no lock manager has and the other operations deny.

    New locks are released sooner or later, so over any time ENQs and DEQs are about as many; a counter that went round
    shows as 2**32 ÷ seconds in one of them alone (71,582,788/s at 60 s).
    """
    rates = {label: figure for label in LOCK_RATES if known(figure := figures.get(label, ABSENT))}
    return {
        label: figure
        for label, figure in rates.items()
        if len(rates) > 1 and alone_above(figure, max(other for name, other in rates.items() if name != label))
    }


def whole_numbers(rows: Sequence[Row]) -> bool:
    """Whether no figure has decimals: those of bar graphs have none."""
    return all(not known(cell) or cell == int(cell) for row in rows for cell in row.cells.values())


def sum_of_modes(labels: By, statistic: str) -> float | None:
    """All modes of one screen together; `None` where one is missing. A line that is not there counts as 0."""
    figures = [cells.get(statistic, ABSENT) for label, cells in labels.items() if label in classes.MODES]
    numbers = [figure for figure in figures if known(figure)]
    if len(numbers) < len(figures) or "idle time" not in labels or "kernel mode" not in labels:
        return None
    return sum(numbers)


def cpus_of(total: float, printed: int | None, *, whole: bool) -> int | None:
    """How many CPUs the sum of the modes makes, if it makes so many whole ones as were printed; else `None`."""
    cpus = printed or round(total / 100)
    slack = max(PER_CPU * cpus, OF_EIGHT_BARS if whole else 0.0)
    return cpus if cpus and abs(total - 100 * cpus) <= slack else None


def remastering_adds_up(labels: By, statistic: str) -> bool | None:
    """Whether the trees moved out are those of the three reasons; `None` where it cannot be told."""
    whole = labels.get("lock tree outbound rate", {}).get(statistic, ABSENT)
    parts = [
        labels[label][statistic]
        for reason in REASONS
        if statistic in labels.get(label := f"lock tree outbound rate {reason}", {})
    ]
    numbers = [part for part in parts if known(part)]
    if not known(whole) or len(numbers) != 3:
        return None
    return abs(whole - sum(numbers)) <= OF_FOUR


def lock_identity(lock: By, distributed: By, *, whole: bool) -> tuple[bool, str | None]:
    """Hold each operation of LOCK against local, incoming and outgoing of DLOCK.

    Returns whether there was anything to compare, and what does not add up.
    """
    compared = False
    for label, called in OPERATIONS.items():
        for statistic in ("current", "mean"):
            total = lock.get(label, {}).get(statistic, ABSENT)
            parts = [distributed.get(f"{label} ({way})", {}).get(statistic, ABSENT) for way in WAYS]
            numbers = [part for part in parts if known(part)]
            if not known(total) or len(numbers) < 3:
                continue
            compared = True
            if abs(total - sum(numbers)) > (OF_FOUR_BARS if whole else OF_FOUR):
                return (
                    True,
                    f"{called}: LOCK counted {total:,.2f} per second, DLOCK's three add up to {sum(numbers):,.2f}",
                )
    return compared, None


def row_sum(row: Row) -> float | None:
    """The sum of a line's columns; `None` where one is no number."""
    numbers = [cell for cell in row.cells.values() if known(cell)]
    return sum(numbers) if len(numbers) == len(row.cells) else None
