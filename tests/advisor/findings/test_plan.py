"""One plan over several systems: what is merged, in which order, for whom; what was applied where; scripts."""

import io
import re
import zipfile
from collections.abc import Callable
from datetime import timedelta
from typing import Any

import pytest
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext
from django.utils import timezone
from markupsafe import escape

from advisor.audits.models import Audit, Capture, Finding
from advisor.core.models import JournalEntry
from advisor.findings.models import FindingEvent, SavedView, TrackedFinding
from advisor.findings.services import selection, states
from advisor.findings.services.applied import applied
from advisor.findings.services.joint_plan import joint_plan
from advisor.findings.services.selection import Selection
from advisor.systems.models import Group, System
from advisor.uploads.models import Upload
from tests.advisor.notifications.mail.letter_parts import HOSTILE
from tests.advisor.people import AsUser, People, text_of
from tests.advisor.seen import words_of
from tests.longer import first_of

pytestmark = pytest.mark.postgres
State, Presence = TrackedFinding.State, TrackedFinding.Presence
Bring = Callable[..., Upload]
RATIO = "lock address spinlock ratio"


def change(key: str, target: str, old: Any, new: Any, effect: str = "online") -> dict[str, Any]:
    return {
        **{"key": key, "target": target, "from": old, "to": new, "takes_effect": effect, "cautions": []},
        **{"apply": [f"set {target} to {new}"], "undo": [f"set {target} to {old}"]},
    }


def step(*changes: dict[str, Any], when: str = "now", risk: str = "low", **more: Any) -> dict[str, Any]:
    return {
        **{"takes_effect": changes[0]["takes_effect"], "node": "", "change_keys": [one["key"] for one in changes]},
        **{"apply": "\n".join(one["apply"][0] for one in changes), "undo": changes[0]["undo"][0], "when": when},
        **{"risk": {"level": risk, "why": "as the plan says"}, "needs": [], "alternatives": [], "after": None},
        **{"outage": None, **more},
    }


def audited(system: System, *steps: dict[str, Any], changes: list[dict[str, Any]], **more: Any) -> TrackedFinding:
    """A newest audit of the system with one finding that asks for all these changes."""
    capture = Capture.objects.create(system=system, taken=timezone.now(), timed=False)
    plan = {"steps": list(steps), "conflicts": more.pop("conflicts", [])}
    audit = Audit.objects.create(
        capture=capture, system=system, rules_version="x", plan=plan, cluster=more.pop("cluster", {})
    )
    key = f"{system.product}/made_up:{system.name}"
    data = {"key": key, "changes": changes, "expects": []}
    columns = {"key": key, "rule": f"{system.product}/made_up", "subject": system.name, "severity": 3}
    finding = Finding.objects.create(
        audit=audit, system=system, number=0, title=f"of {system.name}", data=data, **columns
    )
    System.objects.filter(pk=system.pk).update(latest=audit)
    now = timezone.now()
    return TrackedFinding.objects.create(
        system=system, title=f"of {system.name}", finding=finding, first_seen=now, last_seen=now, **columns, **more
    )


def server(people: People, name: str, product: str = "ase", **more: Any) -> System:
    team = more.pop("team", people.team)
    return System.objects.create(team=team, product=product, name=name, key=name.upper(), **more)


def simple(people: People, name: str, new: Any = 5, **more: Any) -> TrackedFinding:
    """A server whose plan sets one parameter at the next restart."""
    one = change(f"ase.config:{RATIO}", RATIO, 100.0, new, "restart")
    return audited(server(people, name), step(one, when="restart", risk="medium"), changes=[one], **more)


def address(*rows: TrackedFinding | System) -> str:
    numbers = [one.system_id if isinstance(one, TrackedFinding) else one.pk for one in rows]
    return "/plan/?" + "&".join(f"system={number}" for number in numbers)


def of(people: People, *systems: System) -> Any:
    return joint_plan(people.owner, Selection(system=tuple(one.pk for one in systems)))


# What is merged


