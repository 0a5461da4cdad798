"""`manage.py collect --every … --for …`: waits and spinlocks sampled between two snapshots, and read back as series.

Nothing here is said of what a question costs a server: that stands in `questions.sql` and comes from sources, never
from this stand-in.
"""

import io
import os
import signal
import subprocess
import sys
import time
import zipfile
from collections.abc import Iterator
from itertools import pairwise
from pathlib import Path

import pytest

from advisor.audits.services.auditing import run_audit
from advisor.uploads.services.reading import read_exports
from collectors.facts import known
from collectors.facts.ase import MonSysWaits, SampledBlocking, SampledSpinlock, SampledWaits, Snapshot
from collectors.live.ase import collect, order_of, parse
from collectors.live.ase.collect_request import MOST_ASKING
from collectors.live.registry import CollectorFailed
from rules.audit import Audit
from tests.live.running import ROOT, Serving, serving
from tests.servers import PATIENCE

PACE = 60.0
"""Seconds of the server in one of ours: a sample each of our seconds is one a minute."""
SAMPLES = 3
"""However long they take on this machine."""
EVENT, SPINLOCK = 150, "default data cache"


class Sampled:
    """One sampled collection, which is stopped in order after some samples, and its audit."""

    def __init__(self, server: Serving, folder: Path, most: int = SAMPLES) -> None:
        def enough() -> bool:
            return sum("SampleNumber" in one for one in server.batches()) >= most

        order = order_of(3_600, every=1)
        self.manifest = collect(parse(server.connection(), ""), folder, order, stop=enough).manifest
        self.batches = server.batches()
        self.text = (folder / "samples.txt").read_text("utf-8")
        self.inputs = read_exports([str(folder)], io.BytesIO())
        self.audits: list[Audit] = run_audit(self.inputs, {}, None)


@pytest.fixture(scope="module")
def sampled(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Sampled]:
    with serving(release="16.0", pace=PACE, still=True) as server:
        yield Sampled(server, tmp_path_factory.mktemp("sampled"))


def test_samples_become_series_and_the_snapshots_stay_the_interval_that_is_judged(sampled: Sampled) -> None:
    (audit,) = sampled.audits
    facts = audit.capture.facts
    (snapshot,) = facts.every(Snapshot)
    assert snapshot.sample is None
    assert audit.capture.interval.seconds is not None
    waits = next(one for one in facts.every(SampledWaits) if one.event == EVENT)
    assert len(waits.starts) == sampled.manifest["samples"] - 1 >= 1
    assert all(seconds > 0 for seconds in waits.seconds)
    assert sum(waits.seconds) < audit.capture.interval.seconds
    # the load of the stand-in is even: each step has the rate of the whole, but for times cut to milliseconds
    whole = next(one for one in facts.every(MonSysWaits) if one.event == EVENT and one.of_interval)
    assert known(whole.waits)
    assert whole.seconds
    for seconds, count in zip(waits.seconds, waits.waits, strict=True):
        assert known(count)
        assert count / seconds == pytest.approx(whole.waits / whole.seconds, rel=0.001)
    spins = next(one for one in facts.every(SampledSpinlock) if one.name == SPINLOCK)
    assert spins.starts == waits.starts
    assert all(known(one) and one > 0 for one in (*spins.grabs, *spins.spins, *spins.waits)), "all slots together"


def test_who_is_blocked_is_counted_in_each_sample(sampled: Sampled) -> None:
    (blocking,) = sampled.audits[0].capture.facts.every(SampledBlocking)
    assert len(blocking.taken) == sampled.manifest["samples"]
    assert set(blocking.blocked) == {1.0}
    assert all(known(one) and one > 0 for one in blocking.longest_seconds)


def test_what_is_sampled_is_read_without_a_word_left(sampled: Sampled) -> None:
    for one in sampled.inputs:
        assert not [leftover for leftover in one.leftovers if one.file.endswith("samples.txt")]
    assert not [problem for one in sampled.inputs for problem in one.problems]


