"""Each part on a host of its own: hosts that die, that are cut off, and that come back."""

import re
import shutil
import socket
import tempfile
import time
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Any

import httpx
import psycopg
import pytest

from advisor.core.heartbeats import SILENT
from tests.faults.conftest import PLANTS, Crew, Measured
from tests.faults.exports import many, sysmon
from tests.faults.gate import JUDGED, KEEPING, SAMPLES, Place, gate
from tests.faults.hosts import NETWORK, Hosts, hosts, relayed, why_not
from tests.faults.plant import ALL, Part, Plant
from tests.faults.postbox import OPEN, Postbox
from tests.faults.truth import assert_all_is_true, words_of
from tests.servers import PATIENCE, Redis, eventually, postgres_server, redis

pytestmark = pytest.mark.long

WORKERS = ("worker1", "worker2")
OUTAGE = 50
"""Seconds that a host is cut off: longer than a worker may be silent before it is taken for dead."""
HOURS = f"{4 * 3600}"
"""TASK_SECONDS: no test waits until a claim is too old for any task."""


class Spread(Plant):
    """A plant of which each part has a host of its own, named like it."""

    def __init__(self, folder: Path, hosts: Hosts, database: str, broker: Redis) -> None:
        """Take the addresses; `database` is that of PostgreSQL's Unix socket, for the test and its shell."""
        super().__init__(folder, database, broker.address, TASK_SECONDS=HOURS)
        self.hosts, self.broker = hosts, broker
        self.shell_on = hosts["desk"].enter
        self.address = f"http://{hosts['web'].address}:{self.port}"
        self.environment["SITE_URL"] = self.address
        self.over_wire = re.sub(r"@[^:]*:", f"@{hosts['database'].address}:", database)
        self.door = folder / "door"
        for client in (self.http, self.browser):
            client.close()
        self.http, self.browser = self._client(self.door), self._client(self.door)

    def start(self, name: str, *command: str, on: Sequence[str] = (), **environment: str) -> Part:
        """Start a part on the host of its name."""
        more = {"DATABASE_URL": self.over_wire, **environment}
        return super().start(name, *command, on=on or self.hosts[name].enter, **more)

    def whole(self) -> None:
        """Start what stood on hosts that have died: each part can be reached then."""
        dark = [name for name in ("web", "scheduler") if not self.hosts.lives(name)]
        for name in dark:
            self.hosts.boot(name)
        if "web" in dark:
            self.web()
        if "scheduler" in dark:
            self.beat("scheduler")
        for name in WORKERS:
            if not self.hosts.lives(name):
                self.hosts.add(name)
                self.worker(name, ALL)
        self.ready()

    @contextmanager
    def through(self, web: str) -> Iterator[None]:
        """Have requests go to the web server of another host, as a proxy does that finds the first one dead."""
        door, before = self.folder / f"door-{web}", (self.http, self.browser)
        with (
            relayed(self.hosts["desk"], (str(door), f"{self.hosts[web].address}:{self.port}")),
            self._client(door, before[0]) as self.http,
            self._client(door, before[1]) as self.browser,
        ):
            try:
                yield
            finally:
                self.http, self.browser = before

    def _client(self, door: Path, like: httpx.Client | None = None) -> httpx.Client:
        """Somebody's browser or script at a door; `like`: with the token or the cookie of this one."""
        more: dict[str, Any] = {"headers": like.headers, "cookies": like.cookies} if like else {}
        transport = httpx.HTTPTransport(uds=str(door))
        return httpx.Client(base_url=self.address, timeout=PATIENCE, transport=transport, **more)

    def host_of(self, claimant: str) -> str:
        """Which host a claim is of; empty: of none that lives."""
        return next((name for name, host in self.hosts.all.items() if host.place in claimant), "")

    def at_work(self, uploads: list[int], name: str) -> list[int]:
        """Those of the uploads that a host has, or had last."""
        place = self.hosts[name].place
        return [pk for pk, claimant in self.rows("Upload", "pk", "claimant", pk__in=uploads) if place in claimant]


