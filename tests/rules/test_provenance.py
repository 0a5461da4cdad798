"""What a figure of evidence is said to be computed as: the operation that made it, of the lines it cites."""

import pytest

from collectors.facts import Fact, Facts, Source
from collectors.facts.openvms import (
    ClusterMember,
    DedicatedLockManager,
    LockRates,
    MonitorSample,
    ProcessorModes,
    SysgenParameter,
    T4File,
)
from rules.finding import Evidence, Finding, Severity
from rules.provenance import facts_by_place, with_provenance

ROWS = Source("x", 5, 44)
DAY = T4File(source=ROWS, node="SKYE", interval_seconds=60.0)
SUMMARY = MonitorSample(source=Source("x", 1, 60), kind="summary")
SESSION = MonitorSample(source=Source("x", 1, 60), kind="display", samples=40)
RATES = LockRates(
    source=ROWS, statistic="mean", new_enq_per_second=10.5, converted_enq_per_second=20.0, deq_per_second=10.5
)
MODES = ProcessorModes(source=ROWS, statistic="mean", mp_synch_percent=31.4, cpus=8.0)


def computed(metric: str, value: float, *facts: Fact, at: Source = ROWS) -> str:
    finding = Finding("Y", Severity.NOTE, "t", "Seen.", (Evidence(metric, value, "", at),))
    return with_provenance(finding, facts_by_place(Facts(facts))).evidence[0].computed


@pytest.mark.parametrize(
    ("metric", "value", "file", "said"),
    [
        ("MP synch (mean)", 31.4, DAY, "as the mean of 40 lines"),
        ("MP synch (mean)", 31.4, SUMMARY, ""),
        ("MP synch (mean)", 31.4, SESSION, "from these lines"),
        ("lock operations", 41.0, DAY, "as the sum of three figures, each the mean of 40 lines"),
        ("lock operations", 41.0, SUMMARY, "as a sum"),
        ("CPUs", 8.0, DAY, "from these lines"),
        ("of all CPUs", 3.925, DAY, "from these lines"),
    ],
)
def test_a_mean_is_said_of_files_with_a_line_a_sample_alone(metric: str, value: float, file: Fact, said: str) -> None:
    assert computed(metric, value, file, MODES, RATES) == said


def test_a_percentile_that_is_the_mean_too_is_what_it_is_called() -> None:
    both = [DedicatedLockManager(source=ROWS, statistic=name, busy_percent=22.0) for name in ("mean", "p95")]
    assert computed("[LCK73]Busy % (p95)", 22.0, DAY, *both) == "as the 95th percentile of 40 lines"
    assert computed("[LCK73]Busy %", 22.0, DAY, *both) == "as the mean of 40 lines"


def test_what_happens_to_be_a_percentile_is_none() -> None:
    assert computed("share", 22.0, DAY, DedicatedLockManager(source=ROWS, statistic="p95", busy_percent=22.0)) == (
        "from these lines"
    )


def test_a_parameter_of_0_is_read_where_its_name_is_said() -> None:
    line = Source("sysgen.lis", 7, 7)
    read = SysgenParameter(source=line, name="FAST_PATH_PORTS", current=0.0)
    assert computed("FAST_PATH_PORTS", 0.0, read, at=line) == ""
    assert computed("ports without it", 0.0, read, at=line) == "from this line"


def test_a_weight_of_another_node_is_read_in_the_listing_of_that_node() -> None:
    line = Source("skye.lis", 7, 7)
    other = ClusterMember(
        source=ROWS, name="SKYE", lock_directory_weight=0.0, directory_weight_source=line, local_per_second=9.0
    )
    assert computed("LOCKDIRWT of SKYE", 0.0, other, at=line) == ""
    assert computed("local of SKYE", 9.0, other) == "as a sum"
