"""`manage.py up`: the whole service on one machine, and nothing of it anywhere else."""

import hashlib
import os
import secrets
import shutil
import signal
import socket
import sys
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from django.conf import settings
from django.core.management import call_command
from django.core.management.base import BaseCommand, CommandError, CommandParser

from advisor.operations.services import versions
from advisor.operations.services.broker import server_command
from advisor.operations.services.embedded import REDIS_WAIT, Held, Process, only_one
from advisor.schedules.sources import keys

STEP = 0.2
BROKER = "redis"
"""Name of the process of the private Redis."""


class Command(BaseCommand):
    """Start web, workers, scheduler and (without BROKER_URL) a private Redis; restart what dies; stop all together."""

    help = "Start the embedded service: web, workers, scheduler, private Redis. Ctrl+C stops it."
    requires_system_checks = []

    def add_arguments(self, parser: CommandParser) -> None:
        """Take the address and whether to audit the examples."""
        parser.add_argument("--listen", default="127.0.0.1:8000", metavar="HOST:PORT", help="default: 127.0.0.1:8000")
        parser.add_argument("--no-examples", action="store_true", help="do not audit the example exports")
        parser.add_argument("--workers", type=int, default=2, help="processes that audit (default 2)")

    def handle(self, *args: Any, **options: Any) -> None:
        """Run until a signal comes."""
        address_in_settings(options["listen"])
        make_room()
        try:
            lock = only_one(settings.RUN_DIR)
        except Held as error:
            raise CommandError(str(error)) from None
        stop: list[int] = []
        for one in (signal.SIGTERM, signal.SIGINT):
            signal.signal(one, lambda number, frame: stop.append(number))
        clear_spool()
        make_folders()
        processes = self.processes(options, lock.fileno())
        if os.geteuid() == 0:
            self.say("Running as root: an account of its own would be safer.")
        call_command("migrate", verbosity=0)
        if found := versions.mismatch():
            raise CommandError(str(found))
        collect_static()
        try:
            self.start(processes, stop)
            self.welcome(options)
            while not stop:
                for process in processes:
                    process.watch(self.say)
                time.sleep(STEP)
        finally:
            stop_all(processes)
            lock.close()
            self.say("stopped")

    def say(self, what: str) -> None:
        """Tell the operator."""
        self.stdout.write(what)
        self.stdout.flush()

    def processes(self, options: dict[str, Any], lock: int | None = None) -> list[Process]:
        """Everything to start, in this order; each is given the lock to hold."""
        workers = [("worker", "celery", options["workers"]), *WORKERS]
        found = [
            *(Process(name, worker(name, of, count), lock) for name, of, count in workers),
            Process("scheduler", celery(False, "beat", "-l", "WARNING", "--pidfile="), lock),
            Process("web", [sys.executable, "-m", WEB_SERVER, f"--listen={options['listen']}", *web_options()], lock),
        ]
        if "BROKER_URL" in os.environ:
            return found
        try:
            return [Process(BROKER, server_command(settings.RUN_DIR), lock), *found]
        except (FileNotFoundError, ValueError) as error:
            raise CommandError(str(error)) from None

    def start(self, processes: list[Process], stop: list[int]) -> None:
        """Start all; the broker first, and wait for it."""
        for process in processes:
            process.start()
            if process.name == BROKER:
                until = time.monotonic() + REDIS_WAIT
                while not (settings.RUN_DIR / "redis.sock").exists() and not stop:
                    if time.monotonic() > until or process.ended:
                        raise CommandError(f"the private Redis does not start: see {settings.RUN_DIR / 'redis.log'}")
                    time.sleep(0.05)

    def welcome(self, options: dict[str, Any]) -> None:
        """Load the examples the very first time; print the address and the login last, where they are seen."""
        from advisor.accounts.models import Team
        from advisor.accounts.services.people import make_first_administrator
        from advisor.uploads.services.examples import bring_examples

        first = make_first_administrator()
        wait_for(options["listen"])
        try:
            if first is not None and not options["no_examples"]:
                team = first[0].teams.first() or Team.objects.get_or_create(name="DBA")[0]
                count = bring_examples(team, first[0])
                self.say(f"{count} example uploads are being audited: the first page shows real results.")
        finally:  # whatever becomes of the examples: this is not told twice
            self.say(f"Lockwright is at {os.environ['SITE_URL'].rstrip('/')}/")
            if first is not None:
                user, password = first
                self.say(f"First login: {user.username}  password: {password}  (printed this once; change it)")


