"""Tests of the service: tasks run at once, people are the same few everywhere."""

from collections.abc import Callable, Iterator

import pytest
from django.test import Client
from pytest_django import DjangoCaptureOnCommitCallbacks, Settings

from advisor.celery import app
from advisor.models import Audit, System, Upload, User
from tests.advisor.people import People, bring_story, make_people


@pytest.fixture(autouse=True)
def _service(settings: Settings, tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    """Static files as they lie, cheap passwords, tasks at once and their errors raised."""
    settings.STATIC_ROOT = tmp_path_factory.getbasetemp()
    settings.STORAGES = {
        **settings.STORAGES,
        "staticfiles": {"BACKEND": "django.contrib.staticfiles.storage.StaticFilesStorage"},
    }
    settings.PASSWORD_HASHERS = ["django.contrib.auth.hashers.MD5PasswordHasher"]
    settings.SECRET_KEY = "a key for tests alone, long enough for every check of it 0123456789"
    app.conf.task_always_eager = app.conf.task_eager_propagates = True
    yield
    app.conf.task_always_eager = False


@pytest.fixture
def people(db: None) -> People:
    return make_people()


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
    """Bring the exports of a story of tests/audits for the owner, and have them read and audited."""

    def now(story: str, by: User | None = None, **more: str) -> Upload:
        with django_capture_on_commit_callbacks(execute=True):
            upload = bring_story(story, people.team, by or people.owner, **more)
        upload.refresh_from_db()
        return upload

    return now


@pytest.fixture
def storm(bring: Callable[..., Upload]) -> System:
    """The system of the story `address_lock_storm`: CLAIMS1, with findings of every severity."""
    bring("address_lock_storm")
    return System.objects.get(name="CLAIMS1")


@pytest.fixture
def storm_audit(storm: System) -> Audit:
    assert storm.latest is not None
    return storm.latest
