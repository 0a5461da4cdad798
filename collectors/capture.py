"""Facts of many exports → captures: which exports speak of one system (`collectors.grouping`), and of which time.

Listings have no time; which of them count for a sample says `collectors.listings`, for those of another day would
make advice worse than none. What other nodes of a cluster did meanwhile is added by `collectors.cluster`.
"""

from bisect import bisect_left
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from datetime import date, datetime, timedelta

from collectors.cluster import of_other_times, with_members
from collectors.facts import NOWHERE, Capture, Fact, Facts, Interval, System, known, without_collection
from collectors.facts.ase import EngineBusy, MonEngine, MonState, Server, ServerStart, Snapshot, SysmonSample
from collectors.facts.openvms import Cpu, MonitorSample, Node, OtherSample, ProcessorModes, T4File
from collectors.facts.rdb import Database, DatabaseUse, EventLog, OfDatabase, SeenOnNode, StatisticsWindow
from collectors.facts.rdb.names import root_key
from collectors.facts.scaling import LoadSeries
from collectors.facts.zvm import PerfkitPage, ProcessorLoad
from collectors.faults import OURS, Guarded, told
from collectors.group import Group
from collectors.grouping import groups_of
from collectors.intervals.deltas import Length
from collectors.intervals.overlap import TORN, ByHour, shared_part
from collectors.intervals.rdb import with_intervals as with_rdb_intervals
from collectors.intervals.snapshots import sort_out
from collectors.intervals.texts import with_texts
from collectors.listings import Listings
from collectors.loads import with_loads
from collectors.read import Input
from collectors.spin_loads import with_spins

TIMED = frozenset((SysmonSample, T4File, Snapshot, MonitorSample, EventLog, StatisticsWindow, PerfkitPage))
"""Facts that tell what time an export covers."""
_OF_PRODUCTS = (Server, Node, PerfkitPage, ProcessorLoad, LoadSeries, Database, DatabaseUse, StatisticsWindow)
OF_SYSTEM = frozenset((*_OF_PRODUCTS, ProcessorModes, EngineBusy, MonEngine))
"""Facts that tell what machine and release a system is. There may be hundreds of thousands of others."""
ONE_LOAD = timedelta(hours=1)
"""This project: the mean over a longer time is not that of the minutes beside it."""
LEAST_SHARE = 0.5
"""This project: a mean over a week is none of a day in it, nor that of a day one of the week."""
TORN_APART = (
    "{0} of {1} and {2} of {3} are judged together, as screens taken one after another: if the load changed between, "
    "capture them at once (MONITOR MODES,LOCK,DLOCK,RLOCK)"
)
TWO_TOOLS = (
    "sp_sysmon of {0} and the snapshots of {1} are judged together, as taken one after the other: if the load changed "
    "between, take both over the same time"
)
FAULT = f"{OURS} ({{0}}): please report it with these files"
NOT_JUDGED = f"read, but not judged: {FAULT}"
NOT_SORTED = f"not sorted by system, so each export is judged by itself: {FAULT}"
NOT_COUNTED = f"read, but nothing was counted between these snapshots, and they are not judged: {FAULT}"
NOT_HELD_TOGETHER = f"judged by itself, not with the other systems and times given with it: {FAULT}"


def captures(inputs: Sequence[Input], name: str | None = None, names: Mapping[str, str] | None = None) -> list[Capture]:
    """Sort inputs into captures; one system's samples of different times become captures of their own.

    `name` is what the user calls the system; exports that name none then join the one system there is, or make it.
    `names` says so for single files (file → system) and comes before `name`; what an export says itself comes first.
    Listings that disagree get a problem each, see `collectors.listings`.
    """
    with without_collection():
        return _captures(inputs, name, names or {})


