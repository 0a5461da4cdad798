"""The cells of one row of the table: under which heading each value stands."""

import re
from collections.abc import Iterator

COLUMN = r"(?:COMMAND|PID|TYPE|SIZE|INODE|MAJ:MIN|MODE|M|START|END|PATH|BLOCKER|HOLDERS)"
ENDING = {"PID", "TYPE", "SIZE", "INODE", "START", "END", "BLOCKER"}
"""Columns whose values end where the heading's word ends."""
BLANK = {"SIZE", "BLOCKER", "HOLDERS", "PATH", "COMMAND", "INODE", "MAJ:MIN"}
"""Columns that may have no value."""
PID = re.compile(r"-?[0-9]{1,10}")
AT_THE_END = re.compile(r"\S\s{2,100}-?[0-9]{1,10}$")
BEHIND_ONE_BLANK = re.compile(r"\S -?[0-9]{1,10}$")
"""How who blocks stands behind the longest path, in a row that waits: such a row names its blocker."""
GAP = r"\s{1,80}"
ESCAPED = re.compile(r"\\x([0-9a-fA-F]{2})")
MIDDLE = {
    "PID": r"-?[0-9]{1,10}",
    "TYPE": r"[A-Z]{3,9}",
    "SIZE": r"[0-9]{1,20}(?:[.,][0-9])?[BKMGTPE]?",
    "INODE": r"[0-9]{1,20}",
    "MAJ:MIN": r"[0-9]{1,8}:[0-9]{1,8}",
    "MODE": r"[A-Z]{2,7}\*?",
    "M": r"[01]",
    "START": r"[0-9]{1,20}",
    "END": r"[0-9]{1,20}",
}
LIKE_A_ROW = re.compile(r"\s(?:POSIX|FLOCK|OFDLCK|LEASE|DELEG|ACCESS)\s")


class Heading:
    """The heading of one table: which columns it has, and where."""

    def __init__(self, line: str) -> None:
        """Read the line of headings."""
        text = line.expandtabs()
        found = list(re.finditer(r"\S+", text))
        self.columns = [word[0].upper() for word in found]
        self.spans = [(word.start(), word.end()) for word in found]
        self.raw = "  " not in text.strip() and not text[:1].isspace()
        self.pattern = self._pattern()

    def has(self, column: str) -> bool:
        """Whether the table has this column."""
        return column in self.columns

    def ways(self, line: str) -> Iterator[dict[str, str]]:
        """The cells of a row, read in each way that the heading allows, the surest first."""
        text = line.expandtabs()
        if self.raw:
            pieces = line.split(" ")
            if len(pieces) == len(self.columns):
                yield {name: _plain(piece) for name, piece in zip(self.columns, pieces, strict=True)}
        elif (cells := self._placed(text)) is not None:
            yield cells
        if self.pattern and (found := self.pattern.fullmatch(text.strip())):
            yield self._guessed(text, found)

    def goes_on(self, line: str) -> bool:
        """Whether this is a further line of the cell under HOLDERS of the row above."""
        return self.has("HOLDERS") and not line[: self.spans[-1][0]].strip() and self.columns[-1] == "HOLDERS"

    def like_a_row(self, line: str) -> bool:
        """Whether this looks like a lock, though its cells are not to be found."""
        return bool(LIKE_A_ROW.search(f" {line[:400]} "))

    def _placed(self, text: str) -> dict[str, str] | None:
        """Cut the row where the headings stand; `None` where a value crosses a border."""
        cells: dict[str, str] = {}
        begin = 0
        names = self.columns
        for at, name in enumerate(names):
            ends = name in ENDING
            following = at + 1 < len(names)
            if ends:
                end = self.spans[at][1]
            elif not following:
                end = max(len(text), begin)
            elif names[at + 1] in ENDING:
                end = self._border(text, begin, self.spans[at + 1][1])
            else:
                end = self.spans[at + 1][0]
            around = text[max(end - 1, 0) : end + 1]
            if following and end < len(text) and around.strip() and " " not in around:
                return None
            cells[name] = text[begin:end].strip()
            begin = end
        ending = BEHIND_ONE_BLANK if cells.get("MODE", "").endswith("*") else AT_THE_END
        path = cells.get("PATH", "")[-200:]
        slipped = self.has("BLOCKER") and not cells["BLOCKER"] and (AT_THE_END.search(path) or ending.search(path))
        return None if slipped or text[begin:].strip() else cells

    @staticmethod
    def _border(text: str, begin: int, end: int) -> int:
        """Where a value that begins at its left border gives way to one that ends at its right border."""
        region = text[begin:end]
        if len(region) < end - begin or not region[-1:].strip():
            return begin + len(region.rstrip())
        return begin + region.rstrip().rfind(" ") + 1

    def _pattern(self) -> re.Pattern[str] | None:
        """The usual order of columns, for rows of which the white space was lost."""
        names = [name for name in self.columns if name not in ("COMMAND", "PATH", "BLOCKER", "HOLDERS")]
        usual = [name for name in MIDDLE if name in names]
        around = self.columns[: self.columns.index(names[0])], self.columns[self.columns.index(names[-1]) + 1 :]
        if names != usual or around[0] not in ([], ["COMMAND"]) or "PATH" not in around[1][:1]:
            return None
        parts = {name: rf"(?P<{_group(name)}>{MIDDLE[name]}){GAP}" for name in names}
        middle = "".join(f"(?:{part})?" if name == "SIZE" else part for name, part in parts.items()).removesuffix(GAP)
        command = rf"(?P<COMMAND>\S.{{0,60}}?){GAP}" if around[0] else ""
        return re.compile(rf"{command}{middle}(?:{GAP}(?P<PATH>\S.{{0,5000}}))?")

    def _guessed(self, text: str, found: re.Match[str]) -> dict[str, str]:
        """The cells of a row of the usual order; who blocks stands last in a row that waits."""
        cells = {name: found[_group(name)] or "" for name in self.columns if _group(name) in found.groupdict()}
        if self.has("BLOCKER"):
            cells["BLOCKER"] = ""
            path = cells.get("PATH", "")
            name, _, pid = path.rpartition(" ")
            if PID.fullmatch(pid) and name.strip() and cells.get("MODE", "").endswith("*"):
                cells["PATH"], cells["BLOCKER"] = name.rstrip(), pid
        return cells


def _group(name: str) -> str:
    return name.replace(":", "")


def _plain(cell: str) -> str:
    r"""A cell of `lslocks -r`, which writes a blank as `\x20`."""
    return ESCAPED.sub(lambda found: chr(int(found[1], 16)), cell)
