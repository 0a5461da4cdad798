"""What became of advice and findings between two captures: in force, gone, or nothing that anybody can tell."""

from collections.abc import Iterable

import pytest

from collectors.facts import Capture, Fact, Facts, Interval, System
from collectors.facts.ase import CacheBinding, CachePool, ConfigParameter, MonDataCache, NamedCache, TableScheme
from collectors.facts.openvms import ClusterNode, Cpu, SysgenParameter
from collectors.facts.rdb import Database
from rules.audit import Audit
from rules.compare.changed import advised, came_and_went, settings_that_differ
from rules.compare.sides import Side, side_of
from rules.finding import Change, Effect, Finding, MissingInput, Severity, Verdict
from rules.plan import make_plan
from rules.ranking import Ranked


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


PAYROLL = "DISK$DB:[PAY]PAYROLL.RDB"


def _partitioned(so: bool) -> Database:
    return Database(database=f"{PAYROLL};1", lock_partitioning=so)


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
        (_change(f"rdb.database:{PAYROLL}:lock_partitioning", "DISABLED", "ENABLED"), _partitioned(True), True),
        (_change(f"rdb.database:{PAYROLL}:lock_partitioning", "DISABLED", "ENABLED"), _partitioned(False), False),
        (_change("ase.restart:ORKNEY", None, None), _scheme("datarows"), None),
        (_change("unix.governor:0-3", "powersave", "performance"), _scheme("datarows"), None),
    ],
)
def test_a_change_is_in_force_where_the_setting_says_so(change: Change, fact: Fact, applied: bool | None) -> None:
    before = _audit((), ("openvms/rule", "ORKNEY", (change,)))
    assert [one.applied for one in advised([before], [], _side(), _side(fact))] == [applied]


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
    assert [one.applied for one in advised([before], [after], _side(), _side())] == [applied]


def test_a_setting_that_goes_on_to_a_further_value_was_in_force() -> None:
    key = "openvms.sysgen:LOCKDIRWT"
    before = _audit((), ("openvms/rule", "ORKNEY", (_change(key, 0.0, 1.0),)))
    after = _audit((), ("openvms/rule", "ORKNEY", (_change(key, 1.0, 2.0),)))
    assert [one.applied for one in advised([before], [after], _side(), _side(_sysgen("LOCKDIRWT", 1.0)))] == [True]


def test_a_rule_that_did_not_run_or_could_not_judge_all_leaves_nothing_gone() -> None:
    before = _audit((), ("rdb/stalls", "STOCK", ()), ("ase/caches", "one", ()), ("ase/locks", "two", ()))
    missing = (MissingInput("a fact", "a command"),)
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
        assert [one.applied for one in advised([before], [], _side(), _side(_sysgen(name, value)))] == [applied]


DEFAULT = NamedCache(name="default data cache", kind="Default", run_size_mb=4096.0, run_partitions=1.0)
HOT = NamedCache(name="hot", kind="Mixed", run_size_mb=512.0, run_replacement="relaxed LRU", run_partitions=8.0)


def _bound(table: str, cache: str, index: str | None = None) -> CacheBinding:
    return CacheBinding(cache=cache, database="rating", owner="dbo", table=table, index=index, valid=True)


def _differ(before: Side, after: Side) -> dict[str, tuple[object, object]]:
    return {one.name: (one.before, one.after) for one in settings_that_differ(before, after)}


def test_a_new_cache_and_what_is_bound_to_it_are_differences() -> None:
    other = _bound("tariff", "event cache")
    before, after = _side(DEFAULT, other), _side(DEFAULT, HOT, other, _bound("call", "hot"))
    assert _differ(before, after) == {
        "cache hot: type": (None, "Mixed"),
        "cache hot: size, MB": (None, 512.0),
        "cache hot: replacement": (None, "relaxed LRU"),
        "cache hot: partitions": (None, 8.0),
        "binding rating.dbo.call": (None, "hot"),
    }
    assert _differ(after, before)["cache hot: size, MB"] == (512.0, None), "a cache that went is a difference, too"
    assert _differ(after, _side(DEFAULT, HOT, other, _bound("call", "event cache"))) == {
        "binding rating.dbo.call": ("hot", "event cache")
    }


def test_what_a_side_does_not_list_is_no_difference() -> None:
    assert _differ(_side(), _side(DEFAULT, HOT, _bound("call", "hot"))) == {}, "no listing at all"
    counted = _side(DEFAULT, MonDataCache(name="hot"))
    assert _differ(counted, _side(DEFAULT, HOT)) == {}, "counted before, so it was there: the listing was of one cache"
    sizes_alone = _side(DEFAULT, NamedCache(name="hot", run_size_mb=512.0))
    assert _differ(_side(DEFAULT, HOT), sizes_alone) == {}, "sp_helpcache prints sizes alone"
    invalid = CacheBinding(cache="hot", database="rating", owner="dbo", table="call", valid=False)
    assert _differ(_side(_bound("x", "e")), _side(_bound("x", "e"), invalid)) == {}, "an invalid binding binds nothing"