@pytest.fixture(scope="module")
def plant() -> Iterator[Spread]:
    if why := why_not():
        pytest.skip(why)
    with ExitStack() as stack:
        folder = Path(stack.enter_context(tempfile.TemporaryDirectory(prefix="lw-")))
        there = stack.enter_context(hosts("web", *WORKERS, "scheduler", "database", "broker", "desk"))
        database = stack.enter_context(
            postgres_server(
                settings=["listen_addresses=*"],
                before=there["database"].enter_as_anybody,
                network=f"{NETWORK}.0/24",
            )
        )
        broker = stack.enter_context(redis(before=there["broker"].enter, host=there["broker"].address))
        plant = Spread(folder, there, database.make("hosts"), broker)
        stack.callback(there.end)  # servers end with their hosts, before their folders go
        stack.callback(plant.end)
        PLANTS.append(plant)
        stack.callback(PLANTS.remove, plant)
        ways = (str(plant.door), f"{there['web'].address}:{plant.port}")
        mail = (f"{there['desk'].address}:2525", str(folder / "postbox"))
        stack.enter_context(relayed(there["desk"], ways, mail))
        plant.ask("migrate")
        yield plant


@pytest.fixture(scope="module")
def postbox(plant: Spread) -> Iterator[Postbox]:
    box = Postbox(plant.folder / "postbox")
    box.open()
    yield box
    box.hold = OPEN
    box.close()


@pytest.fixture(scope="module", autouse=True)
def _service(plant: Spread, crew: Crew, postbox: Postbox) -> None:
    plant.ask("mail_server", host=plant.hosts["desk"].address, port=2525)
    plant.web()
    plant.beat("scheduler")
    for name in WORKERS:
        plant.worker(name, ALL)
    plant.ready()


@pytest.fixture(autouse=True)
def _whole(plant: Spread) -> None:
    plant.whole()


def put(plant: Spread, crew: Crew, name: str, count: int = 3) -> list[int]:
    """Put mails into the outbox, each to an address of its own."""
    given: dict[str, Any] = {"team": crew.team, "user": crew.user}
    to = [plant.ask("recipient", address=f"{name}{number}@example.org", **given) for number in range(count)]
    return [plant.ask("mail", recipient=one) for one in to]


def sent(plant: Spread, mails: list[int]) -> bool:
    return set(plant.rows("Mail", "state", pk__in=mails)) == {"done"}


def came(plant: Spread, postbox: Postbox, mails: list[int]) -> list[int]:
    """How often each of them came."""
    return [postbox.times()[number] for number in plant.rows("Mail", "message_id", pk__in=mails)]


def assert_kept_once(plant: Spread, uploads: list[int], samples: int = SAMPLES) -> None:
    """Each upload is audited whole, and nothing is there twice."""
    assert [len(plant.rows("Capture", "pk", upload=upload)) for upload in uploads] == [samples] * len(uploads)
    assert_all_is_true(plant)


def test_an_upload_over_the_network_is_audited_and_mailed(plant: Spread, crew: Crew, postbox: Postbox) -> None:
    plant.ask("recipient", team=crew.team, user=crew.user, address="across@example.org")
    upload = plant.bring(sysmon("ACROSS"))
    eventually(lambda: plant.done(upload))
    assert plant.host_of(plant.one("Upload", "claimant", pk=upload)) in WORKERS
    told = {"to": "across@example.org", "system__name": "ACROSS"}
    eventually(lambda: plant.rows("Mail", "pk", state="done", **told))
    (number,) = plant.rows("Mail", "message_id", **told)
    assert postbox.times()[number] == 1
    assert "ACROSS" in words_of(plant, "/")
    assert_kept_once(plant, [upload], 1)


@pytest.mark.parametrize(
    "stage", [pytest.param(JUDGED, id="judging"), pytest.param(KEEPING, id="keeping", marks=pytest.mark.long)]
)
def test_a_worker_host_that_dies_leaves_its_work_to_the_other(
    stage: Place, plant: Spread, measured: Measured, request: pytest.FixtureRequest
) -> None:
    with gate(plant, stage) as closed:
        uploads = [plant.bring(many(f"DEAD{stage.number}{number}", SAMPLES)) for number in range(7)]
        closed.wait_for(4)  # two processes of each host; the others wait in the queue or were fetched before their time
        lost = plant.at_work(uploads, "worker2")
        assert len(lost) == 2
        plant.hosts.die("worker2")
        died = time.monotonic()
    eventually(lambda: plant.done(*uploads))
    measured(
        f"a host with a worker dies while {request.node.callspec.id} two uploads: they and 5 others are audited",
        time.monotonic() - died,
    )
    assert set(lost) <= set(plant.at_work(uploads, "worker1"))
    assert_kept_once(plant, uploads)


