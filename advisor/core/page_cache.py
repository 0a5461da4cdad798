"""What pages show of a stored capture, worked out once and kept for the next request.

Unpacking the facts of a large capture takes longer than a page may. What is kept is small and the same for everybody
who may see the capture; it is found by a digest of the packed facts, so a capture that comes after another one under
its number is never taken for it.
"""

import hashlib
import threading
from collections import OrderedDict
from collections.abc import Callable
from typing import Generic, TypeVar

from advisor.audits.models import Capture

KEPT = 24
"""Captures whose pages are kept ready in each process: some megabytes at the most."""

T = TypeVar("T")


class Recent(Generic[T]):
    """What was asked for last, by a digest: the `most` that were asked for last are kept. Safe in threads."""

    def __init__(self, most: int) -> None:
        """Start with nothing."""
        self.most = most
        self.found: OrderedDict[bytes, T] = OrderedDict()
        self.lock = threading.Lock()

    def get(self, key: bytes) -> T | None:
        """What is kept under this key, or `None`."""
        with self.lock:
            if key in self.found:
                self.found.move_to_end(key)
            return self.found.get(key)

    def put(self, key: bytes, made: T) -> None:
        """Keep it; the one that nobody asked for longest goes."""
        with self.lock:
            self.found[key] = made
            while len(self.found) > self.most:
                self.found.popitem(last=False)


class Kept(Generic[T]):
    """The views of the captures that were asked for last. Safe in threads."""

    def __init__(self, make: Callable[[Capture], T]) -> None:
        """Make what is not kept yet with `make`."""
        self.make = make
        self.recent: Recent[T] = Recent(KEPT)

    def of(self, capture: Capture) -> T:
        """What is shown of this capture. Who may see it was asked before."""
        key = hashlib.sha256(bytes(capture.packed.data)).digest()
        found = self.recent.get(key)
        if found is None:
            found = self.make(capture)
            self.recent.put(key, found)
        return found
