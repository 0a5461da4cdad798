"""Servers of our own making, as facts, stored and audited: what the pages of SAP ASE are tested with."""

from datetime import datetime, timedelta
from itertools import count

from advisor.audits.models import Audit
from advisor.audits.services.judging import prepare_all
from advisor.audits.services.persistence import remember_capture, settle_system
from advisor.uploads.models import Upload
from collectors.facts import Capture, Fact, Facts, Interval, Source, System
from collectors.facts.ase import (
    CacheActivity,
    CacheBinding,
    CachePool,
    ConfigParameter,
    EngineBusy,
    IndexSize,
    LockHashtable,
    MemoryHeadroom,
    MetadataSpinlock,
    MonDataCache,
    MonOpenObjectActivity,
    MonSpinlockActivity,
    NamedCache,
    Server,
)
from collectors.facts.scaling import LoadPoint, LoadSeries
from tests.advisor.people import People

DEFAULT = "default data cache"
START = datetime(2026, 3, 2, 10, 0)  # noqa: DTZ001 - exports have no zone
VERSION = "Adaptive Server Enterprise/15.7/EBF 21708 SMP SP110 /P/x"
SECONDS = 120.0
_numbers = count(1)


def spun(name: str, grabs: float, waits: float, spins: float, **more: object) -> MonSpinlockActivity:
    """One spinlock between two snapshots."""
    fields = {"over": "interval", "seconds": SECONDS, "certificate": "ok", **more}
    return MonSpinlockActivity(name=name, grabs=grabs, waits=waits, spins=spins, **fields)  # type: ignore[arg-type]


def opened(table: str, reads: float, index_id: int = 0, **more: object) -> MonOpenObjectActivity:
    """One object of the database claims between two snapshots: nothing of it read from disk or changed."""
    fields = {"physical_reads": 0.0, "apf_reads": 0.0, "rows_inserted": 0.0, "rows_updated": 0.0, **more}
    return MonOpenObjectActivity(
        database="claims",
        owner="dbo",
        object_name=table,
        index_id=index_id,
        logical_reads=reads,
        over="interval",
        seconds=SECONDS,
        certificate="ok",
        **fields,  # type: ignore[arg-type]
    )


def setting(name: str, value: float, **more: object) -> ConfigParameter:
    """One parameter that runs as it is configured."""
    return ConfigParameter(name=name, config_value=value, run_value=value, **more)  # type: ignore[arg-type]


def engines(number: int, busy: float = 80.0) -> list[Fact]:
    return [EngineBusy(engine=n, user_percent=busy) for n in range(number)]


SIZES = (("claim", 0, 204_800.0), ("claim", 2, 40_960.0), ("tariff", 0, 10_240.0))


Partitions = tuple[tuple[float, float], ...]
"""Grabs and waits of each partition of a data cache."""
ONE_HOT: Partitions = (
    (5_000_000.0, 1_600_000.0),
    (3_000_000.0, 500_000.0),
    (2_500_000.0, 250_000.0),
    (1_500_000.0, 50_000.0),
)
EVEN: Partitions = (
    (5_000_000.0, 1_000_000.0),
    (3_000_000.0, 700_000.0),
    (2_500_000.0, 450_000.0),
    (1_500_000.0, 250_000.0),
)


