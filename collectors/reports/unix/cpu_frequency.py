"""The clock of the processors of Linux: who sets it and within what, boosting, and threads that share a core.

Sample, of `grep . /sys/devices/system/cpu/cpu*/cpufreq/* /sys/devices/system/cpu/intel_pstate/no_turbo`::

    /sys/devices/system/cpu/cpu0/cpufreq/cpuinfo_max_freq:3600000
    /sys/devices/system/cpu/cpu0/cpufreq/scaling_cur_freq:1199874
    /sys/devices/system/cpu/cpu0/cpufreq/scaling_governor:powersave
    /sys/devices/system/cpu/intel_pstate/no_turbo:0

Also read: the same from `head` (`==> path <==`, the value below), paths below `cpufreq/policy0` (for the processors
that its `affected_cpus` names), `cpufreq/boost`, `smt/active`, `smt/control`, and each file by itself where its name
and folder say which it is (`cpu0/cpufreq/scaling_governor`). Frequencies are kHz. `no_turbo` 1 forbids boosting,
`boost` 1 allows it.

Under most hypervisors there are no such files [M]: `grep: ...cpu*/cpufreq/*: No such file or directory`, or a listing
of `ls` or `find` that shows the folder empty. That is "unknown", a fact with nothing in it, and neither a problem nor
"no scaling". With a wildcard the fact is of processor -1, which stands for all.
"""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

from collectors.facts.base import ABSENT, Fact, Missing, Reading, Source, known
from collectors.facts.unix import CpuFrequency, FrequencyBoost, Multithreading
from collectors.layouts.problem_log import ProblemLog
from collectors.leftovers import Leftovers
from collectors.registry import Outcome, starting, stream

OF_ONE = (
    r"(?:cpu(?P<cpu>[0-9]{1,5})[/\\]cpufreq|cpufreq[/\\]policy(?P<policy>[0-9]{1,5}))[/\\](?P<name>[a-z_0-9]{3,40})"
)
OF_ALL = r"(?:intel_pstate[/\\](?P<turbo>no_turbo)|cpufreq[/\\](?P<boost>boost)|smt[/\\](?P<smt>active|control))"
NAMELESS = re.compile(r"\?P<[a-z]+>")
FILE = NAMELESS.sub("?:", rf"(?:{OF_ONE}|{OF_ALL})")
SYS = r"/sys/devices/system/cpu/"
BELOW = r"(?:cpu(?:[0-9]{1,5}|\*)/cpufreq|cpufreq|intel_pstate|smt)"
START = re.compile(
    rf"^\S{{0,200}}{FILE}:\S|^==> \S{{0,200}}{FILE} <==\s*$"
    rf"|^[a-z]{{2,5}}: .{{0,30}}{SYS}{BELOW}\b.{{0,100}}: (?:No such file or directory|Permission denied)"
    rf"|^{SYS}(?:cpu[0-9]{{1,5}}/cpufreq|cpufreq):?\s*$"
)
FILES = re.compile(r"^(?:scaling_[a-z_]{3,30}|cpuinfo_(?:cur|min|max)_freq|no_turbo|boost|active)(?:\.txt)?$")
WHERE = re.compile(rf"(?:^|.*[/\\])(?:{OF_ONE}|{OF_ALL})(?:\.txt)?")
VALUE = re.compile(rf"(?P<path>\S{{0,200}}{FILE}):(?P<value>.*)")
HEAD = re.compile(r"==> (?P<path>\S{1,300}) <==\s*")
GONE = re.compile(rf"[a-z]{{2,5}}: .{{0,30}}{SYS}{BELOW}.{{0,120}}: [A-Z][a-z ]{{5,40}}\s*")
GONE_CPU = re.compile(r"/cpu(?P<cpu>[0-9]{1,5}|\*)/cpufreq\b.*: No such")
FOLDER = re.compile(rf"{SYS}(?:cpu(?P<cpu>[0-9]{{1,5}})/cpufreq|cpufreq):?\s*")
LISTED = re.compile(
    rf"total [0-9]{{1,6}}|[-dlrwxst.+]{{10,11}} .*|{SYS}\S{{0,200}}|[a-z_0-9]{{3,40}}(?:\s+[a-z_0-9]{{3,40}}){{0,20}}"
)
FREQUENCY = re.compile(r"[0-9]{1,9}")
GOVERNOR = re.compile(r"[a-z][a-z_-]{1,31}")
NONE_TOLD = re.compile(r"<[a-z ]{2,30}>|")
ALL = -1
"""The processor that stands for all."""
FIELDS = {
    "scaling_cur_freq": "current_khz",
    "cpuinfo_cur_freq": "current_khz",
    "scaling_min_freq": "minimum_khz",
    "scaling_max_freq": "maximum_khz",
    "cpuinfo_max_freq": "hardware_maximum_khz",
}
"""Of two files of one field the first that says a figure counts."""
CPUS_OF_POLICY = ("affected_cpus", "related_cpus")
WANTED = {*FIELDS, *CPUS_OF_POLICY, "scaling_governor"}
LONGEST = 4000
"""Characters of what one file says; only a list of processors is as long."""
MOST_CPUS = 8192
"""Linux is not built for more."""
MOST_ODD = 20
"""So many lines in a row that are none of ours: it is over (this project)."""
COLLECTED_BY = "upload the output of `grep . /sys/devices/system/cpu/cpu*/cpufreq/*`"