def test_the_host_that_sends_mail_dies_between_the_last_line_and_the_answer(
    plant: Spread, crew: Crew, postbox: Postbox, measured: Measured
) -> None:
    postbox.close_at("DATA", "died")
    mails = put(plant, crew, "died")
    assert postbox.held.wait(PATIENCE)
    plant.hosts.die(plant.host_of(plant.one("Lease", "claimant", name="mail")))
    died = time.monotonic()
    postbox.hold = OPEN
    eventually(lambda: sent(plant, mails))
    measured("the host that sends mail dies: all 3 mails are sent", time.monotonic() - died)
    assert sorted(came(plant, postbox, mails)) == [1, 1, 2]
    assert sorted(plant.rows("Mail", "again", pk__in=mails)) == [0, 0, 1]


@pytest.mark.long
def test_the_host_that_sends_mail_is_cut_off_and_comes_back(plant: Spread, crew: Crew, postbox: Postbox) -> None:
    postbox.close_at("RCPT", "cut")
    mails = put(plant, crew, "cut")
    assert postbox.held.wait(PATIENCE)
    name = plant.host_of(plant.one("Lease", "claimant", name="mail"))
    plant.hosts.cut_off(name)
    postbox.hold = OPEN
    eventually(lambda: sent(plant, mails))
    after = put(plant, crew, "later")
    plant.hosts.bring_back(name)
    eventually(lambda: sent(plant, after))
    eventually(lambda: ended(plant.part(name), "send_mails"), "what it had begun ends there")
    assert came(plant, postbox, mails + after) == [1] * 6


def ended(part: Part, task: str) -> bool:
    """Whether a worker has ended every task of a kind that it has received."""
    return not begun(part.said, task)


def begun(said: str, task: str) -> set[str]:
    """The ids of the tasks of a kind that were received and have not ended, by the words of one worker or more.

    One that comes too late is discarded as it is received: on a busy machine the clock's tasks expire.
    """
    name = rf"advisor\.\w+\.tasks\.{task}\[(\S+)\]"
    received = set(re.findall(rf"{name} received", said))
    late = set(re.findall(rf"Discarding revoked task: {name}", said))
    return received - late - set(re.findall(rf"{name} (?:succeeded|raised|retry|reject)", said))


def at_work(plant: Spread, task: str) -> set[str]:
    """The ids of the tasks of a kind that any worker has received and none has ended."""
    return begun("\n".join(plant.part(name).said for name in WORKERS), task)


def test_a_worker_host_that_is_cut_off_and_comes_back_does_nothing_twice(plant: Spread, measured: Measured) -> None:
    with gate(plant, JUDGED) as closed:
        uploads = [plant.bring(many(f"CUT{number}", SAMPLES)) for number in range(4)]
        closed.wait_for(4)
        lost = plant.at_work(uploads, "worker2")
        assert len(lost) == 2
        plant.hosts.cut_off("worker2")
        cut = time.monotonic()
    eventually(lambda: plant.done(*uploads))
    measured("a host with a worker is cut off with two uploads: they are audited elsewhere", time.monotonic() - cut)
    before = plant.rows("Upload", "claimant", "finished", "tries", pk__in=uploads)
    captures = plant.rows("Capture", "pk")
    plant.hosts.bring_back("worker2")
    eventually(lambda: ended(plant.part("worker2"), "read_upload"), "what it had begun ends there")
    assert plant.rows("Upload", "claimant", "finished", "tries", pk__in=uploads) == before
    assert plant.rows("Capture", "pk") == captures
    assert_kept_once(plant, uploads)
    eventually(lambda: takes_tasks(plant, "worker2"))


def takes_tasks(plant: Spread, name: str) -> bool:
    """Whether a worker begins something new of what is collected now."""
    before = plant.part(name).said.count("read_upload")
    upload = plant.bring(sysmon(f"AGAIN{time.monotonic_ns()}"))
    eventually(lambda: plant.done(upload))
    return plant.part(name).said.count("read_upload") > before


