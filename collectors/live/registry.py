"""What a collector offers, and the registry of all of them.

A collector asks a system itself and writes the exports that the readers of `collectors.reports` read. It is a module
`collectors/live/<name>.py` that calls `register`; its presence there is its registration. Programs that an operator
puts into a folder are collectors too (`collectors.live.program`).
"""

import functools
import importlib
import pkgutil
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Protocol, TypeVar

if TYPE_CHECKING:
    from collectors.live.identity import Identity


@dataclass(frozen=True)
class Target:
    """What is to be collected from."""

    system: str
    product: str
    options: Mapping[str, str] = field(default_factory=dict, repr=False)
    """What a collector wants to know beside the name: an address, an account, a password. Never shown."""
    most_bytes: int = 256 << 20
    """More than this, in all, is not to be written."""
    admit: "Callable[[Identity], None]" = field(default=lambda found: None, repr=False)
    """Is told who answers before anything is kept; raises `OtherServer` where that is not whom it was meant to be."""


class CollectorFailed(Exception):
    """Nothing usable was collected; says what is wrong and what to do."""

    def __init__(self, says: str, do: str, *, again: bool = True) -> None:
        """Take both, each without a full stop. `again`: whether it is worth trying again by itself."""
        super().__init__(f"{says}: {do}")
        self.says, self.do, self.again = says, do, again


class Collector(Protocol):
    """What a collector offers."""

    @property
    def name(self) -> str:
        """Its name in schedules: at most 60 characters, never changed."""

    @property
    def title(self) -> str:
        """What a page calls it."""

    @property
    def products(self) -> tuple[str, ...]:
        """The products it knows (`ase`, `openvms`); empty: any."""

    def collect(self, target: Target, folder: Path, seconds: float) -> None:
        """Write exports into the empty `folder` within `seconds`. Raises `CollectorFailed`."""


C = TypeVar("C", bound=Collector)
REGISTER: dict[str, Collector] = {}


def register(collector: C) -> C:
    """Register a collector. Raises `ValueError` where another one has its name."""
    if REGISTER.setdefault(collector.name, collector) is not collector:
        raise ValueError(f"two collectors are called {collector.name}")
    return collector


@functools.cache
def _found() -> None:
    import collectors.live as package

    for module in pkgutil.iter_modules(package.__path__, "collectors.live."):
        importlib.import_module(module.name)


def registered() -> tuple[Collector, ...]:
    """Every registered collector, by walking the package, in order of name."""
    _found()
    return tuple(REGISTER[name] for name in sorted(REGISTER))
