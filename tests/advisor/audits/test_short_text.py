"""The short text of an audit: its findings carry the numbers by which it, the full text and the pages refer to them."""

import io
import json
import re

from advisor.audits.report.data import audit_data
from advisor.audits.report.render import render
from advisor.audits.services.auditing import run_audit
from advisor.uploads.services.reading import read_exports
from tests.advisor.people import STORIES


def test_a_finding_is_called_by_its_place_among_all_also_where_a_note_costs_more() -> None:
    inputs = read_exports([str(STORIES / "vlh_2_descriptors")], io.BytesIO())
    data = json.loads(json.dumps(audit_data(inputs, run_audit(inputs, {})), default=str))
    findings = data["captures"][0]["findings"]
    findings.sort(key=lambda one: one["severity"] != "note")
    assert findings[0]["severity"] == "note", "else this shows nothing"
    text = render("audit", data, "txt")
    printed = re.findall(r"^ ?(\d+)  (?:CRITICAL|WARNING|ADVICE): (.+)$", text, re.MULTILINE)
    assert printed
    for number, title in printed:
        assert findings[int(number) - 1]["title"].startswith(title.rstrip("-"))
