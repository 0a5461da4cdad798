"""Programs as collectors: what they write and print is kept, and nothing of them outlives the call."""

import os
import re
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from collectors.live.processes import MARK
from collectors.live.program import Program, programs
from collectors.live.registry import CollectorFailed, Target
from tests.servers import PATIENCE

Make = Callable[..., Program]
TARGET = Target("CLAIMS1", "ase", most_bytes=1 << 20)


@pytest.fixture
def make(tmp_path: Path) -> Make:
    """Make a program of a shell script."""
    folder = tmp_path / "collectors"
    folder.mkdir(mode=0o755)

    def script(text: str, name: str = "sysmon") -> Program:
        path = folder / name
        path.write_text(f"#!/bin/sh\n{text}\n")
        path.chmod(0o755)
        return Program(path)

    return script


@pytest.fixture
def exports(tmp_path: Path) -> Path:
    folder = tmp_path / "exports"
    folder.mkdir()
    return folder


def test_what_it_writes_and_what_it_prints_are_exports(make: Make, exports: Path) -> None:
    make('echo "for $1 of $LOCKWRIGHT_PRODUCT"; echo cache > caches.txt').collect(TARGET, exports, PATIENCE)
    found = {path.name: path.read_text() for path in exports.iterdir()}
    assert found == {"output.txt": "for CLAIMS1 of ase\n", "caches.txt": "cache\n"}


def test_what_it_prints_takes_the_place_of_no_file(make: Make, exports: Path) -> None:
    make("echo printed; echo written > output.txt; ln -s /nowhere 2-output.txt").collect(TARGET, exports, PATIENCE)
    assert (exports / "output.txt").read_text() == "written\n"
    assert (exports / "3-output.txt").read_text() == "printed\n"


def test_one_that_says_nothing_writes_nothing(make: Make, exports: Path) -> None:
    make("true").collect(TARGET, exports, PATIENCE)
    assert list(exports.iterdir()) == []


