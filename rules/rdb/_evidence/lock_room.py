"""Whether a system has room for more locks: LOCKIDTBL, RESHASHTBL, and ENQLM of the users.

LOCKIDTBL is what the table of locks begins with and grows by, and no limit (wiki.vmssoftware.com/LOCKIDTBL). ENQLM is
one, but from OpenVMS V7.1 on 32,767 in SYSUAF stands for none (OpenVMS System Manager's Manual, Enqueue Quota). How
many locks more a change makes no source tells.
"""

from dataclasses import dataclass, field

from collectors.facts import Facts, known
from collectors.facts.openvms import LockDatabase, UserQuota
from rules.changes.quoting import comment
from rules.finding import enumerated
from rules.openvms._evidence.node import parameter_of

TABLES = {"LOCKIDTBL": "locks", "RESHASHTBL": "resources"}
TWICE = 2.0
"""This project: a table that holds twice of what there is has room for a change that takes more locks."""
NO_LIMIT = 32_767.0
"""ENQLM that stands for the most that the architecture allows, from V7.1 on."""


@dataclass(frozen=True)
class Room:
    """What is to be raised for more locks, what is to be looked at, and what is ample."""

    short: list[str] = field(default_factory=list)
    unsure: list[str] = field(default_factory=list)
    """Tables whose size was read, but not what is in them."""
    ample: list[str] = field(default_factory=list)

    @property
    def first(self) -> str:
        """What comes before a change that takes more locks, as a clause; empty where all of it is ample."""
        see = f"see that MONITOR LOCK shows less than half of {enumerated(self.unsure)}" if self.unsure else ""
        return " and ".join(one for one in (f"raise {enumerated(self.short)}" if self.short else "", see) if one)

    @property
    def condition(self) -> str:
        """The same as a condition."""
        ready = [f"{enumerated(self.short)} have been raised for more locks" if len(self.short) > 1 else ""]
        ready += [f"{self.short[0]} has been raised for more locks" if len(self.short) == 1 else ""]
        ready += [f"MONITOR LOCK shows less than half of {enumerated(self.unsure)}" if self.unsure else ""]
        return f"when {' and '.join(one for one in ready if one) or 'memory has room for more locks'}"

    @property
    def enough(self) -> str:
        """What needs no raising, as a clause behind a semicolon; empty where nothing is known to be ample."""
        return f"; {enumerated(self.ample)}" if self.ample else ""


def room_of(facts: Facts) -> Room:
    """What these exports tell. Declares `NODE_FACTS`; a rule need not declare `UserQuota` for it."""
    room = Room()
    for name, what in TABLES.items():
        read = parameter_of(facts, name, 1, 1e9)
        if not isinstance(read, tuple):
            room.short.append(name)
            continue
        value = read[0]
        there = max((level for one in facts.every(LockDatabase) if known(level := getattr(one, what))), default=None)
        if there is None:
            room.unsure.append(f"{name} ({value:,.0f})")
        elif value < TWICE * there:
            room.short.append(f"{name} ({value:,.0f} for {there:,.0f} {what})")
        else:
            room.ample.append(f"{name} ({value:,.0f}) is ample for {there:,.0f} {what}")
    users = {one.user: one.enqueue_limit for one in facts.also(UserQuota).every(UserQuota)}
    read_limits = {user: limit for user, limit in users.items() if known(limit)}
    if read_limits and all(limit >= NO_LIMIT for limit in read_limits.values()):
        user = comment(next(iter(read_limits)), 32) + (" and others" if len(read_limits) > 1 else "")
        room.ample.append(f"ENQLM {NO_LIMIT:,.0f} of {user} is no limit")
    else:
        room.short.append("ENQLM of its users")
    return room
