"""Statistics of Oracle Rdb: which screen counts, what is compared with what, and what is refused."""

from datetime import datetime
from typing import Any

import pytest

from collectors.facts import OVERFLOW, Fact, Facts, Source
from collectors.facts.rdb import Database, DatabaseUse, StatisticRow, StatisticsWindow
from rules.rdb._evidence.account import measured
from rules.rdb._evidence.counted import averaged
from rules.rdb._evidence.databases import OneDatabase, databases
from rules.rdb._evidence.statistics import OPERATIONS, Rate, Statistics, statistics_of

ROOT, OTHER = "DISK$DB:[PAY]PAYROLL.RDB;1", "DISK$DB:[STK]STOCK.RDB"
TOTAL, PAGE = "Summary Locking Statistics", "Locking (buffer/page locks)"
WAITING = {"requests stalled": 50.0, "promotions stalled": 10.0, "stall time x100": 900.0}
EIGHT, NINE = datetime.fromisoformat("2026-03-01 08:00"), datetime.fromisoformat("2026-03-01 09:00")


def row(item: str, rate: object, kind: str | None = "total", screen: str = TOTAL, **fields: object) -> StatisticRow:
    values = {"mean_per_second": rate, **fields}
    return StatisticRow(screen=screen, item=item, label=item, lock_type=kind, **values)  # type: ignore[arg-type]


def window(screen: str = TOTAL, **fields: object) -> StatisticsWindow:
    return StatisticsWindow(screen=screen, **fields)  # type: ignore[arg-type]


def operations(rate: float, kind: str = "total", screen: str = TOTAL, **fields: object) -> list[Fact]:
    return [row(item, rate, kind, screen, **fields) for item in OPERATIONS]


def of(*facts: Fact) -> tuple[list[Statistics], OneDatabase]:
    every = Facts(facts)
    one = databases(every, (StatisticRow,))[0]
    return statistics_of(every, one), one


def test_lock_operations_are_requests_promotions_demotions_and_releases_without_their_sub_rows() -> None:
    (found,), _ = of(*operations(100.0), row("requests stalled", 90.0), row("blocking asts", 40.0))
    assert found.operations() == 400.0


def test_three_of_the_four_operations_are_no_total() -> None:
    (found,), _ = of(*operations(100.0)[:3])
    assert found.operations() is None


def test_a_share_is_made_of_the_operations_that_both_screens_have() -> None:
    (found,), _ = of(
        *operations(100.0), row("locks requested", 60.0, "page", PAGE), row("locks promoted", 20.0, "page", PAGE)
    )
    share = found.share("page")
    assert share is not None
    assert (share.percent, share.items) == (40.0, ("locks requested", "locks promoted"))


def test_an_interval_comes_before_what_was_counted_since_the_reset() -> None:
    found, _ = of(*operations(100.0), *operations(10.0, over="interval"))
    assert [(one.over, one.operations()) for one in found] == [("interval", 40.0), ("since reset", 400.0)]


def test_nodes_are_kept_apart_and_a_merged_screen_from_both() -> None:
    merged = [window(node="ORKNEY", merged=True, source=Source("m.scr", 1, 20))]
    merged += operations(9.0, node="ORKNEY", source=Source("m.scr", 5, 5))  # type: ignore[arg-type]
    own = [window(node="ORKNEY", merged=False, source=Source("o.scr", 1, 20))]
    own += operations(4.0, node="ORKNEY", source=Source("o.scr", 5, 5))  # type: ignore[arg-type]
    found, _ = of(*merged, *own, *operations(6.0, node="SKYE"))
    assert [(one.node, one.merged, one.operations()) for one in found] == [
        ("ORKNEY", True, 36.0),
        ("SKYE", None, 24.0),
        ("ORKNEY", False, 16.0),
    ]


def test_of_two_writes_of_a_screen_the_newest_counts_whichever_file_came_first() -> None:
    late = [window(at=NINE, source=Source("a.scr", 1, 20)), row("locks requested", 5.0, source=Source("a.scr", 6, 6))]
    early = [window(at=EIGHT, source=Source("b.scr", 1, 20)), row("locks requested", 1.0, source=Source("b.scr", 6, 6))]
    (found,), _ = of(*late, *early)
    rate = found.rate("locks requested", "total")
    assert rate is not None
    assert rate.per_second == 5.0


