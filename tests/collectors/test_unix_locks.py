"""/proc/locks and lslocks: what a yml cannot say. Length, cuts between blocks, hostile JSON, and one machine twice."""

import json
import random
from io import BytesIO
from pathlib import Path

import pytest

from collectors.capture import captures
from collectors.facts.unix import RecordLock, RecordLockTable
from collectors.layouts import record_locks
from collectors.layouts.record_locks import MOST_IDLE
from collectors.read import Input, read_stream
from collectors.registry import Outcome, Stream, starting
from collectors.reports.unix.cpu_frequency import CpuFrequencies
from collectors.reports.unix.lslocks import LONGEST_LOCK, MOST_TRIES, Lslocks
from collectors.reports.unix.proc_locks import ProcLocks
from tests.longer import first_of
from tests.yardstick import no_longer_than

EXPORTS = Path(__file__).parent.parent / "exports" / "unix"
HEAD = "COMMAND  PID  TYPE SIZE MODE   M START END PATH     BLOCKER"


def read(text: str) -> Input:
    (found,) = read_stream("locks.txt", BytesIO(text.encode()))
    return found


def table_of(found: Input) -> RecordLockTable:
    (table,) = [fact for fact in found.facts if isinstance(fact, RecordLockTable)]
    return table


def locks_of(found: Input) -> list[RecordLock]:
    return [fact for fact in found.facts if isinstance(fact, RecordLock)]


def test_of_a_very_long_listing_all_is_counted_and_every_waiter_is_kept_with_its_holder() -> None:
    lines = [f"{n}: FLOCK  ADVISORY  WRITE {n} fd:00:{n} 0 EOF" for n in range(1, 12_001)]
    waited_for = range(500, 12_000, 97)
    for n in waited_for:
        lines[n] += f"\n{n + 1}: -> FLOCK  ADVISORY  WRITE 7 fd:00:{n + 1} 0 EOF"
    found = read("\n".join(lines) + "\n")
    table, locks = table_of(found), locks_of(found)
    assert (table.locks, table.waiters) == (12_000, len(waited_for))
    assert table.source.last == 12_000 + len(waited_for)
    kept = [lock for lock in locks if lock.waits]
    assert [lock.number for lock in kept] == [n + 1 for n in waited_for]
    holders = {lock.number: lock.pid for lock in locks if not lock.waits}
    assert all(holders[lock.number] == lock.blocker == lock.number for lock in kept)
    assert len(locks) == MOST_IDLE + 2 * len(waited_for)
    assert table.not_kept == 12_000 + len(waited_for) - len(locks)


