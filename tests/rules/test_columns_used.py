"""Columns of SAP ASE are not read and then forgotten: each field of a fact is used by a rule, a page or the collectors.

By name alone: a name that many classes have hides one that nobody uses, so this finds less than there may be. What it
finds is listed with the class it belongs to, and the list only shrinks.
"""

import ast
import re
from dataclasses import fields
from functools import cache
from pathlib import Path

import pytest

from collectors.facts import Fact
from collectors.facts.shapes import kinds

ROOT = Path(__file__).resolve().parents[2]
CODE, TEMPLATES = ("rules", "advisor", "collectors"), "templates"
READERS = "reports"
"""Readers only write the fields."""
KINDS = {name: kind for name, kind in kinds().items() if issubclass(kind, Fact) and name.startswith("ase.")}
# fmt: off
UNUSED = {
    "ase.CacheActivity": {
        "cached_lru", "discarded_mru", "found_in_elc", "found_in_wash", "hits_without_spinlock",
        "utilization_percent",
    },
    "ase.CachePoolActivity": {"pages_cached", "pages_used"},
    "ase.ControllerActivity": {"polls_with_events"},
    "ase.Deadlock": {"held_application", "held_transaction", "wait_transaction"},
    "ase.DeviceActivity": {"semaphore_waited"},
    "ase.MetadataCount": {"memory_kb"},
    "ase.MonCachedObject": {"object_type"},
    "ase.MonCachedStatement": {"hash_key", "max_logical_reads"},
    "ase.MonDataCache": {"overhead_kb"},
    "ase.MonProcELC": {"chunk_pages", "most_chunks"},
    "ase.MonProcessActivity": {"ulc_max_usage"},
    "ase.MonProcessObject": {"object_type"},
    "ase.MonProcessStatement": {"pages_modified"},
    "ase.MonState": {"days_running"},
    "ase.MonStatementCache": {"used_kb"},
    "ase.MonSysStatement": {"hash_key", "pages_modified"},
    "ase.MonSysWaits": {"wait_class"},
    "ase.ProcedureCacheActivity": {"writes_to_disk"},
    "ase.ResourceUsage": {"active_percent"},
    "ase.RunnableTasks": {"fifteen_minutes", "one_minute"},
    "ase.ThreadPool": {"idle_microseconds"},
}
# fmt: on
"""Read for whoever asks for the facts (`audit --json`, cases), and used by nothing here yet."""


@cache
def named() -> frozenset[str]:
    """Every attribute, field and text of the code, and what templates say behind a dot."""
    found: set[str] = set()
    for folder in CODE:
        for path in (ROOT / folder).rglob("*.py"):
            if READERS in path.relative_to(ROOT).parts:
                continue
            for node in ast.walk(ast.parse(path.read_text("utf-8"))):
                if isinstance(node, ast.Attribute):
                    found.add(node.attr)
                elif isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.func.attr == "latest":
                    found.update(one.arg for one in node.keywords if one.arg)
                elif isinstance(node, ast.Constant) and isinstance(node.value, str):
                    found.add(node.value)
    for path in (ROOT / TEMPLATES).rglob("*.*"):
        found.update(re.findall(r"\.(\w+)", path.read_text("utf-8")))
    return frozenset(found)


@pytest.mark.parametrize("name", sorted(KINDS))
def test_each_column_is_used_or_listed(name: str) -> None:
    unused = {one.name for one in fields(KINDS[name])} - named()
    assert unused == UNUSED.get(name, set())


def test_the_list_holds_no_stranger() -> None:
    assert UNUSED.keys() <= KINDS.keys()
