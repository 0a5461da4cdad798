"""What may be said of figures whose layout is recalled: the proved part of a finding decides, the rest adds words.

A rule is run again over the facts without the tentative ones wherever one of these is evidence. What it says then
stands whatever is added to it; what it does not say then rests on tentative figures and is advice at most.
"""

from dataclasses import replace

from collectors.facts import Facts
from rules.finding import Change, Finding, Severity

MOST = 3
"""Places that are named in a sentence."""
ALONE = (
    "Read tentatively: the layout of {0} is recalled and no source confirms it, so hold these figures against the "
    "lines quoted before anything is changed."
)
BESIDE = (
    "Read tentatively: the layout of {0} is recalled and no source confirms it; the other figures are enough for this "
    "finding without it."
)


def is_tentative(finding: Finding) -> bool:
    """Whether some of its evidence was read by a layout that nothing confirms."""
    return any(one.source.tentative for one in finding.evidence)


def proved(facts: Facts) -> Facts:
    """The facts without the tentative ones."""
    return Facts(tuple(fact for fact in facts if not fact.source.tentative))


def softened(finding: Finding, without: Finding | None) -> Finding:
    """The finding as loud, and with such changes, as what was read for certain allows.

    `without`: what the rule says of the same object without the tentative facts; `None` where it finds nothing then.
    That decides what is above advice, and its title, cost and expectation are given out there. It makes nothing louder
    than the rule is with all facts at hand: a tentative figure may show why something is harmless.
    """
    unsure = [one.source for one in finding.evidence if one.source.tentative]
    if not unsure:
        return finding
    softly = min(finding.severity, Severity.ADVICE)
    if without is None or without.severity < softly:
        caution = ALONE.format(_named([source.file for source in unsure]))
        return _with_caution(replace(finding, severity=softly), caution, ())
    stands = replace(finding, severity=min(finding.severity, without.severity))
    if stands.severity > Severity.ADVICE:
        stands = replace(
            stands,
            title=without.title,
            cost=without.cost,
            expects=without.expects,
            weight=without.weight,
            share=without.share,
        )
    return _with_caution(stands, BESIDE.format(_named([str(source) for source in unsure])), without.changes)


def _with_caution(finding: Finding, caution: str, certain: tuple[Change, ...]) -> Finding:
    """The caution in what is said and at every change but those that are the same without the tentative facts."""
    return replace(
        finding.adding(unknown=caution),
        changes=tuple(
            change if change in certain else replace(change, cautions=(caution, *change.cautions))
            for change in finding.changes
        ),
    )


def _named(places: list[str]) -> str:
    once = list(dict.fromkeys(places))
    return ", ".join(once[:MOST]) + (f" and {len(once) - MOST} more" if len(once) > MOST else "")
