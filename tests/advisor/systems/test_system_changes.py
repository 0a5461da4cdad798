"""A system gets another name, is merged into another one, or is forgotten."""

import io
from collections.abc import Callable

import pytest
from django.template.loader import render_to_string
from django.test import RequestFactory
from django.utils import timezone
from pytest_django import DjangoCaptureOnCommitCallbacks

from advisor.accounts.models import Team
from advisor.audits.models import (
    Audit,
    Capture,
    Finding,
    LimitSetting,
)
from advisor.audits.services.persistence import settle_system
from advisor.core.models import JournalEntry
from advisor.core.records import Refused
from advisor.findings.models import SystemCounts, TrackedFinding
from advisor.notifications.models import (
    Delivery,
    Mail,
    Recipient,
    Told,
    Webhook,
)
from advisor.schedules.models import DataSource, Run, Schedule
from advisor.systems.models import (
    Group,
    Note,
    SettingsSnapshot,
    System,
)
from advisor.systems.services.systems import forget_system, rename_system
from advisor.uploads.models import Upload
from advisor.uploads.services.uploads import Brought, ingest, read_again
from tests.advisor.keeping import keeps
from tests.advisor.people import STORIES, AsUser, People

pytestmark = pytest.mark.postgres

shared = keeps("address_lock_storm")

STORY = STORIES / "address_lock_storm"
LIMIT, OTHER_LIMIT = "ase/address_lock_spinlock_contended.contention_percent", "ase/cpu_busy.percent"
Bring = Callable[..., Upload]


@pytest.fixture
def listing(people: People, django_capture_on_commit_callbacks: DjangoCaptureOnCommitCallbacks) -> Bring:
    """Bring one file of the story, perhaps for a system, and have it read."""

    def now(file: str, name: str = "", as_file: str = "", team: Team | None = None) -> Upload:
        with django_capture_on_commit_callbacks(execute=True):
            brought = [Brought(as_file or file, io.BytesIO((STORY / file).read_bytes()))]
            upload = ingest(brought, team or people.team, people.owner, system_name=name).upload
        return Upload.objects.get(pk=upload.pk)

    return now


@pytest.fixture
def again(
    people: People, django_capture_on_commit_callbacks: DjangoCaptureOnCommitCallbacks
) -> Callable[[Upload], None]:
    """Read an upload again, with nothing chosen anew."""

    def now(upload: Upload) -> None:
        with django_capture_on_commit_callbacks(execute=True):
            read_again(Upload.objects.get(pk=upload.pk), people.owner)

    return now


def names() -> list[str]:
    return [system.name for system in System.objects.order_by("name")]


def test_whatever_belongs_to_a_system_is_known_to_the_merging() -> None:
    moved = {Audit, Capture, Finding, JournalEntry, LimitSetting, Note, SettingsSnapshot, TrackedFinding}
    taken_over = {Delivery, Group, Mail, Run, Schedule, Webhook}
    followed = {DataSource, Recipient, Told}
    counted = {SystemCounts}  # by every write to a finding that is followed
    assert {one.related_model for one in System._meta.related_objects} == moved | taken_over | followed | counted


@pytest.mark.usefixtures("nothing_brought")
@pytest.mark.parametrize("chosen", ["", "PROD1"])
def test_a_renamed_system_keeps_its_name_when_its_listing_is_read_again(
    people: People, listing: Bring, again: Callable[[Upload], None], chosen: str
) -> None:
    upload = listing("config.txt", chosen)
    system = System.objects.get()
    assert rename_system(system, " Ledger\n7 ", people.owner).pk == system.pk
    assert [(one.name, one.key) for one in System.objects.all()] == [("Ledger 7", "LEDGER 7")]
    assert JournalEntry.objects.get(action="system renamed").what == f"{chosen or 'config'} to Ledger 7"
    again(upload)
    assert names() == ["Ledger 7"]
    assert System.objects.get().pk == system.pk


def test_a_system_that_names_itself_keeps_its_new_name_in_the_uploads_that_speak_of_it_alone(
    people: People, storm: System, again: Callable[[Upload], None]
) -> None:
    rename_system(storm, "claims-prod", people.owner)
    again(Upload.objects.get())
    assert names() == ["claims-prod"]
    assert Capture.objects.get().files == ["caches.txt", "config.txt", "sysmon.txt"]


def test_a_listing_chosen_for_a_system_goes_where_its_figures_go(
    people: People, storm: System, again: Callable[[Upload], None]
) -> None:
    Upload.objects.update(system_names={"config.txt": "CLAIMS1"})
    rename_system(storm, "claims-prod", people.owner)
    again(Upload.objects.get())
    assert names() == ["claims-prod"]


