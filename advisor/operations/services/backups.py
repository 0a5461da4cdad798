"""Back up everything that is kept, and restore it: the database and the keys, in one zip file for its owner alone.

Taken while the service runs: SQLite by its own backup, PostgreSQL by COPY of every table in one snapshot, so that no
program of a fitting version has to be there. The zip holds, in this order, `manifest.json`, the data, the key files;
`sums.json` comes last, so a file that was cut off is seen before anything is changed.

What lies elsewhere is not in it: keys that the environment gives, drop folders, collectors. The broker holds nothing
that the database does not have.
"""

import hashlib
import json
import os
import secrets
import shutil
import sqlite3
import tempfile
import zipfile
import zlib
from collections.abc import Callable, Iterator, Mapping
from contextlib import closing, contextmanager, suppress
from dataclasses import dataclass
from datetime import datetime, timedelta
from pathlib import Path
from typing import IO, Any, cast

from django.apps import apps
from django.conf import settings
from django.core.management import call_command
from django.db import DatabaseError, connection, transaction
from django.db.migrations.executor import MigrationExecutor
from django.db.migrations.loader import MigrationLoader
from django.db.migrations.recorder import MigrationRecorder
from django.utils import timezone
from psycopg import sql

from advisor.accounts.models import User
from advisor.core import env, job_queue, journal
from advisor.core.models import Lease, Work
from advisor.core.version import VERSION
from advisor.operations.services import versions
from advisor.operations.services.embedded import Held, only_one
from advisor.schedules.sources import keys
from advisor.uploads.models import Upload

FORMAT = "lockwright-backup/1"
MANIFEST, SUMS = "manifest.json", "sums.json"
SQLITE, TABLES, KEYS = "database.sqlite3", "tables/", "keys/"
LOGS = ("-wal", "-shm")
"""What SQLite keeps beside its file."""
KEY_FILES = ("secret_key", "source_key")
PIECE = 1 << 20
MOST_MANIFEST = 4 << 20
"""Bytes: a manifest that unpacks to more is none of ours."""
TICKS = timedelta(seconds=45)
"""A clock of schedules that ticked within this is taken for running; it ticks every ten seconds."""
ITSELF = "lockwright restore"


class Refused(Exception):
    """What is not done, and what to do instead, in one sentence."""


@dataclass(frozen=True)
class Done:
    """What a backup or restore did: sentences for the operator, and its warnings."""

    says: list[str]
    warnings: list[str]


def back_up(file: Path, *, with_keys: bool = True) -> Done:
    """Write everything to `file`, which must not be there. Raises `Refused`; nothing is left behind then."""
    if file.exists():
        raise Refused(f"{file} is there already: a backup never replaces one, name another file")
    if not file.parent.is_dir():
        raise Refused(f"there is no folder {file.parent}")
    held = _key_files() if with_keys else {}
    part = file.with_name(f".{file.name}.{secrets.token_hex(4)}.part")
    try:
        with os.fdopen(os.open(part, os.O_RDWR | os.O_CREAT | os.O_EXCL, 0o600), "w+b") as raw:
            with zipfile.ZipFile(raw, "w", zipfile.ZIP_DEFLATED, compresslevel=1) as pack:
                out = _Out(pack)
                out.write(MANIFEST, json.dumps(_manifest(held), indent=1).encode())
                if connection.vendor == "sqlite":
                    _from_sqlite(out, file.parent)
                else:
                    _from_postgresql(out)
                for name, text in held.items():
                    out.write(f"{KEYS}{name}", text)
                pack.writestr(SUMS, json.dumps(out.sums))
            raw.flush()
            os.fsync(raw.fileno())
        os.link(part, file)  # fails where somebody made it meanwhile
    except FileExistsError:
        raise Refused(f"{file} is there already: a backup never replaces one, name another file") from None
    finally:
        part.unlink(missing_ok=True)
    keys.keep_names(file.parent)
    size = file.stat().st_size
    journal.note(None, "backup made", f"{file.name}, {size / 1e6:,.1f} MB, {'with' if held else 'without'} keys")
    warnings = []
    if held:
        warnings.append(
            f"{file} holds the keys: whoever reads it can log in as anybody and open every stored password. Keep it as "
            "you keep those, or leave them out (--without-keys) and keep the files of the keys apart"
        )
    if outside := _keys_elsewhere(held):
        warnings.append(f"not in it, keep them apart: {', '.join(outside)}; without them stored passwords do not open")
    return Done([f"backed up to {file}, {size / 1e6:,.1f} MB"], warnings)