@dataclass
class _Files:
    """What the files of one processor, or of one policy, say."""

    first: int
    last: int
    values: dict[str, tuple[int, str]] = field(default_factory=dict)
    """By file: in which line, and what it says."""


@stream(starts=START, provides=(CpuFrequency, FrequencyBoost, Multithreading), files=FILES)
class CpuFrequencies:
    """One listing; keeps the few files of each processor that matter."""

    def __init__(self, file: str, above: Sequence[str]) -> None:
        """Begin; nothing above says anything of it."""
        self.file = file
        self.done = Outcome()
        self.cpus: dict[int, _Files] = {}
        self.policies: dict[int, _Files] = {}
        self.machine: dict[str, tuple[int, str]] = {}
        self.pending: str | None = None
        """The path whose value is the next line."""
        self.listed: int | None = None
        self.begun = False
        self.odd = 0
        self.loose, self.told = Leftovers(), ProblemLog()

    def feed(self, first: int, lines: Sequence[str]) -> int:
        """Take lines up to where another report begins."""
        for offset, line in enumerate(lines):
            number, text = first + offset, line.strip()
            if not text:
                continue
            if not self.begun:
                self.begun = True
                if not START.search(text):  # known by the file's name: its first line is all there is
                    self.pending = self.file
            if self._line(number, text):
                self.odd = 0
            elif self.odd >= MOST_ODD or starting(line):
                return offset
            else:
                self.odd += 1
                self.loose.add(number, line)
        return len(lines)

    def close(self) -> Outcome:
        """Hand over what was read."""
        self.done.facts = list(self._facts())
        self.done.problems, self.done.leftovers = self.told.problems, self.loose.runs
        return self.done

    def _line(self, number: int, text: str) -> bool:
        """Take one line; `False`: it says nothing of a clock."""
        if self.pending:
            path, self.pending = self.pending, None
            return self._file(number, path, text)
        if found := VALUE.fullmatch(text):
            return self._file(number, found["path"], found["value"].strip())
        if found := HEAD.fullmatch(text):
            self.pending = found["path"] if WHERE.fullmatch(found["path"]) else None
            return self.pending is not None
        if GONE.fullmatch(text):
            if cpu := GONE_CPU.search(text):
                self._of(self.cpus, ALL if cpu["cpu"] == "*" else int(cpu["cpu"]), number)
            return True
        if found := FOLDER.fullmatch(text):
            self.listed = int(found["cpu"]) if found["cpu"] else ALL
            self._of(self.cpus, self.listed, number)
            return True
        if self.listed is not None and LISTED.fullmatch(text):
            if not text.startswith("total ") and not re.fullmatch(r"d\S+ .* \.{1,2}", text):
                self._named(number)
            return True
        return False

    def _named(self, number: int) -> None:
        """A listing with names in it: the files are there, and what they say is not."""
        if self.listed in self.cpus:
            del self.cpus[self.listed]
            self.told.problem(number, f"names of files and not what they say: {COLLECTED_BY}")

    def _file(self, number: int, path: str, value: str) -> bool:
        """Take what one file says."""
        found = WHERE.fullmatch(path)
        if not found:
            if FILES.search(name := re.split(r"[/\\]", path)[-1]) and name.startswith(("scaling", "cpuinfo")):
                self.told.problem(number, f"nothing says of which processor {name} is: {COLLECTED_BY}")
                return True
            return False
        if found["cpu"] or found["policy"]:
            if found["name"] == "boost":
                self.machine.setdefault("boost", (number, value))
                return True
            room = self.cpus if found["cpu"] else self.policies
            files = self._of(room, int(found["cpu"] or found["policy"]), number)
            if found["name"] in WANTED:
                kept = value if len(value) < LONGEST else value[:LONGEST].rpartition(" ")[0]
                files.values[found["name"]] = (number, kept)
            return True
        self.machine.setdefault(found["turbo"] or found["boost"] or f"smt/{found['smt']}", (number, value))
        return True

    def _of(self, room: dict[int, _Files], which: int, number: int) -> _Files:
        """The files of one processor; beyond the most there can be, of one that is thrown away."""
        if which not in room and len(room) >= MOST_CPUS:
            self.told.problem(
                number, f"more than {MOST_CPUS:,} processors: this one is left out; upload them in two files"
            )
            return _Files(number, number)
        files = room.setdefault(which, _Files(number, number))
        files.last = number
        return files

    def _facts(self) -> Iterator[Fact]:
        for policy, files in sorted(self.policies.items()):
            affected = next((files.values[name][1] for name in CPUS_OF_POLICY if name in files.values), str(policy))
            for cpu in [int(one) for one in affected.split()[:MOST_CPUS] if re.fullmatch(r"[0-9]{1,5}", one)]:
                if len(self.cpus) < MOST_CPUS and not (cpu in self.cpus and self.cpus[cpu].values):
                    self.cpus[cpu] = files
        told = any(files.values for files in self.cpus.values())
        for cpu, files in sorted(self.cpus.items()):
            if cpu != ALL or not told:
                yield self._frequency(cpu, files)
        for name in ("no_turbo", "boost"):
            if name in self.machine:
                number, text = self.machine[name]
                on = {"0": name == "no_turbo", "1": name == "boost"}.get(text)
                yield FrequencyBoost(source=self._source(number), name=name, on=on)
        if "smt/active" in self.machine or "smt/control" in self.machine:
            numbers = [self.machine[name][0] for name in ("smt/active", "smt/control") if name in self.machine]
            active, control = (self.machine.get(name, (0, ""))[1] for name in ("smt/active", "smt/control"))
            yield Multithreading(
                source=self._source(min(numbers), max(numbers)),
                active={"0": False, "1": True}.get(active),
                control=control if re.fullmatch(r"[a-z]{2,16}", control) else None,
            )

    def _frequency(self, cpu: int, files: _Files) -> CpuFrequency:
        figures: dict[str, Reading] = {}
        for name, what in FIELDS.items():
            if not known(figures.get(what, ABSENT)):
                figures[what] = self._khz(files, name)
        return CpuFrequency(
            source=self._source(files.first, files.last),
            cpu=cpu,
            governor=self._governor(files),
            current_khz=figures.get("current_khz", ABSENT),
            minimum_khz=figures.get("minimum_khz", ABSENT),
            maximum_khz=figures.get("maximum_khz", ABSENT),
            hardware_maximum_khz=figures.get("hardware_maximum_khz", ABSENT),
        )

    def _khz(self, files: _Files, name: str) -> Reading:
        number, text = files.values.get(name, (0, ""))
        if FREQUENCY.fullmatch(text):
            return float(text)
        if not NONE_TOLD.fullmatch(text):
            self.told.problem(number, f"{name} is {text[:40]!r} and no frequency in kHz: {COLLECTED_BY}")
        return ABSENT

    def _governor(self, files: _Files) -> str | Missing:
        number, text = files.values.get("scaling_governor", (0, ""))
        if GOVERNOR.fullmatch(text):
            return text
        if not NONE_TOLD.fullmatch(text):
            self.told.problem(number, f"scaling_governor is {text[:40]!r} and no name of a governor: {COLLECTED_BY}")
        return ABSENT

    def _source(self, first: int, last: int | None = None) -> Source:
        return Source(self.file, first, first if last is None else last)
