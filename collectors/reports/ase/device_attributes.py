"""How devices are opened (`sp_helpdevice`, its description of each).

As isql prints it, often for one device at a time, and in parts where the line is too narrow::

     device_name physical_name       description
     ----------- ------------------- --------------------------------------------------------------------------
     hold01      /ase/dev/hold01.dat file system device, special, dsync off, directio on, physical disk, 512.00 MB,
     Free: 12.00 MB

* The columns behind the description (`status`, `vpn_low` and others) say where it begins and ends, and are not read.
* A description without `dsync` or `directio` (dump devices, older releases) leaves it not known.
"""

import re
from collections.abc import Iterator

from collectors.facts.ase import DeviceAttributes
from collectors.layouts.tables import Row, Table
from collectors.registry import Report, report
from collectors.tables import Listing

HEADING = re.compile(r"\bdevice_name\W{1,300}physical_name\b", re.IGNORECASE)
SWITCH = re.compile(r"\b(?P<name>dsync|directio) (?P<value>on|off)\b", re.IGNORECASE)
PLACE = re.compile(
    r"\W{0,40}status\W{1,40}cntrltype\b|[\s|]{0,40}\d{1,9}(?:[\s|]{1,40}\d{1,12}){4}[\s|]*$", re.IGNORECASE
)
"""Where a device begins and ends, in a table of its own."""
KIND = re.compile(r"\b(?P<file>file system device\b)|\braw device\b", re.IGNORECASE)


def _device(row: Row, table: Table) -> Iterator[DeviceAttributes]:
    """What a row says of its device; nothing of one that is cut before its description."""
    name, described = row.get("device_name"), row.get("description")
    if name and described:
        said = {found["name"].lower(): found["value"].lower() == "on" for found in SWITCH.finditer(described)}
        kind = KIND.search(described)
        yield DeviceAttributes(
            name=name,
            path=row.get("physical_name"),
            file_system=bool(kind["file"]) if kind else None,
            dsync=said.get("dsync"),
            directio=said.get("directio"),
        )


DEVICES = Listing(
    heading=HEADING,
    row=_device,
    stop=re.compile(rf"\W{{0,40}}(?:{HEADING.pattern})|\s*(?:sp_\w+\b|go\s*$)", re.IGNORECASE),
    remarks=PLACE,
    ours=lambda table: table.has("description"),
    remedy="export it again in full (isql -w 1000)",
)


@report(starts=HEADING, provides=(DeviceAttributes,))
def read(report: Report) -> Iterator[DeviceAttributes]:
    """Yield one fact per device."""
    yield from DEVICES.read(report)
