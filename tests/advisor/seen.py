"""Systems and their captures as tests of the system page want them, and what that page says."""

import json
import re
from collections.abc import Mapping
from datetime import UTC, datetime, timedelta

from django.test import Client
from django.urls import reverse

from advisor.audits.models import Audit, Capture, Finding
from advisor.core.version import rules_version
from advisor.systems.models import SettingsSnapshot, System
from tests.advisor.people import People

LIMIT = "ase/address_lock_spinlock_contended.contention_percent"
START = datetime(2026, 1, 1, tzinfo=UTC)
CONTENDED, LOUD = "ase/address_lock_spinlock_contended:PROD1", "ase/engines_not_the_answer:PROD1"


def unknown_system(people: People) -> System:
    """A system of the owner's team that nothing is known of yet."""
    return System.objects.create(team=people.team, product="ase", name="PROD1", key="PROD1")


def see(
    system: System,
    hour: int,
    digest: dict[str, int] | None = None,
    *,
    figures: dict[str, float] | None = None,
    settings: Mapping[str, str | float] | None = None,
    verdict: str = "clean",
    rules: str = "",
) -> Audit:
    """A capture of the system at that hour, audited: what was found, and the verdict of the rule if nothing was."""
    digest = digest or {}
    held = None
    if settings is not None:
        held = SettingsSnapshot.objects.get_or_create(
            system=system, digest=json.dumps(settings)[:64], defaults={"values": settings}
        )[0]
    capture = Capture.objects.create(
        system=system,
        taken=START + timedelta(hours=hour),
        interval={"end": (START + timedelta(hours=hour)).replace(tzinfo=None).isoformat()},
        seconds=600,
        files=["sysmon.txt"],
        figures=[[key, f"label of {key}", "%", value, "low"] for key, value in (figures or {}).items()],
        settings=held,
    )
    fired = {key.split(":")[0] for key in digest}
    verdicts = [{"rule": rule, "verdict": "fired", "why": "", "missing": []} for rule in fired]
    for rule in {CONTENDED.split(":")[0], LOUD.split(":")[0]} - fired:
        verdicts.append({"rule": rule, "verdict": verdict, "why": "", "missing": []})
    audit = Audit.objects.create(
        capture=capture,
        system=system,
        rules_version=rules or rules_version(),
        worst=max(digest.values(), default=0),
        headline="the worst of them" if digest else "",
        findings_digest=digest,
        verdicts=verdicts,
    )
    Finding.objects.bulk_create(
        Finding(
            audit=audit,
            system=system,
            number=n,
            key=key,
            rule=key.split(":")[0],
            subject=key.split(":")[1],
            severity=level,
            title=f"title of {key.split(':')[0]} at {hour}",
            data={},
        )
        for n, (key, level) in enumerate(digest.items())
    )
    Capture.objects.filter(pk=capture.pk).update(audit=audit)
    System.objects.filter(pk=system.pk).update(latest=audit)
    system.refresh_from_db()
    return audit


def text_of(client: Client, system: System, query: str = "") -> str:
    answer = client.get(reverse("system", args=[system.pk]) + query)
    assert answer.status_code == 200
    return answer.content.decode()


def words_of(html: str) -> str:
    """What a reader sees of a page, without its tags."""
    return " ".join(re.sub(r"<[^>]*>", " ", html).split())
