"""What a live collection sampled, as pictures on the pages of waits, spinlocks and blocking."""

from collections.abc import Sequence
from datetime import datetime, timedelta

from advisor.ase.services.sampled import MOST_LINES, sampled_of
from advisor.charts.stacked import REST
from collectors.facts import ABSENT, Fact, Facts, Reading
from collectors.facts.ase import SampledBlocking, SampledSpinlock, SampledWaits
from tests.advisor.ase.servers import audited
from tests.advisor.people import AsUser, People, text_of

START = datetime(2026, 3, 2, 10, 0)  # noqa: DTZ001 - exports have no zone
STARTS = tuple(START + timedelta(seconds=5 * n) for n in range(3))
FIVE = (5.0, 5.0, 5.0)


def waited(event: int, seconds: Sequence[Reading]) -> SampledWaits:
    """One event in three steps of five seconds."""
    return SampledWaits(event=event, starts=STARTS, seconds=FIVE, waits=(1.0, 1.0, 1.0), wait_seconds=tuple(seconds))


def spun(name: str, spins: Sequence[Reading]) -> SampledSpinlock:
    """One spinlock in the same steps."""
    nothing = (0.0, 0.0, 0.0)
    return SampledSpinlock(name=name, starts=STARTS, seconds=FIVE, grabs=nothing, spins=tuple(spins), waits=nothing)


def blocked(*counts: float) -> SampledBlocking:
    """Sessions held up at three moments."""
    return SampledBlocking(taken=STARTS, blocked=counts, longest_seconds=(ABSENT, 1.0, 6.0))


def test_waits_are_tasks_by_cause_without_idle_events() -> None:
    found = sampled_of(Facts((waited(150, (10, 0, 5)), waited(29, (0, 20, 0)), waited(61, (99, 99, 99)))))
    assert found.waits
    assert "locks: 0 to 2, last 1." in found.waits
    assert "physical reads: 0 to 4, last 0." in found.waits
    assert "99" not in found.waits
    assert REST not in found.waits


def test_a_step_that_is_not_known_is_left_out_and_no_zero() -> None:
    found = sampled_of(Facts((waited(150, (10, ABSENT, 5)), waited(29, (5, 20, 5)))))
    assert found.left_out == 1
    assert found.waits
    assert "physical reads: 1 to 1, last 1." in found.waits
    assert sampled_of(Facts((waited(150, (10, ABSENT, ABSENT)),))).waits is None, "one step is no course"


def test_spinlocks_with_most_spins_have_a_line_and_a_gap_is_a_gap() -> None:
    locks = [spun(f"lock {n}", (n, n, n)) for n in range(1, 8)]
    found = sampled_of(Facts((*locks, spun("tablockspins", (500, ABSENT, 1000)))))
    assert found.spins
    assert "tablockspins" in found.spins
    assert "lock 7" in found.spins
    assert "lock 3" not in found.spins
    assert found.more_spinlocks == 8 - MOST_LINES


def test_nothing_sampled_nothing_drawn() -> None:
    found = sampled_of(Facts(()))
    assert (found.waits, found.spins, found.blocked, found.left_out, found.more_spinlocks) == (None, None, None, 0, 0)


def test_the_pages_show_them(people: People, as_user: AsUser) -> None:
    facts: list[Fact] = [waited(150, (10, 0, 5)), spun("x<script>", (1, 2, 3)), blocked(0.0, 2.0, 3.0)]
    audit = audited(people, facts)
    browser = as_user(people.owner)
    waits = text_of(browser, f"/audits/{audit.pk}/waits/")
    assert "Tasks waiting from sample to sample" in waits
    spinlocks = text_of(browser, f"/audits/{audit.pk}/spinlocks/")
    assert "Spins a second from sample to sample" in spinlocks
    assert "x<script>" not in spinlocks
    assert "Sessions that others held up" in text_of(browser, f"/audits/{audit.pk}/blocking/")
    for page in (waits, spinlocks):
        for tab in ("Waits", "Spinlocks", "Blocking"):
            assert f">{tab}</a>" in page
