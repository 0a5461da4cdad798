"""Facts: frozen statements read from exports. They stand on nothing; rules see only these."""

from collectors.facts.base import (
    ABSENT,
    NOT_MEASURED,
    NOWHERE,
    OVERFLOW,
    Capture,
    Fact,
    Facts,
    Interval,
    Missing,
    Reading,
    Source,
    System,
    is_command,
    known,
    number_or,
    without_collection,
)

__all__ = [
    "ABSENT",
    "NOT_MEASURED",
    "NOWHERE",
    "OVERFLOW",
    "Capture",
    "Fact",
    "Facts",
    "Interval",
    "Missing",
    "Reading",
    "Source",
    "System",
    "is_command",
    "known",
    "number_or",
    "without_collection",
]
