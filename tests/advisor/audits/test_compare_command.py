"""`manage.py compare`: what is printed, and the exit status."""

import json
import re
from io import StringIO
from pathlib import Path
from typing import Any, get_args

import pytest
from django.core.management import call_command
from django.core.management.base import CommandError

from advisor.audits.api.shapes import ComparisonRun
from advisor.audits.services.compared_page import TONES, VERDICTS
from rules.compare.compare import (
    IMPROVED,
    MIXED,
    NO_EFFECT,
    NOT_COMPARABLE,
    WORSE,
)
from tests.stories import HERE

STORY = HERE / "lock_bound_node"


def _less_spinning(text: str, share: float) -> str:
    """A T4 file in which a share of MP synchronization became idle time."""
    lines, fields, heads = [], [], False
    for line in text.split("\n"):
        if "COLUMN HEADERS" in line:
            heads = "START" in line
        elif heads:
            fields += [field.strip() for field in line.split(",")]
        elif line[:2].isdigit():
            cells = line.split(",")
            synch, idle = fields.index("[MON.MODE]Mp Synch"), fields.index("[MON.MODE]Idle Time")
            gone = float(cells[synch]) * share
            cells[synch], cells[idle] = f"{float(cells[synch]) - gone:.2f}", f"{float(cells[idle]) + gone:.2f}"
            line = ",".join(cells)
        lines.append(line)
    return "\n".join(lines)


@pytest.fixture
def sides(tmp_path: Path) -> tuple[Path, Path]:
    """Exports of a node that spins, and of that hour a day later with 95 % less spinning and a larger hash table."""
    before, after = tmp_path / "before", tmp_path / "after"
    for side in (before, after):
        side.mkdir()
    for path in STORY.glob("*"):
        if path.suffix in (".csv", ".txt"):
            text = path.read_text()
            (before / path.name).write_text(text)
            text = _less_spinning(text, 0.95).replace("17-FEB", "18-FEB") if path.suffix == ".csv" else text
            (after / path.name).write_text(re.sub(r"(RESHASHTBL +)8192", r"\g<1>262144", text))
    return before, after


def _run(*words: str | Path) -> tuple[str, str, int]:
    out, err, status = StringIO(), StringIO(), 0
    try:
        call_command("compare", *map(str, words), stdout=out, stderr=err)
    except SystemExit as end:
        status = int(end.code or 0)
    return out.getvalue(), err.getvalue(), status


def test_it_prints_the_contract(sides: tuple[Path, Path]) -> None:
    out, _, status = _run("--before", sides[0], "--after", sides[1], "--format", "json")
    data: dict[str, Any] = json.loads(out)
    assert next(iter(data.items())) == ("contract", "compare/1")
    assert {"comparable", "unit_of_work", "metrics", "findings", "verdict", "why"} <= set(data)
    assert {"score", "why"} <= set(data["comparable"])
    assert {"gone", "new", "still"} <= set(data["findings"])
    names = {"metric", "before", "after", "per_work_before", "per_work_after", "ratio", "better"}
    assert all(names <= set(metric) for metric in data["metrics"])
    assert (data["verdict"], data["unit_of_work"], data["comparable"]["score"]) == ("improved", "lock operation", 1.0)
    assert data["configuration"] == [{"setting": "SYSGEN: RESHASHTBL", "before": 8192.0, "after": 262144.0}]
    changed = {"target": "RESHASHTBL", "from": 8192.0, "to": 262144, "applied": True, "now": None}
    assert changed in [{key: one[key] for key in changed} for one in data["changes"]]
    advised = next(one["finding"] for one in data["changes"] if one["target"] == "RESHASHTBL")
    assert advised.startswith("openvms/resource_hash_table_undersized:")
    assert data["settings"] == [
        {"target": "SYSGEN: RESHASHTBL", "before": 8192.0, "after": 262144.0, "advised": advised}
    ]
    assert "openvms/resource_hash_table_undersized:BERGEN" in data["findings"]["gone"]
    assert data["findings"]["still"] == ["openvms/lock_id_table_small:BERGEN"]
    decisive = [metric for metric in data["metrics"] if metric["decides"]]
    assert [metric["key"] for metric in decisive] == ["openvms.cpu"]
    assert decisive[0]["low"] < decisive[0]["ratio"] < decisive[0]["high"] < 1
    assert status == 0  # what stands after it is advice


def test_the_text_says_it_in_words_and_lines_fit_a_terminal(sides: tuple[Path, Path]) -> None:
    out, err, _ = _run("--before", sides[0], "--after", sides[1])
    assert "IMPROVED" in out
    assert "RESHASHTBL: 8,192 -> 262,144: in force" in out
    assert "95 % interval" in out
    assert max(map(len, out.partition("FILES")[0].splitlines())) <= 80
    assert err == ""


