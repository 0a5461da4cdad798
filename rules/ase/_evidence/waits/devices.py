"""How long the devices of SAP ASE take for a request, by two readings of `monDeviceIO` and of `monIOQueue`.

IOTime is of reads and writes together, so a device is told to be slow only for what it mostly does; where reads and
writes have times of their own, by these. `monIOQueue` has it for each kind of I/O: that of logs is writes but for what
is read back of them, so it tells which device is a log's, and how long its writes take; that of data tells user data
from temporary databases. Where neither was collected, sp_sysmon tells how many reads and writes a device has, and no
time: a busy device may be a fast one.
"""

from dataclasses import dataclass

from collectors.facts import ABSENT, Facts, Missing, known
from collectors.facts.ase import DeviceActivity, MonDeviceIO, MonIOQueue
from rules.changes.quoting import comment
from rules.finding import Evidence, MissingInput

DEVICE_FACTS = (MonDeviceIO, MonIOQueue, DeviceActivity)
"""What a rule that uses this module has to declare."""
MISSING = MissingInput("how long the devices take", MonDeviceIO.COLLECTED_BY)
MISSING_NOW = MissingInput("how long the devices took in this time", MonDeviceIO.COLLECTED_BY)
MISSING_LOG = MissingInput("how long the devices of logs take", MonIOQueue.COLLECTED_BY)
NAMED, SAID = 3, 2
"""Devices that are named; those that a title names."""
MOST_PERCENT = 50.0
"""This project: more than half of all is what "most" says; where work is spread, no device is named for a count."""
PATH = 80
"""Characters of a path that are shown."""
FEW = 10.0
"""This project: requests in the interval below which a mean says nothing of a device."""


@dataclass(frozen=True)
class Device:
    """One device over the interval, or one kind of its I/O."""

    row: MonDeviceIO | MonIOQueue
    requests: float
    mean_milliseconds: float
    kind: str
    """What it mostly does, in words."""

    @property
    def under_way(self) -> float:
        """How many requests are under way on average: their time by that of the interval; 0 where that is not known."""
        return self.requests * self.mean_milliseconds / 1000 / self.row.seconds if self.row.seconds else 0.0

    @property
    def says(self) -> str:
        """Its name with its figures."""
        return f"{comment(self.row.device)} {self.mean_milliseconds:,.1f} ms each ({self.requests:,.0f}, {self.kind})"

    @property
    def evidence(self) -> Evidence:
        """Its mean time."""
        of = f" ({self.kind})" if isinstance(self.row, MonIOQueue) else ""
        return Evidence(
            f"mean time of a request to {self.row.device}{of}", round(self.mean_milliseconds, 1), "ms", self.row.source
        )


def devices_of(facts: Facts, *, writing: bool) -> list[Device]:
    """The devices that took most of the time of logs, or of reads; the longest time first.

    Of logs those that `monIOQueue` has log I/O of; without it, those that mostly write. Of reads those that mostly
    read; where `monDeviceIO` was not collected, those with I/O of data, of which nobody knows how much is read.
    """
    queued = _queued(facts)
    if writing:
        logs = [one for one in queued if isinstance(one.row, MonIOQueue) and one.row.of_log]
        return (logs or _listed(facts, writing=True, queued=[]))[:NAMED]
    if not facts.every(MonDeviceIO):
        return [one for one in queued if isinstance(one.row, MonIOQueue) and not one.row.of_log][:NAMED]
    return _listed(facts, writing=False, queued=queued)[:NAMED]


def log_writers(facts: Facts, writes: float) -> list[Device]:
    """The devices of logs as `devices_of` has them; without `monIOQueue` those that nothing is read from.

    `writes`: of the logs in the interval, of which such a device must have half: a log is hardly read from disk, and
    data are. Where none does, they cannot be told apart.
    """
    found = devices_of(facts, writing=True)
    unread = [one for one in found if isinstance(one.row, MonDeviceIO) and one.row.reads == one.row.apf_reads == 0]
    return unread if unread and 2 * sum(one.requests for one in unread) >= writes else found


