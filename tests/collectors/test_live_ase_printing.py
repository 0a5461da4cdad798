"""Answers are printed as isql prints them, and no value breaks out of its line."""

from datetime import UTC, date, datetime, time
from decimal import Decimal

import pytest

from collectors.live.printing import Message, Part, ResultSet, printed, value


def test_a_batch_is_echoed_and_its_answer_follows_in_order() -> None:
    parts: list[Part] = [
        Message("Group: Lock Manager"),
        ResultSet(("Name", "", "Size"), [("orders", 7, None), ("ünï", -12, Decimal("2.50"))]),
        Message("\t  Page Requests\nnext"),
        Message(""),
        ResultSet(("none",), []),
    ]
    assert printed("select a\nfrom b", parts) == (
        "1> select a\n2> from b\n3> go\n"
        "Group: Lock Manager\n"
        " Name        Size\n"
        " ------- --- ----\n"
        " orders    7 NULL\n"
        " ünï     -12 2.50\n"
        "\n(2 rows affected)\n"
        "\t  Page Requests\nnext\n\n"
        " none\n"
        " ----\n"
        "\n(0 rows affected)\n"
        "\n"
    )


@pytest.mark.parametrize(
    ("what", "text"),
    [
        (None, "NULL"),
        (True, "1"),
        (4_294_967_295, "4294967295"),
        (0.25, "0.250000"),
        (1e15, "1000000000000000.000000"),
        (Decimal("1E+3"), "1000"),
        (datetime(2026, 11, 21, 10, 15, 12, 123_333, UTC), "Nov 21 2026 10:15:12:123AM"),
        (datetime(2026, 3, 5, 0, 0, 1, 0, UTC), "Mar  5 2026 12:00:01:000AM"),
        (datetime(2026, 3, 5, 13, 5, 0, 999_999, UTC), "Mar  5 2026  1:05:00:999PM"),
        (date(2026, 3, 5), "Mar  5 2026"),
        (time(12, 0, 5), "12:00:05:000PM"),
        (b"\x01\xff", "0x01ff"),
        ("two\nlines\tand\x1b[2J\u2028more\x00", "two?lines?and?[2J?more?"),
        ('x"; drop table y --', 'x"; drop table y --'),
        ("x" * 5000, "x" * 1024),
    ],
)
def test_a_value_is_printed_plain_and_stays_in_its_line(what: object, text: str) -> None:
    assert value(what) == text
