"""Captures with load series that a person may hold against one: which there are, and those that were chosen."""

from collections.abc import Sequence
from dataclasses import dataclass

from django.db.models import F

from advisor.accounts.models import User
from advisor.audits.models import Audit
from advisor.core.access import audits_of
from advisor.series.services.fitted import Fitted
from advisor.series.services.machines import MOST, Offered
from advisor.series.services.stored import stored
from advisor.systems.services.history import own_time, when

MOST_LOOKED_AT = 100
"""The newest audits with laws whose series are looked at for the form."""
MOST_OFFERED = 30
LONGEST_NUMBER = 12
HEAVY = ("verdicts", "plan", "findings_digest", "laws", "comparisons", "capture__figures")


@dataclass(frozen=True)
class Choice:
    """An audit that can be chosen."""

    pk: int
    system: str
    when: str
    series: int
    """Series of it that count the same."""
    chosen: bool


def numbers(given: Sequence[str]) -> list[int]:
    """The audits an address names, each once, five at most; what is no number is left out."""
    found = [int(one) for one in given if one.isascii() and one.isdigit() and len(one) <= LONGEST_NUMBER]
    return list(dict.fromkeys(found))[: MOST - 1]


def offered(user: User, audit: Audit, wanted: Sequence[int]) -> tuple[list[Offered], list[str]]:
    """The series of the chosen audits, and which of these are not there for this person."""
    rows = audits_of(user).filter(pk__in=wanted).exclude(capture=audit.capture_id).filter(capture__packed__isnull=False)
    held = {one.pk: one for one in rows.select_related("system", "capture__packed").defer(*HEAVY)}
    found, missing = [], []
    for pk in wanted:
        if pk not in held:
            if pk != audit.pk:
                missing.append(f"There is no audit {pk} of another capture that you may see.")
            continue
        series = stored(held[pk].capture).series
        if not series:
            missing.append(f"Audit {pk}, of {held[pk].system.name}: no load series in its capture.")
        found += [Offered(one, held[pk].system.name, pk) for one in series]
    return found, missing


def choices(user: User, audit: Audit, base: Fitted, chosen: Sequence[int]) -> list[Choice]:
    """Current audits with a series that counts the same as `base`, newest first."""
    rows = (
        audits_of(user)
        .filter(capture__audit=F("pk"))
        .exclude(laws=[])
        .exclude(capture=audit.capture_id)
        .order_by("-capture__taken", "-pk")
        .values_list("pk", "system__name", "capture__taken", "capture__timed", "capture__interval", "laws")[
            :MOST_LOOKED_AT
        ]
    )
    names = (base.series.load_name, base.series.rate_name)
    found: list[Choice] = []
    for pk, system, taken, timed, interval, laws in rows:
        same = sum((one.get("load_name"), one.get("rate_name")) == names for one in laws)
        if same and len(found) < MOST_OFFERED:
            found.append(Choice(pk, system, when(own_time(taken, timed, interval), timed), same, pk in chosen))
    return found
