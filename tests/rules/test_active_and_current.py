"""What runs is judged, whatever the order of the displays and whether they are in one file or in two."""

import shutil
from pathlib import Path

import pytest

from advisor.audits.services.auditing import run_audit
from advisor.uploads.services.reading import read_exports
from rules.settings import settings_of
from tests.stories import HERE

HEAD = (
    "Parameter Name            Current    Default     Min.       Max.   Unit  Dynamic\n"
    "--------------            -------    -------   -------    -------  ----  -------\n"
)


def shown(what: str, value: int) -> str:
    row = f"RESHASHTBL {value:>22}         64         1   16777216 Entries\n"
    return f"$ MCR SYSGEN\nSYSGEN>  USE {what}\nSYSGEN>  SHOW RESHASHTBL\n{HEAD}{row}"


ACTIVE, CURRENT = shown("ACTIVE", 2048), shown("CURRENT", 131072)


@pytest.mark.parametrize("files", [[ACTIVE, CURRENT], [CURRENT, ACTIVE], [ACTIVE + CURRENT], [CURRENT + ACTIVE]])
def test_the_active_value_is_judged_and_the_current_one_is_pending(files: list[str], tmp_path: Path) -> None:
    story = HERE / "lock_bound_with_threads"
    for path in story.glob("*_comp.csv"):
        shutil.copy(path, tmp_path)
    shutil.copy(story / "show_fastpath.txt", tmp_path)
    for number, text in enumerate(files):
        (tmp_path / f"sysgen{number}.txt").write_text(text)
    paths = [str(path) for path in sorted(tmp_path.iterdir())]
    inputs = read_exports(paths, None)  # type: ignore[arg-type]  # no standard input here
    assert not [problem for one in inputs for problem in one.problems]
    (audit,) = run_audit(inputs, {})
    (found,) = [one.finding for one in audit.findings if one.rule == "openvms/resource_hash_table_undersized"]
    assert "2,048 buckets), 131,072 pending" in found.title
    assert not found.changes
    settings = settings_of(audit.capture.facts)
    assert (settings["SYSGEN: RESHASHTBL"], settings["SYSGEN: RESHASHTBL (configured)"]) == (2048.0, 131072.0)
