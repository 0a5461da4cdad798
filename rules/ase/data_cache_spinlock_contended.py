"""The spinlock of a data cache is contended.

Finds: a data cache whose spinlock contention is over the limit, with real searches, more than one engine and
engines at work.

Why it matters: each partition of a cache has one spinlock, and every search takes it. Engines that wait for it spin
and burn the CPU other work needs. sp_sysmon prints one figure for the whole cache, the waits of all partitions over
the grabs of all: one hot partition hides behind the cool ones, so the real figure of the worst is higher.
monSpinlockActivity has each partition, with its spins: where it was collected for an interval, it is what is judged.

What to do: cut the cache into more partitions with `cache_partition`, a power of two: at once into the fewest that
should leave half of the limit, at most the 64 of the guides, because each change needs a restart and a partition no
memory; practitioners see the contention about halved by each doubling. The rule goes as far as the engines, rounded up
to a power of two, and to twice as many where all partitions are seen to be contended alike: two engines can still meet
in one partition, and no source says that more would not help.
Partitions that are configured and would be fewer after the next restart are taken back. Each pool must keep 512 KB and
256 logical pages in every partition. Where no more partitions are possible, or one hot page or table is the cause, bind
the hot objects to named caches of their own. One partition over the limit counts though all together are under it, as
each has its own spinlock. Where a few have most of the waits (five times the mean of the others), more of them do
little, nor does a cache of its own, and no restart is asked for: fewer rows on a page spread it.

When to ignore it: when the engines are not busy. Where cache hits per second grow together with the CPU, scans are the
cause (see ase/table_scans_relink_cache): each page scanned is one relinkage, and better SQL or an index fixes that,
partitions do not. Where no export tells whether it is scans, only a cache of one partition is cut all the same, or of
one for more than four engines each where the spins are measured and can have taken a tenth of their time. Partitions
also do little for one hot page, which always lies in one of them. A lockless data cache (16.0 SP02 and later) is judged
by its CAS waits in monDataCache, its spinlock says nothing. For a type of cache that is not known here nothing is
proposed.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

from collectors.facts import Facts, known
from collectors.facts.ase import CacheActivity, CachePool, MonSpinlockActivity, NamedCache
from rules.ase._evidence.caches.allocation import Allocation, allocation
from rules.ase._evidence.caches.binding_plan import BindingPlan, Lacks, movable
from rules.ase._evidence.caches.binding_report import (
    Part,
    binding_keys,
    contention_left,
    not_worth,
    partitions_first,
)
from rules.ase._evidence.caches.contents import Contents, Held, contents_of
from rules.ase._evidence.caches.figures import doubt, gives_up_pages, named_of
from rules.ase._evidence.caches.hot import HOT_FACTS, CacheLimits, judged_by, searched
from rules.ase._evidence.caches.hot_cause import Cause, fewer_rows
from rules.ase._evidence.caches.lockless import NEW as LOCKLESS
from rules.ase._evidence.caches.lockless import lockless_as_met, lockless_instead, read_nothing
from rules.ase._evidence.caches.moving import temporaries_of, told_temporary
from rules.ase._evidence.caches.own_cache import TEMPORARY_RULE, enough_alone, unused_log_cache
from rules.ase._evidence.caches.partitions import SEPARATE, Advice, advise, cut_for_engines
from rules.ase._evidence.caches.relaxed import RELAXED_RULE, suits_relaxed
from rules.ase._evidence.caches.temporary import TEMPORARY_FACTS, serves_tempdb, sums_of_temporary
from rules.ase._evidence.objects.scans import Scanned, Unjudged, scanned_of, scans_unjudged
from rules.ase._evidence.objects.seen import name_of
from rules.ase._evidence.server import (
    ENGINE_FACTS,
    busy_of,
    unknown_of,
)
from rules.ase._evidence.spinlocks.cas import CAS_GRABS
from rules.ase._evidence.spinlocks.figures import Figure
from rules.ase._evidence.spinlocks.gates import (
    BUSY_ORIGIN,
    BUSY_PERCENT,
    CACHE_PERCENT,
    CACHE_SEARCHES,
    CRITICAL_ORIGIN,
)
from rules.ase._evidence.spinlocks.next_line import next_in_line
from rules.ase._evidence.spinlocks.ratio import (
    LEAVE_IT,
    at_work,
    decides,
    refused,
)
from rules.ase._evidence.spinlocks.spin_severity import GROWS, SpinBound, severity_of, spin_bound
from rules.ase._evidence.spinlocks.survey import CACHE_FACTS, cache_figure, cache_names
from rules.ase._evidence.spinlocks.uneven import Uneven, uneven
from rules.ase._evidence.spinlocks.waits import costs_nothing
from rules.changes.ase_cache import cache_key, show_cache
from rules.changes.quoting import comment
from rules.engine import limit, percent, rule
from rules.finding import (
    Change,
    Clean,
    Effect,
    Evidence,
    Finding,
    Outcome,
    Severity,
    Unknown,
    Untrusted,
    joined,
    within,
)

LINKS = (
    "https://infocenter.sybase.com/help/topic/com.sybase.infocenter.dc31644.1600/doc/html/san1371158554520.html",
    "https://infocenter.sybase.com/help/topic/com.sybase.infocenter.dc36273.1600/doc/html/san1393051979352.html",
)
HIDES = "One figure stands for all its partitions, so the hottest may be far worse."
SEARCHES = (
    "Each search takes the spinlock of its partition: if cache hits per second rise together with the CPU, look for "
    "table scans first, as partitions do not reduce those."
)
SCANS_FIRST = (
    "Fix the statements that scan {} first (ase/table_scans_relink_cache) and measure: nothing is to be restarted "
    "before that. Should it stay over the limit"
)
SCANS_BESIDE = (
    "Look before the restart, by {}, whether scans of {} are what it is searched for (ase/table_scans_relink_cache): "
    "fewer of them help more, and this is then for the next restart that is due."
)
SCANS_ALONE = (
    "Fix the statements that scan {} first (ase/table_scans_relink_cache) and measure. Bind nothing for them: in a "
    "cache of its own each page scanned is one search as well."
)
OWN_FIRST = (
    "First a cache of their own for the {} ({}), then measure: tables are bound only if it is over the limit then."
)
RELAXED_FIRST = (
    f"What is left: relaxed LRU, which all it holds suits ({RELAXED_RULE}); bind nothing before it is measured."
)
RELAXED_DECIDED_FIRST = (
    f"What is left: decide first whether relaxed LRU suits it ({RELAXED_RULE} says what is missing); bind nothing away "
    "before that."
)
PLAN_FIRST = (
    "What is left is the binding plan (ase/hot_table_in_default_cache); after that only fewer searches reduce it."
)
SCANS_JUDGED_FIRST = (
    "Nothing is to be restarted before {} tell whether scans of {} are what it is searched for "
    "(ase/table_scans_relink_cache). Should it not be the scans"
)
PLAN_BEFORE = (
    "Make the binding plan first (ase/hot_table_in_default_cache): it is expected to leave less than {:g} %. Only if "
    "it is still over the limit after measuring"
)
OWN_BEFORE = (
    "First a cache of their own for the {} ({}), then measure: it is expected to leave less than {:g} %. Only if it is "
    "still over the limit"
)
LOGS_FIRST = (
    "Nothing is bound to {}, which is there for logs: see first what share of the searches here they make "
    "(ase/log_in_shared_cache)."
)
TEMPORARY_LEFT = (
    "Temporary tables make {:.0f} % of its searches and cannot be bound one by one: look by sp_helpcache where their "
    f"databases are bound, and give them a cache of their own ({TEMPORARY_RULE})."
)
ENOUGH_CUT = "It has a partition for each engine already"
PLAN_LEADS = (
    f"{ENOUGH_CUT}: make the binding plan first (ase/hot_table_in_default_cache) and measure. Only if it is still over "
    "the limit"
)
RELAXED_LEADS = f"{ENOUGH_CUT}: set relaxed LRU first ({RELAXED_RULE}) and measure. Only if it is still over the limit"
SYSTEM_LEADS = (
    f"{ENOUGH_CUT}: first a cache for the system tables (ase/system_tables_in_default_cache), expected to leave less "
    "than {:g} %. Only if it is still over the limit"
)
STRICT_BEFORE = (
    "First go back to strict LRU (ase/relaxed_strategy_unsafe), then measure: relaxed, the cache gives up pages that "
    "are in use. Only if it is still over the limit"
)
LATCHES = "latch requests for one page show like this (vendor; ase/latch_contended counts the tasks that wait for them)"
MORE_DO_LITTLE = "More partitions do little for one hot page or table, which lies in one of them whatever their number."
NO_PARTITIONS = "No partitions are proposed, and binding does not help either: one hot page lies in one of them."
READ_LESS = (
    "No partitions are proposed: one hot page lies in one of them. Where sp_spaceused shows that {0} has a few pages, "
    "read it less often, as by keeping what it says in the program, or bind it to a small cache of its own, which "
    "takes its searches off all others."
)
ENGINES_EACH = 4
"""This project: with more engines for each partition the cache is cut, whatever it is searched for; the guides have a
partition for each engine or half of them."""
MOST_TEMPORARY = 0.5
"""This project: of a cache's searches, from which on its hottest tables are temporary ones, which cannot be bound."""
MOST_TABLES = 3
"""Tables that a sentence names."""


