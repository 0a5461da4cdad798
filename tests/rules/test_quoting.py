"""Names from an export: written safely, or not at all."""

import pytest

from rules.changes.quoting import (
    Unquotable,
    batches,
    comment,
    held_back_tsql,
    openvms_name,
    tsql_literal,
    tsql_name,
    tsql_string,
)

HOSTILE = [
    "a\nb",
    "a\rb",
    "a\x1bb",
    "a\u2028b",
    "a\u202eb",
    "a\u2060b",
    "a\u061cb",
    "a\u00adb",
    "a\U000e0001b",
    "x" * 300,
    "",
]


@pytest.mark.parametrize("name", HOSTILE)
@pytest.mark.parametrize("quote", [tsql_string, tsql_literal, tsql_name, openvms_name])
def test_what_could_hide_or_add_a_line_is_refused(quote: object, name: str) -> None:
    with pytest.raises(Unquotable):
        quote(name)  # type: ignore[operator]  # the four have one shape


@pytest.mark.parametrize(
    ("name", "argument", "literal"),
    [
        ("default data cache", '"default data cache"', "'default data cache'"),
        ('x"; drop table y --', '"x""; drop table y --"', "'x\"; drop table y --'"),
        ("O'Brien", '"O\'Brien"', "'O''Brien'"),
    ],
)
def test_strings_are_quoted_with_their_quotes_doubled(name: str, argument: str, literal: str) -> None:
    assert tsql_string(name) == argument
    assert tsql_literal(name) == literal


def test_identifiers_are_bare_where_plain_and_in_brackets_otherwise() -> None:
    assert tsql_name("order_lines") == "order_lines"
    assert tsql_name("order") == "[order]"  # `use order` would fail, and what follows would run elsewhere
    assert tsql_name("Plan") == "[Plan]"
    assert tsql_name("order lines; drop") == "[order lines; drop]"
    with pytest.raises(Unquotable):
        tsql_name("a]; drop table b")


def test_openvms_names_are_letters_digits_dollar_and_underscore() -> None:
    assert openvms_name(" $1$dga100: ") == "$1$DGA100"
    with pytest.raises(Unquotable):
        openvms_name("EWA0 ! $ DELETE")


def test_a_comment_stays_one_comment() -> None:
    assert comment("a\n*/ drop -- b\u202e") == "a?* / drop - - b?"
    assert len(comment("x" * 500)) == 120


def test_each_statement_is_sent_by_itself_and_a_comment_never() -> None:
    assert batches("use sales", "-- look", "sp_who") == ("use sales", "go", "-- look", "sp_who", "go")
    assert batches(*batches("sp_who"), "checkpoint", "go") == ("sp_who", "go", "checkpoint", "go")
    assert held_back_tsql("checkpoint") == ("--!checkpoint", "--!go")
