"""Servers that are asked live and fail: silent ones hold no more than their share, another one joins no history."""

import socket
import threading
from collections.abc import Iterator

import pytest

from tests.faults.conftest import Crew
from tests.faults.plant import Plant
from tests.faults.postbox import Postbox
from tests.faults.truth import assert_all_is_true, words_of
from tests.live.running import Serving, serving
from tests.servers import HOST, eventually, free_port

pytestmark = pytest.mark.long

SHARE = 2
SILENT = 4
UPGRADED = "Adaptive Server Enterprise/16.0 SP04 PL03/EBF 30399/P/x86_64/Linux/ase160sp04/1/64-bit/FBO/x"
ENVIRONMENT = {
    "LOCKWRIGHT_KEY": "a-key-for-tests-of-data-sources-alone-0123456789",
    "SILENT_AT_ONCE": str(SHARE),
}


class Mute:
    """A server that takes connections and says nothing; `most` is how many it held at one time."""

    def __init__(self) -> None:
        self.lock, self.now, self.most, self.taken = threading.Lock(), 0, 0, 0
        self.listeners = [socket.create_server((HOST, 0)) for _ in range(SILENT)]
        for one in self.listeners:
            threading.Thread(target=self._listen, args=(one,), daemon=True).start()

    def ports(self) -> list[int]:
        return [one.getsockname()[1] for one in self.listeners]

    def forget(self) -> None:
        with self.lock:
            self.most = self.now

    def _listen(self, listener: socket.socket) -> None:
        while True:
            try:
                line, _ = listener.accept()
            except OSError:
                return
            threading.Thread(target=self._hold, args=(line,), daemon=True).start()

    def _hold(self, line: socket.socket) -> None:
        with line:
            try:
                said = line.recv(4096)
                if not said:  # a look whether the port is open
                    return
                with self.lock:
                    self.now, self.taken = self.now + 1, self.taken + 1
                    self.most = max(self.most, self.now)
                while said:
                    said = line.recv(4096)
            except OSError:
                said = b""
        with self.lock:
            self.now -= 1


@pytest.fixture(scope="module")
def postbox() -> Iterator[Postbox]:
    box = Postbox()
    box.open()
    yield box
    box.close()


@pytest.fixture(scope="module")
def mute() -> Iterator[Mute]:
    made = Mute()
    yield made
    for one in made.listeners:
        one.close()


@pytest.fixture(scope="module", autouse=True)
def _service(plant: Plant, crew: Crew, postbox: Postbox) -> None:
    plant.ask("mail_server", port=postbox.port)
    plant.worker("worker", "celery", processes=1)
    plant.worker("collector", "runs", processes=4)
    plant.worker("courier", "clock,mail", processes=1)
    plant.beat()
    plant.web()
    plant.ready()


class Asked:
    """A system with a data source and a schedule that collects from it."""

    def __init__(self, plant: Plant, crew: Crew, name: str, server: Serving | int) -> None:
        self.plant, self.crew, self.name = plant, crew, name
        self.system = plant.ask("system", team=crew.team, name=name)
        way = {"name": f"door of {name}", "host": HOST, "port": server, "user": "reader", "password": "x", "seconds": 5}
        if isinstance(server, Serving):
            way |= {"port": server.port, "user": server.user, "password": server.password}
        self.source = plant.ask("source", system=self.system, by=crew.user, **way)
        wish = {"name": name, "source": "collector", "collector": "ase", "every_minutes": 60}
        self.schedule = plant.ask("schedule", team=crew.team, user=crew.user, system=self.system, **wish)

    def run(self) -> int:
        (run,) = self.plant.ask("run_now", schedule=self.schedule, user=self.crew.user)
        return int(run)

    def state(self, run: int) -> str:
        return str(self.plant.one("Run", "state", pk=run))


