"""`python -m tests.bench.pages`: how fast the pages of a full site come, beside a bare Django page of the same run.

A private PostgreSQL is seeded, waitress is started as a process of its own, and a DBA who sees every system logs in
through the form. Never a timed test: figures are printed. Machines differ and are noisy, so quote the ratios.

Where the machine has more than two cores, the servers get two of them and the clients the others.
"""

import argparse
import http.client
import os
import re
import statistics
import sys
import tempfile
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from datetime import timedelta
from typing import Any
from urllib.parse import urlsplit

import django
import httpx

from tests.servers import manage, postgres, waitress

USER = "seed-dba"
WARM_UP = 20
FINDINGS = 20
"""Of the audit page that is measured."""
AIM_MS = 150
CORES = sorted(os.sched_getaffinity(0))
SERVERS, CLIENTS = CORES[:2], CORES[2:]
PINNED = ("taskset", "-c", ",".join(map(str, SERVERS))) if CLIENTS else ()


def say(text: str) -> None:
    sys.stdout.write(text + "\n")
    sys.stdout.flush()


@dataclass(frozen=True)
class Times:
    """Milliseconds."""

    p50: float
    p95: float


def ask(address: str, cookies: str, requests: int) -> list[float]:
    """Ask for a page again and again over one connection; gives milliseconds to the last byte."""
    parts = urlsplit(address)
    connection = http.client.HTTPConnection(parts.netloc, timeout=60)
    target = f"{parts.path or '/'}{'?' + parts.query if parts.query else ''}"
    times = []
    for _ in range(requests):
        since = time.perf_counter()
        connection.request("GET", target, headers={"Cookie": cookies, "Accept-Encoding": "identity"})
        answer = connection.getresponse()
        answer.read()
        times.append((time.perf_counter() - since) * 1000)
        if answer.status != 200:
            raise SystemExit(f"{target} answered {answer.status}")
    connection.close()
    return times


