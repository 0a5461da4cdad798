"""What pages show of a stored capture, worked out once and kept for the next request.

Unpacking the facts of a large capture takes longer than a page may. What is kept is small and the same for everybody
who may see the capture; it is found by a digest of the packed facts, so a capture that comes after another one under
its number is never taken for it.
"""

import hashlib
import threading
from collections.abc import Callable
from typing import TypeVar

from cachetools import LRUCache, cached

from advisor.audits.models import Capture

KEPT = 24
"""Captures whose pages are kept ready in each process: some megabytes at the most."""

T = TypeVar("T")


def kept(make: Callable[[Capture], T]) -> Callable[[Capture], T]:
    """Have what a function makes of a capture kept for the captures that were asked for last. Safe in threads."""
    return cached(LRUCache[bytes, T](KEPT), key=digest, lock=threading.Lock())(make)


def digest(capture: Capture) -> bytes:
    """By which the facts of a capture are known."""
    return hashlib.sha256(bytes(capture.packed.data)).digest()
