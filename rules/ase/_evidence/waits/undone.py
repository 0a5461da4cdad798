"""How little ending a session of SAP ASE undoes, by the locks that it holds at the moment of the export."""

from collectors.facts import Facts
from collectors.facts.ase import HeldLock, MonProcessActivity
from rules.ase._evidence.waits.chains import kind_of_lock, of_last_file

FEW = 10
"""This project: exclusive locks of rows and pages up to which a rollback is short, whatever else the work was."""


def changes_nothing(facts: Facts, spid: int) -> bool:
    """Whether no lock of this session is one of changes: nothing is known to be rolled back with it."""
    own = [one for one in of_last_file(facts.every(HeldLock)) if one.spid == spid]
    return bool(own) and not any(one.lock_type.lower().startswith(("ex", "up")) for one in own)


def few_changes(facts: Facts, spid: int) -> int | None:
    """How many exclusive locks of rows and pages it holds, where these are few and none is of a table; else `None`.

    Also `None` where no intent lock is listed, which every change takes: the listing may be of blocking locks alone.
    """
    kinds = [kind_of_lock(one) for one in _held(facts, spid)]
    changes = [one for one in kinds if one.startswith("ex") and "intent" not in one]
    if not changes or len(changes) > FEW or any("table" in one for one in changes):
        return None
    if not any("intent" in one for one in kinds):
        return None
    return len(changes)


def all_listed(facts: Facts, spid: int) -> int | None:
    """How many locks it holds, where monProcessActivity counts as many as are listed; else `None`.

    A question may ask for the locks of one table alone.
    """
    own, counted = _held(facts, spid), facts.latest(MonProcessActivity, spid=spid)
    return len(own) if counted and counted.locks_held == len(own) > 0 else None


def _held(facts: Facts, spid: int) -> list[HeldLock]:
    """The locks that a session has, without those that it waits for."""
    return [one for one in of_last_file(facts.every(HeldLock)) if one.spid == spid and not one.waiting]
