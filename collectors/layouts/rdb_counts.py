"""Interactive SQL of Rdb: the database that ATTACH names, and SELECT COUNT(*) of a table with its figure below.

Sample::

    SQL> SELECT COUNT(*) FROM RATES;

           40117
    1 row selected
"""

import re
from collections.abc import Sequence

from collectors.facts.rdb.names import VERSION, is_whole

PROMPT = r"\s{0,20}(?:SQL>\s{0,20})?"
ATTACH = re.compile(rf"{PROMPT}attach\s.{{0,60}}filename\s{{1,9}}['\"]?(?P<root>[^\s'\";]{{1,255}})", re.IGNORECASE)
COUNTING = re.compile(
    PROMPT + r"SELECT\s{1,9}COUNT\s{0,9}\(\s{0,9}\*\s{0,9}\)\s{1,9}FROM\s{1,9}"
    r'"?(?P<table>[A-Z0-9_$]{1,31})"?\s{0,9};\s*$',
    re.IGNORECASE,
)
ONE_FIGURE = re.compile(r"\s{0,40}(?P<count>[0-9]{1,12})\s*$")
SELECTED = re.compile(r"\s{0,9}[0-9]{1,9} rows? selected\s*$", re.IGNORECASE)


def counted(lines: Sequence[str], at: int) -> tuple[str, float, int] | None:
    """A table whose rows are counted here, how many, and the line that says it."""
    asked = COUNTING.match(lines[at][:600])
    if asked is None:
        return None
    last = next((index for index in range(at + 1, min(at + 4, len(lines))) if lines[index].strip()), at)
    said = ONE_FIGURE.match(lines[last][:60])
    return (asked["table"].upper(), float(said["count"]), last) if said else None


def root_of(file: str) -> str | None:
    """A root file as it is attached to, with its type; `None`: a logical name."""
    if not is_whole(file):
        return None
    return file if re.search(r"\.\w+$", VERSION.sub("", file)) else f"{file}.RDB"
