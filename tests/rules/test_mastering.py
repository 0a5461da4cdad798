"""Who should be lock master: published runs, names of machines, and how mastership is moved."""

from typing import Any

import pytest

from collectors.facts import Facts
from collectors.facts.openvms import ClusterMember, ClusterNode, LockLatency
from rules.laws.hardware import compare, hardware_of
from rules.laws.mastering import BL870C_OPERATIONS, Candidate, what_if_masters
from rules.openvms._evidence import node_speeds
from rules.openvms._evidence.cluster import Cluster, cluster_of
from rules.openvms._evidence.mastership import governing, move_to, release_of
from rules.openvms._evidence.node_speeds import ranks_of, what_if, what_if_text
from rules.plan import make_plan

BL870C, RX4640 = "HP BL870c (1.59GHz/9.0MB)", "HP rx4640 (1.10 GHz/4.0MB)"


def percents(*ranks: int | None) -> list[float | None]:
    """Of real machines, but the third by speed: the published one was an emulator."""
    nodes = [Candidate(f"N{at}", rank, emulator=rank == 3) for at, rank in enumerate(ranks)]
    return [one.percent for one in what_if_masters(nodes)]


def test_two_and_three_nodes_give_the_published_shares_by_rank() -> None:
    assert percents(1, 2) == [85, 57]
    assert percents(2, 1) == [57, 85]
    assert percents(2, 3, 1) == [55, 25, 84]


def test_nothing_is_told_between_the_published_runs() -> None:
    assert percents(1) == [None]
    assert percents(1, 2, 3, 4) == [None] * 4
    assert percents(1, 1) == [None, None]
    assert percents(None, 1) == [None, 85]
    assert percents(1, 1, 3) == [None] * 3, "no run had two that are equally fast"


def test_what_an_emulator_did_is_not_told_of_a_real_machine_nor_the_other_way_round() -> None:
    """A slow rx1620 in the third place: the 25 % of the published run are those of an emulator."""
    real, unsaid = (
        what_if_masters([Candidate("A", 1, emulator=False), Candidate("B", 2), Candidate("C", 3, emulator=third)])
        for third in (False, None)
    )
    assert [one.percent for one in real] == [one.percent for one in unsaid] == [84, 55, None]
    assert real[2].basis == "a real machine; the third master of the published runs was an emulator"
    assert unsaid[2].basis.startswith("by its name real or not")
    fast, slow = what_if_masters([Candidate("A", 1, emulator=False), Candidate("B", 2, emulator=True)])
    assert (fast.percent, slow.percent) == (85, None)
    assert "an emulator; this master of the published runs was a real machine" in slow.basis


def test_each_line_says_why_it_has_a_figure_or_none() -> None:
    fast, slow = what_if_masters([Candidate("SKYE", 1), Candidate("ORKNEY", 2)])
    assert "2 nodes, master BL870c" in fast.basis
    assert "rx4640" in slow.basis
    third = Candidate("C", 3, emulator=True)
    assert "emulated ES40" in what_if_masters([Candidate("A", 1), Candidate("B", 2), third])[2].basis
    assert "not known" in what_if_masters([Candidate("A"), Candidate("B", 1)])[0].basis
    assert "unequal speed" in what_if_masters([Candidate("A", 1), Candidate("B", 1)])[0].basis
    assert "4 nodes" in what_if_masters([Candidate(name, 1) for name in "ABCD"])[0].basis


def test_a_rate_is_told_only_where_the_fastest_nodes_own_rate_is_known() -> None:
    fast, slow = what_if_masters([Candidate("SKYE", 1, BL870C_OPERATIONS), Candidate("ORKNEY", 2, 1.0)])
    assert fast.rate == pytest.approx(0.85 * 371_357)
    assert slow.rate == pytest.approx(0.57 * 371_357)
    assert [one.rate for one in what_if_masters([Candidate("SKYE", 1), Candidate("ORKNEY", 2, 9.0)])] == [None, None]


