"""Bring exports, and see what became of them."""

from django.conf import settings
from django.contrib import messages
from django.core.exceptions import PermissionDenied
from django.http import Http404, HttpResponse, JsonResponse
from django.shortcuts import get_object_or_404, redirect
from django.urls import reverse
from django.views.decorators.http import require_POST

from advisor.accounts.models import Team
from advisor.audits.services.collect_script.request import MINUTES
from advisor.audits.services.first_collect import FirstCollect, first_collect
from advisor.core.access import (
    may_work_for,
    systems_of,
    teams_of,
    uploads_of,
)
from advisor.core.concurrency import few_at_a_time
from advisor.core.records import Refused
from advisor.core.views import Asked, page, paged, refusal_told, workers_only
from advisor.uploads.models import FormerUpload, Upload
from advisor.uploads.services import examples, results
from advisor.uploads.services import listing as uploads_list
from advisor.uploads.services.naming import name_exports, unnamed_files
from advisor.uploads.services.uploads import Brought, clean_text, ingest

STATES = {one: one for one in uploads_list.STATES} | {uploads_list.UNNAMED: "names no system"}
"""By which the list is filtered, each in words."""
COLUMNS = (
    ("", "Upload", ""),
    ("", "Systems", ""),
    ("", "Verdict", ""),
    ("", "Files", ""),
    ("when", "When", ""),
    ("who", "Who", ""),
    ("team", "Team", ""),
    ("size", "Size", "n"),
    ("state", "State", ""),
)
"""Of the list of uploads: name in the address (empty: it does not sort), heading, class of the cells."""
MOST_TOLD = 500
"""Reports of one kind in one file that are told one by one."""


@workers_only
def bring(request: Asked) -> HttpResponse:
    """Show the form, or take what it brings: `files`, `system` (empty: recognise), `team`, `to` (upload to extend)."""
    teams = list(teams_of(request.user))
    if request.method != "POST":
        context = {
            "teams": teams,
            "systems": systems_of(request.user).order_by("name").values_list("name", flat=True)[:2000],
            "extends": _extended(request, request.GET.get("to")),
            "system": request.GET.get("system", ""),
            "bounds": settings,
            "first": _first_collect(request),
            **examples.offered(request.user),
        }
        return page(request, "uploads/upload.html", context)
    given = request.FILES.getlist("files")  # parses the body, which may be cut off
    if request.META.get("lockwright.too_much"):
        return _refused(
            request, f"more than {settings.UPLOAD_MB:,} MB at a time: zip the files, or upload some of them"
        )
    extends = _extended(request, request.POST.get("to"))
    team = extends.team if extends else _team(request, teams)
    if team is None:
        return _refused(request, "choose the team the systems belong to" if teams else "you are in no team yet")
    files = [Brought(file.name or "unnamed", file) for file in given]  # type: ignore[arg-type]
    try:
        name = request.POST.get("system", "")
        taken = ingest(files, team, request.user, system_name=name, extends=extends, request=request)
    except Refused as error:
        return _refused(request, str(error))
    if not taken.new:
        whose = f" for {taken.upload.system_name}" if taken.upload.system_name else ""
        messages.info(request, f"The same files were uploaded{whose} before: this is that upload.")
    location = reverse("upload-show", args=[taken.upload.pk])
    if "application/json" in request.headers.get("Accept", ""):
        return JsonResponse({"location": location})
    return redirect(location)


def _first_collect(request: Asked) -> FirstCollect | None:
    """What to collect of the product that the address names: `product`, `minutes`, `release`."""
    minutes = request.GET.get("minutes", "")
    number = int(minutes) if minutes.isascii() and minutes.isdigit() and len(minutes) < 5 else MINUTES
    return first_collect(request.GET.get("product", ""), number, clean_text(request.GET.get("release", ""), 40))


@workers_only
@require_POST
def bring_examples(request: Asked) -> HttpResponse:
    """Load the examples for a team: `team`, where there are several."""
    team = _team(request, examples.teams_for(request.user))
    if team is None:
        return _refused(request, "choose the team the examples are for")
    count = examples.bring_examples(team, request.user, request=request)
    if count:
        messages.success(
            request,
            f"{count} example uploads are being read. Their systems are marked and stand in the group "
            f"{examples.GROUP} of {team}; nobody is mailed of them.",
        )
    else:
        messages.info(request, f"{team} has the examples already.")
    return redirect("overview")


@workers_only
@require_POST
def remove_examples(request: Asked) -> HttpResponse:
    """Remove the examples of every team that this person works for."""
    gone = sum(
        examples.remove_examples(team, request.user, request=request) for team in examples.teams_for(request.user)
    )
    messages.success(request, f"The examples are removed: {gone} {'system' if gone == 1 else 'systems'}.")
    return redirect("overview")


