"""What stands on a system is counted by every write, and ends with the day of an acceptance."""

from collections import Counter
from collections.abc import Callable
from datetime import date, timedelta

import pytest
from django.utils import timezone

from advisor.findings.models import SystemCounts, TrackedFinding
from advisor.findings.services.listing import open_count
from advisor.findings.services.pages import with_open
from advisor.findings.services.tracking import merge
from advisor.systems.models import System
from advisor.uploads.models import Upload
from tests.advisor.people import People

pytestmark = pytest.mark.postgres
Write = Callable[[TrackedFinding], object]


def rows(found: "TrackedFinding", **changes: object) -> int:
    return TrackedFinding.objects.filter(pk=found.pk).update(**changes)


def saved(found: TrackedFinding, **changes: object) -> None:
    for name, value in changes.items():
        setattr(found, name, value)
    found.save(update_fields=list(changes))


def written_together(found: TrackedFinding, **changes: object) -> None:
    for name, value in changes.items():
        setattr(found, name, value)
    TrackedFinding.objects.bulk_update([found], list(changes))


def by_hand(system: System) -> tuple[Counter[str], int, int | None]:
    """How many stand in which state, the worst that is not accepted, and the worst of all by the order of lists."""
    standing = [row for row in system.tracked.all() if row.presence == "standing"]
    still = [row for row in standing if row.state != "accepted"]
    worst = next(iter(sorted(standing, key=lambda row: (row.state == "accepted", -row.severity, row.number))), None)
    level = max((row.severity for row in still), default=0)
    return Counter(row.state for row in standing), level, worst.pk if worst else None


def kept(system: System) -> tuple[Counter[str], int, int | None]:
    counts = SystemCounts.objects.get(system=system)
    assert (counts.open, counts.accepted) == (counts.states.get("open", 0), counts.states.get("accepted", 0))
    return Counter(counts.states), counts.worst_open, counts.worst_id


@pytest.mark.parametrize("write", [rows, saved, written_together])
@pytest.mark.parametrize(
    "changes",
    [
        {"state": "accepted", "state_until": date(2099, 1, 1)},
        {"state": "planned"},
        {"presence": "gone"},
        {"severity": 1},
        {"number": 99},
    ],
)
def test_a_write_of_any_kind_is_counted(
    day: Callable[..., Upload], write: Callable[..., object], changes: dict[str, object]
) -> None:
    day(11)
    system = System.objects.get()
    before = kept(system)
    assert before == by_hand(system)
    write(system.tracked.order_by("-severity", "number")[0], **changes)
    assert kept(system) == by_hand(system) != before


def test_what_is_deleted_or_moved_is_counted_on_both_systems(day: Callable[..., Upload], people: People) -> None:
    day(11)
    system = System.objects.get()
    system.tracked.order_by("pk")[0].delete()
    assert kept(system) == by_hand(system)
    other = System.objects.create(team=people.team, product="ase", name="OTHER", key="OTHER")
    merge(system, other)
    assert (kept(system), by_hand(other)[2] is not None) == ((Counter(), 0, None), True)
    assert kept(other) == by_hand(other)


def test_an_acceptance_ends_with_its_day_before_the_sweep_comes(
    day: Callable[..., Upload], people: People, monkeypatch: pytest.MonkeyPatch
) -> None:
    day(11)
    system, today = System.objects.get(), timezone.localdate()
    number = system.tracked.count()
    system.tracked.update(state="accepted", state_until=today)
    assert (with_open(System.objects.all()).get().accepted, open_count(people.owner)) == (number, 0)  # type: ignore[attr-defined]
    monkeypatch.setattr(timezone, "localdate", lambda *_: today + timedelta(days=1))  # the night passes; nobody writes
    assert with_open(System.objects.all()).get().accepted == 0  # type: ignore[attr-defined]
    assert open_count(people.owner) == number


def test_what_was_followed_before_the_upgrade_is_counted_by_the_first_page(day: Callable[..., Upload]) -> None:
    day(11)
    system = System.objects.get()
    told = kept(system)
    SystemCounts.objects.update(open=0, accepted=0, worst_open=0, worst=None, states={}, until=date.min)
    found = with_open(System.objects.all()).get()
    assert kept(system) == told == by_hand(system)
    assert found.states == told[0]  # type: ignore[attr-defined]
