"""Where exports came from: the folder of each, and the command line for a file that was named on it.

Two exports lie beside each other where they have one of these places in common. Groups of exports are indexed by place,
so that an upload of many files takes a time in proportion to their number.
"""

from collections.abc import Collection, Hashable, Iterable, Sequence
from pathlib import PurePath
from typing import Generic, Protocol, TypeVar

from collectors.read import Input

COMMAND_LINE = "named on the command line"
"""The place of every file named there: `PurePath` never equals a text."""


def file_of(one: Input) -> tuple[Hashable, ...]:
    """The file itself, as a place."""
    return (one.file,)


def folder_of(one: Input) -> tuple[Hashable, ...]:
    """The folder, as a place."""
    return (PurePath(one.file).parent,)


def command_line_of(one: Input) -> tuple[Hashable, ...]:
    """The command line, for a file that was named on it."""
    return (COMMAND_LINE,) if one.given == one.file else ()


def places_of(one: Input) -> tuple[Hashable, ...]:
    """The folder and, for a file that was named on it, the command line."""
    return (*folder_of(one), *command_line_of(one))


class HasInputs(Protocol):
    """A group of exports as `collectors.grouping` has it."""

    inputs: list[Input]


class PlaceOf(Protocol):
    """Gives the places of one input."""

    def __call__(self, one: Input, /) -> Iterable[Hashable]:
        """Those of this input."""


G = TypeVar("G", bound=HasInputs)


class Neighbours(Generic[G]):
    """Groups by the places of their inputs."""

    def __init__(self, groups: Iterable[G], places: PlaceOf = places_of) -> None:
        """Index these groups; their order is kept."""
        self.groups: Sequence[G] = list(groups)
        self.places = places
        self.number = {id(group): number for number, group in enumerate(self.groups)}
        self.at: dict[Hashable, set[int]] = {}
        for group in self.groups:
            self.index(group, group.inputs)

    def index(self, group: G, inputs: Iterable[Input]) -> None:
        """Count the places of these inputs as places of one of the groups."""
        for one in inputs:
            for place in self.places(one):
                self.at.setdefault(place, set()).add(self.number[id(group)])

    def add(self, group: G, inputs: Iterable[Input]) -> None:
        """Give inputs to one of the groups."""
        new = list(inputs)
        group.inputs += new
        self.index(group, new)

    def _numbers(self, inputs: Iterable[Input]) -> Iterable[Collection[int]]:
        places = dict.fromkeys(place for one in inputs for place in self.places(one))
        return [self.at[place] for place in places if place in self.at]

    def of(self, inputs: Iterable[Input]) -> list[G]:
        """The groups of which an input has a place in common with one of these, in order."""
        found = self._numbers(inputs)
        return [self.groups[number] for number in sorted(set().union(*found))]

    def only(self, inputs: Iterable[Input]) -> tuple[bool, G | None]:
        """Whether there is any such group, and the group where there is exactly one."""
        found = self._numbers(inputs)
        if any(len(numbers) > 1 for numbers in found):
            return True, None
        numbers = set().union(*found)
        return bool(numbers), self.groups[numbers.pop()] if len(numbers) == 1 else None

    def near(self, group: G, inputs: Iterable[Input]) -> bool:
        """Whether this group is one of them."""
        number = self.number[id(group)]
        return any(number in numbers for numbers in self._numbers(inputs))
