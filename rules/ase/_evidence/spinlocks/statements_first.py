"""Whether what takes the spinlock of the procedure cache of SAP ASE is the statement cache, which fills and empties it.

Each statement that is kept takes its memory from the procedure cache, and each that is thrown out gives it back: while
statements that differ in literals alone do so without end, `Resource->rproccache_spin` is taken for them.
"""

from collectors.facts import Facts, known
from rules.ase._evidence.server import busy_of, setting_of
from rules.ase._evidence.spinlocks.figures import Figure, figure_of
from rules.ase._evidence.spinlocks.monitored import PROCEDURE_CACHE, STATEMENT_CACHE
from rules.ase._evidence.spinlocks.named import Dear, quiet_of
from rules.ase._evidence.statement_cache import HIT_PERCENT, literal_autoparam, searches_of, thrown_out

MANY = 2.0
"""This project: so many times the engines that run as may come divide their reserve, which is a cause of its own."""


def statements_first(facts: Facts, dear: Dear) -> bool:
    """Whether literal autoparam is to be tried before anything is done about the procedure cache's spinlock.

    The statement cache's own spinlock is contended and spins more, statements are thrown out and hardly found again,
    and no `max online engines` far over what runs leaves each engine a small reserve.
    """
    own, other = (figure_of(facts, name, name, "", sysmon=False) for name in (STATEMENT_CACHE, PROCEDURE_CACHE))
    if not isinstance(own, Figure) or not isinstance(other, Figure) or (own.weight or 0.0) <= (other.weight or 0.0):
        return False
    most, (online, _) = setting_of(facts, "max online engines"), busy_of(facts)
    if most and most.run_number and online and most.run_number >= MANY * online:
        return False
    thrown, searches = thrown_out(facts), searches_of(facts)
    if quiet_of(facts, dear, own) or searches is None or searches.percent >= HIT_PERCENT:
        return False
    return bool(thrown and known(thrown.value) and thrown.value > 0 and any(literal_autoparam(facts)))
