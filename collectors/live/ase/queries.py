"""The round of questions in the collecting process: which are asked, in which order, what becomes of failures."""

import re
import time
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import asdict, dataclass, field
from datetime import UTC, datetime
from pathlib import Path

from collectors.live.ase.collect_request import (
    LONGER,
    MOST_ASKING,
    SECOND,
    STOP,
    TOTAL,
    WITHOUT,
    CollectRequest,
    seconds_of,
)
from collectors.live.ase.connection import Connection
from collectors.live.ase.driver import DEADLOCK, Lost, Refused, Server, Slow
from collectors.live.ase.guard import NotReadOnly, quoted
from collectors.live.ase.missing import Allowed, Lack, lacks, too_much, why_not
from collectors.live.ase.questions import Question, Release, of, question, questions, release_in
from collectors.live.identity import Silent
from collectors.live.printing import Part, ResultSet, plain, printed
from collectors.live.registry import CollectorFailed
from collectors.statement_text import without_literals

VERSION = re.compile(r"Adaptive Server Enterprise/([0-9]{2})\.([0-9]{1,2})\b")
OLDEST: Release = (15, 0)
MOST_RECONNECTS = 2
"""After so many lost connections in a row it is not tried once more."""
MOST_LOST = 10
"""Connections lost in all."""
MOST_DATABASES = 500
OF_THE_SYSTEM = re.compile("master|model|tempdb|sybsystem(?:procs|db)|sybsecurity|syb(?:mgmt|pci|diag)db|dbccdb")
"""Databases nobody's tables are in."""
SLACK = 15.0
"""Seconds after which an answer that was to be cancelled is not waited for any more."""
LOOK = 0.25
"""Seconds between two looks whether the samples are to end."""
FOR_THE_LAST = 0.15
"""The part of the whole time that is kept for the second snapshot."""
LESS = f"{WITHOUT}, or {TOTAL}"


@dataclass
class Written:
    """One file and what went into it."""

    file: str
    questions: list[str] = field(default_factory=list)
    rows: int = 0
    seconds: float = 0.0
    bytes: int = 0
    bounded: list[str] = field(default_factory=list)
    """Questions that may have had more rows than the bound of their statement."""


@dataclass
class Result:
    """What a round brought."""

    server: str = ""
    version: str = ""
    engines: int | None = None
    roles: list[str] = field(default_factory=list)
    switches: dict[str, bool] = field(default_factory=dict)
    files: dict[str, Written] = field(default_factory=dict)
    left_out: list[dict[str, str]] = field(default_factory=list)
    missing: list[dict[str, str]] = field(default_factory=list)
    warnings: list[dict[str, str]] = field(default_factory=list)
    """What the login may and should not, and what to do about it."""
    snapshots: int = 0
    samples: int = 0
    planned: list[str] = field(default_factory=list)
    """What is still to be asked, as `left_out` and `Written.questions` call it."""

    def leave(self, name: str, why: str, do: str = "") -> None:
        """Note a question that was not asked, or not answered."""
        self.left_out.append({"question": name, "why": why, "do": do})


