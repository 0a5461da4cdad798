"""The house rules, as tests: what each rule, reader and module must have."""

import re
from pathlib import Path

import pytest

from advisor.audits.services.examples import path_of
from collectors.registry import Kind, kinds
from rules.engine import PARTS, Rule, rules
from tests import doc_tables
from tests.facts_yml import load

ROOT = Path(__file__).resolve().parent.parent
SOURCES = [
    path
    for room in ("advisor", "collectors", "rules")
    for path in (ROOT / room).rglob("*.py")
    if path.parent.name != "migrations"  # made by Django
]
AT_THE_ROOT = {"advisor", "docs", "rules", "collectors", "templates", "tests", "manage.py", "README.md"}
TOOLS_INSIST = {"pyproject.toml", "Makefile", "CHANGELOG.md", "requirements.in", "requirements.txt"}
TOOLS_INSIST |= {"requirements-dev.in", "requirements-dev.txt"}
TOOLS_INSIST |= {"CONTRIBUTING.md", "SECURITY.md"}
every_rule = pytest.mark.parametrize("one", rules(), ids=lambda one: one.id)
every_kind = pytest.mark.parametrize("kind", kinds(), ids=lambda kind: kind.id)


@every_rule
def test_a_rule_tells_its_four_parts_in_order(one: Rule) -> None:
    assert list(one.parts) == list(PARTS)
    assert all(len(text) > 30 for text in one.parts.values())


@every_rule
def test_a_rule_has_a_title_of_one_sentence(one: Rule) -> None:
    assert re.fullmatch(r"[A-Z].{10,70}\.", one.title), one.title


@every_rule
def test_a_rule_names_a_source(one: Rule) -> None:
    assert one.links
    assert all(re.fullmatch(r"https://\S+", link) for link in one.links)


@every_rule
def test_every_limit_has_an_origin_and_a_sane_default(one: Rule) -> None:
    for field in one.limit_fields:
        assert re.match(r"(vendor|practice|this project)(, as recalled)?: .{10}", field.metadata["origin"]), field.name
        assert field.metadata["low"] <= field.default <= field.metadata["high"]


@every_rule
def test_a_rule_has_exhibits_that_fire_stay_clean_and_lack_facts(one: Rule) -> None:
    cases = load(path_of(one))
    claims = {key for case in cases.values() for key in case}
    assert {"fires", "clean", "unknown"} <= claims, sorted(claims)


def test_every_exhibit_belongs_to_a_rule() -> None:
    assert set((ROOT / "rules").glob("*/examples/*")) == {path_of(one) for one in rules()}


@every_kind
def test_a_reader_has_a_sample_and_an_export(kind: Kind) -> None:
    room = ROOT / "collectors" / "reports"
    module = room / f"{kind.id}.py" if (room / f"{kind.id}.py").exists() else room / kind.id / "__init__.py"
    assert "::" in module.read_text(encoding="utf-8").split('"""')[1], "the docstring shows a sample after ::"
    assert list((ROOT / "tests" / "exports" / kind.id).glob("*.yml"))
    assert kind.provides


def test_the_product_names_no_file_of_the_tests() -> None:
    names_tests = re.compile(r"\btests/|/ *[\"']tests[\"']|\b(?:from|import) tests\b")
    product = (*SOURCES, ROOT / "manage.py")
    assert [str(path.relative_to(ROOT)) for path in product if names_tests.search(path.read_text("utf-8"))] == []


def test_no_module_grows_past_600_lines_without_a_reason() -> None:
    long = {str(p.relative_to(ROOT)): n for p in SOURCES if (n := len(p.read_text("utf-8").splitlines())) > 600}
    reasoned = {name for name in long if "Over 600 lines:" in (ROOT / name).read_text("utf-8")}
    assert set(long) == reasoned, long


def test_the_root_holds_only_the_eight_names_and_what_tools_insist_on() -> None:
    names = {p.name for p in ROOT.iterdir() if not p.name.startswith(".") and p.name not in ("run", "node_modules")}
    assert names <= AT_THE_ROOT | TOOLS_INSIST


def test_pins_name_no_host() -> None:
    for pins in ROOT.glob("requirements*"):
        assert "://" not in pins.read_text(encoding="utf-8")


def test_the_tables_of_the_docs_are_written_from_the_rules_and_readers() -> None:
    assert doc_tables.RULES.read_text(encoding="utf-8") == doc_tables.rule_page(), "make docs"
    assert doc_tables.REPORTS.read_text(encoding="utf-8") == doc_tables.report_page(), "make docs"
    assert doc_tables.FACTS.read_text(encoding="utf-8") == doc_tables.fact_page(), "make docs"


def test_the_docs_tell_how_every_report_is_collected() -> None:
    """By hand, or in the table that is written from the facts of its reader."""
    by_hand = doc_tables.COLLECTING.read_text(encoding="utf-8")
    untold = [kind for kind in kinds() if f"`{kind.id}`" not in by_hand]
    assert [one.id for one in untold if not any(fact.COLLECTED_BY for fact in one.provides)] == []


LINK = re.compile(r"\]\((?!https?:)([^)#]*)(?:#([^)]*))?\)")


@pytest.mark.parametrize(
    "page", [ROOT / "README.md", *sorted((ROOT / "docs").rglob("*.md"))], ids=lambda page: page.name
)
def test_a_link_of_the_docs_leads_somewhere(page: Path) -> None:
    for path, anchor in LINK.findall(page.read_text(encoding="utf-8")):
        there = page.parent / path if path else page
        assert there.exists(), path
        headings = re.findall(r"^#+ (.*)$", there.read_text(encoding="utf-8"), re.MULTILINE) if there.is_file() else []
        assert not anchor or anchor in [re.sub(r"[^\w -]", "", one.lower()).replace(" ", "-") for one in headings], (
            anchor
        )


def test_the_readme_is_read_in_one_sitting() -> None:
    assert len((ROOT / "README.md").read_text(encoding="utf-8").splitlines()) <= 200