def _captures(inputs: Sequence[Input], name: str | None, names: Mapping[str, str]) -> list[Capture]:
    found: list[Capture] = []
    given = [one for one in inputs if one.facts]
    for group in _grouped(given, name, names):
        with Guarded() as splitting:
            found += _split_by_time(group)
        _say(group.inputs, NOT_JUDGED, splitting.error)
    for step in (with_members, with_loads, with_spins):
        with Guarded() as stepping:
            found = step(found)
        _say(given, NOT_HELD_TOGETHER, stepping.error)
    with Guarded() as telling:
        for capture, apart_from in of_other_times(found):
            files = {fact.source.file for fact in capture.facts.items if type(fact) in TIMED}
            for one in given:
                if one.file in files:
                    one.problems.append(apart_from)
    _say(given, NOT_HELD_TOGETHER, telling.error)
    return found


def _say(inputs: Iterable[Input], what: str, fault: Exception | None) -> None:
    """Tell each of the inputs, if there was a fault."""
    if fault:
        for one in inputs:
            if (said := what.format(told(fault))) not in one.problems:
                one.problems.append(said)


def _grouped(inputs: Sequence[Input], name: str | None, names: Mapping[str, str]) -> list[Group]:
    """The inputs by system; where a fault prevents that, each that can be placed by itself."""
    groups: list[Group] = []
    with Guarded() as grouping:
        groups = groups_of(inputs, name, names)
    if grouping.error:
        _say(inputs, NOT_SORTED, grouping.error)
        for one in inputs:
            with Guarded() as placing:
                groups += groups_of([one], name, names)
            _say([one], NOT_JUDGED, placing.error)
    return groups


def _intervals_of(inputs: Sequence[Input]) -> tuple[list[Input], list[Input]]:
    """The intervals between snapshots, and what is left of the inputs; a fault loses the snapshots alone."""
    found: tuple[list[Input], list[Input]] = ([], [])
    with Guarded() as counting:
        found = sort_out(with_rdb_intervals(inputs))
    if counting.error:
        several = [one for one in inputs if any(isinstance(fact, Snapshot | StatisticsWindow) for fact in one.facts)]
        _say(several, NOT_COUNTED, counting.error)
        found = [], [one for one in inputs if not any(one is other for other in several)]
    return found


def _split_by_time(group: Group) -> list[Capture]:
    """One capture per sample, with the listings (which have no time) that count for it."""
    timed: dict[object, list[Input]] = {}
    timeless: list[Input] = []
    beside: list[Input] = []
    intervals, inputs = _intervals_of(group.inputs)
    for one in inputs:
        span = interval_of(one.facts)
        if span is None:
            timeless.append(one)
        elif not any(isinstance(fact, SysmonSample | T4File | PerfkitPage) or _is_pair(fact) for fact in one.facts):
            beside.append(one)  # also differences that bear both their times, of which there may be many of one time
        else:
            timed.setdefault(_sample_key(one, span), []).append(one)
    samples = _beside_rmu(_torn(_with_others(_with_intervals(list(timed.values()), intervals), beside)))
    listings = Listings(timeless, [one for sample in samples for one in sample])
    if not samples:
        alone = listings.beside(())
        return [_capture(group, [*alone, *_started_since(group.inputs, [alone])[0]])]
    near = of_one_day(group, samples)
    own = [
        [
            *(fact for one in sample for fact in one.facts),
            *listings.beside(sample, (one for at in near[number] for one in samples[at])),
        ]
        for number, sample in enumerate(samples)
    ]
    starts = _started_since(group.inputs, own)
    seen = _seen_on_nodes(fact for one in group.inputs for fact in one.facts) if len(own) > 1 else {}
    return [
        _capture(group, [*own[at], *apart(own, at, near[at]), *starts[at], *_on_other_nodes(own[at], seen)])
        for at in range(len(own))
    ]