def test_the_same_change_stands_once_with_the_values_of_each_system(people: People, as_user: AsUser) -> None:
    rows = [simple(people, "PAY1"), simple(people, "PAY2"), simple(people, "PAY3", new=10)]
    page = text_of(as_user(people.colleague), address(*rows))
    assert page.count(f"<h3>{RATIO}") == 1
    words = words_of(page)
    assert "Plan over 3 systems" in words
    assert f"{RATIO} 2 different values risk medium" in words
    assert [words.count(f"{name} 100 → {new}") for name, new in (("PAY1", 5), ("PAY2", 5), ("PAY3", 10))] == [1, 1, 1]
    same = words_of(text_of(as_user(people.colleague), address(*rows[:2])))
    assert f"{RATIO} 100 → 5 risk medium" in same, "one value is told beside the change"


def test_what_the_exports_show_is_planned_as_on_the_page_of_each_audit(
    people: People, bring: Bring, as_user: AsUser
) -> None:
    bring("address_lock_storm")
    bring("vlh_1_address_locks")
    bring("payroll_page_locks")
    systems = list(System.objects.order_by("name"))
    plan = of(people, *systems)
    for one in plan.systems:
        steps = [(asking.step.number, asking.change.key) for asking in plan.askings if asking.of is one]
        wanted = [(n, key) for n, said in enumerate(one.plan["steps"], 1) for key in said["change_keys"]]
        assert sorted(steps) == sorted(wanted), one.system.name
        assert all(asking.followed for asking in plan.askings), "every change leads to its finding"
    words = [moment.words for moment in plan.moments]
    assert words == [one for one in ("Now", "Next restart", "Next reboot", "To investigate") if one in words]
    assert "Next reboot" in words
    page = words_of(text_of(as_user(people.owner), address(*systems)))
    assert f"{RATIO} 100 → 5" in page
    assert "number of address lock hash table spinlocks: 11 → 207 (arithmetic)" in page
    assert "back to 100, next restart" in page
    assert "RESHASHTBL 8,192 → 262,144" in page, "the node stands among the systems, not in the change"


def test_moments_come_in_the_order_of_a_plan(people: People) -> None:
    one = [
        change(f"ase.config:{n}", f"p{n}", 1.0, 2.0, effect)
        for n, effect in enumerate(("restart", "online", "online", "advice"), 1)
    ]
    look = change("ase.config:look", "look", None, None, "advice")
    system = server(people, "PAY1")
    audited(
        system,
        step(look, when="investigate"),
        step(one[1]),
        step(one[0], when="restart"),
        step(one[2], when="restart", after=3, needs=["ase.config:1"]),
        step(one[3], when="investigate"),
        changes=[*one, look],
    )
    plan = of(people, system)
    told = [(moment.words, [change.target for change in moment.changes]) for moment in plan.moments]
    assert told == [
        ("To look into first", ["look"]),
        ("Now", ["p2"]),
        ("Next restart", ["p1"]),
        ("After the restart", ["p3"]),
        ("To investigate", ["p4"]),
    ]


def test_within_a_moment_what_loses_most_comes_first(people: People) -> None:
    light = change("ase.config:a", "a", 1.0, 2.0)
    heavy = change("ase.config:b", "b", 1.0, 2.0)
    one, two, three = (server(people, name) for name in ("PAY1", "PAY2", "PAY3"))
    audited(one, step(light), changes=[light], processors=0.5)
    audited(two, step(light), changes=[light], processors=0.5)
    audited(three, step(heavy), changes=[heavy], processors=3.0)
    assert [each.target for each in of(people, one, two, three).moments[0].changes] == ["b", "a"]


def test_no_change_comes_before_one_of_an_earlier_step_of_its_system(people: People) -> None:
    first, second, third = (change(f"ase.config:{name}", name, 1.0, 2.0) for name in "abc")
    one, two = server(people, "PAY1"), server(people, "PAY2")
    audited(one, step(first), step(second), step(third), changes=[first, second, third], processors=1.0)
    audited(two, step(third), changes=[third], processors=9.0)
    assert [each.target for each in of(people, one, two).moments[0].changes] == ["a", "b", "c"]
    three = server(people, "PAY3")
    audited(three, step(third), step(first), changes=[third, first], processors=9.0)
    moment = of(people, one, two, three).moments[0]
    assert sorted(each.target for each in moment.changes) == ["a", "b", "c"], "the other way round: still each once"


