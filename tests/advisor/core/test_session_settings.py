"""What PostgreSQL is told at the beginning of each of our sessions; SQLite is told nothing."""

import pytest
from django.db import connection

from advisor.core.infrastructure_errors import SESSION, set_session

pytestmark = [pytest.mark.postgres, pytest.mark.django_db]


def test_a_session_ends_with_its_machine_and_compiles_no_query() -> None:
    if connection.vendor != "postgresql":
        set_session(connection)  # would fail there
        return
    with connection.cursor() as cursor:
        cursor.execute("SELECT name, setting FROM pg_settings WHERE name = ANY(%s)", [list(SESSION)])
        found = dict(cursor.fetchall())
    assert found["jit"] == "off"
    assert set(found) == set(SESSION)
