"""One sample brought twice is one capture: the one that holds more is kept, and both uploads lead to it."""

from collections import Counter
from dataclasses import replace

from django.db.models import Q, QuerySet

from advisor.audits.models import Capture
from advisor.uploads.models import Upload
from collectors.facts import NOWHERE, Fact
from collectors.facts.ase import SysmonSection
from collectors.facts.codec import DamagedFacts, load
from collectors.facts.openvms import Node


def captures_in(upload: Upload) -> QuerySet[Capture]:
    """The captures an upload told of, whichever upload they were kept from."""
    return Capture.objects.filter(Q(upload=upload) | Q(also_in=upload)).distinct()


def settle_again(capture: Capture) -> Capture:
    """Hold a capture that was just kept against others of the same system and interval; returns the one that stays.

    Where one holds every fact of the other, whatever file and line it stood in, that one stays. Captures without a time
    of their own, and two that each know something of their own, are left alone.
    """
    if not capture.timed or not capture.interval.get("end"):
        return capture
    alike = Capture.objects.filter(
        system=capture.system_id, taken=capture.taken, timed=True, interval=capture.interval
    ).exclude(pk=capture.pk)
    for other in alike.exclude(upload=capture.upload_id).select_related("packed"):
        mine, theirs = _told(capture), _told(other)
        if mine is None or theirs is None:
            continue
        if not theirs - mine:
            _fold(other, capture)
        elif not mine - theirs:
            _fold(capture, other)
            return other
    return capture


def _fold(gone: Capture, stays: Capture) -> None:
    """Let one capture stand for the other."""
    uploads = [*gone.also_in.values_list("pk", flat=True), gone.upload_id]
    stays.also_in.add(*(pk for pk in uploads if pk is not None and pk != stays.upload_id))
    gone.delete()


def _told(capture: Capture) -> "Counter[str] | None":
    """What a capture says, without where it stands; `None` where that cannot be told any more."""
    try:
        facts, lost = load(bytes(capture.packed.data))
    except DamagedFacts:
        return None
    return None if lost else Counter(map(_said, facts))


def _said(fact: Fact) -> str:
    """A fact without its place, nor when a listing was printed: the same settings are the same an hour later."""
    if isinstance(fact, Node):
        return repr(replace(fact, source=NOWHERE, at=None))
    if isinstance(fact, SysmonSection):  # its rows know their lines; what is judged of them stands in other facts
        return fact.title
    return repr(replace(fact, source=NOWHERE))
