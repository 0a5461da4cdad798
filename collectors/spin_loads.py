"""What the engines of each capture of one SAP ASE server did, spun and committed: beside each other in every capture.

What one spin takes is in no source, so an account knows only a bound. Several captures of one server at different loads
tell more (`rules.laws.spin_fit`): each capture gets a `SpinLoad` of itself and of the others that were read with it,
with why it may not be held against that one, where it may not.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from collectors.facts import Capture, Facts, Source, known
from collectors.facts.ase import (
    ConfigParameter,
    EngineBusy,
    MonEngine,
    MonSpinlockActivity,
    MonState,
    NamedCache,
    SpinLoad,
    SysmonSample,
)
from collectors.facts.ase.monitoring import QUEUES
from collectors.facts.ase.server import Level

MOST = 24
"""Captures held against each other: those next to each in time. A day of five minutes each has 288."""
ALIKE = 0.8
"""This project: a sample whose length differs by more than a fifth from that of the snapshots is of other minutes."""
APART = 10.0
"""This project, percentage points: sp_sysmon and monEngine that differ by more are not both of these engines."""
MOST_LONGER = 4.0
"""This project: a mean over a week of snapshots has nights and batch in it, and is none of ten minutes."""
MOST_BUSY = 1.02
"""Engine-seconds beyond those of all engines, by rounding."""


@dataclass(frozen=True)
class _Side:
    """A capture with what it did and how it was set."""

    load: SpinLoad
    version: str | None
    settings: Mapping[str, object]
    doubt: str


def with_spins(captures: Sequence[Capture]) -> list[Capture]:
    """The same captures; those of one server that counted spins, busy engines and work with a `SpinLoad` of each."""
    found = list(captures)
    servers: dict[str, dict[int, _Side]] = {}
    for at, one in enumerate(found):
        if one.system.product == "ase" and (side := _side(one)):
            servers.setdefault(one.system.name.upper(), {})[at] = side
    for sides in servers.values():
        places = sorted(sides, key=lambda at: _when(found[at]))
        if len(places) < 2:
            continue
        for number, at in enumerate(places):
            first = max(0, min(number - MOST // 2, len(places) - MOST))
            own = sides[at]
            loads = tuple(
                replace(sides[other].load, own=other == at, differs="" if other == at else _differs(own, sides[other]))
                for other in places[first : first + MOST]
            )
            found[at] = replace(found[at], facts=Facts((*found[at].facts.items, *loads)))
    return found


def _when(capture: Capture) -> str:
    moment = capture.interval.end or capture.interval.start
    return moment.replace(tzinfo=None).isoformat() if moment else ""


def _side(capture: Capture) -> _Side | None:
    """What one capture gives; `None` where spins, busy engines or work are missing, or not of one interval."""
    facts = capture.facts
    rows = [one for one in facts.every(MonSpinlockActivity) if one.of_interval and one.believed]
    spins = {(one.instance, one.name, one.slot, one.nth): one.spins for one in rows if _waits(one.name)}
    seconds = next((one.seconds for one in rows if one.seconds and one.seconds_low is None), None)
    if seconds is None or not spins or not all(known(count) and count >= 0 for count in spins.values()):
        return None
    busy, work = _busy(facts, seconds), _work(facts, seconds)
    if busy is None or work is None:
        return None
    engines, busy_seconds, busy_error, source = busy
    if not 0 < busy_seconds <= MOST_BUSY * engines * seconds + engines:
        return None
    load = SpinLoad(
        source=source,
        start=capture.interval.start,
        seconds=seconds,
        engines=engines,
        busy_seconds=busy_seconds,
        busy_error=busy_error,
        spins=sum(count for count in spins.values() if known(count)),
        transactions=work[0],
        transactions_error=work[1],
    )
    settings: dict[str, object] = {one.name: one.run_value for one in facts.every(ConfigParameter)}
    if settings:
        settings |= {f"partitions of {one.name}": one.run_partitions for one in facts.every(NamedCache)}
    return _Side(load, capture.system.version, settings, _doubt(facts))


def _waits(name: str) -> bool:
    """Whether it is a spinlock that tasks wait for, and no queue of the scheduler."""
    return name.removesuffix("[i]") not in QUEUES


def _busy(facts: Facts, seconds: float) -> tuple[int, float, float, Source] | None:
    """Engines, their busy seconds, how far these may be off by rounding, and where they stand."""
    rows = [one for one in facts.every(MonEngine) if one.of_interval and one.believed and _online(one)]
    engines = list({(one.instance, one.engine): one for one in rows}.values())
    used = [
        one.user_seconds + one.system_seconds
        for one in engines
        if known(one.user_seconds) and known(one.system_seconds)
    ]
    if engines and len(used) == len(engines):
        # whole seconds on both sides of each difference, of two columns
        return len(engines), sum(used), 2.0 * len(engines), engines[0].source
    printed = list({one.engine: one for one in facts.every(EngineBusy)}.values())
    shares = [busy for one in printed if (busy := one.busy_percent) is not None]
    sample = _sample(facts, seconds)
    if engines or sample is None or not printed or len(shares) < len(printed):
        return None
    # one decimal, of two columns
    return len(printed), sum(shares) / 100 * seconds, 0.001 * len(printed) * seconds, printed[0].source


def _online(engine: MonEngine) -> bool:
    return (engine.status or "online").strip().lower() == "online"


def _sample(facts: Facts, seconds: float) -> SysmonSample | None:
    """The sp_sysmon of this time, if there is one that was read to its end."""
    samples = [one for one in facts.every(SysmonSample) if one.complete and one.seconds]
    if len(samples) != 1:
        return None
    length = samples[0].seconds or 0.0
    return samples[0] if min(length, seconds) >= ALIKE * max(length, seconds) else None


def _work(facts: Facts, seconds: float) -> tuple[float, float] | None:
    """Transactions of that time, and how far they may be off: by monState, which counts between the same snapshots."""
    states = [one for one in facts.every(MonState) if one.of_interval and one.believed]
    if len(states) == 1 and known(states[0].transactions) and states[0].transactions > 0:
        return states[0].transactions, 0.0
    sample = _sample(facts, seconds)
    if sample is None or not known(sample.committed_xacts) or not sample.seconds or sample.committed_xacts <= 0:
        return None
    done = sample.committed_xacts / sample.seconds * seconds
    return done, done / sample.seconds  # its length is printed in whole seconds


def _doubt(facts: Facts) -> str:
    """Why the busy time of a capture cannot be believed; empty where nothing says so."""
    rows = [one.busy_percent for one in facts.every(MonEngine) if one.of_interval and one.believed and _online(one)]
    printed = [one.busy_percent for one in facts.every(EngineBusy)]
    counted, shown = ([one for one in shares if one is not None] for shares in (rows, printed))
    if counted and shown and abs(sum(counted) / len(counted) - sum(shown) / len(shown)) >= APART:
        return "sp_sysmon and monEngine disagree on how busy the engines were"
    return ""


def _same_release(one: str | None, other: str | None) -> bool:
    """Whether two versions are of one release, service pack and patch level: reports wrap and cut what they print."""
    first, second = (Level.parse(version or "") for version in (one, other))
    return first is not None and first == second


def _differs(own: _Side, other: _Side) -> str:
    """Why two captures of one server cannot be held against each other; empty: they can."""
    if doubt := own.doubt or other.doubt:
        return doubt
    if max(own.load.seconds, other.load.seconds) > MOST_LONGER * min(own.load.seconds, other.load.seconds):
        return f"the other covers {other.load.seconds:,.0f} s, this one {own.load.seconds:,.0f} s"
    if own.load.engines != other.load.engines:
        return f"{other.load.engines} engines were online in the other, {own.load.engines} in this one"
    if not _same_release(own.version, other.version):
        return "the release of both is not in the exports, or not the same"
    if not own.settings or not other.settings:
        return "sp_configure of both is not in the exports"
    names = [name for name in own.settings if name in other.settings and own.settings[name] != other.settings[name]]
    return f"{names[0]} was set otherwise" if names else ""
