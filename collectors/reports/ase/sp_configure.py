"""Configuration parameters: what is set, what is in force (`sp_configure`).

isql, any width (12.5 to 16.0; widths differ, values may stand anywhere in their column)::

    Group: Lock Manager

     Parameter Name                 Default     Memory Used Config Value Run Value    Unit                 Type
     ------------------------------ ----------- ----------- ------------ ------------ -------------------- ----------
     lock address spinlock ratio            100           0           40          100 ratio                static
     lock scheme                    allpages              0 datarows     datarows     name                 dynamic

Also read: lines wrapped at isql's 80 columns, white space collapsed on the way, the boxes of JDBC tools, CSV and HTML
of tools (`Parameter | Value | Run | Min | Max | Dynamic`), and what an ambiguous name gives::

    Configuration option is not unique.
     option_name                    config_value run_value
     ------------------------------ ------------ -----------
     number of engines at startup              6           6

* Values keep the unit the line names (`memory pages(2k)`, kilobytes, …). They can be text.
* `Memory Used` is in KB; `#4100` is KB too, of memory that is counted elsewhere (ase-formats.md 3.1).
* A parameter stands in several groups: the first line counts, a later one only where it says something else (then the
  file holds two states, and the later fact is the newer).
* `Unit` and `Type` are missing in the oldest layouts: `kind` is then `None`, which is not "dynamic".
* A row whose run value may be cut is a problem and no fact: half a number is worse than none.
"""

import re
from collections.abc import Iterator, Sequence
from dataclasses import replace

from collectors.facts.ase import ConfigParameter
from collectors.facts.base import ABSENT, OVERFLOW, Reading
from collectors.layouts.figures import number, reading
from collectors.layouts.tables import END, Row, Table
from collectors.registry import Report, report
from collectors.tables import Listing

BETWEEN = r"(?:</?t[dhr]\b[^<>]{0,99}>|\W)+"
HEADING = re.compile(
    rf"\bParameter[ _]?Name{BETWEEN}Default\b(?!{BETWEEN}(?:Value|Min|Max|Current|Description))"
    rf"|\bParameter(?:[ _]?Name)?{BETWEEN}Value{BETWEEN}Run(?:[ _]?Value)?{BETWEEN}Min"
    rf"|\boption_name{BETWEEN}config_value{BETWEEN}run_value"
    r"|^\s{0,4}Parameter Name\s*$|<t[dh]\b[^<>]{0,99}>\s{0,99}Parameter(?: Name)?\s{0,99}</t[dh]>\s*$",
    re.IGNORECASE,
)
FIRST_GROUP = (
    r"^\s*Group: (?:Application Functionality|Backup/Recovery|Cache Manager|Component Integration Services"
    r"|Configuration Options|DTM Administration|Diagnostics|Disk I/O|Error Log|Extended Stored Procedure"
    r"|General Information|Java Services|Languages|Lock Manager|Memory Use|Meta-?Data Caches|Monitoring"
    r"|Network Communication|O/S Resources|Parallel Query|Physical (?:Memory|Resources)|Processors|Query Tuning"
    r"|Rep ?Agent Thread Administration|SQL Server Administration|Security Related|Unicode|User Environment)\s*$"
)
"""The line above the first table of a listing: it must not be left over."""
NOT_UNIQUE = r"^\s*Configuration option is not unique\."
START = re.compile(f"{HEADING.pattern}|{FIRST_GROUP}|{NOT_UNIQUE}", re.IGNORECASE)
GROUP = r"\s*Group:\s+\S"
SAID = re.compile(
    r"\s*(?:Configuration option (?:changed|is not unique)|Changing the value of '|Resulting configuration value"
    r"|(?:ASE|Adaptive Server|The SQL Server) (?:need not|must) be rebooted|effect\.\s*$)"
)
STOP = re.compile(rf"{GROUP}|{SAID.pattern}|\W{{0,40}}(?:{HEADING.pattern})|\s*(?:sp_\w+\b|go\s*$)", re.IGNORECASE)
REMARKS = re.compile(
    rf"{GROUP}|(?i:\s*(?:Rows [0-9]{{1,12}}|#{{3,}}|## ?\S.*)\s*$"
    r"|\s*(?:</?(?:table|tbody|thead|tr|pre|code)\b[^<>]*>\s*)+$)"
)
COLUMN = re.compile(
    r"Parameter Name|option_name|Default|Memory Used|Config[ _]Value|Run[ _]Value|Unit|Type|Instance Name",
    re.IGNORECASE,
)
SEPARATED = ("boxed", "delimited", "html")
KINDS = ("static", "dynamic", "read-only")
SWITCH = ("Dynamic", "Dynamic(Yes/No)")
YES, NO = ("yes", "y", "true", "1"), ("no", "n", "false", "0")
UNITS = frozenset(
    """not applicable,switch,number,ratio,percent,bytes,kilobytes,megabytes,memory pages(2k),virtual page,logical page,
pages,milliseconds,microseconds,seconds,minutes,hours,days,id,name,clock ticks,rows,flags,%""".replace("\n", "").split(
        ","
    )
)
MEMORY = re.compile(r"#?[0-9]{1,18}|\*+")
REMEDY = "export it again with wide lines (isql -w 1000) and in full"