@pytest.mark.parametrize(
    ("name", "model", "family", "clock", "cache", "emulator"),
    [
        (BL870C, "BL870C", "Integrity", 1.59, 9.0, False),
        ("BL870c (1.59 Ghz,/9.0MB) - 4 cores", "BL870C", "Integrity", 1.59, 9.0, False),
        ("a HP rx8640  (1.59GHz/12.0MB)", "RX8640", "Integrity", 1.59, 12.0, False),
        ("HP BL860c i2 (1.73GHz/6.0MB)", "BL860C I2", "Integrity", 1.73, 6.0, False),
        ("Compaq AlphaServer GS160 6/731", "ALPHASERVER GS160", "Alpha", 0.731, None, None),
        ("AlphaServer ES45 Model 2", "ALPHASERVER ES45 MODEL 2", "Alpha", None, None, None),
        ("VAX 6440", "VAX 6440", "VAX", None, None, None),
        ("VMware, Inc. VMware7,1", "VMWARE, INC. VMWARE7,1", "x86-64", None, None, False),
        ("CHARON-AXP ES40", "CHARON-AXP ES40", "emulator", None, None, True),
        ("vtAlpha DS25", "VTALPHA DS25", "emulator", None, None, True),
        ("Emulated AlphaServer ES40 6/667", "EMULATED ALPHASERVER ES40", "emulator", 0.667, None, True),
        ("PDP of the cellar", "PDP OF THE CELLAR", None, None, None, None),
    ],
)
def test_the_name_of_a_machine_is_parted(
    name: str, model: str, family: str | None, clock: float | None, cache: float | None, emulator: bool | None
) -> None:
    one = hardware_of(name)
    assert one is not None
    assert (one.model, one.family, one.clock_ghz, one.cache_mb, one.emulator) == (model, family, clock, cache, emulator)


def test_cores_are_read_and_no_name_is_no_machine() -> None:
    assert (one := hardware_of("rx4640 (1.10 GHz/4.0MB) - 8 cores")) is not None
    assert one.cores == 8
    assert hardware_of(None) is hardware_of("  ") is None
    assert hardware_of("(1.5GHz" * 9_000) is not None


@pytest.mark.parametrize(
    ("one", "other", "sign"),
    [
        (BL870C, RX4640, 1),
        ("rx4640 (1.5GHz/6.0MB)", "AlphaServer ES45 6/1000", 0),
        ("AlphaServer ES40 6/667", "AlphaServer ES40 6/500", 1),
        ("AlphaServer ES45 Model 2B", "AlphaServer ES40", 1),
        ("AlphaServer ES45", "AlphaServer ES40 6/833", 1),
        ("AlphaServer ES45 Model 2B", "CHARON-AXP ES40", None),
        ("HP AlphaServer GS1280 7/1150", "AlphaServer ES40", 1),
        ("AlphaServer ES40 Model 2", "HP AlphaServer ES47 7/1000", -1),
        ("AlphaServer DS20E 6/667", "AlphaServer ES40", None),
        ("HP AlphaServer GS1280 7/1150", "AlphaServer ES45 Model 2B", None),
        ("AlphaServer ES45 Model 2B", "AlphaServer DS20", None),
        ("AlphaServer ES47 7/1150", "AlphaServer DS20E 500 MHz", 1),
        ("AlphaServer ES47 7/1150", "AlphaServer DS20E 600 MHz", None),
        ("AlphaServer 4100 5/600", "AlphaServer DS20E 6/275", None),
        ("rx2800 i4 (2.53GHz/32.0MB)", "rx2800 i2 1200 MHz", 1),
        ("rx2660 (1.59GHz/9.0MB)", "rx2660 (1.40GHz/6.0MB)", 1),
        ("rx6600 (1.59GHz/12.0MB)", "rx2660 (1.40GHz/6.0MB)", 1),
        ("BL860c i2 (1.73GHz/6.0MB)", "rx6600 (1.59GHz/12.0MB)", None),
        ("rx6600 (1.59GHz/12.0MB)", BL870C, None),
        ("rx2660 (1.59GHz/9.0MB)", "HP rx2660 (1.59GHz/9.0MB)", 0),
        ("AlphaServer 1000A 5/500", "AlphaServer ES40 6/500", None),
        ("AlphaServer 1000A 5/500", "AlphaServer ES40 6/667", None),
        ("CHARON-AXP ES40 6/667", "CHARON-AXP ES40 6/500", None),
        ("AlphaServer ES45 6/1000", BL870C, None),
        ("CHARON-AXP ES40", "AlphaServer ES40 6/667", None),
        ("VAX 6440", "VAX 6440", 0),
        ("VAX 6440", "VAX 7620", None),
        ("QEMU 3.0 GHz", "ProLiant DL380 2.0 GHz", None),
        (BL870C, "", None),
    ],
)
def test_two_machines_are_ordered_only_where_something_orders_them(one: str, other: str, sign: int | None) -> None:
    there, back = compare(hardware_of(one), hardware_of(other)), compare(hardware_of(other), hardware_of(one))
    assert (there and there.sign) == sign
    assert (back and back.sign) == (-sign if sign else sign)