@dataclass(frozen=True)
class Limits:
    """From which figures on the rule speaks."""

    contention_percent: float = percent(
        CACHE_PERCENT, "vendor: over 10 % more partitions or named caches (System Administration Guide 2)"
    )
    critical_percent: float = percent(30.0, CRITICAL_ORIGIN)
    searches_per_second: float = limit(
        CACHE_SEARCHES, "this project: below this the per cent is of almost nothing", unit="searches/s"
    )
    busy_percent: float = percent(BUSY_PERCENT, BUSY_ORIGIN)


@rule(needs=(), uses=(*ENGINE_FACTS, *CACHE_FACTS, CachePool, *TEMPORARY_FACTS, *HOT_FACTS), links=LINKS, limits=Limits)
def check(facts: Facts, limits: Limits) -> Iterator[Outcome]:
    """Judge every data cache."""
    names = cache_names(facts)
    if not names:
        yield unknown_of(facts, CacheActivity, MonSpinlockActivity)
    for name in names:
        figure = cache_figure(facts, name, name)
        if isinstance(figure, Figure):
            yield from _judged(facts, limits, figure)
        else:
            yield figure


def _judged(facts: Facts, limits: Limits, figure: Figure) -> Iterator[Outcome]:
    contention, busy, printed = figure.contention, limits.busy_percent, facts.latest(CacheActivity, name=figure.label)
    judged = judged_by(figure, limits.contention_percent)
    quiet = refused(facts, figure.label, judged, limits.contention_percent, busy_percent=busy, figure=figure)
    few = figure.too_few(limits.searches_per_second)
    if isinstance(quiet, Clean) and not few and (skew := _hot_alone(facts, limits, figure)):
        yield _hot_partition(facts, limits, figure, skew)
    elif quiet or not known(contention):
        yield quiet or unknown_of(facts, CacheActivity, MonSpinlockActivity)
    elif printed and not figure.lock and doubt(printed):
        yield Untrusted(doubt(printed) or "")
    elif few:
        yield Clean(f"{figure.said}, but {few}")
    else:
        named = named_of(facts, figure.label)
        advice = advise(facts, figure.label, named, contention, limits.contention_percent)
        bound = None if figure.uses.startswith(CAS_GRABS) else spin_bound(facts, figure.lock)
        if bound and bound.grows and advice.change:
            advice = replace(advice, because=GROWS)
        elif bound and bound.nothing and not figure.since_boot:
            advice = Advice(LEAVE_IT, because=bound.says)
        elif bound is None and (small := costs_nothing(facts, figure)):
            advice = Advice(LEAVE_IT, because=small)
        if figure.short and advice.change:
            advice = _only_if("Should an interval of 30 s or more show the same", advice)
        if figure.light_average and advice.change and advice.change.takes_effect is not Effect.ONLINE:
            boot = "Nothing is changed for an average since boot; should two snapshots show the same"
            advice = replace(_only_if(boot, advice), instead="")
        skew = uneven(figure.lock, limits.contention_percent)
        cut = advice.change is not None and advice.change.takes_effect is not Effect.ONLINE
        if skew and (cut or advice.do == SEPARATE):
            cause = Cause.of(facts, skew)
            because = joined(f"{skew.says}.", cause.explains) if cause.explains else f"{skew.says}; {LATCHES}."
            if cause.read:
                advice = Advice(READ_LESS.format(cause.read.name), because=because)
            else:
                fewer = fewer_rows(facts, _held(facts, figure.label), skew, cause.page)
                alone = Advice(NO_PARTITIONS, because=because, instead=fewer)
                advice = Advice(fewer, because=because) if cause.page else alone
        if advice.change and (apart := _rows_apart(figure, named)):
            advice = Advice(
                f"No change is proposed before {show_cache(figure.label)} shows what is in force.", because=apart
            )
        if advice.do == SEPARATE:
            advice = replace(advice, do=_apart(facts, limits, figure))
        elif advice.instead == SEPARATE:
            advice = replace(advice, instead=_apart(facts, limits, figure))
        restarts = advice.change and advice.change.takes_effect is not Effect.ONLINE
        held = _held(facts, figure.label) if restarts else []
        if restarts and (scans := scanned_of(facts, held)):
            advice = replace(_only_if(SCANS_FIRST.format(_tables(scans)), advice), instead="")
        elif restarts and (open_scans := scans_unjudged(facts, held)):
            first = SCANS_JUDGED_FIRST.format(open_scans.lacks, open_scans.names)
            held_back = (
                _with_caution(advice, open_scans) if _too_few(facts, figure, named) else _only_if(first, _short(advice))
            )
            advice = replace(held_back, missing=(*advice.missing, *open_scans.missing), instead="")
        if advice.change and (plan := _plan_first(facts, limits, figure, contention)):
            advice = _after(plan, advice, advice.change, advice.do)
        elif advice.change and restarts and (before := _first(facts, limits, figure)):
            advice = _after(before, advice, advice.change, _short(advice).do)
        elif advice.change and restarts and (lever := _lever(facts, limits, figure, contention)):
            advice = _after(lever, advice, advice.change, _short(advice).do)
            advice = advice if lever.keys else replace(advice, change=None, expects=())
        yield _finding(facts, limits, figure, named, contention, advice)
        if advice.missing:
            yield Unknown(advice.missing)


