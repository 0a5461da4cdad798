"""What AUTOGEN's report says of the lock tables: MODPARAMS.DAT that overrules it, and feedback that sizes nothing.

The sentences of the report are recalled (knowledge/openvms-rdb-more.md, 4), so all of it is tentative and nothing of it
becomes a command. What the two limits of the feedback mean, and what a bare `NAME = value` does, is the vendor's.
"""

from collections.abc import Iterator
from dataclasses import dataclass, replace

from collectors.facts import Facts, known
from collectors.facts.openvms import AutogenFeedback, AutogenRun, ModparamsLine
from rules.finding import Change, Evidence

AUTOGEN_FACTS = (AutogenFeedback, AutogenRun, ModparamsLine)
"""What a rule that uses this module has to declare."""
LEAST_HOURS, MOST_DAYS = 24.0, 30.0
"""Vendor (System Manager's Manual, AUTOGEN): feedback of less uptime, or older, is warned about in the report."""


@dataclass(frozen=True)
class Feedback:
    """What the feedback of one run of AUTOGEN covers."""

    run: AutogenRun
    hours: float | None
    """Of uptime; `None` where the report does not say it."""
    days: float | None
    """Between the feedback and the report made of it; `None` where either moment is missing."""

    @property
    def known(self) -> bool:
        """Whether the report says anything of it."""
        return self.hours is not None or self.days is not None

    @property
    def impossible(self) -> str:
        """Why the figures cannot be, as the end of a sentence; empty: they can."""
        if self.hours is not None and self.hours < 0:
            return f"{self.hours:g} hours of uptime"
        if self.days is not None and self.days < 0:
            return "its feedback is younger than the report made of it"
        return ""


def feedback_of(facts: Facts) -> Feedback | None:
    """The last run of AUTOGEN that was collected; `None` without one."""
    run = facts.latest(AutogenRun)
    if run is None:
        return None
    hours = run.uptime_hours if known(run.uptime_hours) else None
    apart = run.at - run.feedback_at if run.at and run.feedback_at else None
    return Feedback(run, hours, None if apart is None else apart.total_seconds() / 86_400)


def fixed_by_hand(facts: Facts, name: str) -> AutogenFeedback | None:
    """What the report says of a parameter that a bare line of MODPARAMS.DAT fixes; `None` where it says nothing."""
    found = facts.latest(AutogenFeedback, parameter=name)
    return found if found is not None and known(found.hard_coded) else None


def fixed_line(facts: Facts, name: str) -> ModparamsLine | None:
    """The bare line of MODPARAMS.DAT that fixes a parameter, where the file came along."""
    found = [one for one in facts.every(ModparamsLine) if one.name == name and not one.prefix and known(one.value)]
    return found[-1] if found else None


def with_line(facts: Facts, change: Change, name: str) -> Change:
    """The change of a dynamic parameter, with the line of MODPARAMS.DAT that would undo it, where one came along."""
    line = fixed_line(facts, name)
    if line is None or not known(line.value) or line.value == change.new:
        return change
    where = f"line {line.source.first} of MODPARAMS.DAT"
    return replace(change, condition=f"change {where} as well ({name} = {line.value:.0f}), or AUTOGEN takes it back")


def hard_coded(facts: Facts, name: str) -> str:
    """That MODPARAMS.DAT fixes a value, by its line, else by AUTOGEN's report, as a sentence; empty: neither has it."""
    found, line = fixed_by_hand(facts, name), fixed_line(facts, name)
    beside = f", where AUTOGEN calculated {found.calculated:,.0f}" if found and known(found.calculated) else ""
    if line and known(line.value):  # the line itself before what a report says of it
        return (
            f"MODPARAMS.DAT ({line.source}) has {name} = {line.value:,.0f}{beside}: take that line out, or it goes on "
            "overruling what AUTOGEN finds."
        )
    if found is None:
        return ""
    return (
        f"AUTOGEN's report ({found.source}, read tentatively) has {name} hard-coded to {found.hard_coded:,.0f} in "
        f"MODPARAMS.DAT{beside}: take that line out, or it goes on overruling what AUTOGEN finds."
    )


def autogen_evidence(facts: Facts, name: str) -> Iterator[Evidence]:
    """The value that MODPARAMS.DAT fixes, what AUTOGEN calculated in its place, and the uptime behind that if short."""
    found, line = fixed_by_hand(facts, name), fixed_line(facts, name)
    if line and known(line.value):
        yield Evidence(f"{name} hard-coded in MODPARAMS.DAT", line.value, "entries", line.source)
    if found is None:
        return
    if known(found.hard_coded) and not line:
        yield Evidence(f"{name} hard-coded in MODPARAMS.DAT", found.hard_coded, "entries", found.source)
    if known(found.calculated):
        yield Evidence(f"{name} as AUTOGEN calculated it", found.calculated, "entries", found.source)
    feedback = feedback_of(facts)
    if feedback and feedback.hours is not None and 0 <= feedback.hours < LEAST_HOURS:
        yield Evidence("uptime behind AUTOGEN's feedback", feedback.hours, "hours", feedback.run.source, LEAST_HOURS)
