"""One audit: findings with their proof and their scripts, what is in order, what could not be judged."""

import json
from functools import partial

from django.conf import settings
from django.contrib import messages
from django.core.exceptions import PermissionDenied
from django.db.models import prefetch_related_objects
from django.http import Http404, HttpResponse
from django.shortcuts import get_object_or_404, redirect
from django.urls import reverse

from advisor.audits.models import Audit
from advisor.audits.report.compared import settings_of
from advisor.audits.report.pdf import NoPdf, check
from advisor.audits.report.render import render
from advisor.audits.report.run_sheet import run_sheet
from advisor.audits.services.audit_page import collect_shown, page_of, trend_of
from advisor.audits.services.compared_page import TONES, VERDICTS
from advisor.audits.services.contract import audit_json
from advisor.audits.services.printing import ask_for_pdf, html_of, is_made, pdf_of
from advisor.audits.services.renewal import want_audit
from advisor.audits.views.capture import file_name, head
from advisor.audits.views.rulebook import entries_of
from advisor.charts.compared import ratio_words
from advisor.core.access import audits_of, may_work_for
from advisor.core.concurrency import few_at_a_time
from advisor.core.error_pages import error
from advisor.core.version import rules_version
from advisor.core.views import Asked, page, workers_only
from advisor.findings.services.changes_seen import changes_of, marks_for
from advisor.findings.services.pages import is_accepted, open_counts, pages_of, verdict_now
from advisor.openvms.services.shown_on import shown_on

FORMS = {
    "json": "application/json",
    "txt": "text/plain; charset=utf-8",
    "html": "text/html; charset=utf-8",
    "pdf": "application/pdf",
}
REPORT_CSP = "default-src 'none'; style-src 'unsafe-inline'; sandbox"
"""A report as a file is one HTML file with its style in it; nothing in it runs."""


def _audit(request: Asked, pk: int) -> Audit:
    return get_object_or_404(audits_of(request.user).select_related("system__team", "capture__upload", "by"), pk=pk)


def show(request: Asked, pk: int) -> HttpResponse:
    """Show it."""
    audit = _audit(request, pk)
    followed = pages_of(audit)
    accepted = {key: row for key, row in followed.items() if is_accepted(row)}
    found = {key.partition(":")[0] for key in followed}
    context = {
        "rule_entries": {one["rule"]: one for one in entries_of() if one["rule"] in found and one["limits"]},
        **head(audit, audit.problems, "audit"),
        "shown": page_of(audit, followed),
        "followed": followed,
        "accepted": accepted,
        "verdict": verdict_now(audit, accepted),
        "open_counts": open_counts(audit, accepted),
        "collect": collect_shown(audit),
        "trend": trend_of(audit),
        "change_marks": partial(marks_for, changes=changes_of(audit.system_id)),
        "upload": audit.capture.upload,
        "may_work": may_work_for(request.user, audit.system.team),
        "of_today": audit.rules_version == rules_version(),
        "verdicts_said": VERDICTS,
        "tones": TONES,
        "ratio_words": ratio_words,
        "settings_of": settings_of,
        "shown_on": shown_on(audit.system.product) if hasattr(audit.capture, "packed") else {},
    }
    return page(request, "audits/audit.html", context)


def sheet(request: Asked, pk: int) -> HttpResponse:
    """Show the run sheet of its plan."""
    audit = _audit(request, pk)
    prefetch_related_objects([audit], "findings")
    (capture,) = audit_json(audit, inputs=False, states=True)["captures"]
    context = {
        "sheet": run_sheet(capture),
        "audit": audit,
        "capture": audit.capture,
        "system": audit.system,
    }
    return page(request, "audits/run_sheet.html", context)


@few_at_a_time(8)
def wait_for_pdf(request: Asked, pk: int) -> HttpResponse:
    """Lead to the PDF where it is kept; else have it made by a worker, and show that until it is there.

    Where none are kept it is made while it is handed over.
    """
    audit = _audit(request, pk)
    prefetch_related_objects([audit], "findings")
    address = reverse("audit-download", args=[pk, file_name(audit), "pdf"])
    try:
        check()
    except NoPdf as why:
        return error(request, 503, "No PDF on this machine", str(why))
    if not settings.PDF_MB or is_made(audit, audit_json(audit, states=True)):
        if not request.htmx:
            return redirect(address)
        return page(request, "audits/parts/pdf_state.html", {"audit": audit, "address": address, "ready": True})
    context = {"audit": audit, "system": audit.system, "address": address, "ready": False}
    if request.htmx:
        return page(request, "audits/parts/pdf_state.html", context)
    ask_for_pdf(audit.pk)
    return page(request, "audits/pdf.html", context)


@few_at_a_time(4)
def download(request: Asked, pk: int, name: str, form: str) -> HttpResponse:
    """Hand it over as `json`, `txt`, `html` or `pdf`. The name in the address is for people alone."""
    if form not in FORMS:
        raise Http404
    audit = _audit(request, pk)
    prefetch_related_objects([audit], "findings")
    data = audit_json(audit, states=form != "json")  # the file of JSON is what `manage.py audit` prints
    if form == "json":
        body: str | bytes = json.dumps(data, ensure_ascii=False, indent=1, allow_nan=False)
    elif form == "pdf":
        try:
            body = pdf_of(audit, data)
        except NoPdf as why:
            return error(request, 503, "No PDF on this machine", str(why))
    else:
        body = html_of(audit, data) if form == "html" else render("audit", data, form)
    answer = HttpResponse(body, content_type=FORMS[form])
    answer["Content-Disposition"] = f'attachment; filename="{file_name(audit)}.{form}"'
    answer["Content-Security-Policy"] = REPORT_CSP
    return answer


@workers_only
def again(request: Asked, pk: int) -> HttpResponse:
    """Have the capture audited by today's rules and limits."""
    audit = _audit(request, pk)
    if not may_work_for(request.user, audit.system.team):
        raise PermissionDenied
    if request.method == "POST":
        want_audit(audit.capture, request.user)
        messages.success(request, "Being audited again; the system's page shows the new audit in a moment.")
    return redirect("system", audit.system_id)