def test_a_change_of_a_node_is_the_same_on_every_node(people: People, as_user: AsUser) -> None:
    rows = []
    for name, was in (("LEWIS", 8192.0), ("BARRA", 4096.0)):
        one = change(f"openvms.sysgen:{name}:RESHASHTBL", "RESHASHTBL", was, 262144, "reboot")
        rows.append(audited(server(people, name, "openvms"), step(one, when="reboot"), changes=[one]))
    page = text_of(as_user(people.owner), address(*rows))
    assert page.count("<h3>RESHASHTBL") == 1
    words = words_of(page)
    assert "LEWIS 8,192 → 262,144" in words
    assert "BARRA 4,096 → 262,144" in words


@pytest.mark.parametrize(("other", "says"), [(5, "run it once"), (7, "asked to become 7 by ORKNEY and 5 by SKYE")])
def test_two_nodes_that_ask_for_one_setting_of_one_node(people: People, as_user: AsUser, other: int, says: str) -> None:
    own = change("openvms.sysgen:ORKNEY:LOCKDIRWT", "LOCKDIRWT", 1.0, other, "reboot")
    told = change("openvms.sysgen:ORKNEY:LOCKDIRWT", "LOCKDIRWT on ORKNEY", 1.0, 5, "reboot")
    one = audited(server(people, "ORKNEY", "openvms"), step(own, when="reboot"), changes=[own])
    two = audited(server(people, "SKYE", "openvms"), step(told, when="reboot", node="ORKNEY"), changes=[told])
    page = text_of(as_user(people.owner), address(one, two))
    assert page.count("<h3>LOCKDIRWT") == 1
    assert "asks for it on node ORKNEY" in page
    assert says in page
    assert ("Decide first" in page) is (other == 7)
    assert ("decide first" in page) is (other == 7)
    answer = as_user(people.owner).get(address(one, two).replace("/plan/", "/plan/scripts.zip"))
    texts = unzipped(answer.content)
    flat = re.sub(r"\s*\n\$! *", " ", texts[f"SKYE-{two.system_id}-apply.com.txt"])
    assert "LOCKDIRWT on ORKNEY" in flat
    assert ("run it once" in flat, "Decide first" in flat) == (other == 5, other == 7)


def test_a_database_of_a_cluster_is_changed_once_and_two_of_the_same_name_are_two(people: People) -> None:
    for nodes, same in ((["BARRA", "LEWIS"], ["", "BARRA"]), (None, ["", ""])):
        System.objects.all().delete()
        systems = []
        for name in ("BARRA", "LEWIS"):
            one = change("rdb.database:DISK$PAY:[PAY]PAY.RDB:journal", "JOURNAL", "DISABLED", "ENABLED", "offline")
            systems.append(server(people, name, "openvms"))
            cluster = {"cluster": {"nodes": nodes}} if nodes else {}
            audited(systems[-1], step(one, when="outage"), changes=[one], **cluster)
        assert [asking.same_as for asking in of(people, *systems).askings] == same


def test_conflicts_of_each_plan_come_first_with_their_system(people: People, as_user: AsUser) -> None:
    why = f"{RATIO}: asked to become 5 and 10"
    one = simple(people, "PAY1", conflicts=[{"change_keys": ["x"], "why": why}])
    two = simple(people, "PAY2")
    words = words_of(text_of(as_user(people.owner), address(one, two)))
    assert f"Decide first PAY1 : {why}" in words
    assert words.index("Decide first") < words.index("Next restart")


def test_old_audits_and_systems_without_one_have_no_plan_and_say_so(people: People, as_user: AsUser) -> None:
    empty = server(people, "NEW1")
    old = audited(server(people, "OLD1"), changes=[])
    Audit.objects.update(plan={})
    words = words_of(text_of(as_user(people.owner), address(empty, old)))
    assert (
        "Nothing is to be changed on any of them by their newest audits. That is not the same as being in order"
        in words
    )
    assert "no capture yet" in words


# Which systems


def test_groups_views_and_numbers_choose_together(people: People, as_user: AsUser) -> None:
    rows = [simple(people, f"PAY{n}") for n in range(4)]
    group = Group.objects.create(team=people.team, name="night")
    group.systems.add(rows[1].system)
    TrackedFinding.objects.filter(pk=rows[2].pk).update(severity=4)
    view = SavedView.objects.create(user=people.owner, name="the worst", query="severity=critical&sort=-lost")
    asked = f"/plan/?system={rows[0].system_id}&group={group.pk}&view={view.pk}"
    words = words_of(text_of(as_user(people.owner), asked))
    assert "Plan over 3 systems" in words
    assert "Group night; systems of the view the worst; 1 system chosen." in words
    assert "PAY3" not in words
    assert "PAY2" not in words_of(text_of(as_user(people.mate), asked)), "a view is of who keeps it"


