"""What MONITOR RMS counts of a file decides what its locks are spared by."""

import pytest

from collectors.facts import Facts, Source
from collectors.facts.openvms import FileName, LockActivity, LockTree, MonitorItem
from rules.openvms._evidence.dominating import dominating
from rules.openvms._evidence.rms_use import use_of

FILE = "DISK$SALES:[DATA]PRICES.IDX;7"
SOURCE = Source("export.txt", 1, 1)


def facts(writes: float, *, name: str = FILE) -> Facts:
    rates = {"$GET Call Rate (Key)": 1200.0, "$PUT Call Rate (Key)": 0.0, "$UPDATE Call Rate": writes}
    return Facts(
        (
            LockActivity(
                source=SOURCE, report=1, nodes=("ORKNEY",), trees=1, total=2400.0, by_node=(("ORKNEY", 2400.0),)
            ),
            LockTree(
                source=SOURCE,
                report=1,
                name="524D53240709070000000053414C455320202020202020",
                total=2400.0,
                rates=(("ORKNEY", 2400.0),),
                master="ORKNEY",
            ),
            FileName(
                source=SOURCE,
                device="DISK$SALES",
                name=FILE,
                number=2311,
                sequence=7,
                volume_number=0,
                allocated_blocks=90000.0,
                bucket_blocks=8.0,
                global_buffers=0.0,
            ),
            *(
                MonitorItem(
                    source=SOURCE,
                    node="ORKNEY",
                    class_name=f"RMS FILE OPERATIONS {name}",
                    item=item,
                    mean=rate,
                    maximum=rate,
                )
                for item, rate in {**rates, "$DELETE Call Rate": 0.0}.items()
            ),
        )
    )


@pytest.mark.parametrize(
    ("writes", "name", "first", "last"),
    [
        (0.0, FILE, "open it for input alone", "For those that cannot, 2,000 global buffers"),
        (90.0, FILE, "90 that write", "Only a program that never writes it can open it for input alone."),
        (2.0, FILE, "where nothing is written, open it for input alone", "Where several write"),
        (90.0, "DISK$SALES:[DATA]OTHERS.IDX;1", "where nothing is written", "Where several write"),
    ],
)
def test_open_for_input_comes_first_only_where_nothing_is_written(
    writes: float, name: str, first: str, last: str
) -> None:
    found = dominating(facts(writes, name=name))
    assert found is not None
    assert -1 < found.do.find(first) < found.do.find(last), found.do


def test_a_file_that_was_not_shown_is_not_taken_for_one_that_is_never_written() -> None:
    assert use_of(facts(0.0, name="DISK$SALES:[DATA]OTHERS.IDX;1"), FILE) is None
    used = use_of(facts(0.0), FILE)
    assert used is not None
    assert used.only_read(frozenset({"ORKNEY"}))
    assert not used.only_read(frozenset({"ORKNEY", "SKYE"}))
