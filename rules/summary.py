"""The summary of an audit: one sentence of verdict, at most five things to do, at most three to collect.

It is made of the account, the findings and the plan, and says nothing that does not stand there. It opens the text, the
page, the PDF and the mail, and is all that a heartbeat or a webhook needs.
"""

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from rules.account import MEAN, PROCESSORS, WAITING_TASKS, Account
from rules.finding import Change, Effect, Severity, Verdict
from rules.plan import Plan, Step
from rules.ranking import Ranked

MOST_DO, MOST_COLLECT = 5, 3
TOLD_SHARE = 0.03
"""Of the capacity lost: what the account makes a warning; below it no loss opens the summary (this project)."""
TOLD_PROCESSORS = 0.25
"""Processors: less than a quarter of one is not noticed, whatever its share (this project)."""
MOST_LOSSES = 2
"""Losses in the verdict: a table of measured runs has one each."""
ONE_IN_TEN = 0.1
"""Of the tasks that wait or run: the same for waiting tasks (this project)."""
UNDO = {
    Effect.ONLINE: "back to {}, at once",
    Effect.RESTART: "back to {}, next restart",
    Effect.REBOOT: "back to {}, next reboot",
    Effect.OFFLINE: "back to {}, an outage again",
    Effect.ADVICE: "nothing to undo",
}


@dataclass(frozen=True)
class ToDo:
    """One change of the plan."""

    step: int
    """Its number in the plan, from 1 on."""
    title: str
    target: str
    before: float | str | None
    after: float | str | None
    when: str
    effect: str
    """What to expect, and on what basis; empty where nothing is promised."""
    undo: str
    finding: str
    """Key of the finding that asks for it first."""


@dataclass(frozen=True)
class ToCollect:
    """One export that would settle most of what is open."""

    command: str
    settles: tuple[str, ...]
    """Ids of the rules that it lets judge, and of the findings' rules whose cost it measures."""


@dataclass(frozen=True)
class Summary:
    """What a DBA reads first."""

    verdict: str
    do: tuple[ToDo, ...]
    collect: tuple[ToCollect, ...]


NOTHING_SAID = Summary("", (), ())
"""Of an audit that was put together by hand."""


def summarized(
    findings: Sequence[Ranked],
    verdicts: Sequence[Verdict],
    plan: Plan,
    accounts: Sequence[Account],
    unit: str = "CPUs",
) -> Summary:
    """Sum up an audit. `unit`: what processors are called, `engines` for SAP ASE."""
    return Summary(
        _verdict(findings, verdicts, accounts, unit),
        tuple(_to_do(findings, plan))[:MOST_DO],
        tuple(_to_collect(findings, verdicts, accounts))[:MOST_COLLECT],
    )


def _verdict(findings: Sequence[Ranked], verdicts: Sequence[Verdict], accounts: Sequence[Account], unit: str) -> str:
    said = list(_losses(findings, accounts, unit))[:MOST_LOSSES]
    loud = Counter(one.finding.severity for one in findings if one.finding.severity > Severity.NOTE)
    if not loud and not said:
        judged = sum(one.verdict in ("fired", "clean") for one in verdicts)
        open_ = sum(one.verdict in ("unknown", "untrusted", "broken") for one in verdicts)
        if open_ > judged:
            return f"Not known yet: {open_} of {judged + open_} rules could not judge; see what to collect."
        rest = f", {open_} could not" if open_ else ""
        return f"Nothing to do: no finding above a note; {judged} rules judged{rest}."
    if loud and not said:
        counts = ", ".join(f"{loud[severity]} {severity.label}" for severity in reversed(Severity) if loud[severity])
        said.append(f"{counts}; first: {findings[0].finding.title}")
        said += _unmeasured(accounts, unit)
    return f"{'; '.join(said)}."


def _losses(findings: Sequence[Ranked], accounts: Sequence[Account], unit: str) -> Iterator[str]:
    """What is lost, as clauses: processors first, then tasks that wait; nothing below a warning's share."""
    titles = {one.key: one.finding.title for one in findings}
    for account in accounts:
        if account.span != MEAN or not account.gone:
            continue
        share = account.share(account.gone)
        told = share is not None and share >= TOLD_SHARE and account.gone >= TOLD_PROCESSORS
        if account.currency == PROCESSORS and told and share is not None and account.capacity:
            said = f"{account.gone:.2f} of {account.capacity:g} {unit} ({100 * share:.0f} %) are lost"
            yield f"{said}{_to_what(account, titles, TOLD_SHARE)}"
        elif account.currency == WAITING_TASKS:
            caused = [one for one in account.lost if one.to]
            tasks = sum(one.amount.booked for one in caused)
            part = account.share(tasks)
            if part is not None and part >= ONE_IN_TEN and account.capacity:
                what = ", ".join(one.what for one in caused[:2])
                yield f"{tasks:.1f} of {account.capacity:.1f} tasks that wait or run wait for {what}"


