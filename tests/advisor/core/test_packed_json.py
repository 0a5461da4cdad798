"""Packed JSON comes back as it was, that of a version before too; damage is told, and nobody filters by it."""

import json
import sqlite3
from collections.abc import Iterator
from contextlib import closing
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import psycopg
import pytest
import zstandard
from django.core.exceptions import FieldError
from hypothesis import given
from hypothesis import strategies as st

from advisor.audits.models import Audit, Capture, Finding
from advisor.core.packed_json import MOST_BYTES, packed, unpacked
from collectors.packed import AUDITS, FACTS, FINDINGS, MAGIC, DamagedBytes, UnknownDictionary, pack
from tests.longer import first_of
from tests.servers import manage, postgres

ANY_JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | st.text(),
    lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner),
)
FINDING: dict[str, Any] = {
    "key": "ase/some_rule:PROD1",
    "title": "Ünïcode \ud800 \0 <script>",
    "explains": [],
    "cost": None,
} | {f"part {number}": "words that every finding has" for number in range(20)}


@given(ANY_JSON)
def test_any_json_comes_back(value: Any) -> None:
    for use in (FINDINGS, AUDITS):
        assert repr(unpacked(packed(value, use))) == repr(value)  # tells 1 from 1.0 and from True


def test_what_is_long_is_packed_and_what_is_short_stays_as_it_is() -> None:
    assert packed(FINDING, FINDINGS).startswith(MAGIC)
    assert len(packed(FINDING, FINDINGS)) < len(json.dumps(FINDING)) / 2
    assert packed([], AUDITS) == b"[]"


def test_what_is_no_json_is_refused() -> None:
    with pytest.raises(ValueError, match="not JSON compliant"):
        packed([float("nan")], AUDITS)
    with pytest.raises(TypeError):
        packed({1, 2}, AUDITS)


def forged(size: int) -> bytes:
    """A frame that says it unpacks to so many bytes, and holds three."""
    one_segment_with_eight_bytes_of_size, last_block_as_it_is = b"\xe0", ((3 << 3) | 1).to_bytes(3, "little")
    return MAGIC + one_segment_with_eight_bytes_of_size + size.to_bytes(8, "little") + last_block_as_it_is + b"[1]"


def test_a_frame_made_by_hand_is_one() -> None:
    assert unpacked(forged(3)) == [1]


def damaged() -> Iterator[tuple[str, bytes]]:
    whole = packed(FINDING, FINDINGS)
    middle = len(whole) // 2
    yield "cut short", whole[:-3]
    yield "a head alone", whole[:5]
    yield "with a tail", whole + b"x"
    yield "twice", whole + whole
    yield "a flipped bit", whole[:middle] + bytes([whole[middle] ^ 16]) + whole[middle + 1 :]
    yield "an enormous one", forged(1 << 60)
    yield "one over the bound", forged(MOST_BYTES + 1)
    yield "one that is shorter than it says", forged(MOST_BYTES)
    streamed = zstandard.ZstdCompressor().compressobj()
    yield "one that tells no size", streamed.compress(b"[1]" * 1000) + streamed.flush()


@pytest.mark.parametrize("data", dict(damaged()).values(), ids=dict(damaged()))
def test_damaged_bytes_are_refused(data: bytes) -> None:
    with pytest.raises(DamagedBytes):
        unpacked(data)


@pytest.mark.parametrize("data", [b"", b"\x80\x02]q\x00.", b"{", "", pack(b"no JSON", FINDINGS, 3)])
def test_what_holds_no_json_is_refused(data: bytes | str) -> None:
    with pytest.raises(ValueError, match=r"Expecting|decode"):
        unpacked(data)


def test_an_unknown_dictionary_says_what_to_do() -> None:
    samples = [json.dumps({"number": number, "square": number**2}).encode() for number in range(5000)]
    stranger = zstandard.train_dictionary(1024, [*samples], dict_id=999)
    with pytest.raises(UnknownDictionary, match="the way 999, which this version does not know: install the version"):
        unpacked(zstandard.ZstdCompressor(dict_data=stranger).compress(json.dumps(FINDING).encode()))


def test_each_use_has_its_dictionary() -> None:
    numbers = [zstandard.get_frame_parameters(pack(b"x" * 100, use, 3)).dict_id for use in (FACTS, FINDINGS, AUDITS)]
    assert len(set(numbers)) == 3


@pytest.mark.postgres
def test_a_finding_comes_back_from_the_database(storm_audit: Audit) -> None:
    found = storm_audit.findings.get(number=0)
    found.data = FINDING
    found.save()
    assert Finding.objects.get(pk=found.pk).data == FINDING
    assert dict(Finding.objects.filter(pk=found.pk).values_list("pk", "data")) == {found.pk: FINDING}
    Finding.objects.filter(pk=found.pk).update(data={})
    found.refresh_from_db()
    assert found.data == {}
    Capture.objects.filter(pk=storm_audit.capture_id).update(kinds=None)
    assert Capture.objects.filter(kinds__isnull=True).get().pk == storm_audit.capture_id


