"""How large a user log cache should be, by what the transactions of the sessions write.

The vendor: not larger than what a transaction writes, and not for a few large ones. `monProcessActivity` has the bytes
and the commits of each session: taken is what covers nine of ten commits (this project). Where it was not collected,
the flushes of sp_sysmon tell the mean: a transaction that is flushed n times by Full ULC and once at its end writes n
to n + 1 times the size. A cache can never have held more than its size, so `ULCMaxUsage` only tells that a larger one
would be for nothing; one that was full but for the rest in which the next record did not fit is full.
"""

from dataclasses import dataclass
from math import ceil

from collectors.facts import Fact, Facts, Source, known
from collectors.facts.ase import ConfigParameter, LargestLogCache, MonProcessActivity, Server
from rules.ase._evidence.caches.memory import MEMORY_FACTS, too_little
from rules.ase._evidence.log.flushes import FLUSH_FACTS, FULL, IN_ORDER, Flushes, flushes_of
from rules.ase._evidence.server import setting_of
from rules.changes.ase_config import LARGEST, configure, waiting_number
from rules.finding import Change, Evidence

SIZE_FACTS: tuple[type[Fact], ...] = (
    *(*MEMORY_FACTS, *FLUSH_FACTS),
    *(ConfigParameter, MonProcessActivity, LargestLogCache, Server),
)
SETTING = "user log cache size"
FILLED = 0.9
"""This project: of its size, from when on a cache was full: the log record that fits no more leaves the rest free."""
COVERED, STEP = 0.9, 4.0
"""This project: of all commits, and how many times the size in force one step goes at most."""
PAGE = 2048.0
"""The smallest logical page, where no export has the server's own."""
USUAL = 32768.0
"""This project: bytes to which one step may go in any case; sites run 16 to 64 KB."""
CAPPED = f"; one step goes to four times the size in force or {USUAL / 1024:.0f} KB at most (this project)"
LEAST_COMMITS = 100.0
"""This project: fewer since a session connected say little of what one writes."""
FIRST_STEP = (
    "Twice the size in force is a first step (this project's): the vendor says not to go beyond what a transaction "
    "writes, and not for a few large transactions. Look at the share of Full ULC again afterwards."
)
BY_FLUSHES = (
    "A transaction is flushed {0:.1f} times by Full ULC on average and once at its end, so it writes up to {1:,.0f} "
    "bytes{2}. A few large transactions make such a mean, too: look at the share of Full ULC again afterwards."
)
DOUBLED = "; the size is doubled until that fits (this project)"
BY_BYTES = (
    "Nine of ten commits are of sessions that write {0:,.0f} bytes a transaction or less (monProcessActivity){1}. "
    "Look at the share of Full ULC again afterwards."
)
EACH = (
    "Each of {0:,.0f} user connections and worker processes has one, so it takes about {1:,.1f} MB more; every task of "
    "the server gets the larger one."
)


@dataclass(frozen=True)
class Written:
    """What one transaction writes to its user log cache, so that nine of ten commits write no more."""

    size_bytes: float
    sessions: int
    commits: float
    source: Source

    @property
    def evidence(self) -> Evidence:
        """The figure."""
        computed = f"as the least that {100 * COVERED:.0f} % of {self.commits:,.0f} commits stay under, by session"
        return Evidence("log written by a transaction", round(self.size_bytes), "bytes", self.source, None, computed)


def written_of(facts: Facts) -> Written | None:
    """By the sessions that committed in the interval, else since they connected; `None` where none was measured."""
    rows = [row for row in facts.every(MonProcessActivity) if row.believed]
    interval = [row for row in rows if row.of_interval]
    if not interval:  # totals of a session that did much are its mean, as those of an interval are
        rows = list({(row.instance, row.spid, row.kpid): row for row in rows}.values())
        rows = [row for row in rows if known(row.commits) and row.commits >= LEAST_COMMITS]
    found = sorted(
        (row.ulc_bytes_written / row.commits, row.commits, row.source)
        for row in interval or rows
        if known(row.ulc_bytes_written) and known(row.commits) and row.commits > 0 and row.ulc_bytes_written >= 0
    )
    whole, passed = sum(commits for _, commits, _ in found), 0.0
    for size, commits, source in found:
        passed += commits
        if passed >= COVERED * whole:
            return Written(size, len(found), whole, source)
    return None


