"""What a fact says of how to bring it: a command that can be pasted as it stands, or words nobody takes for one."""

import gc
import re

import pytest

from collectors.facts import Fact, Facts, Source, is_command, without_collection
from collectors.facts.ase import Server
from collectors.facts.base import Undeclared
from collectors.facts.shapes import kinds

FACTS = {name: kind for name, kind in sorted(kinds().items()) if issubclass(kind, Fact) and kind is not Fact}
IN_WORDS = {"load series": "scaling.LoadSeries", "T4": "openvms.T4File"}


def stands_alone(bring: str) -> bool:
    """Whether all that is no command is a remark in the language of the command."""
    tsql = re.compile(
        r"""(sp_\w+( "[^"]*")?|select @@\w+( \w+)?"""
        r"""(, (@@\w+|convert\(char\(26\), (getdate\(\)|@@\w+), 109\))( \w+)?)*)"""
        r"""( -- .+| /\* .+ \*/)?"""
    )
    query = re.compile(r"select [^\"]+ from [\w., ]+( inner join [\w.= ]+)?( where [^\"]+?)?( -- .+| /\* .+ \*/)?")
    dcl = re.compile(r"""(MCR|SHOW|ANALYZE|MONITOR|RMU|TYPE|INSTALL)[A-Z0-9$_ /=.,:+"]*( ! .+)?""")
    return bool(tsql.fullmatch(bring) or query.fullmatch(bring) or dcl.fullmatch(bring))


@pytest.mark.parametrize("name", FACTS)
def test_every_fact_says_what_brings_it_as_a_command_or_in_words(name: str) -> None:
    bring = FACTS[name].COLLECTED_BY
    assert is_command(bring) == stands_alone(bring), bring
    if not is_command(bring):
        assert re.match(r"an? [\w ]+", bring), bring


def test_of_both_ways_there_are_some() -> None:
    assert {is_command(kind.COLLECTED_BY) for kind in FACTS.values()} == {True, False}
    assert not [name for name in IN_WORDS.values() if is_command(FACTS[name].COLLECTED_BY)]
    assert FACTS["ase.SysmonSample"].COLLECTED_BY == 'sp_sysmon "00:10:00" -- at the busiest hour'


@pytest.mark.parametrize(
    "bring",
    [
        *(
            "sp_configure",
            'sp_cacheconfig "a b"',
            "select @@version",
            "SHOW CPU 5/FULL",
            "SHOW CPU/FULL",
            "SHOW FASTPATH",
        ),
        *("MCR SYSGEN SHOW /ALL", "MCR SYSGEN SHOW RESHASHTBL ! of this node alone"),
        *("SHOW SYSTEM/PROCESS=LCKMGR_SERVER", "select a from b /* needs x */"),
    ],
)
def test_commands_are_known_as_such(bring: str) -> None:
    assert is_command(bring)


@pytest.mark.parametrize(
    "bring",
    [
        *("", "T4 of a busy day", "runs at 3 loads", "a CSV", "MONITOR of a day", "T4$SYS:T4$CONFIG.COM collection"),
        *("SHOW FASTPATH of this node alone", "ANALYZE/SYSTEM: SPL LOAD, SPL START", "selected runs", "spare"),
    ],
)
def test_words_are_not_taken_for_commands(bring: str) -> None:
    assert not is_command(bring)


def test_what_is_made_of_facts_is_made_once_for_all_who_declared_them() -> None:
    made: list[int] = []

    def count(facts: Facts) -> int:
        made.append(1)
        return len(facts.every(Server))

    facts = Facts((Server(name="A"), Server(name="B")))
    assert [facts.narrowed((Server,)).once(Server, count) for _ in range(3)] == [2, 2, 2]
    assert made == [1]
    with pytest.raises(Undeclared):
        facts.narrowed(()).once(Server, count)


def test_what_is_made_without_collection_is_not_looked_through_right_after() -> None:
    """The first round after it would look at every fact of an archive; and the collector is as it was before."""
    assert gc.isenabled()
    with without_collection():
        assert not gc.isenabled()
        facts = [Server(source=Source("a.txt", line, line)) for line in range(1, 1001)]
        with without_collection():
            pass
        assert not gc.isenabled()
    young = {id(one) for generation in (0, 1) for one in gc.get_objects(generation)}
    assert gc.isenabled()
    assert not [one for one in facts if id(one) in young]


def test_what_a_process_froze_stays_frozen() -> None:
    gc.freeze()
    try:
        with without_collection():
            pass
        assert gc.get_freeze_count()
    finally:
        gc.unfreeze()
