"""A dedicated lock manager for a load that a series ran without: what the series says of it, and how it is tried."""

from collections.abc import Sequence
from dataclasses import dataclass

from collectors.facts import Facts
from collectors.facts.scaling import LoadSeries
from rules.changes.openvms_sysgen import advise_parameter
from rules.finding import Change
from rules.laws.dedicated import Dedicated
from rules.laws.machines import machine_of
from rules.laws.series import Step, TimeSeries, held_against
from rules.laws.settings import differ
from rules.openvms._evidence.cpu_layout import Layout, no_dedicated
from rules.openvms._evidence.node import in_prose, node_name
from rules.openvms._evidence.own_runs import of_node, two_digits
from rules.openvms._evidence.spinning import own_cpu
from rules.sources import JCC

MODE = "LCKMGR_MODE"


def may_serve(own: Dedicated, series: LoadSeries) -> str:
    """What a dedicated lock manager may be expected to give, by this series alone."""
    machine = machine_of(series.title)
    had = (
        "The lock manager had no CPU of its own"
        if (machine.what, machine.on) == ("dlm", False)
        else "The title does not say that the lock manager had a CPU of its own"
    )
    return (
        f"{had}; one may serve about {two_digits(own.ceiling):,.0f} per second under overload, by the "
        f"{own.kernel_usec:.2f} µs of kernel time of a lone operation, where {in_prose(own.left.rate)} are left "
        f"(checked on one machine, {JCC}). It takes one of {series.cores} CPUs at all hours and makes a lone request "
        "no faster."
    )


@dataclass(frozen=True)
class WithIt:
    """What the same machine did with a dedicated lock manager at the highest load that both ran at."""

    said: str
    gain_percent: float
    where: str
    """At which load, as a clause."""


def with_it(series: LoadSeries, mine: Sequence[LoadSeries], course: TimeSeries) -> WithIt | None:
    """The same series with a dedicated lock manager, where that was measured beyond the peak of this one, too.

    The CPU that the lock manager has is one less for the load, so such a series may end one step before this one.
    """
    for other in mine:
        apart = differ(series, other)
        if apart is None or apart.setting != "dlm" or apart.before is not series:
            continue
        common = held_against(series, other)
        after_peak = {step.load for step in course.beyond}
        at = [one for one in common if one.load in after_peak] if not isinstance(common, str) else []
        if at:
            last = at[-1]
            without = "" if last.load == course.last.load else f", without {in_prose(last.before.rate)}"
            does = f"{in_prose(last.after.rate)} at {last.load:g}{without}"
            said = (
                f"With a dedicated lock manager this machine does {does} "
                f"({other.title}): the comparison of the two series says what that gains and costs."
            )
            gain = 100 * (last.after.rate / last.before.rate - 1) if last.before.rate else 0.0
            both = f"at {last.load:g}, the highest load of both tests"
            return WithIt(said, gain, both if without else "at the highest load of the test")
    return None


def turn_on(
    series: LoadSeries,
    better: WithIt | None,
    own: Dedicated | None,
    least_cpus: int,
    noise: float,
    facts: Facts,
    peak: Step,
) -> tuple[Change, ...]:
    """LCKMGR_MODE as a template on the node of the series, where it runs with 0: for its load, or for one more run."""
    layout, named = Layout(facts), {one.node for one in facts.every(LoadSeries)}
    node = node_name(facts) or (series.node if named == {series.node} else None)
    cpus = layout.active or series.cores
    if not node or not of_node(series, node) or layout.setting(MODE) != 0 or own_cpu(layout) or no_dedicated(layout):
        return ()
    if series.derived or cpus is None or cpus < least_cpus:
        return ()
    if better and better.gain_percent > noise:
        when = (
            f"only where more than {peak.load:g} {series.load_name} lock at once: with it {better.gain_percent:+.0f} %"
        )
        when += f" {better.where}"
    elif own:
        serves = (
            f"it may serve about {two_digits(own.ceiling):,.0f} per second, where {in_prose(own.left.rate)} are left"
        )
        when = f"only for a run of the same series with it: {serves}; to stay where that does more"
    else:
        return ()
    seat = (
        "Put it on a CPU without fast-path device and TCP/IP, not the primary, by LCKMGR_CPUID before: SHOW FASTPATH."
    )
    return (advise_parameter(MODE, 0, least_cpus, when=when, cautions=(seat,), node=node),)
