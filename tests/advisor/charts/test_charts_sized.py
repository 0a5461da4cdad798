"""A picture for several widths: each at its own size, so that no text is scaled, and the classes that show one."""

from xml.etree import ElementTree as ET

from markupsafe import Markup

from advisor.charts.cpus import CoreBox, CpuBox, cpu_map
from advisor.charts.sized import WIDTHS, sized
from tests.advisor.charts.pictures import SVG, picture

CORES = [CoreBox((CpuBox(n, "running"),)) for n in range(16)]


def _drawn(width: int) -> Markup:
    return cpu_map(CORES, title="CPUs", width=width)


def test_it_is_drawn_once_for_each_width_and_more_cpus_stand_side_by_side_where_there_is_room() -> None:
    root = ET.fromstring(sized(_drawn))
    assert root.get("class") == "sized"
    assert [child.get("class") for child in root] == list(WIDTHS)
    pictures = [child[0] for child in root]
    assert [float(one.get("width", "")) for one in pictures] == list(WIDTHS.values())
    heights = [float(one.get("height", "")) for one in pictures]
    assert heights == sorted(heights), "the narrower, the higher"
    assert heights[-1] > 3 * heights[0]
    assert {one.get("font-size") for one in root.iter(f"{SVG}svg")} == {"12"}
    for width in WIDTHS.values():
        picture(_drawn(width))


def test_of_two_side_by_side_none_is_drawn_for_the_full_width() -> None:
    root = ET.fromstring(sized(_drawn, halves=True))
    assert root.get("class") == "sized halves"
    assert "at-wide" not in [child.get("class") for child in root]
