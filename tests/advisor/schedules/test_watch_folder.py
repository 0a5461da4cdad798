"""What appears in a drop folder is taken when it has settled, and once."""

import os
from datetime import timedelta
from pathlib import Path

import pytest
from pytest_django import DjangoAssertNumQueries, DjangoCaptureOnCommitCallbacks, Settings

from advisor.audits.models import Audit
from advisor.core.models import JournalEntry
from advisor.schedules.models import DropFile
from advisor.systems.models import System
from advisor.uploads.models import Upload
from advisor.uploads.services.storing import open_blob
from tests.advisor.people import STORIES, People
from tests.advisor.schedules.watch_folder import Drop, drop_files, make_drop, names_in

pytestmark = pytest.mark.postgres


@pytest.fixture
def drop(people: People, settings: Settings, tmp_path: Path) -> Drop:
    settings.DROP_FOLDERS = [tmp_path / "drop"]
    return make_drop(people.team, tmp_path / "drop" / "Claims")


def test_a_file_is_taken_when_two_looks_saw_it_unchanged_for_long_enough(drop: Drop) -> None:
    drop.put("sysmon.txt", "figures")
    assert (drop.look().taken, drop.look().taken) == (0, 0)
    early = drop.look(59)
    assert (early.taken, early.wait_seconds) == (0, 1.0)
    looked = drop.look(1)
    assert (looked.taken, looked.refused, looked.wait_seconds) == (1, [], None)
    upload = looked.uploads[0]
    assert (upload.team, upload.run, upload.origin, upload.by) == (drop.schedule.team, drop.run, "schedule", None)
    assert names_in(upload) == ["sysmon.txt"]
    blob = upload.files.get().blob
    assert blob is not None
    with open_blob(blob) as stream:
        assert stream.read() == b"figures"
    row = drop.row("sysmon.txt")
    assert (row.taken, row.upload) == (drop.now, upload)
    assert not JournalEntry.objects.exists(), "a fleet would flood it: the run tells"
    for later in (1, 60, 3600, 100_000):
        assert drop.look(later).taken == 0
    assert Upload.objects.count() == 1


def test_an_old_time_of_change_does_not_make_a_file_settled(drop: Drop) -> None:
    path = drop.put("sysmon.txt", "figures")
    os.utime(path, (1, 1))
    assert drop.look().taken == 0
    assert drop.look(60).taken == 1


def test_a_look_that_is_the_first_one_takes_nothing_even_without_a_time_to_settle(drop: Drop) -> None:
    drop.schedule.settle_seconds = 0
    drop.schedule.save()
    drop.put("sysmon.txt", "figures")
    first = drop.look()
    assert (first.taken, first.wait_seconds) == (0, 1.0)
    assert drop.look(1).taken == 1


def test_a_file_that_grows_is_waited_for(drop: Drop) -> None:
    path = drop.put("sysmon.txt", "half")
    drop.look()
    with path.open("a") as stream:
        stream.write(" and half")
    again = drop.look(60)
    assert (again.taken, again.wait_seconds) == (0, 60.0)
    assert drop.look(59).taken == 0
    assert drop.look(1).taken == 1
    assert Upload.objects.get().total_bytes == 13


def test_the_files_of_one_folder_come_as_one_upload(drop: Drop) -> None:
    drop.put("b.txt", "b")
    drop.put("a.txt", "a")
    drop.put("CLAIMS1/c.txt", "c")
    looked = drop.settle()
    assert looked.taken == 3
    assert [names_in(upload) for upload in looked.uploads] == [["a.txt", "b.txt"], ["c.txt"]]
    assert [path for path, taken, _ in drop_files() if taken] == ["CLAIMS1/c.txt", "a.txt", "b.txt"]


def test_what_lies_deeper_is_left(drop: Drop) -> None:
    drop.put("CLAIMS1/deep.txt", "x")
    (drop.folder / "CLAIMS1" / "deeper").mkdir()
    drop.put("CLAIMS1/deeper/x.txt", "x")
    assert drop.settle().taken == 1