def test_what_the_newest_write_of_a_screen_lacks_is_not_filled_up_from_an_older_one() -> None:
    early = [window(at=EIGHT, source=Source("b.scr", 1, 20)), row("locks promoted", 1.0, source=Source("b.scr", 6, 6))]
    late = [window(at=NINE, source=Source("a.scr", 1, 20)), row("locks requested", 5.0, source=Source("a.scr", 6, 6))]
    (found,), _ = of(*early, *late)
    assert found.rate("locks promoted", "total") is None


def test_pages_of_one_screen_belong_together() -> None:
    screen = "Locking (locks requested)"
    first = [window(screen, page=1.0, source=Source("a.scr", 1, 20))]
    second = [window(screen, page=2.0, source=Source("a.scr", 21, 40))]
    (found,), _ = of(
        *first,
        *second,
        row("locks requested", 10.0, "total", screen, source=Source("a.scr", 5, 5)),
        row("locks requested", 4.0, "page", screen, source=Source("a.scr", 25, 25)),
    )
    share = found.share("page")
    assert share is not None
    assert share.percent == 40.0


def test_the_screen_of_a_lock_type_counts_before_the_one_of_a_single_item() -> None:
    fields = row("locks requested", 4.0, "page", "Locking (locks requested)")
    (found,), _ = of(row("locks requested", 7.0, "page", PAGE), fields)
    rate = found.rate("locks requested", "page")
    assert rate is not None
    assert rate.per_second == 7.0


def test_a_rate_that_did_not_fit_is_made_of_its_count_and_the_span() -> None:
    wide = row("locks requested", OVERFLOW, count=600.0)
    (found,), _ = of(window(elapsed_seconds=60.0), wide)
    rate = found.rate("locks requested", "total")
    assert rate is not None
    assert rate.per_second == 10.0
    (without,), one = of(wide)
    assert "asterisks" in (without.refused(one) or without).why  # type: ignore[union-attr]


def test_zeros_are_refused_only_where_somebody_works_on_that_node() -> None:
    users = DatabaseUse(database=ROOT, node="ORKNEY", active_users=3.0)
    (here,), one = of(users, *operations(0.0, node="ORKNEY"))
    assert "3 users" in (here.refused(one) or here).why  # type: ignore[union-attr]
    (there,), other = of(users, *operations(0.0, node="SKYE"))
    assert there.refused(other) is None


def test_users_of_the_whole_cluster_speak_for_screens_of_no_node_or_of_all() -> None:
    users = DatabaseUse(database=ROOT, active_users=7.0, cluster_wide=True)
    (nowhere,), one = of(users, *operations(0.0))
    assert "7 users" in (nowhere.refused(one) or nowhere).why  # type: ignore[union-attr]
    (there,), other = of(users, *operations(0.0, node="SKYE"))
    assert there.refused(other) is None


def test_a_part_may_equal_its_whole_but_not_exceed_it() -> None:
    (equal,), one = of(row("locks requested", 5.0), row("requests stalled", 5.0))
    assert equal.refused(one) is None
    (more,), one = of(row("locks requested", 5.0), row("requests stalled", 5.2))
    assert more.refused(one) is not None
    (counted,), one = of(row("locks requested", 5.0, count=100.0), row("requests stalled", 5.0, count=101.0))
    assert counted.refused(one) is not None


def test_deadlocks_are_part_of_the_stalled() -> None:
    stalled = [row("locks requested", 5.0), row("requests stalled", 1.0), row("request deadlocks", 2.0)]
    (found,), one = of(*stalled)
    assert found.refused(one) is not None


def test_screens_of_quite_different_spans_are_not_held_against_each_other() -> None:
    total = [window(elapsed_seconds=600.0), row("locks requested", 5.0)]
    page = [window(PAGE, elapsed_seconds=1300.0), row("locks requested", 1.0, "page", PAGE)]
    (found,), one = of(*total, *page)
    assert "600 s" in (found.refused(one) or found).why  # type: ignore[union-attr]


