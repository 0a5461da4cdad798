"""One line of a MONITOR screen: pieces of the heading, rows of a table, rows of a bar graph. No state here."""

import re
from typing import NamedTuple

from collectors.facts.base import OVERFLOW, Reading
from collectors.layouts.vms import MOMENT, NODE
from collectors.reports.openvms.monitor.classes import ALONE, TITLES

LONGEST = 400
"""Characters: a screen is 80 or 132 wide, a multi-file summary somewhat more. A longer line is none of MONITOR's."""
UTILITY = (
    r"(?:(?:VSI|HPE?|Compaq|DIGITAL)[ ])?(?:OpenVMS|VAX/VMS|VMS)(?:[ ](?:VAX|Alpha|AXP|I64|IA64|x86-64))?[ ]Monitor[ ]"
    r"Utility"
)
TITLE = "|".join(re.escape(title) for title in sorted(TITLES, key=len, reverse=True))
BOX = r"\+-{3,9}\+|\|\s{0,2}(?:CUR|AVE|MIN|MAX|SUMMARY)\s{0,2}\|"
SAID = r"(?:Node:\s{1,9}[A-Z0-9_$]{1,15}|Statistic:\s{1,9}[A-Z]{3,9}|Process Count:\s{1,9}[0-9]{1,6})"
UPTIME = r"Uptime:\s{1,9}[0-9]{1,5}\s{1,3}[0-9:.]{5,11}"
WRAPPER = r"<[a-z]{1,10}[^<>]{0,200}\bid=[\"']?monitor[\"']?(?:\s[^<>]{0,200})?>"
START = re.compile(
    rf"^\s{{0,80}}(?:(?:{BOX}|{SAID})\s{{0,60}})?(?:<pre>)?{UTILITY}\s{{0,60}}"
    rf"(?:(?:{MOMENT}|{UPTIME})\s{{0,20}}|(?:{TITLE}).{{0,2000}})?$"
    rf"|^\s{{0,80}}(?:(?:{BOX})\s{{1,60}})?(?:{ALONE})\s{{0,80}}$"
    rf"|{WRAPPER}"
)
START_OF_SECTION = re.compile(WRAPPER, re.IGNORECASE)
GLUED = re.compile(rf"\s{{0,80}}{UTILITY}\s{{0,60}}(?:{TITLE})")
"""A whole screen on one line: it was drawn with movements of the cursor, and these are gone."""
PIECE = re.compile(
    rf"""\s*(?:
      (?P<ruler>[+|][+|\ -]*$)
    | (?P<box>\+-{{3,9}}\+|\|\s{{0,2}}(?P<statistic>CUR|AVE|MIN|MAX)\s{{0,2}}\|)
    | (?P<utility>{UTILITY})
    | (?P<multi>(?i:MULTI-?\s?FILE\s+SUMMARY))
    | (?P<summary>\|\s{{0,2}}SUMMARY\s{{0,2}}\||SUMMARY(?![A-Z]))
    | on\s+node:?\s+(?P<node>[A-Z0-9_$a-z]{{1,15}}?)(?:::)?(?=\s|$|[0-9]{{1,2}}-[A-Za-z]{{3}}-)
    | Node:\s+(?P<node_said>{NODE})(?=\s)
    | Statistic:\s+(?P<statistic_said>CUR|AVE|MIN|MAX)[A-Z]*
    | (?P<counted>Process\ Count:\s+[0-9]{{1,6}}|{UPTIME})
    | From:\s*(?P<start>(?i:{MOMENT}))
    | To:\s*(?P<end>(?i:{MOMENT}))
    | (?P<stamp>(?i:{MOMENT}))
    | Combined\s+for\s+(?P<cpus>[0-9]{{1,4}})\s+CPUs?
    | CPU(?:\s+ID)?:?\s+(?P<cpu>[0-9]{{1,4}})(?![0-9.])
    | (?P<axis>0(?:\s+[0-9]{{1,9}}[KM]?){{2,5}}\s*$)
    | (?P<title>{TITLE})(?![A-Z])
    | (?P<other>RMS\ FILE\ OPERATIONS(?:\ STATISTICS)?
      |[A-Z][A-Z/&-]{{1,15}}(?:\ [A-Z/&-]{{1,15}}){{0,5}}\ (?:STATISTICS|PROCESSES))(?![A-Z])
    )""",
    re.VERBOSE,
)
COLUMNS = re.compile(r"\s*(?P<item>\S.{0,60}?)??\s{0,80}(?P<current>\bCUR\s+)?\bAVE\s+MIN\s+MAX\s*$")
FIGURE = re.compile(r"[0-9]{1,15}(?:\.[0-9]{1,6})?|\*{2,20}")
TOUCHING = re.compile(r"[0-9]{1,12}\.[0-9]{2}|\*{2,20}")
"""MONITOR prints two decimals in tables, so columns that touch can still be told apart."""
MESSAGES = ("%MONITOR-", "MONITOR>")
PROMPT = re.compile(r"\s{0,8}(?:\$(?:\s|$)|(?!MONITOR>)[A-Z][A-Z0-9_$]{0,31} ?>(?:\s|$))")
"""What somebody typed behind the prompt of DCL or of another utility."""
OF_A_ROW = "0123456789.* \t"


class Row(NamedTuple):
    """A line of figures: the label, and the figures as printed."""

    label: str
    figures: tuple[str, ...]


def pieces(line: str) -> list[re.Match[str]] | None:
    """Cut a line of the heading, or of the frame of a bar graph, into what it says; `None` for any other line."""
    found, at, end = [], 0, len(line.rstrip())
    while at < end:
        piece = PIECE.match(line, at)
        if piece is None:
            return None
        found.append(piece)
        at = piece.end()
    return found


def figures_of(line: str, least: int, most: int) -> Row | None:
    """Read a label and the last figures of a line: as many as there are, from `least` to `most`."""
    line = line.rstrip()
    head = line.rstrip(OF_A_ROW)
    tail = line[len(head) :]
    if tail and not tail[0].isspace() and head:  # the digits end a word: they belong to the label
        cut = min((at for at in (tail.find(" "), tail.find("\t")) if at >= 0), default=len(tail))
        head, tail = head + tail[:cut], tail[cut:]
    found: list[str] = []
    for token in tail.split():
        if FIGURE.fullmatch(token):
            found.append(token)
        elif (parts := TOUCHING.findall(token)) and "".join(parts) == token:
            found += parts
        else:
            head, found = f"{head} {' '.join([*found, token])}", []
    if len(found) < least:
        return None
    head = " ".join([head, *found[: max(0, len(found) - most)]])
    return Row(" ".join(head.split()), tuple(found[-most:]))


def number(text: str | None) -> Reading:
    """Read one figure; blank is 0, because MONITOR leaves the figure of an empty bar out."""
    if not text:
        return 0.0
    return OVERFLOW if text.startswith("*") else float(text)
