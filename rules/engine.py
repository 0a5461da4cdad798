"""How a rule is declared, and how all are run over a capture.

A rule is a module `rules/<product>/<name>.py`: a docstring in four parts, a frozen dataclass `Limits`, and one function
under `@rule(...)` that yields outcomes. Its path is its id and its presence there is its registration. Its examples are
`rules/<product>/examples/<name>.yml`.
"""

import dataclasses
import functools
import importlib
import math
import pkgutil
import sys
from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Any

from collectors.facts import Capture, Fact, Facts
from collectors.facts.ase import SysmonSample
from rules.boots import of_this_boot
from rules.cut import whole_alone
from rules.finding import (
    Clean,
    Finding,
    NotApplicable,
    Outcome,
    RefusedValue,
    Severity,
    Unknown,
    Untrusted,
    Verdict,
)
from rules.missing import of_another_time, precisely
from rules.plausibility import Bounds, bounded, bounds_of, impossible
from rules.provenance import facts_by_place, with_provenance
from rules.resets import AGAIN, RESET, SHORTER, WRAPPED, which_reset
from rules.sample import LEAST, LeastSample, gated, in_order, samples_of
from rules.tentative import is_tentative, proved, softened

PARTS = ("Finds", "Why it matters", "What to do", "When to ignore it")
PRODUCTS = ("ase", "openvms", "rdb", "scaling", "unix", "zvm")
LOUDEST_FIRST = ("fired", "untrusted", "unknown", "clean", "not-applicable")


def limit(default: float, origin: str, *, low: float = 0.0, high: float = float("inf"), unit: str = "") -> Any:
    """Declare one limit of a rule: its default, where the figure comes from, and what a site may set it to.

    `origin` begins with `vendor`, `practice` or `this project`.
    """
    return dataclasses.field(default=default, metadata={"origin": origin, "low": low, "high": high, "unit": unit})


def percent(default: float, origin: str, *, low: float = 0.0, of: str = "") -> Any:
    """Declare a limit that is a share, from `low` to 100 %; `of` what."""
    return limit(default, origin, low=low, high=100, unit=f"% of {of}" if of else "%")


@dataclasses.dataclass(frozen=True)
class Rule:
    """One rule, made from its module."""

    id: str
    text: str
    needs: tuple[type[Fact], ...]
    uses: tuple[type[Fact], ...]
    links: tuple[str, ...]
    limits: type[Any]
    check: Callable[[Facts, Any], Iterable[Outcome]]
    sample: LeastSample | Callable[[Any], LeastSample] | None = LEAST
    together: bool = False
    releases: str = ""

    @property
    def product(self) -> str:
        """`ase`, `openvms`, …"""
        return self.id.split("/")[0]

    @property
    def title(self) -> str:
        """The first sentence of the docstring."""
        return self.text.split("\n", 1)[0]

    @property
    def parts(self) -> dict[str, str]:
        """The four parts of the docstring by heading, each as one paragraph."""
        found: dict[str, str] = {}
        heading = ""
        for paragraph in self.text.split("\n\n")[1:]:
            flat = " ".join(paragraph.split())
            for part in PARTS:
                if flat.startswith(part + ":"):
                    heading, flat = part, flat[len(part) + 1 :].strip()
            if heading:
                found[heading] = f"{found[heading]}\n\n{flat}" if heading in found else flat
        return found

    @property
    def limit_fields(self) -> tuple["dataclasses.Field[Any]", ...]:
        """The limits with their defaults and origins."""
        return dataclasses.fields(self.limits)


REGISTER: dict[str, Rule] = {}


def rule(
    *,
    needs: tuple[type[Fact], ...],
    links: tuple[str, ...],
    limits: type[Any],
    uses: tuple[type[Fact], ...] = (),
    sample: LeastSample | Callable[[Any], LeastSample] | None = LEAST,
    together: bool = False,
    releases: str = "",
) -> Callable[[Callable[[Facts, Any], Iterable[Outcome]]], Callable[[Facts, Any], Iterable[Outcome]]]:
    """Register a rule.

    `needs`: without any fact of one of these types the verdict is `unknown`, and says which command brings it.
    `uses`: further types the rule looks at where they are there, each counted once. Asking for any other type is an
    error.
    `sample`: how long must be measured before the rule says more than a note, or a function that makes it of the
    rule's limits, which a site may set; `None` for a rule that judges settings alone, which a short sample beside them
    does not make less true.
    `together`: whether all that a rule without `needs` asks for where there is nothing at all is needed at once; else
    any part of that lets it judge.
    `releases`: which releases it is for, in words; empty where it is for every one that has what it reads.
    """

    def register(check: Callable[[Facts, Any], Iterable[Outcome]]) -> Callable[[Facts, Any], Iterable[Outcome]]:
        module = sys.modules[check.__module__]
        text = "\n".join(line.strip() for line in (module.__doc__ or "").strip().splitlines())
        name, further = "/".join(check.__module__.split(".")[1:]), tuple(dict.fromkeys(uses))
        made = Rule(name, text, needs, further, links, limits, check, sample, together, releases)
        REGISTER[made.id] = made
        return check

    return register


