"""Server name, version and page size (`select @@servername, @@version, @@maxpagesize`).

isql, on one line or wrapped at its width; boxes and CSV in the same order::

    1> select @@servername, @@version, @@maxpagesize
    2> go

     ------------------------------ ------------------------------------------------------------------- -----------
     LARCH_ASE                      Adaptive Server Enterprise/15.7/EBF 20369 SMP SP61 /P/x86_64/Enterprise Linux/…

The version is found by its own words, wherever they stand. It is whole when it ends with the date of its build; where
the client broke it mid-word the pieces are joined without a blank, where a mail program broke it at a blank, with one.
A version that is cut is kept as far as it goes. No name printed means `None`: a name counts only where it is the one
word before the version (same line, or the line above of the same wrapped row), or the answer to `select @@servername`.
A client that trims its columns leaves one blank between a name and the version: there the dashes of the heading, or a
question that asks for the name just before the version, tell that the word is a column of its own.
A query may name its columns (`select @@servername Name`): what stands above the dashes of its answer is their names.
Statements of one batch (`select @@servername`, `select @@version`, one `go`) are answered in their order: the name
is read where no other statement of the batch stands before its own but the version's.
A name taken wrongly would tear one system's exports apart, so doubtful words are no name.

The version in the header of sp_sysmon is not read here: its line says `Server Version:`.
"""

import re
from collections.abc import Iterator, Sequence
from dataclasses import replace
from functools import reduce

from collectors.facts.ase import Server
from collectors.facts.base import ABSENT, Reading
from collectors.layouts.tables import END
from collectors.registry import NotThisReport, Report, report

VARIABLE = re.compile(r"@@(servername|version|maxpagesize|pagesize)\b", re.IGNORECASE)
ASKED = re.compile(rf"^.{{0,60}}\bselect\b.{{0,400}}{VARIABLE.pattern}", re.IGNORECASE)
PRODUCT = re.compile(r"Adaptive Server Enterprise/(?=[0-9]{2}\.[0-9])", re.IGNORECASE)
START = re.compile(rf"^(?!.{{0,60}}Server Version\s?:).*{PRODUCT.pattern}|{ASKED.pattern}", re.IGNORECASE)
PROMPT = re.compile(r"\s*(?:[0-9]{1,6}:)?[0-9]{1,6}>")
FIRST = re.compile(r"\s*(?:[0-9]{1,6}:)?1>")
SELECT = re.compile(r"\bselect\b", re.IGNORECASE)
BUILT = re.compile(r"/[A-Z][a-z]{2} ?[A-Z][a-z]{2} {0,2}[0-9]{1,2} ?[0-9]{2}:[0-9]{2}:[0-9]{2} ?[0-9]{4}")
"""The date of the build ends a version; a blank of it may be lost where the line was broken."""
NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_$#@-]{0,29}")
"""30 characters are what `sysservers` and `@@servername` hold."""
NO_NAMES = frozenset(["version", "server", "servername", "server_name", "sap", "sybase", "ase", "null", "snap_version"])
PAGE_SIZES = ("2048", "4096", "8192", "16384")
CELLS_APART = re.compile(r"\s{2,}|[|,;\t\"]")
CUT_APART = re.compile(r"\s{6,}|[|,;\t\"]")
"""Behind a version without its date: two blanks stand inside some (`SP104  ONE-OFF`)."""
RULE = re.compile(r"(?=.*--)[-+| \t]+$")
HEADED = re.compile(r"@@\w{1,30}(?:\s+@@\w{1,30}){0,3}")
"""Names of columns as some clients give them to variables."""
ROWS = re.compile(r"\s*Rows [0-9]{1,12}\s*$")
MOST_PARTS = 6
MOST_ABOVE = 8
"""Lines between a question and its answer: borders, names and dashes of the columns, each wrapped."""
LONGEST = 400