@dataclass(frozen=True)
class Larger:
    """The larger size as a change, or why there is none, as sentences."""

    change: Change | None = None
    do: str = ""
    evidence: tuple[Evidence, ...] = ()
    missing: bool = False
    """Whether no session's bytes are in the exports."""
    stays: bool = False
    """Whether a larger one would be for nothing."""


def larger(facts: Facts) -> Larger:
    """What to set `user log cache size` to."""
    setting, users = setting_of(facts, SETTING), _number(facts, "number of user connections")
    size, written = setting.run_number if setting else None, written_of(facts)
    proof = (written.evidence,) if written else ()
    if setting is None or size is None or users is None:
        return Larger(
            do=f"Twice the {SETTING} is a first step; its value, and the number of user connections that each have "
            "one, are not in the export: sp_configure shows them.",
            evidence=proof,
            missing=written is None,
        )
    if useless := _useless(facts, size, written):
        return Larger(do=useless, evidence=proof, stays=True)
    workers, waiting = _number(facts, "number of worker processes") or 0.0, waiting_number(setting)
    times = _times_full(facts)
    most, mean = max(STEP * size, USUAL), (times + 1) * size
    by_mean = 2.0 * size  # a size between two doublings would ask for a restart more
    while by_mean < mean and 2 * by_mean <= most:
        by_mean *= 2
    new = by_mean if written is None else min(most, _whole_pages(facts, written.size_bytes))
    if waiting is not None and waiting >= new:
        return Larger(
            do=f"A {SETTING} of {waiting:,.0f} bytes is configured and waits for the restart: measure after it."
        )
    if new > LARGEST:
        return Larger(do=f"The {SETTING} is {size:,.0f} bytes and cannot be doubled: make the transactions smaller.")
    more_mb = (users + workers) * (new - size) / 1024 / 1024
    if refused := too_little(facts, SETTING, more_mb):
        return Larger(do=refused, evidence=proof)
    cautions = (
        BY_BYTES.format(written.size_bytes, CAPPED if new < written.size_bytes else ", so one restart is enough")
        if written
        else BY_FLUSHES.format(times, mean, CAPPED if new < mean else DOUBLED)
        if new > 2 * size
        else FIRST_STEP,
        EACH.format(users + workers, more_mb),
    )
    change = configure(SETTING, size, new, cautions=cautions, memory_mb=more_mb, configured=waiting)
    do = f"Raise the {SETTING} from {size:,.0f} to {new:,.0f} bytes, in the next restart."
    if written is None and new > 2 * size:
        do = f"{do.removesuffix('.')}: a transaction fills it {times:.1f} times on average."
    elif written is None:
        do = f"Double the {SETTING}, in the next restart."
    return Larger(change, do, proof, written is None)


def _times_full(facts: Facts) -> float:
    """Flushes by Full ULC for each transaction that is flushed at its end; 0 where sp_sysmon does not count both."""
    flushes = flushes_of(facts)
    if not isinstance(flushes, Flushes):
        return 0.0
    ended = flushes.count(flushes.by(*IN_ORDER))
    return flushes.count(flushes.by(FULL)) / ended if ended else 0.0


def _useless(facts: Facts, size: float, written: Written | None) -> str:
    """Why a larger cache would be for nothing, as a sentence."""
    if written is not None and written.size_bytes <= size:
        return (
            f"Leave the {SETTING} at {size:,.0f} bytes: nine of ten commits write {written.size_bytes:,.0f} bytes or "
            "less, so the full ones are a few large transactions, which the vendor does not enlarge it for."
        )
    held = [one.size_bytes for one in facts.every(LargestLogCache) if known(one.size_bytes) and one.size_bytes > 0]
    if held and max(held) < FILLED * size:
        return f"Leave the {SETTING} at {size:,.0f} bytes: the fullest held {max(held):,.0f}."
    return ""


def _whole_pages(facts: Facts, size: float) -> float:
    """Rounded up to whole logical pages: the user log cache is cut into them."""
    sizes = [server.page_size_bytes for server in facts.every(Server) if known(server.page_size_bytes)]
    page = sizes[-1] if sizes else PAGE
    return ceil(size / page) * page


def _number(facts: Facts, name: str) -> float | None:
    setting = setting_of(facts, name)
    return setting.run_number if setting else None