@functools.cache
def rules() -> tuple[Rule, ...]:
    """Every rule there is, in order of id."""
    return tuple(sorted((one for product in PRODUCTS for one in rules_of(product)), key=lambda one: one.id))


@functools.cache
def rules_of(product: str) -> tuple[Rule, ...]:
    """Every rule of a product, by walking its package, in order of id; those of no other product are loaded."""
    package = importlib.import_module(f"rules.{product}")
    for found in pkgutil.iter_modules(package.__path__, f"rules.{product}."):
        if not found.name.rsplit(".", 1)[1].startswith("_"):
            importlib.import_module(found.name)
    return tuple(REGISTER[name] for name in sorted(REGISTER) if name.startswith(f"{product}/"))


class BadLimit(ValueError):
    """A site set a limit that does not exist or lies outside what makes sense; the message says which and why."""


def limits_for(one: Rule, overrides: Mapping[str, float]) -> Any:
    """Make the rule's limits with a site's values: `overrides` maps `ase/some_rule.limit_name` to a number."""
    changed: dict[str, float] = {}
    for field in one.limit_fields:
        value = overrides.get(f"{one.id}.{field.name}")
        if value is None:
            continue
        low, high = field.metadata["low"], field.metadata["high"]
        if not (math.isfinite(value) and low <= value <= high):
            raise BadLimit(f"{one.id}.{field.name}={value:g} is outside {low:g} to {high:g}")
        if isinstance(field.default, int) and not float(value).is_integer():
            raise BadLimit(f"{one.id}.{field.name}={value:g} is no whole number")
        changed[field.name] = int(value) if isinstance(field.default, int) else value
    return one.limits(**changed)


def check_names(overrides: Mapping[str, float]) -> None:
    """Raise `BadLimit` for a limit that no rule has, or a value outside its range."""
    for name in overrides:
        rule_id, _, limit_name = name.rpartition(".")
        one = next((one for one in rules() if one.id == rule_id), None)
        if one is None:
            raise BadLimit(f"{name}: no rule is called {rule_id!r}; `manage.py rules` lists them")
        names = [field.name for field in one.limit_fields]
        if limit_name not in names:
            raise BadLimit(f"{name}: the limits of {rule_id} are {', '.join(names) or 'none'}")
        limits_for(one, overrides)


def rules_for(capture: Capture) -> Iterator[Rule]:
    """The rules of the system's product; those for load series, and for databases on a node, where there are any."""
    from collectors.facts.rdb import OfDatabase
    from collectors.facts.scaling import LoadSeries, ParameterSeries

    products = {capture.system.product}
    if not {LoadSeries, ParameterSeries}.isdisjoint(capture.facts.by_type):
        products.add("scaling")
    if any(issubclass(kind, OfDatabase) for kind in capture.facts.by_type):
        products.add("rdb")
    for product in PRODUCTS:
        if product in products:
            yield from rules_of(product)


def judge(capture: Capture, overrides: Mapping[str, float] | None = None) -> list[Verdict]:
    """Run every rule of the capture's product; one verdict each. A rule that raises is `broken`, the others go on."""
    return [judge_one(one, capture.facts, overrides or {}) for one in rules_for(capture)]


def judge_one(one: Rule, facts: Facts, overrides: Mapping[str, float]) -> Verdict:
    """Run one rule."""
    lacking = [kind for kind in one.needs if not facts.every(kind)]
    if lacking:
        return _precise(Verdict(one.id, "unknown", "", Unknown.of(*lacking).missing), facts)
    limits = limits_for(one, overrides)
    try:
        outcomes = _given_out(one, facts, limits)
        if any(isinstance(outcome, Finding) and is_tentative(outcome) for outcome in outcomes):
            outcomes = _as_sure_as_read(outcomes, one, facts, limits)
    except Exception as error:  # noqa: BLE001 - whatever a rule does wrong, the others must still speak
        return Verdict(one.id, "broken", f"{type(error).__name__}: {error}"[:500])
    return _precise(sum_up(one.id, outcomes), facts)


def _given_out(one: Rule, facts: Facts, limits: Any) -> list[Outcome]:
    """What the rule says of these facts, and may say."""
    outcomes: list[Outcome] = []
    try:
        for outcome in one.check(facts.narrowed((*one.needs, *one.uses)), limits):
            outcomes.append(outcome)
    except RefusedValue as error:
        outcomes.append(Untrusted(str(error)))
    least = one.sample(limits) if callable(one.sample) else one.sample
    return [_bounded(outcome, least, facts) for outcome in outcomes]


