"""Data sources as tests make them."""

from typing import Any

from advisor.accounts.models import User
from advisor.schedules.models import DataSource
from advisor.schedules.sources import data_sources
from advisor.schedules.sources.data_sources import SourceSpec
from advisor.systems.models import System
from tests.live.running import Serving

KEY = "a-key-for-tests-of-data-sources-alone-0123456789"
OTHER_KEY = "another-key-for-tests-of-data-sources-0123456789"
SECRET = "s3cr3t;{of}=ours%"
"""A password that means something to every way of writing it down."""


def wish(**more: Any) -> SourceSpec:
    return SourceSpec(
        **{"name": "harbour", "host": "db1.example.org", "port": 5000, "user": "reader", "password": SECRET, **more}
    )


def make_source(system: System, by: User, **more: Any) -> DataSource:
    return data_sources.make(system, wish(**more), by)


def of_server(system: System, by: User, server: Serving, **more: Any) -> DataSource:
    """A source that leads to a running server."""
    values = {"host": server.host, "port": server.port, "user": server.user, "password": server.password, "seconds": 5}
    return make_source(system, by, **{**values, **more})
