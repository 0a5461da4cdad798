"""Tables of locking runs: no split of digits is ever read as a figure; and the files of cpufreq one by one."""

import random
from io import BytesIO
from pathlib import Path

import pytest

from collectors.facts.unix import CpuFrequency, FrequencyBoost, LockingRun, Multithreading
from collectors.intake import open_all
from collectors.read import Input, read_all, read_stream

HEAD = """Advisory locking Mandatory locking
Coarse-grained locking Fine-grained locking ΔClock Fine-grained locking ΔSys
User Sys Clock User Sys Clock Percent User Sys Clock Percent
#Proc
"""
Run = tuple[float, str, object, object, object]


def made(processes: int) -> str:
    """One row as a textbook prints it: figures of our own that rise with the processes."""
    p = processes
    coarse = (0.19 * p + 0.11 * p * p, 0.45 * p + 0.31 * p * p, 0.50 * p + 0.60 * p * p)
    fine = (0.21 * p + 0.12 * p * p, 0.49 * p + 0.34 * p * p, 0.74 * p + 0.42 * p * p)
    mandatory = (0.22 * p + 0.13 * p * p, 0.55 * p + 0.57 * p * p, 0.90 * p + 0.60 * p * p)
    c, f, m = ([round(value, 2) for value in run] for run in (coarse, fine, mandatory))
    clock, system = round(100 * (c[2] / f[2] - 1)), round(100 * (m[1] / f[1] - 1))
    figures = [f"{value:.2f}" for value in (*c, *f)], [f"{value:.2f}" for value in m]
    return " ".join([str(p), *figures[0], str(clock), *figures[1], str(system)])


def runs_of(text: str) -> set[Run]:
    facts = [fact for one in read_stream("x", BytesIO(text.encode())) for fact in one.facts]
    runs = [fact for fact in facts if isinstance(fact, LockingRun)]
    return {(run.processes, run.name, run.user_seconds, run.system_seconds, run.clock_seconds) for run in runs}


@pytest.mark.parametrize("zeros", [True, False])
def test_a_blank_that_slipped_is_refused_and_never_read_as_a_figure(zeros: bool) -> None:
    rows = [made(p) for p in range(1, 17)]
    if not zeros:
        rows = [" ".join(cell.removeprefix("0") or "0" for cell in row.split(" ")) for row in rows]
    true = runs_of(HEAD + "\n".join(rows) + "\n")
    assert len(true) == 48
    chance = random.Random(20)
    refused = 0
    for _ in range(250):
        first = chance.randrange(0, 14)
        some = rows[first : chance.randrange(first + 1, 17)]
        for _ in range(chance.choice((1, 1, 1, 2, 5))):
            which = chance.randrange(len(some))
            letters = list(some[which])
            at = chance.choice([index for index, letter in enumerate(letters) if letter == " "])
            to = at + chance.choice((-1, 1))
            letters[at], letters[to] = letters[to], letters[at]
            some[which] = "".join(letters)
        found = runs_of(HEAD + "\n".join(some) + "\n")
        assert found <= true, some
        refused += not found
    assert refused > 180


def test_the_recognised_table_with_split_digits_is_refused_with_its_first_such_line(real_exports: Path) -> None:
    (found,) = read_all(open_all([str(real_exports / "unix" / "unix_apue3_fig20_8_ocr.txt")], None))  # type: ignore[arg-type]
    assert found.report == "unix/locking_runs"
    assert not found.facts
    assert not found.leftovers
    (problem,) = found.problems
    assert problem.startswith("line 5: no figure of this table can be trusted")
    assert "split in two" in problem
    assert "type it again with a comma" in problem


@pytest.mark.parametrize("row", [13, 14, 15, 10])
def test_a_row_of_that_table_that_is_whole_is_read_by_itself(real_exports: Path, row: int) -> None:
    lines = (real_exports / "unix" / "unix_apue3_fig20_8_ocr.txt").read_text("utf-8").splitlines()
    (line,) = [
        line for line in lines[4:] if line.startswith(f"{row} ") and len(line.split()) == 12 and " ." not in line
    ]
    found = runs_of("\n".join([*lines[:4], line]) + "\n")
    assert {run[:2] for run in found} == {(row, "coarse"), (row, "fine"), (row, "mandatory fine")}


def folder(tmp_path: Path, **files: str) -> list[Input]:
    for name, text in files.items():
        path = tmp_path / name.replace("__", "/")
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, "utf-8")
    return list(read_all(open_all([str(tmp_path)], None)))  # type: ignore[arg-type]  # no standard input here


def test_a_folder_of_cpufreq_is_read_file_by_file(tmp_path: Path) -> None:
    inputs = folder(
        tmp_path,
        cpu3__cpufreq__scaling_governor="powersave\n",
        cpu3__cpufreq__scaling_cur_freq="1400000\n",
        cpu3__cpufreq__scaling_driver="acpi-cpufreq\n",
        cpufreq__policy8__cpuinfo_max_freq="3100000\n",
        cpufreq__boost="0\n",
        intel_pstate__no_turbo="0\n",
        smt__active="1\n",
    )
    assert not [problem for one in inputs for problem in one.problems if "driver" not in one.file]
    facts = [fact for one in inputs for fact in one.facts]
    cpus = [fact for fact in facts if isinstance(fact, CpuFrequency)]
    assert {(one.cpu, one.governor) for one in cpus if isinstance(one.governor, str)} == {(3, "powersave")}
    assert {one.current_khz for one in cpus if one.cpu == 3} >= {1_400_000.0}
    assert {one.hardware_maximum_khz for one in cpus if one.cpu == 8} == {3_100_000.0}
    boosts = {(one.name, one.on) for one in facts if isinstance(one, FrequencyBoost)}
    assert boosts == {("boost", False), ("no_turbo", True)}
    assert [one.active for one in facts if isinstance(one, Multithreading)] == [True]


def test_a_file_that_is_only_called_like_one_of_sysfs_is_none(tmp_path: Path) -> None:
    inputs = folder(tmp_path, boost="1\n", active="yes, since Monday\n", notes__scaling_plan="two more\n")
    facts = [fact for one in inputs for fact in one.facts]
    assert not facts
