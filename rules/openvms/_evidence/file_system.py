"""What the file system (XQP) locks for: allocation on a volume, opening of a file, and its caches' parameters.

Which program opens or creates so many files is in no lock name; the trees tell the volume and, of opens, the file.
F11B$s, which guards the header of one file or directory, is below a volume's tree and shows in LCKQUE alone.
Sources: KP_LOCKTOOLS (names), wiki.vmssoftware.com/ACP_parameters (caches; they cut I/O, no source promises fewer
locks), HP "ask the wizard" 7230 (programs that hook F11B$ locks can hold them for hours).
"""

from collections.abc import Iterator

from collectors.facts import Facts, known
from collectors.facts.openvms import LockTree, SysgenParameter
from collectors.facts.openvms.resource_names import FILE_ACCESS, VOLUME
from rules.changes.quoting import comment
from rules.finding import Evidence
from rules.openvms._evidence.lock_trees import LONGEST_LABEL, Named, Share, name_of, place_of
from rules.openvms._evidence.node import in_prose

CACHES = ("ACP_DINDXCACHE", "ACP_HDRCACHE", "ACP_FIDCACHE", "ACP_EXTCACHE", "ACP_SYSACC")
"""Dynamic all of them (wiki.vmssoftware.com/ACP_parameters)."""
WORDS = {VOLUME: "creating, extending and deleting files (F11B$v)", FILE_ACCESS: "opening files (F11B$a)"}
FEWER_FILES = (
    "Create, extend and delete fewer files there: larger extents (SET FILE/EXTENSION, or the volume's default), work "
    "files that are kept and used again."
)
HOLDERS = "programs that watch, back up or defragment files, as such ones hold these locks, too (vendor)"


def by_kind(share: Share) -> dict[str, float]:
    """Lock requests per second of each kind of tree, the most first."""
    found: dict[str, float] = {}
    for tree in share.trees:
        kind = tree.resource.kind
        found[kind] = found.get(kind, 0.0) + (tree.total if known(tree.total) else 0.0)
    return dict(sorted(found.items(), key=lambda one: (-one[1], one[0])))


def busiest(share: Share, kind: str) -> LockTree | None:
    """The tree of this kind with most requests."""
    mine = [tree for tree in share.trees if tree.resource.kind == kind and known(tree.total)]
    return max(mine, key=lambda tree: (tree.total, tree.name), default=None)


def said(facts: Facts, share: Share) -> str:
    """What the trees are locked for, by kind, with the busiest volume or file, as clauses."""
    clauses = []
    for kind, rate in by_kind(share).items():
        tree = busiest(share, kind)
        if tree is None or kind not in WORDS:
            continue
        resource = tree.resource
        where = _file(facts, tree) if kind == FILE_ACCESS else comment(resource.volume or "?", LONGEST_LABEL)
        clauses.append(f"{in_prose(rate)}/s are for {WORDS[kind]}, most for {where}")
    return "; ".join(clauses)


def remedy(share: Share) -> str:
    """What to do by the kind that has most, as a sentence."""
    kind = next(iter(by_kind(share)), "")
    if kind == VOLUME:
        return FEWER_FILES
    return f"Keep files open over the work instead of opening them for each record or request, and look at {HOLDERS}."


def settings(facts: Facts) -> Iterator[Evidence]:
    """The parameters of the file system's caches that run, as far as they were read."""
    for name in CACHES:
        found = facts.latest(SysgenParameter, name=name)
        if found and found.runs and known(found.current):
            yield Evidence(name, found.current, "", found.source)


def _file(facts: Facts, tree: LockTree) -> str:
    named: Named | None = name_of(facts, tree.resource)
    return named.name if named and named.sure else place_of(tree.resource)
