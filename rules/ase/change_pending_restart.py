"""A configured setting waits for a restart of the server.

Finds: static parameters whose configured value is not the one in force, and data caches whose configured size,
replacement, partitions or status is not the one in force.

Why it matters: everything measured now was measured with the old values. Whoever tunes on from here tunes a server
that changes again at its next restart, and a restart for another reason then brings changes nobody expects.

What to do: restart the server when it suits, together with the other static changes of this plan, and measure after it.
What another finding changes or takes back is left out of the restart of the plan: make that change first. If the server
has been restarted since the listing was taken, the change is in force already: bring a new listing. If nobody knows who
set a value, set it back.

When to ignore it: when the restart is planned and the people who read the figures know about it. A dynamic parameter
whose run value differs is not waiting for a restart: memory fell short, or the two columns have different units. The
rule never calls it pending.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from collectors.facts import ABSENT, Facts, Missing
from collectors.facts.ase import ConfigParameter, NamedCache, Server
from rules.changes.ase_config import PARAMETERS, configured_value
from rules.changes.ase_restart import cache_waits, restart_cache, restart_setting, setting_waits
from rules.changes.legal import refusal
from rules.changes.quoting import comment
from rules.finding import Clean, Evidence, Finding, Lacking, Outcome, Severity, Unknown, Untrusted
from rules.judging.server import subject_of
from rules.kit import rule

LINKS = (
    "https://infocenter.sybase.com/help/topic/com.sybase.infocenter.dc36273.1600/doc/html/san1393051979352.html",
    "https://infocenter.sybase.com/help/topic/com.sybase.infocenter.dc31654.1600/doc/html/san1360629101923.html",
)
TOUCHED = {*PARAMETERS, "number of engines at startup"}
"""Parameters that the rules advise on or judge by; anything else that waits is a note."""
NAMED = 5
"""How many settings the sentence names; the evidence names them all."""


@dataclass(frozen=True)
class Limits:
    """There is nothing to judge by: a value differs or it does not."""


@rule(needs=(), uses=(Server, ConfigParameter, NamedCache), links=LINKS, limits=Limits, sample=None)
def check(facts: Facts, limits: Limits) -> Iterator[Outcome]:
    """Compare what is configured with what runs, over everything that was listed. Of two listings the later counts."""
    settings = list({(one.name, one.instance): one for one in facts.every(ConfigParameter) if _read(one)}.values())
    caches = list({(one.name, one.instance): one for one in facts.every(NamedCache) if _runs(one)}.values())
    if not settings and not caches:
        yield Unknown.of(ConfigParameter, NamedCache)
        return
    differ = [one for one in settings if one.pending and _comparable(one)]
    if any(_static(one) is None for one in differ):
        yield Unknown(
            (
                Lacking(
                    "whether a parameter that differs is static",
                    "sp_configure -- wide enough for its Type column (isql -w 300)",
                ),
            )
        )
    refused = [why for one in differ if (why := refusal(restart_setting(one)))]
    if refused:
        yield Untrusted(f"{'; '.join(refused)}: the listing is damaged, collect it again")
    pending = [one for one in differ if _static(one) and not refusal(restart_setting(one))]
    waiting = [one for one in caches if cache_waits(one)]
    if pending or waiting:
        yield _finding(facts, pending, waiting)
        return
    dynamic = sum(_static(one) is False for one in differ)
    note = f"; {dynamic} dynamic parameters differ, but wait for no restart" if dynamic else ""
    yield Clean(f"{len(settings)} parameters and {len(caches)} caches were listed and none waits for a restart{note}")


def _read(setting: ConfigParameter) -> bool:
    """Whether both columns were read; a configuration file has no run values."""
    return not isinstance(configured_value(setting), Missing) and not isinstance(setting.run_value, Missing)


def _runs(cache: NamedCache) -> bool:
    """Whether anything of what runs was read; a configuration file says nothing of it."""
    numbers = (cache.run_size_mb, cache.run_partitions)
    return bool(cache.status or cache.run_replacement) or any(one is not ABSENT for one in numbers)


def _comparable(setting: ConfigParameter) -> bool:
    """Whether both columns hold the same sort of value: a number and a name cannot be compared."""
    return isinstance(configured_value(setting), str) == isinstance(setting.run_value, str)


def _static(setting: ConfigParameter) -> bool | None:
    """Whether a parameter needs a restart: as listed, else as known; `None` where neither says."""
    if setting.kind is not None:
        return setting.kind.strip().lower() == "static"
    listed = PARAMETERS.get(setting.name)
    return listed.static if listed else None


def _finding(facts: Facts, pending: Sequence[ConfigParameter], waiting: Sequence[NamedCache]) -> Finding:
    evidence = [Evidence(comment(one.name), setting_waits(one), "", one.source) for one in pending]
    evidence += [Evidence(f"cache {comment(one.name)}", cache_waits(one), "", one.source) for one in waiting]
    listed = "; ".join(f"{one.metric}: {comment(str(one.value))}" for one in evidence[:NAMED])
    more = f"; and {len(evidence) - NAMED} more" if len(evidence) > NAMED else ""
    touched = waiting or any(one.name in TOUCHED for one in pending)
    many = f"{len(evidence)} settings wait" if len(evidence) > 1 else f"{evidence[0].metric} waits"
    return Finding(
        subject=subject_of(facts),
        severity=Severity.ADVICE if touched else Severity.NOTE,
        title=f"{many} for a restart",
        says=f"Configured, but not in force: {listed}{more}. What is measured now belongs to the old values: restart "
        "when it suits, except what other findings of this audit take back or change, then measure. If the server was "
        "restarted after this listing was taken, bring a new one.",
        evidence=tuple(evidence),
        changes=(
            *(restart_setting(one) for one in pending),
            *(change for one in waiting for change in restart_cache(one)),
        ),
    )
