"""The lock laboratory for OpenVMS: its program is compiled here, and run against a stand-in for the system services.

The stand-in (`locklab_openvms/services.c`) holds it to the rules of the lock manager: no conversion of a lock that is
not held, no parent released before its sub-locks, no lock left. The headers beside it are ours: VMS has others. That
it measures anything on OpenVMS nobody has seen.
"""

import io
import os
import re
import subprocess
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path

import pytest
from django.core.management import CommandError, call_command

from collectors.facts.scaling import LoadSeries
from collectors.live.locklab.openvms import NAMES, one_procedure, programs
from collectors.read import read_stream

STAND_IN = Path(__file__).parent / "locklab_openvms"
STRICT = ("-std=c99", "-Wall", "-Wextra", "-Werror", "-O1")
XVALBLK, VALBLK = 4096, 1
DCL = programs()["LOCKLAB.COM"]
HEADING = (
    "series,node,model,clock_mhz,cores,threads,release,dlm,dlm_cpu,stopped_cpus,reshashtbl,lockidtbl,lvb_bytes,"
    "nodes,master,processes,seconds,samples,idle,interrupt,mpsynch,kernel,exec,super,user,enq,convert,deq,total,"
    "blkast,own_ops,latency_us"
)
Run = Callable[..., subprocess.CompletedProcess[str]]


def compiled(folder: Path, *more: str) -> Path:
    """Compile the program with the stand-in; `gcc` is one of the packages that the tests need (Makefile)."""
    source, program = folder / "LOCKLAB.C", folder / "locklab"
    source.write_text(programs()["LOCKLAB.C"])
    command = ["gcc", *STRICT, *more, "-I", str(STAND_IN), "-x", "c", str(source), str(STAND_IN / "services.c")]
    done = subprocess.run([*command, "-o", str(program)], capture_output=True, text=True, check=False)
    assert (done.returncode, done.stderr) == (0, "")
    return program


