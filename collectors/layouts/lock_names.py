"""What LOCK_ACTV.COM and LCKQUE.COM (KP_LOCKTOOLS) print alike: names of resources, what they decode, failed nodes."""

import re
from collections.abc import Sequence

from collectors.facts.openvms.resource_names import as_text, from_printed
from collectors.layouts import vms

NODE_LONGEST = 6
"""Characters of SCSNODE; both tools pad and cut to them."""
DECODED = re.compile(
    r"\s{0,64}(?:RMS lock tree for file \[|Files-11 (?:Volume Allocation|File Access Arbitration|File Serialization) "
    r"lock for |System ID Lock for node with SCSSYSTEMID |RMS bucket lock, on bucket |RMS record lock, on RFA |"
    r"RMS Global Buffer Section Lock for file \[|Can't find device |Error looking up File Number )"
)
"""Lines below a name: what the bytes say, and where the tool did not find a file."""
FILE = re.compile(r"\s{0,64}File specification: (?P<file>\S.{0,254})?")
FAILED = re.compile(r"Node (?P<node>[A-Z0-9$_]{1,15}) {0,15} data collection failed\.")
SYSMAN = re.compile(r"%SYSMAN-I-OUTPUT, command execution on node (?P<node>[A-Z0-9$_]{1,15})", re.IGNORECASE)
TIME = re.compile(rf"\s{{0,4}}(?P<at>{vms.MOMENT})\s*", re.IGNORECASE)


def name_of(digits: str, text: str) -> bytes | None:
    """A name printed twice, in digits and in ASCII; `None` where the two do not say the same: cut, or no name at all.

    Blanks at the end of the text may have been lost on the way, and a dot there stands for any byte: the digits have
    the name, and a copy may show more of it as dots than the tools do.
    """
    name = from_printed(digits)
    if name is None:
        return None
    shown, text = as_text(name).rstrip(), text.rstrip()
    same = len(text) == len(shown) and all(own in (there, ".") for own, there in zip(text, shown, strict=True))
    return name if same else None


def own_order(name: bytes) -> str:
    """As facts keep a name: hexadecimal, byte 1 first."""
    return name.hex().upper()


def of_whom(lines: Sequence[str]) -> str | None:
    """The node that SYSMAN names in the last of these lines that does."""
    found = next((one for line in reversed(lines) if (one := SYSMAN.match(line[:250]))), None)
    return found["node"].upper() if found else None
