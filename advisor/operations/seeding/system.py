"""One made system: its captures, audits and findings, written in bulk."""

import hashlib
import json
import math
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from datetime import datetime, timedelta
from random import Random
from typing import Any, cast

from django.db import connection
from django.db.models import Field, Model, OuterRef, Subquery
from django.utils import timezone

from advisor.accounts.models import Role, Team
from advisor.audits.models import (
    Audit,
    Capture,
    CaptureFacts,
    Finding,
)
from advisor.audits.services.persistence import UNJUDGED, settle_system
from advisor.core.models import JournalEntry
from advisor.core.packed_json import unpacked
from advisor.core.version import rules_version
from advisor.operations.seeding.shapes import (
    LABEL,
    STRENGTHS,
    Face,
    Said,
    Story,
    faces,
    verdicts_of,
)
from advisor.systems.models import Note, SettingsSnapshot, System
from advisor.uploads.models import Input, Upload, UploadFile

MARK = "SEED"
SETTING_KEPT = 60
"""Captures until a setting changes."""


class Made:
    """One made system."""

    def __init__(self, name: str, team: Team, ill: Story, well: Story, objects: int) -> None:
        """Make up what its audits will say."""
        self.chance = Random(name)  # noqa: S311 - made data, the same every time
        self.name, self.team, self.ill, self.well = name, team, ill, well
        self.by = team.users.filter(role=Role.DBA).order_by("-username")[0]
        self.faces = faces(name, ill, well, objects, self.chance)
        self.illness = self.chance.choice((0.0, 0.3, 0.6, 1.0))
        """The share of its hours in which it is ill."""
        self.prepared: dict[tuple[int, int], tuple[list[Said], dict[str, Any]]] = {}

    def write(self, counts: list[int]) -> Counter[str]:
        """Write it with a capture for each number of findings, oldest first; gives the rows of each kind."""
        known = self.ill.capture
        self.system = System.objects.create(
            team=self.team,
            product=self.ill.product,
            name=self.name,
            key=self.name,
            expected_hours=self.chance.choice((None, 2, 24)),
        )
        late = timedelta(hours=self.chance.choice((*(0,) * 9, 50)), minutes=self.chance.randrange(60))
        hour = timezone.now().replace(minute=0, second=0, microsecond=0) - late
        times = [hour - timedelta(hours=ago) for ago in reversed(range(len(counts)))]
        uploads = self._uploads(times)
        snapshots = self._snapshots(len(counts))
        ills = [self._strength(at) for at in range(len(counts))]
        captures = Capture.objects.bulk_create(
            Capture(
                system=self.system,
                upload=upload,
                taken=taken,
                interval={
                    "start": _naive(taken - timedelta(seconds=known.seconds or 600)),
                    "end": _naive(taken),
                    "seconds": known.seconds or 600.0,
                },
                seconds=known.seconds or 600.0,
                version=known.version,
                platform=known.platform,
                processors=known.processors,
                fact_count=known.fact_count,
                files=known.files,
                figures=self._figures(taken, self.faces.index(face)),
                settings=snapshot,
            )
            for upload, taken, face, snapshot in zip(uploads, times, ills, snapshots, strict=True)
        )
        facts = self.ill.facts_as(self.name)
        fill(CaptureFacts, ("capture", "data"), ((capture.pk, facts) for capture in captures))
        said = [self._said(face, count) for face, count in zip(ills, counts, strict=True)]
        audits = Audit.objects.bulk_create(
            Audit(
                capture=capture,
                system=self.system,
                at=capture.taken + timedelta(minutes=2),
                rules_version=rules_version(),
                **fields,
            )
            for capture, (_, fields) in zip(captures, said, strict=True)
        )
        columns = ("audit", "system", "number", *Said.__annotations__)
        rows = (
            (audit.pk, self.system.pk, number, *vars(finding).values())
            for audit, (findings, _) in zip(audits, said, strict=True)
            for number, finding in enumerate(findings)
        )
        made = Counter(systems=1, uploads=len(uploads), captures=len(captures), audits=len(audits))
        made["settings snapshots"] = len({one.pk for one in snapshots})
        made["findings"] = fill(Finding, columns, rows)
        of_capture = Audit.objects.filter(capture=OuterRef("pk")).values("pk")[:1]
        Capture.objects.filter(system=self.system).update(audit=Subquery(of_capture))
        self._words(uploads)
        settle_system(self.system)
        return made

    def _strength(self, at: int) -> Face:
        """How ill it is in this hour: worst in the middle of the day, as far as it is ill at all."""
        wave = (1 + math.sin(2 * math.pi * at / 24)) / 2 * self.illness + self.chance.uniform(-0.1, 0.1)
        return self.faces[0 if wave < 0.3 else min(len(STRENGTHS), 1 + int((wave - 0.3) * 5))]

    def _said(self, face: Face, count: int) -> tuple[list[Said], dict[str, Any]]:
        """The findings of an audit, dearest first, and the fields of the audit that follow from them."""
        if len(face.own) > count:
            face = self.faces[0]
        key = (self.faces.index(face), count)
        if key not in self.prepared:
            own = face.own[:count]
            explained = {key for one in own for key in unpacked(one.data)["explains"]}
            findings = [*own, *face.objects[: count - len(own)]]
            verdicts = verdicts_of(face, findings)
            costs = [one.processors for one in findings if one.processors is not None and one.key not in explained]
            worst = max((one.severity for one in findings), default=0)
            headline = next((number for number, one in enumerate(findings) if one.severity == worst), 0)
            tally = Counter(verdict["verdict"] for verdict in verdicts)
            tally.update(LABEL[one.severity] for one in findings)
            self.prepared[key] = (
                findings,
                {
                    "worst": worst,
                    "headline": findings[headline].title if findings else "",
                    "headline_number": headline,
                    "counts": dict(tally),
                    "processors_lost": sum(costs) if costs else None,
                    "findings_digest": {one.key: one.severity for one in findings},
                    "unjudged": [one["rule"] for one in verdicts if one["verdict"] in UNJUDGED],
                    "verdicts": verdicts,
                    "plan": face.plan,
                },
            )
        return self.prepared[key]

    def _figures(self, taken: datetime, face: int) -> list[list[Any]]:
        """The key figures of a capture: with the time of day, and worse where it is ill."""
        day = 1 + 0.2 * math.sin(2 * math.pi * taken.hour / 24)
        found = []
        for key, label, unit, value, better in (self.ill if face else self.well).capture.figures:
            if better is not None or not float(value).is_integer():
                value = round(value * day * self.chance.uniform(0.9, 1.1), 3)
            found.append([key, label, unit, min(value, 100.0) if unit.startswith("%") else value, better])
        return found

    def _snapshots(self, captures: int) -> list[SettingsSnapshot]:
        """The settings of each capture: one of them changes now and then."""
        values, found = dict(self.ill.settings), []
        numbers = sorted(name for name, value in values.items() if isinstance(value, float) and value > 0)
        for at in range(captures):
            if at % SETTING_KEPT == 0:
                if at and numbers:
                    values[self.chance.choice(numbers)] *= self.chance.choice((0.5, 2))
                digest = hashlib.sha256(json.dumps(values, sort_keys=True, default=str).encode()).hexdigest()
                snapshot, _ = SettingsSnapshot.objects.get_or_create(
                    system=self.system, digest=digest, defaults={"values": dict(values)}
                )
            found.append(snapshot)
        return found

    def _uploads(self, times: list[datetime]) -> list[Upload]:
        """An upload for each capture, read to its end; its bytes have gone."""
        size = sum(size for _, size in self.ill.files)
        made = Upload.objects.bulk_create(
            Upload(
                team=self.team,
                digest=hashlib.sha256(f"{self.name} {time.isoformat()}".encode()).hexdigest(),
                by=self.by,
                at=time + timedelta(minutes=1),
                origin="api",
                state=Upload.State.DONE,
                tries=1,
                claimed=time + timedelta(minutes=1),
                finished=time + timedelta(minutes=2),
                total_bytes=size,
                read_bytes=size,
                bytes_dropped=timezone.now(),
            )
            for time in times
        )
        files = ((one.pk, number, *file) for one in made for number, file in enumerate(self.ill.files))
        fill(UploadFile, ("upload", "number", "name", "size"), files)
        columns = ("number", "file", "report", "facts", "problems", "leftovers")
        inputs = [
            [json.dumps(one[name]) if name in columns[4:] else one[name] for name in columns] for one in self.ill.inputs
        ]
        fill(Input, ("upload", *columns), ((one.pk, *values) for one in made for values in inputs))
        return made

    def _words(self, uploads: list[Upload]) -> None:
        """What was written of it: the journal of its uploads, a note."""
        names = ", ".join(name for name, _ in self.ill.files)
        JournalEntry.objects.bulk_create(
            JournalEntry(
                at=one.at,
                who=self.by.username,
                user=self.by,
                team=self.team,
                action="upload",
                what=f"upload {one.pk}: {names}"[:500],
            )
            for one in uploads
        )
        Note.objects.create(system=self.system, by=self.by, text=f"{MARK}: a made system; nobody runs it.")


def fill(model: type[Model], fields: Iterable[str], rows: Iterable[tuple[Any, ...]]) -> int:
    """Insert many rows of plain values (JSON as text), on PostgreSQL by COPY; gives how many."""
    quote = connection.ops.quote_name
    columns = [quote(cast("Field[Any, Any]", model._meta.get_field(name)).column) for name in fields]
    table, names, count = quote(model._meta.db_table), ", ".join(columns), 0

    def counted() -> Iterator[tuple[Any, ...]]:
        nonlocal count
        for row in rows:
            count += 1
            yield row

    with connection.cursor() as cursor:
        if connection.vendor == "postgresql":
            with cursor.copy(f"COPY {table} ({names}) FROM STDIN") as copy:
                for row in counted():
                    copy.write_row(row)
        else:
            places = ", ".join(["%s"] * len(columns))
            lazily = cast("Sequence[Any]", counted())  # which the drivers take, whatever the stubs say
            cursor.executemany(f"INSERT INTO {table} ({names}) VALUES ({places})", lazily)  # noqa: S608 - our names
    return count


def _naive(time: datetime) -> str:
    """A time as exports have it: without a zone."""
    return time.replace(tzinfo=None).isoformat()
