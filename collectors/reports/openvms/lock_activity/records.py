"""The records of LCKACT.EXE, as SYSMAN collects them from all nodes: what LOCK_ACTV.COM makes its report of."""

import re
from dataclasses import dataclass, field

from collectors.facts.openvms.resource_names import from_printed
from collectors.layouts.lock_names import SYSMAN, of_whom
from collectors.registry import Report
from collectors.reports.openvms.lock_activity.runs import Run, Tree

RECORDS = re.compile(r"CSID: (?P<csid>[0-9A-F]{8})\s*$")
RECORD = re.compile(
    r"(?P<activity>[0-9]{1,10}) {1,8}(?P<master>[0-9A-F]{8}) {1,3}"
    r"(?P<length>[0-9]{1,2}) {1,3}(?P<name>[0-9A-F]{64})\s*$"
)
"""Activity, CSID of the master, length of the name in bytes, always 32 bytes of which the right-hand ones count."""
DONE = re.compile(r"Done\.\s*$")
KEPT_PER_SECOND = 8.0
"""The manager keeps 8 times the requests per second; the procedure divides by it."""
MOST_NAMES = 200_000


@dataclass
class _Counted:
    """One run over the nodes."""

    first: int
    last: int
    nodes: dict[str, str] = field(default_factory=dict)
    """CSID → name of the node."""
    done: dict[str, bool] = field(default_factory=dict)
    trees: dict[bytes, Tree] = field(default_factory=dict)
    masters: dict[bytes, str] = field(default_factory=dict)

    def run(self) -> Run:
        """The same as a report of it, with rates per second."""
        for name, tree in self.trees.items():
            master = self.nodes.get(self.masters[name])
            tree.master = master if master in tree.rates else None
        failed = [node for node, done in self.done.items() if not done]
        return Run(self.first, self.last, None, list(self.trees.values()), failed)


def read_records(report: Report) -> list[Run]:
    """Each run of the collection; claims what it understands."""
    runs: list[_Counted] = []
    node = of_whom(report.before)
    csid: str | None = None
    left = 0
    for index, line in enumerate(report.lines):
        if named := SYSMAN.match(line[:250]):
            node, csid = named["node"].upper(), None
            if runs and node not in runs[-1].done:
                runs[-1].done[node] = False  # until its records end
        elif found := RECORDS.match(line):
            csid = found["csid"]
            called = node or f"CSID {csid}"
            if not runs or csid in runs[-1].nodes:
                runs.append(_Counted(index, index))
            runs[-1].nodes[csid] = called
            runs[-1].done[called] = False
            node = None
        elif DONE.match(line) and csid and runs:
            runs[-1].done[runs[-1].nodes[csid]] = True
            csid = None
        elif (record := RECORD.match(line[:120])) and csid and runs:
            left += not _take(runs[-1], record, csid, index)
        else:
            continue
        report.claim(index)
        if runs:
            runs[-1].last = max(runs[-1].last, index)
    if left:
        report.problem(f"{left:,} records have no length from 1 to 32, or are of more than {MOST_NAMES:,} names", None)
    found_runs = [one.run() for one in runs]
    for one, run in zip(runs, found_runs, strict=True):
        for name in run.failed:
            report.problem(f"{name}: its records do not end with Done., so its collection failed", one.first)
    return [run for run in found_runs if run.trees]


def _take(run: _Counted, record: re.Match[str], csid: str, index: int) -> bool:
    """Add a record to its tree; returns whether it could be taken."""
    length = int(record["length"])
    if not 1 <= length <= 32:
        return False
    name = from_printed(record["name"][64 - 2 * length :])
    if name is None or (name not in run.trees and len(run.trees) >= MOST_NAMES):
        return False
    rate = int(record["activity"]) / KEPT_PER_SECOND
    tree = run.trees.setdefault(name, Tree(name, index, index, 0.0))
    node = run.nodes[csid]
    before = tree.rates.get(node, 0.0)
    tree.rates[node] = (before if isinstance(before, float) else 0.0) + rate
    tree.total = (tree.total if isinstance(tree.total, float) else 0.0) + rate
    tree.last = index
    run.masters[name] = record["master"]
    return True
