"""The list of findings as a file, by the same address as the page."""

from django.contrib import messages
from django.http import HttpResponse, StreamingHttpResponse
from django.http.response import HttpResponseBase
from django.shortcuts import redirect
from django.urls import reverse
from django.utils import timezone

from advisor.core.csv_files import csv_answer
from advisor.core.views import Asked
from advisor.findings.services import export, listing
from advisor.findings.services.listing import Filter

EXCEL = "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet"


def as_csv(request: Asked) -> StreamingHttpResponse:
    """Hand over what the address asks for as CSV, a line each."""
    found = listing.listed(request.user, Filter.read(request.GET.dict()))
    return csv_answer(_name("csv"), export.COLUMNS, export.csv_rows(found))


def as_excel(request: Asked) -> HttpResponseBase:
    """Hand over what the address asks for as an Excel workbook; what is too long for one is sent back to the list."""
    asked = Filter.read(request.GET.dict())
    count = listing.counts(request.user, asked).total
    if count > export.MOST_IN_EXCEL:
        most = f"{export.MOST_IN_EXCEL:,}"
        messages.error(request, f"{count:,} findings are too many for Excel ({most}): filter them, or take CSV.")
        return redirect(f"{reverse('findings')}?{asked.query()}")
    found = listing.listed(request.user, asked)
    answer = HttpResponse(export.workbook(found), content_type=EXCEL)
    answer["Content-Disposition"] = f'attachment; filename="{_name("xlsx")}"'
    return answer


def _name(ending: str) -> str:
    """Of the file, by the day."""
    return f"lockwright-findings-{timezone.localdate().isoformat()}.{ending}"