def test_a_file_that_grows_holds_back_the_others_of_its_folder_for_ten_minutes_at_most(drop: Drop) -> None:
    drop.put("config.txt", "whole")
    drop.put("CLAIMS1/other.txt", "of another folder")
    path = drop.put("sysmon.txt", "0")
    drop.look()
    taken = []
    for minute in range(1, 14):
        path.write_text("x" * minute)
        looked = drop.look(60)
        taken += [(minute, *names_in(upload)) for upload in looked.uploads]
        assert looked.wait_seconds is not None
        assert 1 <= looked.wait_seconds <= 60
    assert taken == [(1, "other.txt"), (11, "config.txt")]
    assert [names_in(upload) for upload in drop.look(60).uploads] == [["sysmon.txt"]]


def test_a_file_that_is_written_anew_is_taken_again(drop: Drop) -> None:
    drop.put("sysmon.txt", "ten o'clock")
    first = drop.settle().uploads[0]
    drop.put("sysmon.txt", "eleven o'clock")
    assert drop.look(3600).taken == 0
    second = drop.look(60).uploads[0]
    assert (first.total_bytes, second.total_bytes) == (11, 14)
    assert drop.row("sysmon.txt").upload == second


def test_a_file_that_another_one_took_the_place_of_is_seen_by_its_inode(drop: Drop) -> None:
    path = drop.put("sysmon.txt", "first")
    drop.settle()
    stamp = path.stat()
    other = drop.put("sysmon.txt.tmp", "other")
    os.utime(other, ns=(stamp.st_atime_ns, stamp.st_mtime_ns))
    other.rename(path)
    assert (path.stat().st_size, path.stat().st_mtime_ns) == (stamp.st_size, stamp.st_mtime_ns)
    assert drop.look(3600).taken == 0
    assert drop.look(60).taken == 1
    assert Upload.objects.count() == 2


def test_a_file_that_was_only_touched_is_not_brought_again(drop: Drop) -> None:
    drop.put("old.txt", "old")
    path = drop.put("sysmon.txt", "figures")
    upload = drop.settle().uploads[0]
    os.utime(path, (5, 5))
    drop.put("new.txt", "new")
    drop.look(60)
    looked = drop.look(60)
    assert (looked.taken, [names_in(one) for one in looked.uploads]) == (1, [["new.txt"]])
    row = drop.row("sysmon.txt")
    assert (row.taken, row.upload) == (drop.now, upload)


def test_the_same_files_as_before_are_the_upload_of_then(drop: Drop) -> None:
    path = drop.put("sysmon.txt", "figures")
    first = drop.settle().uploads[0]
    run = drop.run
    path.rename(drop.folder / "renamed.txt")
    drop.look(60)
    looked = drop.look(60)
    assert looked.uploads == [first]
    assert looked.uploads[0].run == run != drop.run
    assert drop.row("renamed.txt").taken


def test_a_file_that_goes_before_it_was_taken_is_nobodys_loss(drop: Drop) -> None:
    path = drop.put("sysmon.txt", "figures")
    drop.look()
    path.unlink()
    looked = drop.look(60)
    assert (looked.taken, looked.refused, looked.wait_seconds) == (0, [], None)
    drop.put("sysmon.txt", "figures")
    assert drop.look(1).taken == 0
    assert drop.look(60).taken == 1


def test_a_folder_that_was_empty_for_a_while_brings_nothing_twice(drop: Drop) -> None:
    drop.put("sysmon.txt", "figures")
    drop.settle()
    away = drop.folder.parent / "unmounted"
    drop.folder.rename(away)
    drop.folder.mkdir()
    empty = drop.look(3600)
    assert (empty.taken, empty.refused, empty.wait_seconds) == (0, [], None)
    drop.folder.rmdir()
    away.rename(drop.folder)
    assert (drop.look(3600).taken, drop.look(60).taken) == (0, 0)


def test_a_clock_set_back_neither_takes_early_nor_waits_for_ever(drop: Drop) -> None:
    drop.put("sysmon.txt", "figures")
    drop.look()
    back = drop.look(-7200)
    assert (back.taken, back.wait_seconds) == (0, 60.0)
    assert drop.look(59).taken == 0
    assert drop.look(1).taken == 1
    assert drop.look(-7200).taken == 0
    assert drop.look(60).taken == 0


