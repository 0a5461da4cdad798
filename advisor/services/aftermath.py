"""What follows when systems have been audited: troubles are over, webhooks and recipients are told."""

from collections.abc import Iterable

from advisor.models import Run, Schedule, System, Upload
from advisor.services.hooks import webhooks
from advisor.services.scheduling import troubles
from advisor.services.starting import start

QUIET_ORIGINS = ("example",)
"""Uploads nobody is told of."""


def hold(upload: Upload) -> None:
    """Have the schedule that brought an upload for this transaction, before its systems are written.

    So has whoever changes a schedule: two that took them the other way round would wait for each other.
    """
    if upload.run_id:
        brought = Run.objects.filter(pk=upload.run_id).values("schedule")
        list(Schedule.objects.select_for_update().filter(pk__in=brought).values_list("pk"))


def audited(upload: Upload, systems: Iterable[System]) -> None:
    """Tell of the newest audits of these systems, in the transaction that remembers them."""
    for system in systems:
        system.refresh_from_db(fields=["latest"])
        if system.latest is None or system.latest.capture.upload_id != upload.pk:
            continue  # an older sample was brought: the newest audit is the same as before
        troubles.audited(system)
        if upload.origin not in QUIET_ORIGINS:
            webhooks.audited(system.latest)
            start("tell", system.pk)
