"""The lock laboratory: locks exclude or it says so, processes end with it, and its table is what the reader reads."""

import fcntl
import io
import os
import re
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from collectors.capture import captures
from collectors.facts.unix import CpuFrequency, LockingRun
from collectors.live.locklab import Measured, RunRequest, measure, measuring, request_of, text_of
from collectors.live.locklab.frequency import Frequency, Watch
from collectors.live.locklab.load import Moment, Others, moment, others
from collectors.live.locklab.run_request import usual
from collectors.live.locklab.running import Run, counted, fill, run
from collectors.live.locklab.workload import COARSE, FINE, RECORD_BYTES, WARM_UP, Task, record_of, update
from collectors.live.registry import CollectorFailed
from collectors.read import read_stream
from rules.engine import judge
from tests.servers import PATIENCE

ROOT = Path(__file__).resolve().parents[2]
PROC = Path("/proc")
FILES = PROC / "self/fd"
UNKNOWN = Frequency(Path("/nowhere"), Path("/nowhere"))


@pytest.fixture
def file() -> Iterator[int]:
    """A file of one record."""
    with tempfile.TemporaryFile() as opened:
        fill(opened.fileno(), 1)
        yield opened.fileno()


def task(variant: str = FINE, updates: int = 200, records: int = 1, most_seconds: float = PATIENCE) -> Task:
    return Task(variant, records, updates, most_seconds)


def children(pid: int | None = None) -> set[int]:
    """The processes that a process started and that have not ended."""
    pid = pid or os.getpid()
    return {int(one) for one in (PROC / f"{pid}/task/{pid}/children").read_text().split()}


@pytest.mark.parametrize("variant", [COARSE, FINE])
def test_no_update_is_lost_where_all_want_the_same_record(file: int, variant: str) -> None:
    done = run(file, task(variant), 4, UNKNOWN)
    assert (done.variant, done.processes, done.operations) == (variant, 4, 800)
    assert counted(file, 1) == 4 * (200 + WARM_UP)
    assert done.calls == 2 * 800 + done.blocked
    assert done.clock > 0
    assert done.frequency is None


