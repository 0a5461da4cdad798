"""The figures of a database over time, and its attributes."""

from collectors.facts import Fact, Facts, Source
from collectors.facts.rdb import Database, StatisticRow, StatisticsWindow
from rules.figures import key_figures
from rules.settings import settings_of

ROOT = "DISK$DB:[PAY]PAYROLL.RDB;1"
SUMMARY, PAGES, IO = "Summary Locking Statistics", "Locking (page locks)", "Summary IO Statistics"


def screens(over: str, seconds: float) -> list[Fact]:
    def window(screen: str, line: int) -> Fact:
        source = Source("s.txt", line, line + 9)
        return StatisticsWindow(
            source=source, database=ROOT, node="ORKNEY", screen=screen, over=over, elapsed_seconds=seconds
        )

    def row(screen: str, line: int, item: str, rate: float, kind: str | None) -> Fact:
        return StatisticRow(
            source=Source("s.txt", line, line),
            database=ROOT,
            node="ORKNEY",
            screen=screen,
            item=item,
            label=item,
            lock_type=kind,
            mean_per_second=rate,
            over=over,
        )

    items = ("locks requested", "locks promoted", "locks demoted", "locks released")
    return [
        window(SUMMARY, 1),
        *(row(SUMMARY, 2, item, 100.0, "total") for item in items),
        row(SUMMARY, 3, "blocking asts", 7.0, "total"),
        window(PAGES, 11),
        *(row(PAGES, 12, item, 60.0, "page") for item in items),
        window(IO, 21),
        row(IO, 22, "transactions", 5.0, None),
    ]


def figures(*facts: Fact) -> dict[str, float]:
    return {figure.key: figure.value for figure in key_figures(Facts(facts))}


def test_an_interval_gives_the_figures_of_the_database_on_its_node() -> None:
    where = "DISK$DB:[PAY]PAYROLL.RDB on ORKNEY"
    assert figures(*screens("interval", 600)) == {
        f"rdb.lock_operations:{where}": 400.0,
        f"rdb.page_locks:{where}": 60.0,
        f"rdb.blocking_asts:{where}": 7.0,
        f"rdb.transactions:{where}": 5.0,
    }


def test_an_average_of_weeks_is_no_figure_to_watch() -> None:
    assert figures(*screens("since reset", 9 * 86_400)) == {}
    assert figures(*screens("since reset", 3_600))


def test_attributes_are_settings_by_stable_names_and_what_was_not_read_is_none() -> None:
    header = Database(database=ROOT, fast_commit=False, maximum_users=200.0, open_mode="AUTOMATIC")
    assert settings_of(Facts((header,))) == {
        "DISK$DB:[PAY]PAYROLL.RDB: FAST COMMIT enabled": "no",
        "DISK$DB:[PAY]PAYROLL.RDB: NUMBER OF USERS": 200.0,
        "DISK$DB:[PAY]PAYROLL.RDB: OPEN": "AUTOMATIC",
    }
