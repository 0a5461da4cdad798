"""Fill a database with made rows of the real shape, to see how the service behaves when it holds a lot.

Every made name begins with SEED (of people: seed). No seeded person has a password.
"""

import math
import time
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from random import Random

from django.db import transaction

from advisor.accounts.models import Role, Team, User
from advisor.core.records import Refused
from advisor.operations.seeding.shapes import learn
from advisor.operations.seeding.system import MARK, Made
from advisor.systems.models import System

EVERYWHERE = "seed-dba"
"""A DBA of every seeded team; `manage.py changepassword seed-dba` lets somebody in."""
TEAMS = 8
STORIES = {"ase": ("address_lock_storm", "healthy_ledger_server"), "openvms": ("lock_bound_node", "quiet_two_node_day")}
"""Of each product a system that is ill and one that is well."""
MOST_FINDINGS = 200
"""A capture."""


@dataclass(frozen=True)
class Amount:
    """How much to make. Raises `Refused` for what cannot be."""

    systems: int
    captures: int
    findings: int

    def __post_init__(self) -> None:
        if not 1 <= self.systems <= self.captures:
            raise Refused("seed at least one system, and at least one capture for each")
        if not 0 <= self.findings <= self.captures * MOST_FINDINGS:
            raise Refused(f"seed from 0 to {MOST_FINDINGS} findings for each capture")


def seed(amount: Amount, *, add: bool = False, on_progress: Callable[[str], None] = lambda text: None) -> Counter[str]:
    """Make systems with captures, audits and findings; gives how many rows of each kind were made.

    `hear` is told how far it is. Raises `Refused` where there are systems already, unless `add`.
    """
    if not add and System.objects.exists():
        raise Refused("there are systems in this database already; --add puts made ones beside them")
    stories = {product: (learn(ill), learn(well)) for product, (ill, well) in STORIES.items()}
    first = System.objects.filter(key__startswith=MARK).count() + 1
    teams = _teams(min(TEAMS, amount.systems))
    made: Counter[str] = Counter(teams=len(teams))
    findings = _uneven(amount.findings, amount.captures)
    most = math.ceil(amount.findings / amount.captures * 1.5) + 1
    since = time.monotonic()
    for number in range(amount.systems):
        ill, well = stories[tuple(STORIES)[number % len(STORIES)]]
        captures = amount.captures * (number + 1) // amount.systems - amount.captures * number // amount.systems
        one = Made(f"{MARK}{first + number:04d}", teams[number % len(teams)], ill, well, most)
        with transaction.atomic():
            made += one.write([next(findings) for _ in range(captures)])
        if (number + 1) % 20 == 0:
            on_progress(f"{number + 1} systems, {made['findings']:,} findings, {time.monotonic() - since:.0f} s")
    return made


def _teams(count: int) -> list[Team]:
    """Teams with a DBA and a reader each, and one DBA of them all."""
    teams = []
    for number in range(1, count + 1):
        team = Team.objects.get_or_create(name=f"{MARK} team {number:02d}")[0]
        for name, role in (
            (f"seed{number:02d}-dba", Role.DBA),
            (f"seed{number:02d}-viewer", Role.VIEWER),
            (EVERYWHERE, Role.DBA),
        ):
            user = User.objects.filter(username=name).first() or User.objects.create_user(name, role=role)
            user.teams.add(team)
        teams.append(team)
    return teams


def _uneven(whole: int, parts: int) -> Iterator[int]:
    """Split in whole numbers, from a half to one and a half times the mean; together they are the whole."""
    chance = Random(whole)  # noqa: S311 - made data, the same every time
    before = 0
    for at in range(1, parts + 1):
        upto = whole if at == parts else round(whole * (at + chance.uniform(-0.25, 0.25)) / parts)
        yield upto - before
        before = upto
