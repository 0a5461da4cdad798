"""The list of uploads: what each brought, what came of it, and how to find one."""

import re
from collections.abc import Callable
from datetime import timedelta

from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext
from django.utils import timezone

from advisor.audits.models import Audit, Capture
from advisor.systems.models import System
from advisor.uploads.models import Input, Upload, UploadFile
from tests.advisor.people import AsUser, People
from tests.advisor.seen import CONTENDED, see, unknown_system, words_of


def an_upload(people: People, digest: str, *names: str, **more: object) -> Upload:
    upload = Upload.objects.create(team=people.team, digest=digest, state="done", by=people.owner, **more)
    for number, name in enumerate(names):
        UploadFile.objects.create(upload=upload, number=number, name=name, size=1)
    return upload


def brought(upload: Upload, audit: Audit) -> None:
    """The capture of this audit came with that upload."""
    Capture.objects.filter(pk=audit.capture_id).update(upload=upload)


def listed(client: Client, query: str = "") -> list[str]:
    """The rows of the list, as a reader sees them."""
    html = client.get(f"/uploads/{query}").content.decode()
    return [words_of(row) for row in re.findall(r"<tr data-row>.*?</tr>", html, re.S)]


def test_a_row_tells_the_system_the_verdict_and_the_files(
    people: People, bring: Callable[..., Upload], as_user: AsUser
) -> None:
    upload = bring("address_lock_storm")
    audit = System.objects.get(name="CLAIMS1").latest
    assert audit
    html = as_user(people.colleague).get("/uploads/").content.decode()
    (row,) = listed(as_user(people.colleague))
    assert f'<a href="/audits/{audit.pk}/">CLAIMS1</a>' in html
    assert f"Upload {upload.pk} CLAIMS1 SAP ASE, 1 capture critical {audit.summary['verdict'][:60]}" in row
    assert f"{upload.files.count()} files {upload.files.all()[0].name}" in row
    assert "olga Claims" in row


def test_of_many_systems_the_worst_are_named_and_of_many_files_the_first(people: People, as_user: AsUser) -> None:
    upload = an_upload(people, "many", "a.txt", "b.txt", "c.txt", "d.txt")
    for number in range(5):
        name = f"NODE{number}"
        system = System.objects.create(team=people.team, product="ase", name=name, key=name)
        brought(upload, see(system, number, {CONTENDED: number} if number else {}))
    (row,) = listed(as_user(people.owner))
    assert "NODE4 SAP ASE, 1 capture NODE3 SAP ASE, 1 capture NODE2 SAP ASE, 1 capture and 2 others" in row
    assert "critical NODE4: the worst of them" in row
    assert "4 files a.txt, b.txt, c.txt, …" in row
    assert "NODE1" not in row
    assert "d.txt" not in row


def test_the_newest_capture_speaks_for_the_system_also_where_another_upload_brought_it_first(
    people: People, as_user: AsUser
) -> None:
    system = unknown_system(people)
    first = an_upload(people, "first", "a.txt", at=timezone.now() - timedelta(hours=2))
    both = an_upload(people, "both", "a.txt", "b.txt")
    earlier, later = see(system, 1, {CONTENDED: 4}), see(system, 2)
    brought(first, later)
    brought(both, earlier)
    later.capture.also_in.add(both)
    html = as_user(people.owner).get("/uploads/").content.decode()
    newest, oldest = listed(as_user(people.owner))
    assert f"Upload {both.pk} PROD1 SAP ASE, 2 captures no findings 2 files" in newest
    assert f"Upload {first.pk} PROD1 SAP ASE, 1 capture no findings 1 file" in oldest
    assert html.count(f'<a href="/audits/{later.pk}/">PROD1</a>') == 2
    assert f"/audits/{earlier.pk}/" not in html


def test_nothing_found_is_not_said_to_be_in_order_where_rules_could_not_judge(people: People, as_user: AsUser) -> None:
    upload = an_upload(people, "quiet", "a.txt")
    audit = see(unknown_system(people), 1)
    brought(upload, audit)
    Audit.objects.filter(pk=audit.pk).update(unjudged=["ase/one"], counts={"clean": 1, "unknown": 1})
    (row,) = listed(as_user(people.owner))
    assert "nothing found; 1 of 2 rules could not judge" in row


