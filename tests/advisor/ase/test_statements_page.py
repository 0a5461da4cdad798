"""Who does the work: statements without values unless asked for, what runs with its tables, sessions by program."""

import csv
import io

from django.test import Client
from django.urls import reverse

from advisor.ase.services.statements import LONGEST, MOST, TABLES, statements_of
from collectors.facts import Fact, Facts
from collectors.facts.ase import (
    MonCachedStatement,
    MonProcess,
    MonProcessActivity,
    MonProcessObject,
    MonProcessStatement,
    MonSysStatement,
    PlanAccess,
)
from tests.advisor.ase.servers import audited, contended
from tests.advisor.people import AsUser, People, text_of

HOSTILE = "<script>alert(1)</script>"


def cached(number: int, reads: float, text: str | None = None, **more: object) -> MonCachedStatement:
    fields = {"executions": 3.0, "total_logical_reads": reads, **more}
    return MonCachedStatement(statement=number, database="claims", text=text, **fields)  # type: ignore[arg-type]


def work() -> list[Fact]:
    """Two cached statements, lines of a procedure, one session that runs and reads, and one that only did."""
    over = {"over": "interval", "seconds": 60.0, "certificate": "ok"}
    return [
        cached(11, 900.0, f"select '{HOSTILE}' from policy p, hr..staff where id = 4711", lock_waits=7.0),
        cached(12, 5000.0, "update claim set v = 'Smith'"),
        MonSysStatement(spid=31, kpid=5, procedure_id=77, line=12, logical_reads=40.0),
        MonSysStatement(spid=31, kpid=5, procedure_id=77, line=12, logical_reads=60.0),
        MonSysStatement(spid=31, kpid=5, statement=11, logical_reads=900.0),
        MonProcess(spid=31, kpid=5, application="Night\u202erun", login="batch"),
        MonProcess(spid=32, kpid=6, application="Night\u202erun", login="batch"),
        MonProcessStatement(spid=31, kpid=5, procedure_id=77, line=12, logical_reads=800.0, wait_milliseconds=90.0),
        MonProcessObject(spid=31, kpid=5, database="claims", object_name="policy", logical_reads=10.0),
        MonProcessObject(spid=31, kpid=5, database="claims", object_name="claim", logical_reads=90.0),
        MonProcessObject(spid=31, kpid=5, database="claims", object_name="claim", index_id=2, logical_reads=5.0),
        MonProcessActivity(spid=31, kpid=5, logical_reads=70.0, commits=4.0, ulc_flushes_full=2.0, **over),  # type: ignore[arg-type]
        MonProcessActivity(spid=32, kpid=6, logical_reads=30.0, commits=1.0, **over),  # type: ignore[arg-type]
        MonProcessActivity(spid=40, kpid=9, logical_reads=5.0, **{**over, "certificate": "reset"}),  # type: ignore[arg-type]
    ]


def test_statements_come_by_reads_with_the_tables_that_their_text_names() -> None:
    found = statements_of(Facts(tuple(work())))
    assert [(one.name, one.reads, one.executions) for one in found.statements] == [
        ("SSQLID 12", 5000.0, 3.0),
        ("SSQLID 11", 900.0, 3.0),
        ("procedure 77, line 12", 100.0, 2.0),
    ], "what ended and is cached stands once"
    assert found.statements[1].tables == ("claims..policy", "hr..staff")
    assert found.statements[1].lock_waits == 7.0
    assert found.statements[2].lock_waits is None


def test_what_runs_has_the_tables_that_the_server_says_it_reads() -> None:
    (one,) = statements_of(Facts(tuple(work()))).running
    assert (one.spid, one.where, one.reads, one.wait_ms) == (31, "procedure 77, line 12", 800.0, 90.0)
    assert one.tables == ("claims..claim", "claims..policy"), "most reads first"
    assert one.program == "Night?run"


def test_sessions_of_one_program_and_login_are_added_up_and_what_cannot_be_believed_is_not() -> None:
    found = statements_of(Facts(tuple(work())))
    (one,) = found.programs
    assert (one.name, one.login, one.sessions, one.reads) == ("Night?run", "batch", 2, 100.0)
    assert (one.commits, one.log_full, one.cpu_ms) == (5.0, 2.0, None)
    assert one.tables == ("claims..claim", "claims..policy")
    assert found.of_interval


