"""The housekeeper does not write, and tasks have to.

Finds: `housekeeper free write percent` 0, while buffers were taken from the end of a cache before they were written
(Grabbed Dirty of sp_sysmon).

Why it matters: the housekeeper writes changed pages while nothing else runs, so that fewer have to be washed by those
who need the buffers, and checkpoints are shorter (vendor). Switched off, that work is left to the wash area alone; a
task that takes a buffer which is still dirty waits until it is written.

What to do: set it to its default of 1; it is dynamic. The vendor's example for more is 5.

When to ignore it: where the disks have no time for these writes: the vendor asks for 0 only there. A page that is
changed all the time is written more often than it must.
"""

from collections.abc import Iterator
from dataclasses import dataclass

from collectors.facts import Facts, known
from collectors.facts.ase import CacheActivity, ConfigParameter, Server, SysmonSample
from rules.ase._evidence.server import setting_of, subject_of
from rules.changes.ase_config import configure, waiting_number
from rules.engine import limit, percent, rule
from rules.finding import Clean, Evidence, Finding, Outcome, Severity, Unknown

LINKS = (
    "https://infocenter.sybase.com/help/topic/com.sybase.infocenter.dc31654.1600/doc/html/san1360629094986.html",
    "https://infocenter.sybase.com/help/topic/com.sybase.infocenter.dc20020.1570/html/basics/X64268.htm",
)
NAME = "housekeeper free write percent"
DEFAULT = 1
BECAUSE = (
    "With 0 the housekeeper writes no changed pages while the engines are idle. Tasks that need a buffer find it dirty "
    "and wait until it is written, and checkpoints take longer."
)
BUSY_DISKS = (
    "The vendor asks for 0 only where the disks cannot take the writes: hold the times of writes and the checkpoints "
    "of the same hours against those of before."
)


@dataclass(frozen=True)
class Limits:
    """How many buffers are grabbed dirty to be worth a word."""

    dirty_percent: float = percent(1.0, "this project: the vendor asks for none; one in a hundred is seen", of="grabs")
    per_second: float = limit(1.0, "this project: fewer of them nobody waits for", unit="/s")


@rule(needs=(), uses=(CacheActivity, SysmonSample, ConfigParameter, Server), links=LINKS, limits=Limits)
def check(facts: Facts, limits: Limits) -> Iterator[Outcome]:
    """Ask the setting first, then what it is lost by it."""
    setting = setting_of(facts, NAME)
    value = setting.run_number if setting else None
    if setting is None or value is None:
        yield Unknown.of(ConfigParameter)
        return
    if value > 0:
        yield Clean(f"{NAME} is {value:g}")
        return
    rows = {one.name: one for one in facts.every(CacheActivity) if known(one.grabbed) and known(one.grabbed_dirty)}
    if not rows:
        yield Unknown.without("buffers grabbed dirty", CacheActivity.COLLECTED_BY, f"{NAME} is 0")
        return
    worst = max(rows.values(), key=lambda one: one.grabbed_dirty if known(one.grabbed_dirty) else 0.0)
    assert known(worst.grabbed) and known(worst.grabbed_dirty)  # noqa: S101, PT018 - asked above
    dirty, grabbed = worst.grabbed_dirty, worst.grabbed
    sample = next((row for row in facts.every(SysmonSample) if row.source.file == worst.source.file), None)
    rate = dirty / sample.seconds if sample and sample.seconds else None
    share = 100.0 * dirty / grabbed if grabbed > 0 else 0.0
    if share < limits.dirty_percent or (rate is not None and rate < limits.per_second):
        yield Clean(f"{NAME} is 0, and {share:.1f} % of the buffers grabbed were dirty: nobody waits for it")
        return
    waits = waiting_number(setting)
    if waits:
        yield Clean(f"{NAME} is 0, and {waits:g} is configured already")
        return
    each = f", {rate:,.0f} a second" if rate is not None else ""
    yield Finding(
        subject=NAME,
        severity=Severity.ADVICE,
        title=f"{subject_of(facts)}: {NAME} is 0, and {share:.0f} % of the buffers grabbed in {worst.name} are dirty",
        seen=f"{dirty:,.0f} of {grabbed:,.0f} buffers taken from the end of {worst.name} were still dirty "
        f"({share:.1f} %{each}), and {NAME} is 0.",
        because=BECAUSE,
        do=f"Set {NAME} from 0 to {DEFAULT}, its default, in force at once.",
        evidence=(
            Evidence(NAME, value, "%", setting.source),
            Evidence(f"buffers grabbed dirty, {worst.name}", dirty, "", worst.source),
            Evidence(
                f"share of grabs that were dirty, {worst.name}",
                round(share, 1),
                "%",
                worst.source,
                limits.dirty_percent,
                "as buffers grabbed dirty of buffers grabbed",
            ),
        ),
        changes=(configure(NAME, value, DEFAULT, cautions=(BUSY_DISKS,)),),
        share=share,
    )
