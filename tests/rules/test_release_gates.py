"""Nobody is asked, or advised, what his SAP ASE does not have.

Seven releases, each three times: as an audit of sp_sysmon alone, which asks for everything else, and as an audit of
all there is on a server where everything is contended, which advises all it can; and by all exhibits of all rules, as
far as such a server can show their facts. Each line of advice, of a script and of what to collect is held against
what came with which release. What no source says of a release is not asserted.
"""

import json
import re
from collections.abc import Iterator, Sequence
from copy import deepcopy
from dataclasses import asdict, replace
from functools import cache, cached_property
from itertools import pairwise
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import pytest

from advisor.audits.report.data import audit_data
from advisor.audits.services.auditing import run_audit
from advisor.audits.services.collect_script import collect_script, first_audit, requests_of
from advisor.uploads.services.reading import read_exports
from collectors.facts import Fact, Facts
from collectors.facts.ase import EngineBusy, MetadataCache, MetadataSpinlock
from collectors.facts.ase import Server as Release
from collectors.facts.ase.introduced import TABLES
from collectors.live.ase.missing import Allowed, why_not
from collectors.live.ase.questions import questions
from collectors.read import Input
from rules.audit import Audit
from rules.engine import judge_one, rules
from rules.missing import TABLE
from tests.facts_yml import build
from tests.healthy import ase_load
from tests.healthy.ase_listings import Listings
from tests.healthy.ase_load import Load, Server, servers
from tests.healthy.ase_sysmon import Sysmon
from tests.test_findings import LOADED, rule_of

# fmt: off
CAME_WITH = {
    # monitoring tables: knowledge/ase-formats.md, 2.2 and releases-2026.md, 1.5
    "monCachedObject": "15.0", "monOpenPartitionActivity": "15.0", "monCachedStatement": "15.0.2",
    "monSpinlockActivity": "15.7 ESD#2", "monThread": "15.7", "monLockTimeout": "15.7", "SpinlockSlotID": "15.7 SP100",
    "syscacheinfo": "15.7", "syspoolinfo": "15.7", "monThresholdEvent": "16.0", "monSysExecutionTime": "16.0",
    "monDeviceSegmentIO": "16.0 SP02", "CASGrabs": "16.0 SP02", "CASWaits": "16.0 SP02", "monProcELC": "16.0 SP03 PL08",
    "show_cached_text": "15.0.2", "query_text": "16.0 SP02", "delayed commit": "15.0",
    # parameters: ase-rules.md, 2, ase-waits-caches.md, 5.2 and 6, releases-2026.md, 1.3
    "enable literal autoparam": "15.0.1",
    "partition spinlock ratio": "15.0", "number of open partitions": "15.0", "kernel mode": "15.7",
    "session tempdb log cache size": "15.0.2", "enable spinlock monitoring": "15.7",
    "enable large chunk elc": "15.7 SP100",
    "lock timeout pipe active": "15.7", "user log cache queue size": "16.0", "enable mem scale": "16.0 SP02",
    "enable LFB index": "16.0 SP02", "LFB memory size": "16.0 SP02", "enable HCB index": "16.0 SP02",
    "enable in-memory row storage": "16.0 SP02", "number of cached stmt spinlock": "16.0 SP03",
    # commands and kinds: ase-formats.md, 1.5; releases-2026.md, 1.1 and 1.4
    "alter thread pool": "15.7", "create thread pool": "15.7", "lockless": "16.0 SP02", "row_caching": "16.0 SP02",
    "snapshot_isolation": "16.0 SP02", "sp_imrs": "16.0 SP02",
    # rows of sp_sysmon: ase-formats.md, 1.5 and 1.6
    "Average Runnable Tasks": "15.7", "Thread Utilization": "15.7", "PLCBLOCK flush": "16.0 SP02",
}
# fmt: on
"""First release with it. Parameters of 16.0 SP02+ stand in a listing of that release, older ones do not have them."""
STORIES = {
    "12.5.4": "BRANCH",
    "15.0.3": "CLAIMS",
    "15.7 SP110": "STOCK",
    "16.0 SP02": "WEBSHOP",
    "16.0 SP03": "LEDGER",
    "16.0 SP04": "SAPERP",
    "16.1": "CARRIER",
}
"""By release the healthy server that is made ill here."""
LITERAL = re.compile(r"'[^']*'")
"""A name that is looked up in a catalog is found there or not; that asks nothing of the release."""
LEFT_OUT = re.compile(r"-- Left out, as that release does not have it:.*(?:\n-- [^.\n]*)*")
"""Says just what is to be said."""
CONTENDED = 0.42
"""Share of the grabs of each spinlock that wait."""


WAITED = (29, 41, 46, 55, 150)
"""Physical reads, latches, stalls of a cache, writes of the log, and locks: five tasks wait for each on average."""