def restore(file: Path, *, replace: bool = False) -> Done:
    """Put back what `file` holds, and bring it up to this version. Raises `Refused`, before anything is changed.

    `replace`: also where there is something. What SQLite and the key files held is moved aside, not deleted; of
    PostgreSQL it is gone.
    """
    with _opened(file) as (pack, manifest):
        if manifest["database"] != connection.vendor:
            raise Refused(f"{file} is a backup of {manifest['database']}, and DATABASE_URL names {connection.vendor}")
        settings.RUN_DIR.mkdir(mode=0o700, parents=True, exist_ok=True)
        try:
            lock = only_one(settings.RUN_DIR)
        except Held as error:
            raise Refused(f"{error}: stop the service first") from None
        with closing(lock):
            found = {name: pack.read(f"{KEYS}{name}") for name in KEY_FILES if f"{KEYS}{name}" in pack.namelist()}
            _refuse_keys(found, replace)
            into = _into_sqlite if connection.vendor == "sqlite" else _into_postgresql
            says = into(pack, manifest, replace)
            says += _put_keys(found)
            call_command("migrate", verbosity=0)
            _free_claims()
            made = f"{file.name} of {manifest['made']}, version {manifest['version']}"
            journal.note(None, "backup restored", made)
    says.append(f"restored {made}: {Upload.objects.count():,} uploads, {User.objects.count():,} users")
    return Done(says, _warnings(manifest))


def _manifest(held: Mapping[str, bytes]) -> dict[str, Any]:
    return {
        "format": FORMAT,
        "version": VERSION,
        "made": timezone.now().isoformat(timespec="seconds"),
        "database": connection.vendor,
        "migrations": sorted(map(list, MigrationRecorder(connection).applied_migrations())),
        "keys": sorted(held),
        "secret_key": _mark(settings.SECRET_KEY),
        "source_keys": _source_marks(),
    }


def _mark(key: str) -> str:
    """Which key it is, without telling anything of it; empty where there is none."""
    if key in ("", settings.NO_KEY):
        return ""
    return hashlib.scrypt(key.encode(), salt=b"lockwright backup", n=1 << 14, r=8, p=1, dklen=8).hex()


def _source_marks() -> list[str]:
    with suppress(keys.NoKey):
        return list(keys.ring().marks)
    return []


def _key_files() -> dict[str, bytes]:
    """The key files that lie in our own folder; those from elsewhere are the operator's."""
    found = {}
    for path in (settings.KEY_FILE, settings.RUN_DIR / "source_key"):
        if path.is_file():
            found[path.name] = path.read_bytes()
    return found


def _keys_elsewhere(held: Mapping[str, bytes]) -> list[str]:
    found = []
    if held.get("secret_key", b"").decode().strip() != settings.SECRET_KEY:
        found.append("SECRET_KEY")
    if settings.SOURCE_KEYS or settings.SOURCE_KEY_FILE_GIVEN or "source_key" not in held:
        found.append("LOCKWRIGHT_KEY (or its file)")
    return found


class _Out:
    """A zip that is written, with the SHA-256 of each of its members."""

    def __init__(self, pack: zipfile.ZipFile) -> None:
        self.pack, self.sums = pack, dict[str, str]()

    @contextmanager
    def member(self, name: str) -> Iterator[Callable[[bytes], None]]:
        digest = hashlib.sha256()
        with self.pack.open(name, "w", force_zip64=True) as file:

            def write(piece: bytes) -> None:
                digest.update(piece)
                file.write(piece)

            yield write
        self.sums[name] = digest.hexdigest()

    def write(self, name: str, content: bytes) -> None:
        with self.member(name) as write:
            write(content)

    def copy(self, name: str, file: IO[bytes]) -> None:
        with self.member(name) as write:
            while piece := file.read(PIECE):
                write(piece)


