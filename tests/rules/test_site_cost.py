"""What one spin takes on a server: several captures of it find the cost that was planted, and never more than they can.

The server planted here has 8 engines; a transaction takes 1.2 ms of its own and 40 ns for each spin.
"""

from collections.abc import Iterator
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from pathlib import Path

import pytest

from advisor.audits.report.account import rows
from advisor.audits.report.data import account_data
from advisor.audits.services.auditing import run_audit
from advisor.uploads.services.reading import read_exports
from collectors.facts import Facts
from collectors.facts.ase import SpinLoad
from rules.account import MEAN, PROCESSORS, UNDIVIDED, Account
from rules.ase._evidence.spinlocks.site_cost import SiteCost, site_cost
from rules.audit import Audit, audit
from rules.laws.spin_fit import Load, fit
from tests.stories import HERE, audits_of, inputs_of

OWN, SPIN = 1.2e-3, 40e-9
"""Seconds: of a transaction without spins, and of one spin."""
ENGINES, SECONDS = 8, 600


def planted(rate: float, spins_each: float, *, error: float = 0.0, noise: float = 0.0) -> Load:
    """So many transactions a second, with so many spins each."""
    work = rate * SECONDS
    return Load(work, work * (OWN + SPIN * spins_each) * (1 + noise), error, work * spins_each)


# --- the law ---------------------------------------------------------------------------------------------------------


def test_two_loads_give_the_planted_cost_with_the_error_of_their_rounding_alone() -> None:
    exact = fit([planted(2000, 500), planted(4000, 6000)])
    assert exact is not None
    assert exact.low == pytest.approx(SPIN)
    assert exact.high == pytest.approx(SPIN)
    assert exact.own == pytest.approx(OWN)
    rounded = fit([planted(2000, 500, error=16.0), planted(4000, 6000, error=16.0)])
    assert rounded is not None
    half = (16 / (2000 * SECONDS) + 16 / (4000 * SECONDS)) / 5500
    assert rounded.seconds == pytest.approx(SPIN)
    assert rounded.high - rounded.seconds == pytest.approx(half)


def test_three_loads_and_more_give_an_interval_that_holds_the_planted_cost() -> None:
    noisy = [planted(1000 * n, 1000 * n, noise=0.002 * (-1) ** n) for n in range(1, 6)]
    found = fit(noisy)
    assert found is not None
    assert found.low < SPIN < found.high
    assert found.loads == 5
    wider = fit(noisy[:3])
    assert wider is not None
    assert wider.high - wider.low > found.high - found.low, "one degree of freedom says little"


def test_the_rounding_counts_where_it_is_wider_than_the_scatter() -> None:
    found = fit([planted(1000 * n, 1000 * n, error=16.0) for n in range(1, 6)])
    assert found is not None
    assert found.high - found.low > 1e-9


def test_loads_that_spin_alike_have_no_slope() -> None:
    assert fit([planted(2000, 5000), planted(4000, 5500)]) is None
    assert fit([planted(2000, 0), planted(4000, 0)]) is None
    assert fit([planted(2000, 500)]) is None


def test_other_work_makes_a_slope_below_zero_and_is_not_hidden() -> None:
    longer = replace(planted(2000, 500), busy_seconds=4000.0)
    found = fit([longer, planted(4000, 6000)])
    assert found is not None
    assert found.seconds < 0


# --- the captures ----------------------------------------------------------------------------------------------------


def load(hour: int, rate: float, spins_each: float, **further: object) -> SpinLoad:
    one = planted(rate, spins_each)
    made = SpinLoad(
        start=datetime(2026, 5, 12, hour),  # noqa: DTZ001 - exports have no zone
        seconds=SECONDS,
        engines=ENGINES,
        busy_seconds=one.busy_seconds,
        busy_error=16.0,
        spins=one.spins,
        transactions=one.work,
        transactions_error=0.0,
    )
    return replace(made, **further)  # type: ignore[arg-type]  # fields of it


QUIET, BUSY = load(10, 2000, 500), load(14, 4000, 6000)


def said(*loads: SpinLoad) -> SiteCost | str | None:
    first, *others = loads
    return site_cost(Facts((replace(first, own=True), *others)))


def test_the_cost_is_a_range_with_its_captures_and_its_error_in_words() -> None:
    found = said(BUSY, QUIET)
    assert isinstance(found, SiteCost)
    assert found.low < SPIN < found.high
    assert found.says == (
        "One spin took 36 to 44 ns on this server, by CPU time against spins per transaction of 2 captures (12-May "
        "14:00, 12-May 10:00); two captures leave no degree of freedom, so the range is the rounding of their figures "
        "alone, and that a transaction was the same work in both is taken for granted."
    )
    more = said(BUSY, QUIET, load(12, 3000, 3000))
    assert isinstance(more, SiteCost)
    assert more.says.endswith("the range is that of least squares, 95 %, or of rounding, whichever is wider.")


def test_one_capture_alone_says_nothing() -> None:
    assert said(BUSY) is None
    assert site_cost(Facts()) is None


