"""The server's error log.

15.7 and later print instance, thread (in process mode the engine), family and SPID before the time; up to 15.5 the
instance is missing::

    00:0006:00000:00029:2024/03/12 14:05:44.92 server  1 task(s) are sleeping waiting for space to become available …
    03:00000:00029:2004/03/15 13:16:38.19 server  Deadlock Id 11 detected

Read are: the time it covers; engines that came online; messages that locks have run out (1204), that a log is full
(7412, 7413, 7415, and 1105 where it names `syslogs` or `logsegment`), that a dump could not truncate it, that another
segment of a database is (1105), that the procedure cache has no room (701, 709, 720) or no user connection is left
(1601), that a process was ended by a fault (`infected with`), that the RepAgent of a database ended or began, and
deadlocks, with their chain while `print deadlock information` is 1::

    … Deadlock Id 11: Process (Familyid 0, Spid 29, Suid 4) was executing a INSERT command in the procedure 'p'.
    … Deadlock Id 11: Process (Familyid 0, Spid 29) was waiting for a 'exclusive page' lock on page 1155 of the 'item'
      table in database 8 but process (Familyid 0, Spid 38) already held a 'shared page' lock on it.
    … Deadlock Id 11: Process (Familyid 0, Spid 29) was chosen as the victim. End of deadlock information.

* A log is of any length and goes on for years: it is read line by line, messages are counted by the hour, and of the
  chains the newest are kept.
* An error is two lines, its number and then its text, and counted by its number: the next text of its kind within a
  second belongs to it, whichever process prints that. Two messages of one process within a second are one event.
* The words of a row lock in a chain are recalled; a chain that is not understood leaves the deadlock counted alone.
* What statements did, and their texts, are left in the log. A line without its own time goes on with the one above.
"""

import re
from collections.abc import Iterator, Sequence
from datetime import datetime, timedelta

from collectors.facts.ase import Deadlock, ErrorLog, LogEvent
from collectors.facts.base import ABSENT, Fact, Source
from collectors.registry import Outcome, stream

