"""How a database is named: by its root file, however an export writes it.

Two of one name in two directories are two databases; a name without a directory stands for the one root file of that
name there is.
"""

import re

VERSION = re.compile(r";-?[0-9]*$")
FILE_NAME = re.compile(r"([^\]>:]+?)(?:\.[A-Z0-9$_-]{0,39})?$")


def root_key(root: str) -> str:
    """What one root file is known by, however it was written: capitals, without its version number and quotes."""
    return VERSION.sub("", root.strip(" \"'").upper())


def short_name(root: str) -> str:
    """`DISK$DB:[PAY]PAYROLL.RDB;1` → `PAYROLL`; what does not look like a file is kept."""
    found = FILE_NAME.search(root_key(root))
    return found[1].strip() if found and found[1].strip() else root.strip()


def is_whole(root: str) -> bool:
    """Whether a root file is written with its directory."""
    return "[" in root or "<" in root
