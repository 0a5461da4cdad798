"""The shapes of what the API takes and answers of uploads."""

from datetime import datetime
from typing import Literal

from ninja import Schema
from pydantic import Field

from advisor.core.api import Error


class UploadState(Schema):
    """How far an upload has come. `done`: its audits are at `audit`; `failed`: `error` says why."""

    upload: int
    state: Literal["waiting", "reading", "done", "failed"]
    location: str
    audit: str
    new: bool | None = Field(None, description="False: these files were uploaded before; this is that upload.")


class NotRead(Error):
    """An upload of which there is no audit."""

    upload: int
    state: Literal["waiting", "reading", "failed"]
    location: str


class UploadWhole(UploadState):
    """An upload with its files and what became of them."""

    error: str
    team: str
    by: str | None
    at: datetime
    finished: datetime | None
    total_bytes: int
    read_bytes: int
    bytes_dropped: datetime | None = Field(description="When retention took the bytes away; the audits stay.")
    files: list[str]
    unnamed: list[str] = Field(
        description="Files that name no system and were given none: each is judged as a system called after it."
    )
    audits: list[int] = Field(description="The current audits of its captures.")
