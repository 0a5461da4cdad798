"""The script for z/VM: an EXEC of CMS that asks CP, and the pages of Performance Toolkit to be saved by hand.

Nobody has run it on z/VM yet, and it says so. How a page is saved as text differs by site (a terminal that writes its
screen, the toolkit's web page), so no command is printed for it.
"""

import re
from collections.abc import Iterator

from advisor.audits.services.collect_script.request import CollectScriptRequest
from advisor.audits.services.collect_script.text import by_hand, commented, file_of, minutes, purpose, said

PAGES = {
    "FCX265": "LOCKLOG  (FCX265): spin locks of CP by time",
    "FCX326": "LOCKACT  (FCX326): spin locks of CP over the interval",
    "FCX144": "PROCLOG  (FCX144): processors by time",
    "FCX225": "SYSSUMLG (FCX225): the system by time",
    "FCX239": "PROCSUM  (FCX239): processors over the interval",
    "FCX102": "SYSTEM   (FCX102): counters of CP",
}
"""Subcommands of Performance Toolkit, in the order in which their pages are of most use (`zvm-unix-scalability.md`)."""
CPLEVEL = re.compile(r"^QUERY CPLEVEL\b")
PAGE = re.compile(r"\bFCX[0-9]{3}\b")


def zvm_script(request: CollectScriptRequest) -> list[str]:
    """Write it."""
    pages, level, rest = dict.fromkeys(PAGES), True, list[str]()
    if request.commands is not None:
        pages, level = {}, False
        for command in request.commands:
            named = [one for one in PAGE.findall(command) if one in PAGES]
            pages |= dict.fromkeys(named)
            level = level or bool(CPLEVEL.match(command))
            if not named and not CPLEVEL.match(command):
                rest.append(command)
    head = commented("/*", _head(request, pages, rest), " */")
    ask = ["'PIPE CP QUERY CPLEVEL | >> LOCKWRGT TEXT A'"] if level else ["/* Nothing to ask CP for. */"]
    return [*head, *ask, "EXIT rc" if level else "EXIT 0"]


def _head(request: CollectScriptRequest, pages: dict[str, None], rest: list[str]) -> Iterator[str]:
    """What it is, how it is run, and what is saved by hand beside it."""
    name = f" {said(request.system, 60)}" if request.system else ""
    yield f"Lockwright: collects from z/VM{name} {purpose(request)}."
    yield "UNTRIED on z/VM: written from manuals. Read it before you run it."
    yield ""
    yield "Store it as LOCKWRGT EXEC A and run it; the answer is appended to LOCKWRGT TEXT A:"
    yield "  LOCKWRGT"
    yield "Takes a second. Which privilege class QUERY CPLEVEL needs, and what it costs, is not known. Changes nothing."
    if pages:
        yield ""
        busy = f"one busy interval, {minutes(request.minutes)} or more"
        yield f"Pages of Performance Toolkit, each saved as text, all of {busy}; cost: not known:"
        yield from (f"  {PAGES[one]}" for one in PAGES if one in pages)
    yield "Put all of it into one folder, then:"
    yield f"  manage.py audit {file_of(request.system)}"
    if rest:
        yield ""
        yield from by_hand(rest)[:-1]
