"""A configured setting waits for a restart of the server.

Finds: static parameters whose configured value is not the one in force, data caches whose configured size,
replacement, partitions or status is not the one in force, and dynamic parameters that a restart would start with far
less than runs.

Why it matters: everything measured now was measured with the old values. Whoever tunes on from here tunes a server
that changes again at its next restart, and a restart for another reason then applies changes that nobody expects.

What to do: a value that is far worse than the one in force (half of what runs, or less, of any cache or parameter;
twice a ratio, or more; fewer than were used; the kernel mode process for threaded) is taken back before any restart, or
confirmed by whoever set it, who may have meant less: a restart for another reason would take it. Else restart the
server when it suits, together with the other static changes of this plan, and measure after it.
What another finding changes or takes back is left out of the restart of the plan: make that change first. If the server
has been restarted since the listing was taken, the change is in force already: collect a new listing. If nobody knows
who set a value, set it back.

When to ignore it: when the restart is planned and the people who read the figures know about it. A dynamic parameter
whose run value differs is not waiting for a restart: memory fell short, or the two columns have different units (pages
of 2 KB and of the server: exactly 2, 4 or 8 to 1). Only where far less is configured is it named, as a restart would
start with that.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from collectors.facts import ABSENT, Facts, Missing, known
from collectors.facts.ase import ConfigParameter, NamedCache, ResourceUsage, Server
from rules.ase._evidence.server import subject_of
from rules.changes.ase_config import PARAMETERS, configured_value
from rules.changes.ase_restart import WAITS, cache_waits, restart_cache, restart_setting, setting_waits, take_back
from rules.changes.legal import refusal
from rules.changes.quoting import comment
from rules.engine import limit, rule
from rules.finding import Change, Clean, Evidence, Finding, Outcome, Severity, Unknown, Untrusted, joined

LINKS = (
    "https://infocenter.sybase.com/help/topic/com.sybase.infocenter.dc36273.1600/doc/html/san1393051979352.html",
    "https://infocenter.sybase.com/help/topic/com.sybase.infocenter.dc31654.1600/doc/html/san1360629101923.html",
)
TOUCHED = {
    *PARAMETERS,
    "number of engines at startup",
    "kernel mode",
    "user log cache size",
    "procedure cache size",
    "statement cache size",
}
"""Parameters that the rules advise on or judge by. Of any other nobody here knows whether less is worse: where it waits
it is a note, and where it is far below what runs it is asked about."""
MODE = "kernel mode"
PAGE_UNITS = {2.0, 4.0, 8.0}
"""How many pages of 2 KB a larger logical page is (4, 8, 16 KB): so far apart two columns with different units are."""
NAMED = 5
"""How many settings the sentence names; the evidence names them all."""


@dataclass(frozen=True)
class Limits:
    """How much worse than what runs a value may be that waits."""

    times_worse: float = limit(
        2.0,
        "this project: half of what runs is no step of tuning that goes without being confirmed",
        low=1.01,
        unit="times",
    )


@rule(needs=(), uses=(Server, ConfigParameter, NamedCache, ResourceUsage), links=LINKS, limits=Limits, sample=None)
def check(facts: Facts, limits: Limits) -> Iterator[Outcome]:
    """Compare what is configured with what runs, over everything that was listed. Of two listings the later counts."""
    settings = list({(one.name, one.instance): one for one in facts.every(ConfigParameter) if _read(one)}.values())
    caches = list({(one.name, one.instance): one for one in facts.every(NamedCache) if _runs(one)}.values())
    if not settings and not caches:
        yield Unknown.of(ConfigParameter, NamedCache)
        return
    differ = [one for one in settings if one.pending and _comparable(one)]
    if any(_static(one) is None for one in differ):
        yield Unknown.without(
            "whether a parameter that differs is static",
            "sp_configure -- wide enough for its Type column (isql -w 300)",
        )
    refused = [why for one in differ if (why := refusal(restart_setting(one)))]
    refused += [why for one in settings if (why := _no_number(one))]
    refused += [why for cache in caches if (why := _refused(cache))]
    if refused:
        yield Untrusted(f"{'; '.join(refused)}: the listing is damaged, collect it again")
    legal = [one for one in differ if not refusal(restart_setting(one))]
    pending = [one for one in legal if _static(one)] + [one for one in legal if _shrinks(facts, limits, one)]
    waiting = [one for one in caches if cache_waits(one) and not _refused(one)]
    if pending or waiting:
        yield _finding(facts, limits, pending, waiting)
        return
    dynamic = sum(_static(one) is False for one in differ)
    note = f"; {dynamic} dynamic parameters differ, but wait for no restart" if dynamic else ""
    yield Clean(f"{len(settings)} parameters and {len(caches)} caches were listed and none waits for a restart{note}")


def _refused(cache: NamedCache) -> str:
    """Why a value of a cache that waits, or that runs, cannot be; nothing where all of them can."""
    return next((why for change in restart_cache(cache) if (why := refusal(change))), "")


def _read(setting: ConfigParameter) -> bool:
    """Whether both columns were read; a configuration file has no run values."""
    return not isinstance(configured_value(setting), Missing) and not isinstance(setting.run_value, Missing)


def _runs(cache: NamedCache) -> bool:
    """Whether anything of what runs was read; a configuration file says nothing of it."""
    numbers = (cache.run_size_mb, cache.run_partitions)
    return bool(cache.status or cache.run_replacement) or any(one is not ABSENT for one in numbers)


def _comparable(setting: ConfigParameter) -> bool:
    """Whether both columns hold the same sort of value: a number and a name cannot be compared."""
    if _no_number(setting):
        return False
    return isinstance(configured_value(setting), str) == isinstance(setting.run_value, str)


def _no_number(setting: ConfigParameter) -> str:
    """That a parameter that takes numbers was read as a word; nothing where it was not."""
    words = [one for one in (configured_value(setting), setting.run_value) if isinstance(one, str)]
    return f"{setting.name} {comment(words[0])}: it takes numbers" if words and setting.name in PARAMETERS else ""


def _static(setting: ConfigParameter) -> bool | None:
    """Whether a parameter needs a restart: as listed, else as known; `None` where neither says."""
    if setting.kind is not None:
        return setting.kind.strip().lower() == "static"
    listed = PARAMETERS.get(setting.name)
    return listed.static if listed else None


def _shrinks(facts: Facts, limits: Limits, setting: ConfigParameter) -> bool:
    """Whether a dynamic parameter is configured far below what runs: with that a restart would start."""
    wanted, runs = configured_value(setting), setting.run_value
    if _static(setting) is not False or (setting.kind or "dynamic").strip().lower() != "dynamic":
        return False
    if isinstance(wanted, str | Missing) or isinstance(runs, str | Missing) or _more_is_worse(setting):
        return False
    other_units = "memory" in (setting.unit or "") and wanted > 0 and runs / wanted in PAGE_UNITS
    return not other_units and _setting_worse(facts, limits, setting)


def _more_is_worse(setting: ConfigParameter) -> bool:
    """Whether a parameter is a ratio: the more one spinlock guards, the fewer there are."""
    return setting.name.endswith("spinlock ratio") or (setting.unit or "").strip().lower() == "ratio"


def _setting_worse(facts: Facts, limits: Limits, setting: ConfigParameter) -> bool:
    """Whether what is configured is far worse than what runs, or may be: whoever set it may have meant less."""
    wanted, runs = configured_value(setting), setting.run_value
    if setting.name == MODE:
        return (str(runs).strip().lower(), str(wanted).strip().lower()) == ("threaded", "process")
    if isinstance(wanted, str | Missing) or isinstance(runs, str | Missing) or runs <= 0:
        return False
    if _more_is_worse(setting):
        return wanted >= limits.times_worse * runs and not _one_engine(facts)
    used = [one.max_used for one in facts.every(ResourceUsage) if one.name == setting.name and known(one.max_used)]
    return wanted * limits.times_worse <= runs or any(wanted < most <= runs for most in used)


def _one_engine(facts: Facts) -> bool:
    """Whether the server has one engine and is configured for no more: then no ratio matters."""
    engines = [one for one in facts.every(ConfigParameter) if one.name == "max online engines"]
    return bool(engines) and engines[-1].run_value == 1 and configured_value(engines[-1]) == 1


def _cache_worse(limits: Limits, change: Change) -> bool:
    """Whether a cache would become far smaller, or be cut into far fewer partitions."""
    what = change.key.rpartition(":")[2].partition(" on instance ")[0]
    if what not in ("size", "cache_partition") or isinstance(change.old, str) or isinstance(change.new, str):
        return False
    return change.old is not None and change.new is not None and change.new * limits.times_worse <= change.old


def _finding(
    facts: Facts, limits: Limits, pending: Sequence[ConfigParameter], waiting: Sequence[NamedCache]
) -> Finding:
    settings = [(restart_setting(one), _setting_worse(facts, limits, one)) for one in pending]
    caches = [(change, _cache_worse(limits, change)) for one in waiting for change in restart_cache(one)]
    changes = [*settings, *caches]
    worse = [change for change, harmful in changes if harmful]
    evidence = [Evidence(comment(one.name), setting_waits(one), "", one.source) for one in pending]
    evidence += [Evidence(f"cache {comment(one.name)}", cache_waits(one), "", one.source) for one in waiting]
    listed = "; ".join(f"{one.metric}: {comment(str(one.value))}" for one in evidence[:NAMED])
    more = f"; and {len(evidence) - NAMED} more" if len(evidence) > NAMED else ""
    touched = waiting or any(one.name in TOUCHED for one in pending)
    ours = any(harmful for _, harmful in caches) or any(
        harmful for one, (_, harmful) in zip(pending, settings, strict=True) if one.name in TOUCHED
    )
    loud = Severity.WARNING if ours else Severity.ADVICE if touched or worse else Severity.NOTE
    end = ", which would make it far worse" if ours else ", with half of what runs or less" if worse else ""
    many = f"{len(evidence)} settings wait" if len(evidence) > 1 else f"{evidence[0].metric} waits"
    rest = len(worse) < len(changes)
    dynamic = any(_static(one) is False for one in pending)
    return Finding(
        subject=subject_of(facts),
        severity=loud,
        title=f"{many} for a restart{end}",
        seen=f"Configured, but not in force: {listed}{more}.",
        because=joined(_worse_said(worse, ours) or OLD_VALUES, DYNAMIC if dynamic else ""),
        do=joined(
            TAKE_BACK.format("far worse" if ours else "half of what runs or less") if worse else "",
            RESTART if rest else "",
        ),
        unknown="If the server was restarted after this listing was taken, collect a new one.",
        evidence=tuple(evidence),
        changes=tuple(take_back(change) if harmful else change for change, harmful in changes),
    )


DYNAMIC = (
    "A dynamic parameter would run at once: why it does not is not in the export, but a restart starts with what is "
    "configured."
)
OLD_VALUES = "What is measured now belongs to the old values."
TAKE_BACK = "Take back what would be {0}, or have it confirmed by whoever set it, before any restart."
RESTART = (
    "Restart when it suits, except what other findings of this audit take back or change (make that change first), "
    "then measure."
)


def _worse_said(worse: Sequence[Change], ours: bool) -> str:
    """What must not come with any restart, as a sentence. `ours`: the rules know that some of it is worse."""
    if not worse:
        return ""
    listed = ", ".join(change.target.removesuffix(WAITS) for change in worse[:NAMED])
    more = f" and {len(worse) - NAMED} more" if len(worse) > NAMED else ""
    return f"{'Far worse than what runs' if ours else 'Half of what runs or less'}: {listed}{more}."