def read_devices(facts: Facts) -> list[Device]:
    """The devices of reads as `devices_of` has them; where none mostly reads, those of data that are read, too."""
    return devices_of(facts, writing=False) or [
        one
        for one in data_writers(facts)
        if isinstance(one.row, MonDeviceIO) and known(one.row.reads) and one.row.reads >= FEW
    ]


def slow_for_long(facts: Facts, milliseconds: float, times: float) -> list[Device]:
    """The devices that mostly read, by totals alone, where one of them stands out; else none.

    Totals are of a time that is not known, so the first is named where it took most of the time of all of them and so
    many times as long for a request as the quickest beside it, which is not slow.
    """
    if any(one.of_interval for one in facts.every(MonDeviceIO)):
        return []
    found = _listed(facts, writing=False, queued=[], totals=True)
    whole = sum(one.requests * one.mean_milliseconds for one in found)
    first = found[0] if found and found[0].mean_milliseconds > milliseconds else None
    most = first and 100.0 * first.requests * first.mean_milliseconds > MOST_PERCENT * whole
    return found[:NAMED] if most and much_quicker(found[:NAMED], milliseconds, times) else []


def data_writers(facts: Facts) -> list[Device]:
    """The devices that mostly write and hold no log by `monIOQueue`; the longest time first."""
    queued = _queued(facts)
    logs = {one.row.device for one in queued if isinstance(one.row, MonIOQueue) and one.row.of_log}
    return [one for one in _listed(facts, writing=True, queued=queued) if one.row.device not in logs][:NAMED]


def mostly_written(facts: Facts) -> list[Device]:
    """The devices that mostly write by `monDeviceIO`, whatever is on them."""
    return _listed(facts, writing=True, queued=[])


def slow_readers(facts: Facts, milliseconds: float) -> list[Device]:
    """The devices that mostly read by `monDeviceIO`, on demand rather than ahead, and take longer than that."""
    return [
        one
        for one in _listed(facts, writing=False, queued=_queued(facts))
        if isinstance(one.row, MonDeviceIO)
        and known(one.row.reads)
        and known(one.row.apf_reads)
        and one.row.apf_reads <= one.row.reads
        and one.mean_milliseconds > milliseconds
    ]


def data_devices(facts: Facts) -> list[Device]:
    """Each device with the I/O of data that `monIOQueue` has of it."""
    return [one for one in _queued(facts) if isinstance(one.row, MonIOQueue) and not one.row.of_log]


def _queued(facts: Facts) -> list[Device]:
    """Each kind of I/O of each device, the one that took most time first."""
    found = []
    for row in {
        (one.instance, one.device, one.kind): one for one in facts.every(MonIOQueue) if one.of_interval
    }.values():
        mean = row.mean_milliseconds
        if row.believed and known(row.requests) and row.requests >= FEW and mean is not None and mean >= 0:
            found.append(Device(row, row.requests, mean, comment(row.kind.lower())))
    return sorted(found, key=lambda one: -one.requests * one.mean_milliseconds)


def _listed(facts: Facts, *, writing: bool, queued: list[Device], totals: bool = False) -> list[Device]:
    found = []
    rows = [one for one in facts.every(MonDeviceIO) if one.of_interval is not totals]
    for row in {(one.instance, one.device): one for one in rows}.values():
        requests, mean = row.requests, row.mean_milliseconds
        writes = row.writes if known(row.writes) else 0.0
        mostly_writes = requests is not None and writes > requests / 2
        if apart := row.of_writes if writing else row.of_reads:
            (requests, mean), reads = apart, sum(one for one in (row.reads, row.apf_reads) if known(one))
            mostly_writes = writes > reads
        if not row.believed or requests is None or mean is None or requests < FEW or mean < 0:
            continue
        if mostly_writes is writing:
            kinds = [one for one in queued if one.row.device == row.device and one.row.instance == row.instance]
            of = f", most time in {kinds[0].kind}" if kinds else ""
            found.append(Device(row, requests, mean, f"mostly {'writes' if writing else 'reads'}{of}"))
    return sorted(found, key=lambda one: -one.requests * one.mean_milliseconds)


