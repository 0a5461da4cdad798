"""What an operator does at the command line: the first administrator, a database that cannot be used."""

import io
import os
import sqlite3
import stat
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest
from django.core.checks import run_checks
from django.core.management import CommandError, call_command
from django.db import connection
from django.db.migrations.recorder import MigrationRecorder
from django.test import Client

from advisor.accounts.models import Role, Team, User
from advisor.core.models import JournalEntry
from advisor.operations.services import versions
from tests.advisor.core.test_commands import run
from tests.longer import first_of
from tests.servers import ROOT

PASSWORD = "correct horse battery staple"


@pytest.mark.django_db
def test_createsuperuser_makes_an_administrator_who_can_work(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("DJANGO_SUPERUSER_PASSWORD", PASSWORD)
    call_command("createsuperuser", "--noinput", "--username", "root@site", stdout=io.StringIO())
    user = User.objects.get()
    assert (user.role, user.is_active, user.must_change_password) == (Role.ADMINISTRATOR, True, False)
    assert [team.name for team in user.teams.all()] == ["DBA"]
    browser = Client()
    answer = browser.post("/login/", {"username": "root@site", "password": PASSWORD})
    assert (answer.status_code, answer["Location"]) == (302, "/")
    assert browser.get("/administration/").status_code == 200
    assert "root@site: administrator" in JournalEntry.objects.get(action="user added").what


@pytest.mark.django_db
def test_createsuperuser_later_joins_no_team_and_takes_no_name_twice(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("DJANGO_SUPERUSER_PASSWORD", PASSWORD)
    Team.objects.create(name="Claims")
    call_command("createsuperuser", "--noinput", "--username", "Second", stdout=io.StringIO())
    assert not User.objects.get().teams.exists()
    with pytest.raises(CommandError, match="taken"):
        call_command("createsuperuser", "--noinput", "--username", "second", stdout=io.StringIO())
    assert Team.objects.count() == 1


@pytest.mark.django_db
def test_createsuperuser_without_a_password_makes_nobody(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("DJANGO_SUPERUSER_PASSWORD", raising=False)
    with pytest.raises(CommandError, match="DJANGO_SUPERUSER_PASSWORD"):
        call_command("createsuperuser", "--noinput", "--username", "nobody", stdout=io.StringIO())
    assert not User.objects.exists()


def in_one_sentence(done: subprocess.CompletedProcess[bytes]) -> str:
    """What a command that failed said, which is one line and no traceback."""
    said = done.stderr.decode()
    assert done.returncode != 0
    assert "Traceback" not in said
    assert len(said.splitlines()) == 1, said
    return said


def no_database(folder: Path) -> Path:
    path = folder / "lockwright.sqlite3"
    path.write_bytes(b"not a database, " * 1000)
    return path


def torn_database(folder: Path) -> Path:
    """One whose first page says there are pages that hold something else."""
    path = folder / "lockwright.sqlite3"
    with sqlite3.connect(path) as made:
        made.executescript("CREATE TABLE django_migrations (id INTEGER PRIMARY KEY, app, name, applied)")
        made.executemany("INSERT INTO django_migrations VALUES (?, 'a', ?, '')", ((n, "x" * 900) for n in range(200)))
    made.close()
    whole = bytearray(path.read_bytes())
    whole[4096:] = b"\xff" * (len(whole) - 4096)
    path.write_bytes(bytes(whole))
    return path


@pytest.mark.parametrize("make", [no_database, torn_database])
@first_of(1, "words", [("up", "--listen", "127.0.0.1:1"), ("migrate",), ("createsuperuser",)])
def test_a_damaged_database_file_ends_with_one_sentence(
    tmp_path: Path, make: Callable[[Path], Path], words: tuple[str, ...]
) -> None:
    path = make(tmp_path)
    (tmp_path / "secret_key").write_text("k" * 64)
    done = run(*words, RUN_DIR=str(tmp_path), DATABASE_URL="", BROKER_URL="redis://127.0.0.1:1", SITE_URL="")
    lines = [line for line in done.stderr.decode().splitlines() if line]
    assert done.returncode != 0
    assert len(lines) == 1, lines
    assert lines[0].startswith(f"manage.py: the database file {path} is damaged")
    assert "manage.py restore" in lines[0]


def older_database(folder: Path) -> Path:
    """One that a version before 0.9.0 made, as far as its first migration came."""
    path = folder / "lockwright.sqlite3"
    with sqlite3.connect(path) as made:
        made.executescript(
            "CREATE TABLE django_migrations (id INTEGER PRIMARY KEY, app VARCHAR, name VARCHAR, applied DATETIME);"
            "INSERT INTO django_migrations VALUES (1, 'advisor', '0001_first', '2026-01-01 00:00:00');"
        )
    made.close()
    return path


@first_of(1, "words", [("up", "--listen", "127.0.0.1:1"), ("migrate",)])
def test_a_database_of_a_version_before_the_apps_is_refused_and_left_as_it_was(
    tmp_path: Path, words: tuple[str, ...]
) -> None:
    path = older_database(tmp_path)
    (tmp_path / "secret_key").write_text("k" * 64)
    said = in_one_sentence(
        run(*words, RUN_DIR=str(tmp_path), DATABASE_URL="", BROKER_URL="redis://127.0.0.1:1", SITE_URL="")
    )
    assert "versions before 0.9.0 are not carried over" in said
    with sqlite3.connect(path) as after:
        assert [name for (name,) in after.execute("SELECT name FROM sqlite_master")] == ["django_migrations"]


@pytest.mark.django_db
def test_no_process_works_with_a_database_of_a_version_before_the_apps(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(versions, "_complete", False)
    MigrationRecorder(connection).record_applied("advisor", "0015_source_warnings_and_time")
    found = versions.mismatch()
    assert found is not None
    assert found.status == 503
    assert "upload the exports again" in found.do


def test_a_new_database_file_is_for_its_owner_alone_and_one_in_use_stays_as_it_is(tmp_path: Path) -> None:
    def migrate() -> dict[str, int]:
        done = run("migrate", "contenttypes", "-v", "0", RUN_DIR=str(tmp_path), DATABASE_URL="")
        assert done.returncode == 0, done.stderr
        return {path.name: stat.S_IMODE(path.stat().st_mode) for path in tmp_path.glob("lockwright.sqlite3*")}

    before = os.umask(0o022)  # what a shell has
    try:
        made = migrate()
        assert "lockwright.sqlite3" in made
        assert set(made.values()) == {0o600}
        (tmp_path / "lockwright.sqlite3").chmod(0o640)  # an operator lets a group read it
        assert set(migrate().values()) == {0o640}
    finally:
        os.umask(before)


def test_a_database_that_does_not_answer_ends_with_one_sentence(tmp_path: Path) -> None:
    away = "postgres://nobody@127.0.0.1:1/nothing"
    assert "does not answer" in in_one_sentence(run("migrate", RUN_DIR=str(tmp_path), DATABASE_URL=away))


def test_a_database_without_tables_names_the_remedy(tmp_path: Path) -> None:
    done = run("reseal", RUN_DIR=str(tmp_path), DATABASE_URL="", LOCKWRIGHT_KEY="k" * 40)
    assert "manage.py migrate" in in_one_sentence(done)


@pytest.mark.postgres
@pytest.mark.django_db
def test_a_database_that_does_not_wait_for_its_disk_is_warned_of() -> None:
    """The PostgreSQL of the tests does not, to be faster; a session that does has only what its server is told."""
    said = [one.msg for one in run_checks(databases=["default"], tags=["database"]) if one.id == "advisor.W001"]
    if connection.vendor != "postgresql":
        assert not said
        return
    assert said == ["PostgreSQL does not wait for its disk (fsync, full_page_writes, synchronous_commit off)."]
    with connection.cursor() as cursor:
        cursor.execute("SET LOCAL synchronous_commit = on")
    (again,) = [one.msg for one in run_checks(databases=["default"], tags=["database"]) if one.id == "advisor.W001"]
    assert "(fsync, full_page_writes off)" in again


def test_a_process_ends_without_collecting_what_ends_with_it() -> None:
    """It took half a second of each command and worker."""
    code = "import atexit, django, gc; atexit.register(lambda: print(gc.get_freeze_count())); django.setup()"
    environment = {**os.environ, "DJANGO_SETTINGS_MODULE": "advisor.config.settings"}
    ended = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, env=environment, cwd=ROOT)
    assert int(ended.stdout) > 100_000
