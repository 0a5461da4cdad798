"""Collect exports from a system: by a collector of `collectors.live`, or a program of this machine."""

import os
import stat
import time
import zipfile
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from datetime import timedelta
from pathlib import Path

from django.conf import settings
from django.utils import timezone
from django.views.decorators.debug import sensitive_variables

from advisor.core import job_queue
from advisor.core.records import Refused
from advisor.schedules.models import DataSource, Run
from advisor.schedules.sources import (
    data_sources,
    host_policy,
    identity,
    keys,
    queries,
)
from advisor.systems.models import System
from advisor.systems.services.aliases import collected_as
from advisor.uploads.models import Upload
from advisor.uploads.services.storing import room
from advisor.uploads.services.uploads import Brought, clean_text, ingest
from collectors import manifest
from collectors.intake import MEGABYTE, shown
from collectors.live import ase
from collectors.live.identity import Identity, OtherServer, Silent
from collectors.live.program import programs
from collectors.live.registry import Collector, CollectorFailed, Target, registered

WEEK = timedelta(days=7) - timedelta(hours=1)
"""After so long a schedule asks for sizes and lock schemes of every table again (dear: they read allocation pages)."""
FIRST_WORD = 5.0
"""Seconds in which a server that answered the last time must say who it is. One that does not is silent: from then on
it has longer, but only as many at a time as `SILENT_AT_ONCE` of the settings."""
BUSY_SECONDS = 10.0
MOST_SIZES = 16 << 20
"""Bytes of answers about tables that are kept; a server with more is asked for them each time."""
MOST_UNANSWERED = 100


class Busy(Exception):
    """A silent server is not asked now: enough of the collectors wait for others that are."""


class Failed(Exception):
    """Nothing was collected; says what is wrong and what to do."""

    def __init__(self, says: str, do: str, *, again: bool = True) -> None:
        """Take both, each without a full stop. `again`: whether it is worth trying again by itself."""
        super().__init__(f"{says}: {do}")
        self.says, self.do, self.again = says, do, again


@dataclass(frozen=True)
class Offered:
    """A collector as a page offers it."""

    name: str
    title: str
    products: tuple[str, ...]
    """Empty: any."""


def names() -> list[str]:
    """The names of all collectors, in order."""
    return list(_all())


def offered(product: str = "") -> list[Offered]:
    """The collectors for systems of this product, in order of name; without one, all of them."""
    fit = [one for one in _all().values() if not product or not one.products or product in one.products]
    return [Offered(one.name, one.title, tuple(one.products)) for one in fit]


def not_offered() -> list[str]:
    """Which programs of the folder of collectors are none, each with what to do about it."""
    return list(programs(settings.COLLECTORS_DIR).refused)


def collect(run: Run) -> Upload:
    """Collect from the system of a run and take in what came. Raises `Failed`.

    The same bytes as an earlier time give the upload of then, with nothing new to audit: its `run` is another one.
    A run whose worker died after that gives what it had.
    """
    had = run.uploads.first()
    if had:
        return had
    system = run.system
    if system is None:
        raise Failed("the run names no system", "say in the schedule which system it collects from")
    collector = _all().get(run.schedule.collector)
    if collector is None:
        raise Failed(
            f"there is no collector {run.schedule.collector}",
            f"put its program into {settings.COLLECTORS_DIR} of every machine with a worker, or choose another one",
        )
    if collector.products and system.product not in collector.products:
        does = ", ".join(collector.products)
        raise Failed(f"{collector.title} collects from {does}, not from {system.product}", "choose another collector")
    if collector.name in queries.COLLECTORS.values():
        return _from_sources(run, system, collector)
    with room() as folder:
        target = Target(collected_as(system), system.product, most_bytes=settings.UPLOAD_MB * MEGABYTE)
        try:
            collector.collect(target, folder, seconds())
        except CollectorFailed as error:
            raise Failed(error.says, error.do, again=error.again) from None
        return _take(run, system, folder, collector)


def _from_sources(run: Run, system: System, collector: Collector) -> Upload:
    """Ask the data sources of a system in order of their names, until one of them answers. Raises `Failed`."""
    until = time.monotonic() + seconds()
    failed: list[Failed] = []
    busy = False
    for source in system.sources.select_related("system__team"):
        left = until - time.monotonic()
        if failed and left < source.seconds:
            break
        with room() as folder, _patience(source) as patient:
            if patient is None:
                busy = True
                continue
            try:
                found = _ask(run, source, collector, folder, left, patient=patient)
                return _take(run, system, folder, collector, source, found)
            except Failed as error:
                failed.append(Failed(f"{source}: {error.says}", error.do, again=error.again))
    if busy:
        raise Busy
    if not failed:
        do = "add one: on its page, under Data sources"
        raise Failed(f"{system.name} has no data source to be asked by", do)
    if len(failed) == 1:
        raise failed[0]
    says, do = "; ".join(one.says for one in failed), "; ".join(dict.fromkeys(one.do for one in failed))
    raise Failed(says, do, again=all(one.again for one in failed))