PREFIX = (
    r"(?:[0-9]{2}:)?[0-9]{2,4}:[0-9]{5}:(?P<spid>[0-9]{5}):"
    r"(?P<time>[0-9]{4}/(?:0[1-9]|1[0-2])/(?:0[1-9]|[12][0-9]|3[01]) (?:[01][0-9]|2[0-3])"
    r"(?::[0-5][0-9]){2}\.[0-9]{1,3})"
    r" {1,4}(?:server|kernel)\b"
)
LINE = re.compile(rf"{PREFIX}\s{{0,9}}(?P<said>.*)")
START = re.compile(
    r"^(?:[0-9]{2}:)?[0-9]{2,4}:[0-9]{5}:[0-9]{5}:[0-9]{4}/[0-9]{2}/[0-9]{2} .{11} {1,4}(?:server|kernel)\b"
)
PROMPT = re.compile(r"\s*(?:[0-9]{1,6}:)?[0-9]{1,6}>")
HEAD = re.compile(r"\bError: [0-9]")
LOCKS = re.compile(r"\bError: (?:1204|1279)\b|\brun out of locks\b", re.IGNORECASE)
PROCEDURES = re.compile(
    r"\bError: (?:701|709|720)\b|\bnot enough procedure cache\b|\bprocedure memory control descriptor\b"
    r"|\binsufficient system memory to continue login\b",
    re.IGNORECASE,
)
"""Vendor: Error Messages and Advanced Resolution 15.0, 701, 709 and 720; what is done about each is a larger
`procedure cache size`."""
CONNECTIONS = re.compile(r"\bError: 1601\b|\bnot enough '?user connections'? available to start\b", re.IGNORECASE)
LOG_FULL = re.compile(
    r"critically low in database '(?P<low>[^']{1,255})'|log segment for database '?(?P<waited>[\w#@$]{1,255})"
    r"|transaction log in database '?(?P<almost>[\w#@$]{1,255})'? is almost full",
    re.IGNORECASE,
)
NOT_TRUNCATED = re.compile(
    r"\bdump tran(?:saction)? for database '(?P<database>[^']{1,255})' could not truncate the log\b", re.IGNORECASE
)
"""That all of a log is behind its oldest transaction, or its replication: the text is recalled."""
NO_SPACE = re.compile(
    r"allocate space for object '(?P<object>[^']{0,255})' in database '(?P<database>[^']{1,255})' because (?:the )?"
    r"'(?P<segment>[^']{1,255})' segment is full",
    re.IGNORECASE,
)
"""The text of 1105; the line with its number names no database."""
AGENT = re.compile(
    r"\bRep\s?Agent\b.{0,40}\bdatabase,?\s{1,3}'(?P<database>[^']{1,255})'.{0,40}\b(?:terminated|is exiting)\b"
    r"|\bRepAgent\((?P<number>[0-9]{1,6})\):\s{1,3}Shutting down the Replication Agent for database,?\s{1,3}"
    r"'?(?P<shut>[\w#$]{1,255})\b"
    r"|\bStarted\s{1,3}Rep\s?Agent\b.{0,20}\bdatabase,?\s{1,3}'(?P<started>[^']{1,255})'",
    re.IGNORECASE,
)
"""That the thread which sends a database's log to Replication Server ended, or began: the texts are recalled."""
AGENT_ERROR = re.compile(
    r"\bRep\s?Agent\b.{0,40}\bdatabase,?\s{1,3}'(?P<database>[^']{1,255})' received the following error "
    r"message from the Replication Server:\s{1,3}(?P<error>.{1,200})",
    re.IGNORECASE,
)
"""Why it ended, said just before: its text is recalled."""
AGENT_SAYS = re.compile(
    r"\bRepAgent\((?P<number>[0-9]{1,6})\):\s{1,3}(?:Received the following error message from the Replication Server:"
    r"\s{1,3}(?P<error>.{1,200})|(?P<connection>Failed to connect to Replication Server)\b)",
    re.IGNORECASE,
)
"""The same where a RepAgent is told by a number: that it does not connect any more is often what follows of it."""
STACK = re.compile(r"\bcurrent process\b.{0,60}\binfected (?:with|at)\b", re.IGNORECASE)
ENGINE = re.compile(
    r"\bonline as engine (?P<thread>[0-9]{1,4})\b|\bengine (?P<process>[0-9]{1,4}), os pid [0-9]+\s+online\b"
)
DEADLOCK = re.compile(r"Deadlock Id (?P<number>[0-9]{1,12}):?\s{1,3}detected", re.IGNORECASE)
NUMBER = re.compile(r"Deadlock Id (?P<number>[0-9]{1,12}):", re.IGNORECASE)
QUOTE = "['\u2018\u2019\"]"


def _process(name: str) -> str:
    """The pattern of a process in a chain, its SPID under this name."""
    return rf"process \(Familyid [0-9]{{1,6}}, (?:Spid )?(?P<{name}>[0-9]{{1,6}})[^)]{{0,40}}\)"


DOES = re.compile(
    rf"{_process('spid')}.{{0,40}} was executing an? (?P<command>[A-Z][A-Z ]{{0,40}}?) command"
    rf"(?: in the procedure {QUOTE}(?P<procedure>[^'\"\u2019]{{1,255}}){QUOTE})?",
    re.IGNORECASE,
)
PLACE = r"(?:row (?P<row>[0-9]{1,9})\W{1,3}(?:of |on )?)?page (?P<page>[0-9]{1,12})"
WAITS = re.compile(
    rf"{_process('waiter')} was waiting for an? {QUOTE}(?P<wanted>[a-z ]{{1,40}}){QUOTE} lock on {PLACE} of the "
    rf"{QUOTE}(?P<table>[^'\u2019]{{1,255}}){QUOTE} table in database {QUOTE}?(?P<database>[\w#@$]{{1,255}}){QUOTE}?,? "
    rf"but {_process('holder')} already held an? {QUOTE}(?P<held>[a-z ]{{1,40}}){QUOTE} lock",
    re.IGNORECASE,
)
VICTIM = re.compile(rf"{_process('spid')} was chosen as the victim", re.IGNORECASE)
TELLING = re.compile(
    r"deadlock|process|locks|error:|procedure|connections|system memory|critically low|log segment|almost full"
    r"|allocate space|engine|rep ?agent|not truncate",
    re.IGNORECASE,
)
"""Without one of these words a line tells nothing: most do not, in logs of millions of lines."""
MOST_HOURS, MOST_EDGES = 20_000, 20_000
"""Of counted messages and of edges of deadlocks that are kept, the newest (this project)."""
LONGEST = 4_000
LONGEST_CHAIN = timedelta(minutes=1)
"""This project: a chain is written at once; without `print deadlock information` there is none, and no end of it."""