@report(starts=START, provides=(ConfigParameter,))
def read(report: Report) -> Iterator[ConfigParameter]:
    """Yield one fact per parameter, and another where a later line says something else of it."""
    last_said: dict[tuple[str, str | None], ConfigParameter] = {}

    def new(fact: ConfigParameter) -> bool:
        before = last_said.get((fact.name, fact.instance))
        if before is fact or (before and _says_the_same(fact, before)):
            return False
        last_said[fact.name, fact.instance] = fact
        return True

    yield from PARAMETERS.read(report, lambda index, line: _claim_sentence(report, index), new)


def _ours(table: Table) -> bool:
    """Whether these are configuration parameters: they have a name and a value in force."""
    names = ("Parameter Name", "Parameter", "option_name")
    return any(table.has(name, run) for name in names for run in ("Run Value", "Run"))


def _by_words(table: Table, heading: str) -> Table:
    """The table with the columns that its heading names, where these do not stand above their dashes any more."""
    columns = tuple(COLUMN.findall(heading))
    if " ".join(columns) != " ".join(heading.split()):
        return table
    return replace(table, columns=columns, rows=tuple(replace(row, cells={}) for row in table.rows))


def _claim_sentence(report: Report, index: int) -> int:
    """Claim a message, which the client may have broken into lines, to its full stop; return its last line."""
    last = index
    for at in range(index, min(index + 5, len(report.lines))):
        text = report.lines[at].strip()
        if END.match(text) or (at > index and STOP.match(text)):
            break
        report.claim(at)
        last = at
        if text.endswith("."):
            break
    return last


def _parameter(row: Row, table: Table) -> Iterator[ConfigParameter | str]:
    """Read one row."""
    if not _sane(row, table):
        cells = None if table.layout in SEPARATED else _from_tokens(row.text, table)
        if cells is None:
            return
        row = replace(row, cells=cells)
    memory, kind = row.get("Memory Used"), _kind(row)
    unit = row.get("Unit") or None
    if kind is None and any(table.has(column) for column in ("Type", *SWITCH)):
        yield f"the row of `{_name(row)}` is cut short: whether it is static is not read; {REMEDY}"
        unit = unit if row.get("Type") else None  # the last word may be half a word
    yield ConfigParameter(
        name=_name(row),
        default_value=_value(row.get("Default", "Default Value")),
        memory_used_kb=reading(memory.removeprefix("#")),
        memory_counted=not memory.startswith("#"),
        config_value=_value(_config(row)),
        run_value=_value(_run(row)),
        unit=unit,
        kind=kind,
        minimum=reading(row.get("Min", "Minimum", "Minimum Value")),
        maximum=reading(row.get("Max", "Maximum", "Maximum Value")),
        instance=None if (instance := row.get("Instance Name", "Instance")).upper() == "NULL" else instance or None,
    )