def slowest(devices: list[Device], milliseconds: float) -> str:
    """The devices that take longer than so many milliseconds, with their times, most time first; else empty."""
    return " and ".join(
        f"{comment(one.row.device)} ({one.mean_milliseconds:,.1f} ms)" for one in _slow(devices, milliseconds)
    )


def path_of(facts: Facts, devices: list[Device], milliseconds: float) -> str:
    """Where the one that takes most time of those that are slow lies, by sp_sysmon, as a clause; else empty."""
    first = next(iter(_slow(devices, milliseconds)), None)
    rows = [one for one in facts.every(DeviceActivity) if first and one.device == first.row.device and one.path]
    return f", which is {comment(rows[-1].path or '', PATH)}" if rows else ""


def besides(devices: list[Device], milliseconds: float) -> str:
    """What the quickest of the others takes, as the end of a clause: the same server and no such time."""
    others = [one for one in devices if one.mean_milliseconds <= milliseconds]
    quick = min(others, key=lambda one: one.mean_milliseconds, default=None)
    if quick is None or not _slow(devices, milliseconds):
        return ""
    return f", where {comment(quick.row.device)} takes {quick.mean_milliseconds:,.1f} ms,"


def much_quicker(devices: list[Device], milliseconds: float, times: float) -> str:
    """The quickest of the others, where the first takes so many times as long and is the only slow one; else empty."""
    others = [one for one in devices if one.mean_milliseconds <= milliseconds]
    quick = min(others, key=lambda one: one.mean_milliseconds, default=None)
    first = devices[0] if devices else None
    if quick is None or first is None or len(others) < len(devices) - 1:
        return ""
    return comment(quick.row.device) if first.mean_milliseconds >= times * quick.mean_milliseconds else ""


def _slow(devices: list[Device], milliseconds: float) -> list[Device]:
    return [one for one in devices if one.mean_milliseconds > milliseconds][:SAID]


def say_devices(devices: list[Device], over: str = "") -> str:
    """As a sentence, with the time of which their counters are; empty without devices."""
    return f"Devices by time taken{over}: {'; '.join(one.says for one in devices)}." if devices else ""


@dataclass(frozen=True)
class Counted:
    """The device that has most of the reads, or writes, of an sp_sysmon sample: a count, and never a time."""

    row: DeviceActivity
    kind: str
    """`reads` or `writes`."""
    count: float
    percent: float
    """Of those of all devices."""

    @property
    def says(self) -> str:
        """A sentence that claims no more than the count."""
        return (
            f"Most {self.kind} are of device {comment(self.row.device)} ({self.percent:.0f} %, {self.count:,.0f} by "
            "sp_sysmon, which counts them and has no times)."
        )

    @property
    def evidence(self) -> Evidence:
        """Its count."""
        return Evidence(f"{self.kind} of {self.row.device} (sp_sysmon)", self.count, "", self.row.source)


def counted_by_sysmon(facts: Facts, *, writing: bool) -> Counted | None:
    """The device with more than half of all reads, prefetch included, or writes.

    `None` where none has, where `monDeviceIO` or `monIOQueue` was collected, where one device alone is listed (it says
    nothing then), or where a device has no count that can be read: its part might be the largest.
    """
    listed = list({one.device: one for one in facts.every(DeviceActivity)}.values())
    if _queued(facts) or facts.every(MonDeviceIO) or len(listed) < 2:
        return None
    counts = []
    for row in listed:
        read = (row.writes,) if writing else (row.reads, row.reads_apf)
        here = [0.0] if row.total == 0 else [one for one in read if known(one)]
        if not here or any(isinstance(one, Missing) and one is not ABSENT for one in read) or min(here) < 0:
            return None
        counts.append((sum(here), row))
    whole, (count, row) = sum(one for one, _ in counts), max(counts, key=lambda one: one[0])
    if count < FEW or 100.0 * count <= MOST_PERCENT * whole:
        return None
    return Counted(row, "writes" if writing else "reads", count, 100.0 * count / whole)
