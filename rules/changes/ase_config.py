"""A server-wide parameter of SAP ASE, set with `sp_configure`.

Static parameters are written to the configuration file at once and taken at the next restart; dynamic ones at once.
Ranges: Configuration parameters 16.0 and two real listings (knowledge/ase-rules.md, section 2).
"""

from dataclasses import dataclass

from collectors.facts import Missing
from collectors.facts import known as is_known
from collectors.facts.ase import ConfigParameter
from rules.changes.out_of_range import OutOfRange
from rules.changes.quoting import batches, tsql_string
from rules.finding import Change, Effect, Risk
from rules.laws.rounding import plain

LARGEST = 2_147_483_647
ASK = "<the Run Value shown before the change>"


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
        Parameter("number of open databases", 6, LARGEST, False, 12),
        Parameter("number of locks", 1000, LARGEST, False, None),
        Parameter("row lock promotion HWM", 2, LARGEST, False, 200),
        Parameter("page lock promotion HWM", 2, LARGEST, False, 200),
        Parameter("read committed with lock", 0, 1, False, 0),
        Parameter("deadlock checking period", 0, 2_147_483, False, None),
        Parameter("number of worker processes", 0, LARGEST, False, 0),
        Parameter("number of user connections", 5, LARGEST, False, 25),
        Parameter("user log cache size", 2048, LARGEST, True, None),
        Parameter("user log cache spinlock ratio", 1, LARGEST, False, 20),
        Parameter("global cache partition number", 1, 256, True, 1, power_of_two=True),
        Parameter("procedure cache size", 14_000, LARGEST, False, None),
        Parameter("statement cache size", 0, LARGEST, False, 0),
        Parameter("disk i/o structures", 0, LARGEST, False, 256),
        Parameter("max async i/os per server", 1, LARGEST, True, None),
        Parameter("max async i/os per engine", 1, LARGEST, True, None),
        Parameter("housekeeper free write percent", 0, 100, False, 1),
        Parameter("enable housekeeper GC", 0, 5, False, 1),
        Parameter("max network packet size", 512, 65_024, True, None),
        Parameter("default network packet size", 512, 65_024, True, None),
        Parameter("additional network memory", 0, LARGEST, False, 0),
        Parameter("engine local cache percent", 0, 100, True, None),
        Parameter("enable large chunk elc", 0, 1, True, None),
        Parameter("max online engines", 1, 1024, True, None),
        Parameter("number of disk tasks", 1, 64, False, 1),
        Parameter("number of network tasks", 1, 64, False, 1),
        Parameter("enable literal autoparam", 0, 1, False, 0),
        Parameter("enable monitoring", 0, 1, False, 0),
        Parameter("enable spinlock monitoring", 0, 1, False, 0),
        Parameter("per object statistics active", 0, 1, False, 0),
        Parameter("object lockwait timing", 0, 1, False, 0),
        Parameter("wait event timing", 0, 1, False, 0),
        Parameter("process wait events", 0, 1, False, 0),
        Parameter("enable stmt cache monitoring", 0, 1, False, 0),
        Parameter("statement statistics active", 0, 1, False, 0),
        Parameter("statement pipe active", 0, 1, False, 0),
        Parameter("deadlock pipe active", 0, 1, False, 0),
    )
}
"""What the rules set. Two defaults moved between releases (engine local cache percent: 25 up to 15.7, 50 in 16.0) and
are left open; `max online engines` ended at 128 in 15.0, `global cache partition number` at 64 before 16.0 SP02
(messages 18177, 18611 and an older 10652): a rule that sets it asks `most_partitions` of rules/changes/ase_cache.py.
The range of disk and network tasks is recalled, so a rule asks for one more alone, where the listing calls them
dynamic."""


TAKES_MEMORY = frozenset(
    {
        "number of open objects",
        "number of open indexes",
        "number of open partitions",
        "number of open databases",
        "number of locks",
        "number of worker processes",
        "number of user connections",
        "procedure cache size",
        "statement cache size",
        "disk i/o structures",
        "additional network memory",
    }
)
"""Those that take memory at once when they are raised, and give what is in use of it back at a restart alone (vendor:
System Administration Guide, Dynamically Decreasing Memory Configuration Parameters)."""
MEMORY_STAYS = Risk("low", "takes effect at once; memory in use comes back with a restart only")


def configured_value(setting: ConfigParameter) -> float | str | Missing:
    """The configured value, with `DEFAULT` spelt out."""
    value = setting.config_value
    return setting.default_value if isinstance(value, str) and value.upper() == "DEFAULT" else value