def member(name: str, hardware: str | None = None, *, own: bool = False, **figures: Any) -> ClusterMember:
    return ClusterMember(name=name, hardware=hardware, own=own, **figures)


def test_latencies_come_before_names() -> None:
    nodes = (member("ORKNEY", RX4640), member("SKYE", BL870C))
    measured = [LockLatency(from_node=n, master=n, microseconds=us) for n, us in (("orkney", 2.0), ("SKYE", 3.0))]
    assert ranks_of(Facts(nodes), ["ORKNEY", "SKYE"]) == {"ORKNEY": 2, "SKYE": 1}
    assert ranks_of(Facts((*nodes, *measured)), ["ORKNEY", "SKYE"]) == {"ORKNEY": 1, "SKYE": 2}
    assert ranks_of(Facts((*nodes, measured[0])), ["ORKNEY", "SKYE"]) == {"ORKNEY": 2, "SKYE": 1}


def test_a_node_that_cannot_be_held_against_every_other_has_no_rank() -> None:
    facts = Facts((member("BARRA", "CHARON-AXP ES40"), member("ORKNEY", RX4640), member("SKYE", BL870C)))
    assert ranks_of(facts, ["BARRA", "ORKNEY", "SKYE"]) == {"BARRA": None, "ORKNEY": None, "SKYE": None}
    assert what_if_text(what_if(facts, ["BARRA", "ORKNEY", "SKYE"])) == ""


def test_the_cluster_counts_each_operation_once() -> None:
    figures: dict[str, Any] = {"local_per_second": 1000.0, "incoming_per_second": 300.0, "outgoing_per_second": 100.0}
    other: dict[str, Any] = {"local_per_second": 500.0, "incoming_per_second": 100.0, "outgoing_per_second": 300.0}
    one = cluster_of(Facts((member("ORKNEY", own=True, **figures), member("SKYE", **other))))
    assert isinstance(one, Cluster)
    assert (one.total, one.asked, one.served, one.master.name) == (1900.0, 400.0, 400.0, "ORKNEY")
    assert one.crossing_percent == pytest.approx(100 * 400 / 1900)
    assert one.served_percent == pytest.approx(75)


@pytest.mark.parametrize(
    ("version", "release"),
    [("V8.4-2L1", (8, 4)), ("VMS V7.3-2", (7, 3)), ("X8.2", (8, 2)), ("E9.2", (9, 2)), ("V6", None), (None, None)],
)
def test_the_release_is_read_from_a_version(version: str | None, release: tuple[int, int] | None) -> None:
    assert release_of(version) == release


def test_which_parameter_decides_goes_by_the_release_of_every_node() -> None:
    def decides(*versions: str | None) -> str | None:
        nodes = [ClusterMember(name=f"N{at}", version=version) for at, version in enumerate(versions)]
        return governing(Facts(tuple(nodes)), nodes)

    assert decides("V8.3", "V8.4") == "LOCKDIRWT"
    assert decides("V8.2", "V7.3-2") == "LOCKRMWT"
    assert decides("V8.2", "V8.3") is None
    assert decides("V8.4", None) is None
    assert decides() is None


