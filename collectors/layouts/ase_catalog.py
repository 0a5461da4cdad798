"""What the system tables of ASE mean: lock schemes in `sysstat2`, and which tables are the server's own."""

import re
from collections.abc import Sequence

IDENTIFIER = r"[A-Za-z_#@]\w{0,254}"
SYSOBJECTS_ASKED = re.compile(
    rf"\s{{0,9}}(?:[0-9]{{1,6}}>\s{{0,9}})?select\b.{{0,2000}}?\bfrom\s{{1,9}}(?P<database>{IDENTIFIER})"
    rf"\.(?:{IDENTIFIER})?\.sysobjects\b",
    re.IGNORECASE,
)
SELECT = re.compile(r"\bselect\b", re.IGNORECASE)
ABOVE = 12
"""Lines from a question down to its heading, with its other lines and blank ones: a short one is echoed in fewer."""
SCHEMES = ("allpages", "datapages", "datarows")
SCHEME_BITS = 57344
"""Of `sysobjects.sysstat2`, a signed number of 32 bits (ase-formats.md 3.5)."""
CLUSTERED_BIT = 131072
BY_BITS = {0: "allpages", 8192: "allpages", 16384: "datapages", 32768: "datarows"}
SYSTEM_TABLES = frozenset(
    """sysalternates sysattributes syscolumns syscomments sysconstraints sysdams sysdepends sysdevices sysdatabases
    sysencryptkeys sysgams sysindexes sysjars syskeys syslogins syslogs syslogshold syslanguages syslisteners syslocks
    sysloginroles sysmessages sysmonitors sysobjects syspartitionkeys syspartitions sysprocedures sysprocesses
    sysprotects sysqueryplans sysquerymetrics sysreferences sysremotelogins sysresourcelimits sysroles syssecmechs
    syssegments sysservers sysslices syssrvroles sysstatistics systabstats systhresholds systimeranges
    systransactions systypes sysusages sysusermessages sysusers sysxtypes sysconfigures syscurconfigs sysengines
    syscharsets sysinstances sysoptions sysversions""".split()  # noqa: SIM905 - sixty names read better as words
)
"""Documented names (Reference Manual: Tables, 16.0), for listings without a type; a user's table may begin with `sys`
too, so the names are listed."""


def scheme_of(sysstat2: int) -> str | None:
    """The lock scheme in `sysstat2`; `None` for bits that mean none. Masked: the sign bit may be set."""
    return BY_BITS.get(sysstat2 & SCHEME_BITS)


def clustered_of(sysstat2: int) -> bool:
    """Whether the table has a clustered (allpages) or placement (data-only-locked) index."""
    return bool(sysstat2 & CLUSTERED_BIT)


def is_system(name: str) -> bool:
    """Whether this is the name of one of the server's own tables."""
    return name.lower() in SYSTEM_TABLES


def database_asked(lines: Sequence[str], heading: int) -> str | None:
    """The database of which the question above this heading asks; `None` where it asks of another table, or none is."""
    above = range(heading - 1, max(heading - ABOVE, 0) - 1, -1)
    question = next((lines[index] for index in above if SELECT.search(lines[index])), "")
    found = SYSOBJECTS_ASKED.match(question)
    return found["database"] if found else None
