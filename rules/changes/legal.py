"""Which numbers a setting takes, by the key of its change: the last look before a script is printed.

The modules of the changes check what the rules compute. What an export itself calls configured, or what a change goes
back to, passes here: a listing that lost a digit says -1 or 4294967290, and no server restarts with that.
"""

import math

from rules.changes.ase_config import LARGEST, PARAMETERS, legal
from rules.changes.openvms_sysgen import PARAMETERS as SYSGEN
from rules.changes.rdb_clauses import CLAUSES
from rules.finding import Change

ASE = ("ase.config", "ase.restart", "ase.pending")
"""Kinds of changes of SAP ASE: of a parameter, or of a cache that was configured already."""


def refusal(change: Change) -> str:
    """Why a value of a change cannot be: the new one, which the system would refuse, or the old one, the way back.

    Nothing where both can be, or where the range of the setting is not known. Of the value in force only the width is
    held against it: releases differ in their minimum.
    """
    return _refused(change, change.new, strictly=True) or _refused(change, change.old, strictly=False)


def _refused(change: Change, value: float | str | None, *, strictly: bool) -> str:
    if isinstance(value, str) or value is None:
        return ""
    if not math.isfinite(value):
        return f"{change.target} {value}: not a number that can be set"
    kind, _, name = change.key.partition(":")
    if kind in ASE and name.startswith("cache "):
        return _of_a_cache(change.target, name.rpartition(":")[2].partition(" on instance ")[0], value)
    if kind in ASE:
        known = PARAMETERS.get(name)
        low, high = (known.low, known.high) if known else (0, LARGEST)
        fits = legal(name, value) if known and strictly else (low if strictly else min(low, 0)) <= value <= high
        power = ", a power of two" if known and known.power_of_two else ""
        return "" if fits else f"{change.target} {value:.15g}: SAP ASE takes {low:.15g} to {high:.15g}{power}"
    sysgen = SYSGEN.get(name.rpartition(":")[2]) if kind == "openvms.sysgen" else None
    if sysgen:
        low = sysgen.low if strictly else min(sysgen.low, 0)
        fits = low <= value <= sysgen.high and value == int(value)
        return "" if fits else f"{change.target} {value:.15g}: SYSGEN takes {sysgen.low} to {sysgen.high}"
    clause = CLAUSES.get(name.rpartition(":")[2]) if kind == "rdb.database" else None
    if clause and not clause.words:
        low = clause.low if strictly else min(clause.low, 0)
        fits = low <= value <= clause.high and value == int(value)
        return "" if fits else f"{change.target} {value:.15g}: Rdb takes {clause.low} to {clause.high}"
    return ""


def _of_a_cache(target: str, what: str, value: float) -> str:
    """Why a cache cannot have this size in MB or this number of partitions; nothing where it can."""
    if what == "cache_partition":
        fits = value == int(value) and 1 <= value <= 256 and not int(value) & (int(value) - 1)
        return "" if fits else f"{target} {value:.15g}: SAP ASE takes a power of two from 1 to 256"
    if what == "size":
        return "" if 0 < value <= LARGEST else f"{target} {value:.15g} MB: no cache has this size"
    return ""