def test_it_is_given_the_name_as_one_argument_and_nothing_of_ours(
    make: Make, exports: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("SECRET_KEY", "do not tell")
    name = "CLAIMS 1; touch $(pwd)/oops `id` 'x'"
    make('printf "%s|%s\\n" "$#" "$1"; env; pwd; cat').collect(Target(name, "ase"), exports, PATIENCE)
    assert [path.name for path in exports.iterdir()] == ["output.txt"]
    said = (exports / "output.txt").read_text().splitlines()
    assert said[0] == f"1|{name}"
    assert str(exports) in said
    names = {line.partition("=")[0] for line in said[1:] if "=" in line}
    assert names <= {"PATH", "HOME", "LANG", "TZ", "PWD", "OLDPWD", "SHLVL", "_", MARK} | {
        "LOCKWRIGHT_PRODUCT",
        "LOCKWRIGHT_SECONDS",
    }


@pytest.mark.parametrize("name", ["-rf", "", "a\nb", "a\0b", "\u202eAB"])
def test_a_name_that_could_steer_a_program_is_not_given_to_it(make: Make, exports: Path, name: str) -> None:
    with pytest.raises(CollectorFailed, match="cannot be given to a program: rename the system"):
        make("touch called").collect(Target(name, "ase"), exports, PATIENCE)
    assert not list(exports.iterdir())


def test_a_failure_tells_the_status_and_the_end_of_what_it_said(make: Make, exports: Path) -> None:
    failing = make("head -c 5000 /dev/zero | tr '\\0' x >&2; printf '\\033[2Jlogin failed\\n' >&2; exit 3")
    with pytest.raises(CollectorFailed) as failed:
        failing.collect(TARGET, exports, PATIENCE)
    assert failed.value.says.startswith("the program sysmon ended with status 3: xxx")
    assert failed.value.says.endswith("x [2Jlogin failed")
    assert len(failed.value.says) < 2100
    assert failed.value.do == f"call it by hand in an empty folder: {failing.path} CLAIMS1"


def test_one_that_a_signal_ends_has_failed(make: Make, exports: Path) -> None:
    with pytest.raises(CollectorFailed, match="was ended by signal 9"):
        make("echo half; kill -9 $$").collect(TARGET, exports, PATIENCE)


@pytest.mark.parametrize(
    "flood",
    ["yes", "yes >&2", "yes > flood.txt", "while :; do head -c 100000 /dev/zero > $((n=n+1)); done"],
    ids=["printed", "said", "one file", "many files"],
)
def test_one_that_floods_is_ended(make: Make, exports: Path, flood: str) -> None:
    with pytest.raises(CollectorFailed, match="wrote 1 MB or more: have it write less"):
        make(f"{flood}\ntrue").collect(TARGET, exports, PATIENCE)
    assert sum(path.stat().st_size for path in exports.iterdir()) < 200 << 20


def test_no_file_of_it_grows_beyond_what_it_may_bring(make: Make, exports: Path) -> None:
    make("ulimit -f; ulimit -c").collect(TARGET, exports, PATIENCE)
    blocks, core = (exports / "output.txt").read_text().split()
    assert blocks in ("2048", "1024"), "a megabyte, in the blocks of this shell"
    assert core == "0"


def test_one_that_makes_files_without_end_is_ended(make: Make, exports: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("collectors.live.program.MOST_FILES", 50)
    with pytest.raises(CollectorFailed, match="wrote 50 files or more"):
        make("while :; do mkdir $((n=n+1)); done").collect(TARGET, exports, PATIENCE)


def test_one_that_hangs_is_ended_with_its_children_at_the_time_out(make: Make, exports: Path) -> None:
    hanging = make(
        "trap '' TERM; sleep 3000 & echo $! > ../one; setsid sleep 3000 & echo waiting >&2; wait; sleep 3000"
    )
    with pytest.raises(CollectorFailed, match=r"did not end within 3 s: waiting: call it by hand"):
        hanging.collect(TARGET, exports, 3)
    assert not _alive()


def test_a_polite_one_may_clean_up_at_the_time_out(make: Make, exports: Path) -> None:
    with pytest.raises(CollectorFailed, match="did not end within 3 s"):
        make("trap 'echo stopped > ../stopped; exit 1' TERM; echo on > started; sleep 3000 & wait").collect(
            TARGET, exports, 3
        )
    assert (exports.parent / "stopped").exists()


def test_children_that_stay_are_ended_with_it(make: Make, exports: Path) -> None:
    staying = "sleep 3000 & setsid sleep 3000 & (setsid sh -c 'sleep 3000; true' &) & echo done"
    make(f"{staying}; sleep 0.2").collect(TARGET, exports, PATIENCE)
    assert (exports / "output.txt").read_text() == "done\n"
    assert not _alive()


def test_what_a_killed_worker_left_behind_is_ended_by_the_next_call(make: Make, exports: Path) -> None:
    slow = make("setsid sleep 3001 & sleep 3000")
    worker = os.fork()
    if not worker:
        try:
            slow.collect(TARGET, exports, PATIENCE)
        finally:
            os._exit(1)
    until = time.monotonic() + PATIENCE
    while len(_alive(worker)) < 3 and time.monotonic() < until:
        time.sleep(0.02)
    os.kill(worker, 9)
    os.waitpid(worker, 0)
    while len(_alive(worker)) > 2 and time.monotonic() < until:
        time.sleep(0.02)
    # the program has died with its worker; its children were not told, unless a test beside this one has ended them
    assert len(_alive(worker)) <= 2
    make("true", "other").collect(TARGET, exports, PATIENCE)
    assert not _alive(worker)


def test_what_another_worker_has_running_is_left_alone(make: Make, exports: Path, tmp_path: Path) -> None:
    slow = make("echo on > ../on; sleep 1; echo done")
    worker = os.fork()
    if not worker:
        status = 1
        try:
            slow.collect(TARGET, exports, PATIENCE)
            status = 0
        finally:
            os._exit(status)
    until = time.monotonic() + PATIENCE
    while not (tmp_path / "on").exists() and time.monotonic() < until:
        time.sleep(0.02)
    mine = tmp_path / "mine"
    mine.mkdir()
    make("true", "other").collect(TARGET, mine, PATIENCE)
    assert os.waitpid(worker, 0)[1] == 0
    assert (exports / "output.txt").read_text() == "done\n"


def test_one_that_cannot_be_started_says_so(make: Make, exports: Path) -> None:
    program = make("")
    program.path.write_text("#!/no/such/interpreter\n")
    with pytest.raises(
        CollectorFailed, match=r"cannot be started \(No such file or directory\): it must begin with #!"
    ):
        program.collect(TARGET, exports, PATIENCE)
    program.path.write_bytes(b"\x7fnothing that runs")
    with pytest.raises(CollectorFailed, match=r"cannot be started \(Exec format error\)"):
        program.collect(TARGET, exports, PATIENCE)


def test_programs_of_a_folder_are_found_by_name_and_what_is_no_program_is_left(make: Make) -> None:
    folder = make("", "b.sh").path.parent
    make("", "a")
    make("", ".hidden")
    (folder / "README").write_text("not executable")
    (folder / "room").mkdir()
    found = programs(folder)
    assert [one.name for one in found.found] == ["a", "b.sh"]
    assert found.found[0].title == "the program a"
    assert found.refused == ()
    assert programs(folder / "nowhere") == programs(folder / "nowhere" / "at all")
    assert programs(folder / "nowhere").found == ()


def test_programs_others_could_change_are_refused_with_the_remedy(make: Make, tmp_path: Path) -> None:
    folder = make("", "writable").path.parent
    (folder / "writable").chmod(0o775)
    make("", "bad name; $(x)\x1b")
    (folder / "link").symlink_to("/bin/true")
    if os.geteuid() == 0:
        os.chown(make("", "others").path, 12345, 0)
    refused = programs(folder).refused
    assert programs(folder).found == ()
    text = "\n".join(refused)
    assert "writable': others may write to it: take that away (chmod go-w)" in text
    assert "link': it is a link: put the program itself there" in text
    assert "give it a name of letters" in text
    assert "\x1b" not in text
    assert len(refused) == (4 if os.geteuid() == 0 else 3)
    assert os.geteuid() or "others': it belongs to somebody else: give it to root (chown root)" in text


def test_a_folder_others_could_change_holds_no_programs(make: Make, exports: Path) -> None:
    program = make("echo called")
    program.path.parent.chmod(0o777)
    assert programs(program.path.parent).found == ()
    assert "chmod go-w" in programs(program.path.parent).refused[0]
    with pytest.raises(CollectorFailed, match="is not called: others may write to it"):
        program.collect(TARGET, exports, PATIENCE)


def test_what_became_of_a_program_after_it_was_listed_counts(make: Make, exports: Path) -> None:
    program = make("echo called")
    assert programs(program.path.parent).found == (program,)
    program.path.chmod(0o757)
    with pytest.raises(CollectorFailed, match="is not called: others may write to it"):
        program.collect(TARGET, exports, PATIENCE)
    program.path.unlink()
    with pytest.raises(CollectorFailed, match="cannot be looked at"):
        program.collect(TARGET, exports, PATIENCE)


def _alive(worker: int = 0) -> list[int]:
    """The processes that a worker started, or we: those of other tests are none of our business."""
    mark = re.compile(rf"{MARK}=[0-9]*\.{worker or os.getpid()}\.".encode())
    found = []
    for place in Path("/proc").glob("[0-9]*"):
        try:
            if mark.search((place / "environ").read_bytes()):
                found.append(int(place.name))
        except OSError:
            continue
    return found
