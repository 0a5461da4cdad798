"""Whether a file of T4 or an output of MONITOR holds samples and time enough for a change that lasts."""

import pytest

from collectors.facts import Facts, Source
from collectors.facts.openvms import MonitorSample
from rules.openvms._evidence.sampling import too_short

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
