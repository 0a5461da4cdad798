"""A cause and its symptoms are one loss seen twice."""

import pytest

from advisor.audits.services.persistence import processors_lost

Finding = dict[str, object]


def finding(key: str, cost: float | None, *explains: str) -> Finding:
    return {"key": key, "cost": None if cost is None else {"processors": cost}, "explains": list(explains)}


@pytest.mark.parametrize(
    ("findings", "lost"),
    [
        ([], None),
        ([finding("a", None)], None),
        ([finding("a", 2.0), finding("b", 1.5)], 3.5),
        ([finding("a", 2.0, "b"), finding("b", 1.5)], 2.0),
        ([finding("a", None, "b", "c"), finding("b", 4.42), finding("c", 4.42)], 4.42),
        ([finding("a", None, "b"), finding("b", None, "c"), finding("c", 1.0)], 1.0),
        ([finding("a", None, "c"), finding("b", None, "c"), finding("c", 1.0)], 1.0),
        ([finding("a", 1.0, "b"), finding("b", 2.0, "a")], 1.0),
        ([finding("a", 1.0, "a", "gone")], 1.0),
        ([finding("zvm/x:run A8", 4.8), finding("zvm/x:run B8", 4.1), finding("ase/y:LEDGER", 1.0)], 5.8),
        (
            [finding("openvms/concurrency_past_peak:SKYE", 2.6), finding("openvms/concurrency_past_peak:LEWIS", 2.0)],
            2.6,
        ),
        (
            [
                finding("zvm/w:run A12", None, "zvm/x:run A12"),
                finding("zvm/x:run A12", 4.8),
                finding("zvm/x:run B", 2.8),
            ],
            4.8,
        ),
    ],
    ids=[
        "nothing",
        "no cost",
        "two causes",
        "a cause",
        "dearest symptom",
        "deep",
        "shared",
        "ring",
        "odd",
        "runs",
        "series",
        "runs by two rules",
    ],
)
def test_of_each_tree_counts_the_cause_else_its_dearest_symptom(findings: list[Finding], lost: float | None) -> None:
    assert processors_lost(findings) == lost
