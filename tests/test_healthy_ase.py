"""Twenty healthy SAP ASE servers, of 12.5.4 to 16.1 and of 2 to 64 engines: nobody is told to do anything.

`tests/healthy/ase_servers.yml` describes them as their DBAs would, and `tests.healthy` makes of it what they bring:
layouts by release, figures that agree. A finding above a note here is a rule that cries wolf, or a mistake in the
figures; which of the two is to be said where it is mended.
"""

import re
from functools import cache
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest

from advisor.audits.services.auditing import run_audit
from advisor.uploads.services.reading import read_exports
from collectors.facts import Facts, Reading, known
from collectors.facts.ase import (
    CacheActivity,
    DeviceActivity,
    LockSummary,
    MonDataCache,
    MonDeviceIO,
    MonEngine,
    MonSpinlockActivity,
    MonSysWaits,
    TaskSwitches,
)
from collectors.read import Input
from rules.audit import Audit
from rules.finding import Severity
from rules.resets import SAMPLE_WRAPPED, SHORTER
from tests.healthy.ase_listings import Listings
from tests.healthy.ase_load import SECONDS, Load, servers
from tests.healthy.ase_sysmon import Sysmon

SERVERS = servers()
CONTENTION = re.compile(r"^( +Spinlock Contention +n/a +n/a +n/a) +[\d.]+ % *$", re.MULTILINE)
DRAWS = 8
"""Further draws of each server's figures, in the long run of the tests."""


def read(name: str, draw: int = 0, contention: str | None = None) -> list[Input]:
    """What the readers make of the files of a server. `contention`: printed in place of that of its data caches."""
    load = Load(SERVERS[name], draw)
    with TemporaryDirectory() as folder:
        sysmon = Sysmon(load).write()
        if contention:
            sysmon, changed = CONTENTION.subn(rf"\g<1>{contention:>12}", sysmon)
            assert changed
        files = [("sysmon.txt", sysmon), *Listings(load).write()]
        for file, text in files:
            (Path(folder) / file).write_text(text, "utf-8")
        return read_exports([str(Path(folder) / file) for file, _ in files], None)  # type: ignore[arg-type]


@cache
def audited(name: str) -> tuple[list[Input], Audit]:
    """A server's files as they were read, and its audit, made once for all tests."""
    inputs = read(name)
    (audit,) = run_audit(inputs, {}, None)
    return inputs, audit


def loud(audit: Audit) -> list[str]:
    """Findings above a note."""
    found = [one.finding for one in audit.findings if one.finding.severity > Severity.NOTE]
    return [f"{one.severity.label}: {one.title}" for one in found]


@pytest.mark.parametrize("name", SERVERS)
def test_healthy_server_hears_nothing_above_a_note(name: str) -> None:
    inputs, audit = audited(name)
    problems = [problem for one in inputs for problem in one.problems]
    assert not problems
    assert not [leftover for one in inputs for leftover in one.leftovers], "the layouts are those of the product"
    verdicts = {one.verdict for one in audit.verdicts}
    assert not verdicts & {"broken", "untrusted"}, [one for one in audit.verdicts if one.verdict in verdicts]
    assert not loud(audit)
    assert not [change for one in audit.findings for change in one.finding.changes]
    assert audit.capture.system.name == name


@pytest.mark.parametrize(
    ("name", "contention", "says"),
    [
        ("CLAIMS", "-312.4 %", "Not known yet: "),
        ("PAYROLL", "-312.4 %", "Nothing to do"),  # idle engines: nothing to gain, whatever it would have shown
        ("STOCK", "-312.4 %", "Nothing to do"),  # monSpinlockActivity is judged
    ],
)
def test_a_wrapped_counter_is_told_where_it_could_have_shown_something(name: str, contention: str, says: str) -> None:
    (audit,) = run_audit(read(name, contention=contention), {}, None)
    assert not loud(audit)
    assert audit.summary.verdict.startswith(says)
    wrapped = says.startswith("Not known")
    assert audit.summary.verdict.endswith(f": {SAMPLE_WRAPPED}.") == wrapped
    assert (audit.summary.collect[0].command == SHORTER.command) == wrapped


@pytest.mark.long
@pytest.mark.parametrize("name", SERVERS)
def test_healthy_server_stays_so_in_other_hours(name: str) -> None:
    for draw in range(1, DRAWS + 1):
        (audit,) = run_audit(read(name, draw), {}, None)
        assert not loud(audit), f"draw {draw}"


