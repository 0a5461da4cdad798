"""A made fleet audits itself: its exports are read as a real server's are, by schedules as anybody makes them."""

import io
from datetime import UTC, datetime, timedelta
from pathlib import Path
from random import Random
from typing import Any

import pytest
import time_machine
from django.core.management import call_command
from django.core.management.base import CommandError
from pytest_django import DjangoCaptureOnCommitCallbacks, Settings

from advisor.accounts.models import Team
from advisor.audits.models import Audit, Capture
from advisor.operations.seeding import fleet as seed_fleet
from advisor.operations.seeding.exports import STORIES, Pattern, patterns
from advisor.operations.tasks import tick
from advisor.schedules.models import Schedule
from advisor.systems.models import System
from advisor.uploads.models import Upload
from advisor.uploads.services.reading import captures_of, read_exports
from rules.audit import audit
from rules.finding import Verdict

HOUR = datetime(2026, 3, 2, 11, tzinfo=UTC)
END = HOUR.replace(tzinfo=None)
FLEET = 8
"""Systems: two ill and two well ones of each product."""
BOTH = [(product, which) for product in STORIES for which in (0, 1)]


@pytest.fixture
def fleet(settings: Settings, tmp_path: Path, db: None) -> Path:
    """Have the drop folders of the fleet here."""
    settings.DROP_FOLDERS = [tmp_path / "drop"]
    return tmp_path / "drop" / "SEED-fleet"


def seed(**options: Any) -> str:
    """Give what the command prints."""
    said = io.StringIO()
    call_command("seed", stdout=said, **{"fleet": FLEET, "hour": HOUR, **options})
    return said.getvalue()


def audit_itself(capture: DjangoCaptureOnCommitCallbacks, due: datetime = HOUR + timedelta(hours=1)) -> None:
    """Have all schedules due, and the clock tick until everything has settled and is audited."""
    Schedule.objects.update(next_due=due)
    for seconds in (0, 70):
        with time_machine.travel(due + timedelta(seconds=seconds), tick=False), capture(execute=True):
            tick()


def judged(pattern: Pattern, folder: Path, end: datetime = END) -> tuple[list[Verdict], list[str]]:
    """The verdicts on what a pattern exports, and what its readers complain of."""
    for name, data in pattern.exports("SEED0001", end, Random(end.isoformat())).items():
        (folder / name).write_bytes(data)
    inputs = read_exports([str(path) for path in sorted(folder.iterdir())], io.BytesIO())
    (capture,) = captures_of(inputs, "SEED0001")
    assert capture.system.name == "SEED0001"
    assert capture.interval.end is not None
    assert capture.interval.end.replace(microsecond=0) == end
    return list(audit(capture).verdicts), [problem for one in inputs for problem in one.problems]


@pytest.mark.parametrize(("product", "which"), BOTH)
def test_made_exports_are_read_without_a_complaint(product: str, which: int, tmp_path: Path) -> None:
    verdicts, problems = judged(patterns()[product][which], tmp_path)
    assert problems == []
    assert not {one.verdict for one in verdicts} & {"untrusted", "broken"}


@pytest.mark.parametrize("product", STORIES)
def test_an_ill_pattern_has_findings_and_a_well_one_none_above_a_note(product: str, tmp_path: Path) -> None:
    found = []
    for number, pattern in enumerate(patterns()[product]):
        folder = tmp_path / str(number)
        folder.mkdir()
        verdicts, _ = judged(pattern, folder)
        found.append([one.rule for one in verdicts for finding in one.findings if finding.severity > 1])
    assert len(found[0]) >= 3
    assert found[1] == []


@pytest.mark.parametrize(("product", "which"), BOTH)
def test_each_hour_brings_other_figures_and_the_same_hour_the_same_bytes(product: str, which: int) -> None:
    pattern = patterns()[product][which]

    def figures(chance: int) -> list[bytes]:
        return list(pattern.exports("SEED0001", END, Random(chance)).values())

    assert figures(0) == figures(0)
    assert figures(0) != figures(1)


@pytest.mark.long
def test_a_seeded_fleet_audits_itself(
    fleet: Path, django_capture_on_commit_callbacks: DjangoCaptureOnCommitCallbacks
) -> None:
    said = seed()
    assert "8 systems" in said
    assert "12 files" in said  # one of an ASE server, two of a node
    audit_itself(django_capture_on_commit_callbacks)
    assert System.objects.count() == FLEET
    assert Upload.objects.filter(state="done", origin="schedule").count() == FLEET
    for system in System.objects.all():
        assert system.latest is not None
        assert system.latest.capture.taken.replace(microsecond=0) == HOUR
        assert sorted(path.name for path in (fleet / system.name).iterdir()) == ["taken"]
    worst = dict(Audit.objects.values_list("system__name", "worst"))
    assert sum(level >= 3 for level in worst.values()) >= 2
    assert sum(level <= 1 for level in worst.values()) >= 2


@pytest.mark.long
def test_the_next_hour_is_another_capture_of_the_same_systems(
    fleet: Path, django_capture_on_commit_callbacks: DjangoCaptureOnCommitCallbacks
) -> None:
    for hours in (0, 1):
        hour = HOUR + timedelta(hours=hours)
        said = seed(hour=hour)
        audit_itself(django_capture_on_commit_callbacks, hour + timedelta(hours=1))
    assert "0 systems" in said
    assert Schedule.objects.count() == System.objects.count() == FLEET
    assert Capture.objects.count() == Audit.objects.count() == 2 * FLEET


@pytest.mark.long
def test_one_schedule_looks_into_the_folders_of_all(
    fleet: Path, django_capture_on_commit_callbacks: DjangoCaptureOnCommitCallbacks
) -> None:
    seed(one_schedule=True)
    schedule = Schedule.objects.get()
    assert (schedule.folder, schedule.system) == (str(fleet), None)
    audit_itself(django_capture_on_commit_callbacks)
    assert set(Audit.objects.values_list("system__name", flat=True)) == {f"SEED{n:04d}" for n in range(1, FLEET + 1)}


def test_half_a_file_is_never_seen_under_its_name(fleet: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    seed(fleet=1)
    seen: list[str] = []
    write = Path.write_bytes

    def watched(path: Path, data: bytes) -> int:
        seen.append(path.name)
        return write(path, data)

    monkeypatch.setattr(Path, "write_bytes", watched)
    count, size = seed_fleet.drop(seed_fleet.fleet(), HOUR)
    assert count == len(seen) == 2
    assert all(name.startswith(".") for name in seen)
    files = list((fleet / "SEED0001").iterdir())
    assert not any(path.name.startswith(".") for path in files)
    assert sum(path.stat().st_size for path in files) == size


def test_a_fleet_is_put_beside_other_systems_only_when_told_to_add(fleet: Path) -> None:
    System.objects.create(team=Team.objects.create(name="Claims"), product="ase", name="CLAIMS1", key="CLAIMS1")
    with pytest.raises(CommandError, match="--add"):
        seed()
    assert not Schedule.objects.exists()
    seed(add=True)
    assert Schedule.objects.count() == FLEET


def test_a_folder_that_cannot_be_made_is_told_of(fleet: Path) -> None:
    fleet.parent.write_text("no folder")
    with pytest.raises(CommandError, match="DROP_FOLDERS"):
        seed()


@pytest.mark.parametrize("wrong", [{"fleet": 0}, {"settle": 0}])
def test_a_fleet_that_cannot_be_is_refused(fleet: Path, wrong: dict[str, int]) -> None:
    with pytest.raises(CommandError):
        seed(**wrong)
    assert not Schedule.objects.exists()
