"""Operations of migrations: what a migration says of the versions before it.

During an upgrade workers of the version before go on beside the migrated database. So a migration only adds what they
can leave out (docs/operators/operating.md), or it begins with `StopOlderVersions`.
"""

from collections.abc import Mapping
from typing import Any

from django.db.migrations.operations import AlterField, RunSQL
from django.db.migrations.operations.base import Operation

from advisor.core.packed_json import PackedJSONField

INSERT = "INSERT INTO core_minimumversion (version) VALUES (%s)"
DELETE = "DELETE FROM core_minimumversion WHERE version = %s"


class StopOlderVersions(RunSQL):
    """From here on code below `version` (`0.9.0`) must not write to the database, and refuses to by itself.

    Its workers end without taking work, its web server answers 503 (`advisor.operations.services.versions`). The
    first operation of the migration, and a line in the change log: operators stop all before they migrate.
    Migrations of other apps that older versions cannot live with depend on it: it is applied before them.
    """

    def __init__(self, version: str) -> None:
        self.version = version
        super().__init__([(INSERT, [version])], [(DELETE, [version])])

    def deconstruct(self) -> tuple[str, list[Any], dict[str, Any]]:
        """Give what makes it again."""
        return type(self).__name__, [self.version], {}

    def describe(self) -> str:
        """Say what it does, for the output of `migrate`."""
        return f"Stop versions before {self.version}"


class PackColumns(Operation):
    """Have columns of JSON hold packed JSON from here on. What is there stays as it is, as text, and is read as such.

    Code of before reads no packed JSON: it comes after `StopOlderVersions`. There is no way back.
    """

    reversible = False

    def __init__(self, model_name: str, fields: Mapping[str, PackedJSONField]) -> None:
        """Take the new fields of a model by name."""
        self.model_name, self.fields = model_name, fields
        self.altered = [AlterField(model_name, name, field) for name, field in fields.items()]

    def deconstruct(self) -> tuple[str, list[Any], dict[str, Any]]:
        """Give what makes it again."""
        return type(self).__name__, [self.model_name, self.fields], {}

    def state_forwards(self, app_label: str, state: Any) -> None:
        """Know the new fields."""
        for one in self.altered:
            one.state_forwards(app_label, state)

    def database_forwards(self, app_label: str, schema_editor: Any, from_state: Any, to_state: Any) -> None:
        """Change the columns: of PostgreSQL all at once, as each change writes the whole table anew."""
        if schema_editor.connection.vendor != "postgresql":
            for one in self.altered:
                to_state = from_state.clone()
                one.state_forwards(app_label, to_state)
                one.database_forwards(app_label, schema_editor, from_state, to_state)
                from_state = to_state
            return
        model = to_state.apps.get_model(app_label, self.model_name)
        parts = []
        for name in self.fields:
            column = schema_editor.quote_name(model._meta.get_field(name).column)
            as_text = f"convert_to({column}::text, 'UTF8')"
            parts += [f"ALTER {column} DROP DEFAULT", f"ALTER {column} TYPE bytea USING {as_text}"]
        schema_editor.execute(f"ALTER TABLE {schema_editor.quote_name(model._meta.db_table)} {', '.join(parts)}")

    def describe(self) -> str:
        """Say what it does, for the output of `migrate`."""
        return f"Pack {', '.join(self.fields)} of {self.model_name}"
