"""RMU/DUMP/HEADER, SHOW LOCKS, SHOW SYSTEM, information tables: real excerpts, bounds, and damage of all kinds."""

import importlib
import io
import random
import textwrap
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from collectors.facts.base import ABSENT, known
from collectors.facts.rdb import Database, HeldLock, NoLocksShown, RowCache, StorageArea
from collectors.read import Input, read_stream
from collectors.registry import kinds, starting
from collectors.reports.rdb.information_tables.columns import FILE, table_of
from tests.yardstick import no_longer_than

FIXTURES = Path(__file__).parent.parent / "exports" / "rdb"
REPORTS = ("dump_header", "show_locks", "show_system", "information_tables")
CASES = [path for name in REPORTS for path in sorted((FIXTURES / name).glob("*.txt"))]
OWN = {"rmu_dump_header_row_caches.txt", "rmu_messages.txt"}


def read_text(text: str) -> list[Input]:
    return read_stream("export.txt", io.BytesIO(text.encode()))


def test_the_real_excerpt_of_a_header_is_read_to_the_last_line(real_exports: Path) -> None:
    (found,) = read_text((real_exports / "rdb" / "rmu_dump_header_row_caches.txt").read_text("latin-1"))
    (database,) = found.facts
    assert isinstance(database, Database)
    assert (database.active_row_caches, database.reserved_row_caches, database.nodes_warned) == (0, 1, 16)
    assert (database.after_image_journaling, database.fast_commit, database.maximum_nodes) == (False, False, ABSENT)
    assert len(database.warnings) == 3
    assert not database.source.tentative
    assert (found.problems, found.leftovers) == ([], [])


def test_the_real_message_that_no_locks_are_shown_is_read(real_exports: Path) -> None:
    (found,) = read_text((real_exports / "rdb" / "rmu_messages.txt").read_text("latin-1"))
    assert [type(fact) for fact in found.facts] == [NoLocksShown]


@pytest.mark.long
def test_nothing_but_their_own_displays_begins_one_of_these_reports(real_exports: Path) -> None:
    for path in sorted(real_exports.rglob("*.*")):
        if path.name in OWN or path.suffix == ".md":
            continue
        for line in path.read_text("latin-1").split("\n"):
            assert not {kind.id for kind in starting(line)} & {f"rdb/{name}" for name in REPORTS}, (path, line[:99])


@pytest.mark.parametrize("name", REPORTS)
def test_sample_of_the_docstring_is_read_without_leftovers(name: str) -> None:
    doc = importlib.import_module(f"collectors.reports.rdb.{name}").__doc__
    assert doc
    after = doc.split("Sample::\n")[1].split("\n")
    end = next(at for at, line in enumerate(after) if line and not line.startswith("    "))
    (found,) = read_text(textwrap.dedent("\n".join(after[:end])))
    assert found.report == f"rdb/{name}"
    assert found.facts
    assert (found.problems, found.leftovers) == ([], [])


@pytest.mark.parametrize(
    ("users", "printed", "nodes"),
    [(2032, 41, None), (2032, 42, 42), (50, 1, 1), (51, 2, None), (50, 2, 2), (120, 16, 16)],
)
def test_a_printed_node_count_is_believed_only_where_users_cannot_make_it(
    users: int, printed: int, nodes: int | None
) -> None:
    (found,) = read_text(f"Maximum user count is {users}\nMaximum node count is {printed}\n")
    (database,) = found.facts
    assert isinstance(database, Database)
    assert database.nodes == nodes


def test_many_thousand_locks_are_kept_up_to_the_bound_and_the_rest_is_counted() -> None:
    row = "Owner:      {:08X}  NIGHT RUN 2    6100B33C   00010004   PR       PR\n"
    rows = "".join(row.format(number) for number in range(45_000))
    with no_longer_than(10):
        (found,) = read_text(f"SHOW LOCKS Information\nResource: page 5\n{rows}")
    assert len(found.facts) == 20_000
    assert "only the first 20,000 rows were kept, 25,000 more were left out" in found.problems[-1]
    assert all(fact.display == "LOCKS" for fact in found.facts if isinstance(fact, HeldLock))