def test_a_file_is_seen_though_not_written_at_each_look(
    drop: Drop, django_assert_max_num_queries: DjangoAssertNumQueries
) -> None:
    for number in range(60):
        drop.put(f"SYS{number % 20}/{number}.txt", f"{number}")
    assert drop.settle().taken == 60
    with django_assert_max_num_queries(5):
        drop.look(60)
    assert set(DropFile.objects.values_list("seen", flat=True)) == {drop.now - timedelta(seconds=120)}
    drop.look(13 * 3600)
    assert set(DropFile.objects.values_list("seen", flat=True)) == {drop.now}


def test_a_run_waits_no_longer_than_an_hour_and_says_for_what(drop: Drop) -> None:
    path = drop.put("log.txt", "0")
    drop.look()
    created = drop.now
    path.write_text("more")
    assert drop.look(3650, created=created).wait_seconds == 60.0
    path.write_text("still more")
    looked = drop.look(11, created=created)
    assert looked.wait_seconds is None
    assert looked.refused == ["log.txt keeps changing: it is taken when it has not for 60 s"]
    assert drop.row("log.txt").refused == ""


def test_a_long_time_to_settle_is_waited_for_in_steps(drop: Drop) -> None:
    drop.schedule.settle_seconds = 7200
    drop.schedule.save()
    drop.put("sysmon.txt", "figures")
    created = drop.now
    assert drop.look().wait_seconds == 3600.0
    assert drop.look(3601, created=created).wait_seconds == 3599.0
    assert drop.look(3599, created=created).taken == 1


def test_a_run_that_comes_to_its_first_look_late_waits_as_others_do(drop: Drop) -> None:
    drop.put("log.txt", "0")
    assert drop.look(created=drop.now - timedelta(hours=9)).wait_seconds == 60.0
    drop.put("log.txt", "of the next day")
    assert drop.look(100_000, created=drop.now + timedelta(hours=1)).wait_seconds == 60.0


def test_a_run_does_not_wait_where_the_schedule_is_due_before(drop: Drop) -> None:
    drop.schedule.next_due = drop.now + timedelta(seconds=50)
    drop.schedule.save()
    drop.put("sysmon.txt", "figures")
    assert drop.look().wait_seconds is None
    drop.schedule.next_due = drop.now + timedelta(seconds=70)
    drop.schedule.save()
    assert drop.look(1).wait_seconds == 59.0


def test_a_subfolder_named_like_a_system_speaks_for_it(drop: Drop, people: People) -> None:
    for name in ("CLAIMS1", "PROD/2", "A B", "A-B"):
        System.objects.create(team=people.team, product="ase", name=name, key=name.upper())
    System.objects.create(team=people.other_team, product="ase", name="SECRET", key="SECRET")
    folders = ("", "claims1", "Prod-2", "A B", "a-b", "SECRET", "unknown")
    for folder in folders:
        drop.put(f"{folder}/config.txt".lstrip("/"), f"of {folder}")
    looked = drop.settle()
    of_folder = dict(zip(sorted(folders), (upload.system_name for upload in looked.uploads), strict=True))
    assert of_folder == {
        "": "",
        "claims1": "CLAIMS1",
        "Prod-2": "PROD/2",
        "A B": "A B",
        "a-b": "A-B",
        "SECRET": "",
        "unknown": "",
    }


def test_a_schedule_of_one_system_brings_all_for_it(drop: Drop, people: People) -> None:
    system = System.objects.create(team=people.team, product="ase", name="CLAIMS1", key="CLAIMS1")
    System.objects.create(team=people.team, product="ase", name="OTHER", key="OTHER")
    drop.schedule.system = system
    drop.schedule.save()
    drop.put("config.txt", "of one")
    drop.put("OTHER/config.txt", "of another folder")
    assert [upload.system_name for upload in drop.settle().uploads] == ["CLAIMS1", "CLAIMS1"]


def test_a_story_that_is_dropped_is_audited(
    drop: Drop, django_capture_on_commit_callbacks: DjangoCaptureOnCommitCallbacks
) -> None:
    for path in (STORIES / "address_lock_storm").glob("*.txt"):
        drop.put(path.name, path.read_bytes())
    with django_capture_on_commit_callbacks(execute=True):
        assert drop.settle().taken == 3
    assert System.objects.get().name == "CLAIMS1"
    assert Audit.objects.get().capture.upload == Upload.objects.get()
    assert Upload.objects.get().state == "done"
