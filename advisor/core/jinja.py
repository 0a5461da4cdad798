"""The Jinja2 environment of pages, mail and reports."""

import re
import textwrap
from typing import Any
from unicodedata import category

from jinja2 import Environment, StrictUndefined, select_autoescape
from markupsafe import Markup, escape

from rules.finding import grouped

ASCII_CONTROLS = re.compile(r"[\x00-\x08\x0b-\x1f\x7f]")
COMMAND = re.compile(r"`([^`\n]+)`")
INVISIBLE = frozenset(("Cc", "Cf", "Cs", "Co", "Zl", "Zp"))
"""Unicode categories of characters that control, turn direction or do not show: text of an export may not steer a
terminal or hide a line."""
SEVERITY = ("nothing", "note", "advice", "warning", "critical")
"""The word for each level 0 to 4, as classes of the page too."""


JUDGED = {
    "fired": "found",
    "clean": "in order",
    "unknown": "not judged",
    "untrusted": "not believed",
    "broken": "the rule failed",
    "not-applicable": "does not apply",
    "fired for others": "found of others only",
}
"""The word of a page for each verdict of a rule."""


def environment(**options: Any) -> Environment:
    """Make the environment: a missing name is an error, HTML is escaped, what a terminal could obey is taken out."""
    options["undefined"] = StrictUndefined
    options["autoescape"] = select_autoescape(["html"])
    options["finalize"] = printable
    options["trim_blocks"] = options["lstrip_blocks"] = True
    made = Environment(**options)  # noqa: S701 - autoescape is set above, by the ending of the template
    made.filters.update(
        wrap=wrap, figure=figure, measured=measured, of_law=of_law, counted=counted, unit_of=unit_of, moment=moment
    )
    made.filters.update(judged=judged, coded=coded)
    return made


def printable(value: Any) -> Any:
    """Take out of a text what no report may carry; anything else passes."""
    if not isinstance(value, str):
        return value
    # what is printable holds nothing that INVISIBLE names; most texts are one line; `str`'s own: Markup would escape
    if value.isprintable() or str.replace(str.replace(value, "\n", ""), "\t", "").isprintable():
        return value
    if value.isascii():
        return type(value)(ASCII_CONTROLS.sub("\ufffd", value))
    return type(value)("".join(c if c in "\n\t" or category(c) not in INVISIBLE else "\ufffd" for c in value))


def wrap(text: str, indent: int = 0, width: int = 80, hanging: int | None = None) -> str:
    """Fill a paragraph; the first line without indent (the template stands there), the others `indent` blanks in."""
    lines = textwrap.wrap(
        " ".join(text.split()),
        width,
        initial_indent=" " * indent,
        subsequent_indent=" " * (indent if hanging is None else hanging),
        break_long_words=False,
        break_on_hyphens=False,
    )
    return "\n".join(lines)[indent:]


def figure(value: float | str | None) -> str:
    """Write a figure for people: thousands by comma, no more digits than were there, `-` for none."""
    if value is None:
        return "-"
    if isinstance(value, str):
        return grouped(value)
    if float(value).is_integer() and abs(value) < 1e15:
        return f"{int(value):,}"
    return f"{value:,.3f}".rstrip("0").rstrip(".") if abs(value) >= 0.01 else f"{value:.3g}"


def measured(value: float | str | None) -> str:
    """Write what was measured or computed with the digits that can be known: four, and no fraction from 1,000 on."""
    if value is None or isinstance(value, str) or float(value).is_integer():
        return figure(value)
    return f"{value:,.0f}" if abs(value) >= 1000 else figure(float(f"{value:.4g}"))


def of_law(value: float) -> str:
    """Write a figure of a fitted law, four digits: the same in a picture, beside it, in a report and in a mail."""
    return figure(float(f"{value:.4g}"))


def counted(count: int, one: str, many: str | None = None) -> str:
    """Count things: `1 finding`, `3 findings`."""
    return f"{count:,} {one if count == 1 else many or one + 's'}"


def coded(text: str) -> Markup:
    """Set what stands between back-quotes as code, in HTML; a quote that nothing closes stays as it is."""
    return Markup(COMMAND.sub(r"<code>\1</code>", str(escape(text))))  # noqa: S704 - escaped before


def judged(verdict: str) -> str:
    """What a rule said, in words: `in order` for `clean`; empty for none."""
    return JUDGED.get(verdict, verdict)


def one_of(name: str) -> str:
    """`processes` → `process`, `engines` → `engine`."""
    if name.endswith("sses"):
        return name[:-2]
    return name[:-1] if name.endswith("s") and not name.endswith("ss") else name


def unit_of(unit: str, value: float | str | None) -> str:
    """A unit as it stands behind a figure: `resource per bucket` behind 1; `s` and `ms` are no plurals."""
    first, blank, rest = unit.partition(" ")
    return f"{one_of(first)}{blank}{rest}" if value == 1 and len(first) > 3 and first.isalpha() else unit


def moment(value: str) -> str:
    """Write an ISO time for people: a blank for the T, seconds without their fraction."""
    return value.replace("T", " ")[:19]
