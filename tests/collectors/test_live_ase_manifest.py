"""Files that were collected are held against their checksums: what was changed since is not read."""

import io
import json
import zipfile
from pathlib import Path

import pytest

from collectors import manifest
from collectors.intake import open_all
from collectors.live.ase import pack

TEXT = {"server.txt": b"LARCH\n", "snapshot-1.txt": b"rows\n" * 1000}


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """What a collection leaves: files and their manifest."""
    place = tmp_path / "collected"
    place.mkdir()
    for name, text in TEXT.items():
        (place / name).write_bytes(text)
    files = [{"file": name, "sha256": manifest.of_file(place / name)} for name in TEXT]
    data = {"format": manifest.FORMAT, "product": "ase", "server": "LARCH", "files": files}
    (place / manifest.NAME).write_bytes(manifest.written(data))
    return place


def refused(path: Path) -> dict[str, str]:
    """What is not read, and why."""
    found = {}
    for named in open_all([str(path)], io.BytesIO()):
        if named.refused:
            found[Path(named.name).name] = named.refused
        else:
            assert named.stream is not None
            assert named.stream.read(1 << 20)
    return found


def zipped(folder: Path, inside: str = "") -> Path:
    """The folder as a zip, perhaps in a folder of its own."""
    path = folder.parent / "collected.zip"
    with zipfile.ZipFile(path, "w") as archive:
        for file in sorted(folder.iterdir()):
            archive.write(file, f"{inside}{file.name}")
    return path


def test_what_is_as_it_was_collected_is_read(folder: Path) -> None:
    pack(folder, folder.parent / "packed.zip")
    assert refused(folder) == refused(folder.parent / "packed.zip") == refused(zipped(folder, "in/a folder/")) == {}


def test_a_zip_holds_the_manifest_first_and_nothing_of_this_machine(folder: Path) -> None:
    pack(folder, folder.parent / "packed.zip")
    with zipfile.ZipFile(folder.parent / "packed.zip") as archive:
        assert archive.namelist() == [manifest.NAME, *TEXT]
        assert {one.date_time for one in archive.infolist()} == {(1980, 1, 1, 0, 0, 0)}
    with pytest.raises(FileExistsError):
        pack(folder, folder.parent / "packed.zip")


@pytest.mark.parametrize("inside", ["", "in/"])
def test_a_file_that_was_changed_is_refused_with_the_remedy(folder: Path, inside: str) -> None:
    with (folder / "server.txt").open("ab") as stream:
        stream.write(b"one more line\n")
    assert refused(folder) == refused(zipped(folder, inside)) == {"server.txt": manifest.CHANGED}
    assert refused(folder / "server.txt") == {"server.txt": manifest.CHANGED}
    (folder / manifest.NAME).unlink()
    assert refused(folder) == refused(zipped(folder, inside)) == {}


@pytest.mark.parametrize("inside", ["", "in/"])
def test_a_file_that_is_gone_is_missed(folder: Path, inside: str) -> None:
    (folder / "snapshot-1.txt").unlink()
    assert refused(folder) == refused(zipped(folder, inside)) == {"snapshot-1.txt": manifest.GONE}


def test_a_manifest_that_is_changed_meanwhile_is_read_anew(folder: Path) -> None:
    assert refused(folder) == {}
    text = (folder / manifest.NAME).read_text()
    (folder / manifest.NAME).write_text(text.replace(manifest.of_file(folder / "server.txt"), "0" * 64 + " "))
    assert refused(folder) == {"server.txt": manifest.CHANGED}


def test_files_beside_it_that_it_does_not_know_are_read(folder: Path) -> None:
    (folder / "notes.txt").write_bytes(b"busy hour\n")
    assert refused(folder) == refused(zipped(folder)) == {}


@pytest.mark.parametrize(
    "text",
    [
        b'{"files": [{"file": "server.txt", "sha256": "00"}]}',
        b'{"format": "lockwright-collected/1",',
        b'{"format": "lockwright-collected/1", "files": {"file": 1}}',
        b'{"format": "lockwright-collected/1", "files": [1, {"file": "server.txt"}]}',
        b'{"format": "lockwright-collected/1", "files": ' + b"[" * 100_000,
        b'{"format": "lockwright-collected/1", "files": [{"file": "../outside.txt", "sha256": "00"}]}',
    ],
)
def test_a_manifest_of_others_or_a_damaged_one_holds_nothing_back(folder: Path, text: bytes) -> None:
    (folder.parent / "outside.txt").write_bytes(b"x")
    (folder / manifest.NAME).write_bytes(text)
    assert refused(folder) == {}


def test_a_manifest_begins_with_its_format_and_is_json() -> None:
    text = manifest.written({"format": manifest.FORMAT, "files": []})
    assert text.startswith(manifest.FIRST_LINE.encode())
    assert json.loads(text) == {"format": manifest.FORMAT, "files": []}


def test_a_zip_holds_what_was_collected_and_nothing_a_driver_left_there(folder: Path) -> None:
    (folder / "freetds.log").write_text("what was sent")
    path = folder.parent / "packed.zip"
    pack(folder, path)
    assert zipfile.ZipFile(path).namelist() == [manifest.NAME, *sorted(TEXT)]


def test_a_zip_that_could_not_be_written_to_its_end_is_not_left_behind(folder: Path) -> None:
    (folder / "server.txt").unlink()
    path = folder.parent / "packed.zip"
    with pytest.raises(FileNotFoundError):
        pack(folder, path)
    assert not path.exists()
    path.write_text("of somebody")
    with pytest.raises(FileExistsError):
        pack(folder, path)
    assert path.read_text() == "of somebody"


def test_a_manifest_of_very_many_names_does_not_become_as_many_exports(folder: Path) -> None:
    names = [*(f"f{number:05}" for number in range(20_000)), "..", "a/b", "a\nb", "n\0ul", "e\x1b[2J"]
    files = [{"file": name, "sha256": "0" * 64} for name in names]
    (folder / manifest.NAME).write_bytes(manifest.written({"format": manifest.FORMAT, "files": files}))
    for path in (folder, zipped(folder)):
        found = [named for named in open_all([str(path)], io.BytesIO()) if named.refused]
        assert len(found) == 101
        assert (found[-1].refused or "").startswith("19,900 more files are named in manifest.json, but not there")
        assert all(named.name.isprintable() for named in found)
