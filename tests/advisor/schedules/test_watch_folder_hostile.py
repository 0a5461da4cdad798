"""Others write to drop folders: links, pipes, names and sizes must neither lead us out nor hold us up."""

import io
import os
import shutil
import socket
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest
from pytest_django import Settings

from advisor.schedules.models import DropFile
from advisor.schedules.services.watch_folder.files import Unreadable, opened
from advisor.schedules.services.watch_folder.names import path_of, told
from advisor.uploads.models import Upload
from tests.advisor.people import People
from tests.advisor.schedules.watch_folder import Drop, drop_files, make_drop, names_in, seen


@pytest.fixture
def drop(people: People, settings: Settings, tmp_path: Path) -> Drop:
    settings.DROP_FOLDERS = [tmp_path / "drop"]
    return make_drop(people.team, tmp_path / "drop" / "Claims")


def test_what_is_no_export_is_left_alone(drop: Drop) -> None:
    for name in (".hidden", "a.tmp", "a.PART", "a.txt.filepart", "taken/a.txt", ".git/a.txt"):
        drop.put(name, "not yet")
    (drop.folder / "passwd").symlink_to("/etc/passwd")
    (drop.folder / "nothing").symlink_to("nowhere")
    (drop.folder / "etc").symlink_to("/etc")
    os.mkfifo(drop.folder / "pipe")
    with socket.socket(socket.AF_UNIX) as ours:
        here = Path.cwd()
        os.chdir(drop.folder)  # the path of a socket may be no longer than 108 characters
        try:
            ours.bind("socket")
        finally:
            os.chdir(here)
    drop.put("real.txt", "figures")
    looked = drop.settle()
    assert (looked.taken, looked.refused) == (1, [])
    assert [path for path, _, _ in drop_files()] == ["real.txt"]


def test_a_file_is_taken_when_it_gets_its_name(drop: Drop) -> None:
    path = drop.put("sysmon.txt.part", "figures")
    assert drop.settle().taken == 0
    path.rename(drop.folder / "sysmon.txt")
    assert (drop.look(60).taken, drop.look(60).taken) == (0, 1)


@pytest.mark.parametrize("swap", ["link", "pipe", "longer", "alike", "gone", "folder"])
def test_a_file_that_becomes_another_one_after_it_was_listed_is_not_read(drop: Drop, swap: str) -> None:
    path = drop.put("sysmon.txt", "figures")
    listed = seen(drop, "sysmon.txt")
    path.rename(drop.folder / "old")
    if swap == "link":
        path.symlink_to("/etc/passwd")
    elif swap == "pipe":
        os.mkfifo(path)
    elif swap == "longer":
        path.write_text("figures and more")
    elif swap == "alike":
        drop.put("new", "figures").rename(path)
        os.utime(path, ns=(listed.mtime_ns, listed.mtime_ns))
    elif swap == "folder":
        path.mkdir()
    target = io.BytesIO()
    with opened(str(drop.folder)) as folder:
        assert folder.copy(listed, target) is None
        assert folder.move(listed) == ""
    assert target.getvalue() == b""
    assert not list((drop.folder / "taken").iterdir())


def test_a_file_that_is_written_while_it_is_read_is_not_taken(drop: Drop) -> None:
    path = drop.put("sysmon.txt", b"x" * (3 << 20))
    listed = seen(drop, "sysmon.txt")

    class Writing(io.BytesIO):
        def write(self, data: bytes | memoryview) -> int:  # type: ignore[override]  # any buffer
            with path.open("r+b") as stream:
                stream.write(b"y")
            return super().write(data)

    with opened(str(drop.folder)) as folder:
        assert folder.copy(listed, Writing()) is None
        assert folder.copy(seen(drop, "sysmon.txt"), io.BytesIO()) is not None


def test_a_folder_that_becomes_a_link_is_not_followed(drop: Drop, tmp_path: Path) -> None:
    drop.put("CLAIMS1/a.txt", "figures")
    drop.look()
    secret = tmp_path / "secret"
    shutil.copytree(drop.folder / "CLAIMS1", secret)
    with opened(str(drop.folder)) as folder:
        shutil.rmtree(drop.folder / "CLAIMS1")
        (drop.folder / "CLAIMS1").symlink_to(secret)
        with pytest.raises(NotADirectoryError), folder.below("CLAIMS1"):
            pass
    assert drop.look(60).taken == 0


@pytest.mark.parametrize("part", ["Claims", "drop"])
def test_a_folder_above_that_becomes_a_link_is_not_followed_unless_the_operator_made_it(
    drop: Drop, tmp_path: Path, part: str
) -> None:
    drop.put("a.txt", "figures")
    drop.look()
    place = drop.folder if part == "Claims" else drop.folder.parent
    place.rename(tmp_path / "moved")
    place.symlink_to(tmp_path / "moved")
    if part == "drop":
        assert drop.look(60).taken == 1, "the drop folder itself may be reached through a link"
        return
    with pytest.raises(Unreadable, match="is no folder, or leads through a link: put a folder there"):
        drop.look(60)
    assert not Upload.objects.exists()


