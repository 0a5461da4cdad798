"""What else the export shows of a hot spinlock: what feeds it, and the settings that a remedy depends on."""

from dataclasses import dataclass, field

from collectors.facts import Facts, Source, known
from collectors.facts.openvms import KernelService, LockRates, T4Column, T4File
from rules.changes.openvms_sysgen import advise_parameter
from rules.finding import Change, Evidence, Expectation, Severity, Unknown, Untrusted
from rules.laws.platforms import KPB_AFTER, KPB_BEFORE
from rules.openvms._evidence.alignment import ALIGNMENT_FACTS, many_under_mmg
from rules.openvms._evidence.chains import CHAIN_FACTS, Chain, chain_of
from rules.openvms._evidence.cluster import shows_rdb
from rules.openvms._evidence.cpu_layout import LAYOUT_FACTS, Layout
from rules.openvms._evidence.dedicated import DEDICATED_FACTS, not_yet
from rules.openvms._evidence.dominating import (
    DOMINATING_FACTS,
    TRIED_AGAIN,
    dominating,
    refused_mostly,
    without_polling,
)
from rules.openvms._evidence.file_system import settings, to_raise, used
from rules.openvms._evidence.monitor_classes import CLASS_FACTS, MONITOR_PAGE, mean_of, page_faults
from rules.openvms._evidence.node import NODE_FACTS, busiest_operations, called_alike, in_prose, parameter_of
from rules.openvms._evidence.releases import machine_of
from rules.openvms._evidence.spinlocks import IOLOCK8, LCKMGR, MMG
from rules.openvms._evidence.spinning import OWN_CPU_CPUS, OWN_CPU_WORTH
from rules.openvms._evidence.t4_processes import CPU_TIME, PAGE_FAULTS, most_of, of_node
from rules.openvms._evidence.working_sets import WORKING_SET_FACTS, working_sets
from rules.sources import HP

TIMERS, SCHED, FILSYS = ("TIMER", "HWCLK"), "SCHED", "FILSYS"
WAKES = {"tqe wakeups": "$SCHDWK", "tqe timers": "$SETIMR"}
"""Columns of `[MON.TIMR]`, and the system service that makes such an entry of the timer queue."""
MANY_WAKES = 5_000.0
"""A second, this project: real nodes without trouble had some hundreds."""
CALLERS = f"Its callers: SDA> SPL START COLLECT/SPINLOCK={SCHED}, SPL SHOW TRACE/SPINLOCK={SCHED}/TOP=10"
LOOKS_AT = (
    *ALIGNMENT_FACTS,
    *CLASS_FACTS,
    *NODE_FACTS,
    *DEDICATED_FACTS,
    *LAYOUT_FACTS,
    *CHAIN_FACTS,
    *DOMINATING_FACTS,
    *WORKING_SET_FACTS,
    KernelService,
)
"""What a rule that uses this module has to declare."""
MOST_RATES = 3
"""Rates of the file system that are named in a sentence."""
MOSTLY = 0.5
"""This project: half and more is most of it."""
PAGES_AN_IMAGE = 500.0
"""This project: more first touches for each file opened are hardly of images that start: those open one each, unless
installed open."""
FEWER_PAGE_FAULTS = "what helps: fewer page faults (larger working sets, fewer images started)"
MANY_LOGINS = 60.0
"""A minute, this project: one a second."""
AT_REBOOT = "Not dynamic: it takes effect at the next reboot, after AUTOGEN. Look with SHOW FASTPATH afterwards."
SPREAD = (
    "the fast path is on for every port already, so what helps is to spread the ports over the CPUs (SHOW FASTPATH) "
    "and less of what still goes through it: cluster messages, and drivers that have no fast path"
)
PORTS = ("PKQDRIVER", "FGEDRIVER", "PKADRIVER", "PEDRIVER", "PKRDRIVER", "PKMDRIVER", "PGQDRIVER")
"""Bits 0 to 6 of FAST_PATH_PORTS: a bit that is set turns the fast path of that driver off."""


