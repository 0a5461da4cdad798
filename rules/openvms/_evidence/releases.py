"""Which release of OpenVMS a node runs, and on which family of machine, as far as an export says so."""

import re
from dataclasses import dataclass

from collectors.facts import Facts, Source
from collectors.facts.openvms import Node
from rules.finding import MissingInput
from rules.laws.hardware import hardware_of

RELEASE = re.compile(r"\s*(?:OpenVMS |VMS )?(?P<letter>[A-Z])?(?P<major>[0-9]{1,2})\.(?P<minor>[0-9]{1,2})", re.I)

ALPHA_AND_INTEGRITY = "documented for Alpha and Integrity alone"
"""Of the dedicated lock manager, Fast Path and its parameters (wiki.vmssoftware.com: LCKMGR_MODE, FAST_PATH_PORTS,
IO_PRCPU_BITMAP), default global buffers (GB_DEFPERCENT); displays of co-threads and of alignment faults: Integrity. Of
x86-64 nothing was found of any of them in November 2026, neither that they are there nor that they are not."""
FIRST_X86 = 9
"""From V9 on OpenVMS runs on x86-64 alone; up to V8.4 it never does (VSI's releases)."""


@dataclass(frozen=True)
class Release:
    """`V8.4-2L1`: letter, major and minor number. A letter other than V is a field test of that release."""

    printed: str
    letter: str
    major: int
    minor: int

    def before(self, major: int, minor: int) -> bool:
        """Whether it is older than the release of these numbers; a field test of that one is."""
        mine = (self.major, self.minor, self.letter == "V")
        return mine < (major, minor, True)


@dataclass(frozen=True)
class Machine:
    """One node's machine and release, with what says so."""

    hardware: str | None
    family: str | None
    """`Integrity`, `Alpha`, `VAX`, `x86-64`, `emulator`, or `None` where the name tells none."""
    release: Release | None
    source: Source | None

    @property
    def said(self) -> str:
        """The machine's name, else the release, for a sentence."""
        return self.hardware or (f"OpenVMS {self.release.printed}" if self.release else "this machine")

    @property
    def x86(self) -> bool:
        """Whether it is an x86-64 machine, by its name or by a release that runs on nothing else."""
        return self.family == "x86-64"

    @property
    def dedicated_documented(self) -> bool | None:
        """Whether the dedicated lock manager is documented for it: Alpha and Integrity, from V7.3 on.

        The machine decides beside the release: either may say no, and either alone may say yes. `None`: neither was
        read, or the name of the machine is not known. An emulator stands for an Alpha or, rarely, an Integrity server.
        Source: LCKMGR_MODE in HELP Sys_Parameters and on wiki.vmssoftware.com; of x86-64 nothing was found either way.
        """
        if self.family in ("VAX", "x86-64"):
            return False
        if self.release and (self.release.before(7, 3) or not self.release.before(9, 0)):
            return False
        return True if self.release or self.family else None

    @property
    def no_integrity(self) -> str:
        """What says that it is no Integrity server, for a sentence; empty where it is one, or nothing tells.

        By its name, else by its release: OpenVMS runs on Integrity servers from V8.0 on.
        """
        if self.family is not None:
            return "" if self.family == "Integrity" else self.said
        return self.said if self.release and self.release.before(8, 0) else ""

    @property
    def without_cothreads(self) -> bool:
        """Whether its CPUs have no co-threads: Alpha and VAX, by the machine's name or a release before V8.0.

        An x86-64 machine, or the host of an emulator, may have threads that OpenVMS does not see.
        """
        return self.family in ("Alpha", "VAX") or (self.family is None and bool(self.no_integrity))

    @property
    def untraced(self) -> str:
        """The VAX or the release before V7.3 that has no spinlock trace (SPL); empty where it is neither, or unknown.

        Source: knowledge/openvms-formats.md, a.3 and d.1.
        """
        if self.family == "VAX":
            return self.said
        return f"OpenVMS {self.release.printed}" if self.release and self.release.before(7, 3) else ""

    @property
    def lacking(self) -> tuple[MissingInput, ...]:
        """What to bring where machine or release is not known."""
        missing = [MissingInput("hardware of the node", "SHOW CPU/FULL")] if self.family is None else []
        missing += [MissingInput("release of OpenVMS", "SHOW SYSTEM")] if self.release is None else []
        return tuple(missing)


def release_of(version: str | None) -> Release | None:
    """Part a version as displays print it, or `None`."""
    found = RELEASE.match((version or "")[:40])
    if found is None:
        return None
    return Release((version or "")[:40].strip(), (found["letter"] or "V").upper(), int(found[2]), int(found[3]))


def machine_of(facts: Facts) -> Machine:
    """What the displays of the node say, the latest of each: the one place where a rule learns the architecture.

    The name of the machine decides; where it tells no family, the release does. Declares `Node`.
    """
    hardware = version = None
    source: Source | None = None
    for node in facts.every(Node):
        hardware, version = node.hardware or hardware, node.version or version
        source = node.source if node.hardware or node.version else source
    return machine_named(hardware, version, source)


def machine_named(hardware: str | None, version: str | None, source: Source | None = None) -> Machine:
    """The same of names that were read elsewhere: of another node of the cluster."""
    made, release = hardware_of(hardware), release_of(version)
    family = made.family if made else None
    if family is None and release and release.major >= FIRST_X86:
        family = "x86-64"
    return Machine(hardware, family, release, source)
