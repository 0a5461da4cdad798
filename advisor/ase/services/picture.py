"""The cache map as boxes for the chart: as it is now, and as the plan of the audit expects it."""

from collections.abc import Iterator

from markupsafe import Markup

from advisor.ase.services.caches import CacheMap, Shown
from advisor.ase.services.planned import NewCache, Planned
from advisor.charts.caches import Box, cache_map, full_cell, size_text
from advisor.core.jinja import counted

NAMED = 3
"""Objects a line of the picture names."""


def percent(share: float) -> str:
    """A share of 0 to 1 in words, with the digits that tell small ones apart."""
    return f"{100 * share:.0f} %" if share >= 0.095 else f"{100 * share:.2g} %"


def now(shown: CacheMap, width: int = 480) -> Markup:
    """The caches as they are, so many px wide."""
    return cache_map([_box(one) for one in shown.caches], title=f"Data caches of {shown.server}", width=width)


def after(shown: CacheMap, plan: Planned, width: int = 480) -> Markup:
    """The caches as the plan expects them: no contention is drawn for what nobody has measured yet."""
    full = full_cell([_box(one) for one in shown.caches])
    boxes = [_box_after(one, plan) for one in shown.caches] + [_box_new(one) for one in plan.new]
    ordered = sorted(boxes, key=lambda box: (-(box.size_mb or 0.0), box.name))
    title = f"Data caches of {shown.server} after the plan"
    return cache_map(ordered, title=title, full=full, width=width)


def _box(one: Shown) -> Box:
    cells = one.load.cells or (one.load.percent,)
    return Box(one.name, one.size_mb, cells, tuple(_lines(one)))


def _lines(one: Shown) -> Iterator[str]:
    yield _how(one.partitions, one.replacement) + (f"; pools {', '.join(one.pools)}" if one.pools else "")
    yield from (f"pending: {what}" for what in one.pending)
    shares = [f"{percent(one.searches_share)} of all searches"] if one.searches_share is not None else []
    shares += [f"{one.load.spins_share:.3g} % of all spins"] if one.load.spins_share is not None else []
    if shares:
        yield ", ".join(shares)
    if one.load.percent is None:
        yield f"spinlock: {one.load.said}"
    elif one.load.hottest is not None and one.load.coldest is not None:
        hot, cold = one.load.hottest, one.load.coldest
        yield f"{one.load.percent:.3g} % of grabs waited; hottest partition {hot:.3g} %, coldest {cold:.3g} %"
    else:
        yield f"{one.load.percent:.3g} % of grabs waited, one figure for all partitions"
    if one.bound:
        yield f"bound ({one.bound_count:,}): {_some(one.bound, one.bound_count)}"
    if one.residents:
        told = [f"{held.name} {percent(held.inside)}" for held in one.residents[:NAMED]]
        yield f"most of its searches: {', '.join(told)}"


def _how(partitions: int | None, replacement: str | None) -> str:
    cut = "partitions not in the export"
    if partitions is not None:
        cut = counted(partitions, "partition")
    return f"{cut}, {replacement or 'replacement not in the export'}"


def _some(names: tuple[str, ...], count: int) -> str:
    shown = names[:NAMED]
    return ", ".join(shown) + (f" and {count - len(shown):,} more" if count > len(shown) else "")


def _box_after(one: Shown, plan: Planned) -> Box:
    """A cache that is there, as the plan leaves it: what it does not change is drawn as it is, without a figure."""
    changed = plan.of(one.name)
    if changed is None:
        return Box(one.name, one.size_mb, (None,), (f"{_how(one.partitions, one.replacement)}; stays as it is",))
    partitions = one.partitions if changed.partitions is None else changed.partitions
    lines = [_how(partitions, changed.replacement or one.replacement)]
    if changed.size_mb is not None and one.size_mb is not None:
        lines.append(f"size {size_text(one.size_mb)} now, {size_text(changed.size_mb)} then")
    if changed.share is not None:
        lines.append(f"expected: {percent(changed.share)} of all searches ({plan.basis})")
    elif one.searches_share is not None:
        lines.append(f"{percent(one.searches_share)} of all searches now; the plan names no other share")
    lines += [_waits(changed.waited)] if changed.waited is not None else []
    lines += [f"bound by the plan: {_some(changed.came, len(changed.came))}"] if changed.came else []
    lines += [f"gone: {_some(changed.gone, len(changed.gone))}"] if changed.gone else []
    size = one.size_mb if changed.size_mb is None else changed.size_mb
    return Box(one.name, size, (None,) * (partitions or 1), tuple(lines))


def _box_new(one: NewCache) -> Box:
    lines = [_how(one.partitions, one.replacement) + (f"; pools {', '.join(one.pools)}" if one.pools else "")]
    if one.share is not None:
        lines.append(f"expected: {percent(one.share)} of all searches")
    lines += [_waits(one.waited)] if one.waited is not None else []
    if one.members:
        lines.append(f"bound: {_some(one.members, len(one.members))}")
    return Box(one.name, one.size_mb, (None,) * one.partitions, tuple(lines), new=True)


def _waits(share: float) -> str:
    return f"expected: about {share:.3g} % of grabs wait"
