"""Which tables the text of a statement names, and how it is shown: the text is a client's and may be anything."""

import pytest

from rules.ase._evidence.objects.statements import LONGEST, quoted, tables_in


@pytest.mark.parametrize(
    ("text", "tables"),
    [
        ("select * from stock", {(None, "stock")}),
        ("select stock from orders o, hr..staff s where x in (select y from t2)",
         {(None, "orders"), ("hr", "staff"), (None, "t2")}),
        ("select a, stock from (select 1 from [odd name] o) d", {(None, "odd name")}),
        ('update dbo."order" set stock = 1', {(None, "order")}),
        ("delete stock where a = 1", {(None, "stock")}),
        ("delete from stock", {(None, "stock")}),
        ("insert into sales.dbo.t values (1)", {("sales", "t")}),
        ("select * from a join b on a.x = b.y", {(None, "a"), (None, "b")}),
        ("-- from stock\nselect 1 /* from stock */", set()),
        ("select 'from stock' /* from stock", set()),
        ("select * from one.two.three.four", set()),
        ("from from from", set()),
        ("", set()),
    ],
)  # fmt: skip
def test_tables_are_found_where_a_table_may_stand(text: str, tables: set[tuple[str | None, str]]) -> None:
    assert tables_in(text) == tables


@pytest.mark.parametrize("text", ["from (" * 5000, "from [" * 5000, "from a." * 5000, "'" * 5001, "/*" * 5000])
def test_hostile_text_ends_soon(text: str) -> None:
    assert len(tables_in(text)) <= 1


def test_shown_on_one_line_and_cut_with_a_mark() -> None:
    assert quoted("select 1\n\n  \u202e from t") == '"select 1 ? from t"'
    assert quoted("x" * 500) == f'"{"x" * LONGEST}" [cut]'
