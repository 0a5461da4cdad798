"""What follows when systems have been audited: troubles are over, webhooks and recipients are told."""

from django.db.models import QuerySet

from advisor.audits.services.printing import want_pdf
from advisor.core.job_queue import start
from advisor.notifications.webhooks import deliveries
from advisor.schedules.models import Run, Schedule
from advisor.schedules.services import failures
from advisor.systems.models import System
from advisor.systems.services.overview import HEAVY, HEAVY_CAPTURE
from advisor.uploads.models import Upload

QUIET_ORIGINS = ("example",)
"""Uploads nobody is told of."""


def hold(upload: Upload) -> None:
    """Have the schedule that brought an upload for this transaction, before its systems are written.

    So has whoever changes a schedule: two that took them the other way round would wait for each other.
    """
    if upload.run_id:
        brought = Run.objects.filter(pk=upload.run_id).values("schedule")
        list(Schedule.objects.select_for_update().filter(pk__in=brought).values_list("pk"))


def audited(upload: Upload, systems: QuerySet[System]) -> None:
    """Tell of the newest audits of these systems, in the transaction that remembers them."""
    newest = systems.select_related("latest__capture__upload", "latest__system").defer(*HEAVY, *HEAVY_CAPTURE)
    for system in newest:
        if system.latest is None or system.latest.capture.upload_id != upload.pk:
            continue  # an older sample was brought: the newest audit is the same as before
        failures.audited(system)
        if upload.origin not in QUIET_ORIGINS:
            deliveries.audited(system.latest)
            start("notifications.notify", system.pk)
            want_pdf(system.latest.pk)
