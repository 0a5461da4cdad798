"""A listing that names no node is of the one that its file is called after, where a file of its folder names it."""

from pathlib import PurePath

from collectors.capture import captures
from collectors.facts import Fact
from collectors.facts.openvms import IndexedFile, LockActivity, LockTree, Node, SysgenParameter
from collectors.read import Input

TREE = "524D5324EFD10200000200444154412020202020202020"


def given(file: str, report: str, *facts: Fact) -> Input:
    return Input(file, report, list(facts), given=str(PurePath(file).parent))


def weight(file: str, value: float) -> Input:
    return given(file, "openvms/sysgen", SysgenParameter(name="LOCKRMWT", current=value, in_use="active"))


def locks(file: str) -> Input:
    tree = LockTree(name=TREE, total=900.0, rates=(("YELL", 700.0), ("UNST", 200.0)), master="UNST")
    return given(file, "openvms/lock_activity", LockActivity(nodes=("YELL", "UNST"), trees=1, total=900.0), tree)


def weights(*inputs: Input) -> dict[str, list[float]]:
    return {
        one.system.name: [row.current for row in one.facts.every(SysgenParameter) if isinstance(row.current, float)]
        for one in captures(inputs)
    }


def test_settings_are_of_the_node_that_their_file_is_called_after_and_it_is_said() -> None:
    first, second = weight("day/SYSGEN_YELL.TXT", 2.0), weight("day/sysgen-unst.lis", 10.0)
    assert weights(first, second, locks("day/LOCK_ACTV.RPT")) == {"YELL": [2.0], "UNST": [10.0]}
    assert any("taken for one of YELL" in said for said in first.problems)


def test_a_word_that_nothing_beside_it_names_is_no_node() -> None:
    assert "OLD" not in weights(weight("day/SYSGEN_OLD.TXT", 2.0), locks("day/LOCK_ACTV.RPT"))
    apart = weights(
        weight("week/SYSGEN_YELL.TXT", 2.0), given("day/show_cpu.txt", "openvms/show_cpu", Node(name="YELL"))
    )
    assert apart["YELL"] == []


def test_a_file_called_after_two_nodes_is_of_neither() -> None:
    inputs = weight("day/SYSGEN_YELL_UNST.TXT", 2.0), locks("day/LOCK_ACTV.RPT")
    assert all(not found for name, found in weights(*inputs).items() if name in ("YELL", "UNST"))


def test_an_fdl_makes_no_system_of_its_own_beside_locks_of_a_cluster() -> None:
    fdl = given("day/ITEMS.FDL", "openvms/fdl", IndexedFile(name="DISK$DATA:[SHOP]ITEMS.IDX;2"))
    found = {one.system.name: len(one.facts.every(IndexedFile)) for one in captures((fdl, locks("day/LOCK_ACTV.RPT")))}
    assert "ITEMS" not in found
    assert sum(found.values()) > 0


def test_settings_below_a_prompt_are_of_the_node_of_that_name_where_an_export_beside_it_names_it() -> None:
    def prompted(name: str, value: float) -> Input:
        row = SysgenParameter(name="LOCKRMWT", current=value, in_use="active", node=name)
        return given("day/all.txt", "openvms/sysgen", row)

    nodes = [given(f"day/{name}.txt", "openvms/show_system", Node(name=name)) for name in ("YELL", "UNST")]
    first, second, other = prompted("YELL", 2.0), prompted("UNST", 10.0), prompted("DBA", 7.0)
    found = weights(first, second, other, *nodes)
    assert (found["YELL"], found["UNST"]) == ([2.0], [10.0])
    assert not first.problems
    assert other.problems
    alone = prompted("DBA", 7.0)
    assert weights(alone, nodes[0]) == {"YELL": [7.0]}
    assert any("SET PROMPT (DBA), so it is taken for one of YELL" in said for said in alone.problems)


def test_settings_below_words_are_parted_among_the_nodes_that_exports_beside_them_name() -> None:
    nodes = [given(f"day/{name}.txt", "openvms/show_system", Node(name=name)) for name in ("YELL", "UNST")]
    rows = [
        SysgenParameter(name="LOCKRMWT", current=value, in_use="active", node=name)
        for name, value in (("YELL", 2.0), ("UNST", 10.0), ("BEFORE", 7.0))
    ]
    both = given("day/all.txt", "openvms/sysgen", *rows)
    found = weights(both, *nodes)
    assert (found["YELL"], found["UNST"]) == ([2.0], [10.0])
    assert sum(7.0 in values for values in found.values()) == 1
