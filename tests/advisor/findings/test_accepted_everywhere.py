"""Wherever findings are counted, an accepted one is counted as accepted: never as open, and never as in order.

A limit of one's own that hides a finding is no order either.
"""

import io
import re
import zipfile
from collections.abc import Callable, Iterator
from datetime import date, timedelta

import pytest
from django.test import Client
from django.urls import reverse
from django.utils import timezone
from pytest_django import DjangoCaptureOnCommitCallbacks

from advisor.accounts.services.tokens import make_token
from advisor.audits.models import Audit
from advisor.audits.services.contract import audit_json
from advisor.audits.services.limits import set_limit
from advisor.audits.services.printing import html_of
from advisor.core.jinja import SEVERITY
from advisor.findings.models import TrackedFinding
from advisor.findings.services import states
from advisor.notifications.mail.daily import daily_message
from advisor.notifications.mail.digest import digest_message
from advisor.notifications.mail.heartbeat import heartbeat_message
from advisor.notifications.mail.report import report_message
from advisor.notifications.models import Recipient
from advisor.operations.services.metrics import REGISTRY
from advisor.schedules.models import Run, Schedule
from advisor.schedules.services.run_status import status_of
from advisor.systems.models import System
from tests.advisor.audits.rule_pages import LIMIT, RULE
from tests.advisor.findings.claims import followed
from tests.advisor.notifications.mail.letter_parts import parts, recipient_of
from tests.advisor.people import AsUser, People, text_of
from tests.advisor.seen import words_of

pytestmark = pytest.mark.postgres

LATER = date(2999, 1, 31)
WHY = "until the upgrade <b>"
OPEN = "3 critical, 1 warning, 2 advice"
ONE_ACCEPTED = "2 critical, 1 warning, 2 advice, 1 accepted"


def flat(text: str) -> str:
    return " ".join(text.split())


def accept(people: People, *rows: int) -> None:
    states.accept(people.owner, rows or list(TrackedFinding.objects.values_list("pk", flat=True)), LATER, WHY)


class Places:
    """Every place that counts the findings of CLAIMS1, as text."""

    def __init__(self, people: People, client: Client, audit: Audit) -> None:
        self.people, self.client, self.audit = people, client, audit

    def download(self, form: str) -> str:
        address = reverse("audit-download", args=[self.audit.pk, "audit", form])
        return flat(text_of(self.client, address))

    def counted(self) -> Iterator[tuple[str, str]]:
        """Those that say how many there are of each severity."""
        yield "page of the audit", words_of(text_of(self.client, reverse("audit", args=[self.audit.pk])))
        yield "text", self.download("txt")
        yield "HTML", words_of(self.download("html"))
        yield "what the PDF is made of", words_of(html_of(self.audit, audit_json(self.audit, states=True)))
        self.audit.refresh_from_db()
        yield "mail", flat(parts(report_message(self.recipient(), self.audit, None)).text)
        yield "short mail", flat(parts(heartbeat_message(self.recipient(), self.audit, None)).text)

    def recipient(self) -> Recipient:
        return self.people.team.recipients.first() or recipient_of(self.people, severity=1, daily=True, digest=True)


@pytest.fixture
def places(people: People, storm: System, storm_audit: Audit, as_user: AsUser) -> Places:
    return Places(people, as_user(people.colleague), storm_audit)


def in_order(text: str) -> set[int]:
    """The figures that a text calls in order."""
    patterns: tuple[str, ...] = (
        r"(\d+) rules? judged without a finding",
        r"(\d+) rules? in order",
        r"(\d+) judged and in order",
    )
    patterns += (r"(\d+) of them found all in order", r"Judged and in order \((\d+)\)")
    return {int(found) for pattern in patterns for found in re.findall(pattern, text)}