def _apart(facts: Facts, limits: Limits, figure: Figure) -> str:
    """What is left beside partitions, as sentences: the one first step, by what other rules find of the same cache."""
    if scans := scanned_of(facts, _held(facts, figure.label)):
        return SCANS_ALONE.format(_tables(scans))
    named = named_of(facts, figure.label)
    lockless = lockless_as_met(facts, named)
    relaxed = False if lockless else suits_relaxed(facts, figure.label, named)
    if relaxed is not False:
        return RELAXED_FIRST if relaxed else RELAXED_DECIDED_FIRST
    if (found := _given_out(facts, limits, figure)) is None:
        unused = unused_log_cache(facts) if named and named.is_default else None
        return lockless or (LOGS_FIRST.format(comment(unused.name)) if unused else SEPARATE)
    contents, shared = found
    if own := enough_alone(facts, figure, contents, limits.contention_percent, shared.given):
        return OWN_FIRST.format(own.says, own.rule)
    theirs = temporaries_of(facts, figure, contents)
    if theirs.share >= MOST_TEMPORARY and not told_temporary(facts, theirs.databases):
        return TEMPORARY_LEFT.format(100 * theirs.share)
    if not isinstance(shared.plan, BindingPlan):
        return lockless or SEPARATE
    if shared.plan.worth_it:
        return PLAN_FIRST
    return lockless or f"No cache of its own helps: {not_worth(shared.plan)}."


