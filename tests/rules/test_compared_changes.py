"""What became of advice and findings between two captures: in force, gone, or nothing that anybody can tell."""

from collections.abc import Iterable

import pytest

from collectors.facts import Capture, Fact, Facts, Interval, System
from collectors.facts.ase import ConfigParameter, TableScheme
from collectors.facts.openvms import Cpu, SysgenParameter
from rules.audit import Audit, Ranked
from rules.finding import Change, Effect, Finding, Lacking, Severity, Verdict
from rules.judging.compared.changed import advised, came_and_went, settings_that_differ
from rules.judging.compared.sides import Side, side_of
from rules.plan import make_plan


def _side(*facts: Fact) -> Side:
    return side_of([Capture(System("ORKNEY", "openvms"), Interval(), Facts(facts))])


def _change(key: str, old: float | str | None, new: float | str | None) -> Change:
    return Change(key, key, old, new, (), (), Effect.ADVICE)


def _audit(verdicts: Iterable[Verdict], *found: tuple[str, str, tuple[Change, ...]]) -> Audit:
    ranked = tuple(
        Ranked(rule, Finding(subject, Severity.WARNING, "A title.", "What it says.", (), changes=changes))
        for rule, subject, changes in found
    )
    capture = Capture(System("ORKNEY", "openvms"), Interval(), Facts())
    return Audit(capture, tuple(verdicts), ranked, (), make_plan((), None))


def _sysgen(name: str, value: float) -> SysgenParameter:
    return SysgenParameter(name=name, current=value)


def _parameter(name: str, value: float) -> ConfigParameter:
    return ConfigParameter(name=name, config_value=value, run_value=value)


def _scheme(scheme: str) -> TableScheme:
    return TableScheme(database="ledger", owner="dbo", table="accounts", scheme=scheme)


@pytest.mark.parametrize(
    ("change", "fact", "applied"),
    [
        (_change("ase.config:number of locks", 5000.0, 1234567.0), _parameter("number of locks", 1234567.0), True),
        (_change("ase.config:number of locks", 5000.0, 1234567.0), _parameter("number of locks", 1234568.0), False),
        (_change("ase.config:number of locks", 5000.0, 10000.0), _parameter("number of devices", 10000.0), None),
        (_change("openvms.sysgen:ORKNEY:RESHASHTBL", 8192.0, 65536.0), _sysgen("RESHASHTBL", 65536.0), True),
        (_change("openvms.sysgen:by hand:RESHASHTBL", 8192.0, 65536.0), _sysgen("RESHASHTBL", 8192.0), False),
        (_change("openvms.cpu:ORKNEY:6", "RUN", "STOPPED"), Cpu(number=6, state="STOPPED"), True),
        (_change("openvms.cpu:6", "RUN", "STOPPED"), Cpu(number=6, state="RUN"), False),
        (_change("openvms.cpu:6", "RUN", "STOPPED"), Cpu(number=7, state="RUN"), None),
        (_change("ase.table:ledger.dbo.accounts:lock scheme", "allpages", "datarows"), _scheme("datapages"), True),
        (_change("ase.table:ledger.dbo.accounts:lock scheme", "datapages", "datarows"), _scheme("allpages"), False),
        (_change("ase.table:template:allpages to datarows", "allpages", "datarows"), _scheme("datarows"), None),
        (_change("ase.restart:ORKNEY", None, None), _scheme("datarows"), None),
        (_change("unix.governor:0-3", "powersave", "performance"), _scheme("datarows"), None),
    ],
)
def test_a_change_is_in_force_where_the_setting_says_so(change: Change, fact: Fact, applied: bool | None) -> None:
    before = _audit((), ("openvms/rule", "ORKNEY", (change,)))
    assert [one.applied for one in advised([before], [], _side(fact))] == [applied]


@pytest.mark.parametrize(
    ("again", "applied"),
    [((12.0, 10.0), False), ((10.0, 8.0), True), ((11.0, 8.0), None), ((None, 8.0), None)],
)
def test_advised_again_is_in_force_only_where_it_starts_from_what_was_advised(
    again: tuple[float | None, float], applied: bool | None
) -> None:
    key = "ase.engines:process"
    before = _audit((), ("ase/engines_past_peak", "ORKNEY", (_change(key, 12.0, 10.0),)))
    after = _audit((), ("ase/engines_past_peak", "ORKNEY", (_change(key, *again),)))
    assert [one.applied for one in advised([before], [after], _side())] == [applied]


def test_a_setting_that_goes_on_to_a_further_value_was_in_force() -> None:
    key = "openvms.sysgen:LOCKDIRWT"
    before = _audit((), ("openvms/rule", "ORKNEY", (_change(key, 0.0, 1.0),)))
    after = _audit((), ("openvms/rule", "ORKNEY", (_change(key, 1.0, 2.0),)))
    assert [one.applied for one in advised([before], [after], _side(_sysgen("LOCKDIRWT", 1.0)))] == [True]


def test_a_rule_that_did_not_run_or_could_not_judge_all_leaves_nothing_gone() -> None:
    before = _audit((), ("rdb/stalls", "STOCK", ()), ("ase/caches", "one", ()), ("ase/locks", "two", ()))
    missing = (Lacking("a fact", "a command"),)
    after = _audit((Verdict("ase/caches", "fired", "", missing), Verdict("ase/locks", "clean", "")))
    found = came_and_went([before], [after])
    assert found.gone == ("ase/locks:two",)
    assert found.not_judged == ("rdb/stalls:STOCK", "ase/caches:one")


def test_a_finding_on_the_system_is_the_same_whatever_the_exports_call_it() -> None:
    verdicts = (Verdict("ase/locks", "fired", ""),)
    old, new = (_audit(verdicts, ("ase/locks", name, ())) for name in ("PROD_OLD", "server"))
    found = came_and_went([old], [new], ("PROD_OLD", "PROD_NEW"))
    assert (found.gone, found.new, found.still) == ((), (), ("ase/locks:server",))


def test_a_setting_that_is_printed_otherwise_does_not_differ() -> None:
    one, other = _side(_sysgen("LOCKIDTBL", 3840.0)), _side(SysgenParameter(name="LOCKIDTBL", current="3840"))
    assert settings_that_differ(one, other) == ()
    assert len(settings_that_differ(one, _side(_sysgen("LOCKIDTBL", 3841.0)))) == 1


def test_a_floor_is_kept_where_autogen_went_beyond_it() -> None:
    name = "LOCKIDTBL"
    change = _change(f"openvms.sysgen:{name}", 3840.0, 10000.0)
    before = _audit((), ("openvms/lock_id_table_small", "ORKNEY", (change,)))
    for value, applied in ((9999.0, False), (10000.0, True), (12000.0, True)):
        assert [one.applied for one in advised([before], [], _side(_sysgen(name, value)))] == [applied]
