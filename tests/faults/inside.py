"""`python -m tests.faults.inside`: a process of the service that does what a test asks, a line of JSON each.

It stands where an operator's shell stands: the same settings, the same database. The test's own process has another
database (pytest-django's), so whatever looks at the service's own goes through here.
"""

import importlib
import json
import sys
from collections.abc import Callable
from datetime import timedelta
from typing import Any

import django
from django.apps import apps
from django.core.management import call_command
from django.core.serializers.json import DjangoJSONEncoder
from django.db import connection
from django.db.models import Count, F
from django.utils import timezone

Do = Callable[..., Any]
DOINGS: dict[str, Do] = {}
PASSWORD = "correct horse battery staple"


def doing(function: Do) -> Do:
    """Let a test ask for this by its name."""
    DOINGS[function.__name__] = function
    return function


@doing
def migrate() -> None:
    call_command("migrate", verbosity=0)


@doing
def people(team: str) -> dict[str, Any]:
    """A team with a DBA: their token for the API and the cookie of their browser."""
    from django.test import Client

    from advisor.accounts.models import Role, Team, User
    from advisor.accounts.services.tokens import make_token

    user = User.objects.create_user(f"dba-{team.lower()}", PASSWORD, role=Role.DBA, email=f"{team.lower()}@example.org")
    made = Team.objects.create(name=team)
    user.teams.add(made)
    _, token = make_token(user, "faults", ["read", "upload"], None)
    client = Client()
    client.force_login(user)
    return {"team": made.pk, "user": user.pk, "token": token, "session": client.cookies["sessionid"].value}


def _model(name: str) -> Any:
    """The model of this name, in whichever app of ours it stands."""
    return next(one for one in apps.get_models() if one.__name__ == name and one.__module__.startswith("advisor."))


@doing
def rows(model: str, fields: list[str], where: dict[str, Any]) -> list[Any]:
    """Columns of the rows that fit, in the order they were made; a single column as plain values."""
    found = _model(model).objects.filter(**where).order_by("pk")
    return list(found.values_list(*fields, flat=len(fields) == 1))


@doing
def change(model: str, where: dict[str, Any], values: dict[str, Any]) -> int:
    """Write columns behind the service's back; gives how many rows."""
    return int(_model(model).objects.filter(**where).update(**values))


@doing
def make(model: str, values: dict[str, Any]) -> int:
    """Make a row; gives its number."""
    made: int = _model(model).objects.create(**values).pk
    return made


@doing
def age(minutes: float) -> None:
    """Make everything that waits older."""
    from advisor.uploads.models import Upload

    then = timedelta(minutes=minutes)
    Upload.objects.filter(state="waiting").update(at=F("at") - then, queued=F("queued") - then)


@doing
def system(team: int, name: str, product: str = "ase") -> int:
    """A system that has no capture yet."""
    from advisor.systems.models import System

    return System.objects.create(team_id=team, name=name, key=name.upper(), product=product).pk


@doing
def source(system: int, by: int, **wish: Any) -> int:
    """A data source, made as the page makes it."""
    from advisor.accounts.models import User
    from advisor.schedules.sources import data_sources
    from advisor.systems.models import System

    who = User.objects.get(pk=by)
    return data_sources.make(System.objects.get(pk=system), data_sources.SourceSpec(**wish), who).pk


@doing
def schedule(team: int, user: int, system: int | None = None, **wish: Any) -> int:
    """A schedule, made as the page makes it."""
    from advisor.accounts.models import Team, User
    from advisor.schedules.services import schedules
    from advisor.systems.models import System

    whose = System.objects.get(pk=system) if system else None
    by = User.objects.get(pk=user)
    return schedules.make(Team.objects.get(pk=team), schedules.ScheduleSpec(system=whose, **wish), by).pk


@doing
def run_now(schedule: int, user: int) -> list[int]:
    """Have a schedule run now, as the page does; gives the numbers of the runs."""
    from advisor.accounts.models import User
    from advisor.schedules.models import Schedule
    from advisor.schedules.services import schedules

    asked = schedules.run_now(Schedule.objects.get(pk=schedule), User.objects.get(pk=user))
    return [run.pk for run in asked]