def _tables(scans: Sequence[Scanned]) -> str:
    """Names of the tables that are scanned, a few of them."""
    named = ", ".join(name_of(one.row) for one in scans[:MOST_TABLES])
    return named + (f" and {len(scans) - MOST_TABLES} more" if len(scans) > MOST_TABLES else "")


def _with_caution(advice: Advice, scans: Unjudged) -> Advice:
    """The same change with the caution that scans are not judged: one spinlock for all engines is too few for any."""
    if advice.change is None:
        return advice
    said = SCANS_BESIDE.format(scans.lacks, scans.names)
    return replace(advice, change=replace(advice.change, cautions=(*advice.change.cautions, said)))


def _too_few(facts: Facts, figure: Figure, named: NamedCache | None) -> bool:
    """Whether there are too few spinlocks for any use: one, or one for many engines whose spins are known to cost."""
    if named is None or not known(named.run_partitions):
        return False
    bound = spin_bound(facts, figure.lock)
    crowded = bound is not None and bound.costly and (bound.engines or 0) > ENGINES_EACH * named.run_partitions
    return named.run_partitions == 1 or crowded


def _short(advice: Advice) -> Advice:
    """The advice without why it is so many: that stands beside the figures."""
    return replace(advice, do=f"{advice.do.partition('. ')[0].removesuffix('.')}.")


