"""Bad input: a clear message each, the exit status of the contract, the other files still audited, no traceback."""

import json
import os
import subprocess
import sys
import zipfile
from pathlib import Path

from tests.advisor.core.test_commands import CPU, FASTPATH, ROOT, here, run
from tests.longer import first_of

BAD: dict[str, tuple[bytes, str]] = {
    "unknown.txt": (b"Dear colleague,\nplease find the report attached.\n" * 50, "no export that Lockwright knows"),
    "empty.txt": (b"", "empty"),
    "blank.txt": (b"\n \n\t\n", "empty"),
    "binary.dat": (b"\x7fELF\x02\x01\x01" + bytes(range(256)) * 40, "binary content"),
    "spoiled.dat": (b"\0\x01 MONITOR RECORDING\n" * 300, "transferred as binary"),
    "nuls.txt": (b"\0" * 100_000, "NUL bytes"),
    "cut.zip": (b"PK\x03\x04\x14\x00 cut off here", "damaged zip"),
    "cut.gz": (b"\x1f\x8b\x08\x00 cut off", "read up to here only"),
    "oneline.txt": (b"x" * (100 << 20), "longer than"),
}


def written(folder: Path, name: str) -> Path:
    (folder / name).write_bytes(BAD[name][0])
    return folder / name


@first_of(8, "name", BAD)
def test_alone_it_is_refused_with_its_reason_and_status_2(tmp_path: Path, name: str) -> None:
    done = (run if name == "unknown.txt" else here)("audit", written(tmp_path, name))
    message = done.stderr.decode()
    assert done.returncode == 2
    assert name in message
    assert BAD[name][1] in message
    assert "Traceback" not in message
    assert not done.stdout


def test_beside_good_files_the_good_ones_are_audited(tmp_path: Path) -> None:
    for name in BAD:
        if name != "oneline.txt":
            written(tmp_path, name)
    (tmp_path / "fast.txt").write_text(FASTPATH)
    (tmp_path / "cpu13.txt").write_text(CPU)
    done = here("audit", tmp_path, "--format", "json")
    data = json.loads(done.stdout)
    assert done.returncode == 1
    assert "STOP/CPU 5" in done.stdout.decode()
    problems = {Path(one["file"]).name: one["problems"] for one in data["inputs"]}
    for name, (_, why) in BAD.items():
        if name != "oneline.txt":
            assert any(why in problem for problem in problems[name]), (name, problems[name])
            assert name in done.stderr.decode()


