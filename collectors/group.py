"""The inputs of one system, as `collectors.grouping` puts them together."""

from collections.abc import Iterable
from dataclasses import dataclass, field
from pathlib import PurePath

from collectors.facts.scaling import LoadSeries
from collectors.read import Input

ALONE = "names no system, so it is judged by itself: --name NAME tells which one it belongs to"


@dataclass
class Group:
    """Inputs of one system."""

    product: str
    name: str
    named: bool
    chosen: bool = False
    """Whether the user gave this very name to one of its files."""
    inputs: list[Input] = field(default_factory=list)


Groups = dict[tuple[str, str], Group]
"""By product and key, which is not the name."""


def product_of(one: Input) -> str:
    """`ase`, `openvms`, `rdb` or, for a load series that does not say, `scaling`."""
    series = [fact for fact in one.facts if isinstance(fact, LoadSeries)]
    if series:
        return series[0].product or "scaling"
    return (one.report or "").split("/")[0]


def by_folder(groups: Groups, product: str) -> dict[PurePath, list[tuple[tuple[str, str], Group]]]:
    """The groups that have an export of this product in a folder, with their keys, folder by folder."""
    found: dict[PurePath, list[tuple[tuple[str, str], Group]]] = {}
    for key, group in groups.items():
        for folder in dict.fromkeys(PurePath(one.file).parent for one in group.inputs if product_of(one) == product):
            found.setdefault(folder, []).append((key, group))
    return found


def no_more_alone(inputs: Iterable[Input]) -> None:
    """Take back that these exports are judged by themselves."""
    for one in inputs:
        one.problems = [said for said in one.problems if said != ALONE]
