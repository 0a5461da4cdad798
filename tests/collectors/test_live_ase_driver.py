"""What of the driver's answers is mended, and that nothing passes it by."""

import pytest

from collectors.live.ase.connection import parse
from collectors.live.ase.driver import Refused, Server, _mended
from collectors.live.ase.guard import NotReadOnly
from collectors.live.printing import ResultSet
from tests.live.running import serving


def test_a_connection_sends_nothing_but_what_reads() -> None:
    with serving() as server:
        line = Server(parse(server.connection()), 10)
        sent = len(server.batches())
        for bad in ("shutdown", "select * into x from master..monState", "sp_configure 'enable monitoring', 0"):
            with pytest.raises(NotReadOnly):
                line.ask(bad, 10)
        assert len(server.batches()) == sent
        line.close()


def test_unsigned_figures_that_a_driver_gives_as_negative_are_mended_and_signed_ones_are_not() -> None:
    with serving(faults=("wrap-signed=86400",)) as server:
        line = Server(parse(server.connection()), 10)
        sql = "select * from master..monDataCache"
        plain = _column(line, sql, ())
        mended = _column(line, sql, {("monDataCache", "CacheSearches")})
        other = _column(line, sql, {("monCachePool", "CacheSearches")})
        line.close()
    assert min(plain) < 0, "the server shows counters above 2^31 as negative numbers"
    assert min(other) < 0
    assert min(mended) > 0
    assert all(0 <= new - (old % 2**32) < 10_000_000 for old, new in zip(plain, mended, strict=True))


def test_what_is_no_negative_figure_of_32_bits_is_left_as_it_is() -> None:
    row = (5_000_000_000, 7, -1, -(1 << 31), -(1 << 31) - 1, None, "-1", 0)
    mended = (5_000_000_000, 7, 4294967295, 2147483648, -(1 << 31) - 1, None, "-1", 0)
    assert _mended(row, list(range(len(row)))) == mended


def _column(line: Server, sql: str, unsigned: "set[tuple[str, str]] | tuple[()]") -> list[int]:
    (part,) = [one for one in line.ask(sql, 10, "monDataCache", unsigned) if isinstance(one, ResultSet)]
    at = part.columns.index("CacheSearches")
    found = [row[at] for row in part.rows]
    return [cell for cell in found if isinstance(cell, int)]


def test_a_database_that_is_gone_is_an_answer_and_no_lost_line() -> None:
    with serving() as server:
        line = Server(parse(server.connection()), 10)
        with pytest.raises(Refused) as failed:
            line.ask("select name from [gone]..sysobjects", 10)
        assert failed.value.number == 911
        assert line.ask("select * from master..monState", 10), "the line holds"
        line.close()
