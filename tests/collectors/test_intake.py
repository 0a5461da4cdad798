"""Files, folders, archives and pipes become streams; bombs and damage become messages."""

import gzip
import io
import os
import zipfile
from pathlib import Path

import pytest

from collectors.intake import Bounds, Named, TooLarge, open_all
from collectors.read import read_stream

LISTING = b"some export\n"


def opened(*paths: Path | str, bounds: Bounds | None = None) -> list[tuple[str, bytes | str]]:
    """Name and content, or name and refusal."""
    return [content(named) for named in open_all([str(path) for path in paths], io.BytesIO(b"piped"), bounds)]


def content(named: Named) -> tuple[str, bytes | str]:
    if named.stream is None:
        return Path(named.name).name, named.refused or ""
    data = b""
    try:
        while piece := named.stream.read(1 << 20):
            data += piece
        return Path(named.name).name, data
    except TooLarge as error:
        return Path(named.name).name, str(error)


def test_a_file_a_folder_and_a_pipe(tmp_path: Path) -> None:
    (tmp_path / "deep").mkdir()
    (tmp_path / "deep" / "b.txt").write_bytes(b"b")
    (tmp_path / "a.txt").write_bytes(b"a")
    (tmp_path / ".hidden").write_bytes(b"h")
    assert opened(tmp_path) == [("a.txt", b"a"), ("b.txt", b"b")]
    assert opened("-") == [("-", b"piped")]


def test_archives_are_known_by_their_bytes_not_their_names(tmp_path: Path) -> None:
    (tmp_path / "x.txt").write_bytes(gzip.compress(LISTING))
    with zipfile.ZipFile(tmp_path / "y.dat", "w") as archive:
        archive.writestr("in/one.txt", LISTING)
        archive.writestr("two.csv.gz", gzip.compress(b"two"))
    assert opened(tmp_path / "x.txt") == [("x.txt", LISTING)]
    assert opened(tmp_path / "y.dat") == [("one.txt", LISTING), ("two.csv.gz", b"two")]