def stop_all(processes: Sequence[Process]) -> None:
    """End them side by side, each takes seconds; the broker after all that hand their last work back to it."""
    for process in processes:
        if process.name != BROKER:
            process.terminate()
    for process in reversed(processes):
        process.stop()


NOT_SAID_AGAIN = ("-W", "ignore:You're running the worker with superuser privileges")
"""What each worker would say of root, after the first login: it is said once, before."""
WEB_SERVER = "advisor.operations.web_server.waitress_prefork"
NOT_SERVED = ["redoc*", "htmax-*", "htmx-4*", "ext"]
"""Files of the libraries that no page asks for."""
WORKER = ["-l", "WARNING", "--without-gossip", "--without-mingle", "--max-tasks-per-child=200"]
WORKERS = [
    *(("clock", "clock", 1), ("collector", "runs", 4), ("courier", "mail", 2), ("caller", "hooks", 2)),
    ("printer", "prints", 1),
]
"""Workers beside the one that audits: name, queue, processes. Each waits for somebody else: a collector for a program,
a courier for the mail server while another one writes the next mail, a caller for a receiver; the clock for nobody.
For the printer nobody waits."""
NO_PAGES = ("clock", "runs")
"""Queues whose tasks make no link to a page."""
LAST = {"prints": ("nice", "-n19")}
"""What goes before the command of a worker, by its queue: it has only the processor time that nobody else wants."""


def celery(pages: bool, *words: str) -> list[str]:
    """The command of a process of Celery. Django's checks load all pages and the API, half a second of each start."""
    checks = () if pages else ("--skip-checks",)
    return [sys.executable, *NOT_SAID_AGAIN, "-m", "celery", "-q", *checks, "-A", "advisor.config.celery", *words]


def worker(name: str, of: str, processes: int) -> list[str]:
    """The command of the worker of a queue."""
    words = celery(of not in NO_PAGES, "worker", *queues(name, of, processes), *WORKER)
    return [*LAST.get(of, ()), *words]


def queues(name: str, of: str, processes: int) -> list[str]:
    """Which queues a worker serves, by how many processes; its name is its own where several services share a broker.

    Each queue has a worker by itself: a program, a mail server or a receiver that does not answer keeps those waiting
    that need it too, and nobody else.
    """
    return ["-n", f"{name}-{os.getpid()}@%h", "-Q", of, "-c", str(processes)]


def make_folders() -> None:
    """Make the folders for exports and for collectors that lie in ours; what lies elsewhere is the operator's."""
    for folder in (*settings.DROP_FOLDERS, settings.COLLECTORS_DIR):
        if folder.is_relative_to(settings.RUN_DIR.absolute()):
            folder.mkdir(mode=0o700, parents=True, exist_ok=True)


def clear_spool() -> None:
    """Make the folder in which uploads are unpacked; what a worker that was ended left in it goes."""
    shutil.rmtree(settings.SPOOL_DIR, ignore_errors=True)
    settings.SPOOL_DIR.mkdir()


def address_in_settings(listen: str) -> None:
    """Have what is started know the address people type: links in mails lead there, and it is answered.

    SITE_URL says it; without that, it is where the web server listens, by the machine's own name where that is
    everywhere. Raises `CommandError` for what is no address.
    """
    host, port = host_and_port(listen)
    names = [host]
    if host in EVERYWHERE:
        names = list(dict.fromkeys([socket.getfqdn(), socket.gethostname(), *own_addresses()]))
        names.sort(key=lambda one: one.startswith(("localhost", "127.", "::1")))  # what others can reach comes first
    if not os.environ.get("SITE_URL", "").strip():
        shown = f"[{names[0]}]" if ":" in names[0] else names[0]
        os.environ["SITE_URL"] = f"http://{shown}:{port}"
        if not os.environ.get("ALLOWED_HOSTS", "").strip():
            known = [f"[{one}]" if ":" in one else one for one in (*names, "127.0.0.1", "localhost")]
            os.environ["ALLOWED_HOSTS"] = ",".join(dict.fromkeys(known))


