"""How the bytes of a form arrive: bounded while they come, not when they are all here."""

from typing import Any

from django.conf import settings
from django.core.files.uploadhandler import StopUpload, TemporaryFileUploadHandler


class BoundedUploadHandler(TemporaryFileUploadHandler):
    """Spools files to disk and cuts the line where one request brings more than the site allows."""

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        """Count from nothing."""
        super().__init__(*args, **kwargs)
        self.bytes = 0

    def receive_data_chunk(self, raw_data: bytes, start: int) -> None:
        """Take one piece; ends the upload beyond `UPLOAD_MB`."""
        self.bytes += len(raw_data)
        if self.bytes > settings.UPLOAD_MB << 20:
            if self.request is not None:
                self.request.META["lockwright.too_much"] = True
            raise StopUpload(connection_reset=False)
        super().receive_data_chunk(raw_data, start)
