"""The table of runs as cells: from lines of their own, or from rows."""

import csv
import re
from collections.abc import Iterator, Sequence

from collectors.facts.base import ABSENT
from collectors.leftovers import RULES
from collectors.registry import Report
from collectors.reports.zvm.performance_runs.cells import FIELDS, HEADS, NOTHING, TEXTS, Cell, Table, label_of

LABEL = rf"(?:{'|'.join(map(re.escape, FIELDS))})(?: ?\([a-z]\))?"
BEGINS = "z/VM (?:Version|Release|Level)|(?:#|Number) of (?:CPUs|Processors)|Run ID|SIE Instruction Rate"
BEGINS = rf"(?:{BEGINS}|Tx/sec|(?:Total|CP|Emul) msec/Tx|Avg Spin Lock Rate|Pct Spin Time)(?: \([a-z]\))?"
START = re.compile(
    rf'^[\s"|]{{0,8}}{BEGINS}[ "]{{0,4}}(?:$|[\t|,;]|\s\s|(?: [0-9][0-9.,]{{0,15}}){{2,40}}\s*$)', re.IGNORECASE
)
"""A line that holds a label and nothing else, or a label and cells: prose that names these terms goes on."""
LABELLED = re.compile(rf'[\s"]{{0,8}}(?P<label>{LABEL})[ "]{{0,4}}(?P<rest>(?:[\s,;|].*)?)', re.IGNORECASE)
OTHER_LABEL = re.compile(r"[A-Za-z#][^\t|;]{0,38}[ /(][^\t|;]{0,38}")
FIGURE = re.compile(r"[-+]?[0-9][0-9.,]{0,20}%?|[-+]?\.[0-9]{1,9}|\*{1,15}|-{1,4}|n/?a", re.IGNORECASE)
WORD = re.compile(r"\S{1,24}")
MOST_RUNS, MOST_CHARACTERS = 100, 4000
REMEDY = "paste the table again, whole"


def tables(report: Report) -> Iterator[Table]:
    """Each table, from its first label to its last value; claims what it reads."""
    at = 0
    while at < len(report.lines):
        line = report.lines[at][:MOST_CHARACTERS]
        if not START.search(line):
            at += 1
            continue
        table = Table(at)
        at = _stacked(report, table, at) if label_of(line) else _rows(report, table, at)
        table.find_comma()
        _check_numbers(report, table)
        if table.runs:
            yield table


def _check_numbers(report: Report, table: Table) -> None:
    """Tell of cells that hold no figure."""
    named = [(name, cell) for name in table.fields for cell in table.values[name]]
    named += [(f"ratio of {name}", cell) for name, row in table.ratios.items() for cell in row]
    for name, cell in named:
        figure = table.read(cell)
        if cell and figure and figure.value is ABSENT and cell.text.lower() not in NOTHING:
            report.problem(f"{name} is {cell.text[:40]!r}, no number: left out, {REMEDY}", cell.index)


def _add(report: Report, table: Table, name: str, cells: list[Cell | None], at: int, *, ratio: bool) -> None:
    """Put one row to its table; the first of two with one name counts."""
    rows = table.ratios if ratio else table.values
    if name in rows:
        report.problem(f"{name} stands twice in one table: the first counts; is the line Ratios missing?", at)
    rows.setdefault(name, cells)


def _stacked(report: Report, table: Table, at: int) -> int:
    """Read lines of labels and lines of values by turns; returns where the table ends."""
    ratio, end = False, at
    lines = report.lines
    while at < len(lines):
        text = lines[at].strip()
        if not text:
            at += 1
            continue
        if text.lower() == "ratios" and not ratio and table.runs:
            ratio, end = True, at + 1
            report.claim(at)
            at += 1
            continue
        name = label_of(text)
        if name is None or (name in table.values and name in HEADS):
            break
        labels = [at]
        while at + 1 < len(lines) and _is_label(lines[at + 1]):
            at += 1
            labels.append(at)
        names = [label_of(lines[index]) for index in labels]
        values, at = _values(lines, at + 1, heads=any(name in HEADS for name in names))
        _group(report, table, list(zip(labels, names, strict=True)), values, ratio=ratio)
        end = at
    return max(end, table.first + 1)


def _is_label(line: str) -> bool:
    text = line.strip()
    return label_of(text) is not None or (OTHER_LABEL.fullmatch(text) is not None and not text.endswith("."))


