"""`manage.py collect` as a person calls it: the password stays unseen, the result is a zip that `audit` reads."""

import json
import os
import pty
import re
import signal
import stat
import subprocess
import sys
import time
import zipfile
from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace
from pathlib import Path

import pytest

from advisor.schedules.management.commands.collect import Command
from collectors.live.ase import collect, order_of, parse
from collectors.live.ase.questions import text
from collectors.live.processes import PROC
from tests.advisor.core.test_commands import here
from tests.live.running import ROOT, Serving, serving
from tests.longer import first_of
from tests.servers import PATIENCE

MANAGE = [sys.executable, str(ROOT / "manage.py")]


@pytest.fixture(scope="module")
def server() -> Iterator[Serving]:
    with serving(release="16.0", pace=60.0) as one:
        yield one


def call(*words: str, folder: Path, password: str = "") -> "subprocess.CompletedProcess[str]":
    """Call `manage.py` in a folder."""
    told = {"LOCKWRIGHT_PASSWORD": password} if password else {}
    environment: Mapping[str, str] = {**os.environ, **told}
    return subprocess.run(
        [*MANAGE, *words],
        cwd=folder,
        env=environment,
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        timeout=PATIENCE,
    )


Refused = Callable[..., "subprocess.CompletedProcess[str]"]


@pytest.fixture
def called_here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Refused:
    """Call `manage.py collect` without a process of its own."""

    def now(*words: str, password: str = "", **more: str) -> "subprocess.CompletedProcess[str]":
        monkeypatch.chdir(tmp_path)
        for name, value in more.items():
            monkeypatch.setenv(name, value)
        if password:
            monkeypatch.setenv("LOCKWRIGHT_PASSWORD", password)
        argv, status = ["manage.py", "collect", *words], 0
        try:
            Command().run_from_argv(argv)
        except SystemExit as end:
            status = int(end.code or 0)
        return subprocess.CompletedProcess(argv, status, *capsys.readouterr())

    return now


def address(server: Serving) -> str:
    return f"ase://{server.user}@{server.host}:{server.port}/"


def test_a_collection_is_one_zip_named_by_server_and_time_and_the_next_command_is_said(
    server: Serving, tmp_path: Path
) -> None:
    done = call("collect", address(server), "--seconds", "1", folder=tmp_path, password=server.password)
    assert done.returncode == 0, done.stderr
    (path,) = tmp_path.iterdir()
    assert re.fullmatch(r"TIDEWAY-[0-9]{8}-[0-9]{6}\.zip", path.name)
    assert f"next:    manage.py audit {path.name}" in done.stdout
    assert "TIDEWAY: Adaptive Server Enterprise/16.0" in done.stdout
    assert server.password not in done.stdout + done.stderr
    assert done.stderr == ""
    with zipfile.ZipFile(path) as archive:
        everything = b"".join(archive.read(name) for name in archive.namelist())
    assert server.password.encode() not in everything
    audit = here("audit", path, "--format", "json")
    assert audit.returncode in (0, 1), audit.stderr
    (capture,) = json.loads(audit.stdout)["captures"]
    assert (capture["system"]["name"], capture["system"]["processors"]) == ("TIDEWAY", 8)


@first_of(
    1,
    "connection",
    ["ase://u:{}@127.0.0.1:1/", "DRIVER=FreeTDS;SERVER=127.0.0.1;UID=u;PWD={}", "SERVER=a;UID=u;Pass Word={{{}}}"],
)
@pytest.mark.parametrize("product", ["ase", "rdb"])
def test_a_password_in_the_connection_is_refused_with_the_safe_ways_and_nobody_is_asked(
    connection: str, product: str, tmp_path: Path, called_here: Refused
) -> None:
    if product == "rdb":
        connection = "DSN=ledger;UID=u;PWD={}"
    done = called_here("--product", product, connection.format("s3cr3t"), password="another")
    assert done.returncode == 2
    assert "a password stands in the connection" in done.stderr
    assert "LOCKWRIGHT_PASSWORD, or in a file of your own that LOCKWRIGHT_PASSWORD_FILE names" in done.stderr
    assert "s3cr3t" not in done.stdout + done.stderr
    assert list(tmp_path.iterdir()) == []


