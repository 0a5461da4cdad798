"""Worked examples of a rule: `rules/<product>/examples/<rule>.yml`, judged by the rule as it is now.

A file holds named cases over facts that a DBA wrote in yml: `ase.Server: {name: PROD1, version: "15.7"}`. The tests
hold the rule to what a case claims; here the case is only shown. Where the file is not there, there are no examples.
"""

import functools
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import yaml
from django.conf import settings

from advisor.audits.report.data import finding_data, verdict_data
from advisor.core.jinja import figure
from advisor.core.yml import load
from collectors.facts import Fact, Facts, Missing, Source
from collectors.facts.openvms import Hole
from collectors.facts.scaling import LoadPoint, ParameterPoint, ParameterSeries
from collectors.facts.shapes import kinds
from rules.engine import Rule, judge_one, rules
from rules.ranking import Ranked

STATES = {state.name.lower(): state for state in Missing}
UNITS = {"_percent": "%", "_per_second": "/s", "_mb": "MB", "_kb": "KB", "_bytes": "bytes", "_seconds": "s"}
DAMAGED = (AttributeError, KeyError, TypeError, ValueError)
"""What a case can raise that is not written as one is."""


def fact_class(name: str) -> type[Fact]:
    """Find `ase.LockHashtable`. Raises `TypeError` where there is no such fact."""
    found = kinds().get(name)
    if found is None or not issubclass(found, Fact):
        raise TypeError(f"{name} is no kind of fact")
    return found


def build(item: Mapping[str, Mapping[str, Any] | None]) -> Fact:
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
    if key == "points" and cls is ParameterSeries:
        return tuple(ParameterPoint(**p) for p in value)
    if key == "points":
        return tuple(
            LoadPoint(load=p.pop("load"), rate=p.pop("rate"), line=p.pop("line", 0), others=tuple(p.items()))
            for p in (dict(p) for p in value)
        )
    if key == "holes":
        return tuple(Hole(**{name: value_of(cls, name, one) for name, one in hole.items()}) for hole in value)
    return tuple(value) if isinstance(value, list) else value


@dataclass(frozen=True)
class Told:
    """One fact in words: its name, what such a fact is, and its figures as pairs of name and value."""

    fact: str
    about: str
    figures: tuple[tuple[str, str], ...]


@dataclass(frozen=True)
class Example:
    """One case with what the rule says of it, in the contract's shape; `problem` where it cannot be read."""

    title: str
    limits: tuple[tuple[str, str], ...] = ()
    facts: tuple[Told, ...] = ()
    verdict: Mapping[str, Any] | None = None
    findings: tuple[Mapping[str, Any], ...] = ()
    problem: str = ""


def path_of(one: Rule) -> Path:
    """Where the examples of a rule are."""
    product, name = one.id.split("/")
    return Path(settings.BASE_DIR / "rules" / product / "examples" / f"{name}.yml")


@functools.lru_cache(maxsize=200)
def examples(rule_id: str) -> tuple[Example, ...]:
    """The worked examples of a rule, made once per process; none for what is no rule. Never raises."""
    one = next((one for one in rules() if one.id == rule_id), None)
    if one is None:  # what comes from an address is never used as a path
        return ()
    path = path_of(one)
    if not path.is_file():
        return ()
    try:
        cases = dict(load(path).items())
    except (OSError, yaml.YAMLError, *DAMAGED) as error:
        return (Example("The examples cannot be read", problem=_short(error)),)
    return tuple(_example(one, str(title), case) for title, case in cases.items())


def _example(one: Rule, title: str, case: Any) -> Example:
    """Run the rule on one case."""
    try:
        limits = dict(case.get("limits") or {})
        items = list(case["facts"])
        verdict = judge_one(
            one, Facts(tuple(build(item) for item in items)), {f"{one.id}.{name}": v for name, v in limits.items()}
        )
        return Example(
            title,
            limits=tuple((str(name), _words(value)) for name, value in limits.items()),
            facts=tuple(_told(item) for item in items),
            verdict=verdict_data(verdict),
            findings=tuple(finding_data(Ranked(one.id, f, f.explains)) for f in verdict.findings),
        )
    except DAMAGED as error:
        return Example(title, problem=_short(error))


def _short(error: Exception) -> str:
    return f"{type(error).__name__}: {error}"[:300]


def _told(item: Mapping[str, Mapping[str, Any] | None]) -> Told:
    ((name, fields),) = item.items()
    figures = (_figure(key, value) for key, value in (fields or {}).items() if key != "source")
    return Told(name, (fact_class(name).__doc__ or "").strip().split("\n", 1)[0], tuple(figures))


def _figure(key: str, value: Any) -> tuple[str, str]:
    """`contention_percent`, 52 → `contention`, `52 %`."""
    ending = next((ending for ending in UNITS if key.endswith(ending) and key != ending.lstrip("_")), "")
    number = isinstance(value, int | float) and not isinstance(value, bool)
    name = key.removesuffix(ending) if number else key
    return name.replace("_", " "), f"{_words(value)} {UNITS[ending]}" if ending and number else _words(value)


def _words(value: Any) -> str:
    """A value of a yml as a person reads it; the four ways of having no number stay four."""
    if isinstance(value, str):
        return STATES[value].value if value in STATES else value
    if value is None:
        return Missing.ABSENT.value
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, int | float):
        return figure(value)
    if isinstance(value, Mapping):
        return ", ".join(f"{str(key).replace('_', ' ')} {_words(part)}" for key, part in value.items())
    if isinstance(value, list | tuple):
        return ("; " if any(isinstance(part, Mapping) for part in value) else ", ").join(map(_words, value))
    return str(value)
