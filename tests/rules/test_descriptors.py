"""What the four rules about descriptor spinlocks say by release; the yml exhibits cannot say what must be missing."""

import pytest

from collectors.facts import Facts
from collectors.facts.ase import MetadataCache, MetadataSpinlock, Server
from rules.ase._evidence.spinlocks.ratio import falling
from rules.engine import judge_one, rules


def said(version: str | None) -> str:
    (one,) = [one for one in rules() if one.id == "ase/object_descriptor_spinlock_contended"]
    facts = Facts((Server(version=version), MetadataSpinlock(name="Object", contention_percent=12.0)))
    (finding,) = judge_one(one, facts, {}).findings
    return finding.says


def test_lock_free_structures_are_an_argument_for_16_before_it_and_a_doubt_on_it() -> None:
    assert "16.0 made much of what these spinlocks guard lock-free" in said("15.7/EBF 21708 SMP SP110")
    assert "yet they are counted here" in said("16.0 SP02 PL02")
    assert "lock-free" not in said(None)


@pytest.mark.parametrize(("target", "steps"), [(10, [10, 5]), (5, [5]), (3, [3]), (100, [100, 5]), (1, [1])])
def test_steps_only_fall(target: int, steps: list[int]) -> None:
    assert falling(target, "open object spinlock ratio") == steps


def test_descriptors_that_are_not_reused_are_not_mentioned() -> None:
    lock = MetadataSpinlock(name="Object", contention_percent=12.0)
    (one,) = [one for one in rules() if one.id == "ase/object_descriptor_spinlock_contended"]
    for reused, mentioned in ((0.0, False), (1.0, True)):
        facts = Facts((lock, MetadataCache(kind="object", reuse_succeeded=reused)))
        (finding,) = judge_one(one, facts, {}).findings
        assert ("ase/descriptors_reused" in finding.says) is mentioned


def test_each_figure_of_the_descriptors_is_held_against_its_limit() -> None:
    (one,) = [one for one in rules() if one.id == "ase/descriptors_reused"]
    cache = MetadataCache(kind="object", active=495.0, max_used=500.0, free=5.0, reuse_succeeded=7.0, reuse_failed=0.0)
    (finding,) = judge_one(one, Facts((cache,)), {}).findings
    assert [(e.value, e.limit) for e in finding.evidence] == [(495, 490), (500, None), (500, 500), (7, 0), (0, 0)]