def measure(address: str, cookies: str, requests: int, clients: int) -> Times:
    """Measure so many requests, spread over the clients."""
    ask(address, cookies, WARM_UP)
    with ThreadPoolExecutor(clients) as pool:
        runs = pool.map(lambda _: ask(address, cookies, requests // clients), range(clients))
        times = sorted(one for run in runs for one in run)
    return Times(statistics.median(times), times[int(len(times) * 0.95)])


def log_in(site: str, password: str) -> str:
    """Log in through the form; gives the cookies."""
    with httpx.Client(base_url=site, follow_redirects=True, timeout=60) as browser:
        form = browser.get("/login/").text
        token = re.search(r'name="csrfmiddlewaretoken" value="([^"]+)"', form)
        if token is None:
            raise SystemExit("the login page has no form")
        data = {"csrfmiddlewaretoken": token[1], "username": USER, "password": password}
        answer = browser.post("/login/", data=data)
        if answer.url.path != "/" or answer.status_code != 200:
            raise SystemExit(f"the login ended on {answer.url.path} with {answer.status_code}")
        return "; ".join(f"{name}={value}" for name, value in browser.cookies.items())


@contextmanager
def full_site(given: argparse.Namespace) -> Iterator[dict[str, str]]:
    """A migrated and seeded database with static files collected; gives the environment of the service."""
    with tempfile.TemporaryDirectory() as folder, ExitStack() as opened:
        database = given.database or opened.enter_context(postgres(before=PINNED))
        environment = {"DATABASE_URL": database, "RUN_DIR": folder, "SECRET_KEY": "of this benchmark alone " * 3}
        manage("migrate", "-v0", environment=environment)
        manage("collectstatic", "-v0", "--no-input", environment=environment)
        if not given.database:
            amount = [f"--{name}={getattr(given, name)}" for name in ("systems", "captures", "findings")]
            say(manage("seed", *amount, environment=environment))
        os.environ.update(environment, DJANGO_SETTINGS_MODULE="advisor.config.settings")
        django.setup()
        from django.db import connection

        from advisor.findings.services.tracking import catch_up

        while catch_up():  # the seed writes audits alone
            pass
        accept_some()
        with connection.cursor() as cursor:
            cursor.execute("VACUUM ANALYZE")
            cursor.execute("SELECT pg_size_pretty(pg_database_size(current_database())), version()")
            say("database {}, {}\n".format(*cursor.fetchone()))
        yield environment


def accept_some() -> None:
    """Have the first finding of each system accepted, so that the overview has to look for the worst that is open.

    The others have had their state since they were first seen, not since they were written a moment ago.
    """
    from django.db.models import F
    from django.utils import timezone

    from advisor.findings.models import TrackedFinding

    until = timezone.localdate() + timedelta(days=30)
    TrackedFinding.objects.update(state_since=F("first_seen"))
    rows = TrackedFinding.objects.filter(number=0, presence=TrackedFinding.Presence.STANDING)
    rows.update(state=TrackedFinding.State.ACCEPTED, state_until=until)


def pages() -> dict[str, str]:
    """The paths that are measured: searches for one system, an audit with many findings, the system it is of."""
    from django.db.models import Count
    from django.urls import reverse

    from advisor.audits.models import Audit

    some = Audit.objects.filter(capture__audit_id__isnull=False).annotate(size=Count("findings"))
    latest = some.filter(size=FINDINGS).order_by("-at").select_related("system")[:100]
    audit = next((one for one in latest if one.plan["steps"]), None)
    audit = audit or some.order_by("-size").select_related("system")[0]
    overview, findings = reverse("overview"), reverse("findings")
    return {
        "overview": overview,
        "overview, search": f"{overview}?q={audit.system.name[:-1]}",
        "overview, critical": f"{overview}?severity=critical&sort=-worst",
        "overview, by findings": f"{overview}?sort=-findings",
        "findings": findings,
        "findings, by system": f"{findings}?sort=system",
        "findings, search": f"{findings}?q={audit.system.name[:-1]}",
        "system": reverse("system", args=[audit.system_id]),
        f"audit, {audit.findings.count()} findings": reverse("audit", args=[audit.pk]),
        "rule book": reverse("rulebook"),
        "rule": reverse("rule", args=[audit.findings.all()[0].rule]),
    }


def queries_of(path: str) -> tuple[int, list[dict[str, Any]]] | None:
    """The bytes of a page and the queries it asks, in this process; `None` for a page that does not come."""
    from django.conf import settings
    from django.db import connection
    from django.test import Client
    from django.test.utils import CaptureQueriesContext

    from advisor.accounts.models import User

    settings.ALLOWED_HOSTS = ["testserver"]
    browser = Client(raise_request_exception=False)
    browser.force_login(User.objects.get(username=USER), backend="django.contrib.auth.backends.ModelBackend")
    browser.get(path)
    with CaptureQueriesContext(connection) as captured:
        answer = browser.get(path)
    if answer.status_code != 200:
        say(f"{path} answered {answer.status_code}: not measured")
        return None
    return len(answer.content), captured.captured_queries


def explain(queries: list[dict[str, Any]]) -> None:
    """Print how PostgreSQL goes about the slowest query."""
    from django.db import connection

    slowest = max(queries, key=lambda query: float(query["time"]))
    say(f"    {float(slowest['time']) * 1000:.0f} ms: {slowest['sql'][:3000]}")
    with connection.cursor() as cursor:
        cursor.execute(f"EXPLAIN (ANALYZE, BUFFERS) {slowest['sql'].replace('%', '%%')}", [])
        for (line,) in cursor.fetchall():
            say(f"        {line[:200]}")


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m tests.bench.pages")
    parser.add_argument("--systems", type=int, default=200)
    parser.add_argument("--captures", type=int, default=50_000)
    parser.add_argument("--findings", type=int, default=1_000_000)
    parser.add_argument("--requests", type=int, default=300, help="of each page by each number of clients")
    parser.add_argument("--database", metavar="URL", help="a PostgreSQL that was seeded before; nobody else's, please")
    parser.add_argument("--explain", action="store_true", help="print the plan of each page's slowest query")
    given = parser.parse_args()
    with full_site(given) as environment:
        from django.utils import timezone

        from advisor.accounts.models import User

        user, password = User.objects.get(username=USER), os.urandom(12).hex()
        user.set_password(password)
        user.visited = timezone.now()
        user.visited_before = user.visited - timedelta(days=1)  # so that what changed since is marked at every system
        user.save()
        found = pages()
        asked = {name: answer for name, path in found.items() if (answer := queries_of(path))}
        from advisor.operations.management.commands.up import WEB_SERVER

        served = {**environment, "WEB_PROCESSES": f"{len(SERVERS)}"}
        bare = waitress(environment, "tests.bench.bare:application", before=PINNED)
        with waitress(served, before=PINNED, program=WEB_SERVER) as site, bare as beside:
            if CLIENTS:
                os.sched_setaffinity(0, CLIENTS)
            cookies = log_in(site, password)
            report(site, beside, cookies, found, asked, given.requests)
        if given.explain:
            for name, (_, queries) in asked.items():
                say(f"\n{name}, {found[name]}: {len(queries)} queries, the slowest:")
                explain(queries)


def report(
    site: str,
    beside: str,
    cookies: str,
    found: dict[str, str],
    asked: dict[str, tuple[int, list[dict[str, Any]]]],
    requests: int,
) -> None:
    """Measure and print the table."""
    say(f"{len(SERVERS)} cores for the servers; {requests} requests; milliseconds; × is the ratio to the bare page")
    columns = ("p50", "p95", "×p50", "×p95")
    say(f"{'page':<24}{'kB':>6}{'SQL':>5}{'SQL ms':>8} |" + f"{'':2}1 client {' ':19}|{'':2}4 clients")
    say(f"{'':<24}{'':>6}{'':>5}{'':>8} |" + ("".join(f"{c:>7}" for c in columns) + "  |") * 2)
    yard = [measure(f"{beside}/", "", requests, clients) for clients in (1, 4)]
    slow = []
    rows: list[tuple[str, list[Times], int, list[dict[str, Any]]]] = [("bare Django", yard, 2, [])]
    for name, (size, queries) in asked.items():
        rows.append((name, [measure(site + found[name], cookies, requests, n) for n in (1, 4)], size, queries))
    for name, times, size, queries in rows:
        milliseconds = sum(float(query["time"]) for query in queries) * 1000
        row = f"{name:<24}{size / 1e3:>6,.0f}{len(queries):>5}{milliseconds:>8.0f} |"
        for one, base in zip(times, yard, strict=True):
            row += f"{one.p50:7.1f}{one.p95:7.1f}{one.p50 / base.p50:7.0f}{one.p95 / base.p95:7.0f}  |"
        say(row)
        slow += [name] if max(one.p95 for one in times) > AIM_MS else []
    say(f"\np95 over {AIM_MS} ms: {', '.join(slow) or 'none'}")


if __name__ == "__main__":
    main()
