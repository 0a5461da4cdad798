"""The what-if of the lock tables: what was asked, prefilled from the capture, and what the law of hashing answers.

Nothing is scripted here: the finding of the audit has the script, with AUTOGEN and its undo.
"""

from collections.abc import Mapping
from dataclasses import dataclass

from advisor.audits.models import Audit
from advisor.openvms.services.hash_tables import (
    Levels,
    LockIds,
    Table,
    doublings,
    lock_ids_of,
    table_of,
)
from advisor.openvms.services.rule_verdicts import RuleVerdicts, rule_verdicts_of
from collectors.facts import Facts
from collectors.facts.openvms import LockDatabase, MemoryUse
from rules.changes.openvms_sysgen import PARAMETERS
from rules.finding import Untrusted
from rules.laws.hashing import PROVEN, next_power_of_two
from rules.openvms._evidence import memory
from rules.openvms._evidence.node import level_of, parameter_of
from rules.openvms.resource_hash_table_undersized import Limits

HASH_RULE, LOCK_ID_RULE = "openvms/resource_hash_table_undersized", "openvms/lock_id_table_small"
HASH, LOCK_ID = PARAMETERS["RESHASHTBL"], PARAMETERS["LOCKIDTBL"]
MOST = 1_000_000_000
"""Resources or locks that may be typed; this project's bound, far above what a node holds."""
MOST_GROWTH = 300
"""Per cent of growth that may be typed: the rule's own limit goes up to four times the peak."""
LONGEST = 24
"""Characters of a number that is typed."""
UNPROVEN = (
    f"Whether more than {PROVEN:,} buckets help is unproven: the published description of the hash has 16 bits. "
    "Figures beyond are what the law gives if all buckets are used."
)


@dataclass(frozen=True)
class Field:
    """One field of the form."""

    name: str
    label: str
    low: int
    high: int
    typed: str
    """As typed, or prefilled."""
    where: str
    """What it is prefilled from; empty where the capture has nothing."""
    value: int | None
    """`None` where nothing is there, or nothing that can be used."""
    error: str = ""

    @property
    def may_be(self) -> str:
        """The range in words."""
        return f"a whole number from {self.low:,} to {self.high:,}"


@dataclass(frozen=True)
class Memory:
    """What SHOW MEMORY says is free, MB."""

    free_mb: float


@dataclass(frozen=True)
class Answer:
    """The form and what it gives."""

    fields: Mapping[str, Field]
    levels: Levels | None
    now: Table | None
    asked: Table | None
    steps: tuple[Table, ...]
    ids_now: LockIds | None
    ids_asked: LockIds | None
    free: Memory | None
    chain_limit: float
    """Mean chain from which on the rule calls the table undersized."""
    said: tuple[RuleVerdicts, ...]
    remarks: tuple[str, ...]
    """What of the capture cannot be believed."""
    bring: tuple[str, ...]

    @property
    def more_mb(self) -> float | None:
        """Memory of the table asked for beyond that of now, lock ID table included where both are known."""
        if self.now is None or self.asked is None:
            return None
        more = self.asked.memory_mb - self.now.memory_mb
        if self.ids_now is not None and self.ids_asked is not None:
            more += self.ids_asked.memory_mb - self.ids_now.memory_mb
        return more


def answer(facts: Facts, audit: Audit, given: Mapping[str, str]) -> Answer:
    """Answer what was typed (`given`: fields by name); a field that is not in `given` is prefilled."""
    said = rule_verdicts_of(audit, (HASH_RULE, LOCK_ID_RULE))
    limits = _Limits(audit)
    read = _read(facts)
    fields = _fields(read, limits, said, given)
    number = {name: one.value for name, one in fields.items()}
    peak, growth = number["resources"], number["growth"]
    levels = None
    if peak is not None and growth is not None:
        levels = Levels(float(peak), peak * (1 + growth / 100), _float(number["mean"]))
    locks = number["locks"]
    grown = None if locks is None or growth is None else locks * (1 + growth / 100)
    return Answer(
        fields=fields,
        levels=levels,
        now=_table(number["now"], levels),
        asked=_table(number["reshashtbl"], levels),
        steps=tuple(doublings(levels)) if levels else (),
        ids_now=_ids(number["lockidnow"], grown),
        ids_asked=_ids(number["lockidtbl"], grown),
        free=free_memory(facts),
        chain_limit=limits.mean_chain,
        said=tuple(said),
        remarks=(*read.remarks, *_odd(levels)),
        bring=read.bring + (() if free_memory(facts) else (MemoryUse.COLLECTED_BY,)),
    )


class _Limits:
    """The limits this audit was judged by."""

    def __init__(self, audit: Audit) -> None:
        own = Limits()
        self.mean_chain = float(audit.limits.get(f"{HASH_RULE}.mean_chain", own.mean_chain))
        self.growth = float(audit.limits.get(f"{HASH_RULE}.growth", own.growth))


