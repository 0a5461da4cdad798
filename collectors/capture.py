"""Facts of many exports → captures: which exports speak of one system, and of which time.

An export that names its system belongs to that system. One that does not (a configuration listing, say) joins a named
system only where there is no doubt: exactly one system of its product came in the same folder or archive or on the
same command line, or the user gave a name. Otherwise it is judged by itself, file by file. Advice built from the
settings of one server and the figures of another would be worse than none; so would be those of another day, see
`collectors.listings`.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import PurePath

from collectors.facts import Capture, Fact, Facts, Interval, System, known
from collectors.facts.ase import EngineBusy, MonEngine, Server, Snapshot, SysmonSample
from collectors.facts.openvms import Node, ProcessorModes, T4File
from collectors.facts.scaling import LoadSeries
from collectors.intervals.deltas import elapsed
from collectors.intervals.snapshots import sort_out
from collectors.listings import Listings
from collectors.read import Input

CONFIG_FILE = "ase/config_file"
OTHER_NAME = "taken for the configuration of {0}, which came with it, though it is called {1}: see that it is of {0}"
"""A server calls its configuration file by its own name; nothing within says whose it is."""


@dataclass
class _Group:
    """Inputs of one system."""

    product: str
    name: str
    named: bool
    chosen: bool = False
    """Whether the user gave this very name to one of its files."""
    inputs: list[Input] = field(default_factory=list)


def captures(inputs: Sequence[Input], name: str | None = None, names: Mapping[str, str] | None = None) -> list[Capture]:
    """Sort inputs into captures; one system's samples of different times become captures of their own.

    `name` is what the user calls the system; exports that name none then join the one system there is, or make it.
    `names` says so for single files (file → system) and comes before `name`; what an export says itself comes first.
    Listings that disagree get a problem each, see `collectors.listings`.
    """
    found: list[Capture] = []
    for group in _groups([one for one in inputs if one.facts], name, names or {}):
        found.extend(_split_by_time(group))
    return found


def product_of(one: Input) -> str:
    """`ase`, `openvms` or, for a load series that does not say, `scaling`."""
    series = [fact for fact in one.facts if isinstance(fact, LoadSeries)]
    if series:
        return series[0].product or "scaling"
    return (one.report or "").split("/")[0]


def name_of(one: Input) -> str | None:
    """The system an export names, or `None`."""
    for fact in one.facts:
        if isinstance(fact, Server | Node) and fact.name:
            return fact.name
        if isinstance(fact, Snapshot) and fact.server:
            return fact.server
        if isinstance(fact, LoadSeries):
            return fact.title
    return None


def _groups(inputs: Sequence[Input], name: str | None, names: Mapping[str, str]) -> list[_Group]:
    groups: dict[tuple[str, str], _Group] = {}
    nameless: list[Input] = []
    for one in (part for whole in inputs for part in _by_node(whole)):
        own = name_of(one)
        if own is None:
            nameless.append(one)
            continue
        product = product_of(one)
        group = groups.setdefault((product, own.upper()), _Group(product, own, True))
        group.inputs.append(one)
    _adopt_series(groups)
    left = [one for one in nameless if not _choose(one, groups, name, names.get(one.file, "").strip())]
    for one in left:
        _place(one, groups, name, others=len({other.file for other in left}) > 1)
    if name and len({group.name for group in groups.values() if group.named and not group.chosen}) == 1:
        for group in groups.values():
            group.name = group.name if group.chosen else name
    return list(groups.values())


def _adopt_series(groups: dict[tuple[str, str], _Group]) -> None:
    """Give a load series over engines to the one SAP ASE that came with it: only ASE has engines."""
    servers = [group for group in groups.values() if group.product == "ase" and group.named]
    for key, group in list(groups.items()):
        series = [fact for one in group.inputs for fact in one.facts if isinstance(fact, LoadSeries)]
        over_engines = bool(series) and all(one.load_name.lower().startswith("engine") for one in series)
        beside = [
            server
            for server in servers
            if any(
                _one_folder(one, other) or _one_breath(one, other) for one in group.inputs for other in server.inputs
            )
        ]
        if group.product == "scaling" and over_engines and len(beside) == len(servers) == 1:
            beside[0].inputs += groups.pop(key).inputs


def _choose(one: Input, groups: dict[tuple[str, str], _Group], name: str | None, chosen: str) -> bool:
    """Put an export where the user said; returns whether there was a choice for it."""
    if not chosen or (name and chosen.upper() == name.upper()):
        return False  # the name for all exports may be another one of a system that names itself
    product = product_of(one)
    group = groups.setdefault((product, chosen.upper()), _Group(product, chosen, True))
    group.chosen = True
    group.inputs.append(one)
    return True


def _by_node(one: Input) -> list[Input]:
    """Split an input that speaks of several nodes (a capture of a session that went from node to node)."""
    nodes = {fact.name.upper(): fact.name for fact in one.facts if isinstance(fact, Node)}
    if len(nodes) < 2:
        return [one]
    parts: dict[str, Input] = {}
    for fact in one.facts:
        node = fact.name if isinstance(fact, Node) else getattr(fact, "node", None)
        part = parts.setdefault(
            (node or "").upper(), Input(one.file, one.report, problems=one.problems, given=one.given)
        )
        part.facts.append(fact)
    return list(parts.values())


def _place(one: Input, groups: dict[tuple[str, str], _Group], name: str | None, *, others: bool) -> None:
    """Find the system of an export that names none."""
    product = product_of(one)
    same_product = [group for group in groups.values() if group.product == product and group.named]
    if name:  # a choice for some files says nothing of the others: the name for all does
        same_product = [group for group in same_product if not group.chosen]
    for together in (_one_file, _one_folder, _one_breath):
        beside = [group for group in same_product if any(together(one, other) for other in group.inputs)]
        if len(beside) == 1:
            beside[0].inputs.append(one)
            stem = PurePath(one.file).stem
            if one.report == CONFIG_FILE and stem.upper() != beside[0].name.upper():
                one.problems.append(OTHER_NAME.format(beside[0].name, stem))
            return
        if beside:
            break  # more than one is as near as any: no guess
    if name and len(same_product) == 1:
        same_product[0].inputs.append(one)
        return
    if name:
        groups.setdefault((product, name.upper()), _Group(product, name, False)).inputs.append(one)
        return
    group = groups.setdefault((product, f"\0{one.file}"), _Group(product, PurePath(one.file).stem, False))
    if others or same_product:
        one.problems.append("names no system, so it is judged by itself: --name NAME tells which one it belongs to")
    group.inputs.append(one)


def _one_file(one: Input, other: Input) -> bool:
    return one.file == other.file


def _one_folder(one: Input, other: Input) -> bool:
    return PurePath(one.file).parent == PurePath(other.file).parent


def _one_breath(one: Input, other: Input) -> bool:
    """Whether both were named as files on one command line."""
    return one.given == one.file and other.given == other.file


def _split_by_time(group: _Group) -> list[Capture]:
    """One capture per sample, with the listings (which have no time) that count for it."""
    timed: dict[object, list[Input]] = {}
    timeless: list[Input] = []
    intervals, inputs = sort_out(group.inputs)
    for one in inputs:
        span = interval_of(one.facts)
        if span is None:
            timeless.append(one)
        else:
            key = (
                span.start.date()
                if span.start and _is_t4(one.facts)
                else (span.start, one.file if span.start is None else "")
            )
            timed.setdefault(key, []).append(one)
    samples = _with_intervals(list(timed.values()), intervals)
    listings = Listings(timeless, [one for sample in samples for one in sample])
    if not samples:
        return [_capture(group, listings.beside(()))]
    return [
        _capture(group, [*(fact for one in sample for fact in one.facts), *listings.beside(sample)])
        for sample in samples
    ]


def _with_intervals(samples: list[list[Input]], intervals: Sequence[Input]) -> list[list[Input]]:
    """Put each interval of two snapshots to the sample of the same time, one to each; the others stand alone.

    Of the same time: more than half of the shorter one lies in the other. Without times there is no doubt only where
    there is one of each.
    """
    spans = [interval_of(fact for one in sample for fact in one.facts) or Interval() for sample in samples]
    of_intervals = [interval_of(one.facts) or Interval() for one in intervals]
    if len(spans) == len(of_intervals) == 1 and None in (spans[0].start, of_intervals[0].start):
        return [[*samples[0], intervals[0]]]
    shared = [
        (_shared(span, own), at, number) for number, own in enumerate(of_intervals) for at, span in enumerate(spans)
    ]
    joined: dict[int, int] = {}
    for share, at, number in sorted(shared, key=lambda one: (-one[0], one[1:])):
        if share > 0.5 and number not in joined and at not in joined.values():
            joined[number] = at
    found = [list(sample) for sample in samples]
    for number, one in enumerate(intervals):
        if number in joined:
            found[joined[number]].append(one)
        else:
            found.append([one])
    return found


def _shared(one: Interval, other: Interval) -> float:
    """Which part of the shorter interval lies in the other: 0 to 1, and 0 where a time is missing."""
    if not (one.start and one.end and other.start and other.end):
        return 0.0
    common = (min(one.end, other.end) - max(one.start, other.start)).total_seconds()
    shorter = min((one.end - one.start).total_seconds(), (other.end - other.start).total_seconds())
    return common / shorter if shorter > 0 else 0.0


def _is_t4(facts: Iterable[Fact]) -> bool:
    return any(isinstance(fact, T4File) for fact in facts)


def interval_of(facts: Iterable[Fact]) -> Interval | None:
    """The time the facts cover: from the earliest start to the latest end; `None` for facts without time.

    Two snapshots are timed where there is no sample; one snapshot alone is a state, as a listing is.
    """
    facts = [fact for fact in facts if isinstance(fact, SysmonSample | T4File | Snapshot)]
    spans = [fact for fact in facts if isinstance(fact, SysmonSample | T4File)]
    if not spans:
        pairs = [fact for fact in facts if isinstance(fact, Snapshot) and fact.earlier is not None]
        return _between(pairs[-1]) if pairs else None
    starts = [span.start for span in spans if span.start]
    ends = [span.end for span in spans if span.end]
    start, end = min(starts, default=None), max(ends, default=None)
    seconds = (end - start).total_seconds() if start and end else None
    for span in spans:
        if isinstance(span, SysmonSample) and span.seconds is not None:
            seconds = span.seconds
    return Interval(start, end, seconds)


def _between(pair: Snapshot) -> Interval:
    """The time between two snapshots; with one of the times alone none is known, nor where the clock went back."""
    if pair.previous is None or pair.taken is None or pair.taken < pair.previous:
        return Interval()
    return Interval(pair.previous, pair.taken, elapsed(pair.previous, pair.taken))


def _capture(group: _Group, facts: list[Fact]) -> Capture:
    return Capture(_system(group, facts), interval_of(facts) or Interval(), Facts(tuple(facts)))


def _system(group: _Group, facts: list[Fact]) -> System:
    version = platform = None
    processors: int | None = None
    for fact in facts:
        if isinstance(fact, Server):
            version = max(version or "", fact.version or "", key=len) or None
        elif isinstance(fact, Node):
            version, platform = fact.version or version, fact.hardware or platform
            processors = int(fact.active_cpus) if known(fact.active_cpus) else processors
        elif isinstance(fact, ProcessorModes) and known(fact.cpus) and processors is None:
            processors = int(fact.cpus)
        elif isinstance(fact, LoadSeries):
            processors = fact.cores or processors
    engines: set[object] = {fact.engine for fact in facts if isinstance(fact, EngineBusy)}
    engines = engines or {
        (fact.instance, fact.engine) for fact in facts if isinstance(fact, MonEngine) and _is_online(fact)
    }
    return System(group.name, group.product, version, platform, processors or len(engines) or None)


def _is_online(engine: MonEngine) -> bool:
    """Whether an engine worked when the later snapshot was taken."""
    return (engine.status or "").strip().lower() == "online"
