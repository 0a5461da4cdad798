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


@pytest.mark.parametrize(
    ("reason", "kind", "name"),
    [
        ("waiting for database freeze", "freeze", "freeze"),
        ("waiting for  Database  Freeze lock", "freeze", "freeze"),
        ("waiting for freeze lock", "freeze", "freeze"),
        ("waiting for database key scope", "other", "database key scope"),
        ("waiting for record 17:380:2", "record", "17:380:2"),
        ("database freeze", "io", "database freeze"),
    ],
)
def test_a_database_freeze_is_a_recovery_and_no_lock_with_a_holder_to_find(reason: str, kind: str, name: str) -> None:
    assert resource_of(reason) == (kind, name)
