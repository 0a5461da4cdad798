"""Measure record locking on this machine, or write the programs that measure an OpenVMS node, for the command line."""

import signal
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from types import FrameType

from collectors.live import locklab
from collectors.live.locklab import openvms
from collectors.live.registry import CollectorFailed

DEFAULT_SECONDS, DEFAULT_RECORDS = locklab.DEFAULT_SECONDS, locklab.DEFAULT_RECORDS
DEFAULT_REPEAT = locklab.DEFAULT_REPEAT
TERMINATED = 128 + signal.SIGTERM
"""The status shells give to what ends by SIGTERM."""


class NotMeasured(Exception):
    """Nothing was measured; says what is wrong and what to do."""


def measure(
    processes: str, seconds: float, records: int, repeat: int, out: Path | None, on_progress: Callable[[str], None]
) -> tuple[str, str]:
    """Measure, and give the text that `audit` reads; with `out` it is written there, too. Raises `NotMeasured`.

    The second text says what else ran meanwhile. No process and no other file is left, also where Ctrl-C or SIGTERM
    ends it.
    """
    if out and out.exists():
        raise NotMeasured(f"{out} is there already: name another file")
    if out and not out.absolute().parent.is_dir():
        raise NotMeasured(f"there is no folder {out.absolute().parent}: make it first")
    try:
        with _ended_by_sigterm():
            order = locklab.request_of(processes, seconds, records, repeat)
            measured = locklab.measure(order, on_progress)
    except CollectorFailed as error:
        raise NotMeasured(str(error)) from None
    text, others = locklab.text_of(measured), locklab.others_said(measured)
    if out:
        try:
            with out.open("x", encoding="utf-8") as file:
                file.write(text)
        except OSError as error:
            raise NotMeasured(f"{out} cannot be written ({error.strerror}): name another file with --out") from None
    return text, others


def procedure_for_openvms() -> str:
    """One DCL procedure that creates the programs which measure an OpenVMS node."""
    return openvms.one_procedure()


def write_for_openvms(folder: Path) -> tuple[str, ...]:
    """Write these programs into a folder, which is made, and give their names.

    Raises `NotMeasured`; no file is written over.
    """
    programs = openvms.programs()
    for name in programs:
        if (folder / name).exists():
            raise NotMeasured(f"{folder / name} is there already: name another folder")
    try:
        folder.mkdir(parents=True, exist_ok=True)
        for name, text in programs.items():
            with (folder / name).open("x", encoding="ascii", newline="\n") as file:
                file.write(text)
    except OSError as error:
        raise NotMeasured(f"{folder} cannot be written to ({error.strerror}): name another folder with --out") from None
    return tuple(programs)


@contextmanager
def _ended_by_sigterm() -> Iterator[None]:
    """Let SIGTERM end us as Ctrl-C does: by an exception that meets what ends our processes."""
    if threading.current_thread() is not threading.main_thread():
        yield
        return

    def end(_signal: int, _frame: FrameType | None) -> None:
        raise SystemExit(TERMINATED)

    before = signal.signal(signal.SIGTERM, end)
    try:
        yield
    finally:
        signal.signal(signal.SIGTERM, before)
