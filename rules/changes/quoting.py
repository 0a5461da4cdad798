"""Names from an export are hostile until quoted. Either a name can be written safely, or the change is by hand."""

import re
from unicodedata import category

INVISIBLE = frozenset(("Cc", "Cf", "Cs", "Co", "Cn", "Zl", "Zp"))
"""Unicode categories that control, break lines, turn the direction or do not show: they can hide or add a line."""

PLAIN_IDENTIFIER = re.compile(r"[A-Za-z_][A-Za-z0-9_$#]{0,254}\Z")
RESERVED_WORDS = """
add all alter and any arith_overflow as asc at authorization avg begin between break browse bulk by cascade case
char_convert check checkpoint close clustered coalesce commit compute confirm connect constraint continue controlrow
convert count count_big create current cursor database dbcc deallocate declare decrypt default delete desc deterministic
disk distinct drop dual_control dummy dump else encrypt end endtran errlvl errordata errorexit escape except exclusive
exec execute exists exit exp_row_size external fetch fillfactor for foreign from goto grant group having holdlock
identity identity_gap identity_start if in index inout insensitive insert install intersect into is isolation jar join
key kill level like lineno load lock materialized max max_rows_per_page min mirror mirrorexit modify national new
noholdlock nonclustered nonscrollable non_sensitive not null nullif numeric_truncation of off offsets on once online
only open option or order out output over partition perm permanent plan prepare primary print privileges proc procedure
processexit proxy_table public quiesce raiserror read readpast readtext reconfigure references release_locks_on_close
remove reorg replace replication reservepagegap return returns revoke role rollback rowcount rows rule save schema
scroll scrollable select semi_sensitive set setuser shared shutdown some statistics stringsize stripe sum syb_identity
syb_restree syb_terminate table temp temporary textsize to tracefile tran transaction trigger truncate tsequal union
unique unpartition update use user user_option using values varying view waitfor when where while with work writetext
"""
"""Words of Transact-SQL that are no name without delimiters: `use order` fails, and the lines after it would run in
another database (Reference Manual: Building Blocks, reserved words)."""
OPENVMS_NAME = re.compile(r"[A-Z0-9_$]{1,31}\Z")
OPENVMS_FILE = re.compile(
    r"(?:[A-Z0-9$_]{1,64}:)?(?:\[[A-Z0-9$_.-]{1,120}\]){0,2}"
    r"[A-Z0-9$_](?:[A-Z0-9$_-]{0,37}[A-Z0-9$_])?(?:\.(?:[A-Z0-9$_]{1,38})?)?(?:;[0-9]{0,5})?\Z"
)
"""A file as DCL, and of a root file SQL, take it bare: device, directory, name, type, version. A `-` that ends it would
go on with the next line, `!` begins a comment, `'` and `&` put in a symbol, `/` begins a qualifier, `::` is another
node."""
RDB_NAME = re.compile(r"[A-Z][A-Z0-9_$]{0,30}\Z")

RESERVED = frozenset(RESERVED_WORDS.split())


class Unquotable(ValueError):
    """A name that cannot be written into a script safely: to be applied by hand."""


def _unsafe(text: str) -> bool:
    return any(category(char) in INVISIBLE for char in text)


def tsql_string(text: str) -> str:
    """Quote an argument of a system procedure, as the manuals print it. Raises `Unquotable` for what breaks lines."""
    return _quoted(text, '"')


def tsql_literal(text: str) -> str:
    """Quote a string in an expression: double quotes would be a name under `set quoted_identifier on`."""
    return _quoted(text, "'")


def _quoted(text: str, quote: str) -> str:
    if _unsafe(text) or not text or len(text) > 255:
        raise Unquotable(repr(text))
    return quote + text.replace(quote, quote * 2) + quote


def tsql_name(text: str) -> str:
    """Write an identifier: bare where plain and no reserved word, else in brackets (12.5.1). Raises `Unquotable`."""
    if is_plain(text):
        return text
    if _unsafe(text) or not text or len(text) > 255 or "]" in text or "[" in text:
        raise Unquotable(repr(text))
    return f"[{text}]"


def reserved(text: str) -> bool:
    """Whether a plain identifier is a word of Transact-SQL, which only delimiters make a name."""
    return text.lower() in RESERVED


def is_plain(text: str) -> bool:
    """Whether an identifier is a name of Transact-SQL as it stands, without delimiters."""
    return bool(PLAIN_IDENTIFIER.match(text)) and not reserved(text)


def bare_table(table: str) -> str:
    """The name of a table as a command in a sentence has it; `<table>` where it cannot stand there bare."""
    return table if is_plain(table) else "<table>"


def openvms_name(text: str) -> str:
    """Write a device, node or parameter name for DCL. Raises `Unquotable` for anything but letters, digits, $ and _."""
    name = text.strip().rstrip(":").upper()
    if not OPENVMS_NAME.match(name):
        raise Unquotable(repr(text))
    return name


def openvms_file(text: str) -> str:
    """Write a file specification for DCL, with its version where it has one. Raises `Unquotable`."""
    name = text.strip().upper()
    if len(name) > 255 or not OPENVMS_FILE.match(name):
        raise Unquotable(repr(text))
    return name


def rdb_file(text: str) -> str:
    """Write a root file of Oracle Rdb for DCL and SQL alike, without its version. Raises `Unquotable`."""
    return openvms_file(text).partition(";")[0]


def rdb_name(text: str) -> str:
    """Write the name of a storage area or row cache for SQL of Rdb. Raises `Unquotable`; nothing is delimited."""
    name = text.strip().upper()
    if not RDB_NAME.match(name) or reserved(name):
        raise Unquotable(repr(text))
    return name


def comment(text: str, longest: int = 120) -> str:
    """Make text fit for one line of a comment: no control characters, no comment ends, cut at `longest`."""
    return (
        "".join("?" if category(char) in INVISIBLE else char for char in text)
        .replace("*/", "* /")
        .replace("--", "- -")[:longest]
    )


def held_back(*lines: str) -> tuple[str, ...]:
    """Turn lines of DCL, and of input to SYSGEN, into comments: they do nothing until a person takes `$!` out of them.

    For what has to wait for a decision or a measurement: nothing else stops a script.
    """
    return tuple(f"$!{line}" for line in lines)


def batches(*lines: str) -> tuple[str, ...]:
    """Send each statement of T-SQL by itself: a `go` after each that has none yet, and none after a comment.

    A statement is one line: of several lines it would be cut in pieces.
    """
    sent: list[str] = []
    for line, after in zip(lines, (*lines[1:], ""), strict=True):
        needs_go = line != "go" and after != "go" and not line.startswith("--")
        sent += [line, "go"] if needs_go else [line]
    return tuple(sent)


def held_back_tsql(*lines: str) -> tuple[str, ...]:
    """Turn batches of T-SQL into comments, as `held_back` does lines of DCL: until a person takes `--!` out of them."""
    return tuple(line if line.startswith("--") else f"--!{line}" for line in batches(*lines))
