"""Tables of HTML reports: `<tr>` and `<td>` on one line or on many, tags in capitals, cells and rows not closed."""

import re
from collections.abc import Sequence
from html import unescape

TAG = re.compile(r"<(/?)(t[dhr]|table)\b[^<>]*>", re.IGNORECASE)
MARKUP = re.compile(r"<[^<>]*>")

Record = tuple[int, int, list[str]]


def cut_html(lines: Sequence[str], at: int, end: int) -> tuple[list[str], list[Record], list[int], int]:
    """Read rows from `lines[at]` to `</table>`: the columns, each row with its lines, the heading's lines, the last."""
    rows = _Rows()
    last = at
    for index in range(at, end):
        last = index
        if rows.feed(index, lines[index]):
            break
    else:
        last = rows.found[-1][1] if rows.found else at
    rows.close()
    if not rows.found:
        return [], [], [at], at
    first, to, columns = rows.found[0]
    last = max(last, rows.found[-1][1])
    bare = [index for index in range(to + 1, last + 1) if not MARKUP.sub("", lines[index]).strip()]
    return columns, rows.found[1:], [*range(min(first, at), to + 1), *bare], last


class _Rows:
    """Collects rows from lines."""

    def __init__(self) -> None:
        self.found: list[Record] = []
        self.cells: list[str] = []
        self.text: list[str] | None = None
        self.first = self.last = 0

    def feed(self, index: int, line: str) -> bool:
        """Take one line; true at the end of the table."""
        where = 0
        for tag in TAG.finditer(line):
            self.add(line[where : tag.start()])
            where = tag.end()
            name = tag[2].lower()
            if name in ("td", "th"):
                self.close_cell()
                if not tag[1]:
                    self.first = index if not self.cells else self.first
                    self.text = []
                self.last = index
            else:
                self.close()
                if name == "table" and tag[1]:
                    return True
        self.add(line[where:])
        return False

    def add(self, text: str) -> None:
        if self.text is not None:
            self.text.append(text)

    def close_cell(self) -> None:
        if self.text is not None:
            self.cells.append(" ".join(unescape(MARKUP.sub(" ", " ".join(self.text))).split()))
            self.text = None

    def close(self) -> None:
        """End the row, if there is one."""
        self.close_cell()
        if self.cells:
            self.found.append((self.first, self.last, self.cells))
            self.cells = []
