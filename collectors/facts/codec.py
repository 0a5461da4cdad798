"""Facts ⇄ bytes: a capture stored today is audited again years later, by the rules and the facts of that day.

The bytes are packed JSON (`collectors.packed`; of versions before by zlib), and JSON that explains itself: a table per
kind of fact, a column per field, and beside the values what each of them is. So `5` and `5.0`, the text `ABSENT` and
the state stay apart without a look at today's classes, which may have changed since::

    {"lockwright facts": 1, "order": [0, 0], "kinds": [{"kind": "ase.LockHashtable", "fields": {
        "table": ["address", "table"], "contention_percent": {"is": "pa", "p": [12.5]}, …}}]}

A list is a column of texts, numbers, booleans and nulls. Anything else is an object: `is` holds one letter for each
value, and under a letter stand its values in order, tables and columns again where they are tuples or dataclasses.
Every field is stored, even where it has its default: the default of a later release may be another.
"""

import dataclasses
import json
import re
import zlib
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from datetime import datetime
from itertools import chain, islice, repeat
from operator import attrgetter
from typing import Any

from collectors.facts.ase.sysmon import LazyRows
from collectors.facts.base import ABSENT, NOT_MEASURED, OVERFLOW, Fact, Missing
from collectors.facts.shapes import kinds, name_of, shapes
from collectors.packed import FACTS, MAGIC, DamagedBytes, UnknownDictionary, pack, unpack

HEADER, VERSION = "lockwright facts", 1
LEVEL = 15
"""Of zstd: 4 ms for a capture, an eighth less than level 9 makes in 1 ms; facts are kept for long (measured)."""
MOST_BYTES = 64 << 20
"""Unpacked. A 16.0 sp_sysmon is about 0.15 MB, a day of T4 with 900 columns 0.2 MB."""
DEEPEST = 12
"""Columns within columns; a row's cell is in the sixth."""
MOST_NOTES = 50
"""Losses named; beyond that they are counted."""

STATES = {"a": ABSENT, "o": OVERFLOW, "n": NOT_MEASURED}
PLAIN, TUPLE, TIME = "p", "t", "d"
SECOND_TIME = "f"
"""Behind a time of the hour that a clock went through twice: the second one (`datetime.fold`)."""
LETTER_OF = {state: letter for letter, state in STATES.items()}
PLAIN_TYPES = frozenset({str, int, float, bool, type(None)})


class DamagedFacts(ValueError):
    """These bytes are no stored facts, are damaged, or unpack to more than was allowed."""


class TooManyFacts(ValueError):
    """These facts would not be loaded again: unpacked they are larger than was allowed."""


class _Lost:
    """Stands for a value that could not be restored; no field takes it."""


LOST = _Lost()


def dump(facts: Iterable[Fact], most_bytes: int = MOST_BYTES) -> bytes:
    """Pack facts, in order; equal facts give equal bytes. Raises as `text_of`."""
    return pack(text_of(facts, most_bytes), FACTS, LEVEL)


def text_of(facts: Iterable[Fact], most_bytes: int = MOST_BYTES) -> bytes:
    """Facts in order as JSON. The rows of a section are read for it, but not kept.

    Raises `TooManyFacts` over `most_bytes` before compression, `TypeError` for a fact or a value that
    `collectors.facts` does not know.
    """
    by_kind: dict[type[Fact], list[Fact]] = {}
    order: list[int] = []
    number: dict[type[Fact], int] = {}
    for fact in facts:
        kind = type(fact)
        order.append(number.setdefault(kind, len(number)))
        by_kind.setdefault(kind, []).append(fact)
    content = {HEADER: VERSION, "order": order, "kinds": [_table(kind, found) for kind, found in by_kind.items()]}
    # surrogatepass: what one file name could not be decoded to is half a surrogate pair, and must come back as it was
    text = json.dumps(content, ensure_ascii=False, separators=(",", ":")).encode("utf-8", "surrogatepass")
    if len(text) > most_bytes:
        raise TooManyFacts(f"{len(order):,} facts are {len(text):,} bytes, more than the {most_bytes:,} allowed")
    return text


def load(data: bytes, most_bytes: int = MOST_BYTES) -> tuple[list[Fact], list[str]]:
    """Unpack facts, in order, and name what could not be restored: kinds and fields that are gone, wrong types.

    A fact with such a value is left out whole: with a default instead it would say something that nobody read.
    Raises `DamagedFacts` where the bytes are not facts at all, of a newer format, or over `most_bytes` unpacked.
    """
    order, tables = _content(_unpacked(data, most_bytes))
    counts = Counter(order)
    restoring = _Restoring()
    restored = [iter(restoring.facts(table, counts[place])) for place, table in enumerate(tables)]
    found = (next(restored[place]) for place in order)
    return [fact for fact in found if isinstance(fact, Fact)], restoring.said()


