"""Whether the server that answers is the one that answered before: figures of another one never join its history.

With another name, another version or another number of engines nothing is taken until somebody who works for the team
takes it on: it may be another server (a wrong port, a restored dump, which keeps the name) as well as one that was
upgraded. Where only one of these was not said this time, it is asked again by itself. A source that is new to a system
with a history is one that may lead elsewhere, too.
"""

from collections.abc import Callable
from dataclasses import asdict

from django.db import transaction
from django.http import HttpRequest
from django.utils import timezone

from advisor.accounts.models import User
from advisor.core import journal
from advisor.core.records import Refused
from advisor.schedules.models import DataSource
from advisor.systems.models import System
from advisor.systems.services import aliases
from advisor.uploads.services.uploads import clean_text
from collectors.live.identity import Identity, OtherServer

NAMELESS = "a server without a name"
LOOK = "look at its address; if it is meant, take it on: on the page of the data source"


def stranger(source: DataSource, found: Identity) -> str:
    """Why the server that answers is not taken for the one that is meant; empty: it is."""
    if not source.known:
        return _new(source, found)
    before = known(source)
    if aliases.key_of(found.server or "") != aliases.key_of(before.server or ""):
        is_now = "does not say who it is" if found.server is None else f"is now {found.server or NAMELESS}"
        return f"it was {before.server or NAMELESS}, and {is_now}"
    changed = " and ".join(_changes(before, found))
    return f"it goes by the same name, but {changed}" if changed and found.server else changed


def known(source: DataSource) -> Identity:
    """Who answered the last time something was taken."""
    said = source.known
    return Identity(said.get("server"), said.get("version") or "", said.get("engines"))


def _new(source: DataSource, found: Identity) -> str:
    """Why the first server that answers by a source is not taken for its system; empty: it is."""
    system = source.system
    other = aliases.find(system.team, system.product, found.server) if found.server else None
    if other and other.pk != system.pk:
        return f"it calls itself {found.server}, which is the name of another system of the team"
    others = system.sources.exclude(pk=source.pk)
    names = [name for one in others if one.known and (name := known(one).server)]
    if names and aliases.key_of(found.server or "") not in map(aliases.key_of, [*names, system.name, *system.former]):
        says = found.server or NAMELESS
        return f"it is {says}, and what {system.name} has was collected from {', '.join(dict.fromkeys(names))}"
    return ""


def _changes(before: Identity, now: Identity) -> list[str]:
    """What is other than before beside the name, in words."""
    found = []
    if now.version != before.version:
        found.append(f"its version was {before.version or 'not said'}, and is now {now.version or 'not said'}")
    if before.engines and now.engines != before.engines:
        has = f"has now {now.engines}" if now.engines else "does not say how many it has now"
        found.append(f"it had {before.engines} engines, and {has}")
    return found


def admit(source: DataSource, seen: Callable[[Identity], None]) -> Callable[[Identity], None]:
    """What a collector is to call before it keeps anything. It raises `OtherServer`; `seen` is told who is taken."""

    def check(said: Identity) -> None:
        found = cleaned(said)
        if why := stranger(source, found):
            raise OtherServer(f"another server answers than before: {why}", LOOK, found, again=_unsaid(source, found))
        seen(found)

    return check


def _unsaid(source: DataSource, found: Identity) -> bool:
    """Whether all that is other than before was not said this time: the next time it may be."""
    before = known(source)
    whole = Identity(
        before.server if found.server is None else found.server,
        found.version or before.version,
        found.engines or before.engines,
    )
    return bool(source.known) and not stranger(source, whole)


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


def answered(source: DataSource, found: Identity) -> None:
    """Remember who answered and was taken."""
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
    has = aliases.find(system.team, system.product, name)
    if has and has.pk != system.pk:
        raise Refused(
            f"{name} is the name of another system: give that one its own data source, or merge the two on its page"
        )
    if has is None:
        aliases.answer_to(system, name)
        system.save(update_fields=["former"])


def cleaned(said: Identity) -> Identity:
    """What a server says of itself, as it may be kept and shown."""
    name = None if said.server is None else clean_text(said.server, 120)
    return Identity(name, clean_text(said.version, 300), said.engines)
