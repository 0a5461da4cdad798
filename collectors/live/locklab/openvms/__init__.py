"""The lock laboratory for OpenVMS: a C program and a DCL procedure that are taken to the node and run there.

They lie here as text, `LOCKLAB.C` and `LOCKLAB.COM`, and go out as they are. Nobody has run them on OpenVMS yet, and
they say so: the program was compiled and run against a stand-in for the system services, the procedure was only read by
checks. The table they print is read by `scaling/load_series`.
"""

from collections.abc import Mapping
from pathlib import Path

NAMES = ("LOCKLAB.C", "LOCKLAB.COM")


def programs() -> Mapping[str, str]:
    """The text of each file by its name, in the order in which they are needed."""
    folder = Path(__file__).parent
    return {name: (folder / name).read_text(encoding="ascii") for name in NAMES}


def one_procedure() -> str:
    """Both files in one DCL procedure that creates them in the current directory."""
    lines = [
        "$! Creates LOCKLAB.C and LOCKLAB.COM in this directory: Lockwright's lock laboratory, UNTRIED on OpenVMS."
    ]
    for name, text in programs().items():
        lines += [f"$ CREATE {name}", "$ DECK", *text.splitlines(), "$ EOD"]
    return "\n".join([*lines, "$ EXIT"]) + "\n"
