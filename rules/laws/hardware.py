"""What the name of a machine tells of it, and which of two is faster where a source says so.

A name such as `HP BL870c (1.59GHz/9.0MB)` is parted into model, clock and cache. Emulators that give their own name
are known by it; most borrow the name of the machine they stand for, so the name of an Alpha or a VAX proves no
hardware. Speeds are ordered, not measured: by what was published of two models, else by clock and cache within one
family. What cannot be told is not guessed.
"""

import re
from dataclasses import dataclass
from functools import lru_cache

from rules.laws.mastering import BL870C_OPERATIONS
from rules.sources import JCC

EMULATORS = re.compile(
    r"\b(?:charon|stromasys|avtvax|avtware|vtvax|vtalpha|simh|alphavm|emuvm|freeaxp|nuvax|emulat\w*|simulat\w*)", re.I
)
X86_64 = re.compile(
    r"\b(?:VMware|VirtualBox|QEMU|KVM|Hyper-V|Virtual Machine|Standard PC|Amazon EC2|OpenStack|Proxmox|Nutanix|Xen\b"
    r"|ProLiant|PowerEdge|Xeon|EPYC|x86)",
    re.I,
)
FAMILIES = (
    ("Integrity", re.compile(r"\b(?:rx\d{4}|BL8[679]0c|Integrity|Superdome|zx\d{4})", re.I)),
    (
        "Alpha",
        re.compile(r"\b(?:AlphaServer|AlphaStation|Alpha|DEC [2347]000|[DEGX]S\d{2,4}\w?\b|XP\d{3,4}|GS\d{3,4})"),
    ),
    ("VAX", re.compile(r"\b(?:MicroVAX|VAXstation|VAXserver|VAX)\b", re.I)),
    ("x86-64", X86_64),
)
BRACKET = re.compile(r"\((\d{1,2}(?:\.\d{1,3})?) ?GHz[,/ ]{0,3}(\d{1,3}(?:\.\d{1,2})?) ?MB\)", re.I)
CLOCK = re.compile(r"\b(\d{1,2}(?:\.\d{1,3})?) ?GHz\b", re.I)
MHZ = re.compile(r"\b(\d{2,4}) ?MHz\b", re.I)
SUFFIX = re.compile(r"\b([4-7])/(\d{3,4})\b")
"""`AlphaServer ES40 6/667`: generation of the processor and megahertz."""
CORES = re.compile(r"\b(\d{1,3})[ -]cores?\b", re.I)
ES45 = re.compile(r"(?:ALPHASERVER )?ES45(?: MODEL \d\w?)?")
ES40 = re.compile(r"(?:ALPHASERVER )?ES40(?: MODEL \d\w?)?")
TWICE = 2.0
"""This project: of two Alphas with twice the clock, and of no older a generation, the cache settles no more."""
ES40_GHZ = 0.833
"""The highest clock of an ES40, as recalled."""
EV6 = 6
"""Generation of an ES40's processors."""
MAKERS = re.compile(r"^(?:(?:an?|hp|hpe|compaq|digital|dec)\s+)+", re.I)
LONGEST = 200
"""Characters of a name that are looked at."""


@dataclass(frozen=True)
class Hardware:
    """What a machine's name tells; `None` where it does not."""

    name: str
    model: str
    """The name without maker, clock, cache and cores, in capitals."""
    family: str | None
    """`VAX`, `Alpha`, `Integrity`, `x86-64` or `emulator`."""
    clock_ghz: float | None = None
    cache_mb: float | None = None
    cores: int | None = None
    generation: int | None = None
    """Of an Alpha that prints it: 6 of `6/667`."""

    @property
    def emulator(self) -> bool | None:
        """Whether it is an emulator; `None` where emulators borrow such a name, or the name says nothing."""
        if self.family == "emulator":
            return True
        return None if self.family in (None, "Alpha", "VAX") else False

    @property
    def operations_alone(self) -> float | None:
        """Lock operations per second of one process, where a run on this very machine was published."""
        return BL870C_OPERATIONS if self.is_model("BL870C", 1.59, 9.0) else None

    def is_model(self, model: str, clock: float, cache: float | None) -> bool:
        """Whether it is this model at this clock (GHz), with this cache (MB) where one is asked for."""
        return self.model == model and self.clock_ghz == clock and cache in (None, self.cache_mb)


