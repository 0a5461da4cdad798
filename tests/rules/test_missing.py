"""What is missing is named precisely: what was collected is not asked for again without saying which part it lacks."""

import dataclasses
import io

from collectors.capture import captures
from collectors.facts import Fact, Facts, Source
from collectors.facts.ase import (
    CacheActivity,
    EngineBusy,
    HeldLock,
    MonSpinlockActivity,
    MonTable,
    Server,
    SysmonSample,
    ThreadBusy,
)
from collectors.facts.openvms import Node
from collectors.read import read_stream
from rules.engine import judge
from rules.finding import MissingInput, Unknown, Verdict
from rules.missing import command_of, precisely

SWITCHES = Unknown.of(MonSpinlockActivity).missing


def said(missing: tuple[MissingInput, ...], *facts: Fact) -> list[str]:
    return [one.fact for one in precisely(missing, Facts(facts))[0]]


def test_global_buffer_defaults_are_asked_for_from_the_release_on_that_has_them() -> None:
    asked = tuple(MissingInput(name, f"MCR SYSGEN SHOW {name}") for name in ("GBLPAGFIL", "GB_DEFPERCENT"))
    old, new = (Node(source=Source("system.txt", 1, 1), name="A", version=one) for one in ("V7.3-2", "V8.3"))
    left, why = precisely(asked, Facts((old,)))
    assert [one.fact for one in left] == ["GBLPAGFIL"]
    assert why == "OpenVMS V7.3-2 has no GB_DEFPERCENT and GB_CACHEALLMAX"
    assert precisely(asked, Facts((new,))) == (asked, "")


def test_nothing_collected_is_asked_for_as_before() -> None:
    missing = Unknown.of(EngineBusy, MonSpinlockActivity, HeldLock).missing
    assert precisely(missing, Facts(())) == (missing, "")


def test_a_section_that_the_collected_report_does_not_have_is_named() -> None:
    (one,) = said(Unknown.of(ThreadBusy).missing, SysmonSample(), EngineBusy(engine=0))
    assert one.startswith("ase.ThreadBusy: the Thread Utilization rows")
    assert one.endswith('is not in the output of sp_sysmon "00:10:00" that was collected')


def test_what_is_lacked_in_words_is_not_there_either() -> None:
    lack = MissingInput("contention of the address locks", 'sp_sysmon "00:10:00" -- at the busiest hour')
    (one,) = said((lack,), SysmonSample())
    assert "not in the output of sp_sysmon" in one
    assert said((lack,), Server(version="16.0")) == ["contention of the address locks"]


def test_a_fact_that_is_there_but_not_enough_keeps_its_words() -> None:
    assert said(Unknown.of(CacheActivity).missing, CacheActivity(name="default data cache")) == ["ase.CacheActivity"]


def test_an_empty_table_was_collected() -> None:
    (one,) = said(SWITCHES, MonTable(table="monSpinlockActivity", rows=0))
    assert one == "ase.MonSpinlockActivity: monSpinlockActivity was collected and has no rows"


def test_a_table_that_the_release_does_not_have_is_not_asked_for() -> None:
    old, new = Server(version="12.5.4/EBF 1"), Server(version="15.7/EBF 1")
    assert precisely(SWITCHES, Facts((old,))) == ((), "release 12.5 has no monSpinlockActivity")
    assert precisely(SWITCHES, Facts((new,))) == (SWITCHES, "")
    both = (*SWITCHES, *Unknown.of(SysmonSample).missing)
    assert [one.fact for one in precisely(both, Facts((old,)))[0]] == ["ase.SysmonSample"]


def test_remarks_are_no_part_of_a_command() -> None:
    assert command_of('sp_sysmon "00:10:00" -- at the busiest hour') == 'sp_sysmon "00:10:00"'
    assert command_of(MonSpinlockActivity.COLLECTED_BY) == "select * from master..monSpinlockActivity"
    assert command_of("RMU/SHOW SYSTEM ! on each node of the cluster") == "RMU/SHOW SYSTEM"


def test_no_verdict_on_a_piece_of_sp_sysmon_asks_for_sp_sysmon_without_a_reason() -> None:
    text = "Kernel Utilization\n------------------\n\n  Engine Busy Utilization        CPU Busy   I/O Busy       Idle\n"
    text += "  ------------------------       --------   --------   --------\n"
    text += "    Engine 0                       70.5 %      4.8 %     24.7 %\n"
    (capture,) = captures(read_stream("x.txt", io.BytesIO(text.encode())))
    verdicts = [_precise(one, capture.facts) for one in judge(capture)]
    asked = [lack for one in verdicts for lack in one.missing if lack.command.startswith("sp_sysmon")]
    assert asked
    assert all("collected" in lack.fact or lack.fact.startswith("ase.SysmonSample") for lack in asked), asked


def _precise(verdict: Verdict, facts: Facts) -> Verdict:
    missing, why = precisely(verdict.missing, facts)
    return dataclasses.replace(verdict, missing=missing, why="; ".join(filter(None, (verdict.why, why))))
