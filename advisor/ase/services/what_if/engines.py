"""What another number of engines would do: only a load series over engines with a law that fits can say."""

from dataclasses import replace
from typing import Any

from advisor.ase.services.what_if.answers import (
    LAW,
    NONE,
    Answer,
    Judgement,
    Line,
)
from advisor.audits.models import Audit
from collectors.facts import Facts
from collectors.facts.scaling import LoadSeries
from rules.ase._evidence.server import busy_of
from rules.changes.ase_config import PARAMETERS, legal
from rules.laws.usl import law

RULE = "ase/engines_past_peak"
MOST = "max online engines"
HOW = "Dynamic up to max online engines (alter thread pool; sp_engine in process mode); max online engines is static."


def engines_answer(facts: Facts, audit: Audit, new: int, judged: Judgement) -> Answer:
    """The rate with so many engines by each law the audit has fitted; or that nothing can be said, what to bring."""
    now, _ = busy_of(facts)
    answer = Answer(
        "Engines online",
        f"{'not in the export' if now is None else f'{now:,}'} → {new:,}",
        said=judged.said(RULE, "ase.engines:process", ""),
    )
    if not legal(MOST, new):
        one = PARAMETERS[MOST]
        return replace(answer, refused=f"The server takes {one.low:,.0f} to {one.high:,.0f} engines.")
    series = [one for one in audit.laws if str(one.get("load_name", "")).lower().startswith("engine")]
    lines = [_line(one, now, new) for one in series]
    cannot = [f"{one['file']}: {one['why_not']}" for one in series if not _usable(one)]
    if not any(line.then is not None for line in lines):
        cannot.append(
            "Nothing can be said of another number of engines: contention at one number says nothing of others."
        )
    missing = judged.verdicts.get(RULE, {}).get("missing", [])
    bring = tuple(dict.fromkeys(lack["bring"] for lack in missing)) or (LoadSeries.COLLECTED_BY,)
    return replace(
        answer,
        lines=tuple(lines),
        effect=HOW,
        remarks=("A law holds for the work, the release and the settings it was measured with.",) if lines else (),
        cannot=tuple(cannot),
        bring=bring if cannot else (),
    )


def _usable(one: dict[str, Any]) -> bool:
    return bool(one["usable"]) and None not in (one["alpha"], one["beta"], one["gamma"])


def _line(one: dict[str, Any], now: int | None, new: int) -> Line:
    name = str(one.get("rate_name", "rate")).replace("_", " ")
    if not _usable(one):
        return Line(name, None, None, "", NONE, f"{one['file']}: no law fits well enough to be read")
    rates = [
        float(f"{law(one['alpha'], one['beta'], one['gamma'], load, one.get('cap')):.6g}") for load in (now or new, new)
    ]
    loads = [load for load, _ in one.get("points", [])]
    outside = loads and not min(loads) <= new <= max(loads)
    how = f"Universal Scalability Law of {one['file']}, R² {one['r2']:.3f}"
    how += (
        f"; measured from {min(loads):g} to {max(loads):g} engines, so this is beyond what was measured"
        if outside
        else ""
    )
    if one["peak_load"] is not None:
        how += f"; most at {one['peak_load']:.1f} engines"
    return Line(name, rates[0] if now else None, rates[1], "", LAW, how)
