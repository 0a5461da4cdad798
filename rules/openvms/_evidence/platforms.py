"""What was published of the kind of machine a capture comes from, and what a change of machine does to a comparison.

Statements explain; none promises. Each says whether it holds for this machine and release: yes, no, or that the export
does not decide it.
"""

from dataclasses import dataclass

from rules.laws.hardware import Hardware, hardware_of
from rules.laws.platforms import (
    EMULATOR,
    EMULATOR_PERCENT,
    EMULATOR_SATURATED,
    HIGHER_CLOCK,
    IMAGE_TIMES,
    IMAGES,
    KERNEL_PROCESS_BLOCKS,
    LOWER_CLOCK,
    MACHINES,
    MOVES,
    MOVES_FOUR_STREAMS,
    MOVES_ONE_STREAM,
    QUEUE_AS_SERVICE,
    QUEUE_THROUGH_EPC,
    SLOWER_AS_SERVICE,
    SLOWER_THROUGH_EPC,
    Pair,
)
from rules.openvms._evidence.releases import Release
from rules.sources import JCC

NO_PROMISE = "figures of other machines, published years ago: an explanation, no promise"


@dataclass(frozen=True)
class Statement:
    """One published fact, and whether it holds here."""

    pairs: tuple[Pair, ...]
    holds: bool | None
    """`None`: the export does not decide it."""
    says: str
    """A sentence, without its source."""

    @property
    def source(self) -> str:
        """Whose figure it is."""
        return self.pairs[0].source


@dataclass(frozen=True)
class Difference:
    """What a change from one machine to another does to figures that are held against each other."""

    clock_ratio: float | None
    """Clock after ÷ clock before, within one model; `None` where CPU time cannot be normalised by the clock."""
    same_family: bool | None
    """`None` where a name tells no family, or emulators borrow such names."""
    says: tuple[str, ...]


def explain(
    hardware: Hardware | None, release: Release | None, other_hardware: Hardware | None = None
) -> tuple[Statement, ...]:
    """What was published of this machine, or of it against another one; empty where nothing was."""
    both = [one for one in (hardware, other_hardware) if one is not None]
    found: list[Statement] = []
    if any(one.family == "Integrity" for one in both):
        found += _integrity(release)
    alpha = next((one for one in both if one.family == "Alpha"), None)
    if any(_is_rx4640(one) for one in both) and (other_hardware is None or (alpha is not None and _is_es45(alpha))):
        found.append(Statement((MACHINES,), True, "An rx4640 of 1.5 GHz performs like an ES45 of 1 GHz, about."))
    for one in both:
        if one.emulator or (one.emulator is None and "ES40" in one.model.split()):
            found.append(_emulated(one))
            break
    return tuple(found)


def _integrity(release: Release | None) -> list[Statement]:
    """What was slower on Integrity than on Alpha, by release."""
    early = _missing_repairs(release)
    service, epc, kpb = QUEUE_AS_SERVICE, QUEUE_THROUGH_EPC, KERNEL_PROCESS_BLOCKS
    return [
        Statement(
            (service, epc),
            early,
            "Queue instructions were system services up to the field test of V8.2: a loop of them took an rx2600 "
            f"{SLOWER_AS_SERVICE:.0f} times an ES45's time, {SLOWER_THROUGH_EPC:.1f} times after the repair "
            f"({service.second.value:g} s and {epc.second.value:g} s against {service.first.value:g} s).",
        ),
        Statement(
            (kpb,),
            early,
            "Kernel process blocks were never cached, so that the spinlock MMG was hot: "
            f"{kpb.first.value:,.0f} → {kpb.second.value:,.0f} I/Os per second of an rx2600 with the repair.",
        ),
        Statement(
            MOVES,
            early,
            f"Memory was moved more slowly: a test of RMS improved by about {MOVES_ONE_STREAM:g} % with one stream and "
            f"{MOVES_FOUR_STREAMS:g} % with four when that was repaired.",
        ),
        Statement(
            (epc,),
            None if release is None or release.before(8, 2) else True,
            f"Queue instructions still take less than 3 times an ES45's time ({SLOWER_THROUGH_EPC:.1f} on an rx2600) "
            "since they go through EPC.",
        ),
        Statement(
            (IMAGES,),
            True,
            f"Images are typically {IMAGE_TIMES:g} times as large as on Alpha, which means more I/O and more page "
            "faults when they start; exceptions have larger frames, and finding their handlers takes longer.",
        ),
    ]


