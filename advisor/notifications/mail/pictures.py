"""The charts of the page as pictures for mail: the same SVG made into a PNG, for few mail programs show SVG.

Text is drawn in DejaVu Sans. Where that is not installed, a small font that comes with Pillow stands in: it has the
letters without accents. Where not even that is there, there are no pictures: a chart without its figures says nothing.
"""

import html
import io
import re
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from email.mime.image import MIMEImage
from functools import cache
from tempfile import NamedTemporaryFile
from typing import Any

import resvg_py
from PIL import Image, ImageFont

ZOOM = 2
"""Pixels of the picture for one of the chart: screens are fine nowadays."""
COLOURS = 32
"""Of the palette: a quarter of the bytes, and no difference to be seen (knowledge: stack 4)."""
FAMILY = "DejaVu Sans"
NO_FAMILY = "no such family"
INK = "#1a1d21"
PROBE = '<svg xmlns="http://www.w3.org/2000/svg" width="20" height="20" font-family="sans-serif" font-size="16">'
DESC = re.compile(r"<desc>(.*?)</desc>", re.DOTALL)


@dataclass(frozen=True)
class Picture:
    """A picture inside a mail; its `name` is unlike any other of that mail."""

    name: str
    png: bytes
    width: int
    """px of the chart."""
    height: int
    words: str
    """What it shows, for those who do not see it."""

    def part(self, cid: str) -> MIMEImage:
        """Make the part of the mail that `cid:<cid>` shows."""
        made = MIMEImage(self.png, "png")
        made.add_header("Content-ID", f"<{cid}>")
        made.add_header("Content-Disposition", "inline", filename=f"{self.name}.png")
        return made


def draw(name: str, svg: str) -> Picture | None:
    """Make the picture of a chart; `None` where this machine cannot write into one, or the SVG is damaged."""
    if not can_write():
        return None
    with _fonts() as fonts:
        try:
            made = resvg_py.svg_to_bytes(
                svg_string=str(svg), zoom=ZOOM, background="#ffffff", style_sheet=f"svg {{ color: {INK} }}", **fonts
            )
        except ValueError:
            return None
    out = io.BytesIO()
    with Image.open(io.BytesIO(made)) as image:
        image.convert("RGB").quantize(COLOURS).save(out, "PNG", optimize=True)
        return Picture(name, out.getvalue(), image.width // ZOOM, image.height // ZOOM, words(svg))


def words(svg: str) -> str:
    """What a chart shows, in words, as the chart says it itself; empty where it says nothing."""
    found = DESC.search(svg)
    return html.unescape(found[1]) if found else ""


@cache
def can_write() -> bool:
    """Whether a picture can have text in it on this machine."""
    with _fonts() as fonts:
        return _writes(fonts)


@contextmanager
def _fonts() -> Iterator[dict[str, Any]]:
    """How the text of a chart is drawn: in DejaVu Sans, else in the font that Pillow brings."""
    if _is_installed(FAMILY):
        yield {"sans_serif_family": FAMILY}
        return
    font = ImageFont.load_default(16)
    data = getattr(font, "font_bytes", None)
    if not data or not isinstance(font, ImageFont.FreeTypeFont):
        yield {"skip_system_fonts": True}
        return
    with NamedTemporaryFile(suffix=".ttf") as file:
        file.write(data)
        file.flush()
        yield {"skip_system_fonts": True, "font_files": [file.name], "sans_serif_family": font.getname()[0]}


@cache
def _is_installed(family: str) -> bool:
    # resvg falls back on its serif family (Liberation Serif) where it does not find the one it is given
    return _writes({"sans_serif_family": family, "serif_family": NO_FAMILY})


def _writes(fonts: dict[str, Any]) -> bool:
    """Try it: a letter leaves its mark."""
    made = resvg_py.svg_to_bytes(svg_string=f'{PROBE}<text y="16">M</text></svg>', background="#ffffff", **fonts)
    with Image.open(io.BytesIO(made)) as image:
        return len(image.convert("RGB").getcolors(1 << 16) or ()) > 1
