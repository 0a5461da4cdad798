"""Record locks of UNIX: who holds and who waits, what variants of locking cost, and at which clock they ran."""

from dataclasses import dataclass
from typing import ClassVar

from collectors.facts.base import ABSENT, Fact, Missing, Reading, known

RUNS = "a table of user, system and clock seconds by number of processes, for coarse and for fine locking"
CPUFREQ = (
    "a listing of the files below /sys/devices/system/cpu, as `grep . /sys/devices/system/cpu/cpu*/cpufreq/*` prints it"
)


@dataclass(frozen=True, kw_only=True)
class RecordLockTable(Fact):
    """One listing of the locks of one moment, so that a listing without waiters says something, too."""

    COLLECTED_BY: ClassVar[str] = "an output of `cat /proc/locks` or `lslocks --json --output-all` while processes wait"

    report: str
    """`/proc/locks`, `lslocks`."""
    locks: int
    """Granted."""
    waiters: int
    shows_blockers: bool = True
    """Whether it says who waits for whom; a plain `lslocks` does not."""
    not_kept: int = 0
    """Locks counted above that did not become facts, as the listing is very long: first those nobody waits for."""


@dataclass(frozen=True, kw_only=True)
class RecordLock(Fact):
    """One lock that is held, or one that is waited for."""

    COLLECTED_BY: ClassVar[str] = "an output of `cat /proc/locks` or `lslocks --json --output-all` while processes wait"

    kind: str
    """`POSIX`, `FLOCK`, `OFDLCK`, `LEASE`, …"""
    mode: str
    """`READ` or `WRITE`."""
    mandatory: bool
    pid: int
    """-1: owned by an open file description, not by a process."""
    device: str | None
    """`254:0`, both numbers decimal."""
    inode: int | None
    start: int
    end: int | None
    """Last byte; `None`: to the end of the file, wherever that moves."""
    end_sure: bool = True
    """`False`: `lslocks` prints 0 both for the end of the file and for byte 0, and this lock begins at byte 0."""
    waits: bool = False
    number: int | None = None
    """Of `/proc/locks`: a waiter repeats the number of the lock it waits for."""
    blocker: int | None = None
    """Process that holds what this one waits for; -1: an open file description does."""
    command: str | None = None
    path: str | None = None
    size_bytes: Reading = ABSENT
    """Of the file, where the listing says so."""

    @property
    def file_key(self) -> tuple[str | None, int | None, str | None]:
        """What file it is of: by device and inode, else by path."""
        return (self.device, self.inode, None) if self.inode is not None else (None, None, self.path)

    @property
    def whole_file(self) -> bool:
        """Whether it covers every byte there is and will be."""
        return self.start == 0 and self.end is None


@dataclass(frozen=True, kw_only=True)
class LockingRun(Fact):
    """One run of one variant of locking with so many processes: CPU and clock seconds of all of them together."""

    COLLECTED_BY: ClassVar[str] = RUNS

    title: str
    """What the table is called, else the file's name."""
    variant: str
    """`none`, `coarse` or `fine`: how much one lock covers."""
    mandatory: bool = False
    processes: float
    records: Reading = ABSENT
    """Records each process writes, where the table says so."""
    user_seconds: Reading = ABSENT
    system_seconds: Reading = ABSENT
    clock_seconds: Reading = ABSENT
    operations: Reading = ABSENT
    """Done by all processes together."""
    calls: Reading = ABSENT
    """Of fcntl to lock and unlock, by all processes together."""
    blocked: Reading = ABSENT
    """How many of these calls had to wait."""
    frequency_mhz: Reading = ABSENT
    """Mean clock of the processors while it ran."""
    frequency_low_mhz: Reading = ABSENT
    frequency_high_mhz: Reading = ABSENT
    printed: tuple[tuple[str, float], ...] = ()
    """Per cent that the table prints in this row: `clock` (coarse over fine), `system` (mandatory over advisory)."""

    @property
    def name(self) -> str:
        """`coarse`, `fine`, `mandatory fine`."""
        return f"mandatory {self.variant}" if self.mandatory else self.variant

    @property
    def processors_used(self) -> float | None:
        """CPU seconds per clock second: how many processors it kept busy."""
        user, system, clock = self.user_seconds, self.system_seconds, self.clock_seconds
        if not (known(user) and known(system) and known(clock)) or clock <= 0:
            return None
        return (user + system) / clock


@dataclass(frozen=True, kw_only=True)
class LockingCalls(Fact):
    """How often one operation is done, and how many calls of fcntl it makes, locked coarsely and finely."""

    COLLECTED_BY: ClassVar[str] = "a table of operations with their counts and their fcntl calls, coarse and fine"

    title: str
    operation: str
    count: float
    coarse_calls: Reading = ABSENT
    fine_calls: Reading = ABSENT


@dataclass(frozen=True, kw_only=True)
class CpuFrequency(Fact):
    """Who sets the clock of one processor of Linux, and within what. All absent: the directory is there but empty."""

    COLLECTED_BY: ClassVar[str] = CPUFREQ

    cpu: int
    """-1: all of them; a wildcard asked and nothing was there."""
    governor: str | Missing = ABSENT
    """`performance`, `powersave`, `schedutil`, …"""
    current_khz: Reading = ABSENT
    minimum_khz: Reading = ABSENT
    maximum_khz: Reading = ABSENT
    hardware_maximum_khz: Reading = ABSENT

    @property
    def unknown(self) -> bool:
        """Whether nothing was to be read: under most hypervisors. That is not "no scaling"."""
        return all(
            isinstance(value, Missing)
            for value in (self.governor, self.current_khz, self.minimum_khz, self.maximum_khz)
        )


@dataclass(frozen=True, kw_only=True)
class FrequencyBoost(Fact):
    """Whether processors may run above their nominal clock: `no_turbo` of intel_pstate, `boost` of cpufreq."""

    COLLECTED_BY: ClassVar[str] = CPUFREQ

    name: str
    """`no_turbo` or `boost`: the file it was read from."""
    on: bool | None = None
    """Whether boosting is allowed; `None` where the file said neither 0 nor 1."""


@dataclass(frozen=True, kw_only=True)
class Multithreading(Fact):
    """Whether the processors of Linux are threads that share a core: `smt/active`."""

    COLLECTED_BY: ClassVar[str] = CPUFREQ

    active: bool | None = None
    """`None` where the file said neither 0 nor 1."""
    control: str | None = None
    """`on`, `off`, `forceoff`, `notsupported`, `notimplemented`."""


__all__ = [
    "CpuFrequency",
    "FrequencyBoost",
    "LockingCalls",
    "LockingRun",
    "Multithreading",
    "RecordLock",
    "RecordLockTable",
]
