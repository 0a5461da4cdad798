"""What a report says of an audit to one recipient: the difference to what they know, the findings at their level."""

from collections.abc import Iterable
from dataclasses import dataclass, field, fields

from markupsafe import Markup

from advisor.mail.letter import address
from advisor.mail.pictures import words
from advisor.mail.report import Contents, Law, Told
from advisor.models import Audit, Capture, Finding, Recipient
from advisor.report.render import QUIET
from advisor.services.audit_page import Node, page_of
from advisor.services.history import own_time, when
from advisor.services.overview import Difference, difference

WORDS = {"limits": "by another limit", "not_judged": "no longer judged", "judged_again": "judged again"}
"""How a difference is called, where that is another word than its name."""
MOST_FULL = 5
"""Findings told in full."""
MOST_OTHERS = 30
"""Findings told in a line each."""
MOST_CHANGES = 12
"""Findings named under each word of what changed."""
MOST_TO_BRING = 12
MOST_LAWS = 2
"""Load series with their pictures: a mail stays small."""
PLOT = 440
"""px of a chart: its words stay legible where a telephone shows it at two thirds."""
A_PLACE = "c-track"
"""What only the chart of a single figure has: it is no course (`charts.svg`)."""


@dataclass
class Since(Difference):
    """What a recipient is told to have changed, at their level."""

    judged_again: list[str] = field(default_factory=list)
    """Found now; before, their rules could not judge. Whether the server changed nobody knows."""

    def __str__(self) -> str:
        found = ((WORDS.get(word, word), keys) for word, keys in vars(self).items() if word != "still")
        return ", ".join(f"{len(keys)} {word}" for word, keys in found if keys)


def contents(
    recipient: Recipient, audit: Audit, before: Audit | None, after_trouble: str
) -> tuple[Contents, dict[str, Markup]]:
    """Gather a report, and the charts of the findings it tells in full and of its load series, by their keys."""
    page = page_of(audit, width=PLOT)
    nodes = {node.data["key"]: node for node in _flat(page.roots)}
    since = restricted(before, audit, recipient.severity) if before else Since()
    wanted = [node for node in nodes.values() if node.finding.severity >= recipient.severity]
    fresh = {*since.new, *since.worse, *since.judged_again}
    wanted.sort(key=lambda node: (node.data["key"] not in fresh, -node.finding.severity, node.finding.number))
    causes: dict[str, list[str]] = {}
    for key, node in nodes.items():
        for explained in node.data["explains"]:
            if explained != key:
                causes.setdefault(explained, []).append(node.finding.title)
    old = before.findings_digest if before else {}
    told = [_told(node, since, old, causes) for node in wanted]
    plots = {node.data["key"]: node.plot for node in wanted[:MOST_FULL] if node.plot is not None}
    laws = [(Law(one, f"load series {n}"), plot) for n, (one, plot) in enumerate(page.laws[:MOST_LAWS], 1)]
    plots |= {law.key: plot for law, plot in laws if plot is not None}
    bring = list(page.bring.items())
    quiet = [verdict for verdict in page.quiet if verdict["why"] and not verdict["missing"]]
    made = Contents(
        audit,
        when=interval(audit.capture),
        before=_taken(before.capture) if before else "",
        summary=str(since),
        changes=_changes(since, audit, before, nodes) if before else (),
        full=told[:MOST_FULL],
        others=told[MOST_FULL : MOST_FULL + MOST_OTHERS],
        more=max(0, len(told) - MOST_FULL - MOST_OTHERS),
        below=len(nodes) - len(wanted),
        bring=dict(bring[:MOST_TO_BRING]),
        more_to_bring=max(0, len(bring) - MOST_TO_BRING),
        quiet=quiet[:MOST_TO_BRING],
        judged=sum(verdict["verdict"] in ("fired", "clean") for verdict in audit.verdicts),
        in_order=len(page.clean),
        not_judged=sum(verdict["verdict"] in QUIET for verdict in audit.verdicts),
        address=address("audit", audit.pk),
        after_trouble=after_trouble,
        laws=[law for law, _ in laws],
        more_laws=len(page.laws) - len(laws),
        first=before is None and not _earlier(audit),
        anew=audit.why if before and before.capture_id == audit.capture_id else "",
    )
    return made, plots


