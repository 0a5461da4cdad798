"""What the scripts share: comments that nothing from an export can leave, and names of files."""

import re
import textwrap
from collections.abc import Iterable, Iterator

from advisor.audits.services.collect_script.request import CollectScriptRequest
from advisor.core.jinja import counted
from rules.changes.quoting import comment

WIDTH = 100
PLAIN = re.compile(r"[A-Za-z][A-Za-z0-9_-]{0,30}\Z")


def file_of(system: str | None) -> str:
    """A system's name as a file's, where it is plain; else one that says what is in it."""
    return (system or "").lower() if PLAIN.match(system or "") else "answers"


def said(text: str, longest: int = 300) -> str:
    """Text of an export for a comment of any of the languages: none of its characters means anything in them.

    Quotes, `&` and `!` put in symbols or begin a comment in DCL, `/*` and `*/` begin and end one in T-SQL and REXX, a
    hyphen at the end goes on with the next line in DCL, and a comma does in REXX.
    """
    return re.sub(r"[\"'&]", "_", comment(text, longest)).replace("/*", "/ *").rstrip("-, ") or "?"


def commented(begin: str, lines: Iterable[str], end: str = "") -> Iterator[str]:
    """Lines of a comment, the long ones wrapped. One that begins with blanks stays whole: it is a command to be copied.

    `end` closes a comment where its language wants that.
    """
    for line in lines:
        whole = line.startswith(" ") or not line
        for part in [line] if whole else textwrap.wrap(line, WIDTH, break_on_hyphens=False):
            yield f"{begin} {part}".rstrip() + end if end else f"{begin} {part.rstrip('- ')}".rstrip()


def purpose(request: CollectScriptRequest) -> str:
    """What it collects, as the end of a sentence."""
    return "all that a first audit needs" if request.commands is None else "what an audit still lacks"


def by_hand(commands: Iterable[str]) -> list[str]:
    """What no line of a script collects, as lines of a comment."""
    listed = [f"* {said(one)}" for one in commands]
    return ["By hand, as no line below collects it:", *(f"  {one}" for one in listed), ""] if listed else []


def minutes(count: int) -> str:
    """`1 minute`, `10 minutes`."""
    return counted(count, "minute")


def clock(count: int) -> str:
    """So many minutes as `00:10:00`."""
    return f"{count // 60:02d}:{count % 60:02d}:00"
