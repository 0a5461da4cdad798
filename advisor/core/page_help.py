"""The help of each page: what it answers and how it is read, kept in `help.yml` by the name of its address."""

from collections.abc import Mapping
from pathlib import Path
from types import MappingProxyType

from django.http import HttpRequest

from advisor.core.yml import load

HELP: Mapping[str, str] = MappingProxyType(load(Path(__file__).with_name("help.yml")))
"""For every address that shows a page."""
SHOWS: Mapping[str, str] = MappingProxyType(
    {
        **dict.fromkeys(("system-note", "system-limit", "system-expected", "system-snooze"), "system"),
        **dict.fromkeys(("finding-state", "finding-owner", "finding-comment"), "finding"),
        "rule-limit": "rule",
    }
)
"""Addresses that a form is sent to and that show the page of another one where something in it is wrong."""


def page_help(request: HttpRequest) -> str:
    """The help of the page that is shown; empty where there is none: an error has no page of its own."""
    match = request.resolver_match
    name = (match.url_name if match else None) or ""
    return HELP.get(SHOWS.get(name, name), "")
