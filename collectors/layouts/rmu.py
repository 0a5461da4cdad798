"""What the screens and logs of Oracle RMU have in common: processes, labels, and what a stall waits for.

Times are those of OpenVMS (`collectors.layouts.vms`). A process is `2040A21D:1`, its process id and the stream of
its attach to the database; streams above 99 are printed as `**` (vendor: RMU help, Active User Stall Messages).
"""

import re

from collectors.facts.rdb import ITEMS, LOCK_TYPES

PROCESS = r"(?P<pid>[0-9A-F]{8}):(?P<stream>[0-9]{1,5}|\*\*)(?P<tag>[A-Za-z]{0,2})(?![A-Za-z0-9:])"
"""A process with its stream; the letters behind it are `G` (global statistics), `s` (server), `D` and others."""
WAIT_LINE = (
    r"^\s{0,9}[0-9A-F]{8}:(?:[0-9]{1,5}|\*\*)[A-Za-z]{0,2}\s{1,9}[0-9]{2}:[0-9]{2}:[0-9]{2}\.[0-9]{2}\s"
    r".{0,40}?\bwaiting for\s"
)
"""A line of a stall: of a log, or of a screen."""
MODE = re.compile(r"\((?P<mode>NL|CR|CW|PR|PW|EX)\)\s*$")
LONGEST_REASON = 80


SAME = {
    "rqst": "request",
    "req": "request",
    "prom": "promotion",
    "promote": "promotion",
    "sync": "synch",
    "async": "asynch",
}
"""Words that mean the same on screens, in manuals and in files made by hand."""
SILENT = {"file"}
"""`RUJ file reads` are `RUJ reads`."""


def words(label: str) -> tuple[str, ...]:
    """The words of a label, each in one spelling: `rqsts not queued` and `Requests_Not_Queued` are the same."""
    found = []
    for word in re.findall(r"[a-z0-9]+", label[:200].lower()):
        single = word[:-1] if len(word) > 3 and word.endswith("s") else word
        if single not in SILENT:
            found.append(SAME.get(single, single))
    return tuple(found)


OTHER_NAMES = {
    "lock rqsts": "locks requested",
    "prom rqsts": "locks promoted",
    "blasts": "blocking asts",
    "blasted": "blocking asts",
    "prom timeouts": "promotion timeouts",
    "root file reads": "root reads",
    "root file writes": "root writes",
}
ITEM_OF = {words(item): item for item in ITEMS} | {words(other): item for other, item in OTHER_NAMES.items()}
TYPE_OF = {words(kind): kind for kind in LOCK_TYPES} | {
    ("buffer", "page"): "page",
    ("buffer",): "page",
    ("physical", "area"): "area",
    ("storage", "area"): "area",
    ("quiet",): "quiet point",
    ("snap",): "snapshot",
}


def item_of(label: str) -> str | None:
    """The item of `collectors.facts.rdb.ITEMS` that a label names, or `None`."""
    return ITEM_OF.get(words(label))


def lock_type_of(label: str) -> str | None:
    """The lock type of LOCK_TYPES that a label names (`buffer/page locks`), or `None`.

    Of the NOWAIT lock the first word tells: how screens print what follows (`signal`, `transaction`) is recalled.
    """
    found = tuple(word for word in words(label) if word != "lock")
    return "nowait" if found[:1] == ("nowait",) else TYPE_OF.get(found)


WAITING = re.compile(r"waiting for\s+", re.IGNORECASE)
RESOURCE = re.compile(
    r"(?:buffer/)?page\s+(?P<page>[0-9]{1,9}(?::[0-9]{1,10})?)(?![0-9:])"
    r"|record\s+(?P<record>-?[0-9]{1,9}:-?[0-9]{1,10}:-?[0-9]{1,6})(?![0-9:])"
    r"|logical area\s+(?P<logical_area>[0-9]{1,9})\b"
    r"|(?:storage |physical )?area\s+(?P<area>[0-9]{1,9})\b"
    r"|snap(?:shots?)?\b\s*(?P<snapshot>.*)"
    r"|nowait\b(?:\s+signal)?\s*(?P<nowait>.*)"
    r"|(?:database\s+)?freeze\b(?:\s+lock)?\s*(?P<freeze>.*)"
    r"|quiet\b(?:[ -]?point)?(?:\s+lock)?\s*(?P<quiet>.*)"
    r"|client\b\s*'?(?P<client>[^']*)'?"
    r"|seqblk\b(?:\s+lock)?\s*(?P<seqblk>.*)"
    r"|filid\b(?:\s+lock)?\s*(?P<filid>.*)"
    r"|tsnblk\b(?:\s+lock)?\s*(?P<tsnblk>.*)"
    r"|rtupb\b(?:\s+list)?(?:\s+lock)?\s*(?P<rtupb>.*)"
    r"|active\b(?:\s+user)?(?:\s+bitmap)?(?:\s+lock)?\s*(?P<active>.*)"
    r"|membit\b(?:\s+lock)?\s*(?P<membit>.*)"
    r"|aij\b\s*(?P<aij>.*)",
    re.IGNORECASE,
)


def resource_of(reason: str) -> tuple[str, str]:
    """Kind and name of what a stall waits for: `("page", "5:751")`; `("io", reason)` where it waits for no lock.

    `reason` is without its mode. Kinds are as in `collectors.facts.rdb.WaitGroup`; one that is not known here is
    `other`, with the text of the reason.
    """
    reason = " ".join(reason.split())
    waits = WAITING.match(reason)
    if waits is None:
        return "io", reason[:LONGEST_REASON]
    found = RESOURCE.match(reason, waits.end())
    if found is None or found.lastgroup is None:
        return "other", reason[waits.end() :][:LONGEST_REASON]
    kind = found.lastgroup.replace("_", " ")
    if kind == "aij" and "backup" in found["aij"].lower():
        return "quiet", found[0].strip()[:LONGEST_REASON]  # a backup of the journal waits for, and holds, that point
    return kind, found[found.lastgroup].strip(" '")[:LONGEST_REASON] or kind


def reason_and_mode(text: str) -> tuple[str, str | None]:
    """Part a stall's text from the lock mode in brackets behind it."""
    found = MODE.search(text)
    return (text[: found.start()].rstrip(), found["mode"]) if found else (text.rstrip(), None)
