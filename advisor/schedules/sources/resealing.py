"""Passwords of data sources sealed anew, when the key is changed."""

from dataclasses import dataclass, field

from django.db import transaction

from advisor.core import journal
from advisor.schedules.models import DataSource
from advisor.schedules.sources import keys
from advisor.uploads.services.uploads import clean_text


@dataclass
class Resealed:
    """What became of the passwords."""

    anew: int = 0
    already: int = 0
    """Were sealed with the newest key before."""
    unopened: list[str] = field(default_factory=list)
    """Names of the sources whose password no key opens."""


def reseal() -> Resealed:
    """Seal every password with the newest key; each by itself, so that it may be broken off. Raises `keys.NoKey`."""
    newest, done = keys.ring().newest, Resealed()
    for pk in list(DataSource.objects.exclude(password_sealed="").order_by("pk").values_list("pk", flat=True)):
        with transaction.atomic():
            rows = DataSource.objects.select_for_update(of=("self",)).select_related("system")
            source = rows.exclude(password_sealed="").filter(pk=pk).first()
            if source is None:
                continue
            if source.key_mark == newest:
                done.already += 1
                continue
            try:
                sealed = keys.resealed(source.password_sealed)
            except keys.NoKey:
                done.unopened.append(clean_text(f"{source.name} of {source.system.name}", 200))
                continue
            source.password_sealed, source.key_mark = sealed.text, sealed.mark
            source.save(update_fields=["password_sealed", "key_mark"])
            done.anew += 1
    if done.anew:
        journal.note(None, "data sources resealed", f"{done.anew:,} passwords, with the newest key")
    return done
