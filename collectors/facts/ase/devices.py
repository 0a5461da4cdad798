"""How database devices of SAP ASE are opened."""

from dataclasses import dataclass
from typing import ClassVar

from collectors.facts.base import Fact


@dataclass(frozen=True, kw_only=True)
class DeviceAttributes(Fact):
    """One device of `sp_helpdevice`: whether writes go to the disk at once, and whether they pass the file system."""

    COLLECTED_BY: ClassVar[str] = "sp_helpdevice"

    name: str
    path: str
    file_system: bool | None = None
    """Whether it is a file; on a raw device dsync and directio are ignored. `None`: not printed."""
    dsync: bool | None = None
    """Whether each write waits for the disk behind the cache of the file system; `None`: not printed."""
    directio: bool | None = None
    """Whether the cache of the file system is passed by; `None`: not printed, as before 15.0."""
