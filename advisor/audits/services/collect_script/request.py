"""What a script is to collect: from the JSON of an audit (`audit/1`), or everything for a first audit.

The JSON is a file that somebody hands over: nothing in it is taken for granted.
"""

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from collectors.live.ase.missing import COSTS
from rules.changes.quoting import Unquotable, rdb_file

MINUTES = 10
"""Minutes to measure: a good sample of sp_sysmon (`docs/dba/collecting.md`), and the least before a change is advised
(this project: `knowledge/openvms-rdb-more.md`, 5)."""
MOST_MINUTES = 60
"""Longer hides the peak, and 32-bit counters may wrap (`knowledge/ase-formats.md`, 1.2)."""
OPEN = ("unknown", "untrusted", "fired")
"""Verdicts whose `missing` is worth collecting: a rule that fired may still lack what its cost is measured by."""
OF_PRODUCT = {"rdb": ("rdb", "openvms")}
"""Products of the captures that a script is made for, where they are not the script's own: a node's captures hold the
databases that are open on it."""
RDB_COMMAND = re.compile(r"\bRMU\b|RDB\$", re.IGNORECASE)
LONGEST = 1_000
"""Characters of a command that is looked at."""


class NotAnAudit(ValueError):
    """The JSON is not what `audit --format json` prints; the message says so."""


class NothingToAsk(ValueError):
    """The audit has no system of that product or name; the message says which it has."""


@dataclass(frozen=True)
class CollectScriptRequest:
    """What one script is made of."""

    product: str
    """`ase`, `openvms`, `rdb` or `zvm`."""
    system: str | None = None
    """Its name, as an export says it: hostile."""
    version: str | None = None
    """As an export or the user says it: `16.0 SP02 …`, `V8.4`; `None`: not known."""
    hardware: str | None = None
    """The machine's name, as an export says it."""
    commands: tuple[str, ...] | None = None
    """What an audit says to collect (`bring`, `collect`), each once, hostile; `None`: everything for a first audit."""
    databases: tuple[str, ...] = ()
    """Databases whose tables count (SAP ASE), or root files (Oracle Rdb), hostile."""
    switched_off: tuple[str, ...] = ()
    """Configuration parameters of SAP ASE that the audit found off."""
    minutes: int = MINUTES
    """How long is measured: 1 to `MOST_MINUTES`."""
    trace: bool = False
    """Whether OpenVMS's traces are run: they load an execlet."""


def first_audit(product: str, **more: Any) -> CollectScriptRequest:
    """Everything that a first audit of a product needs; `more` are further fields of the request."""
    return CollectScriptRequest(product, **more)


def requests_of(
    audit: Any, product: str, name: str | None = None, databases: Sequence[str] = (), **more: Any
) -> list[CollectScriptRequest]:
    """What each system of an audit lacks, in its order; `more` are further fields of each request.

    Raises `NotAnAudit` and `NothingToAsk`.
    """
    captures = audit.get("captures") if isinstance(audit, Mapping) else None
    if not isinstance(captures, list) or not str(audit.get("contract", "")).startswith("audit/"):
        raise NotAnAudit("this is not what `audit --format json` prints")
    systems: dict[str, list[Mapping[str, Any]]] = {}
    for capture in captures:
        system = _mapping(capture).get("system")
        if _text(_mapping(system).get("product")) in OF_PRODUCT.get(product, (product,)):
            systems.setdefault(_text(_mapping(system).get("name")) or "", []).append(capture)
    if not systems:
        raise NothingToAsk(f"the audit has no system of the product {product}")
    if name is not None:
        if name not in systems:
            raise NothingToAsk(f"the audit has no system of that name; it has: {', '.join(systems)}")
        systems = {name: systems[name]}
    return [_request(product, called, parts, databases, more) for called, parts in systems.items()]


def _request(
    product: str, name: str, captures: list[Mapping[str, Any]], databases: Sequence[str], more: Mapping[str, Any]
) -> CollectScriptRequest:
    """One system's captures as one request: they may be of several intervals, and lack different things."""
    commands = dict.fromkeys(one for capture in captures for one in _commands(capture))
    if product == "rdb":
        commands = dict.fromkeys(one for one in commands if RDB_COMMAND.search(one))
    fields: dict[str, Any] = {"version": None, "hardware": None}
    for capture in captures:
        system = _mapping(capture["system"])
        fields["version"] = _text(system.get("version")) or fields["version"]
        fields["hardware"] = _text(system.get("platform")) or fields["hardware"]
    if product == "rdb" and any(_mapping(one["system"]).get("product") == "openvms" for one in captures):
        fields["version"] = None  # that of the operating system, not of Rdb
    found = tuple(dict.fromkeys(one for capture in captures for one in _root_files(capture)))
    fields |= {name: value for name, value in more.items() if value is not None}
    return CollectScriptRequest(
        product,
        system=name or None,
        commands=tuple(commands),
        databases=tuple(databases) or (found if product in ("rdb", "openvms") else ()),
        switched_off=tuple(dict.fromkeys(one for capture in captures for one in _switched_off(capture))),
        **fields,
    )


def _commands(capture: Mapping[str, Any]) -> Iterator[str]:
    """What the summary, the account and the verdicts say to collect, what settles most first."""
    for one in _list(_mapping(capture.get("summary")).get("collect")):
        yield from _command(one.get("command"))
    for account in _list(capture.get("account")):
        for part in ("unexplained", "undivided"):
            yield from _command(_mapping(account.get(part)).get("collect"))
    for verdict in _list(capture.get("verdicts")):
        if verdict.get("verdict") in OPEN:
            for lack in _list(verdict.get("missing")):
                yield from _command(lack.get("bring"))


def _command(value: Any) -> Iterator[str]:
    text = " ".join(_text(value).split())[:LONGEST]
    if text:
        yield text


def _switched_off(capture: Mapping[str, Any]) -> Iterator[str]:
    """Monitoring switches that a finding wants set."""
    for finding in _list(capture.get("findings")):
        for change in _list(finding.get("changes")):
            if _text(change.get("target")) in COSTS and change.get("from") == 0:
                yield _text(change.get("target"))


def _root_files(capture: Mapping[str, Any]) -> Iterator[str]:
    """Root files of Oracle Rdb that findings are about, where they can be written into a command line."""
    for finding in _list(capture.get("findings")):
        subject = _text(finding.get("subject"))
        if _text(finding.get("rule")).startswith("rdb/") and subject.upper().endswith(".RDB"):
            try:
                yield rdb_file(subject)
            except Unquotable:
                continue


def _mapping(value: Any) -> Mapping[str, Any]:
    return value if isinstance(value, Mapping) else {}


def _list(value: Any) -> list[Mapping[str, Any]]:
    return [_mapping(one) for one in value] if isinstance(value, list) else []


def _text(value: Any) -> str:
    return value if isinstance(value, str) else ""