def test_a_zip_bomb(tmp_path: Path) -> None:
    with zipfile.ZipFile(tmp_path / "bomb.zip", "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("sysmon.txt", b"0" * (200 << 20))
    done = here("audit", tmp_path / "bomb.zip")
    assert done.returncode == 2
    assert "250 times its size" in done.stderr.decode()


def test_a_directory_without_an_export(tmp_path: Path) -> None:
    (tmp_path / "notes.txt").write_text("nothing here\n")
    done = here("audit", tmp_path)
    assert (done.returncode, b"notes.txt" in done.stderr) == (2, True)


def test_what_does_not_exist(tmp_path: Path) -> None:
    done = here("audit", tmp_path / "nowhere.txt")
    assert done.returncode == 2
    assert b"nowhere.txt: cannot be read" in done.stderr


def test_a_file_name_may_not_steer_the_terminal(tmp_path: Path) -> None:
    (tmp_path / "\x1b[31mred.txt").write_text("nothing\n")
    done = here("audit", tmp_path)
    assert b"\x1b" not in done.stderr + done.stdout


def test_wrong_encoding_is_read_all_the_same(tmp_path: Path) -> None:
    (tmp_path / "utf16.txt").write_bytes(FASTPATH.replace("\n", "\r\n").encode("utf-16"))
    (tmp_path / "latin.txt").write_bytes(CPU.encode("latin-1") + b"\xb5s\n")
    assert b"STOP/CPU 5" in here("audit", "--full", tmp_path).stdout


def test_warnings_of_a_file_that_was_half_read_go_to_standard_error(tmp_path: Path) -> None:
    (tmp_path / "fast.txt").write_text(FASTPATH.replace("FGA0                      5", "FGA0"))
    done = here("audit", tmp_path / "fast.txt", "--format", "json")
    assert b"FGA0 has no CPU" in done.stderr
    assert json.loads(done.stdout)


@first_of(1, "form", ["text", "json", "html"])
def test_a_terminal_that_speaks_only_ascii_gets_the_result(tmp_path: Path, form: str) -> None:
    (tmp_path / os.fsdecode(b"\xff\xfe.csv")).write_text("users,throughput\n1,100\n2,180\n4,150\n6,120\n8,110\n9,90\n")
    done = run("audit", tmp_path, "--format", form, PYTHONIOENCODING="ascii")
    assert done.returncode in (0, 1), done.stderr
    assert done.stdout
    assert b"Traceback" not in done.stderr
    done.stdout.decode("utf-8")


def test_a_reader_that_went_away_and_a_full_disk_are_no_traceback(tmp_path: Path) -> None:
    (tmp_path / "fast.txt").write_text(FASTPATH)
    python, manage = sys.executable, ROOT / "manage.py"
    closed = subprocess.run(
        ["/bin/sh", "-c", f"'{python}' '{manage}' rules --format json | true"], capture_output=True, check=False
    )
    assert b"Traceback" not in closed.stderr
    with Path("/dev/full").open("wb") as full:
        done = subprocess.run(
            [python, str(manage), "audit", str(tmp_path)], stdout=full, stderr=subprocess.PIPE, check=False
        )
    assert (done.returncode, b"cannot write the result" in done.stderr) == (2, True)


def test_no_standard_input_at_all_is_none_to_read(tmp_path: Path) -> None:
    (tmp_path / "fast.txt").write_text(FASTPATH)
    command = f"'{sys.executable}' '{ROOT / 'manage.py'}' audit '{tmp_path}' --format json <&-"
    done = subprocess.run(["/bin/sh", "-c", command], capture_output=True, check=False)
    assert json.loads(done.stdout)["captures"]


def test_a_member_with_a_very_long_name_is_read_and_its_name_cut(tmp_path: Path) -> None:
    with zipfile.ZipFile(tmp_path / "long.zip", "w") as archive:
        archive.writestr("x" * 5000 + ".txt", FASTPATH)
        archive.writestr("y" * 5000 + ".txt", "nothing")
    done = here("audit", tmp_path / "long.zip")
    assert b"Traceback" not in done.stderr
    assert len(max(done.stderr.splitlines(), key=len)) < 1500


STORM = ROOT / "advisor" / "examples" / "audits" / "address_lock_storm"


def test_a_truncated_report_says_so_and_what_was_there_is_audited(tmp_path: Path) -> None:
    lines = (STORM / "sysmon.txt").read_text().splitlines()
    (tmp_path / "cut.txt").write_text("\n".join(lines[: len(lines) * 3 // 4]))
    done = here("audit", tmp_path / "cut.txt", "--format", "json")
    assert b"truncated: no End of Report line" in done.stderr
    verdicts = {v["rule"]: v["verdict"] for v in json.loads(done.stdout)["captures"][0]["verdicts"]}
    assert verdicts["ase/address_lock_spinlock_contended"] == "fired"
    assert verdicts["ase/data_cache_spinlock_contended"] in ("clean", "unknown")


def test_rows_that_are_cut_are_named_and_give_no_figure(tmp_path: Path) -> None:
    lines = (STORM / "sysmon.txt").read_text().splitlines()
    (tmp_path / "narrow.txt").write_text("\n".join(line[:60] for line in lines))
    done = here("audit", tmp_path / "narrow.txt", "--format", "json")
    assert b"cut" in done.stderr
    verdicts = {v["rule"]: v["verdict"] for v in json.loads(done.stdout)["captures"][0]["verdicts"]}
    assert "fired" not in verdicts.values()
    assert "broken" not in verdicts.values()
