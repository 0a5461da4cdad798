"""Alpha, Integrity and emulators: what was published, where it holds, and what a change of machine does."""

import pytest

from rules.laws.hardware import Hardware, hardware_of
from rules.laws.platforms import (
    CHARTS_ALONE,
    EMULATOR,
    IMAGES,
    KERNEL_PROCESS_BLOCKS,
    MACHINES,
    MOVES,
    PUBLISHED,
    QUEUE_AS_SERVICE,
    QUEUE_THROUGH_EPC,
    Pair,
)
from rules.openvms._evidence.platforms import (
    Difference,
    Statement,
    explain,
    platform_difference,
)
from rules.openvms._evidence.releases import release_of

RX2600, RX4640, ES45 = "HP rx2600  (1.50GHz/6.0MB)", "HP rx4640  (1.50GHz/6.0MB)", "AlphaServer ES45 (1.00GHz/8.0MB)"
ES40, SLOW_ES40 = "AlphaServer ES40 6/666", "AlphaServer ES40 6/500"


def machine(name: str) -> Hardware:
    made = hardware_of(name)
    assert made is not None
    return made


def held(name: str, version: str | None, other: str | None = None) -> dict[str, bool | None]:
    """By key of each pair that is told: whether it holds."""
    told = explain(machine(name), release_of(version), machine(other) if other else None)
    return {pair.key: one.holds for one in reversed(told) for pair in one.pairs}


def said(told: tuple[Statement, ...], pair: Pair) -> str:
    return " ".join(one.says for one in told if pair in one.pairs)


def test_queue_instructions_are_as_many_times_slower_as_the_talk_prints() -> None:
    assert QUEUE_AS_SERVICE.times == pytest.approx(34.2, abs=0.01)
    assert QUEUE_AS_SERVICE.printed == "34 times slower"
    assert QUEUE_THROUGH_EPC.times is not None
    assert round(QUEUE_THROUGH_EPC.times, 1) == 2.8 < 3
    assert "178.21 s and 14.59 s against 5.21 s" in said(explain(machine(RX2600), None), QUEUE_AS_SERVICE)


def test_cached_kernel_process_blocks_gave_five_times_the_io() -> None:
    assert KERNEL_PROCESS_BLOCKS.times == pytest.approx(5.28, abs=0.01)
    assert "2,084 → 10,999 I/Os per second" in said(explain(machine(RX2600), None), KERNEL_PROCESS_BLOCKS)


def test_memory_moves_images_and_the_equal_machines_are_told_as_published() -> None:
    told = explain(machine(RX4640), release_of("X8.2"))
    assert "about 15 % with one stream and 38 % with four" in said(told, MOVES[0])
    assert "3 times as large" in said(told, IMAGES)
    assert "rx4640 of 1.5 GHz performs like an ES45 of 1 GHz" in said(told, MACHINES)
    assert [pair.times for pair in (*MOVES, IMAGES, MACHINES)] == [None] * 4, "no figures of both sides, no quotient"


@pytest.mark.parametrize(
    ("version", "missing", "epc"),
    [("V8.0", True, None), ("X8.2-AFV", None, None), ("V8.2-1", None, True), ("V8.4-2L1", False, True), (None,) * 3],
)
def test_which_release_decides_what_holds(version: str | None, missing: bool | None, epc: bool | None) -> None:
    found = {tuple(pair.key for pair in one.pairs): one.holds for one in explain(machine(RX2600), release_of(version))}
    assert found == {
        ("queue-service", "queue-epc"): missing,
        ("kpb",): missing,
        ("moves-1", "moves-4"): missing,
        ("queue-epc",): epc,
        ("images",): True,
    }


def test_the_equal_machines_are_told_of_these_two_alone() -> None:
    assert held(ES45, "V8.3", RX4640)["machines"] is True
    assert "machines" not in held(ES45, "V8.3", RX2600)
    assert "machines" not in held("HP rx4640  (1.10GHz/4.0MB)", "V8.3")
    assert "machines" not in held(RX4640, "V8.3", ES40)


def test_of_an_alpha_a_vax_or_a_virtual_machine_alone_nothing_of_integrity_is_told() -> None:
    for name in (ES45, "VAX 6440", "VMware, Inc. VMware7,1"):
        assert explain(machine(name), release_of("V8.4")) == ()
    assert explain(None, None) == ()


