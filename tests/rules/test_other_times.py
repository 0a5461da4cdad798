"""Figures of one node and day, of different times: not mixed, not asked for without a word; settings are used."""

from dataclasses import replace
from datetime import timedelta

from collectors.capture import captures
from collectors.facts import Fact
from collectors.facts.openvms import OtherSample
from collectors.facts.rdb import Database, StatisticsWindow
from rules.audit import Audit, audit
from tests.stories import HERE, audits_of, inputs_of

STORY = HERE / "rdb_screens_of_another_hour"


def why(one: Audit, rule: str) -> str:
    return next(verdict.why for verdict in one.verdicts if verdict.rule == rule)


def test_what_the_other_capture_has_is_named_with_its_time_where_it_is_missing() -> None:
    t4, screens = audits_of(STORY)
    assert "session.txt was collected from 21-Apr 10:26 to 11:26, and only 10 minutes of that lies in the time" in why(
        t4, "rdb/page_locks_dominate"
    )
    assert "comp.csv was collected from 21-Apr 10:01 to 10:36" in why(screens, "openvms/concurrency_past_peak")
    assert "was collected" not in why(t4, "rdb/lock_stalls_long"), "neither capture has a stall log"


def test_settings_that_lie_with_the_other_sample_count_for_both() -> None:
    assert all(one.capture.facts.every(Database) for one in audits_of(STORY))


def test_no_figure_of_one_time_explains_a_finding_of_the_other() -> None:
    _, screens = audits_of(STORY)
    (found,) = [one for one in screens.findings if one.rule == "rdb/page_locks_dominate"]
    assert not found.explains
    assert not [item for item in found.finding.evidence if "node's own" in item.metric]


def _a_day_later(fact: Fact) -> Fact:
    if isinstance(fact, StatisticsWindow) and fact.at is not None:
        return replace(fact, at=fact.at + timedelta(days=1))
    return fact


def test_settings_of_another_day_count_for_that_day_alone() -> None:
    inputs = inputs_of(STORY)
    at = next(n for n, one in enumerate(inputs) if one.report and "statistics" in one.report)
    assert len(captures(inputs)) == 2
    moved = [_a_day_later(fact) for fact in inputs[at].facts]
    inputs[at] = replace(inputs[at], facts=moved)
    one, other = captures(inputs)
    assert not one.facts.every(Database)
    assert other.facts.every(Database)
    assert not one.facts.every(OtherSample), "of another day nothing is said"


def test_what_the_sample_lists_itself_comes_before_the_other_sample_of_the_day() -> None:
    inputs = inputs_of(STORY)
    (header,) = [one for one in inputs if any(isinstance(fact, Database) for fact in one.facts)]
    (t4,) = [one for one in inputs if one.file.endswith(".csv")]
    own = [replace(fact, maximum_nodes=2.0) if isinstance(fact, Database) else fact for fact in header.facts]
    first, second = captures([*inputs, replace(header, file=t4.file, facts=own, problems=[])])
    assert [fact.maximum_nodes for fact in first.facts.every(Database)] == [2.0]
    assert [fact.maximum_nodes for fact in second.facts.every(Database)] == [16.0]


def test_a_verdict_that_lacks_nothing_says_nothing_of_it() -> None:
    (t4, _) = audits_of(STORY)
    assert not [one for one in audit(t4.capture).verdicts if not one.missing and "was collected from" in one.why]
