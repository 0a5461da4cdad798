"""Whether the server that answers is the one that answered before: figures of another one never join its history.

The name says which server it is. A server of the same name with more engines, or with a later release, is the same one,
grown or upgraded: it goes on, and the journal says so. With both at once, an earlier release or another machine it may
be a copy of it (a restored dump keeps the name): then, as with another name, nothing is taken until somebody who works
for the team takes it on. A server without a name is known by release and engines alone: any change stops it.
"""

import re
from collections.abc import Callable
from dataclasses import asdict
from typing import Any

from django.db import transaction
from django.http import HttpRequest
from django.utils import timezone

from advisor.models import DataSource, System, User
from advisor.services import former, journal
from advisor.services.uploads import clean_text
from collectors.live.identity import Identity, OtherServer

NAMELESS = "a server without a name"
RELEASE = re.compile(r"/([0-9]+)\.([0-9]+)(?: SP([0-9]+))?(?: PL([0-9]+))?")
PLATFORM = re.compile(r"/P/([^/]+)/")
LOOK = "look at its address; if it is meant, take it on: on the page of the data source"


class Refused(ValueError):
    """What is not taken on; says why, and what to do."""


def stranger(source: DataSource, found: Identity) -> str:
    """Why the server that answers is not taken for the one that is meant; empty: it is."""
    system, known = source.system, source.known
    if not known:
        other = former.find(system.team, system.product, found.server) if found.server else None
        if other and other.pk != system.pk:
            return f"it calls itself {found.server}, which is the name of another system of the team"
        return ""
    before = Identity(known.get("server", ""), known.get("version", ""), known.get("engines"))
    answers_to = {former.key_of(name) for name in (before.server, system.name, *system.former) if before.server}
    if former.key_of(found.server) not in (answers_to or {""}):
        return f"it was {before.server or NAMELESS}, and is now {found.server or NAMELESS}"
    changed = changes(before, found)
    if changed and (not found.server or len(changed) > 1 or _is_elsewhere(before.version, found.version)):
        return f"it goes by the same name, but {' and '.join(changed)}" if found.server else " and ".join(changed)
    return ""


def changes(before: Identity, now: Identity) -> list[str]:
    """What is other than before beside the name, in words."""
    found = []
    if now.version != before.version:
        found.append(f"its version was {before.version or 'not said'}, and is now {now.version or 'not said'}")
    if before.engines and now.engines and now.engines != before.engines:
        found.append(f"it had {before.engines} engines, and has now {now.engines}")
    return found


def admit(source: DataSource) -> Callable[[Identity], None]:
    """What a collector is to ask before it keeps anything. It raises `OtherServer`."""

    def check(said: Identity) -> None:
        found = cleaned(said)
        if why := stranger(source, found):
            raise OtherServer(f"another server answers than before: {why}", LOOK, found)

    return check


def stop(source: DataSource, error: OtherServer) -> None:
    """Remember who answers instead; the journal says so once."""
    now = {**asdict(error.found), "says": error.says}
    with transaction.atomic():
        row = DataSource.objects.select_for_update(of=("self",)).select_related("system").get(pk=source.pk)
        new = {name: row.other.get(name) for name in now} != now
        if new:
            row.other = {**now, "at": timezone.now().isoformat()}
            row.save(update_fields=["other"])
            journal.note(None, "data source stopped", f"{row} of {row.system}: {error.says}", system=row.system)


def answered(source: DataSource, said: Identity) -> None:
    """Remember who answered and was taken; a change that needed no click is in the journal."""
    found = cleaned(said)
    before = Identity(
        *(source.known.get(name, kind) for name, kind in (("server", ""), ("version", ""), ("engines", None)))
    )
    told = changes(before, found) if source.known else []
    if source.known and told:
        what = f"{source} of {source.system}: {' and '.join(told)}"
        journal.note(None, "data source changed by itself", what, system=source.system)
    source.known, source.other, source.silent = asdict(found), {}, None
    source.save(update_fields=["known", "other", "silent"])


def take_on(source: DataSource, seen: str, by: User, request: HttpRequest | None = None) -> None:
    """Go on with the server that answers instead, noted at `seen` as the page showed it. Raises `Refused`."""
    with transaction.atomic():
        row = DataSource.objects.select_for_update(of=("self",)).select_related("system__team").get(pk=source.pk)
        if not row.other or row.other.get("at") != seen:
            raise Refused("meanwhile it is another one, or none: look at the page again")
        found = {name: row.other.get(name) for name in ("server", "version", "engines")}
        system = System.objects.select_for_update().get(pk=row.system_id)
        _answer_to(system, str(found["server"] or ""))
        journal.note(
            by, "data source taken on", f"{row} of {system}: {row.other['says']}", system=system, request=request
        )
        row.known, row.other = found, {}
        row.sizes, row.sizes_at = None, None
        row.save(update_fields=["known", "other", "sizes", "sizes_at"])


def _answer_to(system: System, name: str) -> None:
    """Have a system answer to the name its server has now. Raises `Refused`."""
    if not name:
        return
    has = former.find(system.team, system.product, name)
    if has and has.pk != system.pk:
        raise Refused(
            f"{name} is the name of another system: give that one its own data source, or merge the two on its page"
        )
    if has is None:
        former.answer_to(system, name)
        system.save(update_fields=["former"])


def cleaned(said: Identity) -> Identity:
    """What a server says of itself, as it may be kept and shown."""
    return Identity(clean_text(said.server, 120), clean_text(said.version, 300), said.engines)


def _is_elsewhere(before: str, now: str) -> bool:
    """Whether a version is of an earlier release, or of another kind of machine."""
    was, is_now = RELEASE.search(before), RELEASE.search(now)
    if was and is_now and _numbers(is_now) < _numbers(was):
        return True
    old, new = PLATFORM.search(before), PLATFORM.search(now)
    return bool(old and new and old[1] != new[1])


def _numbers(found: Any) -> tuple[int, ...]:
    return tuple(int(one or 0) for one in found.groups())
