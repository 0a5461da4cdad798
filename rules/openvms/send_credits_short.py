"""Cluster messages wait for send credit.

Finds: nodes whose messages to one other node often have to wait for send credit ([MON.SCS] of T4, "Send Credits waits
to"). Where the exports of that other node came along it is told there: it is the one that gives the credits.

Why it matters: a connection may send only as many messages ahead as the receiver gave it credit for (SHOW CLUSTER,
CREDITS and COUNTERS). A lock request to another node is such a message, so each wait makes its process wait longer.

What to do: see on the sender which connection waits (SHOW CLUSTER, CR_WAITS). For VMS$VAXcluster, which the lock
manager uses, the receiver's CLUSTER_CREDITS is recalled as what it gives; no source was found, so HELP decides. Below
its own default it is the first to look at.

When to ignore it: where the waits are those of disk service (MSCP$DISK), which has credits of its own.
"""

from collections.abc import Iterator
from dataclasses import dataclass

from collectors.facts import ABSENT, Facts, Source, known
from collectors.facts.openvms import ClusterMember, SysgenParameter, T4Column
from rules.changes.openvms_sysgen import PARAMETERS, advise_parameter
from rules.changes.quoting import comment
from rules.engine import limit, rule
from rules.finding import Clean, Evidence, Finding, MissingInput, NotApplicable, Outcome, Severity, Unknown, joined
from rules.openvms._evidence.node import NODE_FACTS, in_prose, node_name, subject_of

LINKS = ("https://zx.net.nz/mirror/h71000.www7.hp.com/doc/82final/6048/6048pro_060.html",)
"""Tables 19-5 and 19-6: CR_WAITS, SEND, RECEIVE, INIT_REC."""
WAITS = "Send Credits waits to "
NAME = "CLUSTER_CREDITS"
LOOK = "SHOW CLUSTER/CONTINUOUS, then ADD CONNECTIONS, COUNTERS, CREDITS"


WHEN = (
    "when the connection that waits is VMS$VAXcluster ({}: CR_WAITS), and HELP SYS_PARAMETERS {} says that the "
    "receiver's value counts"
)


@dataclass(frozen=True)
class Limits:
    """From which rate of waits on it is worth a word."""

    waits_per_second: float = limit(10.0, "this project: no rate is published; fewer cost nobody much", unit="/s")
    advice_per_second: float = limit(50.0, "this project: from here on advice, below it a note", unit="/s")
    warning_per_second: float = limit(
        200.0, "this project: a warning from here on, where CLUSTER_CREDITS is below its own default", unit="/s"
    )


@dataclass(frozen=True)
class Waits:
    """What one node waits for the credits of another."""

    sender: str
    receiver: str
    rate: float
    """Per second."""
    evidence: Evidence


@rule(needs=(), uses=(T4Column, ClusterMember, *NODE_FACTS), links=LINKS, limits=Limits)
def check(facts: Facts, limits: Limits) -> Iterator[Outcome]:
    """Judge the waits for this node, and those of this node for others that were not collected."""
    own = subject_of(facts)
    named = (node_name(facts) or "").upper()
    members = {one.name.upper() for one in facts.every(ClusterMember) if not one.own}
    sent, received = list(_sent(facts, own, limits)), list(_received(facts, named, limits))
    there = any(one.group == "MON.SCS" and one.name.startswith(WAITS) for one in facts.every(T4Column))
    elsewhere = [one for one in sent if one.receiver.upper() in members]
    here = [one for one in sent if one.receiver.upper() not in members]
    if received:
        yield _finding(facts, limits, own, received)
    for one in here:
        yield _finding(facts, limits, comment(one.receiver, 31), [one])
    if here:
        yield Unknown((MissingInput(f"{NAME} of {comment(here[0].receiver, 31)}", f"MCR SYSGEN SHOW {NAME}"),))
    if received or here:
        return
    if elsewhere:
        told = ", ".join(f"{in_prose(one.rate)}/s for {comment(one.receiver, 31)}" for one in elsewhere)
        yield Clean(f"messages wait for send credit, {told}: told where the credits are given")
    elif there or any(one.credit_waits for one in facts.every(ClusterMember)):
        yield Clean(f"no node waits {limits.waits_per_second:g} times per second or more for send credit")
    elif not named and not facts.every(T4Column):
        yield Unknown.without("waits for send credit", "a T4 composite CSV with its cluster messages ([MON.SCS])")
    else:
        yield NotApplicable("no [MON.SCS] columns of T4: nothing tells of send credits")