def _from_sqlite(out: _Out, folder: Path) -> None:
    """The database as of one moment: a copy of its file would lack what lies in the write-ahead log."""
    handle, name = tempfile.mkstemp(prefix=".lockwright-copy-", dir=folder)  # 0600
    os.close(handle)
    try:
        connection.ensure_connection()
        with closing(sqlite3.connect(name)) as copy:
            cast(sqlite3.Connection, connection.connection).backup(copy)
            copy.execute("PRAGMA journal_mode=DELETE")
            _check_whole(copy, settings.DATABASES["default"]["NAME"])
        with Path(name).open("rb") as file:
            out.copy(SQLITE, file)
    finally:
        Path(name).unlink()


def _check_whole(copy: sqlite3.Connection, what: object) -> None:
    said = [str(row[0]) for row in copy.execute("PRAGMA quick_check(1)")]
    if said != ["ok"]:
        raise Refused(f"the database {what} is damaged ({said[0][:200]}): restore the newest backup that is not")


def _tables() -> list[str]:
    """All tables of the service and of the libraries it stands on, of whatever version they are."""
    ours = ("advisor_", "django_", *(f"{one.label}_" for one in apps.get_app_configs()))
    return sorted(name for name in connection.introspection.table_names() if name.startswith(ours))


def _from_postgresql(out: _Out) -> None:
    """Every table as of one moment, in the binary form of COPY; nobody who writes meanwhile waits."""
    with transaction.atomic():
        cursor = connection.cursor()
        cursor.execute("SET TRANSACTION ISOLATION LEVEL REPEATABLE READ, READ ONLY")
        shapes: dict[str, Any] = {}
        for table in _tables():
            columns = _columns(table)
            with out.member(f"{TABLES}{table}") as write, _psycopg().copy(_copy(table, columns, "TO STDOUT")) as rows:
                for piece in rows:
                    write(bytes(piece))
            shapes[table] = {"columns": columns, "next": _sequences(table)}
        out.write(f"{TABLES}shapes.json", json.dumps(shapes).encode())


def _psycopg() -> Any:
    """A cursor of the driver itself, which has COPY."""
    connection.ensure_connection()
    return cast(Any, connection.connection).cursor()


def _copy(table: str, columns: list[str], way: str) -> sql.Composed:
    names = sql.SQL(", ").join(map(sql.Identifier, columns))
    return sql.SQL("COPY {} ({}) {} (FORMAT binary)").format(sql.Identifier(table), names, sql.SQL(way))


def _columns(table: str) -> list[str]:
    with connection.cursor() as cursor:
        return [column.name for column in connection.introspection.get_table_description(cursor, table)]


def _sequences(table: str) -> dict[str, list[Any]]:
    """What number comes next, by column: numbers of what is gone are not given again."""
    found = {}
    with connection.cursor() as cursor:
        for one in connection.introspection.get_sequences(cursor, table):
            name = connection.ops.quote_name(one["name"] or "")
            cursor.execute(f"SELECT last_value, is_called FROM {name}")  # noqa: S608 - a quoted name of its own
            found[one["column"]] = [one["name"], *cursor.fetchone()]
    return found


@contextmanager
def _opened(file: Path) -> Iterator[tuple[zipfile.ZipFile, dict[str, Any]]]:
    """Open a backup and look at every byte of it. Raises `Refused`."""
    damaged = Refused(f"{file} is damaged or cut off: take another backup")
    try:
        pack = zipfile.ZipFile(file)
    except OSError as error:
        raise Refused(f"{file} cannot be read: {error.strerror}") from None
    except zipfile.BadZipFile:
        raise Refused(f"{file} is no backup of Lockwright, or cut off: take another one") from None
    with pack:
        try:
            names = set(pack.namelist())
            if MANIFEST not in names or pack.getinfo(MANIFEST).file_size > MOST_MANIFEST:
                raise Refused(f"{file} is no backup of Lockwright")
            manifest = json.loads(pack.read(MANIFEST))
            if not isinstance(manifest, dict) or not str(manifest.get("format")).startswith("lockwright-backup/"):
                raise Refused(f"{file} is no backup of Lockwright")
            _refuse_other_version(file, manifest)
            sums = json.loads(pack.read(SUMS))
            if set(sums) != names - {SUMS}:
                raise damaged
            for name, said in sums.items():
                with pack.open(name) as member:
                    if hashlib.file_digest(cast(Any, member), "sha256").hexdigest() != said:
                        raise damaged
        except (KeyError, ValueError, OSError, EOFError, zipfile.BadZipFile, zlib.error):
            raise damaged from None
        yield pack, manifest


