"""Spinlocks are contended, and release 16.0 reduces that.

Finds: contended lock or metadata spinlocks on a server older than 16.0, by the same limits as the rules
of these spinlocks.

Why it matters: up to 15.7 the ratios only divide these spinlocks among more copies. 16.0 replaced the spinlocks of
object and index descriptors by lock-free structures ("ASE 16 & Managing VLDB's with VLH", Jeff Tallman 2014), and its
lock manager transfers locks to the engines in blocks, keeps more of them there and verifies many without taking any
(the vendor's list, linked).

What to do: weigh an upgrade beside the ratios. The ratios come first: they are one restart or none, an upgrade is a
project. Where the ratios are at their lowest and the figures stay, the upgrade is what is left.

When to ignore it: when the ratios have not been tried, or where the contention is of address locks alone. The vendor's
list names nothing for these; tables with the datarows lock scheme take none on any release.
"""

from collections.abc import Iterator
from dataclasses import dataclass

from collectors.facts import Facts, known
from collectors.facts.ase import ConfigParameter, LockHashtable, MetadataSpinlock, MonSpinlockActivity, Server
from rules.ase._evidence.server import (
    ENGINE_FACTS,
    server_of,
    setting_of,
    subject_of,
    unknown_of,
)
from rules.ase._evidence.spinlocks.gates import (
    BUSY_ORIGIN,
    BUSY_PERCENT,
    LOCK_PERCENT,
    LOOKUPS,
    METADATA_GRABS,
    METADATA_PERCENT,
)
from rules.ase._evidence.spinlocks.ratio import FURTHER
from rules.ase._evidence.spinlocks.survey import (
    LOCK_FACTS,
    Survey,
    lock_figures,
    metadata_figures,
    survey,
)
from rules.engine import limit, percent, rule
from rules.finding import Clean, Evidence, Finding, NotApplicable, Outcome, Severity, Unknown, joined
from rules.sources import TALLMAN

LINKS = (
    "https://infocenter.sybase.com/help/topic/com.sybase.infocenter.dc00641.1600/doc/html/mas1385501184950.html",
    "https://infocenter.sybase.com/help/topic/com.sybase.infocenter.dc00641.1600/doc/html/mas1385501214561.html",
    "https://blogs.sap.com/2014/07/16/ase-16-managing-vldb-s-with-vlh-very-large-hardware/",
)
ADDRESS = "address lock hash table"
REPLACED = tuple(f"{name} metadata" for name in ("Object", "Index", "Index Hash"))
"""What the source calls lock-free since 16.0: the spinlocks of object and index descriptors."""
REDUCES = (
    "16.0 replaced the spinlocks of object and index descriptors by lock-free structures and made the lock manager "
    "lighter."
)
DATAROWS = "address locks (tables with the datarows lock scheme take none, on any release)"
RATIO_OF = {
    "page and row lock hash table": "lock spinlock ratio",
    ADDRESS: "lock address spinlock ratio",
    "table lock hash table": "lock table spinlock ratio",
    "Object metadata": "open object spinlock ratio",
    "Index metadata": "open index spinlock ratio",
    "Index Hash metadata": "open index hash spinlock ratio",
    "Partition metadata": "partition spinlock ratio",
}
"""The ratio of each spinlock."""
OWN_FIRST = (
    "Weigh an upgrade to 16.0, which is a project, only if the contention of these spinlocks stays{0} once their own "
    "findings were followed: a setting takes a restart or none."
)
LOWEST = "No lower ratio is asked for here: {0}."
ALONE = "Do not upgrade for these alone: no source says that it helps them. Their own findings come first."


@dataclass(frozen=True)
class Limits:
    """From which figures on a spinlock counts as contended."""

    lock_percent: float = percent(LOCK_PERCENT, f"practice: 10 % starts the search ({TALLMAN})", low=0.1)
    metadata_percent: float = percent(METADATA_PERCENT, "vendor: above 3 % (sp_sysmon guide)", low=0.1)
    lookups_per_second: float = limit(
        LOOKUPS["address"], "this project: of address and table locks less is almost nothing", unit="lookups/s"
    )
    page_row_lookups_per_second: float = limit(
        LOOKUPS["page and row"], "this project: of page and row locks less is almost nothing", unit="lookups/s"
    )
    grabs_per_second: float = limit(
        METADATA_GRABS, "this project: of a metadata spinlock less is almost nothing", unit="grabs/s"
    )
    busy_percent: float = percent(BUSY_PERCENT, BUSY_ORIGIN)

    @property
    def percents(self) -> dict[str, float]:
        """The limit of contention by family of spinlocks."""
        return dict.fromkeys(LOOKUPS, self.lock_percent) | {"metadata": self.metadata_percent}


