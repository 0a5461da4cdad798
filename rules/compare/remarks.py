"""What a reader has to know before a verdict is acted upon: sides that seem swapped, the same, or of two systems."""

from collections.abc import Iterator, Sequence

from rules.compare.metrics import Metric
from rules.compare.sides import Side
from rules.compare.similarity import overlap
from rules.compare.work import Work

LEAST_FIGURES = 3
"""This project: fewer figures may be the same to the digit by chance."""
LONGEST = 80
"""Characters of a name or a release that are repeated."""


def remarks_of(
    before: Side, after: Side, metrics: Sequence[Metric], work: tuple[Work, Work] | None, settings_left_out: int
) -> tuple[str, ...]:
    """All of them as whole sentences; none where there is nothing to say."""
    return tuple(_remarks(before, after, metrics, work, settings_left_out))


def _remarks(
    before: Side, after: Side, metrics: Sequence[Metric], work: tuple[Work, Work] | None, settings_left_out: int
) -> Iterator[str]:
    first, second = before.newest.system, after.newest.system
    if first.name.upper() != second.name.upper():
        yield f"{_cut(first.name)} before and {_cut(second.name)} after are taken for one system."
    elif before.span and after.span:
        shared = overlap(before, after)
        if 0 < shared <= 0.5:
            yield "The two sides overlap in time."
        elif not shared and after.span[0] < before.span[0]:
            yield "The after was measured earlier than the before: are the sides swapped?"
    if first.version and second.version and first.version != second.version:
        yield f"The release is another one, {_cut(first.version)} before and {_cut(second.version)} after."
    if len(metrics) >= LEAST_FIGURES and all(one.before == one.after for one in metrics):
        yield "Every figure is the same on both sides, to the digit: is it one export twice?"
    if work and work[1].unit.proxy:
        yield (
            f"No export counts transactions on both sides, so {work[1].unit.many} stand for the work, which another "
            "plan changes, too: sp_sysmon on both sides would tell."
        )
    if work:
        yield from _lacking(before, work[0], metrics, "before")
        yield from _lacking(after, work[1], metrics, "after")
    if settings_left_out > 0:
        yield f"{settings_left_out:,} more settings differ than are listed."


def _lacking(side: Side, work: Work, metrics: Sequence[Metric], when: str) -> Iterator[str]:
    """How many captures of a side do not hold what decides, or did not count the work."""
    keys = {one.key for one in metrics if one.decides}
    held = [one for one in side.measured if one.value(work.key) and any(one.value(key) is not None for key in keys)]
    if keys and len(held) < len(side.measured):
        missing = len(side.measured) - len(held)
        yield f"Of {len(side.measured)} captures {when}, {missing} lack what decides, or cannot be believed."


def _cut(text: str) -> str:
    return text if len(text) <= LONGEST else f"{text[:LONGEST]}…"
