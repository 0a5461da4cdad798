"""Shared by all tests: where real exports may be (outside the project; every test must pass without them)."""

from pathlib import Path

import pytest

REAL = Path(__file__).resolve().parent.parent.parent / "shared" / "exports"


@pytest.fixture
def real_exports() -> Path:
    """Give the folder of real exports, or skip where it is not there."""
    if not REAL.is_dir():
        pytest.skip("no ../shared/exports here")
    return REAL
