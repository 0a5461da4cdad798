"""Which release of OpenVMS a node runs, and on which family of machine, as far as an export says so."""

import re
from dataclasses import dataclass

from collectors.facts import Facts, Source
from collectors.facts.openvms import Node
from rules.finding import Lacking
from rules.judging.openvms.hardware import hardware_of

RELEASE = re.compile(r"\s*(?:OpenVMS |VMS )?(?P<letter>[A-Z])?(?P<major>[0-9]{1,2})\.(?P<minor>[0-9]{1,2})", re.I)


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
    def lacking(self) -> tuple[Lacking, ...]:
        """What to bring where machine or release is not known."""
        missing = [Lacking("hardware of the node", "SHOW CPU/FULL")] if self.family is None else []
        missing += [Lacking("release of OpenVMS", "SHOW SYSTEM")] if self.release is None else []
        return tuple(missing)


def release_of(version: str | None) -> Release | None:
    """Part a version as displays print it, or `None`."""
    found = RELEASE.match((version or "")[:40])
    if found is None:
        return None
    return Release((version or "")[:40].strip(), (found["letter"] or "V").upper(), int(found[2]), int(found[3]))


def machine_of(facts: Facts) -> Machine:
    """What the displays of the node say, the latest of each. Declares `Node`."""
    hardware = version = None
    source: Source | None = None
    for node in facts.every(Node):
        hardware, version = node.hardware or hardware, node.version or version
        source = node.source if node.hardware or node.version else source
    made = hardware_of(hardware)
    return Machine(hardware, made.family if made else None, release_of(version), source)
