"""The processors of the host (`lscpu` of util-linux).

A name and a value on each line, in English; names that are not listed here say nothing for the server and are claimed::

    Architecture:        x86_64
    CPU(s):              24
    Thread(s) per core:  2
    Core(s) per socket:  6
    Socket(s):           2
    Model name:          Intel(R) Xeon(R) Gold 6248 CPU @ 2.50GHz
    Hypervisor vendor:   VMware

Newer releases indent what belongs to a socket. Lines of it that were picked out say what they say (`lscpu | egrep
'^CPU|Thread|Core|Socket'`), also without the command above them, and in one remark, with or without colons (`# host: 24
cores (lscpu: Socket(s) 2, Core(s) per socket 12, Thread(s) per core 1)`). A block that does not tell how many CPUs
there are, by their count or by threads, cores and sockets, is no such report.
"""

import re
from collections.abc import Iterator

from collectors.facts.ase import HostProcessors
from collectors.facts.base import ABSENT, Reading, known
from collectors.layouts.figures import reading
from collectors.registry import NotThisReport, Report, report

ASKED = re.compile(r"\S{0,60}[#$>%]?\s?lscpu\s*(?:\|.{0,200})?")
COUNTED = r"(?:CPU\(s\)|Thread\(s\) per core|Core\(s\) per socket|Socket\(s\))"
START = re.compile(
    rf"^(?:{ASKED.pattern}$|Architecture:\s{{1,60}}\S|{COUNTED}:\s{{1,60}}[0-9]{{1,5}}\s*$"
    rf"|\s{{0,8}}(?:#|--).{{0,120}}\blscpu\b.{{0,80}}{COUNTED})"
)
REMARK = re.compile(r"^\s{0,8}(?:#|--).{0,120}\blscpu\b", re.IGNORECASE)
IN_REMARK = re.compile(rf"(?P<name>{COUNTED}):?\s{{1,8}}(?P<value>[0-9]{{1,5}})\b")
LINE = re.compile(r"\s{0,8}(?P<name>[A-Z][A-Za-z0-9 ()/_.-]{1,60}):\s{1,60}(?P<value>\S.*)")
HEADING = re.compile(r"\s{0,8}(?:Caches|NUMA|Vulnerabilities|Virtualization features)\b[^:]{0,40}:\s*$")
MODEL = 80
"""Characters of the model and the hypervisor that are kept."""


@report(starts=START, provides=(HostProcessors,))
def read(report: Report) -> Iterator[HostProcessors]:
    """Yield one fact for the block."""
    values: dict[str, str] = {}
    last = 0
    if REMARK.match(report.lines[0]):
        values = {one["name"].lower(): one["value"] for one in IN_REMARK.finditer(report.lines[0])}
        yield from _processors(report, values, 0)
        return
    for index, line in enumerate(report.lines):
        found = LINE.fullmatch(line.rstrip())
        if not found and not HEADING.fullmatch(line) and not (index == 0 and ASKED.fullmatch(line)):
            break
        last = index
        if found:
            values.setdefault(found["name"].strip().lower(), found["value"].strip())
    yield from _processors(report, values, last)


def _processors(report: Report, values: dict[str, str], last: int) -> Iterator[HostProcessors]:
    """The fact of so many lines, which are claimed."""
    cpus = _cpus(values)
    if cpus is ABSENT:
        raise NotThisReport("no count of CPUs")
    report.claim(0, last)
    yield HostProcessors(
        cpus=cpus,
        threads_per_core=reading(values.get("thread(s) per core", "")),
        model=values.get("model name", "")[:MODEL] or None,
        hypervisor=values.get("hypervisor vendor", "")[:MODEL] or None,
        source=report.source(0, last),
    )


def _cpus(values: dict[str, str]) -> Reading:
    """The line of it; where only the others were picked out, their product."""
    if "cpu(s)" in values:
        return reading(values["cpu(s)"])
    product = 1.0
    for name in ("thread(s) per core", "core(s) per socket", "socket(s)"):
        figure = reading(values.get(name, ""))
        if not known(figure):
            return ABSENT
        product *= figure
    return product