@dataclass
class Look:
    """What was seen: clauses and sentences, figures, what to expect, and what is missing to say more."""

    facts: list[str] = field(default_factory=list)
    """What feeds it, as clauses."""
    because: str = ""
    """What was published of such a machine, as a sentence."""
    do: str = ""
    """What to do beside the remedy of the spinlock, as a sentence."""
    unknown: str = ""
    """Why the figures may be of another state of the node, as a clause."""
    evidence: list[Evidence] = field(default_factory=list)
    expects: list[Expectation] = field(default_factory=list)
    remedy: str = ""
    """What helps in place of the spinlock's own remedy, as a clause: of that, part is done already."""
    changes: list[Change] = field(default_factory=list)
    missing: list[Unknown | Untrusted] = field(default_factory=list)
    at_most: Severity = Severity.CRITICAL
    """How loud the rule may speak with what was seen."""


def look_at(facts: Facts, name: str, lost: float | None = None) -> Look:
    """What the export shows beside the trace of this spinlock, for which `lost` per cent of one CPU spin."""
    look = Look()
    if name == LCKMGR:
        _locks(facts, look, lost)
    elif name == IOLOCK8:
        _fast_path(facts, look)
    elif name == MMG:
        _memory(facts, look)
    elif name == FILSYS:
        _files(facts, look)
    elif name in TIMERS:
        _timers(facts, look)
    elif name == SCHED and not _wakes(facts, look):
        alike = called_alike(facts)
        look.do = f"{CALLERS}{f'; look first at the {alike} of SHOW SYSTEM' if alike else ''}."
    return look


def _locks(facts: Facts, look: Look, lost: float | None) -> None:
    rates = facts.every(LockRates)
    operations = busiest_operations(rates)
    if operations is None:
        look.missing.append(Unknown.without("lock operations per second", f"{LockRates.COLLECTED_BY}, or MONITOR LOCK"))
    else:
        source = next(one.source for one in rates if one.operations_per_second == operations)
        look.facts.append(f"the highest lock rate read is {in_prose(operations)} lock operations per second")
        look.evidence.append(Evidence("lock operations, highest", round(operations, 1), "/s", source))
    polls = refused_mostly(facts)
    if polls:
        refused = Evidence("ENQs not queued, of all", round(polls.of_all, 1), "%", polls.source, TRIED_AGAIN, "a share")
        look.evidence.append(refused)
    documented = machine_of(facts).dedicated_documented
    layout = Layout(facts)
    if before := not_yet(facts, layout):
        look.unknown, look.do = before.said, before.do
        look.missing.append(Unknown((before.lacking,)))
        look.at_most = Severity.ADVICE
    elif layout.lock_manager:
        look.do = (
            f"The lock manager already has CPU {layout.lock_manager[0]} of its own: only fewer lock operations help "
            "further."
        )
    elif documented is False:
        look.do = (
            "The dedicated lock manager is documented for Alpha and Integrity alone: nothing is advised of it here."
        )
    elif polls and not dominating(facts):
        look.do = "Measure again without it before a CPU is dedicated to the lock manager."
    else:
        look.do = _own_cpu(layout, lost)


def _files(facts: Facts, look: Look) -> None:
    """What the file system does while CPUs spin for its spinlock, and its caches that lack half of what they are asked.

    Only where a capture tells both: without misses the caches are no matter of it.
    """
    rates, raised = used(facts), to_raise(facts)
    told = ", ".join(f"{one.metric} {in_prose(one.value)}/s" for one in rates[:MOST_RATES] if known(one.value))
    if told:
        look.facts.append(f"of what the file system does, the capture has most of: {told}")
        look.evidence += rates
    if raised:
        look.evidence += settings(facts)
        look.do = (
            f"Then raise {raised} (AUTOGEN; perhaps a new MOUNT), as most lookups miss: that cuts I/O, "
            "no source promises less spinning."
        )


