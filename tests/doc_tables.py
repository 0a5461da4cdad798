"""`make docs`: the tables of rules, reports and facts in docs, written from the rules, readers and facts there are."""

import dataclasses
from pathlib import Path

from advisor.audits.report.render import PRODUCT_NAMES
from collectors.facts import Fact
from collectors.facts.base import is_command
from collectors.facts.shapes import kinds as shapes
from collectors.registry import Kind, kinds
from rules.engine import rules

ROOT = Path(__file__).resolve().parent.parent
RULES, REPORTS, COLLECTING = (ROOT / "docs" / "dba" / f"{page}.md" for page in ("rules", "reports", "collecting"))
FACTS = ROOT / "docs" / "engineers" / "facts.md"
TITLES = {**PRODUCT_NAMES, "scaling": PRODUCT_NAMES["scaling"].capitalize()}
"""Of the chapters: a name that is no proper one begins with a capital."""
MOST_COMMANDS = 3
"""Told of one report; further ones are counted."""
MOST_RULES = 4
"""Named of one fact; further ones are counted."""


def rule_page() -> str:
    """Every rule by product, with the sentence that says what it finds."""
    rows = {name: [one for one in rules() if one.product == name] for name in TITLES}
    tables = [
        f"## {TITLES[name]}\n\n| rule | finds |\n|---|---|\n"
        + "".join(f"| `{one.id}` | {one.title.rstrip('.')} |\n" for one in ones)
        for name, ones in rows.items()
    ]
    head = (
        "# The rules\n\n<!-- Written by `make docs`. -->\n\n"
        "`manage.py rules ase/descriptors_reused` prints one with its limits, where each limit comes from, and its\n"
        "sources; the page *Rule book* shows worked examples besides.\n\n"
    )
    return head + "\n".join(tables)


def report_page() -> str:
    """Every report that is read, with the first sentence of its reader, and how it is collected if no page says it."""
    tables = []
    for name, title in TITLES.items():
        ours = [kind for kind in kinds() if kind.id.partition("/")[0] == name]
        rows = "".join(f"| `{one.id}` | {first_sentence(one.title)}{collected_by(one)} |\n" for one in ours)
        tables.append(f"## {title}\n\n| report | what it is |\n|---|---|\n{rows}")
    head = (
        "# The reports that are read\n\n<!-- Written by `make docs`. -->\n\n"
        "How each is collected: [collecting.md](collecting.md). `manage.py read FILE` shows what was understood,\n"
        "and every line that was not.\n\n"
    )
    return head + "\n".join(tables)


def fact_page() -> str:
    """Every kind of fact by product: its fields, and the rules that look at it."""
    facts = {name: kind for name, kind in sorted(shapes().items()) if issubclass(kind, Fact)}
    everywhere = {field.name for field in dataclasses.fields(Fact)}
    tables = []
    for name, title in TITLES.items():
        rows = []
        for full, kind in facts.items():
            if full.startswith(f"{name}."):
                fields = ", ".join(f"`{one.name}`" for one in dataclasses.fields(kind) if one.name not in everywhere)
                readers = [f"`{one.id}`" for one in rules() if kind in (*one.needs, *one.uses)]
                shown = [
                    *readers[:MOST_RULES],
                    *([f"{len(readers) - MOST_RULES} more"] if readers[MOST_RULES:] else []),
                ]
                rows.append(f"| `{full}` | {first_sentence(kind.__doc__ or '')} | {fields} | {', '.join(shown)} |\n")
        if rows:
            tables.append(
                f"## {title}\n\n| fact | what it is | fields | read by the rules |\n|---|---|---|---|\n" + "".join(rows)
            )
    head = (
        "# The facts\n\n<!-- Written by `make docs`. -->\n\n"
        "What readers yield and rules look at; `manage.py read FILE` prints those of an export. Fields are\n"
        "described in the classes, `collectors/facts/<product>/`.\n\n"
    )
    return head + "\n".join(tables)


def collected_by(kind: Kind) -> str:
    """What brings the facts of a report, as their classes say, safe in a table; empty where collecting.md tells it."""
    if f"`{kind.id}`" in COLLECTING.read_text(encoding="utf-8"):
        return ""
    told = list(dict.fromkeys(fact.COLLECTED_BY for fact in kind.provides if fact.COLLECTED_BY))
    shown = [f"`{one}`" if is_command(one) else one for one in told[:MOST_COMMANDS]]
    more = [f"and {len(told) - MOST_COMMANDS} more"] if len(told) > MOST_COMMANDS else []
    return f"; collected by {'; '.join((*shown, *more))}".replace("|", "\\|")


def first_sentence(text: str) -> str:
    """The first line of a docstring, safe in a table."""
    return text.strip().splitlines()[0].rstrip(".:").replace("|", "\\|")


if __name__ == "__main__":
    RULES.write_text(rule_page(), encoding="utf-8")
    REPORTS.write_text(report_page(), encoding="utf-8")
    FACTS.write_text(fact_page(), encoding="utf-8")