def test_a_path_that_climbs_is_not_opened(drop: Drop, tmp_path: Path) -> None:
    (tmp_path / "secret").mkdir()
    for folder in (f"{drop.folder}/../../secret", str(tmp_path / "secret"), "/etc", "relative", ""):
        drop.schedule.folder = folder
        drop.schedule.save()
        with pytest.raises(Unreadable, match="lies in none of the folders that may be drop folders"):
            drop.look(1)


def test_a_file_with_a_second_name_is_refused_for_it_may_be_one_of_our_own(drop: Drop, tmp_path: Path) -> None:
    ours = tmp_path / "key"
    ours.write_text("secret")
    os.link(ours, drop.folder / "sysmon.txt")
    looked = drop.look()
    assert looked.refused == ["sysmon.txt has several names (hard links): copy it here instead"]
    again = drop.look(60)
    assert (again.taken, again.refused) == (0, [])
    ours.unlink()
    assert drop.look(60).taken == 1
    assert drop.row("sysmon.txt").refused == ""


def test_an_empty_file_is_refused_until_something_is_in_it(drop: Drop) -> None:
    drop.put("sysmon.txt", "")
    drop.put("config.txt", "whole")
    assert drop.look().refused == ["sysmon.txt is empty: it is taken when something is in it"]
    assert [names_in(upload) for upload in drop.look(60).uploads] == [["config.txt"]]
    drop.put("sysmon.txt", "figures")
    assert drop.settle().taken == 1


def test_a_file_too_large_is_refused_once_and_holds_nobody_back(drop: Drop, settings: Settings) -> None:
    settings.UPLOAD_MB = 1
    path = drop.put("huge.txt", "x")
    os.truncate(path, 5 << 30)
    drop.put("config.txt", "whole")
    assert drop.look().refused == ["huge.txt is too large (5,120 MB, at most 1 MB are taken): zip it, or split it"]
    os.truncate(path, 2 << 20)
    looked = drop.look(60)
    assert (looked.taken, looked.refused) == (
        1,
        ["huge.txt is too large (2 MB, at most 1 MB are taken): zip it, or split it"],
    )
    assert drop.look(60).refused == []
    settings.UPLOAD_MB = 3
    assert drop.look(60).taken == 1
    settings.UPLOAD_MB = 1
    os.truncate(path, 3 << 20)
    drop.look(60)
    path.write_text("small enough")
    drop.look(60)
    assert drop.row("huge.txt").refused == ""


def test_bytes_of_a_name_that_are_no_text_are_escaped(drop: Drop) -> None:
    folder = os.fsencode(drop.folder)
    names = [b"caf\xe9.txt", b"caf\\xe9.txt", b"two\nlines.txt", "\u202etxt.exe".encode(), "Größe €.txt".encode()]
    for number, name in enumerate(names):
        with open(folder + b"/" + name, "wb") as stream:  # noqa: PTH123 - bytes are no Path
            stream.write(b"figures %d" % number)
    looked = drop.settle()
    assert looked.taken == len(names)
    assert {row.path for row in DropFile.objects.all()} == {
        "caf\\xe9.txt",
        "caf\\\\xe9.txt",
        "two\\u000alines.txt",
        "\\u202etxt.exe",
        "Größe €.txt",
    }
    assert set(names_in(looked.uploads[0])) == {"caf\ufffd.txt", "xe9.txt", "two lines.txt", "txt.exe", "Größe €.txt"}
    assert drop.look(60).taken == 0


@pytest.mark.parametrize("time", [(1 << 63) + 10, 1 << 70, -(1 << 63) - 10])
def test_a_time_of_change_that_no_database_holds_blocks_no_folder(
    people: People, settings: Settings, time: int
) -> None:
    with TemporaryDirectory(dir="/dev/shm") as place:  # where a time may be any
        settings.DROP_FOLDERS = [Path(place)]
        drop = make_drop(people.team, Path(place) / "Claims", after="move")
        os.utime(drop.put("sysmon.txt", "figures"), ns=(0, time))
        assert (drop.folder / "sysmon.txt").stat().st_mtime_ns == time
        drop.put("config.txt", "whole")
        looked = drop.settle()
        assert (looked.taken, looked.refused) == (2, [])
        assert sorted(path.name for path in (drop.folder / "taken").iterdir()) == ["config.txt", "sysmon.txt"]


def test_a_long_name_is_cut_and_stays_unlike_others(drop: Drop) -> None:
    first, second = (os.fsdecode(b"\xff" * 254 + end) for end in (b"1", b"2"))
    paths = {path_of(os.fsdecode(b"\xfe" * 255), name) for name in (first, second)}
    assert len(paths) == 2
    assert {len(path) for path in paths} <= set(range(980, 1001))
    for name in (first, second):
        (drop.folder / name).write_text("figures")
    assert drop.settle().taken == 2
    assert told("plain name.txt") == "plain name.txt"
