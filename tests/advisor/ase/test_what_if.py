"""The what-if: answers of the rules' own laws, each figure with its basis, nothing that the server would refuse."""

from typing import Any

import pytest

from advisor.ase.services.stored import views_of
from advisor.ase.services.what_if.answers import Answer, Line, contention_line
from advisor.ase.services.what_if.form import Answered, answer
from advisor.audits.models import Audit
from collectors.facts.ase import CacheActivity, IndexSize, LockHashtable, MemoryHeadroom, NamedCache
from rules.laws.binding import collisions, overhead_mb
from rules.laws.spinlocks import spinlocks
from tests.advisor.ase.servers import DEFAULT, audited, contended, engines, load_series, setting, sysmon_only
from tests.advisor.people import AsUser, People, text_of

BASES = {"arithmetic", "law", "heuristic", "none"}


@pytest.fixture
def audit(people: People) -> Audit:
    return audited(people, contended())


def ask(audit: Audit, *moved: str, **given: str) -> Answered:
    """The answers to a form with these fields; `_` in a name stands for a hyphen but in `index_hash`."""
    views = views_of(audit.capture)
    fields = {name if name == "index_hash" else name.replace("_", "-"): value for name, value in given.items()}
    return answer(views.facts, views.caches, views.contents, audit, fields, moved)


def one(audit: Audit, *moved: str, **given: str) -> Answer:
    (only,) = ask(audit, *moved, **given).answers
    return only


def line(answered: Answer, what: str) -> Line:
    (found,) = [line for line in answered.lines if what in line.what]
    return found


def figures(answered: Answer, what: str) -> tuple[Any, Any, str]:
    found = line(answered, what)
    return found.now, found.then, found.basis


def test_a_lower_address_ratio_gives_the_arithmetic_of_the_rule(audit: Audit) -> None:
    found = one(audit, address="5")
    assert found.asked == "100 → 5"
    assert figures(found, "spinlocks") == (11, 207, "arithmetic")
    assert figures(found, "guards") == (100, 5, "arithmetic")
    assert figures(found, "chance that two") == (
        pytest.approx(100 / 11, abs=0.01),
        pytest.approx(100 / 207, abs=0.01),
        "arithmetic",
    )
    now, then, basis = figures(found, "grabs that wait")
    assert (now, basis) == (20.0, "heuristic")
    assert then == pytest.approx(20 * 11 / 207, abs=0.01)
    assert "Static" in found.effect


def test_it_points_to_the_finding_that_has_the_script_and_prints_none(
    people: People, audit: Audit, as_user: AsUser
) -> None:
    said = one(audit, address="5").said
    finding = audit.findings.get(rule="ase/address_lock_spinlock_contended")
    assert said is not None
    assert (said.number, said.to) == (finding.number, 5)
    page = text_of(as_user(people.colleague), f"/audits/{audit.pk}/what-if/?address=5")
    assert f'href="/audits/{audit.pk}/#f{finding.number}"' in page
    assert "sp_configure &#34;lock address spinlock ratio&#34;, 5" not in page
    assert "\ngo\n" not in page


def test_where_the_rules_do_not_ask_for_it_their_verdict_is_said(audit: Audit) -> None:
    said = one(audit, lock="20").said
    assert said is not None
    assert (said.word, said.number) == ("clean", None)
    assert "limit 10 %" in said.why


@pytest.mark.parametrize(
    ("field", "value"),
    [
        *(("address", "0"), ("address", "3000000000"), ("buckets", "3000"), ("buckets", "1024"), ("index_hash", "0")),
        *(("cut_0", "6"), ("cut_0", "128"), ("cut_0", "0"), ("size_1", "0"), ("engines", "0"), ("engines", "5000")),
    ],
)
def test_what_the_server_would_refuse_is_refused_without_a_figure(audit: Audit, field: str, value: str) -> None:
    found = one(audit, **{field: value})
    assert found.refused
    assert not found.lines
    assert found.memory_mb is None


@pytest.mark.parametrize("typed", ["five", "-5", "1e3", "5.5", "٥", "9" * 13, "<script>"])
def test_what_is_no_whole_number_is_told_at_its_field(
    people: People, audit: Audit, as_user: AsUser, typed: str
) -> None:
    answered = ask(audit, address=typed)
    assert not answered.answers
    (field,) = [field for field in answered.form.ratios if field.error]
    assert (field.name, field.typed) == ("address", typed)
    page = as_user(people.colleague).get(f"/audits/{audit.pk}/what-if/", {"address": typed}).content.decode()
    assert "whole number" in page
    assert "<script>" not in page.split("</head>")[1]


