"""A part of a long list."""

from collections.abc import Callable
from typing import Annotated, Any

from django.db.models import QuerySet
from ninja import Query

Limit = Annotated[int, Query(ge=1, le=200, description="At most so many.")]
Offset = Annotated[int, Query(ge=0, le=10_000_000, description="After so many.")]


def part(rows: "QuerySet[Any]", limit: int, offset: int, row: Callable[[Any], Any]) -> dict[str, Any]:
    """How many there are, and the asked part of them, each made by `row`."""
    return {"count": rows.count(), "items": [row(one) for one in rows[offset : offset + limit]]}
