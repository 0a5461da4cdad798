"""What migrations may do while workers of the version before go on, and that a migration says where they must not."""

from collections.abc import Iterator
from typing import Any

import pytest
from django.apps import apps
from django.db import migrations, models
from django.db.migrations import Migration
from django.db.migrations.loader import MigrationLoader
from django.db.migrations.operations.base import Operation
from django.db.migrations.state import ProjectState

from advisor.core.migration_operations import StopOlderVersions
from advisor.core.version import VERSION

OURS = sorted(one.label for one in apps.get_app_configs() if one.name.startswith("advisor.") and one.models_module)
SCHEDULED = "0002_scheduled_tasks"
"""Makes an empty database, as the initial migrations do: no worker of a version before works beside it."""
HARMLESS = (
    StopOlderVersions,
    migrations.CreateModel,
    migrations.AddIndex,
    migrations.RemoveIndex,
    migrations.RenameIndex,
    migrations.RemoveConstraint,
    migrations.AlterModelOptions,
    migrations.AlterModelManagers,
    migrations.AlterModelTableComment,
)
"""A worker that knows nothing of it goes on reading and writing as before."""


def amiss(operation: Operation, before: ProjectState, app: str) -> str | None:
    """Why a worker of the version before cannot live with an operation; `None`: it can."""
    if isinstance(operation, HARMLESS):
        return None
    if isinstance(operation, migrations.AddField):
        field = operation.field
        if field.unique and not field.null:
            return "it would write the same default twice into a unique column: null=True"
        if not (field.null or filled_in(field) or field.many_to_many):
            return "it inserts rows without the new column: null=True or db_default"
        return None
    if isinstance(operation, migrations.AlterField):
        old = before.models[app, operation.model_name_lower].get_field(operation.name)
        return None if wider(old, operation.field) else "it may write what the column no longer takes"
    return "it may read or write what has gone, or write what was rewritten already"


def filled_in(field: "models.Field[Any, Any]") -> bool:
    """Whether the database fills the column in where an insert leaves it out."""
    return getattr(field, "db_default", models.NOT_PROVIDED) is not models.NOT_PROVIDED


def wider(old: "models.Field[Any, Any]", new: "models.Field[Any, Any]") -> bool:
    """Whether a column takes everything it took, and still fills in what it filled in."""
    if type(old) is not type(new) or old.db_column != new.db_column:
        return False
    if (old.null and not new.null) or (new.unique and not old.unique):
        return False
    if filled_in(old) and not (filled_in(new) or new.null):
        return False
    if isinstance(new, models.ForeignKey) and old.related_model != new.related_model:
        return False
    if isinstance(new, models.DecimalField):
        return old.deconstruct()[3] == new.deconstruct()[3]
    return new.max_length is None or (old.max_length is not None and old.max_length <= new.max_length)


def refused(migration: Migration, before: ProjectState) -> Iterator[str]:
    """What of a migration is not for a database beside which workers of the version before go on."""
    stops = [one for one in migration.operations if isinstance(one, StopOlderVersions)]
    if stops:
        if migration.operations[0] is not stops[0] or len(stops) > 1:
            yield f"{migration.name}: StopOlderVersions is the first operation, once"
        if numbers(stops[0].version) > numbers(VERSION):
            yield f"{migration.name}: stops this version itself, {VERSION}"
        return
    state = before.clone()
    for operation in migration.operations:
        if why := amiss(operation, state, migration.app_label):
            yield f"{migration.name}: {operation.describe()}: a worker of the version before: {why}"
        operation.state_forwards(migration.app_label, state)


def stopped_before(migration: Migration, loader: MigrationLoader) -> bool:
    """Whether it names a migration of another app that stops the versions before: it is applied before this one."""
    others = (loader.disk_migrations.get(one) for one in migration.dependencies if one[0] != migration.app_label)
    return any(isinstance(one, StopOlderVersions) for other in others if other for one in other.operations[:1])


def numbers(version: str) -> tuple[int, ...]:
    return tuple(map(int, version.split(".")))


@pytest.fixture(scope="module")
def loader() -> MigrationLoader:
    return MigrationLoader(None)