def test_where_severities_are_counted_one_that_is_accepted_is_counted_apart(people: People, places: Places) -> None:
    before = dict(places.counted())
    for where, text in before.items():
        assert OPEN in text, where
        assert "accepted" not in text.replace("is accepted", ""), where
    accept(people, followed().pk)
    after = dict(places.counted())
    for where, text in after.items():
        assert ONE_ACCEPTED in text, where
        assert OPEN not in text, (where, [text[max(0, m.start() - 90) : m.end() + 60] for m in re.finditer(OPEN, text)])
        assert in_order(text) == in_order(before[where]), where
    assert sum(bool(in_order(text)) for text in after.values()) >= 5
    for where in ("page of the audit", "text", "HTML", "what the PDF is made of", "mail"):
        assert re.search(r"[Aa]ccepted:? .*2999-01-31", after[where]), where
        assert "until the upgrade" in after[where], where
    assert "until the upgrade <b>" not in places.download("html")


def test_where_all_are_accepted_nothing_is_said_to_be_free_of_findings(people: People, places: Places) -> None:
    accept(people)
    for where, text in places.counted():
        assert "6 accepted" in text, where
        assert "no findings" not in text.lower(), where
        assert "3 critical" not in text, (
            where,
            [text[max(0, m.start() - 90) : m.end() + 60] for m in re.finditer("3 critical", text)],
        )
    carl = places.client
    system = places.audit.system
    overview = words_of(text_of(carl, reverse("overview")))
    assert "6 findings accepted" in overview
    assert "6 accepted" in overview, "in the row of the system"
    assert "without a finding" not in overview
    assert "no findings" not in overview
    of_system = text_of(carl, reverse("system", args=[system.pk]))
    assert words_of(of_system).count("until 2999-01-31") >= 6
    assert "no findings" not in of_system
    uploads = words_of(text_of(carl, reverse("uploads")))
    assert "6 accepted" in uploads
    assert OPEN not in uploads
    listed = words_of(text_of(carl, f"{reverse('findings')}?state=accepted"))
    assert "6 findings of this choice" in listed


def test_a_change_of_an_accepted_finding_is_marked_and_not_run(people: People, places: Places) -> None:
    """Its neighbour in the same step is still made."""
    run, still = 'sp_configure "open object spinlock ratio", 5', 'sp_configure "open index spinlock ratio", 5'
    mark = "open object spinlock ratio 100 → 5 (accepted until 2999-01-31)"
    sheet_of, page = reverse("run-sheet", args=[places.audit.pk]), reverse("audit", args=[places.audit.pk])
    of_one = f"?system={places.audit.system_id}"

    def zipped() -> dict[str, str]:
        archive = zipfile.ZipFile(io.BytesIO(places.client.get(reverse("plan-scripts") + of_one).content))
        return {name.partition("-")[2]: archive.read(name).decode() for name in archive.namelist()}

    def mailed() -> str:
        message = report_message(places.recipient(), Audit.objects.get(pk=places.audit.pk), None)
        return parts(message).files["CLAIMS1-apply.sql"].decode().replace("\r\n", "\n")

    before = text_of(places.client, sheet_of)
    assert "(accepted" not in before
    assert "open object spinlock ratio is 100" in before
    accept(people, followed("ase/object_descriptor_spinlock_contended").pk)
    assert mark in words_of(text_of(places.client, page))
    sheet = words_of(text_of(places.client, sheet_of))
    assert mark in sheet
    assert "step 1 , without open object spinlock ratio (accepted until 2999-01-31)" in sheet
    assert "open object spinlock ratio is 100" not in sheet, "it is not looked at before"
    assert "open object spinlock ratio 5, by the check" not in sheet, "nor afterwards"
    assert "open index spinlock ratio is 100" in sheet
    joint = words_of(text_of(places.client, reverse("plan") + of_one))
    assert "100 → 5 (accepted until 2999-01-31)" in joint
    assert "(accepted until 2999-01-31): not to be run" in words_of(
        text_of(places.client, reverse("plan-run-sheet") + of_one)
    )
    archive = zipped()
    sheet = next(text for name, text in archive.items() if "RUN SHEET" in text)
    assert "WITHOUT open object spinlock ratio (accepted until 2999-01-31)" in flat(sheet)
    for script in (next(text for name, text in archive.items() if name.endswith("apply.sql")), mailed()):
        lines = script.splitlines()
        assert f"-- {run}" in lines
        assert run not in lines
        assert still in lines
        assert "accepted until 2999-01-31, not to be run: open object spinlock ratio" in flat(script.replace("--", ""))


