"""From screens to outputs: each screen is checked, then summed up with those of its node and its kind."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import datetime

from collectors.facts.base import ABSENT, Reading, known
from collectors.reports.openvms.monitor import checks, classes
from collectors.reports.openvms.monitor.frame import Frame, Kind, Row
from collectors.reports.openvms.monitor.series import ClassOf, Output

MOST_OUTPUTS = 200
"""Nodes, or columns of summaries, of one file; a cluster has 96 nodes at most."""
MOST_SERIES = 20_000
"""Different lines of one file: a day of MONITOR PROCESSES/TOPCPU shows thousands of processes."""
MOST_CLASSES = 2_000
"""Of one output, each CPU's screen counted for itself."""
MOST_PROBLEMS = 200
SAME_TIME = 1.5
"""Seconds between two screens of one collection."""
Key = tuple[Kind, str | None, datetime | None, datetime | None]


class Problems:
    """Says each thing once, with the first line it is true of and how often it is; at most 200 things."""

    def __init__(self) -> None:
        """Begin with none."""
        self.seen: dict[str, tuple[int, int]] = {}

    def add(self, what: str, line: int) -> None:
        """Note it."""
        first, count = self.seen.get(what, (line, 0))
        if count or len(self.seen) < MOST_PROBLEMS:
            self.seen[what] = (first, count + 1)

    def said(self) -> list[str]:
        """All of them, in the order in which they came up first."""
        return [
            f"line {first}: {what}" + (f" (so are {count - 1:,} more)" if count > 1 else "")
            for what, (first, count) in self.seen.items()
        ]


