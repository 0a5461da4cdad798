"""Large exports for the benchmark, made of the layouts in `tests/exports` with ever new figures, from a fixed seed."""

import random
import re
from collections.abc import Callable, Iterator
from pathlib import Path

FIXTURES = Path(__file__).resolve().parent.parent / "exports"
FIGURE = re.compile(r"(?<=[ ,])[0-9]+\.[0-9]+(?=[ ,%]|$)")


def fixture(report: str) -> str:
    """The longest fixture of a report: the nearest to what a real server prints."""
    texts = [path for path in (FIXTURES / report).iterdir() if path.suffix != ".yml"]
    return max(texts, key=lambda path: path.stat().st_size).read_bytes().decode("latin-1").replace("\r", "")


def fresh(text: str, chance: random.Random) -> str:
    """Give every figure with a decimal point new digits of the same width; zeros stay zeros, as on a real server."""

    def digits(found: re.Match[str]) -> str:
        old = found[0]
        if not old.strip("0."):
            return old
        whole, _, part = old.partition(".")
        first = str(chance.randint(1, 9)) if whole != "0" else "0"
        return (
            first
            + "".join(chance.choices("0123456789", k=len(whole) - 1))
            + "."
            + "".join(chance.choices("0123456789", k=len(part)))
        )

    return FIGURE.sub(digits, text)


def sysmon(chance: random.Random) -> Iterator[str]:
    """Report after report, padded to 80 columns as the server prints them."""
    whole = fixture("ase/sp_sysmon")
    while True:
        yield "\n".join(line.ljust(80) for line in fresh(whole, chance).split("\n"))