def test_pipes_and_costly_questions_are_asked_once_and_samples_are_bounded(sampled: Sampled) -> None:
    number = sampled.manifest["samples"]
    for table in ("monSysStatement", "monCachedObject", "monLocks"):
        assert sum(f"master..{table}" in one for one in sampled.batches) == 1, table
    # once in each sample and in each of the two snapshots
    assert sum("master..monSysWaits" in one for one in sampled.batches) == number + 2
    assert sampled.text.count("select top 20000 * from master..monSpinlockActivity") == number
    assert sampled.text.count("select top 500 * from master..monProcess where BlockingSPID > 0") == number
    assert sampled.manifest["every"] == 1.0


@pytest.mark.long
def test_a_server_that_answers_slowly_is_sampled_less_often(tmp_path: Path) -> None:
    """A sample takes 0.6 s and more, so that at a tenth of the time there is none before six seconds have passed."""
    with serving(release="16.0", pace=PACE, faults=("slow=monProcess", "slow-seconds=0.6")) as server:
        Sampled(server, tmp_path)
        began = [one["seconds"] for one in server.requests() if "SampleNumber" in one.get("text", "")]
    apart = [later - earlier for earlier, later in pairwise(began)]
    assert apart
    assert min(apart) >= 0.6 / MOST_ASKING, apart


def test_a_question_that_the_server_refuses_is_not_sampled_again(tmp_path: Path) -> None:
    with serving(release="16.0", pace=PACE, faults=("missing-table=monSysWaits",)) as server:
        found = Sampled(server, tmp_path)
    left = [one for one in found.manifest["left_out"] if one["question"] == "sampled_waits"]
    assert len(left) == 1
    assert found.batches.count("select * from master..monSysWaits") == 3, "two snapshots and the first sample"
    assert found.audits[0].capture.facts.every(SampledSpinlock)


@pytest.mark.parametrize(
    ("seconds", "sysmon", "every"), [(600.0, "", 0.5), (600.0, "", 400.0), (600.0, "00:01:00", 5.0)]
)
def test_what_cannot_be_sampled_is_refused(seconds: float, sysmon: str, every: float) -> None:
    with pytest.raises(CollectorFailed):
        order_of(seconds, sysmon, every=every)


def test_ctrl_c_ends_the_samples_and_keeps_them(tmp_path: Path) -> None:
    with serving(release="16.0", pace=PACE) as server:
        told = {**os.environ, "LOCKWRIGHT_PASSWORD": server.password}
        where = f"ase://{server.user}@{server.host}:{server.port}/"
        command = [sys.executable, str(ROOT / "manage.py"), "collect", where, "--every", "1", "--for", "3600"]
        running = subprocess.Popen(
            command, cwd=tmp_path, env=told, stderr=subprocess.PIPE, stdout=subprocess.PIPE, text=True
        )
        until = time.monotonic() + PATIENCE
        while sum("SampleNumber" in one for one in server.batches()) < 3 and time.monotonic() < until:
            assert running.poll() is None
            time.sleep(0.1)
        running.send_signal(signal.SIGINT)
        out, said = running.communicate(timeout=PATIENCE)
    assert running.returncode == 0, said
    assert "what was sampled is kept" in said
    assert "samples.txt" in out
    (path,) = tmp_path.glob("*.zip")
    with zipfile.ZipFile(path) as archive:
        assert {"samples.txt", "snapshot-1.txt", "snapshot-2.txt"} <= set(archive.namelist())
    (audit,) = run_audit(read_exports([str(path)], io.BytesIO()), {}, None)
    assert len(audit.capture.facts.every(SampledWaits)[0].starts) >= 2


def test_samples_are_of_sap_ase_alone(tmp_path: Path) -> None:
    words = ["collect", "DSN=x;UID=u", "--product", "rdb", "--every", "5"]
    done = subprocess.run(
        [sys.executable, str(ROOT / "manage.py"), *words], cwd=tmp_path, capture_output=True, text=True, check=False
    )
    assert done.returncode == 2
    assert "SAP ASE alone" in done.stderr
