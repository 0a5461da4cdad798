"""The summary of an audit: one sentence of verdict, at most five things to do, at most three to collect.

It is made of the account, the findings and the plan, and says nothing that does not stand there. It opens the text, the
page, the PDF and the mail, and is all that a heartbeat or a webhook needs.
"""

import re
from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from rules.account import MAINTENANCE, MEAN, PROCESSORS, WAITING_TASKS, Account, Loss
from rules.engine import LOST
from rules.finding import Change, Effect, Severity, Verdict, rounded, within
from rules.laws.rounding import plain
from rules.plan import RISKS, Plan, Step
from rules.ranking import Ranked
from rules.resets import SAMPLE_WRAPPED, WRAPPED
from rules.tentative import is_tentative

MOST_DO, MOST_COLLECT = 5, 3
TOLD_SHARE = LOST[-1][0]
"""Of the capacity lost: what the account makes a warning; below it no loss opens the summary (this project)."""
TOLD_PROCESSORS = 0.25
"""Processors: less than a quarter of one is not noticed, whatever its share (this project)."""
MINOR_SHARE = 0.1
"""Of the capacity: less than a tenth lost without a shown cause stands behind a finding (this project)."""
MOST_WAIT = 0.5
"""Of the tasks that wait: half and more of them are what the interval is about (this project)."""
MOSTLY = 0.8
"""Where the low end is under four fifths of an amount, both ends are said (this project)."""
SAID = 0.05
"""Processors: an undivided amount that one decimal would print as none is not told of."""
MOST_LOSSES = 2
"""Losses in the verdict: a table of measured runs has one each."""
ONE_IN_TEN = 0.1
"""Of the tasks that wait or run: the same for waiting tasks (this project)."""
ONE_PROCESS = 1.0
"""Processes of a database: where one waits at any moment, it is not said that there is nothing to do (this project)."""
FIRST = "first: "
"""Before the finding that a verdict names, where it counts them."""
COSTS_PROCESSORS = re.compile("spin|engines|lock_manager|interrupts")
"""In the id of a rule whose findings cost processors: of others, what is not measured is no answer to their cost."""
CROSSING_RULE = "openvms/locks_mastered_remotely"
UNEXPLAINED, NOT_SHOWN = "/spinning_unexplained", "cause not shown"
"""The rule that tells of a loss without a cause, and how a verdict that opens with that loss has told it already."""
REMEDY = re.compile(r" \([^;]*\)\Z")
"""What to do about figures that are not believed, in brackets behind the reason: no command opens an audit."""
ON_AVERAGE = re.compile(r"[\d.,]+ tasks on average wait for ")
"""How the title of a finding begins that counts tasks."""
UNDO = {
    Effect.ONLINE: "{}, at once",
    Effect.RESTART: "{}, next restart",
    Effect.REBOOT: "{}, next reboot",
    Effect.OFFLINE: "{}, an outage again",
    Effect.ADVICE: "",
}
OPEN = re.compile(r"<(?:cache|area|root file|storage area)>")
"""Of a statement in which the object is left open, the script alone has the frame."""
ASKS_FOR_RESTART = "restart the server"
"""As scripts say it in a comment."""


@dataclass(frozen=True)
class ToDo:
    """One change of the plan."""

    step: int | None
    """Its number in the plan, from 1 on; `None` where a finding asks for what no setting does."""
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
    risk: str = ""
    """Of a change that is not of low risk: how much, and why."""
    after_step: int | None = None
    """Number of the step that comes before it, where this one takes effect at once and that one does not."""


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


OPEN_TO_JUDGED = 1.5
"""This project: from three open rules for two that judged on nothing is said of a system; one rule more or less is no
other state of it. Of rules that want exports which were not collected it is said that they do: nothing was found."""
SOME_TO_JUDGED = 0.8
"""This project: from four open rules for five that judged on it is said what would tell more."""
DOUBTED_TO_JUDGED = 0.25
"""This project: where a quarter as many rules doubt figures for one reason as judged, that reason is the answer."""
NOTHING_SAID = Summary("", (), ())
"""Of an audit that was put together by hand."""


