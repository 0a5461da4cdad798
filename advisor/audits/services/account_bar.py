"""The few figures of an account that lists, metrics and pictures the size of a word show, kept with each audit.

They are made of the account as the contract prints it, by the one way its parts are named and ordered
(`advisor.audits.report.account`), so that a list of hundreds of systems never reads whole accounts.
"""

from collections.abc import Mapping, Sequence
from typing import Any

from advisor.audits.report.account import rows

MOST = 8
"""Losses, and things waited for, that are kept one by one; what is smaller is kept in one sum as `OTHER`. This bounds
the series of a system on the metrics page, too."""
OTHER = "other"
LONGEST = 80
"""Characters of a label: what is waited for may have the name of a file in it."""


def mean_of(accounts: Sequence[Mapping[str, Any]], currency: str) -> Mapping[str, Any] | None:
    """The account of the mean in a currency; `None` without one, where measured runs have one each, or of a test."""
    found = [one for one in accounts if (one["currency"], one["span"]) == (currency, "mean") and not one.get("test")]
    return found[0] if len(found) == 1 else None


def capacity_of(accounts: Sequence[Mapping[str, Any]]) -> float | None:
    """Processors that the account divides; `None` where it knows none."""
    account = mean_of(accounts, "processors")
    return float(account["capacity"]) if account and account["capacity"] else None


def waiting_tasks_of(accounts: Sequence[Mapping[str, Any]]) -> float | None:
    """Tasks that waited on average, whatever for; `None` where they were not counted."""
    account = mean_of(accounts, "waiting_tasks")
    return float(sum(amount for _, amount in _waits(account))) if account else None


def bar_of(accounts: Sequence[Mapping[str, Any]], findings: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
    """What is kept: `parts` of the processors as `[part, label, amount, rule]` and `waits` as `[label, tasks]`.

    `rule` is that of the finding that a loss is booked to, empty where no cause is shown. Amounts of which only an
    upper end is known are left out.
    """
    made: dict[str, Any] = {}
    if (account := mean_of(accounts, "processors")) and account["capacity"]:
        made["parts"] = _parts(account, {one["key"]: number for number, one in enumerate(findings, 1)})
    if waits := mean_of(accounts, "waiting_tasks"):
        made["waits"] = _waits(waits)
    return made


def _parts(account: Mapping[str, Any], numbers: Mapping[str, int]) -> list[list[Any]]:
    found = [row for row in rows(account, numbers, brief=True) if row.amount]
    lost = [row for row in found if row.part == "lost"]
    kept = [one for one in found if one.part != "lost" or one in lost[:MOST]]
    made = [[one.part, one.label[:LONGEST], one.amount, (one.finding or "").partition(":")[0]] for one in kept]
    if rest := sum(one.amount or 0.0 for one in lost[MOST:]):
        made.insert(kept.index(lost[MOST - 1]) + 1, ["lost", "other causes", rest, OTHER])
    return made


def _waits(account: Mapping[str, Any]) -> list[tuple[str, float]]:
    found = [(one.label[:LONGEST], one.amount) for one in rows(account, {}) if one.part in WAITS and one.amount]
    found.sort(key=lambda one: -one[1])
    rest = sum(tasks for _, tasks in found[MOST:])
    return [*found[:MOST], *([(OTHER, rest)] if rest else [])]


WAITS = ("lost", "unexplained")
"""Parts of the account of tasks that are tasks that wait; the others run."""
