"""The plan of a cluster as a run sheet, and as files for each node: in DCL, in the order of the steps.

It is made of what is stored: the cluster as this audit has it, and the findings of its nodes, which say their states.
"""

import io
import zipfile
from collections.abc import Mapping
from typing import Any

from django.utils import timezone

from advisor.audits.models import Audit
from advisor.audits.report.plan import with_accepted
from advisor.audits.report.render import sheets_text
from advisor.audits.report.run_sheet import RunSheet, cluster_sheet
from advisor.findings.services.pages import cluster_audits, with_states
from advisor.notifications.mail.scripts import files
from advisor.uploads.services.uploads import file_part

RUN_SHEET = "run-sheet.txt"


def captures_of(audit: Audit) -> list[Mapping[str, Any]]:
    """The captures of the nodes of its cluster, as far as a sheet needs them."""
    return [
        {
            "system": {"name": one.system.name},
            "interval": one.capture.interval,
            "findings": with_states(one.findings.order_by("number")),
        }
        for one in sorted(cluster_audits(audit), key=lambda one: one.pk)
    ]


def files_of(audit: Audit) -> dict[str, str]:
    """What the names of the files of each node begin with, in the order in which the nodes come first in the plan."""
    nodes = dict.fromkeys(step["node"] for step in audit.cluster["plan"]["steps"] if step.get("node"))
    return {node: f"{number}-{file_part(node)}" for number, node in enumerate(nodes, 1)}


def sheet(audit: Audit) -> RunSheet:
    """The run sheet over all nodes."""
    scripts = {node: f"{name}-apply.com.txt" for node, name in files_of(audit).items()}
    return cluster_sheet(audit.cluster, captures_of(audit), scripts=scripts)


def archive(audit: Audit) -> bytes:
    """The run sheet and, for each node that anything is typed on, a file to apply and one to undo."""
    cluster, captures = audit.cluster, captures_of(audit)
    plan = with_accepted(cluster["plan"], [finding for one in captures for finding in one["findings"]])
    told = (f"cluster: {cluster['name']}", f"audit: {audit.pk}", "The order of the nodes is that of the run sheet.")
    made, now = io.BytesIO(), timezone.localtime().timetuple()[:6]
    with zipfile.ZipFile(made, "w", zipfile.ZIP_DEFLATED) as book:
        texts = [(RUN_SHEET, sheets_text([sheet(audit)]))]
        for node, name in files_of(audit).items():
            texts += [(one.name, one.text) for one in files(name, (*told, f"node: {node}"), plan, node)]
        for name, text in texts:
            book.writestr(zipfile.ZipInfo(name, now), text.encode(), zipfile.ZIP_DEFLATED)
    return made.getvalue()
