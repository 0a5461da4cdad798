"""Give a system another name, merge it into the one that has that name, or forget it."""

from contextlib import suppress

from django.db import IntegrityError, transaction
from django.db.models import Q
from django.http import HttpRequest
from django.utils import timezone

from advisor.accounts.models import User
from advisor.audits.models import (
    Audit,
    Capture,
    Finding,
    LimitSetting,
)
from advisor.audits.services.persistence import settle_system
from advisor.core import journal
from advisor.core.job_queue import start
from advisor.core.models import JournalEntry
from advisor.core.records import Refused
from advisor.findings.services import tracking
from advisor.notifications.models import Delivery, Mail
from advisor.notifications.services import recipients
from advisor.schedules.models import Run, Schedule
from advisor.schedules.sources import data_sources
from advisor.systems.models import Note, SettingsSnapshot, System
from advisor.systems.services import aliases
from advisor.uploads.models import Upload
from advisor.uploads.services.results import is_nameless
from advisor.uploads.services.uploads import clean_text

LONGEST = 120


def rename_system(
    system: System, name: str, by: User, *, merge: bool = False, request: HttpRequest | None = None
) -> System:
    """Give a system another name; returns the system that has it now. Raises `Refused`.

    Where the team has a system of that name and product, `merge` moves everything of this one there. It answers to the
    name before, too. Exports that name no system go by the new name when their upload is read again.
    """
    name = clean_text(name, LONGEST)
    key = name.upper()[:LONGEST]
    if not name:
        raise Refused("a system needs a name")
    with transaction.atomic():
        system, other = _locked(system, key)
        if name == system.name:
            raise Refused(f"{name} is its name already")
        if other and not merge:
            raise Refused(f"there is a system {other.name}: say that this one shall be merged into it")
        before = system.name
        _name_uploads(system, name)
        if other:
            _merge_into(system, other, by, request)
            aliases.take_names(system, other)
            other.save(update_fields=["former"])
            return other
        aliases.rename(system, name)
        system.save(update_fields=["name", "key", "former"])
        aliases.let_go_elsewhere(system, (name, before))
        journal.note(by, "system renamed", f"{before} to {name}", system=system, request=request)
    return system


def take_for(system: System, name: str, by: User, *, request: HttpRequest | None = None) -> System:
    """Take a system that is called after a file for the one of this name; returns the one that has all of it now.

    It does not answer to the name of the file: the next file that is called so may be of any server. What its uploads
    are read as is the caller's to say. Raises `Refused`.
    """
    name = clean_text(name, LONGEST)
    if not name:
        raise Refused("a system needs a name")
    known = aliases.find(system.team, system.product, name)
    with transaction.atomic():
        system, other = _locked(system, aliases.key_of(known.name if known else name))
        if other:
            _merge_into(system, other, by, request)
            return other
        if name != system.name:
            before, system.name, system.key = system.name, name, aliases.key_of(name)
            system.save(update_fields=["name", "key"])
            journal.note(by, "system renamed", f"{before} to {name}", system=system, request=request)
    return system


def let_go_of_name(system: System, name: str, by: User, *, request: HttpRequest | None = None) -> None:
    """Let a system no longer answer to a name it had. Raises `Refused` where it does not."""
    with transaction.atomic():
        system, _ = _locked(system, system.key)
        if not aliases.let_go(system, name):
            raise Refused(f"{clean_text(name, LONGEST)} is no name that {system.name} had")
        system.save(update_fields=["former"])
        what = f"{system.name} is not {clean_text(name, LONGEST)} any more"
        journal.note(by, "former name let go", what, system=system, request=request)


def forget_system(system: System, typed: str, by: User, *, request: HttpRequest | None = None) -> None:
    """Forget a system with all there is of it, its schedules, too. Raises `Refused` unless its name was typed.

    The uploads stay: read again, they make it anew.
    """
    if clean_text(typed, LONGEST).upper() != clean_text(system.name, LONGEST).upper():
        raise Refused(f"type the name {system.name} to forget it")
    with transaction.atomic():
        captures = system.captures.count()
        told = f"{system.name} ({system.product}) with {captures:,} {'capture' if captures == 1 else 'captures'}"
        journal.note(by, "system forgotten", told, team=system.team, request=request)
        system.delete()