def test_a_new_pool_a_lock_scheme_and_a_weight_are_differences() -> None:
    small, large = (CachePool(cache="hot", io_size_kb=size, run_size_mb=100.0) for size in (4, 32))
    assert _differ(_side(HOT, small), _side(HOT, small, large)) == {"cache hot, 32 KB pool: size, MB": (None, 100.0)}
    assert _differ(_side(HOT), _side(HOT, small)) == {}, "no pool was listed before"
    assert _differ(_side(_scheme("allpages")), _side(_scheme("datarows"))) == {
        "ledger.dbo.accounts: lock scheme": ("allpages", "datarows")
    }
    weights = [_side(ClusterNode(name="SKYE", lock_directory_weight=weight)) for weight in (0.0, 2.0)]
    assert _differ(*weights) == {"LOCKDIRWT of SKYE": (0.0, 2.0)}


BIND = Change(
    "ase.bind:rating.dbo.call",
    "x",
    "default data cache",
    "made",
    (),
    (),
    Effect.ONLINE,
    needs=("ase.cache:made:create",),
)
MAKE = Change("ase.cache:made:create", "made: new cache", None, "600 MB", (), (), Effect.ONLINE)


@pytest.mark.parametrize(
    ("facts", "bind", "make"),
    [
        ((DEFAULT, NamedCache(name="made"), _bound("call", "made")), (True, None), (True, None)),
        ((DEFAULT, HOT, _bound("call", "hot")), (True, "hot"), (True, "hot")),
        ((DEFAULT, HOT, CacheBinding(cache="hot", database="rating", valid=True)), (True, "hot"), (True, "hot")),
        ((DEFAULT, HOT, _bound("other", "hot")), (False, None), (False, None)),
        ((DEFAULT, HOT, _bound("call", "hot", "call_pk")), (False, None), (False, None)),
        ((DEFAULT, HOT, _bound("call", "default data cache")), (False, None), (False, None)),
        ((DEFAULT, HOT), (None, None), (False, None)),
        ((), (None, None), (None, None)),
    ],
    ids=[
        "as advised",
        "by another name",
        "with its database",
        "not bound",
        "its index alone",
        "bound back",
        "no list",
        "",
    ],
)
def test_a_binding_plan_is_in_force_by_any_name(
    facts: tuple[Fact, ...], bind: tuple[bool | None, str | None], make: tuple[bool | None, str | None]
) -> None:
    before = _audit((), ("ase/hot_table_in_default_cache", "ORKNEY", (MAKE, BIND)))
    told = advised([before], [], _side(DEFAULT, _bound("other", "event")), _side(*facts))
    assert [(one.applied, one.now) for one in told] == [make, bind]
    assert {one.finding for one in told} == {"ase/hot_table_in_default_cache:ORKNEY"}


def test_system_tables_are_bound_where_one_of_them_is() -> None:
    change = _change("ase.bind:rating:system tables", "default data cache", "made")
    before = _audit((), ("ase/rule", "ORKNEY", (change,)))
    for table, applied in (("sysobjects", True), ("call", False)):
        (told,) = advised([before], [], _side(_bound("x", "e")), _side(_bound(table, "hot")))
        assert told.applied is applied


def test_a_setting_that_went_further_than_advised_is_in_force_and_one_that_stopped_short_is_not() -> None:
    cases = [
        (
            "ase.config:lock hashtable spinlock ratio",
            100.0,
            20.0,
            ((20.0, True), (10.0, True), (50.0, False), (200.0, False)),
        ),
        ("ase.config:number of locks", 5000.0, 9000.0, ((9000.0, True), (20000.0, False))),
    ]
    for key, old, new, values in cases:
        before = _audit((), ("ase/rule", "ORKNEY", (_change(key, old, new),)))
        for value, applied in values:
            (told,) = advised([before], [], _side(), _side(_parameter(key.partition(":")[2], value)))
            assert (told.applied, told.now) == (applied, None if value == new else value)


def test_a_setting_names_the_finding_that_advised_it() -> None:
    before = _audit((), ("ase/hot_table_in_default_cache", "ORKNEY", (MAKE, BIND)))
    sides = (
        _side(DEFAULT, _bound("x", "e")),
        _side(DEFAULT, HOT, _bound("x", "e"), _bound("call", "hot"), _bound("y", "hot")),
    )
    found = {one.name: one.advised for one in settings_that_differ(*sides, [before])}
    key = "ase/hot_table_in_default_cache:ORKNEY"
    assert (found["binding rating.dbo.call"], found["cache hot: size, MB"]) == (key, key)
    assert found["binding rating.dbo.y"] is None
