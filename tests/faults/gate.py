"""A gate in the service's database: whoever writes what it is for waits there until the test opens it.

So a fault comes while the service is at what it is to interrupt, on a machine of any speed.
"""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import NamedTuple

import psycopg

from advisor.uploads.services.process_upload import AT_A_TIME
from tests.faults.plant import Plant
from tests.servers import eventually


class Place(NamedTuple):
    """Where a gate stands."""

    number: int
    """Of its advisory lock, its function and its trigger."""
    written: str
    when: str
    each: str = "ROW"
    """`STATEMENT`: whoever waits has locked no row yet; `when` cannot speak of one then."""


READING = Place(1, "UPDATE ON uploads_upload", "NEW.state = 'reading' AND NEW.read_bytes > 0")
JUDGED = Place(2, "UPDATE ON uploads_upload", "NEW.state = 'reading' AND NEW.captures_judged > 0")
"""An upload of more than `FEW` reports and captures comes to it; a smaller one may note everything at its end."""
KEEPING = Place(
    3,
    "INSERT ON audits_capture",
    f"(SELECT count(*) FROM audits_capture WHERE upload_id = NEW.upload_id) = {AT_A_TIME}",
)
"""An upload of more captures than one transaction keeps, when the first transaction is through."""
DROPPED = Place(4, "UPDATE ON schedules_dropfile", "OLD.taken IS NULL AND NEW.taken IS NOT NULL")
SAMPLES = AT_A_TIME + 1
"""Of an upload that comes to the place `KEEPING`."""


class Gate:
    """A gate that is closed from the start."""

    def __init__(self, connection: "psycopg.Connection[tuple[int]]", place: Place) -> None:
        """Close it."""
        self.connection, self.place = connection, place
        connection.execute("SELECT pg_advisory_lock(%s)", [place.number])

    def waiting(self) -> int:
        """How many processes of the service wait before it."""
        (found,) = self.connection.execute(
            "SELECT count(*) FROM pg_locks JOIN pg_database ON pg_database.oid = pg_locks.database"
            " WHERE datname = current_database() AND locktype = 'advisory' AND objid = %s AND NOT granted",
            [self.place.number],
        )
        return found[0]

    def wait_for(self, count: int) -> None:
        """Wait until so many wait before it."""
        eventually(lambda: self.waiting() == count, what=f"{count} at the gate {self.place.written}")

    def open(self) -> None:
        """Let everybody through."""
        self.connection.execute("SELECT pg_advisory_unlock(%s)", [self.place.number])


@contextmanager
def gate(plant: Plant, place: Place) -> Iterator[Gate]:
    """A closed gate; it is open when the context ends."""
    name = f"gate_{place.number}"
    with psycopg.connect(plant.environment["DATABASE_URL"], autocommit=True) as connection:
        connection.execute(f"""
            CREATE OR REPLACE FUNCTION {name}() RETURNS trigger LANGUAGE plpgsql AS $$
            BEGIN
                IF {place.when} THEN
                    PERFORM pg_advisory_xact_lock_shared({place.number});
                END IF;
                RETURN NEW;
            END $$""")
        connection.execute(
            f"CREATE OR REPLACE TRIGGER {name} BEFORE {place.written} FOR EACH {place.each} EXECUTE FUNCTION {name}()"
        )
        yield Gate(connection, place)