def test_the_html_is_one_file_without_anything_from_outside(sides: tuple[Path, Path]) -> None:
    out, _, _ = _run("--before", sides[0], "--after", sides[1], "--format", "html")
    assert out.count("<h1>") == 1
    assert "http" not in out.replace("http-equiv", "")
    assert "<script" not in out


def test_the_exit_status_is_what_stands_afterwards(sides: tuple[Path, Path]) -> None:
    assert _run("--before", sides[0], "--after", sides[1], "--fail-on", "critical")[2] == 0
    healthy = HERE / "healthy_rdb_node"
    assert _run("--before", healthy, "--after", healthy)[2] == 0


def test_the_same_exports_on_both_sides_are_no_before_and_after(sides: tuple[Path, Path]) -> None:
    data = json.loads(_run("--before", sides[0], "--after", sides[0], "--format", "json")[0])
    assert data["verdict"] == "not-comparable"
    assert "at the same time" in data["why"]
    assert any("one export twice" in remark for remark in data["remarks"])


def test_swapped_sides_are_told_where_everybody_looks(sides: tuple[Path, Path]) -> None:
    out, _, status = _run("--before", sides[1], "--after", sides[0])
    assert status == 1
    assert "WORSE" in out
    assert "are the sides swapped?" in " ".join(out.split())


def test_a_name_that_no_export_of_a_side_gives_itself_is_told(sides: tuple[Path, Path]) -> None:
    for path in sides[0].iterdir():
        path.write_text(path.read_text().replace("BERGEN", "STAVAN"))
    out, err, _ = _run("--before", sides[0], "--after", sides[1], "--name", "BERGEN", "--format", "json")
    said = "The exports of before call their system STAVAN, and --name takes them for BERGEN."
    assert said in err
    assert json.loads(out)["remarks"] == [said]


def test_standard_input_is_one_side_only() -> None:
    with pytest.raises(CommandError, match="one side only") as caught:
        _run("--before", "-", "--after", "-")
    assert caught.value.returncode == 2


def test_two_systems_are_not_compared(sides: tuple[Path, Path]) -> None:
    with pytest.raises(CommandError, match="no system is on both sides") as caught:
        _run("--before", sides[0], "--after", HERE / "address_lock_storm")
    assert caught.value.returncode == 2


def test_nothing_usable_on_a_side_is_status_2(sides: tuple[Path, Path], tmp_path: Path) -> None:
    (tmp_path / "prose.txt").write_text("Dear colleagues,\nnothing to see here.\n")
    _, err, status = _run("--before", sides[0], "--after", tmp_path / "prose.txt")
    assert status == 2
    assert "nothing usable" in err


BEFORE, AFTER = "1,371000\n2,490000\n3,416000\n4,345000\n", "1,256000\n2,400000\n3,500000\n4,490000\n"


def _series(folder: Path, rows: str) -> Path:
    folder.mkdir()
    path = folder / "series.csv"
    path.write_text(f"processes,lock_operations_per_second\n{rows}")
    return path


def test_better_here_and_worse_there_is_mixed_names_both_and_fails_as_a_warning(tmp_path: Path) -> None:
    before, after = _series(tmp_path / "before", BEFORE), _series(tmp_path / "after", AFTER)
    words = ("--before", before, "--after", after, "--name", "SKYE")
    out, _, status = _run(*words, "--format", "json")
    data = json.loads(out)
    assert (data["verdict"], status) == ("mixed", 1)
    assert re.search(r"Better: .*highest load.* Worse: time of one unit of work at a load of 1", data["why"])
    assert _run(*words, "--fail-on", "critical")[2] == 0
    assert "MIXED" in _run(*words)[0]
    assert 'class="verdict mixed"' in _run(*words, "--format", "html")[0]


def test_every_verdict_has_words_a_tone_and_a_place_in_the_api() -> None:
    verdicts = {IMPROVED, MIXED, NO_EFFECT, NOT_COMPARABLE, WORSE}
    assert set(VERDICTS) == set(TONES) == verdicts
    assert set(get_args(ComparisonRun.model_fields["verdict"].annotation)) == verdicts


def test_text_and_html_list_a_new_cache_with_the_advice_and_where_it_is_in_force_in_another_form() -> None:
    sides = [sorted((HERE / story).glob("*.txt")) for story in ("vlh_4_hot_tables", "vlh_5_one_scan")]
    words: list[str | Path] = ["--before", *sides[0], "--after", *sides[1]]
    text = " ".join(_run(*words)[0].split())
    title = "A few objects make most of the searches of a contended cache"
    advised = f"(advised before: {title}: default data cache)"
    assert f"cache hot_tables: size, MB: not listed -> 59,392 {advised}" in text
    assert "binding rating.dbo.zone_map: not listed -> hot_tables" in text
    assert "in force, in another form: hot_tables" in text
    html = _run(*words, "--format", "html")[0]
    assert "cache hot_tables: size, MB: not listed → 59,392" in html
    assert "in force, in another form: hot_tables" in html
