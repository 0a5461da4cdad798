"""Which switches of monitoring that lock waits need are off, and how the table is found (ase-formats.md, 2.3)."""

from collectors.facts import Facts
from rules.ase._evidence.server import setting_of

FIND = (
    'First find the table: `sp_object_stats "00:10:00"` at the busiest hour names those with most lock waits; then '
    "shorten the transactions that change it."
)
"""Where no export names a table."""
NOT_MEASURED = "Which table it is was not measured: off are {0} (sp_configure sets each to 1, at once)."
FIND_SWITCHED = (
    'First find the table, which was not measured: `sp_configure "{0}", 1`{1} (no restart), then monOpenObjectActivity '
    'twice; or `sp_object_stats "00:10:00"` at the busiest hour. Then shorten the transactions that change it.'
)
"""The same where a switch that a table's lock waits need is known to be off."""
BY_TABLE = ("enable monitoring", "per object statistics active", "object lockwait timing")
"""What the lock waits of a table need, the one first that every table of monitoring needs."""
SWITCHES = (*BY_TABLE, "wait event timing", "process wait events")
"""What those of a session need as well."""


def switched_off(facts: Facts) -> list[str]:
    """The switches that lock waits by table need, which are known to be off."""
    found = ((name, setting_of(facts, name)) for name in SWITCHES)
    return [name for name, setting in found if setting and setting.run_number == 0]


def find_table(facts: Facts) -> str:
    """How the table is found, with the switches that it takes, as far as they are known to be off."""
    off = [name for name in switched_off(facts) if name in BY_TABLE]
    more = f", and 1 for `{'`, `'.join(off[1:])}`" if off[1:] else ""
    return FIND_SWITCHED.format(off[0], more) if off else FIND


def not_measured(facts: Facts) -> str:
    """Why no table is known, as a sentence; empty where no switch is known to be off."""
    off = ", ".join(f"`{name}`" for name in switched_off(facts))
    return NOT_MEASURED.format(off) if off else ""
