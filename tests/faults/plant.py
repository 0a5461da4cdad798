"""The service as separate processes, as production runs it, for tests that kill parts of it."""

import json
import os
import signal
import subprocess
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import IO, Any

import httpx

from tests.servers import PATIENCE, ROOT, eventually, free_port

TASK_SECONDS = 600
"""No task of these tests takes so long; where its limit is to end one, the module says so in its ENVIRONMENT."""
ALL = "celery,runs,clock,mail,hooks"
"""The queues of one worker that does everything."""
OURS = ("DATABASE_URL", "BROKER_URL", "RUN_DIR", "SITE_URL", "SECRET_KEY", "TASK_SECONDS", "DROP_FOLDERS")


class Part:
    """One process of the service with its children, a group of its own."""

    def __init__(self, name: str, command: list[str], environment: Mapping[str, str], log: Path, tree: Path) -> None:
        """Start it, in the folder `tree` of the product."""
        self.name, self.log = name, log
        self.ready: Callable[[], bool] = lambda: True
        self.output: IO[bytes] = log.open("ab")
        self.begin = log.stat().st_size
        """Where its log begins: one of the same name may have written before it."""
        self.process = subprocess.Popen(
            command, cwd=tree, env=environment, stdout=self.output, stderr=self.output, start_new_session=True
        )

    @property
    def pid(self) -> int:
        return self.process.pid

    @property
    def said(self) -> str:
        return self.log.read_bytes()[self.begin :].decode(errors="replace")

    def children(self) -> list[int]:
        """Its children: of a worker the processes that do the tasks."""
        listed = Path(f"/proc/{self.pid}/task/{self.pid}/children").read_text()
        return [int(pid) for pid in listed.split()]

    def kill(self) -> None:
        """End it and its children at once."""
        with suppress(ProcessLookupError):
            os.killpg(self.pid, signal.SIGKILL)
        self.process.wait(PATIENCE)

    def stop(self) -> None:
        """End it as an operator does, and wait until it has finished what it is at."""
        self.process.terminate()
        self.process.wait(PATIENCE)


