"""Try a limit on stored captures before it is set: which findings would come, go, or change how severe they are.

Each capture is judged twice by today's rule, by the limit that counts now and by the one that is tried; no other rule
runs. What is set afterwards comes from the row that was shown (`save`), and one step goes back (`undo`).
"""

import time
from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import asdict, dataclass, field

from celery.exceptions import SoftTimeLimitExceeded
from django.db import InterfaceError, OperationalError, transaction
from django.db.models import QuerySet
from django.http import HttpRequest
from django.utils import timezone

from advisor.accounts.models import User
from advisor.audits.models import NEWEST_FIRST, Backtest, Capture, LimitSetting
from advisor.audits.services.limits import BadLimit, counting, hold, limits_of, set_limit, take_back_limit
from advisor.audits.services.persistence import restore
from advisor.audits.services.rulebook import judged_by
from advisor.core import job_queue
from advisor.core.access import captures_of
from advisor.core.job_queue import start
from advisor.core.records import Refused
from advisor.core.version import rules_version
from advisor.systems.models import System
from advisor.uploads.services.uploads import clean_text
from collectors.facts import Facts, without_collection
from collectors.facts.codec import DamagedFacts
from rules.engine import Rule, check_names, judge_one, rules, rules_for

MOST_CAPTURES, MOST_SECONDS = 500, 60.0
"""Bounds of one trial (this project's figures): a capture takes some hundredths of a second."""
MOST_LISTED = 200
"""Changes that are listed one by one; all are counted."""
MOST_OPEN = 3
"""Trials of one person that wait or run (this project's figure)."""
TELL_EVERY = 0.5
"""Seconds between two notes of how far it is."""
COULD_NOT = ("unknown", "untrusted", "broken")


@dataclass
class Result:
    """What a trial found. Severities are numbers: 0 not found, 1 note … 4 critical."""

    fires: int = 0
    """Findings that there would be, and are not."""
    stops: int = 0
    """Findings that there would not be any more."""
    other_severity: int = 0
    stays: int = 0
    """Findings that stay as they are."""
    changed: int = 0
    """Captures in which any of the first three happens."""
    quiet: int = 0
    """Captures in which nothing is found by either limit."""
    not_judged: int = 0
    """Captures that the rule cannot judge by either limit."""
    not_concerned: int = 0
    """Captures that the rule is not for."""
    damaged: int = 0
    """Captures whose stored facts cannot be read."""
    listed: list[tuple[int, str, str, int, int]] = field(default_factory=list)
    """Number of the capture, subject, title, severity before and after; newest capture first."""


def begin(by: User, name: str, value: float, *, system: System | None, why: str = "") -> Backtest:
    """Have a value tried for a system, or for every system. Raises `BadLimit`, `Refused`.

    Those of a wider trial are the captures that the person may see, of systems that have no such limit of their own.
    """
    check_names({name: value})
    with transaction.atomic():
        hold(system)
        old, was_set = counting(name, system)
        if value == old:
            raise Refused(f"{name} is {value:g} already: type another value.")
        open_ones = Backtest.objects.filter(by=by, state__in=(Backtest.State.WAITING, Backtest.State.RUNNING))
        if open_ones.count() >= MOST_OPEN:
            raise Refused(f"{MOST_OPEN} trials of yours are not done yet: wait until they are.")
        captures = _captures(by, name, system)
        made = Backtest.objects.create(
            system=system,
            by=by,
            name=name,
            value=value,
            old=old,
            was_set=was_set,
            why=clean_text(why, 300),
            rules_version=rules_version(),
            captures=list(captures.order_by(*NEWEST_FIRST).values_list("pk", flat=True)[:MOST_CAPTURES]),
            there=captures.count(),
            queued=timezone.now(),
        )
        start("audits.backtest", made.pk)
    return made


def _captures(by: User, name: str, system: System | None) -> QuerySet[Capture]:
    """The captures that a limit is for, as far as this person may see them."""
    found = captures_of(by).filter(packed__isnull=False)
    if system is not None:
        return found.filter(system=system)
    products = judged_by(name.split("/", 1)[0])
    own = LimitSetting.objects.filter(name=name).exclude(system=None).values("system")
    found = found.exclude(system__in=own)
    return found if products is None else found.filter(system__product__in=products)


def run(backtest_id: int) -> None:
    """Make one trial. Does nothing where another worker has it."""
    row = job_queue.claim(Backtest.objects.all(), backtest_id)
    if row is None:
        return
    try:
        tried, result = _tried(row)
    except (OperationalError, InterfaceError):
        raise  # the database is away: the task comes again
    except SoftTimeLimitExceeded:
        job_queue.finish(row, Backtest.State.FAILED, error="It was not done in time. Try it again.")
    except Exception as error:
        job_queue.finish(row, Backtest.State.FAILED, error=f"{type(error).__name__}: {error}"[:1000])
        raise
    else:
        job_queue.finish(row, tried=tried, result=asdict(result), error="")


def left() -> list[int]:
    """Trials whose task was lost on the way, or whose worker died."""
    job_queue.reset_lost(Backtest.objects.all())
    return job_queue.to_start(Backtest.objects.all())


