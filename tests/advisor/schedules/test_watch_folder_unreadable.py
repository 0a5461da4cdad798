"""What of a drop folder cannot be read is said with what to do, and nothing is lost by it."""

import os
from pathlib import Path

import pytest
from pytest_django import Settings

from advisor.schedules.services.watch_folder.files import Unreadable, opened
from advisor.uploads.models import Upload
from tests.advisor.people import People
from tests.advisor.schedules.watch_folder import NOBODY, Drop, a_place_for_all, as_nobody, make_drop, seen


@pytest.fixture
def drop(people: People, settings: Settings, tmp_path: Path) -> Drop:
    settings.DROP_FOLDERS = [tmp_path / "drop"]
    return make_drop(people.team, tmp_path / "drop" / "Claims")


def test_what_we_may_not_read_is_refused_with_the_remedy_and_tried_again(people: People, settings: Settings) -> None:
    with a_place_for_all(settings) as place:
        drop = make_drop(people.team, place / "Claims")
        closed = drop.put("closed.txt", "figures")
        drop.put("open.txt", "figures, too")
        drop.put("CLAIMS1/a.txt", "of a closed folder")
        closed.chmod(0o000)
        (drop.folder / "CLAIMS1").chmod(0o000)
        with as_nobody():
            first = drop.look()
            second = drop.look(60)
            third = drop.look(60)
        me = f"the user of the service (uid {NOBODY if os.getuid() == 0 else os.geteuid()})"
        assert f"Claims/CLAIMS1 cannot be read: let {me} list it" in first.refused[0]
        assert second.taken == 1
        assert f"closed.txt cannot be read (Permission denied): let {me} read it" in second.refused
        assert drop.row("closed.txt").refused == f"cannot be read (Permission denied): let {me} read it"
        assert not any("closed.txt" in text for text in third.refused)
        closed.chmod(0o644)
        (drop.folder / "CLAIMS1").chmod(0o755)
        with as_nobody():
            assert drop.look(60).taken == 1
            assert drop.look(60).taken == 1
        assert drop.row("closed.txt").refused == ""


def test_a_folder_we_may_not_list_is_unreadable(people: People, settings: Settings) -> None:
    with a_place_for_all(settings) as place:
        drop = make_drop(people.team, place / "Claims")
        drop.folder.chmod(0o000)
        with (
            as_nobody(),
            pytest.raises(Unreadable, match=r"may not be read: let the user of the service \(uid \d+\) list"),
        ):
            drop.look()
        drop.folder.chmod(0o755)


def test_a_folder_that_is_not_there_is_unreadable_and_says_what_to_do(drop: Drop) -> None:
    drop.folder.rmdir()
    with pytest.raises(Unreadable) as missing:
        drop.look()
    assert missing.value.says == f"there is no folder {drop.folder}"
    assert missing.value.do == "make it or mount it, or choose another one"
    drop.folder.write_text("a file")
    with pytest.raises(Unreadable, match="is no folder"):
        drop.look(1)


@pytest.mark.parametrize("call", ["scandir", "open", "read"])
def test_a_mount_whose_server_is_away_is_unreadable_and_nothing_is_lost(
    drop: Drop, monkeypatch: pytest.MonkeyPatch, call: str
) -> None:
    drop.put("sysmon.txt", "figures")
    drop.put("CLAIMS1/a.txt", "others")
    drop.look()

    def away(*given: object, **more: object) -> None:
        raise OSError(107, "Transport endpoint is not connected")

    with monkeypatch.context() as gone:
        gone.setattr(os, call, away)
        with pytest.raises(
            Unreadable, match=r"does not answer \(Transport endpoint is not connected\): mount it again"
        ):
            drop.look(60)
    assert not Upload.objects.exists()
    assert drop.look(60).taken == 2


def test_a_file_that_lies_on_a_damaged_spot_is_refused_and_the_others_are_taken(
    drop: Drop, monkeypatch: pytest.MonkeyPatch
) -> None:
    damaged = drop.put("damaged.txt", "figures").stat().st_ino
    drop.put("sysmon.txt", "figures, too")
    drop.look()
    read = os.read

    def broken(descriptor: int, size: int) -> bytes:
        if os.fstat(descriptor).st_ino == damaged:
            raise OSError(5, "Input/output error")
        return read(descriptor, size)

    monkeypatch.setattr(os, "read", broken)
    looked = drop.look(60)
    text = "damaged.txt cannot be read (Input/output error): see to the disk it lies on, or upload it again"
    assert (looked.taken, looked.refused) == (1, [text])


def test_a_full_disk_of_ours_is_no_fault_of_the_folder(drop: Drop) -> None:
    drop.put("sysmon.txt", "figures")
    listed = seen(drop, "sysmon.txt")
    text = r"there is no room to copy sysmon\.txt: free some where /dev/full"
    with (
        opened(str(drop.folder)) as folder,
        Path("/dev/full").open("wb", buffering=0) as full,
        pytest.raises(Unreadable, match=text),
    ):
        folder.copy(listed, full)
