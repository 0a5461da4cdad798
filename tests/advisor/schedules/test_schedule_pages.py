"""The pages of schedules: who sees what, and what is said of runs and files."""

from datetime import timedelta

import pytest
from django.utils import timezone
from pytest_django import DjangoAssertNumQueries

from advisor.audits.models import Audit
from advisor.schedules.models import DropFile, Run, Schedule
from advisor.schedules.services.run_status import in_steps
from advisor.systems.models import Group, System
from advisor.uploads.models import Upload
from tests.advisor.keeping import keeps
from tests.advisor.people import AsUser, People, text_of
from tests.advisor.schedules.scheduled import mail_of, make_schedule, run_of, taken_by
from tests.advisor.seen import words_of

shared = keeps("address_lock_storm")

EVIL = '"><script>alert(1)</script>'


@pytest.fixture
def nightly(people: People, storm: System) -> Schedule:
    return make_schedule(people, system=storm)


@pytest.fixture
def upload(storm_audit: Audit) -> Upload:
    """The upload of the owner's system, with its audit."""
    assert storm_audit.capture.upload is not None
    return storm_audit.capture.upload


def test_the_list_says_for_whom_and_when_and_what_came_of_the_last_run(
    people: People, nightly: Schedule, as_user: AsUser
) -> None:
    run_of(nightly, Run.State.FAILED, error="the folder is away: mount it", finished=timezone.now())
    run_of(nightly, Run.State.SKIPPED, ago=200)
    page = words_of(text_of(as_user(people.colleague), "/schedules/"))
    assert "nightly" in page
    assert "CLAIMS1" in page
    assert "every hour" in page
    assert "failed" in page
    assert "skipped" not in page


def test_a_reader_finds_no_buttons_and_may_not_press_them(people: People, nightly: Schedule, as_user: AsUser) -> None:
    reader = as_user(people.colleague)
    page = text_of(reader, f"/schedules/{nightly.pk}/")
    assert "/x/claims" in page
    assert "Run now" not in page
    for verb in ("run", "pause", "resume", "delete", "change"):
        assert reader.post(f"/schedules/{nightly.pk}/{verb}/").status_code == 403, verb
    assert reader.get("/schedules/new/").status_code == 403
    nightly.refresh_from_db()
    assert nightly.paused is None
    assert not nightly.runs.exists()


def test_another_teams_schedule_does_not_exist(people: People, nightly: Schedule, as_user: AsUser) -> None:
    stranger = as_user(people.stranger)
    assert "nightly" not in text_of(stranger, "/schedules/")
    assert stranger.get(f"/schedules/{nightly.pk}/").status_code == 404
    assert stranger.get(f"/schedules/{nightly.pk}/change/").status_code == 404
    for verb in ("run", "pause", "resume", "delete"):
        assert stranger.post(f"/schedules/{nightly.pk}/{verb}/").status_code == 404, verb
    assert Schedule.objects.filter(pk=nightly.pk, paused=None).exists()


def test_what_changes_something_is_not_done_by_a_link(people: People, nightly: Schedule, as_user: AsUser) -> None:
    for verb in ("run", "pause", "resume", "delete"):
        assert as_user(people.owner).get(f"/schedules/{nightly.pk}/{verb}/").status_code == 405, verb


@pytest.mark.parametrize(
    ("columns", "said"),
    [
        ({"state": "waiting", "tries": 0}, "waits for a worker"),
        ({"state": "waiting", "tries": 2, "error": "the folder is away: mount it"}, "tried 2 times, again at"),
        ({"state": "running"}, "fetching"),
        ({"state": "failed", "error": "the folder is away\nmount it"}, "failed The folder is away. Mount it."),
        ({"state": "skipped", "told": "blackout window daily 01:00-02:30"}, "skipped blackout window daily"),
        ({"state": "done", "told": "nothing was there"}, "nothing new nothing was there"),
        ({"state": "done", "missed": 3, "late_seconds": 7500}, "2 h 5 min late, makes up for 3 missed runs"),
        ({"state": "done", "missed": 1}, "makes up for 1 missed run"),
    ],
)
def test_the_state_of_a_run_is_said_as_it_is(
    people: People, nightly: Schedule, as_user: AsUser, columns: dict[str, object], said: str
) -> None:
    run_of(nightly, **columns)  # type: ignore[arg-type]
    assert said in words_of(text_of(as_user(people.colleague), f"/schedules/{nightly.pk}/"))


def test_a_run_waits_for_the_one_that_has_its_system(people: People, nightly: Schedule, as_user: AsUser) -> None:
    other = make_schedule(people, "by hand", system=nightly.system)
    run_of(other, Run.State.RUNNING, system=nightly.system, holds=f"system {nightly.system_id}")
    run_of(nightly, Run.State.WAITING, system=nightly.system, tries=0)
    page = words_of(text_of(as_user(people.colleague), f"/schedules/{nightly.pk}/"))
    assert "(by hand) ends" in page