def waiting_number(setting: ConfigParameter | None) -> float | None:
    """The number that is configured and not in force; `None` where nothing waits."""
    value = configured_value(setting) if setting and setting.pending else None
    return value if is_known(value) else None


def legal(name: str, value: float) -> bool:
    """Whether the server takes this value: a whole number in the range, and a power of two where it must be one."""
    known = PARAMETERS[name]
    return known.low <= value <= known.high and value == int(value) and (not known.power_of_two or is_power(value))


def is_power(value: float) -> bool:
    """Whether a whole number above zero is a power of two."""
    return not int(value) & (int(value) - 1)


def configure(
    name: str,
    old: float | None,
    new: float,
    *,
    cautions: tuple[str, ...] = (),
    memory_mb: float = 0.0,
    look: tuple[str, ...] = (),
    configured: float | None = None,
) -> Change:
    """Set one parameter from the value in force to another.

    `old` is the run value read from the export, or `None` where no export showed it: the script then shows it first
    and the undo asks for that figure. `look`: lines of T-SQL to run before, which may show that another value is
    better. `configured`: the value that waits for a restart, where it is another than the one in force. The undo
    restores the value that ran, never the waiting one, with which the server has not been seen to work: that one stands
    in a comment. Raises `OutOfRange` for a value the server would not take.
    """
    known = PARAMETERS[name]
    if not legal(name, new):
        power = ", a power of two" if known.power_of_two else ""
        raise OutOfRange(f"{name} {new:.15g}: {known.low:.15g} to {known.high:.15g}{power}")
    quoted = tsql_string(name)
    show = f"sp_configure {quoted}"
    back = f"{old:.0f}" if old is not None and legal(name, old) else ASK
    waited = () if configured is None or old is None else (_waited(old, configured),)
    effect = Effect.RESTART if known.static else Effect.ONLINE
    stays = name in TAKES_MEMORY and (old is None or new > old)
    after = "-- restart the server, then check that Run Value is" if known.static else "-- check that Run Value is"
    return Change(
        key=f"ase.config:{name}",
        target=name,
        old=old,
        new=new,
        apply=batches(
            *look,
            f"-- {name}: the value now (note Config Value and Run Value)",
            show,
            f"sp_configure {quoted}, {new:.0f}",
            f"{after} {new:.0f}",
            show,
        ),
        undo=batches(
            *waited,
            f"sp_configure {quoted}, {back}",
            show,
            *(("-- restart the server",) if known.static else ()),
            *(("-- memory in use stays taken: restart the server where it is wanted back",) if stays else ()),
        ),
        takes_effect=effect,
        cautions=(*cautions, *(_RESTART if known.static else ())),
        memory_mb=memory_mb,
        risk=MEMORY_STAYS if stays else None,
    )


def _waited(ran: float, configured: float) -> str:
    """Say in the undo what was configured and never ran: it is not restored."""
    return f"-- {ran:.0f} ran. {configured:.15g} was configured and had not run: it is not restored"


KB_EACH = {
    "number of open objects": (140.8 / 340, "the vendor's 140.8 KB for 340 descriptors (12.5)"),
    "number of open indexes": (140.8 / 340, "the vendor's 140.8 KB for 340 descriptors (12.5)"),
    "procedure cache size": (2.0, "its unit of 2 KB"),
    "statement cache size": (2.0, "its unit of 2 KB"),
    "number of locks": (155 / 1024, "155 bytes for a lock (practice, older servers)"),
}
"""What one takes at least, kilobytes, and by what source: for an export that does not print Memory Used."""


def more_memory(setting: ConfigParameter | None, old: float, new: float) -> tuple[float, str]:
    """Megabytes a larger value takes beyond now, and a caution that says so.

    In proportion to the parameter's own Memory Used in the export; where that is not printed, is 0 or is shared, by
    what a source says one takes; 0 where none does.
    """
    kb = setting.memory_used_kb if setting and setting.memory_counted else None
    if kb is not None and is_known(kb) and kb > 0 and old > 0:
        mb = kb * (new - old) / old / 1024
        return mb, f"Takes about {plain(mb, 2)} MB more, in proportion to the {kb:.0f} KB of Memory Used at {old:.0f}."
    each, source = KB_EACH.get(setting.name, (0.0, "")) if setting else (0.0, "")
    shows = 'afterwards Memory Used shows how much, and sp_configure "max memory" what there is.'
    if not each:
        return 0.0, f"Takes memory: {shows}"
    mb = each * max(0.0, new - old) / 1024
    return mb, f"Takes about {plain(mb, 2)} MB more by {source}, more on newer releases: {shows}"


_RESTART = (
    "Static: needs a restart. Keep a copy of the server's .cfg file; a server that does not start with the new one "
    "is started with the old one.",
)
