"""SHOW DEVICE/FULL of disks: how a mounted volume is laid out, as far as its file system's locks follow from it.

Sample (HP OpenVMS DCL Dictionary, SHOW DEVICES; figures of our own)::

    Disk $1$DGA12: (ORKNEY), device type HSV200, is online, mounted, file-oriented
        device, shareable, available to cluster, error logging is enabled.

        Error count                    0    Operations completed           41822703
        Volume label              "DATA"    Relative volume number                0
        Cluster size                  16    Transaction count                   216
        Extend quantity                5    Mount count                           2

      Volume Status:  ODS-2, subject to mount verification, write-back caching enabled.

The node in the head is that which serves the disk, and the display names no other: it is of the volume, wherever it is
mounted. A disk that is not mounted has no label; what else is printed is known and says nothing here.
"""

import re
from collections.abc import Iterator
from dataclasses import replace

from collectors.facts import Source, known
from collectors.facts.openvms import Volume
from collectors.layouts.figures import reading
from collectors.registry import NotThisReport, Report, report

START = re.compile(r"^Disk _?(?P<device>[A-Z0-9$_-]{1,40}):.{0,80}, device type .{1,200}", re.IGNORECASE)
LABEL = re.compile(r"\s{2,40}Volume label\s{1,40}\"(?P<label>[^\"]{1,12})\"")
CLUSTER = re.compile(r"\s{2,40}Cluster size\s{1,40}(?P<blocks>[0-9]{1,8})\b")
EXTEND = re.compile(r"\s{2,40}Extend quantity\s{1,40}(?P<blocks>[0-9]{1,8})\b")
WITHIN = re.compile(r"\s{2,80}\S")
MOST = 1_000
"""Volumes that are kept (this project)."""


@report(starts=START, provides=(Volume,))
def read(report: Report) -> Iterator[Volume]:
    """Yield each mounted volume."""
    found: list[Volume] = []
    now: Volume | None = None
    for index, line in enumerate(report.lines):
        if len(line) > 600:
            continue
        if head := START.match(line):
            found += [now] if now and now.label else []
            now = Volume(source=report.source(index), device=head["device"].upper(), label="")
        elif now is None:
            continue
        elif not WITHIN.match(line):
            if line.strip():
                found += [now] if now.label else []
                now = None
            continue
        elif (label := LABEL.match(line)) and not now.label:
            now = _with(now, replace(now, label=label["label"].strip()), report.source(index))
        elif cluster := CLUSTER.match(line):
            now = _with(now, replace(now, cluster_blocks=reading(cluster["blocks"])), report.source(index))
        elif extend := EXTEND.match(line):
            now = _with(now, replace(now, extend_blocks=reading(extend["blocks"])), report.source(index))
        report.claim(index)
    found += [now] if now and now.label else []
    if not found:
        raise NotThisReport
    if len(found) > MOST:
        report.problem(f"{len(found) - MOST:,} volumes after the first {MOST:,} were not read", 0)
    yield from found[:MOST]


def _with(before: Volume, after: Volume, here: Source) -> Volume:
    """The volume with what a line says of it, and its source from the first of these lines to this one."""
    told = before.label or known(before.cluster_blocks) or known(before.extend_blocks)
    return replace(after, source=replace(before.source, last=here.last) if told else here)
