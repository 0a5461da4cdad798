"""Values of Python as JSON can say them."""

import dataclasses
import datetime as dt
import enum
import math
from typing import Any

from collectors.facts import Missing


def plain(value: Any) -> Any:
    """Turn a value into what JSON can say."""
    if isinstance(value, Missing):
        return None
    if isinstance(value, float):
        return value if math.isfinite(value) else None
    if isinstance(value, dt.datetime):
        return value.isoformat()
    if isinstance(value, enum.Enum):
        return value.value
    if dataclasses.is_dataclass(value) and not isinstance(value, type):
        return {field.name: plain(getattr(value, field.name)) for field in dataclasses.fields(value)}
    if isinstance(value, list | tuple):
        return [plain(item) for item in value]
    if isinstance(value, dict):
        return {str(key): plain(item) for key, item in value.items()}
    return value
