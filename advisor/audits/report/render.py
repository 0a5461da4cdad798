"""The contract's data → text for a terminal, or one self-contained HTML file. Works from the JSON shape alone."""

import base64
import functools
import hashlib
import pickle
import sys
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from importlib.util import cache_from_source
from pathlib import Path
from typing import Any

import jinja2
from jinja2 import Environment, FileSystemBytecodeCache, FileSystemLoader
from jinja2.bccache import Bucket
from markupsafe import Markup

from advisor.audits.report import account, compared
from advisor.audits.report.compared import force_of, row_of, settings_of
from advisor.audits.report.findings import figure_words, first_figure, subject_of
from advisor.audits.report.placement import COLUMNS, placement_of
from advisor.audits.report.plan import WHENS, do_marked, due, steps_of, with_accepted
from advisor.audits.report.run_sheet import RunSheet, sheets_of
from advisor.core import jinja
from advisor.core.jinja import environment
from collectors.statement_text import without_literals
from rules.changes.quoting import comment
from rules.ranking import causes_of
from rules.titles import finding_named, in_words

SEVERITIES = ("critical", "warning", "advice", "note")
QUIET = ("unknown", "untrusted", "broken")
EFFECTS = {
    "online": "at once",
    "restart": "at the next restart of the database server",
    "reboot": "at the next reboot",
    "offline": "in an outage of the database or table",
    "advice": "nothing to run",
}
PRODUCT_NAMES = {
    "ase": "SAP ASE",
    "openvms": "OpenVMS",
    "rdb": "Oracle Rdb",
    "scaling": "load series",
    "unix": "UNIX",
    "zvm": "z/VM",
}
TEMPLATES = Path(__file__).resolve().parents[3] / "templates"
SCRIPTED = ("ase", "openvms", "rdb", "zvm")
"""Products that `collect-script` writes a script for."""
MOST_FIRST = {"steps": 6, "changes": 6, "findings": 14, "accounts": 2}
"""What the first sheet of a PDF holds of each; the appendix has all."""
MOST_FINDINGS = 20
"""Findings of a capture that the short text lists."""
MOST_NOTES = 10
"""Notes that it names, by their titles alone."""
MOST_FILES = 4
"""Files with lines that were not understood, of those that the text lists."""
MOST_UNREAD = 3
"""Places of such a file that are quoted."""
LONGEST_UNREAD = 60
"""Characters of each."""
MOST_BRING = 6
"""Commands that would decide more about a cluster, of those that the text lists."""
SHORT = 16
"""Lines of a script, up to which it moves to the next page whole rather than break."""


@dataclass(frozen=True)
class Plots:
    """Pictures for the HTML of an audit of one capture, drawn by `advisor.charts`: finished SVG, in no need of CSS."""

    findings: Mapping[str, Markup] = field(default_factory=dict)
    """By the finding's key."""
    laws: Sequence[Markup | None] = ()
    """In the order of the capture's models."""
    comparisons: Sequence[Markup | None] = ()
    """In the order of the capture's comparisons."""
    accounts: Sequence[Markup] = ()
    """In the order of the capture's accounts that are worth one (`report.account.shown`)."""


ACCEPTED = "accepted"
"""The state of a finding, in the data of the service alone, that is counted apart from what is open."""


class KeptTemplates(FileSystemBytecodeCache):
    """Compiled templates, kept beside the bytecode of this module as Python keeps that.

    Jinja2 compiles one anew when its text has changed; constants go through our filters when it is compiled, so a
    changed filter has all compiled anew, too.
    """

    @classmethod
    def where_bytecode_is_kept(cls) -> "KeptTemplates | None":
        """`None` where Python writes no bytecode."""
        return None if sys.dont_write_bytecode else cls(str(Path(cache_from_source(__file__)).parent), "%s.jinja")

    def get_cache_key(self, name: str, filename: str | None = None) -> str:
        """What a compiled template depends on beside its own text."""
        sources = (Path(str(module.__file__)).stat() for module in (jinja, compared, sys.modules[__name__]))
        states = [(one.st_mtime_ns, one.st_size) for one in sources]
        return super().get_cache_key(f"{name} {jinja2.__version__} {states}", filename)

    def load_bytecode(self, bucket: Bucket) -> None:
        """Load it; one that is damaged or cannot be read is compiled anew."""
        try:
            super().load_bytecode(bucket)
        except (OSError, EOFError, ValueError, TypeError, pickle.UnpicklingError):
            bucket.reset()

    def dump_bytecode(self, bucket: Bucket) -> None:
        """Keep it, where the folder can be written to."""
        with suppress(OSError):
            Path(self.directory).mkdir(parents=True, exist_ok=True)
            super().dump_bytecode(bucket)