class Round:
    """One round of questions over one login."""

    def __init__(
        self,
        connection: Connection,
        order: CollectRequest,
        folder: Path,
        tell: Callable[[str, float], None],
        keep: Callable[[Result], None] = lambda result: None,
    ) -> None:
        """`tell` is told what is done next, and within how many seconds it is done or something is wrong.

        `keep` is told what there is so far: it is kept, should this process not come to its end.
        """
        self.connection, self.order, self.folder, self.tell, self.keep = connection, order, folder, tell, keep
        self.until = time.monotonic() + order.total_seconds
        self.reserved = 0.0
        """Seconds of the whole time that the question at hand may not use: others come after it."""
        self.result = Result()
        self.allowed = Allowed(None, None)
        self.release: Release = OLDEST
        self.unsigned: set[tuple[str, str]] = set()
        self.databases: list[tuple[str, int]] = []
        self.reconnects = self.lost = 0
        self.server = self._login()

    def look(self) -> Result:
        """Ask who the server is, and what the login may; nothing is written. Raises `CollectorFailed`."""
        self._identify()
        self._settle()
        self._count_engines()
        self.keep(self.result)
        self._may()
        without = set(self.order.without) | ({"sysmon"} if not self.order.sysmon else set())
        asked = [one for one in questions() if one.name not in without and one.when != "sample"]
        self.result.missing = [asdict(one) for one in lacks(asked, self.release, self.allowed)]
        self.result.warnings = [asdict(one) for one in too_much(self.allowed, sysmon=bool(self.order.sysmon))]
        return self.result

    def collect(self) -> Result:
        """Ask all of it and write the answers. Raises `CollectorFailed`."""
        self.look()
        self.reserved = kept_of(self.order)
        counting = any(self._wanted(one) for one in of("snapshot") if one.table)
        self._columns_and_databases()
        self._plan(counting=counting)
        self._write_each(of("once"))
        for name, number in self.databases:  # before the snapshots: it must not show in their counters
            self._database(name, number)
        began = time.monotonic()
        if counting:
            self._snapshot(1, of("snapshot"))
        self.reserved = FOR_THE_LAST * self.order.total_seconds if counting else 0.0
        if self.order.sysmon:
            self._sysmon(self.order.sysmon)
        if counting:
            until = min(began + self.order.seconds, self.until - self.reserved)
            if self.order.every:
                self._sample_until(until)
            else:
                self._wait(until - time.monotonic())
            self.reserved = 0.0
            self._snapshot(2, [*of("snapshot"), *of("last")])
        self.tell("the end", SLACK)
        self.server.close()
        return self.result

    def _sample_until(self, until: float) -> None:
        """Ask the questions of a sample again and again, until then or until somebody has it stopped."""
        asked = [one for one in of("sample") if self._wanted(one)]
        while len(asked) > 1 and time.monotonic() < until and not self._stopped():
            began = time.monotonic()
            self.result.samples += 1
            refused = [one for one in asked if not self._sampled(one)]
            asked = [one for one in asked if one not in refused]
            self.keep(self.result)
            took = time.monotonic() - began
            pause = max(self.order.every - took, took * (1 / MOST_ASKING - 1))
            self._pause(min(pause, until - time.monotonic()))
        self._pause(until - time.monotonic())

    def _sampled(self, one: Question) -> bool:
        """Ask a question of a sample and write the answer; whether it is to be asked again."""
        number = str(self.result.samples)
        try:
            parts, seconds = self._ask(one, NUMBER=number)
        except Refused as error:
            if all(left["question"] != one.name for left in self.result.left_out):
                why, do = _reason(error)
                self.result.leave(one.name, f"sample {number}: {why}", do)
            return error.number is None  # what was late or lost may come again; what the server refuses does not
        self._append(one, one.name, one.file, parts, seconds, NUMBER=number)
        return True

    def _stopped(self) -> bool:
        return (self.folder / STOP).exists()

    def _pause(self, seconds: float) -> None:
        """Wait, unless somebody has it stopped."""
        until = time.monotonic() + seconds
        if seconds > 0:
            self.tell(f"{self.result.samples} samples taken, the next in {seconds:,.0f} s", seconds + SLACK)
        while (left := until - time.monotonic()) > 0 and not self._stopped():
            time.sleep(min(LOOK, left))

    def _plan(self, *, counting: bool) -> None:
        """Note what is to be asked: should we not come to it, it is named."""
        asked = [one.name for one in of("once") if self._wanted(one)]
        asked += [_of_database(name) for name, _ in self.databases]
        if counting:
            snapshot = [one.name for one in of("snapshot") if self._wanted(one)]
            asked += [*snapshot, *map(_second, snapshot), *(one.name for one in of("last") if self._wanted(one))]
        if self.order.sysmon and self._wanted(question("sysmon")):
            asked.append("sysmon")
        self.result.planned = asked
        self.keep(self.result)

    def _login(self) -> Server:
        self.tell("the login", self.order.login_seconds)
        return Server(self.connection, self.order.login_seconds)

    def _identify(self) -> None:
        try:
            rows = _rows(self._ask(question("server"))[0])
        except Refused as error:
            says = f"{self.connection.where} took the login, but did not answer who it is ({error.text})"
            kind = Silent if error.number is None else CollectorFailed
            raise kind(says, "see that it is not stopped or overloaded, and try again") from None
        version = str(rows[0][1]) if rows and len(rows[0]) > 1 else ""
        found = VERSION.search(version)
        if not found:
            says = f"{self.connection.where} is no SAP ASE: it calls itself {plain(version)[:80] or 'nothing'}"
            raise CollectorFailed(says, "see that address and port are those of an Adaptive Server")
        self.release = release_in(version) or (int(found[1]), int(found[2]))
        if self.release < OLDEST:
            says = f"{self.connection.where} is an ASE {found[1]}.{found[2]}"
            raise CollectorFailed(
                says, f"upload exports by hand: releases before {OLDEST[0]}.{OLDEST[1]} are not asked"
            )
        self.result.server, self.result.version = plain(str(rows[0][0] or "")[:60]), plain(version[:400])

    def _settle(self) -> None:
        """Have our session wait for no lock; a server that does not know how to is asked all the same."""
        for one in of("connect"):
            if self._wanted(one):
                try:
                    self._ask(one)
                except Refused as error:
                    self.result.leave(one.name, *_reason(error))

    def _count_engines(self) -> None:
        rows = self._first("engines") if self._wanted(question("engines")) else []
        self.result.engines = len(rows) or None

    def _may(self) -> None:
        """Ask for roles and switches; what the server does not say stays unknown."""
        roles = self._first("login")
        if roles and len(roles[0]) > 2:
            had = set(str(roles[0][0] or "").split())
            had |= {name for name, has in zip(("mon_role", "sa_role", "sso_role"), roles[0][1:], strict=False) if has}
            self.allowed = Allowed(tuple(sorted(map(plain, had))), None)
            self.result.roles = sorted(map(plain, had))
        switches = {str(row[0]): row[1] not in (0, "0") for row in self._first("switches") if row[1] is not None}
        if switches:
            self.allowed = Allowed(self.allowed.roles, switches)
            self.result.switches = switches

    def _columns_and_databases(self) -> None:
        """Ask what the questions below are made of."""
        if self._wanted(question("columns")):
            self.unsigned = {(str(row[0]), str(row[1])) for row in self._first("columns") if _is_32_bits(row[2])}
        if not self.order.sizes or not self._wanted(question("tables")):
            return
        for name, number in self._first("databases"):
            if isinstance(number, int) and not OF_THE_SYSTEM.fullmatch(str(name)):
                self.databases.append((str(name), number))
        for name, _ in self.databases[MOST_DATABASES:]:
            self.result.leave(_of_database(name), f"more than {MOST_DATABASES} databases", "ask it by hand")
        del self.databases[MOST_DATABASES:]

    def _first(self, name: str) -> list[tuple[object, ...]]:
        """The rows of a question whose answer is not written; none where it failed, which is noted."""
        try:
            return _rows(self._ask(question(name))[0])
        except Refused as error:
            self.result.leave(name, *_reason(error))
            return []

    def _wanted(self, one: Question) -> bool:
        """Whether a question is asked; one that cannot be is noted once."""
        if one.name in self.order.without:
            why: Lack | None = Lack("left out as was asked for", "")
        else:
            why = why_not(one, self.release, self.allowed)
        if why and all(left["question"] != one.name for left in self.result.left_out):
            self.result.leave(one.name, why.what, why.how)
        return why is None

    def _write_each(self, asked: Sequence[Question]) -> None:
        for one in asked:
            if self._wanted(one):
                self._write(one, one.name, one.file)

    def _snapshot(self, number: int, asked: Sequence[Question]) -> None:
        file = question("snapshot").file.replace("<N>", str(number))
        for one in asked:
            if self._wanted(one):
                self._write(one, one.name if number == 1 or one.when == "last" else _second(one.name), file)
        self.result.snapshots += file in self.result.files

    def _database(self, name: str, number: int) -> None:
        one, called = question("tables"), _of_database(name)
        try:
            places = {"DATABASE": quoted(name), "DBID": str(number)}
        except NotReadOnly as error:
            self.result.leave(called, str(error), "ask it by hand")
            return
        self._write(one, called, one.file.replace("<DBID>", str(number)), **places)

    def _sysmon(self, length: str) -> None:
        one = question("sysmon")
        if self._wanted(one):
            self._write(one, one.name, one.file, TIME=length)

    def _write(self, one: Question, called: str, file: str, **places: str) -> None:
        """Ask, and write the answer to its file; a question that fails is noted, and the others go on."""
        self._write_answer(one, called, file, places)
        if called in self.result.planned:
            self.result.planned.remove(called)
        self.keep(self.result)

    def _write_answer(self, one: Question, called: str, file: str, places: Mapping[str, str]) -> None:
        try:
            parts, seconds = self._ask(one, **places)
        except Refused as error:
            self.result.leave(called, *_reason(error))
            return
        if not parts:
            self.result.leave(called, "the server answered with nothing at all", "ask it by hand and upload the answer")
            return
        self._append(one, called, file, parts, seconds, **places)

    def _append(
        self, one: Question, called: str, file: str, parts: Sequence[Part], seconds: float, **places: str
    ) -> None:
        """Write an answer behind those that the file has."""
        written = self.result.files.setdefault(file, Written(file))
        with (self.folder / file).open("a", encoding="utf-8", newline="\n") as out:
            out.write(printed(one.filled(**places), masked(parts)))
            out.flush()
            written.bytes = out.tell()
        rows = sum(len(part.rows) for part in parts if isinstance(part, ResultSet))
        if called not in written.questions:
            written.questions.append(called)
        written.rows += rows
        written.seconds = round(written.seconds + seconds, 3)
        if one.most_rows and rows >= one.most_rows:
            bounded = f"{called}: the first {one.most_rows:,} rows"
            written.bounded += [] if bounded in written.bounded else [bounded]

    def _ask(self, one: Question, **places: str) -> tuple[list[Part], float]:
        """Ask; once more after a deadlock; connect anew after a lost line. Raises `Refused`, `CollectorFailed`."""
        most = self._seconds(one)
        began = time.monotonic()
        for last in (False, True):
            self.tell(f"`{one.name}`", 2 * most + SLACK)
            try:
                parts = self.server.ask(one.filled(**places), most, one.table, self.unsigned)
            except Refused as error:
                if last or error.number != DEADLOCK:
                    raise
                time.sleep(0.5)
            except Lost as error:
                late = isinstance(error, Slow) or time.monotonic() - began >= most
                self._reconnect(one, error, late=late)
                if late:
                    raise TooLate(f"no whole answer within {most:,.0f} s") from None
                raise Refused(None, f"the connection was lost: {error}") from None
            else:
                self.reconnects = 0
                return parts, time.monotonic() - began
        raise AssertionError

    def _seconds(self, one: Question) -> float:
        """How long a question may take. Raises `Refused` where no time is left for it."""
        most = max(one.seconds, self.order.least_question_seconds)
        most = most if self.order.question_seconds is None else self.order.question_seconds
        if one.name == "server" and self.order.first_word_seconds is not None and not self.result.version:
            most = self.order.first_word_seconds
        most += seconds_of(self.order.sysmon) if one.when == "sysmon" else 0.0
        left = self.until - self.reserved - time.monotonic()
        if left < 1.0:
            raise NoTime(f"no time was left for it of the {self.order.total_seconds:,.0f} s that all of it may take")
        return min(most, left)

    def _reconnect(self, one: Question, error: Lost, *, late: bool) -> None:
        """Connect anew after a lost connection. Raises `CollectorFailed` where that does not help."""
        self.server.close()
        self.reconnects += 1
        self.lost += 1
        if not self.result.version:
            says = f"{self.connection.where} took the login, but did not answer who it is ({error})"
            raise Silent(says, "see that it is not stopped or overloaded, and try again") from None
        if self.reconnects > MOST_RECONNECTS or self.lost > MOST_LOST:
            what = "did not answer in time" if late else "dropped the connection"
            says = f"{self.connection.where} {what} {self.lost} times, last while `{one.name}` was asked ({error})"
            raise CollectorFailed(says, "look into the error log of the server, and at the network between") from None
        self.server = self._login()
        for setting in of("connect"):
            with suppress(Refused, Lost):  # lost again: the next question says so
                self.server.ask(setting.sql, min(setting.seconds, SLACK))

    def _wait(self, seconds: float) -> None:
        if seconds > 0:
            self.tell(f"waiting {seconds:,.0f} s for the second snapshot", seconds + SLACK)
            time.sleep(seconds)


