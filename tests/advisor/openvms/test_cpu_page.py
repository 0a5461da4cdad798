"""The CPU map of a capture: cores as they were read, the lock manager's place by the rules, nothing else."""

from dataclasses import replace
from pathlib import Path

import pytest

from advisor.openvms.services.cpus import (
    MOST_ROWS,
    CpuMap,
    Shown,
    cpu_map,
)
from advisor.openvms.services.pictures import drawn
from advisor.uploads.services.reading import captures_of, read_exports
from collectors.facts import ABSENT, NOWHERE, OVERFLOW, Fact, Facts
from collectors.facts.openvms import Cpu, CpuModes, FastpathDevice, KernelService, Node, ProcessorModes
from tests.advisor.ase.servers import audited, contended
from tests.advisor.charts.pictures import HOSTILE, picture, texts
from tests.advisor.people import AsUser, People, text_of
from tests.yardstick import no_longer_than

LOCKS, TCPIP = "OpenVMS Lock Manager", "OpenVMS TCP/IP"


def full(number: int, mate: int | None, **more: object) -> Cpu:
    """A full display of one CPU; without a co-thread where `mate` is none."""
    fields = {"state": "RUN", "primary": number == 0, **more}
    cothread = ABSENT if mate is None else float(mate)
    return Cpu(source=NOWHERE, number=number, full=True, cothread=cothread, **fields)  # type: ignore[arg-type]


def device(name: str, cpu: int) -> FastpathDevice:
    return FastpathDevice(source=NOWHERE, device=name, cpu=cpu)


def service(name: str, cpu: int) -> KernelService:
    return KernelService(source=NOWHERE, service=name, cpu=cpu)


def node(cpus: float = 8.0, **more: object) -> Node:
    return Node(source=NOWHERE, name="SKYE", active_cpus=cpus, **more)  # type: ignore[arg-type]


def cores() -> list[Fact]:
    """Four cores, CPU n and CPU n + 4 on each."""
    return [full(n, (n + 4) % 8) for n in range(8)]


def devices() -> list[Fact]:
    return [device("PKB0", 0), device("EIA0", 1), device("EIB0", 2), device("FGC0", 7), service(TCPIP, 3)]


def skye() -> list[Fact]:
    """The lock manager on CPU 5, EIA0 on its co-thread."""
    return [node(), *cores(), *devices(), service(LOCKS, 5)]


def map_of(facts: list[Fact]) -> CpuMap:
    return cpu_map(Facts(tuple(facts)))


def by_number(facts: list[Fact]) -> dict[int, Shown]:
    return {one.number: one for one in map_of(facts).cpus}


def test_cores_are_those_that_were_read_and_each_cpu_says_what_runs_there() -> None:
    shown = map_of(skye())
    assert [[one.number for one in core] for core in shown.cores] == [[0, 4], [1, 5], [2, 6], [3, 7]]
    cpus = {one.number: one for one in shown.cpus}
    assert (cpus[0].state, cpus[4].state) == ("running, primary", "running")
    assert (cpus[3].services, cpus[7].devices, cpus[5].services) == (("TCP/IP",), ("FGC0",), ("lock manager",))
    assert cpus[1].mate_said == "CPU 5"


def test_a_lock_manager_beside_a_busy_co_thread_is_a_conflict_and_the_device_has_to_move() -> None:
    shown = map_of(skye())
    cpus = {one.number: one for one in shown.cpus}
    assert (shown.manager, shown.chosen, shown.conflict) == (5, 5, (5, 1))
    assert [one.number for one in shown.cpus if one.moving] == [1]
    assert cpus[1].moving == ("EIA0",)
    assert "shares its core with CPU 1, which serves EIA0" in shown.answer
    assert "EIA0 has to leave CPU 1 first" in shown.answer
    assert cpus[5].place.startswith("here now, and it stays; ")
    assert "fast path of EIA0" in cpus[5].place
    assert "is the primary" in cpus[0].place
    assert "TCP/IP" in cpus[3].place
    lines = texts(picture(drawn(shown)))
    assert "→ EIA0" in lines
    assert "conflict: CPU 1 runs beside it" in lines


def test_where_the_co_thread_has_to_stay_the_lock_manager_moves_and_the_other_place_is_chosen() -> None:
    facts = [node(), *cores(), device("EIB0", 2), service(TCPIP, 1), service(LOCKS, 5)]
    shown = map_of(facts)
    assert (shown.chosen, shown.conflict) == (3, (5, 1))
    assert "CPU 1 has to stay: OpenVMS TCP/IP runs on CPU 1" in shown.answer
    assert "CPU 3 suits the lock manager" in shown.answer
    assert by_number(facts)[3].place == "the place to take"


