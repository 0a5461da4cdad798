"""Collectors are registered by being there, each under a name of its own."""

from dataclasses import dataclass
from pathlib import Path

import pytest

from collectors.live import registry
from collectors.live.registry import CollectorFailed, Target, register, registered


@dataclass(frozen=True)
class Invented:
    """A collector that writes one line."""

    name: str
    title: str = "an invented one"
    products: tuple[str, ...] = ("ase",)

    def collect(self, target: Target, folder: Path, seconds: float) -> None:
        (folder / "one.txt").write_text(f"{target.system}\n")


@pytest.fixture(autouse=True)
def _own_register(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(registry, "REGISTER", dict(registry.REGISTER))


def test_every_collector_that_is_registered_is_found_in_order_of_name() -> None:
    late, early = register(Invented("zz late")), register(Invented("aa early"))
    assert [one for one in registered() if one in (late, early)] == [early, late]


def test_two_collectors_cannot_have_one_name() -> None:
    one = register(Invented("one"))
    assert register(one) is one
    with pytest.raises(ValueError, match="two collectors are called one"):
        register(Invented("one"))


def test_a_failure_says_what_is_wrong_and_what_to_do() -> None:
    failed = CollectorFailed("the server refuses the login", "give it another password")
    assert str(failed) == "the server refuses the login: give it another password"
    assert (failed.says, failed.do) == ("the server refuses the login", "give it another password")
