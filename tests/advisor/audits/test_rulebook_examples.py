"""The rule book works its examples out: facts in words, what the rule says, and no harm by a damaged one."""

from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from pytest_django import Settings

from advisor.audits.services.examples import (
    Example,
    examples,
    fact_class,
    path_of,
)
from rules.engine import rules
from tests.advisor.audits.rule_pages import RULE, of_rule, words_of
from tests.advisor.people import AsUser, People


@pytest.fixture
def exhibits(settings: Settings, tmp_path: Path) -> Iterator[Callable[[str], tuple[Example, ...]]]:
    """Another folder of exhibits, with this text as the one of `RULE`."""
    settings.BASE_DIR = tmp_path
    examples.cache_clear()
    (rule,) = (one for one in rules() if one.id == RULE)

    def write(text: str) -> tuple[Example, ...]:
        path = path_of(rule)
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
        examples.cache_clear()
        return examples(RULE)

    yield write
    examples.cache_clear()


def test_examples_are_never_looked_for_where_an_address_says() -> None:
    assert examples("../advisor/examples/audits/address_lock_storm/story") == ()
    assert examples("") == ()


def test_an_example_shows_the_facts_in_words_and_what_the_rule_says_of_them(
    exhibits: Callable[[str], tuple[Example, ...]],
) -> None:
    fired, clean, unknown, untrusted = exhibits("""
half of the grabs wait:
  limits: {contention_percent: 40}
  facts:
    - ase.LockHashtable: {table: address, lookups_per_second: 2000.0, contention_percent: 52.0}
nothing waits:
  facts:
    - ase.LockHashtable: {table: address, lookups_per_second: 2000.0, contention_percent: 0.0}
no facts:
  facts: []
asterisks:
  facts:
    - ase.LockHashtable: {table: address, lookups_per_second: 2000.0, contention_percent: overflow}
""")
    assert fired.limits == (("contention_percent", "40"),)
    assert fired.facts[0].fact == "ase.LockHashtable"
    assert fired.facts[0].figures == (("table", "address"), ("lookups", "2,000 /s"), ("contention", "52 %"))
    assert [finding["severity"] for finding in fired.findings] == ["warning"]
    assert fired.findings[0]["evidence"][0]["limit"] == 40
    assert clean.verdict is not None
    assert (clean.verdict["verdict"], clean.findings) == ("clean", ())
    assert clean.facts[0].figures[-1] == ("contention", "0 %")
    assert unknown.verdict is not None
    assert unknown.verdict["verdict"] == "unknown"
    assert any("sp_sysmon" in lack["bring"] for lack in unknown.verdict["missing"])
    assert untrusted.verdict is not None
    assert untrusted.verdict["verdict"] == "untrusted"
    assert untrusted.facts[0].figures[-1] == ("contention percent", "printed as asterisks: too wide for its column")


@pytest.mark.parametrize(
    "text",
    [
        "{: not yml",
        "[a, list]",
        "",
        "just words",
        "one: {facts: [ase.NoSuchFact: {}]}",
        "one: {facts: [os.system: {command: x}]}",
        "one: {facts: [nowhere: 1]}",
        "one: {facts: [ase.LockHashtable: {no_such_field: 1}]}",
        "one: {facts: 7}",
        "one: nothing",
        "one: {}",
        "one: {facts: [{a: 1, b: 2}]}",
        "one: {facts: [], limits: [a]}",
        "one: {facts: [ase.LockHashtable: {table: address, lines: [1, 2]}]}",
        "one: {facts: [scaling.LoadSeries: {points: [{rate: 1}]}]}",
    ],
)
def test_a_damaged_exhibit_says_so_and_the_page_stands(
    people: People, as_user: AsUser, exhibits: Callable[[str], tuple[Example, ...]], text: str
) -> None:
    (one,) = exhibits(text)
    assert one.problem
    assert "cannot be shown" in words_of(as_user(people.colleague), of_rule())


def test_a_case_makes_facts_and_nothing_else() -> None:
    assert fact_class("ase.LockHashtable").fact_name() == "ase.LockHashtable"
    with pytest.raises(TypeError, match="no kind of fact"):
        fact_class("scaling.LoadPoint")


def test_one_damaged_case_leaves_the_others(exhibits: Callable[[str], tuple[Example, ...]]) -> None:
    good, bad = exhibits("good: {facts: []}\nbad: {facts: [ase.Nothing: {}]}")
    assert not good.problem
    assert bad.problem


def test_a_figure_of_the_wrong_kind_makes_the_rule_broken_and_not_the_page(
    people: People, as_user: AsUser, exhibits: Callable[[str], tuple[Example, ...]]
) -> None:
    (one,) = exhibits("one: {facts: [ase.LockHashtable: {table: address, contention_percent: [1, {a: b}]}]}")
    assert one.verdict is None or one.verdict["verdict"] in ("broken", "untrusted", "unknown")
    assert words_of(as_user(people.colleague), of_rule())


def test_hostile_text_of_an_exhibit_stays_text(
    people: People, as_user: AsUser, exhibits: Callable[[str], tuple[Example, ...]]
) -> None:
    evil = "<script>alert(1)</script>"
    exhibits(f"'{evil}': {{facts: [ase.LockHashtable: {{table: '{evil}'}}]}}")
    assert "<script>alert" not in as_user(people.colleague).get(of_rule()).content.decode()


def test_without_the_folder_of_exhibits_the_page_says_that_there_are_none(
    people: People, as_user: AsUser, settings: Settings, tmp_path: Path
) -> None:
    settings.BASE_DIR = tmp_path
    examples.cache_clear()
    assert "The examples of the rules are not installed here." in words_of(as_user(people.colleague), of_rule())
    examples.cache_clear()