def t4(chance: random.Random) -> Iterator[str]:
    """One Format 2 composite of 535 columns, minute after minute."""
    groups = (
        ("MON.LOCK", "New ENQ rate"),
        ("MON.LOCK", "Converted ENQ rate"),
        ("MON.LOCK", "DEQs"),
        ("MON.MODE", "Mp Synch"),
    )
    names = [f"[{group}]{name}" for group, name in groups]
    names += [f"[MON.PROC]process {number} Dirio" for number in range(535 - 1 - len(names))]
    yield "BENCH1,  T4EXTR Version: , File Format Type: 2, Analyzer node: BENCH1\r\n"
    yield (
        "$$$ START COLUMN HEADERS $$$\r\n"
        + ",".join(["[MON]Sample Time", *names])
        + "\r\n$$$ END COLUMN HEADERS $$$\r\n"
    )
    day = 0
    while True:
        day += 1
        month, date = ("JAN", "FEB", "MAR", "APR", "MAY", "JUN")[day // 28 % 6], day % 28 + 1
        for minute in range(1440):
            figures = [f"{chance.random() * 900:.2f}" if chance.random() < 0.6 else "0.00" for _ in range(40)]
            row = ", ".join(figures * 14)
            cells = row.split(", ")[: len(names)]
            yield (
                f"{date:02d}-{month}-{2020 + day // 168} {minute // 60:02d}:{minute % 60:02d}:00.01 ,"
                + ", ".join(cells)
                + "\r\n"
            )


def repeated(report: str) -> Callable[[random.Random], Iterator[str]]:
    """The fixture over and over."""

    def texts(chance: random.Random) -> Iterator[str]:
        whole = fixture(report).rstrip("\n") + "\n"
        while True:
            yield fresh(whole, chance)

    return texts


def monitored(chance: random.Random) -> Iterator[str]:
    """Snapshots of a server with 20,000 open tables and indexes, as isql prints them without a bound on its lines."""
    names = ["DBName", "ObjectName", "ObjectID", "IndexID", "LogicalReads", "PhysicalReads", "APFReads", "RowsUpdated"]
    names += ["LockRequests", "LockWaits", "UsedCount"]
    widths = [30, 40, *[12] * 9]
    minute = 0
    while True:
        minute += 1
        yield " SampleTime\n --------------------------\n"
        day, hour = minute // 1440 % 28 + 1, minute // 60 % 12 or 12
        yield f" Nov {day:2d} 2026 {hour:2d}:{minute % 60:02d}:00:000AM\n\n(1 row affected)\n"
        yield " " + " ".join(name.ljust(width) for name, width in zip(names, widths, strict=True)) + "\n"
        yield " " + " ".join("-" * width for width in widths) + "\n"
        for number in range(20_000):
            cells = (f"db{number % 9}".ljust(30), f"table_{number // 3}".ljust(40), str(number // 3).rjust(12))
            counts = (str(chance.randrange(1 << 30)).rjust(12) for _ in range(7))
            yield " " + " ".join((*cells, str(number % 3).rjust(12), *counts)) + "\n"
        yield "\n(20000 rows affected)\n"


OBJECT_COLUMNS = (
    "DBID ObjectID IndexID DBName ObjectName LogicalReads PhysicalReads APFReads PagesRead PhysicalWrites "
    "PagesWritten RowsInserted RowsDeleted RowsUpdated Operations LockRequests LockWaits OptSelectCount UsedCount"
)


def busy_server(chance: random.Random) -> Iterator[str]:
    """Two snapshots of a server with 200,000 open tables and indexes, of which every tenth moved between them."""
    names = OBJECT_COLUMNS.split()
    widths = [11, 11, 11, 30, 30, *[11] * 14]
    totals = [[chance.randrange(1 << 30) if chance.random() < 0.5 else 0 for _ in range(14)] for _ in range(200_000)]
    heading = " " + " ".join(name.ljust(width) for name, width in zip(names, widths, strict=True)) + "\n"
    heading += " " + " ".join("-" * width for width in widths) + "\n"
    for minute in (10, 20):
        yield f" SampleTime\n --------------------------\n Nov 21 2026 10:{minute}:00:000AM\n\n(1 row affected)\n"
        yield heading
        for number, counts in enumerate(totals):
            if number % 10 == 0:
                counts[:] = [count + chance.randrange(10_000) for count in counts]
            ids = f"{4 + number % 9:>11} {number // 3:>11} {number % 3:>11}"
            called = f"{f'db{number % 9}':<30} {f'table_{number // 3}':<30}"
            yield f" {ids} {called} {' '.join(f'{count:>11}' for count in counts)} \n"
        yield "\n(200000 rows affected)\n"


def series(chance: random.Random) -> Iterator[str]:
    """A load series of a million runs."""
    yield "users,throughput,cpu_percent\n"
    load = 0
    while True:
        load += 1
        yield f"{load},{chance.random() * 5000:.3f},{chance.random() * 100:.2f}\n"


def spin_log(chance: random.Random) -> Iterator[str]:
    """One page of a spin lock log without an end: thirty locks in each interval."""
    whole = fixture("zvm/locklog").splitlines(keepends=True)
    yield "".join(whole[:7])
    minute = 0
    while True:
        minute += 1
        for lock in range(30):
            rate, spin = chance.random() * 900, chance.random() * 9
            group = f"{rate:7.1f} {spin:7.3f} {rate * spin * 1e-4:5.3f} {rate / 9:5.1f}"
            end = f"{minute // 60 % 24:02d}:{minute % 60:02d}:00"
            yield f"  {end} LOCK{lock:04d} {group} {group}      .0    .000  .000    .0\n"


def record_locks(chance: random.Random) -> Iterator[str]:
    """Listings of 10,000 locks, every tenth of which somebody waits for."""
    while True:
        for number in range(1, 10_001):
            inode, pid = 90_000 + number // 50, chance.randrange(300, 30_000)
            yield f"{number}: POSIX  ADVISORY  WRITE {pid} 08:1a:{inode} {number * 512} {number * 512 + 511}\n"
            if number % 10 == 0:
                yield f"{number}: -> POSIX  ADVISORY  WRITE {pid + 1} 08:1a:{inode} {number * 512} EOF\n"


REPORTS: dict[str, Callable[[random.Random], Iterator[str]]] = {
    "ase/sp_sysmon": sysmon,
    "openvms/t4": t4,
    "ase/sp_configure": repeated("ase/sp_configure"),
    "ase/sp_cacheconfig": repeated("ase/sp_cacheconfig"),
    "ase/sp_helpcache": repeated("ase/sp_helpcache"),
    "ase/monitor_tables": monitored,
    "ase/syscacheinfo": repeated("ase/syscacheinfo"),
    "openvms/sysgen": repeated("openvms/sysgen"),
    "openvms/show_cpu": repeated("openvms/show_cpu"),
    "openvms/show_fastpath": repeated("openvms/show_fastpath"),
    "openvms/spl": repeated("openvms/spl"),
    "openvms/monitor": repeated("openvms/monitor"),
    "rdb/statistics": repeated("rdb/statistics"),
    "rdb/wait_logs": repeated("rdb/wait_logs"),
    "scaling/load_series": series,
    "unix/proc_locks": record_locks,
    "zvm/locklog": spin_log,
}


def write(report: str, path: Path, megabytes: int) -> None:
    """Write at least so many megabytes of one report."""
    left = megabytes << 20
    chance = random.Random(report)
    with path.open("w", encoding="utf-8", newline="") as out:
        for text in REPORTS[report](chance):
            left -= out.write(text)
            if left <= 0:
                return
