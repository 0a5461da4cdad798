"""What the System Dump Analyzer's outputs have in common: echoed commands, the node, hexadecimal numbers.

SDA prints no trailer: an output ends where the next command is echoed at the `SDA>` prompt, or with the file. DCL lets
words be shortened, so commands are compared by how their words begin.
"""

import re
from collections.abc import Sequence
from functools import lru_cache

from collectors.facts.base import ABSENT, Reading
from collectors.layouts.known_lines import known_lines

COMMAND = re.compile(r"\s{0,8}SDA ?> {0,4}(?P<command>\S.{0,250})", re.IGNORECASE)
"""A line with a command behind the prompt."""
NODE = re.compile(r"\b[Nn]ode(?: name)?:? +(?P<node>[A-Z][A-Z0-9_]{1,7})(?![\w$])")
"""SCSNODE has six characters at most; two more are let pass for names that were replaced."""
HEX = re.compile(r"(?:[0-9A-F]{8}\.)?[0-9A-F]{1,16}", re.IGNORECASE)
ADDRESS = re.compile(r"(?:[0-9A-F]{8}\.[0-9A-F]{8}|[0-9A-F]{16}|[0-9A-F]{8})", re.IGNORECASE)
"""An address as SDA prints it: 8 or 16 digits, the long ones possibly with a point in the middle."""
QUALIFIER = re.compile(r"/\s?([A-Z_]{1,32})(?:\s?=\s?(\([^()]{0,120}\)|[^\s/]{1,60}))?")


def command_of(line: str) -> str | None:
    """The command echoed on this line, in capitals and with single blanks; `None` for any other line."""
    return _command(line) if ">" in line else None


@known_lines
def _command(line: str) -> str | None:
    found = COMMAND.match(line)
    return " ".join(found["command"].upper().split()) if found else None


@lru_cache(maxsize=4096)
def is_command(command: str, *words: str) -> bool:
    """Whether a command begins with these words, each at least as long as given: `SPL`, `SH` is `SPL SHOW` too."""
    said = re.sub(r"/\S*", " ", command).split()
    return len(said) >= len(words) and all(one.startswith(word) for one, word in zip(said, words, strict=False))


def qualifiers(command: str) -> dict[str, str]:
    """The qualifiers of a command with what stands behind their `=`, without its brackets."""
    return {name: (value or "").strip("() ") for name, value in QUALIFIER.findall(command)}


@lru_cache(maxsize=4096)
def has(command: str, name: str, least: int = 2) -> bool:
    """Whether a command has this qualifier, written out or shortened to no fewer than `least` letters."""
    return any(len(one) >= least and name.startswith(one) for one in qualifiers(command))


def node_in(lines: Sequence[str]) -> str | None:
    """The one node that these lines name (`node ORKNEY`), echoed commands left out; `None` where they name several."""
    said = [line for line in lines if len(line) <= 250 and not COMMAND.match(line)]
    names = {found["node"] for line in said for found in NODE.finditer(line)}
    return names.pop() if len(names) == 1 else None


def hexadecimal(text: str) -> Reading:
    """Read a number that SDA prints in hexadecimal: `002DC60`, `FFFFFFFF.8140B3C0`; anything else is absent."""
    text = text.strip()
    return float(int(text.replace(".", ""), 16)) if HEX.fullmatch(text) else ABSENT
