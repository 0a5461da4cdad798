"""The Jinja2 environment of pages: the one of reports, with addresses, static files and the words pages share."""

from collections.abc import Mapping
from datetime import datetime, timedelta
from functools import lru_cache
from typing import Any

from django.templatetags.static import static
from django.urls import reverse
from django.utils import timezone
from jinja2 import Environment
from markupsafe import Markup, escape

from advisor.audits.report.render import EFFECTS, PRODUCT_NAMES
from advisor.charts.curves import timeline
from advisor.core import jinja
from advisor.core.jinja import SEVERITY, coded
from advisor.core.page_help import page_help
from advisor.core.version import VERSION
from advisor.schedules.services.timing import in_zone
from collectors.facts import is_command
from rules.titles import finding_named, number_of, replaced, title_of

STEPS = ((86400, "d"), (3600, "h"), (60, "min"))


def environment(**options: Any) -> Environment:
    """Make the environment of pages."""
    made = jinja.environment(**options)
    made.globals.update(
        static=static, url=url, timeline=timeline, severities=SEVERITY, effects=EFFECTS, product_name=PRODUCT_NAMES
    )
    made.globals.update(version=VERSION, is_command=is_command, page_help=page_help)
    made.filters.update(age=age, lasted=lasted, stamp=stamp, megabytes=megabytes, in_words=in_words)
    made.filters.update(rule_title=title_of, finding_named=finding_named)
    return made


@lru_cache(maxsize=20_000)
def url(name: str, *args: Any, **kwargs: Any) -> str:
    """The address of a page by its name. Kept: a page of two hundred systems asks for five hundred."""
    return reverse(name, args=args, kwargs=kwargs)


def in_words(text: str, numbers: Mapping[str, int] | None = None) -> Markup:
    """A text whose commands are code and whose rules are links: to the finding of that number, else to the rule's."""

    def said(rule: str) -> str:
        number = number_of(rule, numbers or {})
        if number:
            return f'<a href="#f{number - 1}">finding {number}</a>'
        return f'<a href="{url("rule", rule)}">{escape(title_of(rule))}</a>'

    return coded(Markup(replaced(str(escape(text)), said)))  # noqa: S704 - escaped before; an id needs no escaping


def age(time: datetime | None) -> str:
    """How long ago, in the largest unit that fits: `3 d`, `5 h`, `12 min`, `now`; `-` for never."""
    if time is None:
        return "-"
    seconds = (timezone.now() - time) / timedelta(seconds=1)
    for size, unit in STEPS:
        if seconds >= size:
            return f"{seconds / size:,.0f} {unit}"
    return "now" if seconds > -60 else "in the future"


def lasted(since: datetime | None) -> str:
    """How long something has gone on, as `age` says it; empty under a minute, or where it has not begun."""
    return age(since) if since and timezone.now() - since >= timedelta(minutes=1) else ""


def stamp(time: datetime | None, *, seconds: bool = False, zone: str = "") -> str:
    """A moment of the service's own clock, in the site's time zone or in `zone` with its abbreviation; `-`: never."""
    if time is None:
        return "-"
    if zone:
        return in_zone(time, zone).strftime("%Y-%m-%d %H:%M:%S %Z" if seconds else "%Y-%m-%d %H:%M %Z")
    return timezone.localtime(time).strftime("%Y-%m-%d %H:%M:%S" if seconds else "%Y-%m-%d %H:%M")


def megabytes(size: int) -> str:
    """A number of bytes for people: kB under a megabyte, bytes under a kilobyte."""
    if size < 1000:
        return f"{size} byte" if size == 1 else f"{size} bytes"
    return f"{size / 1e6:,.1f} MB" if size >= 1e6 else f"{size / 1e3:,.1f} kB"