def test_it_is_bounded() -> None:
    many = ", ".join(f"t{number}" for number in range(50))
    rows = [
        cached(number, float(number), f"select 1 from {many} where x = '{'y' * 5000}'") for number in range(MOST + 9)
    ]
    found = statements_of(Facts(tuple(rows)))
    assert (len(found.statements), found.left_out) == (MOST, 9)
    assert len(found.statements[0].tables) == TABLES
    assert len(found.statements[0].whole) <= LONGEST + len(" [cut]")


def test_the_page_shows_no_value_unless_asked_and_escapes_what_clients_sent(people: People, as_user: AsUser) -> None:
    audit = audited(people, [*contended(), *work()])
    address = reverse("ase-statements", args=[audit.pk])
    shown = text_of(as_user(people.owner), address)
    assert "update claim set v = ?" in shown
    assert "Smith" not in shown
    assert "4711" not in shown
    assert "claims..policy" in shown
    whole = text_of(as_user(people.owner), f"{address}?values=shown")
    assert "Smith" in whole
    assert HOSTILE not in whole
    assert "&lt;script&gt;" in whole


def test_it_sorts_by_a_column(people: People, as_user: AsUser) -> None:
    audit = audited(people, [*contended(), *work()])
    shown = text_of(as_user(people.owner), f"{reverse('ase-statements', args=[audit.pk])}?sort=locks")
    assert shown.index("SSQLID 11") < shown.index("SSQLID 12")


def test_the_file_has_every_statement_without_values(people: People, as_user: AsUser) -> None:
    audit = audited(people, [*contended(), *work()])
    text = as_user(people.owner).get(reverse("ase-statements-csv", args=[audit.pk])).content.decode()
    rows = list(csv.DictReader(io.StringIO(text)))
    assert [row["statement"] for row in rows] == ["SSQLID 12", "SSQLID 11", "procedure 77, line 12"]
    assert rows[0]["text without values"] == "update claim set v = ?"
    assert "Smith" not in text


def test_the_tabs_lead_to_it_only_where_there_is_something_to_show(people: People, as_user: AsUser) -> None:
    without, some = audited(people, contended()), audited(people, [*contended(), *work()])
    for audit, there in ((without, False), (some, True)):
        page = text_of(as_user(people.owner), reverse("ase-spinlocks", args=[audit.pk]))
        assert (reverse("ase-statements", args=[audit.pk]) in page) is there
    empty = text_of(as_user(people.owner), reverse("ase-statements", args=[without.pk]))
    assert "monCachedStatement" in empty


def test_other_teams_and_strangers_do_not_see_it(people: People, as_user: AsUser, client: Client) -> None:
    audit = audited(people, [*contended(), *work()])
    for name in ("ase-statements", "ase-statements-csv"):
        address = reverse(name, args=[audit.pk])
        assert client.get(address).status_code == 302
        assert as_user(people.stranger).get(address).status_code == 404


def test_plans_that_were_brought_are_shown_scans_first(as_user: AsUser, people: People) -> None:
    found = [
        *work(),
        PlanAccess(ssql_id=11, statement=1, query="SELECT", table="policy", by_index=True, index="policy_no"),
        PlanAccess(
            spid=31, statement=2, line=14, query="SELECT", table="claim", scanned=True, io_kb=2.0, strategy="LRU"
        ),
    ]
    plans = statements_of(Facts(tuple(found))).plans
    assert [(one.owner, one.table, one.how) for one in plans] == [
        ("SPID 31", "claim", "SELECT at line 14: table scan, reads of 2 KB, LRU replacement"),
        ("SSQLID 11", "claims..policy", "SELECT: index policy_no"),
    ], "no export tells in which database that session is"
    page = text_of(as_user(people.owner), reverse("ase-statements", args=[audited(people, [*contended(), *found]).pk]))
    assert page.index("table scan, reads of 2 KB") < page.index("index policy_no")
