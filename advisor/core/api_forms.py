"""What the API takes by the forms of the pages: the same fields, the same checks, and what is wrong, field by field."""

from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from typing import Any

from django import forms
from django.core.exceptions import NON_FIELD_ERRORS
from ninja import Schema
from pydantic import ConfigDict, Field

from advisor.core.api import ERRORS, Error
from advisor.core.api_errors import Problem
from advisor.core.records import Refused

LEFT_OUT: Any = None
"""The default of what may be left out: it stays as it is then. To send null is something else, and seldom allowed."""


class Wish(Schema):
    """What something is to be. A field that it does not have is an error, not silence."""

    model_config = ConfigDict(extra="forbid")


class FormError(Error):
    """What went wrong, and of which field."""

    fields: dict[str, list[str]] | None = Field(None, description="By the name of a field; empty: all of it.")


WRITE_ERRORS: dict[int, Any] = {**ERRORS, 400: FormError}


def checked(form: forms.BaseForm, sent: Iterable[str], what: str, *, called: Mapping[str, str] | None = None) -> None:
    """Look at a form that holds what was sent and what is stored. Raises `Problem` with what is wrong of each field.

    `sent` are names of its fields with a value: one that the form does not offer here is an error. `called`: names of
    fields of the form, and what they are called here.
    """
    wrong = {name: ["There is nothing to choose from."] for name in sent if name not in form.fields}
    wrong |= {name: [str(one) for one in errors] for name, errors in form.errors.items()}
    if wrong:
        raise fields_problem({(called or {}).get(name, name): said for name, said in wrong.items()}, what)


def fields_problem(wrong: Mapping[str, list[str]], what: str) -> Problem:
    """The answer where fields are wrong."""
    fields = {"" if name == NON_FIELD_ERRORS else name: said for name, said in wrong.items()}
    said = "; ".join(f"{name}: {' '.join(told)}" if name else " ".join(told) for name, told in fields.items())
    return Problem(400, f"Not {what}: {said}", "Send other values for these fields.", fields=fields)


@contextmanager
def refusal_by_field(what: str, field: str | None = None) -> Iterator[None]:
    """Answer what a service refuses, by the field it is about. Raises `Problem`."""
    try:
        yield
    except Refused as why:
        raise fields_problem({why.field if field is None else field: [str(why)]}, what) from None


@contextmanager
def refusal_answered(what: str) -> Iterator[None]:
    """Answer what a service refuses: `reason: remedy` in its two parts. Raises `Problem`."""
    try:
        yield
    except Refused as why:
        reason, _, remedy = str(why).partition(": ")
        more = {name: value for name in ("field", "line") if (value := getattr(why, name))}
        remedy = remedy or "send other values"
        raise Problem(400, f"Not {what}: {reason}.", f"{remedy[:1].upper()}{remedy[1:]}.", **more) from None
