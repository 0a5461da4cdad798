"""The short text of an audit: its findings carry the numbers by which it, the full text and the pages refer to them."""

import io
import json
import re
import shutil
from pathlib import Path

from advisor.audits.report.data import audit_data
from advisor.audits.report.render import MOST_FINDINGS, MOST_NOTES, render, unread
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
    printed = re.findall(r"^ ?(\d+)  (?:CRITICAL|WARNING|ADVICE|NOTE): (.+)$", text, re.MULTILINE)
    assert [int(number) for number, _ in printed] == list(range(1, len(findings) + 1)), "a note stands in its place"
    for number, title in printed:
        assert findings[int(number) - 1]["title"].startswith(title.rstrip("-"))


def test_notes_are_named_and_what_is_not_listed_is_counted_as_what_it_is() -> None:
    inputs = read_exports([str(STORIES / "vlh_2_descriptors")], io.BytesIO())
    data = json.loads(json.dumps(audit_data(inputs, run_audit(inputs, {})), default=str))
    (capture,) = data["captures"]
    notes = [one for one in capture["findings"] if one["severity"] == "note"]
    loud = next(one for one in capture["findings"] if one["severity"] != "note")
    assert notes, "else this shows nothing"
    text = render("audit", data, "txt")
    named = text.partition("\nNotes\n")[2].partition("\n\n")[0]
    assert " ".join(named.split()) == " ".join(f"{capture['findings'].index(one) + 1} {one['title']}" for one in notes)
    capture["findings"][:0] = [{**loud, "key": f"loud {number}"} for number in range(MOST_FINDINGS)]
    capture["findings"] += [{**notes[0], "key": f"note {number}"} for number in range(MOST_NOTES)]
    text = render("audit", data, "txt")
    many = sum(one["severity"] != "note" for one in capture["findings"])
    assert f"\n    and {many - MOST_FINDINGS} findings more" in text
    assert f"\n    and {len(notes)} note" in text


def test_notes_of_one_title_tell_of_what_each_is() -> None:
    inputs = read_exports([str(STORIES / "vlh_2_descriptors")], io.BytesIO())
    data = json.loads(json.dumps(audit_data(inputs, run_audit(inputs, {})), default=str))
    findings = data["captures"][0]["findings"]
    note = next(one for one in findings if one["severity"] == "note")
    findings += [{**note, "key": f"{of}", "title": "falls", "subject": of} for of in ("series A", "series B")]
    findings += [{**note, "key": "alone", "title": "rises", "subject": "series C"}]
    text = render("audit", data, "txt").partition("\nNotes\n")[2]
    assert re.search(r"series A: falls\n *\d+  series B: falls\n *\d+  rises\n", text)


def test_a_file_with_lines_that_were_not_understood_is_named(tmp_path: Path) -> None:
    report = tmp_path / "sysmon.txt"
    shutil.copy(next((STORIES / "vlh_2_descriptors").glob("*.txt")), report)
    lines = report.read_text("utf-8").splitlines(keepends=True)
    report.write_text("".join([*lines[:-1], "Widget Usage by Gadget  12  34\n", lines[-1]]), "utf-8")
    inputs = read_exports([str(report)], io.BytesIO())
    text = render("audit", audit_data(inputs, run_audit(inputs, {})), "txt")
    quoted = f'    line {len(lines)}: "Widget Usage by Gadget ? ?"\n'
    assert f"\n\nLines not understood (lockwright read shows them)\n1 place in {report}\n{quoted}" in text
    assert quoted in render("audit_full", audit_data(inputs, run_audit(inputs, {})), "txt")


def test_the_first_places_not_understood_are_quoted_short_and_without_what_was_typed() -> None:
    texts = ["name  'Ann Smith'", "-- taken over 600 s\nthe next line", "a\u202eb" * 40, "never shown"]
    places = [{"lines": [at, at + text.count("\n")], "text": text} for at, text in enumerate(texts, 7)]
    assert unread(places) == [
        'line 7: "name ?"',
        'line 8 to 9: "- - taken over ? s"',
        f'line 9: "{("a?b" * 20)} [cut]"',
    ]
