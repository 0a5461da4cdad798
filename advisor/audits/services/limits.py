"""The limits a site or a system sets in place of the rules' own."""

from django.db import transaction
from django.db.models import F, Q
from django.http import HttpRequest
from django.utils import timezone

from advisor.accounts.models import User
from advisor.audits.models import Capture, LimitSetting
from advisor.audits.services.rulebook import judged_by
from advisor.core import journal
from advisor.core.job_queue import start
from advisor.core.models import Site
from advisor.systems.models import System
from rules.engine import BadLimit, check_names, rules

__all__ = ["BadLimit", "counting", "hold", "limits_of", "set_limit", "take_back_limit"]


def limits_of(system: System | None) -> dict[str, float]:
    """The limits a system is judged by where they differ from the rules' own: the site's, then its own over them.

    Of a system that is not known yet: the site's. One that no rule has any more is left out, so that an old setting
    never stops an audit.
    """
    rows = LimitSetting.objects.filter(Q(system=None) | Q(system=system))
    found = dict(rows.order_by(F("system").asc(nulls_first=True)).values_list("name", "value"))
    return {name: value for name, value in found.items() if _exists(name, value)}


def _exists(name: str, value: float) -> bool:
    try:
        check_names({name: value})
    except BadLimit:
        return False
    return True


def counting(name: str, system: System | None) -> tuple[float, bool]:
    """The value that counts for a system, or for the site, and whether it was set for just that.

    Raises `BadLimit` where no rule has the limit.
    """
    own = _own(name)
    if own is None:
        raise BadLimit(f"{name}: no rule has such a limit")
    of_it = LimitSetting.objects.filter(system=system, name=name).values_list("value", flat=True).first()
    if of_it is not None:
        return of_it, True
    return limits_of(system).get(name, own), False


def _own(name: str) -> float | None:
    """The rule's own value of a limit; `None` where no rule has it."""
    rule, _, limit = name.rpartition(".")
    found = next((one for one in rules() if one.id == rule), None)
    own: float | None = getattr(found.limits(), limit, None) if found else None
    return own


def set_limit(
    name: str, value: float, by: User, *, system: System | None, why: str = "", request: HttpRequest | None = None
) -> LimitSetting:
    """Set `rule.limit` for a system, or without one for the site; renews the audits it concerns. Raises `BadLimit`."""
    check_names({name: value})
    why = "".join(c if c.isprintable() else " " for c in why)[:300].strip()
    with transaction.atomic():
        hold(system)
        old, _ = counting(name, system)
        setting, _ = LimitSetting.objects.update_or_create(
            system=system, name=name, defaults={"value": value, "by": by, "why": why, "at": timezone.now()}
        )
        told = f"{name} from {old:g} to {value:g}{f': {why}' if why else ''}"
        journal.note(by, "limit set", told, system=system, request=request)
        _renew(system, name)
    return setting


def take_back_limit(name: str, by: User, *, system: System | None, request: HttpRequest | None = None) -> bool:
    """Go back to the rule's own limit (or, for a system, the site's); returns whether one was set."""
    with transaction.atomic():
        hold(system)
        old = LimitSetting.objects.filter(system=system, name=name).values_list("value", flat=True).first()
        gone, _ = LimitSetting.objects.filter(system=system, name=name).delete()
        if gone:
            known = _own(name) is not None  # a limit that no rule has any more is taken back as well
            told = f"{name} from {old:g}" + (f" back to {counting(name, system)[0]:g}" if known else "")
            journal.note(by, "limit taken back", told, system=system, request=request)
            _renew(system, name)
    return bool(gone)


def hold(system: System | None) -> None:
    """Wait for whoever changes a limit of the same system, or of the site, at this moment."""
    if system is not None:
        System.objects.select_for_update().filter(pk=system.pk).first()
    else:
        Site.objects.select_for_update().filter(pk=Site.get().pk).first()


def _renew(system: System | None, name: str) -> None:
    """Have the newest capture of each system concerned audited again."""
    products = judged_by(name.split("/", 1)[0])
    concerned = System.objects.filter(pk=system.pk) if system else System.objects.all()
    if not system and products is not None:
        concerned = concerned.filter(product__in=products)
    captures = list(concerned.exclude(latest=None).values_list("latest__capture_id", flat=True))
    Capture.objects.filter(pk__in=captures).update(audit_wanted=timezone.now())
    for capture_id in captures:
        start("audits.audit_again", capture_id, None, "limits changed")