def test_without_a_lock_manager_the_rules_answer_is_the_place_and_what_it_costs_is_said() -> None:
    shown = map_of([node(), *cores(), *devices()][:-2])
    assert (shown.manager, shown.chosen, shown.conflict) == (None, 3, None)
    assert shown.cost.startswith("It costs one core of 4, 25 % of the machine")


def test_where_none_is_free_the_first_to_move_is_named_and_an_unread_co_thread_is_said() -> None:
    some = [node(4.0), *(device(f"EI{letter}0", cpu) for cpu, letter in enumerate("ABCD"))]
    shown = map_of([*some, device("FGA0", 1), device("FGB0", 2)])
    assert shown.chosen is None
    assert "None is free: move EID0 off the core of CPU 3 first. The co-thread of CPU 3 was not read" in shown.answer
    assert [one.moving for one in shown.cpus] == [(), (), (), ("EID0",)]
    assert shown.bring[0] == "SHOW CPU/FULL"


def test_a_cpu_that_only_lacks_its_display_is_neither_free_nor_a_reason_to_move_a_device() -> None:
    shown = map_of([node(4.0), device("EIA0", 1), device("EIB0", 3), service(TCPIP, 1)])
    assert "cannot be said yet. CPU 2: nothing was read against them" in shown.answer
    assert not [one for one in shown.cpus if one.moving]
    unread = map_of([node(2.0), full(0, None), full(1, None)])
    assert unread.answer.startswith("Which CPU is free cannot be said: SHOW FASTPATH was not uploaded.")


def test_a_co_thread_of_two_cpus_is_drawn_with_neither() -> None:
    shown = map_of([node(), device("EIA0", 1), full(1, 5), full(2, 5)])
    assert {one.number: one.mate_said for one in shown.cpus if one.number in (1, 2, 5)}[5] == "displays disagree"
    assert not [core for core in shown.cores if len(core) > 1]


def test_a_co_thread_that_was_not_read_is_never_computed() -> None:
    shown = map_of([node(), *devices(), service(LOCKS, 5), full(5, 1)])
    assert [[one.number for one in core] for core in shown.cores] == [[0], [1, 5], [2], [3], [4], [6], [7]]
    assert {one.mate_said for one in shown.cpus} == {"not read", "CPU 1", "CPU 5"}
    unread = map_of([node(), *devices(), service(LOCKS, 5)])
    assert (unread.conflict, unread.chosen) == (None, None)
    assert "SHOW CPU/FULL" in unread.bring
    assert texts(picture(drawn(unread))).count("not read") == 8


def test_a_co_thread_that_is_stopped_or_missing_is_no_conflict() -> None:
    stopped = [one for one in skye() if not (isinstance(one, Cpu) and one.number == 1)]
    stopped = [one for one in stopped if not (isinstance(one, FastpathDevice) and one.cpu == 1)]
    shown = map_of([*stopped, full(1, 5, state="STOPPED")])
    assert (shown.chosen, shown.conflict) == (5, None)
    assert {one.number: one.state for one in shown.cpus}[1] == "stopped"
    alone = map_of([node(2.0), full(0, None), full(1, None), device("EIA0", 0), service(LOCKS, 1)])
    assert (alone.chosen, alone.conflict) == (1, None)
    assert "no co-thread" in alone.answer
    assert texts(picture(drawn(alone))).count("no co-thread") == 2


def test_what_was_not_brought_is_asked_for_and_nothing_is_judged_by_it() -> None:
    without = map_of([full(5, 1, process="LCKMGR_SERVER"), full(1, 5)])
    assert without.conflict is None
    assert without.bring[0] == "SHOW FASTPATH"
    assert "SHOW CPU/FULL" not in without.bring
    assert not map_of([]).cores
    assert map_of([]).bring[:2] == ("SHOW FASTPATH", "SHOW CPU/FULL")


def test_displays_that_disagree_are_not_believed() -> None:
    shown = map_of([*skye(), full(1, 7)])
    assert [core[0].mate_said for core in shown.cores if len(core) == 1].count("displays disagree") >= 2
    assert shown.conflict is None
    other = map_of([*[one for one in skye() if one != full(5, 1)], full(5, 1, process="PAYROLL_SRV")])
    assert (other.conflict, other.chosen) == (None, None)
    assert "shows another process" in other.answer


def test_a_machine_without_a_dedicated_lock_manager_gets_no_place() -> None:
    shown = map_of([node(2.0, hardware="VAX 7000-620"), device("EXA0", 1)])
    assert "for Alpha and Integrity" in shown.answer
    assert {one.place for one in shown.cpus} == {"not judged"}
    assert (shown.chosen, shown.cost) == (None, "")


