"""The scripts of several systems as one archive: a file to apply and one to undo for each, and a run sheet over all."""

import io
import zipfile
from collections.abc import Iterator

from django.utils import timezone

from advisor.audits.report.plan import with_accepted
from advisor.audits.report.render import sheets_text
from advisor.audits.report.run_sheet import RunSheet
from advisor.findings.services.joint_plan import JointPlan, SystemPlan
from advisor.notifications.mail.scripts import files
from advisor.uploads.services.uploads import file_part

RUN_SHEET = "run-sheet.txt"


def archive(plan: JointPlan) -> bytes:
    """Make the archive. The name of a file is the system's as far as any file system takes it, with its number."""
    made = io.BytesIO()
    now = timezone.localtime().timetuple()[:6]
    with zipfile.ZipFile(made, "w", zipfile.ZIP_DEFLATED) as book:
        for name, text in _texts(plan):
            book.writestr(zipfile.ZipInfo(name, now), text.encode(), zipfile.ZIP_DEFLATED)
    return made.getvalue()


def name_of(one: SystemPlan) -> str:
    """What the names of its files begin with: no two systems have the same."""
    return f"{file_part(one.system.name)}-{one.system.pk}"


def sheets(plan: JointPlan, *, with_files: bool = False) -> list[tuple[SystemPlan, RunSheet]]:
    """The run sheet of each system that has anything to do or to decide."""
    some = [one for one in plan.systems if one.steps or one.conflicts]
    return [(one, one.sheet(f"{name_of(one)}-apply" if with_files and one.runs else "")) for one in some]


def _texts(plan: JointPlan) -> Iterator[tuple[str, str]]:
    for one in plan.planned:
        told = (f"system: {one.system.name}", f"capture: {one.taken}", f"audit: {one.audit}", *one.notes)
        for file in files(name_of(one), told, with_accepted(one.plan, one.findings)):
            yield file.name, file.text
    yield RUN_SHEET, sheets_text([sheet for _, sheet in sheets(plan, with_files=True)])