def _locked(system: System, key: str) -> tuple[System, System | None]:
    """The system, and the other one of that name in its team and product, if any; both held until the end."""
    concerned = Q(system=system.pk) | Q(pk__in=Run.objects.filter(system=system.pk).values("schedule"))
    # schedules before systems, as whoever ends a run has them: the other way round both would wait for each other
    list(Schedule.objects.select_for_update().filter(concerned).order_by("pk").values_list("pk"))
    alike = System.objects.select_for_update().filter(team=system.team_id, product=system.product)
    held = {one.pk: one for one in (alike.filter(pk=system.pk) | alike.filter(key=key)).order_by("pk")}
    if system.pk not in held:
        raise Refused("it has been merged or forgotten meanwhile")
    return held.pop(system.pk), next(iter(held.values()), None)


def _merge_into(system: System, other: System, by: User, request: HttpRequest | None) -> None:
    """Have `other` take all that there is of `system`, but for its names; both are held, and `system` goes."""
    what = f"{system.name} into {other.name}" + _merge(system, other)
    journal.note(by, "systems merged", what, system=other, request=request)
    _take_over(system, other)
    data_sources.follow(system, other)
    settle_system(other)
    recipients.follow(system, other)
    settle_system(system)


def _merge(system: System, other: System) -> str:
    """Move everything of `system` to `other`; returns what had to be left, for the journal."""
    captures = Capture.objects.filter(system=system)
    known = dict(other.snapshots.values_list("digest", "pk"))
    for snapshot in system.snapshots.only("pk", "digest"):
        if snapshot.digest in known:
            captures.filter(settings=snapshot).update(settings=known[snapshot.digest])
    SettingsSnapshot.objects.filter(system=system, digest__in=known).delete()
    own = set(other.limits.values_list("name", flat=True))
    clash = LimitSetting.objects.filter(system=system, name__in=own)
    left = ", ".join(f"{one.name}={one.value:g}" for one in clash)
    clash.delete()
    limits = bool(own) or system.limits.exists()
    newest = [one.latest.capture_id for one in (system, other) if one.latest]
    System.objects.filter(pk__in=(system.pk, other.pk)).update(latest=None)
    for model in (Audit, Capture, Finding, JournalEntry, LimitSetting, Note, SettingsSnapshot):
        model._default_manager.filter(system=system).update(system=other)
    tracking.merge(system, other)
    created = min(system.created, other.created)
    hours = other.expected_hours or system.expected_hours
    example = system.example and other.example
    System.objects.filter(pk=other.pk).update(created=created, expected_hours=hours, example=example)
    if limits:  # some were judged by other limits than count now
        Capture.objects.filter(pk__in=newest).update(audit_wanted=timezone.now())
        for capture_id in newest:
            start("audits.audit_again", capture_id, None, "limits changed")
    return f"; its own limits {left} are dropped for those of {other.name}" if left else ""


def _take_over(system: System, other: System) -> None:
    """Have schedules, groups and webhooks of `system` take care of `other`, and what they did stand with it."""
    Schedule.objects.filter(system=system).update(system=other)
    for run in Run.objects.filter(system=system):
        both = Run.objects.filter(schedule=run.schedule_id, system=other, due=run.due, why=Run.Why.DUE)
        if run.why == Run.Why.DUE and both.exists():
            run.delete()  # of a group with both, for the same time
        else:
            Run.objects.filter(pk=run.pk).update(system=other)
    with suppress(IntegrityError), transaction.atomic():  # where one of both is made now, each keeps its own
        Run.objects.filter(holds=f"system {system.pk}").update(holds=f"system {other.pk}")
    for model in (Mail, Delivery):
        model._default_manager.filter(system=system).update(system=other)
    for group in system.groups.all():
        group.systems.add(other)
        group.systems.remove(system)
    for hook in system.webhooks.all():
        hook.systems.add(other)


def _name_uploads(system: System, name: str) -> None:
    """Have the uploads of a system read by its new name from now on, where it is not the exports that name it."""
    files: dict[int, set[str]] = {}
    for upload_id, of_capture in system.captures.exclude(upload=None).values_list("upload", "files"):
        files.setdefault(upload_id, set()).update(of_capture)
    old = system.name.upper()
    for upload in Upload.objects.filter(pk__in=files):
        inputs = [one for one in upload.inputs.filter(facts__gt=0) if one.file in files[upload.pk]]
        if all(map(is_nameless, inputs)):
            upload.system_names = {**upload.system_names, **{one.file: name for one in inputs}}
        elif not upload.captures.exclude(system=system).exists():
            upload.system_name = name  # a chosen name goes before that of the one system an upload speaks of
            same = {file: name for file, one in upload.system_names.items() if one.upper() == old}
            upload.system_names = {**upload.system_names, **same}
        upload.save(update_fields=["system_name", "system_names"])