@stream(starts=START, provides=(ErrorLog, LogEvent, Deadlock))
class Log:
    """One log, line by line."""

    def __init__(self, file: str, above: Sequence[str]) -> None:
        """Begin with the first line that has a time."""
        self.file = file
        self.lines = (0, 0)
        self.times = ("", "")
        """The first and the newest, as printed: to read each would take longer than all the rest."""
        self.started: datetime | None = None
        self.engines: set[int] = set()
        self.hours: dict[tuple[str, str | None, datetime], LogEvent] = {}
        self.told: dict[tuple[str, str], datetime] = {}
        """When a process told of something of this kind last."""
        self.heads: dict[str, datetime] = {}
        """When an error of this kind told its number and its text is still to come."""
        self.errors: dict[str, str] = {}
        """By database, or by the number of a RepAgent, what Replication Server told it last."""
        self.chain = _Chain()
        self.edges: list[Deadlock] = []
        self.problems: list[str] = []

    def feed(self, first: int, lines: Sequence[str]) -> int:
        """Take lines up to one of another export."""
        for at, line in enumerate(lines):
            if PROMPT.match(line) and not START.match(line):
                return at
            self._hear(first + at, line[:LONGEST])
        return len(lines)

    def close(self) -> Outcome:
        """Hand over what the log says."""
        self._end_chain()
        facts: list[Fact] = []
        first, last = map(_moment, self.times)
        if first and last:
            facts.append(
                ErrorLog(
                    first=first,
                    last=last,
                    started=self.started,
                    engines=len(self.engines) if self.started else None,
                    source=Source(self.file, *self.lines),
                )
            )
        else:
            self.problems.append("the first or the last time of this log is none, so its messages are of no known time")
        facts += [*self.hours.values(), *self.edges]
        return Outcome(facts=facts, problems=self.problems)

    def _hear(self, number: int, line: str) -> None:
        found = LINE.match(line)
        said, spid = (found["said"], found["spid"]) if found else (line, "")
        if found:
            self.times = (self.times[0] or found["time"], found["time"])
        self.lines = (self.lines[0] or number, number)
        when = _moment(self.times[1]) if TELLING.search(said) else None
        if when is None:
            return
        if self.chain.when and when - self.chain.when > LONGEST_CHAIN:
            self._end_chain()
        if deadlock := DEADLOCK.search(said):
            if self.chain.number != int(deadlock["number"]):
                self._end_chain()
                self._count(number, when, LogEvent.DEADLOCK)
            self.chain = _Chain(int(deadlock["number"]), when, spid)
        elif self.chain.number is not None and (spid in ("", self.chain.spid) or self.chain.named_in(said)):
            if self.chain.hear(said, Source(self.file, number, number)):
                self._end_chain()
        elif LOCKS.search(said):
            self._once(number, when, spid, LogEvent.LOCKS, said)
        elif PROCEDURES.search(said):
            self._once(number, when, spid, LogEvent.PROCEDURES, said)
        elif CONNECTIONS.search(said):
            self._once(number, when, spid, LogEvent.CONNECTIONS, said)
        elif full := LOG_FULL.search(said):
            database = full["low"] or full["waited"] or full["almost"]
            self._once(number, when, spid, LogEvent.LOG_FULL, said, database)
        elif dump := NOT_TRUNCATED.search(said):
            self._count(number, when, LogEvent.NOT_TRUNCATED, dump["database"])
        elif space := NO_SPACE.search(said):
            of_log = space["object"].lower() == "syslogs" or space["segment"].lower() == "logsegment"
            kind = LogEvent.LOG_FULL if of_log else LogEvent.SEGMENT_FULL
            self._once(number, when, spid, kind, said, space["database"])
        elif error := AGENT_ERROR.search(said):
            self.errors[error["database"]] = error["error"]
        elif says := AGENT_SAYS.search(said):
            if says["error"]:
                self.errors[says["number"]] = says["error"]
            else:
                self.errors.setdefault(says["number"], says["connection"])
        elif agent := AGENT.search(said):
            ended = agent["database"] or agent["shut"]
            kind = LogEvent.AGENT_ENDED if ended else LogEvent.AGENT_STARTED
            database = ended or agent["started"]
            self._count(number, when, kind, database, self.errors.pop(agent["number"] or database, None))
        elif STACK.search(said):
            self._count(number, when, LogEvent.STACK)
        elif engine := ENGINE.search(said):
            which = int(engine["thread"] or engine["process"])
            if which == 0:
                self.started, self.engines = when, set()
            self.engines.add(which)

    def _once(self, number: int, when: datetime, spid: str, kind: str, said: str, database: str | None = None) -> None:
        """Count a message, unless it is the text of an error that is counted, or of the same process and second."""
        if HEAD.search(said):
            self.heads[kind] = when
        elif (head := self.heads.pop(kind, None)) and abs((when - head).total_seconds()) < 1:
            return
        before, self.told[kind, spid] = self.told.get((kind, spid)), when
        if before is None or abs((when - before).total_seconds()) >= 1:
            self._count(number, when, kind, database)

    def _count(
        self, number: int, when: datetime, kind: str, database: str | None = None, error: str | None = None
    ) -> None:
        key = (kind, database, when.replace(minute=0, second=0, microsecond=0))
        before = self.hours.get(key)
        self.hours[key] = LogEvent(
            kind=kind,
            database=database,
            first=before.first if before else when,
            last=when,
            count=(before.count if before else 0) + 1,
            error=error,
            source=Source(self.file, number, number),  # one line: between two may stand texts of statements
        )
        if len(self.hours) > MOST_HOURS:
            del self.hours[next(iter(self.hours))]

    def _end_chain(self) -> None:
        """Keep the chain that was read."""
        self.edges = [*self.edges, *self.chain.edges()][-MOST_EDGES:] if self.chain.waits else self.edges
        self.chain = _Chain()