@report(starts=START, provides=(Server,))
def read(report: Report) -> Iterator[Server]:
    """Yield one fact per version; the answers to lone questions complete it, or stand for it."""
    found: list[Server] = []
    alone: list[Server] = []
    named: list[Server] = []
    asked: list[str] = []
    batch: list[list[str]] = []
    index = below = 0
    above = [line.strip() for line in reversed(report.before)][:2]
    if len(above) > 1 and RULE.match(above[0]) and HEADED.fullmatch(above[1]):
        report.above = len(above)
    while index < len(report.lines):
        line = report.lines[index]
        if ASKED.search(line):
            batch, index = _asked(report, index)
            asked = next((one for one in batch if "version" in one), batch[0] if batch else [])
            below = index + 1
            answer = _answer(report, below, batch[0]) if batch and "version" not in batch[0] else None
            named = [answer] if answer and len(batch) > 1 else []
            alone += [answer] if answer else []
        elif START.search(line) and (product := PRODUCT.search(line)):
            if asked:
                _claim_heading(report, below, index)
            server, index = _server(report, index, product, asked)
            if not named and len(batch) > 1 and asked is batch[0] and (answer := _answer(report, index + 1, batch[1])):
                named = [answer]
            found.append(reduce(_completed, named, server))
            named, batch = [], []
        elif ROWS.match(line):
            report.claim(index)
        index += 1
    if not found and not alone:
        raise NotThisReport
    if len(found) <= 1:
        found = [reduce(_completed, alone, *found)] if found else [reduce(_completed, alone)]
    yield from found


def _asked(report: Report, index: int) -> tuple[list[list[str]], int]:
    """The variables each statement of a question asks for, in order, and the last line of the question.

    None where another statement of the batch stands above: the first answer is that one's.
    """
    last = index
    above = report.over(index, MOST_PARTS)
    later = PROMPT.match(report.lines[index]) and not FIRST.match(report.lines[index])
    while later and above and PROMPT.match(above[-1]) and not SELECT.search(above[-1]):
        above.pop()
    other = later and above and PROMPT.match(above[-1])
    while last < min(index + MOST_PARTS, len(report.lines) - 1) and PROMPT.match(report.lines[last + 1]):
        last += 1
    report.claim(index, last)
    question = " ".join(line[:LONGEST] for line in report.lines[index : last + 1])
    statements = [] if other else SELECT.split(question)[1:]
    return [
        [name.lower().replace("maxpagesize", "pagesize") for name in VARIABLE.findall(one)] for one in statements
    ], last


def _answer(report: Report, start: int, asked: list[str]) -> Server | None:
    """Read the row below the dashes (in a box: below the second border) as the answer to a question."""
    end = min(start + MOST_ABOVE, len(report.lines))
    rules = [index for index in range(start, end) if RULE.match(report.lines[index])]
    boxed = bool(rules) and report.lines[rules[0]].lstrip().startswith("+")
    at = rules[boxed] + 1 if len(rules) > boxed else end
    cells = _cells(report.lines[at]) if at < end else []
    if at < end and len(cells) != len(asked):
        cells = report.lines[at][:LONGEST].split()  # one blank apart, where the columns are as wide as what they hold
    if len(cells) != len(asked):
        return None
    said = dict(zip(asked, cells, strict=True))
    server = Server(
        source=report.source(at),
        name=_name(said.get("servername", "")),
        page_size_bytes=_page(said.get("pagesize", "")),
    )
    if server.name is None and server.page_size_bytes is ABSENT:
        return None
    report.claim(at)
    _claim_heading(report, start, at)
    return server


def _claim_heading(report: Report, start: int, at: int) -> None:
    """Take as understood the names of the columns, down to the dashes above the answer at `at` to a question.

    `start`: the first line behind the question.
    """
    first = at
    while first > start and report.lines[first - 1].strip() and not PROMPT.match(report.lines[first - 1]):
        first -= 1
    rules = [index for index in range(first, at) if RULE.match(report.lines[index])]
    if rules and at - first <= MOST_ABOVE:
        report.claim(first, rules[-1])