def test_a_step_of_which_all_is_accepted_is_no_step_of_the_run_sheet(people: People, places: Places) -> None:
    sheet_of = reverse("run-sheet", args=[places.audit.pk])
    accept(people)
    sheet = words_of(text_of(places.client, sheet_of))
    assert "Nothing is to be run. Not to be run, as it is accepted" in sheet
    assert "Step 2: lock address spinlock ratio 100 → 5 (accepted until 2999-01-31)" in sheet
    TrackedFinding.objects.update(state_until=date(2026, 1, 1))  # before any sweep has ended it
    assert "accepted" not in words_of(text_of(places.client, sheet_of))


def test_a_severity_beside_a_capture_is_that_of_what_is_open(people: People, places: Places) -> None:
    """Of the capture, of its upload, of the run that brought it, and of the rule; a mail program sorts by a header."""
    audit, rule = places.audit, followed().rule
    upload = audit.capture.upload
    assert upload
    schedule = Schedule.objects.create(team=people.team, name="drop", cron="0 * * * *", zone="UTC")
    upload.run = run = Run.objects.create(schedule=schedule, due=timezone.now(), state=Run.State.DONE)
    upload.save()
    _, secret = make_token(people.colleague, "reads", ["read"], timezone.now() + timedelta(days=1))
    api = Client(headers={"authorization": f"Bearer {secret}"})

    def worst() -> dict[str, str]:
        def page(name: str, *args: object, query: str = "") -> str:
            return words_of(text_of(places.client, reverse(name, args=args) + query))

        mail = parts(report_message(places.recipient(), Audit.objects.get(pk=audit.pk), None)).mail
        captures = page("system", audit.system_id)
        captures = captures[captures.index("Captures arrive by") :]
        listed = page("uploads")
        shown = page("upload-show", upload.pk)
        book = text_of(places.client, reverse("rulebook")).partition(f'<code class="soft">{rule}</code>')[2]
        here = page("rule", rule)
        (row,) = status_of([run])
        return {
            "header of the mail": str(mail["X-Lockwright-Worst"]),
            "captures": captures[captures.index("Captures, newest first") :][:200],
            "choice of captures": page("compare", audit.system_id).partition("Choose captures")[2],
            "list of uploads": listed[listed.index(f"Upload {upload.pk}") :],
            "upload": shown[shown.index("What it holds") :],
            "rule book": words_of(book.partition("</tr>")[0]),
            "rule": here[here.rindex("Where it fires here") :].partition("Worked examples")[0],
            "run": SEVERITY[row.uploads[0].found[0].worst],
            "API": str(api.get(f"/api/systems/{audit.system_id}/captures").json()["items"][0]["severity"]),
        }

    places.recipient()
    before = worst()
    for where in ("header of the mail", "captures", "list of uploads", "upload", "run", "API"):
        assert "critical" in before[where], (where, before[where])
    assert "1 system" in before["rule book"]
    assert "critical" in before["rule"]
    critical = TrackedFinding.objects.filter(severity=4)
    accept(people, *critical.values_list("pk", flat=True))
    some = worst()
    for where in ("header of the mail", "captures", "list of uploads", "upload", "run", "API"):
        assert "warning" in some[where], (where, some[where])
        assert "critical" not in some[where].replace("3 accepted", ""), (where, some[where])
    assert "accepted at 1" in some["rule book"]
    assert "1 system" not in some["rule book"]
    assert "1 accepted" in some["rule"]
    assert "critical" not in some["rule"]
    accept(people)
    every = worst()
    assert every["header of the mail"] == every["run"] == "nothing"
    assert every["API"] == "None"
    for where in ("captures", "upload"):
        assert "none open, accepted" in every[where], (where, every[where])
    for where, said in every.items():
        assert "critical" not in said, (where, said)
        assert "no findings" not in said, (where, said)
    TrackedFinding.objects.update(state_until=date(2026, 1, 1))  # before any sweep has ended it
    assert worst() == before