@rule(
    needs=(),
    uses=(*ENGINE_FACTS, *LOCK_FACTS, MetadataSpinlock, ConfigParameter),
    links=LINKS,
    limits=Limits,
    releases="SAP ASE before 16.0",
)
def check(facts: Facts, limits: Limits) -> Iterator[Outcome]:
    """Look at all lock and metadata spinlocks at once."""
    server = server_of(facts)
    if server and server.before(16) is False:
        yield NotApplicable("16.0 or later")
        return
    figures = [*lock_figures(facts), *metadata_figures(facts)]
    uses = dict.fromkeys(LOOKUPS, limits.lookups_per_second) | {"page and row": limits.page_row_lookups_per_second}
    uses["metadata"] = limits.grabs_per_second
    seen = survey(facts, figures, limits.percents, uses, limits.busy_percent)
    yield from seen.untrusted
    if not seen.seen:
        if not seen.untrusted:
            yield unknown_of(facts, LockHashtable, MetadataSpinlock, MonSpinlockActivity)
    elif not seen.hot and not seen.untrusted:
        yield Clean(f"none of {seen.seen} lock and metadata spinlock figures is contended enough to matter")
    elif seen.hot and (server is None or server.release is None):
        yield Unknown.without("release of the server", "select @@version", "contended, but on which release?")
    elif seen.hot and server:
        yield _finding(facts, limits, seen, server)


def _finding(facts: Facts, limits: Limits, seen: Survey, server: Server) -> Finding:
    hot = seen.by_spins
    evidence = [
        Evidence(f"{one.label} spinlock contention", one.contention, "%", one.source, limits.percents[one.family])
        for one in hot
        if known(one.contention)
    ]
    listed = ", ".join(f"{one.label} {one.contention:.3g} %" for one in hot if known(one.contention))
    names = [one.label for one in hot]
    boot = next((one.lock.caveat for one in hot if one.since_boot and one.lock), "")
    metadata = [one for one in names if one.endswith(" metadata")]
    unnamed = [one for one in metadata if one not in REPLACED]
    unmentioned = [*([DATAROWS] if ADDRESS in names else []), *unnamed]
    others = f"The vendor's list says nothing of {' and '.join(unmentioned)}." if unmentioned else ""
    unhelped = all(one == ADDRESS or one in unnamed for one in names)
    release = "{}.{}".format(*server.release) if server.release else ""
    at_end = [said for one in names if (said := _at_end(facts, one))]
    ended = LOWEST.format(" and ".join(at_end)) if len(at_end) == len(hot) and not unhelped else ""
    return Finding(
        subject=subject_of(facts),
        severity=Severity.NOTE if unhelped else Severity.ADVICE,
        title=f"Release {release}: 16.0 reduces contention of "
        + ("other spinlocks than those contended here" if unhelped else "lock and metadata spinlocks"),
        seen=joined(f"Contended on this release: {listed}.", ended),
        because=joined(REDUCES, others),
        do=ALONE if unhelped else OWN_FIRST.format("" if ended else " at the lowest ratios"),
        unknown=boot,
        weight=max((one.weight for one in hot if one.weight is not None), default=None),
        share=max((one.share for one in hot if one.share is not None), default=None),
        evidence=(*evidence, Evidence("release", release, "", server.source)),
    )


def _at_end(facts: Facts, label: str) -> str:
    """That the ratio of this spinlock is as low as its rule asks for, or that it has none; else empty."""
    if label not in RATIO_OF:
        return f"{label} has none"
    name = RATIO_OF[label]
    setting = setting_of(facts, name)
    running = setting.run_number if setting else None
    return f"{name} is {running:g} already" if running is not None and 1 <= running <= min(FURTHER[name]) else ""
