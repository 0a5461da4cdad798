"""Hosts on one machine: namespaces of their own, wired to a bridge that no other network of the machine has a part in.

A host has a network, process numbers and a /proc of its own, and shares the files. Its processes see nothing of another
host but what comes over the wire, which can be pulled, and all of them end with the host. The machine's own network is
not touched: the bridge stands in a namespace, too. Root can do that, and others where user namespaces are allowed.
"""

import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from collectors.live.processes import dying_with_us
from tests.servers import PATIENCE, ROOT, SERVER_USER, eventually

NETWORK = "10.77.0"
"""The first three numbers of every host's address."""
BRIDGE = "wires"
OWN = ["--net", "--pid", "--mount-proc", "--fork", "--kill-child"]
"""Namespaces of a host. With its holder everything in them ends."""
ROOTLY = [] if os.geteuid() == 0 else ["--map-root-user"]
NOISE = "sigprocmask unblock failed"
"""What unshare of util-linux 2.38 says for nothing when it is to take its child with it."""
ANYBODY = 1000
"""Number of a user that is not root, inside a namespace of users."""


def why_not() -> str:
    """Why there can be no hosts on this machine; empty: there can."""
    try_it = f"ip link add {BRIDGE} type bridge && ip link add one type veth peer name two"
    try:
        tried = subprocess.run(
            ["unshare", *ROOTLY, *OWN, "unshare", *OWN, "sh", "-c", try_it], capture_output=True, text=True, check=False
        )
    except FileNotFoundError as error:
        return f"there is no {error.filename} (Debian: apt-get install util-linux iproute2)"
    said = [line for line in tried.stderr.splitlines() if NOISE not in line] or [
        f"unshare ended with {tried.returncode}"
    ]
    return f"namespaces are not allowed here: {said[0]}" if tried.returncode else ""


class Host:
    """One host: a process that does nothing and holds its namespaces. Raises `AssertionError` where it cannot be."""

    def __init__(self, name: str, number: int, enter: list[str], address: str = "") -> None:
        """Start it, from the namespaces that `enter` leads to; it has no wire yet. `address`: that of one that died."""
        self.name, self.wire, self.address = name, f"wire{number}", address or f"{NETWORK}.{number}"
        self.holder = subprocess.Popen(
            [*enter, "unshare", *(ROOTLY if not enter else []), *OWN, "sleep", "infinity"],
            stderr=subprocess.DEVNULL,
            start_new_session=True,
            preexec_fn=dying_with_us(),
        )
        self.first = eventually(self._first, f"the host {name} is there")
        users = ["--user", "--preserve-credentials"] if ROOTLY else []
        self.wires = ["nsenter", f"--target={self.first}", *users, "--net"]
        """Leads to its network alone."""
        self.enter = [*self.wires, "--pid", "--mount", "env", f"--chdir={ROOT}"]
        """Goes before a command that is to run on it, as its root."""
        self.place = f":{os.stat(f'/proc/{self.first}/ns/pid').st_ino}/"  # noqa: PTH116 - a link of the kernel
        """Stands in every claim of a process of it (`working.me`)."""

    @property
    def enter_as_anybody(self) -> list[str]:
        """Goes before a command that refuses to run as root."""
        if ROOTLY:
            return [*self.enter, "unshare", "--user", f"--map-user={ANYBODY}", f"--map-group={ANYBODY}"]
        return [*self.enter, "setpriv", f"--reuid={SERVER_USER}", f"--regid={SERVER_USER}", "--clear-groups"]

    def run(self, *command: str) -> None:
        """Run a command on it and wait. Raises `CalledProcessError`."""
        subprocess.run([*self.enter, *command], check=True)

    def end(self) -> None:
        """End it with all its processes: with the first one of a namespace all of it ends."""
        if self.holder.poll() is None:
            os.kill(self.first, signal.SIGKILL)
        self.holder.wait(PATIENCE)

    def _first(self) -> int:
        """The number of its first process: of the sleep, not of what leads there. 0: it is not there yet."""
        assert self.holder.poll() is None, f"the host {self.name} ended with {self.holder.returncode}"
        found = last = f"{self.holder.pid}"
        while children := Path(f"/proc/{last}/task/{last}/children").read_text().split():
            found = last = children[0]
        name = Path(f"/proc/{found}/comm").read_text().strip()
        return int(found) if name == "sleep" else 0


class Hosts:
    """Hosts that reach each other, and nothing else."""

    def __init__(self) -> None:
        """Make the bridge."""
        self.all: dict[str, Host] = {}
        self.made = 0
        self.bridge = Host("bridge", 0, [])
        self.bridge.run("ip", "link", "add", "name", BRIDGE, "type", "bridge")
        self.bridge.run("ip", "link", "set", BRIDGE, "up")

    def __getitem__(self, name: str) -> Host:
        return self.all[name]

    def add(self, *names: str) -> None:
        """Make more hosts, each with a wire to the bridge; a name that was given before is given to a new host."""
        for name in names:
            self._add(name)

    def boot(self, name: str) -> None:
        """Have a host that died come back under its address: nothing runs on it."""
        self._add(name, self[name].address)

    def _add(self, name: str, address: str = "") -> None:
        self.made += 1
        host = self.all[name] = Host(name, self.made, self.bridge.enter, address)
        self._here(f"link add name {host.wire} type veth peer name eth0 netns {host.first}")
        self._here(f"link set {host.wire} master {BRIDGE} up")
        for words in ("link set lo up", f"address add {host.address}/24 dev eth0", "link set eth0 up"):
            host.run("ip", *words.split())

    def cut_off(self, name: str) -> None:
        """Pull its wire: what it sends is lost, what is sent to it, too, and nobody is told."""
        self._here(f"link set {self[name].wire} down")

    def bring_back(self, name: str) -> None:
        """Put the wire in again."""
        self._here(f"link set {self[name].wire} up")

    def die(self, name: str) -> None:
        """Have it lose power: no process of it says goodbye."""
        self.cut_off(name)
        self[name].end()

    def lives(self, name: str) -> bool:
        """Whether a host has power."""
        return self[name].holder.poll() is None

    def end(self) -> None:
        """Take everything down."""
        for host in (*self.all.values(), self.bridge):
            host.end()

    def _here(self, words: str) -> None:
        """Run `ip` where the wires come together, by the machine's process numbers."""
        subprocess.run([*self.bridge.wires, "ip", *words.split()], check=True)


@contextmanager
def hosts(*names: str) -> Iterator[Hosts]:
    """Hosts of these names for as long as the context lasts."""
    made = Hosts()
    try:
        made.add(*names)
        yield made
    finally:
        made.end()


@contextmanager
def relayed(host: Host, *ways: tuple[str, str]) -> Iterator[None]:
    """Relay connections on a host, each way from one end to another: `10.77.0.2:8000`, or the path of a Unix socket.

    The test itself stands on no host; the files it shares with all of them, and so Unix sockets.
    """
    command = [*host.enter, sys.executable, "-m", "tests.faults.relay", *(word for way in ways for word in way)]
    running = subprocess.Popen(command, cwd=ROOT, start_new_session=True, stdout=subprocess.PIPE)
    try:
        assert running.stdout
        assert running.stdout.readline() == b"ready\n"
        yield
    finally:
        with suppress(ProcessLookupError):
            os.killpg(running.pid, signal.SIGKILL)  # nsenter and what it has started
        running.communicate(timeout=PATIENCE)
