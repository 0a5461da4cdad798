"""Answers a batch: statement by statement, with the faults that were asked for."""

import math
from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING, Any

from cryptography.hazmat.primitives.asymmetric import rsa

from tests.live.ase import errors, procedures
from tests.live.ase.batches import Piece, statements, value, words
from tests.live.ase.selecting import Selected, use
from tests.live.record import Record
from tests.live.tds import tokens
from tests.live.tds.session import Client
from tests.live.tds.tokens import Changed, Cut, Event, Message, Pause, Rows, Silence, printed

if TYPE_CHECKING:
    from tests.live.ase.world import World

KEY_BITS = 2_048
SLOW_SECONDS = 30.0
A_DAY = 86_400.0


class Ase:
    """The server as its clients see it."""

    def __init__(self, world: "World", user: str, password: str, record: Record) -> None:
        """Take the world, the one login there is, and where to write down what is sent."""
        self.world, self._user, self._password, self._record = world, user, password, record
        self.name, self.program = world.release.server, world.release.program
        self.key = rsa.generate_private_key(public_exponent=65_537, key_size=KEY_BITS)
        self._deadlocked: set[str] = set()
        self._batches = 0

    def record(self, client: Client, kind: str, text: str, **more: object) -> None:
        """Write down what a client sent."""
        self._record.write(client.spid, kind, text, **more)

    def admits(self, client: Client, password: str) -> bool:
        """Whether the login is the one, with its password."""
        known = client.user == self._user and password == self._password
        return known and "locked-login" not in self.world.faults

    def takes_encrypted(self) -> bool:
        """Whether the exchange for an encrypted password is done."""
        return "without-rsa" not in self.world.faults

    def greets(self) -> Iterable[Event]:
        """Say nothing, or nothing ever."""
        return [Silence()] if "silent-accept" in self.world.faults else []

    def answer(self, client: Client, batch: str) -> Iterator[Event]:
        """Answer a batch; the first statement that fails ends it."""
        self._batches += 1
        if "silent-login" in self.world.faults or self._batches > (self.world.faults.number("deaf-after") or math.inf):
            yield Silence()
        try:
            for statement in statements(batch):
                for event in self._statement(client, statement):
                    yield from self._with_faults(event)
        except errors.Failed as failed:
            yield failed.message

    def _statement(self, client: Client, statement: list[Piece]) -> Iterator[Event]:
        said = words(statement)
        first = said[0].text.lower()
        match first:
            case "select":
                yield from self._select(client, statement)
            case "use":
                yield from self._use(client, value(said[1]) if len(said) > 1 else "")
            case "set" if said[1].text.lower() == "transaction" and said[2].text.lower() != "isolation":
                raise errors.syntax(said[2].text)
            case "set":
                client.options[said[1].text.lower()] = said[-1].text.lower()
            case "print":
                yield printed(value(said[1]) + "\n")
            case "waitfor":
                yield Pause(procedures.seconds(value(said[-1])) / self.world.clock.pace)
            case "begin" | "commit" | "rollback" | "save":  # nothing here changes; the record has it
                pass
            case "exec" | "execute":
                yield from self._procedure(client, said[1:])
            case word if said[0].kind == "word" and word not in procedures.STATEMENTS:
                yield from self._procedure(client, said)
            case word:
                raise errors.denied(word.upper()) if word in procedures.STATEMENTS else errors.syntax(said[0].text)

    def _select(self, client: Client, statement: list[Piece]) -> Iterator[Event]:
        """Answer a SELECT, as the faults of the tables that it reads want it."""
        selected = Selected(self.world, client, statement)
        faults, names = self.world.faults, [name for _, name in selected.tables]
        if any(faults.has("deaf", name) for name in names):
            yield Silence()
        if any(faults.has("locked-catalog", database) for database, _ in selected.tables):
            waits = client.options.get("lock", "")
            yield Pause(float(waits) / self.world.clock.pace if waits.isdecimal() else A_DAY)
            raise errors.lock_wait()
        if any(faults.has("slow", name) for name in names):
            yield Pause(faults.number("slow-seconds") or SLOW_SECONDS)
        result = selected.answer()
        if any(faults.has("drop-in-table", name) for name in names):
            result = Rows(result.columns, _cut_after(result.rows, 1))
        yield result
        for name in names:
            again = faults.has("deadlock-always", name)
            if again or (faults.has("deadlock", name) and name not in self._deadlocked):
                self._deadlocked.add(name)
                raise errors.deadlock()

    def _use(self, client: Client, database: str) -> Iterator[Event]:
        use(self.world, client, database)
        before, client.database = client.database, database
        yield Changed(tokens.DATABASE, database, before)
        yield Message(5701, 10, f"Changed database context to '{database}'.\n", state=2)

    def _procedure(self, client: Client, said: list[Piece]) -> Iterator[Event]:
        if not said:
            raise errors.syntax("exec")
        name, given = procedures.call(said)
        if name not in procedures.PROCEDURES or self.world.faults.has("missing-procedure", name):
            raise errors.no_procedure(name)
        yield from procedures.PROCEDURES[name](self.world, client, given)

    def _with_faults(self, event: Event) -> Iterator[Event]:
        limit = self.world.faults.number("drop-after-rows")
        if limit is not None and isinstance(event, Rows):
            event = Rows(event.columns, _cut_after(event.rows, int(limit)))
        yield event


def _cut_after(rows: Iterable[Any], count: int) -> Iterator[Any]:
    """Give so many rows, and then the end of the line; all rows, where there are fewer."""
    for at, row in enumerate(rows, 1):
        yield row
        if at == count:
            yield Cut()
