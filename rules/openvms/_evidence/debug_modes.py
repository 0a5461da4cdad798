"""System parameters that make OpenVMS check itself: they cost speed, so they come before any other cause of spinning.

That debug modes (SYSTEM_CHECK, MULTIPROCESSING, POOLCHECK) cost speed and can cause CPUSPINWAIT is the vendor's word
(release notes of V8.4); which values of MULTIPROCESSING load the checking routines is recalled.
"""

from dataclasses import dataclass

from collectors.facts import Facts, known
from collectors.facts.openvms import SysgenParameter
from rules.finding import Evidence
from rules.openvms._evidence.node import parameter_of

CHECKING = (("SYSTEM_CHECK", 1, lambda value: value != 0), ("POOLCHECK", 2**32 - 1, lambda value: value != 0))
"""Parameter, highest value, and when it checks."""
FULL_CHECKING = (1, 2)
"""Values of MULTIPROCESSING, as recalled: 3 and 4 load the streamlined routines, 0 none of both."""


@dataclass(frozen=True)
class DebugModes:
    """The parameters that switch checks on, as they run."""

    settings: tuple[SysgenParameter, ...]

    @property
    def named(self) -> str:
        """`SYSTEM_CHECK 1 and MULTIPROCESSING 2`."""
        return " and ".join(f"{one.name} {one.current:.0f}" for one in self.settings if known(one.current))

    @property
    def because(self) -> str:
        """What they cost, as a sentence."""
        return (
            f"Debug modes are on ({self.named}): they cost speed and can make CPUs wait for spinlocks until the system "
            "stops (CPUSPINWAIT; release notes of V8.4)."
        )

    @property
    def do(self) -> str:
        """What to do first, as a sentence."""
        notes = [f"{one.name} {one.default:.0f}" for one in self.settings if known(one.default)]
        notes = [f"shipped: {', '.join(notes)}"] if notes else []
        notes += [] if all(one.dynamic for one in self.settings) else ["takes a reboot"]
        told = f" ({'; '.join(notes)})" if notes else ""
        return (
            f"First turn the debug modes off{told}, unless they are to find a fault, and measure again before anything "
            "else is concluded."
        )

    @property
    def until(self) -> str:
        """What stays open before that, as a clause."""
        return f"with {self.named} these figures do not tell how many processes or CPUs are right"

    @property
    def evidence(self) -> tuple[Evidence, ...]:
        """Each value."""
        return tuple(Evidence(one.name, one.current, "", one.source) for one in self.settings if known(one.current))


def debug_modes(facts: Facts) -> DebugModes | None:
    """The debug modes that are on, by the values that run; `None` where none is, or none was read."""
    found = []
    for name, high, checks in (*CHECKING, ("MULTIPROCESSING", 4, lambda value: value in FULL_CHECKING)):
        setting = parameter_of(facts, name, 0, high)
        if isinstance(setting, tuple) and checks(setting[0]):
            found.append(setting[1])
    return DebugModes(tuple(found)) if found else None
