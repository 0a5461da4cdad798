"""Values are taken out of the text of statements, and the tables they name stay."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from collectors.live.ase.queries import masked
from collectors.live.printing import Message, ResultSet
from collectors.statement_text import without_literals
from rules.ase._evidence.objects.statements import tables_in


@pytest.mark.parametrize(
    ("text", "left"),
    [
        ("select * from t where a = 'O''Brien' and b = 17", "select * from t where a = ? and b = ?"),
        ('select * from t where a = "secret ""word"" of" and b=-4.5e-3', "select * from t where a = ? and b=-?"),
        ("select a from t where id in (1,22,333)", "select a from t where id in (?,?,?)"),
        ("select a1 from d..t2 where c = $12.50 or d = 0xDEADbeef", "select a1 from d..t2 where c = ? or d = ?"),
        ("select été1 from t where b = 7", "select été1 from t where b = ?"),
        ("select .5, 1., 1.e5 from t", "select ?, ?, ? from t"),
        ("insert into t values ('a', 2) -- by bob 17", "insert into t values (?, ?)  "),
        ("select /* of user 'x' */ a from t", "select   a from t"),
        ("select a from t where b = 'cut in the mid", "select a from t where b = ?"),
        ("select a from t /* cut in the mid", "select a from t  "),
        ("select a from t where b = @@@V0_INT and c = @p1", "select a from t where b = @@@V0_INT and c = @p1"),
        ('select a from "odd name" where b = 1', 'select a from "odd name" where b = ?'),
        ('select a from s.dbo."odd" o, [x 1] where o.b = "v"', 'select a from s.dbo."odd" o, [x 1] where o.b = ?'),
        ('select a from "my db".dbo.t', 'select a from "my db".dbo.t'),
        ('update "odd" set a = "Smith"', 'update "odd" set a = ?'),
        ('insert "odd" values ("Smith", "Oslo")', 'insert "odd" values (?, ?)'),
        ("select a from t where b = N'x'", "select a from t where b = N?"),
        ("", ""),
    ],
)  # fmt: skip
def test_a_statement_without_its_values(text: str, left: str) -> None:
    assert without_literals(text) == left


@given(st.text(st.sampled_from("SECRT'\"0169 \n-/*"), max_size=30).map(lambda text: text.replace("'", "''")))
def test_no_value_of_a_string_is_left_whatever_is_in_it(value: str) -> None:
    left = without_literals(f"select a from b where c = '{value}' and d = 1")
    assert left == "select a from b where c = ? and d = ?"


def test_the_tables_it_names_stay() -> None:
    text = "select * from orders..queue_out q, customer where q.state = 'x' and exists (select 1 from \"odd one\")"
    assert tables_in(without_literals(text)) == tables_in(text) != set()


def test_the_column_of_the_text_alone_is_changed() -> None:
    rows = ResultSet(("SSQLID", "Name", "SQLText"), [(1, "it's 7", "where a = 7"), (2, None, None)])
    other = ResultSet(("Name",), [("it's 7",)])
    said = Message("it's 7")
    first, *rest = masked([rows, other, said])
    assert first == ResultSet(("SSQLID", "Name", "SQLText"), [(1, "it's 7", "where a = ?"), (2, None, None)])
    assert rest == [other, said]
