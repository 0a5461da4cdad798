"""Backup and restore at the command line, on SQLite: what is in the file, and every reason not to restore it.

That a backup under load holds everything, on PostgreSQL too, is tried in `tests/faults/test_backup.py`.
"""

import hashlib
import json
import os
import shutil
import sqlite3
import stat
import subprocess
import sys
import zipfile
from collections.abc import Callable
from contextlib import closing
from pathlib import Path

import pytest

from advisor.operations.services.embedded import only_one
from tests.longer import first_of
from tests.servers import PATIENCE, ROOT

PASSWORD = "correct horse battery staple"
KEYS = ("secret_key", "source_key")


def command(run_dir: Path, *words: str | Path, **more: str) -> tuple[int, str, str]:
    """Run a command on the service in a folder: exit status, standard output, standard error."""
    given = {"DATABASE_URL": "", "SECRET_KEY": "", "LOCKWRIGHT_KEY": "", "RUN_DIR": str(run_dir), **more}
    command = [sys.executable, "manage.py", *map(str, words)]
    done = subprocess.run(
        command, capture_output=True, text=True, cwd=ROOT, timeout=PATIENCE, env={**os.environ, **given}, check=False
    )
    return done.returncode, done.stdout, done.stderr


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory, migrated: Callable[[Path], None]) -> Path:
    """A service with an administrator and its keys, as `up` leaves it."""
    folder = tmp_path_factory.mktemp("site")
    for name in KEYS:
        (folder / name).write_text(f"{name}-" * 10)
        (folder / name).chmod(0o600)
    migrated(folder)
    words = ("createsuperuser", "--noinput", "--username", "chief")
    assert command(folder, *words, DJANGO_SUPERUSER_PASSWORD=PASSWORD)[0] == 0
    return folder


@pytest.fixture(scope="module")
def backup(site: Path) -> Path:
    file = site / "backup.zip"
    # what is in the write-ahead log alone is in the backup
    with closing(sqlite3.connect(site / "lockwright.sqlite3")) as writes:
        writes.execute("PRAGMA wal_autocheckpoint=0")
        writes.execute("UPDATE accounts_user SET name = 'in the log'")
        writes.commit()
        status, said, warned = command(site, "backup", file)
    assert (status, "backed up" in said) == (0, True), warned
    assert "whoever reads it can log in as anybody" in warned
    return file


def names(folder: Path) -> list[str]:
    with closing(sqlite3.connect(folder / "lockwright.sqlite3")) as database:
        return [name for (name,) in database.execute("SELECT name FROM accounts_user")]


def written_anew(backup: Path, to: Path, change: Callable[[str, bytes], bytes]) -> Path:
    """A copy whose members are changed, with sums that fit."""
    sums: dict[str, str] = {}
    with zipfile.ZipFile(backup) as old, zipfile.ZipFile(to, "w") as new:
        for name in old.namelist():
            content = json.dumps(sums).encode() if name == "sums.json" else change(name, old.read(name))
            sums[name] = hashlib.sha256(content).hexdigest()
            new.writestr(name, content)
    return to


def test_it_is_for_its_owner_alone_and_comes_back_whole(backup: Path, site: Path, tmp_path: Path) -> None:
    assert stat.S_IMODE(backup.stat().st_mode) == 0o600
    status, said, warned = command(tmp_path / "run", "restore", backup)
    assert (status, warned) == (0, ""), said
    assert "1 users" in said
    assert names(tmp_path / "run") == ["in the log"]
    for name in KEYS:
        assert (tmp_path / "run" / name).read_text() == (site / name).read_text()
    for path in (tmp_path / "run").iterdir():
        assert not stat.S_IMODE(path.stat().st_mode) & 0o077 or path.name == "lock", path
    assert not list(site.glob(".*")), "nothing is left behind"


@pytest.mark.long
def test_without_keys_it_opens_nothing_and_says_so(site: Path, tmp_path: Path) -> None:
    file = tmp_path / "plain.zip"
    status, _, warned = command(site, "backup", file, "--without-keys")
    assert status == 0
    assert "keep them apart: SECRET_KEY, LOCKWRIGHT_KEY" in warned
    content = b"".join(zipfile.ZipFile(file).read(name) for name in zipfile.ZipFile(file).namelist())
    assert not any((site / name).read_bytes() in content for name in KEYS)
    status, _, warned = command(tmp_path / "run", "restore", file, SECRET_KEY="another-" * 8)
    assert status == 0
    assert "another SECRET_KEY" in warned
    assert "another key for passwords of data sources" in warned


def test_a_backup_never_replaces_a_file(site: Path, backup: Path) -> None:
    before = backup.read_bytes()
    status, _, said = command(site, "backup", backup)
    assert status != 0
    assert "is there already" in said
    assert backup.read_bytes() == before


