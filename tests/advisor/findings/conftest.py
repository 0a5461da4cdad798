"""A day of CLAIMS1, brought and audited."""

from collections.abc import Callable, Iterator

import pytest
from pytest_django import DjangoCaptureOnCommitCallbacks

from advisor.audits.services import comparing
from advisor.uploads.models import Upload
from tests.advisor.findings.claims import bring_day
from tests.advisor.people import People


@pytest.fixture(autouse=True)
def _nothing_kept() -> Iterator[None]:
    """No comparison of another test's captures, which may have the same numbers."""
    comparing._kept.clear()
    yield
    comparing._kept.clear()


@pytest.fixture
def day(people: People, django_capture_on_commit_callbacks: DjangoCaptureOnCommitCallbacks) -> Callable[..., Upload]:
    """Bring the exports of CLAIMS1 of a day of February 2026, some texts of them replaced, and have them audited."""

    def now(number: int, *replaced: tuple[str, str], spread: bool = False, xacts: float = 307.0) -> Upload:
        with django_capture_on_commit_callbacks(execute=True):
            upload = bring_day(people, number, *replaced, spread=spread, xacts=xacts)
        upload.refresh_from_db()
        assert upload.state == Upload.State.DONE, upload.error
        return upload

    return now
