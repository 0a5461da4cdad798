"""Whether a slow log device has dsync on and directio off where quick sisters have directio (`sp_helpdevice`).

With dsync each write goes through the cache of the file system and waits for the disk behind it; with directio it
passes the cache, "in the same manner as raw devices" (vendor: System Administration Guide). Both are safe. How much
slower dsync is, no source says: so a sister that was measured, and is quick, stands for it.
"""

from dataclasses import dataclass
from posixpath import dirname

from collectors.facts import Facts
from collectors.facts.ase import DeviceAttributes
from rules.ase._evidence.waits.devices import Device, data_devices, data_writers, devices_of
from rules.changes.quoting import comment
from rules.finding import Evidence

RAW_PATHS = ("/dev/", "\\\\.\\")
"""Under which raw devices are named."""


@dataclass(frozen=True)
class WritePath:
    """A slow device with dsync, and the quickest one that was measured with directio."""

    slow: DeviceAttributes
    sister: DeviceAttributes
    milliseconds: float
    """What the sister takes."""

    @property
    def beside(self) -> bool:
        """Whether both are files of one directory, so that hardly anything else can tell them apart."""
        return dirname(self.slow.path) == dirname(self.sister.path) != ""

    @property
    def says(self) -> str:
        """As a clause."""
        other = f"{comment(self.sister.name)} ({self.milliseconds:,.1f} ms)"
        return f"{comment(self.slow.name)} has dsync on and directio off, {other} has directio on"

    @property
    def evidence(self) -> tuple[Evidence, ...]:
        """What is printed of the two."""
        return (
            Evidence(f"{self.slow.name}: dsync on, directio", "off", "", self.slow.source),
            Evidence(f"{self.sister.name}: directio", "on", "", self.sister.source),
        )


def write_path(facts: Facts, slow: Device | None, milliseconds: float) -> WritePath | None:
    """That of the slow device; `None` where it is opened otherwise, or no quick sister is known to have directio.

    `milliseconds`: up to which a device is quick.
    """
    listed = {one.name: one for one in facts.every(DeviceAttributes)}
    own = listed.get(slow.row.device) if slow else None
    if own is None or not own.dsync or own.directio is not False or own.name.lower() == "master" or _is_raw(own):
        return None
    measured = [*data_devices(facts), *data_writers(facts), *devices_of(facts, writing=False)]
    quick = [
        (dirname(other.path) != dirname(own.path), one.mean_milliseconds, other)
        for one in measured
        if one.mean_milliseconds <= milliseconds and (other := listed.get(one.row.device)) and other.directio
    ]
    if not quick:
        return None
    _, mean, sister = min(quick, key=lambda one: one[:2])
    return WritePath(own, sister, mean)


def _is_raw(device: DeviceAttributes) -> bool:
    return device.file_system is False or (device.file_system is None and device.path.startswith(RAW_PATHS))
