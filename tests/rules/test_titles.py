"""Rules in running text: by their titles or the numbers of their findings, never by their ids."""

import subprocess
import sys
from pathlib import Path

import pytest

from rules.engine import rules
from rules.titles import finding_named, in_words, number_of, title_of

HOT = "openvms/spinlock_hot"


def test_a_rule_is_named_by_its_finding_or_by_its_title() -> None:
    text = f"The table first ({HOT}), then rdb/page_locks_dominate."
    titles = {one.id: one.title.rstrip(".") for one in rules()}
    title, pages = titles[HOT], titles["rdb/page_locks_dominate"]
    assert in_words(text) == f'The table first ("{title}"), then "{pages}".'
    numbers = {f"{HOT}:LCKMGR": 3, f"{HOT}:SCHED": 2, f"{HOT}_other:X": 1}
    assert number_of(HOT, numbers) == 2, "the first of them"
    assert in_words(text, numbers) == f'The table first (finding 2), then "{pages}".'


@pytest.mark.parametrize(
    "text", ["", "3/4 of it", "disk/dev2 is full", "ase/no_such_rule", "/srv/openvms/spinlock_hot2"]
)
def test_what_only_looks_like_a_rule_stays(text: str) -> None:
    assert in_words(text) == text


def test_a_finding_without_its_title_is_named_by_rule_and_subject() -> None:
    assert finding_named(f"{HOT}:LEWIS spinlock LCKMGR") == f"{title_of(HOT)}: LEWIS spinlock LCKMGR"
    assert finding_named("ase/gone_rule:X") == "ase/gone_rule:X", "a rule that there is no longer"
    assert finding_named("") == ""
    assert title_of("ase/gone_rule") == "ase/gone_rule"


def test_no_title_ends_with_a_stop_or_names_a_rule_itself() -> None:
    titles = [title_of(one.id) for one in rules()]
    assert len(titles) > 100
    for title in titles:
        assert not title.endswith(".")
        assert in_words(title) == title


def test_a_title_loads_the_rules_of_its_own_product_alone() -> None:
    """An audit at the command line would pay for the others at its start."""
    code = (
        f"import sys; from rules.titles import in_words; assert in_words('see {HOT}') != 'see {HOT}'; "
        "print(sorted({name.split('.')[1] for name in sys.modules if name.startswith('rules.') and name.count('.') == 2"
        " and not name.split('.')[2].startswith('_') and name.split('.')[1] in ('ase', 'rdb', 'zvm', 'unix')}))"
    )
    root = Path(__file__).resolve().parents[2]
    done = subprocess.run([sys.executable, "-c", code], cwd=root, capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"