@sensitive_variables()
def _ask(run: Run, source: DataSource, collector: Collector, folder: Path, left: float, *, patient: bool) -> Identity:
    """Have a collector ask one source; gives who answered. Raises `Failed`, which speaks of no password."""
    system, seen = source.system, [Identity()]
    stack = ExitStack()
    try:
        options = data_sources.options(source)
        if not patient:
            options["first_word"] = f"{FIRST_WORD}"
        fresh = source.sizes_at and abs(timezone.now() - source.sizes_at) < WEEK
        if source.sizes and fresh and run.why != Run.Why.NOW:
            beside = stack.enter_context(room())
            (beside / "sizes.zip").write_bytes(bytes(source.sizes))
            options["sizes"] = str(beside / "sizes.zip")
        most = settings.UPLOAD_MB * MEGABYTE
        named, check = collected_as(system), identity.admit(source, seen.append)
        target = Target(named, system.product, options=options, most_bytes=most, admit=check)
        with queries.without(options["password"]):
            collector.collect(target, folder, left)
        return seen[-1]
    except (CollectorFailed, keys.NoKey, host_policy.NotAsked) as error:
        if isinstance(error, OtherServer):
            identity.stop(source, error)
        elif isinstance(error, Silent):
            DataSource.objects.filter(pk=source.pk, silent=None).update(silent=timezone.now())
        elif isinstance(error, CollectorFailed):  # it says something
            DataSource.objects.filter(pk=source.pk).update(silent=None)
        login = data_sources.login(source)  # runs are seen by who only reads, and mailed
        again = not isinstance(error, CollectorFailed) or error.again
        says, do = queries.without_login(error.says, login), queries.without_login(error.do, login)
        raise Failed(says, do, again=again) from None
    finally:
        stack.close()


def unanswered(run: Run) -> str:
    """Which questions were not answered, to follow what was taken in; empty: all were."""
    source = (
        run.system.sources.filter(name=getattr(run.uploads.last(), "collected_from", "")).first()
        if run.system
        else None
    )
    return f"; not answered: {', '.join(one[0] for one in source.unanswered)}" if source and source.unanswered else ""


@contextmanager
def _patience(source: DataSource) -> Iterator[bool | None]:
    """Whether a source may be waited for long; `None`: it is silent, and enough others are waited for just now."""
    if source.silent is None:
        yield False
        return
    with ExitStack() as stack:
        slots = range(settings.SILENT_AT_ONCE)
        yield True if any(stack.enter_context(job_queue.leased(f"silent {number}")) for number in slots) else None


def _remember(source: DataSource, path: Path, found: Identity) -> None:
    """Remember who answered, what was not answered, and the sizes."""
    with zipfile.ZipFile(path) as archive:
        said = manifest.read(archive.read(manifest.NAME))
    if said is None:
        return
    identity.answered(source, found)
    lost = [[clean_text(str(one.get(name) or ""), 500) for name in ("question", "why", "do")] for one in said.left_out]
    source.unanswered = [one for one in lost if one[2]][:MOST_UNANSWERED]
    warned = said.data.get("warnings") or []
    source.warnings = [[clean_text(str(one.get(name) or ""), 500) for name in ("what", "how")] for one in warned]
    sizes = ase.sizes_of(path) if source.system.product == "ase" else b""
    if sizes and len(sizes) <= MOST_SIZES:
        source.sizes, source.sizes_at = sizes, timezone.now()
    source.save(update_fields=["unanswered", "warnings", "sizes", "sizes_at"])


def seconds() -> float:
    """How long a collector may take: it is to end before the hard limit of the task, with time to take in what came."""
    return max(1.0, settings.TASK_SECONDS - max(8.0, settings.TASK_SECONDS / 10))


def _all() -> dict[str, Collector]:
    """Every collector by its name; a registered one comes before a program of that name."""
    found: list[Collector] = [*programs(settings.COLLECTORS_DIR).found, *registered()]
    return {one.name: one for one in sorted(found, key=lambda one: one.name)}


def _take(
    run: Run,
    system: System,
    folder: Path,
    collector: Collector,
    source: DataSource | None = None,
    found: Identity | None = None,
) -> Upload:
    paths = list(_written(folder))
    if not paths:
        do = "see that it writes its exports into the folder it is called in, or prints them"
        raise Failed(f"{collector.title} delivered nothing for {system.name}", do)

    def note(upload: Upload) -> None:
        if source and found:
            _remember(source, paths[0], found)
        if source and upload.run_id == run.pk:
            upload.collected_from = source.name
            upload.save(update_fields=["collected_from"])

    try:
        taken = ingest(
            _open_all(paths),
            run.schedule.team,
            None,
            system_name=system.name,
            origin="schedule",
            run=run,
            also=note,
        )
    except Refused as error:
        says, _, do = str(error).partition(": ")
        raise Failed(f"{collector.title} delivered {says}", do or "have it write less") from None
    return taken.upload


def _written(folder: Path) -> Iterator[Path]:
    """The files with something in them, in order; links and what is hidden are left."""
    for place, folders, files in os.walk(folder):
        folders[:] = sorted(name for name in folders if not name.startswith("."))
        for path in (Path(place) / name for name in sorted(files) if not name.startswith(".")):
            state = path.lstat()
            if stat.S_ISREG(state.st_mode) and state.st_size:
                yield path


def _open_all(paths: list[Path]) -> Iterator[Brought]:
    for path in paths:
        with path.open("rb") as stream:
            yield Brought(shown(path.name), stream)
