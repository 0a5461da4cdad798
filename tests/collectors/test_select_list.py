"""What a query that is printed above its rows says of their columns, and what it leaves open."""

import pytest

from collectors.reports.ase.monitor_tables.select_list import query_of


@pytest.mark.parametrize(
    ("text", "shows"),
    [
        ("select Locks = LocksHeld from t", {"locks": "locksheld"}),
        ("select a.SPID who, 'Wait' = a.WaitTime\nfrom t a", {"who": "spid", "wait": "waittime"}),
        ("select top 5 SPID who, x = sum(b.Waits - a.Waits) from t", {"who": "spid", "x": "waits"}),
        ("select convert(numeric(9,2), WaitTime) as t, isnull(DBName, '-') d from t", {"t": "waittime", "d": "dbname"}),
        ("select object_name(ObjectID, DBID) tab, db_name(DBID) d from t", {"tab": "objectname", "d": "dbname"}),
        ("select @@servername select distinct who = SPID from t", {"who": "spid"}),
        ("select /* a comment, of = two */ who = SPID -- and, another = one\nfrom t", {"who": "spid"}),
        (
            "select @@servername srv, convert(char(26), getdate(), 109) as_of, up = @@boottime",
            {"srv": "@@servername", "asof": "getdate", "up": "@@boottime"},
        ),
        (
            "select t = substring(show_cached_text(SSQLID), 1, 80) select t = show_cached_text(x)",
            {"t": "showcachedtext"},
        ),
        # what is more than the value of one column
        ("select x = Waits / 60, y = Waits + Spins, z = a.Waits - b.Spins, 7 n, m = max(Waits) from t", {}),
        ("select object_name(ProcedureID, DBID) p, left(a, 3) l, (select count(*) n from u) c from t", {}),
        ("select Locks = LocksHeld, Locks = LocksWaited from t", {}),
        ("select count(*), , = , ((( from", {}),
        ("", {}),
    ],
)
def test_what_a_column_shows(text: str, shows: dict[str, str]) -> None:
    """Only a name for the value of one column is known."""
    assert query_of(text).shows == shows


@pytest.mark.parametrize(
    ("text", "nameless"),
    [
        ("select getdate(), @@servername, SPID, * from t", (("getdate", "@@servername"),)),
        ("select count(*), SPID, getdate() from t", (("", "getdate"),)),
        (
            "select getdate() waitfor delay '1' select a.*, getdate() from t a select @@boottime",
            (("getdate",), ("@@boottime",)),
        ),
        ("select x = getdate() from t", ((),)),
    ],
)
def test_what_the_columns_without_a_name_show(text: str, nameless: tuple[tuple[str, ...], ...]) -> None:
    """They keep their order, and one that shows something else keeps its place."""
    assert query_of(text).nameless == nameless


@pytest.mark.parametrize(
    ("text", "fixed"),
    [
        ("select a from t where SPID = 118", {"spid": "118"}),
        (
            "select a from t x where x.SPID = 118 and CacheName = 'ref cache' order by a",
            {"spid": "118", "cachename": "ref cache"},
        ),
        ("select a from t where SPID = 118 or SPID = 119", {}),
        ("select a from t where not SPID = 118", {}),
        ("select a from t where SPID = 118 + 1", {}),
        ("select a from t where SPID = @spid", {}),
        ("select a from t where SPID > 118", {}),
        ("select a from t x, t y where x.SPID = 118", {}),
        ("select a from t x join t y on x.b = y.SPID where x.SPID = 118", {}),
        ("select a from t where b in (select b from u where SPID = 118)", {}),
        ("select a from t where SPID = 118 select b from u", {}),
    ],
)
def test_what_is_the_same_in_all_rows(text: str, fixed: dict[str, str]) -> None:
    """Only what a question of one table holds at one value is known."""
    assert query_of(text).fixed == fixed