def _only_if(condition: str, advice: Advice) -> Advice:
    """The advice on a condition, and no change before that."""
    return replace(advice, do=f"{condition}, {within(advice.do)}", change=None, expects=())


def _held(facts: Facts, cache: str) -> list[Held]:
    """What lies in a cache, as far as an export says it."""
    contents = contents_of(facts)
    return [one for one in contents.held if one.cache == cache] if isinstance(contents, Contents) else []


def _rows_apart(figure: Figure, named: NamedCache | None) -> str:
    """That spinlocks and partitions do not match, as a sentence; empty where they do, or one row stands for all."""
    rows = len(figure.lock.rows) if figure.lock else 0
    if named is None or not known(named.run_partitions) or rows < 2 or rows == named.run_partitions:
        return ""
    return (
        f"monSpinlockActivity has {rows} spinlocks of it, the list of caches {named.run_partitions:.0f} as partitions: "
        "they are not of the same time or server."
    )


def _given_out(
    facts: Facts, limits: Limits, figure: Figure, *, sums: bool = False
) -> tuple[Contents, Allocation] | None:
    """What the contended caches hold, and how memory is given out for it; `None` where this cache is none of them.

    `sums`: that counts added up by database will do, which tell of temporary databases alone.
    """
    gate = CacheLimits(limits.contention_percent, limits.searches_per_second, limits.busy_percent)
    hot, contents, _ = searched(facts, gate, spread=True)
    if contents is None and sums:
        contents = sums_of_temporary(facts)
    if contents is None or figure.label not in {one.label for one in hot}:
        return None
    return contents, allocation(facts, contents, gate)


@dataclass(frozen=True)
class First:
    """What is changed and measured before partitions: in words, and the keys of its changes that the plan may hold."""

    says: str
    keys: tuple[str, ...]


def _after(first: First, advice: Advice, change: Change, do: str) -> Advice:
    """The advice behind what is changed and measured before it; `change` and `do` are its own, the text perhaps cut."""
    yields = replace(change, yields_to=(*change.yields_to, *first.keys))
    return replace(advice, do=f"{first.says}, {within(do)}", change=yields, instead="")


