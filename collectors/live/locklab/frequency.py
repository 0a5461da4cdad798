"""The clock of the processors, as far as this system shows it: `cpufreq`, else what the kernel measures, else unknown.

`cpu MHz` of `/proc/cpuinfo` is a measurement only where the processor counts its own cycles (flag `aperfmperf`); under
most hypervisors it is a constant that was true once, and is not taken for the clock.
"""

from dataclasses import dataclass, field
from pathlib import Path

SYSFS = Path("/sys/devices/system/cpu")
CPUINFO = Path("/proc/cpuinfo")
MOST_PROCESSORS = 1024
OF_ONE = ("cpuinfo_max_freq", "scaling_cur_freq", "scaling_governor", "scaling_max_freq", "scaling_min_freq")
OF_ALL = ("intel_pstate/no_turbo", "cpufreq/boost", "smt/active")
LONGEST = 64
"""Characters kept of such a file."""


@dataclass(frozen=True)
class Frequency:
    """Where the clock is read, and how."""

    sysfs: Path = SYSFS
    cpuinfo: Path = CPUINFO

    @property
    def how(self) -> str:
        """`cpufreq`, `/proc/cpuinfo` or `unknown`."""
        if self._of_cpufreq():
            return "cpufreq"
        return "/proc/cpuinfo" if self._of_cpuinfo() else "unknown"

    def now(self) -> list[float]:
        """MHz of every processor, fastest first; empty: unknown."""
        return sorted(self._of_cpufreq() or self._of_cpuinfo(), reverse=True)

    def settings(self) -> list[tuple[str, str]]:
        """Path and content of every file that says who may set the clock, and within what."""
        paths = [self.sysfs / name for name in OF_ALL]
        for folder in self._folders():
            paths += [folder / name for name in OF_ONE]
        read = [(str(path), _content(path)) for path in paths]
        return [(path, text) for path, text in read if text]

    def _folders(self) -> list[Path]:
        found = [path for path in self.sysfs.glob("cpu[0-9]*/cpufreq") if path.parent.name[3:].isdigit()]
        return sorted(found, key=lambda path: int(path.parent.name[3:]))[:MOST_PROCESSORS]

    def _of_cpufreq(self) -> list[float]:
        read = [_content(folder / "scaling_cur_freq") for folder in self._folders()]
        return [int(text) / 1000 for text in read if text.isascii() and text.isdigit()]

    def _of_cpuinfo(self) -> list[float]:
        found, measured = [], False
        for line in _text(self.cpuinfo).splitlines():
            name, _, value = line.partition(":")
            measured = measured or (name.strip() == "flags" and "aperfmperf" in value.split())
            if name.strip() == "cpu MHz":
                try:
                    found.append(float(value))
                except ValueError:
                    continue
        return found[:MOST_PROCESSORS] if measured else []


@dataclass
class Watch:
    """Samples of the clock while something runs."""

    frequency: Frequency
    samples: list[list[float]] = field(default_factory=list)

    def look(self) -> None:
        """Take one."""
        if now := self.frequency.now():
            self.samples.append(now)

    def of_busy(self, processors: float) -> tuple[float, float, float] | None:
        """Mean, lowest and highest MHz of as many of the fastest processors as were busy; `None`: unknown.

        Idle processors do no work, and what their clock is said to be means little.
        """
        busy = max(1, round(processors))
        values = [value for sample in self.samples for value in sample[:busy]]
        return (sum(values) / len(values), min(values), max(values)) if values else None


def _text(path: Path) -> str:
    try:
        return path.read_text(encoding="ascii", errors="replace")
    except OSError:
        return ""


def _content(path: Path) -> str:
    """One line that can be printed; else nothing."""
    text = _text(path).strip()
    return text if text.isprintable() and len(text) <= LONGEST else ""
