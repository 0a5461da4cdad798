"""The CPU map: each core as a box with its one or two CPUs, what runs on them, and who has to move.

Nothing in it needs a colour: the place of the lock manager has a double outline, what has to move an arrow before its
name, a conflict a dashed box and words below. The modes of a CPU are five columns with a letter each; a column without
a figure is crossed out, never empty.
"""

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise

from markupsafe import Markup

from advisor.charts.pen import Sheet
from advisor.charts.scales import number
from advisor.charts.words import breadth, clean, clip, figure

MOST_CPUS = 64
"""CPUs in one picture; the table has the others."""
MOST_LINES = 5
"""Lines of names in one CPU: what has no room is counted."""
MODES = (("MP", "MP synch"), ("K", "kernel"), ("U", "user"), ("In", "interrupt"), ("Id", "idle"))
"""Columns of the modes: what stands below each, and what it means."""
LEAST_WIDE = 300
SLOT, GAP, PAD, LINE, BAR = 148.0, 7.0, 8.0, 15.0, 22.0
"""Least width of a CPU; between cores, inside a CPU, of a line of text, of a column of modes, px."""
BELOW = 6.0
"""px between the CPUs of a core and what is said below them."""


@dataclass(frozen=True)
class CpuBox:
    """One CPU of the map."""

    number: int
    state: str
    """`running`, `stopped`, `running, primary`, in words: a line for each of the first two."""
    names: tuple[str, ...] = ()
    """Services and devices, one word each."""
    modes: tuple[float | None, ...] = ()
    """Per cent of this CPU in the order of `MODES`; empty where none was read."""
    outlined: bool = False
    """Whether it is the place for the lock manager."""
    moving: tuple[str, ...] = ()
    """Those of `names` that have to move first."""


@dataclass(frozen=True)
class CoreBox:
    """One core: its one or two CPUs, and what is said below them."""

    cpus: tuple[CpuBox, ...]
    notes: tuple[str, ...] = ()
    conflict: bool = False


def cpu_map(cores: Sequence[CoreBox], *, title: str, width: int = 480) -> Markup:
    """Draw the map: at most 64 CPUs, of the others it is said how many. `width` 300 at least (ValueError)."""
    if width < LEAST_WIDE:
        raise ValueError(f"{width} px is too small for this chart; {LEAST_WIDE} is the least")
    drawn = _first(cores)
    slots = max(2, int((width - 2 + GAP) / (SLOT + GAP)))
    slot = (width - 2 - GAP * (slots - 1)) / slots
    rows = list(_rows(drawn, slots))
    keys = [line for key in _keys(drawn) for line in _wrapped(key, width)]
    left_out = sum(len(core.cpus) for core in cores) - sum(len(core.cpus) for core in drawn)
    tall = [max(_height(core, slot) for core in row) for row in rows]
    height = LINE * (len(keys) + (1 if left_out else 0)) + 4 + sum(tall) + GAP * len(rows) + 4
    sheet = Sheet(width, math.ceil(height))
    y = 0.0
    for key in keys:
        y += LINE
        sheet.text(key, 0, y - 3, room=width)
    y += 4
    for row, high in zip(rows, tall, strict=True):
        x = 1.0
        for core in row:
            wide = len(core.cpus) * slot + (len(core.cpus) - 1) * GAP
            _core(sheet, core, x, y, wide, high)
            x += wide + GAP
        y += high + GAP
    if left_out:
        sheet.text(f"and {left_out:,} more CPUs in the table", 0, y + LINE - 4, room=width)
    return sheet.done(title, " ".join([_said(core) for core in drawn] or ["No CPUs."]))


def _first(cores: Sequence[CoreBox]) -> list[CoreBox]:
    """As many cores as have room in one picture."""
    kept: list[CoreBox] = []
    count = 0
    for core in cores:
        count += len(core.cpus)
        if count > MOST_CPUS:
            break
        kept.append(core)
    return kept


def _rows(cores: Sequence[CoreBox], slots: int) -> Iterator[list[CoreBox]]:
    """As many cores side by side as have room for their CPUs."""
    row: list[CoreBox] = []
    for core in cores:
        if row and sum(len(one.cpus) for one in row) + len(core.cpus) > slots:
            yield row
            row = []
        row.append(core)
    if row:
        yield row


def _keys(cores: Sequence[CoreBox]) -> Iterator[str]:
    """What the marks of this picture mean, a line each."""
    cpus = [cpu for core in cores for cpu in core.cpus]
    if any(cpu.outlined for cpu in cpus):
        yield "double outline: place of the lock manager"
    if any(cpu.moving for cpu in cpus):
        yield "→ has to move first"
    if any(core.conflict for core in cores):
        yield "dashed: beside a co-thread that runs"
    if any(cpu.modes for cpu in cpus):
        yield "columns, full at 100 %: " + ", ".join(
            name if name.startswith(short) else f"{short} {name}" for short, name in MODES
        )