def _server(report: Report, index: int, product: re.Match[str], asked: list[str]) -> tuple[Server, int]:
    """Read the version that begins on this line, what stands round it, and its last line."""
    lines = report.lines
    text, rest, last = _version(lines, index, product.end())
    name, first = _name_before(report, index, lines[index][: product.start()], asked)
    cells = _cells(rest)
    if "pagesize" in asked and not cells and last + 1 < len(lines) and lines[last + 1].strip() in PAGE_SIZES:
        last += 1
        cells = [lines[last].strip()]
    if name is None and "servername" in asked:
        name = next((cell for cell in cells if _name(cell)), None)
    sizes = [cell for cell in cells if cell in PAGE_SIZES]
    if "pagesize" in asked and not sizes:  # one blank apart, where the columns are as wide as what they hold
        sizes = [word for word in rest[:LONGEST].split() if word in PAGE_SIZES]
    page = _page(sizes[0]) if len(sizes) == 1 else ABSENT
    report.claim(first, last)
    return Server(source=report.source(first, last), name=name, version=text, page_size_bytes=page), last


def _version(lines: Sequence[str], index: int, start: int) -> tuple[str, str, int]:
    """The version, what stands behind it on its last line, and that line's index.

    Later lines belong to it only if they complete it: a version cut short must not swallow what follows.
    """
    joined = lines[index][start : start + LONGEST]
    for last in range(index, min(index + MOST_PARTS, len(lines))):
        if last > index:
            line = lines[last]
            if END.match(line) or PRODUCT.search(line) or len(joined) > LONGEST:
                break
            indented = line[:1] in (" ", "\t")
            if indented and joined.endswith("  "):
                joined = joined.rstrip() + " "  # at most one of these blanks belongs to the text
            joined += line[:LONGEST].lstrip() if indented else f" {line[:LONGEST]}"
        if built := BUILT.search(joined):
            return " ".join(joined[: built.end()].split()).replace("/ ", "/"), joined[built.end() :], last
    first = lines[index][start : start + LONGEST]
    text = CUT_APART.split(first, maxsplit=1)[0]
    return " ".join(text.split()), first[len(text) :], index


def _name_before(report: Report, index: int, before: str, asked: Sequence[str]) -> tuple[str | None, int]:
    """The name before a version, on its line or alone on the line above of a wrapped row; and where the row begins."""
    cells = _cells(before)
    apart = before.endswith(("  ", "\t", "|", ",", ";", '"', "| ", ", "))
    above = report.over(index, 2)
    if cells:
        apart = apart or tuple(asked[:2]) == ("servername", "version") or _is_column(before, above[-1:])
        return (_name(cells[0]) if len(cells) == 1 and apart else None), index
    indented = before[:1] == "\t" or len(before) > 1
    if indented and len(above) == 2 and RULE.match(above[0]) and (name := _name(above[1].strip())):
        report.above = int(index == 0)
        return name, max(index - 1, 0)
    return None, index


def _is_column(before: str, above: Sequence[str]) -> bool:
    """Whether the dashes right above show one column before the version, which is the beginning of the next."""
    rule = above[0] if above and RULE.match(above[0]) else ""
    left, right = rule[: len(before)], rule[len(before) :]
    return before.endswith(" ") and left.endswith("- ") and right.startswith("-") and len(left.split()) == 1


def _cells(text: str) -> list[str]:
    return [cell.strip() for cell in CELLS_APART.split(text[:LONGEST]) if cell.strip()]


def _name(text: str) -> str | None:
    return text if NAME.fullmatch(text) and text.lower() not in NO_NAMES else None


def _page(text: str) -> Reading:
    return float(text) if text in PAGE_SIZES else ABSENT


def _completed(server: Server, answer: Server) -> Server:
    """Fill what a server's fact does not say from the answer to another question."""
    name = server.name or answer.name
    page = answer.page_size_bytes if server.page_size_bytes is ABSENT else server.page_size_bytes
    if (name, page) == (server.name, server.page_size_bytes):
        return server
    first, last = min(server.source.first, answer.source.first), max(server.source.last, answer.source.last)
    return replace(server, name=name, page_size_bytes=page, source=replace(server.source, first=first, last=last))
