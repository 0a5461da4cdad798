"""What is asked of an ASE, read from `questions.sql`: the file that a DBA reads before they grant access."""

import functools
import re
from dataclasses import dataclass
from pathlib import Path

FILE = Path(__file__).with_name("questions.sql")
FIELD = re.compile(r"-- (question|why|since|needs|switches|only|cost|seconds|when|file): (.+)")
WHEN = ("connect", "first", "once", "snapshot", "sample", "last", "database", "sysmon")
TOP = re.compile(r"\Aselect top ([0-9]+) ")
TABLE = re.compile(r"\bmaster\.\.(mon[A-Za-z]+|sysusages)")
SECONDS = 30.0
"""A question has so long to be answered, unless the file gives it more."""
Release = tuple[int, ...]
"""Major and minor number; then, of what came within a release, service pack and patch level: `(16, 0, 3, 8)`."""
RELEASE = re.compile(r"([0-9]{2})\.([0-9]{1,2})(?: SP([0-9]{1,3}))?(?: PL([0-9]{1,3}))?")


@dataclass(frozen=True)
class Question:
    """One question of the file."""

    name: str
    sql: str
    why: str
    since: Release
    cost: str
    when: str
    """See `WHEN` and the head of the file."""
    needs: tuple[str, ...] = ()
    """Roles."""
    switches: tuple[str, ...] = ()
    """Configuration parameters that must be on for the answer to say something."""
    only: tuple[str, ...] = ()
    """Configuration parameters without which it is not asked, and which nobody is told to set for it."""
    file: str = ""
    """Where the answer is written; empty: with those of the snapshot, or nowhere."""
    seconds: float = SECONDS
    """How long the server may take for the whole answer."""

    @property
    def most_rows(self) -> int | None:
        """The bound that the statement sets."""
        found = TOP.match(self.sql)
        return int(found[1]) if found else None

    @property
    def table(self) -> str:
        """The table it asks whose rows are read with those of monitoring tables; empty: none."""
        found = TABLE.search(self.sql)
        return found[1] if found else ""

    def filled(self, **values: str) -> str:
        """The statement with its places filled, `DATABASE="[orders]"`: what stands there is the caller's to check."""
        text = self.sql
        for place, value in values.items():
            text = text.replace(f"<{place}>", value)
        return text


def text() -> str:
    """The file as it stands."""
    return FILE.read_text(encoding="utf-8")


@functools.cache
def questions() -> tuple[Question, ...]:
    """Every question, in order. Raises `ValueError` where the file is not laid out as its head says."""
    found = [_question(block) for block in text().split("-- question: ")[1:]]
    if len({one.name for one in found}) != len(found):
        raise ValueError("two questions of one name")
    return tuple(found)


def question(name: str) -> Question:
    """One question by its name."""
    return next(one for one in questions() if one.name == name)


def of(when: str) -> list[Question]:
    """The questions that are asked then."""
    return [one for one in questions() if one.when == when]


def _question(block: str) -> Question:
    lines = [line for line in f"-- question: {block}".splitlines() if line.strip()]
    fields = {found[1]: found[2] for line in lines if (found := FIELD.fullmatch(line))}
    sql = [line for line in lines if not line.startswith("--")]
    if not {"question", "why", "since", "cost", "when"} <= fields.keys() or fields["when"] not in WHEN:
        raise ValueError(f"a field is missing or wrong: {lines[0]}")
    if sql[-1:] != ["go"] or len(sql) < 2:
        raise ValueError(f"no statement with its go: {lines[0]}")
    return Question(
        name=fields["question"],
        sql="\n".join(sql[:-1]),
        why=fields["why"],
        since=_release(fields["since"]),
        cost=fields["cost"],
        when=fields["when"],
        needs=_list(fields.get("needs")),
        switches=_list(fields.get("switches")),
        only=_list(fields.get("only")),
        file=fields.get("file", ""),
        seconds=float(fields.get("seconds", SECONDS)),
    )


def _release(text: str) -> Release:
    """`16.0 SP03 PL08` as numbers. Raises `ValueError` where it is no release."""
    found = RELEASE.fullmatch(text)
    if found is None:
        raise ValueError(f"no release: {text}")
    return tuple(int(one) for one in found.groups() if one)


def release_in(version: str) -> Release | None:
    """The release that a server says of itself, with 0 for a pack it does not name; `None` where there is none.

    Before 16.0 a service pack is not written in this form, and nothing that is asked came with one.
    """
    found = RELEASE.search(version)
    return tuple(int(one or 0) for one in found.groups()) if found else None


def name_of(release: Release) -> str:
    """`16.0 SP03 PL08`."""
    more = "".join(f" {word}{number:02d}" for word, number in zip(("SP", "PL"), release[2:], strict=False))
    return f"{release[0]}.{release[1]}{more}"


def _list(text: str | None) -> tuple[str, ...]:
    return tuple(one.strip() for one in text.split(",")) if text else ()
