"""What a comparison is made of."""

from dataclasses import dataclass
from typing import TYPE_CHECKING

from collectors.facts import Capture, Interval, Source
from rules.compare.changed import Advised, CameAndWent, Setting
from rules.compare.metrics import Metric
from rules.compare.similarity import Part

if TYPE_CHECKING:
    from rules.audit import Audit

NOTHING_CAME = CameAndWent()


@dataclass(frozen=True)
class End:
    """What one end of a comparison is: a capture or several, or a run of a table."""

    label: str
    capture: Capture | None = None
    """The newest of its captures."""
    interval: Interval | None = None
    """From the first start to the last end of its captures; the seconds are those that were measured."""
    captures: int = 1
    samples: int = 1
    files: tuple[str, ...] = ()


@dataclass(frozen=True)
class Comparison:
    """One system, before and after."""

    name: str
    product: str
    before: End
    after: End
    score: float | None
    """0 to 1: the least alike part that counts; `None` where nothing tells how alike the work was."""
    parts: tuple[Part, ...]
    unit_of_work: str | None
    metrics: tuple[Metric, ...]
    verdict: str
    """`improved`, `no-effect`, `worse`, `mixed` (better here, worse there) or `not-comparable`."""
    why: str
    """Ends with the remarks."""
    findings: CameAndWent = NOTHING_CAME
    settings: tuple[Setting, ...] = ()
    changes: tuple[Advised, ...] = ()
    normalised: str | None = None
    """What was done to make figures comparable that are not by themselves."""
    bring: tuple[str, ...] = ()
    """What would let it be judged."""
    remarks: tuple[str, ...] = ()
    """What a reader has to know before the verdict is acted upon: sides that seem swapped, names that differ."""
    audits: "tuple[Audit, ...]" = ()
    """Those of the after, newest last."""
    source: Source | None = None
    """Where one file holds both ends: its lines."""