def summarized(
    findings: Sequence[Ranked],
    verdicts: Sequence[Verdict],
    plan: Plan,
    accounts: Sequence[Account],
    unit: str = "CPUs",
    why_open: str = "",
) -> Summary:
    """Sum up an audit. `unit`: what processors are called, `engines` for SAP ASE. Tests are told by their findings.

    `why_open`: why most rules cannot judge, as a clause, where what was collected has one reason for all.
    """
    own = [one for one in accounts if not one.test]
    return Summary(
        _with_conflict(findings, verdicts, own, unit, why_open),
        tuple(_to_do(findings, plan, own, unit))[:MOST_DO],
        tuple(_to_collect(findings, verdicts, own))[:MOST_COLLECT],
    )


def _with_conflict(
    findings: Sequence[Ranked], verdicts: Sequence[Verdict], accounts: Sequence[Account], unit: str, why_open: str
) -> str:
    """The verdict, with the exports that disagree where it would read otherwise by the other one."""
    said = _verdict(findings, verdicts, accounts, unit, why_open)
    conflicts = [one.conflict for one in accounts if one.conflict]
    by_other = [one.otherwise or one for one in accounts]
    if not conflicts or _verdict(findings, verdicts, by_other, unit, why_open) == said:
        return said
    return f"{said.removesuffix('.')}; {conflicts[0].short}."


def _verdict(
    findings: Sequence[Ranked], verdicts: Sequence[Verdict], accounts: Sequence[Account], unit: str, why_open: str
) -> str:
    loud = [one for one in findings if one.finding.severity > Severity.NOTE]
    if loud and all(one.finding.ended for one in loud):
        return f"Change nothing: {loud[0].finding.ended}; measure again. They showed: {_title(loud)}."
    losses = list(_losses(findings, accounts, unit))[:MOST_LOSSES]
    said = [text for text, _ in losses]
    told = {key for _, keys in losses for key in keys}
    behind: list[str] = []
    if loud and said and not any(one.key in told or one.finding.urgent for one in loud) and _minor(accounts):
        said, behind = [], said
    elif loud and said and _minor(accounts) and not any(one.finding.urgent for one in loud):
        # of a small loss, most of it without a cause, what is to be fixed first comes before the loss
        first = max(loud, key=lambda one: one.finding.severity)
        if said[0].endswith(fix := f"; first to fix: {_title([first])}") and first.finding.cost is None:
            said, behind = [], [said[0].removesuffix(fix), *said[1:]]
    if not loud and not said and (past := [one for one in findings if one.finding.ended]):
        return f"Change nothing: {past[0].finding.ended}, and a newer capture decides. They showed: {_title(past)}."
    gap = next((one.finding for one in findings if one.finding.again and not one.finding.ended), None)
    once = next((one.finding for one in findings if one.finding.once and not one.finding.ended), None)
    if not loud and not said:
        judged = sum(one.verdict in ("fired", "clean") for one in verdicts)
        open_ = sum(one.verdict in ("unknown", "untrusted", "broken") for one in verdicts)
        doubted = sum(one.verdict == "untrusted" for one in verdicts)
        why = _why_not_believed(verdicts)
        wanting = sum(one.verdict == "unknown" and bool(one.missing) for one in verdicts)
        some, most = open_ > SOME_TO_JUDGED * judged, open_ > OPEN_TO_JUDGED * judged
        could_not = f"Not known yet: {open_} of {judged + open_} rules could not judge"
        if any(one.verdict == "untrusted" and WRAPPED in one.why for one in verdicts):
            return f"{could_not}: {SAMPLE_WRAPPED}."
        if why and (most or doubted > DOUBTED_TO_JUDGED * judged):
            return f"{could_not}: {why}; collect again."
        if some and why_open:
            return f"{could_not}: {why_open}."
        if most and (blind := next((one.finding for one in findings if one.finding.blind), None)):
            return (
                f"{blind.title}: set the switches and collect again; {open_} of {judged + open_} rules could not judge."
            )
        rules = "rule" if judged == 1 else "rules"
        rest = f", {open_} could not" if open_ else ""
        if window := _maintenance(accounts):
            return f"{window}; capture a working hour: no finding above a note, {judged} {rules} judged{rest}."
        if once and not gap:
            return f"{once.title}, by too few reports: collect again; {judged} {rules} judged{rest}."
        if most and judged and open_ - wanting <= OPEN_TO_JUDGED * judged:  # what was collected was judged
            # more exports may make it a finding, so who stops reading here is told of it
            note = f" ({FIRST}{_title(findings[:1])})" if findings else ""
            found = f"Nothing found so far: no finding above a note{note}; {judged} {rules} judged what was collected"
            return f"{found}, {open_} more need other exports; see what to collect."
        if most:
            return f"{could_not}; see what to collect."
        if gap:
            found = f"Nothing found in what was measured, but {gap.title}: of that time nothing is known"
            return f"{found}, so collect again; {judged} {rules} judged{rest}."
        if waits := _unexplained_waits(accounts) if wanting else "":
            found = f"Nothing found so far: no finding above a note, yet on average {waits}"
            return f"{found}; {judged} {rules} judged{rest}; see what to collect."
        nothing, see = ("Nothing to do so far", "; see what to collect") if some else ("Nothing to do", "")
        return f"{nothing}: no finding above a note; {judged} {rules} judged{rest}{see}."
    if not loud:
        said += [f"{gap.title}: collect again"] if gap else []
        if once and not gap:
            said.append(f"{once.title}, by too few reports: collect again")
        said.append("no finding above a note")
    if loud and not said:
        counts = Counter(one.finding.severity for one in loud)
        said.append(counted({one.label: counts[one] for one in reversed(Severity)}))
        # what is lost is too little to be told of, so it does not put a finding before a louder one either
        louder = sorted(loud, key=lambda one: -one.finding.severity)
        said.append(f"{FIRST}{_title(louder)}{_likely(louder[0], loud)}")
        # what is urgent is the first thing to do, so it is told where another finding comes first
        said += [f"look at once: {_title([one])}" for one in loud if one.finding.urgent and one is not louder[0]][:1]
        said += behind or (_unmeasured(accounts, unit) if COSTS_PROCESSORS.search(louder[0].rule) else ())
    elif urgent := [one for one in loud if one.finding.urgent]:
        said.append(f"look at once: {_title(urgent)}")
    elif critical := [
        one
        for one in loud
        if one.finding.severity is Severity.CRITICAL
        and one.key not in told
        and not (one.rule.endswith(UNEXPLAINED) and any(NOT_SHOWN in text for text in said))
    ]:
        explained = {key for one in findings if one.key in told for key in one.explains}
        said += [f"also: {_title([one])}" for one in critical if one.key not in explained][:1]
    text = f"{'; '.join(said)}."
    return f"O{text[1:]}" if text.startswith("of ") else text


