"""The PDF of an audit, made once: the same one is handed over when it is asked for again, by whichever process."""

import hashlib
import json
from collections.abc import Callable, Mapping
from contextlib import suppress
from typing import Any

from django.db import DatabaseError, transaction
from django.utils import timezone

from advisor.models import Audit, Printed
from advisor.report.pdf import pdf
from advisor.version import VERSION


def pdf_of(audit: Audit, data: Mapping[str, Any], html: Callable[[], str]) -> bytes:
    """The PDF of an audit whose JSON is `data`; `html` makes what is printed where none is kept.

    Raises `NoPdf` where none can be made on this machine.
    """
    shown = json.dumps([VERSION, data], sort_keys=True, default=str)
    made_of = hashlib.sha256(shown.encode()).hexdigest()
    kept = Printed.objects.filter(audit=audit, made_of=made_of).first()
    if kept is not None:
        return bytes(kept.data)
    made = pdf(html())
    values = {"made_of": made_of, "data": made, "at": timezone.now()}
    with suppress(DatabaseError), transaction.atomic():  # what cannot be kept is made again
        Printed.objects.update_or_create(audit=audit, defaults=values)
    return made