def test_the_overview_shows_the_worst_that_is_open(people: People, places: Places) -> None:
    first, second = places.audit.findings.order_by("number")[:2]

    def row() -> str:
        page = words_of(text_of(places.client, reverse("overview")))
        return page[page.index("CLAIMS1") :]

    assert first.title in row()
    accept(people, TrackedFinding.objects.get(key=first.key).pk)
    assert first.title not in row()
    assert f"critical {second.title}" in row()
    assert f"{reverse('audit', args=[places.audit.pk])}#f1" in text_of(places.client, reverse("overview"))
    accept(people)
    assert f"none open: {first.title} 6 accepted" in row(), "all are: then the worst, and that they are"
    assert f"critical {first.title}" not in row()


def test_the_mails_of_the_fleet_count_it_apart(people: People, places: Places) -> None:
    now = timezone.now()

    def daily() -> str:
        return flat(parts(daily_message(places.recipient(), now)).text)

    def weekly() -> str:
        return flat(parts(digest_message(places.recipient(), now)).text)

    assert "6 findings open" in daily()
    assert "accepted" not in weekly()
    accept(people, followed().pk)
    assert "5 findings open" in daily()
    assert "1 findings accepted" in daily()
    assert "1 finding is accepted: known, and not counted as open." in weekly()
    for text in (daily(), weekly()):
        assert "0 without a finding" in text or "without a finding" not in text
    assert "1 finding is accepted" in parts(digest_message(places.recipient(), now)).html


def test_scripts_and_the_monitoring_are_told(people: People, places: Places) -> None:
    def of(name: str) -> dict[str, float | None]:
        words = ("critical", "warning", "advice", "note")
        return {word: REGISTRY.get_sample_value(f"lockwright_{name}", {"severity": word}) for word in words}

    found = {"critical": 3, "warning": 1, "advice": 2, "note": 0}
    assert (of("findings"), of("findings_accepted")) == (found, dict.fromkeys(found, 0))
    accept(people, followed().pk)
    assert of("findings") == {**found, "critical": 2}
    assert of("findings_accepted") == {**dict.fromkeys(found, 0), "critical": 1}
    _, secret = make_token(people.colleague, "reads", ["read"], timezone.now() + timedelta(days=1))
    client = Client(headers={"authorization": f"Bearer {secret}"})
    (row,) = client.get("/api/systems").json()["items"]
    assert row["accepted"] == {"critical": 1}
    assert row["counts"]["critical"] == 3, "what an audit found stays: scripts depend on it"
    assert client.get(f"/api/systems/{row['id']}").json()["accepted"] == {"critical": 1}
    capture = client.get(f"/api/audits/{places.audit.pk}").json()["captures"][0]
    assert [one["state"] for one in capture["findings"]].count("accepted") == 1
    TrackedFinding.objects.update(state_until=date(2026, 1, 1))  # before any sweep has ended it
    assert of("findings") == found
    capture = client.get(f"/api/audits/{places.audit.pk}").json()["captures"][0]
    assert {one["state"] for one in capture["findings"]} == {"open"}
    assert OPEN in places.download("txt")


def test_the_file_of_json_is_what_the_command_prints(people: People, places: Places) -> None:
    accept(people)
    address = reverse("audit-download", args=[places.audit.pk, "audit", "json"])
    capture = places.client.get(address).json()["captures"][0]
    assert all("state" not in one for one in capture["findings"])
    assert "limits" not in capture


def test_what_a_limit_of_ones_own_hides_is_not_in_order(
    people: People, places: Places, django_capture_on_commit_callbacks: DjangoCaptureOnCommitCallbacks
) -> None:
    before = {where: in_order(text) for where, text in places.counted()}
    with django_capture_on_commit_callbacks(execute=True):
        set_limit(LIMIT, 90, people.owner, system=places.audit.system)
    system = System.objects.get()
    assert system.latest is not None
    assert not any(key.startswith(RULE) for key in system.latest.findings_digest)
    places.audit = system.latest
    judged = 0
    for where, text in places.counted():
        assert in_order(text) == before[where], where
        judged += bool(in_order(text))
        if in_order(text):
            assert re.search(r"1 (rule )?(without a finding|nothing) by limits", text), where
    assert judged >= 5


