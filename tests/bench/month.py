"""A month of T4 composites of one node, audited in one run: 30 files of 1,440 rows and 535 columns.

`python -m tests.bench.month [--days 30]`, part of `make bench`. The days are generated with the columns that MONITOR
and the lock manager's collector write, in a course over the day; what 535 columns need beyond them are processes.
Beside it stands plain iteration over the same lines, in the same run. Seconds are those of the processor. Figures are
printed, never held against a limit.
"""

import argparse
import json
import math
import random
import resource
import subprocess
import sys
import tempfile
import time
from datetime import datetime, timedelta
from pathlib import Path

COLUMNS, CPUS = 535, 8
LOCK = ("New ENQ rate", "Converted ENQ rate", "Blocking AST Rate", "ENQs forced to wait", "DEQs", "Enqs not queued")
WAYS = ("Local", "Incoming", "Outgoing")
MODES = ("Interrupt State", "Mp Synch", "Kernel Mode", "Exec Mode", "Super Mode", "User Mode", "Idle Time")
CPU_MODES = ("Inter mode", "MpSync mode", "Kernel mode", "Exec mode", "Super mode", "User mode", "Idle", "Busy")


def names() -> list[str]:
    """The columns after the sample time, in T4's order of groups."""
    found = [f"[MON.MODE]{mode}" for mode in MODES]
    found += [f"[MON.LOCK]{name}" for name in (*LOCK, "Locks Total", "Resources Total")]
    found += [f"[MON.DLOC]{kind} ({way})" for kind in ("New Locks", "Lock conversions", "Lock DEQs") for way in WAYS]
    found += [f"[MON.MODES]Cpu {cpu:02d} {mode}" for cpu in reversed(range(CPUS)) for mode in CPU_MODES]
    found += ["[LCK73]Req Count/Sec", "[LCK73]Busy %"]
    return found + [f"[MON.PROC]BATCH_{number} Dirio" for number in range(COLUMNS - 1 - len(found))]


def row(load: float, chance: random.Random) -> list[str]:
    """One minute at a load of 0 to 1: locks and modes that agree with each other, the way a real node's do."""
    enq = 400 + 9000 * load * chance.uniform(0.9, 1.1)
    parts = [(enq * 0.8, enq * 0.15, enq * 0.05)]
    parts += [(2 * a, 2 * b, 2 * c) for a, b, c in parts] + parts
    spin = 220 * load**3
    modes = [12 * load, spin, 190 * load, 20 * load, 3 * load, 200 * load]
    modes.append(100 * CPUS - sum(modes))
    figures = [*modes, enq, 2 * enq, enq / 300, enq / 200, enq, 0.0, 90_000 + 30_000 * load, 15_000 + 4_000 * load]
    figures += [figure for way in parts for figure in way]
    for _ in range(CPUS):
        figures += [mode / CPUS for mode in modes] + [100 - modes[-1] / CPUS]
    figures += [0.0, 0.0]
    rest = COLUMNS - 1 - len(figures)
    figures += [chance.random() * 90 if chance.random() < 0.3 else 0.0 for _ in range(rest)]
    return [f"{figure:.2f}" for figure in figures]


def write_day(path: Path, day: datetime) -> None:
    """One day as T4 writes it, from a fixed seed."""
    chance = random.Random(day.toordinal())
    with path.open("w", encoding="ascii", newline="") as out:
        out.write("BENCH1,  T4EXTR Version: , File Format Type: 1, Analyzer node: BENCH1, Monitor Comment: bench\r\n")
        heading = ",".join(["[MON]Sample Time", *names()])
        out.write(f"$$$ START COLUMN HEADERS $$$\r\n{heading}\r\n$$$ END COLUMN HEADERS $$$\r\n")
        for minute in range(1440):
            at = day + timedelta(minutes=minute)
            load = max(0.02, math.sin(math.pi * (minute - 360) / 900)) if 360 < minute < 1260 else 0.02
            stamp = at.strftime("%d-%b-%Y %H:%M:%S").upper()
            out.write(f"{stamp}.01 ,{', '.join(row(load, chance))}\r\n")
        out.write("Column Average, 99999\r\n")


def main() -> None:
    """Generate, audit, print."""
    parser = argparse.ArgumentParser(prog="python -m tests.bench.month")
    parser.add_argument("--days", type=int, default=30)
    days = parser.parse_args().days
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        first = datetime(2026, 3, 1)  # noqa: DTZ001 - exports have no zone
        for number in range(days):
            day = first + timedelta(days=number)
            write_day(folder / f"T4_BENCH1_{day:%d%b%Y}_0000_2359_comp.csv", day)
        size = sum(file.stat().st_size for file in folder.iterdir()) / 1e6
        since = time.process_time()
        lines = 0
        for file in folder.iterdir():
            with file.open("rb") as stream:
                lines += sum(1 for _ in stream)
        plain = time.process_time() - since
        command = [sys.executable, "-m", "advisor", "audit", str(folder), "--format", "json"]
        found = subprocess.run(command, capture_output=True, check=False, cwd=Path(__file__).parents[2])
        used = resource.getrusage(resource.RUSAGE_CHILDREN)
        seconds, peak = used.ru_utime + used.ru_stime, used.ru_maxrss / 1024
        captures = json.loads(found.stdout)["captures"]
        findings = sum(len(one["findings"]) for one in captures)
    sys.stdout.write(
        f"{days} days of T4 ({lines:,} lines, {size:.0f} MB, {COLUMNS} columns), one audit: {seconds:.1f} processor s, "
        f"{size / seconds:.0f} MB/s, peak {peak:.0f} MB; {len(captures)} captures, {findings} findings.\n"
        f"Plain iteration over the same lines: {plain:.2f} s; ratio {plain / seconds:.3f}.\n"
    )


if __name__ == "__main__":
    main()
