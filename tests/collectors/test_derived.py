"""What follows from source files is kept beside their bytecode, and worked out anew when one of them changes."""

import importlib.util
import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from collectors import registry
from collectors.derived import derived


class Made:
    """Counts how often it was worked out."""

    times = 0

    def __call__(self) -> list[int]:
        self.times += 1
        return [self.times]


@pytest.fixture
def package(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A package with one module, and a folder of its own for what is kept."""
    monkeypatch.setattr(sys, "dont_write_bytecode", False)
    monkeypatch.setattr(sys, "pycache_prefix", str(tmp_path / "kept"))
    folder = tmp_path / "package"
    (folder / "inner").mkdir(parents=True)
    (folder / "inner" / "one.py").write_text("1\n")
    return folder


def test_it_is_worked_out_once_while_no_source_changes(package: Path) -> None:
    make = Made()
    assert [derived("sums", str(package), make) for _ in range(3)] == [[1]] * 3


@pytest.mark.parametrize("change", ["added", "changed", "touched", "taken away"])
def test_it_is_worked_out_anew_when_a_source_changes(package: Path, change: str) -> None:
    make, one = Made(), package / "inner" / "one.py"
    derived("sums", str(package), make)
    if change == "added":
        (package / "inner" / "two.py").write_text("2\n")
    elif change == "changed":
        one.write_text("12\n")
    elif change == "touched":
        os.utime(one, ns=(1, one.stat().st_mtime_ns + 1))
    else:
        one.unlink()
    assert derived("sums", str(package), make) == [2]
    assert derived("sums", str(package), make) == [2]


@pytest.mark.parametrize("damage", ["", "{", "[]", '{"sources": []}'])
def test_what_was_kept_and_is_damaged_is_worked_out_anew(package: Path, damage: str, tmp_path: Path) -> None:
    make = Made()
    derived("sums", str(package), make)
    (kept,) = (tmp_path / "kept").rglob("sums*.json")
    kept.write_text(damage)
    assert derived("sums", str(package), make) == [2]
    assert json.loads(kept.read_text())["value"] == [2]


def test_nothing_is_kept_where_no_bytecode_is(package: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "dont_write_bytecode", True)
    make = Made()
    assert [derived("sums", str(package), make) for _ in range(2)] == [[1], [2]]
    assert not (tmp_path / "kept").exists()


def test_what_is_kept_of_the_readers_is_what_they_declare() -> None:
    """Each kind's signs, from the file if there is one, beside those that the loaded reader gives."""
    assert json.loads(json.dumps(registry._signs())) == json.loads(json.dumps(registry._signs_of_files()))
    for kind in registry.kinds():
        assert importlib.util.find_spec(registry._module(kind.id)), "a kind is registered by the module of its id"


def test_a_line_loads_the_readers_that_may_start_on_it_alone() -> None:
    say = (
        "import sys; from collectors.registry import starting; "
        "print([kind.id for kind in starting('Sybase Adaptive Server Enterprise System Performance Report')]); "
        "print(sorted({name.split('.')[3] for name in sys.modules if name.startswith('collectors.reports.ase.')}))"
    )
    code = f"{say}; print([name for name in sys.modules if name.startswith('collectors.reports.openvms.')])"
    subprocess.run([sys.executable, "-c", "import collectors.registry as r; r._signs()"], check=True)
    told = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    if not sys.dont_write_bytecode:
        assert told.stdout.splitlines() == ["['ase/sp_sysmon']", "['sp_sysmon']", "[]"]
