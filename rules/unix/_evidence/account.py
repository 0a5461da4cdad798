"""What tables of measured runs of record locking say of where their processes, and the processors, were.

A run gives user, system and clock seconds of all its processes. So many of them ran at any moment as CPU seconds are in
a second of the clock; the others waited: for a lock, for the disk, or for a processor. Where the same work was done
with locks on ranges, what those processes waited less is what they waited for locks on the whole file.

Processors are accounted where the table says how many there are. Of their time only what mandatory locks take more than
advisory ones, for the same work, is lost: throughput below that of more processes, or of another variant, is no time of
a processor, and is booked nowhere. What the processes did not use may have been idle or had other work.

Of each variant the run with most processes has an account. All of them are tests.
"""

from collections.abc import Iterator

from collectors.facts import Facts
from collectors.facts.scaling import LoadSeries
from collectors.facts.unix import LockingRun, RecordLockTable
from rules.account import MEAN, PROCESSORS, WAITING_TASKS, Amount, Measured, Open, Pool
from rules.unix._evidence.clock import clock_of, distrusted
from rules.unix._evidence.gains import uneven
from rules.unix._evidence.runs import LEAST_SECONDS, Cell, Pair, cells_of_tables, counted, pairs

COARSE, MANDATORY = "unix/coarse_record_locks", "unix/mandatory_locking_costs"
MOST = 1.02
"""CPU seconds of more than all processes, or processors, beyond the tick of a clock: not booked."""
TEST = "A test run: what it lost the system does not lose now."


def measured(facts: Facts) -> tuple[Measured, ...]:
    """Processors, where their number is known, and processes, of each variant at its largest number of processes."""
    found = []
    for cells in cells_of_tables(facts):
        for cell in _largest(cells):
            found += [one for one in (_processors(facts, cell), _processes(facts, cell)) if one]
    return tuple(found)


def _largest(cells: tuple[Cell, ...]) -> Iterator[Cell]:
    """Of each variant that with most processes, of several records that with most records."""
    names = dict.fromkeys(cell.name for cell in cells)
    for name in names:
        own = [cell for cell in cells if cell.name == name]
        largest = max(own, key=lambda cell: (cell.runs[0].processes, _records(cell)))
        if not largest.wrong and (largest.mean("clock_seconds") or 0.0) >= LEAST_SECONDS:
            yield largest


def _records(cell: Cell) -> float:
    records = cell.runs[0].records
    return records if isinstance(records, float | int) else -1.0


def _named(cell: Cell) -> str:
    return f"{cell.name} run of {counted(cell.runs[0].processes)}"


def _processes(facts: Facts, cell: Cell) -> Measured | None:
    """How many of the processes ran, and how many waited."""
    processes, waited, clock = cell.runs[0].processes, _waited(cell), cell.mean("clock_seconds")
    if waited is None or clock is None or processes <= 1:
        return None
    pair = _pair(facts, cell, "grain", after=False)
    other = _waited(pair.after) if pair else None
    less = max(0.0, waited - max(0.0, other)) if other is not None and waited > 0 else 0.0
    title = cell.runs[0].title
    pools = (
        Pool("locks on the whole file", Amount.exactly(less / clock), cell.source, (f"{COARSE}:{title}",)),
        Pool(
            "a lock, the disk or a processor",
            Amount.exactly(max(0.0, waited - less) / clock),
            cell.source,
            collect=RecordLockTable.COLLECTED_BY,
        ),
    )
    return Measured(
        currency=WAITING_TASKS,
        span=MEAN,
        capacity=processes,
        idle=None,
        pools=tuple(pool for pool in pools if pool.amount.high),
        remarks=(TEST,),
        run=_named(cell),
        test=True,
    )


def _waited(cell: Cell) -> float | None:
    """Seconds that all processes of a run together did not run; `None` where a time is missing or cannot be."""
    processes, clock, cpu = cell.runs[0].processes, cell.mean("clock_seconds"), cell.mean("cpu_seconds")
    if clock is None or cpu is None or cell.wrong or cpu > MOST * processes * clock:
        return None
    return max(0.0, processes * clock - cpu)


def _processors(facts: Facts, cell: Cell) -> Measured | None:
    """The processors that the processes kept busy, and what of it only mandatory locks took."""
    seconds, cpus, clock = cell.mean("cpu_seconds"), _cpus(facts, cell.runs[0]), cell.mean("clock_seconds")
    if seconds is None or cpus is None or clock is None or seconds > MOST * cpus * clock:
        return None
    used = min(seconds / clock, cpus)
    rest = cpus - used
    pair = _pair(facts, cell, "mandatory", after=True)
    both = pair.both("system_seconds") if pair else None
    more = min(used, max(0.0, both[1] - both[0]) / clock) if both else 0.0
    pool = Pool(
        "checks against mandatory locks",
        Amount.exactly(more),
        cell.source,
        (f"{MANDATORY}:{cell.runs[0].title}",),
    )
    idle = "idle, or busy with other work: the table has these processes alone"
    return Measured(
        currency=PROCESSORS,
        span=MEAN,
        capacity=cpus,
        idle=None,
        pools=(pool,) if more else (),
        undivided=Open(Amount(rest, rest, rest), idle, ""),
        remarks=(TEST,),
        run=_named(cell),
        test=True,
    )


def _pair(facts: Facts, cell: Cell, step: str, *, after: bool) -> Pair | None:
    """The two variants, of which this run is one, that did the same work at the same clock; else nothing."""
    for pair in pairs(facts):
        own = pair.after if after else pair.before
        if pair.step == step and own.runs == cell.runs:
            return None if distrusted(pair, clock_of(facts)) or uneven(pair) else pair
    return None


def _cpus(facts: Facts, run: LockingRun) -> float | None:
    """Processors of the machine, where the table of the run says so."""
    cores = [one.cores for one in facts.every(LoadSeries) if one.source.file == run.source.file and one.cores]
    return float(cores[-1]) if cores else None
