"""Where the capacity went before and after: the accounts of the two sides' audits, one under the other on one scale."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from markupsafe import Markup

from advisor.audits.models import Capture
from advisor.audits.report import account
from advisor.audits.report.account_picture import page_bar, swatches


@dataclass(frozen=True)
class SideAccount:
    """The account of one side."""

    capture: Capture
    """The newest of its side."""
    bar: Markup
    rows: list[tuple[account.Row, Markup]]
    """Its parts, each with the colour it has in the bar."""
    lost: str
    """`2.64 of 8 CPUs`; empty where the account does not tell, or is not of processors."""


@dataclass(frozen=True)
class AccountPair:
    """The accounts of both sides in one currency, on average over the capture."""

    heading: str
    before: SideAccount
    after: SideAccount


def accounts_of(before: Sequence[Capture], after: Sequence[Capture], product: str) -> list[AccountPair]:
    """What the audits of the newest captures of both sides divide: the currencies that both have.

    Each side is oldest first. Empty where either has no audit, or one without an account.
    """
    early, late = before[-1], after[-1]
    ours, theirs = _means(early), _means(late)
    return [
        _pair(early, ours[currency], late, theirs[currency], product, currency)
        for currency in ("processors", "waiting_tasks")
        if currency in ours and currency in theirs
    ]


def _means(capture: Capture) -> dict[str, Mapping[str, Any]]:
    """Currency → the account of the mean; of several, as of measured runs, none can be held against another's."""
    if capture.audit is None:
        return {}
    means = [one for one in account.shown(capture.audit.account) if one["span"] == "mean" and not one.get("test")]
    currencies = [one["currency"] for one in means]
    return {one["currency"]: one for one in means if currencies.count(one["currency"]) == 1}


def _pair(
    early: Capture, ours: Mapping[str, Any], late: Capture, theirs: Mapping[str, Any], product: str, currency: str
) -> AccountPair:
    told = [account.rows(one, {}) for one in (ours, theirs)]
    lengths = [
        max(one["capacity"] or 0.0, sum(row.amount or 0.0 for row in rows))
        for one, rows in zip((ours, theirs), told, strict=True)
    ]

    def side(capture: Capture, one: Mapping[str, Any], rows: list[account.Row], name: str) -> SideAccount:
        return SideAccount(
            capture,
            page_bar(one, rows, product, name=f"{name}-{currency}", whole=max(lengths)),
            list(zip(rows, swatches(rows), strict=True)),
            account.lost([one], product) if currency == "processors" else "",
        )

    return AccountPair(
        f"Where the {account.unit(ours, product)} went, on average",
        side(early, ours, told[0], "before"),
        side(late, theirs, told[1], "after"),
    )
