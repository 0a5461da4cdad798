"""The sentences of a header that say something of locking, and what each of them sets.

Matched on the words that carry the meaning, without regard to case: their exact spelling is recalled
(rdb-formats.md 5 [R]), and a sentence that begins with these words can mean nothing else. One that denies or hedges
what it names (`is not enabled`, `is enabled until the next open`) is read as off or not at all, never as on.
"""

import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass

from collectors.facts.base import Missing
from collectors.registry import reading

Value = float | str | bool | Missing | None
SWITCH = r"(?:is|are) (?P<value>(?:(?:currently|not|no longer) )?(?:enabled|disabled|on|off))\b"
VIA = rf"(?P<value>(?:(?:is )?not )?(?:is )?via (?:memory|disk)(?: {SWITCH.replace('?P<value>', '?:')})?)\.?\s*$"
SUBJECT = "[^A-Za-z0-9]{0,9}(?:(?:the|this|oracle|rdb|database|default) ){0,3}"
"""What may stand before: any other word makes it a sentence of something else (`No global buffers are enabled`)."""
HEDGED = re.compile(r"(?i)\b(?:not|but|unless|until|if|when|once|only|pending|inactive)\b")
"""Behind `is enabled`: `(no timeout)` is none of it."""
DENIED = re.compile(r"(?i)\b(?:not|no|without|unless|if|when)\b")
COUNT = r"(?:is|are) (?P<value>[0-9,]{1,15}|\*{1,15})(?![0-9.])"
SNAPSHOTS = {
    "nondeferred": "immediate",
    "immediate": "immediate",
    "deferred": "deferred",
    "disabled": "disabled",
}


@dataclass(frozen=True)
class Sentence:
    """One kind of sentence: the field it sets, and how its value is read."""

    field: str
    pattern: re.Pattern[str]
    value: Callable[[str], Value]


def _switch(text: str) -> bool | None:
    """Whether it is on; None for `not disabled`, a denial of a denial that no header was seen to print."""
    words = text.lower().split()
    denied = "not" in words or "no" in words
    if words[-1] in ("enabled", "on"):
        return not denied
    return None if denied else False


def _transfer(text: str) -> str | None:
    """`via memory is disabled` and `not via memory` are via disk, the only other way."""
    said_of, medium, state = re.split(r"\b(memory|disk)\b", text.lower(), maxsplit=1)
    on = _switch(state) if state.strip() else True
    if on is None or ((denied := "not" in said_of.split()) and state.strip()):
        return None
    if on and not denied:
        return medium
    return "disk" if medium == "memory" else None


def _mode(text: str) -> str | None:
    return None if text.lower() in ("not", "none", "unknown") else text.upper()


def _snapshot(text: str) -> str | None:
    return SNAPSHOTS.get(re.sub(r"[^a-z]", "", text.lower()))


def _of(field: str, words: str, value: Callable[[str], Value]) -> Sentence:
    return Sentence(field, re.compile(rf"(?i){SUBJECT}{words}"), value)


def _switched(field: str, words: str) -> Sentence:
    return _of(field, f"{words} {SWITCH}", _switch)


def _counted(field: str, words: str) -> Sentence:
    return _of(field, f"{words} {COUNT}", reading)


def _none(_: str) -> float:
    return 0.0