@lru_cache(maxsize=1024)
def hardware_of(name: str | None) -> Hardware | None:
    """Part a machine's name, or `None` where there is none."""
    flat = " ".join((name or "")[:LONGEST].split())
    if not flat:
        return None
    bracket, suffix, cores = BRACKET.search(flat), SUFFIX.search(flat), CORES.search(flat)
    clock = bracket or CLOCK.search(flat)
    thousandths = suffix.group(2) if suffix else (mhz.group(1) if (mhz := MHZ.search(flat)) else None)
    ghz = float(clock.group(1)) if clock else (float(thousandths) / 1000 if thousandths else None)
    rest = flat
    for found in (BRACKET, CLOCK, SUFFIX, MHZ, CORES):
        rest = found.sub(" ", rest)
    model = " ".join(MAKERS.sub("", rest).replace("()", " ").split()).strip(" -,").upper()
    family = "emulator" if EMULATORS.search(flat) else next((f for f, sign in FAMILIES if sign.search(flat)), None)
    return Hardware(
        name=flat,
        model=model,
        family=family,
        clock_ghz=ghz,
        cache_mb=float(bracket.group(2)) if bracket else None,
        cores=int(cores.group(1)) if cores else None,
        generation=int(suffix.group(1)) if suffix else None,
    )


@dataclass(frozen=True)
class Order:
    """Which of two machines is faster: 1 the first, -1 the second, 0 about equal; and who says so."""

    sign: int
    basis: str


def compare(one: Hardware | None, other: Hardware | None) -> Order | None:
    """Which of two machines is faster at lock operations, or `None` where nothing tells."""
    if one is None or other is None:
        return None
    if published := _published(one, other):
        return published
    if (back := _published(other, one)) is not None:
        return Order(-back.sign, back.basis)
    if "emulator" in (one.family, other.family) or one.family is None or one.family != other.family:
        return None  # an emulator is as fast as its host, which its name does not tell
    if one.clock_ghz is None or other.clock_ghz is None:
        return Order(0, "the same machine by name") if one.name.upper() == other.name.upper() else None
    return _by_clock(one, other)


def _published(one: Hardware, other: Hardware) -> Order | None:
    if one.is_model("BL870C", 1.59, 9.0) and other.is_model("RX4640", 1.1, 4.0):
        return Order(1, f"BL870c (1.59 GHz, 9 MB) before rx4640 (1.10 GHz, 4 MB), {JCC}")
    if ES40.fullmatch(other.model) and None in (one.clock_ghz, other.clock_ghz):
        # 833 MHz in an ES40 was the fastest Alpha when the ES45 was yet to come (Computerwoche, 22 June 2001)
        if ES45.fullmatch(one.model):
            return Order(1, "an ES45 has 1 GHz or more, an ES40 833 MHz at most, as recalled: SHOW CPU/FULL prints it")
        if one.family == "Alpha" and (one.generation or 0) >= EV6 and (one.clock_ghz or 0.0) > ES40_GHZ:
            named = f"{one.clock_ghz:g} GHz by its name"
            return Order(1, f"{named} before an ES40 of 833 MHz at most, as recalled: SHOW CPU/FULL prints it")
    es45 = other.model in ("ALPHASERVER ES45", "ES45") and other.clock_ghz == 1.0
    if one.is_model("RX4640", 1.5, None) and es45:
        return Order(0, "an rx4640 of 1.5 GHz is about an ES45 of 1 GHz: HP's talk of 2004 on OpenVMS on Integrity")
    return None


def _by_clock(one: Hardware, other: Hardware) -> Order | None:
    """Within one family: the higher clock, unless the cache is the smaller one of another model."""
    if one.clock_ghz is None or other.clock_ghz is None:
        return None
    if one.generation != other.generation:
        return _far_apart(one, other)
    clock = _sign(one.clock_ghz, other.clock_ghz)
    if one.model == other.model and clock:
        return Order(clock, "the same model at a higher clock")
    if one.model == other.model and one.cache_mb == other.cache_mb:
        return Order(0, "the same model at the same clock")
    cache = 0 if None in (one.cache_mb, other.cache_mb) else _sign(one.cache_mb or 0.0, other.cache_mb or 0.0)
    if one.family != "x86-64" and clock and clock * cache >= 0:
        return Order(clock, f"both {one.family}, by clock ({max(one.clock_ghz, other.clock_ghz):g} GHz is the higher)")
    return None


def _far_apart(one: Hardware, other: Hardware) -> Order | None:
    """Of two Alphas of which not both print their generation, or another one: where one has twice the clock."""
    if one.clock_ghz is None or other.clock_ghz is None or one.family != "Alpha":
        return None
    fast, slow = (one, other) if one.clock_ghz > other.clock_ghz else (other, one)
    older = fast.generation is not None and slow.generation is not None and fast.generation < slow.generation
    if older or (fast.clock_ghz or 0.0) < TWICE * (slow.clock_ghz or 0.0):
        return None
    sign = 1 if fast is one else -1
    return Order(sign, f"both Alpha, {fast.clock_ghz:g} GHz is more than twice {slow.clock_ghz:g}")


def _sign(one: float, other: float) -> int:
    return (one > other) - (one < other)
