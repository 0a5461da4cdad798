"""The files of an audit on paper: nothing is cut off, pages are numbered, plots are there, names stay text."""

import base64
import functools
import hashlib
import io
import itertools
import re
import subprocess
import sys
from collections.abc import Callable
from copy import deepcopy
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pypdf
import pytest
from markupsafe import escape

from advisor.audits.models import Audit
from advisor.audits.report.findings import subject_of
from advisor.audits.report.pdf import pdf
from advisor.audits.report.render import SHORT, Plots, render
from advisor.audits.services.audit_page import page_of
from advisor.audits.services.contract import audit_json
from advisor.audits.services.printing import html_of
from advisor.charts import bullet
from advisor.systems.models import System
from advisor.uploads.models import Upload
from tests.advisor.people import STORIES
from tests.longer import first_of

ROOT = Path(__file__).resolve().parents[3]
MARGIN = 15 * 72 / 25.4
HEAD = 19 * 72 / 25.4
MONO = 0.602
"""Width of a character of DejaVu Sans Mono, in ems."""
HEADING = re.compile(
    r"(Figures|Expect|By hand|To undo|The plan|Step \d|Change:|Could not|Files|what$|CRITICAL |WARNING )"
)
BAR = b"0.462745 0.494118 0.533333 rg"
"""The colour that is set for a bar beside a line that goes on, #767e88, and for nothing else."""
HOSTILE = '"; } @page { @top-left { content: "owned" } } </style><script>alert(1)</script>'

Bring = Callable[..., Upload]


@dataclass
class Line:
    """A run of text on a sheet; distances in points from the upper left corner."""

    words: str
    left: float
    down: float
    right: float
    mono: bool


@dataclass
class Sheet:
    """A page: its text as pypdf reads it, and every run of it but those inside plots, from the top down."""

    width: float
    height: float
    text: str
    lines: list[Line]


@functools.cache
def sheets_of(html: str) -> list[Sheet]:
    """Print, and read what was printed; once for all tests of the same report."""
    return [read(page) for page in pypdf.PdfReader(io.BytesIO(pdf(html))).pages]


def read(page: pypdf.PageObject) -> Sheet:
    """`right` of a line counts for the fixed-width font alone."""
    found: list[Line] = []

    def note(words: str, cm: list[float], tm: list[float], font: dict[str, Any] | None, size: float) -> None:
        if words.strip() and font and cm[3] < 0:  # a plot has coordinates of its own
            left, wide = tm[4] * cm[0], len(words.rstrip()) * MONO * size * cm[0]
            found.append(Line(words.strip(), left, tm[5] * cm[0], left + wide, "Mono" in font["/BaseFont"]))

    text = page.extract_text(visitor_text=note)
    lines = sorted(found, key=lambda line: line.down)
    return Sheet(float(page.mediabox.width), float(page.mediabox.height), text, lines)


def heading(sheet: Sheet) -> str:
    """The running header."""
    return " ".join(line.words for line in sorted(sheet.lines, key=lambda line: line.left) if line.down < HEAD)


def squeezed(text: str) -> str:
    """Without blanks: a wrapped line may break anywhere."""
    return "".join(text.split())


def scripts_of(data: dict[str, Any]) -> list[str]:
    (capture,) = data["captures"]
    changes = [change for finding in capture["findings"] for change in finding["changes"]]
    scripts = ["\n".join(change[way]) for change in changes for way in ("apply", "undo")]
    return scripts + [step[way] for step in capture["plan"]["steps"] for way in ("apply", "undo")]


def plots_of(audit: Audit) -> Plots:
    """The pictures that the audit's page shows."""
    shown = page_of(audit)
    found, waiting = {}, list(shown.roots)
    while waiting:
        node = waiting.pop()
        waiting += node.symptoms
        if node.plot:
            found[node.finding.key] = node.plot
    return Plots(found, [plot for _, plot in shown.laws])


PAPERS = {"address_lock_storm": ("A4", "letter"), "lock_bound_node": ("letter", "A4")}
"""By story the paper that `make test` prints it on, and the one of `make test-all`."""
MADE: dict[str, tuple[dict[str, Any], Plots]] = {}
"""By story what its audit says and draws: made once for all tests of it."""


