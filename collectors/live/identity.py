"""Who a server is: what tells it from another one that answers at the same address."""

from dataclasses import dataclass

from collectors.live.registry import CollectorFailed


@dataclass(frozen=True)
class Identity:
    """What a server says of itself at the beginning of a collection."""

    server: str | None = ""
    """Its name; empty: it has none (`@@servername` is NULL until somebody sets it); `None`: it does not say."""
    version: str = ""
    engines: int | None = None
    """Engines on line; `None`: it does not say."""


class OtherServer(CollectorFailed):
    """Another server answers than the one that was meant: nothing of it is kept."""

    def __init__(self, says: str, do: str, found: Identity, *, again: bool = False) -> None:
        """Take what is wrong, what to do, and who answered."""
        super().__init__(says, do, again=again)
        self.found = found


class Silent(CollectorFailed):
    """A server did not say a word in time; it may be down, or overloaded."""