def restricted(before: Audit, after: Audit, least: int) -> Since:
    """The difference of two audits as far as a finding had severity `least` on either side."""
    whole = difference(before, after)
    old, new = before.findings_digest, after.findings_digest
    since = Since(
        **{
            part.name: [key for key in getattr(whole, part.name) if max(old.get(key, 0), new.get(key, 0)) >= least]
            for part in fields(whole)
        }
    )
    since.judged_again = [key for key in since.new if key.split(":", 1)[0] in before.unjudged]
    since.new = [key for key in since.new if key not in since.judged_again]
    return since


def interval(capture: Capture) -> str:
    """When a capture was taken, as its export has it: begin, end and length."""
    begin, end = (str(capture.interval.get(name) or "").replace("T", " ") for name in ("start", "end"))
    if not begin and not end:
        return "The exports say no time; brought " + _taken(capture)
    same_day = begin[:10] == end[:10] and bool(end)
    time = f"{begin[:19]} to {end[11:19] if same_day else end[:19]}" if begin and end else (begin or end)[:19]
    length = f", {capture.seconds:,.0f} s" if capture.seconds else ""
    return f"Captured {time}{length}"


def _earlier(audit: Audit) -> bool:
    """Whether another capture of the system was audited before this one."""
    captures = Capture.objects.filter(system=audit.system_id, taken__lt=audit.capture.taken)
    return captures.exclude(audit=None).exists()


def _taken(capture: Capture) -> str:
    return when(own_time(capture.taken, capture.timed, capture.interval), capture.timed)


def _flat(nodes: Iterable[Node]) -> Iterable[Node]:
    for node in nodes:
        yield node
        yield from _flat(node.symptoms)


def _told(node: Node, since: Since, old: dict[str, int], causes: dict[str, list[str]]) -> Told:
    key, finding = node.data["key"], node.finding
    state = next((word for word in ("new", "worse", "better", "judged_again") if key in getattr(since, word)), "")
    return Told(
        finding.title,
        finding.severity,
        _place(finding),
        WORDS.get(state, state),
        was=old.get(key, 0) if state in ("worse", "better") else 0,
        data=node.data,
        explained_by=causes.get(key, ()),
        course=_course(node),
        key=key,
    )


def _course(node: Node) -> str:
    """What the plot of a finding shows, in words, with the unit of its figures said once."""
    if node.plot is None or A_PLACE in node.plot:
        return ""
    return words(node.plot).replace(f" {node.finding.unit},", ",") if node.finding.unit else words(node.plot)


def _place(finding: Finding) -> str:
    return f"{address('audit', finding.audit_id)}#f{finding.number}"


def _changes(since: Since, audit: Audit, before: Audit, nodes: dict[str, Node]) -> list[tuple[str, list[Told], int]]:
    """Name each finding under the word for what became of it."""
    left = [key[:400] for key in (*since.gone, *since.not_judged, *since.limits) if key not in nodes]
    gone = {one.key: one.title for one in before.findings.filter(key__in=left).defer("data")} if left else {}
    old, new = before.findings_digest, audit.findings_digest
    made = []
    for part in fields(since):
        keys = sorted(getattr(since, part.name), key=lambda key: -max(old.get(key, 0), new.get(key, 0)))
        told = []
        for key in keys[:MOST_CHANGES]:
            node = nodes.get(key)
            title = node.finding.title if node else gone.get(key[:400], key)
            level = new.get(key) or old[key]
            was = old[key] if key in old and key in new and old[key] != new[key] else 0
            told.append(Told(title, level, _place(node.finding) if node else "", was=was, key=key))
        if told:
            made.append((WORDS.get(part.name, part.name), told, len(keys) - len(told)))
    return made
