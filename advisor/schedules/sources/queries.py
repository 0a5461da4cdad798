"""What asks a server, by its product, and keeps the password out of every word that comes of it."""

import re
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any
from urllib.parse import quote

from django.views.decorators.debug import sensitive_variables

from collectors.live import ase, rdb
from collectors.live.registry import CollectorFailed

COLLECTORS = {"ase": "ase", "rdb": "rdb"}
"""The collector that asks the data sources of a system, by its product."""
HIDDEN = "[hidden]"


@sensitive_variables()
def try_it(product: str, options: dict[str, str], seconds: float) -> Any:
    """Ask who is there and what the login may do. Raises `CollectorFailed`."""
    return ase.try_it(options, seconds) if product == "ase" else rdb.try_it(options, seconds)


@sensitive_variables()
def hidden(text: str, password: str) -> str:
    """A text without the password, in whatever way it is written there."""
    forms = {password, password.replace("}", "}}"), quote(password), quote(password, safe="")} - {""}
    for form in sorted(forms, key=len, reverse=True):
        text = text.replace(form, HIDDEN)
    return text


def without_login(text: str, login: str) -> str:
    """A text without the login, where it stands as a word."""
    return re.sub(rf"(?<!\w){re.escape(login)}(?!\w)", HIDDEN, text) if login else text


@contextmanager
def without(password: str) -> Iterator[None]:
    """Have no failure that passes through here speak of the password, whoever made it."""
    try:
        yield
    except CollectorFailed as error:
        says, do = hidden(error.says, password), hidden(error.do, password)
        told = type(error).__new__(type(error))  # of its kind, without what led to it: that may speak of the password
        told.__dict__.update({**error.__dict__, "says": says, "do": do})
        told.args = (f"{says}: {do}",)
        raise told from None
    except Exception as error:
        text = str(error)
        if not any(_speaks(one, password) for one in _chain(error)):
            raise
        raise RuntimeError(f"{type(error).__name__}: {hidden(text, password)}") from None


def _chain(error: BaseException | None) -> Iterator[BaseException]:
    """An error and what it came of, which a log shows with it."""
    seen: list[BaseException] = []
    while error is not None and error not in seen:
        seen.append(error)
        yield error
        error = error.__cause__ or error.__context__


def _speaks(error: BaseException, password: str) -> bool:
    text = f"{error} {error!r}"
    return hidden(text, password) != text