def _seen_on_nodes(facts: Iterable[Fact]) -> dict[str, dict[str, SeenOnNode]]:
    """By database the nodes on which any of these shows it, in capitals; the latest of each."""
    found: dict[str, dict[str, SeenOnNode]] = {}
    for fact in (fact for fact in facts if isinstance(fact, DatabaseUse | StatisticsWindow)):
        if fact.database and fact.node and not (isinstance(fact, DatabaseUse) and fact.cluster_wide):
            nodes, at = found.setdefault(root_key(fact.database), {}), fact.at
            before = nodes.get(fact.node.upper())
            if before is None or (at and (before.at is None or at > before.at)):
                seen = SeenOnNode(source=fact.source, database=fact.database, node=fact.node, at=at)
                nodes[fact.node.upper()] = seen
    return found


def _on_other_nodes(facts: Sequence[Fact], seen: Mapping[str, Mapping[str, SeenOnNode]]) -> Iterator[SeenOnNode]:
    """The nodes of the databases of a sample that exports of the other samples alone name."""
    if not any(len(nodes) > 1 for nodes in seen.values()):
        return
    own = [fact for fact in facts if isinstance(fact, OfDatabase) and fact.database]
    here = _seen_on_nodes(own)
    for key in dict.fromkeys(root_key(fact.database) for fact in own if fact.database):
        yield from (one for name, one in seen.get(key, {}).items() if name not in here.get(key, {}))


def _started_since(inputs: Sequence[Input], samples: Sequence[Sequence[Fact]]) -> list[list[ServerStart]]:
    """For each sample of SAP ASE, that the server was started after it, by what any file of the server tells.

    The instances of a cluster start each by itself: of several nothing is told.
    """
    facts = [fact for one in inputs for fact in one.facts]
    told = [(fact.booted, fact.source) for fact in facts if isinstance(fact, Snapshot) and fact.booted]
    told += [(fact.started, fact.source) for fact in facts if isinstance(fact, MonState) and fact.started]
    last, source = max(told, key=lambda one: one[0], default=(None, NOWHERE))
    if last is None or len({fact.instance for fact in facts if isinstance(fact, MonState)}) > 1:
        return [[] for _ in samples]
    spans = [interval_of(sample) or Interval() for sample in samples]
    newer = min((span.start for span in spans if span.start and span.start >= last), default=None)
    start = ServerStart(source=source, at=last, newer=newer)
    return [[start] if any(end < last for end in _ends(sample)) else [] for sample in samples]


def _ends(facts: Iterable[Fact]) -> Iterator[datetime]:
    """When what SAP ASE counted ends: the samples and the snapshots."""
    for fact in facts:
        end = fact.end if isinstance(fact, SysmonSample) else fact.taken if isinstance(fact, Snapshot) else None
        if end:
            yield end


def _sample_key(one: Input, span: Interval) -> object:
    """What joins the files of one sample: their day, their start, the times of day that a page prints; else the file.

    Performance Toolkit prints no date, so pages of the same times of two days would be joined: bring them apart.
    """
    if span.start:
        return span.start.date() if _is_t4(one.facts) else (span.start, "")
    pages = [(fact.start, fact.end) for fact in one.facts if isinstance(fact, PerfkitPage) and fact.end]
    return pages[0] if pages else (None, one.file)


def _with_intervals(samples: list[list[Input]], intervals: Sequence[Input]) -> list[list[Input]]:
    """Put each interval of two snapshots to the sample of the same time, one to each; the others stand alone.

    Of the same time: more than half of the shorter one lies in the other. Where there is one of each there is no doubt
    without times, nor minutes apart (`_one_after_the_other`).
    """
    spans = [interval_of(fact for one in sample for fact in one.facts) or Interval() for sample in samples]
    of_intervals = [interval_of(one.facts) or Interval() for one in intervals]
    if len(spans) == len(of_intervals) == 1:
        both, times = [*samples[0], intervals[0]], (spans[0], of_intervals[0])
        if None in (one.start for one in times):
            return [both]
        if _one_after_the_other(samples[0], intervals[0], *times):
            said = TWO_TOOLS.format(*(f"{one.start:%H:%M} to {one.end:%H:%M}" for one in times))
            for one in both:
                one.problems.append(said)
            return [both]
    hours = ByHour(spans)
    shared = [
        (shared_part(spans[at], own), at, number)
        for number, own in enumerate(of_intervals)
        if own.start and own.end
        for at in hours.near(own)
    ]
    joined: dict[int, int] = {}
    taken: set[int] = set()
    for share, at, number in sorted(shared, key=lambda one: (-one[0], one[1:])):
        if share > 0.5 and number not in joined and at not in taken:
            joined[number] = at
            taken.add(at)
    found = [list(sample) for sample in samples]
    for number, one in enumerate(intervals):
        if number in joined:
            found[joined[number]].append(one)
        else:
            found.append([one])
    return found


