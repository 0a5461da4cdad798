"""What several addresses of the API share: the shapes of its OpenAPI document, and a part of a long list."""

from collections.abc import Callable
from typing import Annotated, Any, Literal

from django.db.models import QuerySet
from ninja import Query, Schema
from pydantic import Field

from rules.finding import Severity

Number = Annotated[int, Field(ge=1, le=2**63 - 1)]
"""The primary key of a row."""
SeverityName = Literal["note", "advice", "warning", "critical"]


WORDS = (None, *(level.label for level in Severity))
"""The word for each level 0 to 4; none for 0: no finding."""


class Error(Schema):
    """What went wrong, and what to do."""

    error: str
    remedy: str


ERRORS: dict[int, Any] = {400: Error, 401: Error, 403: Error, 404: Error}


Limit = Annotated[int, Query(ge=1, le=200, description="At most so many.")]
Offset = Annotated[int, Query(ge=0, le=10_000_000, description="After so many.")]


def part(rows: "QuerySet[Any]", limit: int, offset: int, row: Callable[[Any], Any]) -> dict[str, Any]:
    """How many there are, and the asked part of them, each made by `row`."""
    return {"count": rows.count(), "items": [row(one) for one in rows[offset : offset + limit]]}