def _name(row: Row) -> str:
    """The name with single blanks: some listings stretch it."""
    return " ".join(row.get("Parameter Name", "Parameter", "option_name").split())


def _config(row: Row) -> str:
    return row.get("Config Value", "Value", "Config")


def _run(row: Row) -> str:
    return row.get("Run Value", "Run")


def _kind(row: Row) -> str | None:
    said, switch = row.get("Type").lower(), row.get(*SWITCH).lower()
    if said in KINDS:
        return said
    return "dynamic" if switch in (*YES, "dynamic") else "static" if switch in (*NO, "static") else None


def _value(text: str) -> Reading | str:
    """A value: a number, asterisks for overflow, absent where there is none, else the text."""
    if not text or text.upper() == "NULL":
        return ABSENT
    if not text.strip("*"):
        return OVERFLOW
    found = number(text)
    return text if found is None else found


def _sane(row: Row, table: Table) -> bool:
    """Whether the cells are what their columns promise; false where values stand under the wrong heading."""
    if table.layout in SEPARATED:  # nothing can stand under the wrong heading there; an empty value is one
        return bool(_name(row)) and ("runvalue" in row.cells or "run" in row.cells)
    if not _name(row) or not _config(row) or not _run(row):
        return False
    if not all(row.get(column) for column in ("Default", "Unit") if table.has(column)):
        return False
    if any(len(value.split()) > 1 for value in (row.get("Default"), _config(row), _run(row))):
        return False
    kind = row.get("Type").lower()  # what is left of it: a row may be cut within its last word
    typed = not kind or any(known.startswith(kind) for known in KINDS)
    return typed and (not table.has("Memory Used") or bool(MEMORY.fullmatch(row.get("Memory Used"))))


def _from_tokens(text: str, table: Table) -> dict[str, str] | None:
    """Read a row whose columns do not stand under their headings, from its right end; `None` if it is not whole."""
    tokens = text.split()
    found: dict[str, str] = {}
    if table.has("Instance Name"):
        found["instancename"] = tokens.pop() if tokens else ""
    if table.has("Type"):
        found["type"] = tokens.pop().lower() if tokens else ""
        if found["type"] not in KINDS:
            return None
    if table.has("Unit"):
        words = _unit_words(tokens)
        found["unit"] = " ".join(tokens[len(tokens) - words :])
        del tokens[len(tokens) - words :]
    columns = ["configvalue", "runvalue"]
    if table.has("Memory Used"):
        columns = ["default", "memoryused", *columns]
    if len(tokens) <= len(columns):
        return None
    found.update(zip(columns, tokens[-len(columns) :], strict=True))
    found["parametername"] = " ".join(tokens[: -len(columns)])
    whole = found.get("memoryused", "0")
    return found if MEMORY.fullmatch(whole) and found["parametername"][0].isalpha() else None


def _unit_words(tokens: Sequence[str]) -> int:
    """How many words at the end are the unit: a unit ASE has, else the words after the last number."""
    for words in (2, 1):
        if " ".join(tokens[-words:]).lower() in UNITS:
            return words
    words = 0
    while words < len(tokens) and number(tokens[-1 - words]) is None:
        words += 1
    return words


def _says_the_same(new: ConfigParameter, old: ConfigParameter) -> bool:
    """Whether a later line adds nothing: it agrees wherever it says something."""
    known = ("default_value", "memory_used_kb", "unit", "kind", "minimum", "maximum")
    silent = {field: getattr(old, field) for field in known if getattr(new, field) in (None, ABSENT)}
    if silent:
        silent["memory_counted"] = old.memory_counted
    return replace(new, **silent) == old


PARAMETERS = Listing(
    heading=HEADING,
    row=_parameter,
    stop=STOP,
    remedy=REMEDY,
    remarks=REMARKS,
    others=SAID,
    ours=_ours,
    mended=_by_words,
)