def test_a_larger_lock_table_shortens_the_chains_and_has_more_spinlocks(audit: Audit) -> None:
    found = one(audit, buckets="8192")
    assert figures(found, "mean chain") == (6.0, 1.5, "arithmetic")
    assert figures(found, "spinlocks") == (spinlocks(2048, 85), spinlocks(8192, 85), "arithmetic")
    assert found.memory_mb == pytest.approx(96 * 3 / 1024)
    assert found.said is not None
    assert found.said.to == 8192, "with room, so that no second restart is due"


def test_a_ratio_and_a_size_are_answered_together(audit: Audit) -> None:
    ratio, size = ask(audit, lock="20", buckets="8192").answers
    for found in (ratio, size):
        assert figures(found, "spinlocks") == (spinlocks(2048, 85), spinlocks(8192, 20), "arithmetic")


def test_an_illegal_size_is_not_reckoned_with_for_the_ratio(audit: Audit) -> None:
    ratio, size = ask(audit, lock="20", buckets="3000").answers
    assert figures(ratio, "spinlocks")[1] == spinlocks(2048, 20)
    assert size.refused


def test_descriptors_are_counted_as_configured_and_the_change_is_dynamic(audit: Audit) -> None:
    found = one(audit, object="10")
    assert figures(found, "spinlocks") == (120, 1200, "arithmetic")
    assert "Dynamic" in found.effect
    assert figures(found, "grabs that wait") == (None, None, "none")


def test_the_index_hash_has_no_count_and_so_no_figure(audit: Audit) -> None:
    found = one(audit, index_hash="10")
    assert not found.lines
    assert "in no export" in " ".join(found.cannot)


def test_a_ratio_that_is_not_in_the_export_still_tells_what_it_would_give(audit: Audit) -> None:
    found = one(audit, table="10")
    assert figures(found, "spinlocks") == (None, spinlocks(101, 10), "arithmetic")
    assert 'sp_configure "lock table spinlock ratio"' in found.bring


@pytest.mark.parametrize(
    ("now", "before", "after", "then"), [(20.0, 10, 20, 10.0), (20.0, 10, 5, None), (1.0, 10, 5, 2.0)]
)
def test_a_contention_that_would_rise_beyond_a_third_is_not_printed(
    now: float, before: int, after: int, then: float | None
) -> None:
    found = contention_line("x", now, before, after, "somewhere")
    assert found.then == then
    assert (found.basis == "none") is (then is None)


def test_more_partitions_halve_the_waits_by_practice_and_are_held_against_the_engines(audit: Audit) -> None:
    cut, together = ask(audit, cut_0="8").answers
    assert figures(cut, "partitions") == (4, 8, "arithmetic")
    assert figures(cut, "grabs that wait") == (20.0, 10.0, "heuristic")
    assert figures(cut, "hottest") == (32.0, None, "none")
    assert "With 4 engines the rules go no further than 4" in " ".join(cut.remarks)
    now, then = collisions([(0.9, 4), (0.1, 1)]), collisions([(0.9, 8), (0.1, 1)])
    assert figures(together, "chance") == (
        pytest.approx(100 * now, abs=0.01),
        pytest.approx(100 * then, abs=0.01),
        "arithmetic",
    )


def test_a_pool_that_is_too_small_is_named(audit: Audit) -> None:
    found = one(audit, cut_1="64")
    assert "2 KB pool has 20 MB, too little for 64" in found.refused


def test_another_size_takes_memory_and_says_nothing_of_hits(audit: Audit) -> None:
    found = one(audit, size_1="40")
    assert found.memory_mb == pytest.approx(20 + overhead_mb(40) - overhead_mb(20))
    assert figures(found, "searches that find") == (None, None, "none")
    assert "Dynamic" in found.effect
    assert "restart" in one(audit, size_1="10").effect


def test_a_new_cache_for_chosen_objects_moves_their_searches(audit: Audit) -> None:
    new, together = ask(audit, "claims.dbo.claim", "claims.dbo.tariff", new_cut="4").answers
    assert figures(new, "share of all searches") == (None, 45.0, "arithmetic")
    assert figures(new, "what it would hold")[1] == pytest.approx(1.2 * 210)
    size = line(new, "size").then
    assert size == 252
    assert new.memory_mb == pytest.approx(252 + overhead_mb(252))
    then = collisions([(0.45, 4), (0.1, 1), (0.45, 4)])
    assert figures(together, "chance")[1] == pytest.approx(100 * then, abs=0.01)
    assert figures(together, f"searches in {DEFAULT}") == (90.0, 45.0, "arithmetic")


def test_a_new_cache_that_does_not_hold_them_whole_says_so(audit: Audit) -> None:
    new, _ = ask(audit, "claims.dbo.claim", new_size="100").answers
    assert "does not hold it whole" in line(new, "size").how


