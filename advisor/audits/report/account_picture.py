"""The account as a picture: the rows of `report.account` drawn by `charts.account`, for page, file, PDF and mail."""

from collections.abc import Mapping, Sequence
from typing import Any

from markupsafe import Markup

from advisor.audits.report.account import Row, heading, unit
from advisor.charts import account as chart
from advisor.charts import fluid

WIDE = 620
"""px: on paper."""


def picture(
    account: Mapping[str, Any], rows: Sequence[Row], product: str, *, width: int = WIDE, legend: bool = True
) -> Markup:
    """Draw an account of the JSON whose rows are these. Without `legend` a table beside it has `swatches`."""
    return chart.account_bar(
        _parts(rows),
        capacity=account["capacity"],
        unit=unit(account, product),
        title=heading(account, product),
        width=width,
        legend=legend,
    )


def page_bar(
    account: Mapping[str, Any], rows: Sequence[Row], product: str, *, name: str, whole: float | None = None
) -> Markup:
    """Draw it as wide as its place on a page; a table with `swatches` stands beside it. `name` is unique there.

    `whole`: the length of the scale, where another account is drawn on the same; else this account's capacity.
    """
    return fluid.account_bar(
        _parts(rows),
        capacity=account["capacity"] if whole is None else whole,
        unit=unit(account, product),
        title=heading(account, product),
        name=name,
    )


def swatches(rows: Sequence[Row]) -> list[Markup]:
    """For each row the colour it has in the picture."""
    return chart.swatches(_parts(rows))


def _parts(rows: Sequence[Row]) -> list[chart.Part]:
    return [chart.Part(_kind(row), row.label, row.amount, row.figure) for row in rows]


def _kind(row: Row) -> str:
    """What the processors or tasks of a finding are drawn as; that without one is no alarm."""
    return "other" if row.part == "lost" and row.finding is None else row.part
