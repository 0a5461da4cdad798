"""The scripts that come with a report."""

from collections.abc import Callable

import pytest
from pytest_django import DjangoCaptureOnCommitCallbacks

from advisor.audits.models import Audit
from advisor.notifications.mail.report import report_message
from advisor.notifications.mail.scripts import files
from advisor.notifications.models import Recipient
from advisor.systems.models import System
from advisor.uploads.models import Upload
from tests.advisor.keeping import keeps
from tests.advisor.notifications.mail.letter_parts import parts, recipient_of
from tests.advisor.openvms.two_nodes import brought
from tests.advisor.people import People
from tests.stories import HERE

shared = keeps("address_lock_storm")


@pytest.fixture
def told(people: People) -> Recipient:
    return recipient_of(people)


def lines_of(script: bytes) -> list[str]:
    assert script.count(b"\n") == script.count(b"\r\n"), "every line ends as VMS and Windows want it"
    return script.decode().splitlines()


def test_the_plan_comes_as_one_file_to_apply_and_one_to_undo(told: Recipient, storm_audit: Audit) -> None:
    found = parts(report_message(told, storm_audit, None))
    assert sorted(found.files) == ["CLAIMS1-apply.sql", "CLAIMS1-undo.sql"]
    apply = lines_of(found.files["CLAIMS1-apply.sql"])
    assert apply[:4] == [
        "-- Lockwright: apply",
        "-- system: CLAIMS1",
        "-- Captured 2026-02-11 10:30:00 to 10:40:00, 600 s",
        f"-- audit: http://127.0.0.1:8000/audits/{storm_audit.pk}/",
    ]
    assert [line for line in apply if line.startswith("-- =====")] == [
        "-- ===== Step 1 of 2, at once =====",
        "-- ===== Step 2 of 2, at the next restart of the database server =====",
    ]
    whole = "\n".join(apply)
    assert all(step["apply"] in whole for step in storm_audit.plan["steps"])


def test_undo_goes_the_way_back(told: Recipient, storm_audit: Audit) -> None:
    undo = lines_of(parts(report_message(told, storm_audit, None)).files["CLAIMS1-undo.sql"])
    steps = [line for line in undo if line.startswith("-- =====")]
    assert [line[9:15] for line in steps] == ["Step 2", "Step 1"]
    restart = undo.index('sp_configure "lock address spinlock ratio", 100')
    assert undo.index(steps[0]) < restart < undo.index(steps[1])


def test_both_bodies_name_the_files(told: Recipient, storm_audit: Audit) -> None:
    found = parts(report_message(told, storm_audit, None))
    assert "\n  CLAIMS1-apply.sql\n  CLAIMS1-undo.sql\n" in found.text
    assert "CLAIMS1-undo.sql" in found.html


def test_who_wants_no_scripts_gets_a_link(people: People, storm_audit: Audit) -> None:
    found = parts(report_message(recipient_of(people, scripts=False), storm_audit, None))
    assert not found.files
    assert f"http://127.0.0.1:8000/audits/{storm_audit.pk}/#plan" in found.lines


@pytest.mark.usefixtures("nothing_brought")
def test_dcl_run_as_a_whole_ends_before_its_first_step(told: Recipient, bring: Callable[..., Upload]) -> None:
    bring("lock_manager_on_a_busy_core")
    latest = System.objects.get(name="OSLO").latest
    assert latest is not None
    found = parts(report_message(told, latest, None)).files
    assert sorted(found) == ["OSLO-apply.com.txt", "OSLO-undo.com.txt"]
    for script in found.values():
        lines = lines_of(script)
        commands = [line for line in lines if line and not line.startswith("$!")]
        assert commands[0] == "$ EXIT"
        assert len(commands) > 2
        assert not any(line.endswith("-") for line in lines), "a hyphen would join it with the next line"


def plan(**more: object) -> dict[str, object]:
    step = {"takes_effect": "online", "change_keys": ["ase.config:x"], "apply": "do", "undo": "undo"}
    return {"steps": [step], "conflicts": [], **more}


def test_a_name_from_an_export_cannot_leave_the_comment_it_stands_in() -> None:
    hostile = "x'F$GETJPI()'\r\ngo\nshutdown -- */ \u202e -"
    for script in files("x", [f"system: {hostile}"], plan()):
        head = script.text.split("\n\n")[0].split("\n")
        assert all(line.startswith("-- ") for line in head)
        assert not any(bad in script.text for bad in ("'", "\r", "*/", "\u202e"))


def test_in_dcl_too() -> None:
    step = {"takes_effect": "reboot", "change_keys": ["openvms.sysgen:X"], "apply": "$ do", "undo": "$ undo"}
    for script in files("x", ["system: a 'b' -", "x" * 300], plan(steps=[step])):
        head = script.text.split("\n\n")[0].split("\n")
        assert [line for line in head if not line.startswith("$! ")] == ["$ EXIT"]
        assert not any("'" in line or line.endswith("-") or len(line) > 80 for line in head)


def test_what_a_person_has_to_decide_first_stands_in_the_head() -> None:
    conflict = {"change_keys": ["ase.config:x"], "why": "x: asked to become 1 and 2"}
    apply, undo = files("x", [], plan(conflicts=[conflict]))
    assert "-- Decide first: x: asked to become 1 and 2" in apply.text
    assert "Decide first" not in undo.text


def test_no_changes_no_files() -> None:
    assert files("x", [], {"steps": [], "conflicts": []}) == []
    assert files("x", [], {}) == []


def test_a_shell_run_as_a_whole_ends_before_its_first_step() -> None:
    step = {"takes_effect": "online", "change_keys": ["unix.boost:no_turbo"], "apply": "echo 1 > f", "undo": "echo 0"}
    apply, undo = files("x", ["system: $(reboot)\nreboot"], plan(steps=[step]))
    assert [apply.name, undo.name] == ["x-apply.sh.txt", "x-undo.sh.txt"]
    for script, wanted in ((apply, "echo 1 > f"), (undo, "echo 0")):
        commands = [line for line in script.text.splitlines() if line and not line.startswith("# ")]
        assert commands == ["exit 1", wanted]


def test_the_report_of_a_node_has_the_plan_of_its_cluster(
    people: People, told: Recipient, django_capture_on_commit_callbacks: DjangoCaptureOnCommitCallbacks
) -> None:
    """One plan: what HARRIS is to do stands in the mail of LEWIS, too, with the scripts of all nodes."""
    story = HERE / "three_nodes_one_decision"
    with django_capture_on_commit_callbacks(execute=True):
        brought(people, {one.name: one.read_text("utf-8") for one in story.iterdir() if one.suffix in (".csv", ".txt")})
    found = parts(report_message(told, Audit.objects.get(system__name="LEWIS"), None))
    for body in (found.text, found.html):
        assert "Where the locks belong: on HARRIS, not on LEWIS" in body
        assert "LOCKDIRWT on HARRIS 1" in body
    apply = "\n".join(lines_of(found.files["LEWIS-apply.com.txt"]))
    assert "Step 1 of 3, for node HARRIS, at the next reboot" in apply
    assert "Step 2 of 3, for node UIST, at the next reboot" in apply
