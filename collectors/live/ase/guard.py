"""Lets nothing pass to a server but what only reads: the last look at a statement before it is sent.

What may pass is listed, not what may not. A SELECT reads monitoring tables and catalogs, calls known functions, and
writes nowhere; a procedure is one of a few, in the one form of it that reads.
"""

import re

PROCEDURES = (
    re.compile(r"sp_configure(?: '[a-z][a-z ]*')?"),  # with a second value it would set the parameter
    re.compile(r"sp_cacheconfig"),
    re.compile(r"sp_helpcache"),
    re.compile(r"sp_monitorconfig 'all'"),  # with a second name it would write a table
    re.compile(r"sp_sysmon '[0-9]{2}:[0-9]{2}:[0-9]{2}', noclear"),  # without `noclear` it may clear the counters
)
FUNCTIONS = frozenset(
    (
        "convert",
        "data_pages",
        "db_name",
        "getdate",
        "isnull",
        "lockscheme",
        "proc_role",
        "show_cached_text",
        "show_role",
    )
)
"""Functions that read. Others of ASE do not: `lct_admin`, `set_appcontext`, …"""
NOT_FUNCTIONS = frozenset(["in", "and", "or"])
"""Words that a bracket may follow."""
SOURCE = re.compile(
    r"(?:master\.\.(?:mon[A-Za-z]+|sysconfigures|syscurconfigs|sysdatabases|sysusages|sysengines|syscacheinfo|syspoolinfo)"
    r"|\[\]\.\.(?:sysobjects|sysindexes|sysusers))(?: [a-z])?"
)
"""What a SELECT may read from; `[]` stands for the quoted name of a database."""
WORDS = re.compile(
    "into|for|insert|update|delete|merge|truncate|create|alter|drop|grant|revoke|exec|execute|dbcc|kill|shutdown|use|set"
    "|begin|commit|rollback|save|declare|dump|load|disk|print|raiserror|waitfor|writetext|readtext|reconfigure"
    "|checkpoint|while|if|lock|union|compute|online|quiesce|mount|unmount|deallocate|open|fetch|close|prepare|setuser"
    "|transfer|at"
)
"""Words that have no place in a SELECT of ours."""
STRING = re.compile(r"'[^']*'")
NAME = re.compile(r"\[[^\[\]]+\]")
SETTING = re.compile(r"set lock wait [0-9]{1,3}")
"""The one SET: how many seconds this session waits for a lock before the server gives the statement up."""
PLAIN = re.compile(r"[A-Za-z0-9_@.,()+*/<>=\[\]' \n-]+")
DATABASE = re.compile(r"[^\[\]]{1,30}")
"""Names of databases have 30 bytes at most. What ASE makes of a bracket within brackets is not documented."""


class NotReadOnly(ValueError):
    """A statement that is not sent; the message says why."""


def check(sql: str) -> str:
    """Give the statement back if it only reads. Raises `NotReadOnly`."""
    if SETTING.fullmatch(sql):
        return sql
    if sql.startswith("sp_"):
        if any(form.fullmatch(sql) for form in PROCEDURES):
            return sql
        raise NotReadOnly(f"not one of the procedures that read, in the form that reads: {sql[:80]!r}")
    bare = NAME.sub("[]", STRING.sub("''", sql))
    if "--" in bare or "/*" in bare or "''''" in bare or bare.count("'") % 2 or not PLAIN.fullmatch(bare):
        raise NotReadOnly(f"a comment, a quote or a character that has no place there: {sql[:80]!r}")
    words = re.findall(r"[a-z_@][a-z0-9_@]*", bare.lower())
    if words[:1] != ["select"] or words.count("select") > 1:
        raise NotReadOnly(f"not one SELECT: {sql[:80]!r}")
    if bad := [word for word in words if WORDS.fullmatch(word)]:
        raise NotReadOnly(f"`{bad[0]}` has no place in a SELECT that reads: {sql[:80]!r}")
    called = set(re.findall(r"([a-z_][a-z0-9_]*)\s*\(", bare.lower())) - NOT_FUNCTIONS
    if unknown := called - FUNCTIONS:
        raise NotReadOnly(f"`{min(unknown)}` is not one of the functions that read: {sql[:80]!r}")
    _check_sources(bare)
    return sql


def quoted(database: str) -> str:
    """A database's name for a statement: in brackets. Raises `NotReadOnly` for one that cannot be quoted surely."""
    if not DATABASE.fullmatch(database) or not database.isprintable() or "'" in database:
        raise NotReadOnly("its name has brackets, quotes or what controls a terminal")
    return f"[{database}]"


def _check_sources(bare: str) -> None:
    """Every table after the FROM, and every name with dots, is one that may be read."""
    head, found, rest = bare.partition("\nfrom ")
    if not found:
        head, found, rest = bare.partition(" from ")
    if not found:
        if "." in bare:
            raise NotReadOnly("a name with dots and no FROM")
        return
    sources = re.split(r"\s(?:where|order by)\s", rest, maxsplit=1)[0]
    if re.search(r"\bfrom\b", head + rest, re.IGNORECASE):
        raise NotReadOnly("more than one FROM")
    if ".." in head or ".." in rest[len(sources) :]:
        raise NotReadOnly("a table outside the FROM")
    for one in sources.split(","):
        if not SOURCE.fullmatch(one.strip()):
            raise NotReadOnly(f"not a monitoring table or catalog: {one.strip()[:80]!r}")