def _plan_first(facts: Facts, limits: Limits, figure: Figure, contention: float) -> First | None:
    """The binding plan's changes of this cache, where they are expected to bring it under the limit."""
    found, goal = _given_out(facts, limits, figure), limits.contention_percent
    plan = found[1].plan if found else None
    if not isinstance(plan, BindingPlan) or not plan.worth_it:
        return None
    if partitions_first(facts, Part(plan, figure.label, ()), contention, goal):
        return None  # the bindings wait for the partitions then
    left, keys = contention_left(plan, figure.label, contention), binding_keys(plan, figure.label)
    if not keys or left is None or (left >= goal and not cut_for_engines(facts, figure.label)):
        return None
    return First(PLAN_BEFORE.format(goal) if left < goal else PLAN_LEADS, keys)


def _lever(facts: Facts, limits: Limits, figure: Figure, contention: float) -> First | None:
    """What leads where the cache has a partition for each engine already: relaxed LRU, or a cache of system tables."""
    name, goal = figure.label, limits.contention_percent
    if not cut_for_engines(facts, name):
        return None
    if suits_relaxed(facts, name, named_of(facts, name)):
        return First(RELAXED_LEADS, (cache_key(name, "replacement"),))
    found = _given_out(facts, limits, figure)
    if found is None or not isinstance(found[1].plan, Lacks) or not found[1].plan.missing:
        return None
    free = (one for one in found[0].held if one.cache == name and one.system and not one.bound and movable(one))
    left = contention * (1 - found[0].inside(name, sum(one.reads for one in free)))
    return First(SYSTEM_LEADS.format(goal), ()) if left < goal else None


def _first(facts: Facts, limits: Limits, figure: Figure) -> First | None:
    """What takes the searches or the replacement off a cache: one cause is changed at a time, and partitions are last.

    Relaxed LRU that gives up pages in use is a fault of its own, whatever the partitions. Temporary databases come
    first where the cache is expected to be under the limit without them: then partitions are perhaps for nothing.
    """
    name, named = figure.label, named_of(facts, figure.label)
    if named and gives_up_pages(facts, named) and not serves_tempdb(facts, name, named):
        return First(STRICT_BEFORE, (cache_key(name, "replacement"),))
    if (found := _given_out(facts, limits, figure, sums=True)) is None:
        return None
    goal = limits.contention_percent
    own = enough_alone(facts, figure, found[0], goal, found[1].given)
    if own is None or own.rule != TEMPORARY_RULE:
        return None
    return First(OWN_BEFORE.format(own.says, own.rule, goal), own.keys)


def _hot_alone(facts: Facts, limits: Limits, figure: Figure) -> Uneven | None:
    """The hot partitions among cool ones where one is over the limit, which all together are not; else `None`."""
    skew, goal = uneven(figure.lock, limits.contention_percent), limits.contention_percent
    if skew is None or not known(figure.contention) or figure.contention >= goal:
        return None
    hot = skew.lock.hottest.waited_percent
    return skew if hot and refused(facts, figure.label, hot, goal, busy_percent=limits.busy_percent) is None else None


def _hot_partition(facts: Facts, limits: Limits, figure: Figure, skew: Uneven) -> Finding:
    lock = skew.lock
    hot, rows, bound = lock.hottest.waited_percent or 0.0, len(lock.rows), spin_bound(facts, lock)
    cause = Cause.of(facts, skew)
    says = f"One of {rows} partitions is {hot:.3g} % contended, all together {figure.contention:.3g} %"
    return Finding(
        subject=figure.label,
        severity=severity_of(facts, lock, Severity.ADVICE),
        title=f"{figure.label}: one partition of {rows} {hot:.1f} % contended"
        + (f"; {cause.page.name} is what it is grabbed for" if cause.page else ""),
        seen=joined(f"{says}{at_work(facts, figure)}.", lock.counted),
        because=joined(cause.explains or MORE_DO_LITTLE, bound.says if bound else ""),
        do=LEAVE_IT
        if bound and bound.nothing
        else READ_LESS.format(cause.read.name)
        if cause.read
        else joined(
            "" if cause.page else NO_PARTITIONS, fewer_rows(facts, _held(facts, figure.label), skew, cause.page)
        ),
        unknown=figure.aside,
        evidence=(
            *lock.evidence(limits.contention_percent),
            *cause.evidence,
        ),
        explains=("ase/engines_not_the_answer",),
        weight=figure.weight,
        share=figure.share,
    )