def test_what_is_not_read_or_not_recognised_says_so(people: People, as_user: AsUser) -> None:
    an_upload(people, "1", "stray.txt")
    waiting = an_upload(people, "2", "new.txt", system_name="PAYROLL")
    Upload.objects.filter(pk=waiting.pk).update(state="waiting")
    olga = as_user(people.owner)
    assert "none recognised not judged 1 file stray.txt" in listed(olga, "?q=stray")[0]
    assert "PAYROLL as chosen at the upload not judged" in listed(olga, "?state=waiting")[0]
    capture = see(unknown_system(people), 1).capture
    Capture.objects.filter(pk=capture.pk).update(upload=waiting, audit=None)
    assert "PROD1 SAP ASE, 1 capture, not judged yet not judged" in listed(olga, "?state=waiting")[0]


def test_the_address_holds_search_state_order_and_page(people: People, as_user: AsUser) -> None:
    olga = as_user(people.owner)
    small = an_upload(people, "small", "lunch.txt", total_bytes=1)
    large = an_upload(people, "large", "day.zip", total_bytes=9, at=timezone.now() - timedelta(days=1))
    Input.objects.create(upload=large, number=0, file="day.zip/t4_LIVE.csv")
    brought(small, see(unknown_system(people), 1))

    def numbers(query: str) -> list[int]:
        return [int(re.match(r"Upload (\d+)", row)[1]) for row in listed(olga, query)]  # type: ignore[index]

    assert numbers("") == [small.pk, large.pk]
    assert numbers("?q=prod1") == [small.pk]
    assert numbers("?q=LUNCH+PROD1") == [small.pk]
    assert numbers("?q=t4_live") == [large.pk], "a file in an archive"
    assert numbers("?q=lunch+t4_live") == []
    assert numbers("?sort=-size") == [large.pk, small.pk]
    assert numbers("?sort=size") == [small.pk, large.pk]
    assert numbers("?sort=when") == [large.pk, small.pk]
    assert numbers("?sort=nonsense&state=nonsense") == [small.pk, large.pk]
    assert numbers("?state=failed") == []
    html = olga.get("/uploads/?q=lunch&sort=-size").content.decode()
    assert 'value="lunch"' in html
    assert 'href="?q=lunch&amp;sort=size"' in html
    assert "No upload fits" in olga.get("/uploads/?q=nowhere").content.decode()
    for number in range(50):
        an_upload(people, f"more {number}", "lunch.txt")
    html = olga.get("/uploads/?q=lunch").content.decode()
    assert "51 uploads of this choice" in html
    assert 'href="?q=lunch&amp;page=2"' in html
    assert numbers("?q=lunch&page=2") == [small.pk]


def test_a_stranger_finds_no_upload_by_the_name_of_another_teams_system(people: People, as_user: AsUser) -> None:
    brought(an_upload(people, "ours", "a.txt"), see(unknown_system(people), 1))
    assert listed(as_user(people.stranger), "?q=PROD1") == []


def test_the_text_of_a_file_name_is_text(people: People, as_user: AsUser) -> None:
    an_upload(people, "evil", "<script>alert(1)</script>.txt")
    html = as_user(people.owner).get("/uploads/").content.decode()
    assert "<script>alert" not in html
    assert "&lt;script&gt;alert(1)" in html


def test_more_uploads_take_no_more_queries(people: People, as_user: AsUser) -> None:
    olga, system = as_user(people.owner), unknown_system(people)

    def queries(first: int, last: int) -> int:
        for number in range(first, last):
            brought(an_upload(people, str(number), "a.txt", "b.txt"), see(system, number, {CONTENDED: 2}))
        with CaptureQueriesContext(connection) as asked:
            olga.get("/uploads/?q=PROD")
        return len(asked)

    olga.get("/uploads/")
    few = queries(0, 2)
    assert queries(2, 12) == few
