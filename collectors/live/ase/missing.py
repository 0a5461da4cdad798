"""What a login and a server lack for what is asked, or have too much, and what changes it. Nothing here asks."""

from collections.abc import Mapping
from dataclasses import dataclass

from collectors.live.ase.questions import Question, Release, name_of

COSTS = {
    "enable monitoring": "a few per cent of the processors at most, as practitioners report",
    "enable spinlock monitoring": "about 1 %",
    "wait event timing": "small",
    "object lockwait timing": "small",
    "per object statistics active": "some per cent on very busy servers",
    "enable stmt cache monitoring": "small",
}
GRANT = "sp_role 'grant', {role}, <login> (or: grant role {role} to <login>)"


@dataclass(frozen=True)
class Lack:
    """One thing that is missing, and how to give it."""

    what: str
    how: str


@dataclass(frozen=True)
class Allowed:
    """What the login has and what is switched on; `None`: the server did not say."""

    roles: tuple[str, ...] | None
    switches: Mapping[str, bool] | None

    def has(self, role: str) -> bool:
        """Whether the login has the role; where that is not known, it is tried."""
        return self.roles is None or role in self.roles

    def on(self, switch: str) -> bool:
        """Whether the switch is on; one that is not known counts as on, for then nothing can be said."""
        return self.switches is None or self.switches.get(switch, True)


def why_not(one: Question, release: Release, allowed: Allowed) -> Lack | None:
    """Why a question is not asked; `None`: it is."""
    if release < one.since:
        return Lack(f"there is none before {name_of(one.since)}", "")
    for role in one.needs:
        if not allowed.has(role):
            return Lack(f"the login has no {role}", "")  # `lacks` says once how to grant it
    if off := [switch for switch in one.only if not allowed.on(switch)]:
        return Lack(f"`{off[0]}` is off; it need not be set for this", "")
    return None


def lacks(asked: list[Question], release: Release, allowed: Allowed) -> list[Lack]:
    """Everything that is missing for these questions: roles first, then switches."""
    fit = [one for one in asked if release >= one.since]
    roles = dict.fromkeys(role for one in fit for role in one.needs if not allowed.has(role))
    switches = dict.fromkeys(switch for one in fit for switch in one.switches if not allowed.on(switch))
    found = [
        Lack(f"the login has no {role}: not asked: {_named(fit, role)}", GRANT.format(role=role)) for role in roles
    ]
    for switch in switches:
        empty = ", ".join(one.table for one in fit if switch in one.switches)
        how = f"sp_configure '{switch}', 1 (by a login with sa_role; dynamic; cost: {COSTS[switch]})"
        found.append(Lack(f"`{switch}` is off, so these say nothing: {empty}", how))
    return found


POWERS = {
    "sa_role": "it may change, stop and empty the server, and reads every table of every database",
    "sso_role": "it may give itself any role, and set the password of any login",
}
"""Roles that a login which only reads has no use for, and what they let it do."""


def too_much(allowed: Allowed, *, sysmon: bool) -> list[Lack]:
    """What the login may do beyond reading; `sysmon`: whether sp_sysmon is asked for, which needs sa_role."""
    found = []
    for role in POWERS:
        if allowed.roles is None or role not in allowed.roles:
            continue
        how = f"ask by a login with mon_role alone, or take it back: sp_role 'revoke', {role}, <login>"
        if role == "sa_role" and sysmon:
            how = "sp_sysmon needs it: keep a login of its own for that, and ask by one with mon_role alone otherwise"
        found.append(Lack(f"the login has {role}: {POWERS[role]}", how))
    return found


def _named(asked: list[Question], role: str) -> str:
    return ", ".join(one.name for one in asked if role in one.needs)
