"""The PDF of an audit: made in the background after the audit, or when it is asked for, once, and kept for everybody.

To make one takes seconds. It is kept with a digest of all that it is made of and handed over only where that is still
the same; with its audit it goes. What was not made in the background (the worker was killed, the queue is long, a newer
audit has come) is made when somebody asks.
"""

import hashlib
import json
import time
from collections.abc import Mapping
from contextlib import suppress
from typing import Any

from django.conf import settings
from django.db import DatabaseError, OperationalError, transaction
from django.db.models import F, prefetch_related_objects
from django.db.models.functions import Length
from django.utils import timezone

from advisor.audits.models import Audit, Printed
from advisor.audits.report.pdf import NoPdf, pdf
from advisor.audits.report.render import Plots, render
from advisor.audits.services.audit_page import courses_of, page_of
from advisor.audits.services.contract import audit_json
from advisor.core.job_queue import leased, start
from advisor.core.version import reports_version

MOST_DRAWN = 12
"""Comparisons of one file with a picture in a report; a table of 16 numbers of processes makes 32."""
PATIENCE = 60.0
"""Seconds that a request waits for another one that makes the same PDF; then it makes one for itself."""
LOOK = 0.1
"""Seconds between two looks whether the other one is through."""


def html_of(audit: Audit, data: Mapping[str, Any]) -> str:
    """The report of an audit whose JSON is `data`, with the pictures of its page."""
    shown = page_of(audit)
    found, waiting = {}, list(shown.roots)
    while waiting:
        node = waiting.pop()
        waiting += node.symptoms
        if node.plot:
            found[node.finding.key] = node.plot
    comparisons = [one.picture for one in shown.comparisons[:MOST_DRAWN]]
    accounts = [one.printed for one in shown.accounts]
    return render("audit", data, "html", Plots(found, [plot for _, plot in shown.laws], comparisons, accounts))


def pdf_of(audit: Audit, data: Mapping[str, Any]) -> bytes:
    """The PDF of an audit whose JSON is `data`: the one that is kept, else one that is made now, by one request alone.

    Raises `NoPdf` where none can be made on this machine.
    """
    made_of = _made_of(audit, data)
    until = time.monotonic() + PATIENCE
    made: bytes | None = None
    while (found := _kept(audit, made_of)) is None:
        try:
            with leased(f"pdf {audit.pk}") as ours:
                if ours or time.monotonic() > until:
                    made = _kept(audit, made_of) or _make(
                        audit, data, made_of
                    )  # looked again: it may have come just now
        except OperationalError:  # SQLite, while something large is written: who reads it does not wait for that
            made = made or pdf(html_of(audit, data))
        if made is not None:
            return made
        time.sleep(LOOK)
    return found


def is_made(audit: Audit, data: Mapping[str, Any]) -> bool:
    """Whether the PDF of an audit whose JSON is `data` is kept, so that it is handed over at once."""
    return _is_kept(audit, _made_of(audit, data))


def ask_for_pdf(audit_id: int) -> None:
    """Have the PDF of an audit made now, by a worker: somebody waits for it."""
    start("audits.print_asked", audit_id)


def print_asked(audit_id: int) -> None:
    """Make the PDF of an audit that somebody waits for, and keep it; another process that makes it is left alone."""
    audit = Audit.objects.filter(pk=audit_id).select_related("system", "capture__upload", "capture__system").first()
    if audit is None:
        return
    prefetch_related_objects([audit], "findings")
    data = audit_json(audit, states=True)
    made_of = _made_of(audit, data)
    with leased(f"pdf {audit.pk}") as ours, suppress(NoPdf):
        if ours and not _is_kept(audit, made_of):
            _make(audit, data, made_of)


def want_pdf(audit_id: int) -> None:
    """Have the PDF of an audit made in the background, on commit, where PDFs are kept at all."""
    if settings.PDF_MB:
        start("audits.print_pdf", audit_id)


def print_ahead(audit_id: int) -> None:
    """Make the PDF of an audit and keep it, if it is still the newest one of its system."""
    newest = Audit.objects.filter(pk=audit_id, system__latest=F("pk"))
    audit = newest.select_related("system", "capture__upload", "capture__system").first()
    if audit is not None:
        prefetch_related_objects([audit], "findings")
        with suppress(NoPdf):  # whoever asks for it is told
            pdf_of(audit, audit_json(audit, states=True))


def _made_of(audit: Audit, data: Mapping[str, Any]) -> str:
    """A digest of the program, the audit, and the captures before it, whose figures its plots show."""
    courses = courses_of(audit, audit.findings.all())
    shown = [reports_version(), settings.TIME_ZONE, data, courses]
    return hashlib.sha256(json.dumps(shown, sort_keys=True, default=str).encode()).hexdigest()


def _is_kept(audit: Audit, made_of: str) -> bool:
    return Printed.objects.filter(audit=audit, made_of=made_of).exists()


def _kept(audit: Audit, made_of: str) -> bytes | None:
    found = Printed.objects.filter(audit=audit, made_of=made_of).first()
    return None if found is None else bytes(found.data)


def _make(audit: Audit, data: Mapping[str, Any], made_of: str) -> bytes:
    """Make it and keep it, and let go of the oldest ones where all together are more than `PDF_MB`."""
    made = pdf(html_of(audit, data))
    if not settings.PDF_MB:
        return made
    values = {"made_of": made_of, "data": made, "at": timezone.now()}
    with suppress(DatabaseError), transaction.atomic():  # what cannot be kept is made again
        if Audit.objects.select_for_update().filter(pk=audit.pk).exists():
            Printed.objects.update_or_create(audit=audit, defaults=values)
        room = settings.PDF_MB * 1_000_000
        old = []
        for pk, size in Printed.objects.order_by("-at").values_list("pk", Length("data")):
            room -= size
            old += [pk] if room < 0 else []
        Printed.objects.filter(pk__in=old).delete()
    return made
