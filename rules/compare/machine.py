"""Whether both sides ran on the same machine, and what is done where they did not."""

from collections.abc import Sequence
from dataclasses import dataclass, replace

from rules.compare.metrics import Metric
from rules.compare.sides import Side
from rules.compare.similarity import Part
from rules.laws.comparability import of_amounts
from rules.laws.hardware import hardware_of
from rules.laws.noise import Noise
from rules.openvms._evidence.platforms import platform_difference

CPU_TIME = "CPU ms"


@dataclass(frozen=True)
class Machine:
    """How the after's machine differs from the before's."""

    parts: tuple[Part, ...] = ()
    clock_ratio: float = 1.0
    """Clock of the after ÷ clock of the before: what its CPU time is multiplied by."""
    normalised: str | None = None

    def scaled(self, metrics: Sequence[Metric]) -> list[Metric]:
        """The metrics with the after's CPU time as it would be at the clock of the before."""
        if self.clock_ratio == 1.0:
            return list(metrics)
        return [
            replace(one, work_after=one.work_after * self.clock_ratio, noise=_scaled(one, self.clock_ratio))
            if one.work_after is not None and (one.work_unit or "").startswith(CPU_TIME)
            else one
            for one in metrics
        ]


def _scaled(one: Metric, ratio: float) -> Noise | None:
    return replace(one.noise, low=one.noise.low * ratio, high=one.noise.high * ratio) if one.noise else None


def machine_of(before: Side, after: Side) -> Machine:
    """Hold the names of the machines against each other.

    Of one model at two clocks CPU time is given as at the first clock. Between models no export says how fast they
    are, and what was published of two is no promise for a third: such sides are not comparable.
    """
    first, second = hardware_of(before.newest.system.platform), hardware_of(after.newest.system.platform)
    if first is None or second is None or first.name.upper() == second.name.upper():
        return Machine()
    said = f"another machine: {first.name} → {second.name}"
    difference = platform_difference(first.name, second.name)
    if difference.clock_ratio is None or not first.clock_ghz or not second.clock_ghz:
        return Machine((Part("machine", 0.0, "; ".join((said, *difference.says))),))
    ratio = difference.clock_ratio
    how = (
        f"CPU time of the after is given as at {first.clock_ghz:g} GHz, the clock before: × {ratio:.3f}. Caches and "
        "memory do not scale with the clock, so this is an estimate."
    )
    similarity = of_amounts(first.clock_ghz, second.clock_ghz) or 0.0
    same = abs(ratio - 1) < 1e-9
    return Machine((Part("machine", similarity, said),), 1.0 if same else ratio, None if same else how)