def test_objects_of_unknown_size_need_a_size_or_their_listing(people: People) -> None:
    facts = [fact for fact in contended() if not isinstance(fact, IndexSize)]
    new, _ = ask(audited(people, facts), "claims.dbo.claim").answers
    assert line(new, "size").then is None
    assert new.memory_mb is None
    assert IndexSize.COLLECTED_BY in new.bring


def test_an_object_that_cannot_be_chosen_is_told_and_not_answered(
    people: People, audit: Audit, as_user: AsUser
) -> None:
    answered = ask(audit, "claims.dbo.nothing<b>")
    assert not answered.answers
    assert answered.form.unknown == ["claims.dbo.nothing<b>"]
    page = (
        as_user(people.colleague)
        .get(f"/audits/{audit.pk}/what-if/", {"move": "claims.dbo.nothing<b>"})
        .content.decode()
    )
    assert "claims.dbo.nothing&lt;b&gt;" in page


def test_memory_of_all_of_it_is_held_against_what_is_free(audit: Audit) -> None:
    assert ask(audit, size_1="40").fits is True
    assert ask(audit, size_1="40000").fits is False
    assert ask(audit, size_1="40", address="5").fits is None, "what the ratio takes is not known"
    assert ask(audit, size_1="40000", address="5").fits is False


def test_memory_that_is_not_in_the_export_is_not_taken_for_none(people: People) -> None:
    answered = ask(audited(people, [fact for fact in contended() if not isinstance(fact, MemoryHeadroom)]), size_1="40")
    assert answered.fits is None
    assert answered.free_bring == MemoryHeadroom.COLLECTED_BY


def test_engines_are_answered_by_the_law_of_a_load_series_alone(people: People, audit: Audit) -> None:
    found = one(audit, engines="8")
    assert not [line for line in found.lines if line.then is not None]
    assert "Nothing can be said" in " ".join(found.cannot)
    assert "a load column (engines" in " ".join(found.bring)
    rates = [950 * n / (1 + 0.05 * (n - 1) + 0.002 * n * (n - 1)) for n in (1, 2, 4, 8, 16, 32)]
    fitted = audited(people, [*contended(), load_series(*rates)])
    law = one(fitted, engines="8")
    now, then, basis = figures(law, "throughput")
    assert (now, then, basis) == (pytest.approx(rates[2], rel=0.01), pytest.approx(rates[3], rel=0.01), "law")
    assert "beyond what was measured" not in line(law, "throughput").how
    assert "beyond what was measured" in line(one(fitted, engines="64"), "throughput").how


def test_a_law_that_fits_poorly_is_not_read(people: People) -> None:
    found = one(audited(people, [*contended(), load_series(900, 100, 1500, 50, 1800, 20)]), engines="8")
    assert figures(found, "throughput") == (None, None, "none")
    assert found.cannot


def test_every_figure_has_a_basis_and_none_means_no_figure(audit: Audit) -> None:
    answered = ask(
        audit, "claims.dbo.claim", address="50", lock="10", table="5", object="5", index="5", partition="1",
        buckets="4096", cut_0="16", size_0="9000", cut_1="2", size_1="64", engines="3",
    )  # fmt: skip
    lines = [line for found in answered.answers for line in found.lines]
    assert len(lines) > 25
    for found in lines:
        assert found.basis in BASES
        assert found.how
        assert (found.then is None) == (found.basis == "none")


def test_sysmon_alone_can_be_asked_and_says_what_it_lacks(people: People) -> None:
    audit = audited(people, sysmon_only())
    found = one(audit, address="5")
    assert figures(found, "spinlocks") == (None, 207, "arithmetic")
    cut, together = ask(audit, cut_0="4").answers
    assert "The partitions in force are not in the export." in cut.cannot
    assert not together.lines
    assert "cannot be said" in " ".join(together.cannot)
    assert not ask(audit).form.objects


def test_a_figure_that_cannot_be_true_breaks_nothing(people: People) -> None:
    facts: list[Any] = [
        *engines(2),
        setting("lock hashtable size", -8.0),
        setting("lock spinlock ratio", 0.0),
        setting("number of open objects", -1.0),
        NamedCache(name="odd", run_size_mb=-5.0, run_partitions=0.0),
        CacheActivity(name="odd", contention_percent=-1.0, searches=-7.0),
        LockHashtable(table="page and row", chain_length=-2.0),
    ]
    answered = ask(audited(people, facts), lock="20", object="10", buckets="4096", cut_0="2", size_0="9", engines="4")
    assert all(found.what for found in answered.answers)


def test_the_page_without_a_question_is_the_empty_form(people: People, audit: Audit, as_user: AsUser) -> None:
    page = text_of(as_user(people.colleague), f"/audits/{audit.pk}/what-if/")
    assert 'id="answers"' not in page
    assert page.count("<input") >= 12
    assert "now 2,048; 2,048 to 2,147,483,647, a power of two" in page