def test_servers_are_of_all_kinds() -> None:
    assert len(SERVERS) == 20
    releases = {one.release for one in SERVERS.values()}
    assert {"12.5.4", "15.0.3", "15.7 SP110", "16.0 SP02", "16.0 SP03", "16.0 SP04", "16.1"} <= releases
    engines = [one.engines for one in SERVERS.values()]
    assert (min(engines), max(engines)) == (2, 64)
    busy = [one.busy for one in SERVERS.values()]
    assert (min(busy) < 5, max(busy) > 80) == (True, True)
    assert all(len(one.story.split()) > 15 for one in SERVERS.values()), "each is described"


WITH_BOTH = [name for name, one in SERVERS.items() if "snapshots" in one.brings]


@pytest.mark.parametrize("name", WITH_BOTH)
def test_reports_of_a_server_agree(name: str) -> None:
    """What sp_sysmon and the monitoring tables both count is the same count, but for what a report rounds."""
    _, audit = audited(name)
    facts: Facts = audit.capture.facts
    searches = {one.name: one.searches for one in facts.every(CacheActivity)}
    for mon in (one for one in facts.every(MonDataCache) if one.over == "interval"):
        same(mon.searches, searches[mon.name])
    devices = {one.device: one for one in facts.every(DeviceActivity)}
    for disk in (one for one in facts.every(MonDeviceIO) if one.over == "interval"):
        same(disk.writes, devices[disk.device].writes)
    events = {one.event: one.waits for one in facts.every(MonSysWaits) if one.over == "interval"}
    causes = {one.cause: one.count for one in facts.every(TaskSwitches)}
    for event, cause in ((29, "Cache Search Misses"), (55, "Last Log Page Writes"), (214, "Voluntary Yields")):
        same(events.get(event, 0.0), causes[cause])
    locked = facts.every(LockSummary)
    same(events.get(150, 0.0), locked[0].waited)
    grabs: dict[str, list[float]] = {}
    for one in facts.every(MonSpinlockActivity):
        if one.over == "interval" and known(one.grabs) and known(one.waits):
            mine = grabs.setdefault(one.name, [0.0, 0.0])
            grabs[one.name] = [mine[0] + one.grabs, mine[1] + one.waits]
    printed = {one.name: one.contention_percent for one in facts.every(CacheActivity)} if grabs else {}
    for cache_name, share in printed.items():
        assert known(share)
        assert abs(100 * grabs[cache_name][1] / grabs[cache_name][0] - share) <= 0.0501
    for engine in (one for one in facts.every(MonEngine) if one.over == "interval"):
        parts = [engine.user_seconds, engine.system_seconds, engine.idle_seconds, engine.io_seconds]
        assert abs(sum(part for part in parts if known(part)) - SECONDS) <= 4, engine


def same(one: Reading, other: Reading) -> None:
    assert known(one)
    assert known(other)
    assert abs(one - other) <= 1


@pytest.mark.parametrize("name", SERVERS)
def test_what_waits_thinks_and_runs_are_the_sessions(name: str) -> None:
    """The identity that knowledge/ase-waits-caches.md, 1.1 gives as a check of such figures."""
    load = Load(SERVERS[name])
    daemons = {57, 61, 104, 178, 260}
    waiting = sum(seconds for event, (_, seconds) in load.waits.items() if event not in daemons) / SECONDS
    assert abs(waiting + load.busy - SERVERS[name].connections) < max(1.0, 0.01 * SERVERS[name].connections)


def test_releases_print_what_they_had() -> None:
    """Rows and tables that a release did not have yet are in none of its files."""
    texts = {name: dict(Listings(Load(one)).write()) for name, one in SERVERS.items()}
    for name, server in SERVERS.items():
        snapshots = texts[name].get("snapshots.txt", "")
        assert ("monSpinlockActivity" in snapshots) == ("snapshots" in server.brings and server.number >= (15, 7))
        assert ("CASGrabs" in snapshots) == ("snapshots" in server.brings and server.number >= (16, 0, 0, 2))
        assert ("partition spinlock ratio" in texts[name]["configuration.txt"]) == (server.number >= (15,))
        report = Sysmon(Load(server)).write()
        assert ("ThreadPool" in report) == server.threaded
        assert bool(re.search(r"by No Free Plcblock", report)) == (server.number >= (16, 0, 0, 4))
