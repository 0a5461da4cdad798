"""The settings of all tests of the service, and what a module's tests share in the database."""

import sqlite3
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager
from pathlib import Path
from typing import Any

import pytest
from django.conf import settings
from django.db import connection
from django.test import TestCase, override_settings
from pytest_django import DjangoDbBlocker

from advisor.config.celery import app
from tests.advisor.people import People, bring_story, make_people
from tests.servers import manage


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


def keeps(*brought: str | Callable[[People], object]) -> Any:
    """Give a module its fixture `shared`: the people, and what was brought for them and audited once for its tests.

    Stories by their names, or what brings something else. A test that is to find nothing asks for `nothing_brought`.
    """

    @pytest.fixture(scope="module", autouse=True)
    def shared(django_db_setup: None, django_db_blocker: DjangoDbBlocker, static_root: Path) -> Iterator[People]:
        with as_tests_have_it(static_root), kept(django_db_blocker) as at_commit:
            people = make_people()
            for one in brought:
                with at_commit.captureOnCommitCallbacks(execute=True):
                    if isinstance(one, str):
                        bring_story(one, people.team, people.owner)
                    else:
                        one(people)
            yield people

    return shared


def migrated_into(folder: Path) -> None:
    """Copy the tables that these tests work on, where they are in an SQLite; else make them, which takes seconds."""
    file = folder / "lockwright.sqlite3"
    if connection.vendor != "sqlite":
        manage("migrate", "-v0", environment={"RUN_DIR": str(folder), "DATABASE_URL": "", "SECRET_KEY": "k" * 60})
        return
    connection.ensure_connection()
    with closing(sqlite3.connect(file)) as made:
        connection.connection.backup(made)
        made.execute("PRAGMA journal_mode=WAL")  # as it is after a first start: to set it takes the file for oneself
    file.chmod(0o600)
