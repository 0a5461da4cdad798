"""The what-if of the lock tables: prefilled from the capture, answered by the law of hashing, never an error page."""

import pytest

from advisor.audits.models import Audit
from advisor.charts.buckets import Mark, over_buckets
from advisor.charts.sized import WIDTHS
from advisor.openvms.services.hash_tables import (
    LARGEST,
    Levels,
    doublings,
    lock_ids_of,
    table_of,
)
from advisor.openvms.services.what_if import (
    MOST,
    Answer,
    answer,
    free_memory,
)
from collectors.facts import ABSENT, NOWHERE, OVERFLOW, Fact, Facts
from collectors.facts.openvms import LockDatabase, LockRates, MemoryUse, Node, SysgenParameter
from tests.advisor.ase.servers import audited
from tests.advisor.charts.pictures import HOSTILE, by_class, picture, said, texts
from tests.advisor.people import AsUser, People, text_of

ADDRESS = "/audits/{}/lock-tables/"


def levels(statistic: str, resources: float, locks: float) -> LockDatabase:
    return LockDatabase(source=NOWHERE, statistic=statistic, resources=resources, locks=locks)


def parameter(name: str, value: float) -> SysgenParameter:
    return SysgenParameter(source=NOWHERE, name=name, current=value)


def memory(free: float = 1_000.0, total: float = 4_000.0, size_mb: object = 8192.0) -> MemoryUse:
    return MemoryUse(
        source=NOWHERE,
        group="Physical Memory Usage",
        name="Main Memory",
        unit="pages",
        figures=(("Total", total), ("Free", free)),
        size_mb=size_mb,  # type: ignore[arg-type]
    )


def barra() -> list[Fact]:
    """50,000 resources at the peak in 8,192 buckets, on a node with much locking."""
    return [
        Node(source=NOWHERE, name="BARRA"),
        levels("mean", 40_000.0, 60_000.0),
        levels("peak", 50_000.0, 80_000.0),
        parameter("RESHASHTBL", 8_000.0),
        parameter("LOCKIDTBL", 20_000.0),
        LockRates(
            source=NOWHERE,
            statistic="mean",
            new_enq_per_second=9_000.0,
            converted_enq_per_second=9_000.0,
            deq_per_second=9_000.0,
        ),
        memory(),
    ]


@pytest.fixture
def audit(people: People) -> Audit:
    return audited(people, barra(), "BARRA", "openvms")


def ask(audit: Audit, facts: list[Fact] | None = None, **given: str) -> Answer:
    return answer(Facts(tuple(barra() if facts is None else facts)), audit, given)


def test_the_form_is_filled_from_the_capture_and_from_what_the_rule_asks_for(audit: Audit) -> None:
    found = ask(audit)
    typed = {name: one.typed for name, one in found.fields.items()}
    assert typed == {
        "resources": "50000",
        "mean": "40000",
        "growth": "20",
        "now": "8000",
        "reshashtbl": "65536",
        "locks": "80000",
        "lockidnow": "20000",
        "lockidtbl": "96000",
    }
    assert audit.findings.get(rule="openvms/resource_hash_table_undersized").data["changes"][0]["to"] == 65_536
    assert "resource_hash_table_undersized asks for" in found.fields["reshashtbl"].where
    assert not found.bring


def test_the_answer_is_the_law_of_the_rules_for_the_rounded_table(audit: Audit) -> None:
    found = ask(audit)
    assert found.now
    assert found.asked
    assert (found.now.buckets, found.asked.buckets) == (8_192, 65_536)
    assert found.now.chain == pytest.approx(60_000 / 8_192)
    assert found.now.chain_at_peak == pytest.approx(50_000 / 8_192)
    assert found.now.chain_at_mean == pytest.approx(40_000 / 8_192)
    assert found.asked.sharing == pytest.approx(59.966, abs=0.01)
    assert found.asked.memory_mb == 0.5
    assert found.ids_now == lock_ids_of(20_000, 96_000.0)
    assert found.ids_now.extensions == 4
    assert found.ids_now.share == pytest.approx(20.833, abs=0.001)
    assert found.more_mb == pytest.approx((65_536 - 8_192) * 8 / 2**20 + 76_000 * 4 / 2**20)
    assert found.free
    assert found.free.free_mb == 2_048.0


