"""The contract's data → text for a terminal, or one self-contained HTML file. Works from the JSON shape alone."""

import functools
from collections.abc import Mapping
from typing import Any

from django.conf import settings
from jinja2 import Environment, FileSystemLoader

from advisor.jinja import environment

SEVERITIES = ("critical", "warning", "advice", "note")
QUIET = ("unknown", "untrusted", "broken")
EFFECTS = {
    "online": "at once",
    "restart": "at the next restart of the database server",
    "reboot": "at the next reboot",
    "offline": "with the database closed",
    "advice": "nothing to run",
}


@functools.cache
def reports() -> Environment:
    """The environment of reports. Django's own backend would load its HTTP side first, a fifth of a whole audit."""
    return environment(loader=FileSystemLoader(settings.BASE_DIR / "templates"))


def render(kind: str, data: Mapping[str, Any], form: str) -> str:
    """Render `audit`, `read` or `rules` as `txt` or `html`."""
    template = reports().get_template(f"report/{kind}.{form}")
    return template.render({"data": data, "effects": EFFECTS, "product_name": PRODUCT_NAMES, **_extra(kind, data)})


PRODUCT_NAMES = {"ase": "SAP ASE", "openvms": "OpenVMS", "scaling": "load series", "rdb": "Oracle Rdb"}


def _extra(kind: str, data: Mapping[str, Any]) -> dict[str, Any]:
    """What the audit's templates count and group."""
    if kind != "audit":
        return {}
    findings = [finding for capture in data["captures"] for finding in capture["findings"]]
    counts = {severity: sum(f["severity"] == severity for f in findings) for severity in SEVERITIES}
    return {
        "counts": {severity: count for severity, count in counts.items() if count},
        "sections": [_sections(capture) for capture in data["captures"]],
    }


def _sections(capture: Mapping[str, Any]) -> dict[str, Any]:
    """One capture with its verdicts sorted by what a reader wants of them."""
    verdicts = capture["verdicts"]
    symptom_of: dict[str, list[str]] = {}
    for finding in capture["findings"]:
        for key in finding["explains"]:
            symptom_of.setdefault(key, []).append(finding["key"])
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
