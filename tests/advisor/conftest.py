"""Tests of the service: tasks run at once, people are the same few everywhere."""

import shutil
from collections.abc import Callable, Iterator
from copy import deepcopy
from pathlib import Path

import pytest
import time_machine
from django.test import Client
from pytest_django import DjangoCaptureOnCommitCallbacks, DjangoDbBlocker, Settings

from advisor.accounts.models import User
from advisor.audits.models import Audit
from advisor.systems.models import System
from advisor.uploads.models import Upload
from tests.advisor.keeping import as_tests_have_it, migrated_into
from tests.advisor.people import People, bring_story, make_people
from tests.advisor.schedules.scheduling import NOON, Probe


@pytest.fixture(scope="session")
def static_root(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """An empty folder: it is looked through at each first request."""
    found = tmp_path_factory.getbasetemp() / "no-static-files"
    found.mkdir(exist_ok=True)
    return found


@pytest.fixture(autouse=True)
def _service(static_root: Path) -> Iterator[None]:
    with as_tests_have_it(static_root):
        yield


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Where no test is known to want a database none is made, and `migrated` would copy the one of a real service."""
    for item in items:
        if "migrated" in getattr(item, "fixturenames", ()):
            item.add_marker(pytest.mark.django_db)


@pytest.fixture(scope="session")
def migrated(
    django_db_setup: None, django_db_blocker: DjangoDbBlocker, tmp_path_factory: pytest.TempPathFactory
) -> Callable[[Path], None]:
    """Put the file of an SQLite into a folder, as `manage.py migrate` leaves it there, only sooner."""
    kept = tmp_path_factory.mktemp("migrated")
    with django_db_blocker.unblock():
        migrated_into(kept)

    def put(folder: Path) -> None:
        shutil.copytree(kept, folder, dirs_exist_ok=True)

    return put


@pytest.fixture(scope="module")
def shared() -> People | None:
    """The people of a module whose tests share what was brought: see `keeps`."""
    return None


@pytest.fixture
def people(db: None, shared: People | None) -> People:
    return make_people() if shared is None else deepcopy(shared)


@pytest.fixture
def nothing_brought(people: People) -> None:
    """What a module's tests share is not there for this one."""
    System.objects.all().delete()
    Upload.objects.all().delete()


@pytest.fixture
def as_user() -> Callable[[User], Client]:
    """A browser of this person, logged in."""

    def log_in(user: User) -> Client:
        client = Client()
        client.force_login(user, backend="django.contrib.auth.backends.ModelBackend")
        return client

    return log_in


@pytest.fixture
def bring(people: People, django_capture_on_commit_callbacks: DjangoCaptureOnCommitCallbacks) -> Callable[..., Upload]:
    """Bring the exports of a story of advisor/examples/audits for the owner, and have them read and audited."""

    def now(story: str, by: User | None = None, **more: str) -> Upload:
        with django_capture_on_commit_callbacks(execute=True):
            upload = bring_story(story, people.team, by or people.owner, **more)
        upload.refresh_from_db()
        return upload

    return now


@pytest.fixture
def storm(bring: Callable[..., Upload]) -> System:
    """The system of the story `address_lock_storm`: CLAIMS1, with findings of every severity."""
    if not System.objects.filter(name="CLAIMS1").exists():
        bring("address_lock_storm")
    return System.objects.get(name="CLAIMS1")


@pytest.fixture
def storm_audit(storm: System) -> Audit:
    assert storm.latest is not None
    return storm.latest


@pytest.fixture
def probe(settings: Settings, tmp_path: Path) -> Probe:
    """Put a program into the folder of collectors: `probe`, of these lines of shell."""
    folder = tmp_path / "collectors"
    folder.mkdir(mode=0o700)
    settings.COLLECTORS_DIR = folder

    def put(lines: str) -> None:
        path = folder / "probe"
        path.write_text(f"#!/bin/sh\n{lines}\n")
        path.chmod(0o700)

    return put


@pytest.fixture
def drop(settings: Settings, tmp_path: Path) -> Path:
    """A drop folder."""
    found = tmp_path / "drop"
    found.mkdir()
    settings.DROP_FOLDERS = [found]
    return found


@pytest.fixture
def noon() -> Iterator[time_machine.Traveller]:
    """A clock that stands at noon."""
    with time_machine.travel(NOON, tick=False) as clock:
        yield clock