@pytest.fixture(params=list(PAPERS))
def story(request: pytest.FixtureRequest, bring: Bring) -> str:
    """A story whose audit is made."""
    if request.param not in MADE:
        bring(request.param)
        audit = Audit.objects.get()
        MADE[request.param] = audit_json(audit), plots_of(audit)
    return str(request.param)


FIRST_STORY = first_of(1, "story", reversed(PAPERS), indirect=True)
"""For what prints a report of its own."""


@pytest.fixture
def data(story: str) -> dict[str, Any]:
    return deepcopy(MADE[story][0])


@pytest.fixture
def plots(story: str) -> Plots:
    return MADE[story][1]


@pytest.fixture(params=[0, pytest.param(1, marks=pytest.mark.long)], ids=["paper", "other paper"])
def sheets(request: pytest.FixtureRequest, story: str, data: dict[str, Any], plots: Plots) -> list[Sheet]:
    html = render("audit", data, "html", plots)
    assert html.count("@page { margin") == 1
    return sheets_of(html.replace("@page { margin", f"@page {{ size: {PAPERS[story][request.param]}; margin"))


def test_no_word_of_a_script_is_lost_or_runs_off_the_sheet(data: dict[str, Any], sheets: list[Sheet]) -> None:
    scripts = scripts_of(data)
    assert sum(len(script) for script in scripts) > 1000
    printed = squeezed("".join(sheet.text for sheet in sheets))
    for script in scripts:
        for written in script.splitlines():
            assert squeezed(written) in printed, written
    fixed = [(sheet, line) for sheet in sheets for line in sheet.lines if line.mono]
    assert len(fixed) > 50
    for sheet, line in fixed:
        assert line.left > MARGIN, line
        assert line.right < sheet.width - MARGIN, line
        assert line.down < sheet.height - MARGIN, line


def test_a_script_line_that_is_wrapped_goes_on_indented(data: dict[str, Any], sheets: list[Sheet]) -> None:
    whole = {squeezed(line) for script in scripts_of(data) for line in script.splitlines()}
    wrapped = 0
    for sheet in sheets:
        fixed = [line for line in sheet.lines if line.mono]
        for first, second in itertools.pairwise(fixed):
            if squeezed(first.words) not in whole and squeezed(first.words + second.words) in whole:
                wrapped += 1
                assert second.left > first.left + 10, first.words
    assert wrapped


@FIRST_STORY
def test_a_script_line_costs_text_and_at_most_a_bar(data: dict[str, Any]) -> None:
    """A gradient beside each line was a form, a mask and a function of its own: three quarters of the file."""
    bars = 0
    for page in pypdf.PdfReader(io.BytesIO(pdf(render("audit", data, "html")))).pages:
        resources = page["/Resources"].get_object()
        assert isinstance(resources, pypdf.generic.DictionaryObject)
        assert not [name for name in ("/XObject", "/Pattern", "/Shading") if resources.get(name)]
        contents = page.get_contents()
        assert contents is not None
        bars += contents.get_data().count(BAR)
    assert bars > 1, "a line that goes on has its bar"


def test_every_figure_keeps_its_limit_and_its_place(data: dict[str, Any], sheets: list[Sheet]) -> None:
    assert any(line.words == "what value limit where" for sheet in sheets for line in sheet.lines)
    printed = squeezed("".join(line.words for sheet in sheets for line in sheet.lines if line.mono))
    places = [one for finding in data["captures"][0]["findings"] for one in finding["evidence"] if one["lines"][0]]
    assert len(places) > 10
    for one in places:
        assert f"{one['file']}:{one['lines'][0]}" in printed


def test_pages_are_numbered_under_the_name_and_the_date(data: dict[str, Any], sheets: list[Sheet]) -> None:
    name, start = data["captures"][0]["system"]["name"], data["captures"][0]["interval"]["start"]
    assert len(sheets) > 3
    for number, sheet in enumerate(sheets, 1):
        lines = sheet.lines
        assert f"page {number} of {len(sheets)}" in " ".join(line.words for line in lines[-2:])
        if number > 1:
            head = heading(sheet)
            assert name in head, "the first page has it as its title"
            assert start.replace("T", " ")[:19] in head


