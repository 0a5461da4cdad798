"""PE1 is -1: no lock tree moves, and nothing counts who uses it.

Finds: the special parameter PE1 at -1, which switches the moving of lock trees off.

Why it matters: trees stay with the node that took the first lock, whoever works on them later. And -1 also stops the
activity counters of the trees, so tools that list the busiest trees (LCKACT) see nothing. JCC Consulting set it for the
time of a latency test alone (slides on the OpenVMS lock manager, 2014).

What to do: where trees are to stay, PE1 = 1 has nearly the same effect and keeps the counters: the readme of
KP_LOCKTOOLS (OpenVMS Freeware) advises it. Where they may move, 0, the default. PE1 is dynamic; it belongs to the
special parameters, which SYSGEN shows by name alone.

When to ignore it: during a LOCKTIME run, which needs it so that no tree moves; put it back afterwards.
"""

from collections.abc import Iterator
from dataclasses import dataclass

from collectors.facts import Facts, known
from collectors.facts.openvms import LockLatency, RemasterRates
from rules.changes.openvms_sysgen import PARAMETERS, set_parameter
from rules.finding import Clean, Evidence, Expectation, Finding, Outcome, Severity, Unknown, Untrusted
from rules.judging.openvms.cluster import READ, own_name, own_rates, sustained, wrong_reading
from rules.judging.openvms.node import USE, parameter_of
from rules.kit import limit, rule

LINKS = ("https://wiki.vmssoftware.com/LOCKRMWT",)
NAME = "PE1"
OFF, COUNTED = -1, 1


@dataclass(frozen=True)
class Limits:
    """When trees move although the listing says they do not."""

    moves_per_second: float = limit(
        0.001, "this project: a tree in a quarter of an hour; below that a mean of moves is rounding", unit="trees/s"
    )


@rule(needs=(), uses=(*READ, RemasterRates), links=LINKS, limits=Limits, sample=None)
def check(facts: Facts, limits: Limits) -> Iterator[Outcome]:
    """Judge the value in the listing."""
    setting = parameter_of(facts, NAME, PARAMETERS[NAME].low, PARAMETERS[NAME].high)
    if not isinstance(setting, tuple):
        yield (_alone(facts) if isinstance(setting, Unknown) else None) or setting
        return
    value, fact = setting
    if value != OFF:
        told = "lock trees move freely" if value == 0 else "moving lock trees is limited, not off"
        old = "; a limit set before V7.3 should be reviewed, moving became far faster then" if value > 0 else ""
        yield Clean(f"PE1 {value:.0f}: {told}{old}")
        return
    moved = sustained(facts)
    if moved and (wrong := wrong_reading(moved)):
        yield wrong
        return
    if moved and known(moved.moved_out) and moved.moved_out > limits.moves_per_second:
        yield Untrusted(
            f"PE1 is -1 in the listing, yet {moved.moved_out:.3g} lock trees/s left this node: it is not the active "
            "value, or of another time; bring both of one day"
        )
        return
    yield _finding(facts, value, Evidence(NAME, value, "", fact.source))


def _alone(facts: Facts) -> Clean | None:
    """Without the parameter: in order where no lock has to do with another node, so no tree can move."""
    rates = own_rates(facts)
    if rates is None or rates.incoming_per_second != 0 or rates.outgoing_per_second != 0:
        return None
    return Clean("no lock leaves this node and none comes from another: there is no tree to move")


def _finding(facts: Facts, value: float, read: Evidence) -> Finding:
    rates, node = own_rates(facts), own_name(facts)
    remote = [rates.incoming_per_second, rates.outgoing_per_second] if rates else []
    alone = bool(remote) and all(rate == 0 for rate in remote)
    serves = bool(rates and rates.incoming_per_second)
    measuring = bool(facts.every(LockLatency))
    why = ""
    if alone:
        why = " All locks are local here, so only the counters are missing."
    elif measuring:
        why = " A LOCKTIME run came with it, which needs -1 while it runs: put it back now."
    return Finding(
        subject=node or "node",
        severity=Severity.NOTE if alone or measuring else Severity.ADVICE,
        title="Remastering is switched off, and the lock trees are not counted (PE1 = -1)",
        says=(
            f"PE1 is -1: no lock tree leaves this node, and the activity counters of its trees stand still, so nothing "
            f"tells which tree is busy.{why} PE1 = 1 keeps all but the smallest trees where they are (as recalled: "
            f"trees up to that many locks may move) and counts again; 0 lets them move. {USE}"
        ),
        evidence=(read,),
        explains=("openvms/lock_master_on_slow_node",) if serves and not measuring else (),
        changes=(
            set_parameter(
                NAME,
                value,
                COUNTED,
                dynamic=True,
                cautions=("0 instead of 1 where lock trees may move to the node that uses them most.",),
                node=node,
            ),
        ),
        expects=(Expectation("activity counters of the lock trees", "stand still", "count", "published"),),
    )