class Plant:
    """A database, a broker, and the parts of the service that a test starts."""

    tree = ROOT
    """The folder of the product that parts are started from; a test of an upgrade sets another one."""

    def __init__(self, folder: Path, database: str, broker: str, **more: str) -> None:
        """Take the addresses; nothing starts yet but the shell (`ask`). `more` is for the environment."""
        self.folder, self.parts = folder, list[Part]()
        for name in ("drop", "collectors", "spool"):
            (folder / name).mkdir(0o700)
        self.port = free_port()
        self.address = f"http://127.0.0.1:{self.port}"
        kept = {name: value for name, value in os.environ.items() if name not in OURS}
        self.environment = {
            **kept,
            "DATABASE_URL": database,
            "BROKER_URL": broker,
            "RUN_DIR": str(folder),
            "SITE_URL": self.address,
            "SECRET_KEY": "faults-" * 10,
            "TASK_SECONDS": f"{TASK_SECONDS}",
            "DROP_FOLDERS": str(folder / "drop"),
            "COLLECTORS_DIR": str(folder / "collectors"),
            "LOG_LEVEL": "INFO",
            "DJANGO_SETTINGS_MODULE": "tests.faults.settings",
            "PYTHONUNBUFFERED": "1",
            **more,
        }
        self.shell: subprocess.Popen[str] | None = None
        self.shell_on: Sequence[str] = ()
        """Goes before the shell's command, where it is to run on another host (`hosts.py`)."""
        self.http = httpx.Client(base_url=self.address, timeout=PATIENCE, trust_env=False)
        self.browser = httpx.Client(base_url=self.address, timeout=PATIENCE, trust_env=False)

    def ask(self, do: str, **given: Any) -> Any:
        """Have something done in a process of the service (`inside.py`). Raises `AssertionError` where that fails."""
        if self.shell is None:
            command = [*self.shell_on, sys.executable, "-m", "tests.faults.inside"]
            with (self.folder / "shell.log").open("ab") as log:
                self.shell = subprocess.Popen(
                    command,
                    cwd=ROOT,
                    env=self.environment,
                    stdin=subprocess.PIPE,
                    stdout=subprocess.PIPE,
                    stderr=log,
                    text=True,
                    start_new_session=True,
                )
        assert self.shell.stdin
        assert self.shell.stdout
        self.shell.stdin.write(json.dumps({"do": do, "with": given}) + "\n")
        self.shell.stdin.flush()
        answer = json.loads(self.shell.stdout.readline() or '{"raises": "the shell has ended: see shell.log"}')
        assert "raises" not in answer, answer["raises"]
        return answer["gives"]

    def rows(self, model: str, *fields: str, **where: Any) -> list[Any]:
        """Columns of rows (`inside.rows`)."""
        found: list[Any] = self.ask("rows", model=model, fields=list(fields), where=where)
        return found

    def one(self, model: str, field: str, **where: Any) -> Any:
        """One column of the one row that fits."""
        (found,) = self.rows(model, field, **where)
        return found

    def api(self, path: str) -> Any:
        """What the API says."""
        answer = self.http.get(path)
        assert answer.status_code == 200, f"{path}: {answer.status_code} {answer.text}"
        return answer.json()

    def page(self, path: str) -> str:
        """A page as the crew's browser gets it."""
        answer = self.browser.get(path)
        assert answer.status_code == 200, f"{path}: {answer.status_code} {answer.text[:2000]}"
        return answer.text

    def bring(self, content: bytes, name: str = "sysmon.txt") -> int:
        """Bring a file by the API; gives the number of the upload."""
        answer = self.http.post("/api/uploads", files={"files": (name, content)})
        assert answer.status_code == 202, answer.text
        return int(answer.json()["upload"])

    def done(self, *uploads: int) -> bool:
        """Whether all of these uploads are read and audited."""
        return len(self.rows("Upload", "pk", pk__in=uploads, state="done")) == len(uploads)

    def minutes_pass(self, minutes: float = 2) -> None:
        """Let what waits for a worker have waited longer, so that the next sweep takes it for lost."""
        self.ask("age", minutes=minutes)

    def start(self, name: str, *command: str, on: Sequence[str] = (), **environment: str) -> Part:
        """Start a part of the service; `on` goes before its command, where it is to run on another host."""
        words = [*on, sys.executable, "-m", *command]
        part = Part(name, words, {**self.environment, **environment}, self.folder / f"{name}.log", self.tree)
        self.parts.append(part)
        return part

    def part(self, name: str) -> Part:
        """The last one that was started under this name."""
        return [part for part in self.parts if part.name == name][-1]

    def program(self, name: str, *lines: str) -> None:
        """Put a shell program into the folder of collectors; `$1` is the name of the system."""
        path = self.folder / "collectors" / name
        path.write_text("\n".join(["#!/bin/sh", *lines, ""]))
        path.chmod(0o700)

    def worker(
        self,
        name: str = "worker",
        queues: str = "celery",
        processes: int = 2,
        on: Sequence[str] = (),
        **environment: str,
    ) -> Part:
        """Start a worker, which has the tests' own collectors (`worker.py`); Django's checks load what none needs."""
        app = [
            "celery",
            "-q",
            "--skip-checks",
            "-A",
            "tests.faults.worker",
            "worker",
            "-Q",
            queues,
            "-c",
            str(processes),
        ]
        options = ["-n", f"{name}@plant", "-l", "INFO", "--without-gossip", "--without-mingle"]
        part = self.start(name, *app, *options, on=on, **environment)
        part.ready = lambda: f"{name}@plant ready." in part.said
        return part

    def beat(self, name: str = "beat", on: Sequence[str] = (), **environment: str) -> Part:
        """Start a scheduler."""
        command = ["celery", "-q", "--skip-checks", "-A", "advisor.config.celery", "beat", "-l", "INFO", "--pidfile="]
        return self.start(name, *command, on=on, **environment)

    def web(self, on: Sequence[str] = (), **environment: str) -> Part:
        """Start the web server."""
        part = self.start(
            "web", "waitress", f"--listen={self.address.removeprefix('http://')}", "--threads=16",
            "--connection-limit=1000", "advisor.config.wsgi:application", on=on, **environment,
        )  # fmt: skip
        part.ready = self.answers
        return part

    def ready(self) -> None:
        """Wait until all parts that run are ready. Raises `AssertionError` where one takes too long."""
        for part in self.parts:
            eventually(lambda part=part: part.process.poll() is not None or part.ready(), what=f"{part.name} is ready")  # type: ignore[misc]

    def answers(self) -> bool:
        """Whether the web server is there and well."""
        try:
            return self.http.get("/healthz").status_code == 200
        except httpx.HTTPError:
            return False

    def end(self) -> None:
        """End everything that was started, at once."""
        for part in reversed(self.parts):
            part.kill()
            part.output.close()
        if self.shell is not None:
            self.shell.communicate(timeout=PATIENCE)
        self.http.close()
        self.browser.close()

    def told(self) -> str:
        """The last lines of every log, for a test that fails."""
        logs = sorted(self.folder.glob("*.log"))
        return "\n".join(f"== {log.name}\n{log.read_text(errors='replace')[-3000:]}" for log in logs)


@contextmanager
def planted(folder: Path, database: str, broker: str, **more: str) -> Iterator[Plant]:
    """A plant for as long as the context lasts."""
    plant = Plant(folder, database, broker, **more)
    try:
        yield plant
    finally:
        plant.end()
