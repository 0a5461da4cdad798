"""What an exhibit cannot say of the dedicated lock manager's rules: order, and what is left unsaid."""

from collectors.facts import Fact, Facts
from collectors.facts.openvms import (
    Cpu,
    FastpathDevice,
    KernelService,
    LockRates,
    Node,
    ProcessorModes,
    SpinlockTrace,
    SpinlockTraceRun,
    SysgenParameter,
)
from rules.engine import judge_one, rules
from rules.finding import Verdict

SHARED, OWN = "openvms/lock_manager_cpu_shared", "openvms/lock_manager_needs_own_cpu"
PANDOR = (
    Node(name="PANDOR", active_cpus=8.0),
    FastpathDevice(device="PKA0", cpu=0),
    FastpathDevice(device="EWC0", cpu=2),
    KernelService(service="OpenVMS Lock Manager", cpu=6),
    Cpu(number=6, state="RUN", cothread=2.0, full=True, process="LCKMGR_SERVER"),
)
SPINNING = (
    Node(name="SKYE", active_cpus=7.0, hardware="HP rx8640 (1.60GHz/18.0MB)"),
    FastpathDevice(device="PKA0", cpu=0),
    *(Cpu(number=number, state="RUN", full=True) for number in range(7)),
    ProcessorModes(statistic="p95", mp_synch_percent=330.0, cpus=7.0),
    LockRates(
        statistic="p95", new_enq_per_second=70_000.0, converted_enq_per_second=110_000.0, deq_per_second=69_000.0
    ),
)
TRACED = (
    SpinlockTraceRun(command="SHOW TRACE/SUMMARY", seconds=15.0, unit="rates"),
    SpinlockTrace(spinlock="LCKMGR", command="SHOW TRACE/SUMMARY", hold_percent=92.0, spin_percent=231.0),
)


def judged(rule_id: str, *facts: Fact) -> Verdict:
    (one,) = [one for one in rules() if one.id == rule_id]
    return judge_one(one, Facts(facts), {})


def missing(verdict: Verdict) -> str:
    return " ".join(f"{lack.fact} {lack.command}" for lack in verdict.missing)


def test_the_cpu_is_chosen_before_the_lock_manager_is_turned_on() -> None:
    (finding,) = judged(OWN, *SPINNING, *TRACED).findings
    assert [(change.target, change.new) for change in finding.changes] == [("LCKMGR_CPUID", 1), ("LCKMGR_MODE", 6)]
    assert finding.changes[1].needs == (finding.changes[0].key,)


def test_a_cpu_that_is_chosen_already_is_not_chosen_again() -> None:
    (finding,) = judged(OWN, *SPINNING, SysgenParameter(name="LCKMGR_CPUID", current=1.0)).findings
    assert [change.target for change in finding.changes] == ["LCKMGR_MODE"]
    assert "CPU 1 suits it" in finding.says


def test_what_is_set_for_the_next_boot_is_not_warned_of() -> None:
    def cautions(*more: Fact) -> str:
        (finding,) = judged(SHARED, *PANDOR, *more).findings
        return " ".join(caution for change in finding.changes for caution in change.cautions)

    assert "LCKMGR_CPUID = 6 in MODPARAMS.DAT" in cautions()
    assert "LCKMGR_CPUID" not in cautions(SysgenParameter(name="LCKMGR_CPUID", current=6.0))
    assert "(8 now)" in cautions()
    assert "(8 now)" not in cautions(SysgenParameter(name="LCKMGR_MODE", current=6.0))


def test_lckmgr_mode_is_asked_for_only_where_a_cpu_is_stopped() -> None:
    tcpip = KernelService(service="OpenVMS TCP/IP", cpu=2)
    assert "LCKMGR_MODE" in missing(judged(SHARED, *PANDOR))
    assert "LCKMGR_MODE" not in missing(judged(SHARED, *PANDOR, tcpip))
    assert "LCKMGR_MODE" not in missing(judged(SHARED, *PANDOR, SysgenParameter(name="LCKMGR_MODE", current=6.0)))


def test_a_single_display_never_leads_to_a_stop_of_the_primary_or_of_a_service() -> None:
    for service in ("OpenVMS TCP/IP", "OpenVMS Something New"):
        (finding,) = judged(SHARED, *PANDOR, KernelService(service=service, cpu=2)).findings
        assert not any("STOP/CPU" in line for change in finding.changes for line in change.apply)
    (finding,) = judged(SHARED, *PANDOR, Cpu(number=2, state="RUN", primary=True)).findings
    assert not any("STOP/CPU" in line for change in finding.changes for line in change.apply)