def reading(request: Asked) -> HttpResponse:
    """Say how many uploads are still being read, for pages that list what comes of them."""
    return page(request, "uploads/parts/reading.html", {"now": uploads_list.being_read(request.user), "followed": True})


def listing(request: Asked) -> HttpResponse:
    """The uploads that the address asks for (`services.listing.Filter`), newest first, each with what came of it."""
    asked = uploads_list.Filter.read(request.GET.dict())
    shown = paged(request, uploads_list.listed(request.user, asked))
    context = {
        "shown": shown,
        "rows": uploads_list.rows(list(shown)),
        "asked": asked,
        "states": STATES,
        "columns": COLUMNS,
        "sorted_words": {column: words for column, words, _ in COLUMNS if column},
    }
    return page(request, "uploads/list.html", context)


def show(request: Asked, pk: int) -> HttpResponse:
    """Show how far an upload has come, then what was found in it."""
    upload = uploads_of(request.user).select_related("by", "team").filter(pk=pk).first()
    if upload is None:
        return _moved(request, pk)
    rows = results.rows_of(upload) if upload.settled else []
    context = {
        "upload": upload,
        "files": list(upload.files.all()),
        "rows": rows,
        "unnamed": unnamed_files(upload) if upload.settled and upload.unnamed else [],
        "asked": sum(row.asks for row in rows),
        "most_asked": results.MOST_ASKED,
        "most_told": MOST_TOLD,
        "lines_left": results.lines_left,
        "by_system": results.captures_by_system(upload) if upload.settled else [],
        "may_work": may_work_for(request.user, upload.team),
        "systems": systems_of(request.user).filter(team=upload.team).values_list("name", flat=True)[:2000],
    }
    return page(request, "uploads/parts/upload_state.html" if request.htmx else "uploads/show.html", context)


@workers_only
def belongs(request: Asked, pk: int) -> HttpResponse:
    """Say which system the exports without a name belong to, and have the upload read again.

    `system` is for all of them; each `file` has a `name` of its own, in the same order.
    """
    upload = get_object_or_404(uploads_of(request.user), pk=pk)
    if not may_work_for(request.user, upload.team):
        raise PermissionDenied
    if request.method == "POST":
        names = dict(zip(request.POST.getlist("file"), request.POST.getlist("name"), strict=False))
        with refusal_told(request, "Nothing changed: {}."):
            name_exports(upload, request.user, request.POST.get("system", ""), names, request=request)
    return redirect("upload-show", pk)


@few_at_a_time(4)
def lines(request: Asked, pk: int) -> HttpResponse:
    """Show the lines a finding quotes, with those around them: `?file=…&first=…&last=…`."""
    upload = get_object_or_404(uploads_of(request.user), pk=pk)
    try:
        first, last = (int(request.GET.get(name, "1")) for name in ("first", "last"))
    except ValueError:
        raise Http404 from None
    file = request.GET.get("file", "")
    if not 0 < first <= last < 1 << 40:
        raise Http404
    context = {"upload": upload, "file": file, "first": first, "last": last}
    return page(request, "uploads/lines.html", {**context, "lines": results.lines_around(upload, file, first, last)})


def _moved(request: Asked, pk: int) -> HttpResponse:
    """Lead from an upload that other files were added to, to the one that holds both."""
    former = get_object_or_404(FormerUpload, number=pk, upload__in=uploads_of(request.user))
    if not request.htmx:
        messages.info(request, f"Exports were added to upload {pk}: this upload holds them all.")
    return redirect("upload-show", former.upload_id)


def _team(request: Asked, teams: list[Team]) -> Team | None:
    """The team that was chosen; the only one where nothing was."""
    chosen = request.POST.get("team", "")
    if not chosen:
        return teams[0] if len(teams) == 1 else None
    return next((team for team in teams if str(team.pk) == chosen), None)


def _extended(request: Asked, pk: str | None) -> Upload | None:
    """The upload that these files are to join."""
    if not pk:
        return None
    upload = get_object_or_404(uploads_of(request.user), pk=pk) if pk.isascii() and pk.isdigit() else None
    if upload is None:
        raise Http404
    if not may_work_for(request.user, upload.team):
        raise PermissionDenied
    return upload


def _refused(request: Asked, why: str) -> HttpResponse:
    if "application/json" in request.headers.get("Accept", ""):
        return JsonResponse({"error": f"Not taken: {why}."}, status=400)
    messages.error(request, f"Not taken: {why}.")
    return redirect("upload")
