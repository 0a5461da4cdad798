"""MONITOR recordings, built from what a case says in yml: rates and levels as a DBA reads them, and what is damaged.

A case of `tests/exports/openvms/monitor_recording` has the key `recording`::

    recording:
      name: MONITOR.DAT;1            # how the file is called (default)
      zip: true                      # inside a zip with VMS attributes
      nospan: true                   # no record crosses a block: 0xFFFF in front of the empty rest
      padded: true                   # the last block whole: zeros, or the bytes of `stale` over and over
      stale: 35000700                # hexadecimal
      stripped: true                 # no byte counts, LF behind each record: a transfer as text
      cut: 37                        # so many bytes are missing at the end
      counts: {9: 40000}             # the byte count in front of record 9 is a lie
      patches: {9: {13: ffffffff}}   # record 9 has these bytes at 13
      nodes:
      - node: ORKNEY
        dialect: new                 # or old
        time_at: 8                   # where the new class header has its time: 3, 4 or 8
        boot: 2026-02-27 22:10:00
        begin: 2026-03-02 09:00:00   # of the header and the first records
        end: 2026-03-02 09:02:00
        interval: 60
        comment: month end
        counters:                    # the first records; counters since boot, of LOCK locks and resources as well
          MODES: {0: [ticks of 10 ms: interrupt, MP synch, kernel, exec, super, user, compatibility, idle]}
          LOCK: [new, converted, dequeued, blocking ASTs, waited, not queued, searches, finds, locks, resources]
          DLOCK: [15 counters]
          RLOCK: [7 counters]
        then:                        # one interval each
        - {LOCK: [8 rates per second, locks, resources], MODES: {0: [8 per cent]}}
        - {seconds: 120, LOCK: [...]}
        - transition                 # a node transition record
        - {boot: 2026-03-02 09:05:00, counters: {...}}   # system information again; the counters now
        - {class: 3, bytes: 80}      # a record of another class
        - {type: 200, bytes: 31}     # a record that is no class

`begin: null` leaves a time of the header 0; `node: null` leaves the system information out.
"""

import io
import struct
import zipfile
from collections.abc import Iterator
from datetime import datetime, timedelta
from typing import Any

VMS_EPOCH = datetime(1858, 11, 17)  # noqa: DTZ001  # VMS time has no zone
LEVELS_OF_LOCK = (8, 9)
CLASS_TYPES = {"MODES": 2, "LOCK": 7, "DLOCK": 14, "RLOCK": 26}
VMS_ATTRIBUTES = b"\x0c\x00\x08\x00" + bytes(8)
"""A field PKVMS of a zip; nobody here reads what is in it."""


