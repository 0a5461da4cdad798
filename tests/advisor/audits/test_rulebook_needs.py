"""What each rule needs stands on its page, as the rule itself asks for it, and its worked examples bear that out."""

import re

import pytest
from django.core.management import call_command
from django.urls import reverse

from advisor.audits.services.examples import build, path_of
from advisor.audits.services.rulebook import asks, rulebook
from advisor.core.yml import load
from collectors.facts import Fact, Facts
from rules.engine import Rule, judge_one, rules
from rules.finding import Verdict
from rules.missing import command_of
from tests.advisor.audits.rule_pages import of_rule, words_of
from tests.advisor.people import AsUser, People
from tests.longer import one_of_each

EVERY = rules()
JUDGED = ("fired", "clean")
NOTHING = Facts(())


def cases(one: Rule) -> list[tuple[tuple[Fact, ...], dict[str, float]]]:
    """The facts of each worked example with the limits it is judged by."""
    return [
        (
            tuple(build(item) for item in case["facts"]),
            {f"{one.id}.{name}": value for name, value in (case.get("limits") or {}).items()},
        )
        for case in load(path_of(one)).values()
    ]


def without(one: Rule, facts: tuple[Fact, ...], limits: dict[str, float], command: str) -> Verdict:
    left = tuple(fact for fact in facts if command_of(type(fact).COLLECTED_BY) != command_of(command))
    return judge_one(one, Facts(left), limits)


def kind_of(one: Rule) -> tuple[str | bool, ...]:
    """Its product, how it asks, and whether what it asks for came with a release."""
    told = asks(one.id)
    since = any(output["since"] for output in (*told["outputs"], *told["also"]))
    return one.product, told["how"], bool(told["also"]), since, bool(told["releases"])


@one_of_each(kind_of, "one", EVERY, ids=lambda one: one.id)
def test_every_rule_says_what_it_needs_and_its_release_and_names_no_test(
    people: People, as_user: AsUser, one: Rule
) -> None:
    page = as_user(people.colleague).get(of_rule(one.id)).content.decode()
    needs = page.split('<h2 id="needs">')[1].split('<h2 id="limits">')[0]
    words = " ".join(re.sub(r"<[^>]*>", " ", needs).split())
    told = asks(one.id)
    assert told["outputs"] or told["also"], "a rule reads something"
    shown = needs.replace("&#39;", "'").replace("&#34;", '"').replace("&gt;", ">").replace("&lt;", "<")
    for output in (*told["outputs"], *told["also"]):
        assert output["bring"] in shown.replace("&amp;", "&")
        assert output["read"]
        assert "collectors." not in output["read"]
        assert output["since"] in words
    assert {
        "none": "It asks for nothing",
        "one": "Any one of these lets it begin to judge",
        "all": "it cannot judge",
    }[told["how"]] in words
    assert "Release:" in words
    assert told["releases"] in words
    assert "rule's own tests" not in page.replace("&#39;", "'")
    assert "test_" not in page
    assert "tests/" not in page


@pytest.mark.parametrize("one", EVERY, ids=lambda one: one.id)
def test_what_a_rule_asks_for_is_what_it_says_of_a_capture_without_facts(one: Rule) -> None:
    verdict = judge_one(one, NOTHING, {})
    told = asks(one.id)
    assert (told["how"] == "none") == (verdict.verdict == "not-applicable")
    assert {output["bring"] for output in told["outputs"]} == {lack.command for lack in verdict.missing}
    if one.needs:
        assert {output["bring"] for output in told["outputs"]} == {kind.COLLECTED_BY for kind in one.needs}
    commands = {command_of(output["bring"]) for output in (*told["outputs"], *told["also"])}
    assert {command_of(kind.COLLECTED_BY) for kind in (*one.needs, *one.uses)} <= commands, "nothing is left out"


@pytest.mark.parametrize("one", [one for one in EVERY if asks(one.id)["how"] == "one"], ids=lambda one: one.id)
def test_where_one_of_several_is_enough_some_example_is_judged_without_each(one: Rule) -> None:
    examples = cases(one)
    for output in asks(one.id)["outputs"]:
        verdicts = [without(one, facts, limits, output["bring"]).verdict for facts, limits in examples]
        assert [verdict for verdict in verdicts if verdict in JUDGED], f"never judged without {output['bring']}"


@pytest.mark.parametrize("one", [one for one in EVERY if one.together], ids=lambda one: one.id)
def test_where_all_are_needed_at_once_one_alone_asks_for_the_rest(one: Rule) -> None:
    asked = {output["bring"] for output in asks(one.id)["outputs"]}
    assert len(asked) > 1
    missing = [{lack.command for lack in judge_one(one, Facts(facts), limits).missing} for facts, limits in cases(one)]
    assert [some for some in missing if some and some < asked], "no example has one of them and asks for another"


def test_a_release_that_is_needed_stands_beside_what_needs_it() -> None:
    by_rule = {entry["rule"]: entry["asks"] for entry in rulebook()}
    spinlocks = by_rule["ase/spinlock_dear"]["outputs"][0]
    assert spinlocks["since"] == "monSpinlockActivity: SAP ASE 15.7 ESD#2 or later"
    assert by_rule["openvms/lock_manager_saturated"]["outputs"][0]["since"].endswith(
        "OpenVMS V7.3 or later, and no VAX"
    )
    assert by_rule["ase/release_before_16"]["releases"] == "SAP ASE before 16.0"
    assert by_rule["ase/partition_descriptor_spinlock_contended"]["releases"].startswith("SAP ASE 15.0 or later")


def test_the_command_prints_what_a_rule_needs(capsys: pytest.CaptureFixture[str]) -> None:
    call_command("rules", "ase/descriptors_reused")
    printed = " ".join(capsys.readouterr().out.split())
    assert "Needs Any one of these lets it begin to judge:" in printed
    assert 'sp_monitorconfig "all"' in printed


def test_the_rule_book_reads_for_who_may_only_read(people: People, as_user: AsUser) -> None:
    assert "Source documents" in words_of(as_user(people.colleague), reverse("documents"))