def test_the_password_may_stand_in_a_file(
    server: Serving, tmp_path: Path, tmp_path_factory: pytest.TempPathFactory, called_here: Refused
) -> None:
    secret = tmp_path_factory.mktemp("secrets") / "secret"
    secret.write_text(f"{server.password}\n")
    words = [address(server), "--seconds", "1", "--out"]
    done = called_here(*words, "mine.zip", LOCKWRIGHT_PASSWORD_FILE=str(secret))
    assert done.returncode == 0, done.stderr
    assert "the login has sa_role" in done.stdout, "and a login that may do more is warned of"
    assert stat.S_IMODE((tmp_path / "mine.zip").stat().st_mode) == 0o600
    secret.unlink()
    done = called_here(*words, "other.zip", LOCKWRIGHT_PASSWORD_FILE=str(secret))
    assert done.returncode == 2
    assert "LOCKWRIGHT_PASSWORD_FILE=" in done.stderr


def test_the_result_as_json_is_the_manifest_and_the_file(server: Serving, called_here: Refused) -> None:
    words = ["--seconds", "1", "--format", "json", "--out", "mine.zip", "--without", "tables", "--sysmon", "00:00:05"]
    done = called_here(address(server), *words, password=server.password)
    assert done.returncode == 0, done.stderr
    said = json.loads(done.stdout)
    assert (said["contract"], said["file"], said["server"]) == ("collect/1", "mine.zip", "TIDEWAY")
    assert {"question": "tables", "why": "left out as was asked for", "do": ""} in said["left_out"]
    assert "sp_sysmon.txt" in {one["file"] for one in said["files"]}
    again = called_here(address(server), *words, password=server.password)
    assert again.returncode == 2
    assert "mine.zip is there already: name another file" in again.stderr


def test_on_a_terminal_the_password_is_asked_for_and_not_shown(server: Serving, tmp_path: Path) -> None:
    ours, theirs = pty.openpty()
    words = [*MANAGE, "collect", address(server), "--seconds", "1"]
    environment = {name: value for name, value in os.environ.items() if name != "LOCKWRIGHT_PASSWORD"}
    running = subprocess.Popen(
        words,
        cwd=tmp_path,
        env=environment,
        stdin=theirs,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        start_new_session=True,  # else it would ask the terminal that these tests were started from
    )
    assert running.stderr
    said = b""
    while not said.endswith(b": "):  # what is typed before the question is thrown away
        said += os.read(running.stderr.fileno(), 1000)
    os.write(ours, f"{server.password}\n".encode())
    out, err = running.communicate(timeout=PATIENCE)
    os.close(ours)
    os.close(theirs)
    assert running.returncode == 0, err
    assert said.decode() == f"Password of {server.user} at {server.host}:{server.port}: "
    assert server.password.encode() not in out + err


@first_of(
    3,
    ("words", "says"),
    [
        ([], "say which server: ase://USER@HOST:PORT/"),
        (["http://x/"], "the connection cannot be read"),
        (["ase://u@127.0.0.1:1/"], "127.0.0.1:1 refuses the connection: see that the port is right"),
        (["ase://u@h/", "--seconds", "0"], "0 s between two snapshots: give 1 to 3,600 seconds"),
        (["ase://u@h/", "--seconds", "nan"], "nan s between two snapshots"),
        (["ase://u@h/", "--sysmon", "1 minute"], "a sample of '1 minute': give HH:MM:SS"),
        (["ase://u@h/", "--sysmon", "99:00:00"], "give HH:MM:SS, at most one hour"),
        (["ase://u@h/", "--without", "nothing"], "there is no question 'nothing' to leave out: it is one of switches,"),
        (["ase://u@127.0.0.1:1/", "--out", "/no/such/folder/x.zip"], "there is no folder /no/such/folder"),
    ],
)
def test_what_cannot_be_done_ends_with_status_2_and_what_to_do(
    tmp_path: Path, called_here: Refused, words: list[str], says: str
) -> None:
    done = called_here(*words, password="x")
    assert done.returncode == 2
    assert says in done.stderr
    assert done.stdout == ""
    assert "Traceback" not in done.stderr
    assert list(tmp_path.iterdir()) == []


