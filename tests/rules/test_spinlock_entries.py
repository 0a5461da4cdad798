"""Every spinlock that a source names has an entry, and one that dominates is in a finding, whatever its name."""

from typing import Any

import pytest

from collectors.facts import Facts
from collectors.facts.ase import MonEngine, MonSpinlockActivity
from rules.account import PROCESSORS
from rules.ase._evidence.account import measured
from rules.ase._evidence.spinlocks.entries import (
    BY_NAME,
    ENTRIES,
    NOBODY,
    ONLY_NAME,
    PRACTICE,
    VENDOR,
    Entry,
    entry_of,
)
from rules.ase._evidence.spinlocks.names import BY_NAME as OWN_RULE
from rules.ase._evidence.spinlocks.names import BY_RATIO, meaning_of
from rules.engine import judge_one, rules_of
from rules.finding import Severity

SECTION_6 = (
    *("Resource->rproccache_spin", "Resource->rprocmgr_spin", "SSQLCACHE_SPIN", "SSQLCACHE_SPIN[i]"),
    *("User Log Cache Spinlocks", "Dbtable->dbt_xdesqueue_spin", "Dbtable->dbt_plcblock_queue_spin", "Sched Q"),
    *("Kernel->erunqspinlock", "Kernel->kpsleepqspinlock[i]", "Kernel->kpprocspin[i]", "Resource->rdesmgr_spin"),
    *(
        "Des Upd Spinlocks",
        "Pdes Spinlocks",
        "tablockspins",
        "DES Name Hash Bucket Spin",
        "Resource->rqueryplan_spin[i]",
    ),
)
"""Of knowledge/ase-waits-caches.md; `bufspin <cache>` is any cache's."""
SECTION_5 = (
    *("fglockspins", "addrlockspins", "Ides Spinlocks", "Ides Chain Spinlocks", "Pdes Chain Spinlocks"),
    *("Resource->rpmctrl_spin", "Dbtable->dbt_seqspin", "Dbtable->dbt_thresh_spin", "Dbtable->dbt_defpipebufgpspin"),
    *("Dbt->dbt_repl_spin", "Resource->rdbt_spin", "Resource->rdbts_spin", "Kernel->kprunqspinlock", "global sched"),
    *("syb_default_pool", "Deferred Queue", "Kernel->kslistener_spinlock", "Networking_spinlock"),
    *("Kernel->kaspinlock", "Kernel->kbmempools", "Resource->rtmpdb_spin", "Resource->rsysgam_spin"),
    *("Resource->rlocksemaphore_spin", "Resource->rlocksleeptask_spin", "Resource->rlockobjpool_spin"),
    *("Resource->rlockpromotion_spin", "Resource->rmda_spinlock", "Resource->rsqltext_spin"),
    *("Resource->rwaittask_spin", "XDES_HASH_BUCKET_SPINLOCK", "XDES_SPIN", "SITEBUF_SPIN", "ENCR_SPIN", "COMP_SPIN"),
    *("ASTC_SPIN", "PTNCOND_SPIN", "DATACHG_SPIN"),
)
"""Of knowledge/ase-rules.md, but devices and network, which are one group."""
EVERY = tuple(dict.fromkeys((*SECTION_6, *SECTION_5)))


@pytest.mark.parametrize("name", EVERY)
def test_it_has_an_entry_that_says_what_it_guards_what_relieves_it_and_who_says_so(name: str) -> None:
    entry = entry_of(name)
    assert entry is not None
    assert entry.guards
    assert bool(entry.relief) == (entry.relief_by != NOBODY)
    assert len(entry.says) <= 240, "it stands beside other sentences of one part"
    if not entry.relief:
        assert ONLY_NAME in entry.says or "no remedy" in entry.says


def test_a_remedy_of_the_vendor_is_told_from_one_of_practice_and_from_our_inference() -> None:
    assert {one.relief_by for one in ENTRIES.values()} == {VENDOR, PRACTICE, BY_NAME, NOBODY}
    assert Entry("x", VENDOR, "y", VENDOR).says == "It guards x: y."
    assert "practitioners say: y" in Entry("x", VENDOR, "y", PRACTICE).says
    assert "this project infers; no source says so: y" in Entry("x", BY_NAME, "y", BY_NAME).says
    assert [one for one in ENTRIES.values() if one.proven and one.relief_by != VENDOR] == []


