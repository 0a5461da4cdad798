"""Shared by all tests: where real exports may be (outside the project; every test must pass without them)."""

from pathlib import Path

import pytest

# asserts in the modules that tests share show their values, too
pytest.register_assert_rewrite(
    "tests.advisor.administering",
    "tests.advisor.mail.mail_servers",
    "tests.advisor.people",
    "tests.advisor.pictures",
    "tests.advisor.rule_pages",
    "tests.advisor.seen",
    "tests.collectors.stored",
)
REAL = Path(__file__).resolve().parent.parent.parent / "shared" / "exports"


@pytest.fixture
def real_exports() -> Path:
    """Give the folder of real exports, or skip where it is not there."""
    if not REAL.is_dir():
        pytest.skip("no ../shared/exports here")
    return REAL