def test_a_listing_of_locks_ends_where_another_report_begins() -> None:
    text = (FIXTURES / "show_locks" / "blocking.txt").read_text() + (
        FIXTURES / "show_system" / "cut_off.txt"
    ).read_text()
    assert [found.report for found in read_text(text)] == ["rdb/show_locks", "rdb/show_system"]


def test_very_many_storage_areas_are_bounded() -> None:
    areas = "".join(f'Storage area "AREA_{number}"\n    Area ID number is {number}\n' for number in range(3_000))
    (found,) = read_text(f"Oracle Rdb structure level is 72.1\n{areas}")
    assert len([fact for fact in found.facts if isinstance(fact, StorageArea)]) == 2_000
    assert any("1,000 more storage areas" in problem for problem in found.problems)


def test_a_value_of_sql_that_is_broken_over_lines_is_put_together() -> None:
    name = "DISK$LEDGER:[LEDGER.A_LONG_DIRECTORY_NAME.ANOTHER_ONE]LEDGER_WITH_A_NAME.RDB;1"
    text = (
        f"SQL> select rdb$file_name, rdb$maj_ver from rdb$database;\n RDB$FILE_NAME\n   RDB$MAJ_VER\n {name[:60]}>>\n"
    )
    (found,) = read_text(f"{text} {name[60:]}\n            72\n1 row selected\n")
    (database,) = found.facts
    assert isinstance(database, Database)
    assert database.database == name
    assert not found.problems


def test_digits_of_other_scripts_and_five_thousand_digits_are_no_figures() -> None:
    (found,) = read_text(f"Maximum user count is 50\nMaximum node count is ٤\nGlobal buffer count is {'9' * 5000}\n")
    (database,) = found.facts
    assert isinstance(database, Database)
    assert (database.maximum_nodes, database.global_buffer_count) == (ABSENT, ABSENT)


def mutated(text: str, rng: random.Random) -> str:
    """Delete, double, cut and splice lines and characters."""
    lines = text.split("\n")
    for _ in range(rng.randint(1, 6)):
        at, other = rng.randrange(len(lines)), rng.randrange(len(lines))
        where = rng.randint(0, len(lines[at]))
        match rng.randrange(5):
            case 0:
                lines.insert(other, lines[at])
            case 1:
                lines[at] = lines[at][:where]
            case 2:
                lines[at] = lines[at][:where] + lines[other][rng.randint(0, len(lines[other])) :]
            case 3:
                lines[at] = lines[at][:where] + rng.choice('0*"%-,:;$>()\t٣é ') + lines[at][where:]
            case _:
                lines[at] = lines[at][:where] + lines[at][where + 1 :]
    return "\n".join(lines)


@settings(deadline=None, max_examples=200)
@given(path=st.sampled_from(CASES), seed=st.integers(0, 2**32))
def test_damage_gives_facts_problems_or_leftovers_and_never_an_error(path: Path, seed: int) -> None:
    for found in read_text(mutated(path.read_text(), random.Random(seed))):
        for fact in found.facts:
            assert 1 <= fact.source.first <= fact.source.last
            if isinstance(fact, RowCache):
                assert not known(fact.slots) or fact.slots >= 0


def test_every_reader_of_these_has_cases_of_its_own() -> None:
    ids = {kind.id for kind in kinds()}
    assert {f"rdb/{name}" for name in REPORTS} <= ids
    assert all(len(list((FIXTURES / name).glob("*.yml"))) >= 4 for name in REPORTS)


def test_the_table_of_the_database_is_told_by_its_file_name_and_one_column_of_its_own() -> None:
    assert table_of(["RDB$FILE_NAME", "RDB$MAJ_VER"]) == table_of(["rdb$cdd_path", "rdb$file_name"]) == FILE
    assert table_of(["RDB$FILE_NAME"]) is None
    assert table_of(["RDB$MAJ_VER", "RDB$CDD_PATH"]) is None
