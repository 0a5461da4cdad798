"""The columns by which a statement looks for its rows, as far as its text says them plainly."""

import pytest

from rules.ase._evidence.waits.index_wanted import columns_of


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("update crate set state = 'x' where seal = 'a = 1' and owner = @o", ("seal", "owner")),
        ("select top 1 id from crate c where c.state = ? order by c.id", ("state", "id")),
        ("select id from crate where state = ? order by id desc", ("state",)),
        ("delete crate where seal > 4 and owner = -1", ()),
        ("update crate set a = 1 where upper(seal) = @s", ()),
        ("update crate set a = 1 where seal = @s or owner = @o", ()),
        ("select 1 from crate, ship where seal = @s", ()),
        ("update crate set a = 1 where seal in (select seal from ship)", ()),
        ("update crate set a = 1 where table = @s", ()),
        ("select id from crate order by id", ()),
        ("update crate set seal = @s", ()),
    ],
)
def test_columns_of_an_index(text: str, expected: tuple[str, ...]) -> None:
    assert columns_of(text) == expected
