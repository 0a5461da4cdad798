"""What OpenVMS did slower on Integrity than on Alpha, and since when.

Finds: Integrity servers with a release before V8.2 or V8.2 itself that spend much of their busy time in kernel and
executive mode; on any release, as a note, those that start images all the time (page faults and file opens).

Why it matters: on the field test X8.2 a loop of INSQUE and REMQUE took an rx2600 34 times as long as an ES45, while
those instructions were system services; 2.8 times after they were called through EPC, which was done before V8.2 was
released. Moving memory became faster (a test of RMS by 15 % with one stream, by 38 % with four), and kernel process
blocks were cached (2,084 → 10,999 I/Os per second). What stays slower: exceptions, whose frames are larger and whose
handlers take longer to find, services in place of instructions, and the start of images, which are three times as
large (HP's talk on the performance of OpenVMS on Integrity, 2004).

What to do: before V8.2, take a newer release. On any release: repair what faults for alignment, and keep processes and
images instead of starting new ones (installed images, servers).

When to ignore it: on any release since V8.2 nothing of this is a fault that a setting could repair, and a low rate of
images needs nothing. The figures are of 2004: measure your own work before and after.
"""

from collections.abc import Iterator
from dataclasses import dataclass

from collectors.facts import OVERFLOW, Facts, known
from collectors.facts.openvms import ProcessorModes, SystemRates, T4Column
from rules.engine import limit, percent, rule
from rules.finding import (
    Clean,
    Evidence,
    Expectation,
    Finding,
    NotApplicable,
    Outcome,
    Severity,
    Unknown,
    Untrusted,
)
from rules.laws.platforms import (
    IMAGE_TIMES,
    KPB_AFTER,
    KPB_BEFORE,
    MOVES_FOUR_STREAMS,
    MOVES_ONE_STREAM,
    SLOWER_AS_SERVICE,
    SLOWER_THROUGH_EPC,
)
from rules.openvms._evidence.node import NODE_FACTS, Work, subject_of, work_of
from rules.openvms._evidence.platforms import NO_PROMISE
from rules.openvms._evidence.releases import Machine, machine_of
from rules.sources import HP

SLOWER = (
    "Slower there until repaired: queue instructions (a loop took an rx2600 "
    f"{SLOWER_AS_SERVICE:.0f} times an ES45's time, {SLOWER_THROUGH_EPC:.1f} times after the repair), kernel process "
    f"blocks, never cached, so that MMG was hot ({KPB_BEFORE:,.0f} → {KPB_AFTER:,.0f} I/Os per second), and moving "
    f"memory (RMS gained {MOVES_ONE_STREAM:g} % with one stream and {MOVES_FOUR_STREAMS:g} % with four; {HP})."
)
FIRST_RELEASE = (
    "Queue instructions were repaired before V8.2 was released; whether the repairs of kernel process blocks and of "
    f"moving memory, which were measured on its field test, are in it no source tells ({HP})."
)
LINKS = ("https://wiki.vmssoftware.com/MONITOR_MODES",)


@dataclass(frozen=True)
class Limits:
    """From which figures on the release or the start of images may matter."""

    inner_percent: float = percent(
        60.0,
        "this project: of the busy time in kernel and executive mode; a real day of an rx3600 without trouble had 57",
        of="busy time",
    )
    busy_percent: float = percent(
        25.0, "this project: on a node less busy than this nothing is to be gained", of="all CPUs"
    )
    page_faults: float = limit(
        5_000.0, "this project: many images start, or working sets are too small", unit="page faults/s"
    )
    file_opens: float = limit(
        1_000.0,
        "this project: an image opens its files when it starts; a real day with 331 was harmless",
        unit="opens/s",
    )


@rule(
    needs=(),
    uses=(*NODE_FACTS, ProcessorModes, SystemRates, T4Column),
    links=LINKS,
    limits=Limits,
    together=True,
    releases="OpenVMS on Integrity: before V8.2, V8.2 itself, and for images any release",
)
def check(facts: Facts, limits: Limits) -> Iterator[Outcome]:
    """Judge the release, then how many images start."""
    machine = machine_of(facts)
    if machine.no_integrity:
        yield NotApplicable(f"{machine.no_integrity}: no Integrity server")
        return
    if machine.family is None:
        why = f"{machine.hardware}: no family is known by this name" if machine.hardware else ""
        yield Unknown(machine.lacking, why)
        return
    images = _images(facts, machine, limits)
    if isinstance(images, Finding | Untrusted):
        yield images
    if machine.release is None:
        why = f"{machine.hardware}, its release is not in the export"
        yield Unknown(machine.lacking, why)
    elif machine.release.before(8, 2) or not machine.release.before(8, 3):
        yield from _early(facts, machine, limits) if machine.release.before(8, 2) else [_late(machine, images)]
    else:
        yield from _first(facts, machine, limits)


def _late(machine: Machine, images: Outcome | None) -> Outcome:
    printed = machine.release.printed if machine.release else ""
    seen = f"; {images.why}" if isinstance(images, Clean) else ""
    stays = (
        "what stays slower than on Alpha no setting repairs (queue instructions "
        f"{SLOWER_THROUGH_EPC:.1f} times an ES45's time on an rx2600, images {IMAGE_TIMES:g} times as large; {HP})"
    )
    return Clean(f"{machine.hardware}, {printed}: what was repaired up to V8.2 is in it{seen}; {stays}")