def _as_sure_as_read(outcomes: list[Outcome], one: Rule, facts: Facts, limits: Any) -> list[Outcome]:
    """The outcomes, those with tentative figures held against what the rule says without them."""
    sure = proved(facts)
    alone = _given_out(one, sure, limits) if all(sure.every(kind) for kind in one.needs) else []
    without = {found.subject: found for found in alone if isinstance(found, Finding) and not is_tentative(found)}
    return [softened(out, without.get(out.subject)) if isinstance(out, Finding) else out for out in outcomes]


def _precise(verdict: Verdict, facts: Facts) -> Verdict:
    """Name what a verdict lacks by the part of a report that was collected, and ask for nothing a release lacks."""
    missing, why = precisely(verdict.missing, facts)
    said = [part for part in (why, of_another_time(missing, facts)) if part and part not in verdict.why]
    told = verdict.why
    if RESET in told:
        told = told.replace(RESET, which_reset(facts))
        missing = (*missing, AGAIN) if verdict.verdict == "untrusted" else missing
    if WRAPPED in told and verdict.verdict == "untrusted":
        missing = (*missing, SHORTER)
    return dataclasses.replace(verdict, missing=missing, why="; ".join(filter(None, (told, *said))))


def _bounded(outcome: Outcome, least: LeastSample | None, facts: Facts) -> Outcome:
    """What a finding may say: nothing impossible, as loud as what is lost, no more than its sample bears."""
    if isinstance(outcome, Clean) and least is not None and (outcome.measured or outcome.span):
        return in_order(outcome, least, facts.once(SysmonSample, samples_of))
    if not isinstance(outcome, Finding):
        return outcome
    bounds = facts.once(SysmonSample, bounds_of)
    marked = with_provenance(outcome, facts.once(SysmonSample, facts_by_place))
    if why := impossible(marked, bounds):
        return Untrusted(f"{why}: it cannot be, so nothing is concluded from it; collect the export again")
    finding = _as_loud_as_the_loss(bounded(marked, bounds), bounds)
    if least is not None:
        finding = gated(finding, least, facts.once(SysmonSample, samples_of))
    return of_this_boot(whole_alone(finding, facts), facts)


LOST = ((0.10, Severity.CRITICAL), (0.03, Severity.WARNING))
"""Share of the system's processors lost → how loud; advice below (this project, as the contract says)."""
CRITICAL_FROM = 1.0
"""Processors: less than one is no emergency whatever its share of a small system, where a rule does not say so itself
(this project)."""
MEASURABLE = 0.01
"""Processors. Modes are counted in ticks of 10 ms: of 60 s they tell the share of one CPU to 0.65 in a hundred."""


def _as_loud_as_the_loss(finding: Finding, bounds: Bounds) -> Finding:
    """Where the time lost is known it decides: its lower end how loud at least, its upper end how loud at most."""
    cost = finding.cost
    if cost is None or bounds.processors is None:
        return finding
    at_most = Severity.NOTE if cost.high < MEASURABLE else _loudness(cost.high / bounds.processors, Severity.ADVICE)
    at_least = Severity.NOTE
    if cost.of_capture and finding.severity >= Severity.WARNING:  # a rule that only advises has its doubts
        at_least = _loudness(cost.low / bounds.processors, Severity.NOTE)
        if cost.low < CRITICAL_FROM:
            at_least = min(at_least, Severity.WARNING)
    return dataclasses.replace(finding, severity=max(min(finding.severity, at_most), at_least))


def _loudness(share: float, below: Severity) -> Severity:
    return next((severity for least, severity in LOST if share >= least), below)


def sum_up(rule_id: str, outcomes: list[Outcome]) -> Verdict:
    """Make one verdict of what a rule said of several objects: the loudest wins, the reasons of all are kept."""
    by_name: dict[str, list[Outcome]] = {name: [] for name in LOUDEST_FIRST}
    for outcome in outcomes:
        by_name[_name_of(outcome)].append(outcome)
    name = next((name for name in LOUDEST_FIRST if by_name[name]), None)
    if name is None:
        return Verdict(rule_id, "broken", "the rule said nothing at all")
    findings = tuple(outcome for outcome in outcomes if isinstance(outcome, Finding))
    missing = tuple(dict.fromkeys(lack for o in outcomes if isinstance(o, Unknown) for lack in o.missing))
    reasons = [finding.title for finding in findings]
    for quiet in LOUDEST_FIRST[1:]:
        reasons += [why for outcome in by_name[quiet] if (why := getattr(outcome, "why", ""))]
    return Verdict(rule_id, name, "; ".join(dict.fromkeys(reasons)), missing, findings)


def _name_of(outcome: Outcome) -> str:
    match outcome:
        case Finding():
            return "fired"
        case Untrusted():
            return "untrusted"
        case Unknown():
            return "unknown"
        case Clean():
            return "clean"
        case NotApplicable():
            return "not-applicable"