def _one_after_the_other(sample: Sequence[Input], interval: Input, one: Interval, other: Interval) -> bool:
    """Whether sp_sysmon and two snapshots of one server lie minutes apart (`TORN`), without a start of it between."""
    if not all(isinstance(fact, SysmonSample) for part in sample for fact in part.facts if type(fact) in TIMED):
        return False
    if not (one.start and one.end and other.start and other.end):
        return False
    if shared_part(one, other) > 0.5 or max(_length(one), _length(other)) > ONE_LOAD.total_seconds():
        return False
    first, second = sorted(((one.start, one.end), (other.start, other.end)))
    booted = [fact.booted for fact in interval.facts if isinstance(fact, Snapshot) and fact.booted]
    return second[0] - first[1] <= TORN and not any(at >= first[0] for at in booted)


def _with_others(samples: list[list[Input]], others: Sequence[Input]) -> list[list[Input]]:
    """Put what MONITOR, RMU and logs say of a time to the sample of that time; those of no sample among themselves.

    First comes the sample in which it ends: statistics since a reset reach far back, and were written at their end.
    Then that in which a shorter log was opened, whose first event may be later: whoever wrote the screens opened it. A
    display of ten minutes must not hide the mean of the day around it, so what is shorter stands before what is longer.
    """
    found = [list(sample) for sample in samples]
    spans = [interval_of(fact for one in sample for fact in one.facts) or Interval() for sample in found]
    summed = [False] * len(found)
    hours = ByHour(spans)
    longest_first = sorted(others, key=lambda one: -(_length(interval_of(one.facts) or Interval())))
    for one in longest_first:
        own = interval_of(one.facts) or Interval()
        near = [
            (_belongs(one, own, spans[at]), -_apart(spans[at], own), -at)
            for at in hours.near(own)
            if not (_is_summed(one) and _is_of_another_length(own, spans[at], alike=summed[at]))
        ]
        best = max(near, default=(0.0, 0.0, 0))
        if best[0] > 0.5:
            found[-best[2]].insert(0, one)  # of two means the later one counts: that of the longer time
        else:
            found.append([one])
            spans.append(own)
            hours.add(own)
            summed.append(_is_summed(one))
    return found


def _torn(samples: list[list[Input]]) -> list[list[Input]]:
    """Join screens of MONITOR that a person took one after another: each class once, within minutes (`TORN`).

    A second screen of a class is another moment of it, so a series of screens stays as it is. What lasts, as a summary
    or a session of several screens, is none of these.
    """
    runs: list[list[list[Input]]] = []
    for sample in sorted(filter(_screens, samples), key=_taken):
        if runs and _taken(sample) - _taken(runs[-1][0]) <= TORN:
            runs[-1].append(sample)
        else:
            runs.append([sample])
    for first, *others in runs:
        shown = Counter(name for sample in (first, *others) for name in _screens(sample))
        if not others or max(shown.values()) > 1:
            continue
        said = TORN_APART.format(*_told(first), *_told([one for sample in others for one in sample]))
        for one in (one for sample in (first, *others) for one in sample):
            one.problems.append(said)
        first += (one for sample in others for one in sample)
        samples = [sample for sample in samples if not any(sample is other for other in others)]
    return samples