def _loudness(bound: SpinBound | None, advice: Advice, by_share: Severity) -> Severity:
    if bound is None:
        return by_share
    return Severity.ADVICE if bound.grows and advice.change else bound.severity(by_share)


def _finding(
    facts: Facts, limits: Limits, figure: Figure, named: NamedCache | None, contention: float, advice: Advice
) -> Finding:
    engines, _ = busy_of(facts)
    lockless = figure.uses.startswith(CAS_GRABS)
    what = "CAS waits of the CAS grabs" if lockless else "cache spinlock contention"
    alike = contention < limits.contention_percent  # by its hottest partition alone, which the others are much like
    hottest = judged_by(figure, limits.contention_percent) if alike else None
    evidence = [Evidence(what, contention, "%", figure.source, None if alike else limits.contention_percent)]
    if known(hottest):
        over = Evidence("contention of its hottest partition", hottest, "%", figure.source, limits.contention_percent)
        evidence.insert(0, over)
    if known(figure.per_second):
        evidence.append(
            Evidence(f"cache {figure.uses}", figure.per_second, "/s", figure.source, limits.searches_per_second)
        )
    if named and known(named.run_partitions):
        evidence.append(Evidence("cache partitions in force", named.run_partitions, "", named.source))
    if figure.lock:
        evidence += figure.lock.cost_evidence(limits.contention_percent)
    skew = uneven(figure.lock, limits.contention_percent)
    evidence += skew.evidence if skew else ()
    whose = "CAS grabs of this lockless cache" if lockless else "grabs of this cache's spinlocks"
    says = f"{contention:.3g} % of the {whose} had to wait{at_work(facts, figure)}."
    hides = "" if named is not None and named.run_partitions == 1 else HIDES
    # what a wait of compare and swap costs is in no source: it is never critical by its share
    loud = engines and not (figure.since_boot or figure.short or lockless) and contention >= limits.critical_percent
    bound = None if lockless else spin_bound(facts, figure.lock)
    if bound:
        evidence.append(bound.evidence)
    cost = bound.says if bound and not bound.nothing else ""
    spoken = "lockless" in joined(advice.do, advice.instead)
    instead = "" if spoken else lockless_instead(facts, named)
    ready = bool(instead) and read_nothing(facts, named)
    step = LOCKLESS if ready and not (advice.change or advice.instead) else ""
    by_share = Severity.CRITICAL if loud else Severity.ADVICE if alike else Severity.WARNING
    if figure.since_boot:
        by_share = Severity.NOTE if figure.light_average else min(by_share, Severity.ADVICE)
    elif bound is None and costs_nothing(facts, figure):
        by_share = Severity.NOTE
    return Finding(
        subject=figure.label,
        severity=Severity.NOTE if figure.undated else _loudness(bound, advice, by_share),
        title=f"{figure.label}: {'lockless, CAS grabs' if lockless else 'spinlock'} {contention:g} % contended"
        + (f", its hottest partition {hottest:.3g} %" if known(hottest) else "")
        + (f"; {skew.hot_ones}" if skew else "")
        + ("; a lockless data cache is the alternative" if ready else ""),
        seen=joined(says, figure.lock.counted if figure.lock else hides),
        because=joined(advice.because or SEARCHES, cost),
        do=joined(advice.do, advice.instead or step),
        unknown=joined(
            ("" if step else instead) or ("" if figure.lock else decides(facts)),
            next_in_line(facts, figure.lock),
            figure.aside,
        ),
        evidence=tuple(evidence),
        explains=("ase/engines_not_the_answer",),
        changes=(advice.change,) if advice.change else (),
        expects=advice.expects,
        weight=figure.weight,
        share=figure.share,
    )