EVERYWHERE = ("", "*", "0.0.0.0", "::")  # noqa: S104 - what an operator may type


def host_and_port(listen: str) -> tuple[str, int]:
    """Take `127.0.0.1:8000`, `[::1]:8000` or `*:8000` apart. Raises `CommandError`."""
    host, colon, port = listen.rpartition(":")
    if not colon or not port.isdecimal() or not 0 < int(port) < 1 << 16 or (":" in host and not host.startswith("[")):
        raise CommandError(f"{listen!r} is no address to listen at: write host:port, for instance 127.0.0.1:8000")
    return host.removeprefix("[").removesuffix("]"), int(port)


def own_addresses() -> list[str]:
    """The addresses of this machine that its own name stands for; none where nobody knows that name."""
    try:
        return [str(one[4][0]) for one in socket.getaddrinfo(socket.gethostname(), None, type=socket.SOCK_STREAM)]
    except OSError:
        return []


def wait_for(address: str) -> None:
    """Wait until the web server listens, half a minute at most: the address is printed when it works."""
    host, port = host_and_port(address)
    host = "127.0.0.1" if host in EVERYWHERE else host
    until = time.monotonic() + 30
    while time.monotonic() < until:
        try:
            socket.create_connection((host, port), 1).close()
        except OSError:
            time.sleep(0.1)
        else:
            return


def collect_static() -> None:
    """Collect and compress the static files, unless it was done for this very version: it takes five seconds."""
    stamp = settings.RUN_DIR / "static.stamp"
    ours = sorted((settings.BASE_DIR / "advisor" / "static").rglob("*.*"))
    now = "\n".join([sys.prefix, requirements(), *(f"{path.name} {path.stat().st_mtime_ns}" for path in ours)])
    if stamp.is_file() and stamp.read_text() == now:
        return
    call_command("collectstatic", verbosity=0, interactive=False, clear=True, ignore_patterns=NOT_SERVED)
    stamp.write_text(now)


def requirements() -> str:
    """Which releases of the libraries are installed: their static files come with them."""
    return hashlib.sha256((settings.BASE_DIR / "requirements.txt").read_bytes()).hexdigest()


def web_options() -> list[str]:
    """What waitress is told: it may buffer one upload of the largest size and its form, no more.

    It believes what a proxy says of the visitor (address, https) only where the settings name one, and then Django
    finds the visitor's own address and scheme; what anybody else says is taken out.
    """
    options = [
        f"--threads={settings.WEB_THREADS}",
        f"--max-request-body-size={(settings.UPLOAD_MB + 1) << 20}",
        "--connection-limit=1000",
        "--channel-timeout=60",
        "--ident=",
    ]
    if settings.PROXIES:
        options += [f"--trusted-proxy={settings.TRUSTED_PROXY}", f"--trusted-proxy-count={settings.PROXIES}"]
        options += ["--trusted-proxy-headers=x-forwarded-for x-forwarded-proto"]
    return [*options, "advisor.config.wsgi:application"]


def make_room() -> None:
    """Make the folder the embedded service writes to, for its owner alone, and the key in it."""
    os.umask(0o077)  # for this process and all it starts: exports, digests of passwords and sessions lie here
    run: Path = settings.RUN_DIR
    run.mkdir(parents=True, exist_ok=True)
    run.chmod(0o700)
    keys.make_file()
    if settings.SECRET_KEY == settings.NO_KEY:
        if settings.KEY_FILE.exists():
            raise CommandError(f"{settings.KEY_FILE} is empty: delete it to have a new key made")
        keys.write_whole(settings.KEY_FILE, secrets.token_urlsafe(64))
        # settings were read before there was a key: begin again with it
        sys.stdout.flush()
        os.execv(sys.executable, [sys.executable, *sys.argv])  # noqa: S606 - this very program
