"""What a report says of before and after: the verdict, what decides it, what is gone and new, and where all stands."""

import logging
from collections.abc import Mapping
from typing import Any

from celery.exceptions import SoftTimeLimitExceeded
from django.db import Error
from django.utils.http import urlencode

from advisor.charts.compared import ratio_words
from advisor.mail.letter import address
from advisor.mail.report import BeforeAndAfter, Measured
from advisor.models import Audit, Capture, Recipient
from advisor.services.compared_page import VERDICTS, Row, rows_of
from advisor.services.comparing import Refused, compared, sides_of

LOG = logging.getLogger(__name__)
MOST_FIGURES = 3
MOST_WITHIN = 4
"""Comparisons of tables that are told in words."""
MOST_KEYS = 3
"""Findings named as gone, and as new; their titles stand above."""


def before_and_after(recipient: Recipient, audit: Audit, before: Audit | None) -> BeforeAndAfter | None:
    """Hold the capture of an audit against that of the one it is told against.

    `None` where there is no other capture, where the two cannot be compared, or where that went wrong (the log says
    how): a report without it is better than none.
    """
    if before is None or before.capture_id == audit.capture_id:
        return None
    try:
        data = compared(sides_of(audit.system, [before.capture_id], [audit.capture_id])).data
    except (Refused, Capture.DoesNotExist):
        return None
    except (Error, SoftTimeLimitExceeded):
        raise
    except Exception:
        LOG.exception("audits %s and %s could not be compared", before.pk, audit.pk)
        return None
    if data["verdict"] == "not-comparable":
        return None
    return _told(recipient, audit, before, data)


def within(audit: Audit) -> tuple[list[tuple[str, str]], int]:
    """Of the tables of an audit that hold both sides the first comparisons in words, and how many more there are."""
    found = [
        (f"{one['before']['label']} → {one['after']['label']}: {VERDICTS[one['verdict']]}", one["why"])
        for one in audit.comparisons[:MOST_WITHIN]
    ]
    return found, max(0, len(audit.comparisons) - MOST_WITHIN)


def _told(recipient: Recipient, audit: Audit, before: Audit, data: Mapping[str, Any]) -> BeforeAndAfter:
    deciding = [row for row in rows_of(data) if row.data["decides"]]
    query = urlencode({"before": before.capture_id, "after": audit.capture_id})
    findings = []
    for word, levels in (("gone", before.findings_digest), ("new", audit.findings_digest)):
        keys = [key for key in data["findings"][word] if levels.get(key, 0) >= recipient.severity]
        if keys:
            findings.append((word, keys[:MOST_KEYS], max(0, len(keys) - MOST_KEYS)))
    unit = f", per {data['unit_of_work']}" if data["unit_of_work"] else ""
    return BeforeAndAfter(
        heading=f"{VERDICTS[data['verdict']]}{unit}",
        figures=[_measured(row) for row in deciding[:MOST_FIGURES]],
        more=max(0, len(deciding) - MOST_FIGURES),
        findings=findings,
        address=f"{address('compare', audit.system_id)}?{query}",
    )


def _measured(row: Row) -> Measured:
    metric = row.data
    per = metric["per_work_unit"] is not None
    before, after = (metric[f"{'per_work_' if per else ''}{side}"] for side in ("before", "after"))
    unit = f" {metric['unit']}" if metric["unit"] and not per else ""
    noise = "" if metric["low"] is not None else "no noise measured"
    ratio = ratio_words(metric["ratio"], metric["low"], metric["high"])
    return Measured(row.name, _figure(before) + unit, _figure(after) + unit, ratio, noise, row.words)


def _figure(value: float | None) -> str:
    if value is None:
        return "-"
    return f"{value:,.0f}" if abs(value) >= 1000 else f"{value:.4g}"
