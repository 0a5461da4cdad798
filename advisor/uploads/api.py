"""Bring exports; wait for their audit, or ask later."""

import threading
import time
from typing import Annotated, Any

from django.conf import settings
from django.http import HttpResponse, JsonResponse
from django.shortcuts import get_object_or_404
from django.urls import reverse
from ninja import File, Form, Query, Router, UploadedFile

from advisor.accounts.api_auth import Asked, chosen_team, needs
from advisor.audits.api.shapes import AuditRun
from advisor.audits.services.contract import upload_json
from advisor.audits.services.deduplicate import captures_in
from advisor.core.access import uploads_of
from advisor.core.api import ERRORS, Error
from advisor.core.api_errors import Problem, cut_off, too_much
from advisor.core.records import Refused
from advisor.uploads.models import FormerUpload, Upload
from advisor.uploads.services.naming import unnamed_files
from advisor.uploads.services.uploads import Brought, ingest
from advisor.uploads.shapes import NotRead, UploadState, UploadWhole

router = Router(tags=["uploads"])
LOOK_EVERY = 0.4
"""Seconds between two looks at an upload that is waited for."""
WAITERS = threading.BoundedSemaphore(max(1, settings.WEB_THREADS // 2))
"""Who waits holds a thread of the web server; half of them stay free for everybody else."""
MOST_WAIT = 120


@router.post(
    "",
    auth=needs("upload"),
    response={200: AuditRun, 202: UploadState, **ERRORS, 413: Error, 422: NotRead, 503: Error},
    by_alias=True,
    url_name="uploads",
    summary="Upload exports",
)
def bring(
    request: Asked,
    files: File[list[UploadedFile]],
    system: Annotated[str, Form(description="The system of exports that name none.", max_length=120)] = "",
    team: Annotated[str, Form(description="Name or number of the team; needed in several.", max_length=80)] = "",
    wait: Annotated[int, Query(ge=0, le=MOST_WAIT, description="Seconds to wait for the audit.")] = 0,
) -> Any:
    """Take in files (text, `.zip`, `.gz`) and audit them: many parts named `files`, as `curl -F files=@a -F files=@b`.

    With `wait` the answer is 200 with the whole `audit/1` where it is ready in time; else it is 202 and says where to
    ask. The same files twice are one upload. Too many bytes or files: 413.
    """
    if cut_off(request):
        return too_much()
    chosen = chosen_team(request.user, team)
    brought = [Brought(file.name or "unnamed", file) for file in files]  # type: ignore[arg-type]  # a file reads
    try:
        taken = ingest(brought, chosen, request.user, system_name=system, origin="api", request=request)
    except Refused as error:  # there are files, none of them of an earlier upload: it can only be too much
        raise Problem(413, f"Not taken: {error}.", "Upload less at a time.") from None
    upload = taken.upload
    if wait and _wait_for(upload, wait):
        return _audit_of(upload)
    response = JsonResponse({**_state(upload), "new": taken.new}, status=202)
    response["Location"] = _location(upload)
    return response


@router.get(
    "/{int:upload_id}",
    auth=needs("read"),
    response={200: UploadWhole, **ERRORS},
    url_name="upload",
    summary="An upload",
)
def show(request: Asked, upload_id: int) -> Any:
    """Tell how far an upload has come."""
    upload = _found(request, upload_id)
    return {
        **_state(upload),
        "error": upload.error,
        "team": upload.team.name,
        "by": upload.by.username if upload.by else None,
        "at": upload.at,
        "finished": upload.finished,
        "total_bytes": upload.total_bytes,
        "read_bytes": upload.read_bytes,
        "bytes_dropped": upload.bytes_dropped,
        "files": [file.name for file in upload.files.all()],
        "unnamed": unnamed_files(upload) if upload.unnamed else [],
        "audits": list(captures_in(upload).exclude(audit=None).order_by("id").values_list("audit", flat=True)),
    }


@router.get(
    "/{int:upload_id}/audit",
    auth=needs("read"),
    response={200: AuditRun, **ERRORS, 409: NotRead, 422: NotRead},
    by_alias=True,
    url_name="upload-audit",
    summary="The audits of an upload",
)
def audit(request: Asked, upload_id: int) -> HttpResponse:
    """Give the whole run as `audit/1`: 409 while it is being read, 422 where it could not be read."""
    return _audit_of(_found(request, upload_id))


def _found(request: Asked, upload_id: int) -> Upload:
    """The upload of this number, or the one that took its place when exports were added to it."""
    mine = uploads_of(request.user).select_related("team", "by")
    former = FormerUpload.objects.filter(number=upload_id, upload__in=uploads_of(request.user)).first()
    return get_object_or_404(mine, pk=former.upload_id if former else upload_id)


def _wait_for(upload: Upload, seconds: int) -> bool:
    """Wait until an upload is settled; returns whether it is. Where too many wait already, do not."""
    if upload.settled:
        return True
    if not WAITERS.acquire(blocking=False):
        return False
    try:
        end = time.monotonic() + seconds
        while True:
            upload.refresh_from_db()
            left = end - time.monotonic()
            if upload.settled or left <= 0:
                return upload.settled
            time.sleep(min(LOOK_EVERY, left))
    finally:
        WAITERS.release()


def _audit_of(upload: Upload) -> HttpResponse:
    if upload.state == Upload.State.DONE:
        return JsonResponse(upload_json(upload, states=True))
    if upload.state == Upload.State.FAILED:
        raise Problem(422, f"It could not be read: {upload.error}", "On its page it can be read again.", **_at(upload))
    raise Problem(409, "It is not read yet.", "Ask again in a few seconds.", **_at(upload))


def _at(upload: Upload) -> dict[str, Any]:
    return {"upload": upload.pk, "state": upload.state, "location": _location(upload)}


def _location(upload: Upload) -> str:
    return reverse("api:upload", args=[upload.pk])


def _state(upload: Upload) -> dict[str, Any]:
    return {**_at(upload), "audit": reverse("api:upload-audit", args=[upload.pk])}