@pytest.mark.parametrize(
    ("state", "said"),
    [("waiting", "reading"), ("reading", "reading"), ("failed", "could not be read"), ("done", "audited")],
)
def test_a_run_is_followed_to_its_audit(
    people: People, nightly: Schedule, upload: Upload, as_user: AsUser, state: str, said: str
) -> None:
    run = run_of(nightly, told="1 file taken")
    taken_by(run, upload, state, error="no text" if state == "failed" else "")
    page = text_of(as_user(people.colleague), f"/schedules/{nightly.pk}/")
    row = page[page.index(f'id="run-{run.pk}"') :]
    assert f">{said}<" in row
    assert f"/uploads/{upload.pk}/" in row
    assert ("no text" in row) == (state == "failed")
    assert ("hx-trigger" in page) == (state in ("waiting", "reading"))


def test_a_run_leads_to_its_audits_and_counts_its_mails(
    people: People, nightly: Schedule, upload: Upload, storm_audit: Audit, as_user: AsUser
) -> None:
    taken_by(run_of(nightly), upload)
    for number in range(2):
        mail_of(storm_audit, "done", number)
    mail_of(storm_audit, "waiting")
    mail_of(storm_audit, "failed")
    page = text_of(as_user(people.colleague), f"/schedules/{nightly.pk}/")
    assert f'href="/audits/{storm_audit.pk}/"' in page
    assert "4 mails : 2 sent, 1 waiting, 1 not sent" in words_of(page)


def test_an_upload_that_tells_of_a_known_sample_leads_to_its_audit(
    people: People, nightly: Schedule, upload: Upload, storm_audit: Audit, as_user: AsUser
) -> None:
    again = Upload.objects.create(team=people.team, digest="again", run=run_of(nightly), state="done")
    storm_audit.capture.also_in.add(again)
    page = text_of(as_user(people.colleague), f"/schedules/{nightly.pk}/")
    assert f'href="/audits/{storm_audit.pk}/"' in page
    assert "audited" in page


def test_the_page_follows_by_itself_while_something_is_under_way_and_no_longer(
    people: People, nightly: Schedule, upload: Upload, storm_audit: Audit, as_user: AsUser
) -> None:
    client, address = as_user(people.colleague), f"/schedules/{nightly.pk}/"
    assert "hx-trigger" not in text_of(client, address)
    run = run_of(nightly, Run.State.RUNNING)
    assert "hx-trigger" in text_of(client, address)
    part = client.get(address, headers={"HX-Request": "true"}).content.decode()
    assert "<html" not in part
    assert "fetching" in part
    Run.objects.filter(pk=run.pk).update(state=Run.State.DONE)
    taken_by(run, upload)
    assert "hx-trigger" not in text_of(client, address)
    mail_of(storm_audit, "waiting")
    assert "hx-trigger" in text_of(client, address)
    assert "hx-trigger" in text_of(client, "/schedules/")


def test_trouble_stands_on_the_page_in_full(people: People, nightly: Schedule, as_user: AsUser) -> None:
    System.objects.update(troubled=timezone.now() - timedelta(hours=5), trouble="its collector failed\nstart it")
    page = words_of(text_of(as_user(people.colleague), f"/schedules/{nightly.pk}/"))
    assert "CLAIMS1 is not audited since" in page
    assert "Its collector failed. Start it." in page
    assert "not audited since" in words_of(text_of(as_user(people.colleague), "/schedules/?only=trouble"))


def test_a_groups_schedule_names_the_systems_that_are_not_audited(
    people: People, storm: System, as_user: AsUser
) -> None:
    group = Group.objects.create(team=people.team, name="the south")
    group.systems.add(storm)
    schedule = make_schedule(people, group=group, source="collector", collector="script")
    assert "not audited" not in text_of(as_user(people.colleague), "/schedules/")
    System.objects.update(troubled=timezone.now(), trouble="its collector failed")
    assert "1 system not audited" in words_of(text_of(as_user(people.colleague), "/schedules/?only=trouble"))
    assert "CLAIMS1 is not audited" in words_of(text_of(as_user(people.colleague), f"/schedules/{schedule.pk}/"))


def test_the_last_run_of_a_group_counts_its_systems(people: People, storm: System, as_user: AsUser) -> None:
    group = Group.objects.create(team=people.team, name="the south")
    schedule = make_schedule(people, group=group, source="collector", collector="script")
    due = timezone.now()
    other = make_schedule(people, "of another time", group=group, source="collector", collector="script")
    Run.objects.create(schedule=schedule, system=storm, due=due - timedelta(hours=1), state="skipped")
    Run.objects.create(schedule=other, system=storm, due=due - timedelta(hours=1), state="failed")
    for number, state in enumerate(("done", "done", "failed")):
        one = System.objects.create(team=people.team, product="ase", name=f"S{number}", key=f"S{number}")
        run = Run.objects.create(schedule=schedule, system=one, due=due, state=state)
    reading = Upload.objects.create(team=people.team, digest="x", run=run)
    page = text_of(as_user(people.colleague), "/schedules/")
    assert "1 failed, 2 fetched, 1 being read" in words_of(page)
    assert "skipped" not in page
    assert "hx-trigger" in page
    Upload.objects.filter(pk=reading.pk).update(state="failed")
    page = text_of(as_user(people.colleague), "/schedules/")
    assert "1 failed, 1 could not be read, 2 fetched" in words_of(page)
    assert "hx-trigger" not in page


