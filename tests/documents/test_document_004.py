"""Document 004: Table 1 as it stands on the page of documents, its ratios, and the per cents of the text."""

import pytest

from collectors.facts import Facts, known
from collectors.facts.zvm import PerformanceRun
from rules.account import divided
from rules.zvm._evidence.account import measured
from rules.zvm._evidence.runs import Pair, doubt, pairs
from tests.documents.listed import entry, numbers_in, rule_of

FIELDS = {
    "Tx/sec (n)": "transactions_per_second",
    "SIE Instruction Rate (v)": "sie_per_second",
    "Total msec/Tx (h)": "total_msec_per_tx",
    "CP msec/Tx (h)": "cp_msec_per_tx",
    "Emul msec/Tx (h)": "emul_msec_per_tx",
    "Avg Spin Lock Rate (v)": "spin_rate",
    "Spin Time (v)": "spin_time_usec",
    "Pct Spin Time (v)": "spin_percent",
    "Total Util/Proc (v)": "total_util_percent",
    "System Util/Proc (v)": "system_util_percent",
}


def rows(place: str) -> dict[str, list[str]]:
    """Cells of each row of an entry, by its label; none of a row that is no figure of a run."""
    parted = (row.split(": ") for row in entry("004", place).figures)
    return {FIELDS[label]: cells.split() for label, cells in parted if label in FIELDS}


def table() -> list[PerformanceRun]:
    figures = entry("004", "Table 1. Reduced Scheduler Lock Contention").figures
    heads = [cell.split() for cell in figures[0].split(": ")[1].split(", ")]
    names = figures[1].split(": ")[1].split(", ")
    read = rows("Table 1. Reduced Scheduler Lock Contention")
    assert set(read) == set(FIELDS.values())
    return [
        PerformanceRun(
            run=name,
            release=release,
            processors=float(cpus),
            **{field: float(cells[at]) for field, cells in read.items()},  # type: ignore[arg-type]  # all readings
        )
        for at, (name, (release, cpus)) in enumerate(zip(names, heads, strict=True))
    ]


def reduced(pair: Pair, field: str) -> float:
    """By how many per cent a figure fell."""
    before, after = float(getattr(pair.base, field)), float(getattr(pair.run, field))
    return 100 * (1 - after / before)


def test_every_column_of_table_1_keeps_its_identities() -> None:
    runs = table()
    assert [one.run for one in runs] == ["43UPP3", "44UPP3", "43UPP9", "44UPP9", "43S1UP16", "44S1UP16"]
    assert [doubt(one) for one in runs] == [""] * 6
    swapped = PerformanceRun(run="x", processors=9.0, spin_rate=10047.0, spin_time_usec=24.90, spin_percent=24.782)
    assert "and not 24.782 %" in doubt(swapped)


def test_every_printed_ratio_of_table_1_comes_out() -> None:
    printed = rows("Table 1, Ratios")
    assert set(printed) == set(FIELDS.values())
    for at, pair in enumerate(pairs(table())):
        for field, cells in printed.items():
            assert cells[2 * at] == "1.000"
            assert f"{getattr(pair.run, field) / getattr(pair.base, field):.3f}" == cells[2 * at + 1], (field, at)


@pytest.mark.parametrize(
    ("processors", "rate", "spin", "cp"),
    [(3, 55, 62, None), (9, 54, 92, 87), (16, 29, 41, 13)],
)
def test_the_reductions_of_the_text_are_those_of_table_1(processors: int, rate: int, spin: int, cp: int | None) -> None:
    (pair,) = [one for one in pairs(table()) if one.processors == processors]
    figures = entry("004", f"Results, {processors}-way").figures
    said = [f"{value}%" for value in ((cp,) if cp else ()) + (rate, spin)]
    assert figures == (*said, f"{processors}-way")
    assert round(reduced(pair, "spin_rate")) == rate
    if cp is not None:
        assert round(reduced(pair, "cp_msec_per_tx")) == cp
        assert round(reduced(pair, "spin_percent")) == spin
    else:
        assert reduced(pair, "cp_msec_per_tx") == pytest.approx(3.0, abs=0.05), "does not change much"
        fell = reduced(pair, "spin_percent")
        assert int(fell) == spin, "cut, not rounded"
        slip = f"{pair.run.spin_percent:g} against {pair.base.spin_percent:g} is {fell:.1f} % less"
        assert slip in entry("004", "Results, 3-way").slip


def test_spinning_is_ranked_by_time_and_not_by_rate() -> None:
    base = [one for one in table() if one.release == "4.3.0"]
    by_rate = sorted(base, key=lambda one: -one.spin_rate)  # type: ignore[operator]
    by_time = sorted(base, key=lambda one: -one.spin_percent)  # type: ignore[operator]
    assert [one.processors for one in by_time] == [16, 9, 3]
    assert [one.processors for one in by_rate] == [9, 3, 16], "a rate says nothing of contention"
    assert [round(one.spin_share_of_cp_percent or 0) for one in by_time] == [51, 36, 5]


def test_500_idle_guests_ask_for_50_000_timers_a_second() -> None:
    (guests,), (milliseconds,) = (numbers_in(text) for text in entry("004", "Workload").figures[1:])
    text = rule_of("zvm/idle_guests_wake_too_often").text
    assert f"{1000 / milliseconds:.0f} times a second" in text
    assert f"{guests:.0f} such guests" in text
    assert guests * 1000 / milliseconds == 50_000


def test_the_account_of_each_run_tells_the_spinning_in_its_cost_of_a_transaction() -> None:
    runs = table()
    accounts = [divided(one, ()) for one in measured(Facts(tuple(runs)))]
    assert len(accounts) == len(runs)
    spun = []
    for run, account in zip(runs, accounts, strict=True):
        assert known(run.transactions_per_second)
        assert known(run.cp_msec_per_tx)
        assert account.capacity == run.processors
        assert account.gone + (account.idle or 0.0) + (account.work or 0.0) == pytest.approx(run.processors)
        spun.append(1000 * account.gone / run.transactions_per_second)
        assert spun[-1] < run.cp_msec_per_tx, "spinning for locks of CP is part of CP's time"
    cp = [run.cp_msec_per_tx for run in runs if known(run.cp_msec_per_tx)]
    assert [(round(one, 2), round(of, 1)) for one, of in zip(spun[2:], cp[2:], strict=True)] == [
        *((8.30, 23.1), (0.18, 3.0)),
        *((27.73, 54.1), (15.26, 47.0)),
    ], "9 and 16 processors, before and after"
