"""DEADLOCK_WAIT is off, or far from its default at a cost.

Finds: three cases of DEADLOCK_WAIT, beside what MONITOR LOCK counts. 0: no deadlock is ever searched for. Less than the
default of 10 s, with many searches of which next to none finds one. More than 10 s, with deadlocks that are found, so
late.

Why it matters: 0 disables deadlock checking, so processes that wait for each other wait until a person ends one. A
value between 0 and the default finds deadlocks sooner and takes more CPU time (wiki.vmssoftware.com/DEADLOCK_WAIT): a
search starts for each request that has waited that long, and in a cluster asks other nodes. A longer one lets each
deadlock stand so much longer.

What to do: 10 s, the default; dynamic, so at once and without a reboot. A program that needs its own deadlocks found
sooner can set a wait for itself from V8.3 on ($SET_PROCESS_PROPERTIES, PPROP$C_DEADLOCK_WAIT), without the searches of
all others.

When to ignore it: where the value was set on purpose for an application whose deadlocks are found and repeated. Where
one search in a hundred finds a deadlock, or a short wait spares at any moment one request that would else stand in one,
it is left as it is.
"""

from collections.abc import Iterator
from dataclasses import dataclass, replace

from collectors.facts import Facts, known
from collectors.facts.openvms import LockRates, SysgenParameter
from rules.changes.openvms_sysgen import set_parameter
from rules.engine import limit, percent, rule
from rules.finding import Clean, Evidence, Expectation, Finding, Outcome, Severity, Unknown
from rules.laws.rounding import plain
from rules.openvms._evidence.autogen import with_line
from rules.openvms._evidence.deadlock_wait import COLLECTED_BY, DEFAULT, LONGEST, NAME, STATISTICS, unreal
from rules.openvms._evidence.node import (
    NODE_FACTS,
    in_prose,
    node_name,
    parameter_of,
    pending_clause,
    pending_clauses,
    pending_value,
    sentence,
    subject_of,
)

LINKS = ("https://wiki.vmssoftware.com/DEADLOCK_WAIT",)
HOUR = 3600


@dataclass(frozen=True)
class Limits:
    """How many searches for nothing are many, and how many deadlocks are some."""

    searches: float = limit(
        1.0, "this project: a real two-node day without trouble had 0.0001 at 10 s", unit="deadlock searches/s"
    )
    found_percent: float = percent(
        1.0, "this project: of a hundred searches one ends a deadlock: they are not for nothing", of="deadlock searches"
    )
    late: float = limit(
        1.0,
        "this project: at any moment one more, or one fewer, waits in a deadlock than would at 10 s",
        unit="requests",
    )


@rule(needs=(), uses=NODE_FACTS, links=LINKS, limits=Limits)
def check(facts: Facts, limits: Limits) -> Iterator[Outcome]:
    """Hold the value that runs against what the searches find."""
    setting = parameter_of(facts, NAME, 0, LONGEST)
    if not isinstance(setting, tuple):
        yield _searched(facts, limits) or setting if isinstance(setting, Unknown) else setting
        return
    seconds, parameter = setting
    waits = pending_clause(facts, NAME)
    if seconds == DEFAULT:
        yield Clean(f"{NAME} {seconds:g} s, its default{waits}")
    elif seconds == 0:
        yield _kept(facts, _off(facts, parameter))
    elif rates := next((one for name in STATISTICS if (one := facts.latest(LockRates, statistic=name))), None):
        yield _kept(facts, _judge(facts, limits, seconds, parameter, rates))
    else:
        yield Unknown((COLLECTED_BY,), f"{NAME} {seconds:g} s: what its searches find is not in the export{waits}")


def _kept(facts: Facts, found: Outcome) -> Outcome:
    """A finding whose change says which line of MODPARAMS.DAT would undo it; what is none as it is."""
    if not isinstance(found, Finding):
        return found
    return replace(found, changes=tuple(with_line(facts, one, NAME) for one in found.changes))


def _searched(facts: Facts, limits: Limits) -> Clean | None:
    """Without the value: searches that are made say that it is not 0, and few of them that it costs nothing."""
    rates = next((one for name in STATISTICS if (one := facts.latest(LockRates, statistic=name))), None)
    searches = rates.deadlock_search_per_second if rates else None
    if rates is None or searches is None or not known(searches) or not 0 < searches < limits.searches:
        return None
    return Clean(f"{in_prose(searches)} deadlock searches/s: deadlocks are searched for, and seldom", (rates.source,))