def test_what_is_there_is_moved_aside_when_told_and_left_alone_else(backup: Path, site: Path, tmp_path: Path) -> None:
    here = tmp_path / "run"
    shutil.copytree(site, here)
    (here / "secret_key").write_text("of this machine " * 4)
    with closing(sqlite3.connect(here / "lockwright.sqlite3")) as database:
        database.execute("UPDATE accounts_user SET name = 'of this machine'")
        database.commit()
    status, _, said = command(here, "restore", backup)
    assert status != 0
    assert "--replace" in said
    assert names(here) == ["of this machine"]
    status, told, _ = command(here, "restore", backup, "--replace")
    assert status == 0
    assert names(here) == ["in the log"]
    (aside,) = here.glob("lockwright.sqlite3.before-*")
    with closing(sqlite3.connect(aside)) as old:
        assert old.execute("SELECT name FROM accounts_user").fetchall() == [("of this machine",)]
    assert str(aside) in told
    assert next(here.glob("secret_key.before-*")).read_text() == "of this machine " * 4


@pytest.mark.long
def test_a_damaged_database_is_moved_aside_when_told(backup: Path, tmp_path: Path) -> None:
    (tmp_path / "lockwright.sqlite3").write_bytes(b"no database, " * 1000)
    status, _, said = command(tmp_path, "restore", backup)
    assert status != 0
    assert "is damaged: --replace" in said
    assert command(tmp_path, "restore", backup, "--replace")[0] == 0
    assert names(tmp_path) == ["in the log"]


def test_a_running_service_is_not_restored_into(backup: Path, site: Path, tmp_path: Path) -> None:
    with only_one(tmp_path):
        status, _, said = command(tmp_path, "restore", backup)
    assert (status, "stop the service first" in said) == (1, True), said
    here = tmp_path / "run"
    shutil.copytree(site, here)
    reads = sqlite3.connect(here / "lockwright.sqlite3")
    reads.execute("SELECT 1 FROM accounts_user").fetchall()
    status, _, said = command(here, "restore", backup, "--replace")
    reads.close()
    assert (status, "is in use" in said) == (1, True), said


def cut(backup: Path, to: Path) -> Path:
    to.write_bytes(backup.read_bytes()[: backup.stat().st_size // 2])
    return to


def flipped(backup: Path, to: Path) -> Path:
    content = bytearray(backup.read_bytes())
    content[len(content) // 2] ^= 0xFF
    to.write_bytes(content)
    return to


def some_text(backup: Path, to: Path) -> Path:
    to.write_text("no backup at all")
    return to


def another_zip(backup: Path, to: Path) -> Path:
    with zipfile.ZipFile(to, "w") as pack:
        pack.writestr("sysmon.txt", "an export")
    return to


def without_sums(backup: Path, to: Path) -> Path:
    with zipfile.ZipFile(backup) as old, zipfile.ZipFile(to, "w") as new:
        new.writestr("manifest.json", old.read("manifest.json"))
    return to


def newer(backup: Path, to: Path) -> Path:
    return of_version(backup, to, "9.9.9", ["audits", "9999_x"])


def older(backup: Path, to: Path) -> Path:
    return of_version(backup, to, "0.8.0", ["advisor", "0001_first"])


def of_version(backup: Path, to: Path, version: str, migration: list[str]) -> Path:
    def with_one_more(name: str, content: bytes) -> bytes:
        if name != "manifest.json":
            return content
        found = json.loads(content)
        return json.dumps({**found, "version": version, "migrations": [*found["migrations"], migration]}).encode()

    return written_anew(backup, to, with_one_more)


def of_postgresql(backup: Path, to: Path) -> Path:
    return written_anew(backup, to, lambda name, content: content.replace(b'"sqlite"', b'"postgresql"'))


def torn_inside(backup: Path, to: Path) -> Path:
    return written_anew(
        backup, to, lambda name, content: content[:5000] + b"\xff" * 9000 if name == "database.sqlite3" else content
    )


@first_of(
    3,
    ("make", "says"),
    [
        (cut, "is no backup of Lockwright, or cut off"),
        (flipped, "is damaged or cut off"),
        (newer, "was made by version 9.9.9, which is newer than this one"),
        (some_text, "is no backup of Lockwright"),
        (another_zip, "is no backup of Lockwright"),
        (without_sums, "is damaged or cut off"),
        (older, "was made by version 0.8.0. Databases and backups of versions before 0.9.0 are not carried over"),
        (of_postgresql, "is a backup of postgresql"),
        (torn_inside, "is damaged"),
    ],
)
def test_what_cannot_be_restored_is_refused_in_one_sentence(
    backup: Path, tmp_path: Path, make: Callable[[Path, Path], Path], says: str
) -> None:
    file = make(backup, tmp_path / "given.zip")
    status, told, said = command(tmp_path / "run", "restore", file)
    assert (status, told) == (1, "")
    assert len(said.splitlines()) == 1, said
    assert says in said
    left = [path.name for path in (tmp_path / "run").glob("*")] if (tmp_path / "run").exists() else []
    assert set(left) <= {"lock"}, "nothing was changed"


@pytest.mark.long
def test_a_file_that_is_not_there_and_a_folder_that_is_not_there(site: Path, tmp_path: Path) -> None:
    assert "cannot be read: No such file" in command(tmp_path, "restore", tmp_path / "none.zip")[2]
    assert "there is no folder" in command(site, "backup", tmp_path / "none" / "a.zip")[2]


@pytest.mark.skipif(os.geteuid() == 0, reason="root writes everywhere")
def test_a_folder_that_may_not_be_written_to(site: Path, tmp_path: Path) -> None:
    tmp_path.chmod(0o500)
    assert "cannot write" in command(site, "backup", tmp_path / "a.zip")[2]