def _maintenance(accounts: Sequence[Account]) -> str:
    """That most of what waits is maintenance, which says nothing of the hours of users; empty where it is not."""
    for account in accounts:
        for one in account.lost if account.currency == WAITING_TASKS and account.span == MEAN else ():
            if one.what.startswith(MAINTENANCE) and one.amount.booked >= max(1.0, MOST_WAIT * account.gone):
                of = f"{one.amount.booked:.1f} of {account.capacity or account.gone:.1f} tasks"
                return f"A maintenance window: {of} are{one.what.removeprefix(MAINTENANCE)}".replace(" (", " ").replace(
                    ")", ""
                )
    return ""


def _unexplained_waits(accounts: Sequence[Account]) -> str:
    """How many processes wait for locks of a database that no finding accounts for; empty below one at any moment.

    Where tasks were counted as a whole too, as of ASE, the verdict tells of them by their share.
    """
    tasks = [one for one in accounts if one.currency == WAITING_TASKS and one.span == MEAN and not one.capacity]
    waits = [one for account in tasks for one in account.lost if not one.to and one.amount.booked >= ONE_PROCESS]
    most = max(waits, key=lambda one: one.amount.booked, default=None)
    return f"{most.amount.booked:.1f} processes wait for {most.what}" if most else ""


def _minor(accounts: Sequence[Account]) -> bool:
    """Whether all that is lost is little, and most of it without a shown cause."""
    lost = [one for one in accounts if one.span == MEAN and one.gone and one.capacity]
    return all(
        one.currency == PROCESSORS
        and (one.share(one.gone) or 0.0) < MINOR_SHARE
        and one.unexplained is not None
        and one.unexplained.amount.booked > one.gone / 2
        for one in lost
    )