def test_beyond_the_bound_locks_are_counted_and_waiters_are_still_kept(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(record_locks, "MOST_HELD", 10)
    lines = [f"{n}: FLOCK  ADVISORY  WRITE {n} fd:00:{n} 0 EOF" for n in range(1, 31)]
    lines += [f"30: -> FLOCK  ADVISORY  WRITE {n} fd:00:30 0 EOF" for n in range(100, 130)]
    found = read("\n".join(lines) + "\n")
    table, locks = table_of(found), locks_of(found)
    assert (table.locks, table.waiters, table.not_kept) == (30, 30, 40)
    assert [lock.pid for lock in locks] == [*range(1, 11), *range(100, 110)]
    assert {lock.blocker for lock in locks if lock.waits} == {30}


def test_a_holder_far_below_its_waiter_is_kept_though_thousands_idle_before_it() -> None:
    row = "app {0:5} POSIX   4K {1} 0     0   9 /{2:<8}{3:>7}"
    rows = [row.format(7, "WRITE*", "f", 99_999)]
    rows += [row.format(n, "WRITE ", n, "") for n in range(1000, 1000 + MOST_IDLE + 50)]
    rows += [row.format(99_999, "WRITE ", "f", "")]
    found = read("\n".join([HEAD, *rows]) + "\n")
    assert not found.problems
    locks = locks_of(found)
    assert (locks[0].blocker, locks[-1].pid) == (99_999, 99_999)
    assert len(locks) == MOST_IDLE + 2
    assert table_of(found).not_kept == 50


@pytest.mark.parametrize(
    ("made", "name"),
    [
        (ProcLocks, "proc_locks/waiters_and_leases.txt"),
        (ProcLocks, "proc_locks/cut_off_and_wrapped.txt"),
        (Lslocks, "lslocks/table_with_blockers.txt"),
        (Lslocks, "lslocks/as_json.txt"),
        (Lslocks, "lslocks/json_cut_and_hostile.txt"),
        (CpuFrequencies, "cpu_frequency/grep_of_two_processors.txt"),
        (CpuFrequencies, "cpu_frequency/policies.txt"),
    ],
)
def test_where_the_blocks_are_cut_makes_no_difference(made: type, name: str) -> None:
    lines = (EXPORTS / name).read_text("utf-8").splitlines()
    first = next(index for index, line in enumerate(lines) if starting(line))

    def fed(pieces: list[list[str]]) -> Outcome:
        reader: Stream = made("x", lines[:first])
        at = first + 1
        for piece in pieces:
            assert reader.feed(at, piece) == len(piece)
            at += len(piece)
        return reader.close()

    whole, by_line = fed([lines[first:]]), fed([[line] for line in lines[first:]])
    assert whole == by_line
    assert whole.facts


def test_a_listing_ends_where_another_report_begins() -> None:
    text = "1: FLOCK  ADVISORY  WRITE 9 fd:00:5 0 EOF\n" + HEAD + "\nsome other text\n" + '{\n"locks": [\n]\n}\n'
    assert [one.report for one in read_stream("x", BytesIO(text.encode()))] == ["unix/proc_locks", "unix/lslocks"]
    text = '{\n   "locks": [\n      {\n         "command": "a",\n1: FLOCK  ADVISORY  WRITE 9 fd:00:5 0 EOF\n'
    found = read_stream("x", BytesIO(text.encode()))
    assert [one.report for one in found] == ["unix/lslocks", "unix/proc_locks"]
    assert "breaks off" in found[0].problems[0]


def test_who_blocks_stands_one_blank_behind_the_path_of_a_row_that_waits_and_nowhere_else() -> None:
    head = "COMMAND           PID   TYPE SIZE    INODE MAJ:MIN MODE   M START      END        PATH BLOCKER\n"
    row = "meterd           {:>4}  POSIX 310M  5120033    8:17 {} 0 0          0          /var/meter/day {}"
    found = read(head + row.format(4102, "WRITE*", "book.dat 4077\n") + row.format(4077, "WRITE ", "book 2024\n"))
    assert [(lock.path, lock.blocker) for lock in locks_of(found)] == [
        ("/var/meter/day book.dat", 4077),
        ("/var/meter/day book 2024", None),
    ]


@pytest.mark.parametrize(
    "lock",
    [
        '{"pid": ' + "9" * 5000 + "}",
        '{"pid": 1, "path": ' + "[" * 30_000 + "]" * 30_000 + "}",
        '{"pid": NaN, "type": "POSIX", "mode": "READ", "start": 1e999, "end": -Infinity}',
        '{"pid": 1, "type": "POSIX", "mode": "READ", "start": -5, "end": 9}',
        '{"pid": 1, "type": "POSIX", "mode": "READ", "start": 9, "end": 5}',
        '{"pid": 1, "type": "POSIX", "mode": "READ", "start": true, "end": "many"}',
        '{"path": "' + "x" * (LONGEST_LOCK + 10),
        "42",
        '"}"',
        "}",
    ],
)
def test_hostile_json_is_told_and_left_out_and_the_next_lock_is_read(lock: str) -> None:
    good = json.dumps({"pid": 2, "type": "POSIX", "mode": "READ", "m": False, "start": 0, "end": 9, "path": "/x"})
    found = read('{\n"locks": [\n' + lock + "\n},{\n" + good[1:] + "\n]\n}\n")
    assert len(found.problems) >= 1
    assert all(lock.pid == 2 for lock in locks_of(found))


@first_of(1, "indent", [3, None])
def test_json_of_many_locks_takes_time_that_grows_with_its_length(indent: int | None) -> None:
    one = {"command": "app", "pid": 7, "type": "POSIX", "mode": "WRITE", "m": False, "start": 0, "end": 9, "path": "/}"}
    text = json.dumps({"locks": [one] * 4000}, indent=indent).replace("\n      },\n      {", "\n      },{")
    with no_longer_than(3):
        assert table_of(read(text)).locks == 4000


def test_a_lock_that_never_ends_is_given_up_after_some_tries_and_the_next_one_is_read() -> None:
    good = '{"pid": 2, "type": "POSIX", "mode": "READ", "start": 0, "end": 9}'
    found = read('{"locks": [\n{"a": [\n' + '"}",\n' * (MOST_TRIES + 5) + good + "\n]}\n")
    assert [lock.pid for lock in locks_of(found)] == [2]
    assert "line 2: no lock as lslocks writes it" in found.problems[0]


def test_any_damage_of_a_listing_is_read_without_an_error_and_no_lock_gets_a_start_beyond_its_end() -> None:
    chance = random.Random(3)
    texts = [path.read_text("utf-8") for path in sorted(EXPORTS.glob("*locks/*.txt"))]
    for _ in range(500):
        letters = list(chance.choice(texts))
        for _ in range(chance.randrange(1, 12)):
            at = chance.randrange(len(letters))
            letters[at : at + chance.randrange(3)] = chance.choice(["", " ", "9", "\n", '"', "{", "*", "EOF", "\x00"])
        for found in read_stream("x", BytesIO("".join(letters).encode())):
            for fact in found.facts:
                if isinstance(fact, RecordLock):
                    assert fact.start >= 0
                    assert fact.end is None or fact.end >= fact.start, "".join(letters)
                    assert fact.kind == fact.kind.upper()


def test_both_listings_of_the_same_machine_say_the_same(real_exports: Path) -> None:
    by_report: dict[str, set[tuple[object, ...]]] = {}
    for name in ("proc_locks.txt", "lslocks_output_all.txt"):
        found = read((real_exports / "unix" / name).read_text("utf-8"))
        assert not found.problems
        assert not found.leftovers
        assert (table_of(found).locks, table_of(found).waiters) == (3, 1)
        by_report[name] = {
            (one.kind, one.mode, one.pid, one.device, one.inode, one.start, one.end, one.waits, one.blocker)
            for one in locks_of(found)
        }
    assert by_report["proc_locks.txt"] == by_report["lslocks_output_all.txt"]
    assert ("POSIX", "WRITE", 15671, "254:0", 10297347, 5, 14, True, 15630) in by_report["proc_locks.txt"]


def test_listings_of_one_host_each_name_another_one() -> None:
    listing = (EXPORTS / "proc_locks").glob("*.txt")
    text = min(path.read_text() for path in listing)
    found = [read_stream(f"day/locks{n}.txt", BytesIO(text.encode()))[0] for n in (1, 2, 3)]
    assert len(captures(found)) >= 1
    named = [next(said for said in one.problems if "taken for a sample" in said) for one in found]
    assert [said.split(" of the one that ")[1].split(" is of")[0] for said in named] == [
        *("locks2.txt", "locks3.txt", "locks1.txt"),
    ]
