"""Collect exports from a system: by a collector of `collectors.live`, or a program of this machine."""

import os
import stat
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from django.conf import settings
from django.views.decorators.debug import sensitive_variables

from advisor.models import DataSource, Run, System, Upload
from advisor.services.former import collected_as
from advisor.services.sources import asking, data_sources, keys, reaching
from advisor.services.storing import room
from advisor.services.uploads import Brought, Refused, take_in
from collectors.intake import MEGABYTE, shown
from collectors.live.kit import Collector, CollectorFailed, Target, registered
from collectors.live.program import programs


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
    if collector.name in asking.COLLECTORS.values():
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
    for source in system.sources.select_related("system"):
        left = until - time.monotonic()
        if failed and left < source.seconds:
            break
        with room() as folder:
            try:
                _ask(source, collector, folder, left)
                return _take(run, system, folder, collector, source)
            except Failed as error:
                failed.append(Failed(f"{source}: {error.says}", error.do, again=error.again))
    if not failed:
        do = "add one: on its page, under Data sources"
        raise Failed(f"{system.name} has no data source to be asked by", do)
    if len(failed) == 1:
        raise failed[0]
    says, do = "; ".join(one.says for one in failed), "; ".join(dict.fromkeys(one.do for one in failed))
    raise Failed(says, do, again=all(one.again for one in failed))


@sensitive_variables()
def _ask(source: DataSource, collector: Collector, folder: Path, left: float) -> None:
    """Have a collector ask one source. Raises `Failed`, which speaks of no password."""
    system = source.system
    try:
        options = data_sources.options(source)
        target = Target(collected_as(system), system.product, options=options, most_bytes=settings.UPLOAD_MB * MEGABYTE)
        with asking.without(options["password"]):
            collector.collect(target, folder, left)
    except (CollectorFailed, keys.NoKey, reaching.NotAsked) as error:
        login = data_sources.login(source)  # runs are seen by who only reads, and mailed
        again = not isinstance(error, CollectorFailed) or error.again
        says, do = asking.without_login(error.says, login), asking.without_login(error.do, login)
        raise Failed(says, do, again=again) from None


def seconds() -> float:
    """How long a collector may take: it is to end before the hard limit of the task, with time to take in what came."""
    return max(1.0, settings.TASK_SECONDS - max(8.0, settings.TASK_SECONDS / 10))


def _all() -> dict[str, Collector]:
    """Every collector by its name; a registered one comes before a program of that name."""
    found: list[Collector] = [*programs(settings.COLLECTORS_DIR).found, *registered()]
    return {one.name: one for one in sorted(found, key=lambda one: one.name)}


def _take(run: Run, system: System, folder: Path, collector: Collector, source: DataSource | None = None) -> Upload:
    paths = list(_written(folder))
    if not paths:
        do = "see that it writes its exports into the folder it is called in, or prints them"
        raise Failed(f"{collector.title} brought nothing for {system.name}", do)

    def note(upload: Upload) -> None:
        if source and upload.run_id == run.pk:
            upload.collected_from = source.name
            upload.save(update_fields=["collected_from"])

    try:
        taken = take_in(
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
        raise Failed(f"{collector.title} brought {says}", do or "have it write less") from None
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
