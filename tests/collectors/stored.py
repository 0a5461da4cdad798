"""Facts to store in tests, what is stored of them, and whether they come back."""

import json
import zlib
from collections.abc import Callable
from typing import Any

from collectors.facts import Fact, Source
from collectors.facts.ase import LockHashtable, Server
from collectors.facts.codec import dump, load
from collectors.packed import unpack

TABLE = LockHashtable(source=Source("a.txt", 3, 7), table="address", lookups=5, contention_percent=12.5)
OTHER = Server(source=Source("a.txt", 1, 1), name="PROD1", version="16.0")


def plainly(data: bytes) -> Any:
    return json.loads(unpack(data, 1 << 20))


def packed(content: Any) -> bytes:
    """As versions before packed them, which are read for ever."""
    return zlib.compress(json.dumps(content).encode())


def altered(facts: list[Fact], change: Callable[[Any], Any]) -> bytes:
    """Stored facts, as if another release had stored them."""
    content = plainly(dump(facts))
    change(content)
    return packed(content)


def same(facts: list[Fact]) -> None:
    back, lost = load(dump(facts))
    assert lost == []
    assert repr(back) == repr(facts)  # tells 5 from 5.0, and finds a NaN equal to itself
    assert [type(fact) for fact in back] == [type(fact) for fact in facts]