class _Chain:
    """The lines of one deadlock: to its end all that its process writes, texts of statements included."""

    def __init__(self, number: int | None = None, when: datetime | None = None, spid: str = "") -> None:
        self.number, self.when, self.spid = number, when, spid
        self.does: dict[int, re.Match[str]] = {}
        self.waits: list[tuple[re.Match[str], Source]] = []
        self.victim: int | None = None

    def named_in(self, said: str) -> bool:
        """Whether a line names this deadlock, whichever process wrote it."""
        named = NUMBER.match(said)
        return named is not None and int(named["number"]) == self.number

    def hear(self, said: str, source: Source) -> bool:
        """Take a line; whether it is the last one."""
        if does := DOES.search(said):
            self.does[int(does["spid"])] = does
        elif waits := WAITS.search(said):
            self.waits.append((waits, source))
        elif victim := VICTIM.search(said):
            self.victim = int(victim["spid"])
            return True
        return False

    def edges(self) -> Iterator[Deadlock]:
        """One fact for each wait."""
        for waits, source in self.waits:
            waiter, holder = int(waits["waiter"]), int(waits["holder"])
            number = waits["database"].isdigit()
            yield Deadlock(
                deadlock_id=self.number,
                resolved=self.when,
                logged=True,
                victim_spid=self.victim,
                database=None if number else waits["database"],
                db_id=int(waits["database"]) if number else None,
                object_name=waits["table"],
                page=float(waits["page"]),
                row=float(waits["row"]) if waits["row"] else ABSENT,
                held_spid=holder,
                wait_spid=waiter,
                held_lock=waits["held"],
                waited_lock=waits["wanted"],
                held_command=self._what(holder, "command"),
                wait_command=self._what(waiter, "command"),
                held_procedure=self._what(holder, "procedure"),
                wait_procedure=self._what(waiter, "procedure"),
                source=source,
            )

    def _what(self, spid: int, part: str) -> str | None:
        """What a process did; a procedure that is only a number, `objid 0`, is none."""
        does = self.does.get(spid)
        said = does[part] if does else None
        return None if said is None or said.startswith("objid ") else said


def _moment(text: str) -> datetime | None:
    try:
        return datetime.strptime(text, "%Y/%m/%d %H:%M:%S.%f")  # noqa: DTZ007 - the server's own clock
    except ValueError:
        return None