def counted(counts: Mapping[str, int]) -> str:
    """Counts of findings in words as a verdict has them: `3 critical, 1 warning`; what there is none of is left out."""
    return ", ".join(f"{count} {word}" for word, count in counts.items() if count)


def _why_not_believed(verdicts: Sequence[Verdict]) -> str:
    """Why figures that are there are not believed, as most rules say; empty where most figures are not there."""
    doubts = [one.why.rpartition(": ")[2].rstrip(".") for one in verdicts if one.verdict == "untrusted"]
    why = Counter(REMEDY.sub("", doubt) for doubt in doubts).most_common(1)
    return within(why[0][0]) if why and 2 * why[0][1] > len(doubts) else ""


def _title(findings: Sequence[Ranked]) -> str:
    return findings[0].finding.title


def _likely(first: Ranked, loud: Sequence[Ranked]) -> str:
    """The cause of what a verdict names, where it is less loud only because its layout is recalled."""
    cause = next((one for one in loud if first.key in one.explains), first)
    softer = cause.finding.severity < first.finding.severity and is_tentative(cause.finding)
    return f"; likely cause: {cause.finding.title}" if softer else ""


def _losses(
    findings: Sequence[Ranked], accounts: Sequence[Account], unit: str
) -> Iterator[tuple[str, tuple[str, ...]]]:
    """What is lost, as clauses, each with the keys of the findings it tells of; nothing below a warning's share."""
    by_key = {one.key: one for one in findings}
    worst = sorted(accounts, key=lambda one: -(one.share(one.gone) or 0.0))
    for account in worst:
        if account.span != MEAN or not account.gone or not account.capacity:
            continue
        share = account.share(account.gone) or 0.0
        if account.currency == PROCESSORS and share >= TOLD_SHARE and account.gone >= TOLD_PROCESSORS:
            most = account.lost[0] if account.lost else None
            yield f"{_amount(account, unit)} are lost{_in_what(account)}{_first(most, by_key)}", _keys(account)
    for account in accounts:
        caused = [one for one in account.lost if one.to] if account.currency == WAITING_TASKS else []
        notes = {key for key, one in by_key.items() if one.finding.severity <= Severity.NOTE}
        caused = [] if all(one.to in notes for one in caused) else caused  # what nothing is to be done about
        tasks = sum(one.amount.booked for one in caused)
        if (account.share(tasks) or 0.0) >= ONE_IN_TEN and account.capacity:
            first, *others = [(f"{one.amount.booked:.1f}", f"for {one.what}") for one in caused[:3]]
            parts = " and ".join((" wait ".join(first), *map(" ".join, others)))
            where, cause = _where(caused[0], by_key), _cause(caused[0], by_key)
            if where and not cause:
                where = (
                    where if len(caused) == 1 else f"; {caused[0].what}{where if where[0] in ':,;' else f':{where}'}"
                )
            said = f"of {account.capacity:.1f} tasks that run or wait, {parts}"
            yield f"{said}{cause or where}", _keys(account)


def _keys(account: Account) -> tuple[str, ...]:
    return tuple(key for one in account.lost for key in (one.to, one.seen_in) if key)


def _amount(account: Account, unit: str) -> str:
    """`2.64 of 8 CPUs (33 %)`; both ends where they lie apart."""
    open_ = account.unexplained.amount.low if account.unexplained else 0.0
    low = sum(one.amount.low for one in account.lost if one.part_of is None) + open_
    return amount_words(low, account.gone, account.capacity or 1.0, unit)


def amount_words(low: float, most: float, capacity: float, unit: str) -> str:
    """`2.64 of 8 CPUs (33 %)`; `0.2 to 2 of 10 CPUs (2 to 20 %)` where the ends lie apart (`MOSTLY`)."""
    if low < MOSTLY * most:
        shares = f"{100 * low / capacity:.0f} to {100 * most / capacity:.0f} %"
        return f"{plain(low, 2)} to {plain(most, 2)} of {capacity:g} {unit} ({shares})"
    return f"{most:.2f} of {capacity:g} {unit} ({100 * most / capacity:.0f} %)"


