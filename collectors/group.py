"""The inputs of one system, as `collectors.grouping` puts them together."""

from dataclasses import dataclass, field

from collectors.read import Input


@dataclass
class Group:
    """Inputs of one system."""

    product: str
    name: str
    named: bool
    chosen: bool = False
    """Whether the user gave this very name to one of its files."""
    inputs: list[Input] = field(default_factory=list)