class Heard:
    """Every note of every worker, and when one was taken for dead, by the clock of the database."""

    def __init__(self, connection: "psycopg.Connection[Any]") -> None:
        """Begin to write them down."""
        self.connection = connection
        connection.execute(
            "CREATE TABLE heard AS SELECT name::text AS name, seen AS at, false AS forgotten FROM core_worker"
        )
        connection.execute("""
            CREATE OR REPLACE FUNCTION hear() RETURNS trigger LANGUAGE plpgsql AS $$
            BEGIN
                IF TG_OP = 'DELETE' THEN
                    INSERT INTO heard VALUES (OLD.name, clock_timestamp(), true);
                ELSE
                    INSERT INTO heard VALUES (NEW.name, NEW.seen, false);
                END IF;
                RETURN NULL;
            END $$""")
        connection.execute(
            "CREATE TRIGGER hear AFTER INSERT OR UPDATE OR DELETE ON core_worker FOR EACH ROW EXECUTE FUNCTION hear()"
        )
        self.begun = self.now()
        self.back: Any = None
        """When a database that was cut off could be reached again; `None`: it was there all the time."""

    def end(self) -> None:
        """Leave the database as it was."""
        self.connection.execute("DROP TRIGGER hear ON core_worker; DROP TABLE heard")

    def now(self) -> Any:
        """What the clock says."""
        ((now,),) = self.connection.execute("SELECT clock_timestamp()")
        return now

    def noted(self, place: str) -> bool:
        """Whether the worker of a place has noted that it lives since the line was back."""
        ((count,),) = self.connection.execute(
            "SELECT count(*) FROM heard WHERE position(%s IN name) > 0 AND NOT forgotten AND at > %s",
            [place, self.back],
        )
        return bool(count)

    def taken_for_dead_too_early(self) -> list[str]:
        """Workers that were forgotten before they had been silent for long enough while they could be heard.

        A worker that gets no processor for so long may be forgotten: nobody can tell it from a dead one.
        """
        found = self.connection.execute(
            "SELECT lost.name FROM heard lost WHERE forgotten AND lost.at > %s AND lost.at - greatest(%s::timestamptz,"
            " (SELECT max(at) FROM heard noted WHERE noted.name = lost.name AND NOT noted.forgotten"
            " AND noted.at < lost.at)) < %s",
            [self.back or self.begun, self.back, SILENT],
        )
        return [name for (name,) in found]


@contextmanager
def heard(plant: Spread) -> Iterator[Heard]:
    """Write down notes for as long as the context lasts, by the Unix socket: no wire is needed."""
    with psycopg.connect(plant.environment["DATABASE_URL"], autocommit=True) as connection:
        notes = Heard(connection)
        try:
            yield notes
        finally:
            notes.end()


def ticks(plant: Spread, name: str) -> int:
    """How many ticks of the clock a worker has done."""
    return len(re.findall(r"operations\.tasks\.tick\[\S+\] succeeded", plant.part(name).said))


@pytest.mark.parametrize("name", ["database", pytest.param("broker", marks=pytest.mark.long)])
def test_a_server_host_that_is_cut_off_and_comes_back_has_no_worker_taken_for_dead(
    name: str, plant: Spread, measured: Measured
) -> None:
    """Where it is the database, one worker is back at once and looks for the dead while the other is on its way."""
    running = [part for part in plant.parts if part.process.poll() is None]  # other tests have let some of them die
    with heard(plant) as notes, ExitStack() as stack:
        with gate(plant, JUDGED) as closed:
            uploads = [plant.bring(many(f"{name.upper()}{number}", SAMPLES)) for number in range(6)]
            closed.wait_for(4)
            plant.hosts.cut_off(name)
        time.sleep(OUTAGE)
        if name == "database":
            other = f"inet_client_addr() = '{plant.hosts['worker2'].address}'"
            stack.enter_context(gate(plant, Place(5, "UPDATE ON core_worker", other, "STATEMENT")))
            notes.back = notes.now()
        plant.hosts.bring_back(name)
        back = time.monotonic()
        if name == "database":
            eventually(lambda: notes.noted(plant.hosts["worker1"].place))
            looked = ticks(plant, "worker1")
            # where the machine is so slow that this takes longer, the other one is silent for long enough to be lost
            eventually(
                lambda: ticks(plant, "worker1") > looked + 1 or notes.now() - notes.back > SILENT,
                "the first one back has looked for the dead",
            )
            assert not notes.noted(plant.hosts["worker2"].place)
        stack.close()
        eventually(lambda: plant.done(*uploads))
        measured(
            f"the host of the {name} is cut off for {OUTAGE} s, 6 uploads: all audited after", time.monotonic() - back
        )
        eventually(plant.answers)
        assert not notes.taken_for_dead_too_early()
    assert not [part.name for part in running if part.process.poll() is not None and part.name not in WORKERS]
    assert_kept_once(plant, uploads)