def test_the_overview_offers_rows_groups_and_views(people: People, as_user: AsUser) -> None:
    row = simple(people, "PAY1")
    group = Group.objects.create(team=people.team, name="night")
    view = SavedView.objects.create(user=people.colleague, name="mine", query="severity=critical")
    page = text_of(as_user(people.colleague), "/")
    assert f'<input type="checkbox" name="system" value="{row.system_id}" form="several">' in page
    assert '<form id="several" class="bar act no-print" action="/plan/"' in page
    assert '<a href="/plan/">One plan over a group' in page
    choose = text_of(as_user(people.colleague), "/plan/?group=&view=")
    assert "Tick systems in the" in choose
    assert f'<option value="{group.pk}">night</option>' in choose
    assert f'<option value="{view.pk}">mine</option>' in choose
    assert "mine" not in text_of(as_user(people.owner), "/plan/")
    assert f'href="/plan/?group={group.pk}"' not in text_of(as_user(people.owner), f"/groups/{group.pk}/")
    group.systems.add(row.system)
    assert f'href="/plan/?group={group.pk}"' in text_of(as_user(people.owner), f"/groups/{group.pk}/")


def test_a_team_sees_its_own_systems_alone(people: People, as_user: AsUser) -> None:
    ours = simple(people, "PAY1")
    theirs = server(people, "SECRET9", team=people.other_team)
    one = change("ase.config:hidden", "hidden setting", 1.0, 2.0)
    audited(theirs, step(one), changes=[one])
    their_group = Group.objects.create(team=people.other_team, name="their group")
    their_group.systems.add(theirs)
    for place in ("/plan/", "/plan/run-sheet/", "/plan/scripts.zip"):
        asked = f"{place}?system={ours.system_id}&system={theirs.pk}&group={their_group.pk}"
        answer = as_user(people.colleague).get(asked)
        assert answer.status_code == 200
        body = str(unzipped(answer.content)) if place.endswith("zip") else answer.content.decode()
        assert "PAY1" in body
        assert not re.search("SECRET9|hidden setting|their group", body), place
    page = text_of(as_user(people.colleague), f"/plan/?system={theirs.pk}")
    assert "None of these systems exists" in page
    assert "SECRET9" in text_of(as_user(people.administrator), f"/plan/?system={theirs.pk}")


@pytest.mark.parametrize(
    "asked", ["system=x", "system=-1", "system=²", "system=" + "9" * 40, "group=' or 1=1", "view=0"]
)
def test_nonsense_asks_for_nothing(people: People, as_user: AsUser, asked: str) -> None:
    simple(people, "PAY1")
    for place in ("/plan/", "/plan/run-sheet/", "/plan/scripts.zip"):
        answer = as_user(people.owner).get(f"{place}?{asked}")
        assert answer.status_code == 200
        assert b"PAY1" not in answer.content


