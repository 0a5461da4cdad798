"""The contract's data → text for a terminal, or one self-contained HTML file. Works from the JSON shape alone."""

import base64
import functools
import hashlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from django.conf import settings
from jinja2 import Environment, FileSystemLoader
from markupsafe import Markup

from advisor.jinja import environment
from advisor.report.compared import force_of, row_of, settings_of

SEVERITIES = ("critical", "warning", "advice", "note")
QUIET = ("unknown", "untrusted", "broken")
EFFECTS = {
    "online": "at once",
    "restart": "at the next restart of the database server",
    "reboot": "at the next reboot",
    "next boot": "with the next boot; run it before that",
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


@functools.cache
def reports() -> Environment:
    """The environment of reports. Django's own backend would load its HTTP side first, a fifth of a whole audit."""
    made = environment(loader=FileSystemLoader(settings.BASE_DIR / "templates"))
    made.filters.update(csp_hash=csp_hash, row_of=row_of, force_of=force_of)
    return made


def csp_hash(style: str) -> str:
    """What a Content-Security-Policy calls the one <style> it lets through."""
    return f"sha256-{base64.b64encode(hashlib.sha256(style.encode()).digest()).decode()}"


def render(kind: str, data: Mapping[str, Any], form: str, plots: Plots | None = None) -> str:
    """Render `audit`, `compare`, `read` or `rules` as `txt` or `html`; `plots` are for the HTML of an audit alone."""
    template = reports().get_template(f"report/{kind}.{form}")
    return template.render(
        {"data": data, "effects": EFFECTS, "product_name": PRODUCT_NAMES, **_extra(kind, data, plots)}
    )


def _extra(kind: str, data: Mapping[str, Any], plots: Plots | None) -> dict[str, Any]:
    """What the templates of an audit and of a comparison count, group and put in words."""
    if kind == "compare":
        return {"rows": [row_of(metric) for metric in data["metrics"]], "settings": settings_of(data)}
    if kind != "audit":
        return {}
    findings = [finding for capture in data["captures"] for finding in capture["findings"]]
    counts = {severity: sum(f["severity"] == severity for f in findings) for severity in SEVERITIES}
    return {
        "counts": {severity: count for severity, count in counts.items() if count},
        "plots": plots or Plots(),
        "short": SHORT,
        "sections": [_sections(capture, _causes(data)) for capture in data["captures"]],
    }


def _causes(data: Mapping[str, Any]) -> dict[str, list[str]]:
    """Key of a finding → keys of those that explain it, on other nodes of its cluster, too."""
    causes: dict[str, list[str]] = {}
    for capture in data["captures"]:
        for finding in capture["findings"]:
            for key in finding["explains"]:
                causes.setdefault(key, []).append(finding["key"])
    return causes


def _sections(capture: Mapping[str, Any], symptom_of: Mapping[str, list[str]]) -> dict[str, Any]:
    """One capture with its verdicts sorted by what a reader wants of them."""
    verdicts = capture["verdicts"]
    bring: dict[str, list[str]] = {}
    for verdict in verdicts:
        for lack in verdict["missing"]:
            rules = bring.setdefault(lack["bring"], [])
            if verdict["rule"] not in rules:
                rules.append(verdict["rule"])
    return {
        "capture": capture,
        "clean": [verdict for verdict in verdicts if verdict["verdict"] == "clean"],
        "quiet": [verdict for verdict in verdicts if verdict["verdict"] in QUIET],
        "not_applicable": [verdict for verdict in verdicts if verdict["verdict"] == "not-applicable"],
        "bring": bring,
        "symptom_of": symptom_of,
    }