def test_a_broker_whose_host_loses_power_comes_back_empty_and_every_worker_takes_tasks_again(
    plant: Spread, measured: Measured
) -> None:
    """Nobody is told that the connections are gone; no worker is started again."""
    workers = [plant.part(name).pid for name in WORKERS]
    before = len(plant.hosts["broker"].enter)
    with gate(plant, JUDGED) as closed:
        uploads = [plant.bring(many(f"POWER{number}", SAMPLES)) for number in range(6)]
        closed.wait_for(4)
        plant.hosts.die("broker")
        plant.broker.stop()
        uploads += [plant.bring(many(f"POWER{number}", SAMPLES)) for number in range(6, 8)]
    assert plant.broker.path
    shutil.rmtree(plant.broker.path.parent / "appendonlydir")
    plant.hosts.boot("broker")
    plant.broker.command = [*plant.hosts["broker"].enter, *plant.broker.command[before:]]
    plant.broker.up()
    back = time.monotonic()
    eventually(lambda: plant.done(*uploads))
    measured("Redis loses power and comes back empty, 8 uploads: all audited after", time.monotonic() - back)
    for name in WORKERS:
        eventually(lambda name=name: takes_tasks(plant, name), f"{name} takes tasks")  # type: ignore[misc]
    assert [plant.part(name).pid for name in WORKERS] == workers
    assert [plant.part(name).process.poll() for name in WORKERS] == [None, None]
    assert_kept_once(plant, uploads)


def test_a_web_host_that_dies_loses_nothing_and_nobody_logs_in_again(plant: Spread, crew: Crew) -> None:
    """A second one serves on: what was accepted is audited, what was not whole is not there."""
    plant.hosts.add("web2")
    plant.start(
        "web2", "waitress", f"--listen={plant.hosts['web2'].address}:{plant.port}", "advisor.config.wsgi:application"
    )
    accepted = [plant.bring(sysmon(f"WEB{number}")) for number in range(3)]
    with socket.socket(socket.AF_UNIX) as half:
        half.connect(str(plant.door))
        half.sendall(
            f"POST /api/uploads HTTP/1.1\r\nHost: {plant.hosts['web'].address}\r\n"
            f"Authorization: Bearer {crew.token}\r\n"
            "Content-Type: multipart/form-data; boundary=xx\r\nContent-Length: 1000000\r\n\r\n--xx\r\n".encode()
        )
        half.sendall(b"x" * 200_000)
        plant.hosts.die("web")
    with plant.through("web2"):
        eventually(plant.answers)
        eventually(lambda: plant.done(*accepted))
        accepted.append(plant.bring(sysmon("WEB3")))
        eventually(lambda: plant.done(*accepted))
        page = words_of(plant, "/")
        assert [name for name in ("WEB0", "WEB1", "WEB2", "WEB3") if name not in page] == []
        assert max(plant.rows("Upload", "pk")) == accepted[-1], "the one that was half there is not"
        assert_kept_once(plant, accepted, 1)
    plant.hosts.die("web2")


def test_a_scheduler_host_that_dies_leaves_what_is_due_to_another_one(plant: Spread, crew: Crew) -> None:
    """With none, nothing is due; one that is started elsewhere catches it up; of two, one may die at any moment."""
    due = ("tick", "start_waiting")
    lost = {task: at_work(plant, task) for task in due}  # with the hosts that other tests let die
    (plant.folder / "export.txt").write_bytes(sysmon("NOBODY1"))
    plant.program("printer", f'sed "s/NOBODY1/$1/" {plant.folder}/export.txt')
    system = plant.ask("system", team=crew.team, name="DUE")
    named = {"name": "hourly", "source": "collector", "collector": "printer", "every_minutes": 60}
    schedule = plant.ask("schedule", team=crew.team, user=crew.user, system=system, **named)
    plant.hosts.die("scheduler")
    for task in due:  # what it had queued
        eventually(lambda: plant.broker.tell("LLEN clock") == ":0")
        eventually(lambda task=task: at_work(plant, task) <= lost[task])  # type: ignore[misc]
    plant.ask("due_now", pk=schedule)
    assert plant.rows("Run", "pk", schedule=schedule) == []

    def made(runs: int) -> bool:
        return plant.rows("Run", "state", "tries", schedule=schedule) == [["done", 1]] * runs

    plant.hosts.add("scheduler2")
    plant.beat("scheduler2")
    eventually(lambda: made(1))
    plant.hosts.boot("scheduler")
    plant.beat("scheduler")
    eventually(lambda: "tasks.tick)" in plant.part("scheduler").said)
    plant.ask("due_now", pk=schedule)
    plant.hosts.die("scheduler2")
    eventually(lambda: made(2))
    assert_all_is_true(plant)
