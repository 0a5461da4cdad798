"""A counter that went round in one sample changes no verdict: it is no maximum, no mean, and opens no gate."""

import shutil
from pathlib import Path

import pytest

from rules.audit import Audit
from tests.stories import HERE, audits_of

ROUND = "71582788.00"
"""2**32 ÷ 60 s."""


def spoil(story: Path, to: Path, columns: tuple[str, ...]) -> Path:
    """The same story with one counter of one sample gone round, in every T4 file."""
    shutil.copytree(story, to)
    for path in to.glob("T4_*.csv"):
        lines = path.read_text().splitlines()
        begin = next(at for at, line in enumerate(lines) if "START COLUMN" in line)
        end = next(at for at, line in enumerate(lines) if "END COLUMN" in line)
        names = ",".join(line.strip().rstrip(",") for line in lines[begin + 1 : end]).split(",")
        for number, column in enumerate(columns):
            cells = lines[end + 5 + number].split(",")
            cells[names.index(column)] = ROUND
            lines[end + 5 + number] = ",".join(cells)
        path.write_text("\n".join(lines) + "\n")
    return to


def said(audits: list[Audit]) -> dict[str, dict[str, tuple[str, list[str]]]]:
    return {
        audit.capture.system.name: {
            verdict.rule: (verdict.verdict, [finding.severity.label for finding in verdict.findings])
            for verdict in audit.verdicts
        }
        for audit in audits
    }


@pytest.mark.parametrize("story", ["quiet_two_node_day", "healthy_rdb_node", "lock_bound_with_threads"])
def test_a_counter_gone_round_in_one_sample_changes_no_verdict(story: str, tmp_path: Path) -> None:
    columns = ("[MON.LOCK]New ENQ rate", "[MON.MODE]Mp Synch", "[MON.LOCK]DEQs")
    spoiled = spoil(HERE / story, tmp_path / story, columns)
    assert said(audits_of(spoiled)) == said(audits_of(HERE / story))


def test_it_is_told_which_figures_were_left_out(tmp_path: Path) -> None:
    spoiled = spoil(HERE / "lock_bound_with_threads", tmp_path / "story", ("[MON.LOCK]New ENQ rate",))
    (audit,) = audits_of(spoiled)
    figures = [evidence.value for one in audit.findings for evidence in one.finding.evidence]
    assert max(value for value in figures if isinstance(value, float)) < 1e6
