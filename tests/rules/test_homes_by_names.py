"""Databases that counters know by number alone, and a listing of their tables by name."""

from collectors.facts import Facts
from collectors.facts.ase import MonOpenObjectActivity, TableScheme
from collectors.facts.base import NOWHERE
from rules.ase._evidence.objects.seen import activity, databases


def _counted(*names: str, object_id: int | None = None) -> list[MonOpenObjectActivity]:
    return [
        MonOpenObjectActivity(source=NOWHERE, db_id=8, object_name=name, object_id=object_id, index_id=0)
        for name in names
    ]


def _listed(database: str, *names: str) -> list[TableScheme]:
    return [TableScheme(source=NOWHERE, database=database, table=name, scheme="allpages") for name in names]


def test_tables_without_a_number_show_their_database_by_their_names() -> None:
    facts = Facts((*_counted("load", "load_item"), *_listed("freight", "load", "load_item", "depot")))
    assert databases(facts)[8] == "freight"
    assert {row.database for row in activity(facts)} == {"freight"}


def test_names_show_no_database_that_has_a_twin_or_too_few_of_them() -> None:
    counted = _counted("load", "load_item")
    twins = (*_listed("freight", "load", "load_item"), *_listed("freight_old", "load", "load_item"))
    assert 8 not in databases(Facts((*counted, *twins)))
    assert 8 not in databases(Facts((*_counted("load"), *_listed("freight", "load", "depot"))))
    assert 8 not in databases(Facts((*_counted("load", "syslogs"), *_listed("freight", "load", "syslogs"))))


def test_names_say_nothing_where_the_numbers_are_of_other_tables() -> None:
    counted = _counted("load", "load_item", object_id=512001)
    assert 8 not in databases(Facts((*counted, *_listed("freight", "load", "load_item"))))