def _table(kind: type, found: Sequence[object]) -> dict[str, Any]:
    if kind not in kinds().values():
        raise TypeError(f"{kind.__module__}.{kind.__qualname__} is not in collectors.facts: it cannot be stored")
    return {"kind": name_of(kind), "fields": {field: _column(_values(kind, found, field)) for field in shapes(kind)}}


def _values(kind: type, found: Sequence[object], field: str) -> list[object]:
    """A field of each; rows that nobody asked for are made for this once, so that they do not stay in memory."""
    if isinstance(vars(kind).get(field), LazyRows):
        return [rows() if callable(rows := vars(one)[field]) else rows for one in found]
    return list(map(attrgetter(field), found))


def _column(values: Sequence[object]) -> list[Any] | dict[str, Any]:
    """One column: a list where JSON says it all."""
    if set(map(type, values)) <= PLAIN_TYPES:
        return list(values)
    letters: dict[type, str] = {}
    groups: dict[str, list[Any]] = {}
    codes: list[str] = []
    for value in values:
        kind = type(value)
        letter = PLAIN if kind in PLAIN_TYPES else LETTER_OF[value] if isinstance(value, Missing) else letters.get(kind)
        if letter is None:
            letter = letters[kind] = _letter(value, letters)
        codes.append(letter)
        groups.setdefault(letter, []).append(value)
    column: dict[str, Any] = {"is": "".join(codes)}
    for letter, group in groups.items():
        if letter == PLAIN:
            column[letter] = group
        elif letter == TIME:
            column[letter] = [time.isoformat() + SECOND_TIME * time.fold for time in group]
        elif letter == TUPLE:
            column[letter] = {"n": [len(one) for one in group], "of": _column(list(chain.from_iterable(group)))}
        elif letter not in STATES:
            column[letter] = _table(type(group[0]), group)
    return column


def _letter(value: object, letters: dict[type, str]) -> str:
    if type(value) in (tuple, datetime):
        return TUPLE if isinstance(value, tuple) else TIME
    if not dataclasses.is_dataclass(value):
        raise TypeError(f"a fact cannot hold a {type(value).__name__}")
    return chr(ord("A") + sum(letter.isupper() for letter in letters.values()))


def _unpacked(data: bytes, most_bytes: int) -> str:
    """The text; never more than one byte over the bound is unpacked."""
    try:
        text = unpack(data, most_bytes) if data.startswith(MAGIC) else _from_zlib(data, most_bytes)
        return text.decode("utf-8", "surrogatepass")
    except (zlib.error, DamagedBytes, UnknownDictionary) as error:
        raise DamagedFacts(f"no stored facts, or damaged ones: {error}") from None
    except UnicodeDecodeError:
        raise DamagedFacts("no stored facts: not text inside") from None


def _from_zlib(data: bytes, most_bytes: int) -> bytes:
    """The text of facts that a version before packed."""
    unpacking = zlib.decompressobj()
    text = unpacking.decompress(data, most_bytes + 1)
    if len(text) > most_bytes:
        raise DamagedFacts(f"stored facts of over {most_bytes:,} bytes unpacked: refused")
    if not unpacking.eof or unpacking.unused_data:
        raise DamagedFacts("stored facts are cut short, or have something behind them")
    return text


def _content(text: str) -> tuple[list[int], list[Any]]:
    """Which table each fact comes from, and the tables."""
    try:
        content = json.loads(text)
    except (ValueError, RecursionError):
        raise DamagedFacts("no stored facts: not JSON inside") from None
    if not isinstance(content, dict) or HEADER not in content:
        raise DamagedFacts("no stored facts: the heading is missing")
    version = content[HEADER]
    if type(version) is not int or version < 1:
        raise DamagedFacts("no stored facts: the number of the format is missing")
    if version > VERSION:
        raise DamagedFacts(f"facts stored in a later format than this release reads, which is {VERSION}: upgrade first")
    order, tables = content.get("order"), content.get("kinds")
    if not isinstance(order, list) or not isinstance(tables, list):
        raise DamagedFacts("no stored facts: order or kinds are missing")
    if not set(map(type, order)) <= {int} or (order and not 0 <= min(order) <= max(order) < len(tables)):
        raise DamagedFacts("stored facts are out of order")
    return order, tables