def test_every_doubling_is_there_and_what_lies_beyond_the_hash_of_1993_is_unproven() -> None:
    steps = doublings(Levels(50_000.0, 60_000.0))
    assert [one.buckets for one in steps] == [2**power for power in range(10, 25)]
    assert [one.buckets for one in steps if one.proven][-1] == 65_536
    assert steps[-1].memory_mb == 128.0


@pytest.mark.parametrize(
    ("name", "typed", "wanted"),
    [
        ("reshashtbl", "0", "from 1 to 16,777,216"),
        ("reshashtbl", "16777217", "from 1 to 16,777,216"),
        ("reshashtbl", "65536.5", "from 1 to 16,777,216"),
        ("resources", "", f"from 0 to {MOST:,}"),
        ("resources", "-3", f"from 0 to {MOST:,}"),
        ("resources", "9" * 400, f"from 0 to {MOST:,}"),
        ("resources", "²", f"from 0 to {MOST:,}"),
        ("growth", "nan", "from 0 to 300"),
        ("growth", "1e9", "from 0 to 300"),
        ("mean", "٣", f"from 0 to {MOST:,}"),
        ("lockidtbl", "100", "from 1,792 to 16,776,959"),
        ("now", '"><script>alert(1)</script>', "from 1 to 16,777,216"),
    ],
)
def test_what_cannot_be_used_is_told_with_its_range(audit: Audit, name: str, typed: str, wanted: str) -> None:
    found = answer(Facts(tuple(barra())), audit, {name: typed})
    assert [one.name for one in found.fields.values() if one.error] == [name]
    assert wanted in found.fields[name].error
    assert found.fields[name].value is None


def test_an_error_is_shown_on_the_page_and_nothing_typed_is_markup(
    people: People, as_user: AsUser, audit: Audit
) -> None:
    asked = {"resources": '"><script>alert(1)</script>', "reshashtbl": "\x00" * 3, "growth": "٣" * 900, "x": "y"}
    answered = as_user(people.colleague).get(ADDRESS.format(audit.pk), asked)
    assert answered.status_code == 200
    page = answered.content.decode()
    assert page.count('aria-invalid="true"') == 3
    assert "What was typed cannot be used" in page
    assert "<script>alert" not in page


def test_thousands_may_be_typed_with_commas_and_any_size_is_rounded_up(audit: Audit) -> None:
    found = ask(audit, resources="1,000,000", growth="0", reshashtbl="70,000")
    assert found.levels == Levels(1_000_000.0, 1_000_000.0, 40_000.0)
    assert found.asked
    assert (found.asked.buckets, found.asked.proven) == (131_072, False)


def test_the_page_shows_answers_pictures_and_the_finding_with_the_script(
    people: People, as_user: AsUser, audit: Audit
) -> None:
    page = text_of(as_user(people.colleague), ADDRESS.format(audit.pk))
    number = audit.findings.get(rule="openvms/resource_hash_table_undersized").number
    assert f'href="/audits/{audit.pk}/#f{number}"' in page
    assert page.count('<div class="sized halves">') == 2
    assert page.count("<svg") == 2 * (len(WIDTHS) - 1), "at each width but that of a whole page"
    assert "65,536: gains beyond are unproven" in page
    assert "Whether more than 65,536 buckets help is unproven" in page
    assert "2,048 MB free by SHOW MEMORY: it fits" in page
    assert page.count("data-row") == 15
    assert as_user(people.stranger).get(ADDRESS.format(audit.pk)).status_code == 404


def test_a_table_that_stays_as_large_as_it_is_has_one_mark(people: People, as_user: AsUser, audit: Audit) -> None:
    buckets = ask(audit).now
    assert buckets
    address = ADDRESS.format(audit.pk)
    assert "now, and asked for: " in text_of(as_user(people.owner), f"{address}?reshashtbl={buckets.buckets}")
    assert "now, and asked for: " not in text_of(as_user(people.owner), f"{address}?reshashtbl={2 * buckets.buckets}")


