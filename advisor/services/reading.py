"""Take in exports: paths, streams, archives → what was understood of each."""

from collections.abc import Callable, Iterable, Sequence
from typing import BinaryIO

from collectors.capture import captures as sort_into_captures
from collectors.facts import Capture
from collectors.intake import open_all
from collectors.read import Input, read_all


def read_exports(
    paths: Iterable[str], stdin: BinaryIO, progress: Callable[[Input], None] = lambda one: None
) -> list[Input]:
    """Read everything that was named, in order; `progress` hears of each input as it is done."""
    inputs = []
    for one in read_all(open_all(paths, stdin)):
        progress(one)
        inputs.append(one)
    return inputs


def captures_of(inputs: Sequence[Input], name: str | None = None) -> list[Capture]:
    """Sort what was read into systems and intervals."""
    return sort_into_captures(inputs, name)


def unusable(inputs: Iterable[Input]) -> list[Input]:
    """The inputs that gave no fact at all."""
    return [one for one in inputs if not one.usable]
