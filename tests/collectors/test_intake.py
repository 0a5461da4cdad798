"""Files, folders, archives and pipes become streams; bombs and damage become messages."""

import gzip
import io
import os
import zipfile
from pathlib import Path

from collectors.intake import Bounds, Named, TooLarge, open_all

LISTING = b"some export\n"


def opened(*paths: Path | str, bounds: Bounds | None = None) -> list[tuple[str, bytes | str]]:
    """Name and content, or name and refusal."""
    return [content(named) for named in open_all([str(path) for path in paths], io.BytesIO(b"piped"), bounds)]


def content(named: Named) -> tuple[str, bytes | str]:
    if named.stream is None:
        return Path(named.name).name, named.refused or ""
    try:
        return Path(named.name).name, named.stream.read(1 << 30)
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
