"""Shared by all tests: where real exports may be (outside the project; every test must pass without them)."""

import gc
import os
import signal
from pathlib import Path

import pytest
from hypothesis import HealthCheck, settings

from tests.on_postgres import WITH_DATABASE

# asserts in the modules that tests share show their values, too
pytest.register_assert_rewrite(
    "tests.browser.views",
    "tests.advisor.operations.administering",
    "tests.advisor.notifications.mail.mail_servers",
    "tests.advisor.people",
    "tests.advisor.charts.pictures",
    "tests.advisor.audits.rule_pages",
    "tests.advisor.seen",
    "tests.collectors.stored",
)
# how fast a machine makes its examples is no matter of what is tested
settings.register_profile("any machine", deadline=None, suppress_health_check=[HealthCheck.too_slow])
settings.register_profile("fewer", settings.get_profile("any machine"), max_examples=30)
settings.load_profile("any machine")
# a shell that puts the tests into the background has them ignore Ctrl-C, and whatever they start would do so, too
signal.signal(signal.SIGINT, signal.default_int_handler)
# the collected tests are alive all the time: a collector at its usual pace looks through them again and again
gc.set_threshold(100_000, 50, 100)
REAL = Path(__file__).resolve().parent.parent.parent / "shared" / "exports"


@pytest.fixture
def real_exports() -> Path:
    """Give the folder of real exports, or skip where it is not there."""
    if not REAL.is_dir():
        pytest.skip("no ../shared/exports here")
    return REAL


def pytest_configure(config: pytest.Config) -> None:
    """Where the long tests are left out, so are most of the examples that a test without a number of its own makes."""
    if "not long" in config.option.markexpr:
        settings.load_profile("fewer")


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """On a second kind of database run what is given one, and what starts processes that open it themselves."""
    if not os.environ.get(WITH_DATABASE):
        return
    with_database = {path: "DATABASE_URL" in path.read_text("utf-8") for path in {item.path for item in items}}
    is_kept = {item: _is_given_one(item) or with_database[item.path] for item in items}
    config.hook.pytest_deselected(items=[item for item in items if not is_kept[item]])
    items[:] = [item for item in items if is_kept[item]]


def _is_given_one(item: pytest.Item) -> bool:
    fixtures = set(getattr(item, "fixturenames", ()))
    return item.get_closest_marker("django_db") is not None or bool(
        fixtures & {"db", "transactional_db", "live_server"}
    )