@pytest.mark.parametrize("variant", [COARSE, FINE])
def test_locks_that_do_not_exclude_are_noticed(file: int, variant: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(fcntl, "lockf", lambda *_: time.sleep(0.0001))
    with pytest.raises(
        CollectorFailed, match=r"(updates of .* locking were lost|written by two processes at once): use a"
    ):
        run(file, task(variant, 300), 8, UNKNOWN)


def test_a_torn_record_is_noticed(file: int) -> None:
    os.pwrite(file, record_of(7)[:8] + b"torn", 0)
    with pytest.raises(CollectorFailed, match="written by two processes at once"):
        run(file, task(), 1, UNKNOWN)


def test_a_lock_that_is_held_is_waited_for_and_counted(file: int) -> None:
    fcntl.lockf(file, fcntl.LOCK_EX, RECORD_BYTES, 0)
    reading, writing = os.pipe()
    pid = os.fork()
    if pid == 0:
        os.write(writing, repr(update(file, task(), 1, 3)).encode())
        os._exit(0)
    os.close(writing)
    until = time.monotonic() + PATIENCE
    while not re.search(rf"-> POSIX .* {pid} ", (PROC / "locks").read_text()) and time.monotonic() < until:
        time.sleep(0.005)
    assert os.pread(file, 8, 0) == bytes(8), "it went on without the lock"
    fcntl.lockf(file, fcntl.LOCK_UN, RECORD_BYTES, 0)
    os.waitpid(pid, 0)
    assert os.read(reading, 100) == b"(7, 1)"
    os.close(reading)
    assert counted(file, 1) == 3


def test_processes_that_hang_are_ended_and_said(file: int) -> None:
    before = children()
    fcntl.lockf(file, fcntl.LOCK_EX)
    with pytest.raises(CollectorFailed, match="2 of 2 processes did not end within 0 s: measure when"):
        run(file, task(most_seconds=0.1), 2, UNKNOWN)
    assert children() == before


def test_a_small_order_is_measured_whole_and_nothing_is_left(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(measuring, "OVERRUN", float("inf"))  # on a busy machine rounds would be left out
    before, opened, told = children(), len([*FILES.iterdir()]), list[str]()
    done = measure(RunRequest((1, 2), 0.05, 16, 2), told.append, UNKNOWN)
    assert [(one.processes, one.variant) for one in done.runs] == [
        *[(1, COARSE)] * 2,
        *[(1, FINE)] * 2,
        *[(2, COARSE)] * 2,
        *[(2, FINE)] * 2,
    ]
    assert {one.operations / one.processes for one in done.runs} == {done.updates}
    assert told[1:] == [
        f"run {number} of 8: {name} processes"
        for number, name in enumerate(
            ("coarse, 1", "fine, 1", "coarse, 2", "fine, 2", "fine, 1", "coarse, 1", "fine, 2", "coarse, 2"), 1
        )
    ]
    assert (children(), len([*FILES.iterdir()])) == (before, opened)


@pytest.mark.parametrize(("number", "status"), [(signal.SIGINT, -2), (signal.SIGTERM, 143), (signal.SIGKILL, -9)])
def test_whatever_ends_it_no_process_and_no_file_is_left(tmp_path: Path, number: int, status: int) -> None:
    code = """
from advisor.series.services.lock_laboratory import measure
from collectors.live.locklab import measuring
measuring.TRIAL_UPDATES = 10**9
measure('4', 300, 10, 1, None, lambda doing: None)
"""
    said = tmp_path.with_name(f"{tmp_path.name}.log")
    with said.open("wb") as errors:
        running = subprocess.Popen(
            [sys.executable, "-c", code],
            cwd=ROOT,
            env={**os.environ, "TMPDIR": str(tmp_path)},
            stderr=errors,
            start_new_session=True,
        )
    until, started = time.monotonic() + PATIENCE, set[int]()
    while len(started) < 4 and time.monotonic() < until and running.poll() is None:
        started = children(running.pid)
        time.sleep(0.005)
    assert len(started) == 4
    os.kill(running.pid, number)
    assert running.wait(PATIENCE) == status, said.read_text("utf-8")
    while any(in_session(running.pid)) and time.monotonic() < until:
        time.sleep(0.005)
    left = list(in_session(running.pid))
    for pid in left:
        os.kill(pid, signal.SIGKILL)
    assert left == []
    assert list(tmp_path.iterdir()) == []


def in_session(session: int) -> Iterator[int]:
    """The processes of a session that have not ended."""
    for place in PROC.glob("[0-9]*"):
        try:
            fields = (place / "stat").read_text().rpartition(")")[2].split()
        except OSError:
            continue
        if int(fields[3]) == session and fields[0] not in "ZX":
            yield int(place.name)


@pytest.mark.parametrize(
    ("processes", "numbers"),
    [("1-4", (1, 2, 3, 4)), ("4,1,2", (1, 2, 4)), ("1, 3-5,4", (1, 3, 4, 5)), ("64", (64,))],
)
def test_numbers_of_processes_are_read(processes: str, numbers: tuple[int, ...]) -> None:
    assert request_of(processes, 1, 10, 1).processes == numbers


def test_by_default_six_numbers_of_processes_or_more_are_measured() -> None:
    assert usual(1) == (1, 2, 3, 4, 6, 8)
    assert usual(6) == (1, 2, 3, 4, 6, 8, 12)
    assert usual(1000)[-1] == 64


@pytest.mark.parametrize(
    ("asked", "says"),
    [
        (("0-4", 1, 10, 1), "'0-4' processes: give numbers from 1 to 64"),
        (("65", 1, 10, 1), "'65' processes"),
        (("4-2", 1, 10, 1), "'4-2' processes"),
        (("1,", 1, 10, 1), "'' processes"),
        (("1;2", 1, 10, 1), "'1;2' processes"),
        (("1", 0, 10, 1), "0 s of measuring: give 0.05 to 600 seconds"),
        (("1", float("nan"), 10, 1), "nan s of measuring"),
        (("1", 601, 10, 1), "601 s of measuring"),
        (("1", 1, 0, 1), "0 records: give 1 to 65,536"),
        (("1", 1, 65_537, 1), "65537 records"),
        (("1", 1, 10, 0), "0 runs of each: give 1 to 20"),
    ],
)
def test_what_is_out_of_bounds_is_refused(asked: tuple[str, float, int, int], says: str) -> None:
    with pytest.raises(CollectorFailed, match=re.escape(says)):
        request_of(*asked)


MEASURED = Measured(
    machine="ORKNEY",
    system="Linux 6.1 x86_64",
    processors=4,
    order=RunRequest((1, 4), 10, 500, 1),
    updates=1000,
    runs=(
        Run(COARSE, 4, 2.5, 1.25, 3.0, 4000, 8900, 900, (2400.0, 2390.0, 2410.0)),
        Run(FINE, 4, 2.4, 1.5, 1.5, 4000, 8010, 10),
    ),
    settings=(("/sys/devices/system/cpu/cpu0/cpufreq/scaling_governor", "schedutil"),),
    watched="cpufreq",
    before=(2400.0, 2200.0),
    after=(2400.0,),
    others=Others(0.9, 0.0),
)


def test_what_was_measured_is_a_table_that_the_reader_reads() -> None:
    text = text_of(MEASURED)
    assert "# clock of the processors: watched by cpufreq, 2300 MHz before and 2400 MHz after, mean of all" in text
    assert "# others: other work kept 0.9 of 4 processors busy meanwhile: measure again when less else runs" in text
    assert "# governor: schedutil; boosting: unknown" in text
    inputs = read_stream("run.csv", io.BytesIO(text.encode()))
    facts = [fact for one in inputs for fact in one.facts]
    runs = [one for one in facts if isinstance(one, LockingRun)]
    assert [(one.title, one.name, one.processes) for one in runs] == [("ORKNEY", "coarse", 4), ("ORKNEY", "fine", 4)]
    coarse = runs[0]
    assert (coarse.user_seconds, coarse.system_seconds, coarse.clock_seconds) == (2.5, 1.25, 3.0)
    assert (coarse.operations, coarse.calls, coarse.blocked, coarse.frequency_mhz) == (4000, 8900, 900, 2400)
    assert [one.governor for one in facts if isinstance(one, CpuFrequency)] == ["schedutil"]
    assert not any(one.problems or one.leftovers for one in inputs)
    (capture,) = captures(inputs)
    verdicts = {one.rule: one.verdict for one in judge(capture)}
    assert verdicts["unix/coarse_record_locks"] == "fired"
    assert verdicts["unix/clock_frequency_moved"] == "clean"


def machine(folder: Path, **files: str) -> Frequency:
    """A machine of two processors with these files; `__` stands for a slash."""
    for name, text in files.items():
        path = folder / "cpu" / name.replace("__", "/")
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    return Frequency(folder / "cpu", folder / "cpu" / "cpuinfo")


def test_the_clock_is_read_from_cpufreq_fastest_first(tmp_path: Path) -> None:
    one = machine(
        tmp_path,
        cpu0__cpufreq__scaling_cur_freq="1200000\n",
        cpu10__cpufreq__scaling_cur_freq="2400500\n",
        cpu10__cpufreq__scaling_governor="powersave\n",
        cpufreq__boost="1\n",
        intel_pstate__no_turbo="x" * 100,
    )
    assert (one.how, one.now()) == ("cpufreq", [2400.5, 1200.0])
    assert [(path.removeprefix(str(tmp_path)), text) for path, text in one.settings()] == [
        ("/cpu/cpufreq/boost", "1"),
        ("/cpu/cpu0/cpufreq/scaling_cur_freq", "1200000"),
        ("/cpu/cpu10/cpufreq/scaling_cur_freq", "2400500"),
        ("/cpu/cpu10/cpufreq/scaling_governor", "powersave"),
    ]


def test_a_constant_of_the_hypervisor_is_not_taken_for_the_clock(tmp_path: Path) -> None:
    told = "cpu MHz\t\t: 2596.132\ncpu MHz\t\t: x\nflags\t\t: fpu {0} sse\n"
    constant = machine(tmp_path, cpuinfo=told.format("tsc"))
    assert (constant.how, constant.now()) == ("unknown", [])
    measured = machine(tmp_path, cpuinfo=told.format("aperfmperf"))
    assert (measured.how, measured.now()) == ("/proc/cpuinfo", [2596.132])


def test_an_empty_directory_is_unknown_and_nothing_is_made_up(tmp_path: Path) -> None:
    (tmp_path / "cpu/cpu0/cpufreq").mkdir(parents=True)
    empty = Frequency(tmp_path / "cpu", tmp_path / "cpuinfo")
    assert (empty.how, empty.now(), empty.settings()) == ("unknown", [], [])
    assert Watch(empty).of_busy(1.0) is None


def test_only_as_many_processors_as_were_busy_count() -> None:
    watch = Watch(UNKNOWN, [[3000.0, 2900.0, 800.0, 800.0], [3100.0, 2800.0, 800.0, 800.0]])
    assert watch.of_busy(1.8) == (2950.0, 2800.0, 3100.0)
    assert watch.of_busy(0.1) == (3050.0, 3000.0, 3100.0)


def test_what_else_ran_is_all_that_was_busy_without_us(tmp_path: Path) -> None:
    assert others(Moment(0, 100, 5, 1), Moment(10, 130, 10, 11)) == Others(2.0, 0.5)
    assert others(None, Moment(1, 1, 1, 1)) is None
    (tmp_path / "stat").write_text("cpu  1 2\n")
    assert moment(tmp_path / "stat") is None
    assert moment(tmp_path / "none") is None
    assert moment() is not None
