"""Machines of our own making with the runs of a lock test, as exports and as facts."""

import re
from dataclasses import replace
from pathlib import Path

from collectors.facts import Source
from collectors.facts.scaling import LoadPoint, LoadSeries

HEAD = "# processes Idle MPSynch Kernel Exec Super User Total new ENQ Convert ENQ DEQ  Tot Lock\n"
ROWS = (
    (1, 298, 1, 72, 29, 236_000),
    (2, 197, 36, 126, 41, 318_400),
    (3, 98, 141, 124, 37, 281_200),
    (4, 0, 264, 104, 32, 229_600),
    (5, 0, 266, 102, 32, 228_000),
    (6, 0, 265, 103, 32, 228_800),
)
"""Load, modes idle, MP synch, kernel and user in per cent of one CPU, lock operations per second."""


def text(title: str, factor: float = 1.0, most: int = 6) -> str:
    """Such a run of MONITOR as a table; rates × `factor`."""
    lines = []
    for load, idle, synch, kernel, user, rate in ROWS[:most]:
        done = 4 * round(rate * factor / 4)
        new = done // 4
        lines.append(
            f"{load} {idle} {synch} {kernel} 0 0 {user} {idle + synch + kernel + user} {new} {2 * new} {new} {done:,}"
        )
    return f"{title}\n\n{HEAD}" + "\n".join(lines) + "\n"


LARGE = text("STAFFA rx6600 (1.25GHz/9.0MB) - 4 cores")
SMALL = text("BARRA rx6600 (0.80GHz/6.0MB) - 4 cores", 0.75, 4)


def series(title: str = "STAFFA", factor: float = 1.0, most: int = 6, mhz: float | None = 1250.0) -> LoadSeries:
    """The same as a fact."""
    points = tuple(
        LoadPoint(
            load=float(load),
            rate=rate * factor,
            line=4 + n,
            others=(
                *(("idle_percent", float(idle)), ("mp_synch_percent", float(synch))),
                *(("kernel_percent", float(kernel)), ("user_percent", float(user)), ("response_ms", 0.5 + n)),
            ),
        )
        for n, (load, idle, synch, kernel, user, rate) in enumerate(ROWS[:most])
    )
    return LoadSeries(
        source=Source("staffa.txt", 1, 9),
        title=title,
        load_name="processes",
        rate_name="lock_operations_per_second",
        points=points,
        product="openvms",
        cores=4,
        clock_mhz=mhz,
    )


def plain(*pairs: tuple[float, float], title: str = "runs", load_name: str = "users", **more: object) -> LoadSeries:
    """Any load and rate."""
    points = tuple(LoadPoint(load=load, rate=rate, line=n + 2) for n, (load, rate) in enumerate(pairs))
    made = LoadSeries(
        source=Source("runs.csv", 1, len(points) + 1),
        title=title,
        load_name=load_name,
        rate_name="throughput",
        points=points,
    )
    return replace(made, **more)  # type: ignore[arg-type]


LEDGER = (
    Path(__file__).resolve().parents[3] / "advisor" / "examples" / "audits" / "healthy_ledger_server" / "sysmon.txt"
)
COMMITS = ((2, 210.0, 88.0), (3, 300.5, 86.0), (4, 372.0, 84.5), (5, 380.0, 83.0), (6, 341.0, 81.0))
"""Engines, commits per second, user busy of each."""


def sysmons(name: str = "STOCK") -> dict[str, str]:
    """The same server with more engines day by day, as reports of sp_sysmon."""
    whole = LEDGER.read_text()
    head, rest = whole.split("   Engine 0", 1)
    tail = rest[rest.index("\n===") + 1 :]
    made = {}
    for engines, commits, busy in COMMITS:
        rows = "".join(f"   Engine {n}                        {busy} %  0.5 %  0.2 %  10.0 %\n" for n in range(engines))
        text = f"{head}{rows}{tail}".replace("LEDGER1", name).replace("Mar 10, 2026", f"Mar {10 + engines}, 2026")
        row = f"Committed Xacts          {commits:12.1f}           n/a{round(commits * 600):12d}     n/a"
        text = re.sub(r"Committed Xacts .*", row, text)
        made[f"sysmon{engines}.txt"] = text
    return made
