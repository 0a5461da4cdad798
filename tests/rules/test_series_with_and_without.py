"""Two series of one file, of one machine without something and with it, are held against each other."""

from dataclasses import replace

import pytest

from collectors.capture import captures
from collectors.facts import Capture, Facts, Interval, System
from collectors.facts.scaling import LoadPoint, LoadSeries
from collectors.read import Input
from rules.compare.comparison import Comparison
from rules.compare.within import comparisons_within
from rules.laws.machines import machine_of, same_model, switched
from rules.laws.settings import order_of

RX = "HP rx6600 (1.59GHz/9.0MB) - 8 cores"
OFF = ((1, 190_000.0), (2, 270_000.0), (3, 300_000.0), (6, 220_000.0), (8, 200_000.0))
ON = ((1, 175_000.0), (2, 272_000.0), (3, 312_000.0), (6, 306_000.0), (8, 302_000.0))


def made(title: str, points: tuple[tuple[int, float], ...] = OFF, *, derived: bool = False) -> LoadSeries:
    return LoadSeries(
        title=title,
        load_name="processes",
        rate_name="lock_operations_per_second",
        points=tuple(LoadPoint(load=load, rate=rate) for load, rate in points),
        cores=8,
        derived=derived,
    )


def within(*series: LoadSeries) -> tuple[Comparison, ...]:
    return comparisons_within(Capture(System("ORKNEY", "openvms"), Interval(), Facts(series)))


@pytest.mark.parametrize("turned", [False, True], ids=["without first", "with first"])
def test_without_is_before_and_with_is_after_wherever_they_stand(turned: bool) -> None:
    sides = [made(f"{RX}, without DLM"), made(f"{RX}, with DLM", ON)]
    (found,) = within(*(sides[::-1] if turned else sides))
    assert (found.before.label, found.after.label) == (f"{RX}, without DLM", f"{RX}, with DLM")
    assert (found.verdict, found.unit_of_work) == ("mixed", "run")
    decides = {one.key.partition(":")[0]: one.ratio for one in found.metrics if one.decides}
    assert decides == {
        "scaling.single": pytest.approx(190 / 175),
        "scaling.peak": pytest.approx(1.04),
        "scaling.beyond": pytest.approx(1.51),
    }
    assert "takes one of 8 CPUs at all hours" in found.why


@pytest.mark.parametrize(
    ("ends", "sides"),
    [(", {} DLM", ("without", "with")), (" - DLM {}", ("off", "on")), (" with SSD, {} DLM", ("without", "with"))],
)
def test_two_files_of_one_machine_are_one_system_and_held_against_each_other(ends: str, sides: tuple[str, str]) -> None:
    """Reading joins by the same words that the comparison parts; of two things that a title names the last is it."""
    series = [made(f"{RX}{ends.format(side)}", rates) for side, rates in zip(sides, (OFF, ON), strict=True)]
    files = [Input(f"in/{n}.txt", "scaling/load_series", [one], given="in") for n, one in enumerate(series)]
    (capture,) = captures(files)
    assert len(capture.facts.every(LoadSeries)) == 2
    assert switched(series[0].title, series[1].title) == "after"
    assert len(within(*series)) == 1


def test_two_files_tell_of_threads_whose_cpus_and_days_differ_with_them() -> None:
    ends = ("8 CPUs, threads off, 3-FEB-2024", "16 CPUs, threads on, 4-FEB-2024")
    series = [made(f"{RX}, {end}", rates) for end, rates in zip(ends, (ON, OFF), strict=True)]
    files = [Input(f"in/{n}.txt", "scaling/load_series", [one], given="in") for n, one in enumerate(series)]
    (capture,) = captures(files)
    assert len(capture.facts.every(LoadSeries)) == 2
    assert switched(series[0].title, series[1].title) == "after"
    assert switched(series[0].title, series[1].title.replace("8 cores", "4 cores")) is None
    assert switched(f"{RX}, 8 CPUs, without DLM", f"{RX}, 16 CPUs, with DLM") is None


def test_a_value_that_is_off_comes_before_one_that_is_on_and_sizes_before_both() -> None:
    assert sorted(["on", "64", "off", "8", "auto"], key=order_of) == ["8", "64", "auto", "off", "on"]


def test_what_differs_beside_the_switch_is_another_machine() -> None:
    titles = (f"{RX} with SSD, without DLM", f"{RX} with disks, with DLM")
    files = [Input(f"in/{n}.txt", "scaling/load_series", [made(one)], given="in") for n, one in enumerate(titles)]
    assert len(captures(files)) == 2
    assert switched(*titles) is None


@pytest.mark.parametrize(
    ("one", "other"),
    [
        (f"{RX}, without DLM", "HP rx2660 (1.59GHz/9.0MB) - 8 cores, with DLM"),
        (f"{RX}, without DLM", "HP rx6600 (1.59GHz/9.0MB) - 4 cores, with DLM"),
        (f"{RX}, without DLM", f"{RX}, with threads"),
        (f"{RX}, without DLM", f"{RX}, without DLM"),
        (RX, f"{RX}, second run"),
    ],
)
def test_machines_that_differ_in_more_or_in_nothing_are_not_before_and_after(one: str, other: str) -> None:
    assert within(made(one), made(other, ON)) == ()


def test_captures_of_production_are_no_runs_of_a_test() -> None:
    assert within(made(f"{RX}, without DLM", derived=True), made(f"{RX}, with DLM", ON, derived=True)) == ()


