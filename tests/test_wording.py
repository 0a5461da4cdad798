"""The text of a finding has four parts of at most two sentences each, on every named case of its rule.

A part is read on the first screen or at night: what does not fit belongs into the evidence, the cautions of a change,
the docstring of the rule, or is not needed.
"""

import re
from pathlib import Path

import pytest

from tests.test_findings import FILES, LOADED, rule_of, verdict_of

PARTS = ("seen", "because", "do", "unknown")
SENTENCES, LONGEST = 2, 360
"""Of one part: sentences, and characters (about four lines of a page)."""
END = re.compile(r"(?<=[.!?])[\"')`]?\s+(?=[A-Z0-9\"'`(])")


def sentences(text: str) -> list[str]:
    """The sentences of a paragraph."""
    return END.split(text) if text else []


@pytest.mark.parametrize("path", FILES, ids=rule_of)
def test_each_part_is_two_sentences_at_most(path: Path) -> None:
    for name, case in LOADED[path].items():
        if "fires" not in case:
            continue
        for finding in verdict_of(path, name).findings:
            tentative = any(one.source.tentative for one in finding.evidence)
            assert finding.seen, f"{name}: {finding}"
            assert finding.because + finding.do + finding.unknown, f"{name}: {finding}"
            for part in PARTS:
                said = getattr(finding, part)
                most = SENTENCES + (part == "unknown" and tentative)
                assert len(sentences(said)) <= most, f"{name}: {part}: {said}"
                assert len(said) <= LONGEST * most / SENTENCES, f"{name}: {part} has {len(said)} characters: {said}"
