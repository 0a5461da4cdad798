"""What is sent to a server: only what stands in the file of questions, and only what reads."""

import pytest

from collectors.live.ase.guard import NotReadOnly, check, quoted
from collectors.live.ase.questions import Question, questions, text

PLACES = {"DATABASE": quoted("or ders-1"), "DBID": "7", "TIME": "00:01:00"}


@pytest.mark.parametrize("one", questions(), ids=lambda one: one.name)
def test_every_question_passes_and_is_told_of_with_its_reason_and_cost(one: Question) -> None:
    assert check(one.filled(**PLACES))
    assert one.sql in text()
    assert len(one.why) > 20
    assert one.cost


def test_the_questions_are_those_of_the_file_in_its_order() -> None:
    names = [line.removeprefix("-- question: ") for line in text().splitlines() if line.startswith("-- question: ")]
    assert [one.name for one in questions()] == names
    assert len(names) == text().count("\ngo\n")


@pytest.mark.parametrize(
    "bad",
    [
        "update master..sysconfigures set value = 1",
        "delete from master..monState",
        "select * into tempdb..mine from master..monState",
        "select * from master..monState drop table orders..lines",
        "select * from master..monState; drop table orders..lines",
        "select * from master..monState\ngo\nshutdown",
        "select * from master..monState -- and then",
        "select * from master..monState /* and then */",
        "select * from master..syslogins",
        "select * from master..monState, orders..lines",
        "select * from master..monState, orders.dbo.lines",
        "select * from lines",
        "select password from [master]..syslogins",
        "select name from [a]..sysobjects where id = (select 1)",
        "select name from [a]..sysobjects union all select x from [b]..t",
        "select lct_admin('abort', 4) from master..monState",
        "select set_appcontext('a', 'b', 'c')",
        "select 'it''s' from master..monState",
        'select "x" from master..monState',
        "begin tran",
        "set rowcount 5",
        "use orders",
        "exec sp_configure",
        "sp_configure 'enable monitoring', 1",
        "sp_configure\n'enable monitoring', 1",
        "sp_monitorconfig 'all', 'mine'",
        "sp_sysmon '00:01:00'",
        "sp_cacheconfig 'mine', '10M'",
        "sp_helpcache; shutdown",
        "sp_helpcache shutdown",
        "sp_addlogin 'x', 'y'",
        "dbcc traceon(3604)",
        "shutdown",
        "",
    ],
)
def test_anything_else_is_not_sent(bad: str) -> None:
    with pytest.raises(NotReadOnly):
        check(bad)


@pytest.mark.parametrize("name", ["a]b", "a[b", "it's", "a\nb", "x" * 31, "", "\u202eorders"])
def test_a_database_whose_name_cannot_be_quoted_surely_is_not_asked(name: str) -> None:
    with pytest.raises(NotReadOnly):
        quoted(name)


@pytest.mark.parametrize("name", ["orders", "or ders", "x; drop table y --", 'a"b', "<script>", "select"])
def test_a_hostile_name_of_a_database_stays_a_name(name: str) -> None:
    assert quoted(name) == f"[{name}]"
    sql = next(one for one in questions() if one.name == "tables").filled(**{**PLACES, "DATABASE": quoted(name)})
    assert check(sql) == sql
