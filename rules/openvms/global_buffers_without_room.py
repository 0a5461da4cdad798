"""A file is to have more global buffers than GBLPAGFIL has room for.

Finds: files whose global buffers by DIRECTORY/FULL take more pages than the system parameter GBLPAGFIL allows all
global sections in the page file together, with what others take of it by INSTALL LIST/GLOBAL, and what the page file
has free by SHOW MEMORY.

Why it matters: RMS makes the global buffers of a file as one such section when it is opened first (help text of
GBLPAGFIL). Where there is no room the section is not made, and each process that opens the file gets that error.

What to do: raise GBLPAGFIL, which is dynamic, by what is missing; or give the file fewer buffers until then.

When to ignore it: where nobody opens that file on this node.
"""

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from collectors.facts import Facts, known, number_or
from collectors.facts.openvms import FileName, GlobalSection, MemoryUse, SysgenParameter
from rules.changes.openvms_rms import BLOCK, MEMORY_PAGE, size_of
from rules.changes.openvms_sysgen import PARAMETERS, set_parameter
from rules.changes.quoting import comment
from rules.engine import limit, rule
from rules.finding import Clean, Evidence, Expectation, Finding, MissingInput, NotApplicable, Outcome, Severity, Unknown
from rules.openvms._evidence.memory import free_paging
from rules.openvms._evidence.node import NODE_FACTS, in_prose, node_name, parameter_of, subject_of

LINKS = ("https://wiki.vmssoftware.com/GBLPAGFIL",)
NAME = "GBLPAGFIL"
PER_PAGE = MEMORY_PAGE // BLOCK
STEP = 1_024
"""Pages that a proposal is rounded up to (this project)."""
LOGS = (
    "Whether a program was refused stands in its log (EXGBLPAGFIL). A page is taken as 8,192 bytes, as on Alpha and "
    "Integrity; global sections need GBLPAGES and GBLSECTIONS as well."
)
SECTIONS = MissingInput("what other global sections take of GBLPAGFIL", GlobalSection.COLLECTED_BY)


@dataclass(frozen=True)
class Limits:
    """How much room is asked for."""

    growth: float = limit(1.2, "this project: a fifth more than what these sections take", low=1, high=4)


@rule(
    needs=(FileName,),
    uses=(*NODE_FACTS, SysgenParameter, GlobalSection, MemoryUse),
    links=LINKS,
    limits=Limits,
    sample=None,
)
def check(facts: Facts, limits: Limits) -> Iterator[Outcome]:
    """Hold the buffers of each file against the parameter."""
    newest = {one.name.upper(): one for one in facts.every(FileName)}
    files = [one for one in newest.values() if number_or(one.global_buffers, 0.0) > 0 and known(one.bucket_blocks)]
    if not files:
        yield NotApplicable("no file with global buffers and its bucket size is in the export")
        return
    setting = parameter_of(facts, NAME, PARAMETERS[NAME].low, PARAMETERS[NAME].high)
    if not isinstance(setting, tuple):
        yield setting
        return
    allowed, listed = setting
    large = max(files, key=_pages)
    if _pages(large) <= allowed:
        most = f"the largest takes {_pages(large):,} pages, and {NAME} is {allowed:,.0f}"
        together = sum(map(_pages, files))
        if together <= allowed:
            of = "1 file" if len(files) == 1 else f"{len(files)} files"
            yield Clean(f"global buffers of {of} take {together:,} pages, and {NAME} is {allowed:,.0f}")
        else:
            yield Unknown((SECTIONS,), f"{len(files)} files have global buffers: {most}; all take {together:,}")
        return
    sections = [one for one in facts.every(GlobalSection) if known(one.pagelets)]
    yield _finding(facts, limits, large, (allowed, listed), sections)
    if not sections:
        yield Unknown((SECTIONS,))


def _pages(file: FileName) -> int:
    return size_of(number_or(file.global_buffers, 0.0), number_or(file.bucket_blocks, 0.0))[1]


def _finding(
    facts: Facts,
    limits: Limits,
    file: FileName,
    setting: tuple[float, SysgenParameter],
    sections: Sequence[GlobalSection],
) -> Finding:
    allowed, listed = setting
    name, pages = comment(file.name, 80), _pages(file)
    count, bucket = number_or(file.global_buffers, 0.0), number_or(file.bucket_blocks, 0.0)
    used = sum(number_or(one.pagelets, 0.0) for one in sections) / PER_PAGE
    # without a listing all that is allowed today may be in use
    taken = used if sections else allowed
    new = math.ceil((taken + pages) * (limits.growth if sections else 1.0) / STEP) * STEP
    fewer = math.floor(max(0.0, allowed - used) * PER_PAGE / bucket)
    paging = free_paging(facts)
    short = paging is not None and paging.mb < size_of(count, bucket)[0]
    return Finding(
        subject=subject_of(facts),
        severity=Severity.ADVICE,
        title=f"{NAME} {allowed:,.0f} has no room for the {count:,.0f} global buffers of {name}: {pages:,} pages",
        seen=f"{count:,.0f} buffers of {bucket:,.0f} blocks are {pages:,} pages of 8,192 bytes, and {NAME} allows "
        f"{allowed:,.0f} in all"
        + (f"; other sections of the page file take {used:,.0f}" if sections else "")
        + (f". {in_prose(paging.mb)} MB are free in the page file." if paging else "."),
        because="RMS makes the buffers of a file as one section in the page file when it is opened first, and such "
        f"sections may have {NAME} pages together.",
        do=(
            f"First make the page file larger by {pages:,} pages; then raise {NAME} to {new:,}."
            if short
            else f"Raise {NAME} from {allowed:,.0f} to {new:,} pages, which acts at once."
        )
        + (f" Until then at most {fewer:,} buffers fit, and the file has to be closed to set them." if fewer else ""),
        unknown=LOGS,
        evidence=(
            Evidence(f"global buffers of {name}", count, "buffers", file.source),
            Evidence("pages that they take", pages, "pages", file.source, allowed, "from this line"),
            Evidence(NAME, allowed, "pages", listed.source),
            *(
                (Evidence("other global sections of the page file", round(used, 1), "pages", sections[0].source),)
                if sections
                else ()
            ),
            *((paging.evidence,) if paging else ()),
        ),
        changes=()
        if short
        else (
            set_parameter(
                NAME,
                allowed,
                new,
                dynamic=True,
                minimum=True,
                node=node_name(facts),
            ),
        ),
        expects=(Expectation(f"room in {NAME} for these buffers (pages)", allowed, new, "arithmetic"),),
    )
