"""Whether two variants of locking ran at one and the same clock of the processors.

Coarse locking makes processes wait, so processors idle and their clock may be lowered: then everything of that variant
is slower, its user time too, and a part of what fine locking seems to gain is the clock's. User time tells, because
variants run the same code (Stevens and Rago, APUE 20.9: almost twice, and much less once the clock was fixed). Equal
user times say that the clock did not move, whatever may set it.
"""

import re
from dataclasses import dataclass, replace

from collectors.facts import Facts, Missing, Source, known
from collectors.facts.unix import CpuFrequency, FrequencyBoost, LockingRun
from rules.laws.rounding import plain
from rules.unix._evidence.runs import Pair

CLOCK_FACTS = (LockingRun, CpuFrequency, FrequencyBoost)
"""What a rule that uses this module has to declare."""
FIXED = "performance"
"""The governor that asks for the highest clock always."""
BY_HAND = "userspace"
"""The governor that keeps the clock that somebody has set."""
LEAST_USER_SECONDS = 0.5
"""This project: the kernel samples user time in ticks, of 4 ms as a rule; of half a second that leaves 10 % open."""
FIELDS = ("governor", "current_khz", "minimum_khz", "maximum_khz", "hardware_maximum_khz")
"""What a reading of one processor may say."""
GOVERNOR = re.compile(r"[a-z][a-z_]{0,15}\Z")


@dataclass(frozen=True)
class Tolerance:
    """How far variants may differ before the clock is suspected."""

    user_ratio: float = 1.5
    leaning_ratio: float = 1.25
    frequency_percent: float = 5.0


@dataclass(frozen=True)
class Clock:
    """Who sets the clock of the processors, as far as it was read."""

    processors: tuple[CpuFrequency, ...] = ()
    boosts: tuple[FrequencyBoost, ...] = ()

    @property
    def governors(self) -> dict[str, tuple[int, ...]]:
        """Each governor with its processors."""
        found: dict[str, tuple[int, ...]] = {}
        for one in self.processors:
            if isinstance(one.governor, str):
                found[one.governor] = (*found.get(one.governor, ()), one.cpu)
        return found

    @property
    def moving(self) -> tuple[CpuFrequency, ...]:
        """The processors whose governor may change their clock between bounds that differ."""
        return tuple(
            one
            for one in self.processors
            if isinstance(one.governor, str)
            and one.governor not in (FIXED, BY_HAND)
            and not (known(one.minimum_khz) and one.minimum_khz == one.maximum_khz)
        )

    @property
    def boosted(self) -> tuple[FrequencyBoost, ...]:
        """Files that allow processors to run above their nominal clock, which they do as heat and neighbours let."""
        return tuple(one for one in self.boosts if one.on)

    @property
    def may_move(self) -> bool | None:
        """Whether something may change the clock; `None` where nothing that was read says so or the contrary."""
        if self.moving or self.boosted:
            return True
        return False if self.governors else None

    @property
    def hidden(self) -> bool:
        """Whether the files were looked for and are empty, as under most hypervisors."""
        return bool(self.processors) and all(one.unknown for one in self.processors)

    @property
    def said(self) -> str:
        """`governor schedutil on processors 0-3, boost on`."""
        parts = [f"governor {governor_said(name)} on {processors_said(cpus)}" for name, cpus in self.governors.items()]
        parts += [f"{one.name} says that boosting is allowed" for one in self.boosted]
        if self.hidden:
            parts.append("the cpufreq files are empty, so who sets the clock is unknown")
        return ", ".join(parts)

    @property
    def source(self) -> Source | None:
        """Where the first thing was read that may move it."""
        found = [*self.moving, *self.boosted, *self.processors]
        return found[0].source if found else None


def clock_of(facts: Facts) -> Clock:
    """The last reading of every processor and switch; files that were collected one by one each add what it says."""
    processors: dict[int, CpuFrequency] = {}
    for one in facts.every(CpuFrequency):
        processors[one.cpu] = _over(processors[one.cpu], one) if one.cpu in processors else one
    boosts: dict[str, FrequencyBoost] = {}
    for switch in facts.every(FrequencyBoost):
        if switch.on is not None or switch.name not in boosts:
            boosts[switch.name] = switch
    return Clock(tuple(processors[cpu] for cpu in sorted(processors)), tuple(boosts.values()))