@pytest.fixture(scope="module")
def program(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return compiled(tmp_path_factory.mktemp("locklab"))


@pytest.fixture
def run(program: Path, tmp_path: Path) -> Run:
    def run(*words: object, **environment: int) -> subprocess.CompletedProcess[str]:
        told = {"REPORT": "report", "CLOCK": "1000", **{name: str(value) for name, value in environment.items()}}
        return subprocess.run(
            [str(program), *map(str, words)],
            cwd=tmp_path,
            env={**os.environ, **told},
            capture_output=True,
            text=True,
            check=False,
        )

    return run


def reported(folder: Path) -> dict[str, int]:
    """What the stand-in was asked for."""
    pairs = (line.split() for line in (folder / "report").read_text().splitlines())
    return {name: int(value) for name, value in pairs}


def lines_of(log: Path, kind: str) -> list[list[float]]:
    found = [line.split(",") for line in log.read_text().splitlines() if line.startswith(f"{kind},")]
    return [[float(figure) for figure in one[1:]] for one in found]


def worker(run: Run, lvb: int = 0, **environment: int) -> subprocess.CompletedProcess[str]:
    return run("WORKER", "x_1.LOG", "LOCKLAB_2040011A", 1_000_000, lvb, 0.3, 0.6, 0.2, 0.1, **environment)


def test_a_worker_takes_one_new_lock_two_conversions_and_one_dequeue_in_all_five_modes(
    run: Run, tmp_path: Path
) -> None:
    assert worker(run).returncode == 0
    told = reported(tmp_path)
    assert told["convert"] == 2 * told["new"] == 2 * told["deq"] > 0
    assert (told["left"], told["most"], told["priority"]) == (0, 2, 2)
    for mode in range(1, 6):
        assert told[f"mode{mode}"] == pytest.approx(told["new"] / 5, rel=0.05)


def test_it_counts_the_seconds_asked_for_after_it_has_settled(run: Run, tmp_path: Path) -> None:
    worker(run, BLOCK=7, SLOW=10)
    ((seconds, enq, convert, deq, blocked, waited, ticks),) = lines_of(tmp_path / "x_1.LOG", "measured")
    assert seconds == pytest.approx(0.6, abs=0.002)
    assert (convert, deq) == (2 * enq, enq)
    assert blocked == pytest.approx(convert / 14, rel=0.01)  # every second conversion goes up
    assert waited == pytest.approx((enq + convert) / 10, rel=0.01)
    assert ticks == 30  # half of the time, in ticks of 10 ms
    counted = lines_of(tmp_path / "x_1.LOG", "counted")
    assert len(counted) == 11
    assert [one[1] for one in counted] == sorted(one[1] for one in counted)
    assert reported(tmp_path)["new"] == pytest.approx(counted[-1][1], rel=0.02)


@pytest.mark.parametrize(("lvb", "flags"), [(0, 0), (16, VALBLK), (64, VALBLK | XVALBLK)])
def test_a_value_block_of_the_size_asked_for_is_read_and_written(
    run: Run, tmp_path: Path, lvb: int, flags: int
) -> None:
    assert worker(run, lvb).returncode == 0
    assert reported(tmp_path)["flags"] & (VALBLK | XVALBLK) == flags


def test_without_long_value_blocks_it_says_so_and_measures_nothing(tmp_path: Path) -> None:
    old = compiled(tmp_path, "-DWITHOUT_XVALBLK")
    words = ["WORKER", "x_1.LOG", "P", "10", "64", "1", "1", "1", "1"]
    assert subprocess.run([str(old), *words], cwd=tmp_path, check=False).returncode == 1
    assert (tmp_path / "x_1.LOG").read_text() == "# no value blocks of 64 bytes on this system\n"


@pytest.mark.parametrize(
    ("request_refused", "what"),
    [(1, "the parent"), (2, "a new lock"), (3, "a conversion up"), (4, "a conversion down")],
)
def test_what_is_refused_ends_it_and_is_told(run: Run, tmp_path: Path, request_refused: int, what: str) -> None:
    assert worker(run, FAIL_ENQ=request_refused).returncode == 1
    assert (tmp_path / "x_1.LOG").read_text() == f"# {what} was refused, status 10772\n"


def test_a_stop_file_ends_it_without_a_result(run: Run, tmp_path: Path) -> None:
    (tmp_path / "LOCKLAB.STOP").touch()
    done = run("WORKER", "x_1.LOG", "P", 100, 0, 30, 60, 20, 10)
    assert done.returncode == 1
    assert lines_of(tmp_path / "x_1.LOG", "measured") == []
    assert reported(tmp_path)["left"] == 0


def test_latency_is_that_of_one_operation(run: Run, tmp_path: Path) -> None:
    assert run("LATENCY", "l.LOG", "P", 1000, 500, CLOCK=3000).returncode == 0
    assert (tmp_path / "l.LOG").read_text() == "latency_us,3.0000\n"  # 3,000 µs pass in 1,000 operations
    assert {name: reported(tmp_path)[name] for name in ("new", "convert", "deq", "left")} == {
        "new": 500,
        "convert": 0,
        "deq": 500,
        "left": 0,
    }


@pytest.mark.parametrize(
    "words",
    [
        (),
        ("WORKER", "x", "P", 10, 32, 1, 1, 1, 1),
        ("WORKER", "x", "P", 0, 16, 1, 1, 1, 1),
        ("WORKER", "x", "P", 10, 16, 1, 0, 1, 1),
        ("LATENCY", "x", "P", 10),
        ("OTHER", "x"),
    ],
)
def test_other_words_start_nothing(run: Run, tmp_path: Path, words: tuple[object, ...]) -> None:
    done = run(*words)
    assert (done.returncode, done.stdout) == (1, "")
    assert "run LOCKLAB.COM" in done.stderr
    assert list(tmp_path.iterdir()) == []


SUMMARY = """\
                            OpenVMS Monitor Utility
                            TIME IN PROCESSOR MODES
                  on node ORKNEY        From: 14-MAR-2022 08:00:00.12   To: 14-MAR-2022 08:01:00.47
                                   SUMMARY

    Combined for  4 CPUs                 CUR        AVE        MIN        MAX

    Interrupt State                      1.20       2.00       0.00       6.31
    MP Synchronization                {synch}   {synch}      10.11      51.15
    Kernel Mode                        140.30     150.00      60.02     240.00
    Executive Mode                       0.00       1.00       0.00       1.00
    Supervisor Mode                      0.50       0.00       0.00       2.00
    User Mode                           53.40      50.00      30.40      60.05
    Compatibility Mode                     Not Available
    Idle Time                          {idle}   {idle}      15.50     611.40

                            OpenVMS Monitor Utility
                           LOCK MANAGEMENT STATISTICS
                                  on node ORKNEY        From: 14-MAR-2022 08:00:00.12

                                         CUR        AVE        MIN        MAX

    New ENQ Rate                    {enq}   {enq}     640.00   90000.66
    Converted ENQ Rate               160100.00  160100.50    1104.33  163010.00
    DEQ Rate                          80020.00   80020.00     633.00   80888.33
    Blocking AST Rate                   12.33       3.50       0.00      31.66

                            OpenVMS Monitor Utility
                     DISTRIBUTED LOCK MANAGEMENT STATISTICS
                                         CUR        AVE        MIN        MAX

    New ENQ Rate        (Local)          1.33       1.20       0.00       2.00
    DEQ Rate            (Local)          1.00       1.00       0.00       2.00
"""
SETTINGS = {
    "series": "base",
    "node": "ORKNEY",
    "model": 'Made up, 4 CPUs; "=1"',
    "clock_mhz": "1000",
    "cores": "4",
    "threads": "off",
    "release": "V8.4",
    "dlm": "off",
    "dlm_cpu": "",
    "stopped_cpus": "0",
    "reshashtbl": "65536",
    "lockidtbl": "32768",
    "lvb_bytes": "16",
    "nodes": "1",
    "master": "ORKNEY",
    "cpus": "4",
    "names": "1000000",
}


def step(
    folder: Path,
    processes: int = 2,
    *,
    synch: str = "40.00",
    idle: str = "157.00",
    enq: str = "80010.00",
    own: float = 320_000,
    seconds: float = 60.0,
    settings: Mapping[str, str] = SETTINGS,
) -> None:
    """What one step leaves in the directory of the node."""
    (folder / "LOCKLAB.SET").write_text("".join(f"{name}={value}\n" for name, value in settings.items()))
    (folder / "s.SUM").write_text(SUMMARY.format(synch=synch, idle=idle, enq=enq))
    each = round(own * seconds / processes / 4)
    for one in range(1, processes + 1):
        (folder / f"s_{one}.LOG").write_text(f"measured,{seconds:.3f},{each},{2 * each},{each},3,0,2950\n")


def row(run: Run, processes: int = 2) -> subprocess.CompletedProcess[str]:
    return run("ROW", "LOCKLAB.SET", "s.SUM", "s", processes, 60, "latency.LOG")


def test_a_row_has_what_monitor_and_the_processes_counted(run: Run, tmp_path: Path) -> None:
    step(tmp_path)
    done = row(run)
    assert done.returncode == 0
    cells, remark = done.stdout.splitlines()
    assert dict(zip(HEADING.split(","), cells.split(","), strict=True)) == {
        **{name: value for name, value in SETTINGS.items() if name not in ("cpus", "names")},
        **{"model": "Made up  4 CPUs   =1", "processes": "2", "seconds": "60.0", "samples": ""},
        **{"idle": "157.0", "interrupt": "2.0", "mpsynch": "40.0", "kernel": "150.0", "exec": "1.0", "super": "0.0"},
        **{"user": "50.0", "enq": "80010.0", "convert": "160100.5", "deq": "80020.0", "total": "320130.5"},
        **{"blkast": "3.5", "own_ops": "320000", "latency_us": ""},
    }
    assert remark == "# 2 processes: 59.0 CPU seconds by $GETJPI CPUTIM while they measured"


def test_the_time_of_an_operation_stands_with_one_process_alone(run: Run, tmp_path: Path) -> None:
    (tmp_path / "latency.LOG").write_text("latency_us,2.7512\n")
    for processes, cell in ((1, "2.75"), (2, "")):
        step(tmp_path, processes)
        assert row(run, processes).stdout.splitlines()[0].rpartition(",")[2] == cell


@pytest.mark.parametrize(
    ("changed", "why"),
    [
        ({"idle": "170.00"}, "the modes do not add up to all CPUs"),
        ({"enq": "78000.00"}, "enqueues and dequeues are more than 1 % apart"),
        ({"enq": "********"}, "MONITOR LOCK has no figures"),
        ({"own": 300_000}, "our own counts and MONITOR are more than 3 % apart, something else locked, too"),
    ],
)
def test_a_row_that_fails_a_check_is_a_remark_only(
    run: Run, tmp_path: Path, changed: dict[str, float], why: str
) -> None:
    step(tmp_path, **changed)  # type: ignore[arg-type]
    done = row(run)
    assert done.stdout.startswith(f"# 2 processes: {why}; this row is not to be used: base,ORKNEY,")
    assert all(line.startswith("#") for line in done.stdout.splitlines())


def test_a_process_without_a_result_is_a_remark_and_the_end(run: Run, tmp_path: Path) -> None:
    step(tmp_path)
    (tmp_path / "s_2.LOG").write_text("# a new lock was refused, status 10772\n")
    done = row(run)
    assert done.returncode == 1
    assert "# 2 processes: a process ended before its time, see its log" in done.stdout
    assert "# stopped: this step was not measured whole" in done.stdout


@pytest.mark.parametrize(
    ("changed", "status"),
    [
        ({"synch": "197.00", "idle": "0.00"}, 0),
        ({"synch": "241.00", "idle": "-"}, 1),
        ({"seconds": 74.0}, 0),
        ({"seconds": 76.0}, 1),
    ],
)
def test_it_goes_no_further_where_the_console_could_starve(
    run: Run, tmp_path: Path, changed: dict[str, float], status: int
) -> None:
    step(tmp_path, **changed)  # type: ignore[arg-type]
    done = row(run)
    assert done.returncode == status
    assert ("more load could starve the console" in done.stdout) == bool(status)


def test_without_a_summary_nothing_was_measured(run: Run, tmp_path: Path) -> None:
    step(tmp_path)
    (tmp_path / "s.SUM").unlink()
    done = row(run)
    assert (done.returncode, done.stdout) == (1, "# 2 processes: MONITOR wrote no summary, nothing was measured\n")


@pytest.mark.parametrize(
    ("idle", "said"),
    [
        ("361.00", ""),
        ("350.00", "# not started: 12 % of the CPUs are busy already, so this node is in use\n"),
        ("", "# not started: MONITOR did not show how idle the node is\n"),
    ],
)
def test_a_node_in_use_is_not_measured(run: Run, tmp_path: Path, idle: str, said: str) -> None:
    step(tmp_path, idle=idle)
    done = run("IDLE", "s.SUM", 4)
    assert (done.returncode, done.stdout) == (int(bool(said)), said)


def test_the_heading_is_the_fixed_one_and_says_that_it_is_untried(run: Run, tmp_path: Path) -> None:
    step(tmp_path)
    lines = run("HEAD", "LOCKLAB.SET").stdout.splitlines()
    assert lines[-1] == HEADING
    assert "untried on OpenVMS" in lines[0]
    assert lines[1] == "# cpus: 4, active when it began; 1000000 names; LCK$M_SYNCSTS was used"


# The procedure: what can be told of it without DCL.


def commands() -> Iterator[str]:
    """The commands of the procedure: lines that are continued as one, without comments."""
    text = re.sub(r"-\n", "", "\n".join(line for line in DCL.splitlines() if not line.startswith("$!")))
    yield from text.splitlines()


def test_every_line_of_the_procedure_is_dcl_and_every_label_is_there_once() -> None:
    lines = list(commands())
    assert all(re.match(r"\$ \S", line) and len(line) < 255 and line.isascii() for line in lines)
    assert all(line.count('"') % 2 == 0 and line.count("(") == line.count(")") for line in lines)
    labels = [found[1] for line in lines if (found := re.fullmatch(r"\$ ([A-Z_]+):", line))]
    gone_to = {name for line in lines for name in re.findall(r"GO(?:TO|SUB) ([A-Z_]+)", line)}
    assert len(labels) == len(set(labels))
    assert gone_to <= set(labels)
    assert set(labels) - gone_to == set()
    assert lines[-1] == "$ EXIT"


def test_every_symbol_of_the_procedure_is_given_a_value_first() -> None:
    known = {f"P{at}" for at in range(1, 9)}
    for line in commands():
        without = re.sub(r'"[^"]*"', '""', line)
        used = set(re.findall(r"'+([A-Z_0-9]+)'", line))
        if (found := re.fullmatch(r"\$ ([A-Z_]+) = (.+)", without)) or (
            found := re.search(r"()\bIF (.+) THEN", without)
        ):
            used |= set(re.findall(r"(?<![.$A-Z_0-9])[A-Z][A-Z_0-9]*(?![A-Z_0-9$.(])", found[2]))
        if found := re.search(r"THEN ([A-Z_]+) = ", without):
            assert found[1] in known, line
        assert used <= known, (line, used - known)
        if found := re.fullmatch(r"\$ ([A-Z_]+) = .+", line):
            known.add(found[1])


def test_the_procedure_calls_the_program_as_the_program_reads_it(run: Run, tmp_path: Path) -> None:
    called = {
        found[1]: found[0].split()[1:]
        for line in commands()
        if (found := re.search(r"\bLOCKLAB (WORKER|LATENCY|IDLE|HEAD|ROW)\b.*", line))
    }
    filled = {"'NAMES'": "100", "'LVB'": "16", "'PARENT'": "P", "'CPUS'": "4", "'N'": "2", "30": "0.1", "60": "0.1"}
    filled |= {"20": "0.1", "10": "0.1", "100000": "10", "'LOGS'_'K'.LOG": "s_1.LOG", "'FILES'_LATENCY.LOG": "l.LOG"}
    filled |= {"'LOGS'.SUM": "s.SUM", "'LOGS'": "s", "'FILES'_IDLE.SUM": "s.SUM"}
    assert called.keys() == {"WORKER", "LATENCY", "IDLE", "HEAD", "ROW"}
    step(tmp_path)
    for words in called.values():
        assert "run LOCKLAB.COM" not in run(*(filled.get(word, word) for word in words)).stderr


def test_the_settings_that_it_writes_are_those_that_the_row_has() -> None:
    written = re.findall(r'WRITE SETTINGS "([a-z_]+)=', DCL)
    assert written == list(SETTINGS)
    assert HEADING.split(",")[:15] == written[:15]


def test_it_starts_on_the_node_that_was_named_alone_and_looks_at_quotas_first() -> None:
    lines = list(commands())
    first = lines.index("$ LOCKLAB HEAD LOCKLAB.SET")
    guards = [line for line in lines[:first] if line.startswith("$ IF ") and "THEN GOTO" in line]
    assert [line.split()[-1] for line in guards] == [
        "NOT_THIS_NODE",
        "NO_PROGRAM",
        "STOP_FILE",
        "NO_LOCKS",
        "NO_PROCESSES",
    ]
    assert "$ IF MOST .GT. CPUS + 2 THEN MOST = CPUS + 2" in lines[:first]
    assert not any("MONITOR" in line or "SPAWN" in line for line in lines[:first])


def test_the_texts_say_that_nobody_tried_them() -> None:
    for text in (*programs().values(), one_procedure()):
        assert "UNTRIED on OpenVMS" in "\n".join(text.splitlines()[:4])
        assert max(map(len, text.splitlines())) <= 120


def test_one_procedure_creates_both_files() -> None:
    out = io.StringIO()
    call_command("locklab", "--for", "openvms", stdout=out)
    parts = re.findall(r"^\$ CREATE (\S+)\n\$ DECK\n(.*?)^\$ EOD\n", out.getvalue(), re.MULTILINE | re.DOTALL)
    assert dict(parts) == dict(programs())


def test_a_folder_is_made_and_no_file_is_written_over(tmp_path: Path) -> None:
    out, folder = io.StringIO(), tmp_path / "lab"
    call_command("locklab", "--for", "openvms", "--out", str(folder), stdout=out)
    assert "untried on OpenVMS" in out.getvalue()
    assert {one.name: one.read_text() for one in folder.iterdir()} == dict(programs())
    (folder / NAMES[0]).unlink()
    with pytest.raises(CommandError, match=r"LOCKLAB\.COM is there already: name another folder") as caught:
        call_command("locklab", "--for", "openvms", "--out", str(folder))
    assert caught.value.returncode == 2
    assert [one.name for one in folder.iterdir()] == ["LOCKLAB.COM"]
    with pytest.raises(CommandError, match="cannot be written to"):
        call_command("locklab", "--for", "openvms", "--out", str(folder / "LOCKLAB.COM" / "below"))


def test_how_this_machine_is_measured_is_not_for_openvms() -> None:
    with pytest.raises(CommandError, match="are for this machine: leave them out with --for") as caught:
        call_command("locklab", "--for", "openvms", "--processes", "1-2")
    assert caught.value.returncode == 2


def test_what_the_program_prints_our_reader_reads(run: Run, tmp_path: Path) -> None:
    (tmp_path / "latency.LOG").write_text("latency_us,2.7512\n")
    step(tmp_path, 1)
    printed = run("HEAD", "LOCKLAB.SET").stdout + row(run, 1).stdout
    for processes in (2, 3):
        step(tmp_path, processes)
        printed += row(run, processes).stdout
    step(tmp_path, 4, enq="78000.00")
    printed += row(run, 4).stdout
    (found,) = read_stream("LOCKLAB.CSV", io.BytesIO(printed.encode()))
    assert (found.report, found.problems, found.leftovers) == ("scaling/load_series", [], [])
    (series,) = found.facts
    assert isinstance(series, LoadSeries)
    assert [(one.load, one.rate) for one in series.points] == [(1, 320130.5), (2, 320130.5), (3, 320130.5)]
    assert (series.first.other("latency_us"), series.last.other("latency_us")) == (2.75, None)
    assert (series.first.other("own_operations_per_second"), series.first.other("mp_synch_percent")) == (320000, 40)
    assert (series.cores, series.clock_mhz, series.product) == (4, 1000, "openvms")
    assert dict(series.setup)["lvb_bytes"] == "16"
