"""The resource hash table as two charts over its size: the mean chain, and the share of names in company."""

from collections.abc import Callable
from dataclasses import dataclass

from markupsafe import Markup

from advisor.charts.buckets import Mark, over_buckets
from advisor.services.openvms.hash_tables import Table
from advisor.services.openvms.what_if import Answer
from rules.laws.hashing import PROVEN

EDGE = f"{PROVEN:,}: gains beyond are unproven"


@dataclass(frozen=True)
class Pictures:
    """Both charts."""

    chains: Markup
    sharing: Markup


def pictures_of(answer: Answer) -> Pictures | None:
    """Draw them; `None` where no resources were typed or read."""
    if not answer.steps:
        return None
    chains = _drawn(answer, lambda one: one.chain, "Mean chain over buckets", "resources per bucket", logarithmic=True)
    sharing = _drawn(answer, lambda one: one.sharing, "Names that share a bucket, over buckets", "%", logarithmic=False)
    return Pictures(chains, sharing)


def _drawn(answer: Answer, figure: Callable[[Table], float], title: str, unit: str, *, logarithmic: bool) -> Markup:
    named = (("now", answer.now), ("asked for", answer.asked))
    return over_buckets(
        [(one.buckets, figure(one)) for one in answer.steps],
        title=title,
        unit=unit,
        marks=[Mark(name, one.buckets, figure(one)) for name, one in named if one is not None],
        edge=PROVEN,
        edge_said=EDGE,
        logarithmic=logarithmic,
    )
