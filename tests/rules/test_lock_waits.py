"""Adding up lock requests and changed rows: what is zero, what is missing, what cannot be."""

import pytest

from collectors.facts import ABSENT, OVERFLOW, Facts, Reading, Source
from collectors.facts.ase import LockRequests, RowsChanged
from rules.ase._evidence.objects.lock_waits import (
    Share,
    Waits,
    allpages_share,
    span,
    waits_of,
)
from rules.finding import Untrusted

PAGES = ("Exclusive Page", "Shared Page")


def lock(kind: str, granted: Reading, waited: Reading, total: Reading, line: int = 1) -> LockRequests:
    source = Source("s.txt", line, line + 1)
    return LockRequests(lock_type=kind, granted=granted, waited=waited, total=total, source=source)


def test_requests_of_a_group_are_added() -> None:
    found = waits_of(
        Facts((lock("Exclusive Page", 90.0, 10.0, 100.0, 5), lock("Shared Page", 100.0, ABSENT, 100.0, 9))), "p", PAGES
    )
    assert found == Waits("p", 10.0, 200.0, Source("s.txt", 5, 10))
    assert isinstance(found, Waits)
    assert found.percent == 5.0


def test_a_type_with_a_total_alone_was_idle_and_a_total_left_out_is_made() -> None:
    assert waits_of(Facts((lock("a", ABSENT, ABSENT, 0.0),)), "p", ("a",)) == Waits(
        "p", 0.0, 0.0, Source("s.txt", 1, 2)
    )
    assert waits_of(Facts((lock("a", 8.0, 2.0, ABSENT),)), "p", ("a",)) == Waits("p", 2.0, 10.0, Source("s.txt", 1, 2))
    assert Waits("p", 0.0, 0.0, Source("", 0, 0)).percent == 0.0


def test_a_group_that_was_cut_off_is_missing() -> None:
    assert waits_of(Facts((lock("Exclusive Page", 9.0, 1.0, 10.0),)), "p", PAGES) is None
    assert waits_of(Facts((lock("a", 9.0, ABSENT, ABSENT),)), "p", ("a",)) is None, "cut off within the type"


@pytest.mark.parametrize(
    ("granted", "waited", "total"),
    [
        (OVERFLOW, 0.0, 10.0),
        (8.0, OVERFLOW, 10.0),
        (8.0, 2.0, OVERFLOW),
        (-8.0, 2.0, -6.0),
        (12.0, -2.0, 10.0),
        (8.0, 4.0, 10.0),
        (8.0, 0.0, 10.0),
        (ABSENT, 11.0, 10.0),
    ],
)
def test_what_cannot_be_is_untrusted(granted: Reading, waited: Reading, total: Reading) -> None:
    assert isinstance(waits_of(Facts((lock("a", granted, waited, total),)), "p", ("a",)), Untrusted)


@pytest.mark.parametrize(("granted", "waited", "total"), [(8.0, 1.0, 10.0), (ABSENT, 10.0, 10.0), (ABSENT, 2.0, 10.0)])
def test_rounding_by_one_and_a_missing_row_are_no_damage(granted: Reading, waited: Reading, total: Reading) -> None:
    assert isinstance(waits_of(Facts((lock("a", granted, waited, total),)), "p", ("a",)), Waits)


def row(operation: str, way: str, count: Reading, logging: str | None = None) -> RowsChanged:
    return RowsChanged(operation=operation, way=way, count=count, logging=logging)


def test_share_of_allpages_rows() -> None:
    rows = (
        row("Inserts", "APL Heap Table", 30.0, "Fully Logged"),
        row("Inserts", "APL Heap Table", 10.0, "Minimally Logged"),
        row("Updates", "DOL Direct", 40.0),
        row("Deletes", "APL Direct", ABSENT),
        row("Deletes", "DOL", 20.0),
    )
    share = allpages_share(Facts(rows))
    assert isinstance(share, Share)
    assert (share.allpages, share.changed, share.percent) == (40.0, 100.0, 40.0)


def test_no_changes_are_no_share_and_no_rows_are_missing() -> None:
    share = allpages_share(Facts((row("Inserts", "APL Heap Table", 0.0),)))
    assert isinstance(share, Share)
    assert share.percent == 0.0
    assert allpages_share(Facts(())) is None
    assert allpages_share(Facts((row("Selects", "Total", 5.0),))) is None


@pytest.mark.parametrize("count", [OVERFLOW, -1.0, -0.5])
def test_a_count_that_cannot_be_spoils_the_share(count: Reading) -> None:
    assert isinstance(allpages_share(Facts((row("Inserts", "APL Heap Table", count),))), Untrusted)


def test_a_span_stays_in_one_file() -> None:
    assert span([Source("a", 9, 9), Source("b", 7, 8), Source("b", 3, 4)]) == Source("b", 3, 8)
