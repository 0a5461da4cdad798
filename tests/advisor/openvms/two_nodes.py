"""Exports of two nodes of one cluster, made here: T4 days whose remote locks agree, their cluster, what a lock takes.

ORKNEY masters what SKYE locks; a third node, BARRA, is named by SHOW CLUSTER and by nothing else.
"""

import io
import math
from collections.abc import Iterator
from datetime import datetime, timedelta

from advisor.uploads.models import Upload
from advisor.uploads.services.uploads import Brought, ingest
from tests.advisor.people import People

BEGIN = datetime(2026, 3, 2, 8, 5)  # noqa: DTZ001 - exports have no zone
COLUMNS = (
    "[MON]Sample Time",
    *(f"[MON.MODE]{name}" for name in ("Interrupt State", "Mp Synch", "Kernel Mode", "Exec Mode", "Super Mode")),
    *("[MON.MODE]User Mode", "[MON.MODE]Idle Time"),
    *("[MON.LOCK]New ENQ rate", "[MON.LOCK]Converted ENQ rate", "[MON.LOCK]DEQs"),
    *("[MON.LOCK]Locks Total", "[MON.LOCK]Resources Total"),
    *(
        f"[MON.DLOC]{kind} ({way})"
        for kind in ("New Locks", "Lock conversions", "Lock DEQs")
        for way in ("Local", "Incoming", "Outgoing")
    ),
    *("[MON.RLCK]Lock trees moved", "[MON.RLCK]Lock trees (incoming)"),
    *("[LCK73]Sample Time", "[LCK73]Req Count/Sec", "[LCK73]Busy %"),
)
RATES = {"ORKNEY": (30_000.0, 36_000.0, 3_000.0), "SKYE": (4_000.0, 3_000.0, 36_000.0)}
"""Local, incoming and outgoing lock operations per second at noon."""
SHOW_CLUSTER = """\
View of Cluster from system ID 1043  node: ORKNEY            2-MAR-2026 10:14:22
+---------------------------------------+---------+
|                SYSTEMS                | MEMBERS |
+--------+-------------------+----------+---------+
|  NODE  |      HW_TYPE      | SOFTWARE |  STATUS |
+--------+-------------------+----------+---------+
| ORKNEY | HP rx2800         | VMS V8.4 | MEMBER  |
| SKYE   | HP rx2660         | VMS V8.4 | MEMBER  |
| BARRA  | HP rx1620         | VMS V8.4 | MEMBER  |
+--------+-------------------+----------+---------+
"""
LOCKTIME = """\
LOCKTIME.COM
LOCKTIME us,ORKNEY,SKYE
ORKNEY,4.0,212.0
SKYE,200.0,8.0
"""
SYSMAN = """\
SYSMAN> PARAMETERS SHOW LOCKDIRWT
%SYSMAN-I-USEACTNOD, a USE ACTIVE has been defaulted on node ORKNEY
Parameters in use: ACTIVE
Parameter Name            Current    Default    Minimum    Maximum Unit  Dynamic
--------------            -------    -------    -------    ------- ----  -------
LOCKDIRWT                       1          0          0        255 Pure-numbe
SYSMAN> PARAMETERS SHOW RESHASHTBL
%SYSMAN-I-USEACTNOD, a USE ACTIVE has been defaulted on node ORKNEY
Parameters in use: ACTIVE
Parameter Name            Current    Default    Minimum    Maximum Unit  Dynamic
--------------            -------    -------    -------    ------- ----  -------
RESHASHTBL                  32768         64          1   16777216 Entries
SYSMAN> EXIT
"""


def t4(node: str, *, rows: int = 24, minutes: int = 5, dedicated: float = 0.0, quiet: tuple[int, ...] = ()) -> str:
    """A T4 composite of `rows` samples; `quiet`: samples in which nothing was locked."""
    lines = [
        f"{node},  T4EXTR Version: , File Format Type: 1, Analyzer node: {node}, Monitor Comment: own figures",
        "$$$ START COLUMN HEADERS $$$",
        ",".join(COLUMNS),
        "$$$ END COLUMN HEADERS $$$",
    ]
    lines += [", ".join(_row(node, n, rows, minutes, dedicated, n in quiet)) for n in range(rows)]
    return "\n".join(lines) + "\n"


def _row(node: str, n: int, rows: int, minutes: int, dedicated: float, quiet: bool) -> Iterator[str]:
    at = BEGIN + timedelta(minutes=minutes * n)
    height = 0.0 if quiet else 0.3 + 0.7 * math.sin(math.pi * (n + 1) / (rows + 1)) ** 2
    local, into, out = (rate * height for rate in RATES[node])
    busy = 780.0 * height if node == "ORKNEY" else 120.0 * height
    modes = (2.0, 0.5 * busy, 0.25 * busy, 1.0, 0.0, 0.25 * busy, 797.0 - busy)
    total = (local + into + out) / 3
    yield f"{at:%d-%b-%Y %H:%M:%S}.00".upper()
    yield from (f"{value:.2f}" for value in modes)
    yield from (f"{value:.2f}" for value in (total, total, total, 90_000 * height, 60_000 * height))
    yield from (f"{value / 3:.2f}" for _ in range(3) for value in (local, into, out))
    yield from ("0.02", "0.04", f"{at:%H:%M:%S}", f"{900 * dedicated:.2f}", f"{dedicated * height:.2f}")


def exports(**more: object) -> dict[str, str]:
    """Both nodes' files by name."""
    return {
        "orkney/T4_ORKNEY_02MAR2026_comp.csv": t4("ORKNEY", **more),  # type: ignore[arg-type]
        "orkney/cluster.txt": SHOW_CLUSTER,
        "orkney/sysman.txt": SYSMAN,
        "orkney/locktime.csv": LOCKTIME,
        "skye/T4_SKYE_02MAR2026_comp.csv": t4("SKYE", **more),  # type: ignore[arg-type]
    }


def brought(people: People, files: dict[str, str]) -> Upload:
    """Bring these files for the owner; they are read on commit."""
    streams = [Brought(name, io.BytesIO(text.encode())) for name, text in files.items()]
    return ingest(streams, people.team, people.owner).upload