def test_screens_without_a_database_belong_to_the_only_one_and_to_none_of_two() -> None:
    found, _ = of(Database(database=ROOT), *operations(1.0))
    assert len(found) == 1
    every = Facts((Database(database=ROOT), Database(database=OTHER), *operations(1.0)))
    first, second, nameless = databases(every, (StatisticRow,))
    assert [len(statistics_of(every, one)) for one in (first, second, nameless)] == [0, 0, 1]


def test_a_short_name_goes_with_the_one_root_file_of_that_name() -> None:
    (one,) = databases(Facts((Database(database=ROOT), DatabaseUse(database="payroll", node="SKYE"))))
    assert [use.node for use in one.uses] == ["SKYE"]
    both = databases(
        Facts((Database(database=ROOT), Database(database="D:[TEST]PAYROLL.RDB"), DatabaseUse(database="PAYROLL")))
    )
    assert len(both) == 3


def test_an_attribute_counts_as_the_newest_export_that_has_it() -> None:
    old = Database(
        database=ROOT, at=EIGHT, fast_commit=False, lock_partitioning=True, maximum_nodes=4.0, maximum_users=40.0
    )
    new = Database(database=ROOT, at=NINE, fast_commit=True, maximum_nodes=1.0, maximum_users=40.0)
    (one,) = databases(Facts((new, old)))
    assert (one.is_on("fast_commit"), one.is_on("lock_partitioning"), one.is_on("carry_over_locks")) == (
        True,
        True,
        None,
    )
    assert one.nodes is not None
    assert one.nodes.configured == 1


def test_users_by_fifty_are_no_node_count() -> None:
    (one,) = databases(Facts((Database(database=ROOT, maximum_nodes=41.0, maximum_users=2032.0),)))
    assert one.nodes is not None
    assert (one.nodes.configured, one.nodes.least) == (None, 41)
    assert one.one_instance is None


@pytest.mark.parametrize(("seconds", "days"), [(None, None), (86_399.5, None), (86_400.0, "1.0"), (216_000.0, "2.5")])
def test_an_average_of_a_day_and_more_is_called_one(seconds: float | None, days: str | None) -> None:
    rate = Rate(9.0, None, None, Source("s.txt", 1, 1), seconds, TOTAL)
    said = averaged(Statistics("SKYE", "since reset", merged=None, rates={("total", "locks requested"): rate}))
    assert said.startswith(f"These are averages of the {days} days") if days else not said


@pytest.mark.parametrize(("node", "where"), [(None, ""), ("ORKNEY", " on ORKNEY")])
def test_what_waits_for_locks_is_counted_for_the_node_that_the_screens_name(node: str | None, where: str) -> None:
    more: dict[str, Any] = {"database": ROOT, "node": node}
    facts = [window(elapsed_seconds=60.0, **more), *operations(100.0, **more)]
    facts += [row(item, rate, **more) for item, rate in WAITING.items()]
    (account,) = measured(Facts(tuple(facts)))
    assert [pool.what for pool in account.pools] == [f"locks of DISK$DB:[PAY]PAYROLL.RDB{where}"]


@pytest.mark.parametrize(("total", "what"), [(False, "SEQBLK locks of "), (True, "locks of ")])
def test_without_the_screen_of_all_locks_that_of_one_type_tells_how_many_wait(total: bool, what: str) -> None:
    more: dict[str, Any] = {"database": ROOT}
    facts: list[Fact] = [window("Locking (SEQBLK lock)", elapsed_seconds=60.0, **more)]
    facts += [row(item, rate, "seqblk", "Locking (SEQBLK lock)", **more) for item, rate in WAITING.items()]
    facts += [row(item, rate, **more) for item, rate in WAITING.items() if total]
    (account,) = measured(Facts(tuple(facts)))
    assert [(pool.what, pool.amount.value) for pool in account.pools] == [(f"{what}DISK$DB:[PAY]PAYROLL.RDB", 9.0)]