def _in_what(account: Account) -> str:
    """What it is lost in: the largest part; without a shown cause that is said. Of a measured run with its name.

    A part has its own figure, as the bar has it, where that is not the whole and no end of a range lies apart.
    """
    open_ = account.unexplained.amount if account.unexplained else None
    run = f", {account.run}" if account.run else ""
    if account.unexplained and open_ and open_.booked > 0.5 * account.gone:
        return f" in {account.unexplained.why}{run}, cause not shown"
    parts = [(one.what, one.amount) for one in account.lost if one.amount.booked > 0]
    if open_ and account.unexplained and open_.booked > 0:
        parts.append((f"{account.unexplained.why}, cause not shown", open_))
    (first, most), *others = parts
    exact = all(amount.low >= MOSTLY * amount.booked for _, amount in parts)
    own = f"{most.booked:.2f}" if exact and f"{most.booked:.2f}" != f"{account.gone:.2f}" else ""
    if most.booked >= MOSTLY * account.gone or not others:
        return f", {own} of them in {first}{run}" if own else f" in {first}{run}"
    if len(others) > 1:
        return f" in {first}{f' ({own})' if own else ''} and {len(others)} more{run}"
    other, amount = others[0]
    return f" in {first}{f' ({own})' if own else ''} and {other}{f' ({amount.booked:.2f})' if own else ''}{run}"


def _first(most: Loss | None, by_key: Mapping[str, Ranked]) -> str:
    """What is to be fixed first, where that is another finding than one that measures the loss itself."""
    cause = by_key.get(most.to or "") if most else None
    if cause is None or cause.finding.cost is not None or cause.finding.severity < Severity.WARNING:
        return ""
    return f"; first to fix: {cause.finding.title}"


def _where(most: Loss, by_key: Mapping[str, Ranked]) -> str:
    """Behind what tasks wait for: where, as the title of the finding that counts them goes on; else empty.

    Words that are not those of the account stand behind a colon: `: writes of the last log page; slow device: log1`.
    """
    seen = by_key.get(most.seen_in or most.to or "")
    counted_ = ON_AVERAGE.match(seen.finding.title) if seen else None
    if seen is None or counted_ is None:
        return ""
    said = seen.finding.title[counted_.end() :]
    return said.removeprefix(most.what) if said.startswith(most.what) else f": {said}"


def _cause(most: Loss, by_key: Mapping[str, Ranked]) -> str:
    """What is to be fixed first, where another finding than the one that counts the waits explains most of them.

    Also one that measures something else, as what the host withholds, where it explains another finding. One that is
    urgent is told on its own.
    """
    cause = by_key.get(most.to or "")
    if cause is None or most.seen_in is None or cause.finding.urgent:
        return ""
    explains = any(key in by_key for key in cause.explains)
    if most.to == most.seen_in and (ON_AVERAGE.match(cause.finding.title) or not explains):
        return ""
    return f"; first to fix: {cause.finding.title}" if cause.finding.severity >= Severity.WARNING else ""


def _unmeasured(accounts: Sequence[Account], unit: str) -> Iterator[str]:
    """That the findings have no cost, because nothing tells work and loss apart."""
    for account in accounts:
        if account.span == MEAN and account.currency == PROCESSORS and account.undivided and account.capacity:
            open_, amount = account.undivided, account.undivided.amount
            if amount.high < SAID:
                continue
            are = f"of {account.capacity:g} {unit} are {open_.why}"
            if open_.bound and amount.low:
                yield f"{plain(amount.low, 2)} to {plain(amount.high, 2)} {are}"
            else:
                most = (
                    f"at most {plain(amount.high, 2)}" if open_.bound or amount.value is None else f"{amount.value:.1f}"
                )
                yield f"what it costs is not measured: {most} {are}"


