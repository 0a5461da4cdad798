"""Who follows the plan for the CPUs of a node, step by step, is told of nothing new: the exports are changed as the
plan's changes would change them, and audited again."""

import re
from pathlib import Path

import pytest

from advisor.audits.services.auditing import run_audit
from advisor.uploads.services.reading import read_exports
from rules.audit import Audit
from rules.finding import Change, Severity
from tests.stories import HERE, audits_of

FILES = (".txt", ".csv")


class Node:
    """The exports of a story, as text that following a change alters."""

    def __init__(self, story: Path, folder: Path) -> None:
        self.folder = folder
        self.texts = {path.name: path.read_text() for path in sorted(story.iterdir()) if path.suffix in FILES}
        self.lock_manager: int | None = None

    def edit(self, pattern: str, new: str) -> int:
        """Replace in every export; how often."""
        made = 0
        for name, text in self.texts.items():
            self.texts[name], count = re.subn(pattern, new, text, flags=re.MULTILINE)
            made += count
        return made

    def follow(self, change: Change) -> None:
        """Do what the change says."""
        if change.target.startswith("LCKMGR_"):
            assert self.edit(rf"^({change.target} +)\d+", rf"\g<1>{change.new}"), change
            if change.target == "LCKMGR_CPUID":
                assert isinstance(change.new, int)
                self.lock_manager = change.new
            else:
                self.turn_on()
        elif change.new == "STOPPED":
            number = change.target.removeprefix("CPU ")
            if not self.edit(rf"^(CPU {number} +State: )RUN    ", r"\g<1>STOPPED"):
                self.show_stopped(number)
            spare = next(n for n in range(1, 32) if str(n) not in (number, str(self.lock_manager)))
            self.edit(rf"^(\w+ +){number}$", rf"\g<1>{spare}")
            active = re.search(r"with (\d+) active CPUs", "".join(self.texts.values()))
            assert active
            self.edit(r"with \d+ active CPUs", f"with {int(active[1]) - 1} active CPUs")
        else:
            raise AssertionError(f"the test cannot follow {change.target}")

    def show_stopped(self, number: str) -> None:
        """A stopped CPU whose display was not among the exports: who follows the script brings it."""
        name = next(name for name, text in self.texts.items() if "SHOW CPU" in text)
        beside = re.search(rf"^CPU (\d+) [^$]*?Cothd: +{number}$", self.texts[name], re.MULTILINE)
        assert beside
        self.texts[name] += (
            f"\nCPU {number}    State: STOPPED            CPUDB: 88A6A900     Handle: 00005A48\n"
            f"        ChgCnt:         4          State: Present, Reassignable\n         Cothd: {beside[1]:>9}\n"
            "       Process: * None *\n"
        )

    def turn_on(self) -> None:
        """LCKMGR_SERVER starts: it has its CPU, and callers wait in kernel mode instead of MP synch."""
        cpu = self.lock_manager
        assert self.edit(
            r"^(OpenVMS TCP/IP is currently.*)$", rf"\g<1>\nOpenVMS Lock Manager is currently running on CPU {cpu}"
        )
        assert self.edit(
            rf"^(CPU {cpu} +State: RUN(?:.*\n)+?       Process: )\* None \*", r"\g<1>LCKMGR_SERVER   PID: 2C200417"
        )
        self.texts = {name: text for name, text in self.texts.items() if "SPL SHOW TRACE" not in text}
        for name, text in self.texts.items():
            if name.startswith("T4_"):
                self.texts[name] = re.sub(r"^\d.*$", _in_kernel_mode, text, flags=re.MULTILINE)

    def audit(self) -> Audit:
        """Read and audit what there is now."""
        for old in self.folder.iterdir():
            old.unlink()
        for name, text in self.texts.items():
            (self.folder / name).write_text(text)
        paths = [str(path) for path in sorted(self.folder.iterdir())]
        (audit,) = run_audit(read_exports(paths, None), {})  # type: ignore[arg-type]  # no standard input here
        return audit


def _in_kernel_mode(row: re.Match[str]) -> str:
    cells = row[0].split(",")
    if len(cells) > 8:
        cells[7], cells[6] = f" {float(cells[7]) + 0.95 * float(cells[6]):.2f}", f" {0.05 * float(cells[6]):.2f}"
    return ",".join(cells)


def loud(audit: Audit) -> set[str]:
    return {one.key for one in audit.findings if one.finding.severity > Severity.NOTE}


def changes_of(audit: Audit) -> dict[str, Change]:
    return {change.key: change for one in audit.findings for change in one.finding.changes}


@pytest.mark.parametrize("story", ["lock_bound_with_threads", "lock_manager_on_a_busy_core"])
def test_an_audit_after_the_advice_was_followed_finds_nothing_new(story: str, tmp_path: Path) -> None:
    (before,) = audits_of(HERE / story)
    node = Node(HERE / story, tmp_path)
    planned = changes_of(before)
    steps = [step.change_keys for step in before.plan.steps]
    assert steps
    after = before
    for number, keys in enumerate(steps):
        for key in keys:
            node.follow(planned[key])
        after = node.audit()
        left = {key for later in steps[number + 1 :] for key in later}
        assert set(changes_of(after)) <= left, f"after step {number + 1} something else is asked for"
    assert loud(after) <= loud(before)
    assert not loud(after) & {"openvms/lock_manager_cpu_shared:FOULA", "openvms/cothreads_hurt:FOULA"}
    assert not changes_of(after)


def test_each_step_of_the_lock_manager_can_be_measured_alone() -> None:
    (audit,) = audits_of(HERE / "lock_bound_with_threads")
    assert [len(step.change_keys) for step in audit.plan.steps] == [2, 1]
    assert "STOP/CPU" not in audit.plan.steps[0].apply
    assert "STOP/CPU 13" in audit.plan.steps[1].apply
