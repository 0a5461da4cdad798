"""The server itself, and what it is configured to."""

import re
from dataclasses import dataclass
from functools import cached_property
from typing import ClassVar

from collectors.facts.base import ABSENT, Fact, Reading, known

RELEASE = re.compile(r"(?P<major>\d\d)\.(?P<minor>\d+)(?:\.(?P<patch>\d+))?")
PACK, PATCH = re.compile(r"\bSP\s?0*(\d{1,3})\b"), re.compile(r"\bPL\s?0*(\d{1,3})\b")
ESD = re.compile(r"\bESD\s?#\s?0*(\d{1,2})(?:\.(\d{1,2}))?", re.IGNORECASE)
PLATFORM = re.compile(r"/\s?P\s?/")
"""Behind it stand the platform and the branch, whose name looks like a service pack: `ase157sp101`."""


@dataclass(frozen=True)
class Level:
    """A release with its service pack and patch level, as far as a version names them.

    Up to 15.7 the steps between releases are ESDs (`15.7 ESD#4.2`), all of them older than the first service pack. From
    16.0 on a service pack has patch levels (`16.0 SP02 PL08`); `GA` has no service pack.
    """

    release: tuple[int, int]
    third: int = 0
    """Of three-part releases: 3 of `15.0.3`."""
    pack: int | None = None
    """Service pack; 0 for `GA` and for an ESD, `None` where the version names none: then it is not known."""
    patch: tuple[int, int] | None = None
    """Patch level or ESD, `(4, 2)` of `ESD#4.2`; `None` where the version names none."""

    @classmethod
    def parse(cls, version: str) -> "Level | None":
        """Read `16.0 SP02 PL08/EBF …`, `15.7/EBF 21708 SMP SP110 /P/x`, `15.0.3 ESD#4`; `None` for anything else."""
        words = PLATFORM.split(version, maxsplit=1)[0]
        found = RELEASE.search(words)
        if not found:
            return None
        release, third = (int(found["major"]), int(found["minor"])), int(found["patch"] or 0)
        pack, patch, esd = PACK.search(words), PATCH.search(words), ESD.search(words)
        level = (int(patch[1]), 0) if patch else (int(esd[1]), int(esd[2] or 0)) if esd else None
        first = bool(esd or patch or re.search(r"\bGA\b", words))
        return cls(release, third, int(pack[1]) if pack else 0 if first else None, level)

    def reached(self, wanted: "Level") -> bool | None:
        """Whether this is `wanted` or later; `None` where the version does not say enough to tell."""
        mine = (*self.release, self.third, self.pack, *(self.patch or (None, None)))
        theirs = (*wanted.release, wanted.third, wanted.pack or 0, *(wanted.patch or (0, 0)))
        sure = True
        for one, other in zip(mine, theirs, strict=True):
            if one is None:
                if other:
                    return None
                sure = False
            elif one != other:
                return one > other if sure or one > other else None
        return True


@dataclass(frozen=True, kw_only=True)
class Server(Fact):
    """An Adaptive Server: from the header of a report or from `select @@version`."""

    COLLECTED_BY: ClassVar[str] = "select @@servername, @@version"

    name: str | None = None
    version: str | None = None
    """As printed, joined where the report wrapped it, possibly cut: `15.7/EBF 21708 SMP SP110 /P/x`."""
    page_size_bytes: Reading = ABSENT

    @cached_property
    def release(self) -> tuple[int, int] | None:
        """Major and minor release, `(15, 7)`; `None` where the version cannot be read."""
        found = RELEASE.search(self.version or "")
        return (int(found["major"]), int(found["minor"])) if found else None

    @cached_property
    def level(self) -> Level | None:
        """The release with service pack and patch level; `None` where the version cannot be read."""
        return Level.parse(self.version or "")

    def before(self, major: int, minor: int = 0) -> bool | None:
        """Whether the release is older; `None` where it is not known."""
        return None if self.release is None else self.release < (major, minor)

    def reached(self, wanted: str) -> bool | None:
        """Whether the server is `wanted` (`16.0 SP02 PL08`, `15.7 ESD#2`) or later.

        `None` where its version does not tell: a service pack that is not named is never assumed. Raises `ValueError`
        for a `wanted` that is no release.
        """
        asked = Level.parse(wanted)
        if asked is None:
            raise ValueError(f"{wanted!r} is no release")
        return self.level.reached(asked) if self.level else None


@dataclass(frozen=True, kw_only=True)
class EnginesOnline(Fact):
    """How many engines are online, where they were counted and not listed."""

    COLLECTED_BY: ClassVar[str] = "a count of the engines of master..monEngine that are online"

    engines: Reading = ABSENT


@dataclass(frozen=True, kw_only=True)
class ConfigParameter(Fact):
    """One line of `sp_configure`: what is set, and what is in force. Values keep the parameter's own unit."""

    COLLECTED_BY: ClassVar[str] = "sp_configure"

    name: str
    default_value: Reading | str = ABSENT
    memory_used_kb: Reading = ABSENT
    memory_counted: bool = True
    """`False` where the memory is printed with `#`: shared with other parameters, so it must not be added up."""
    config_value: Reading | str = ABSENT
    run_value: Reading | str = ABSENT
    unit: str | None = None
    kind: str | None = None
    """`static` (needs a restart), `dynamic` or `read-only`; `None` where the layout has no such column."""
    minimum: Reading = ABSENT
    maximum: Reading = ABSENT
    instance: str | None = None
    """Cluster Edition: the instance this value belongs to; `None` for the whole server."""

    @property
    def pending(self) -> bool:
        """Whether the configured value is not the one in force. `DEFAULT` stands for the default value."""
        spelt_out = isinstance(self.config_value, str) and self.config_value.upper() == "DEFAULT"
        config = self.default_value if spelt_out else self.config_value
        read = not isinstance(config, type(ABSENT)) and not isinstance(self.run_value, type(ABSENT))
        return read and self.kind != "read-only" and config != self.run_value

    @property
    def run_number(self) -> float | None:
        """The value in force where it is a number."""
        return self.run_value if known(self.run_value) else None


@dataclass(frozen=True, kw_only=True)
class ThreadPool(Fact):
    """One thread pool of the threaded kernel (`sp_helpthread`)."""

    COLLECTED_BY: ClassVar[str] = "sp_helpthread"

    name: str
    type: str | None = None
    """As printed: `Engine (Multiplexed)` for one whose threads are engines, `Run To Completion` for others."""
    threads: Reading = ABSENT
    idle_microseconds: Reading = ABSENT
    """How long an engine looks for work before it yields its processor; -1: it never does (vendor)."""

    @property
    def of_engines(self) -> bool:
        """Whether its threads are engines."""
        return (self.type or "").lower().startswith("engine")
