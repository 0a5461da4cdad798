"""Run an audit: captures in, verdicts, findings and plan out."""

from collections.abc import Iterable, Mapping, Sequence

from advisor.uploads.services.reading import captures_of
from collectors.cluster import of_other_times
from collectors.read import Input
from rules.audit import Audit, audit, linked_across
from rules.engine import BadLimit, check_names
from rules.finding import Severity
from rules.in_time import with_changed_settings


class BadSetting(ValueError):
    """A limit given by the user cannot be used; the message names it and the remedy."""


def parse_limits(settings: Iterable[str]) -> dict[str, float]:
    """Read `ase/some_rule.limit=5` settings. Raises `BadSetting`."""
    overrides: dict[str, float] = {}
    for setting in settings:
        name, equals, value = setting.partition("=")
        try:
            number = float(value)
        except ValueError:
            raise BadSetting(f"--set {setting}: write RULE.LIMIT=NUMBER") from None
        if not equals or number != number or number in (float("inf"), float("-inf")):
            raise BadSetting(f"--set {setting}: write RULE.LIMIT=NUMBER")
        overrides[name.strip()] = number
    try:
        check_names(overrides)
    except BadLimit as error:
        raise BadSetting(f"--set {error}") from None
    return overrides


def run_audit(inputs: Sequence[Input], limits: Mapping[str, float], name: str | None = None) -> list[Audit]:
    """Audit what was read: one audit per capture, causes linked across a cluster."""
    return with_changed_settings(linked([audit(capture, limits) for capture in captures_of(inputs, name)]))


def linked(audits: Sequence[Audit]) -> list[Audit]:
    """The audits of captures that came together, linked across a cluster; nodes measured at other times say so."""
    return linked_across(audits, [capture for capture, _ in of_other_times([one.capture for one in audits])])


def worst(audits: Iterable[Audit]) -> Severity | None:
    """The loudest finding of all, or `None`."""
    return max((ranked.finding.severity for one in audits for ranked in one.findings), default=None)
