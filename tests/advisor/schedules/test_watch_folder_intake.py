"""What is taken is taken once: by several schedules, with files that are moved, by workers that die."""

import os
import re
from pathlib import Path
from types import SimpleNamespace

import pytest
from pytest_django import Settings

from advisor.schedules.models import DropFile
from advisor.schedules.services.watch_folder import files, intake
from advisor.schedules.services.watch_folder.files import opened
from advisor.uploads.models import Upload, UploadFile
from advisor.uploads.services.uploads import ingest
from tests.advisor.people import People
from tests.advisor.schedules.watch_folder import NOBODY, Drop, a_place_for_all, as_nobody, make_drop, names_in

pytestmark = pytest.mark.postgres


class Killed(BaseException):
    """What a worker feels that is killed: nothing."""


@pytest.fixture
def drop(people: People, settings: Settings, tmp_path: Path) -> Drop:
    settings.DROP_FOLDERS = [tmp_path / "drop"]
    return make_drop(people.team, tmp_path / "drop" / "Claims")


@pytest.fixture
def moving(drop: Drop) -> Drop:
    drop.schedule.after = "move"
    drop.schedule.save()
    return drop


def lying(folder: Path) -> dict[str, str]:
    return {str(path.relative_to(folder)): path.read_text() for path in folder.rglob("*") if path.is_file()}


@pytest.mark.long
def test_six_hundred_files_come_as_two_uploads(drop: Drop) -> None:
    for number in range(600):
        drop.put(f"{number:03}.txt", f"{number}")
    looked = drop.settle()
    assert looked.taken == 600
    assert [upload.files.count() for upload in looked.uploads] == [500, 100]
    assert UploadFile.objects.values("name").distinct().count() == 600
    assert (drop.look(60).taken, Upload.objects.count()) == (0, 2)


def test_more_bytes_than_an_upload_holds_come_as_several(drop: Drop, settings: Settings) -> None:
    settings.UPLOAD_MB = 1
    for name in "abc":
        drop.put(f"{name}.txt", name * 600_000)
    assert [names_in(upload) for upload in drop.settle().uploads] == [["a.txt"], ["b.txt"], ["c.txt"]]


def test_what_there_is_no_time_for_is_taken_by_the_next_look(
    drop: Drop, settings: Settings, monkeypatch: pytest.MonkeyPatch
) -> None:
    settings.UPLOAD_FILES = 1
    for name in "abc":
        drop.put(f"{name}.txt", name)
    drop.look()
    ticks = iter(range(0, 10_000, 200))
    monkeypatch.setattr(
        "advisor.schedules.services.watch_folder.intake.time", SimpleNamespace(monotonic=lambda: next(ticks))
    )
    first = drop.look(60)
    assert (first.taken, first.wait_seconds) == (2, 1.0)
    second = drop.look(1)
    assert (second.taken, second.wait_seconds) == (1, None)


def test_two_schedules_over_one_folder_each_take_a_file_and_it_is_one_upload(drop: Drop) -> None:
    other = make_drop(drop.schedule.team, drop.folder, name="day")
    drop.put("sysmon.txt", "figures")
    first = drop.settle()
    second = other.settle()
    assert (first.taken, second.taken) == (1, 1)
    assert first.uploads == second.uploads == list(Upload.objects.all())
    assert second.uploads[0].run == drop.run
    assert (drop.look(60).taken, other.look(60).taken) == (0, 0)


def test_two_schedules_that_both_move_take_a_file_once(moving: Drop) -> None:
    other = make_drop(moving.schedule.team, moving.folder, name="day", after="move")
    moving.put("sysmon.txt", "figures")
    moving.look()
    other.look()
    assert (moving.look(60).taken, other.look(60).taken) == (1, 0)
    assert lying(moving.folder) == {"taken/sysmon.txt": "figures"}


def test_what_was_taken_is_moved_and_never_over_another_file(moving: Drop) -> None:
    moving.put("taken/sysmon.txt", "an older one")
    for text in ("one", "two"):
        moving.put("sysmon.txt", text)
        moving.put("CLAIMS1/noending", text)
        assert moving.look(60).taken == 0
        assert moving.look(60).taken == 2
    assert lying(moving.folder) == {
        "taken/sysmon.txt": "an older one",
        "taken/sysmon-2.txt": "one",
        "taken/sysmon-3.txt": "two",
        "CLAIMS1/taken/noending": "one",
        "CLAIMS1/taken/noending-2": "two",
    }
    assert (moving.settle().taken, Upload.objects.count()) == (0, 2), "the same file of both folders is one upload"