def _judge(facts: Facts, limits: Limits, seconds: float, parameter: SysgenParameter, rates: LockRates) -> Outcome:
    searches, finds = rates.deadlock_search_per_second, rates.deadlock_find_per_second
    if not known(searches) or not known(finds):
        return Unknown((COLLECTED_BY,), f"{NAME} {seconds:g} s: what its searches find is not in the export")
    if wrong := unreal(rates):
        return wrong
    said = f"{NAME} {seconds:g} s, {in_prose(searches)} deadlock searches/s, {in_prose(finds)} found"
    late = finds * abs(seconds - DEFAULT)
    often = 100 * finds >= limits.found_percent * searches
    if seconds < DEFAULT and searches >= limits.searches and not often and late < limits.late:
        none = f"one in {in_prose(searches / finds)} finds a deadlock" if finds else "none finds a deadlock"
        spared = f"; the default would leave {in_prose(late)} requests more in one at any moment" if finds else ""
        seen = f"{said}: a search for every request that waits {seconds:g} s{spared}."
        return _finding(
            facts,
            parameter,
            rates,
            title=f"{NAME} {seconds:g} s: {in_prose(searches)} searches a second, of which {none}",
            seen=seen,
            because="A value below the default finds deadlocks sooner and takes more CPU time; no wait ends by it.",
            held=("deadlock searches", searches, limits.searches),
        )
    if seconds > DEFAULT and late >= limits.late:
        return _finding(
            facts,
            parameter,
            rates,
            title=f"{NAME} {seconds:g} s: each deadlock stands {seconds - DEFAULT:g} s longer than by default",
            seen=f"{said}: at any moment {in_prose(late)} requests more wait in a deadlock than at {DEFAULT:g} s.",
            because="A search starts for a request that has waited so long, and until then nobody of a deadlock works.",
            held=("requests that wait in a deadlock longer than by default", round(late, 2), limits.late),
        )
    sooner = ""
    if seconds < DEFAULT and searches >= limits.searches:
        sooner = (
            f": {finds * HOUR:,.0f} deadlocks an hour end {DEFAULT - seconds:g} s sooner than by default, which these "
            f"searches pay for ({plain(100 * finds / searches, 2)} % find one, limit {limits.found_percent:g} %, or "
            f"{limits.late:g} request spared at any moment)"
        )
    return Clean(f"{said}{sooner}{pending_clause(facts, NAME)}", (rates.source,))


def _off(facts: Facts, parameter: SysgenParameter) -> Finding:
    return _finding(
        facts,
        parameter,
        None,
        title=f"{NAME} is 0: no deadlock is searched for",
        seen=f"{NAME} is 0.",
        because=(
            "0 disables deadlock checking: processes that wait for each other's locks wait until somebody ends one of "
            "them."
        ),
        held=None,
    )


def _finding(
    facts: Facts,
    parameter: SysgenParameter,
    rates: LockRates | None,
    *,
    title: str,
    seen: str,
    because: str,
    held: tuple[str, float, float] | None,
) -> Finding:
    value = parameter.current
    assert known(value)  # noqa: S101 - parameter_of() has turned everything else away
    evidence = [Evidence(NAME, value, "s", parameter.source)]
    if rates and held:
        name, figure, most = held
        computed = "" if name == "deadlock searches" else f"from {NAME} and the deadlocks found"
        evidence.append(Evidence(name, figure, "/s" if not computed else "", rates.source, most, computed))
    change = set_parameter(
        NAME,
        value,
        DEFAULT,
        dynamic=True,
        node=node_name(facts),
        pending=pending_value(facts, NAME),
        cautions=("Ask first who set it: a program may rely on its deadlocks being found, or not found, so.",),
    )
    return Finding(
        subject=subject_of(facts),
        severity=Severity.ADVICE,
        title=title,
        seen=sentence(seen.removesuffix("."), pending_clauses(facts, NAME)),
        because=because,
        do=(
            f"Set it to {DEFAULT:g} s, the default; it is dynamic. A program that needs its deadlocks found sooner can "
            "ask for it by itself from V8.3 on (PPROP$C_DEADLOCK_WAIT)."
        ),
        unknown="Why it was changed, and whether a program relies on it, is in no export.",
        evidence=tuple(evidence),
        changes=(change,),
        expects=(
            (Expectation("deadlock searches (/s)", held[1], "lower", "heuristic"),)
            if held and held[0] == "deadlock searches"
            else ()
        ),
    )