def _sent(facts: Facts, own: str, limits: Limits) -> Iterator[Waits]:
    for one in facts.every(T4Column):
        waits = one.mean if one.group == "MON.SCS" and one.name.startswith(WAITS) else ABSENT
        if known(waits) and waits >= limits.waits_per_second:
            other = one.name.removeprefix(WAITS).strip()
            yield Waits(own, other, waits, _evidence(own, other, waits, one.source, limits))


def _received(facts: Facts, own: str, limits: Limits) -> Iterator[Waits]:
    for member in facts.every(ClusterMember):
        for name, rate in () if member.own else member.credit_waits:
            if name.upper() == own and rate >= limits.waits_per_second:
                at = member.credit_waits_source or member.source
                yield Waits(member.name, name, rate, _evidence(member.name, name, rate, at, limits))


def _evidence(sender: str, receiver: str, rate: float, source: Source, limits: Limits) -> Evidence:
    metric = f"send credit waits of {comment(sender, 31)} for {comment(receiver, 31)} (mean)"
    return Evidence(metric, round(rate, 1), "/s", source, limits.waits_per_second)


def _finding(facts: Facts, limits: Limits, receiver: str, waits: list[Waits]) -> Finding:
    total = sum(one.rate for one in waits)
    listed = None
    if receiver == subject_of(facts):
        listed = next((one for one in facts.every(SysgenParameter) if one.name == NAME and one.runs), None)
    now, usual = (listed.current, listed.default) if listed else (None, None)
    value = now if isinstance(now, float) else None
    default = usual if isinstance(usual, float) else None
    senders = ", ".join(f"{comment(one.sender, 31)} {in_prose(one.rate)}/s" for one in waits[:6])
    low = value is not None and default is not None and value < default
    others = {one.name: one.credits for one in facts.every(ClusterMember) if not one.own and known(one.credits)}
    most = max(others.values(), default=default or 0.0)
    beside = ", ".join(f"{comment(name, 31)} {has:g}" for name, has in sorted(others.items())[:6])
    here = PARAMETERS[NAME]
    raise_to = most if low and value is not None and here.low <= value < most <= here.high else None
    has = f"{NAME} {value:g} of {receiver}" if value is not None else f"{NAME} of {receiver}"
    compare = f"the other nodes have {beside};" if beside else "compare it with the other nodes, and"
    below = f" is below its default {default:g}: {compare}" if low else ":"
    severity = Severity.ADVICE if total >= limits.advice_per_second else Severity.NOTE
    if low and total >= limits.warning_per_second:
        severity = Severity.WARNING
    return Finding(
        subject=f"send credits of {receiver}",
        severity=severity,
        title=f"{in_prose(total)} messages per second to {receiver} wait for send credit"
        + (f", {NAME} is {value:g} there" if low else ""),
        seen=f"Waits for send credit to {receiver} on average: {senders}.",
        because=(
            f"A node sends only as many messages ahead as {receiver} gave it credit for; lock requests to it are among "
            "them, and wait."
        ),
        do=joined(
            f"{has}{below} look on a node that waits which connection does it ({LOOK}: CR_WAITS).",
            f"If it is VMS$VAXcluster, HELP SYS_PARAMETERS {NAME} decides whether to raise it on {receiver}, not on "
            "those that wait.",
        ),
        unknown=(
            f"That {NAME} of the receiver gives these credits, and only from a boot on, is recalled: no source was "
            "found. T4 adds up all connections to a node."
        ),
        evidence=(
            *(one.evidence for one in waits),
            *((Evidence(NAME, value, "", listed.source),) if listed and value is not None else ()),
        ),
        changes=(
            advise_parameter(
                NAME,
                value,
                raise_to,
                when=WHEN.format(LOOK, NAME) + (f"; {beside} now" if beside else ""),
                node=receiver,
            ),
        )
        if raise_to
        else (),
        share=total,
    )
