"""A run with a collector brings what the collector wrote, for the system it was called for."""

from dataclasses import dataclass
from pathlib import Path

import pytest
from django.utils import timezone
from pytest_django import DjangoCaptureOnCommitCallbacks, Settings

from advisor.audits.models import Audit
from advisor.schedules.models import Run, Schedule
from advisor.schedules.services import collecting
from advisor.schedules.services.collecting import (
    Failed,
    collect,
    names,
    not_offered,
    offered,
)
from advisor.systems.models import System
from advisor.uploads.models import Upload
from collectors.live import registry
from collectors.live.registry import CollectorFailed, Target, register
from tests.advisor.people import STORIES, People
from tests.advisor.schedules.watch_folder import names_in

pytestmark = pytest.mark.postgres

STORY = STORIES / "address_lock_storm"


@dataclass(frozen=True)
class Live:
    """A collector of the package that writes the story."""

    name: str = "ase-live"
    title: str = "ASE, asked live"
    products: tuple[str, ...] = ("ase",)

    def collect(self, target: Target, folder: Path, seconds: float) -> None:
        if target.system != "CLAIMS1":
            raise CollectorFailed(f"{target.system} refuses the login", "give it another password")
        for path in STORY.glob("*.txt"):
            (folder / path.name).write_bytes(path.read_bytes())


@pytest.fixture(autouse=True)
def _own_register(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(registry, "REGISTER", {})
    register(Live())


@pytest.fixture
def programs(settings: Settings, tmp_path: Path) -> Path:
    folder = tmp_path / "collectors"
    folder.mkdir(mode=0o755)
    settings.COLLECTORS_DIR = folder
    return folder


@pytest.fixture
def system(people: People) -> System:
    return System.objects.create(team=people.team, product="ase", name="CLAIMS1", key="CLAIMS1")


def add(folder: Path, name: str, script: str) -> None:
    path = folder / name
    path.write_text(f"#!/bin/sh\n{script}\n")
    path.chmod(0o755)


def run_of(system: System, collector: str) -> Run:
    schedule, _ = Schedule.objects.get_or_create(
        team=system.team, name=collector, source="collector", system=system, collector=collector
    )
    return Run.objects.create(schedule=schedule, system=system, due=timezone.now())


def test_registered_collectors_and_programs_are_offered_by_product(programs: Path) -> None:
    add(programs, "zsysmon", "true")
    add(programs, "ase-live", "echo the registered one goes before")
    add(programs, "b", "true")
    (programs / "b").chmod(0o777)
    assert names() == ["ase-live", "zsysmon"]
    assert [(one.name, one.title) for one in offered("ase")] == [
        ("ase-live", "ASE, asked live"),
        ("zsysmon", "the program zsysmon"),
    ]
    assert [one.name for one in offered("openvms")] == ["zsysmon"]
    assert [one.name for one in offered()] == names()
    assert len(not_offered()) == 1
    assert "chmod go-w" in not_offered()[0]


def test_what_a_collector_writes_is_audited(
    system: System, programs: Path, django_capture_on_commit_callbacks: DjangoCaptureOnCommitCallbacks
) -> None:
    run = run_of(system, "ase-live")
    with django_capture_on_commit_callbacks(execute=True):
        upload = collect(run)
    assert (upload.run, upload.origin, upload.by, upload.system_name) == (run, "schedule", None, "CLAIMS1")
    assert System.objects.get().latest == Audit.objects.get()


def test_a_program_is_called_with_the_name_of_the_system_and_in_no_folder_of_ours(
    system: System, programs: Path
) -> None:
    add(
        programs,
        "sysmon",
        'mkdir sub; echo "$1" > sub/deep.txt; echo "$PWD"; : > empty; echo x > .hidden; ln -s /etc/passwd p',
    )
    upload = collect(run_of(system, "sysmon"))
    assert sorted(names_in(upload)) == ["deep.txt", "output.txt"]
    assert upload.files.get(name="deep.txt").size == len("CLAIMS1\n")


def test_the_same_bytes_as_before_are_the_upload_of_then_and_no_error(system: System, programs: Path) -> None:
    add(programs, "config", "cat " + str(STORY / "config.txt"))
    first, second = run_of(system, "config"), run_of(system, "config")
    upload = collect(first)
    assert collect(second) == upload
    assert upload.run == first
    assert Upload.objects.count() == 1


def test_a_run_whose_worker_died_after_it_had_collected_does_not_collect_again(
    system: System, programs: Path, tmp_path: Path
) -> None:
    add(programs, "clock", f"echo x >> {tmp_path}/calls; date +%N")
    run = run_of(system, "clock")
    assert collect(run) == collect(Run.objects.get(pk=run.pk))
    assert (tmp_path / "calls").read_text() == "x\n"


def test_a_collector_that_is_not_there_says_where_it_belongs(system: System, programs: Path) -> None:
    with pytest.raises(Failed) as failed:
        collect(run_of(system, "../../bin/sh"))
    assert failed.value.says == "there is no collector ../../bin/sh"
    assert failed.value.do.startswith(f"put its program into {programs} of every machine with a worker")


def test_a_failure_of_a_collector_is_told_with_the_remedy(people: People, system: System, programs: Path) -> None:
    other = System.objects.create(team=people.team, product="ase", name="OTHER", key="OTHER")
    with pytest.raises(Failed) as failed:
        collect(run_of(other, "ase-live"))
    assert (failed.value.says, failed.value.do) == ("OTHER refuses the login", "give it another password")
    add(programs, "bad", "echo no such server >&2; exit 1")
    with pytest.raises(Failed, match="the program bad ended with status 1: no such server"):
        collect(run_of(system, "bad"))


def test_a_collector_of_another_product_is_not_called(people: People, programs: Path) -> None:
    node = System.objects.create(team=people.team, product="openvms", name="CLAIMS1", key="CLAIMS1")
    with pytest.raises(Failed, match="ASE, asked live collects from ase, not from openvms: choose another collector"):
        collect(run_of(node, "ase-live"))


def test_a_collector_that_brings_nothing_has_failed(system: System, programs: Path) -> None:
    add(programs, "nothing", ": > empty.txt")
    with pytest.raises(Failed, match="the program nothing delivered nothing for CLAIMS1: see that it writes"):
        collect(run_of(system, "nothing"))


def test_a_run_without_a_system_cannot_collect(system: System, programs: Path) -> None:
    run = run_of(system, "ase-live")
    run.system = None
    with pytest.raises(Failed, match="the run names no system"):
        collect(run)


def test_more_than_an_upload_holds_has_failed(system: System, programs: Path, settings: Settings) -> None:
    settings.UPLOAD_FILES = 2
    add(programs, "many", "for n in 1 2 3; do echo $n > $n.txt; done")
    with pytest.raises(Failed, match="the program many delivered more than 2 files at a time: zip them"):
        collect(run_of(system, "many"))
    settings.UPLOAD_MB = 1
    add(programs, "flood", "yes")
    with pytest.raises(Failed, match="the program flood wrote 1 MB or more"):
        collect(run_of(system, "flood"))
    assert not Upload.objects.exists()


def test_a_collector_is_ended_before_the_hard_limit_of_its_task(
    system: System, programs: Path, settings: Settings
) -> None:
    settings.TASK_SECONDS = 10
    add(programs, "hanging", "sleep 60")
    with pytest.raises(Failed, match="did not end within 2 s"):
        collect(run_of(system, "hanging"))
    settings.TASK_SECONDS = 900
    assert collecting.seconds() == 810
