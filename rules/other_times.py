"""Figures that were collected for the same node and day, and are of another time than the capture that lacks them.

They stand in a capture of their own: a share of one time in the figures of another would be of neither. So that nobody
collects them again without knowing why, the verdict that lacks them says it.
"""

from collections.abc import Sequence

from collectors.facts import Facts
from collectors.facts.openvms import OtherSample
from rules.finding import MissingInput
from rules.missing import command_of


def of_another_time(missing: Sequence[MissingInput], facts: Facts) -> str:
    """Why what was collected was not joined, for each sample that has what is missing; nothing where none has."""
    wanted = {command_of(one.command) for one in missing}
    others = (one for one in facts.by_type.get(OtherSample, []) if isinstance(one, OtherSample))
    return "; ".join(_said(one) for one in others if wanted & {command_of(command) for command in one.brought})


def _said(other: OtherSample) -> str:
    minutes = other.shared_seconds / 60
    shared = f"only {minutes:,.0f} minutes of that" if minutes >= 1 else "nothing of that"
    return (
        f"{other.source.file} was collected from {other.start:%d-%b %H:%M} to {other.end:%H:%M}, and {shared} lies in "
        "the time judged here: figures of different times are not mixed, so it is judged by itself; collect both over "
        "the same time"
    )