def _values(lines: Sequence[str], at: int, *, heads: bool) -> tuple[list[list[int]], int]:
    """The lines of values from here on, in blocks parted by blank lines; and where they end."""
    blocks: list[list[int]] = []
    pattern, blank, end = WORD if heads else FIGURE, True, at
    for index in range(at, len(lines)):
        text = lines[index].strip()
        if not text:
            blank = True
            continue
        if label_of(text) or text.lower() == "ratios" or not pattern.fullmatch(text):
            break
        if blank:
            blocks.append([])
        blocks[-1].append(index)
        blank, end = False, index + 1
    return blocks, end


def _group(
    report: Report, table: Table, labels: list[tuple[int, str | None]], blocks: list[list[int]], *, ratio: bool
) -> None:
    """Give the values below one group of labels to the runs."""
    many = len(labels)
    flat = [index for block in blocks for index in block]
    if not flat and not table.runs:
        return  # a heading without a table
    if flat and len(flat) % many == 0 and (not table.runs or len(flat) == many * table.runs):
        columns = [flat[at : at + many] for at in range(0, len(flat), many)]
    elif table.runs and len(blocks) == table.runs and all(len(block) <= many for block in blocks):
        columns = blocks
    else:
        where = f" of {table.runs} runs" if table.runs else ""
        what = f"{len(flat)} values below {many} labels{where}: a value is missing or too many, all of them left out"
        report.problem(f"{what}; {REMEDY}", labels[0][0])
        return
    if len(columns) > MOST_RUNS:
        what = f"{len(columns):,} runs in one table: those after the first {MOST_RUNS} are not read"
        report.problem(f"{what}; paste them as a table of their own", labels[0][0])
    table.runs = table.runs or min(len(columns), MOST_RUNS)
    for column in columns[: table.runs]:
        if len(column) < many:
            report.problem(f"{len(column)} values below {many} labels: this run's are left out; {REMEDY}", column[0])
    for place, (index, name) in enumerate(labels):
        if name is None:
            continue
        report.claim(index)
        cells = [
            Cell(report.lines[column[place]].strip(), column[place]) if len(column) == many else None
            for column in columns[: table.runs]
        ]
        for cell in cells:
            if cell:
                report.claim(cell.index)
        _add(report, table, name, cells, index, ratio=ratio)


def _rows(report: Report, table: Table, at: int) -> int:
    """Read one row a line: a label, then a cell for each run; returns where the table ends."""
    ratio = False
    table.delimiter = _delimiter(report.lines[at][:MOST_CHARACTERS])
    while at < len(report.lines):
        line = report.lines[at][:MOST_CHARACTERS]
        if not line.strip(RULES + "|:,;"):
            report.claim(at)
            at += 1
            continue
        cells = _split(line, table.delimiter)
        name = label_of(cells[0])
        if cells[0].lower() == "ratios" and not any(cells[1:]):
            ratio = True
            report.claim(at)
        elif name and not (name in table.values and name in HEADS):
            values = cells[1:]
            while values and not values[-1] and (not table.runs or len(values) > table.runs):
                values.pop()
            if not table.runs and name not in TEXTS and not all(map(FIGURE.fullmatch, filter(None, values))):
                break  # a sentence that begins like a row
            table.runs = table.runs or min(len(values), MOST_RUNS)
            if not table.runs:
                break
            report.claim(at)
            if len(values) != table.runs:
                report.problem(f"{len(values)} values for {table.runs} runs, row left out: {REMEDY}", at)
            else:
                _add(report, table, name, [Cell(value, at) for value in values], at, ratio=ratio)
        elif name or len(cells) != table.runs + 1:
            break
        at += 1
    return max(at, table.first + 1)


def _delimiter(line: str) -> str:
    """What parts the cells; a comma only where it follows the label, for figures may have some."""
    found = LABELLED.fullmatch(line)
    comma = found is not None and found["rest"].startswith(",")
    return next((mark for mark in "|\t;" if mark in line), "," if comma else " ")


def _split(line: str, delimiter: str) -> list[str]:
    """The cells of one row, the label first."""
    if delimiter == "|":
        return [cell.strip() for cell in line.strip().strip("|").split("|")]
    if delimiter == " ":
        found = LABELLED.fullmatch(line)
        if found:
            return [found["label"], *found["rest"].split()]
        return [cell.strip() for cell in re.split(r"\s{2,}", line.strip())]
    try:
        return [cell.strip() for cell in next(csv.reader([line], delimiter=delimiter), [""])]
    except csv.Error:
        return [""]