def _wrapped(key: str, room: float) -> Iterator[str]:
    """A key in as many lines as it needs, broken behind commas."""
    line = ""
    for piece in key.split(", "):
        joined = f"{line}, {piece}" if line else piece
        if line and breadth(joined) > room:
            yield line
            joined = piece
        line = joined
    yield line


def _height(core: CoreBox, slot: float) -> float:
    lines = max((len(_lines(cpu, slot - 2 * PAD)) for cpu in core.cpus), default=0)
    bars = BAR + LINE + 4 if any(cpu.modes for cpu in core.cpus) else 0.0
    notes = LINE * len(core.notes) + BELOW if core.notes else 0.0
    return 2 * PAD + LINE * (1 + lines) + notes + bars


def _core(sheet: Sheet, core: CoreBox, x: float, y: float, wide: float, high: float) -> None:
    _outline(sheet, "limit" if core.conflict else "axis", x, y, wide, high)
    each = wide / max(1, len(core.cpus))
    foot = y + high - PAD - (LINE * len(core.notes) + BELOW if core.notes else 0.0)
    for n, cpu in enumerate(core.cpus):
        left = x + n * each
        if n:
            sheet.rule("grid", left, y + PAD, left, foot)
        _cpu(sheet, cpu, left + PAD, y + PAD, each - 2 * PAD, foot)
    for n, note in enumerate(core.notes, 1):
        sheet.text(note, x + PAD, foot + BELOW + n * LINE - 3, room=wide - 2 * PAD)


def _cpu(sheet: Sheet, cpu: CpuBox, x: float, y: float, wide: float, foot: float) -> None:
    for n, line in enumerate((f"CPU {cpu.number}", *_lines(cpu, wide)), 1):
        sheet.text(line, x, y + n * LINE - 3, room=wide)
    if cpu.modes:
        step = wide / len(MODES)
        top = foot - LINE - BAR
        for n, (short, _) in enumerate(MODES):
            value = cpu.modes[n] if n < len(cpu.modes) else None
            _column(sheet, value, x + n * step, top, step - 3)
            sheet.text(short, x + n * step + (step - 3) / 2, top + BAR + LINE - 3, "middle")
    if cpu.outlined:
        for inset in (-5.0, -2.5):
            left, top, right, low = x + inset, y + inset, x + wide - inset, foot - inset
            sheet.line([(left, top), (right, top), (right, low), (left, low), (left, top)])


def _column(sheet: Sheet, value: float | None, x: float, y: float, wide: float) -> None:
    known = number(value)
    if known is None:
        sheet.rule("axis", x, y, x + wide, y + BAR)
        sheet.rule("axis", x, y + BAR, x + wide, y)
        return
    sheet.box("track", x, y, wide, BAR)
    tall = BAR * max(0.0, min(1.0, known / 100))
    if tall:
        sheet.box("bar", x, y + BAR - tall, wide, tall)


def _lines(cpu: CpuBox, room: float) -> list[str]:
    """State and names of a CPU in as few lines as hold them: what moves comes first, what has no room is counted."""
    states = [clip(clean(word), room) for word in cpu.state.split(", ")[:2]]
    names = [f"→ {clean(name)}" for name in cpu.names if name in cpu.moving]
    names += [clean(name) for name in cpu.names if name not in cpu.moving]
    lines: list[str] = []
    for n, name in enumerate(names):
        joined = f"{lines[-1]}, {name}" if lines else ""
        if lines and breadth(joined) <= room:
            lines[-1] = joined
        elif len(lines) < MOST_LINES:
            lines.append(clip(name, room))
        else:
            left = len(names) - n
            return [*states, *lines, f"and {left:,} more"]
    return states + lines


def _outline(sheet: Sheet, kind: str, x: float, y: float, wide: float, high: float) -> None:
    corners = [(x, y), (x + wide, y), (x + wide, y + high), (x, y + high), (x, y)]
    for (x1, y1), (x2, y2) in pairwise(corners):
        sheet.rule(kind, x1, y1, x2, y2)


def _said(core: CoreBox) -> str:
    """One core in words."""
    said = []
    for cpu in core.cpus:
        words = [f"CPU {cpu.number} {clean(cpu.state)}", *(clean(name) for name in cpu.names[:MOST_LINES])]
        if len(cpu.names) > MOST_LINES:
            words.append(f"{len(cpu.names) - MOST_LINES:,} more")
        words += [f"{clean(name)} has to move first" for name in cpu.moving[:MOST_LINES]]
        words += ["place of the lock manager"] if cpu.outlined else []
        for (_, name), value in zip(MODES, cpu.modes, strict=False):
            known = number(value)
            words.append(f"{name} {'no figure' if known is None else figure(round(known, 1), '%')}")
        said.append(", ".join(words))
    notes = f" ({' '.join(map(clean, core.notes))})" if core.notes else ""
    return f"Core: {'; '.join(said)}{notes}."