@pytest.mark.parametrize(
    ("title", "model", "what", "on", "emulator"),
    [
        ("HP rx4640 (1.10GHz/4.0MB) - 8 cores, without DLM", "RX4640", "dlm", False, False),
        ("rx2660 DLM on - 4 cores", "RX2660", "dlm", True, False),
        ("BL870c, no dedicated lock manager", "BL870C", "dlm", False, False),
        ("box with co-threads", None, "threads", True, False),
        ("HP rx6600 (1.59GHz/9.0MB) - 4 cores, 8 CPUs, threads on, V8.3", "RX6600", "threads", True, False),
        ("rx6600 - 8 threads on 4 cores", "RX6600", None, None, False),
        ("server with 4 cores", None, None, None, False),
        ("CHARON-AXP ES40 on AMD Opteron 6174 2.2 GHz", "ES40", None, None, True),
        ("ES40 666 MHz against rx2660 1.4 GHz", None, None, None, False),
        ("", None, None, None, False),
    ],
)
def test_a_title_tells_the_model_and_what_was_switched(
    title: str, model: str | None, what: str | None, on: bool | None, emulator: bool
) -> None:
    found = machine_of(title)
    assert (found.model, found.what, found.on, found.emulator) == (model, what, on, emulator)


def test_models_are_the_same_by_name_else_by_the_rest_of_the_title() -> None:
    pairs = {
        ("ORKNEY ES40 500 MHz", "SKYE AlphaServer ES40, 666 MHz"): True,
        ("rx2660 1.4 GHz", "rx6600 1.6 GHz"): False,
        ("rx2660 1.4 GHz", "another box 1.6 GHz"): False,
        ("Opteron 6174 2.2 GHz", "Opteron 6174 1.8 GHz"): True,
        ("Xeon E5 2.2 GHz", "Opteron 1.8 GHz"): None,
        ("2.2 GHz", "1.8 GHz"): None,
        ("ES40 500 MHz", "2.2 GHz"): None,
        ("2.2 GHz", "ES40 500 MHz"): None,
        ("CHARON ES40", "CHARON ES40"): False,
    }
    assert {pair: same_model(*map(machine_of, pair)) for pair in pairs} == pairs
    assert switched("a DLM off", "a DLM on") == "after"
    assert switched("a DLM on", "a DLM off") == "before"


BASE = {"title": RX, "threads": "off", "dlm": "off", "lvb_bytes": "0", "reshashtbl": "8192"}


def set_to(*points: tuple[tuple[int, float], ...], **settings: str | None) -> LoadSeries:
    """A series of the machine under these settings, with the first `points`; `None`: its table does not tell."""
    told = {name: text for name, text in (BASE | settings).items() if text is not None}
    title = ", ".join(f"{name} {text}" for name, text in told.items())
    return replace(made(title, *points), setup=tuple(told.items()))


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ({"dlm": "off"}, {"dlm": "on", "dlm_cpu": "7"}),
        ({"threads": "off", "cores": "8"}, {"threads": "on"}),
        ({"lvb_bytes": "0"}, {"lvb_bytes": "on"}),
        ({"lvb_bytes": "16"}, {"lvb_bytes": "64"}),
        ({"reshashtbl": "8192"}, {"reshashtbl": "65536"}),
        ({"series": "base"}, {"series": "dlm", "dlm": "on"}),
    ],
)
def test_one_setting_alone_is_held_against_the_other_value(one: dict[str, str], other: dict[str, str]) -> None:
    before, after = set_to(**one), set_to(ON, **other)
    for pair in ([before, after], [after, before]):
        (found,) = within(*pair)
        assert (found.before.label, found.after.label) == (before.title, after.title)


@pytest.mark.parametrize(
    "other",
    [
        {"dlm": "on", "threads": "on"},
        {"dlm": "on", "lvb_bytes": "16"},
        {"dlm": "on", "title": "AlphaServer ES45 - 8 cores"},
        {"dlm": "on", "node": "SKYE"},
        {"dlm": "on", "reshashtbl": None},
        {"dlm": None},
        {"node": "SKYE"},
        {},
    ],
)
def test_runs_that_differ_in_more_or_in_what_is_not_told_are_not_comparable(other: dict[str, str | None]) -> None:
    assert within(set_to(), set_to(ON, **other)) == ()


def test_only_runs_with_the_dedicated_lock_manager_take_a_cpu() -> None:
    (threads,) = within(set_to(), set_to(ON, threads="on"))
    (own,) = within(set_to(), set_to(ON, dlm="on"))
    assert "at all hours" not in threads.why
    assert "takes one of 8 CPUs at all hours" in own.why


def test_of_sizes_each_is_held_against_the_next_larger_one() -> None:
    sizes = [set_to(reshashtbl=size) for size in ("65536", "2048", "8192")]
    found = [(one.before.label[-5:], one.after.label[-5:]) for one in within(*sizes)]
    assert sorted(found) == [(" 2048", " 8192"), (" 8192", "65536")]


def test_repeated_runs_that_overlap_prove_no_difference() -> None:
    """The means differ by 13 %, and one run without it did as much as one with it."""
    one = tuple((load, rate * factor) for load, rate in OFF for factor in (0.9, 1.1))
    other = tuple((load, rate * factor) for load, rate in OFF for factor in (1.05, 1.21))
    (found,) = within(set_to(one), set_to(other, lvb_bytes="64"))
    assert [one.moved for one in found.metrics if one.decides] == [False] * 3
    assert found.verdict == "no-effect"
    (apart,) = within(set_to(OFF), set_to(tuple((load, rate * 1.13) for load, rate in OFF), lvb_bytes="64"))
    assert apart.verdict == "improved"