def _beside_rmu(samples: list[list[Input]]) -> list[list[Input]]:
    """Join screens of MONITOR of a moment to those of RMU that were written minutes before or after them (`TORN`).

    Only where there is one of each there: of several nobody knows which load the screens are of.
    """
    monitors = [sample for sample in samples if _screens(sample)]
    counted = [(sample, end) for sample in samples if (end := _written(sample))]
    for sample, end in counted:
        near = [one for one in monitors if abs(_taken(one) - end) <= TORN]
        if len(near) != 1 or sum(abs(_taken(near[0]) - other) <= TORN for _, other in counted) != 1:
            continue
        said = TORN_APART.format(*_told(near[0]), "the screens of RMU", f"{end:%H:%M}")
        for one in near[0]:
            one.problems.append(said)
        sample += near[0]
        samples = [other for other in samples if other is not near[0]]
    return samples


def _written(sample: Sequence[Input]) -> datetime | None:
    """When the last screen was written, of a sample that is screens of RMU/SHOW STATISTICS and nothing else."""
    found = [fact for one in sample for fact in one.facts if type(fact) in TIMED]
    if not all(isinstance(fact, StatisticsWindow) for fact in found):
        return None
    return max((fact.at for fact in found if isinstance(fact, StatisticsWindow) and fact.at), default=None)


def _taken(sample: Iterable[Input]) -> datetime:
    return min(fact.end for fact in _displays(sample) if fact.end)


def _displays(sample: Iterable[Input]) -> list[MonitorSample]:
    return [fact for one in sample for fact in one.facts if isinstance(fact, MonitorSample)]


def _screens(sample: Iterable[Input]) -> set[str]:
    """The classes of a sample that is screens of MONITOR and nothing else, each of a moment; empty of others."""
    found = [fact for one in sample for fact in one.facts if type(fact) in TIMED]
    if not all(isinstance(fact, MonitorSample) and fact.kind == "display" and fact.start == fact.end for fact in found):
        return set()
    return {name for fact in _displays(sample) if fact.end for name in fact.classes}


def _told(sample: Iterable[Input]) -> tuple[str, str]:
    """Classes and time of screens: `LOCK and DLOCK`, `10:00:05`."""
    names = " and ".join(sorted({name for fact in _displays(sample) for name in fact.classes}))
    return names, " and ".join(dict.fromkeys(f"{fact.end:%H:%M}" for fact in _displays(sample) if fact.end))


def _is_summed(one: Input) -> bool:
    """Whether it gives the means of all its time: a MONITOR summary or recording."""
    return any(isinstance(fact, MonitorSample) and fact.kind != "display" for fact in one.facts)


def _is_of_another_length(own: Interval, span: Interval, *, alike: bool) -> bool:
    """Whether means over one say nothing of the other; `alike`: both are of MONITOR, else only of a shorter one."""
    long, short = max(_length(own), _length(span)), min(_length(own), _length(span))
    return long * LEAST_SHARE > short and (alike or _length(own) > _length(span))


def _length(span: Interval) -> float:
    return (span.end - span.start).total_seconds() if span.start and span.end else 0.0


def _ends_in(one: Interval, other: Interval) -> bool:
    """Whether an interval ends within another; where it ends as the other begins, it is the one before it."""
    if not (one.end and other.start and other.end) or one.end > other.end:
        return False
    return other.start < one.end or one.start == one.end == other.start


def _belongs(one: Input, own: Interval, span: Interval) -> float:
    """How surely it is of the time of a sample: it ends in it, is a log opened in it, or has this part in common."""
    if _ends_in(own, span):
        return 2.0
    opened = [fact.created for fact in one.facts if isinstance(fact, EventLog) and fact.created]
    if span.start and span.end and _length(own) <= _length(span) and any(span.start <= at <= span.end for at in opened):
        return 1.5
    return shared_part(span, own)


def _apart(one: Interval, other: Interval) -> float:
    """Seconds between the ends of two intervals."""
    return abs((one.end - other.end).total_seconds()) if one.end and other.end else float("inf")