def _tried(row: Backtest) -> tuple[int, Result]:
    """Judge the captures one by one, until all are judged or the time is up; how many were, and what was found."""
    rule = next(one for one in rules() if one.id == row.name.rpartition(".")[0])
    limits: dict[int, dict[str, float]] = {}
    result, tried = Result(), 0
    begun = told = time.monotonic()
    for capture in _in_turn(row.captures):
        now = time.monotonic()
        if now - begun > MOST_SECONDS:
            break
        if now - told > TELL_EVERY:
            job_queue.held(row).update(tried=tried)
            told = now
        if capture.system_id not in limits:
            limits[capture.system_id] = limits_of(capture.system)
        _try_one(rule, capture, limits[capture.system_id], row, result)
        tried += 1
    return tried, result


def _in_turn(numbers: list[int]) -> Iterator[Capture]:
    """The captures that are still kept, in this order, one at a time: their facts may be large."""
    for number in numbers:
        found = Capture.objects.select_related("system", "packed").filter(pk=number, packed__isnull=False).first()
        if found is not None:
            yield found


def _try_one(rule: Rule, capture: Capture, limits: Mapping[str, float], row: Backtest, result: Result) -> None:
    """Judge one capture by both limits, and count what differs."""
    try:
        found, _ = restore(capture)
    except DamagedFacts:
        result.damaged += 1
        return
    if rule not in rules_for(found):
        result.not_concerned += 1
        return
    with without_collection():
        before, verdict_before = _judged(rule, found.facts, {**limits, row.name: row.old})
        after, verdict_after = _judged(rule, found.facts, {**limits, row.name: row.value})
    if not before and not after:
        neither = verdict_before in COULD_NOT and verdict_after in COULD_NOT
        result.not_judged += neither
        result.quiet += not neither
        return
    counts: Counter[str] = Counter()
    for subject in dict.fromkeys((*before, *after)):
        was, _ = before.get(subject, (0, ""))
        will, _ = after.get(subject, (0, ""))
        if was == will:
            result.stays += 1
            continue
        counts["fires" if not was else "stops" if not will else "other_severity"] += 1
        if len(result.listed) < MOST_LISTED:
            title = (after.get(subject) or before[subject])[1]
            result.listed.append((capture.pk, subject[:300], title[:500], was, will))
    result.fires += counts["fires"]
    result.stops += counts["stops"]
    result.other_severity += counts["other_severity"]
    result.changed += bool(counts)


def _judged(rule: Rule, facts: Facts, limits: Mapping[str, float]) -> tuple[dict[str, tuple[int, str]], str]:
    """What one rule finds: subject → severity and title, the worst of each subject; and its verdict."""
    verdict = judge_one(rule, facts, limits)
    found: dict[str, tuple[int, str]] = {}
    for one in verdict.findings:
        if int(one.severity) > found.get(one.subject, (0, ""))[0]:
            found[one.subject] = (int(one.severity), one.title)
    return found, verdict.verdict


def save(row: Backtest, by: User, *, request: HttpRequest | None = None) -> None:
    """Set the limit to the value that was tried. Raises `Refused` where what was shown is not so any more."""
    with transaction.atomic():
        hold(row.system)
        row = Backtest.objects.select_for_update(of=("self",)).get(pk=row.pk)
        if row.state != Backtest.State.DONE:
            raise Refused("It has not been tried yet: wait until it is.")
        if row.saved is not None:
            raise Refused("It is saved already.")
        if row.rules_version != rules_version():
            raise Refused("The rules are others by now than those it was tried by: try it again.")
        if (now := counting(row.name, row.system)) != (row.old, row.was_set):
            raise Refused(f"The limit was changed meanwhile, to {now[0]:g}: try it again.")
        set_limit(row.name, row.value, by, system=row.system, why=row.why, request=request)
        Backtest.objects.filter(pk=row.pk).update(saved=timezone.now())


def undo(row: Backtest, by: User, *, request: HttpRequest | None = None) -> None:
    """Go back to what counted before the value was saved. Raises `Refused` where the limit was changed since."""
    with transaction.atomic():
        hold(row.system)
        row = Backtest.objects.select_for_update(of=("self",)).get(pk=row.pk)
        if not may_undo(row):
            raise Refused("There is nothing to undo: the limit was changed since, or this was undone already.")
        if row.was_set:
            set_limit(row.name, row.old, by, system=row.system, why="undone", request=request)
        else:
            take_back_limit(row.name, by, system=row.system, request=request)
        Backtest.objects.filter(pk=row.pk).update(undone=timezone.now())


def may_undo(row: Backtest) -> bool:
    """Whether the limit is what was saved from here, and nobody changed it since."""
    if row.saved is None or row.undone is not None:
        return False
    setting = LimitSetting.objects.filter(system=row.system, name=row.name, value=row.value).first()
    return setting is not None and setting.at <= row.saved


def to_undo(system: System | None, names: Mapping[str, LimitSetting]) -> dict[str, int]:
    """Of limits that are set for a system, or for the site, the trial whose saving can be undone, by the name."""
    rows = Backtest.objects.filter(system=system, name__in=list(names), undone=None).exclude(saved=None)
    newest = {row.name: row for row in rows.order_by("saved")}
    return {name: row.pk for name, row in newest.items() if may_undo(row)}


__all__ = ["BadLimit", "Result", "begin", "left", "may_undo", "run", "save", "to_undo", "undo"]