def _to_what(account: Account, titles: Mapping[str, str], least: float) -> str:
    """The largest cause of a loss, or that none is shown."""
    open_ = account.unexplained.amount.booked if account.unexplained else 0.0
    first = account.lost[0] if account.lost else None
    if first and first.to and (account.share(first.amount.booked) or 0.0) >= least and first.amount.booked >= open_:
        most = "" if first.amount.booked > 0.95 * account.gone else f"{first.amount.booked:.2f} of them "
        return f", {most}to this: {titles[first.to]}"
    if account.unexplained and open_ > 0.5 * account.gone:
        return f" in {account.unexplained.why}, and these exports do not show to what"
    return f" in {first.what}" if first else ""


def _unmeasured(accounts: Sequence[Account], unit: str) -> Iterator[str]:
    """That the findings have no cost, because nothing tells work and loss apart."""
    for account in accounts:
        if account.span == MEAN and account.currency == PROCESSORS and account.undivided and account.capacity:
            why, amount = account.undivided.why, account.undivided.amount.booked
            if why.startswith("busy"):
                yield f"what it costs is not measured, as {amount:.1f} of {account.capacity:g} {unit} are {why}"
            else:
                yield why


def _to_do(findings: Sequence[Ranked], plan: Plan) -> Iterator[ToDo]:
    """The changes of the plan in its order; what has nothing to run after those that have."""
    by_key: dict[str, tuple[Ranked, Change]] = {}
    promised: set[str] = set()
    for ranked in findings:
        for change in ranked.finding.changes:
            by_key.setdefault(change.key, (ranked, change))
    steps = sorted(enumerate(plan.steps, 1), key=lambda one: one[1].takes_effect is Effect.ADVICE)
    for number, step in steps:
        for key in step.change_keys:
            if key in by_key:
                ranked, change = by_key[key]
                yield _one_thing(number, step, ranked, change, promises=ranked.key not in promised)
                promised.add(ranked.key)


def _one_thing(number: int, step: Step, ranked: Ranked, change: Change, *, promises: bool) -> ToDo:
    """`promises`: whether it says what the finding expects, which all changes of it together bring."""
    expected = next((one for one in ranked.finding.expects if promises and one.after is not None), None)
    effect = ""
    if expected:
        before = "" if expected.before is None else f"{_value(expected.before)} → "
        effect = f"{expected.metric}: {before}{_value(expected.after)} ({expected.basis})"
    was = "" if change.old is None else f"{_value(change.old)} → "
    to = "" if change.new is None else f" {was}{_value(change.new)}"
    return ToDo(
        step=number,
        title=f"{change.target}{to}",
        target=change.target,
        before=change.old,
        after=change.new,
        when=step.when,
        effect=effect,
        undo=UNDO[step.takes_effect].format("before" if change.old is None else _value(change.old)),
        finding=ranked.key,
    )


def _value(value: float | str | None) -> str:
    """A value as a person writes it: three digits where it is no whole number."""
    if value is None or isinstance(value, str):
        return value or "?"
    return f"{value:,.0f}" if value == int(value) or abs(value) >= 1000 else f"{value:.3g}"


def _to_collect(
    findings: Sequence[Ranked], verdicts: Sequence[Verdict], accounts: Sequence[Account]
) -> Iterator[ToCollect]:
    """What divides the account first, then what lets most rules judge; each command once."""
    settles: dict[str, dict[str, None]] = {}
    weight: Counter[str] = Counter()
    costless = [one.rule for one in findings if one.finding.cost is None and one.finding.severity > Severity.NOTE]
    for account in accounts:
        for part in (account.unexplained, account.undivided):
            share = account.share(part.amount.booked) if part and account.span == MEAN else None
            if part and part.collect and share is not None and share >= TOLD_SHARE and costless:
                settles.setdefault(part.collect, {}).update(dict.fromkeys(costless))
                weight[part.collect] += 1000
    for verdict in verdicts:
        if verdict.verdict in ("unknown", "untrusted", "fired"):
            for lack in verdict.missing:
                settles.setdefault(lack.command, {})[verdict.rule] = None
                weight[lack.command] += 1 + (verdict.verdict == "fired")
    for command in sorted(settles, key=lambda one: (-weight[one], -len(settles[one]), one)):
        yield ToCollect(command, tuple(settles[command]))