def test_a_system_that_was_never_audited_is_not_without_a_finding(
    people: People, storm: System, as_user: Callable[..., Client]
) -> None:
    System.objects.create(team=people.team, product="ase", name="FRESH", key="FRESH")
    overview = words_of(text_of(as_user(people.colleague), reverse("overview")))
    assert "2 systems: 1 critical , 1 never audited" in overview
    assert "without a finding" not in overview


def test_the_list_of_an_audit_has_the_accepted_ones_at_its_end(people: People, places: Places) -> None:
    page = reverse("audit", args=[places.audit.pk])
    first = places.audit.findings.order_by("number")[0]

    def places_of(text: str) -> list[int]:
        return [int(number) for number in re.findall(r'<article class="finding row" id="f(\d+)"', text)]

    assert places_of(text_of(places.client, page)) == [0, 1, 2, 3, 4, 5]
    accept(people, TrackedFinding.objects.get(key=first.key).pk)
    text = text_of(places.client, page)
    assert places_of(text) == [1, 2, 3, 4, 5, 0]
    assert "Accepted, 1 finding" in words_of(text[text.index('id="f5"') : text.index('id="f0"')])
    accept(people)
    text = text_of(places.client, page)
    assert places_of(text) == [0, 1, 2, 3, 4, 5]
    assert "No finding is open: what was found is accepted." in text
    assert "no findings" not in text


def test_what_to_do_says_what_is_accepted(people: People, places: Places) -> None:
    """In the mail and in the text: the step of the plan stays, with the mark."""
    mark = "open object spinlock ratio 100 -> 5 (accepted until 2999-01-31)"

    def texts() -> dict[str, str]:
        mail = parts(report_message(places.recipient(), Audit.objects.get(pk=places.audit.pk), None))
        return {"mail": flat(mail.text), "text": places.download("txt")}

    for where, text in texts().items():
        assert "(accepted until" not in text, where
    accept(people, followed("ase/object_descriptor_spinlock_contended").pk)
    for where, text in texts().items():
        assert mark in text.replace("→", "->"), where
        assert text.count("(accepted until 2999-01-31)") == 1, where


def test_the_plan_of_a_cluster_says_what_is_accepted_on_each_node(
    people: People, bring: Callable[..., object], as_user: AsUser
) -> None:
    """Seen from every node: the change is asked for by a finding of one of them."""
    bring("three_nodes_one_decision")
    carl = as_user(people.colleague)
    audits = list(Audit.objects.order_by("pk"))
    assert len(audits) == 3
    pages = {one.pk: reverse("openvms-cluster", args=[one.pk]) for one in audits}
    keys = {key for one in audits for step in one.cluster["plan"]["steps"] for key in step["change_keys"]}
    asking = [one for one in TrackedFinding.objects.select_related("finding") if _asks(one, keys)]
    assert {row.system_id for row in asking} < {one.system_id for one in audits}, "one node asks, all show the plan"
    for address in pages.values():
        assert "accepted until" not in text_of(carl, address)
    accept(people, *(row.pk for row in asking))
    for address in pages.values():
        text = words_of(text_of(carl, address))
        assert "accepted until 2999-01-31" in text
        assert "Not to be made now: " in text
        assert "accepted until 2999-01-31, not to be run" in text, "in its script"
    mail = parts(report_message(recipient_of(people, severity=1), audits[0], None))
    assert "(accepted until 2999-01-31)" in flat(mail.text)
    TrackedFinding.objects.update(state_until=date(2026, 1, 1))  # before any sweep has ended it
    for address in pages.values():
        assert "accepted until" not in text_of(carl, address)


def _asks(row: TrackedFinding, keys: set[str]) -> bool:
    assert row.finding is not None
    return any(change["key"] in keys for change in row.finding.data["changes"])