def test_one_upload_of_several_that_cannot_be_read_is_counted(
    people: People, nightly: Schedule, upload: Upload, as_user: AsUser
) -> None:
    run = run_of(nightly)
    taken_by(run, upload)
    Upload.objects.create(team=people.team, digest="bad", run=run, state="failed", error="no text")
    page = words_of(text_of(as_user(people.colleague), f"/schedules/{nightly.pk}/"))
    assert "1 of 2 uploads could not be read" in page


def test_files_are_told_with_what_became_of_them(
    people: People, nightly: Schedule, upload: Upload, as_user: AsUser
) -> None:
    now = timezone.now()
    known = {"schedule": nightly, "size": 2048, "mtime_ns": 1, "inode": 1, "since": now, "seen": now}
    DropFile.objects.create(**known, path="good.txt", taken=now, upload=upload)
    DropFile.objects.create(**known, path="huge.bin", refused="larger than 200 MB: split it")
    DropFile.objects.create(**known, path="growing.txt")
    page = words_of(text_of(as_user(people.colleague), f"/schedules/{nightly.pk}/"))
    assert "3 files seen, 1 taken, 1 refused" in page
    assert page.index("huge.bin") < page.index("growing.txt") < page.index("good.txt")
    assert "larger than 200 MB: split it" in page
    assert "waits until it has settled" in page


def test_the_system_page_tells_its_schedules(
    people: People, nightly: Schedule, upload: Upload, storm: System, as_user: AsUser
) -> None:
    group = Group.objects.create(team=people.team, name="the south")
    group.systems.add(storm)
    make_schedule(people, "of the group", group=group)
    folder = make_schedule(people, "whatever comes")
    make_schedule(people, "of nobody here")
    taken_by(run_of(folder), upload)
    page = text_of(as_user(people.owner), f"/systems/{storm.pk}/")
    told = words_of(page[page.index('id="schedules"') : page.index('id="limits"')])
    assert "nightly its own" in told
    assert "of the group group the south" in told
    assert "whatever comes delivered its newest exports" in told
    assert "of nobody here" not in told
    assert f'action="/schedules/{nightly.pk}/run/"' in page
    assert f'action="/schedules/{nightly.pk}/run/"' not in text_of(as_user(people.colleague), f"/systems/{storm.pk}/")


def test_hostile_names_and_errors_stay_text(people: People, nightly: Schedule, upload: Upload, as_user: AsUser) -> None:
    group = Group.objects.create(team=people.team, name=EVIL)
    Schedule.objects.update(name=EVIL, folder=EVIL, group=group, trouble=EVIL, troubled=timezone.now(), zone="UTC")
    System.objects.update(name=EVIL, trouble=EVIL, troubled=timezone.now())
    now = timezone.now()
    run = run_of(nightly, "failed", error=EVIL, told=EVIL)
    taken_by(run, upload, "failed", error=EVIL)
    DropFile.objects.create(schedule=nightly, size=1, mtime_ns=1, inode=1, since=now, seen=now, path=EVIL, refused=EVIL)
    owner = as_user(people.owner)
    for address in ("/", "/schedules/", f"/schedules/{nightly.pk}/", f"/schedules/{nightly.pk}/change/", "/groups/"):
        assert "<script>alert" not in text_of(owner, address), address
    assert "<script>alert" not in text_of(owner, f"/groups/{group.pk}/")


def test_more_schedules_take_no_more_queries(
    people: People, storm: System, as_user: AsUser, django_assert_max_num_queries: DjangoAssertNumQueries
) -> None:
    for number in range(40):
        run_of(make_schedule(people, f"n{number}", system=storm))
    client = as_user(people.colleague)
    with django_assert_max_num_queries(12):
        assert "n39" in text_of(client, "/schedules/")


def test_more_runs_take_no_more_queries(
    people: People,
    nightly: Schedule,
    upload: Upload,
    as_user: AsUser,
    django_assert_max_num_queries: DjangoAssertNumQueries,
) -> None:
    for number in range(25):
        run = run_of(nightly, ago=number + 30)
        Upload.objects.create(team=people.team, digest=str(number), run=run, state="done", finished=run.due)
    client = as_user(people.colleague)
    with django_assert_max_num_queries(16):
        text_of(client, f"/schedules/{nightly.pk}/")


@pytest.mark.parametrize(
    ("seconds", "said"), [(0, "0 s"), (59, "59 s"), (60, "1 min"), (7500, "2 h 5 min"), (90061, "1 d 1 h")]
)
def test_a_time_span_is_said_in_its_two_largest_units(seconds: float, said: str) -> None:
    assert in_steps(seconds) == said
