"""The contract's `audit/1` of what is remembered: the JSON of `manage.py audit`, and nothing is read again."""

from collections.abc import Iterable
from typing import Any

from django.utils import timezone

from advisor.audits.models import Audit, Capture
from advisor.audits.report.data import run_data
from advisor.audits.services.deduplicate import captures_in
from advisor.findings.services.pages import accepted_in, verdict_now, with_states
from advisor.uploads.models import Input, Upload

LONGEST_FILE = 1000
"""What `Input.file` keeps of a name."""


def audit_json(audit: Audit, *, inputs: bool = True, states: bool = False) -> dict[str, Any]:
    """One audit as `audit/1`, with the inputs of its upload that it was made from and those nothing was made from.

    Without `inputs` that list is empty. Evidence has the field `excerpt` besides: the lines it quotes. With `states`
    each finding has the state of now that people gave it, for the API.
    """
    upload = audit.capture.upload if inputs else None
    return _run([audit], _inputs_for(upload, audit.capture) if upload else (), states)


def upload_json(upload: Upload, *, states: bool = False) -> dict[str, Any]:
    """A whole upload as `audit/1`: every input, and the current audit of every capture, in the order they were read."""
    captures = captures_in(upload).exclude(audit=None).order_by("id")
    current = Audit.objects.filter(pk__in=captures.values("audit"))
    audits = current.select_related("capture__system", "capture__upload").prefetch_related("findings")
    return _run(audits.order_by("capture_id"), upload.inputs.all(), states)


def _run(audits: Iterable[Audit], inputs: Iterable[Input], states: bool) -> dict[str, Any]:
    """A cluster of several audits is told as the newest of them has it: they may have been judged at other times."""
    shown = list(audits)
    newest: dict[tuple[str, str], Audit] = {}
    for one in sorted(shown, key=lambda one: (one.at, one.pk)):
        if one.cluster:
            newest[one.cluster["name"], one.cluster["start"]] = one
    clusters = [newest[one.cluster["name"], one.cluster["start"]].cluster if one.cluster else None for one in shown]
    return run_data([_input(one) for one in inputs], [_capture(one, states) for one in shown], clusters)


def _inputs_for(upload: Upload, capture: Capture) -> list[Input]:
    """The inputs of this capture, and those that belong to none."""
    own = _files(capture.files)
    others = upload.captures.exclude(pk=capture.pk).values_list("files", flat=True)
    taken = set[str]().union(*(_files(files) for files in others)) - own
    return [one for one in upload.inputs.all() if one.file not in taken]


def _files(names: Iterable[str]) -> set[str]:
    return {name[:LONGEST_FILE] for name in names}


def _input(one: Input) -> dict[str, Any]:
    return {
        "file": one.file,
        "report": one.report,
        "facts": one.facts,
        "problems": one.problems,
        "leftovers": one.leftovers,
    }


def _capture(audit: Audit, states: bool) -> dict[str, Any]:
    """What was concluded of one capture; the system as that capture told of it, under the name it goes by here."""
    capture = audit.capture
    return {
        "system": {
            "name": capture.system.name,
            "product": capture.system.product,
            "version": capture.version or None,
            "platform": capture.platform or None,
            "processors": capture.processors,
        },
        "interval": capture.interval,
        **_collected(capture.upload),
        **({"summary": _summary(audit, states)} if audit.summary else {}),
        **({"limits": audit.limits} if audit.limits else {}),
        "account": audit.account,
        "verdicts": audit.verdicts,
        "findings": with_states(audit.findings.all()) if states else [one.data for one in audit.findings.all()],
        "models": audit.laws,
        "comparisons": audit.comparisons,
        "plan": audit.plan,
    }


def _summary(audit: Audit, states: bool) -> dict[str, Any]:
    """What to read first; with `states` what is accepted is counted apart."""
    return {**audit.summary, "verdict": verdict_now(audit, accepted_in(audit))} if states else audit.summary


def _collected(upload: Upload | None) -> dict[str, Any]:
    """Which data source was asked, by its name alone, and when; nothing of exports that somebody brought."""
    if upload is None or not upload.collected_from:
        return {}
    return {"collected": {"source": upload.collected_from, "at": timezone.localtime(upload.at).isoformat()}}
