"""The server itself, and what it is configured to."""

import re
from dataclasses import dataclass
from functools import cached_property
from typing import ClassVar

from collectors.facts.base import ABSENT, Fact, Reading, known

RELEASE = re.compile(r"(?P<major>\d\d)\.(?P<minor>\d+)(?:\.(?P<patch>\d+))?")


@dataclass(frozen=True, kw_only=True)
class Server(Fact):
    """An Adaptive Server: from the header of a report or from `select @@version`."""

    BRING: ClassVar[str] = "select @@servername, @@version"

    name: str | None = None
    version: str | None = None
    """As printed, joined where the report wrapped it, possibly cut: `15.7/EBF 21708 SMP SP110 /P/x`."""
    page_size_bytes: Reading = ABSENT

    @cached_property
    def release(self) -> tuple[int, int] | None:
        """Major and minor release, `(15, 7)`; `None` where the version cannot be read."""
        found = RELEASE.search(self.version or "")
        return (int(found["major"]), int(found["minor"])) if found else None

    def before(self, major: int, minor: int = 0) -> bool | None:
        """Whether the release is older; `None` where it is not known."""
        return None if self.release is None else self.release < (major, minor)


@dataclass(frozen=True, kw_only=True)
class ConfigParameter(Fact):
    """One line of `sp_configure`: what is set, and what is in force. Values keep the parameter's own unit."""

    BRING: ClassVar[str] = "sp_configure"

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
