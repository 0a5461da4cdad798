"""Whether a file of T4 or an output of MONITOR holds samples and time enough for a change that lasts."""

import pytest

from collectors.facts import Facts, Source
from collectors.facts.openvms import MonitorSample, ProcessorModes, T4Column, T4File
from rules.openvms._evidence.sampling import too_short
from rules.sample import samples_of

HERE = Source("monitor.txt", 1, 40)


@pytest.mark.parametrize(
    ("samples", "seconds", "says"),
    [
        (30, 600.0, None),
        (30, None, None),
        (None, 600.0, None),
        (29, 600.0, "29 samples in 600 s"),
        (30, 599.0, "30 samples in 599 s"),
        (29, None, "29 samples, of unknown length"),
        (None, 599.0, "an unknown number of samples in 599 s"),
        (None, None, "an unknown number of samples, of unknown length"),
    ],
)
def test_what_is_told_of_samples_and_time_decides(samples: int | None, seconds: float | None, says: str | None) -> None:
    facts = Facts((MonitorSample(source=HERE, kind="summary", samples=samples, seconds=seconds),))
    found = too_short(facts, HERE, 30, 10.0)
    assert (found or "").startswith(says or "")
    assert (found is None) is (says is None)


def test_a_screen_of_several_samples_is_left_to_the_gate_of_all_rules() -> None:
    screen = MonitorSample(source=HERE, kind="display", samples_at_least=3)
    assert too_short(Facts((screen,)), HERE, 30, 10.0) is None


def test_nothing_is_too_short_where_no_heading_tells() -> None:
    assert too_short(Facts(()), HERE, 30, 10.0) is None


@pytest.mark.parametrize(
    ("rows", "synch", "idle", "enough"),
    [
        (18, (180.0, 200.0, 220.0), (80.0, 100.0, 130.0), True),
        (18, (150.0, 200.0, 260.0), (80.0, 100.0, 130.0), False),
        (18, (180.0, 200.0, 220.0), (20.0, 200.0, 390.0), False),
        (14, (180.0, 200.0, 220.0), (80.0, 100.0, 130.0), False),
    ],
    ids=["all agree", "MP synch does not", "busy time does not", "too few even so"],
)
def test_half_as_many_samples_are_enough_where_all_agree(
    rows: int, synch: tuple[float, float, float], idle: tuple[float, float, float], enough: bool
) -> None:
    """Of T4 by its columns, of MONITOR by what it prints beside the average."""
    t4 = Facts(
        (
            T4File(source=HERE, rows=rows, interval_seconds=60.0),
            ProcessorModes(source=HERE, statistic="mean", mp_synch_percent=synch[1], idle_percent=idle[1], cpus=4.0),
            *(
                T4Column(source=HERE, group="MON.MODE", name=name, samples=rows, minimum=low, mean=mean, maximum=high)
                for name, (low, mean, high) in (("Mp Synch", synch), ("Idle Time", idle))
            ),
        )
    )
    monitor = Facts(
        (
            MonitorSample(source=HERE, kind="summary", samples=rows, seconds=60.0 * rows),
            *(
                ProcessorModes(source=HERE, statistic=name, mp_synch_percent=at, idle_percent=rest, cpus=4.0)
                for name, at, rest in zip(("minimum", "mean", "maximum"), synch, idle, strict=True)
            ),
        )
    )
    for facts in (t4, monitor):
        assert (too_short(facts, HERE, 30, 10.0) is None) is enough
        assert [one.agree for one in samples_of(facts)] == [enough or rows == 14]
