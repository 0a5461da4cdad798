"""Operations of migrations: what a migration says of the versions before it.

During an upgrade workers of the version before go on beside the migrated database. So a migration only adds what they
can leave out (docs/operators/operating.md), or it begins with `StopOlderVersions`.
"""

from typing import Any

from django.db.migrations.operations import RunSQL

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