def _early(facts: Facts, machine: Machine, limits: Limits) -> Iterator[Outcome]:
    """Before the release of V8.2: advice where kernel and executive mode rule the busy time."""
    found = _inner(facts, machine, limits)
    if not isinstance(found, tuple):
        yield found
        return
    yield _release_finding(facts, machine, limits, found, Severity.ADVICE)


def _first(facts: Facts, machine: Machine, limits: Limits) -> Iterator[Outcome]:
    """V8.2 and V8.2-1: the repairs were on their way, so a note at most."""
    found = _inner(facts, machine, limits)
    if isinstance(found, tuple):
        yield _release_finding(facts, machine, limits, found, Severity.NOTE)
    else:
        yield found


def _inner(facts: Facts, machine: Machine, limits: Limits) -> tuple[Work, float] | Outcome:
    """The busy time and the share of kernel and executive mode in it, or why that is no reason to speak."""
    release = machine.release.printed if machine.release else ""
    work = work_of(facts)
    if not isinstance(work, Work):
        return work
    kernel, executive = work.modes.kernel_percent, work.modes.exec_percent
    if not (known(kernel) and known(executive)) or not work.busy:
        return Clean(f"{release}: idle ({work.modes.statistic})")
    share = min(100.0, 100 * (kernel + executive) / work.busy)
    figures = f"{release}: {share:.0f} % of the busy time in kernel and executive mode ({work.modes.statistic})"
    if work.busy < limits.busy_percent * work.cpus:
        return Clean(f"{figures}, busy {work.busy:.0f} of {100 * work.cpus:.0f} %: nothing to gain")
    if share < limits.inner_percent:
        return Clean(f"{figures}, limit {limits.inner_percent:g} %")
    return work, share


def _release_finding(
    facts: Facts, machine: Machine, limits: Limits, found: tuple[Work, float], severity: Severity
) -> Finding:
    work, share = found
    release = machine.release.printed if machine.release else ""
    early = severity is Severity.ADVICE
    return Finding(
        subject=subject_of(facts),
        severity=severity,
        title=f"{release} on Integrity: {share:.0f} % of the busy time is in kernel and executive mode",
        seen=(
            f"{machine.hardware} runs {release}, {'from before V8.2 was released' if early else 'the first release'}, "
            f"and spends {share:.0f} % of its busy time in kernel and executive mode ({work.modes.statistic})."
        ),
        because=SLOWER if early else FIRST_RELEASE,
        do=(
            f"{'Take a newer release' if early else 'Ask which of the repairs this release has'}, and measure before "
            "and after."
        ),
        unknown=(
            "Whether this is what costs time here the export does not tell: a spinlock trace would, if MMG is hot. "
            f"{f'These are {NO_PROMISE}.' if early else ''}"
        ).strip(),
        evidence=(
            *((Evidence("release", release, "", machine.source),) if machine.source else ()),
            Evidence(
                f"kernel and executive mode ({work.modes.statistic})",
                round(share, 1),
                "% of busy time",
                work.modes.source,
                limits.inner_percent,
            ),
            Evidence(f"busy ({work.modes.statistic})", round(work.busy, 1), "% of one CPU", work.modes.source),
        ),
        expects=(
            *(
                (
                    Expectation(
                        "queue instructions, times an ES45's (published for an rx2600)",
                        round(SLOWER_AS_SERVICE),
                        round(SLOWER_THROUGH_EPC, 1),
                        "published",
                    ),
                )
                if early
                else ()
            ),
            Expectation("kernel and executive mode (% of busy time)", round(share, 1), "lower", "heuristic"),
        ),
    )


def _images(facts: Facts, machine: Machine, limits: Limits) -> Outcome | None:
    """Whether images start all the time: many page faults together with many file opens."""
    rates = facts.latest(SystemRates, statistic="mean") or facts.latest(SystemRates, statistic="current")
    columns = [one for one in facts.every(T4Column) if one.group == "MON.IO" and one.name.lower() == "file open rate"]
    faults = rates.page_fault_per_second if rates else None
    opens = columns[-1].mean if columns else None
    for what, value in (("page faults", faults), ("file opens", opens)):
        if value is OVERFLOW or (known(value) and value < 0):
            return Untrusted(f"{what} per second: {'asterisks' if value is OVERFLOW else f'{value:g}'} is no rate")
    if rates is None or not known(faults):
        return None
    said = f"{faults:,.0f} page faults/s ({rates.statistic})"
    if not columns or not known(opens):
        return Clean(f"{said}; how many images start is not in the export")
    said += f" and {opens:,.0f} file opens/s"
    if faults < limits.page_faults or opens < limits.file_opens:
        return Clean(f"{said}: few images start (limits {limits.page_faults:,.0f} and {limits.file_opens:g})")
    return Finding(
        subject=subject_of(facts),
        severity=Severity.NOTE,
        title=f"{faults:,.0f} page faults and {opens:,.0f} file opens per second on Integrity",
        seen=(f"{machine.hardware} has {said}, as where images start all the time."),
        because=(
            f"On Integrity that is more expensive than on Alpha: images are typically {IMAGE_TIMES:g} times as large, "
            f"which means more I/O and more page faults ({HP})."
        ),
        do=(
            "Install the images that start most often, keep processes and servers instead of starting new ones, and "
            "see that working sets are large enough."
        ),
        evidence=(
            Evidence(f"page faults ({rates.statistic})", round(faults, 1), "/s", rates.source, limits.page_faults),
            Evidence("file opens (mean)", round(opens, 1), "/s", columns[-1].source, limits.file_opens),
        ),
        expects=(Expectation("page faults per second", round(faults, 1), "lower", "heuristic"),),
    )