@functools.cache
def reports() -> Environment:
    """The environment of reports. Django's own backend would load its HTTP side first, a fifth of a whole audit."""
    made = environment(loader=FileSystemLoader(TEMPLATES), bytecode_cache=KeptTemplates.where_bytecode_is_kept())
    made.filters.update(csp_hash=csp_hash, row_of=row_of, force_of=force_of)
    made.filters.update(in_words=in_words, finding_named=finding_named)
    return made


def csp_hash(style: str) -> str:
    """What a Content-Security-Policy calls the one <style> it lets through."""
    return f"sha256-{base64.b64encode(hashlib.sha256(style.encode()).digest()).decode()}"


def render(kind: str, data: Mapping[str, Any], form: str, plots: Plots | None = None) -> str:
    """Render `audit`, `audit_full`, `run_sheet` (text alone), `compare`, `read` or `rules` as `txt` or `html`.

    `plots` are for the HTML of an audit alone.
    """
    template = reports().get_template(f"audits/report/{kind}.{form}")
    return template.render(
        {"data": data, "effects": EFFECTS, "product_name": PRODUCT_NAMES, **_extra(kind, data, plots)}
    )


def sheets_text(sheets: Sequence[RunSheet]) -> str:
    """The run sheets of several systems as text, one after the other."""
    return reports().get_template("audits/report/run_sheet.txt").render({"sheets": sheets})


def _extra(kind: str, data: Mapping[str, Any], plots: Plots | None) -> dict[str, Any]:
    """What the templates of an audit and of a comparison count, group and put in words."""
    if kind == "compare":
        return {"rows": [row_of(metric) for metric in data["metrics"]], "settings": settings_of(data)}
    if kind == "run_sheet":
        return {"sheets": sheets_of(data)}
    if kind not in ("audit", "audit_full"):
        return {}
    findings = [finding for capture in data["captures"] for finding in capture["findings"]]
    unaccepted = [finding for finding in findings if finding.get("state") != ACCEPTED]
    counts = {severity: sum(f["severity"] == severity for f in unaccepted) for severity in SEVERITIES}
    counts[ACCEPTED] = len(findings) - len(unaccepted)
    causes, places = _causes(data), _places(data)
    return {
        "counts": {severity: count for severity, count in counts.items() if count},
        "plots": plots or Plots(),
        "short": SHORT,
        "due": due,
        "scripted": SCRIPTED,
        "most_first": MOST_FIRST,
        "most_bring": MOST_BRING,
        "most_files": MOST_FILES,
        "unread": unread,
        "placed_columns": COLUMNS,
        "whens": WHENS,
        "figure_words": figure_words,
        "first_figure": first_figure,
        "subject_of": subject_of,
        "clusters": [_cluster(one, places, data) for one in data.get("clusters", ())],
        "sections": [_sections(capture, causes, places, findings) for capture in data["captures"]],
    }


def unread(leftovers: Sequence[Mapping[str, Any]]) -> list[str]:
    """The first places that no reader understood: `line 4: "name  id  scheme"`, without the values in them."""
    found = []
    for run in leftovers[:MOST_UNREAD]:
        first, last = run["lines"]
        text = run["text"].split("\n")[0].strip()
        dashes = text[: len(text) - len(text.lstrip("-"))]  # a remark of SQL would be taken out as one
        shown = comment(" ".join((dashes + without_literals(text[len(dashes) :])).split()), LONGEST_UNREAD + 1)
        cut = f"{shown[:LONGEST_UNREAD]} [cut]" if len(shown) > LONGEST_UNREAD else shown
        found.append(f'line {first}{f" to {last}" if last != first else ""}: "{cut}"')
    return found


def _causes(data: Mapping[str, Any]) -> dict[str, list[str]]:
    """Key of a finding → keys of those that explain it, on other nodes of its cluster, too."""
    return causes_of((one["key"], one["explains"]) for capture in data["captures"] for one in capture["findings"])


def _places(data: Mapping[str, Any]) -> dict[str, str]:
    """Key of a finding → how another capture names it: `finding 2 of SKYE`."""
    return {
        finding["key"]: f"finding {number} of {capture['system']['name']}"
        for capture in data["captures"]
        for number, finding in enumerate(capture["findings"], 1)
    }