def test_an_emulator_is_told_with_its_host_and_a_borrowed_name_as_a_question() -> None:
    told = said(explain(machine("CHARON-AXP ES40"), None), EMULATOR)
    assert "about 40 % of the lock operations of a 666 MHz ES40" in told
    assert "500 MHz with saturation" in told
    assert "AMD Opteron 6174" in told
    assert said(explain(machine(ES40), None), EMULATOR).startswith(f"If {ES40} is an emulator")
    assert held("CHARON-AXP ES40", None) == {"emulator": None, "emulator-saturated": None}


def test_no_chart_without_figures_has_become_a_figure() -> None:
    assert len({pair.key for pair in PUBLISHED}) == len(PUBLISHED)
    assert not {pair.what for pair in PUBLISHED} & set(CHARTS_ALONE)
    everything = " ".join(one.says for one in explain(machine(RX4640), None, machine(ES45))).lower()
    assert not [
        word for word in ("vups", "bandwidth", "latency", "gigabit", "apache", "infoserver") if word in everything
    ]


def test_one_model_at_two_clocks_is_normalised_and_the_limit_of_that_is_told() -> None:
    found = platform_difference(SLOW_ES40, ES40)
    assert found.same_family is True
    assert found.clock_ratio == pytest.approx(1.332)
    assert "that of 666 MHz had less than 666/500 of the other's lock rate" in found.says[0]
    assert "emulators borrow such names" in found.says[-1]
    back = platform_difference(ES40, SLOW_ES40)
    assert back.clock_ratio == pytest.approx(500 / 666)


def test_another_cache_is_told_though_the_clock_is_the_same() -> None:
    found = platform_difference(RX2600, "HP rx2600 (1.50GHz/3.0MB)")
    assert found == Difference(1.0, True, ("caches of 6 and 3 MB, which no clock accounts for",))


def test_the_same_machine_is_no_difference_however_it_is_written() -> None:
    assert platform_difference(RX2600, "rx2600 (1.5GHz/6MB)") == Difference(1.0, True, ())
    assert platform_difference("AlphaServer ES45 Model 2", "AlphaServer ES45 Model 2") == Difference(1.0, True, ())
    assert platform_difference("PDP of the cellar", "PDP of the cellar") == Difference(1.0, None, ())


def test_two_models_of_one_family_and_a_clock_that_is_not_printed_are_not_normalised() -> None:
    assert platform_difference(RX2600, RX4640).clock_ratio is None
    assert "different models" in platform_difference(RX2600, RX4640).says[0]
    assert platform_difference(ES40, "AlphaServer ES40 5/666").clock_ratio is None
    unknown = platform_difference("HP rx2600", RX2600)
    assert (unknown.clock_ratio, unknown.same_family) == (None, True)
    assert "clocks is not in its name" in unknown.says[0]


def test_alpha_and_integrity_are_not_comparable_and_the_published_figures_explain() -> None:
    found = platform_difference(ES45, RX4640)
    assert (found.clock_ratio, found.same_family) == (None, False)
    text = " ".join(found.says)
    for piece in ("not comparable between families", "34 times an ES45's", "like an ES45 of 1 GHz", "no promise"):
        assert piece in text
    vax = platform_difference("VAX 6440", RX4640)
    assert (vax.clock_ratio, vax.same_family, len(vax.says)) == (None, False, 1)


def test_an_emulator_is_never_normalised() -> None:
    moved = platform_difference(ES40, "CHARON-AXP ES40")
    assert (moved.clock_ratio, moved.same_family) == (None, None)
    assert "about 40 %" in " ".join(moved.says)
    stayed = platform_difference("CHARON-AXP ES40", "CHARON-AXP ES40")
    assert (stayed.clock_ratio, stayed.same_family) == (None, True)
    assert "as fast as its host" in stayed.says[0]


def test_names_that_are_not_there_or_tell_nothing_are_no_difference_that_can_be_judged() -> None:
    assert platform_difference(None, " ") == Difference(None, None, ())
    assert platform_difference(None, ES45) == Difference(None, None, ("the machine of one side is not in the export",))
    assert "do not tell" in platform_difference("PDP of the cellar", ES45).says[0]
