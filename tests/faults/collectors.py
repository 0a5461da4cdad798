"""A collector that never comes back from C and lets nobody else run: what FreeTDS does at a login without an answer.

The workers of these tests have it (`worker.py`), and the shell, so that a schedule can name it.
"""

import ctypes
from pathlib import Path

from collectors.live.registry import Target, register


class Hangs:
    """Locks what it has locked already, in C, with the interpreter's lock held: no signal gets through."""

    name, title, products = "hangs", "the collector that hangs", ("ase",)

    def collect(self, target: Target, folder: Path, seconds: float) -> None:
        """Never end."""
        library, lock = ctypes.PyDLL(None), ctypes.create_string_buffer(128)
        (folder / "half.txt").write_text("half an export")
        library.pthread_mutex_lock(lock)
        library.pthread_mutex_lock(lock)


register(Hangs())
