"""Whether a capture and the displays beside it are of the same number of CPUs.

A node that lost CPUs between the two, or got some, is not the node whose figures were captured: what spun on eight says
nothing of taking one of the six that are left.
"""

from dataclasses import dataclass

from collectors.facts import Source, known
from collectors.facts.openvms import Node, ProcessorModes
from rules.finding import Evidence
from rules.openvms._evidence.cpu_layout import Layout, Pair

WHOLE = 0.5
"""Arithmetic: the modes of n CPUs add up to n × 100 % within a few per cent, so half a CPU is another number."""


@dataclass(frozen=True)
class CountsDiffer:
    """Two numbers of active CPUs: of the capture, and of a display."""

    captured: float
    captured_in: Source
    shown: float
    shown_in: Source
    busy: float | None
    """Mean busy time of the capture, per cent of one CPU."""
    started: tuple[int, ...]
    """CPUs that are stopped in the display and that the capture had, as far as the count tells."""

    @property
    def fits(self) -> bool:
        """Whether what was busy in the capture fits into the CPUs of the display."""
        return self.busy is None or self.busy <= 100 * self.shown

    @property
    def seen(self) -> str:
        """What is seen, as a clause."""
        return (
            f"the capture is of {self.captured:.0f} CPUs, the display that came along has {self.shown:.0f} active: "
            "these figures are not of the node as it is now"
        )

    @property
    def do(self) -> str:
        """What comes before anything that takes a CPU, as a sentence."""
        if self.fits:
            return "Measure again with the CPUs that are active now before one is taken from other work."
        first = f"The {self.busy:.0f} % that were busy do not fit into the {100 * self.shown:.0f} % of the display"
        if not self.started:
            return f"{first}: measure again with the CPUs that are active now."
        commands = ", ".join(f"START/CPU {number}" for number in self.started)
        return f"{first}: start the stopped CPUs first ({commands}), or measure again without them."

    @property
    def evidence(self) -> tuple[Evidence, ...]:
        """Both counts."""
        return (
            Evidence("CPUs of the capture", self.captured, "", self.captured_in),
            Evidence("active CPUs of the display", self.shown, "", self.shown_in),
        )


def counts_differ(layout: Layout) -> CountsDiffer | None:
    """The two counts where they differ; `None` where they agree, or where one of them was not read."""
    modes = layout.facts.latest(ProcessorModes, statistic="mean") or layout.facts.latest(ProcessorModes)
    if modes is None or not known(modes.cpus) or modes.cpus <= 0:
        return None
    captured = modes.cpus
    shown = [
        (one.active_cpus, one.source)
        for one in layout.facts.every(Node)
        if known(one.active_cpus) and one.active_cpus > 0
    ]
    count, source = max(shown, key=lambda pair: abs(pair[0] - captured), default=(captured, modes.source))
    if abs(count - captured) < WHOLE:
        return None
    idle = modes.idle_percent if modes.statistic == "mean" else None
    busy = 100 * captured - idle if idle is not None and known(idle) and 0 <= idle <= 100 * captured else None
    return CountsDiffer(captured, modes.source, count, source, busy, _started(layout, captured - count))


def _started(layout: Layout, fewer: float) -> tuple[int, ...]:
    """The stopped CPUs, where they are as many as are missing; none that was a co-thread: that may be on purpose.

    None that somebody wants to stay stopped, either.
    """
    stopped = layout.startable
    alone = [cpu for cpu in stopped if not (isinstance(pair := layout.pair(cpu), Pair) and pair.sibling is not None)]
    return tuple(stopped) if len(alone) == len(stopped) == round(fewer) else ()
