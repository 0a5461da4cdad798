"""What is configured for a data cache of SAP ASE and waits for a restart, taken back before that.

`sp_cacheconfig` writes what runs into the configuration: nothing is pending afterwards, and no restart is needed. The
keys are those of rules/changes/ase_cache.py: the same setting cannot be taken back and changed in one plan.
"""

from rules.changes.ase_cache import by_hand, cache_key, check_strategy
from rules.changes.out_of_range import OutOfRange
from rules.changes.quoting import Unquotable, batches, comment, tsql_string
from rules.finding import Change, Effect


def take_back_replacement(cache: str, configured: str, running: str) -> Change:
    """Take back a strategy that is configured and waits for a restart: afterwards nothing is pending."""
    check_strategy(cache, configured, running)
    words = (configured.split()[0], running.split()[0])
    return _take_back(cache, "replacement", (configured, running), words, "Config Replacement and Run Replacement")


def take_back_partitions(cache: str, configured: float, running: float) -> Change:
    """Take back a number of partitions that is configured and waits for a restart.

    Raises `OutOfRange` where one of the two cannot be a number of partitions: then the listing was misread.
    """
    for partitions in (configured, running):
        if not 1 <= partitions <= 256 or partitions != int(partitions) or int(partitions) & (int(partitions) - 1):
            raise OutOfRange(f"cache_partition {partitions:g}: a power of two from 1 to 256")
    words = (f'"cache_partition={configured:.0f}"', f'"cache_partition={running:.0f}"')
    return _take_back(cache, "cache_partition", (configured, running), words, "Config Partition and Run Partition")


def _take_back(
    cache: str, what: str, values: tuple[float | str, float | str], words: tuple[str, str], look_at: str
) -> Change:
    """Write what runs into the configuration. The undo only says what was configured: it never ran."""
    key, target, (configured, running) = cache_key(cache, what), f"{comment(cache)}: {what}", map(_plain, values)
    try:
        name = tsql_string(cache)
    except Unquotable:
        return by_hand(key, target, *values)
    show = f"sp_cacheconfig {name}"
    return Change(
        key=key,
        target=target,
        old=values[0],
        new=values[1],
        apply=batches(
            f"-- {comment(cache)}: {configured} is configured, {running} is in force",
            show,
            f"sp_cacheconfig {name}, {words[1]}",
            f"-- no restart: check that {look_at} are both {running}",
            show,
        ),
        undo=(
            f"-- {running} ran and is left as it is. {configured} was configured and had not run: it is not restored",
            f"--   sp_cacheconfig {name}, {words[0]}",
        ),
        takes_effect=Effect.ONLINE,
    )


def _plain(value: float | str) -> str:
    return value if isinstance(value, str) else f"{value:.0f}"
