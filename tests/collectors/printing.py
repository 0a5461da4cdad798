"""Result sets as clients print them, for tests: isql at any width, boxes, separated values, bcp."""

from collections.abc import Sequence

Row = Sequence[str]


def isql(columns: Row, rows: Sequence[Row], width: int = 10_000) -> str:
    """As isql does: one blank before each column, figures at the right, lines broken between columns."""
    sizes = [max(len(name), *(len(row[at]) for row in rows), 1) for at, name in enumerate(columns)]
    right = [
        bool(rows) and all(row[at].lstrip("-").isdecimal() or row[at] == "NULL" for row in rows)
        for at in range(len(sizes))
    ]
    lines: list[list[int]] = [[]]
    used = 0
    for at, size in enumerate(sizes):
        if used + size + 1 > width and lines[-1]:
            lines.append([])
            used = 8
        lines[-1].append(at)
        used += size + 1

    def record(cells: Row, figures: bool) -> list[str]:
        out = []
        for part, places in enumerate(lines):
            text = " ".join(
                cells[at].rjust(sizes[at]) if figures and right[at] else cells[at].ljust(sizes[at]) for at in places
            )
            out.append(("\t" if part else " ") + text)
        return out

    text = [*record(columns, False), *record(["-" * size for size in sizes], False)]
    for row in rows:
        text += record(row, True)
    return "\n".join([*text, "", f"({len(rows)} row{'' if len(rows) == 1 else 's'} affected)", ""])


def box(columns: Row, rows: Sequence[Row]) -> str:
    """As JDBC tools do."""
    sizes = [max(len(name), *(len(row[at]) for row in rows), 1) for at, name in enumerate(columns)]
    rule = "+" + "+".join("-" * size for size in sizes) + "+"
    lines = [
        "|" + "|".join(cell.ljust(size) for cell, size in zip(row, sizes, strict=True)) + "|"
        for row in (columns, *rows)
    ]
    return "\n".join([rule, lines[0], rule, *lines[1:], rule, f"Rows {len(rows)}", ""])


def separated(columns: Row, rows: Sequence[Row], by: str = "\t") -> str:
    """As exports to CSV do: what holds the separator or a quote is quoted."""

    def cell(text: str) -> str:
        return '"' + text.replace('"', '""') + '"' if by in text or '"' in text else text

    return "\n".join(by.join(map(cell, row)) for row in (columns, *rows)) + "\n"


def bcp(rows: Sequence[Row]) -> str:
    """As `bcp -c` does: no heading, NULL is nothing."""
    return "\n".join("\t".join("" if cell == "NULL" else cell for cell in row) for row in rows) + "\n"
