"""Facts written in yml by a DBA ↔ facts. `ase.Server: {name: PROD1, version: "15.7"}`."""

import dataclasses
import datetime as dt
import importlib
from pathlib import Path
from typing import Any

import yaml

from collectors.facts import Fact, Missing, Source

STATES = {state.name.lower(): state for state in Missing}


def load(path: Path) -> Any:
    """Read one yml file."""
    return yaml.safe_load(path.read_text(encoding="utf-8"))


def fact_class(name: str) -> type[Fact]:
    """Find `ase.LockHashtable`."""
    product, _, cls = name.partition(".")
    found: type[Fact] = getattr(importlib.import_module(f"collectors.facts.{product}"), cls)
    return found


def build(item: dict[str, dict[str, Any]]) -> Fact:
    """Make a fact of `{"ase.Server": {...}}`; `overflow`, `absent` and `not_measured` name the states of a figure."""
    ((name, fields),) = item.items()
    cls = fact_class(name)
    values = {key: value_of(cls, key, value) for key, value in (fields or {}).items()}
    values.setdefault("source", Source("export.txt", 1, 1))
    return cls(**values)


def value_of(cls: type[Fact], key: str, value: Any) -> Any:
    """Turn one yml value into what the field holds."""
    if isinstance(value, str) and value in STATES:
        return STATES[value]
    if key == "lines":
        raise KeyError("write source: [file, first, last]")
    if key == "source":
        return Source(*value)
    if key == "points":
        point = importlib.import_module("collectors.facts.scaling").LoadPoint
        return tuple(
            point(load=p.pop("load"), rate=p.pop("rate"), line=p.pop("line", 0), others=tuple(p.items()))
            for p in (dict(p) for p in value)
        )
    return tuple(value) if isinstance(value, list) else value


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
