"""The settings of all tests of the service, and what a module's tests share in the database."""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from django.conf import settings
from django.test import TestCase, override_settings
from pytest_django import DjangoDbBlocker

from advisor.config.celery import app


@contextmanager
def as_tests_have_it(static_root: Path) -> Iterator[None]:
    """Static files as they lie, cheap passwords, tasks at once and their errors raised."""
    with override_settings(
        STATIC_ROOT=static_root,
        STORAGES={
            **settings.STORAGES,
            "staticfiles": {"BACKEND": "django.contrib.staticfiles.storage.StaticFilesStorage"},
        },
        PASSWORD_HASHERS=["django.contrib.auth.hashers.MD5PasswordHasher"],
        PDF_MB=0,  # a PDF of each audit would take longer than all the rest
        SECRET_KEY="a key for tests alone, long enough for every check of it 0123456789",
    ):
        app.conf.task_always_eager = app.conf.task_eager_propagates = True
        try:
            yield
        finally:
            app.conf.task_always_eager = False


@contextmanager
def kept(blocker: DjangoDbBlocker) -> Iterator[type[TestCase]]:
    """What is made in it is there for each test until it ends; what a test changes is taken back with that test.

    Gives what has `captureOnCommitCallbacks`: nothing is committed.
    """

    class Kept(TestCase):
        pass

    with blocker.unblock():
        Kept.setUpClass()
        try:
            yield Kept
        finally:
            Kept.tearDownClass()
            Kept.doClassCleanups()