class Ill(Load):
    """The same server where each spinlock is contended, and tasks wait for everything."""

    def __init__(self, server: Server) -> None:
        super().__init__(server)
        self.lock_buckets = max(1, self.held_locks // 12)
        self.log_semaphore = (sum(self.log_semaphore) * 6 // 10, sum(self.log_semaphore) * 4 // 10)
        self.flushes["by Full ULC"] = self.flushes["by End Transaction"]

    @cached_property
    def waits(self) -> dict[int, tuple[int, float]]:
        made = super().waits
        return made | {event: (max(20_000, made.get(event, (0, 0))[0]), 3_000.0) for event in WAITED}

    def _slots(self, name: str, grabs: float, slots: int, share: float, spins: float) -> Iterator[ase_load.Spinlock]:
        return super()._slots(name, grabs, slots, CONTENDED / (1 - 1 / self.server.engines), spins)


def ill(server: Server) -> Server:
    """Waits for everything, on one cache of one partition for all, and descriptors as installed."""
    caches = tuple(replace(one, partitions=1) for one in server.caches)
    slow = {"read_ms": 30.0, "log_ms": 22.0, "write_ms": 20.0, "busy": 93.0, "latches": 900.0}
    waiting = {"lock_waits": 60.0, "lock_ms": 400.0, "blocked": 8, "deadlocks": 40}
    return replace(server, caches=caches, **slow, **waiting)  # type: ignore[arg-type]


def read(files: Sequence[tuple[str, str]]) -> list[Input]:
    with TemporaryDirectory() as folder:
        for name, text in files:
            (Path(folder) / name).write_text(text, "utf-8")
        return read_exports([str(Path(folder) / name) for name, _ in files], None)  # type: ignore[arg-type]


@cache
def audit_of(release: str, *, whole: bool) -> tuple[Release, Audit, Any]:
    """The audit of a story, and its JSON; `whole`: of all its exports, else of sp_sysmon alone."""
    server = ill(servers()[STORIES[release]])
    load = Ill(server)
    files = [("sysmon.txt", Sysmon(load).write()), *(Listings(load).write() if whole else [])]
    inputs = read(files)
    (audit,) = run_audit(inputs, {}, None)
    told = Release(name=server.name, version=ase_load.VERSIONS[release].partition("/")[2])
    return told, audit, json.loads(json.dumps(audit_data(inputs, [audit]), default=str))


def said_to_do(data: Any) -> Iterator[tuple[str, str]]:
    """Where it stands, and every text of an audit that somebody would follow."""
    (capture,) = data["captures"]
    for verdict in capture["verdicts"]:
        for lack in verdict["missing"]:
            yield f"{verdict['rule']}, what is missing", lack["bring"]
    for one in capture["summary"]["collect"]:
        yield "what to collect next", one["command"]
    for account in capture["account"]:
        for part in ("unexplained", "undivided"):
            if account[part]:
                yield f"the account, {part}", account[part]["collect"]
    for finding in capture["findings"]:
        yield f"{finding['rule']}, what to do", finding["do"]
        yield f"{finding['rule']}, what is unknown", finding["unknown"] or ""
        for change in finding["changes"]:
            for part in ("apply", "undo", "cautions"):
                yield f"{finding['rule']}, {change['target']}, {part}", "\n".join(change[part])
    for step in capture["plan"]["steps"]:
        yield "the plan", f"{step['apply']}\n{step['undo']}"


NAMED = {name: re.compile(rf"\b{re.escape(name)}\b", re.IGNORECASE) for name in CAME_WITH}
ANY_NAMED = re.compile(rf"\b(?:{'|'.join(map(re.escape, CAME_WITH))})\b", re.IGNORECASE)


def too_new(release: Release, text: str) -> list[str]:
    """What a text speaks of and the release does not have."""
    if not ANY_NAMED.search(text):
        return []
    return [
        f"{name} ({since})"
        for name, since in CAME_WITH.items()
        if NAMED[name].search(text) and release.reached(since) is False
    ]


@pytest.mark.parametrize("whole", [False, True], ids=["sysmon", "all"])
@pytest.mark.parametrize("release", STORIES)
def test_audit_asks_and_advises_what_the_release_has(release: str, whole: bool) -> None:
    told, _, data = audit_of(release, whole=whole)
    wrong = [f"{where}: {names}: {text}" for where, text in said_to_do(data) if (names := too_new(told, text))]
    assert not wrong


@pytest.mark.parametrize("release", STORIES)
def test_asynchronous_log_service_is_named_where_the_server_takes_it(release: str) -> None:
    """16.0 refuses it unless `user log cache queue size` is 0 (17198, 3681), which these servers do not show."""
    _, _, data = audit_of(release, whole=True)
    named = [text for _, text in said_to_do(data) if "synchronous log service" in text]
    assert bool(named) == (not release.startswith("16")), named


@pytest.mark.parametrize("whole", [False, True], ids=["sysmon", "all"])
@pytest.mark.parametrize("release", STORIES)
def test_script_collects_what_the_release_has(release: str, whole: bool) -> None:
    told, _, data = audit_of(release, whole=whole)
    for request in (first_audit("ase", version=told.version), *requests_of(data, "ase")):
        text = LEFT_OUT.sub("", collect_script(request))
        assert not too_new(told, text), text


@pytest.mark.parametrize("release", [one for one in STORIES if not one.startswith("12")])
def test_live_server_is_asked_what_its_release_has(release: str) -> None:
    told = Release(version=ase_load.VERSIONS[release].partition("/")[2])
    assert told.release
    for one in questions():
        if why_not(one, told.release, Allowed(None, None)) is None:
            assert not too_new(told, LITERAL.sub("", one.sql)), one.name


EXHIBITS = [(path, name) for path, cases in LOADED.items() if rule_of(path).startswith("ase/") for name in cases]
PARTITIONS, MINIMALLY = re.compile(r"\bpartitions?\b", re.IGNORECASE), "Minimally Logged DMLs"


@cache
def facts_of(path: Path, name: str) -> list[tuple[Fact, str]]:
    """The facts of an exhibit, each with its words; once for all releases."""
    facts = [build(item) for item in deepcopy(LOADED[path][name]["facts"])]
    return [
        (fact, " ".join(str(value) for value in asdict(fact).values() if isinstance(value, str)))
        for fact in facts
        if not isinstance(fact, Release)
    ]


def shown_by(release: Release, facts: Sequence[tuple[Fact, str]]) -> list[Fact] | None:
    """What of an exhibit such a server can show; `None` where a value is of a later release, so no such one has it."""
    shown: list[Fact] = []
    for fact, values in facts:
        old = release.reached("15.0") is False and isinstance(fact, MetadataCache | MetadataSpinlock)
        threads = (isinstance(fact, EngineBusy) and fact.pool is not None) or MINIMALLY in values
        if too_new(release, values) or (old and PARTITIONS.search(values)) or (threads and not release.reached("15.7")):
            return None
        table = TABLE.search(fact.COLLECTED_BY)
        if table is None or release.reached(TABLES.get(table[1], "12.5")) is not False:
            shown.append(fact)
    return [release, *shown]


@pytest.mark.parametrize("release", STORIES)
def test_exhibits_of_all_rules_ask_and_advise_what_the_release_has(release: str) -> None:
    """Each exhibit with one of the releases; `make test-all` has each with all."""
    exhibits_fit(release, EXHIBITS[list(STORIES).index(release) :: len(STORIES)])


@pytest.mark.long
@pytest.mark.parametrize("release", STORIES)
def test_every_exhibit_of_all_rules_asks_and_advises_what_the_release_has(release: str) -> None:
    exhibits_fit(release, EXHIBITS)


def exhibits_fit(release: str, exhibits: Sequence[tuple[Path, str]]) -> None:
    told = Release(version=ase_load.VERSIONS[release].partition("/")[2])
    judged_by = {one.id: one for one in rules()}
    wrong, judged = [], 0
    for path, name in exhibits:
        facts = shown_by(told, facts_of(path, name))
        if facts is None:
            continue
        rule = judged_by[rule_of(path)]
        limits = {f"{rule.id}.{key}": value for key, value in (LOADED[path][name].get("limits") or {}).items()}
        verdict, judged = judge_one(rule, Facts(tuple(facts)), limits), judged + 1
        said = [lack.command for lack in verdict.missing]
        for finding in verdict.findings:
            said += [finding.do, finding.unknown]
            said += ["\n".join((*change.script, *change.way_back, *change.cautions)) for change in finding.changes]
        wrong += [f"{rule.id}: {name}: {names}: {text}" for text in said if (names := too_new(told, text))]
    assert not wrong
    assert judged > 0.8 * len(exhibits)


def test_stories_are_ill_enough_to_walk_the_advice() -> None:
    """Rules that have a finding in none of the stories are few, and what is asked for is much."""
    fired = {one.rule for release in STORIES for one in audit_of(release, whole=True)[1].findings}
    assert len(fired) >= 26, sorted(fired)
    for release in STORIES:
        assert len(list(said_to_do(audit_of(release, whole=False)[2]))) >= 8


@pytest.mark.parametrize("rule", [one for one in rules() if one.product == "ase"], ids=lambda one: one.id)
def test_rule_does_not_ask_the_oldest_release_for_what_came_later(rule: Any) -> None:
    """Each rule alone, of a server that gained nothing: `needs` is what its page and its verdict ask for."""
    told, audit, _ = audit_of("12.5.4", whole=False)
    (verdict,) = [one for one in audit.verdicts if one.rule == rule.id]
    assert not [one for lack in verdict.missing if (one := too_new(told, lack.command))]


def test_releases_are_told_apart() -> None:
    """The stories' versions stand in the order of their releases, so that what is gated is."""
    told = [Release(version=ase_load.VERSIONS[one].partition("/")[2]) for one in STORIES]
    for older, newer in pairwise(STORIES):
        position = list(STORIES).index(newer)
        assert told[position].reached(newer) is True
        assert told[position - 1].reached(newer) is False, (older, newer)