def test_silent_servers_hold_their_share_of_the_collectors_and_others_are_collected_from(
    plant: Plant, crew: Crew, mute: Mute
) -> None:
    silent = [Asked(plant, crew, f"MUTE{number}", port) for number, port in enumerate(mute.ports())]
    first = [one.run() for one in silent]
    eventually(
        lambda: len(plant.rows("DataSource", "pk", silent__isnull=False)) == SILENT, "each is known to be silent"
    )
    eventually(lambda: not plant.rows("Run", "pk", pk__in=first, state="running"), "their first look is over")
    eventually(lambda: mute.now == 0)
    mute.forget()
    # from now on each is waited for longer, and there are as many as collectors
    plant.ask("change", model="Run", where={"pk__in": first}, values={"not_before": "2000-01-01T00:00:00Z"})
    with serving("16.0", pace=20) as server:
        live = Asked(plant, crew, "TIDEWAY", server)
        eventually(lambda: mute.now == SHARE, "as many are waited for as may be")
        run = live.run()
        eventually(lambda: live.state(run) == "done", "another one is collected from")
    eventually(lambda: mute.taken >= 2 * SILENT, "each of them is asked again in its turn")
    eventually(lambda: not plant.rows("Run", "pk", pk__in=first, state="running"))
    assert mute.most == SHARE
    for one in silent:
        assert "It has not answered since" in words_of(plant, f"/sources/{one.source}/")
    assert "said nothing more" in "".join(plant.rows("Run", "error", pk__in=first))
    for one in silent:  # they are not tried on beside the next test
        plant.ask("change", model="Run", where={"schedule": one.schedule}, values={"state": "skipped"})
    eventually(lambda: plant.rows("System", "latest", name="TIDEWAY") != [None])


def test_a_server_that_falls_silent_loses_none_of_its_answers(plant: Plant, crew: Crew) -> None:
    with serving("16.0", pace=20, faults=("renamed=LOCKER", "deaf-after=40")) as server:
        asked = Asked(plant, crew, "LOCKER", server)
        run = asked.run()
        eventually(lambda: asked.state(run) == "done", "what it answered is taken")
    eventually(lambda: plant.rows("System", "latest", name="LOCKER") != [None], "and audited")
    assert "not answered: " in plant.one("Run", "told", pk=run)
    page = words_of(plant, f"/sources/{asked.source}/")
    assert "Not answered at the last collection" in page
    assert "monLocks" in page


def test_an_upgraded_server_is_stopped_named_mailed_and_taken_on_by_a_click(
    plant: Plant, crew: Crew, postbox: Postbox
) -> None:
    plant.ask("recipient", team=crew.team, user=crew.user, address="duty@example.org")
    port = free_port()
    with serving("16.0", pace=20, faults=("renamed=HARBOUR",), port=port) as before:
        asked = Asked(plant, crew, "HARBOUR", before)
        run = asked.run()
        eventually(lambda: asked.state(run) == "done")
        eventually(lambda: plant.rows("System", "latest", name="HARBOUR") != [None])
    had = plant.rows("Capture", "pk", system=asked.system)
    with serving("16.0", pace=20, faults=("renamed=HARBOUR", f"version={UPGRADED}"), port=port):
        run = asked.run()
        eventually(lambda: asked.state(run) == "failed")
        assert plant.rows("Capture", "pk", system=asked.system) == had
        for path in (f"/systems/{asked.system}/", f"/sources/{asked.source}/", f"/schedules/{asked.schedule}/"):
            assert "it goes by the same name, but its version was" in words_of(plant, path), path
        assert "Not audited since" in words_of(plant, f"/systems/{asked.system}/")
        eventually(lambda: [mail for mail in postbox.mails if "not audited since" in str(mail["Subject"])])
        (mail,) = [mail for mail in postbox.mails if "HARBOUR: not audited since" in str(mail["Subject"])]
        body = mail.get_body(("plain",))
        assert body is not None
        assert "take it on: on the page of the data source" in " ".join(body.get_content().split())
        click(plant, asked)
        run = asked.run()
        eventually(lambda: asked.state(run) == "done")
        eventually(lambda: len(plant.rows("Capture", "pk", system=asked.system)) == len(had) + 1)
    assert plant.rows("System", "pk", name="HARBOUR") == [asked.system]
    eventually(lambda: "Not audited since" not in words_of(plant, f"/systems/{asked.system}/"))
    assert_all_is_true(plant)


def click(plant: Plant, asked: Asked) -> None:
    """Press "Take it on" on the page."""
    page = plant.page(f"/sources/{asked.source}/")
    form = page[page.index("/take-on/") :].partition("</form>")[0]
    sent = {name: form.split(f'name="{name}" value="')[1].split('"')[0] for name in ("csrfmiddlewaretoken", "seen")}
    answer = plant.browser.post(f"/sources/{asked.source}/take-on/", data=sent)
    assert answer.status_code == 302, answer.text[:2000]
