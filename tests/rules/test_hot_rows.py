"""Statements that add to a column of their own, and those that only look like it."""

import pytest

from rules.ase._evidence.waits.hot_rows import adds_to_itself


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("update next_no set n = n + 1 where name = 'x'", (True, False)),
        ("UPDATE shop..next_no SET last_id = last_id + ? where name = ?", (True, False)),
        ("update next_no set @id = n = n + 1", (True, True)),
        ("update next_no set @id = n + 1, n = n + 1 where name = @a", (True, True)),
        ("/* numbers */ update next_no set hits = c.hits + @by from next_no c", (True, False)),
        ("update stock set n = n - 1 where id = 4", (False, False)),
        ("update stock set n = m + 1", (False, False)),
        ("select n from next_no where n = n + 1", (False, False)),
        ("update stock set price = 4 where n = n + 1", (False, False)),
        ("insert next_no values (1)", (False, False)),
    ],
)
def test_a_counter_is_known_by_its_statement(text: str, expected: tuple[bool, bool]) -> None:
    assert adds_to_itself(text) == expected
