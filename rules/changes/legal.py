"""Which numbers a setting takes, by the key of its change: the last look before a script is printed.

The modules of the changes check what the rules compute. What an export itself calls configured, or what a change goes
back to, passes here: a listing that lost a digit says -1 or 4294967290, and no server restarts with that.
"""

import math

from rules.changes.ase_config import LARGEST, PARAMETERS, legal
from rules.changes.openvms_sysgen import PARAMETERS as SYSGEN
from rules.finding import Change


def refusal(change: Change) -> str:
    """Why the system would refuse the value this change sets; nothing where it would take it, or is not known."""
    value = change.new
    if isinstance(value, str) or value is None:
        return ""
    if not math.isfinite(value):
        return f"{change.target} {value}: not a number that can be set"
    kind, _, name = change.key.partition(":")
    if kind in ("ase.config", "ase.restart"):
        known = PARAMETERS.get(name)
        low, high = (known.low, known.high) if known else (0, LARGEST)
        if (not legal(name, value)) if known else not (low <= value <= high):
            power = ", a power of two" if known and known.power_of_two else ""
            return f"{change.target} {value:.15g}: SAP ASE takes {low:.15g} to {high:.15g}{power}"
    if kind == "openvms.sysgen" and name in SYSGEN:
        sysgen = SYSGEN[name]
        if not (sysgen.low <= value <= sysgen.high and value == int(value)):
            return f"{change.target} {value:.15g}: SYSGEN takes {sysgen.low} to {sysgen.high}"
    return ""