def _refuse_other_version(file: Path, manifest: Mapping[str, Any]) -> None:
    if any(app == versions.BEFORE_APPS for app, _ in manifest["migrations"]):
        raise Refused(f"{file} was made by version {manifest['version']}. {versions.NOT_CARRIED_OVER}")
    known = set(MigrationLoader(None).disk_migrations)
    unknown = [tuple(one) for one in manifest["migrations"] if tuple(one) not in known]
    if manifest["format"] != FORMAT or unknown:
        raise Refused(
            f"{file} was made by version {manifest['version']}, which is newer than this one ({VERSION}): install that "
            "version or a later one, then restore"
        )


def _running() -> str:
    """How it shows that a service works with this database; empty where nothing does."""
    with suppress(DatabaseError):
        tick = Lease.objects.filter(name=job_queue.TICK).first()
        if tick and not job_queue.gone(tick.claimant) and timedelta(0) <= timezone.now() - tick.claimed < TICKS:
            return f"its schedules ticked at {timezone.localtime(tick.claimed):%H:%M:%S}"
    return ""


def _filled() -> bool:
    """Whether the database has anything that somebody would miss."""
    with suppress(DatabaseError):
        return User.objects.exists() or Upload.objects.exists()
    return False


def _into_sqlite(pack: zipfile.ZipFile, manifest: Mapping[str, Any], replace: bool) -> list[str]:
    target, says = Path(settings.DATABASES["default"]["NAME"]), []
    handle, name = tempfile.mkstemp(prefix=".lockwright-restored-", dir=target.parent)
    try:
        with os.fdopen(handle, "wb") as file, pack.open(SQLITE) as member:
            shutil.copyfileobj(member, file, PIECE)
            file.flush()
            os.fsync(file.fileno())
        with closing(sqlite3.connect(name)) as copy:
            try:
                _check_whole(copy, f"in {pack.filename}")
            except sqlite3.DatabaseError as error:
                raise Refused(f"the database in {pack.filename} is damaged ({error}): take another backup") from None
        if target.exists():
            says += _aside_sqlite(target, replace)
        connection.close()
        for ending in LOGS:  # it would be taken for that of the restored file
            Path(f"{target}{ending}").unlink(missing_ok=True)
        Path(name).replace(target)
        keys.keep_names(target.parent)
    finally:
        Path(name).unlink(missing_ok=True)
    return says


def _aside_sqlite(target: Path, replace: bool) -> list[str]:
    """Move the database that is there out of the way, whole; it must not be in use."""
    if said := _running():
        raise Refused(f"a service works with {target} ({said}): stop it first, and wait a minute")
    filled = _filled()
    if filled and not replace:
        raise Refused(f"{target} holds users or uploads: --replace moves it aside")
    connection.close()
    try:
        with closing(sqlite3.connect(target, timeout=2)) as old:
            old.execute("PRAGMA journal_mode=DELETE")  # what the log holds goes into the file; fails while it is open
    except sqlite3.OperationalError:
        raise Refused(f"{target} is in use: stop the service first") from None
    except sqlite3.DatabaseError:
        if not replace:
            raise Refused(f"{target} is damaged: --replace moves it aside") from None
        filled = True
    if not filled:
        target.unlink()
        return []
    aside = _aside(target)
    target.rename(aside)
    for ending in LOGS:
        with suppress(FileNotFoundError):  # of a damaged one
            Path(f"{target}{ending}").rename(f"{aside}{ending}")
    return [f"what was there is now {aside}"]


def _aside(path: Path) -> Path:
    return path.with_name(f"{path.name}.before-{datetime.now():%Y%m%d-%H%M%S}")  # noqa: DTZ005 - a name for people


