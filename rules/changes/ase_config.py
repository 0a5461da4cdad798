"""A server-wide parameter of SAP ASE, set with `sp_configure`.

Static parameters are written to the configuration file at once and taken at the next restart; dynamic ones at once.
Ranges: Configuration parameters 16.0 and two real listings (knowledge/ase-rules.md, section 2).
"""

from dataclasses import dataclass

from rules.changes.quoting import tsql_string
from rules.finding import Change, Effect

LARGEST = 2_147_483_647


@dataclass(frozen=True)
class Parameter:
    """What is known of one parameter: legal range, whether it needs a restart, and its vendor default."""

    name: str
    low: float
    high: float
    static: bool
    default: float | None
    power_of_two: bool = False


PARAMETERS = {
    parameter.name: parameter
    for parameter in (
        Parameter("lock address spinlock ratio", 1, LARGEST, True, 100),
        Parameter("lock spinlock ratio", 1, LARGEST, True, 85),
        Parameter("lock table spinlock ratio", 1, LARGEST, True, 20),
        Parameter("lock hashtable size", 2048, LARGEST, True, 2048, power_of_two=True),
        Parameter("open object spinlock ratio", 1, LARGEST, False, 100),
        Parameter("open index spinlock ratio", 1, LARGEST, False, 100),
        Parameter("open index hash spinlock ratio", 1, LARGEST, False, 100),
        Parameter("partition spinlock ratio", 1, LARGEST, False, 10),
        Parameter("number of open objects", 100, LARGEST, False, 500),
        Parameter("number of open indexes", 100, LARGEST, False, 500),
        Parameter("number of open partitions", 100, LARGEST, False, 500),
        Parameter("number of locks", 1000, LARGEST, False, None),
        Parameter("global cache partition number", 1, 64, True, 1, power_of_two=True),
    )
}


class OutOfRange(ValueError):
    """A value the server would refuse: never to be printed."""


def configure(
    name: str, old: float | None, new: float, *, cautions: tuple[str, ...] = (), memory_mb: float = 0.0
) -> Change:
    """Set one parameter from the value in force to another.

    `old` is the run value read from the export, or `None` where no export showed it: the script then shows it first
    and the undo asks for that figure. Raises `OutOfRange` for a value the server would not take.
    """
    known = PARAMETERS[name]
    if not known.low <= new <= known.high or new != int(new):
        raise OutOfRange(f"{name} {new:g}: {known.low:g} to {known.high:g}")
    if known.power_of_two and int(new) & (int(new) - 1):
        raise OutOfRange(f"{name} {new:g}: a power of two")
    quoted = tsql_string(name)
    show = f"sp_configure {quoted}"
    go = "go"
    back = f"{old:.0f}" if old is not None else "<the Run Value shown before the change>"
    effect = Effect.RESTART if known.static else Effect.ONLINE
    after = "-- restart the server, then check that Run Value is" if known.static else "-- check that Run Value is"
    return Change(
        key=f"ase.config:{name}",
        target=name,
        old=old,
        new=new,
        apply=(
            f"-- {name}: the value now (note Config Value and Run Value)",
            show,
            go,
            f"sp_configure {quoted}, {new:.0f}",
            go,
            f"{after} {new:.0f}",
            show,
            go,
        ),
        undo=(f"sp_configure {quoted}, {back}", go, show, go, *(("-- restart the server",) if known.static else ())),
        takes_effect=effect,
        cautions=(*cautions, *(_RESTART if known.static else ())),
        memory_mb=memory_mb,
    )


_RESTART = (
    "Static: needs a restart. Keep a copy of the server's .cfg file; a server that does not start with the new one "
    "is started with the old one.",
)
