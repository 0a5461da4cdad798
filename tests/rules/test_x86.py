"""On x86-64 nobody is advised, or asked for, what is documented for Alpha and Integrity alone.

Every exhibit of every OpenVMS rule is judged once more as if its node were an x86-64 machine with V9.2: whatever a rule
says there, no script and no request names what nothing documents for it, and a sentence that names it calls it so.
"""

import re
from collections.abc import Iterator
from copy import deepcopy
from dataclasses import replace
from functools import cache
from pathlib import Path
from typing import Any

import pytest

from collectors.facts import Fact, Facts, Source
from collectors.facts.openvms import ClusterMember, Node
from rules.engine import judge_one, rules
from rules.finding import Finding, Verdict
from rules.laws.hardware import hardware_of
from rules.missing import precisely
from tests.facts_yml import build, load

EXHIBITS = sorted((Path(__file__).resolve().parents[2] / "rules/openvms/examples").glob("*.yml"))
HARDWARE, VERSION = "VMware, Inc. VMware7,1", "V9.2-2"
UNDOCUMENTED = re.compile(
    r"LCKMGR_(?:MODE|CPUID)|\bdedicated\b|CPU of its own|co-threads?\b|\bCothd\b|IO_PR\w+|FAST_PATH\w*|fast path|"
    r"\bSHOW FASTPATH\b|\bGB_\w+|SET FILE/GLOBAL_BUFFERS|LCK73_MON|XVALBLK|MONITOR ALIGN|\bSPL (?:LOAD|START)",
    re.IGNORECASE,
)
CALLED_SO = re.compile(r"documented for Alpha and Integrity alone|documented nowhere")
SENTENCE = re.compile(r"(?<=[.:]) (?=[A-Z])")
MEASURED = {
    "openvms/lock_manager_saturated": "one whose CPU was measured at work is there, whatever is documented",
    "openvms/concurrency_past_peak": "what columns of T4 measured",
    "openvms/spinlock_hot": "that it is none of the lock manager's spinlock takes an advice away",
    "openvms/spinning_unexplained": "that a lock manager is measured at work takes a cause away",
}
"""Rules that may name it in a finding, and why. None of them may advise it."""
ADVISING = re.compile(r"LCKMGR_(?:MODE|CPUID)|\bCothd\b|IO_PR\w+|FAST_PATH\w*|LCK73_MON|GB_\w+|STOP/CPU", re.IGNORECASE)


def on_x86(items: list[dict[str, Any]]) -> Facts:
    """The facts of an exhibit, with its own node, or one added, and all members of its cluster as x86-64 machines."""
    facts: list[Fact] = [build(item) for item in items]
    facts = [
        replace(one, hardware=HARDWARE, version=VERSION) if isinstance(one, Node | ClusterMember) else one
        for one in facts
    ]
    if not any(isinstance(one, Node) for one in facts):
        facts.append(Node(source=Source("show_cpu.txt", 1, 1), name="XRAY", hardware=HARDWARE, version=VERSION))
    return Facts(tuple(facts))


@cache
def judged() -> list[tuple[str, str, Verdict, Facts]]:
    """Rule and name of each exhibit, its verdict and its facts."""
    return list(_judged())


def _judged() -> Iterator[tuple[str, str, Verdict, Facts]]:
    by_id = {one.id: one for one in rules()}
    for path in EXHIBITS:
        rule_id = f"openvms/{path.stem}"
        for name, case in load(path).items():
            facts = on_x86(deepcopy(case["facts"]))
            limits = {f"{rule_id}.{key}": value for key, value in (case.get("limits") or {}).items()}
            yield rule_id, name, judge_one(by_id[rule_id], facts, limits), facts


RULES = sorted(f"openvms/{path.stem}" for path in EXHIBITS)


def test_every_rule_is_among_them() -> None:
    assert {rule for rule, *_ in judged()} == {one.id for one in rules() if one.id.startswith("openvms/")}
    assert all(verdict.verdict != "broken" for _, _, verdict, _ in judged())
    assert sum(verdict.verdict == "fired" for _, _, verdict, _ in judged()) > 200, "most rules have something to say"


def scripts(finding: Finding) -> str:
    lines = [line for change in finding.changes for line in (*change.script, *change.way_back, *change.cautions)]
    return "\n".join([*lines, *(change.target for change in finding.changes)])


@pytest.mark.parametrize("rule", RULES)
def test_no_script_sets_what_is_not_documented(rule: str) -> None:
    for mine, name, verdict, _ in judged():
        for finding in verdict.findings if mine == rule else ():
            assert not (found := UNDOCUMENTED.search(scripts(finding))), (name, found)


@pytest.mark.parametrize("rule", RULES)
def test_no_sentence_advises_it_without_calling_it_so(rule: str) -> None:
    pattern = ADVISING if rule in MEASURED else UNDOCUMENTED
    for mine, name, verdict, _ in judged():
        for finding in verdict.findings if mine == rule else ():
            if (
                made := hardware_of(finding.subject)
            ) and made.family:  # a series of another machine, whose title names it
                continue
            for sentence in SENTENCE.split(f"{finding.do} {finding.unknown}"):
                assert not pattern.search(sentence) or CALLED_SO.search(sentence), (name, sentence)


@pytest.mark.parametrize("rule", RULES)
def test_no_request_asks_for_it_without_calling_it_so(rule: str) -> None:
    for mine, name, verdict, facts in judged():
        if mine == rule:
            for one in precisely(verdict.missing, facts)[0]:
                said = f"{one.fact} {one.command}"
                assert not UNDOCUMENTED.search(said) or CALLED_SO.search(said), (name, said)
