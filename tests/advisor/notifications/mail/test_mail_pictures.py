"""Charts as pictures for mail."""

import io
from collections.abc import Iterator
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any

import pytest
import resvg_py
from fontTools.ttLib import TTFont
from PIL import Image, ImageFont

from advisor.charts import history
from advisor.notifications.mail import pictures

COURSE = [(datetime(2026, 2, 11, 10) + timedelta(days=n), float(n * n)) for n in range(9)]  # noqa: DTZ001 - as exports
CHART = history(COURSE, unit="%", title="contention", limit=10, width=440, height=140)


@pytest.fixture(autouse=True)
def _fresh() -> Iterator[None]:
    """What was found out about fonts is forgotten before and after each test."""
    pictures.can_write.cache_clear()
    pictures._is_installed.cache_clear()
    yield
    pictures.can_write.cache_clear()
    pictures._is_installed.cache_clear()


@pytest.fixture(params=["those installed", "and Liberation Serif"])
def fonts(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """The fonts of this machine; and with them the one that resvg takes for any other it does not find."""
    if request.param == "those installed":
        return
    pillows, usual = ImageFont.load_default(16), resvg_py.svg_to_bytes
    assert isinstance(pillows, ImageFont.FreeTypeFont)
    font = TTFont(io.BytesIO(pillows.font_bytes))
    for name in font["name"].names:
        name.string = "Liberation Serif"
    font.save(tmp_path / "serif.ttf")

    def svg_to_bytes(**given: Any) -> bytes:
        if not given.get("skip_system_fonts"):
            given["font_files"] = [str(tmp_path / "serif.ttf")]
        return usual(**given)

    monkeypatch.setattr(resvg_py, "svg_to_bytes", svg_to_bytes)
    assert pictures._writes({"sans_serif_family": "No Such Font"})


def opened(png: bytes) -> Image.Image:
    return Image.open(io.BytesIO(png))


def dark_pixels(png: bytes) -> int:
    return sum(opened(png).convert("L").histogram()[:96])


def test_a_picture_has_two_pixels_for_one_of_the_chart_and_few_colours() -> None:
    made = pictures.draw("plot1", CHART)
    assert made is not None
    assert (made.width, made.height) == (440, 140)
    image = opened(made.png)
    assert (image.format, image.size, image.mode) == ("PNG", (880, 280), "P")
    assert len(image.getcolors() or ()) <= 32
    assert len(made.png) < 20_000


def test_a_picture_stands_on_white_so_that_it_is_seen_in_the_dark_too() -> None:
    made = pictures.draw("plot1", CHART)
    assert made is not None
    assert min(opened(made.png).convert("RGB").getpixel((2, 2))) > 250  # type: ignore[arg-type]  # three numbers


def test_a_picture_tells_in_words_what_it_shows() -> None:
    made = pictures.draw("plot1", CHART)
    assert made is not None
    assert made.words.startswith("9 figures: first 0 %, last 64 %")


def test_words_are_text_and_no_markup() -> None:
    assert pictures.words(history(COURSE, unit="<&>", title="x")).startswith("9 figures: first 0 <&>, last 64 <&>")


@pytest.mark.usefixtures("fonts")
def test_without_dejavu_the_font_that_pillow_brings_stands_in(monkeypatch: pytest.MonkeyPatch) -> None:
    with_dejavu = pictures.draw("plot1", CHART)
    monkeypatch.setattr(pictures, "FAMILY", "No Such Font")
    pictures.can_write.cache_clear()
    stood_in = pictures.draw("plot1", CHART)
    assert with_dejavu is not None
    assert stood_in is not None
    assert stood_in.png != with_dejavu.png
    assert dark_pixels(stood_in.png) > dark_pixels(with_dejavu.png) / 3


@pytest.mark.usefixtures("fonts")
def test_without_any_font_there_is_no_picture_rather_than_one_without_figures(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(pictures, "FAMILY", "No Such Font")
    monkeypatch.setattr("PIL.ImageFont.load_default", lambda size: None)
    assert not pictures.can_write()
    assert pictures.draw("plot1", CHART) is None


def test_a_damaged_chart_is_no_picture() -> None:
    assert pictures.draw("plot1", "<svg") is None


def test_the_part_of_a_mail_is_named_and_inline() -> None:
    made = pictures.draw("plot1", CHART)
    assert made is not None
    part = made.part("plot1.system-5.3@lockwright")
    assert part["Content-ID"] == "<plot1.system-5.3@lockwright>"
    assert part.get_content_disposition() == "inline"
    assert part.get_filename() == "plot1.png"
