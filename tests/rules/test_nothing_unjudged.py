"""Nothing is read and then forgotten: each kind of fact is judged by a rule, or says beside itself who uses it.

The declaration is `NOT_JUDGED` in the class of the fact (`collectors.facts.base.Fact`). A mark is held to what it says:
the module that it names uses the class, and a page, or an audit, reaches that module.
"""

import ast
import re
from functools import cache
from importlib.util import find_spec
from pathlib import Path

import grimp
import pytest

from collectors.facts import Fact
from collectors.facts.shapes import kinds
from rules.engine import rules

MARK = re.compile(r"(?:(?P<how>shown|read) by (?P<module>(?:advisor|rules|collectors)(?:\.\w+)+)|open): \S.*[^.]")
AUDIT = "advisor.audits.services.auditing"
"""What `audit` runs, on the command line and in the service; the readers of exports come with it."""
BY_PRODUCT = re.compile(r"rules\.\w+\._evidence\.account")
"""What `rules.audit` imports by the name of the product, so that no import says so."""
OPEN: tuple[str, ...] = ()
"""Kinds that deserve a rule and have none yet. This list shrinks; a new kind comes with its rule or its page."""
FACTS = {name: kind for name, kind in kinds().items() if issubclass(kind, Fact)}


@cache
def judged() -> dict[type[Fact], str]:
    """A rule that declares it, by kind of fact."""
    return {kind: one.id for one in rules() for kind in (*one.needs, *one.uses)}


def mark_of(kind: type[Fact]) -> str:
    """What this very class says; a subclass is another kind and speaks for itself."""
    return str(vars(kind).get("NOT_JUDGED", ""))


@cache
def imports() -> grimp.ImportGraph:
    return grimp.build_graph("advisor", "rules", "collectors", cache_dir=None)


def uses(module: str, name: str) -> bool:
    """Whether the code of a module speaks of a class beyond importing it."""
    spec = find_spec(module)
    assert spec, f"there is no module {module}"
    assert spec.origin
    tree = ast.parse(Path(spec.origin).read_text("utf-8"))
    return any(
        (isinstance(node, ast.Name) and node.id == name) or (isinstance(node, ast.Attribute) and node.attr == name)
        for node in ast.walk(tree)
    )


def views() -> list[str]:
    """The modules behind the addresses of pages."""
    return [one for one in imports().modules if re.search(r"^advisor\.\w+\.(?:\w*views)(?:\.|$)", one)]


def accounts() -> list[str]:
    return [one for one in imports().modules if BY_PRODUCT.fullmatch(one)]


def reaches(importers: list[str], module: str) -> bool:
    return any(one == module or imports().chain_exists(importer=one, imported=module) for one in importers)


@pytest.mark.parametrize("name", sorted(FACTS))
def test_what_is_read_is_judged_or_said_to_be_shown(name: str) -> None:
    kind = FACTS[name]
    rule, mark = judged().get(kind), mark_of(kind)
    if rule:
        assert not mark, f"{name} is judged by {rule}: take its NOT_JUDGED away (and its name out of OPEN)"
        return
    assert mark, f"{name} is read, no rule judges it, and its class does not say in NOT_JUDGED who uses it"
    found = MARK.fullmatch(mark)
    assert found, f"{name}: NOT_JUDGED reads `shown by <module>: …`, `read by <module>: …` or `open: …`, not {mark!r}"
    assert (not found["module"]) == (name in OPEN), f"{name}: what is open is listed here, and nothing else"
    if module := found["module"]:
        assert uses(module, kind.__name__), f"{module} does not use {name}"
        if found["how"] == "shown":
            assert module.startswith("advisor."), "a page is one of the service's"
            assert reaches(views(), module), f"no page comes to {module}"
        else:
            assert reaches([AUDIT, *accounts()], module), f"no audit comes to {module}"


def test_list_of_what_is_open_holds_no_stranger() -> None:
    assert set(OPEN) <= set(FACTS)


def test_views_are_found() -> None:
    assert "advisor.openvms.views" in {one.rpartition(".")[0] for one in views()} | set(views())