@dataclass(frozen=True)
class _Read:
    """What the capture has."""

    figures: Mapping[str, tuple[float, str]]
    """By field: the figure and where it was read."""
    remarks: tuple[str, ...]
    bring: tuple[str, ...]


def _read(facts: Facts) -> _Read:
    figures: dict[str, tuple[float, str]] = {}
    remarks: list[str] = []
    bring: list[str] = []
    for name, mean in (("resources", "mean"), ("locks", "")):
        level = level_of(facts, name)
        if isinstance(level, tuple):
            peak, usual, source = level
            figures[name] = (peak, f"highest level, {source}")
            if usual is not None and mean:
                figures[mean] = (usual, "mean of the capture")
        else:
            remarks += [level.why] if isinstance(level, Untrusted) else []
            bring.append(LockDatabase.COLLECTED_BY)
    for name, parameter in (("now", HASH), ("lockidnow", LOCK_ID)):
        setting = parameter_of(facts, parameter.name, parameter.low, parameter.high)
        if isinstance(setting, tuple):
            figures[name] = (setting[0], str(setting[1].source))
        else:
            remarks += [setting.why] if isinstance(setting, Untrusted) else []
            bring.append(f"MCR SYSGEN SHOW {parameter.name}")
    return _Read(figures, tuple(remarks), tuple(dict.fromkeys(bring)))


def _fields(read: _Read, limits: _Limits, said: list[RuleVerdicts], given: Mapping[str, str]) -> dict[str, Field]:
    """Every field as typed, else as the capture or the audit fills it."""
    figures = dict(read.figures)
    figures["growth"] = (100 * (limits.growth - 1), "the rule's limit")
    for name, now, one in (("reshashtbl", "now", said[0]), ("lockidtbl", "lockidnow", said[1])):
        if one.sets is not None:
            figures[name] = (one.sets, f"what {one.rule} asks for")
        elif now in figures:
            figures[name] = (figures[now][0], "as it is now")
    if "reshashtbl" not in figures and "resources" in figures:
        wanted = min(next_power_of_two(figures["resources"][0] * limits.growth), HASH.high)
        figures["reshashtbl"] = (wanted, "power of two above the resources with growth")
    asked = (
        ("resources", "Resources at the peak", 0, MOST, True),
        ("mean", "Resources on average", 0, MOST, False),
        ("growth", "Growth, %", 0, MOST_GROWTH, True),
        ("now", "RESHASHTBL now", HASH.low, HASH.high, False),
        ("reshashtbl", "RESHASHTBL asked for", HASH.low, HASH.high, True),
        ("locks", "Locks at the peak", 0, MOST, False),
        ("lockidnow", "LOCKIDTBL now", LOCK_ID.low, LOCK_ID.high, False),
        ("lockidtbl", "LOCKIDTBL asked for", LOCK_ID.low, LOCK_ID.high, False),
    )
    return {
        name: _field(name, label, low, high, figures.get(name), given, needed=needed)
        for name, label, low, high, needed in asked
    }


def _field(
    name: str,
    label: str,
    low: int,
    high: int,
    found: tuple[float, str] | None,
    given: Mapping[str, str],
    *,
    needed: bool,
) -> Field:
    where = found[1] if found else ""
    whole = given[name].strip() if name in given else f"{found[0]:.0f}" if found else ""
    typed = whole[: LONGEST + 1]
    digits = typed.replace(",", "")
    wanted = f"a whole number from {low:,} to {high:,} is wanted"
    if not digits:
        missing = needed and bool(given)
        return Field(name, label, low, high, typed, where, None, wanted if missing else "")
    if len(typed) > LONGEST or not digits.isascii() or not digits.isdigit() or not low <= int(digits) <= high:
        return Field(name, label, low, high, typed, where, None, wanted)
    return Field(name, label, low, high, typed, where, int(digits))


def free_memory(facts: Facts) -> Memory | None:
    """Free main memory by SHOW MEMORY; `None` where it was not brought or cannot be believed."""
    free = memory.free_memory(facts)
    return Memory(free.mb) if free else None


def _odd(levels: Levels | None) -> tuple[str, ...]:
    if levels is None or levels.mean is None or levels.mean <= levels.peak:
        return ()
    return (f"On average {levels.mean:,.0f} resources are more than at the peak, {levels.peak:,.0f}: check both.",)


def _table(entries: int | None, levels: Levels | None) -> Table | None:
    return None if entries is None or levels is None else table_of(entries, levels)


def _ids(entries: int | None, locks: float | None) -> LockIds | None:
    return None if entries is None or locks is None else lock_ids_of(entries, locks)


def _float(value: int | None) -> float | None:
    return None if value is None else float(value)