def test_a_zip_bomb_is_refused_before_it_fills_memory(tmp_path: Path) -> None:
    with zipfile.ZipFile(tmp_path / "bomb.zip", "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("zeros.txt", b"0" * (40 << 20))
    ((name, why),) = opened(tmp_path / "bomb.zip")
    assert name == "zeros.txt"
    assert "250 times its size" in str(why)


def test_a_gzip_bomb_is_refused_too(tmp_path: Path) -> None:
    (tmp_path / "bomb.gz").write_bytes(gzip.compress(b"0" * (40 << 20)))
    assert "250 times its size" in str(opened(tmp_path / "bomb.gz")[0][1])


def test_a_zip_that_says_it_is_too_large_is_not_opened(tmp_path: Path) -> None:
    with zipfile.ZipFile(tmp_path / "big.zip", "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("a", b"0" * (2 << 20))
    assert "more than 1 MB" in str(opened(tmp_path / "big.zip", bounds=Bounds(unpacked_mb=1))[0][1])


def test_too_many_files_in_a_zip_or_a_folder(tmp_path: Path) -> None:
    with zipfile.ZipFile(tmp_path / "many.zip", "w") as archive:
        for number in range(4):
            archive.writestr(str(number), b"")
    assert "more than 3 files" in str(opened(tmp_path / "many.zip", bounds=Bounds(files=3))[0][1])
    folder = tmp_path / "folder"
    folder.mkdir()
    for number in range(4):
        (folder / str(number)).write_bytes(b"x")
    assert "more than 3 files" in str(opened(folder, bounds=Bounds(files=3))[-1][1])


def test_damaged_encrypted_and_empty_archives_say_so(tmp_path: Path) -> None:
    (tmp_path / "cut.zip").write_bytes(b"PK\x03\x04 cut off")
    with zipfile.ZipFile(tmp_path / "empty.zip", "w"):
        pass
    assert "damaged zip" in str(opened(tmp_path / "cut.zip")[0][1])
    assert "empty zip" in str(opened(tmp_path / "empty.zip")[0][1])


def test_what_is_not_there_or_no_file_is_named(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe")
    (tmp_path / "empty").mkdir()
    assert "cannot be read" in str(opened(tmp_path / "nowhere")[0][1])
    assert "not a file" in str(opened(tmp_path / "pipe")[0][1])
    assert "empty folder" in str(opened(tmp_path / "empty")[0][1])


def test_a_damaged_member_of_any_compression_costs_only_itself(tmp_path: Path) -> None:
    for method in (zipfile.ZIP_DEFLATED, zipfile.ZIP_BZIP2, zipfile.ZIP_LZMA):
        path = tmp_path / f"{method}.zip"
        with zipfile.ZipFile(path, "w", method) as archive:
            archive.writestr("one.txt", os.urandom(4000))
        damaged = bytearray(path.read_bytes())
        damaged[45:90] = b"\xff" * 45
        path.write_bytes(damaged)
        for named in open_all([str(path)], io.BytesIO()):
            found = read_stream(named.name, named.stream) if named.stream else []
            assert named.refused or found[0].problems


def test_what_came_before_the_damage_of_a_gzip_is_kept(tmp_path: Path) -> None:
    (tmp_path / "junk.gz").write_bytes(gzip.compress(LISTING) + b"junk behind it")
    streams = open_all([str(tmp_path / "junk.gz")], io.BytesIO())
    named = next(streams)
    assert named.stream is not None
    assert named.stream.read(1 << 18) == LISTING


def test_everything_in_a_folder_that_is_not_read_is_named(tmp_path: Path) -> None:
    (tmp_path / "broken").symlink_to(tmp_path / "nowhere")
    (tmp_path / "loop").symlink_to(tmp_path)
    os.mkfifo(tmp_path / "pipe")
    assert opened(tmp_path) == [("broken", "a link to nothing"), ("pipe", "not a file or folder")]
    hidden = tmp_path / "hidden"
    hidden.mkdir()
    (hidden / ".x").write_bytes(b"")
    assert opened(hidden) == [("hidden", "nothing but hidden files")]


def test_an_empty_path_is_not_the_current_folder() -> None:
    assert "empty path" in str(opened("")[0][1])


def test_standard_input_may_be_gzip_and_says_what_to_do_with_a_zip() -> None:
    def piped(data: bytes) -> Named:
        (named,) = open_all(["-"], io.BufferedReader(io.BytesIO(data)))
        return named

    assert content(piped(gzip.compress(LISTING)))[1] == LISTING
    assert "name the file" in str(piped(b"PK\x03\x04").refused)
    assert content(piped(LISTING))[1] == LISTING


def test_two_members_of_one_name_are_told_apart(tmp_path: Path) -> None:
    with zipfile.ZipFile(tmp_path / "two.zip", "w") as archive:
        archive.writestr("a.txt", b"first")
        with pytest.warns(UserWarning, match="Duplicate"):
            archive.writestr("a.txt", b"second")
    assert [name for name, _ in opened(tmp_path / "two.zip")] == ["a.txt", "a.txt#2"]


def test_a_name_that_is_no_text_can_still_be_printed(tmp_path: Path) -> None:
    (tmp_path / os.fsdecode(b"\xff\xfe.txt")).write_bytes(LISTING)
    ((name, data),) = opened(tmp_path)
    assert name.encode("utf-8")
    assert data == LISTING


def test_the_story_of_an_example_is_no_export(tmp_path: Path) -> None:
    """A DBA who audits an example's folder is not told of files that the product itself put there."""
    for name in ("story.yml", "verdicts.yml", "sysmon.txt"):
        (tmp_path / name).write_text("x")
    assert [one.name for one in open_all([str(tmp_path)], io.BytesIO())] == [str(tmp_path / "sysmon.txt")]
    (tmp_path / "verdicts.yml").unlink()  # somebody's own file of that name is told as any other
    names = [one.name for one in open_all([str(tmp_path)], io.BytesIO())]
    assert names == [str(tmp_path / "story.yml"), str(tmp_path / "sysmon.txt")]
