"""Judge captures before anything of them is written: rules compute for long, and a transaction should be short."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any

from advisor.accounts.models import Team
from advisor.audits.report.data import capture_data, clusters_data
from advisor.audits.services.auditing import linked
from advisor.audits.services.excerpts import Opener, add_excerpts
from advisor.audits.services.limits import limits_of
from advisor.systems.models import System
from collectors import facts as base
from collectors.facts.codec import dump
from rules.audit import Audit, audit
from rules.figures import key_figures, settings_of


@dataclass(frozen=True)
class Judged:
    """What the rules say of a capture, by which limits."""

    limits: dict[str, float]
    data: dict[str, Any]
    """As the contract prints it, with the quoted lines."""
    cluster: dict[str, Any] = field(default_factory=dict)
    """The cluster that it is a node of, as the contract prints it; empty where it is of none."""


@dataclass(frozen=True)
class Prepared:
    """A capture with everything that has to be computed of it before it is written."""

    found: base.Capture
    judged: Judged
    packed: bytes
    figures: list[list[Any]]
    """Its key figures: `[key, label, unit, value, better]`."""
    settings: dict[str, str | float]


def judge(
    found: base.Capture,
    limits: dict[str, float],
    opener: Opener,
    beside: Sequence[tuple[base.Capture, dict[str, float]]] = (),
) -> Judged:
    """Judge one capture.

    `beside`: the captures of other nodes of its cluster, each with its limits. They are judged as well, so that a cause
    keeps its links to what it explains on them.
    """
    nodes = linked([audit(capture, own) for capture, own in ((found, limits), *beside)])
    data = capture_data(nodes[0])
    add_excerpts({"captures": [data]}, opener)
    return Judged(limits, data, _cluster_of(0, clusters_data(nodes)))


def _cluster_of(at: int, clusters: Sequence[dict[str, Any]]) -> dict[str, Any]:
    """The cluster of the audit in this place; empty where it is of none."""
    return next((one for one in clusters if at in one["captures"]), {})


def prepare_all(
    captures: Sequence[base.Capture],
    team: Team,
    opener: Opener,
    on_progress: Callable[[int], None] = lambda count: None,
) -> list[Prepared]:
    """Prepare the captures of one upload of a team, each judged by the limits of its system.

    `hear` is told how many are done. Each file is opened once for the lines that all their findings quote.
    """
    made: list[Prepared] = []
    audits: list[Audit] = []
    limits: dict[tuple[str, str], dict[str, float]] = {}
    for found in captures:
        key = key_of(found.system)
        if key not in limits:
            limits[key] = limits_of(System.objects.filter(team=team, product=key[0], key=key[1]).first())
        audits.append(audit(found, limits[key]))
        on_progress(len(audits))
    audits = linked(audits)
    clusters = clusters_data(audits)
    for at, one in enumerate(audits):
        found = one.capture
        judged = Judged(limits[key_of(found.system)], capture_data(one), _cluster_of(at, clusters))
        figures = [[f.key, f.label, f.unit, f.value, f.better] for f in key_figures(found.facts)]
        made.append(Prepared(found, judged, dump(found.facts), figures, settings_of(found.facts)))
    add_excerpts({"captures": [one.judged.data for one in made]}, opener)
    return made


def key_of(system: base.System) -> tuple[str, str]:
    """The product and the name by which a team's system is found: in capitals."""
    return system.product, system.name.upper()[:120]
