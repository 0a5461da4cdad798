"""`python -m tests.bench.database`: what an audit takes up in the database, by table, index and column.

The exports of a small fleet as in `tests.bench.fleet`, taken in, read and audited by one process. The first hour, in
which systems become known, is not counted. Bytes do not depend on how fast the machine is.
"""

import argparse
import io
import os
import tempfile
from collections import Counter
from datetime import datetime, timedelta
from pathlib import Path

from tests.bench.fleet import say
from tests.bench.fleet_figures import largest_columns, settle, table_sizes
from tests.servers import manage, postgres

LEAST = 20
"""Bytes an audit: what is smaller is not told of."""


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m tests.bench.database")
    parser.add_argument("--systems", type=int, default=50)
    parser.add_argument("--hours", type=int, default=2)
    given = parser.parse_args()
    with postgres() as database, tempfile.TemporaryDirectory(prefix="lockwright-database-") as folder:
        environment = {
            "DATABASE_URL": database,
            "RUN_DIR": folder,
            "SECRET_KEY": "of this benchmark alone " * 3,
            "DJANGO_SETTINGS_MODULE": "advisor.config.settings",
        }
        (Path(folder) / "spool").mkdir()
        manage("migrate", "-v0", environment=environment)
        os.environ.update(environment)
        measure(given.systems, given.hours)


def measure(systems: int, hours: int) -> None:
    """Have a fleet audited for so many hours, after a first one, and print what each audit added."""
    import django

    django.setup()
    from advisor.audits.models import Audit
    from advisor.config.celery import app
    from advisor.operations.seeding import fleet
    from advisor.uploads.services.uploads import Brought, ingest

    app.conf.task_always_eager = app.conf.task_eager_propagates = True
    fleet.make(systems, settle_seconds=60)
    hour = datetime.now().astimezone().replace(minute=0, second=0, microsecond=0) - timedelta(hours=40)
    before, known = dict[str, Counter[str]](), 0
    for number in range(hours + 1):
        fleet.drop(fleet.fleet(), hour + number * timedelta(hours=1))
        for system in fleet.fleet():
            files = sorted(fleet.folder_of(system).iterdir())
            brought = [Brought(path.name, io.BytesIO(path.read_bytes())) for path in files]
            ingest(brought, system.team, None, origin="schedule")
            for path in files:
                path.unlink()
        if not number:
            settle()
            before, known = table_sizes(), Audit.objects.count()
    settle()
    audits = Audit.objects.count() - known
    grown = {name: Counter(after) for name, after in table_sizes().items()}
    for name, parts in grown.items():
        parts.subtract(before[name])
    whole = sum((parts for parts in grown.values()), Counter[str]())
    say(f"kB an audit, of {audits}: {'table':>30}{'all':>8}{'rows':>8}{'toast':>8}{'indexes':>8}")
    for name, parts in sorted([*grown.items(), ("all", whole)], key=lambda one: -one[1].total()):
        if parts.total() / audits >= LEAST:
            cells = (parts.total(), parts["rows"], parts["toast"], parts["indexes"])
            say(f"{name:>50}" + "".join(f"{cell / audits / 1e3:8.2f}" for cell in cells))
    say("\nColumns: bytes an audit as they are stored, over all audits")
    for name, size, count in largest_columns(audits + known):
        if size >= LEAST:
            say(f"{name:>50}{size:10,.0f}{count:8.1f} rows an audit")


if __name__ == "__main__":
    main()
