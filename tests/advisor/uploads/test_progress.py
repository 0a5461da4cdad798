"""A sign of life on a terminal, once work takes over a second; not a byte anywhere else."""

import io
from typing import Any

import pytest

from advisor.uploads.command import Progress

pytestmark = pytest.mark.postgres


class Terminal(io.StringIO):
    tty = True

    def isatty(self) -> bool:
        return self.tty

    def write(self, text: str, ending: str = "\n") -> int:
        return super().write(text + ending)


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> dict[str, float]:
    now = {"now": 100.0}
    monkeypatch.setattr("advisor.uploads.command.time.monotonic", lambda: now["now"])
    return now


def test_nothing_within_the_first_second_then_a_line_that_is_taken_away(clock: dict[str, float]) -> None:
    terminal: Any = Terminal()
    progress = Progress(terminal)
    progress.on_progress("a.csv", 3_000_000)
    assert terminal.getvalue() == ""
    clock["now"] += 1.5
    progress.on_progress("a.csv", 2_000_000)
    assert "5.0 MB of a.csv" in terminal.getvalue()
    progress.clear()
    assert terminal.getvalue().endswith("\r\x1b[K")


def test_not_more_than_a_few_lines_a_second_and_names_cannot_steer(clock: dict[str, float]) -> None:
    terminal: Any = Terminal()
    progress = Progress(terminal)
    clock["now"] += 2
    for _ in range(1000):
        progress.on_progress("evil\x1b[31m", 10)
    assert terminal.getvalue().count("MB of") == 1
    assert "\x1b[31m" not in terminal.getvalue()


def test_nothing_where_no_terminal_is(clock: dict[str, float]) -> None:
    pipe: Any = Terminal()
    pipe.tty = False
    progress = Progress(pipe)
    clock["now"] += 60
    progress.on_progress("a.csv", 1)
    progress.clear()
    assert pipe.getvalue() == ""