@pytest.mark.django_db
@pytest.mark.parametrize("condition", ["data", "data__key", "data__contains", "data__in"])
def test_nobody_filters_by_what_the_database_cannot_read(condition: str) -> None:
    with pytest.raises(FieldError):
        Finding.objects.filter(**{condition: []}).exists()


BEFORE = (("uploads", "0003"), ("findings", "0004"), ("audits", "0008"))
TIME = datetime(2026, 3, 2, 9, tzinfo=UTC)
ROWS: tuple[tuple[str, dict[str, Any]], ...] = (
    ("accounts_team", {"id": 1, "name": "Claims"}),
    (
        "systems_system",
        {"id": 1, "team_id": 1, "product": "ase", "name": "PROD1", "key": "PROD1", "former": "[]", "version": ""}
        | {"platform": "", "created": TIME, "trouble": "", "trend": "[]"},
    ),
    (
        "audits_capture",
        {"id": 1, "system_id": 1, "taken": TIME, "timed": True, "interval": "{}", "version": "", "platform": ""}
        | {"fact_count": 1, "files": "[]", "figures": '[["cpu", "CPU", "%", 12.5, null]]', "kinds": None},
    ),
    (
        "audits_audit",
        {"id": 1, "capture_id": 1, "system_id": 1, "at": TIME, "why": "upload", "rules_version": "", "limits": "{}"}
        | {"worst": 1, "counts": "{}", "headline": "", "headline_number": 0, "findings_digest": "{}", "laws": "[]"}
        | {"unjudged": '["ase/other"]', "verdicts": '[{"rule": "ase/x", "verdict": "clean"}]', "comparisons": "[]"}
        | {"plan": '{"steps": []}', "problems": "[]"},
    ),
    (
        "audits_finding",
        {"id": 1, "audit_id": 1, "system_id": 1, "number": 0, "key": "ase/x:é", "rule": "ase/x", "subject": "é"}
        | {"severity": 1, "title": "é", "metric": "", "unit": "", "data": '{"key": "ase/x:\\u00e9", "cost": 1.5}'},
    ),
)
"""As the version before wrote them; `account` and `summary` the database filled in."""
AS_BEFORE = f"""
from django.db import connection
from django.db.migrations.executor import MigrationExecutor
executor = MigrationExecutor(connection)
named = executor.loader.get_migration_by_prefix
executor.migrate([(app, named(app, name).name) for app, name in {BEFORE}])
"""
SHOWN = """
from django.core.management import call_command
call_command("migrate", verbosity=0)
from advisor.audits.models import Audit, Capture, Finding
audit, capture, finding = Audit.objects.get(), Capture.objects.get(), Finding.objects.get()
print([audit.unjudged, audit.verdicts, audit.plan, audit.account, audit.summary, capture.figures, capture.kinds])
print(ascii(finding.data))
finding.data = {**finding.data, "new": "words " * 200}
finding.save()
audit.save(), capture.save()
print(Finding.objects.get().data == finding.data, Audit.objects.get().verdicts == audit.verdicts)
"""


def fill(connection: Any, place: str) -> None:
    for table, row in ROWS:
        values = [one.isoformat(" ") if isinstance(one, datetime) and place == "?" else one for one in row.values()]
        names = ", ".join(f'"{name}"' for name in row)
        connection.execute(f"INSERT INTO {table} ({names}) VALUES ({', '.join([place] * len(row))})", values)
    connection.commit()


@pytest.mark.long
@first_of(1, "vendor", ["sqlite", "postgresql"])
def test_a_database_of_the_version_before_is_read_and_written(vendor: str, tmp_path: Path) -> None:
    if vendor == "sqlite":
        upgraded(f"sqlite:///{tmp_path / 'before.sqlite3'}", tmp_path)
    else:
        with postgres() as address:
            upgraded(address, tmp_path)


def upgraded(address: str, folder: Path) -> None:
    environment = {"DATABASE_URL": address, "RUN_DIR": str(folder)}
    environment["DJANGO_SETTINGS_MODULE"] = "advisor.config.settings"
    manage("shell", "-v0", "-c", AS_BEFORE, environment=environment)
    if address.startswith("sqlite"):
        with closing(sqlite3.connect(address.removeprefix("sqlite:///"))) as connection:
            fill(connection, "?")
    else:
        with psycopg.connect(address) as connected:
            fill(connected, "%s")
    assert manage("shell", "-v0", "-c", SHOWN, environment=environment).splitlines() == [
        "[['ase/other'], [{'rule': 'ase/x', 'verdict': 'clean'}], {'steps': []}, [], {}, "
        "[['cpu', 'CPU', '%', 12.5, None]], None]",
        "{'key': 'ase/x:\\xe9', 'cost': 1.5}",
        "True True",
    ]
