"""Take in exports: paths, streams, archives → what was understood of each."""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import BinaryIO, cast

from collectors.capture import captures as sort_into_captures
from collectors.facts import Capture
from collectors.intake import Named, open_all
from collectors.read import Input, read_all


class Watched:
    """A stream that tells how much of it was read."""

    def __init__(self, named: Named, on_progress: Callable[[str, int], None]) -> None:
        """Watch the stream of `named`."""
        self.named, self.on_progress = named, on_progress

    def read(self, size: int = -1) -> bytes:
        """Read, and tell the name and the number of bytes."""
        assert self.named.stream is not None  # noqa: S101 - only streams are watched
        data = self.named.stream.read(size)
        self.on_progress(self.named.name, len(data))
        return data


def read_exports(
    paths: Iterable[str], stdin: BinaryIO, on_progress: Callable[[str, int], None] = lambda name, size: None
) -> list[Input]:
    """Read everything that was named, in order; `on_progress` is told of every piece read, by name and bytes."""

    def watched() -> Iterator[Named]:
        for named in open_all(paths, stdin):
            stream = cast(BinaryIO, Watched(named, on_progress)) if named.stream else None
            yield replace(named, stream=stream)

    return list(read_all(watched()))


def captures_of(
    inputs: Sequence[Input], name: str | None = None, names: Mapping[str, str] | None = None
) -> list[Capture]:
    """Sort what was read into systems and intervals.

    `name` is the user's for what names no system, `names` for single files (file → system), which come before it.
    """
    return sort_into_captures(inputs, name, names)
