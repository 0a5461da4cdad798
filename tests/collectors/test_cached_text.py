"""The text of a cached statement that was asked for alone becomes that of its row."""

from collectors.facts.ase import CachedText, MonCachedStatement
from collectors.intervals.texts import with_texts

TEXT = CachedText(statement=7, text="SELECT n FROM till")


def texts(*rows: MonCachedStatement) -> list[str | None]:
    return [one.text for one in with_texts([*rows, TEXT]) if isinstance(one, MonCachedStatement)]


def test_a_row_without_text_has_that_of_its_number() -> None:
    assert texts(MonCachedStatement(statement=7), MonCachedStatement(statement=8)) == [TEXT.text, None]


def test_a_row_keeps_its_own_text() -> None:
    assert texts(MonCachedStatement(statement=7, text="SELECT m FROM till")) == ["SELECT m FROM till"]


def test_a_number_of_two_instances_may_be_of_either() -> None:
    rows = [MonCachedStatement(statement=7, instance=one) for one in (1, 2)]
    assert texts(*rows) == [None, None]