def vms_time(when: datetime | None) -> bytes:
    """Eight bytes: 100 ns since 17-NOV-1858; 0 for none."""
    return struct.pack("<Q", (when - VMS_EPOCH) // timedelta(microseconds=1) * 10 if when else 0)


def file_header(said: dict[str, Any]) -> bytes:
    """Record type 128, as openvms-formats.md b.4 recalls it: 259 bytes."""
    comment = (said.get("comment") or "").encode("latin-1")
    record = bytes([128]) + bytes(4) + vms_time(said["begin"]) + vms_time(said["end"])
    record += struct.pack("<I", said.get("interval", 60)) + bytes(16) + bytes(4) + b"MON30001"
    record += comment.ljust(60)[:60] + struct.pack("<H", len(comment)) + bytes(16) + bytes(128)
    assert len(record) == 259
    return record


def system_information(node: str, boot: datetime | None, cpus: int) -> bytes:
    """Record type 129: boot time, processes, CPUs, name."""
    name = bytes([len(node)]) + node.encode().ljust(15, b"\0")
    return bytes([129]) + vms_time(boot) + struct.pack("<HB", 400, cpus) + name + bytes(12)


class Node:
    """One recording: state of the counters, and the records they give."""

    def __init__(self, said: dict[str, Any]) -> None:
        self.said = said
        self.old = said.get("dialect", "old") == "old"
        self.now: datetime = said["begin"] or said["starts"]
        self.counters: dict[str, Any] = said.get("counters", {})

    def records(self) -> Iterator[bytes]:
        """Every record in order."""
        yield file_header(self.said)
        if self.said["node"]:
            yield system_information(self.said["node"], self.said.get("boot"), len(self.counters.get("MODES", ())))
        yield bytes([131]) + bytes(20)
        yield from (self.record(name) for name in self.counters)
        for step in self.said.get("then", ()):
            if step == "transition":
                yield bytes([130, 0])
            elif "boot" in step:
                self.counters |= step.get("counters", {})
                yield system_information(self.said["node"], step["boot"], len(self.counters.get("MODES", ())))
            elif "class" in step:
                yield self.class_header(step["class"]) + bytes(step["bytes"])
            elif "type" in step:
                yield bytes([step["type"]]) + b"x" * step["bytes"]
            else:
                yield from self.interval(step)

    def interval(self, step: dict[str, Any]) -> Iterator[bytes]:
        """Time passes, counters grow."""
        seconds = step.get("seconds", self.said.get("interval", 60))
        self.now += timedelta(seconds=step.get("clock", seconds))
        for name, rates in step.items():
            if name == "MODES":
                for cpu, percents in rates.items():
                    ticks = [round(percent * seconds) for percent in percents]  # per cent of 100 ticks a second
                    self.counters[name][cpu] = grown(self.counters[name][cpu], ticks)
            elif name in CLASS_TYPES:
                counts = [round(rate * seconds) for rate in rates]
                was = self.counters[name]
                self.counters[name] = grown(was, counts)
                if name == "LOCK":
                    self.counters[name][8:] = rates[8:]
            else:
                continue
            yield self.record(name)

    def class_header(self, kind: int) -> bytes:
        """Thirteen bytes, or sixteen with pads of which nobody knows the place."""
        if self.old:
            return bytes([kind, 0, 0]) + vms_time(self.now) + bytes(2)
        at = self.said.get("time_at", 8)
        return (bytes([kind]) + bytes(at - 1) + vms_time(self.now)).ljust(16, b"\0")

    def record(self, name: str) -> bytes:
        """The record of one class as the counters are now."""
        start, values = self.class_header(CLASS_TYPES[name]), self.counters[name]
        if name != "MODES":
            return start + struct.pack(f"<{len(values)}I", *values)
        blocks = [struct.pack("<B8I" if self.old else "<9I", cpu, *ticks) for cpu, ticks in values.items()]
        return start + struct.pack("<II", len(values), 0) + b"".join(blocks)


def grown(was: list[int], by: list[int]) -> list[int]:
    """Counters of 32 bits."""
    return [(old + more) % 2**32 for old, more in zip(was, by, strict=True)]


def contained(records: list[bytes], said: dict[str, Any]) -> bytes:
    """Records as RMS writes them."""
    file = b""
    for number, data in enumerate(records, said.get("from", 1)):
        for at, patch in said.get("patches", {}).get(number, {}).items():
            new = bytes.fromhex(str(patch))
            data = data[:at] + new + data[at + len(new) :]
        if said.get("stripped"):
            file += data + b"\n"
            continue
        whole = struct.pack("<H", said.get("counts", {}).get(number, len(data))) + data + bytes(len(data) % 2)
        left = 512 - len(file) % 512
        if said.get("nospan") and len(whole) > left:
            file += b"\xff\xff" + bytes(left - 2)
        file += whole
    if said.get("padded"):
        stale = bytes.fromhex(str(said.get("stale", "00")))
        file += (stale * 512)[: -len(file) % 512]
    return file


def build(said: dict[str, Any]) -> bytes:
    """The file of a case."""
    file, count = b"", 0
    for one in said["nodes"]:
        records = list(Node(one).records())
        file += contained(records, {**said, "from": count + 1})
        count += len(records)
    file = file[: len(file) - said.get("cut", 0)]
    return zipped(said.get("name", "MONITOR.DAT"), file) if said.get("zip") else file


def zipped(name: str, file: bytes) -> bytes:
    """A zip as -V makes it on OpenVMS: the bytes as they stand on the disk, the attributes beside."""
    target = io.BytesIO()
    with zipfile.ZipFile(target, "w", zipfile.ZIP_DEFLATED) as archive:
        member = zipfile.ZipInfo(name)
        member.create_system, member.extra = 2, VMS_ATTRIBUTES
        archive.writestr(member, file)
    return target.getvalue()