def _into_postgresql(pack: zipfile.ZipFile, manifest: Mapping[str, Any], replace: bool) -> list[str]:
    if said := _running():
        raise Refused(f"a service works with this database ({said}): stop it first, and wait a minute")
    with connection.cursor() as cursor:
        cursor.execute(
            "SELECT application_name, client_addr, pid FROM pg_stat_activity WHERE datname = current_database()"
            " AND pid <> pg_backend_pid() AND backend_type = 'client backend'"
        )
        others = [f"{name or 'unnamed'} from {where or 'this host'} (process {pid})" for name, where, pid in cursor]
    if others:
        raise Refused(f"the database is in use by {', '.join(others[:3])}: stop web, workers and scheduler first")
    if _filled() and not replace:
        raise Refused("the database holds users or uploads: --replace deletes what it holds; back that up first")
    shapes = json.loads(pack.read(f"{TABLES}shapes.json"))
    with transaction.atomic(), connection.cursor() as plain:
        plain.execute("SET CONSTRAINTS ALL IMMEDIATE")  # rows that a migration makes must not wait for the end
        for table in _tables():
            plain.execute(f"DROP TABLE {connection.ops.quote_name(table)} CASCADE")
        executor = MigrationExecutor(connection)
        executor.migrate(_leaves(executor.loader, {(app, name) for app, name in manifest["migrations"]}))
        if missing := sorted(set(shapes) - set(_tables())):
            raise Refused(f"the backup has tables that no migration makes: {', '.join(missing[:5])}")
        cursor = _psycopg()
        names = sql.SQL(", ").join(map(sql.Identifier, _tables()))
        cursor.execute(sql.SQL("TRUNCATE {} RESTART IDENTITY").format(names))
        cursor.execute("SET CONSTRAINTS ALL DEFERRED")
        for table, shape in shapes.items():
            with (
                pack.open(f"{TABLES}{table}") as member,
                cursor.copy(_copy(table, shape["columns"], "FROM STDIN")) as rows,
            ):
                while piece := member.read(PIECE):
                    rows.write(piece)
            for column, (_, last, called) in shape["next"].items():
                cursor.execute("SELECT setval(pg_get_serial_sequence(%s, %s), %s, %s)", [table, column, last, called])
    return []


def _leaves(loader: MigrationLoader, applied: set[tuple[str, str]]) -> list[tuple[str, str]]:
    """The migrations that no other of these comes after."""
    graph = loader.graph
    inside = [one for one in applied if one in graph.nodes]
    followed = {parent.key for one in inside for parent in graph.node_map[one].parents}
    return sorted(one for one in inside if one not in followed)


def _refuse_keys(found: Mapping[str, bytes], replace: bool) -> None:
    for name, text in found.items():
        path = settings.RUN_DIR / name
        if path.exists() and path.read_bytes() != text and not replace:
            raise Refused(f"{path} is another key than that of the backup: --replace moves it aside")


def _put_keys(found: Mapping[str, bytes]) -> list[str]:
    """Write the key files, for their owner alone; others that are there are moved aside."""
    says = []
    for name, text in found.items():
        path = settings.RUN_DIR / name
        if path.exists():
            if path.read_bytes() == text:
                continue
            aside = _aside(path)
            path.rename(aside)
            says.append(f"the key that was there is now {aside}")
        keys.write_whole(path, text.decode())
    return says


def _free_claims() -> None:
    """Whoever worked at something when the backup was made does so no more: the next sweep gives it to others."""
    Upload.objects.filter(state=Upload.State.READING).update(claimed=None, claimant=ITSELF)
    for model in apps.get_models():
        if issubclass(model, Work):
            running = model._default_manager.filter(state=Work.State.RUNNING)
            running.update(claimed=None, claimant=ITSELF)
    Lease.objects.exclude(name=job_queue.TICK).delete()


def _warnings(manifest: Mapping[str, Any]) -> list[str]:
    """Which keys of this machine are not those that the backup was made with."""
    said = []
    path = settings.KEY_FILE
    secret = env.secret("SECRET_KEY") or (path.read_text().strip() if path.is_file() else "")
    if manifest["secret_key"] and manifest["secret_key"] != _mark(secret):
        said.append(
            "this machine has another SECRET_KEY than the backup was made with: type the password of the mail server "
            "again; links in mails that were sent no longer work"
        )
    if not set(manifest["source_keys"]) <= set(_source_marks()):
        said.append(
            "this machine has another key for passwords of data sources (LOCKWRIGHT_KEY) than the backup was made "
            "with: put that one behind it, or type these passwords again"
        )
    return said