def test_modes_tell_zero_from_what_is_missing_and_from_asterisks() -> None:
    modes = CpuModes(
        source=NOWHERE, statistic="mean", cpu=5, mp_synch_percent=0.0, kernel_percent=OVERFLOW, user_percent=250.0
    )
    one = by_number([*skye(), modes])[5]
    assert one.figures == (0.0, None, None, None, None)
    assert one.modes_said == (
        "MP synch 0 %, kernel asterisks, user not believed, interrupt not in the export, idle not in the export"
    )
    assert by_number(skye())[5].modes == ()
    assert map_of(skye()).bring == (CpuModes.COLLECTED_BY,)
    together = ProcessorModes(source=NOWHERE, statistic="mean", mp_synch_percent=50.0)
    assert "columns for each CPU" in map_of([*skye(), together]).bring[0]


def test_a_misread_number_of_cpus_neither_hangs_nor_fills_the_page() -> None:
    with no_longer_than(1):  # each CPU is looked up, not searched for
        shown = map_of([node(9999.0), device("EIA0", 1)])
        picture(drawn(shown))
    assert len(shown.cpus) == MOST_ROWS
    assert shown.left_out == 9999 - MOST_ROWS


def test_the_machine_of_the_slides_comes_out_right(real_exports: Path) -> None:
    folder = real_exports / "openvms"
    files = [str(folder / name) for name in ("show_fastpath.txt", "show_cpu_6_full.txt")]
    (capture,) = captures_of(read_exports(files, None))  # type: ignore[arg-type]  # no standard input here
    shown = cpu_map(capture.facts)
    cpus = {one.number: one for one in shown.cpus}
    assert len(cpus) == 8
    assert [[one.number for one in core] for core in shown.cores if len(core) == 2] == [[2, 6]]
    assert (shown.manager, shown.chosen, shown.conflict) == (6, 6, (6, 2))
    assert {one.number: one.moving for one in shown.cpus if one.moving} == {2: ("EWC0",)}
    assert (cpus[4].services, cpus[4].devices) == (("TCP/IP",), ("EWA0",))
    assert shown.bring[0] == "SHOW CPU/FULL"


def test_the_page_shows_the_conflict_with_its_finding_and_the_table_in_words(people: People, as_user: AsUser) -> None:
    audit = audited(people, skye(), "SKYE", "openvms")
    page = text_of(as_user(people.colleague), f"/audits/{audit.pk}/cpus/")
    finding = audit.findings.get(rule="openvms/lock_manager_cpu_shared")
    assert "<strong>Conflict.</strong>" in page
    assert f'href="/audits/{audit.pk}/#f{finding.number}"' in page
    assert "EIA0 <strong>(has to move first)</strong>" in page
    assert "here now, and it stays" in page
    assert "a T4 composite CSV of a busy day" in page
    assert as_user(people.stranger).get(f"/audits/{audit.pk}/cpus/").status_code == 404
    other = audited(people, contended())
    assert as_user(people.colleague).get(f"/audits/{other.pk}/cpus/").status_code == 404


def test_a_shared_core_that_the_rule_leaves_alone_is_no_warning(people: People, as_user: AsUser) -> None:
    four = [node(4.0), *(full(n, (n + 2) % 4) for n in range(4)), device("EIA0", 1), service(LOCKS, 3)]
    audit = audited(people, four, "SKYE", "openvms")
    page = text_of(as_user(people.colleague), f"/audits/{audit.pk}/cpus/")
    assert "Conflict." not in page
    assert "The audit asks for nothing here" in page
    assert "4 CPUs are too few to stop one for it" in page


def test_a_page_without_cpus_says_what_to_bring(people: People, as_user: AsUser) -> None:
    audit = audited(people, [replace(node(), active_cpus=ABSENT)], "SKYE", "openvms")
    page = text_of(as_user(people.colleague), f"/audits/{audit.pk}/cpus/")
    assert "No CPU is named" in page
    assert ">SHOW FASTPATH</code>" in page


@pytest.mark.parametrize("name", HOSTILE)
def test_a_hostile_device_node_and_service_are_text_in_the_picture(name: str) -> None:
    shown = map_of([node(), *cores(), device(name, 1), service(name, 2), service(LOCKS, 5)])
    made = drawn(replace(shown, node=name))
    picture(made)
    assert "<script>" not in made


def test_hostile_names_are_escaped_on_the_page(people: People, as_user: AsUser) -> None:
    evil = '</title><script>alert(1)</script>" onload="x'
    facts = [replace(node(), name=evil), *cores(), device(evil, 1), service(evil, 2), service(LOCKS, 5)]
    audit = audited(people, facts, "SKYE", "openvms")
    page = text_of(as_user(people.colleague), f"/audits/{audit.pk}/cpus/")
    assert "<script>alert" not in page
    assert '" onload="x' not in page
    assert "&lt;script&gt;alert(1)" in page