def test_only_the_case_of_a_name_may_change(people: People, storm: System) -> None:
    assert rename_system(storm, "Claims1", people.owner) == storm
    assert names() == ["Claims1"]
    with pytest.raises(Refused, match="Claims1 is its name already"):
        rename_system(storm, "Claims1", people.owner)
    with pytest.raises(Refused, match="needs a name"):
        rename_system(storm, " \u200b ", people.owner)


def test_a_system_is_merged_into_the_one_that_has_the_name(
    people: People, storm: System, listing: Bring, again: Callable[[Upload], None]
) -> None:
    upload = listing("config.txt", as_file="prod.txt")
    odd = System.objects.get(name="prod")
    snapshots = {one.digest for one in SettingsSnapshot.objects.all()}
    for system, value in ((storm, 31.0), (odd, 32.0)):
        LimitSetting.objects.create(system=system, name=LIMIT, value=value)
    LimitSetting.objects.create(system=odd, name=OTHER_LIMIT, value=5)
    Note.objects.create(system=odd, text="bought second hand")
    JournalEntry.objects.create(who="olga", action="limit set", system=odd, team=people.team)
    System.objects.filter(pk=odd.pk).update(expected_hours=24)
    with pytest.raises(Refused, match="there is a system CLAIMS1"):
        rename_system(odd, "claims1", people.owner)
    assert rename_system(odd, "claims1", people.owner, merge=True) == storm
    assert names() == ["CLAIMS1"]
    storm.refresh_from_db()
    assert storm.captures.count() == storm.audits.count() == 2
    assert Finding.objects.exclude(system=storm).count() == 0
    assert {one.digest for one in storm.snapshots.all()} == snapshots
    assert all(capture.settings for capture in storm.captures.all())
    assert storm.latest
    assert storm.latest.capture.seconds == 600
    assert {one.name: one.value for one in storm.limits.all()} == {LIMIT: 31.0, OTHER_LIMIT: 5}
    assert storm.notes.get().text == "bought second hand"
    assert storm.expected_hours == 24
    assert {entry.action for entry in storm.journal.all()} == {"limit set", "systems merged"}
    told = JournalEntry.objects.get(action="systems merged").what
    assert told == f"prod into CLAIMS1; its own limits {LIMIT}=32 are dropped for those of CLAIMS1"
    assert storm.captures.exclude(audit_wanted=None).count() == 2, "they were judged by other limits"
    again(upload)
    assert names() == ["CLAIMS1"]


@pytest.mark.usefixtures("nothing_brought")
def test_the_same_settings_stay_one_when_systems_are_merged(people: People, listing: Bring) -> None:
    for name in ("PROD1", "PROD2"):
        listing("config.txt", name)
    one, two = System.objects.order_by("name")
    assert SettingsSnapshot.objects.count() == 2
    rename_system(two, "PROD1", people.owner, merge=True)
    kept = SettingsSnapshot.objects.get()
    assert kept.system == one
    assert [capture.settings for capture in Capture.objects.all()] == [kept, kept]
    assert not Capture.objects.exclude(audit_wanted=None).exists(), "no limit changed"


def test_a_system_of_another_team_or_product_is_never_merged_with(people: People, storm: System) -> None:
    System.objects.create(team=people.other_team, product="ase", name="PAY1", key="PAY1")
    System.objects.create(team=people.team, product="openvms", name="PAY1", key="PAY1")
    assert rename_system(storm, "PAY1", people.owner, merge=True) == storm
    assert names() == ["PAY1"] * 3


def test_a_forgotten_system_leaves_its_upload_and_its_journal(
    people: People, storm: System, again: Callable[[Upload], None]
) -> None:
    Note.objects.create(system=storm, text="x")
    LimitSetting.objects.create(system=storm, name=LIMIT, value=31)
    with pytest.raises(Refused, match="type the name CLAIMS1"):
        forget_system(storm, "CLAIMS", people.owner)
    forget_system(storm, " claims1", people.owner)
    assert not any(model.objects.exists() for model in (System, Capture, Audit, Finding, Note, LimitSetting))
    entry = JournalEntry.objects.get(action="system forgotten")
    assert (entry.what, entry.team, entry.system) == ("CLAIMS1 (ase) with 1 capture", people.team, None)
    again(Upload.objects.get())
    assert names() == ["CLAIMS1"]