def test_no_sheet_ends_with_a_heading_and_the_first_of_the_appendix_is_used(sheets: list[Sheet]) -> None:
    for sheet in sheets:
        foot = sheet.height - MARGIN
        last = [line for line in sheet.lines if line.down < foot][-1]
        assert not HEADING.match(last.words), last.words
    body = [line for line in sheets[1].lines if line.down < sheets[1].height - MARGIN]
    assert body[-1].down > 0.75 * sheets[1].height


def test_the_first_sheet_is_the_summary_and_the_rest_an_appendix(data: dict[str, Any], sheets: list[Sheet]) -> None:
    capture = data["captures"][0]
    first = [line.words for line in sheets[0].lines]
    said = squeezed(sheets[0].text)
    assert squeezed(capture["summary"]["verdict"]) in said
    assert first.index("Plan") < first.index("Findings") < first.index("Not judged")
    for one in capture["summary"]["do"]:
        assert squeezed(one["title"]) in said
    for one in capture["summary"]["collect"]:
        assert squeezed(one["command"])[:60] in said
    assert not [line for line in first if line.startswith(("Appendix", "Figures", "To undo"))]
    assert next(line.words for line in sheets[1].lines if line.down > HEAD) == "Appendix"


@first_of(2, "of", ["spinning_for_timers", "untrusted_counters_cleared", "payroll_page_locks", "vlh_1_address_locks"])
def test_findings_have_a_line_each_on_the_first_sheet_whatever_they_say(bring: Bring, of: str) -> None:
    bring(of)
    data = audit_json(Audit.objects.get())
    findings = data["captures"][0]["findings"]
    for finding in findings[:3]:
        finding["title"] += " and words that no line has room for" * 4
    first, second, *_ = sheets_of(html_of(Audit.objects.get(), data))
    levels = [line for line in first.lines if line.words.lower() in ("critical", "warning", "advice", "note")]
    assert len(levels) == len(findings)
    assert all(line.left < 100 for line in levels)
    assert all(9 < below.down - above.down < 16 for above, below in itertools.pairwise(levels))
    assert "Appendix" in second.text


def test_the_account_is_drawn_on_paper_and_its_places_stand_in_the_appendix(bring: Bring) -> None:
    bring("payroll_page_locks")
    audit = Audit.objects.get()
    html = html_of(audit, audit_json(audit))
    assert html.count('<figure class="account">') == 2
    assert 'aria-label="Where 8 CPUs go, on average: 4.48 work; 2.64' in html
    first, second, *_ = sheets_of(html)
    assert "MP synchronization (spinlock wait), LCKMGR (finding 4, caused by finding 1)" in first.text
    assert "8-43" not in first.text
    assert squeezed("T4_LEWIS_21APR2026_1001_1036_comp.csv:8-43") in squeezed(second.text)
    bare = render("audit", audit_json(audit), "html")
    assert "<svg" not in bare
    assert bare.count("<h4>Where 8 CPUs go, on average</h4>") == 2, "without a picture its figures stand in its place"


@FIRST_STORY
def test_an_audit_of_before_has_no_summary_and_is_still_printed(data: dict[str, Any]) -> None:
    (capture,) = data["captures"]
    del capture["summary"], capture["account"]
    for finding in capture["findings"]:
        for part in ("seen", "because", "do", "unknown"):
            del finding[part]
    for step in capture["plan"]["steps"]:
        for name in ("when", "risk", "needs", "alternatives", "outage"):
            del step[name]
    first, second, *_ = sheets_of(render("audit", data, "html"))
    assert squeezed(capture["findings"][0]["title"])[:45] in squeezed(first.text)
    assert squeezed(capture["findings"][0]["says"])[:200] in squeezed(second.text)
    assert "nothing is run" not in first.text
    assert "\nFindings\n 1  CRITICAL: " in render("audit", data, "txt")


def test_the_four_parts_of_a_text_stand_apart(data: dict[str, Any]) -> None:
    data["captures"][0]["findings"][0] |= {"seen": "Seen.", "because": "Why.", "do": "<b>x", "unknown": "Open."}
    html = render("audit", data, "html")
    assert "Seen.</p>\n<p><b>Because:</b> Why.</p><p><b>Do:</b> &lt;b&gt;x</p><p><b>Not known:</b> Open.</p>" in html