def _to_do(findings: Sequence[Ranked], plan: Plan, accounts: Sequence[Account], unit: str) -> Iterator[ToDo]:
    """The changes of the plan in its order, what findings ask for that no setting does, and what is to be decided.

    What a note would change some day, as a table that the next boot makes larger, is a template of its finding alone.

    A template that a step comes after stands before that step.

    What a finding promises stands at the last of its changes that is told: all of them together bring it.
    """
    for ranked in findings:
        if ranked.finding.urgent:
            yield ToDo(None, ranked.finding.do, ranked.finding.subject, None, None, "now", "", "", ranked.key)
    by_key: dict[str, tuple[Ranked, Change]] = {}
    for ranked in findings:
        for change in ranked.finding.changes:
            by_key.setdefault(change.key, (ranked, change))
    numbered = enumerate(plan.steps, 1)
    steps = [(number, step, key) for number, step in numbered for key in step.change_keys if key in by_key]
    made = [one for one in steps if one[1].takes_effect is not Effect.ADVICE][:MOST_DO]
    last = {by_key[key][0].key: key for _, _, key in made}
    templates = [
        one
        for one in steps
        if one[1].takes_effect is Effect.ADVICE and by_key[one[2]][0].finding.severity > Severity.NOTE
    ]
    ahead: set[str] = set()
    for number, step, key in made:
        ranked, change = by_key[key]
        for first, template, before in templates:
            if before in change.after and before not in ahead:
                ahead.add(before)
                yield _one_thing(first, template, *by_key[before], "")
        promise = _promise(ranked, accounts, unit) if last[ranked.key] == key else ""
        yield _one_thing(number, step, ranked, change, promise)
    asked = list(_by_words(findings, {key for _, step, key in steps if step.takes_effect is not Effect.ADVICE}))
    yield from (one for severity, one in asked if severity >= Severity.WARNING)
    yield from (_one_thing(number, step, *by_key[key], "") for number, step, key in templates if key not in ahead)
    yield from (one for severity, one in asked if severity < Severity.WARNING)


def _by_words(findings: Sequence[Ranked], made: Collection[str]) -> Iterator[tuple[Severity, ToDo]]:
    """What findings above a note ask for that no setting does, and no other finding says, with their severity.

    A cause counts as loud as what it explains, so that its words stand before those of its consequences.
    `made`: keys of changes that the plan makes, not only leaves to be decided.

    A template that names no object is no step of the plan, so the words of its finding stand for it.
    """
    told: set[str] = set()  # two nodes, or two objects of one node, may ask for the same in the same words
    for ranked in findings:
        found = ranked.finding
        named = any(not one.nameless for one in found.changes)
        if found.urgent or (found.ended and not found.again) or named or found.severity <= Severity.NOTE:
            continue
        asked = found.do.split(". ")[0].removesuffix(".")  # what follows are the figures of each node
        if not found.do or asked in told:
            continue
        if not _caused(ranked, findings, made):
            told.add(asked)
            explained = [one.finding.severity for one in findings if one.key in ranked.explains]
            yield (
                max([found.severity, *explained]),
                ToDo(None, found.do, found.subject, None, None, "investigate", "", "", ranked.key),
            )


def _caused(ranked: Ranked, findings: Sequence[Ranked], made: Collection[str]) -> bool:
    """Whether another finding says what to do: one that explains it, or one that it explains and whose change is made.

    A change that is only to be decided does not stand for what a warning asks for first.

    Of locks that cross a cluster, whose words are several ways at once: one that explains them, and its change is made.

    One that explains it and is no warning, where the words name its rule: they would repeat what it says. Or where only
    a recalled layout keeps it from being one, and its change is made.
    """
    return any(
        (
            ranked.key in one.explains
            and (
                one.finding.severity >= Severity.WARNING
                or (
                    one.finding.severity >= ranked.finding.severity
                    and ranked.rule == CROSSING_RULE
                    and any(change.key in made for change in one.finding.changes)
                )
                or (one.rule in ranked.finding.do and one.finding.severity > Severity.NOTE)
                or (is_tentative(one.finding) and any(change.key in made for change in one.finding.changes))
            )
        )
        or (
            one.key in ranked.explains
            and any(ranked.finding.severity < Severity.WARNING or change.key in made for change in one.finding.changes)
        )
        for one in findings
    )


