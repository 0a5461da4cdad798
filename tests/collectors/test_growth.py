"""Twice the uploads take twice the work: what is counted is calls of functions, never time."""

import io
import sys
from collections.abc import Callable
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any

import pytest

from collectors import capture, cluster
from collectors.capture import captures
from collectors.facts import Source
from collectors.facts.ase import Server, Snapshot, SysmonSample
from collectors.facts.openvms import ClusterMember, ClusterNode, DistributedLockRates, Node, T4File
from collectors.read import Input, read_stream

EXPORTS = Path(__file__).parent.parent / "exports"
UPLOADED = (
    "rdb/dump_header/called_by_a_logical_name.txt",
    "rdb/statistics/by_field_and_records.txt",
    "openvms/show_cpu/brief.txt",
    "openvms/show_cluster/weights_added.txt",
    "openvms/show_fastpath/no_active_count.txt",
    "unix/proc_locks/about_the_file.txt",
    "ase/config_file/whole_file.txt",
)
"""Of several products: some name their system, others do not. No SHOW SYSTEM of Rdb: each goes to every database."""
LINEAR = 2.5
"""Work of 2N by work of N: 2 where it is in proportion, 4 where it grows with the square."""


def calls_of(work: Callable[[], object]) -> int:
    """How many functions `work` calls, those of C included."""
    count = 0

    def count_call(_frame: object, event: str, _arg: object) -> None:
        nonlocal count
        count += event in ("call", "c_call")

    sys.setprofile(count_call)
    try:
        work()
    finally:
        sys.setprofile(None)
    return count


def upload(many: int, in_folder: int, *, on_command_line: bool) -> list[Input]:
    """So many exports, so many in each folder; each round of `UPLOADED` speaks of a node and a database of its own."""
    paths = [EXPORTS / name for name in UPLOADED]
    found: list[Input] = []
    for number in range(many):
        path, of = paths[number % len(paths)], number // len(paths)
        text = path.read_text(encoding="latin-1").replace("PAYROLL", f"PAY{of:04}").replace("NODEA", f"N{of:04}")
        name = f"folder{number // in_folder}/{number}{path.suffix}"
        for one in read_stream(name, io.BytesIO(text.encode("latin-1"))):
            one.given = name if on_command_line else "exports.zip"
            found.append(one)
    return found


@pytest.mark.parametrize("in_folder", [1, 8, 10_000])
@pytest.mark.parametrize("on_command_line", [False, True])
def test_sorting_an_upload_grows_with_the_number_of_its_files(in_folder: int, on_command_line: bool) -> None:
    captures(upload(80, in_folder, on_command_line=on_command_line))  # patterns and modules are loaded once
    few, many = (upload(count, in_folder, on_command_line=on_command_line) for count in (80, 160))
    assert calls_of(lambda: captures(many)) < LINEAR * calls_of(lambda: captures(few))


NEW_YEAR = datetime(2026, 1, 1, 10, 0)  # noqa: DTZ001 - exports have no zone
MANY = 60


def nodes_of_a_cluster(many: int, *, listed: bool) -> list[Input]:
    """The same hour of so many nodes; `listed`: the first one's SHOW CLUSTER names all of them."""
    found: list[Input] = []
    for number in range(many):
        source = Source(f"N{number}.csv", 1, 1)
        start = NEW_YEAR + timedelta(seconds=number)
        parts: dict[str, Any] = {
            f"{what}_{where}": 900.0 for what in ("enq", "convert", "deq") for where in ("incoming", "outgoing")
        }
        name = f"N{number}"
        rates = DistributedLockRates(source=source, statistic="mean", enq_local=1.0, convert_local=1.0, **parts)
        facts = [
            Node(source=source, name=name),
            T4File(source=source, start=start, end=start + timedelta(hours=1)),
            rates,
        ]
        if listed and not number:
            facts += [ClusterNode(source=source, name=f"N{other}") for other in range(many)]
        found.append(Input(source.file, "openvms/t4", facts))
    return found


def count_calls(monkeypatch: pytest.MonkeyPatch, module: Any, name: str) -> list[object]:
    """What a function of a module is called with from now on."""
    calls: list[object] = []
    whole = getattr(module, name)

    def counted(*given: Any, **named: Any) -> Any:
        calls.append(given)
        return whole(*given, **named)

    monkeypatch.setattr(module, name, counted)
    return calls


@pytest.mark.parametrize("listed", [False, True])
def test_each_node_of_a_cluster_is_looked_at_once(listed: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    looks = [count_calls(monkeypatch, cluster, name) for name in ("_member", "_named_by", "_files")]
    found = captures(nodes_of_a_cluster(MANY, listed=listed))
    assert all(len(one.facts.every(ClusterMember)) == MANY for one in found)
    assert {len([1 for own in one.facts.every(ClusterMember) if own.own]) for one in found} == {1}
    assert [len(calls) for calls in looks] == [MANY] * 3


def test_nodes_that_nothing_links_are_held_against_each_other_by_time_once(monkeypatch: pytest.MonkeyPatch) -> None:
    """Of one hour, and too little crosses to tell a cluster: no figure of them is read again for each other one."""
    inputs = nodes_of_a_cluster(MANY, listed=False)
    for one in inputs:
        one.facts[1] = T4File(source=one.facts[1].source, start=NEW_YEAR, end=NEW_YEAR + timedelta(hours=1))
        one.facts[2] = DistributedLockRates(source=one.facts[2].source, statistic="mean", enq_local=1.0)
    held, read_again = (count_calls(monkeypatch, cluster, name) for name in ("shared_part", "_asked_and_served"))
    assert not any(one.facts.every(ClusterMember) for one in captures(inputs))
    assert len(held) == 1
    assert len(read_again) == MANY


def test_an_interval_of_snapshots_is_held_against_the_samples_of_its_hours_alone(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    inputs: list[Input] = []
    for number in range(MANY):
        source, start = Source(f"{number}.txt", 1, 1), NEW_YEAR + timedelta(hours=3 * number)
        end = start + timedelta(minutes=10)
        sample = SysmonSample(source=source, start=start, end=end, seconds=600.0)
        inputs.append(Input(source.file, "ase/sp_sysmon", [Server(source=source, name="ALDER"), sample]))
        pair = Snapshot(source=source, number=2, server="ALDER", taken=end, previous=start, earlier=source)
        inputs.append(Input(f"mon_{source.file}", "ase/monitor_tables", [pair]))
    samples = [[one] for one in inputs[::2]]
    held = count_calls(monkeypatch, capture, "shared_part")
    found = capture._with_intervals(samples, inputs[1::2])
    assert [[one.file for one in sample] for sample in found] == [[f"{n}.txt", f"mon_{n}.txt"] for n in range(MANY)]
    assert len(held) == MANY
