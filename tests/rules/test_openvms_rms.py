"""Global buffers and query locks of RMS: what is written, what is held back, and that the undo undoes."""

import pytest

from rules.changes.openvms_rms import MOST_BUFFERS, global_buffers, query_locks, size_of
from rules.changes.out_of_range import OutOfRange
from rules.finding import Effect
from tests.rules.test_openvms_cpu import HOSTILE, commands

FILE = "DISK$DATA:[SHOP]ORDERS.DAT;12"


def test_the_knowledge_files_example_of_the_memory_comes_out() -> None:
    mb, pages = size_of(2000, 12)
    assert (round(mb, 1), pages) == (11.7, 1500)


def test_nothing_is_changed_before_a_person_has_looked() -> None:
    change = global_buffers(FILE, 0.0, 2000, 12)
    assert commands(change.script) == [
        f"$ DIRECTORY/FULL {FILE}",
        "$ MCR SYSGEN SHOW GBLPAGFIL",
        "$ INSTALL LIST/GLOBAL",
        f"$ DIRECTORY/FULL {FILE}",
    ]
    assert f"$!$ SET FILE/GLOBAL_BUFFERS=2000 {FILE}" in change.apply
    assert change.takes_effect is Effect.OFFLINE


def test_the_undo_names_the_file_and_the_count_of_the_export() -> None:
    assert commands(global_buffers(FILE, 50.0, 2000, 12).way_back)[0] == f"$ SET FILE/GLOBAL_BUFFERS=50 {FILE}"


def test_the_undo_of_a_count_that_no_export_showed_writes_nothing_unseen() -> None:
    change = global_buffers(FILE, None, 2000, 12)
    assert commands(change.way_back) == [f"$ DIRECTORY/FULL {FILE}"]
    assert "note it" in change.apply[0]


@pytest.mark.parametrize("count", [0, -1, MOST_BUFFERS + 1, 50])
def test_a_count_that_no_file_takes_or_has_already_is_refused(count: int) -> None:
    with pytest.raises(OutOfRange):
        global_buffers(FILE, 50.0, count, 12)


@pytest.mark.parametrize("name", [*HOSTILE, "NODE::DISK:[A]B.DAT", "DATA:[A]B.DAT/OVERRIDE", "DATA:[A]B.DAT;1-"])
def test_a_hostile_name_is_applied_by_hand(name: str) -> None:
    change = global_buffers(name, 0.0, 10, 12)
    if change.takes_effect is not Effect.ADVICE:
        assert commands(change.script)[0] == f"$ DIRECTORY/FULL {name.upper()}", "a plain name"
        return
    assert not commands(change.script)
    assert not commands(change.way_back)
    assert not any("\n" in line or "\u202e" in line for line in (*change.script, *change.way_back))


def test_query_locks_are_a_template_with_a_way_back() -> None:
    change = query_locks()
    assert commands(change.script) == ["$ SHOW RMS_DEFAULT"]
    assert not commands(change.way_back)
    assert any("ENABLE/SYSTEM" in line for line in change.way_back)
    assert change.takes_effect is Effect.ADVICE