def test_a_dba_of_the_team_renames_merges_and_forgets_by_the_page(
    people: People, as_user: AsUser, storm: System, listing: Bring
) -> None:
    olga = as_user(people.owner)
    listing("config.txt", "SPARE")
    spare = System.objects.get(name="SPARE")
    answer = olga.post(f"/systems/{storm.pk}/name/", {"name": "spare"}, follow=True)
    assert "Not renamed: there is a system SPARE" in answer.content.decode()
    answer = olga.post(f"/systems/{storm.pk}/name/", {"name": "<b>bold"}, follow=True)
    assert "CLAIMS1 is called &lt;b&gt;bold now." in answer.content.decode()
    answer = olga.post(f"/systems/{storm.pk}/name/", {"name": "spare", "merge": "1"}, follow=True)
    assert answer.redirect_chain == [(f"/systems/{spare.pk}/", 302)]
    answer = olga.post(f"/systems/{spare.pk}/forget/", {"name": "no"}, follow=True)
    assert "Not forgotten: type the name SPARE" in answer.content.decode()
    answer = olga.post(f"/systems/{spare.pk}/forget/", {"name": "SPARE"}, follow=True)
    assert "SPARE is forgotten" in answer.content.decode()
    assert not System.objects.exists()
    page = olga.get(f"/uploads/{Upload.objects.first().pk}/").content.decode()  # type: ignore[union-attr]  # it is kept
    assert "Its captures are no longer kept. Read again, it makes them anew." in page


def test_the_part_of_the_page_is_for_who_may_work_and_says_what_happens(people: People, rf: RequestFactory) -> None:
    system = System.objects.create(team=people.team, product="ase", name="<i>x", key="<I>X")

    def part(may_work: bool) -> str:
        context = {"system": system, "may_work": may_work, "formerly": [], "collected_as": system.name}
        return render_to_string("systems/parts/identity.html", context, request=rf.get("/"))

    assert part(False).strip() == ""
    shown = part(True)
    for address in (f"/systems/{system.pk}/name/", f"/systems/{system.pk}/forget/"):
        assert f'action="{address}"' in shown
    assert shown.count("csrfmiddlewaretoken") == 2
    assert "type its name: &lt;i&gt;x" in shown
    assert "<i>x" not in shown


@pytest.mark.parametrize("verb", ["name", "forget"])
def test_nobody_else_changes_a_system(people: People, as_user: AsUser, storm: System, verb: str) -> None:
    address, sent = f"/systems/{storm.pk}/{verb}/", {"name": "CLAIMS1" if verb == "forget" else "MINE"}
    assert as_user(people.colleague).post(address, sent).status_code == 403
    assert as_user(people.stranger).post(address, sent).status_code == 404
    assert as_user(people.owner).get(address).status_code == 405
    assert names() == ["CLAIMS1"]
    assert not JournalEntry.objects.filter(action__startswith="system").exists()
    assert as_user(people.administrator).post(address, sent).status_code == 302


@pytest.mark.usefixtures("nothing_brought")
def test_what_looks_after_a_system_looks_after_the_one_it_is_merged_into(people: People, listing: Bring) -> None:
    listing("sysmon.txt", "ONE", as_file="one.txt")
    listing("config.txt", "TWO", as_file="two.txt")
    one, two = System.objects.get(name="ONE"), System.objects.get(name="TWO")
    group = Group.objects.create(team=people.team, name="all")
    group.systems.set([two])
    hook = Webhook.objects.create(team=people.team, name="to us", url="https://example.org/", secret_sealed="x")
    hook.systems.set([two])
    schedule = Schedule.objects.create(team=people.team, name="nightly", system=two, every_minutes=60)
    both = Schedule.objects.create(team=people.team, name="weekly", group=group, every_minutes=60)
    due = timezone.now()
    for system in (one, two):
        Run.objects.create(schedule=both, system=system, due=due)
    rename_system(two, "ONE", people.owner, merge=True)
    assert names() == ["ONE"]
    schedule.refresh_from_db()
    hook.refresh_from_db()
    assert schedule.system == one
    assert list(group.systems.all()) == list(hook.systems.all()) == [one]
    assert hook.paused is None
    assert [run.system for run in both.runs.all()] == [one]


def test_a_webhook_about_one_system_does_not_become_one_about_all_when_that_is_forgotten(
    people: People, listing: Bring
) -> None:
    listing("sysmon.txt")
    system = System.objects.get()
    hook = Webhook.objects.create(team=people.team, name="to us", url="https://example.org/", secret_sealed="x")
    hook.systems.set([system])
    forget_system(system, system.name, people.owner)
    hook.refresh_from_db()
    assert hook.paused


def test_a_system_with_a_schedule_is_kept_when_its_captures_go(people: People, listing: Bring) -> None:
    listing("sysmon.txt")
    system = System.objects.get()
    Schedule.objects.create(team=people.team, name="nightly", system=system, every_minutes=60)
    system.captures.all().delete()
    settle_system(system)
    assert names() == [system.name]