def listed_clocks(facts: Facts) -> list[tuple[float, Source]]:
    """The mean clock of the processors in MHz, listing by listing, in the order of the first of each.

    Each is of a moment, so it shows that the clock moves and not at which one a program ran.
    """
    listed: dict[str, list[CpuFrequency]] = {}
    for one in facts.every(CpuFrequency):
        if known(one.current_khz) and one.current_khz > 0:
            listed.setdefault(one.source.file, []).append(one)
    sets = {tuple(sorted(one.cpu for one in found)) for found in listed.values()}
    if len(listed) < 2 or len(sets) > 1:
        return []
    return [
        (sum(float(one.current_khz) for one in found if known(one.current_khz)) / len(found) / 1000, found[0].source)
        for found in listed.values()
    ]


def _over(before: CpuFrequency, after: CpuFrequency) -> CpuFrequency:
    """What the later one says, and what only the earlier one says; the source is that of the governor."""
    said = {name: getattr(one, name) for one in (before, after) for name in FIELDS if _says(getattr(one, name))}
    from_before = _says(before.governor) and not _says(after.governor)
    return replace(after, source=before.source if from_before else after.source, **said)


def _says(value: object) -> bool:
    return not isinstance(value, Missing)


def governor_said(governor: str) -> str:
    """The name of a governor; what cannot be one is not repeated."""
    return governor if GOVERNOR.match(governor) else "(unreadable)"


def processors_said(cpus: tuple[int, ...]) -> str:
    """`processor 0`, `processors 0-3`, `processors 0,2`."""
    return f"processor{'s' if len(cpus) > 1 else ''} {ranges_of(cpus)}"


def ranges_of(cpus: tuple[int, ...]) -> str:
    """`0-3,6` of 0, 1, 2, 3 and 6, as cpupower and taskset take it."""
    found: list[list[int]] = []
    for cpu in sorted(set(cpus)):
        if found and cpu == found[-1][1] + 1:
            found[-1][1] = cpu
        else:
            found.append([cpu, cpu])
    return ",".join(f"{first}-{last}" if last > first else f"{first}" for first, last in found)


def moved(pair: Pair, clock: Clock, tolerance: Tolerance | None = None) -> str:
    """Why the clock of the two is to be distrusted; empty: it is not."""
    limits = tolerance or Tolerance()
    frequencies, users = pair.both("frequency_mhz"), users_of(pair)
    names = f"{pair.before.name} and {pair.after.name}"
    if frequencies:
        apart = 100 * (max(frequencies) / min(frequencies) - 1) if min(frequencies) > 0 else 0.0
        if apart <= limits.frequency_percent:
            return ""  # measured: it did not move
        return f"{names} ran at {frequencies[0]:,.0f} and {frequencies[1]:,.0f} MHz"
    suspect = clock.may_move and pair.processes > 1  # one process waits for nobody
    if users is None:
        return f"{clock.said}: it may move, and no user times long enough show that it did not" if suspect else ""
    ratio = max(users) / min(users)
    said = f"user time of {names} is {plain(users[0], 4)} and {plain(users[1], 4)} s, {ratio:.2f} times"
    if ratio >= limits.user_ratio:
        return f"{said}, though they run the same code"
    if suspect and users[0] >= limits.leaning_ratio * users[1]:
        return f"{said}, and {clock.said}"
    return ""


def distrusted(pair: Pair, clock: Clock, tolerance: Tolerance | None = None) -> str:
    """Why the two cannot be held against each other at all; empty: they can."""
    if wrong := pair.wrong:
        return wrong
    if pair.same_work is False:
        done = pair.both("operations") or (0.0, 0.0)
        return f"they did {done[0]:,.0f} and {done[1]:,.0f} operations: not the same work"
    if why := moved(pair, clock, tolerance):
        return f"{why}: fix the clock and measure again (unix/clock_frequency_moved)"
    users, ratio = users_of(pair), (tolerance or Tolerance()).user_ratio
    if users and pair.same_work is None and max(users) / min(users) >= ratio:
        return (
            f"user times are {plain(users[0], 4)} and {plain(users[1], 4)} s at the same clock: not the same work, "
            "or shared cores"
        )
    return ""


def users_of(pair: Pair) -> tuple[float, float] | None:
    """User times that are long enough to be held against each other, all runs of a variant together."""
    users = pair.both("user_seconds")
    if users is None or min(users) <= 0:
        return None
    whole = min(sum(cell.values("user_seconds")) for cell in (pair.before, pair.after))
    return users if whole >= LEAST_USER_SECONDS else None