@pytest.mark.parametrize(
    ("other", "why"),
    [
        (replace(QUIET, differs="sp_configure of both is not in the exports"), "sp_configure of both"),
        (load(10, 3500, 500), "3,500 to 4,000 transactions a second, which differs too little"),
        (load(10, 2000, 5500), "their spins per transaction differ too little"),
        (replace(QUIET, busy_seconds=4000.0), "not between 0 and the"),
        (replace(QUIET, busy_seconds=200.0), "not between 0 and the"),
        (replace(QUIET, busy_error=2000.0), "its error is larger than the 100 ns that it can be at most"),
    ],
    ids=["not comparable", "the same load", "as many spins", "below zero", "beyond the bound", "rounded away"],
)
def test_where_it_would_be_wrong_the_bound_stays(other: SpinLoad, why: str) -> None:
    found = said(BUSY, other)
    assert isinstance(found, str)
    assert why in found


def test_a_capture_that_cannot_be_held_against_this_one_is_left_out() -> None:
    found = said(BUSY, QUIET, replace(load(12, 3000, 3000), busy_seconds=9000.0, differs="6 engines were online"))
    assert isinstance(found, SiteCost)
    assert "2 captures" in found.says


# --- the exports -----------------------------------------------------------------------------------------------------


@dataclass
class Counters:
    """The totals of the server, which only rise."""

    transactions: float = 8e6
    spins: float = 4e9
    busy: float = 6e4
    """Seconds of all engines."""
    time: float = 9e4

    def run(self, rate: float, spins_each: float, seconds: int) -> None:
        """Let it work for a while."""
        one = rate * seconds
        self.transactions += one
        self.spins += one * spins_each
        self.busy += one * (OWN + SPIN * spins_each)
        self.time += seconds


BOOT = datetime(2026, 5, 3, 2, 11, 40)  # noqa: DTZ001 - exports have no zone


def clock(time: datetime) -> str:
    return f"{time:%b} {time.day:2} {time:%Y} {time:%I:%M:%S}:000{time:%p}"


def snapshot(counters: Counters, time: datetime) -> Iterator[str]:
    """What isql prints of the three tables."""
    yield "1> select @@servername, getdate(), @@boottime\n2> go\n"
    yield f"{' ' * 66}\n ------- -------------------------- --------------------------\n"
    yield f" PLANT8  {clock(time)} {clock(BOOT)}\n\n(1 row affected)\n"
    yield "1> select SpinlockName, Grabs, Spins, Waits, SpinlockSlotID from master..monSpinlockActivity\n2> go\n"
    yield " SpinlockName  Grabs           Spins           Waits           SpinlockSlotID\n"
    yield " ------------- --------------- --------------- --------------- --------------\n"
    for name, spins in (("addrlockspins", 0.75), ("fglockspins", 0.25), ("Sched Q", 3.0)):
        counted = counters.spins * spins
        yield f" {name:<13} {counted / 2:15.0f} {counted:15.0f} {counted / 200:15.0f} {0:14}\n"
    yield "\n(3 rows affected)\n1> select * from master..monState\n2> go\n"
    yield " LockWaits Connections StartDate                  CountersCleared            Transactions\n"
    yield " --------- ----------- -------------------------- -------------------------- ------------\n"
    yield f" {0:9} {402:11} {clock(BOOT)} {clock(BOOT)} {counters.transactions:12.0f}\n\n(1 row affected)\n"
    yield "1> select EngineNumber, CPUTime, SystemCPUTime, UserCPUTime, IOCPUTime, IdleCPUTime, Status from "
    yield "master..monEngine\n2> go\n"
    yield " EngineNumber CPUTime SystemCPUTime UserCPUTime IOCPUTime IdleCPUTime Status\n"
    yield " ------------ ------- ------------- ----------- --------- ----------- ------\n"
    for engine in range(ENGINES):
        user, system = int(0.9 * counters.busy / ENGINES), int(0.1 * counters.busy / ENGINES)
        idle = int(counters.time - counters.busy / ENGINES)
        yield f" {engine:12} {user + system:7} {system:13} {user:11} {0:9} {idle:11} online\n"
    yield f"\n({ENGINES} rows affected)\n"


def config(ratio: int = 100, version: str = "16.0 SP02 PL06/EBF 27113 SMP/P/x86_64/SLES 11.1") -> str:
    text = (
        "1> select @@servername, @@version\n2> go\n"
        f"{' ' * 90}\n {'-' * 8} {'-' * 80}\n PLANT8   Adaptive Server Enterprise/{version}\n\n(1 row affected)\n"
    )
    if ratio:
        text += (
            "1> sp_configure\n2> go\n"
            " Parameter Name                 Default     Memory Used Config Value Run Value    Unit         Type\n"
            " ------------------------------ ----------- ----------- ------------ ------------ ------------ --------\n"
            f" lock address spinlock ratio            100           0 {ratio:12} {ratio:12} ratio        static\n"
            " lock hashtable size                   2048        4096        32768        32768 bytes        static\n"
        )
    return text