@doing
def due_now(**where: Any) -> None:
    """Have schedules be due at this moment."""
    from advisor.schedules.models import Schedule

    Schedule.objects.filter(**where).update(next_due=timezone.now())


@doing
def recipient(team: int, user: int, address: str, **wishes: Any) -> int:
    """Somebody who gets mail about every system of the team."""
    from advisor.accounts.models import Team, User
    from advisor.notifications.models import Recipient
    from advisor.notifications.services import recipients

    by = User.objects.get(pk=user)
    return recipients.make(Recipient(team=Team.objects.get(pk=team), address=address, **wishes), by).pk


@doing
def mail_server(port: int, host: str = "127.0.0.1") -> None:
    """Mail goes to this port, of the loopback where no host is named."""
    from advisor.core.models import Site

    Site.get()
    Site.objects.update(mail_host=host, mail_port=port, mail_security="none", mail_from="advisor@example.org")


@doing
def mail(recipient: int) -> int:
    """Put a mail to a recipient into the outbox."""
    from django.core.mail import EmailMultiAlternatives

    from advisor.notifications.models import Recipient
    from advisor.notifications.services import outbox

    to = Recipient.objects.get(pk=recipient)
    message = EmailMultiAlternatives(f"for {to.address}", "As it is.\n", "advisor@example.org", [to.address])
    made = outbox.put(message, kind="report", key=f"fault:{recipient}", team=to.team, recipient=to)
    assert made
    return made.pk


@doing
def beat_every(seconds: float) -> None:
    """Have the scheduler start everything so often, as an operator may in its own tables."""
    from django_celery_beat.models import IntervalSchedule, PeriodicTask

    often = IntervalSchedule.objects.get_or_create(every=seconds, period="seconds")[0]
    for task in PeriodicTask.objects.filter(task__startswith="advisor.", interval__isnull=False):
        task.interval = often
        task.save()  # tells the scheduler


@doing
def sqlite_settings() -> dict[str, Any]:
    """How the service's connection keeps what it commits."""
    with connection.cursor() as cursor:
        return {name: cursor.execute(f"PRAGMA {name}").fetchone()[0] for name in ("journal_mode", "synchronous")}


@doing
def now() -> str:
    """What the service's clock says."""
    return timezone.now().isoformat()


@doing
def truth() -> dict[str, Any]:
    """What must hold whatever happened: nothing double, nothing half-stored, nothing left over."""
    from advisor.audits.models import Audit, Capture
    from advisor.systems.models import System
    from advisor.uploads.models import Blob, Upload, UploadFile

    double = Capture.objects.values("system", "taken").annotate(n=Count("pk")).filter(n__gt=1)
    audits = Audit.objects.values("capture").annotate(n=Count("pk")).filter(n__gt=1)
    torn = [
        blob.digest for blob in Blob.objects.all() if sum(len(piece.data) for piece in blob.chunks.all()) != blob.packed
    ]
    return {
        "double captures": list(double),
        "double audits": list(audits),
        "torn blobs": torn,
        "blobs of nobody": Blob.objects.filter(files__isnull=True).count(),
        "uploads without files": Upload.objects.filter(files__isnull=True).count(),
        "files without bytes": UploadFile.objects.filter(blob__isnull=True).count(),
        "captures without an audit": Capture.objects.filter(audit__isnull=True).count(),
        "systems without a latest audit": System.objects.filter(latest__isnull=True, captures__isnull=False).count(),
    }


def main() -> None:
    """Answer until the input ends."""
    django.setup()
    importlib.import_module("tests.faults.collectors")
    for line in sys.stdin:
        asked = json.loads(line)
        connection.close()  # the test may have stopped the database meanwhile
        try:
            answer = {"gives": DOINGS[asked["do"]](**asked["with"])}
        except Exception as error:  # noqa: BLE001 - whatever it is, the test is to see it
            answer = {"raises": f"{type(error).__name__}: {error}"}
        sys.stdout.write(json.dumps(answer, cls=DjangoJSONEncoder) + "\n")
        sys.stdout.flush()


if __name__ == "__main__":
    main()