def kept_of(order: CollectRequest) -> float:
    """Seconds that are kept for the interval and the second snapshot; a fifth stays for what comes before."""
    between = max(order.seconds, seconds_of(order.sysmon))
    return min(between + FOR_THE_LAST * order.total_seconds, 0.8 * order.total_seconds)


class Untold(Refused):
    """No answer that the server gave, but none at all."""

    def __init__(self, text: str) -> None:
        """Take what to say."""
        super().__init__(None, text)


class NoTime(Untold):
    """A question is not asked because the time for all of it is over."""


class TooLate(Untold):
    """A question is not answered within its time."""


def _of_database(name: str) -> str:
    return f"tables of {plain(name)}"


def _second(name: str) -> str:
    """What a question of the second snapshot is called."""
    return f"{name}{SECOND}"


def now() -> str:
    """The time of this machine, to the second."""
    return datetime.now(UTC).isoformat(timespec="seconds")


def _rows(parts: Sequence[Part]) -> list[tuple[object, ...]]:
    """The rows of the first result set."""
    return next(([tuple(row) for row in part.rows] for part in parts if isinstance(part, ResultSet)), [])


def _is_32_bits(kind: object) -> bool:
    return str(kind).strip().lower() in ("unsigned int", "unsigned")


def _reason(error: Refused) -> tuple[str, str]:
    """Why a question was not answered, and what to do about it."""
    why = error.text if error.number is None else f"Msg {error.number}: {error.text}"
    if isinstance(error, NoTime):
        return why, LESS
    if isinstance(error, TooLate):
        return why, f"{LONGER}, or {WITHOUT}"
    match error.number:
        case 12205:
            return why, "collect again when nobody holds that lock (DDL that is not committed?): the others were asked"
        case 10353 | 10330:
            return why, "grant the role it names: sp_role 'grant', <role>, <login>"
        case 12052:
            return why, "set what it names by sp_configure, 'enable monitoring' first"
        case 208:
            return why, "run the script installmontables, or installmaster of this release"
        case 2812:
            return why, "run the script installmaster of this release"
        case 911 | 916 | 10351 | 10334:
            return why, "add the login to that database (sp_adduser), or leave it: the others were asked"
        case 921 | 930 | 950:
            return why, "collect again when that database is online: the others were asked"
        case 1205:
            return why, "collect again: it was chosen as the victim of a deadlock twice"
    return why, "ask it by hand with this login and see what the server says"


TEXT = "SQLText"
"""The column that `monCachedStatement` is asked to give the text in (`questions.sql`)."""


def masked(parts: Sequence[Part]) -> list[Part]:
    """An answer with the text of statements in it rid of values; any other as it is."""
    return [_masked(part) if isinstance(part, ResultSet) and TEXT in part.columns else part for part in parts]


def _masked(one: ResultSet) -> ResultSet:
    at = one.columns.index(TEXT)
    rows = [(*row[:at], _text(row[at]), *row[at + 1 :]) for row in one.rows]
    return ResultSet(one.columns, rows)


def _text(value: object) -> object:
    return value if value is None else without_literals(str(value))