def day(folder: Path, *loads: tuple[float, float], settings: str | None = None) -> list[Audit]:
    """The audits of a server that worked at each of these loads for ten minutes, one after the other."""
    counters, time = Counters(), datetime(2026, 5, 12, 10)  # noqa: DTZ001 - exports have no zone
    text = "".join(snapshot(counters, time))
    for rate, spins_each in loads:
        counters.run(rate, spins_each, SECONDS)
        time += timedelta(seconds=SECONDS)
        text += "".join(snapshot(counters, time))
    (folder / "monitoring.txt").write_text(text)
    (folder / "config.txt").write_text(config() if settings is None else settings)
    return run_audit(read_exports([str(folder)], None), {})  # type: ignore[arg-type]  # no standard input here


def of_engines(made: Audit) -> Account:
    return next(one for one in made.accounts if (one.currency, one.span) == (PROCESSORS, MEAN))


LOADS = ((2000.0, 500.0), (4000.0, 6000.0))
PLANTED = 4000 * 6000 * SPIN
"""Engines that spin in the second of them."""


def test_the_account_of_a_capture_finds_the_planted_loss_between_its_ends(tmp_path: Path) -> None:
    _, busy = (of_engines(one) for one in day(tmp_path, *LOADS))
    assert busy.undivided is not None
    assert 0 < busy.undivided.amount.low < PLANTED < busy.undivided.amount.high < 2.4, "the bound is 2.4 engines"
    assert busy.undivided.why == "spinning, 38 to 45 ns each by 2 captures of this server"
    assert busy.undivided.collect == "", "a capture at another load is there already"
    first = next(one for one in busy.lost if one.what == "spins of addrlockspins")
    assert first.amount.value is None
    assert first.part_of == UNDIVIDED
    assert first.amount.low < 0.75 * PLANTED < first.amount.high
    assert any(one.startswith("One spin took 38 to 45 ns on this server") for one in busy.remarks)
    assert busy.work_range is not None
    assert busy.work_range.low <= 4000 * OWN <= busy.work_range.high
    assert [(row.figure, row.label) for row in rows(account_data(busy), {}) if row.within] == [
        ("0.68 to 0.81", "of these, spins of addrlockspins"),
        ("0.23 to 0.27", "of these, spins of fglockspins"),
    ]


def test_the_verdict_tells_the_range_in_place_of_the_bound(tmp_path: Path) -> None:
    (_, made) = day(tmp_path, *LOADS)
    spinning = "0.9 to 1.1 of 8 engines are spinning, 38 to 45 ns each by 2 captures of this server."
    assert made.summary.verdict.endswith(f"; {spinning}")


def test_what_it_narrows_makes_nothing_louder(tmp_path: Path) -> None:
    """Findings, changes and severities are those of the bound."""
    (_, made) = day(tmp_path, *LOADS)
    facts = Facts(tuple(one for one in made.capture.facts if not isinstance(one, SpinLoad)))
    alone = audit(replace(made.capture, facts=facts))
    assert [(one.key, one.finding) for one in alone.findings] == [(one.key, one.finding) for one in made.findings]
    assert alone.plan == made.plan
    assert of_engines(alone).undivided != of_engines(made).undivided


def test_three_captures_are_fitted_with_their_scatter(tmp_path: Path) -> None:
    made = [of_engines(one) for one in day(tmp_path, *LOADS, (3000.0, 3000.0))]
    assert {one.startswith("One spin took") for account in made[1:] for one in account.remarks} == {True}
    assert all("3 captures" in one for account in made[1:] for one in account.remarks)


def test_captures_of_unknown_settings_keep_their_bound(tmp_path: Path) -> None:
    for made in day(tmp_path, *LOADS, settings=config(0)):
        account = of_engines(made)
        if account.undivided:
            assert account.undivided.amount.low == 0
            assert "sp_configure of both is not in the exports" in account.remarks[-1]
            assert account.undivided.collect


def test_a_chain_of_captures_each_with_other_settings_or_work_keeps_its_bounds() -> None:
    """Source document 001, all in one upload: ratios changed, then tables moved, so a transaction was other work."""
    inputs = [one for name in CHAIN for one in inputs_of(HERE / name)]
    spun = [one for one in run_audit(inputs, {}) if any(loss.part_of for a in one.accounts for loss in a.lost)]
    assert len(spun) == len(CHAIN)
    said = [" ".join(of_engines(one).remarks) for one in spun]
    assert "lock address spinlock ratio was set otherwise" in said[0]
    assert "-160 ns, which is not between 0 and the 100 ns" in said[-1]
    assert all(loss.amount.low == 0 for one in spun for loss in of_engines(one).lost)
    (alone,) = audits_of(HERE / CHAIN[0])
    assert of_engines(alone).undivided == of_engines(spun[0]).undivided


CHAIN = ("vlh_1_address_locks", "vlh_2_descriptors", "vlh_3_system_tables", "vlh_4_hot_tables", "vlh_5_one_scan")