def fewer_locks(facts: Facts) -> str:
    """What helps where CPUs spin for the lock manager, as a clause: the tree that locks most, where one is known.

    Else an end to polling, where most requests are refused and tried again.
    Nothing of Rdb where nothing shows that it is used, and nothing of the hash table where its chains are short.
    """
    tree, chain = dominating(facts), chain_of(facts)
    if not tree and (polls := refused_mostly(facts)):
        return f"what helps: {without_polling(facts, polls)}"
    how = " (row caches, coarser locks, a database open on one node only)" if shows_rdb(facts) and not tree else ""
    where = f", first where most are: {tree.fewer}" if tree else ("" if how else " (LOCK_ACTV tells whose they are)")
    short = isinstance(chain, Chain) and not chain.explains_spinning
    table = "" if short or tree else " and a resource hash table as large as the resources are many"
    return f"what helps: fewer lock operations{how}{where}{table}"


def _own_cpu(layout: Layout, lost: float | None) -> str:
    """Whether a CPU of its own can be worth it by the CPUs there are and what spins for LCKMGR, as a sentence."""
    if layout.active is not None and layout.active < OWN_CPU_CPUS:
        return (
            f"A dedicated lock manager is no remedy with {layout.active:.0f} CPUs: the vendor asks for more than "
            f"{OWN_CPU_CPUS - 1}."
        )
    if layout.cores is not None and layout.cores < OWN_CPU_CPUS:
        return (
            f"A dedicated lock manager is doubtful with {layout.cores:.0f} cores: the vendor asks for more than "
            f"{OWN_CPU_CPUS - 1} CPUs, and two threads of a core are less than that (this project's reading)."
        )
    if lost is not None and lost <= OWN_CPU_WORTH:
        return (
            f"A dedicated lock manager takes {OWN_CPU_WORTH:.0f} % of one CPU at all hours, and {lost:.0f} % spin for "
            f"{LCKMGR}: it is not worth it."
        )
    beside = "" if machine_of(layout.facts).without_cothreads else ", with nothing on the co-thread of its CPU"
    return (
        f"On more than {OWN_CPU_CPUS - 1} cores, where much more than one CPU spins for {LCKMGR}, a dedicated lock "
        f"manager may help{beside}: openvms/lock_manager_needs_own_cpu judges it."
    )


def _fast_path(facts: Facts, look: Look) -> None:
    if machine_of(facts).x86:
        return
    for name, high in (("FAST_PATH", 1), ("FAST_PATH_PORTS", 2**32 - 1)):
        found = parameter_of(facts, name, 0, high)
        if isinstance(found, Unknown | Untrusted):
            look.missing.append(found)
        if not isinstance(found, tuple):
            continue
        value, parameter = found
        look.evidence.append(Evidence(name, value, "", parameter.source))
        if name == "FAST_PATH" and not value:
            look.facts.append("FAST_PATH is 0: the fast path is off for all ports, so their I/O goes through IOLOCK8")
            look.changes.append(_switched_on(facts, name, value, 1, "the fast path"))
            return
        if name == "FAST_PATH_PORTS" and value:
            off = [driver for bit, driver in enumerate(PORTS) if int(value) >> bit & 1] or ["a bit of no known driver"]
            look.facts.append(f"FAST_PATH_PORTS is {value:.0f}: it turns the fast path off for {', '.join(off)}")
            whose = f"the fast path of {', '.join(off)}" if off[0] in PORTS else "the fast path"
            look.changes.append(_switched_on(facts, name, value, 0, whose))
        elif name == "FAST_PATH_PORTS":
            on = any(one.metric == "FAST_PATH" and one.value for one in look.evidence)
            look.facts.append(
                f"FAST_PATH_PORTS is 0: no port has its fast path turned off{' (FAST_PATH 1)' if on else ''}"
            )
            if on:
                look.remedy = SPREAD