def test_a_short_script_stands_on_one_sheet(data: dict[str, Any], sheets: list[Sheet]) -> None:
    short = [script for script in scripts_of(data) if len(script.splitlines()) <= SHORT]
    printed = [squeezed(sheet.text) for sheet in sheets]
    assert short
    for script in short:
        assert any(squeezed(script) in sheet for sheet in printed), script


def test_plots_stand_in_the_html_and_in_the_pdf(bring: Bring) -> None:
    bring("more_engines_less_work")
    audit = Audit.objects.get()
    plots = plots_of(audit)
    html = render("audit", audit_json(audit), "html", plots)
    assert html.count("<svg") == len(plots.findings) + len(plots.laws) >= 2
    printed = "".join(sheet.text for sheet in sheets_of(html))
    assert "not measured" in printed
    bare = render("audit", audit_json(audit), "html")
    assert "<svg" not in bare
    peak, told = "peak 1,864 at 32.96", "".join(sheet.text for sheet in sheets_of(bare))
    assert printed.count(peak) > told.count(peak), "the plot of the law says it too, with the same digits"


def test_a_hostile_name_is_text_in_the_running_header_and_in_every_plot(bring: Bring) -> None:
    bring("lock_bound_node")
    System.objects.update(name=HOSTILE)
    data = audit_json(Audit.objects.get())
    key = data["captures"][0]["findings"][0]["key"]
    html = render("audit", data, "html", Plots({key: bullet(1, 2, unit=HOSTILE, title=HOSTILE)}))
    assert "<script" not in html
    assert html.count("</style>") == 1
    assert str(escape(HOSTILE)) in html
    sheets = sheets_of(html)
    assert len(sheets) > 3
    for sheet in sheets[1:]:
        assert HOSTILE[:40] in heading(sheet)
        assert "owned" not in heading(sheet).replace(HOSTILE[:59], "")


def test_a_name_as_long_as_a_sheet_is_wide_leaves_the_date_alone(bring: Bring) -> None:
    bring("lock_bound_node")
    System.objects.update(name="W" * 120)
    sheet = sheets_of(render("audit", audit_json(Audit.objects.get()), "html"))[4]
    assert heading(sheet) == f"{'W' * 59}… 2026-02-17 09:01:00 to 2026-02-17 10:00:00"


def test_the_html_file_lets_through_its_one_style_and_nothing_else(data: dict[str, Any], plots: Plots) -> None:
    html = render("audit", data, "html", plots)
    (policy,) = re.findall(r'http-equiv="Content-Security-Policy" content="([^"]*)"', html)
    (style,) = re.findall(r"<style>(.*?)</style>", html, re.DOTALL)
    mark = base64.b64encode(hashlib.sha256(style.encode()).digest()).decode()
    assert policy == f"default-src 'none'; style-src 'sha256-{mark}'; base-uri 'none'; form-action 'none'"
    assert not re.search(r"<[^>]*\s(style|on\w+|src)=", html), "what this policy would stop"


def test_the_command_line_draws_nothing_and_loads_no_service() -> None:
    story = STORIES / "address_lock_storm"
    done = subprocess.run(
        [sys.executable, "-X", "importtime", "manage.py", "audit", *map(str, story.glob("*.txt")), "--format", "html"],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 1, "something is critical"
    assert "52.3 %" in done.stdout
    assert "<svg" not in done.stdout
    loaded = {line.split("|")[-1].strip() for line in done.stderr.splitlines() if line.startswith("import time:")}
    assert "advisor.audits.report.render" in loaded
    assert not {"advisor.charts", "advisor.models", "weasyprint", "django.template"} & loaded


@pytest.mark.parametrize(
    ("subject", "text", "lead"),
    [
        ("CLAIMS1", "34.6 % of the grabs waited.", "CLAIMS1: "),
        ("NITH3: the log semaphore", "The log semaphore: 12 % waited.", "NITH3: "),
        ("default data cache", "Default data cache spun.", ""),
    ],
)
def test_a_subject_is_not_said_twice(subject: str, text: str, lead: str) -> None:
    assert subject_of({"subject": subject}, text) == lead
