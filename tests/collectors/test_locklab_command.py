"""`manage.py locklab` as a person calls it."""

import io
from pathlib import Path

import pytest
from django.core.management import CommandError, call_command

from advisor.series.management.commands import locklab
from collectors.live import locklab as laboratory

SMALL = ("--processes", "1-2", "--seconds", "0.05", "--records", "4", "--repeat", "1")


class Terminal(io.StringIO):
    """Standard error as a terminal."""

    def isatty(self) -> bool:
        return True


def test_without_a_file_the_table_is_the_result() -> None:
    out, err = io.StringIO(), io.StringIO()
    call_command("locklab", *SMALL, stdout=out, stderr=err)
    lines = out.getvalue().splitlines()
    assert lines[0].startswith("# lockwright locklab: ")
    rows = [line.split(",")[:2] for line in lines if line.startswith(("coarse,", "fine,"))]
    assert rows == [["coarse", "1"], ["fine", "1"], ["coarse", "2"], ["fine", "2"]]
    assert err.getvalue() == ""


def test_with_a_file_the_next_command_is_the_result_and_no_file_is_overwritten(tmp_path: Path) -> None:
    out, file = io.StringIO(), tmp_path / "my run.csv"
    call_command("locklab", *SMALL, "--out", str(file), stdout=out)
    assert f"next:    manage.py audit '{file}'" in out.getvalue()
    assert file.read_text().startswith("# lockwright locklab: ")
    with pytest.raises(CommandError, match="is there already: name another file") as caught:
        call_command("locklab", *SMALL, "--out", str(file))
    assert caught.value.returncode == 2


@pytest.mark.parametrize(
    ("words", "says"),
    [
        (("--processes", "x"), "'x' processes: give numbers from 1 to 64, as 1-8 or 1,2,4"),
        (("--seconds", "0"), "0 s of measuring"),
        (("--records", "0"), "0 records"),
        (("--repeat", "99"), "99 runs of each"),
        (("--out", "nowhere/run.csv"), "make it first"),
    ],
)
def test_what_cannot_be_measured_is_said_with_status_2(words: tuple[str, str], says: str) -> None:
    with pytest.raises(CommandError, match=says) as caught:
        call_command("locklab", *words)
    assert caught.value.returncode == 2


def test_a_temporary_folder_without_room_is_said_with_status_2(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("tempfile.tempdir", "/nowhere at all")
    with pytest.raises(
        CommandError, match=r"could not be measured \(No such file or directory\): see that the"
    ) as caught:
        call_command("locklab", *SMALL)
    assert caught.value.returncode == 2


def test_ctrl_c_ends_with_the_status_of_ctrl_c_and_writes_nothing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def interrupted(*_: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(laboratory, "measure", interrupted)
    with pytest.raises(CommandError, match="interrupted: nothing was written") as caught:
        call_command("locklab", "--out", str(tmp_path / "run.csv"))
    assert caught.value.returncode == 130
    assert list(tmp_path.iterdir()) == []


def test_a_terminal_is_told_what_is_done_after_a_second_and_the_line_is_taken_away(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(locklab, "AFTER", -1.0)
    err = Terminal()
    call_command("locklab", *SMALL, stdout=io.StringIO(), stderr=err, no_color=True)
    assert "\r\x1b[Krun 4 of 4: fine, 2 processes …" in err.getvalue()
    assert err.getvalue().endswith("\r\x1b[K")
    monkeypatch.setattr(locklab, "AFTER", 1000.0)
    err = Terminal()
    call_command("locklab", *SMALL, stdout=io.StringIO(), stderr=err, no_color=True)
    assert err.getvalue() == ""
