"""The first administrator: made once, and only where there is nobody."""

import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest
from django.conf import settings as django_settings

from advisor.accounts.models import Role, User
from advisor.accounts.services import people as services
from advisor.core.models import JournalEntry
from tests.advisor.people import People
from tests.servers import PATIENCE

pytestmark = pytest.mark.postgres


def test_the_first_administrator_is_made_once_and_only_where_there_is_nobody(db: None) -> None:
    made = services.make_first_administrator()
    assert made is not None
    user, password = made
    assert (user.username, user.role, user.must_change_password) == ("admin", Role.ADMINISTRATOR, True)
    assert [team.name for team in user.teams.all()] == ["DBA"]
    assert User.objects.get().check_password(password)
    assert password not in "".join(JournalEntry.objects.values_list("what", flat=True))
    assert services.make_first_administrator() is None
    assert User.objects.count() == 1


def test_where_people_are_no_first_administrator_is_made(people: People) -> None:
    User.objects.filter(role=Role.ADMINISTRATOR).delete()
    assert services.make_first_administrator() is None
    assert not User.objects.filter(username="admin").exists()


def test_of_processes_that_start_together_one_makes_the_first_administrator(
    tmp_path: Path, migrated: Callable[[Path], None]
) -> None:
    migrated(tmp_path)
    env = {**os.environ, "RUN_DIR": str(tmp_path), "SECRET_KEY": "k" * 60, "DATABASE_URL": "", "DATABASE_URL_FILE": ""}
    env["DJANGO_SETTINGS_MODULE"] = "advisor.config.settings"
    where = django_settings.BASE_DIR
    script = (
        "import sys, django; django.setup();"
        "from advisor.accounts.services.people import make_first_administrator as make;"
        "print('ready', flush=True); sys.stdin.readline(); print(make() is not None)"
    )
    command = [sys.executable, "-c", script]
    started = [
        subprocess.Popen(command, env=env, cwd=where, text=True, stdin=subprocess.PIPE, stdout=subprocess.PIPE)
        for _ in range(4)
    ]
    for process in started:
        assert process.stdout
        assert process.stdout.readline() == "ready\n"
    for process in started:
        assert process.stdin
        process.stdin.write("go\n")
        process.stdin.flush()
    said = sorted(process.communicate(timeout=PATIENCE)[0].strip() for process in started)
    assert said == ["False", "False", "False", "True"]