def test_a_name_that_thousands_have_is_told_apart_without_asking_for_each(
    moving: Drop, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("sysmon.txt", *(f"sysmon-{number}.txt" for number in range(2, 3000))):
        moving.put(f"taken/{name}", "an older one")
    asked: list[str] = []
    state = files.Folder._state

    def counted(here: files.Folder, name: str) -> os.stat_result:
        asked.append(name)
        return state(here, name)

    monkeypatch.setattr(files.Folder, "_state", counted)
    with opened(str(moving.folder)) as folder, folder.below("taken") as taken:
        assert re.fullmatch(r"sysmon-\d{8}-\d{6}-[0-9a-f]{6}\.txt", taken.unused("sysmon.txt"))
        assert len(asked) == 10
    moving.put("sysmon.txt", "a new one")
    assert (moving.settle().taken, moving.settle().taken) == (1, 0)
    assert sorted(lying(moving.folder / "taken").values())[0] == "a new one"


def test_a_worker_that_dies_before_it_has_moved_a_file_takes_it_once(
    moving: Drop, monkeypatch: pytest.MonkeyPatch
) -> None:
    moving.put("sysmon.txt", "figures")
    moving.look()
    with monkeypatch.context() as dying:
        dying.setattr(files.Folder, "move", _dies)
        with pytest.raises(Killed):
            moving.look(60)
    upload = Upload.objects.get()
    assert lying(moving.folder) == {"sysmon.txt": "figures"}
    looked = moving.look(1)
    assert (looked.taken, looked.uploads, looked.refused) == (0, [], [])
    assert lying(moving.folder) == {"taken/sysmon.txt": "figures"}
    assert moving.row("sysmon.txt").upload == upload == Upload.objects.get()


@pytest.mark.parametrize("where", ["_note", "room", "ingest"])
def test_a_worker_that_dies_while_it_takes_leaves_all_to_the_next(
    drop: Drop, monkeypatch: pytest.MonkeyPatch, where: str
) -> None:
    drop.put("sysmon.txt", "figures")
    drop.look()
    with monkeypatch.context() as dying:
        dying.setattr(intake, where, _dies)
        with pytest.raises(Killed):
            drop.look(60)
    assert not Upload.objects.exists()
    assert drop.row("sysmon.txt").taken is None
    assert drop.look(1).taken == 1
    assert Upload.objects.count() == 1


def test_what_another_worker_has_taken_meanwhile_is_not_taken(drop: Drop, monkeypatch: pytest.MonkeyPatch) -> None:
    drop.put("sysmon.txt", "figures")
    drop.look()

    def late(*given: object, **more: object) -> object:
        DropFile.objects.update(taken=drop.now)
        return ingest(*given, **more)  # type: ignore[arg-type]

    monkeypatch.setattr(intake, "ingest", late)
    looked = drop.look(60)
    assert (looked.taken, looked.uploads) == (0, [])
    assert not Upload.objects.exists()


def test_what_cannot_be_moved_is_taken_once_and_said_once(moving: Drop) -> None:
    moving.put("taken", "is a file")
    moving.put("sysmon.txt", "figures")
    moving.look()
    looked = moving.look(60)
    assert looked.taken == 2
    assert any("sysmon.txt was taken, but cannot be moved into taken/" in text for text in looked.refused)
    again = moving.look(60)
    assert (again.taken, again.refused) == (0, [])
    assert "or have files stay where they are" in moving.row("sysmon.txt").refused
    (moving.folder / "taken").unlink()
    assert moving.look(60).taken == 0
    assert lying(moving.folder) == {"taken/sysmon.txt": "figures"}
    assert moving.row("sysmon.txt").refused == ""


def test_a_folder_we_may_not_write_to_is_taken_from_all_the_same(people: People, settings: Settings) -> None:
    with a_place_for_all(settings) as place:
        moving = make_drop(people.team, place / "Claims", after="move")
        moving.put("sysmon.txt", "figures")
        moving.look()
        with as_nobody():
            looked = moving.look(60)
    assert looked.taken == 1
    if os.geteuid() == 0:
        assert f"(Permission denied): let the user of the service (uid {NOBODY}) write" in looked.refused[0]


def test_a_file_we_may_not_read_does_not_end_the_patience_with_one_that_grows(
    people: People, settings: Settings
) -> None:
    with a_place_for_all(settings) as place:
        drop = make_drop(people.team, place / "Claims")
        drop.put("closed.txt", "figures").chmod(0o000)
        with as_nobody():
            drop.settle()
        drop.put("config.txt", "whole")
        growing = drop.put("sysmon.txt", "0")
        taken = []
        with as_nobody():
            drop.look(3600)
        for minute in range(1, 12):
            growing.write_text("x" * minute)
            with as_nobody():
                taken.append(drop.look(60).taken)
    assert taken == [0] * 10 + [1]


def test_where_more_files_lie_than_are_looked_at_the_newest_go_first(
    moving: Drop, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(intake, "MOST_SEEN", 3)
    for number in range(5):
        os.utime(moving.put(f"{number}.txt", f"{number}"), (number, number))
    looked = moving.settle()
    assert (names_in(looked.uploads[0]), looked.wait_seconds) == (["2.txt", "3.txt", "4.txt"], 1.0)
    assert "5 files, of which only the newest 3 are looked at: take away what was taken" in looked.refused[0]
    assert names_in(moving.settle().uploads[0]) == ["0.txt", "1.txt"]


def test_taken_is_no_link_out_of_the_folder(moving: Drop, tmp_path: Path) -> None:
    outside = tmp_path / "outside"
    outside.mkdir()
    (moving.folder / "taken").symlink_to(outside)
    moving.put("sysmon.txt", "figures")
    looked = moving.settle()
    assert (looked.taken, list(outside.iterdir())) == (1, [])
    assert "taken/ is no folder" in looked.refused[0]


def test_a_file_that_comes_at_the_moment_of_the_move_is_not_moved_for_the_one_before(
    moving: Drop, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = moving.put("sysmon.txt", "figures")
    moving.look()
    rename = os.rename

    def late(*given: object, **more: object) -> None:
        if not more:  # another one: of the folder files are copied to
            rename(*given)  # type: ignore[arg-type]
            return
        monkeypatch.undo()
        path.unlink()
        path.write_text("newer figures")
        rename(*given, **more)  # type: ignore[arg-type]

    monkeypatch.setattr(os, "rename", late)
    assert moving.look(60).taken == 1
    assert lying(moving.folder) == {"sysmon.txt": "newer figures"}
    moving.look(60)
    assert moving.look(60).taken == 1
    assert lying(moving.folder) == {"taken/sysmon.txt": "newer figures"}


def _dies(*given: object, **more: object) -> None:
    raise Killed