def moved(name: str, version: str, old: float, others: list[float]) -> list[tuple[float | str | None, ...]]:
    field = "lock_directory_weight" if name == "LOCKDIRWT" else "lock_remaster_weight"
    nodes = [ClusterMember(name="SKYE", version=version, **{field: old})]  # type: ignore[arg-type]
    nodes += [
        ClusterMember(name=f"N{at}", version=version, **{field: value})  # type: ignore[arg-type]
        for at, value in enumerate(others)
    ]
    move = move_to(Facts(tuple(nodes)), nodes, "SKYE")
    assert all(change.target == name for change in move.changes)
    return [(change.key.split(":")[1], change.old, change.new) for change in move.changes]


def test_the_weight_goes_two_above_the_others_and_never_beyond_its_range() -> None:
    assert moved("LOCKDIRWT", "V8.4", 0, [0, 0]) == [("SKYE", 0, 2)]
    assert moved("LOCKDIRWT", "V8.4", 3, [1, 3]) == [("SKYE", 3, 5)]
    assert moved("LOCKDIRWT", "V8.4", 4, [1, 3]) == []
    assert moved("LOCKDIRWT", "V8.4", 1, [254, 0]) == [("SKYE", 1, 255)]
    assert moved("LOCKDIRWT", "V8.4", 1, [255, 0]) == [("SKYE", 1, 255), ("N0", 255, 253)]
    assert moved("LOCKRMWT", "V7.3-2", 5, [5]) == [("SKYE", 5, 7)]
    assert moved("LOCKRMWT", "V7.3-2", 5, [10]) == [("SKYE", 5, 10), ("N0", 10, 8)]


def test_a_remastering_weight_of_ten_is_told_to_take_all() -> None:
    nodes = [ClusterMember(name=name, version="V7.3", lock_remaster_weight=9.0) for name in ("SKYE", "ORKNEY")]
    (change,) = move_to(Facts(tuple(nodes)), nodes, "SKYE").changes
    assert change.new == 10
    assert any("takes every tree" in caution for caution in change.cautions)


def test_a_weight_outside_its_range_counts_as_unknown() -> None:
    assert moved("LOCKDIRWT", "V8.4", 0, [256]) == []
    assert moved("LOCKRMWT", "V7.3-2", 5, [11]) == []
    assert moved("LOCKRMWT", "V7.3-2", 5, [2.5]) == []


def test_two_rules_that_ask_for_the_same_weight_make_one_change() -> None:
    nodes = [ClusterMember(name=name, version="V8.4", lock_directory_weight=1.0) for name in ("SKYE", "ORKNEY")]
    change = move_to(Facts(tuple(nodes)), nodes, "SKYE").changes
    plan = make_plan((*change, *change))
    assert [step.change_keys for step in plan.steps] == [("openvms.sysgen:SKYE:LOCKDIRWT",)]
    assert not plan.conflicts


def test_show_cluster_fills_in_versions_and_weights() -> None:
    nodes = [ClusterMember(name=name) for name in ("SKYE", "ORKNEY")]
    seen = [ClusterNode(name=one.name.lower(), software="VMS V8.4", lock_directory_weight=0.0) for one in nodes]
    assert [change.new for change in move_to(Facts((*nodes, *seen)), nodes, "SKYE").changes] == [2]


def test_what_many_nodes_give_as_master_is_told_without_each_being_held_against_each(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    compared: list[object] = []
    monkeypatch.setattr(node_speeds, "compare", lambda *two: compared.append(two))
    names = [f"N{number}" for number in range(60)]
    machines = [f"HP rx8640  (1.{number:03}GHz/12.0MB)" for number in range(58)]
    machines += ["Stromasys CHARON-AXP ES45", "VTAlpha AlphaServer DS20"]
    facts = Facts(tuple(ClusterNode(name=n, hardware=m) for n, m in zip(names, machines, strict=True)))
    lines = what_if(facts, names)
    assert {line.basis for line in lines} == {"no run with 60 nodes was published"}
    assert len(compared) <= 2 * len(names)


def test_the_name_of_a_machine_is_parted_once() -> None:
    hardware_of.cache_clear()
    names = [f"HP rx8640  (1.{number:03}GHz/12.0MB)" for number in range(40)]
    facts = Facts(tuple(ClusterNode(name=f"N{number}", hardware=name) for number, name in enumerate(names)))
    ranks_of(facts, [node.name for node in facts.every(ClusterNode)])
    assert hardware_of.cache_info().misses == len(names)