def test_every_name_with_a_rule_has_an_entry() -> None:
    assert [name for name in (*BY_RATIO, *OWN_RULE) if entry_of(name) is None] == []


def test_the_buffers_of_a_cache_and_devices_are_said_by_their_kind() -> None:
    assert "buffer headers of the cache tempdb_cache" in meaning_of("bufspin tempdb_cache")
    assert "device or network" in meaning_of("kdaio_spinlock")
    assert "Nothing is known" in meaning_of("ZZ_SPIN")


SECONDS = 300.0
OF_INTERVAL: dict[str, Any] = {"over": "interval", "certificate": "ok", "seconds": SECONDS}
NOT_JUDGED_BY_SPINS = ("Sched Q", "global sched", "syb_default_pool", "Deferred Queue")
"""Queues that spin very much on healthy servers (knowledge/ase-rules.md, 5)."""


def server(name: str, *, percent: float, grabs_per_second: float, queues: float) -> Facts:
    """Eight busy engines and one spinlock with most of the spins; `queues`: spins of the scheduler for each of its."""
    grabs = grabs_per_second * SECONDS
    spins = 8 * 3e6 * SECONDS
    busy: dict[str, Any] = {"user_seconds": 0.95 * SECONDS, "system_seconds": 0.0, "idle_seconds": 0.05 * SECONDS}
    rows = (
        MonSpinlockActivity(name=name, grabs=grabs, waits=grabs * percent / 100, spins=spins, **OF_INTERVAL),
        MonSpinlockActivity(name="Resource->zz", grabs=grabs, waits=0.0, spins=spins / 50, **OF_INTERVAL),
        MonSpinlockActivity(name="Sched Q", slot=1, grabs=grabs, waits=9.0, spins=spins * queues, **OF_INTERVAL),
    )
    engines = tuple(MonEngine(engine=one, status="online", **OF_INTERVAL, **busy) for one in range(8))
    return Facts((*rows, *engines))


@pytest.mark.parametrize("percent", [0.4, 4.0, 30.0])
@pytest.mark.parametrize("grabs_per_second", [400.0, 1e6])
@pytest.mark.parametrize("queues", [0.0, 5.0])
def test_one_that_dominates_is_in_a_finding_whatever_its_name(
    percent: float, grabs_per_second: float, queues: float
) -> None:
    silent = {}
    for name in (*EVERY, "default data cache", "bufspin default data cache", "ZZ_SPIN"):
        if name in NOT_JUDGED_BY_SPINS:
            continue
        facts = server(name, percent=percent, grabs_per_second=grabs_per_second, queues=queues)
        verdicts = [judge_one(one, facts, {}) for one in rules_of("ase")]
        assert [one.rule for one in verdicts if one.verdict == "broken"] == []
        named = [
            finding
            for one in verdicts
            for finding in one.findings
            if finding.severity > Severity.NOTE
            and any(name.removesuffix("[i]") in said for said in (finding.subject, finding.title, finding.seen))
        ]
        if not named:
            silent[name] = [(one.rule, one.why) for one in verdicts if name in one.why]
    assert silent == {}


@pytest.mark.parametrize(("waiting", "named"), [(2.0, False), (12.0, True)])
def test_a_queue_of_the_scheduler_stands_in_the_account_where_many_grabs_wait_and_only_there(
    waiting: float, named: bool
) -> None:
    grabs = 1e6 * SECONDS
    counts: dict[str, Any] = {"grabs": grabs, "waits": grabs * waiting / 100, "spins": 8 * 3e6 * SECONDS}
    busy: dict[str, Any] = {"user_seconds": 0.95 * SECONDS, "system_seconds": 0.0, "idle_seconds": 0.05 * SECONDS}
    engines = (MonEngine(engine=one, status="online", **OF_INTERVAL, **busy) for one in range(8))
    facts = Facts((MonSpinlockActivity(name="Sched Q", slot=1, **OF_INTERVAL, **counts), *engines))
    (account,) = [one for one in measured(facts) if one.currency == PROCESSORS]
    pools = [(pool.what, round(pool.amount.high, 1), pool.causes[0]) for pool in account.pools]
    assert pools == ([("spins of Sched Q", 2.4, "ase/run_queue_spinlock_contended:Sched Q")] if named else [])
