"""JSON that is read whole and never asked for by its parts, packed: a fifth of what a `JSONField` takes."""

import json
from typing import TYPE_CHECKING, Any

from django.db.models import Field
from django.db.models.expressions import BaseExpression

from collectors.packed import MAGIC, pack, unpack

if TYPE_CHECKING:
    AnyField = Field[Any, Any]
else:
    AnyField = Field
LEVEL = 9
"""Of zstd: 0.1 ms for a finding; higher ones take ten times as long and make 4 % less (measured)."""
MOST_BYTES = 64 << 20
"""Of one value, unpacked; a finding has about 4 kB."""


def packed(value: Any, use: str) -> bytes:
    """JSON as it is stored: packed, or as it is where that is shorter. Raises `TypeError`, `ValueError` for no JSON."""
    text = json.dumps(value, separators=(",", ":"), allow_nan=False).encode()
    made = pack(text, use, LEVEL)
    return made if len(made) < len(text) else text


def unpacked(data: bytes | str) -> Any:
    """What was stored, by this version or, as the text of a `JSONField`, by one before.

    Raises `ValueError` (`DamagedBytes`, `UnknownDictionary`) where it is damaged.
    """
    if isinstance(data, str):  # SQLite keeps text in any column
        return json.loads(data)
    return json.loads(unpack(data, MOST_BYTES) if data.startswith(MAGIC) else data)


class PackedJSONField(AnyField):
    """A column of packed JSON. The database cannot look into it: it is never filtered by, but for `isnull`."""

    def __init__(self, *args: Any, use: str, **options: Any) -> None:
        """Take the kind of texts, by which the dictionary is chosen (`collectors.packed`)."""
        self.use = use
        super().__init__(*args, **options)

    def deconstruct(self) -> tuple[str, str, Any, Any]:
        """Give what makes it again."""
        name, path, args, options = super().deconstruct()
        return name, path, args, {**options, "use": self.use}

    def get_internal_type(self) -> str:
        """Bytes, to the database."""
        return "BinaryField"

    def get_db_prep_value(self, value: Any, connection: Any, prepared: bool = False) -> Any:
        """Pack."""
        if value is None or isinstance(value, BaseExpression):
            return value
        return connection.Database.Binary(packed(value, self.use))

    def from_db_value(self, value: Any, expression: Any, connection: Any) -> Any:
        """Unpack."""
        return value if value is None else unpacked(value if isinstance(value, str) else bytes(value))

    def get_lookup(self, lookup_name: str) -> Any:
        """Give none but `isnull`: equal values need not be equal bytes."""
        return super().get_lookup(lookup_name) if lookup_name == "isnull" else None
