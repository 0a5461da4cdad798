"""Every template that code or another template names is there, and each is named by something."""

import ast
import re
from collections.abc import Iterator
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
ROOM = ROOT / "templates"
NAMED = re.compile(r"""{%-?\s*(?:extends|include|import|from)\s+["']([^"']+)["']""")


def named_in_code() -> Iterator[str]:
    """Strings of the service that are the name of a template."""
    for path in (ROOT / "advisor").rglob("*.py"):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.Constant) and isinstance(node.value, str):
                yield from re.findall(r"^\w[\w/]+\.html$", node.value)


def named_in_templates() -> Iterator[str]:
    for path in ROOM.rglob("*.*"):
        yield from NAMED.findall(path.read_text(encoding="utf-8"))


def test_every_template_that_is_named_is_there() -> None:
    missing = {name for name in (*named_in_code(), *named_in_templates()) if not (ROOM / name).is_file()}
    assert not missing


def test_no_page_is_left_that_nothing_names() -> None:
    pages = {str(path.relative_to(ROOM)) for path in ROOM.rglob("*.html")}
    made_by_name = {name for name in pages if name.startswith(("audits/report/", "notifications/email/"))}
    assert not pages - made_by_name - {*named_in_code(), *named_in_templates()}
