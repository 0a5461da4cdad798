"""Try whether a data source can be asked: a worker does it, in a process that can be ended, and the page looks on.

What a server says is text of strangers: it is bounded and cleaned here, and escaped by the page.
"""

import logging
from collections.abc import Iterable
from dataclasses import asdict, dataclass, field
from datetime import timedelta
from typing import Any

from celery.exceptions import SoftTimeLimitExceeded
from django.db import InterfaceError, OperationalError, transaction
from django.http import HttpRequest
from django.utils import timezone
from django.views.decorators.debug import sensitive_variables

from advisor.accounts.models import User
from advisor.core import job_queue, journal
from advisor.core.job_queue import start
from advisor.core.models import JournalEntry
from advisor.core.records import Refused
from advisor.schedules.models import DataSource, SourceTry
from advisor.schedules.sources import (
    data_sources,
    host_policy,
    keys,
    queries,
)
from advisor.uploads.services.uploads import clean_text
from collectors.live.registry import CollectorFailed

LOG = logging.getLogger(__name__)
SECONDS = 30.0
"""A try may take so long (this project's figure): a login takes milliseconds, a dead name server ten seconds."""
HARD_SECONDS = 60
"""The task that tries is ended after so long, whatever hangs."""
HOUR = timedelta(hours=1)
MOST_OF_SOURCE, MOST_OF_PERSON = 10, 30
"""Tries in an hour: a server locks a login after a few wrong passwords, and nobody is to feel his way through a
network with ours (this project's figures)."""
TRIED = "data source tried"
"""What the journal calls it. A person's tries are counted there: those of a source go with it when it is removed."""
KEPT = 20
"""Tries of a source that are remembered, at least those of the last hour."""
LONGEST, MOST = 500, 200
"""Signs of one text, and texts of one list, that are kept of what a server says."""


@dataclass(frozen=True)
class Found:
    """What a server told of itself and of the login."""

    server: str = ""
    release: str = ""
    driver: str = ""
    roles: list[str] = field(default_factory=list)
    switches: list[tuple[str, str]] = field(default_factory=list)
    """Name and value of each switch the monitoring tables need."""
    missing: list[tuple[str, str]] = field(default_factory=list)
    """What is missing, and how it is granted or switched on."""
    problems: list[str] = field(default_factory=list)


def ask(source: DataSource, by: User, request: HttpRequest | None = None) -> SourceTry:
    """Have a source tried; one that is being tried is not tried twice. Raises `Refused`, `DataSource.DoesNotExist`."""
    with transaction.atomic():
        source = DataSource.objects.select_for_update(of=("self",)).select_related("system__team").get(pk=source.pk)
        open_one = source.tries.filter(state__in=(SourceTry.State.WAITING, SourceTry.State.RUNNING)).first()
        if open_one:
            return open_one
        now = timezone.now()
        if source.tries.filter(created__gt=now - HOUR).count() >= MOST_OF_SOURCE:
            raise Refused(f"it was tried {MOST_OF_SOURCE} times within the hour: a server may lock its login. Wait")
        if JournalEntry.objects.filter(user=by, action=TRIED, at__gt=now - HOUR).count() >= MOST_OF_PERSON:
            raise Refused(f"you have tried {MOST_OF_PERSON} times within the hour: wait")
        made = SourceTry.objects.create(source=source, by=by, queued=now)
        kept = source.tries.order_by("-pk").values_list("pk", flat=True)[:KEPT]
        source.tries.exclude(pk__in=list(kept)).filter(created__lt=now - HOUR).delete()
        journal.note(by, TRIED, data_sources.told(source), system=source.system, request=request)
        start("schedules.try_source", made.pk)
    return made


def try_now(try_id: int) -> None:
    """Make one try. Does nothing where another worker has it."""
    row = job_queue.claim(SourceTry.objects.select_related("source__system__team"), try_id)
    if row is None:
        return
    if row.tries > 1:
        _failed(row, "it ended its worker\nlook at the log of the workers, and update the ODBC driver")
        return
    try:
        found = _tried(row.source)
    except (OperationalError, InterfaceError):
        raise  # the database is away: the task comes again
    except (CollectorFailed, keys.NoKey, host_policy.NotAsked) as error:
        _failed(row, f"{error.says}\n{error.do}")
    except SoftTimeLimitExceeded:
        _failed(row, "it was not done in time\nsee whether the server answers")
    except Exception as error:  # noqa: BLE001 - told by its kind alone: its text may hold what it was given
        LOG.error("try %s of a data source: %s", row.pk, type(error).__name__)
        _failed(row, f"{type(error).__name__}\nthis is a fault of Lockwright: tell its operator")
    else:
        job_queue.finish(row, found={} if _changed(row.source) else asdict(found), error="")


def left() -> list[int]:
    """Tries whose task was lost on the way, and those of a worker that died, which are not made again."""
    job_queue.reset_lost(SourceTry.objects.all(), most=1)
    return job_queue.to_start(SourceTry.objects.all())


def _changed(source: DataSource) -> bool:
    """Whether it leads elsewhere by now, or logs in otherwise: what was found is true no more."""
    now = DataSource.objects.filter(pk=source.pk).first()
    return now is not None and _tells(now) != _tells(source)


def _tells(source: DataSource) -> tuple[str, str]:
    return data_sources.belongs_to(source), source.password_sealed


def _failed(row: SourceTry, error: str) -> None:
    lines = [clean_text(line, LONGEST) for line in error.split("\n", 1)]
    job_queue.finish(row, SourceTry.State.FAILED, error="\n".join(lines))


@sensitive_variables()
def _tried(source: DataSource) -> Found:
    """Ask the server. Raises `CollectorFailed`, `NotAsked`, `NoKey`."""
    reached = data_sources.reach(source)
    options = {"connection": reached.connection, "password": reached.password}
    with queries.without(reached.password):
        told = queries.try_it(source.system.product, options, SECONDS)
    return _bounded(told, reached.password)


def _bounded(told: Any, password: str) -> Found:
    """What a server told, cut and cleaned, without the password wherever it may have come into it."""

    def text(one: Any) -> str:
        return clean_text(queries.hidden(str(one), password), LONGEST)

    def texts(many: Iterable[Any]) -> list[str]:
        return [text(one) for one in list(many)[:MOST]]

    def pairs(many: Any) -> list[tuple[str, str]]:
        rows = many.items() if hasattr(many, "items") else many
        return [(text(one), text(other)) for one, other in list(rows)[:MOST]]

    return Found(
        server=text(getattr(told, "server", "")),
        release=text(getattr(told, "version", "") or getattr(told, "release", "")),
        driver=text(getattr(told, "driver", "")),
        roles=texts(getattr(told, "roles", ())),
        switches=pairs(getattr(told, "switches", ())),
        missing=pairs(getattr(told, "missing", ())),
        problems=texts(getattr(told, "problems", ())),
    )
