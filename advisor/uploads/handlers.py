"""How the bytes of a form arrive: bounded while they come, not when they are all here."""

from typing import Any

from django.conf import settings
from django.core.files.uploadhandler import StopUpload, TemporaryFileUploadHandler
from django.http import HttpRequest

TAKES_FILES = ("/upload/", "/api/uploads")
"""Where files may come. The API has looked at its token before it reads; a page needs somebody who is logged in."""


class BoundedUploadHandler(TemporaryFileUploadHandler):
    """Spools files to disk and cuts the line where one request brings more than the site allows."""

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        """Count from nothing."""
        super().__init__(*args, **kwargs)
        self.bytes = 0

    def new_file(self, *args: Any, **kwargs: Any) -> None:
        """Begin a file; the line is cut where nobody wants one, or from somebody who is not logged in."""
        request = self.request
        if (
            request is None
            or request.path not in TAKES_FILES
            or not (request.path.startswith("/api/") or _known(request))
        ):
            raise StopUpload(connection_reset=True)
        super().new_file(*args, **kwargs)

    def receive_data_chunk(self, raw_data: bytes, start: int) -> None:
        """Take one piece; ends the upload beyond `UPLOAD_MB`."""
        self.bytes += len(raw_data)
        if self.bytes > settings.UPLOAD_MB << 20:
            if self.request is not None:
                self.request.META["lockwright.too_much"] = True
            raise StopUpload(connection_reset=False)
        super().receive_data_chunk(raw_data, start)


def _known(request: HttpRequest) -> bool:
    user = getattr(request, "user", None)
    return user is not None and user.is_authenticated
