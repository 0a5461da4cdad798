"""CLAIMS1 of the story `address_lock_storm` on several days: as it was, and after its address locks were spread."""

import io

from advisor.audits.models import Capture
from advisor.systems.models import System
from advisor.uploads.services.uploads import Brought, ingest
from tests.advisor.people import STORIES, People

AS_IT_WAS = (300.0, 307.0, 311.0)
"""Committed transactions per second on three days."""
SPREAD = (420.0, 431.0, 437.0)
SETTING = "lock address spinlock ratio            100           0          100          100"
ADVISED = "lock address spinlock ratio            100           0            5            5"


def exports(day: int, xacts: float, *, spread: bool) -> dict[str, str]:
    """Its exports of one day; `spread`: with the ratio advised, and hardly any contention."""
    texts = {path.name: path.read_text() for path in sorted((STORIES / "address_lock_storm").glob("*.txt"))}
    texts["sysmon.txt"] = (
        texts["sysmon.txt"]
        .replace("Feb 11, 2026", f"Feb {11 + day}, 2026")
        .replace("307.0           n/a      184200", f"{xacts:.1f}           n/a      {xacts * 600:6.0f}")
    )
    if spread:
        texts["sysmon.txt"] = texts["sysmon.txt"].replace("52.3 %", " 2.1 %")
        texts["config.txt"] = texts["config.txt"].replace(SETTING, ADVISED)
    return texts


def bring(people: People, days: range, *, spread: bool) -> None:
    """Bring the exports of these days, one upload a day; it is read when the transaction is through."""
    figures = SPREAD if spread else AS_IT_WAS
    for n, day in enumerate(days):
        texts = exports(day, figures[n], spread=spread)
        ingest([Brought(name, io.BytesIO(text.encode())) for name, text in texts.items()], people.team, people.owner)


def captures(name: str = "CLAIMS1") -> list[Capture]:
    """The captures of a system, oldest first."""
    return list(System.objects.get(name=name).captures.order_by("taken", "id"))


def asked(before: list[Capture], after: list[Capture]) -> str:
    """What an address asks for."""
    return "&".join([*(f"before={one.pk}" for one in before), *(f"after={one.pk}" for one in after)])
