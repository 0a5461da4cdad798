"""Document 002: the charts without figures, and the machines of the legend."""

from rules.laws.hardware import compare, hardware_of
from rules.laws.platforms import CHARTS_ALONE, PUBLISHED
from tests.documents.listed import document, entry, rule_of


def test_every_chart_without_figures_is_one_of_the_talks() -> None:
    charts = [one for one in document("002").entries if one.kind == "chart"]
    assert len(charts) == len(CHARTS_ALONE) == 21
    assert all(one.figures_missing and one.used.startswith("not used") for one in charts)
    for one, subject in zip(charts, CHARTS_ALONE, strict=True):
        assert f"({subject})" in one.used
    text = rule_of("openvms/slow_on_integrity").text.lower()
    assert not [word for word in ("vups", "gigabit", "apache", "infoserver", "xfc") if word in text]


def test_the_machines_of_the_legend_are_parted_into_model_clock_and_family() -> None:
    legend = entry("002", "Memory Bandwidth (legend)").figures
    found = [hardware_of(name.replace("GHz/", "GHz/").replace("1.1GHz/4MB", "(1.1GHz/4MB)")) for name in legend]
    assert [one.clock_ghz for one in found if one] == [1.1, 1.3, 1.5, 1.5, 1.0, 1.15]
    assert [one.family for one in found if one] == ["Integrity"] * 4 + ["Alpha"] * 2
    slower, faster = found[1], found[3]
    order = compare(slower, faster)
    assert order is not None
    assert order.sign == -1
    assert compare(found[4], found[5]) is None or "Alpha" in compare(found[4], found[5]).basis  # type: ignore[union-attr]


def test_every_published_pair_stands_in_an_entry_that_names_this_law() -> None:
    users = [one for number in ("000", "002") for one in document(number).entries]
    assert len(PUBLISHED) == 9
    for pair in PUBLISHED:
        number = "000" if "ES40" in pair.first.name else "002"
        figures = " ".join(
            " ".join(one.figures)
            for one in users
            if "rules.laws.platforms" in one.used_by and one in document(number).entries
        )
        digits = [word for word in pair.printed.replace("about", "").split() if word[0].isdigit()]
        assert all(digit in figures for digit in digits), (pair.key, digits)
