"""The account as rows for a table, a bar of text or a picture: one way to name and order its parts, for all of them.

It works from the JSON shape alone (`captures[].account`), so that stored audits are shown by it, too.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from rules.account import SMALLEST
from rules.ranking import causes_of, first_cause
from rules.summary import MOSTLY, ONE_IN_TEN, TOLD_PROCESSORS, TOLD_SHARE, amount_words

WIDTH = 24
"""Characters of the bar that stands for the whole capacity."""
MARKS = {"work": "#", "lost": "x", "unexplained": "?", "undivided": "~", "idle": "."}
"""Part → what a bar of text is made of."""
MOST_ALIKE = 2
"""Accounts of one currency and span on a first page."""
PARTS = ("work", "lost", "unexplained", "undivided", "idle")
"""What an account may divide its capacity into, as the contract prints it; one with none of them says nothing."""
SPANS = {"mean": "on average", "busiest": "in the busiest half hour"}


@dataclass(frozen=True)
class Row:
    """One part of an account."""

    part: str
    """`work`, `lost`, `unexplained`, `undivided` or `idle`."""
    label: str
    amount: float | None
    """`None` where only an upper end is known; `high` has it."""
    low: float
    high: float
    share: float | None
    """Of the capacity, 0 to 1; `None` where that is not known, or the amount is not."""
    finding: str | None = None
    """Key of the finding that it is booked to."""
    seen_in: str | None = None
    """Key of the finding that measures it: where it is looked up."""
    bound: bool = False
    """Whether the amount is an upper end that sums take whole."""
    within: str | None = None
    """The part that it is one of, whose row stands above it: at most so much of that."""
    collect: str = ""
    """What would tell more."""
    file: str = ""
    """Where it was read, of what is lost; empty where it is computed from other parts."""
    lines: tuple[int, int] = (0, 0)
    """First and last line; 0: a file without lines."""

    @property
    def figure(self) -> str:
        """The amount for people, two decimals; both ends where they lie apart (`rules.summary.MOSTLY`)."""
        if (self.amount is None or self.bound) and self.low < SMALLEST:
            return f"≤ {self.high:,.2f}"
        if self.amount is None or self.bound or self.low < MOSTLY * self.high:
            return f"{self.low:,.2f} to {self.high:,.2f}"
        return f"{self.amount:,.2f}"

    @property
    def bar(self) -> str:
        """Its length of the whole capacity; at least one mark where there is an amount."""
        if not self.share or self.amount is None:
            return ""
        return MARKS[self.part] * max(1, round(WIDTH * self.share))


def rows(account: Mapping[str, Any], numbers: Mapping[str, int | str], *, brief: bool = False) -> list[Row]:
    """The parts: work first, then what is lost, largest first, idle last; what is part of another stands below that.

    `numbers`: key of a finding → its place, of a cluster with the name of its node. `brief`: of a loss its cause is
    named alone, not what measures it.
    """
    return list(_rows(account, numbers, brief))


def _rows(account: Mapping[str, Any], numbers: Mapping[str, int | str], brief: bool) -> Iterator[Row]:
    capacity = account["capacity"]

    def row(part: str, label: str, amount: float | None, low: float, high: float, **more: Any) -> Row:
        share = amount / capacity if capacity and amount is not None else None
        return Row(part, label, amount, low, high, share, **more)

    def lost(one: Mapping[str, Any], words: str = "{}") -> Row:
        label = words.format(one["what"]) + pointer({**one, "seen_in": None} if brief else one, numbers)
        found = {"finding": one["to"], "seen_in": one.get("seen_in") or one["to"], "within": one.get("part_of")}
        found |= {"file": one["file"], "lines": tuple(one["lines"])}
        return row("lost", label, one["amount"], one["low"], one["high"], **found)

    if work := account["work"]:
        low, high = account.get("work_low") or work, account.get("work_high") or work
        label = "running" if account["currency"] == "waiting_tasks" else "work"
        if high - work >= SMALLEST > work - low and low >= MOSTLY * high:  # else its figure has both ends
            label += ", at least"
        yield row("work", label, work, low, high)
    for one in account["lost"]:
        if not one.get("part_of"):
            yield lost(one)
    for part, word in (("unexplained", "{}, cause not shown"), ("undivided", "{}")):
        if one := account[part]:
            bound = bool(one.get("bound"))
            low = one["low"] if part == "unexplained" or bound else one["high"]  # else only the loss in it is open
            more = {"collect": one["collect"], "bound": bound}
            yield row(part, word.format(one["why"]), one["amount"], low, one["high"], **more)
            yield from (lost(of_it, "of these, {}") for of_it in account["lost"] if of_it.get("part_of") == part)
    if idle := account["idle"]:
        yield row("idle", "idle", idle, idle, idle)


def pointer(loss: Mapping[str, Any], numbers: Mapping[str, int | str]) -> str:
    """Which finding measures a loss, and which other one causes it: ` (finding 2, caused by finding 1)`."""
    cause, measures = numbers.get(loss["to"] or ""), numbers.get(loss.get("seen_in") or "")
    if cause and measures and cause != measures:
        return f" (finding {measures}, caused by finding {cause})"
    return f" (finding {cause or measures})" if cause or measures else ""


def unit(account: Mapping[str, Any], product: str) -> str:
    """What its amounts are called: `CPUs`, `engines`, `tasks`, `processes`."""
    if account["currency"] == "processors":
        return "engines" if product == "ase" else "CPUs"
    return "processes" if product in ("openvms", "rdb", "unix") else "tasks"


def heading(account: Mapping[str, Any], product: str) -> str:
    """`Where 8 CPUs go, on average`; of tasks `What 16.7 tasks that wait or run do, …`; of a measured run its name."""
    span, who = account.get("run") or SPANS[account["span"]], unit(account, product)
    if account["currency"] == "processors":
        if account["capacity"] == 1:
            return f"Where the {who.rstrip('s')} goes, {span}"
        return f"Where {account['capacity']:g} {who} go, {span}"
    if account["capacity"] is None:
        return f"{who.capitalize()} that wait, {span}"
    return f"What {account['capacity']:.1f} {who} that wait or run do, {span}"


def shown(accounts: Sequence[Mapping[str, Any]]) -> list[Mapping[str, Any]]:
    """Accounts worth a picture on a first page: of the mean, and that of the busiest stretch where it lost more.

    Of several of one kind, as of measured runs, those that lost most.
    """
    means = {one["currency"]: _gone(one) for one in accounts if one["span"] == "mean"}
    filled = [one for one in accounts if any(one[part] for part in PARTS)]
    worth = [one for one in filled if one["span"] == "mean" or _gone(one) > 1.2 * means.get(one["currency"], 0.0) + 0.1]
    kept = []
    for one in worth:
        alike = [other for other in worth if (other["currency"], other["span"]) == (one["currency"], one["span"])]
        if len(alike) <= MOST_ALIKE or one in sorted(alike, key=_gone)[-MOST_ALIKE:]:
            kept.append(one)
    return kept


def loss(accounts: Sequence[Mapping[str, Any]], product: str) -> str:
    """What is lost, in figures alone and as short as a subject wants it: `2.64 of 8 CPUs (33 %) lost`.

    Empty where the account makes no warning of it: the limits are those of the verdict (`rules.summary`).
    """
    means = [one for one in accounts if one["span"] == "mean" and one["capacity"] and not one.get("test")]
    processors = [one for one in means if one["currency"] == "processors"]
    for one in sorted(processors, key=lambda one: -_gone(one) / one["capacity"]):
        gone, capacity = _gone(one), one["capacity"]
        if gone >= TOLD_PROCESSORS and gone / capacity >= TOLD_SHARE:
            return f"{amount_words(_gone(one, 'low'), gone, capacity, unit(one, product))} lost"
    for one in (one for one in means if one["currency"] == "waiting_tasks"):
        caused = sum(part["amount"] or 0.0 for part in one["lost"] if part["to"])
        if caused / one["capacity"] >= ONE_IN_TEN:
            return f"{caused:.1f} of {one['capacity']:.1f} {unit(one, product)} wait"
    return ""


def lost(accounts: Sequence[Mapping[str, Any]], product: str) -> str:
    """The processors lost on average, `2.64 of 8 CPUs`; empty where no account or more than one tells."""
    means = [one for one in accounts if (one["currency"], one["span"]) == ("processors", "mean")]
    means = [one for one in means if not one.get("test")]
    if len(means) != 1 or (means[0]["undivided"] and not _gone(means[0])):
        return ""
    words = amount_words(_gone(means[0], "low"), _gone(means[0]), means[0]["capacity"], unit(means[0], product))
    return words.partition(" (")[0]


def _gone(account: Mapping[str, Any], end: str = "amount") -> float:
    """What is lost, with or without a shown cause: as booked, or its `low` end."""
    lost = sum(one[end] or 0.0 for one in account["lost"] if not one.get("part_of"))
    return lost + ((account["unexplained"] or {}).get(end) or 0.0)


def booked(account: Mapping[str, Any]) -> dict[str, float]:
    """What an account books to each finding, by its key; a bound that is part of another amount is not booked."""
    found: dict[str, float] = {}
    for loss in account["lost"]:
        if loss["to"] and loss["amount"]:
            found[loss["to"]] = found.get(loss["to"], 0.0) + loss["amount"]
    return found


def costs(
    accounts: Sequence[Mapping[str, Any]], findings: Sequence[Mapping[str, Any]], product: str
) -> tuple[dict[str, str], dict[str, int]]:
    """What each finding costs on average: key → `2.64 CPUs lost`, and key → number of the finding it is counted in.

    What causes it all is counted, as the account divides it (`rules.account`): a finding with a cause of its own, not.
    What is booked in the busiest stretch alone says so: `3.36 CPUs lost in the busiest half hour`.
    """
    said = _booked_words(accounts, "mean", product)
    numbers = {one["key"]: number for number, one in enumerate(findings, 1)}
    causes = causes_of((one["key"], one["explains"]) for one in findings if one["severity"] != "note")
    roots = {key: first_cause(key, causes, said) for key in numbers}
    counted = {key: numbers[root] for key, root in roots.items() if root in said and root != key}
    for key, words in _booked_words(accounts, "busiest", product).items():
        if key not in counted:
            said.setdefault(key, [f"{one} {SPANS['busiest']}" for one in words])
    return {key: ", ".join(words) for key, words in said.items()}, counted


def _booked_words(accounts: Sequence[Mapping[str, Any]], span: str, product: str) -> dict[str, list[str]]:
    said: dict[str, list[str]] = {}
    for one in (one for one in accounts if one["span"] == span and not one.get("test")):
        word = "lost" if one["currency"] == "processors" else "wait"
        for key, amount in booked(one).items():
            said.setdefault(key, []).append(f"{amount:,.2f} {unit(one, product)} {word}")
    return said