def of_one_day(group: Group, samples: Sequence[Sequence[Input]]) -> list[list[int]]:
    """For each sample of a node or database the others of its day that were not joined to it: of each kind the nearest.

    Two are of one kind where the same reports made them.
    """
    if len(samples) < 2 or group.product not in ("openvms", "rdb"):
        return [[] for _ in samples]
    spans = [interval_of(fact for one in sample for fact in one.facts) or Interval() for sample in samples]
    kinds = [frozenset(one.report for one in sample) for sample in samples]
    days: dict[date, dict[frozenset[str | None], list[tuple[datetime, int]]]] = {}
    for at, span in enumerate(spans):
        if span.start and span.end:
            days.setdefault(span.start.date(), {}).setdefault(kinds[at], []).append((span.start, at))
    for of_kinds in days.values():
        for starts in of_kinds.values():
            starts.sort()
    found: list[list[int]] = []
    for at, span in enumerate(spans):
        of_day = days.get(span.start.date(), {}) if span.start else {}
        found.append([_nearest(spans, at, starts) for kind, starts in of_day.items() if kind != kinds[at]])
    return found


def _nearest(spans: Sequence[Interval], at: int, starts: Sequence[tuple[datetime, int]]) -> int:
    """The one with most of its time within that of `at`, else the nearest: of those that begin before and after it."""
    start = spans[at].start
    place = bisect_left(starts, start, key=lambda one: one[0]) if start else 0
    around = starts[max(0, place - 2) : place + 2]
    return max(
        (other for _, other in around),
        key=lambda other: (shared_part(spans[at], spans[other]), -_apart(spans[at], spans[other])),
    )


def apart(samples: Sequence[Sequence[Fact]], at: int, near: Sequence[int]) -> Iterator[OtherSample]:
    """Say of a sample which figures of its day are in captures of their own, because they are of another time.

    Screens of an hour that begin in the last ten minutes of a T4 file tell of that hour: a rate of the one by a rate of
    the other would be of neither.
    """
    mine, own = {fact.COLLECTED_BY for fact in samples[at]}, interval_of(samples[at]) or Interval()
    for other in near:
        span = interval_of(samples[other]) or Interval()
        brought = {
            fact.COLLECTED_BY: fact.source
            for fact in samples[other]
            if fact.COLLECTED_BY and fact.COLLECTED_BY not in mine
        }
        if brought and span.start and span.end:
            yield OtherSample(
                source=next(iter(brought.values())),
                brought=tuple(sorted(brought)),
                start=span.start,
                end=span.end,
                shared_seconds=_common(own, span),
            )


def _common(one: Interval, other: Interval) -> float:
    """Seconds that two intervals have in common."""
    if not (one.start and one.end and other.start and other.end):
        return 0.0
    return max(0.0, (min(one.end, other.end) - max(one.start, other.start)).total_seconds())


def _is_t4(facts: Iterable[Fact]) -> bool:
    return any(isinstance(fact, T4File) for fact in facts)


def interval_of(facts: Iterable[Fact]) -> Interval | None:
    """The time the facts cover: from the earliest start to the latest end; `None` for facts without time.

    Two snapshots are timed where there is no sample; one snapshot alone is a state, as a listing is. What MONITOR, RMU
    and logs cover counts where nothing else is there.
    """
    facts = [fact for fact in facts if type(fact) in TIMED]
    spans: list[SysmonSample | T4File | MonitorSample | EventLog]
    spans = [fact for fact in facts if isinstance(fact, SysmonSample | T4File)]
    if not spans:
        pairs = [fact for fact in facts if isinstance(fact, Snapshot) and fact.previous and fact.earlier is None]
        pairs += [fact for fact in facts if isinstance(fact, Snapshot) and _is_pair(fact)]
        if pairs:
            return _between(pairs[-1])
        spans = [fact for fact in facts if isinstance(fact, MonitorSample | EventLog) and fact.start]
        windows = [own for fact in facts if isinstance(fact, StatisticsWindow) and (own := _window(fact))]
        if not spans:
            return _around(windows) or _of_pages(facts)
        if windows and all(isinstance(span, EventLog) for span in spans):
            return _around([*windows, *(Interval(span.start, span.end) for span in spans)])
    starts = [span.start for span in spans if span.start]
    ends = [span.end for span in spans if span.end]
    start, end = min(starts, default=None), max(ends, default=None)
    seconds = (end - start).total_seconds() if start and end else None
    for span in spans:
        if isinstance(span, SysmonSample) and span.seconds is not None:
            seconds = span.seconds
    return Interval(start, end, seconds)