class _Restoring:
    """From tables to objects; keeps count of what was lost."""

    def __init__(self) -> None:
        self.lost: Counter[str] = Counter()

    def said(self) -> list[str]:
        """What was lost, each with how often."""
        lines = [f"{what} ({many:,})" for what, many in islice(self.lost.items(), MOST_NOTES)]
        more = len(self.lost) - len(lines)
        return [*lines, f"and {more:,} more"] if more else lines

    def facts(self, table: Any, count: int) -> Sequence[object]:
        """The facts of one table."""
        name = table.get("kind") if isinstance(table, dict) else None
        kind = kinds().get(name) if isinstance(name, str) else None
        if kind is None or not issubclass(kind, Fact):
            if count:
                self.lost[f"{_quoted(name)}: no such fact in this release; left out"] += count
            return [LOST] * count
        return self._objects(kind, table.get("fields"), count, 0)

    def _objects(self, kind: type, fields: Any, count: int, depth: int) -> list[object]:
        """Objects of one class; `LOST` for each that lacks a field or has a value of a wrong type."""
        name, allowed = name_of(kind), shapes(kind)
        if not isinstance(fields, dict):
            self.lost[f"{name}: no fields; left out"] += count
            return [LOST] * count
        for field in fields:
            if count and field not in allowed:
                self.lost[f"{name}.{_quoted(field)}: no such field in this release; that value is left out"] += count
        bad: set[int] = set()
        columns: dict[str, list[object]] = {}
        for field, shape in allowed.items():
            if field not in fields:
                if not shape.has_default and count:
                    self.lost[f"{name}.{field}: not in what was stored; {name} left out"] += count
                    return [LOST] * count
                continue
            values = self._values(fields[field], count, depth + 1)
            if values is None:
                self.lost[f"{name}.{field}: damaged; {name} left out"] += count
                return [LOST] * count
            columns[field] = values
            if not shape.holds(values):
                wrong = {at for at, value in enumerate(values) if not shape.holds((value,))}
                self.lost[f"{name}.{field}: not of the type it has in this release; {name} left out"] += len(wrong)
                bad |= wrong
        names = tuple(columns)
        rows: Iterable[tuple[object, ...]] = zip(*columns.values(), strict=True) if columns else repeat((), count)
        if bad:
            return [LOST if at in bad else self._make(kind, names, row) for at, row in enumerate(rows)]
        return [self._make(kind, names, row) for row in rows]

    def _make(self, kind: Callable[..., object], names: tuple[str, ...], row: tuple[object, ...]) -> object:
        try:
            return kind(**dict(zip(names, row, strict=True)))
        except (TypeError, ValueError) as error:  # only from a __post_init__: all types were looked at
            self.lost[f"{kind.__name__}: {error}; left out"] += 1
            return LOST

    def _values(self, column: Any, count: int, depth: int) -> list[object] | None:
        """The values of one column; `None` where it is none of `count` values. Never makes more than were stored."""
        if isinstance(column, list):
            return column if len(column) == count else None
        codes = column.get("is") if isinstance(column, dict) else None
        if not isinstance(codes, str) or len(codes) != count or depth > DEEPEST:
            return None
        sources: dict[str, Iterator[object]] = {}
        for letter, many in Counter(codes).items():
            group = [STATES[letter]] if letter in STATES else self._group(letter, column.get(letter), many, depth)
            if group is None:
                return None
            sources[letter] = repeat(group[0]) if letter in STATES else iter(group)
        return [next(sources[letter]) for letter in codes]

    def _group(self, letter: str, stored: Any, count: int, depth: int) -> Sequence[object] | None:
        """The values of one letter in a column."""
        if letter == PLAIN:
            return stored if isinstance(stored, list) and len(stored) == count else None
        if letter == TIME:
            return [_time(one) for one in stored] if isinstance(stored, list) and len(stored) == count else None
        if not isinstance(stored, dict):
            return None
        if letter == TUPLE:
            lengths = stored.get("n")
            if not isinstance(lengths, list) or len(lengths) != count or not set(map(type, lengths)) <= {int}:
                return None
            items = self._values(stored.get("of"), sum(lengths), depth + 1) if min(lengths) >= 0 else None
            along = iter(items or ())
            return None if items is None else [tuple(islice(along, length)) for length in lengths]
        name = stored.get("kind")
        kind = kinds().get(name) if isinstance(name, str) else None
        if kind is None or issubclass(kind, Fact):
            return [LOST] * count  # the field that should hold it says so
        return self._objects(kind, stored.get("fields"), count, depth)


def _time(stored: object) -> object:
    if not isinstance(stored, str):
        return LOST
    try:
        time = datetime.fromisoformat(stored.removesuffix(SECOND_TIME))
    except ValueError:
        return LOST
    return time.replace(fold=1) if stored.endswith(SECOND_TIME) else time


def _quoted(text: object) -> str:
    """A stored name as one may print it: it may be anything."""
    if not isinstance(text, str):
        return "something that is no name"
    return text if re.fullmatch(r"[A-Za-z0-9_.]{1,80}", text) else ascii(text[:80])
