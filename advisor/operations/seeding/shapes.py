"""What seeding varies: audits that the service made itself of `advisor/examples/audits`, rolled back again."""

import json
import re
from collections.abc import Iterable
from contextlib import ExitStack
from dataclasses import dataclass
from random import Random
from typing import Any
from uuid import uuid4

from django.conf import settings
from django.db import transaction

from advisor.accounts.models import Team
from advisor.audits.models import Capture, Finding
from advisor.audits.services.persistence import LEVEL, figure_columns
from advisor.core.packed_json import packed
from advisor.uploads.services.process_upload import read_upload
from advisor.uploads.services.uploads import Brought, ingest
from collectors.facts import codec
from collectors.packed import FACTS, FINDINGS, pack, unpack

STRENGTHS = (0.7, 0.85, 1.0, 1.15)
"""What the figures of an ill hour are multiplied by."""
LABEL = {level: label for label, level in LEVEL.items()}
INPUT = ("number", "file", "report", "facts", "problems", "leftovers")
OWN_FILES = ("story.yml", "verdicts.yml")


@dataclass(frozen=True)
class Story:
    """One capture and its current audit as the service stores them."""

    name: str
    product: str
    capture: Capture
    facts: bytes
    settings: dict[str, Any]
    files: list[tuple[str, int]]
    inputs: list[dict[str, Any]]
    verdicts: list[dict[str, Any]]
    plan: dict[str, Any]
    findings: list[dict[str, Any]]

    def facts_as(self, name: str) -> bytes:
        """The packed facts, as they are of a system of this name."""
        text = unpack(self.facts, codec.MOST_BYTES).replace(self.name.encode(), name.encode())
        return pack(text, FACTS, codec.LEVEL)


@dataclass(frozen=True)
class Said:
    """A finding as it is written, but for its audit and its number in it."""

    key: str
    rule: str
    subject: str
    severity: int
    title: str
    processors: float | None
    metric: str
    value: float | None
    unit: str
    limit: float | None
    data: bytes
    """As it is stored (`advisor.core.packed_json`)."""


@dataclass(frozen=True)
class Face:
    """What audits of a system say at one strength of its illness: of itself, of its objects, by rule, to do."""

    own: list[Said]
    objects: list[Said]
    verdicts: list[dict[str, Any]]
    plan: dict[str, Any]


def learn(name: str) -> Story:
    """Take in, read and audit a story of `advisor/examples/audits`, keep what was stored in memory, and undo all of it.

    Raises `FileNotFoundError` where the stories are not installed.
    """
    folder = settings.EXAMPLES / "audits" / name
    paths = sorted(path for path in folder.iterdir() if path.name not in OWN_FILES)
    with transaction.atomic(), ExitStack() as opened:
        brought = [Brought(path.name, opened.enter_context(path.open("rb"))) for path in paths]
        upload = ingest(brought, Team.objects.create(name=f"learning {uuid4().hex}"), None).upload
        read_upload(upload.pk)
        capture = upload.captures.select_related("system", "settings", "packed", "audit").get()
        assert capture.audit is not None  # noqa: S101 - read_upload audits every capture
        story = Story(
            name=capture.system.name,
            product=capture.system.product,
            capture=capture,
            facts=bytes(capture.packed.data),
            settings=capture.settings.values if capture.settings else {},
            files=list(upload.files.values_list("name", "size")),
            inputs=[{**one} for one in upload.inputs.values(*INPUT)],
            verdicts=capture.audit.verdicts,
            plan=capture.audit.plan,
            findings=list(Finding.objects.filter(audit=capture.audit).values_list("data", flat=True)),
        )
        transaction.set_rollback(True)
    return story


def faces(name: str, ill: Story, well: Story, objects: int, chance: Random) -> list[Face]:
    """Give what the audits of one system say: first of an hour when it is well, then ever worse.

    `objects` findings of objects of its own belong to each, so many that any audit has enough of them.
    """
    made = []
    for strength in (None, *STRENGTHS):
        factor = (strength or 0.5) * chance.uniform(0.9, 1.1)
        story = well if strength is None else ill
        own = [vary(one, ill.name, name, factor) for one in story.findings]
        parts = []
        for number in range(objects):
            pattern = ill.findings[number % len(ill.findings)]
            level = chance.choices((1, 2, 3, 4), weights=(4, 4, 2, 1))[0]
            bare = {**pattern, "cost": None, "explains": [], "changes": [], "severity": LABEL[level]}
            subject = f"{name.lower()}_object_{number + 1:02d}"
            parts.append(vary(bare, ill.name, name, factor * chance.uniform(0.5, 1.1), subject))
        parts.sort(key=lambda part: -part.severity)
        verdicts, plan = _named([story.verdicts, story.plan], story.name, name)
        made.append(Face(own, parts, verdicts, plan))
    return made


def vary(pattern: dict[str, Any], old: str, new: str, factor: float, subject: str | None = None) -> Said:
    """Say a finding of another system or object, with the judged figures and the cost multiplied.

    The figures are the same wherever the finding shows them: evidence, quoted lines, sentences.
    """
    data = _named(pattern, old, new)
    if subject:
        data["subject"] = subject
        data["key"] = f"{data['rule']}:{subject}"
        data["title"] = f"{data['title']} ({subject})"
    for item in data["evidence"]:
        value = item["value"]
        if not isinstance(value, float) or item["limit"] is None:
            continue
        most = 99.9 if item["unit"].startswith("%") else float("inf")
        item["value"] = round(min(value * factor, most), 1)
        shown = re.compile(rf"(?<![\w.,]){re.escape(f'{value:g}')}(?![\w,]|\.\d)")
        anew = f"{item['value']:g}"
        data["title"], data["says"] = shown.sub(anew, data["title"]), shown.sub(anew, data["says"])
        item["excerpt"] = [shown.sub(anew, line) for line in item.get("excerpt", [])]
    if data["cost"]:
        data["cost"] = {name: round(cost * factor, 4) for name, cost in data["cost"].items()}
    return Said(
        key=data["key"][:400],
        rule=data["rule"],
        subject=data["subject"][:300],
        severity=LEVEL[data["severity"]],
        title=data["title"][:500],
        processors=(data["cost"] or {}).get("processors"),
        **{"metric": "", "value": None, "unit": "", "limit": None, **figure_columns(data)},
        data=packed(data, FINDINGS),
    )


def verdicts_of(face: Face, findings: Iterable[Said]) -> list[dict[str, Any]]:
    """Every rule's verdict: fired where it has a finding in this audit, else what the story's audit said, or clean."""
    fired: dict[str, str] = {}
    for one in findings:
        fired.setdefault(one.rule, one.title)
    return [
        {**verdict, "verdict": "fired", "why": fired[verdict["rule"]]}
        if verdict["rule"] in fired
        else {**verdict, "verdict": "clean"}
        if verdict["verdict"] == "fired"
        else verdict
        for verdict in face.verdicts
    ]


def _named(data: Any, old: str, new: str) -> Any:
    """A deep copy in which the system has another name."""
    return json.loads(json.dumps(data).replace(old, new))
