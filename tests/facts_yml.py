"""Facts written in yml by a DBA ↔ facts. `ase.Server: {name: PROD1, version: "15.7"}`."""

import dataclasses
import datetime as dt
from typing import Any

from advisor.audits.services.examples import build
from advisor.core.yml import load
from collectors.facts import Fact, Missing

__all__ = ["build", "expected", "load", "matches", "plain"]


def plain(value: Any) -> Any:
    """Turn a fact's value into what yml can say: states by name, times as ISO text, tuples as lists."""
    if isinstance(value, Missing):
        return value.name.lower()
    if isinstance(value, dt.datetime):
        return value.isoformat(sep=" ")
    if dataclasses.is_dataclass(value) and not isinstance(value, type):
        return {f.name: plain(getattr(value, f.name)) for f in dataclasses.fields(value)}
    if isinstance(value, list | tuple):
        return [plain(v) for v in value]
    if isinstance(value, set | frozenset):
        return sorted(map(plain, value), key=repr)
    if isinstance(value, dict):
        return {key: plain(v) for key, v in value.items()}
    return value


def expected(value: Any) -> Any:
    """Bring an expectation of a yml into the shape `plain` gives."""
    if isinstance(value, dt.datetime):
        return value.isoformat(sep=" ")
    if isinstance(value, list):
        return [expected(v) for v in value]
    return value


def matches(fact: Fact, want: dict[str, Any]) -> bool:
    """Whether a fact is the one described: `{"fact": "ase.Server", "lines": [1, 2], "name": "X"}`."""
    if fact.fact_name() != want["fact"]:
        return False
    for key, value in want.items():
        if key == "fact":
            continue
        if key == "lines":
            if [fact.source.first, fact.source.last] != value:
                return False
        elif plain(getattr(fact, key)) != expected(value):
            return False
    return True
