"""The name of one object by its number and the number of its database (`select object_name(<id>, <dbid>)`).

The numbers stand in the question alone, which isql echoes; the heading is blank, or a name that the asker chose::

    1> select object_name(640002280, 6)
    2> go

     ------------------------------
     p_close_month

One question may ask for several, for rows (`row_count`, passed over), and for the lock scheme of the same number
(`lockscheme(<id>, <dbid>)`), which is kept where the database is asked for by its name
(`object_name(<id>, db_id("orders"))`), as a lock scheme is of a table with a database. A question without the database
says nothing: each has its own ids.
"""

import re
from collections.abc import Iterator

from collectors.facts.ase import ObjectId, TableScheme
from collectors.layouts.ase_catalog import SCHEMES, is_system
from collectors.registry import NotThisReport, Report, report

HOME = r"(?:[0-9]{1,5}|db_id\s{0,9}\(\s{0,9}[\"'][A-Za-z_][\w#$]{0,254}[\"']\s{0,9}\))"
ITEM = (
    r"(?:\w{1,60}\s{0,9}=\s{0,9})?"
    rf"(?:(?:object_name|lockscheme)\s{{0,9}}\(\s{{0,9}}[0-9]{{1,10}}\s{{0,9}},\s{{0,9}}{HOME}"
    rf"|row_count\s{{0,9}}\(\s{{0,9}}{HOME}\s{{0,9}},\s{{0,9}}[0-9]{{1,10}})"
    r"\s{0,9}\)\s{0,9}(?:as\s{1,9})?\w{0,60}\s{0,9}"
)
ASKED = re.compile(
    rf"\s{{0,9}}(?:[0-9]{{1,4}}>\s{{0,9}})?select\s{{1,9}}{ITEM}(?:,\s{{0,9}}{ITEM}){{0,19}}$", re.IGNORECASE
)
CALL = re.compile(
    r"(?P<count>row_count)\b|(?P<of>object_name|lockscheme)\s{0,9}\(\s{0,9}(?P<id>[0-9]{1,10})\s{0,9},\s{0,9}"
    r"(?:(?P<db>[0-9]{1,5})|db_id\s{0,9}\(\s{0,9}[\"'](?P<name>[\w#$]{1,255}))",
    re.IGNORECASE,
)
RULE = re.compile(r"(?:\s{0,9}-{3,300}){1,20}\s*$")
NAME = re.compile(r"[A-Za-z_#][\w#$@]{0,254}")
COUNT = re.compile(r"[0-9]{1,19}|NULL", re.IGNORECASE)
BELOW = 8
"""Lines from the question down to the rule of dashes, at most."""


@report(starts=ASKED, provides=(ObjectId, TableScheme))
def read(report: Report) -> Iterator[ObjectId | TableScheme]:
    """Yield one fact for each question that has an answer."""
    found = 0
    for index, line in enumerate(report.lines):
        asked = ASKED.match(line)
        below = range(index + 1, min(index + BELOW, len(report.lines) - 1)) if asked else ()
        rule = next((at for at in below if RULE.match(report.lines[at])), None)
        names = report.lines[rule + 1].split() if rule is not None else []
        calls = list(CALL.finditer(line)) if asked else []
        answers = list(zip(calls, names, strict=False))
        fits = all((COUNT if call["count"] else NAME).fullmatch(name) for call, name in answers)
        if rule is None or not calls or len(names) != len(calls) or not fits:
            continue
        found += 1
        report.claim(index, rule + 1)
        source = report.source(index, rule + 1)
        tables: dict[tuple[str, str | None], str] = {}
        answers = [(call, name) for call, name in answers if call["of"]]
        for call, name in answers:
            if name.upper() != "NULL" and call["of"].lower() == "object_name":  # NULL: nothing has that number now
                number = int(call["db"]) if call["db"] else None
                tables[call["id"], call["name"]] = name
                yield ObjectId(
                    source=source, database=call["name"], db_id=number, table=name, object_id=int(call["id"])
                )
        for call, scheme in answers:
            table = tables.get((call["id"], call["name"])) if call["name"] else None
            if table and scheme.lower() in SCHEMES and call["of"].lower() == "lockscheme":
                yield TableScheme(
                    source=source,
                    database=call["name"],
                    table=table,
                    object_id=int(call["id"]),
                    scheme=scheme.lower(),
                    system=is_system(table),
                )
    if not found:
        raise NotThisReport