def test_what_does_not_fit_is_said(people: People, as_user: AsUser) -> None:
    small = [one for one in barra() if not isinstance(one, MemoryUse)]
    audit = audited(people, [*small, memory(free=1.0, size_mb=64.0)], "BARRA", "openvms")
    page = text_of(as_user(people.colleague), ADDRESS.format(audit.pk) + "?reshashtbl=16777216")
    assert "It does not fit." in page


def test_a_capture_without_levels_has_an_empty_form_that_answers_what_is_typed(people: People, as_user: AsUser) -> None:
    bare: list[Fact] = [Node(source=NOWHERE, name="LEWIS")]
    audit = audited(people, bare, "LEWIS", "openvms")
    found = ask(audit, bare)
    assert found.fields["resources"].typed == ""
    assert not [one for one in found.fields.values() if one.error]
    assert (found.levels, found.now, found.steps) == (None, None, ())
    client = as_user(people.colleague)
    page = text_of(client, ADDRESS.format(audit.pk))
    for command in ("MCR SYSGEN SHOW RESHASHTBL", "MCR SYSGEN SHOW LOCKIDTBL", "SHOW MEMORY", "T4 composite"):
        assert command in page
    assert "<svg" not in page
    typed = ask(audit, bare, resources="5000", growth="0", reshashtbl="4096")
    assert typed.asked == table_of(4_096, Levels(5_000.0, 5_000.0))
    assert typed.now is None
    assert "<svg" in text_of(client, ADDRESS.format(audit.pk) + "?resources=5000&growth=0&reshashtbl=4096")


def test_what_cannot_be_believed_is_said_and_not_filled_in(audit: Audit) -> None:
    found = ask(audit, [levels("peak", OVERFLOW, 10.0), parameter("RESHASHTBL", 99_999_999.0)])  # type: ignore[arg-type]
    assert (found.fields["resources"].typed, found.fields["now"].typed) == ("", "")
    assert len(found.remarks) == 2
    assert "asterisks" in found.remarks[0]
    odd = ask(audit, resources="10", mean="20")
    assert "more than at the peak" in odd.remarks[0]


def test_free_memory_is_its_share_of_the_printed_size() -> None:
    assert free_memory(Facts((memory(1.0, 4.0, 100.0),))) is not None
    for wrong in (memory(5.0, 4.0), memory(size_mb=ABSENT), memory(free=OVERFLOW)):  # type: ignore[arg-type]
        assert free_memory(Facts((wrong,))) is None


def test_no_resources_at_all_is_an_answer_too(audit: Audit) -> None:
    found = ask(audit, resources="0")
    assert found.asked
    assert (found.asked.chain, found.asked.sharing, found.asked.longest) == (0.0, 0.0, 0.0)


def test_the_chart_marks_now_asked_and_the_edge_and_says_them() -> None:
    points = [(2**power, 60_000 / 2**power) for power in range(10, 25)]
    marks = [Mark("now", 8_192, 7.3), Mark("asked for", 65_536, 0.9)]
    made = over_buckets(
        points, title="Mean chain", unit="", marks=marks, edge=65_536, edge_said="beyond: unproven", logarithmic=True
    )
    root = picture(made)
    assert len(by_class(root, "c-limit")) == 1
    assert {"now: 7.3", "asked for: 0.9", "beyond: unproven"} <= set(texts(root))
    assert "now: 8,192 buckets, 7.3." in said(root)


@pytest.mark.parametrize("name", HOSTILE)
@pytest.mark.parametrize("logarithmic", [True, False])
def test_any_chart_is_well_formed(name: str, logarithmic: bool) -> None:
    for points in ([], [(1, 0.0)], [(1, float("nan")), (2, 1e300), (LARGEST, 1e-300), (0, 1.0)]):
        made = over_buckets(
            points,
            title=name,
            unit=name,
            marks=[Mark(name, 1, 5.0), Mark(name, 2, float("inf"))],
            edge=2,
            edge_said=name,
            logarithmic=logarithmic,
        )
        assert "<script>" not in made
        picture(made)