def test_a_wrong_password_is_not_repeated(server: Serving, called_here: Refused) -> None:
    done = called_here(address(server), password="wrong one")
    assert done.returncode == 2
    assert f"refuses the login {server.user}" in done.stderr
    assert "wrong one" not in done.stderr


def test_the_questions_are_printed_as_they_stand(called_here: Refused) -> None:
    done = called_here("--questions")
    assert (done.returncode, done.stdout.strip()) == (0, text().strip())


def test_no_process_shows_the_password_in_its_arguments_or_environment(server: Serving, tmp_path: Path) -> None:
    seen: list[bytes] = []
    secret = server.password.encode()

    def look(doing: str) -> None:
        for place in PROC.glob("[0-9]*"):
            try:
                shown = (place / "cmdline").read_bytes() + (place / "environ").read_bytes()
            except OSError:  # ended meanwhile
                continue
            if b"collectors.live.ase.child" in shown:
                seen.append(shown)

    order = replace(order_of(1), sysmon="00:00:10")
    collect(parse(server.connection()), tmp_path, order, on_progress=look)
    assert seen
    assert not [shown for shown in seen if secret in shown]


def test_an_interrupted_collection_leaves_nothing_behind(tmp_path: Path) -> None:
    with serving(faults=("slow=monState", f"slow-seconds={PATIENCE:.0f}")) as slow:
        told = {**os.environ, "LOCKWRIGHT_PASSWORD": slow.password}
        command = [*MANAGE, "collect", address(slow), "--seconds", "1"]
        running = subprocess.Popen(command, cwd=tmp_path, env=told, stderr=subprocess.PIPE)
        while not [one for one in slow.batches() if "monState" in one]:
            assert running.poll() is None
        running.send_signal(2)
        running.communicate(timeout=PATIENCE)
        assert running.returncode
        assert list(tmp_path.iterdir()) == []
        until = time.monotonic() + PATIENCE
        while "gone" not in {one["kind"] for one in slow.requests()} and time.monotonic() < until:
            time.sleep(0.05)
        assert slow.requests()[-1]["kind"] in ("gone", "cancel", "logout"), "the line is closed with the process"


def test_ctrl_c_ends_it_and_all_it_started_and_leaves_nothing(server: Serving, tmp_path: Path) -> None:
    place = tmp_path / "temporary"
    place.mkdir()
    environment = {**os.environ, "LOCKWRIGHT_PASSWORD": server.password, "TMPDIR": str(place)}
    command = [*MANAGE, "collect", address(server), "--seconds", "3600"]
    asked = len(server.batches())
    running = subprocess.Popen(command, cwd=tmp_path, env=environment, stderr=subprocess.PIPE, text=True)
    until = time.monotonic() + PATIENCE
    while len(server.batches()) < asked + 20 and time.monotonic() < until:
        time.sleep(0.1)
    assert list(place.iterdir())
    running.send_signal(signal.SIGINT)
    _, said = running.communicate(timeout=PATIENCE)
    assert running.returncode == 130
    assert said == "CommandError: interrupted: nothing was written\n"
    assert list(place.iterdir()) == []
    assert list(tmp_path.iterdir()) == [place]


def test_a_collection_with_a_part_missing_is_written_and_ends_with_status_1(
    tmp_path: Path, called_here: Refused
) -> None:
    with serving(faults=("missing-table=monLocks",)) as server:
        done = called_here(address(server), "--seconds", "1", password=server.password)
    assert done.returncode == 1
    assert "1 of the questions was not answered: the rest is kept" in done.stderr
    assert "monLocks: Msg 208" in done.stdout
    assert [path.suffix for path in tmp_path.iterdir()] == [".zip"]
