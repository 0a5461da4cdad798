"""The account: where the capacity of a capture went, in one currency, so that everything lost can be compared.

Two currencies, each where the exports allow it: processors' worth of time, and tasks that wait on average. What is
measured (`Measured`, made by `rules/<product>/_evidence/account.py`) is divided here among the findings that cause it:

* to root causes: what another finding explains is booked to that other one, and nothing is counted twice;
* what a trace divides into parts of its own (`Pool.parts`) first, what is left to the causes of the whole pool;
* what no finding explains is lost without a shown cause, with the one export that would show it;
* what cannot be told apart from work is left undivided.

Every amount has a low and a high end, and the parts of an account add up to its capacity.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Protocol

from collectors.facts import Source
from rules.conflict import Conflict
from rules.finding import Finding, Severity
from rules.ranking import causes_of, first_cause

PROCESSORS, WAITING_TASKS = "processors", "waiting_tasks"
MEAN, BUSIEST = "mean", "busiest"
MAINTENANCE = "maintenance"
"""How a part of the account begins that is work of the one who keeps the system, as a dump, and not of its users."""
UNDIVIDED = "undivided"
"""The part of an account that cannot be told apart from work; what can be said of it at most is part of it."""
SMALLEST = 0.005
"""Processors or tasks: below half a hundredth nothing is booked, as the figures are printed with two decimals."""


class Judged(Protocol):
    """A finding with its key and the keys of what it explains; `rules.ranking.Ranked` is one."""

    @property
    def rule(self) -> str:
        """Id of the rule."""

    @property
    def finding(self) -> Finding:
        """What it found."""

    @property
    def explains(self) -> tuple[str, ...]:
        """Keys of the findings that it causes."""

    @property
    def key(self) -> str:
        """Rule and subject."""


@dataclass(frozen=True)
class Amount:
    """Processors or tasks, with the range that the export leaves open."""

    value: float | None
    """`None` where only the range is known: at most `high`."""
    low: float
    high: float

    @classmethod
    def exactly(cls, value: float) -> "Amount":
        """A figure without a range."""
        return cls(value, value, value)

    def part(self, share: float) -> "Amount":
        """A share of it, 0 to 1."""
        return Amount(None if self.value is None else self.value * share, self.low * share, self.high * share)

    @property
    def booked(self) -> float:
        """What counts in sums: nothing where only an upper end is known."""
        return self.value or 0.0


@dataclass(frozen=True)
class Pool:
    """Something that was lost or waited for, before it is divided among what causes it."""

    what: str
    amount: Amount
    source: Source
    causes: tuple[str, ...] = ()
    """Rules whose findings may be lost all of it to; `rule:ending` those whose subject ends so."""
    parts: tuple[str, ...] = ()
    """Rules whose findings each have a part of their own, as large as their cost."""
    collect: str = ""
    """What would show the cause of what is left; empty where the pool is its own cause (a disk that is read)."""
    as_work: str = ""
    """The remark where no finding has it: then it is the price of something that works as meant, and not lost."""


@dataclass(frozen=True)
class Measured:
    """What the exports say of one capture in one currency, before findings are held against it."""

    currency: str
    span: str
    capacity: float | None
    """Processors; of tasks those that waited or ran. `None` where no export counts them."""
    idle: float | None
    pools: tuple[Pool, ...]
    undivided: "Open | None" = None
    remarks: tuple[str, ...] = ()
    run: str = ""
    """What a measured run is called (`run 52LINX12`, `run of 6 processes`); empty: the capture itself."""
    test: bool = False
    """Whether it is of a test at a load that somebody chose: what that lost the system does not lose now, so neither
    severity nor order nor verdict is made of it."""
    conflict: Conflict | None = None
    """Another export of the same time that tells it differently."""
    otherwise: "Measured | None" = None
    """The same by that other export."""


@dataclass(frozen=True)
class Loss:
    """What went to one cause."""

    to: str | None
    """Key of the finding that causes it first of all; `None` where the thing itself is known and no finding does."""
    what: str
    amount: Amount
    source: Source
    seen_in: str | None = None
    """Key of the finding that measures it, which another one may cause."""
    collect: str = ""
    """What would divide it, where it was booked whole."""
    part_of: str | None = None
    """`UNDIVIDED` where only an upper end is known and the account has that amount in its undivided part already: it is
    one of those, not beside them. `None`: it stands for itself."""


@dataclass(frozen=True)
class Open:
    """An amount without a cause, and what would tell."""

    amount: Amount
    why: str
    collect: str
    bound: bool = False
    """Whether it is not measured itself: at most so much, as of spins. Sums take it whole, so that work is a least."""


@dataclass(frozen=True)
class Account:
    """Where the capacity went."""

    currency: str
    span: str
    capacity: float | None
    idle: float | None
    lost: tuple[Loss, ...]
    """The largest first."""
    unexplained: Open | None
    """Lost, cause not shown."""
    undivided: Open | None
    """Work or loss: cannot be told from these exports."""
    remarks: tuple[str, ...] = ()
    run: str = ""
    """As of `Measured`."""
    test: bool = False
    """As of `Measured`."""
    conflict: Conflict | None = None
    """As of `Measured`; the remarks say it."""
    otherwise: "Account | None" = None
    """The account by that other export."""

    @property
    def gone(self) -> float:
        """All that was lost, with or without a shown cause."""
        return sum(one.amount.booked for one in self.lost) + (
            self.unexplained.amount.booked if self.unexplained else 0.0
        )

    @property
    def work(self) -> float | None:
        """What is left of the capacity: work."""
        if self.capacity is None:
            return None
        apart = self.gone + (self.idle or 0.0) + (self.undivided.amount.booked if self.undivided else 0.0)
        return max(0.0, self.capacity - apart)

    @property
    def work_range(self) -> Amount | None:
        """Work with both ends: what is lost or undivided at most is work where it is less.

        Where bounds are taken out of it, as those of spins, the value is its low end: so much work at least.
        """
        work = self.work
        if self.capacity is None or work is None:
            return None
        parts = [one.amount for one in self.lost if one.part_of is None]
        parts += [one.amount for one in (self.unexplained, self.undivided) if one]
        rest = self.capacity - (self.idle or 0.0)
        low, high = rest - sum(one.high for one in parts), rest - sum(one.low for one in parts)
        return Amount(work, min(work, max(0.0, low)), max(work, high))

    def share(self, amount: float) -> float | None:
        """An amount as a share of the capacity, 0 to 1; `None` where the capacity is not known."""
        return amount / self.capacity if self.capacity else None


def divided(measured: Measured, findings: Sequence[Judged]) -> Account:
    """Divide what was measured among the findings that cause it."""
    roots = roots_of(findings)
    lost: list[Loss] = []
    rest: list[tuple[Pool, Amount]] = []
    remarks = list(measured.remarks)
    for pool in measured.pools:
        if pool.as_work and not any(_one_of((*pool.causes, *pool.parts), one) for one in findings):
            remarks.append(pool.as_work)
            continue
        booked, left = _booked(pool, findings, roots)
        lost += booked
        if left is not None:
            rest.append((pool, left))
    # what also makes the account of tasks is said once, with the processors
    said = measured.conflict.says if measured.conflict and measured.currency == PROCESSORS else None
    if measured.undivided:
        lost = [replace(one, part_of=UNDIVIDED) if one.amount.value is None else one for one in lost]
    lost.sort(key=lambda one: (-one.amount.booked, -one.amount.high, one.to or "", one.what))
    return Account(
        currency=measured.currency,
        span=measured.span,
        capacity=measured.capacity,
        idle=measured.idle,
        lost=tuple(lost),
        unexplained=_unexplained(rest),
        undivided=measured.undivided,
        remarks=tuple(remarks if said is None else (said, *remarks)),
        run=measured.run,
        test=measured.test,
        conflict=measured.conflict,
        otherwise=divided(measured.otherwise, findings) if measured.otherwise else None,
    )


def _booked(pool: Pool, findings: Sequence[Judged], roots: Mapping[str, str]) -> tuple[list[Loss], Amount | None]:
    """What of a pool has a cause, and what is left of it without one.

    Where something divides the pool, what it does not name has no cause shown; else all of it goes to one cause.
    """
    by_root: dict[str, Loss] = {}
    left, total = 1.0, pool.amount.value or 0.0
    for one in findings if total else ():
        cost = one.finding.cost
        if cost is not None and cost.of_capture and _one_of(pool.parts, one):
            share = min(left, max(0.0, cost.processors) / total)
            left -= share
            what = f"{pool.what}, {_named(one)}"
            _add(by_root, Loss(roots[one.key], what, pool.amount.part(share), pool.source, one.key))
    whole = next((one for one in findings if _one_of(pool.causes, one)), None)
    if whole is not None and not by_root:
        _add(by_root, Loss(roots[whole.key], pool.what, pool.amount, pool.source, whole.key, pool.collect))
        left = 0.0
    losses = [one for one in by_root.values() if _counts(one.amount)]
    remaining = pool.amount.part(left)
    if not _counts(remaining):
        return losses, None
    if not pool.collect:
        return [*losses, Loss(None, pool.what, remaining, pool.source)], None
    return losses, remaining


def _add(booked: dict[str, Loss], loss: Loss) -> None:
    """Book an amount on its cause, beside what that has already; what two findings measure no single one does."""
    key = loss.to or ""
    before = booked.get(key)
    if before:
        what = f"{before.what} and {loss.what.rpartition(', ')[2]}"
        loss = replace(before, what=what, amount=summed((before.amount, loss.amount)), seen_in=None)
    booked[key] = loss


def _named(one: Judged) -> str:
    """The last word of a subject: `LEWIS spinlock LCKMGR` → `LCKMGR`."""
    return one.finding.subject.rpartition(" ")[2]


def _one_of(rules: Iterable[str], one: Judged) -> bool:
    """Whether a finding is of one of these rules, and of this subject where they name one."""
    for name in rules:
        rule, _, ending = name.partition(":")
        if one.rule == rule and one.finding.subject.endswith(ending):
            return True
    return False


def roots_of(findings: Sequence[Judged]) -> dict[str, str]:
    """Key of each finding → key of what causes it first of all; itself where nothing does.

    Of several causes the one that stands first in the audit counts; a note causes nothing.
    """
    causes = causes_of((one.key, one.explains) for one in findings if one.finding.severity > Severity.NOTE)
    return {one.key: first_cause(one.key, causes) for one in findings}


def _unexplained(rest: Sequence[tuple[Pool, Amount]]) -> Open | None:
    """What is lost without a shown cause, all pools together; what would show the largest is to be collected."""
    if not rest:
        return None
    first = max(rest, key=lambda one: one[1].booked)[0]
    what = ", ".join(pool.what for pool, _ in sorted(rest, key=lambda one: -one[1].booked))
    return Open(summed(amount for _, amount in rest), what, first.collect)


def summed(amounts: Iterable[Amount]) -> Amount:
    """Amounts together, with the ends of their ranges; without a value where one of them has none."""
    several = list(amounts)
    values = [one.value for one in several if one.value is not None]
    return Amount(
        sum(values) if len(values) == len(several) else None,
        sum(one.low for one in several),
        sum(one.high for one in several),
    )


def _counts(amount: Amount) -> bool:
    return amount.high >= SMALLEST
