"""What one server is: its release, its settings, its databases and what goes on in them, from the texts in `data/`.

Each text has sections, `[name]`, with a table in each (`tests.live.ase.tabled`); lines with `#` in front are remarks.
What is alike on all servers stands in `common.txt`; a section that both have is one table.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from tests.live.ase.tabled import rows

DATA = Path(__file__).resolve().parent / "data"
SERVERS = {"15.7": "harvest.txt", "16.0": "tideway.txt"}
"""The servers there are, by release."""
Rows = list[dict[str, Any]]


@dataclass(frozen=True)
class Release:
    """A server, as its text says it."""

    number: str
    """`15.7` or `16.0`."""
    version: str
    """What `@@version` says."""
    server: str
    page_kb: int
    engines: int
    databases: Rows
    objects: Rows
    configuration: Rows
    caches: Rows
    pools: Rows
    bindings: Rows
    resources: Rows
    """What sp_monitorconfig shows."""
    sysmon: Mapping[str, tuple[float, float]]
    """What only sp_sysmon shows, by the names that `tests.live.ase.sysmon` asks for: how many a second, and how many of
    them waited; a chain length is no rate and stands in the place of one."""
    activity: Mapping[str, Rows] = field(default_factory=dict)
    """Rows of the monitoring tables, by table: what is not derived from the rest."""

    @property
    def program(self) -> tuple[int, int, int, int]:
        """The version as the answer to a login has it."""
        major, _, minor = self.number.partition(".")
        return int(major), int(minor), 0, 0


def load(number: str) -> Release:
    """Read the server of a release (`15.7` or `16.0`). Raises `KeyError` for another."""
    found = _sections("common.txt")
    for name, table in _sections(SERVERS[number]).items():
        found.setdefault(name, []).extend(table)
    server = {one["What"]: one["Is"] for one in found.pop("server")}
    known = ("databases", "objects", "configuration", "caches", "pools", "bindings", "resources")
    given = {name: found.pop(name) for name in known}
    sysmon = {one["What"]: (float(one["Rate"]), float(one["Waited"])) for one in found.pop("sysmon")}
    return Release(
        number,
        server["version"],
        server["server"],
        server["page_kb"],
        server["engines"],
        **given,
        sysmon=sysmon,
        activity=found,
    )


def _sections(name: str) -> dict[str, Rows]:
    lines: dict[str, list[str]] = {}
    section = ""
    for line in (DATA / name).read_text(encoding="utf-8").splitlines():
        if line.startswith("["):
            section = line.strip("[] ")
        elif not line.startswith("#") and line.strip():
            lines.setdefault(section, []).append(line)
    return {section: rows("\n".join(body)) for section, body in lines.items()}