def _switched_on(facts: Facts, name: str, value: float, new: float, what: str) -> Change:
    """A template that turns it on: who turned it off may have had a reason, and it takes a reboot."""
    when = f"only if nobody turned {what} off on purpose"
    return advise_parameter(name, value, new, when=when, cautions=(AT_REBOOT,), node=Layout(facts).node)


def _timers(facts: Facts, look: Look) -> None:
    """The rates of [MON.TIMR], where T4 brought them: all entries, and those of $SETIMR and $SCHDWK."""
    for column, what in (("TQE Total", "timer queue entries"), ("TQE Timers", "of them $SETIMR"), ("TQE Wakeups", "")):
        for one in facts.every(T4Column):
            if one.group == "MON.TIMR" and one.name.lower() == column.lower() and known(one.mean):
                if what:
                    look.facts.append(f"{in_prose(one.mean)}/s {what}")
                look.evidence.append(Evidence(f"{column} (mean)", one.mean, "/s", one.source))
                break


def _wakes(facts: Facts, look: Look) -> bool:
    """Timers that wake processes, where they are many: each makes a process computable, under this spinlock."""
    columns = {one.name.lower(): one for one in facts.every(T4Column) if one.group == "MON.TIMR" and known(one.mean)}
    read = [(call, columns[name]) for name, call in WAKES.items() if name in columns]
    rates = [(call, one.mean, one.source) for call, one in read if known(one.mean)]
    if sum(rate for _, rate, _ in rates) < MANY_WAKES:
        return False
    look.evidence += [
        Evidence(f"timer queue entries of {call} (mean)", round(rate, 1), "/s", source) for call, rate, source in rates
    ]
    told = " and ".join(f"{in_prose(rate)}/s {call}" for call, rate, _ in rates)
    look.remedy = (
        f"what helps (as recalled) is fewer wake-ups by timers, {told}: wait for an event or an AST in place of polling"
    )
    most = most_of(facts, CPU_TIME)
    if most:
        look.evidence.append(most.share_read)
        have = f"which have {most.share:.0f} % of the CPU time that T4 lists by process"
        look.do = f"Look at {most.said} first, {have}; SDA> SHOW TQE lists whose they are."
    else:
        look.do = "SDA> SHOW TQE lists whose they are."
    return True


def _memory(facts: Facts, look: Look) -> None:
    faults, unaligned = page_faults(facts), many_under_mmg(facts)
    if faults:
        look.facts.append(f"on average there are {in_prose(faults.value)} page faults per second")
        look.evidence.append(Evidence("page faults (mean)", faults.value, "/s", faults.source))
        if whose := of_node(facts, PAGE_FAULTS, faults.value):
            look.facts.append(f"{whose.said} make {in_prose(whose.value)}/s of them")
            figure = Evidence(f"page faults of {whose.name} (mean)", round(whose.value, 1), "/s", whose.source)
            look.evidence.append(figure)
    if unaligned:
        look.facts.append(f"there are {in_prose(unaligned.value)} alignment faults per second")
        look.evidence.append(Evidence("alignment faults (mean)", round(unaligned.value, 1), "/s", unaligned.source))
        look.remedy = (
            "what helps first is fewer alignment faults, as on Integrity only one CPU at a time resolves them, under "
            "this spinlock (a practitioner's word); then trace again"
        )
    elif faults:
        _new_pages(facts, look, faults.value)
        if not look.remedy:
            _pages_of_their_own(facts, look, faults.value)
        look.remedy = look.remedy or FEWER_PAGE_FAULTS
    if not faults:
        look.missing.append(Unknown.without("page faults per second", MONITOR_PAGE))
    machine = machine_of(facts)
    if machine.family == "Integrity" and machine.release and machine.release.before(8, 3):
        look.because = (
            f"On Integrity before its first releases kernel process blocks (KPB) were never cached and MMG was hot: "
            f"the repair took an rx2600 from {KPB_BEFORE:,.0f} to {KPB_AFTER:,.0f} I/Os per second ({HP})."
        )
        look.do = (
            f"This node runs {machine.release.printed}: ask whether it has the repair for kernel process blocks, and "
            "take a newer release."
        )
        look.expects.append(Expectation("I/Os per second, published for an rx2600", KPB_BEFORE, KPB_AFTER, "published"))
        if machine.source:
            look.evidence.append(Evidence("release", machine.release.printed, "", machine.source))
    elif machine.family is None or machine.release is None:
        look.missing.append(Unknown(machine.lacking))


