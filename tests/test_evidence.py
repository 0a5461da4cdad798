"""Every figure of evidence stands in the lines it cites, or says what it was computed from."""

import math
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

from advisor.audits.services.auditing import run_audit
from advisor.uploads.services.reading import read_exports
from rules.audit import Audit
from rules.finding import Evidence
from tests.stories import STORIES, audits_of

SHARED = Path(__file__).parents[2] / "shared"
OTHERS = sorted(path for room in ("cases", "exports") for path in (SHARED / room).glob("*") if path.is_dir())
NUMBER = re.compile(r"[-+]?(?:\d{1,3}(?:,\d{3})+|\d+)?(?:\.\d+)?(?:[eE][-+]?\d+)?")


def unmarked(audits: list[Audit]) -> Iterator[str]:
    for audit in audits:
        for ranked in audit.findings:
            for one in ranked.finding.evidence:
                if one.source.file and not one.computed and not stands_there(one):
                    yield f"{ranked.rule}: {one.metric} = {one.value} {one.unit} ({one.source})"


def stands_there(one: Evidence) -> bool:
    """Whether one of the lines shows the figure, to the digits it has there; of text, its numbers."""
    path = Path(one.source.file)
    if not path.is_file():
        return True  # a recording or a member of an archive: no lines to look at
    lines = path.read_text("utf-8", "replace").splitlines()[one.source.first - 1 : one.source.last]
    if isinstance(one.value, str):
        return set(re.findall(r"\d+", one.value)) <= set(re.findall(r"\d+", " ".join(lines)))
    return any(shows(line, float(one.value)) for line in lines)


def shows(line: str, value: float) -> bool:
    for token in NUMBER.findall(line):
        if not re.search(r"\d", token):
            continue
        number = float(token.replace(",", ""))
        digits = len(token.partition(".")[2]) if "." in token else 0
        if math.isclose(number, value, rel_tol=1e-9) or (abs(number - value) <= 0.5 * 10**-digits + 1e-9 and digits):
            return True
        shown = max(0, min(6, len(f"{value:.6f}".rstrip("0").partition(".")[2])))
        if round(number, shown) == round(value, shown):
            return True
    return False


@pytest.mark.parametrize("story", STORIES, ids=[story.name for story in STORIES])
def test_a_figure_of_a_story_stands_where_it_is_said_to_or_is_marked_computed(story: Path) -> None:
    assert not list(unmarked(audits_of(story)))


@pytest.mark.parametrize("path", OTHERS, ids=[f"{path.parent.name}/{path.name}" for path in OTHERS])
def test_a_figure_of_a_shared_case_stands_where_it_is_said_to_or_is_marked_computed(path: Path) -> None:
    assert not list(unmarked(run_audit(read_exports([str(path)], None), {}, None)))  # type: ignore[arg-type]


def test_what_an_export_prints_is_not_called_computed() -> None:
    (story,) = [story for story in STORIES if story.name == "address_lock_storm"]
    printed = {
        one.metric: one.computed
        for audit in audits_of(story)
        for ranked in audit.findings
        for one in ranked.finding.evidence
    }
    assert printed["address lock hash table spinlock contention"] == ""
    assert printed["lock address spinlock ratio"] == ""
    assert printed["mean engine busy"] == "from this line"
