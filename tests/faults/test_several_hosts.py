"""Each part on a host of its own: hosts that die, that are cut off, and that come back."""

import re
import tempfile
import time
from collections.abc import Iterator, Sequence
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import httpx
import pytest

from tests.faults.conftest import PLANTS, Crew, Measured
from tests.faults.exports import many, sysmon
from tests.faults.gate import JUDGED, KEEPING, SAMPLES, Place, gate
from tests.faults.hosts import NETWORK, Hosts, hosts, relayed, why_not
from tests.faults.plant import ALL, Part, Plant
from tests.faults.postbox import OPEN, Postbox
from tests.faults.truth import assert_all_is_true, words_of
from tests.servers import PATIENCE, eventually, postgres_server, redis

WORKERS = ("worker1", "worker2")
OUTAGE = 50
"""Seconds that a host is cut off: longer than a worker may be silent before it is taken for dead."""
HOURS = f"{4 * 3600}"
"""TASK_SECONDS: no test waits until a claim is too old for any task."""


class Spread(Plant):
    """A plant of which each part has a host of its own, named like it."""

    def __init__(self, folder: Path, hosts: Hosts, database: str, broker: str) -> None:
        """Take the addresses; `database` is that of PostgreSQL's Unix socket, for the test and its shell."""
        super().__init__(folder, database, broker, TASK_SECONDS=HOURS)
        self.hosts = hosts
        self.shell_on = hosts["desk"].enter
        self.address = f"http://{hosts['web'].address}:{self.port}"
        self.environment["SITE_URL"] = self.address
        self.over_wire = re.sub(r"@[^:]*:", f"@{hosts['database'].address}:", database)
        self.door = folder / "door"
        for client in (self.http, self.browser):
            client.close()
        self.http, self.browser = (
            httpx.Client(base_url=self.address, timeout=PATIENCE, transport=httpx.HTTPTransport(uds=str(self.door)))
            for _ in range(2)
        )

    def start(self, name: str, *command: str, on: Sequence[str] = (), **environment: str) -> Part:
        """Start a part on the host of its name."""
        more = {"DATABASE_URL": self.over_wire, **environment}
        return super().start(name, *command, on=on or self.hosts[name].enter, **more)

    def two_workers(self) -> None:
        """Start workers until there are two that can be reached, each on a host that lives."""
        for name in WORKERS:
            if self.hosts[name].holder.poll() is not None:
                self.hosts.add(name)
                self.worker(name, ALL)
        self.ready()

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
        plant = Spread(folder, there, database.make("hosts"), broker.address)
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
    plant.two_workers()


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
    received = set(re.findall(rf"advisor\.\w+\.tasks\.{task}\[(\S+)\] received", part.said))
    over = set(re.findall(rf"advisor\.\w+\.tasks\.{task}\[(\S+)\] (?:succeeded|raised|retry|reject)", part.said))
    return received <= over


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
    back = plant.part("worker2").said.count("read_upload")

    def works_again() -> bool:
        """Whether the host that came back has begun something new."""
        plant.bring(sysmon(f"AGAIN{time.monotonic_ns()}"))
        return plant.part("worker2").said.count("read_upload") > back

    eventually(works_again)
    eventually(lambda: not plant.rows("Upload", "pk", state__in=("waiting", "reading")))


@pytest.mark.parametrize("name", ["database", pytest.param("broker", marks=pytest.mark.long)])
def test_a_server_host_that_is_cut_off_and_comes_back_has_no_worker_taken_for_dead(
    name: str, plant: Spread, measured: Measured
) -> None:
    lost = plant.rows("JournalEntry", "pk", action="worker lost")
    with gate(plant, JUDGED) as closed:
        uploads = [plant.bring(many(f"{name.upper()}{number}", SAMPLES)) for number in range(6)]
        closed.wait_for(4)
        plant.hosts.cut_off(name)
    time.sleep(OUTAGE)
    plant.hosts.bring_back(name)
    back = time.monotonic()
    eventually(lambda: plant.done(*uploads))
    measured(f"the host of the {name} is cut off for {OUTAGE} s, 6 uploads: all audited after", time.monotonic() - back)
    eventually(plant.answers)
    assert plant.rows("JournalEntry", "pk", action="worker lost") == lost
    assert not [part.name for part in plant.parts if part.process.poll() is not None and part.name not in WORKERS]
    assert_kept_once(plant, uploads)
