"""The clock of the processors of Linux: fixed while variants are measured, and given back as it was read.

`cpupower frequency-set -g` sets a governor for the processors that `-c` names; boosting is switched off by
`intel_pstate/no_turbo` (1: off) or `cpufreq/boost` (0: off). All need root and are lost at a boot.
Sources: the kernel's admin guide, "CPU Performance Scaling" and "intel_pstate"; cpupower-frequency-set(1).
"""

from collections.abc import Sequence

from rules.changes.quoting import comment
from rules.finding import Change, Effect, Risk
from rules.unix._evidence.clock import (
    FIXED,
    GOVERNOR,
    Clock,
    processors_said,
    ranges_of,
)

SYSFS = "/sys/devices/system/cpu"
GOVERNORS = f"{SYSFS}/cpu*/cpufreq/scaling_governor"
SWITCHES = {"no_turbo": (f"{SYSFS}/intel_pstate/no_turbo", 0, 1), "boost": (f"{SYSFS}/cpufreq/boost", 1, 0)}
"""Name → its file, what it holds while boosting is allowed, what forbids it."""
HIGHEST_CPU = 8191
"""NR_CPUS of x86 kernels (arch/x86/Kconfig, MAXSMP 8192)."""
CAUTIONS = (
    "For the time of the measurement only: it costs power and heat, and without boosting single threads are slower.",
    "Needs root. A power manager (tuned, power-profiles-daemon, thermald) may set it back: check after the runs, too.",
)

WHILE_MEASURING = Risk("medium", "for the time of the measurement only, then back: work may be slower meanwhile")


def fix_clock(clock: Clock) -> tuple[Change, ...]:
    """Fix every governor that may move the clock and switch boosting off, each with the way back to what was read.

    Where no governor was read, a template that shows what is set first.
    """
    moving = {one.cpu for one in clock.moving}
    groups = {name: tuple(cpu for cpu in cpus if cpu in moving) for name, cpus in clock.governors.items()}
    changes = [_governor(name, cpus) for name, cpus in groups.items() if cpus]
    changes += [_switch(one.name) for one in clock.boosted if one.name in SWITCHES]
    return tuple(changes) if changes or clock.may_move is False else (_template(),)


def _governor(name: str, cpus: Sequence[int]) -> Change:
    said = processors_said(tuple(cpus))
    if not GOVERNOR.match(name) or min(cpus) < 0 or max(cpus) > HIGHEST_CPU:
        return _by_hand(name, said)
    which = f"cpupower -c {ranges_of(tuple(cpus))} frequency-set -g"
    return Change(
        key=f"unix.governor:{ranges_of(tuple(cpus))}",
        target=f"scaling_governor, {said}",
        old=name,
        new=FIXED,
        apply=(
            f"# governor of {said}, was {name}: see what is set now",
            f"grep . {GOVERNORS}",
            f"{which} {FIXED}",
            "# check",
            f"grep . {GOVERNORS}",
        ),
        undo=(f"{which} {name}", f"grep . {GOVERNORS}"),
        risk=WHILE_MEASURING,
        takes_effect=Effect.ONLINE,
        cautions=CAUTIONS,
    )


def _switch(name: str) -> Change:
    file, allowed, forbidden = SWITCHES[name]
    return Change(
        key=f"unix.boost:{name}",
        target=name,
        old=float(allowed),
        new=float(forbidden),
        apply=(
            f"# boosting, was allowed ({name} {allowed}): see what is set now",
            f"cat {file}",
            f"echo {forbidden} > {file}",
            "# check",
            f"cat {file}",
        ),
        undo=(f"echo {allowed} > {file}", f"cat {file}"),
        risk=WHILE_MEASURING,
        takes_effect=Effect.ONLINE,
        cautions=CAUTIONS,
    )


def _template() -> Change:
    """No governor is in the export: nothing is set before somebody has seen and written down what there is."""
    return Change(
        key="unix.governor",
        target="scaling_governor",
        old=None,
        new=FIXED,
        apply=(
            "# what sets the clock is not in the export: see it, and keep what is printed",
            f"grep . {GOVERNORS} {' '.join(file for file, _, _ in SWITCHES.values())}",
            "# where files are printed, fix it while measuring:",
            f"#   cpupower frequency-set -g {FIXED}",
            *(f"#   echo {off} > {file}" for file, _, off in SWITCHES.values()),
        ),
        undo=("# back to what was printed first:  cpupower frequency-set -g <the governor shown before the change>",),
        takes_effect=Effect.ADVICE,
        cautions=(
            *CAUTIONS,
            "Where nothing is printed, the host of this virtual machine sets the clock: fix it there.",
        ),
    )


def _by_hand(name: str, said: str) -> Change:
    """A governor's name that cannot be one is never put into a command."""
    return Change(
        key=f"unix.governor:by hand:{said}",
        target=f"scaling_governor, {said}",
        old=comment(name, 40),
        new=FIXED,
        apply=(f"# by hand: see  grep . {GOVERNORS}  and set governor {FIXED} for {said}",),
        undo=(f"# by hand: give {said} the governor back that was shown before",),
        takes_effect=Effect.ADVICE,
        cautions=CAUTIONS,
    )