def contended(partitions: Partitions = ONE_HOT) -> list[Fact]:
    """Four engines, a default data cache in four partitions that is 20 % contended, and a small lookup cache.

    Three objects make 65 % of the searches, so the rules make a binding plan where the waits are spread `EVEN`.
    """
    return [
        Server(name="CLAIMS", version=VERSION, page_size_bytes=2048.0),
        *engines(4),
        *(spun(DEFAULT, grabs, waits, 30 * waits, slot=n) for n, (grabs, waits) in enumerate(partitions)),
        spun("lookup", 900_000.0, 900.0, 9_000.0),
        spun("addrlockspins", 2_000_000.0, 400_000.0, 90_000_000.0),
        spun("Sched Q", 50_000_000.0, 100_000.0, 8_000_000.0),
        spun("Resource->rtmpdb_spin", 100.0, 40.0, 400.0),
        MonDataCache(name=DEFAULT, over="interval", seconds=SECONDS, certificate="ok", searches=9_000_000.0),
        MonDataCache(name="lookup", over="interval", seconds=SECONDS, certificate="ok", searches=1_000_000.0),
        NamedCache(
            name=DEFAULT,
            status="Active",
            kind="Default",
            run_size_mb=8000.0,
            config_size_mb=8000.0,
            run_partitions=4.0,
            config_partitions=4.0,
            run_replacement="strict LRU",
        ),
        NamedCache(
            name="lookup",
            status="Active",
            kind="Mixed",
            run_size_mb=20.0,
            run_partitions=1.0,
            config_partitions=2.0,
            run_replacement="relaxed LRU",
        ),
        CachePool(cache=DEFAULT, io_size_kb=2.0, run_size_mb=6000.0),
        CachePool(cache=DEFAULT, io_size_kb=16.0, run_size_mb=2000.0),
        CachePool(cache="lookup", io_size_kb=2.0, run_size_mb=20.0),
        CacheBinding(cache="lookup", database="claims", owner="dbo", table="country", kind="table", valid=True),
        MemoryHeadroom(available_kb=2_097_152.0),
        opened("claim", 3_000_000.0),
        opened("claim", 2_000_000.0, 2),
        opened("tariff", 1_500_000.0),
        opened("country", 900_000.0),
        *(
            IndexSize(database="claims", owner="dbo", table=table, index_id=index, index_name="claim_pk", size_kb=kb)
            for table, index, kb in SIZES
        ),
        setting("lock address spinlock ratio", 100.0),
        setting("lock spinlock ratio", 85.0),
        setting("lock hashtable size", 2048.0, memory_used_kb=96.0),
        setting("open object spinlock ratio", 100.0),
        setting("number of open objects", 12_000.0),
        LockHashtable(table="page and row", chain_length=6.0, contention_percent=4.0, lookups_per_second=9000.0),
        LockHashtable(table="address", contention_percent=20.0, lookups_per_second=9000.0),
    ]


def sysmon_only() -> list[Fact]:
    """What sp_sysmon alone prints: shares, no spins, one figure for each cache."""
    return [
        Server(name="LEDGER", version=VERSION),
        *engines(2),
        LockHashtable(table="address", contention_percent=52.1, lookups_per_second=9000.0),
        MetadataSpinlock(name="Object", contention_percent=1.5),
        CacheActivity(name=DEFAULT, contention_percent=12.5, searches=800.0, searches_per_second=8.0, hits=790.0),
        CacheActivity(name="logs", contention_percent=0.0, searches=200.0, searches_per_second=2.0, hits=200.0),
    ]


def load_series(*rates: float) -> LoadSeries:
    """Throughput at 1, 2, 4, … engines."""
    points = tuple(LoadPoint(load=float(2**n), rate=rate, line=n + 2) for n, rate in enumerate(rates))
    return LoadSeries(
        source=Source("runs.csv", 1, 1), title="runs", load_name="engines", rate_name="throughput", points=points
    )


def audited(people: People, facts: list[Fact], name: str = "CLAIMS", product: str = "ase") -> Audit:
    """Store these facts as a capture of the owner's team and audit it."""
    end = START + timedelta(hours=next(_numbers))
    found = Capture(
        System(name, product, VERSION, None, 4), Interval(start=None, end=end, seconds=SECONDS), Facts(tuple(facts))
    )
    upload = Upload.objects.create(team=people.team, by=people.owner, digest=f"{end:%s}")
    (prepared,) = prepare_all([found], people.team, lambda file: iter(()))
    capture = remember_capture(prepared, upload, lambda file: iter(()))
    settle_system(capture.system)
    assert capture.audit is not None
    return capture.audit
