"""Writes down what clients send, so that a test can assert what was asked and what was not."""

import json
import threading
import time
from pathlib import Path


class Record:
    """A file of JSON lines; without a file nothing is kept."""

    def __init__(self, path: Path | None) -> None:
        """Append to `path`."""
        self._file = path.open("a", encoding="utf-8") if path else None
        self._lock, self._started = threading.Lock(), time.monotonic()

    def write(self, spid: int, kind: str, text: str, **more: object) -> None:
        """Write one line, whole, so that a reader at the same time sees it or does not."""
        if self._file is None:
            return
        seconds = round(time.monotonic() - self._started, 3)
        line = json.dumps({"spid": spid, "kind": kind, "text": text, "seconds": seconds, **more})
        with self._lock:
            self._file.write(line + "\n")
            self._file.flush()