def _promise(ranked: Ranked, accounts: Sequence[Account], unit: str) -> str:
    """What to expect of all changes of a finding, on what basis, and what it can give at most where that is known."""
    said = []
    expected = next((one for one in ranked.finding.expects if one.after is not None), None)
    if expected:
        before = "" if expected.before is None else f"{rounded(expected.before)} → "
        said.append(f"{expected.metric}: {before}{rounded(expected.after)} ({expected.basis})")
    for account in accounts:
        most = [one.amount.high for one in account.lost if one.to == ranked.key and one.amount.value is None]
        if most and account.capacity and not expected:  # that bound says nothing of what is expected to stay
            said.append(f"gives back at most {plain(sum(most), 2)} of {account.capacity:g} {unit}")
    return "; ".join(said)


def way_back(effect: Effect, undo: Iterable[str], old: float | str | None) -> str:
    """How a change is taken back, and when that takes effect: with a restart where its own script asks for one."""
    static = effect is Effect.ONLINE and any(ASKS_FOR_RESTART in line for line in undo)
    said = UNDO[Effect.RESTART if static else effect]
    return said.format("taken back" if old is None else f"back to {rounded(old)}")


def _one_thing(number: int, step: Step, ranked: Ranked, change: Change, effect: str) -> ToDo:
    was = "" if change.old is None else f"{rounded(change.old)} → "
    to = "" if change.new is None else f" {was}{rounded(change.new)}"
    risk = change.risk or RISKS[step.takes_effect]
    only, statement = change.condition, change.statement
    only = f"only {only}" if only.startswith(("when ", "once ", "after ")) else only
    only = only and f"{', ' if only.startswith('only ') else '; '}{only}"
    return ToDo(
        step=number,
        title=f"{change.target}{to}{only}{f': {statement}' if statement and not OPEN.search(statement) else ''}",
        target=change.target,
        before=change.old,
        after=change.new,
        when=step.when,
        effect=effect,
        undo=way_back(step.takes_effect, change.undo, change.old),
        finding=ranked.key,
        risk="" if risk.level == "low" else f"{risk.level}: {risk.why}",
        after_step=step.after,
    )


def _to_collect(
    findings: Sequence[Ranked], verdicts: Sequence[Verdict], accounts: Sequence[Account]
) -> Iterator[ToCollect]:
    """What settles the findings in their order, then what divides the account, then what lets most rules judge."""
    settles: dict[str, dict[str, None]] = {}
    weight: Counter[str] = Counter()
    lacking = {one.rule: one for one in verdicts if one.missing}
    for place, one in enumerate(findings):
        if one.finding.severity > Severity.NOTE and one.rule in lacking:
            for lack in lacking[one.rule].missing:
                settles.setdefault(lack.command, {})[one.rule] = None
                weight[lack.command] += max(1, 100 * one.finding.severity - place)
    costless = [one.rule for one in findings if one.finding.cost is None and one.finding.severity > Severity.NOTE]
    waits = any(account.currency == WAITING_TASKS and _keys(account) for account in accounts)
    # what divides the account comes before what a finding asks for only where a finding may be what it is lost to
    first = findings and not waits and (not costless or any(map(COSTS_PROCESSORS.search, costless)))
    for one in findings:
        for lack in (
            lacking[one.rule].missing if (one.finding.again or one.finding.once) and one.rule in lacking else ()
        ):
            settles.setdefault(lack.command, {})[one.rule] = None
            weight[lack.command] += 100  # before what lets rules judge the time that was measured
    for account in (one for one in accounts if one.span == MEAN and one.currency == PROCESSORS):
        parts = [(one.amount, one.collect) for one in account.lost if one.collect]
        parts += [(one.amount, one.collect) for one in (account.unexplained, account.undivided) if one]
        for amount, collect in parts:
            if collect and (account.share(amount.booked) or 0.0) >= TOLD_SHARE and (costless or amount.value):
                settles.setdefault(collect, {}).update(dict.fromkeys(costless))
                weight[collect] += 1000 if first else 100
    for verdict in verdicts:
        if verdict.verdict in ("unknown", "untrusted", "fired"):
            for lack in verdict.missing:
                settles.setdefault(lack.command, {})[verdict.rule] = None
                weight[lack.command] += 1
    for command in sorted(settles, key=lambda one: (-weight[one], -len(settles[one]), one)):
        if settles[command]:  # what settles nothing is not worth a line
            yield ToCollect(command, tuple(settles[command]))