def test_more_systems_than_a_page_holds_are_refused(
    people: People, as_user: AsUser, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("advisor.findings.services.joint_plan.MOST_SYSTEMS", 2)
    rows = [simple(people, f"PAY{n}") for n in range(3)]
    assert selection.MOST_SYSTEMS == 500
    for place in ("/plan/", "/plan/run-sheet/", "/plan/scripts.zip"):
        answer = as_user(people.owner).get(address(*rows).replace("/plan/", place))
        assert answer.status_code == 400
        assert b"More than 2 systems are selected: choose fewer." in answer.content
    assert as_user(people.owner).get(address(*rows[:2])).status_code == 200


def statements(client: Client, path: str) -> int:
    with CaptureQueriesContext(
        connection,
    ) as seen:
        assert client.get(path).status_code == 200
    return len(seen)


@pytest.mark.parametrize("place", ["/plan/", "/plan/run-sheet/", "/plan/scripts.zip"])
def test_the_number_of_statements_does_not_grow_with_the_systems(people: People, as_user: AsUser, place: str) -> None:
    """Half of them are gone after a change, so that every statement of the page has rows to read."""
    client = as_user(people.owner)
    rows = [simple(people, f"PAY{n}") for n in range(4)]
    for row in rows[::2]:
        TrackedFinding.objects.filter(pk=row.pk).update(
            state=State.PROVEN, presence=Presence.GONE, state_by=people.mate, owner=people.mate, key=f"gone {row.pk}"
        )
    few = statements(client, address(*rows).replace("/plan/", place))
    for n in range(4, 40):
        row = simple(people, f"PAY{n}", state_by=people.mate, owner=people.mate)
        if n % 2:
            TrackedFinding.objects.filter(pk=row.pk).update(state=State.PROVEN, presence=Presence.GONE, key=f"gone {n}")
        rows.append(row)
    assert statements(client, address(*rows).replace("/plan/", place)) == few <= 20


@first_of(1, "many", [100, selection.MOST_SYSTEMS])
def test_hundreds_of_systems_are_one_page(people: People, as_user: AsUser, many: int) -> None:
    rows = [simple(people, f"PAY{n}") for n in range(many)]
    page = text_of(as_user(people.owner), address(*rows))
    assert f"Plan over {many} systems" in page
    assert page.count(f"<h3>{RATIO}") == 1
    assert len(page) < 4_000 * many


# What was applied where


def cells(people: People, *rows: TrackedFinding) -> dict[str, dict[str, list[str]]]:
    plan = of(people, *(one.system for one in rows))
    return {
        row.target: {
            state: [f"{one.system.name} {one.said}".strip() for one in cell] for state, cell in row.cells.items()
        }
        for row in applied(plan)
    }


def test_each_change_has_its_state_on_each_system(people: People, as_user: AsUser) -> None:
    rows = [simple(people, f"PAY{n}") for n in range(6)]
    today = timezone.localdate()
    states.plan(people.owner, [rows[1].pk])
    states.change_made(people.owner, [rows[2].pk, rows[3].pk])
    states.accept(people.mate, [rows[4].pk], today + timedelta(days=9), "upgrade")
    TrackedFinding.objects.filter(pk=rows[3].pk).update(
        state=State.PROVEN, presence=Presence.GONE, state_by=None, key="gone"
    )
    TrackedFinding.objects.filter(pk=rows[5].pk).update(state=State.CHANGE_MADE, proof={"verdict": "not-in-force"})
    assert cells(people, *rows) == {
        RATIO: {
            "open": ["PAY0"],
            "planned": [f"PAY1 by olga {today}"],
            "change-made": [
                f"PAY2 made by olga {today}",
                f"PAY5 seen in force {today}; not in force in the newest capture",
            ],
            "proven": [f"PAY3 {today}; made by olga {today}"],
            "accepted": [f"PAY4 until {today + timedelta(days=9)}"],
        }
    }
    page = text_of(as_user(people.colleague), address(*rows))
    for row in rows:
        assert f'<a href="/findings/{row.pk}/" title="of {row.system.name}">{row.system.name}</a>' in page


def test_a_change_that_no_audit_asks_for_any_more_stays_in_the_matrix(people: People) -> None:
    row = simple(people, "PAY1", state=State.WORSE, presence=Presence.GONE)
    newer = Audit.objects.create(capture=Capture.objects.get(), system=row.system, rules_version="x", plan={})
    System.objects.filter(pk=row.system_id).update(latest=newer)
    row.system.refresh_from_db()
    assert list(cells(people, row)) == [RATIO]
    Finding.objects.all().delete()
    TrackedFinding.objects.update(finding=None)
    assert list(cells(people, row)) == ["ase/made_up: change no longer kept"]
    TrackedFinding.objects.update(state=State.OPEN)
    assert cells(people, row) == {}, "what went by itself was not applied"


def test_who_made_a_change_is_told_of_the_last_time(people: People) -> None:
    row = simple(people, "PAY1")
    states.change_made(people.owner, [row.pk])
    FindingEvent.objects.update(at=timezone.now() - timedelta(days=30))
    states.reopen(people.owner, [row.pk])
    states.change_made(people.mate, [row.pk], "order 4711")
    assert cells(people, row)[RATIO]["change-made"] == [f"PAY1 made by mats {timezone.localdate()}"]


# Acting


def test_a_state_is_set_for_every_system_of_a_change(people: People, as_user: AsUser) -> None:
    rows = [simple(people, f"PAY{n}") for n in range(3)]
    page = text_of(as_user(people.owner), address(*rows))
    whole = ",".join(str(one.pk) for one in rows)
    assert f'value="{whole}" form="act" data-whole' in page
    assert f'value="{rows[1].pk}" form="act">' in page
    query = address(*rows).partition("?")[2]
    posted = {"pick": [whole, str(rows[0].pk)], "do": "plan", "why": "window of Sunday", "page": "plan", "query": query}
    answer = as_user(people.owner).post("/findings/act/", posted, follow=True)
    assert answer.redirect_chain == [(f"/plan/?{query}", 302)]
    assert "3 findings planned." in answer.content.decode()
    assert set(TrackedFinding.objects.values_list("state", "state_why")) == {("planned", "window of Sunday")}
    assert JournalEntry.objects.filter(action="finding planned").count() == 3, "once a system"
    as_user(people.owner).post("/findings/act/", {**posted, "do": "change-made", "pick": [str(rows[2].pk)]})
    assert TrackedFinding.objects.get(pk=rows[2].pk).state == State.CHANGE_MADE
    assert TrackedFinding.objects.get(pk=rows[2].pk).before_id is not None, "what later captures are held against"


def test_a_viewer_reads_and_changes_nothing(people: People, as_user: AsUser) -> None:
    row = simple(people, "PAY1")
    client = as_user(people.colleague)
    page = text_of(client, address(row))
    assert 'name="pick"' not in page
    assert "/findings/act/" not in page
    assert client.post("/findings/act/", {"pick": [str(row.pk)], "do": "plan", "page": "plan"}).status_code == 403
    sten = as_user(people.stranger)
    sten.post("/findings/act/", {"pick": [str(row.pk)], "do": "plan", "page": "plan"})
    assert TrackedFinding.objects.get().state == State.OPEN
    for place in ("/plan/", "/plan/run-sheet/", "/plan/scripts.zip"):
        assert client.post(place).status_code == 405


def test_the_way_back_is_a_selection_alone(people: People, as_user: AsUser) -> None:
    row = simple(people, "PAY1")
    posted = {"pick": [f"{row.pk},x,²,{'9' * 30}"], "do": "plan", "page": "plan"}
    query = "//example.org/?system=7&next=//example.org&group=x&system=7"
    answer = as_user(people.owner).post("/findings/act/", {**posted, "query": query})
    assert answer["Location"] == "/plan/?system=7"
    assert TrackedFinding.objects.get().state == State.PLANNED


# Scripts and sheets


def unzipped(data: bytes) -> dict[str, str]:
    with zipfile.ZipFile(io.BytesIO(data)) as book:
        assert book.testzip() is None
        return {name: book.read(name).decode() for name in book.namelist()}


def test_scripts_come_by_system_with_a_sheet_over_all(people: People, bring: Bring, as_user: AsUser) -> None:
    bring("address_lock_storm")
    bring("payroll_page_locks")
    systems = {one.name: one for one in System.objects.all()}
    path = address(*systems.values()).replace("/plan/", "/plan/scripts.zip")
    answer = as_user(people.colleague).get(path)
    assert answer["Content-Disposition"].startswith('attachment; filename="lockwright-plan-of-2-systems-')
    texts = unzipped(answer.content)
    claims, lewis = (f"{name}-{systems[name].pk}" for name in ("CLAIMS1", "LEWIS"))
    wanted = {f"{claims}-apply.sql", f"{claims}-undo.sql", f"{lewis}-apply.com.txt", f"{lewis}-undo.com.txt"}
    assert set(texts) == {*wanted, "run-sheet.txt"}
    audit = systems["CLAIMS1"].latest
    assert audit is not None
    assert all(one["apply"] in texts[f"{claims}-apply.sql"] for one in audit.plan["steps"])
    assert texts[f"{claims}-apply.sql"].splitlines()[1] == "-- system: CLAIMS1"
    sheet = texts["run-sheet.txt"]
    assert "RUN SHEET: CLAIMS1" in sheet
    assert "RUN SHEET: LEWIS" in sheet
    assert f"run the script of step 1 in {claims}-apply" in sheet
    assert "--full" not in sheet
    assert all(len(line) <= 80 for line in sheet.splitlines())
    single = as_user(people.colleague).get(f"/plan/scripts.zip?system={systems['CLAIMS1'].pk}")
    assert f"lockwright-{claims}-" in single["Content-Disposition"]


def test_systems_of_one_name_have_files_of_their_own_and_no_name_is_a_path(people: People, as_user: AsUser) -> None:
    rows = []
    for name in ("../../etc/cron.d/x", "..\\..\\etc\\cron.d\\x", 'a"\r\nSet-Cookie: b=c', "ÜÖ", "日本"):
        rows.append(simple(people, name))
    answer = as_user(people.owner).get(address(*rows).replace("/plan/", "/plan/scripts.zip"))
    names = list(unzipped(answer.content))
    assert len(names) == len(set(names)) == 2 * len(rows) + 1
    assert all(re.fullmatch(r"[A-Za-z0-9][\w.-]*", name, re.ASCII) for name in names), names
    single = as_user(people.owner).get(f"/plan/scripts.zip?system={rows[2].system_id}")
    assert "Set-Cookie" not in single
    assert re.fullmatch(r'attachment; filename="[\w.-]+"', single["Content-Disposition"], re.ASCII)


def test_the_run_sheet_lists_each_moment_over_all_then_each_system(people: People, as_user: AsUser) -> None:
    rows = [simple(people, "PAY1"), simple(people, "PAY2")]
    page = text_of(as_user(people.colleague), address(*rows).replace("/plan/", "/plan/run-sheet/"))
    words = words_of(page)
    order = [
        "Run sheet over 2 systems",
        "Next restart",
        "PAY1, step 1: 100 → 5",
        "PAY2, step 1: 100 → 5",
        "If a value differs, stop",
    ]
    assert sorted(order, key=words.index) == order
    assert page.count('<article class="sheet apart"') == 2
    for row in rows:
        assert f'href="/audits/{Audit.objects.get(system=row.system).pk}/#step1"' in page


def test_text_of_exports_stays_text_everywhere(people: People, as_user: AsUser) -> None:
    one = change(f"ase.config:{HOSTILE}", HOSTILE, HOSTILE, HOSTILE, "restart")
    said = step(one, when="restart")
    said["risk"]["why"] = HOSTILE
    row = audited(
        server(people, HOSTILE[:100]), said, changes=[one], conflicts=[{"change_keys": ["x"], "why": HOSTILE}]
    )
    TrackedFinding.objects.update(title=HOSTILE, state=State.WORSE)
    Group.objects.create(team=people.team, name=HOSTILE[:60]).systems.add(row.system)
    for place in ("/plan/", "/plan/run-sheet/"):
        page = text_of(as_user(people.owner), f"{place}?system={row.system_id}&group={Group.objects.get().pk}")
        assert "<script>alert" not in page
        assert str(escape(HOSTILE[:20])) in page
    texts = unzipped(as_user(people.owner).get(f"/plan/scripts.zip?system={row.system_id}").content)
    assert not re.search("[\x00-\x09\x0b-\x1f\u202a-\u202e]", texts["run-sheet.txt"])


def test_many_changes_are_a_line_each_and_all_of_them_is_on_the_page(people: People, as_user: AsUser) -> None:
    """What is folded is read without a script and printed; a few changes stand open."""
    carl = as_user(people.colleague)
    folded = re.compile(r'<article class="joint" data-row>\s*<details( open)?>')
    few = simple(people, "ONE")
    assert folded.findall(text_of(carl, address(few))) == [" open"]
    changes = [change(f"ase.config:knob {n}", f"knob {n}", 1.0, 2.0) for n in range(8)]
    many = audited(server(people, "MANY"), step(*changes), changes=changes)
    quiet = [server(people, f"QUIET{n}") for n in range(9)]
    page = text_of(carl, address(few, many, *quiet))
    assert folded.findall(page) == [""] * 9
    for n in range(8):
        assert f"knob {n} 1 → 2 risk low 1 system: MANY 1 open" in words_of(page)
    assert page.count('<td data-label="Undo">') == 9
    assert "9 systems with nothing to run" in words_of(page)
    assert all(f"<b>{one.name}</b>" in page for one in quiet)