def _is_pair(fact: Fact) -> bool:
    """Whether two snapshots were collected, and subtracted here."""
    return isinstance(fact, Snapshot) and fact.earlier is not None


def _of_pages(facts: Iterable[Fact]) -> Interval | None:
    """How long Performance Toolkit measured: it prints times of day without a date."""
    seconds = [fact.seconds for fact in facts if isinstance(fact, PerfkitPage) and known(fact.seconds)]
    return Interval(seconds=seconds[-1]) if seconds else None


def _window(window: StatisticsWindow) -> Interval | None:
    """What time a statistics screen covers, where it says when it was written; else `None`."""
    if window.at is None:
        return None
    start = window.at - timedelta(seconds=window.elapsed_seconds or 0.0)
    return Interval(start, window.at, window.elapsed_seconds)


def _around(spans: Sequence[Interval]) -> Interval | None:
    """From the earliest start to the latest end."""
    starts = [span.start for span in spans if span.start]
    ends = [span.end for span in spans if span.end]
    if not starts or not ends:
        return None
    return Interval(min(starts), max(ends), (max(ends) - min(starts)).total_seconds())


def _between(pair: Snapshot) -> Interval:
    """The time between two snapshots; with one of the times alone none is known, nor where the clock went back."""
    if pair.previous is None or pair.taken is None or pair.taken < pair.previous:
        return Interval()
    seconds = (pair.taken - pair.previous).total_seconds()
    length = Length(seconds, pair.seconds_low, pair.seconds_high) if seconds else None
    return Interval(pair.previous, pair.taken, length.sure if length else None)


def _capture(group: Group, facts: list[Fact]) -> Capture:
    return Capture(_system(group, facts), interval_of(facts) or Interval(), Facts(tuple(with_texts(facts))))


def _system(group: Group, facts: list[Fact]) -> System:
    version = platform = None
    processors: int | None = None
    running = {fact.number for fact in facts if isinstance(fact, Cpu) and fact.running}
    facts = [fact for fact in facts if type(fact) in OF_SYSTEM]
    for fact in facts:
        if isinstance(fact, Server):
            version = max(version or "", fact.version or "", key=len) or None
        elif isinstance(fact, Node):
            version, platform = fact.version or version, fact.hardware or platform
            processors = int(fact.active_cpus) if known(fact.active_cpus) else processors
        elif isinstance(fact, ProcessorModes) and known(fact.cpus) and processors is None:
            processors = int(fact.cpus)
        elif isinstance(fact, LoadSeries):
            processors = processors or max(fact.cores or 0, len(running)) or None
        elif isinstance(fact, PerfkitPage):
            version, platform = fact.release or version, fact.machine or platform
            processors = int(fact.processors) if known(fact.processors) else processors
        elif isinstance(fact, ProcessorLoad) and known(fact.processors) and processors is None:
            processors = int(fact.processors)
        elif isinstance(fact, Database | DatabaseUse | StatisticsWindow) and group.product == "rdb":
            version = fact.release or version
    engines: set[object] = {fact.engine for fact in facts if isinstance(fact, EngineBusy)}
    engines = engines or {
        (fact.instance, fact.engine) for fact in facts if isinstance(fact, MonEngine) and _is_online(fact)
    }
    return System(group.name, group.product, version, platform, processors or len(engines) or None)


def _is_online(engine: MonEngine) -> bool:
    """Whether an engine worked when the later snapshot was taken."""
    return (engine.status or "").strip().lower() == "online"
