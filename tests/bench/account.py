"""`python -m tests.bench.account`: what the account costs of an audit, over all example audits.

Processor time, as ratios of one run: of judging alone (`rules.audit.audit`), and of an audit as the command makes it
(read, judge, link, JSON). The account is what it adds to an audit: measuring, dividing among findings, severities and
order by it, and the clusters. Each is the sum over the stories of the least of several runs. Never a timed test.
"""

import sys
import time
from collections import defaultdict
from collections.abc import Callable
from typing import Any

from advisor.audits.report.data import audit_data, clusters_data
from advisor.audits.services.account_bar import bar_of
from advisor.audits.services.auditing import run_audit
from collectors.read import Input
from rules import audit as auditing
from tests.stories import STORIES, inputs_of

RUNS = 5
Spent = defaultdict[str, float]
"""Seconds of processor time by what they went to."""
PARTS = {"account": ("accounts_of", "lost_shares", "as_loud_as_lost"), "summary": ("summarized",)}
"""Functions of `rules.audit`, by what they are told as."""


def say(text: str) -> None:
    sys.stdout.write(text + "\n")


def timed(spent: Spent, what: str, function: Callable[..., Any]) -> Callable[..., Any]:
    """The function, which notes what it takes."""

    def noting(*given: Any, **named: Any) -> Any:
        since = time.process_time()
        try:
            return function(*given, **named)
        finally:
            spent[what] += time.process_time() - since

    return noting


def one_run(inputs: list[Input], spent: Spent) -> None:
    """Audit the exports of a story that are read already; the facts are put together anew, with nothing kept."""
    audits = timed(spent, "judged", run_audit)(inputs, {})
    data = timed(spent, "json", audit_data)(inputs, audits)
    timed(spent, "clusters", clusters_data)(audits)
    for capture in data["captures"]:
        timed(spent, "bar", bar_of)(capture["account"], capture["findings"])


def main() -> None:
    """Print the ratios."""
    total: Spent = defaultdict(float)
    own = {name: getattr(auditing, name) for names in PARTS.values() for name in names}
    for story in STORIES:
        least: dict[str, float] = {}
        for _ in range(RUNS):
            spent: Spent = defaultdict(float)
            inputs = timed(spent, "read", inputs_of)(story)
            for part, names in PARTS.items():
                for name in names:
                    setattr(auditing, name, timed(spent, part, own[name]))
            try:
                one_run(inputs, spent)
            finally:
                for name, function in own.items():
                    setattr(auditing, name, function)
            least = {what: min(seconds, least.get(what, seconds)) for what, seconds in spent.items()}
        for what, seconds in least.items():
            total[what] += seconds
    whole = total["read"] + total["judged"] + total["json"]
    say(f"{len(STORIES)} example audits, {1000 * whole:,.0f} ms of processor time: read {total['read'] / whole:.0%}, ")
    say(f"judged {total['judged'] / whole:.0%}, JSON {total['json'] / whole:.0%}. Shares in per cent:")
    say(f"{'':<28}{'of judging':>12}{'of an audit':>12}")
    rows = {
        "account": total["account"],
        "clusters, bars": total["clusters"] + total["bar"],
        "all of the account": total["account"] + total["clusters"] + total["bar"],
        "summary": total["summary"],
    }
    for what, seconds in rows.items():
        say(f"{what:<28}{100 * seconds / total['judged']:12.2f}{100 * seconds / whole:12.2f}")


if __name__ == "__main__":
    main()