def test_workers_of_the_version_before_live_with_every_migration_or_are_stopped_by_it(loader: MigrationLoader) -> None:
    found = list[str]()
    for (app, name), migration in loader.disk_migrations.items():
        if app in OURS and not migration.initial and name != SCHEDULED:
            parents = [parent for parent in migration.dependencies if parent[0] == app]
            if not stopped_before(migration, loader):
                found += refused(migration, loader.project_state(parents))
    assert not found, "\n".join(found)


@pytest.mark.parametrize(
    ("app", "parent", "stopped"),
    [
        ("findings", ("audits", "0009_packed_json"), True),
        ("findings", ("audits", "0008_capture_kinds"), False),
        ("audits", ("audits", "0009_packed_json"), False),
    ],
)
def test_only_a_migration_that_names_the_stop_of_another_app_relies_on_it(
    app: str, parent: tuple[str, str], stopped: bool, loader: MigrationLoader
) -> None:
    migration = type("Migration", (Migration,), {"dependencies": [parent]})("9999_case", app)
    assert stopped_before(migration, loader) == stopped


NAME: "models.CharField[str, str]" = models.CharField(max_length=10)
CASES: dict[str, tuple[str, list[Operation], bool]] = {
    "a column with a default of the database": (
        "systems",
        [migrations.AddField("note", "more", models.CharField(max_length=9, default="", db_default=""))],
        True,
    ),
    "a column that may be null": (
        "systems",
        [migrations.AddField("note", "more", models.IntegerField(null=True))],
        True,
    ),
    "a column without": ("systems", [migrations.AddField("note", "more", models.IntegerField(default=0))], False),
    "a unique column": (
        "systems",
        [migrations.AddField("note", "more", models.IntegerField(db_default=0, unique=True))],
        False,
    ),
    "a table": ("systems", [migrations.CreateModel("New", [("name", NAME)])], True),
    "a table and its column": (
        "systems",
        [migrations.CreateModel("New", [("name", NAME)]), migrations.AddField("new", "more", models.TextField())],
        False,
    ),
    "an index": ("systems", [migrations.AddIndex("note", models.Index(fields=["at"], name="by_time"))], True),
    "a constraint": (
        "systems",
        [migrations.AddConstraint("note", models.UniqueConstraint(fields=["text"], name="one_text"))],
        False,
    ),
    "a longer name": (
        "audits",
        [migrations.AlterField("limitsetting", "why", models.CharField(max_length=400, blank=True))],
        True,
    ),
    "a shorter name": (
        "audits",
        [migrations.AlterField("limitsetting", "why", models.CharField(max_length=200, blank=True))],
        False,
    ),
    "another type": ("audits", [migrations.AlterField("limitsetting", "why", models.IntegerField())], False),
    "no null any more": ("uploads", [migrations.AlterField("upload", "queued", models.DateTimeField())], False),
    "a default taken away": (
        "core",
        [migrations.AlterField("journalentry", "count", models.PositiveIntegerField(default=1))],
        False,
    ),
    "a column removed": ("systems", [migrations.RemoveField("note", "text")], False),
    "a column renamed": ("systems", [migrations.RenameField("note", "text", "words")], False),
    "a table removed": ("systems", [migrations.DeleteModel("Note")], False),
    "rows rewritten": ("systems", [migrations.RunPython(migrations.RunPython.noop)], False),
    "removed, and said": ("systems", [StopOlderVersions(VERSION), migrations.RemoveField("note", "text")], True),
    "removed, and said too late": (
        "systems",
        [migrations.RemoveField("note", "text"), StopOlderVersions(VERSION)],
        False,
    ),
    "this version stopped": ("systems", [StopOlderVersions("999.0.0")], False),
}


@pytest.mark.parametrize(("app", "operations", "fine"), CASES.values(), ids=CASES)
def test_what_is_refused(app: str, operations: list[Operation], fine: bool, loader: MigrationLoader) -> None:
    migration = type("Migration", (Migration,), {"operations": operations})("9999_case", app)
    assert (not list(refused(migration, loader.project_state()))) == fine
