"""The processors of the host (`lscpu` of util-linux).

A name and a value on each line, in English; names that are not listed here say nothing for the server and are claimed::

    Architecture:        x86_64
    CPU(s):              24
    Thread(s) per core:  2
    Core(s) per socket:  6
    Socket(s):           2
    Model name:          Intel(R) Xeon(R) Gold 6248 CPU @ 2.50GHz
    Hypervisor vendor:   VMware

Newer releases indent what belongs to a socket. A block without a count of CPUs is no such report.
"""

import re
from collections.abc import Iterator

from collectors.facts.ase import HostProcessors
from collectors.layouts.figures import reading
from collectors.registry import NotThisReport, Report, report

ASKED = re.compile(r"\S{0,60}[#$>%]?\s?lscpu\s*")
START = re.compile(rf"^(?:{ASKED.pattern}$|Architecture:\s{{1,60}}\S)")
LINE = re.compile(r"\s{0,8}(?P<name>[A-Z][A-Za-z0-9 ()/_.-]{1,60}):\s{1,60}(?P<value>\S.*)")
HEADING = re.compile(r"\s{0,8}(?:Caches|NUMA|Vulnerabilities|Virtualization features)\b[^:]{0,40}:\s*$")
MODEL = 80
"""Characters of the model and the hypervisor that are kept."""


@report(starts=START, provides=(HostProcessors,))
def read(report: Report) -> Iterator[HostProcessors]:
    """Yield one fact for the block."""
    values: dict[str, str] = {}
    last = 0
    for index, line in enumerate(report.lines):
        found = LINE.fullmatch(line.rstrip())
        if not found and not HEADING.fullmatch(line) and not (index == 0 and ASKED.fullmatch(line)):
            break
        last = index
        if found:
            values.setdefault(found["name"].strip().lower(), found["value"].strip())
    if "cpu(s)" not in values:
        raise NotThisReport("no line CPU(s)")
    report.claim(0, last)
    yield HostProcessors(
        cpus=reading(values["cpu(s)"]),
        threads_per_core=reading(values.get("thread(s) per core", "")),
        model=values.get("model name", "")[:MODEL] or None,
        hypervisor=values.get("hypervisor vendor", "")[:MODEL] or None,
        source=report.source(0, last),
    )