def _cluster(one: Mapping[str, Any], places: Mapping[str, str], data: Mapping[str, Any]) -> dict[str, Any]:
    """The nodes of a cluster together: the verdict, and where the processors of all of them went."""
    product = data["captures"][one["captures"][0]]["system"]["product"]
    findings = [finding for capture in data["captures"] for finding in capture["findings"]]
    steps = steps_of(one["plan"], findings)
    numbers = {key: place.removeprefix("finding ") for key, place in places.items()}
    return {
        **one,
        "plan": with_accepted(one["plan"], findings),
        "summary": {**one["summary"], "do": do_marked(one["summary"]["do"], steps, findings)},
        "product": product,
        "accounts": _accounts(one["account"], numbers, product),
        "placed": placement_of(one),
        "more_to_do": max(0, _changes_of(one["plan"]) - sum(bool(do["step"]) for do in one["summary"]["do"])),
    }


def _changes_of(plan: Mapping[str, Any]) -> int:
    return sum(len(step["change_keys"]) for step in plan["steps"])


def _accounts(
    accounts: Sequence[Mapping[str, Any]], numbers: Mapping[str, int | str], product: str
) -> list[dict[str, Any]]:
    """The accounts that are worth a place on a first page, as rows."""
    return [
        {"heading": account.heading(one, product), "rows": account.rows(one, numbers), "remarks": one["remarks"]}
        for one in account.shown(accounts)
    ]


def _named(keys: Sequence[str], numbers: Mapping[str, int], places: Mapping[str, str]) -> str:
    """Findings as this capture names them: `findings 1 and 3`, those of others after them."""
    own = [str(numbers[key]) for key in keys if key in numbers]
    words = (
        [f"finding{'s' if len(own) > 1 else ''} {' and '.join(filter(None, (', '.join(own[:-1]), own[-1])))}"]
        if own
        else []
    )
    return ", ".join([*words, *(places.get(key, key) for key in keys if key not in numbers)])


def _sections(
    capture: Mapping[str, Any],
    symptom_of: Mapping[str, list[str]],
    places: Mapping[str, str],
    findings: Sequence[Mapping[str, Any]],
) -> dict[str, Any]:
    """One capture with its verdicts sorted by what a reader wants of them; `findings` of all captures."""
    verdicts = capture["verdicts"]
    limited = {name.rpartition(".")[0] for name in capture.get("limits", ())}
    clean = [verdict for verdict in verdicts if verdict["verdict"] == "clean"]
    in_order = [verdict for verdict in clean if verdict["rule"] not in limited]
    bring: dict[str, list[str]] = {}
    for verdict in verdicts:
        for lack in verdict["missing"]:
            rules = bring.setdefault(lack["bring"], [])
            if verdict["rule"] not in rules:
                rules.append(verdict["rule"])
    numbers = {finding["key"]: number for number, finding in enumerate(capture["findings"], 1)}
    loudness = [one["severity"] != "note" for one in capture["findings"]]
    # a note that is dearer than a loud finding stands in its place: a list that counts 1, 3 looks as if one was lost
    last_loud = max((number for number, loud in enumerate(loudness, 1) if loud), default=0)
    listed, notes = capture["findings"][:last_loud], capture["findings"][last_loud:]
    others = [one for one in findings if one["key"] not in numbers]
    cost, counted_in = account.costs(capture.get("account", ()), capture["findings"], capture["system"]["product"])
    to_do = sum(len(step["change_keys"]) for step in capture["plan"]["steps"])
    steps = steps_of(capture["plan"], capture["findings"], others)
    if "summary" in capture:
        summary = capture["summary"]
        capture = {**capture, "summary": {**summary, "do": do_marked(summary["do"], steps, findings)}}
    return {
        "capture": capture,
        "accounts": _accounts(capture.get("account", ()), numbers, capture["system"]["product"]),
        "plan": steps,
        "cost": cost,
        "counted_in": counted_in,
        "listed": listed[:MOST_FINDINGS],
        "notes": notes[:MOST_NOTES],
        "numbers": numbers,
        "more_findings": len(listed[MOST_FINDINGS:]),
        "more_notes": len(notes[MOST_NOTES:]),
        "more_to_do": max(0, to_do - len(capture.get("summary", {}).get("do", ()))),
        "named": lambda keys: _named(keys, numbers, places),
        "judged": len(in_order),
        "open": sum(verdict["verdict"] in QUIET for verdict in verdicts),
        "clean": in_order,
        "by_own_limits": [verdict for verdict in clean if verdict["rule"] in limited],
        "quiet": [verdict for verdict in verdicts if verdict["verdict"] in QUIET],
        "not_applicable": [verdict for verdict in verdicts if verdict["verdict"] == "not-applicable"],
        "bring": bring,
        "symptom_of": symptom_of,
    }
