"""Who blocks whom: the head first, statements without values, and deadlocks as rings."""

from datetime import datetime

from advisor.ase.services.blocking import blocking_of, masked
from collectors.facts import Fact, Facts
from collectors.facts.ase import Deadlock, HeldLock, MonProcess, MonProcessSQLText, MonState
from tests.advisor.ase.servers import audited
from tests.advisor.people import AsUser, People, text_of

AT = datetime(2026, 3, 1, 10, 2)  # noqa: DTZ001 - exports have no zone


def chain() -> list[Fact]:
    """SPID 20 holds up 31 and 33, and 32 waits behind 31; 20 does nothing at all."""
    return [
        MonProcess(spid=20, wait_event=250, login="ann", command="AWAITING COMMAND", seconds_waiting=900.0),
        MonProcess(spid=31, wait_event=150, blocking_spid=20, command="UPDATE", seconds_waiting=840.0),
        MonProcess(spid=32, wait_event=150, blocking_spid=31, command="UPDATE", seconds_waiting=90.0),
        MonProcess(spid=33, wait_event=150, blocking_spid=20, seconds_waiting=9.0),
        HeldLock(spid=20, database="ledger", object_name="account", lock_type="exclusive row", waiting=False),
        HeldLock(spid=31, database="ledger", object_name="account", lock_type="exclusive row", waiting=True),
        MonProcessSQLText(spid=20, batch=4, line=1, sequence=1, text="update account set v = 4711 where n = 'Smith'"),
    ]


def edge(table: str, held: int, waits: int) -> Deadlock:
    """One edge of deadlock 7, in which SPID 44 was rolled back; KPIDs are SPIDs by ten."""
    return Deadlock(
        deadlock_id=7,
        resolved=AT,
        database="shop",
        victim_kpid=440,
        object_name=table,
        held_spid=held,
        held_kpid=10 * held,
        wait_spid=waits,
        wait_kpid=10 * waits,
        held_lock="exclusive row",
    )


def ring() -> list[Fact]:
    """One deadlock of two."""
    return [edge("stock", 31, 44), edge("orders", 44, 31)]


def test_the_tree_has_its_head_first_and_who_waits_behind_whom() -> None:
    (head,) = blocking_of(Facts(tuple(chain()))).chains
    assert (head.spid, head.idle, head.seconds, head.locks) == (20, True, 900.0, 1)
    assert [one.spid for one in head.behind] == [31, 33], "the longest wait first"
    assert [one.spid for one in head.behind[0].behind] == [32]
    assert (head.all_behind, head.longest) == (3, 840.0)
    assert head.behind[0].waits_for == "exclusive row on ledger..account"


def test_a_statement_is_shown_without_what_somebody_typed() -> None:
    (head,) = blocking_of(Facts(tuple(chain()))).chains
    assert head.statement == "update account set v = ? where n = ?"
    assert masked("select '\u202e' /* 4711 */ from t where a = 5 and b = 'x") == "select ? from t where a = ? and b = ?"
    assert len(masked("select a from t where " + "a or " * 200)) < 310


def test_a_deadlock_is_a_ring_with_its_victim() -> None:
    found = blocking_of(Facts(tuple(ring())))
    (one,) = found.rings
    assert one.victim == 44
    assert one.waits == (
        "SPID 44 waited for the exclusive row of SPID 31 on shop..stock",
        "SPID 31 waited for the exclusive row of SPID 44 on shop..orders",
    )
    assert (found.about, found.about_count) == (("shop..orders", "shop..stock"), 1)


def test_a_long_chain_ends_and_all_are_counted() -> None:
    facts = [MonProcess(spid=n + 1, wait_event=150, blocking_spid=n, seconds_waiting=1.0) for n in range(1, 120)]
    (head,) = blocking_of(Facts(tuple(facts))).chains
    depth, task = 0, head
    while task.behind:
        depth, task = depth + 1, task.behind[0]
    assert (head.all_behind, depth, task.all_behind) == (119, 40, 79)


def test_the_page_shows_tree_and_rings(people: People, as_user: AsUser) -> None:
    audit = audited(people, [*chain(), *ring()])
    page = text_of(as_user(people.colleague), f"/audits/{audit.pk}/blocking/")
    for piece in (
        "SPID 20",
        "blocks 3 tasks, the longest for 840 s",
        "runs nothing",
        "2026-03-01 10:02:00: SPID 44 was rolled back",
        "v = ?",
    ):
        assert piece in page, piece
    assert "4711" not in page
    assert "Smith" not in page
    assert f"/audits/{audit.pk}/blocking/" in text_of(as_user(people.colleague), f"/audits/{audit.pk}/")


def test_hostile_names_stay_text(people: People, as_user: AsUser) -> None:
    bad = "<script>alert(1)</script>\u202e"
    facts: list[Fact] = [
        MonProcess(spid=20, wait_event=250, login=bad, application=bad, host=bad, command=bad, transaction=bad),
        MonProcess(spid=31, wait_event=150, blocking_spid=20, command=bad, seconds_waiting=840.0),
        HeldLock(spid=31, database=bad, object_name=bad, lock_type=bad, waiting=True),
        MonProcessSQLText(spid=20, batch=4, line=1, sequence=1, text=f"update {bad}"),
        Deadlock(deadlock_id=1, object_name=bad, held_spid=1, wait_spid=2, held_command=bad, held_lock=bad),
    ]
    page = text_of(as_user(people.colleague), f"/audits/{audited(people, facts).pk}/blocking/")
    assert "<script>alert" not in page


def test_nobody_waits_and_the_page_says_so(people: People, as_user: AsUser) -> None:
    audit = audited(people, [MonProcess(spid=20, wait_event=250, seconds_waiting=5000.0)])
    assert "Nobody was blocked at the moment" in text_of(as_user(people.colleague), f"/audits/{audit.pk}/blocking/")


def test_monstate_alone_says_how_many_and_what_to_bring(people: People, as_user: AsUser) -> None:
    facts: list[Fact] = [MonState(lock_waits=9.0, lock_wait_threshold=5.0, connections=40.0)]
    page = text_of(as_user(people.colleague), f"/audits/{audited(people, facts).pk}/blocking/")
    assert "monState counts 9 tasks that wait for a lock longer than 5 s" in page
    assert "master..monProcess" in page


def test_beside_a_tree_monstate_is_no_further_wait(people: People, as_user: AsUser) -> None:
    facts: list[Fact] = [*chain(), MonState(lock_waits=8.0, lock_wait_threshold=5.0, connections=40.0)]
    page = text_of(as_user(people.colleague), f"/audits/{audited(people, facts).pk}/blocking/")
    assert "Others that wait" not in page
    assert "monState counts 8 tasks" in page
    assert "It was read at another moment than the tree above, and may count the same tasks." in page
