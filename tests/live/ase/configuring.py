"""sp_configure and sp_helpconfig, as far as they read."""

from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from tests.live.ase import errors
from tests.live.tds.session import Client
from tests.live.tds.tokens import Event, Message, Rows, Status, printed
from tests.live.tds.types import Column

if TYPE_CHECKING:
    from tests.live.ase.world import World

COLUMNS = [
    Column("Parameter Name", "char", size=30),
    Column("Default", "char", size=11),
    Column("Memory Used", "char", size=11),
    Column("Config Value", "char", size=12),
    Column("Run Value", "char", size=12),
    Column("Unit", "char", size=20),
    Column("Type", "char", size=10),
]
HELP_COLUMNS = [
    Column("Minimum Value", "char", size=13),
    Column("Maximum Value", "char", size=13),
    Column("Default Value", "char", size=13),
    Column("Current Value", "char", size=13),
    Column("Memory Used", "char", size=11),
    Column("Unit", "char", size=20),
    Column("Type", "char", size=10),
]
MEMORY = "memory"
"""`sp_configure "memory"` shows the parameters of that name, and then what memory is left."""


def configure(world: "World", client: Client, given: Sequence[str]) -> Iterator[Event]:
    """sp_configure: all parameters by group, one, those of a name or a group. A value to set is refused."""
    if len(given) > 1:
        raise errors.Failed(
            17_858, 16, "You must have the following role(s) to set it: 'sa_role'.", procedure="sp_configure"
        )
    if not given:
        yield from _groups(world)
    elif given[0] in {one["Group"] for one in world.configuration}:
        yield printed(f"Group: {given[0]}\n")
        yield printed(" \n")
        yield _table(one for one in world.configuration if one["Group"] == given[0])
    else:
        yield from _named(world, given[0])
    yield Status(0)


def helpconfig(world: "World", client: Client, given: Sequence[str]) -> Iterator[Event]:
    """sp_helpconfig of one parameter."""
    found = next((one for one in world.configuration if given and one["Name"] == given[0]), None)
    if found is None:
        raise errors.Failed(17_410, 16, "Configuration option doesn't exist.", procedure="sp_helpconfig")
    yield printed(f"{found['Name']} is a parameter of the group {found['Group']}.\n")
    cells = [found[name] for name in ("Min", "Max", "Default", "Run", "Memory", "Unit", "Type")]
    yield Rows(HELP_COLUMNS, [[_cell(cell, column) for cell, column in zip(cells, HELP_COLUMNS, strict=True)]])
    yield Status(0)


def _groups(world: "World") -> Iterator[Event]:
    yield printed("Group: Configuration Options\n")
    yield printed(" \n")
    for group in dict.fromkeys(one["Group"] for one in world.configuration):
        yield printed(f"Group: {group}\n")
        yield printed(" \n")
        yield _table(one for one in world.configuration if one["Group"] == group)
        yield printed(" \n")


def _named(world: "World", name: str) -> Iterator[Event]:
    exact = [one for one in world.configuration if one["Name"] == name]
    found = exact or [one for one in world.configuration if name in one["Name"]]
    if not found:
        yield Message(17_410, 16, "Configuration option doesn't exist.\n", procedure="sp_configure")
        return
    if not exact and len(found) > 1 and name != MEMORY:
        yield printed("Configuration option is not unique.\n")
        yield printed(" \n")
        yield Rows(
            [Column("option_name", "varchar", size=80), Column("config_value", "int"), Column("run_value", "int")],
            [[one["Name"], *(0 if isinstance(one[at], str) else one[at] for at in ("Config", "Run"))] for one in found],
        )
        return
    yield _table(found)
    if name == MEMORY:
        yield from _memory_left(world)


def _memory_left(world: "World") -> Iterator[Event]:
    """The sentence that sp_configure "memory" ends with."""
    settings = {one["Name"]: one["Run"] for one in world.configuration}
    left = (settings["max memory"] - settings["total logical memory"]) * 2 // 1_024
    yield printed(" \n")
    yield printed(f"An additional {left} MB memory is available for reconfiguration. This is the difference between\n")
    yield printed("'max memory' and 'total logical memory'.\n")


def _table(found: Any) -> Rows:
    cells = (
        [one[name] for name in ("Name", "Default", "Memory", "Config", "Run", "Unit", "Type")]
        for one in sorted(found, key=_name)
    )
    return Rows(COLUMNS, [[_cell(cell, column) for cell, column in zip(row, COLUMNS, strict=True)] for row in cells])


def _name(one: Mapping[str, Any]) -> str:
    return str(one["Name"])


def _cell(value: Any, column: Column) -> str:
    """Write a cell as the procedure does: figures and short texts to the right, names to the left."""
    left = column.name in ("Parameter Name", "Unit", "Type")
    return f"{value:<{column.size}}" if left else f"{value!s:>{column.size}}"
