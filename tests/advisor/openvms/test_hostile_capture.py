"""Every view of an OpenVMS capture stands whatever the export claims: hostile names, impossible figures, odd times."""

from datetime import datetime

from collectors.facts import ABSENT, OVERFLOW, Fact, Reading, Source
from collectors.facts.openvms import (
    ClusterMember,
    ClusterNode,
    Cpu,
    CpuModes,
    Curve,
    FastpathDevice,
    KernelService,
    LockDatabase,
    LockLatency,
    MemoryUse,
    Node,
    SysgenParameter,
)
from tests.advisor.ase.servers import audited
from tests.advisor.people import AsUser, People
from tests.longer import first_of

SCRIPT = '"><script>alert(1)</script>'
VIEWS = (
    "cpus/",
    "cluster/?sort=-cpus&master=%3Cscript%3Ealert",
    "cluster/?sort=nothing",
    "day/",
    "day/?export=2",
    "day/?export=-1",
    "day/?export=²",
    "lock-tables/",
    "lock-tables/?buckets=1e309&reshashtbl=1e309&resources=-0",
    "lock-tables/?resources=1000000000&growth=300&mean=1000000000&now=1&reshashtbl=1&locks=1000000000&lockidnow=1792",
)
FIRST, LAST = datetime(1, 1, 1), datetime(9999, 12, 31)  # noqa: DTZ001 - exports have no zone


def claims(name: str, value: Reading) -> list[Fact]:
    """A node of 70 CPUs in a cluster of 20, everything called so and all figures of one value."""
    said = Source(f"{name[:200]}.csv", 1, 1)
    found: list[Fact] = [
        Node(source=said, name=name[:200], active_cpus=9999.0),
        LockDatabase(source=said, statistic="peak", resources=value, locks=value),
        SysgenParameter(source=said, name="RESHASHTBL", current=value),
        MemoryUse(
            source=said,
            group="Physical Memory Usage",
            name="Main Memory",
            unit="pages",
            figures=(("Total", value), ("Free", value)),
            size_mb=value,
        ),
    ]
    for n in range(70):
        found.append(Cpu(source=said, number=n, full=True, cothread=float(n + 1) if n % 2 else ABSENT, state=name))
        found.append(CpuModes(source=said, statistic="mean", cpu=n, mp_synch_percent=value, kernel_percent=OVERFLOW))
        found.append(FastpathDevice(source=said, device=f"{name}{n}", cpu=n % 5))
        found.append(KernelService(source=said, service=f"{name}{n}", cpu=3))
    for n in range(20):
        found.append(
            ClusterMember(
                source=said,
                name=f"{name}{n}",
                own=n == 0,
                local_per_second=value,
                incoming_per_second=value,
                outgoing_per_second=value,
                cpus=value,
                hardware=name,
                start=FIRST,
                end=LAST,
            )
        )
        found.append(ClusterNode(source=said, name=f"X{name}{n}", hardware=name, status=name))
        found.append(LockLatency(source=said, from_node=f"{name}{n}", master=f"{name}0", microseconds=value))
    for at in (FIRST, LAST):
        for curve in ("local", "incoming", "outgoing", "mp synch", name[:200]):
            figures = tuple(value if n % 3 else OVERFLOW for n in range(288))
            found.append(
                Curve(
                    source=said, name=curve, unit=name[:50], start=at, step_seconds=300.0, means=figures, peaks=figures
                )
            )
    return found


FIGURES: list[Reading] = [1e300, -5.0, OVERFLOW]
NAMES = {"html": SCRIPT, "formula": "\u202e=cmd|' /C calc'!A0", "long": "N" * 4_096}


@first_of(
    3,
    ("name", "value"),
    [*zip(NAMES.values(), FIGURES, strict=True)]
    + [(name, value) for at, name in enumerate(NAMES.values()) for nth, value in enumerate(FIGURES) if at != nth],
    ids=lambda one: next((short for short, name in NAMES.items() if one == name), str(one)),
)
def test_every_view_stands_and_nothing_of_the_export_is_markup(
    people: People, as_user: AsUser, name: str, value: Reading
) -> None:
    made = audited(people, claims(name, value), "ORKNEY", "openvms")
    client = as_user(people.colleague)
    for view in VIEWS:
        answer = client.get(f"/audits/{made.pk}/{view}")
        assert answer.status_code == 200
        assert b"<script>alert" not in answer.content