NONE_OF = "no checkpoint(?:ing)?"
NOT_GIVEN = r"(?P<value>\.?$| (?:is|was) (?:specified|set|defined)\b)"
STATES = r"(?:currently|not|no|none|enabled|disabled|on|off|in|inactive|active|unused)\b"
"""What is said of a cache rather than its name; a name in quotes is one whatever it says."""
WORDS = r"(?P<value>[A-Za-z-]{1,20})"
DATABASE = (
    _of("structure_level", r"structure level is (?P<value>[0-9]{1,3}(?:\.[0-9]{1,3})?)", str),
    _counted("maximum_users", "maximum user count"),
    _counted("maximum_nodes", "maximum node count"),
    _of("open_mode", rf"(?:database )?open mode is {WORDS}", _mode),
    _of("snapshot_mode", rf"snapshot mode is {WORDS}", _snapshot),
    _switched("statistics_enabled", "statistics(?: collection)?"),
    _switched("global_buffers", "global buffers"),
    _counted("global_buffer_count", "global buffer count"),
    _counted("user_buffer_count", "default user buffer count"),
    # the vendor's example of RMU/OPEN/GLOBAL_BUFFERS has both lines of global buffers (RMU help 7.2 [V])
    _counted("user_limit", r"maximum global buffer(?:s| count) per user"),
    _counted("buffer_blocks", "buffer size"),
    _of("page_transfer", rf"page transfer {VIA}", _transfer),
    _switched("adjustable_locking", "adjustable (?:record )?lock(?:ing|s)?(?: granularity)?"),
    _switched("carry_over_locks", r"carry[- ]?over locks?(?: optimization)?"),
    _switched("lock_partitioning", "lock (?:tree )?partitioning"),
    _counted("lock_timeout_seconds", "lock (?:wait )?timeout interval"),
    _switched("after_image_journaling", "after-image journaling"),
    _counted("available_journals", "available journal count"),
    _of("log_server", r"log server (?:startup )?is (?P<value>manual|automatic)\b", str.upper),
    _switched("fast_commit", "fast commit"),
    _switched("commit_to_journal", "commit to (?:aij|journal) optimization"),
    _counted("transaction_interval", "transaction interval"),
    # SQL's own words for it (openvms-rdb-more.md 2.4 [V]); how a header prints it was not seen
    _switched("prestarted_transactions", "prestarted transactions?"),
    _switched("row_cache_enabled", "row cach(?:e|es|ing)"),
    _counted("active_row_caches", "active row cache count"),
    _counted("reserved_row_caches", "reserved row cache count"),
    _switched("page_level_locking", "page[- ]level locking"),
    _counted("storage_areas", "active storage area count"),
)
IN_LOCKING = (_counted("lock_timeout_seconds", "timeout interval"),)
IN_FAST_COMMIT = (
    _counted("checkpoint_blocks", "checkpoint(?:ing)? (?:aij )?interval"),
    _counted("checkpoint_seconds", "checkpoint(?:ing)? (?:time|timed) interval"),
    _of("checkpoint_seconds", r"checkpoint(?:ing)? timed every (?P<value>[0-9,]{1,9}) seconds?\b", reading),
    _of("checkpoint_blocks", f"{NONE_OF} (?:aij )?interval{NOT_GIVEN}", _none),
    _of("checkpoint_seconds", f"{NONE_OF} (?:time|timed) interval{NOT_GIVEN}", _none),
)
IN_SECTION = {"locking": IN_LOCKING, "fast commit": IN_FAST_COMMIT}
"""Below their title alone: other features have time-outs, and row caches checkpoints of their own, too."""
NO_TIMEOUT = re.compile(r"(?i)\block (?:wait )?timeout interval is (?:not (?:set|specified)|disabled|none)\b")
ROW_LEVEL = _switched("row_level_locking", "row[- ]level locking")
INSTANCE = re.compile(
    rf"(?i)(?P<before>.*)\b(?P<kind>single|multiple)[- ]instance\b(?: mode| optimi[sz]ations?){{0,2}}(?: {SWITCH})?"
)
FANOUT = re.compile(r"(?i)\bfanout factor [0-9]{1,2} is [0-9]{1,6}\b")
NODES_WARNED = re.compile(r"(?i)\bmaximum node count is (?P<value>[0-9]{1,4}) instead of 1\b")
SILENT = re.compile(
    r"(?i)(?:sweep interval is [0-9]|default cache file directory is|access restricted to privileged users"
    r"|created at\s{1,3}[0-9]|no (?:row )?cache (?:is )?associated"
    r"|database close mode is|database will be mapped in|all transaction modes are allowed"
    r"|operator notification is|reserved storage area count is|maximum pages per buffer is"
    r"|default recovery buffer count is|(?:detected )?async(?:hronous)? (?:pre-?fetch|batch-write)s? (?:is|are)"
    r"|backup server startup is (?:manual|automatic)|shutdown time is [0-9]|database is not currently being replicated"
    r"|auditing is (?:enabled|disabled)|no lock (?:wait )?timeout interval\.?$"
    r"|maximum pre-?fetch depth is|pre-?fetch (?:depth|threshold) is|clean buffer count is|maximum batch size is"
    r"|(?:no )?default recovery-unit journal (?:filename|directory)|database is configured for [0-9]{1,5} journals?\b"
    r"|(?:no|[0-9]{1,5}) journals? (?:is|are) currently in use|(?:logical area|reserved journal) count is"
    r"|journal overwrite is|journal ['\"]?[\w$]{1,31}['\"]? is current\s*$"
    r"|filename is \"|access mode is|page (?:format|size) is)"
)
"""Known sentences from which nothing here is judged: their spelling is recalled, so what stands behind is not read."""
AREA = (
    _counted("number", "area id(?: number)?"),
    _switched("page_level_locking", "page[- ]level locking"),
    # SQL prints `Locking is Page Level` (openvms-rdb-more.md 2.4 [V]); how a header words it was not seen
    _of("page_level_locking", r"locking (?:level )?is (?P<value>page|row)\b", lambda level: level.lower() == "page"),
    ROW_LEVEL,
    _of(
        "row_cache",
        rf'(?:row|associated) cache (?:name )?(?:is|used is) (?!{STATES})"?(?P<value>[A-Za-z][\w$ ]{{0,40}}?)"?\s*$',
        str,
    ),
)
CACHE = (
    _counted("slots", r"(?:row )?slot count"),
    _counted("slots", r"(?:cache size|maximum rows?(?: count)?)"),
    _counted("row_bytes", r"(?:maximum )?(?:row|record) (?:length|size)(?: allowed in cache)?"),
)


def single_instance(text: str) -> bool | None:
    """Whether the sentence says that one instance alone opens it; None where it says neither."""
    found = INSTANCE.match(text)
    if not found or DENIED.search(found["before"]) or HEDGED.search(text, found.end()):
        return None
    on = _switch(found["value"]) if found["value"] else True
    if found["kind"].lower() == "single":
        return on
    return False if on else None


def said(text: str, kinds: tuple[Sentence, ...]) -> Iterator[tuple[str, Value]]:
    """What one sentence sets, by field; nothing for a value that is none (`Snapshot mode is PURPLE`)."""
    for kind in kinds:
        if (found := kind.pattern.match(text)) and (value := kind.value(found["value"])) is not None:
            if not (value is True and HEDGED.search(text, found.end())):
                yield kind.field, value
            return
