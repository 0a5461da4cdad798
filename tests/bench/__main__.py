"""`make bench`: each reader on a generated file of 50 MB and more, and one whole `audit` of a typical export.

Beside each reader stand ripgrep counting the same lines and plain line iteration, in the same run.

Never a timed test: figures are printed, with the ratio to the yardsticks. Medians of three runs, each in a process of
its own; seconds are those of the processor, as machines are shared; they are noisy all the same, so quote the ratios.
"""

import argparse
import json
import os
import random
import resource
import shutil
import statistics
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

from tests.bench.generate import REPORTS, busy_server, fixture, write

ROOT = Path(__file__).resolve().parent.parent.parent
RUNS = 3
CACHED = {name: value for name, value in os.environ.items() if name != "PYTHONDONTWRITEBYTECODE"}
"""Start-up is measured with compiled modules on disk, as on a machine in use."""


def say(text: str) -> None:
    sys.stdout.write(text + "\n")
    sys.stdout.flush()


def in_process(what: str, file: Path) -> list[dict[str, Any]]:
    command = [sys.executable, "-m", "tests.bench.measure", what, str(file)]
    return [
        json.loads(subprocess.run(command, capture_output=True, check=True, cwd=ROOT, env=CACHED).stdout)
        for _ in range(RUNS)
    ]


def median(results: list[dict[str, Any]], key: str) -> float:
    return float(statistics.median(result[key] for result in results))


def timed(command: list[str]) -> float:
    """Seconds of the processor that a command takes."""
    runs = []
    for _ in range(RUNS):
        before = resource.getrusage(resource.RUSAGE_CHILDREN)
        subprocess.run(command, capture_output=True, cwd=ROOT, check=False, env=CACHED)
        after = resource.getrusage(resource.RUSAGE_CHILDREN)
        runs.append(after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime)
    return statistics.median(runs)


def bench_reader(report: str, folder: Path, megabytes: int) -> None:
    file = folder / f"{report.replace('/', '-')}.txt"
    write(report, file, megabytes)
    size = file.stat().st_size / 1e6
    read, lines = in_process("read", file), in_process("lines", file)
    rate, plain = size / median(read, "seconds"), size / median(lines, "seconds")
    rg = f"{size / timed(['rg', '-c', '', str(file)]):9,.0f}" if shutil.which("rg") else "        -"
    peak = median(read, "peak_mb")
    idle = median(lines, "peak_mb")
    row = f"{report:<22}{size:9.0f}{rate:9.0f}{plain:9.0f}{rg}{rate / plain:9.3f}{peak:9.0f}{idle:9.0f}"
    say(f"{row}{read[0]['count']:9,}")
    file.unlink()


def bench_snapshots(folder: Path) -> None:
    file = folder / "snapshots.txt"
    with file.open("w", encoding="utf-8") as out:
        out.writelines(busy_server(random.Random("snapshots")))
    say(f"\nTwo snapshots of 200,000 rows, {file.stat().st_size / 1e6:.0f} MB (median of 3):")
    for what in ("read", "captures"):
        found = in_process(what, file)
        say(f"  to {what:<10}{median(found, 'seconds'):7.1f} s{median(found, 'peak_mb'):7.0f} MB")
    file.unlink()


def bench_audit(folder: Path) -> None:
    say(
        "\nOne whole audit with start-up, processor seconds (median of 3), beside an empty Python and a Django command:"
    )
    python = timed([sys.executable, "-c", "pass"])
    django = timed([sys.executable, "manage.py", "help", "audit"])
    for report in ("ase/sp_sysmon", "openvms/t4", "scaling/load_series"):
        file = folder / "typical.txt"
        file.write_text(fixture(report), encoding="latin-1")
        for form in ("text", "json"):
            seconds = timed([sys.executable, "-m", "advisor", "audit", str(file), "--format", form])
            size = file.stat().st_size / 1e3
            say(f"  {report:<22}{size:6.0f} kB {form:<5}{seconds:7.3f}   python {python:.3f}   django {django:.3f}")


def main() -> None:
    parser = argparse.ArgumentParser(prog="make bench")
    parser.add_argument("--mb", type=int, default=55, help="megabytes a file")
    parser.add_argument("reports", nargs="*", help="which readers, `snapshots`, or `audit` (default: all)")
    given = parser.parse_args()
    with tempfile.TemporaryDirectory() as name:
        columns = ("MB", "MB/s", "lines", "rg -c", "of lines", "peak MB", "lines MB", "facts")
        say(f"{'reader':<22}" + "".join(f"{column:>9}" for column in columns))
        for report in given.reports or REPORTS:
            if report in REPORTS:
                bench_reader(report, Path(name), given.mb)
        if not given.reports or "snapshots" in given.reports:
            bench_snapshots(Path(name))
        if not given.reports or "audit" in given.reports:
            bench_audit(Path(name))


if __name__ == "__main__":
    main()