def _pages_of_their_own(facts: Facts, look: Look, faults: float) -> None:
    """Page faults that are mostly for pages still in memory: processes lost them to working sets that are too small."""
    found = working_sets(facts, faults)
    if found:
        look.remedy, look.unknown = found.remedy, found.unknown
        look.evidence += found.evidence
        look.missing += found.missing


def _new_pages(facts: Facts, look: Look, faults: float) -> None:
    """Page faults that are mostly demand zero, as of new processes and images: no working set spares a first touch."""
    zero = mean_of(facts, "MON.PAGE", "Demand-zero faults")
    if zero is None or not MOSTLY * faults <= zero.value <= faults:
        return
    look.evidence.append(Evidence("demand zero faults (mean)", zero.value, "/s", zero.source))
    alive = ""
    per, file = {}, facts.also(T4File).latest(T4File)
    for name in ("Logins", "LifeTime < 1 min"):
        column = facts.latest(T4Column, group="ACLG", name=name)
        if column and known(column.mean) and file and known(file.interval_seconds) and file.interval_seconds > 0:
            per[name] = column.mean * 60 / file.interval_seconds, column.source
    if len(per) == 2:
        (logins, source), (brief, of_brief) = per.values()
        if logins >= MANY_LOGINS and MOSTLY * logins <= brief <= logins:
            alive = f"{in_prose(logins)} logins a minute, {in_prose(brief)} of them for less than one, and "
            computed = "as the mean by the interval"
            look.evidence.append(Evidence("logins", round(logins / 60, 2), "/s", source, computed=computed))
            look.evidence.append(
                Evidence("of them for less than a minute", round(brief / 60, 2), "/s", of_brief, computed=computed)
            )
    if not alive and (opens := _file_opens(facts)) and zero.value >= PAGES_AN_IMAGE * opens[0]:
        look.evidence.append(Evidence("file opens (mean)", opens[0], "/s", opens[1]))
        look.remedy = (
            f"what helps is that programs keep their memory, as of {in_prose(faults)} page faults/s "
            f"{in_prose(zero.value)} are demand zero at {in_prose(opens[0])} file opens/s: hardly new images, unless "
            "installed open"
        )
        look.do = (
            "MONITOR PROCESSES/TOPFAULT names them, SHOW PROCESS/CONTINUOUS shows memory that shrinks and grows, "
            "PRODUCT SHOW HISTORY patches."
        )
        return
    whose = of_node(facts, PAGE_FAULTS, faults)
    who = f", first of {whose.said}, which make {in_prose(whose.value)}/s" if whose else ""
    look.remedy = (
        f"what helps is to keep processes and images alive{who}: {alive}of {in_prose(faults)} page faults/s "
        f"{in_prose(zero.value)} are demand zero, pages of their first touch, which no larger working set spares"
    )


def _file_opens(facts: Facts) -> tuple[float, Source] | None:
    """Files opened per second, where T4 brought them."""
    for one in facts.every(T4Column):
        if one.group == "MON.IO" and one.name.lower() == "file open rate" and known(one.mean) and one.mean >= 0:
            return one.mean, one.source
    return None
