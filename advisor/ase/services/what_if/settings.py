"""What another spinlock ratio or a larger lock hash table would do: spinlocks, buckets of each, chains, meetings."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace

from advisor.ase.services.what_if.answers import (
    ARITHMETIC,
    NONE,
    Answer,
    Judgement,
    Line,
    contention_line,
    meeting_line,
)
from collectors.facts import Facts, Missing, known
from collectors.facts.ase import LockHashtable
from rules.ase._evidence.objects.descriptors import KINDS, cache_of
from rules.ase._evidence.server import setting_of
from rules.ase._evidence.spinlocks.figures import Figure
from rules.ase._evidence.spinlocks.survey import lock_figure, metadata_figure
from rules.changes.ase_config import PARAMETERS, legal, more_memory
from rules.laws.hashing import mean_chain
from rules.laws.spinlocks import ADDRESS_LOCK_BUCKETS, TABLE_LOCK_BUCKETS, spinlocks

SIZE = "lock hashtable size"
CHAINS = "ase/lock_hash_chains_long"
RESTART, ONLINE = "Static: takes effect at the next restart.", "Dynamic: takes effect at once."


@dataclass(frozen=True)
class Ratio:
    """One ratio that can be asked about."""

    parameter: str
    rule: str
    label: str
    guards: str
    """What one spinlock guards so many of."""
    figure: str
    """Lock hash table or metadata spinlock by which its contention is known."""
    kind: str = ""
    """Kind of descriptor, for metadata."""


RATIOS: Mapping[str, Ratio] = {
    "address": Ratio(
        "lock address spinlock ratio", "ase/address_lock_spinlock_contended", "Address locks", "buckets", "address"
    ),
    "lock": Ratio(
        "lock spinlock ratio", "ase/lock_hash_spinlock_contended", "Page and row locks", "buckets", "page and row"
    ),
    "table": Ratio("lock table spinlock ratio", "ase/table_lock_spinlock_contended", "Table locks", "buckets", "table"),
    "object": Ratio(
        "open object spinlock ratio",
        "ase/object_descriptor_spinlock_contended",
        "Object descriptors",
        "descriptors",
        "Object",
        "object",
    ),
    "index": Ratio(
        "open index spinlock ratio",
        "ase/index_descriptor_spinlock_contended",
        "Index descriptors",
        "descriptors",
        "Index",
        "index",
    ),
    "index_hash": Ratio(
        "open index hash spinlock ratio",
        "ase/index_hash_spinlock_contended",
        "Index hash tables",
        "hash tables",
        "Index Hash",
        "hash",
    ),
    "partition": Ratio(
        "partition spinlock ratio",
        "ase/partition_descriptor_spinlock_contended",
        "Partition descriptors",
        "descriptors",
        "Partition",
        "partition",
    ),
}
"""By the name of their field in the form."""


def running(facts: Facts, parameter: str) -> float | None:
    """The value in force; `None` where the export has none that a server can run with."""
    setting = setting_of(facts, parameter)
    value = setting.run_number if setting else None
    return value if value is not None and value >= 1 else None


def guarded(facts: Facts, field: str) -> tuple[float | None, str]:
    """How many buckets or descriptors there are now, and what brings that where it is not in the export."""
    if field == "address":
        return ADDRESS_LOCK_BUCKETS, ""
    if field == "table":
        return TABLE_LOCK_BUCKETS, ""
    if field == "lock":
        return running(facts, SIZE), f'sp_configure "{SIZE}"'
    kind = RATIOS[field].kind
    if kind not in KINDS:
        return None, ""
    cache = cache_of(facts, kind)
    number = KINDS[kind].number
    counted = cache.configured if cache and cache.configured and cache.configured >= 1 else running(facts, number)
    return counted, f'sp_configure "{number}"'


def range_of(parameter: str) -> str:
    """What the server takes, in words."""
    one = PARAMETERS[parameter]
    return f"{one.low:,.0f} to {one.high:,.0f}" + (", a power of two" if one.power_of_two else "")


def ratio_answer(facts: Facts, field: str, new: int, size: int | None, judged: Judgement) -> Answer:
    """What this ratio would do; `size`: a lock hash table of another size, asked for with it."""
    one = RATIOS[field]
    now = running(facts, one.parameter)
    answer = Answer(
        one.parameter,
        f"{'not in the export' if now is None else f'{now:,.0f}'} → {new:,}",
        said=judged.said(one.rule, f"ase.config:{one.parameter}", ""),
    )
    if not legal(one.parameter, new):
        return replace(answer, refused=f"The server takes {range_of(one.parameter)}.")
    count, bring = guarded(facts, field)
    then_count = float(size) if field == "lock" and size else count
    setting = setting_of(facts, one.parameter)
    said = "More spinlocks take a little memory; the export does not say how much."
    if setting and now is not None and setting.memory_counted and known(setting.memory_used_kb):
        said = f"Memory Used is {setting.memory_used_kb:,.0f} KB at {now:,.0f}; each further spinlock takes a little."
    cannot, brings = [], []
    if now is None:
        cannot.append("The ratio in force is not in the export.")
        brings.append(f'sp_configure "{one.parameter}"')
    if then_count is None:
        cannot.append(
            f"How many {one.guards} there are is not in the export, so the spinlocks cannot be counted."
            if bring
            else "How many hash tables of indexes there are is in no export, so their spinlocks cannot be counted."
        )
        brings += [bring] if bring else []
    return replace(
        answer,
        lines=tuple(_ratio_lines(facts, one, now, new, count, then_count)),
        effect=RESTART if PARAMETERS[one.parameter].static else ONLINE,
        memory_said=said,
        cannot=tuple(cannot),
        bring=tuple(brings),
    )


def _ratio_lines(
    facts: Facts, one: Ratio, now: float | None, new: int, count: float | None, then_count: float | None
) -> Iterator[Line]:
    if then_count is None:
        return
    after = spinlocks(then_count, new)
    before = spinlocks(count, now) if now is not None and count is not None else None
    how = f"{then_count:,.0f} {one.guards} by {new:,}, rounded up"
    yield Line("spinlocks", before, after, "", ARITHMETIC, how)
    held = None if now is None or count is None else min(now, count)
    yield Line(f"{one.guards} a spinlock guards", held, min(new, then_count), "", ARITHMETIC, "the ratio itself")
    if before is None:
        return
    yield meeting_line(before, after)
    percent, source = contention_of(facts, one)
    yield contention_line("grabs that wait", percent, before, after, source)


def contention_of(facts: Facts, one: Ratio) -> tuple[float | None, str]:
    """How contended it is now, per cent, and where that is from."""
    figure = metadata_figure(facts, one.figure, one.label) if one.kind else lock_figure(facts, one.figure)
    if not isinstance(figure, Figure):
        return None, getattr(figure, "why", "") or "not in the export"
    if isinstance(figure.contention, Missing):
        return None, figure.contention.value
    if not 0 <= figure.contention <= 100:
        return None, f"{figure.contention:g} % cannot be a share of grabs"
    return figure.contention, f"monSpinlockActivity, {figure.lock.when}" if figure.lock else "sp_sysmon"


def size_answer(facts: Facts, new: int, ratio: int | None, judged: Judgement) -> Answer:
    """What a lock hash table of this size would do; `ratio`: another ratio asked for with it."""
    now = running(facts, SIZE)
    asked = f"{'not in the export' if now is None else f'{now:,.0f}'} → {new:,}"
    said = judged.said(CHAINS, f"ase.config:{SIZE}", "")
    if not legal(SIZE, new):
        return Answer(SIZE, asked, f"The server takes {range_of(SIZE)}.", said=said)
    bring, cannot = [], []
    if now is None:
        cannot.append("The size in force is not in the export.")
        bring.append(f'sp_configure "{SIZE}"')
    table = facts.latest(LockHashtable, table="page and row")
    chain = table.chain_length if table and known(table.chain_length) and table.chain_length >= 0 else None
    if chain is None:
        cannot.append("How long the chains are is not in the export.")
        bring.append('sp_sysmon "00:10:00" -- with its Lock Management section')
    memory_mb, memory_said = (None, "")
    if now is not None:
        taken, memory_said = more_memory(setting_of(facts, SIZE), now, new)
        memory_mb = taken if taken or new == now else None
    return Answer(
        SIZE,
        asked,
        lines=tuple(_size_lines(facts, now, new, chain, ratio)),
        effect=RESTART,
        memory_mb=memory_mb,
        memory_said=memory_said,
        remarks=("At the same lock spinlock ratio a larger table has more spinlocks, too.",) if not ratio else (),
        cannot=tuple(cannot),
        bring=tuple(bring),
        said=said,
    )


def _size_lines(facts: Facts, now: float | None, new: int, chain: float | None, ratio: int | None) -> Iterator[Line]:
    if now is not None and chain is not None:
        held = chain * now
        how = f"about {held:,.0f} locks held at the sample, over the buckets"
        yield Line("mean chain of a bucket", chain, round(mean_chain(held, new), 3), "locks", ARITHMETIC, how)
    else:
        yield Line("mean chain of a bucket", chain, None, "locks", NONE, "chain or size now are not in the export")
    in_force = running(facts, RATIOS["lock"].parameter)
    then = ratio or in_force
    if in_force is None or then is None or now is None:
        return
    before, after = spinlocks(now, in_force), spinlocks(new, then)
    yield Line("spinlocks", before, after, "", ARITHMETIC, f"{new:,} buckets by {then:,.0f}, rounded up")
    if not ratio:
        yield meeting_line(before, after)
        percent, source = contention_of(facts, RATIOS["lock"])
        yield contention_line("grabs that wait", percent, before, after, source)
