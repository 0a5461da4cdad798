"""Figures and commands as pages and mails write them: the digits that are known, the unit by the count, code."""

import pytest

from advisor.core.jinja import coded, measured, unit_of


@pytest.mark.parametrize(
    ("value", "words"),
    [
        (262.959, "263"),
        (70949.58, "70,950"),
        (53.3184, "53.32"),
        (0.012346, "0.012"),
        (1234567.0, "1,234,567"),
        (None, "-"),
        ("DISABLED", "DISABLED"),
    ],
)
def test_what_was_measured_has_the_digits_that_are_known(value: float | str | None, words: str) -> None:
    assert measured(value) == words


@pytest.mark.parametrize(
    ("unit", "one"),
    [
        ("resources per bucket", "resource per bucket"),
        ("processes", "process"),
        ("CPUs", "CPU"),
        ("s", "s"),
        ("ms", "ms"),
        ("% of one CPU", "% of one CPU"),
        ("lock operations/s", "lock operations/s"),
    ],
)
def test_a_unit_behind_one_is_singular(unit: str, one: str) -> None:
    assert unit_of(unit, 1.0) == one
    assert unit_of(unit, 2.0) == unit


@pytest.mark.parametrize(
    ("text", "html"),
    [
        ("run `sp_who` twice, `go` after each", "run <code>sp_who</code> twice, <code>go</code> after each"),
        ("a ` that nothing closes", "a ` that nothing closes"),
        ("`<script>`", "<code>&lt;script&gt;</code>"),
    ],
)
def test_commands_in_a_text_are_code(text: str, html: str) -> None:
    assert coded(text) == html