@dataclass
class Session:
    """All outputs of one file."""

    outputs: dict[Key, Output] = field(default_factory=dict)
    problems: Problems = field(default_factory=Problems)
    waiting: dict[Key, dict[str, tuple[datetime | None, checks.By, ClassOf, bool]]] = field(default_factory=dict)
    """The last LOCK and the last DLOCK screen of each output, to be held against each other."""
    series: int = 0
    """How many different lines are kept."""
    row_sums: dict[tuple[str, str, str | None], float] = field(default_factory=dict)
    """Of the pages of one multi-file summary: what the columns of each line add up to so far."""

    def add(self, frame: Frame) -> bool:
        """Take one whole screen; false if it is none of MONITOR's."""
        for line, label in frame.bad_rows:
            self.problems.add(f"{label[:60]}: its minimum is above its maximum, not read", line)
        if frame.class_name is None or not frame.rows:
            if frame.class_name and frame.headed:
                what = f"a screen of {frame.class_name} without a line that could be read: upload it as it was printed"
                self.problems.add(what, frame.first)
            return False
        if frame.unlike > len(frame.rows):
            what = f"most labels are none of MONITOR {frame.class_name}: not read, this was printed by another program"
            self.problems.add(what, frame.first)
            return False
        if frame.kind == "multi-file summary":
            self._multi(frame)
        else:
            if frame.streams:
                line, streams = frame.streams
                frame.rows.append(Row(line, "Active Streams", {"current": streams}))
            self._single(frame, (frame.kind, frame.node, *self._period(frame)))
        return True

    @staticmethod
    def _period(frame: Frame) -> tuple[datetime | None, datetime | None]:
        return (None, None) if frame.kind == "display" else (frame.start, frame.end)

    def _output(self, key: Key, frame: Frame) -> Output | None:
        if key not in self.outputs:
            if len(self.outputs) >= MOST_OUTPUTS:
                self.problems.add(f"more than {MOST_OUTPUTS} nodes and summaries: the rest is not read", frame.first)
                return None
            kind, node, start, end = key
            self.outputs[key] = Output(kind, node, start, end, frame.first, heading=frame.node_line or frame.first)
        return self.outputs[key]

    def _class(self, output: Output, frame: Frame) -> ClassOf | None:
        """The class of this screen; `None` where there is no more room."""
        if self.series > MOST_SERIES or len(output.classes) > MOST_CLASSES:
            self.problems.add(f"more than {MOST_SERIES:,} different lines: the rest is not read", frame.first)
            return None
        return output.of(frame.class_name or "", frame.cpu)

    def _single(self, frame: Frame, key: Key) -> None:
        """One screen, or one table of a summary of one file."""
        output = self._output(key, frame)
        if output is None:
            return
        one = self._class(output, frame)
        if one is None:
            return
        table = bool(frame.columns)
        if frame.kind == "display" and frame.time and frame.time == one.last_time and table != one.table:
            if not table:  # bars of the moment whose figures were read: the same ones, rounded
                output.time_of(frame)
                return
            if one.frames == 1:
                one = output.classes[one.name, one.cpu] = ClassOf(one.name, one.cpu)
        if self._cut_off(frame, one, table=table):
            return
        if frame.kind == "display" and table and one.begins_anew(frame.rows):
            one.restarted = True
            self.problems.add(
                f"MONITOR {one.name} was started again: means are those of the current figures of all screens",
                frame.rows[0].line,
            )
        output.time_of(frame)
        one.table = one.table or table
        self._prove(frame, one, frame.rows, table=table)
        output.cpus = frame.cpus or output.cpus
        self.series += one.add(frame.rows, frame.time)
        self._identity(key, one, frame, checks.by_label(frame.rows))

    def _cut_off(self, frame: Frame, one: ClassOf, *, table: bool) -> bool:
        """Whether this screen has fewer lines than others of its class: half of it would be of another time."""
        if classes.may_vary(one.name) or table != one.table:
            one.most_rows = one.most_rows if table == one.table and one.frames else len(frame.rows)
            return False
        if len(frame.rows) < one.most_rows:
            self.problems.add(f"a screen of {one.name} was cut off: not counted", frame.first)
            return True
        one.most_rows = len(frame.rows)
        return False

    def _prove(self, frame: Frame, one: ClassOf, rows: Sequence[Row], *, table: bool) -> None:
        """Look for what proves the reading, and for what speaks against it."""
        whole = checks.whole_numbers(rows)
        if one.name.startswith("PROCESSES"):
            one.proved = True  # the one screen of which a real capture was seen
        if table:
            if wrong := checks.out_of_order(rows):
                one.doubted = True
                what = f"{wrong.label[:60]}: the current or average figure lies outside of minimum and maximum"
                self.problems.add(f"{what}: see whether columns were lost", wrong.line)
            one.proved = True
        labels = checks.by_label(rows)
        if one.name == "LOCK":
            figures = {label: cells.get("mean" if table else "current", ABSENT) for label, cells in labels.items()}
            for label, figure in checks.no_rates(figures).items():
                what = f"{label}: {figure:,.0f} a second, alone above the others: a counter went round, left out"
                self.problems.add(what, frame.first)
        if one.name == "MODES" or (one.name == "SYSTEM" and "idle time" in labels):
            self._prove_modes(frame, one, labels, ("current", "mean"), whole=whole)
        if one.name == "RLOCK" and checks.remastering_adds_up(labels, "mean" if table else "current"):
            one.proved = True

    def _prove_modes(
        self, frame: Frame, one: ClassOf, labels: checks.By, statistics: Sequence[str], *, whole: bool
    ) -> None:
        """The modes of all CPUs add up to 100 for each."""
        printed = 1 if one.cpu is not None else frame.cpus
        for statistic in statistics:
            total = checks.sum_of_modes(labels, statistic)
            if total is None:
                continue
            cpus = checks.cpus_of(total, printed, whole=whole)
            if cpus is None:
                one.doubted = True
                each = f"100 for each of {printed} CPUs" if printed else "100 for each CPU"
                what = f"the processor modes add up to {total:,.0f} % and not to {each}: do not judge by them"
                self.problems.add(what, frame.first)
                return
            one.proved, one.cpus = True, cpus

    def _identity(self, key: Key, one: ClassOf, frame: Frame, labels: checks.By) -> None:
        """Hold LOCK against DLOCK of the same node and time."""
        if one.name not in ("LOCK", "DLOCK"):
            return
        whole = checks.whole_numbers(frame.rows)
        pair = self.waiting.setdefault(key, {})
        pair[one.name] = (frame.time, labels, one, whole)
        if len(pair) < 2:
            return
        (lock_time, lock, lock_class, lock_whole), (time, distributed, its_class, its_whole) = (
            pair["LOCK"],
            pair["DLOCK"],
        )
        if frame.kind == "display" and not _same(lock_time, time):
            return
        compared, wrong = checks.lock_identity(lock, distributed, whole=lock_whole or its_whole)
        if wrong:
            lock_class.doubted = its_class.doubted = True
            of = f" of node {frame.node}" if frame.node else ""
            self.problems.add(
                f"LOCK and DLOCK{of} do not agree ({wrong}): do not judge by them; capture again", frame.first
            )
        elif compared:
            lock_class.proved = its_class.proved = True
        pair.clear()

    def _multi(self, frame: Frame) -> None:
        """One page of a summary of several files: each column is a node of its own."""
        good, of_all = self._sums_are_right(frame)
        repeated = len({column.node for column in frame.nodes}) < len(frame.nodes)
        if repeated:
            what = "several files of one node side by side: only the last one is judged; make it with /BY_NODE"
            self.problems.add(what, frame.first)
        for at, column in enumerate(frame.nodes):
            start, end = column.start or frame.start, column.end or frame.end
            key: Key = (frame.kind, column.node, start, end)
            output = self._output(key, frame)
            if output is None:
                return
            output.last = max(output.last, frame.last)
            one = self._class(output, frame)
            if one is None:
                return
            rows = [Row(row.line, row.label, {column.statistic: row.cells[str(at)]}, row.partner) for row in frame.rows]
            one.proved, one.doubted = one.proved or good is True, one.doubted or good is False
            labels = checks.by_label(rows)
            if one.name == "MODES":
                self._prove_modes(frame, one, labels, (column.statistic,), whole=checks.whole_numbers(rows))
            self.series += one.add(rows, None)
            part = Frame(frame.first, kind=frame.kind, class_name=frame.class_name, node=column.node, rows=rows)
            self._identity(key, one, part, labels)
        for output in self.outputs.values() if good and of_all else ():
            if output.kind == frame.kind and (page := output.classes.get((frame.class_name or "", frame.cpu))):
                page.proved = True

    def _sums_are_right(self, frame: Frame) -> tuple[bool | None, bool]:
        """Whether `Row Sum` is the sum of the columns (`None`: there is none), and whether also of earlier pages."""
        good: bool | None = None
        of_all = False
        for row in frame.rows:
            here = checks.row_sum(row)
            if here is None:
                continue
            at = (frame.class_name or "", row.label, row.partner)
            if len(self.row_sums) > MOST_SERIES:
                self.row_sums.clear()
            so_far = self.row_sums[at] = self.row_sums.get(at, 0.0) + here
            printed: Reading | None = row.rest[0] if row.rest else None
            if not known(printed):
                continue
            slack = checks.ROUNDING * (len(row.cells) + 1)
            if min(abs(printed - here), abs(printed - so_far)) > slack:
                what = f"{row.label[:60]}: the row sum is {printed:,.2f}, the columns add up to {here:,.2f}"
                self.problems.add(f"tentative: {what}: see whether columns were lost", row.line)
                good = False
            elif good is None:
                good = True
            of_all = of_all or abs(printed - here) > slack
        return good, of_all

    def told(self) -> list[Output]:
        """The outputs to make facts of: of several periods of one node and kind the last, so that none counts twice."""
        last: dict[tuple[Kind, str | None], Output] = {}
        for output in self.outputs.values():
            if not output.classes or not any(one.series for one in output.classes.values()):
                continue
            at = (output.kind, output.node)
            if at in last and output.kind == "summary":
                node = output.node or "one node"
                self.problems.add(
                    f"summaries of {node} over several periods in one file: only the last is judged; upload each alone",
                    output.first,
                )
            last[at] = output
        return list(last.values())

    @staticmethod
    def lacking(told: Sequence[Output]) -> list[str]:
        """Which classes that rules ask for have not all of their lines."""
        found = []
        for output, one in [(each, one) for each in told for one in each.classes.values()]:
            needed = classes.NEEDED.get(one.name, {})
            lost = len(set(needed.values()) - {needed.get(label) for label in one.by_key()})
            if lost:
                of = f" of {output.node}" if output.node else ""
                what = f"{one.name}{of} lacks {lost} of its {len(set(needed.values()))} lines: cut off or unreadable"
                found.append(f"line {one.first_line}: {what}. Upload the whole screen")
        return found

    @staticmethod
    def tentative(told: Sequence[Output]) -> list[str]:
        """Which classes nothing proves, in one sentence."""
        names = dict.fromkeys(one.name for output in told for one in output.classes.values() if one.tentative)
        if not names:
            return []
        what = "the layout is recalled, and its figures do not prove that it was read right"
        return [f"tentative: {', '.join(names)}: {what}"]


def _same(one: datetime | None, other: datetime | None) -> bool:
    return one is not None and other is not None and abs((one - other).total_seconds()) <= SAME_TIME
