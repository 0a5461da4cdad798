"""How a database is named: by its root file, however an export writes it.

Two of one name in two directories are two databases; a name without a directory stands for the one root file of that
name there is.
"""

import re

VERSION = re.compile(r";-?[0-9]*$")
FILE_NAME = re.compile(r"([^\]>:]+?)(?:\.[A-Z0-9$_-]{0,39})?$")
DEVICE = re.compile(r"_?(?:\$[0-9]+\$|(?!DISK\$)[A-Z0-9]+\$)?[A-Z]{3}[0-9]+$")
"""`$1$DGA12`, `NODEA$DKB200`, `DSA7`: a device, not a logical name."""


WITHOUT_TYPE = re.compile(r".*[\]>][^\]>:.]+$", re.DOTALL)
"""A directory with a file name that has no type. A name without a directory may be a logical one, and has none."""
TYPE = ".RDB"
"""Vendor: RMU help (7.2), Backup, Database, Parameters: the default file extension of a root file."""


def root_key(root: str) -> str:
    """What one root file is known by, however it was written: capitals, without its version number and quotes.

    `DISK$DB:[PAY]PAYROLL`, as it stands in a command, is `DISK$DB:[PAY]PAYROLL.RDB`, which RMU opens by it.
    """
    key = VERSION.sub("", root.strip(" \"'").upper())
    return f"{key}{TYPE}" if WITHOUT_TYPE.match(key) else key


def short_name(root: str) -> str:
    """`DISK$DB:[PAY]PAYROLL.RDB;1` → `PAYROLL`; what does not look like a file is kept."""
    found = FILE_NAME.search(root_key(root))
    return found[1].strip() if found and found[1].strip() else root.strip()


def is_whole(root: str) -> bool:
    """Whether a root file is written with its directory."""
    return "[" in root or "<" in root


def path_of(root: str) -> str:
    """What of a root file's name stands behind its disk."""
    return root_key(root).partition(":")[2]


def may_be_one(one: str, other: str) -> bool:
    """Whether two root files differ in the name of their disk alone, and one of these may stand for the other.

    Two devices are two disks; a logical name, `DISK$` and a volume label for one, may be any.
    """
    names = [root_key(root).partition(":") for root in (one, other)]
    (disk, _, path), (other_disk, _, other_path) = names
    return path == other_path != "" and disk != other_disk and not (DEVICE.match(disk) and DEVICE.match(other_disk))


def by_device(one: str, other: str) -> bool:
    """Whether two root files differ in their disk alone, a device for one and a logical name for the other.

    A monitor prints a device where no logical name of its node stands for it, so nodes may print one disk both ways.
    """
    devices = [bool(DEVICE.match(root_key(root).partition(":")[0])) for root in (one, other)]
    return may_be_one(one, other) and any(devices)
