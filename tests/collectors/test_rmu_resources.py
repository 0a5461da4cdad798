"""What a stall of RMU/SHOW STATISTICS waits for."""

import pytest

from collectors.layouts.rmu import resource_of


@pytest.mark.parametrize(
    ("reason", "kind", "name"),
    [
        ("waiting for AIJ journal backup", "quiet", "AIJ journal backup"),
        ("waiting for aij  backup", "quiet", "aij backup"),
        ("waiting for AIJ journal", "aij", "journal"),
        ("waiting for quiet point lock", "quiet", "quiet"),
        ("waiting for snapshots enabled", "snapshot", "enabled"),
        ("waiting for record 61:2210:3", "record", "61:2210:3"),
    ],
)
def test_a_backup_of_the_journal_is_a_quiet_point_and_no_lock_to_look_for(reason: str, kind: str, name: str) -> None:
    assert resource_of(reason) == (kind, name)