def _missing_repairs(release: Release | None) -> bool | None:
    """Whether what was repaired before V8.2 came out is missing: yes before X8.2, not in V8.3; between them, ask."""
    if release is None or (release.major, release.minor) == (8, 2):
        return None
    return release.before(8, 2)


def _emulated(one: Hardware) -> Statement:
    whose = "An emulated ES40" if one.emulator else f"If {one.name} is an emulator (they borrow such names): one"
    return Statement(
        (EMULATOR, EMULATOR_SATURATED),
        None,
        f"{whose} did about {EMULATOR_PERCENT:g} % of the lock operations of a {HIGHER_CLOCK:g} MHz ES40 and came near "
        f"one of {LOWER_CLOCK:g} MHz with saturation; that was {EMULATOR.applies_to}, so another may be faster.",
    )


def _is_rx4640(one: Hardware) -> bool:
    return one.is_model("RX4640", 1.5, None)


def _is_es45(one: Hardware) -> bool:
    return one.is_model("ES45", 1.0, None) or one.is_model("ALPHASERVER ES45", 1.0, None)


def platform_difference(before_name: str | None, after_name: str | None) -> Difference:
    """Hold two captures' machines against each other, by their names.

    CPU time may be normalised by the clock within one family and model alone; between Alpha and Integrity it is not
    comparable, and of an emulator the name tells the clock of what it stands for, not of its host.
    """
    before, after = hardware_of(before_name), hardware_of(after_name)
    if before is None or after is None:
        return Difference(None, None, ("the machine of one side is not in the export",) if before or after else ())
    same = before.name.upper() == after.name.upper()
    emulated = [one.name for one in (before, after) if one.emulator]
    if emulated:
        says = f"{emulated[0]} is an emulator: as fast as its host, which its name does not tell"
        told = [one.says for one in explain(before, None, after) if EMULATOR in one.pairs]
        return Difference(None, True if same else None, (says,) if same else (says, *told, NO_PROMISE))
    if same:
        return Difference(1.0, True if before.family else None, ())
    if before.family is None or after.family is None:
        return Difference(None, None, (f"{before.name} and {after.name}: the names do not tell how they compare",))
    if before.family != after.family:
        return Difference(None, False, _across(before, after))
    return _within(before, after)


def _across(before: Hardware, after: Hardware) -> tuple[str, ...]:
    said = [
        f"{before.family} ({before.name}) and {after.family} ({after.name}): CPU time is not comparable between "
        "families, whatever the clocks"
    ]
    if {before.family, after.family} == {"Alpha", "Integrity"}:
        told = [one.says for one in explain(before, None, after)]
        said += [*told, f"which of it holds depends on the release; {NO_PROMISE}"]
    return tuple(said)


def _within(before: Hardware, after: Hardware) -> Difference:
    """Two machines of one family."""
    if (before.model, before.generation) != (after.model, after.generation):
        why = f"{before.name} and {after.name} are different models: CPU time is not normalised between them"
        return Difference(None, True, (why,))
    if before.clock_ghz is None or after.clock_ghz is None:
        return Difference(None, True, (f"{before.name} and {after.name}: one of the clocks is not in its name",))
    ratio, said = after.clock_ghz / before.clock_ghz, []
    if ratio != 1.0:
        said.append(
            f"the same model at {before.clock_ghz:g} and {after.clock_ghz:g} GHz: CPU time can be normalised by the "
            f"clock, which expects too much of the higher one (of two ES40s that of {HIGHER_CLOCK:g} MHz had less than "
            f"{HIGHER_CLOCK:g}/{LOWER_CLOCK:g} of the other's lock rate, {JCC}: caches and memory keep their speed)"
        )
    if None not in (before.cache_mb, after.cache_mb) and before.cache_mb != after.cache_mb:
        said.append(f"caches of {before.cache_mb:g} and {after.cache_mb:g} MB, which no clock accounts for")
    if said and before.emulator is None:
        said.append("emulators borrow such names; of one, the clock in the name means nothing")
    return Difference(ratio, True, tuple(said))
