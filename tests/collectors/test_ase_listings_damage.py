"""The readers of small listings against foreign lines, hostile lines and damage."""

import io
import random
from dataclasses import fields
from pathlib import Path

import pytest

from collectors.layouts.ase_catalog import clustered_of, is_system, scheme_of
from collectors.read import read_stream
from collectors.registry import REGISTER, kinds, starting
from tests.longer import first_of
from tests.yardstick import no_longer_than

HERE = Path(__file__).parent.parent / "exports" / "ase"
HANGS = 20.0
"""Seconds of CPU, whatever else the machine does: a pattern that goes back over a long line takes minutes."""
OURS = (
    "config_file",
    "lock_schemes",
    "memory_headroom",
    "sp_helpcache",
    "sp_helpconfig",
    "sp_lock",
    "sp_monitorconfig",
    "sp_object_stats",
    "sp_spaceused",
    "sp_who",
)
DIRT = ("|", "+--+", "--", "\t", "  ", ",", '"', "*", "9" * 5000, "\u0663", "<td>", "[", "]", "=", "KB", "-blk", "NULL")


@pytest.mark.parametrize(
    "line",
    [
        " lock scheme                    allpages              0 datarows     datarows     name                 static",
        " Parameter Name                 Default     Memory Used Config Value Run Value    Unit                 Type",
        " Cache Name         Status   Type     Config Value   Run Value",
        "cache_name,cacheid,config_size,run_size,overhead",
        " spid   fid    status    loginame   origname   hostname   blk_spid dbname     cmd              block_xloid",
        "The attribute 'exp_row_size' is not applicable to tables with allpages lock scheme.",
        "      Cache: default data cache",
        "[Lock]",
        "  Lock Management",
        " SpinlockName                   Grabs       Spins       Waits       OwnerPID    LastOwnerPID Contention",
        " DBID        ObjectID    IndexID     DBName      ObjectName  LogicalReads LockRequests LockWaits",
        " database_name            database_size",
        "Name : orders",
    ],
)
def test_lines_of_other_reports_do_not_start_ours(line: str) -> None:
    assert not [kind.id for kind in starting(line) if kind.id in {f"ase/{name}" for name in OURS}]


@pytest.mark.long
@first_of(
    1,
    "line",
    [
        "Object Name: " + "x(dbid=" * 20_000,
        "Name " * 40_000,
        "An additional 1" + "," * 100_000,
        "a " * 80_000 + "sets",
        "[Named Cache:" + "x " * 90_000,
        "Cache Name " + "-" * 100_000,
        "spid loid " + " locktype" * 20_000,
        "name" + " lockscheme" * 20_000,
        "Usage information at date and time: " + "Mar " * 50_000,
        "1.1" * 50_000 + "Mb of overhead memory will be needed to manage a cache of size 1",
    ],
)
def test_a_long_line_takes_no_long_time(line: str) -> None:
    kinds()
    with no_longer_than(HANGS):
        for name in OURS:
            REGISTER[f"ase/{name}"].starts.search(line)
        read_stream("x", io.BytesIO(f"{line}\n{line}\n".encode()))


@pytest.mark.long
def test_long_lines_within_a_listing_take_no_long_time() -> None:
    for name in OURS:
        texts = [path.read_text("utf-8") for path in sorted((HERE / name).glob("*")) if path.suffix != ".yml"]
        with no_longer_than(HANGS):
            for text in texts[:4]:
                lines = text.split("\n")
                lines[len(lines) // 2] = "x 1 " * 30_000
                lines.insert(2, "number of " * 15_000)
                read_stream("x", io.BytesIO("\n".join(lines).encode()))


@first_of(1, "times", [15, 150])
@pytest.mark.parametrize("report", OURS)
def test_damage_gives_facts_problems_and_leftovers_and_nothing_else(report: str, times: int) -> None:
    chance = random.Random(report)
    texts = [
        path.read_text(encoding="utf-8").split("\n")
        for path in sorted((HERE / report).glob("*"))
        if path.suffix != ".yml"
    ]
    for _ in range(times):
        lines = list(chance.choice(texts))
        for _ in range(chance.randint(1, 5)):
            at = chance.randrange(len(lines))
            cut = chance.randint(0, len(lines[at]))
            new = (lines[at][:cut], lines[at][cut:], lines[at][:cut] + chance.choice(DIRT) + lines[at][cut:])
            lines[at] = chance.choice(new)
            if len(lines) > 1 and chance.random() < 0.2:
                del lines[at]
        for found in read_stream("x", io.BytesIO("\n".join(lines).encode())):
            for fact in found.facts:
                assert 1 <= fact.source.first <= fact.source.last <= len(lines)
                for value in (getattr(fact, one.name) for one in fields(fact)):
                    assert not isinstance(value, float) or abs(value) < 1e25


def test_the_bits_of_a_lock_scheme_are_masked_with_the_sign_bit_set_too() -> None:
    assert [scheme_of(bits) for bits in (0, 8192, 16384, 32768, 49152)] == [
        "allpages",
        "allpages",
        "datapages",
        "datarows",
        None,
    ]
    assert scheme_of(-2147483648 + 32768 + 131072 + 64) == "datarows"
    assert clustered_of(-2147483648 + 131072)
    assert not clustered_of(-2147483648 + 32768)


def test_a_table_of_a_user_that_begins_like_a_system_table_is_no_system_table() -> None:
    assert is_system("SYSINDEXES")
    assert not is_system("sysadmin_notes")


def test_the_real_listing_of_usage_is_read_whole(real_exports: Path) -> None:
    with (real_exports / "ase" / "sp_monitorconfig_12.5_collapsed.txt").open("rb") as stream:
        (found,) = read_stream("real", stream)
    assert (found.report, len(found.facts), found.problems, found.leftovers) == ("ase/sp_monitorconfig", 15, [], [])
