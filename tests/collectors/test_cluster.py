"""What the other nodes of a cluster did: added where an export or arithmetic tells that they are of one cluster."""

import datetime as dt

from collectors.capture import captures
from collectors.facts import ABSENT, Capture, Fact, Source
from collectors.facts.openvms import (
    ClusterMember,
    ClusterNode,
    DistributedLockRates,
    FileName,
    ListedMember,
    LockActivity,
    LockLatency,
    LockQueue,
    LockQueues,
    LockRates,
    LockTree,
    MonitorItem,
    Node,
    ProcessorModes,
    SysgenParameter,
    T4File,
)
from collectors.facts.rdb import Database, DatabaseUse, NodeDatabases
from collectors.read import Input


def at(hour: int, day: int = 2) -> dt.datetime:
    return dt.datetime(2026, 3, day, hour)  # noqa: DTZ001 - exports have no zone


def rates(local: float, incoming: float, outgoing: float, file: str, node: str | None = None) -> Fact:
    """The same of new, converted and released locks: a third each."""
    ways = {"local": local, "incoming": incoming, "outgoing": outgoing}
    fields = {f"{kind}_{way}": rate / 3 for kind in ("enq", "convert", "deq") for way, rate in ways.items()}
    return DistributedLockRates(source=Source(file, 2, 9), statistic="mean", node=node, **fields)


def day(node: str, local: float, incoming: float, outgoing: float, *more: Fact, of: int = 2, hours: int = 8) -> Input:
    file = f"in/{node}_{of}.csv"
    covers = T4File(source=Source(file, 1, 99), kind="composite", start=at(8, of), end=at(8 + hours, of))
    found = rates(local, incoming, outgoing, file)
    return Input(file, "openvms/t4", [Node(name=node), covers, found, *more], given="in")


def members(capture: Capture) -> dict[str, ClusterMember]:
    return {member.name: member for member in capture.facts.every(ClusterMember)}


def test_two_nodes_whose_remote_rates_agree_are_one_cluster_and_each_sees_both() -> None:
    modes = ProcessorModes(statistic="mean", mp_synch_percent=31.0, cpus=8.0)
    weight = SysgenParameter(name="LOCKDIRWT", current=2.0)
    orkney, skye = captures([day("ORKNEY", 9000, 3000, 600, modes, weight), day("SKYE", 2000, 610, 2990)])
    seen = members(orkney)
    assert list(seen) == ["ORKNEY", "SKYE"]
    assert [(one.own, one.complete) for one in seen.values()] == [(True, True), (False, True)]
    assert seen["ORKNEY"].mp_synch_percent == 31.0
    assert seen["ORKNEY"].lock_directory_weight == 2.0
    assert round(float(seen["SKYE"].outgoing_per_second)) == 2990  # type: ignore[arg-type]  # a number here
    assert seen["SKYE"].mp_synch_percent is ABSENT
    assert seen["SKYE"].source.file == "in/SKYE_2.csv"
    assert [one.own for one in members(skye).values()] == [False, True]


def test_how_busy_each_node_is_goes_by_all_its_modes_or_by_its_idle_time() -> None:
    idle = ProcessorModes(statistic="mean", cpus=8.0, idle_percent=600.0)
    whole = ProcessorModes(
        statistic="mean",
        cpus=4.0,
        interrupt_percent=10.0,
        mp_synch_percent=90.0,
        kernel_percent=200.0,
        exec_percent=50.0,
        super_percent=0.0,
        user_percent=30.0,
    )
    orkney, _ = captures([day("ORKNEY", 9000, 3000, 600, whole), day("SKYE", 2000, 610, 2990, idle)])
    assert [one.busy_percent for one in members(orkney).values()] == [95.0, 25.0]


def test_rates_that_do_not_agree_make_no_cluster_without_a_word_of_an_export() -> None:
    both = captures([day("ORKNEY", 9000, 3000, 600), day("SKYE", 2000, 100, 700)])
    assert [members(one) for one in both] == [{}, {}]


def test_an_export_that_names_the_other_makes_them_one_and_says_that_a_node_is_missing() -> None:
    listed = ClusterNode(name="SKYE", status="MEMBER")
    one, other = captures([day("ORKNEY", 9000, 3000, 600, listed), day("SKYE", 2000, 100, 700)])
    assert {member.complete for member in members(one).values()} == {False}
    assert list(members(other)) == ["ORKNEY", "SKYE"]


def test_another_day_of_the_other_node_says_nothing_of_this_one() -> None:
    found = captures([day("ORKNEY", 9000, 3000, 600), day("SKYE", 2000, 600, 3000, of=3)])
    assert [members(one) for one in found] == [{}, {}]


def test_each_day_has_its_own_members() -> None:
    found = captures([day(name, 900, 600, 600, of=of) for of in (2, 3) for name in ("ORKNEY", "SKYE")])
    assert [len(members(one)) for one in found] == [2, 2, 2, 2]
    starts = [{member.start for member in members(one).values()} for one in found]
    assert starts == [{one.interval.start} for one in found]


def test_three_nodes_of_which_two_only_ask_are_one_cluster() -> None:
    nodes = [day("ORKNEY", 9000, 5000, 0), day("SKYE", 200, 0, 3000), day("BARRA", 100, 0, 2000)]
    assert [len(members(one)) for one in captures(nodes)] == [3, 3, 3]


def test_one_file_of_several_nodes_is_parted_and_its_nodes_are_one_cluster() -> None:
    facts: list[Fact] = [
        fact
        for name, local in (("ORKNEY", 9000.0), ("SKYE", 4000.0))
        for fact in (
            Node(name=name),
            rates(local, 100, 200, "sum.txt", node=name),
            LockRates(statistic="mean", node=name, new_enq_per_second=1.0),
        )
    ]
    found = captures([Input("sum.txt", "openvms/monitor", facts, given="sum.txt")])
    assert [one.system.name for one in found] == ["ORKNEY", "SKYE"]
    assert [len(one.facts.every(LockRates)) for one in found] == [1, 1]
    assert [len(members(one)) for one in found] == [2, 2]


def test_a_latency_matrix_goes_to_every_node_it_names() -> None:
    matrix = Input(
        "in/lt.csv", "openvms/locktime", [LockLatency(from_node="SKYE", master="ORKNEY", microseconds=250.0)]
    )
    found = captures([day("ORKNEY", 9000, 1, 1), day("SKYE", 10, 1, 1), day("BARRA", 10, 1, 1), matrix])
    assert [(one.system.name, len(one.facts.every(LockLatency))) for one in found] == [
        ("ORKNEY", 1),
        ("SKYE", 1),
        ("BARRA", 0),
    ]
    alone = captures([Input("lt.csv", "openvms/locktime", matrix.facts, given="lt.csv")])
    assert [one.system.name for one in alone] == ["lt"]


def test_who_asks_for_locks_goes_to_every_node_it_names_and_makes_them_one_cluster() -> None:
    activity = LockActivity(nodes=("ORKNEY",), failed=("SKYE",), trees=1, total=10.0)
    tree = LockTree(name="50415952", total=10.0, rates=(("ORKNEY", 10.0),), master="ORKNEY")
    report = Input("in/la.txt", "openvms/lock_activity", [activity, tree])
    files = Input(
        "in/dir.txt",
        "openvms/file_ids",
        [FileName(device="DKA0", name="DKA0:[A]B.DAT;1", number=7, sequence=1, volume_number=0)],
    )
    found = captures([day("ORKNEY", 9000, 1, 1), day("SKYE", 10, 1, 1), day("BARRA", 10, 1, 1), report, files])
    kinds = (LockTree, LockActivity, FileName, ClusterMember)
    assert [(one.system.name, *(len(one.facts.every(kind)) for kind in kinds)) for one in found] == [
        ("ORKNEY", 1, 1, 1, 2),
        ("SKYE", 1, 1, 1, 2),
        ("BARRA", 0, 0, 1, 0),
    ]
    queue = LockQueue(node="SKYE", path=("50415952",), waiting=3.0)
    waits = Input("in/q.txt", "openvms/lock_queues", [LockQueues(failed=("ORKNEY",), queues=1), queue])
    alone = captures([day("ORKNEY", 9000, 1, 1), day("SKYE", 10, 1, 1), day("BARRA", 10, 1, 1), waits])
    assert [len(one.facts.every(LockQueue)) for one in alone] == [1, 1, 0]
    quiet = Input("in/q.txt", "openvms/lock_queues", [LockQueues(nodes=("ORKNEY", "SKYE"))])
    found = captures([day("ORKNEY", 9000, 1, 1), day("SKYE", 10, 1, 1), day("BARRA", 10, 1, 1), quiet])
    assert [(one.system.name, len(one.facts.every(LockQueues))) for one in found] == [
        ("ORKNEY", 1),
        ("SKYE", 1),
        ("BARRA", 0),
    ]


def test_what_the_other_nodes_do_with_a_file_is_told_to_each_whose_locks_are_listed() -> None:
    def calls(node: str, title: str = "RMS FILE OPERATIONS DKA0:[A]B.IDX;1") -> MonitorItem:
        return MonitorItem(node=node, class_name=title, item="$UPDATE Call Rate", mean=1.0)

    screens = Input(
        "in/rms.txt",
        "openvms/monitor",
        [Node(name="ORKNEY"), calls("ORKNEY"), Node(name="SKYE"), calls("SKYE"), calls("SKYE", "PAGE")],
    )
    other = [Node(name="BARRA"), calls("BARRA")]
    report = Input("in/la.txt", "openvms/lock_activity", [LockActivity(nodes=("ORKNEY", "SKYE"), trees=1, total=10.0)])

    def told(*inputs: Input) -> list[tuple[str, list[str | None]]]:
        return [(one.system.name, [item.node for item in one.facts.every(MonitorItem)]) for one in captures(inputs)]

    assert told(screens, Input("in/of_another.txt", "openvms/monitor", other), report) == [
        ("ORKNEY", ["ORKNEY", "SKYE"]),
        ("SKYE", ["SKYE", "SKYE", "ORKNEY"]),
        ("BARRA", ["BARRA"]),
    ]
    assert told(screens) == [("ORKNEY", ["ORKNEY"]), ("SKYE", ["SKYE", "SKYE"])]  # no locks are listed


def test_reports_of_one_clusters_locks_go_together_without_any_node() -> None:
    def report(name: str, *nodes: str) -> Input:
        return Input(name, "openvms/lock_activity", [LockActivity(nodes=nodes, trees=1, total=10.0)])

    file = FileName(device="DKA0", name="DKA0:[A]B.DAT;1", number=7, sequence=1, volume_number=0)
    files = Input("in/dir.txt", "openvms/file_ids", [file])
    reports = [report("in/a.txt", "ORKNEY", "SKYE"), report("in/b.txt", "SKYE"), report("in/c.txt", "BARRA")]
    apart = captures([*reports[:2], report("other/d.txt", "SKYE"), files])
    assert [(one.system.name, len(one.facts.every(LockActivity)), len(one.facts.every(FileName))) for one in apart] == [
        ("a", 2, 1),
        ("d", 1, 0),
    ]
    assert reports[0].problems == files.problems == []
    several = captures([*reports, files])
    assert sorted((one.system.name, len(one.facts.every(FileName))) for one in several) == [
        ("a", 0),
        ("c", 0),
        ("dir", 1),
    ]


def test_settings_without_a_node_join_the_one_cluster_whose_locks_lie_beside_them() -> None:
    def locks(file: str, *nodes: str) -> Input:
        return Input(file, "openvms/lock_activity", [LockActivity(nodes=nodes, trees=1, total=10.0)])

    def settings(file: str) -> Input:
        return Input(file, "openvms/sysgen", [SysgenParameter(name="GBLPAGFIL", current=32768.0)])

    bare = settings("in/sysgen.txt")
    (one,) = captures([locks("in/a.txt", "ORKNEY", "SKYE"), locks("in/b.txt", "SKYE"), bare])
    assert len(one.facts.every(SysgenParameter)) == 1
    assert "taken for one of ORKNEY and SKYE" in "".join(bare.problems)
    for apart in (
        [locks("in/a.txt", "ORKNEY"), settings("other/sysgen.txt")],
        [locks("in/a.txt", "ORKNEY"), locks("in/b.txt", "BARRA"), settings("in/sysgen.txt")],
        [locks("in/a.txt", "ORKNEY"), settings("in/one.txt"), settings("in/two.txt")],
    ):
        assert len(captures(apart)) == len(apart)


def test_what_was_read_in_a_listing_is_quoted_from_the_listing_and_not_from_the_rates() -> None:
    listing = Input(
        "in/ORKNEY.lis",
        "openvms/sysgen",
        [
            Node(source=Source("in/ORKNEY.lis", 1, 1), name="ORKNEY", hardware="HP rx4640 (1.10GHz/4.0MB)"),
            SysgenParameter(source=Source("in/ORKNEY.lis", 7, 7), name="LOCKDIRWT", current=3.0),
        ],
        given="in",
    )
    one, _ = captures([day("ORKNEY", 9000, 3000, 600), listing, day("SKYE", 2000, 610, 2990)])
    own = members(one)["ORKNEY"]
    assert own.source.file == "in/ORKNEY_2.csv"
    assert own.hardware_source == Source("in/ORKNEY.lis", 1, 1)
    assert own.parameters_source == own.directory_weight_source == Source("in/ORKNEY.lis", 7, 7)
    assert own.remaster_weight_source is None


def test_show_cluster_of_one_node_tells_machine_and_release_of_all_of_them() -> None:
    """A node that was not asked for its own name is known by what the other's display prints of it."""
    seen = [
        ClusterNode(source=Source("in/c.lis", 8, 8), name="ORKNEY", hardware="HP rx2800 i4", software="VMS V8.4"),
        ClusterNode(source=Source("in/c.lis", 9, 9), name="skye", hardware="CHARON-AXP", software="VMS V8.3"),
    ]
    _, skye = captures([day("ORKNEY", 9000, 3000, 600, *seen), day("SKYE", 2000, 610, 2990)])
    found = members(skye)
    assert (found["SKYE"].hardware, found["SKYE"].version) == ("CHARON-AXP", "VMS V8.3")
    assert found["SKYE"].hardware_source == Source("in/c.lis", 9, 9)
    assert (found["ORKNEY"].hardware, found["ORKNEY"].version) == ("HP rx2800 i4", "VMS V8.4")


def test_a_machine_is_known_on_another_day_too_and_rates_are_not() -> None:
    seen = ClusterNode(source=Source("in/c.lis", 9, 9), name="skye", hardware="CHARON-AXP", software="VMS V8.3")
    _, skye = captures([day("ORKNEY", 9000, 3000, 600, seen), day("SKYE", 2000, 610, 2990, of=3)])
    assert [one.hardware for one in skye.facts.every(ClusterNode)] == ["CHARON-AXP"]
    assert members(skye) == {}


def test_where_two_displays_name_two_machines_none_is_taken() -> None:
    first = ClusterNode(source=Source("in/c.lis", 9, 9), name="skye", hardware="CHARON-AXP")
    second = ClusterNode(source=Source("in/d.lis", 9, 9), name="SKYE", hardware="HP rx2660")
    found = captures(
        [
            day("ORKNEY", 9000, 3000, 600, first),
            day("ORKNEY", 9000, 3000, 600, second, of=4),
            day("SKYE", 2000, 610, 2990, of=3),
        ]
    )
    (skye,) = [one for one in found if one.system.name == "SKYE"]
    assert not skye.facts.every(ClusterNode)


def test_a_node_that_only_the_last_one_names_is_of_the_cluster_whatever_the_order() -> None:
    listed = [ClusterNode(name=name, status="MEMBER") for name in ("ARRAN", "MULL", "SKYE")]
    found = captures([day("ARRAN", 9000, 3000, 10), day("MULL", 200, 0, 0), day("SKYE", 2000, 10, 2990, *listed)])
    assert [list(members(one)) for one in found] == [["ARRAN", "SKYE", "MULL"]] * 3


def test_what_the_monitors_list_as_open_within_its_time_is_known_of_every_node() -> None:
    root = "DISK$DB:[PAY]PAYROLL.RDB;1"
    monitors = [
        DatabaseUse(database=root, node="SKYE", at=at(10)),
        NodeDatabases(node="SKYE", at=at(10), databases=(root,), complete=True),
        NodeDatabases(node="ORKNEY", at=at(10), complete=True),
        NodeDatabases(node="ORKNEY", at=at(10, day=9), databases=("DISK$DB:[OLD]OLD.RDB;1",), complete=True),
    ]
    header = Database(database=root, lock_partitioning=True)
    shown = Input("in/system.txt", "rdb/show_system", monitors, given="in")
    dumped = Input("in/header.txt", "rdb/dump_header", [header], given="in")
    orkney, _ = captures([day("ORKNEY", 9000, 3000, 600), day("SKYE", 2000, 610, 2990), shown, dumped])
    seen = members(orkney)
    assert (seen["ORKNEY"].databases, seen["ORKNEY"].databases_listed) == ((), True)
    assert seen["SKYE"].databases == seen["SKYE"].databases_partitioned == ("DISK$DB:[PAY]PAYROLL.RDB",)


def test_nodes_of_one_cluster_measured_on_different_days_are_said_to_be() -> None:
    member = ClusterNode(name="SKYE", status="MEMBER")
    first, second = day("ORKNEY", 9000, 3000, 600, member, of=2), day("SKYE", 2000, 610, 2990, of=9)
    assert not any(members(one) for one in captures([first, second]))
    said = "is a node of the same cluster, but its figures are of another time"
    assert [one.problems for one in (first, second)] == [
        [f"SKYE {said} (09-MAR-2026 08:00 to 16:00): each node is judged by itself, and nothing is said of the cluster;"
         " collect both over the same hours"],
        [f"ORKNEY {said} (02-MAR-2026 08:00 to 16:00): each node is judged by itself, and nothing is said of the "
         "cluster; collect both over the same hours"],
    ]  # fmt: skip


def test_where_one_day_of_two_nodes_is_the_same_the_others_are_no_matter() -> None:
    member = ClusterNode(name="SKYE", status="MEMBER")
    given = [
        day("ORKNEY", 9000, 3000, 600, member, of=2),
        day("SKYE", 2000, 610, 2990, of=2),
        day("SKYE", 1, 1, 1, of=9),
    ]
    captures(given)
    assert not any(one.problems for one in given)


def test_of_nodes_that_no_export_links_it_is_said_what_holds_if_they_are_of_one_cluster() -> None:
    given = [day("ORKNEY", 9000, 3000, 600, of=2), day("SKYE", 2000, 610, 2990, of=9)]
    captures(given)
    (said,) = given[0].problems
    assert said.startswith("figures of another time than those of SKYE (09-MAR-2026 08:00 to 16:00), and locks cross")
    assert "if it is the same one, nothing between them was compared" in said
    assert "node of the same cluster" not in said


def test_a_node_whose_figures_have_no_time_is_of_no_other_time() -> None:
    rest = Input(
        "in/SKYE.txt", "openvms/monitor", [Node(name="SKYE"), rates(2000, 610, 2990, "in/SKYE.txt")], given="x"
    )
    given = [day("ORKNEY", 9000, 3000, 600, ClusterNode(name="SKYE", status="MEMBER")), rest]
    captures(given)
    assert not any(one.problems for one in given)


def test_of_nodes_whose_locks_stay_at_home_or_of_many_nothing_is_said() -> None:
    given = [day("ORKNEY", 9000, 0, 0, of=2), day("SKYE", 2000, 0, 0, of=9)]
    given += [day(f"NODE{at}", 2000, 610, 2990, of=at) for at in range(1, 7)]
    captures(given)
    assert not any(one.problems for one in given)


def test_a_clusterwide_listing_that_names_the_nodes_alone_does_not_hide_what_show_cluster_prints_of_them() -> None:
    seen = [
        ClusterNode(source=Source("in/c.lis", 8, 8), name="ORKNEY", hardware="HP rx2800 i4", software="VMS V8.4"),
        ClusterNode(source=Source("in/c.lis", 9, 9), name="SKYE", hardware="AlphaServer DS25", software="VMS V8.3"),
    ]
    bare = [ClusterNode(source=Source("in/sysman.lis", 1, 9), name=name) for name in ("ORKNEY", "SKYE")]
    orkney, skye = captures([day("ORKNEY", 9000, 3000, 600, *seen, *bare), day("SKYE", 2000, 610, 2990, *bare)])
    for found in (members(orkney), members(skye)):
        assert (found["SKYE"].hardware, found["SKYE"].version) == ("AlphaServer DS25", "VMS V8.3")
        assert (found["ORKNEY"].hardware, found["ORKNEY"].version) == ("HP rx2800 i4", "VMS V8.4")


def test_what_show_cluster_prints_of_a_node_is_its_machine_and_release_where_it_names_none_itself() -> None:
    seen = [
        ClusterNode(source=Source("in/c.lis", 8, 8), name="ORKNEY", hardware="HP rx2800 i4", software="VMS V8.4"),
        ClusterNode(source=Source("in/c.lis", 9, 9), name="SKYE", hardware="AlphaServer DS25", software="VMS V8.3"),
    ]
    itself = Node(source=Source("in/SKYE.lis", 1, 1), name="SKYE", hardware="CHARON-AXP", version="V8.4-2")
    orkney, skye = captures([day("ORKNEY", 9000, 3000, 600, *seen), day("SKYE", 2000, 610, 2990)])
    told = [one for one in orkney.facts.every(Node) if one.hardware]
    assert [(one.hardware, one.version, one.source.first) for one in told] == [("HP rx2800 i4", "V8.4", 8)]
    assert [one.version for one in skye.facts.every(Node) if one.hardware] == ["V8.3"]
    _, skye = captures([day("ORKNEY", 9000, 3000, 600, *seen), day("SKYE", 2000, 610, 2990, itself)])
    assert [one.hardware for one in skye.facts.every(Node) if one.hardware or one.version] == ["CHARON-AXP"]


def test_of_a_node_that_was_not_measured_the_settings_are_known_beside_those_of_the_measured_one() -> None:
    lines = [ClusterNode(name=name, software="VMS V7.3-2", status="MEMBER") for name in ("ORKNEY", "SKYE")]
    weight = SysgenParameter(name="LOCKRMWT", current=9.0)
    listing = Input("in/skye.txt", "openvms/sysgen", [Node(name="SKYE"), weight], given="in")
    (orkney, *others) = captures([day("ORKNEY", 1000, 20, 9000, *lines), listing])
    listed = {one.name: one for one in orkney.facts.every(ListedMember)}
    assert [(one.name, one.own) for one in listed.values()] == [("ORKNEY", True), ("SKYE", False)]
    assert listed["SKYE"].lock_remaster_weight == 9.0
    assert (listed["SKYE"].version, listed["SKYE"].outgoing_per_second) == ("VMS V7.3-2", ABSENT)
    assert not members(orkney)
    (skye,) = others
    assert [(one.name, one.own) for one in skye.facts.every(ListedMember)] == [("ORKNEY", False), ("SKYE", True)]


def test_with_a_third_node_of_which_nothing_was_collected_no_settings_are_held_against_each_other() -> None:
    lines = [ClusterNode(name=name, software="VMS V7.3-2", status="MEMBER") for name in ("ORKNEY", "SKYE", "BARRA")]
    listing = Input("in/skye.txt", "openvms/sysgen", [Node(name="SKYE")], given="in")
    assert not captures([day("ORKNEY", 1000, 20, 9000, *lines), listing])[0].facts.every(ListedMember)


def test_without_show_cluster_a_report_of_lock_actv_lists_the_nodes_beside_the_measured_one() -> None:
    def report(*names: str) -> LockActivity:
        return LockActivity(nodes=names, by_node=tuple((name, 0.0) for name in names), total=0.0)

    off = SysgenParameter(name="PE1", current=-1.0)
    listing = Input("in/skye.txt", "openvms/sysgen", [Node(name="SKYE"), off], given="in")
    (orkney, *_) = captures([day("ORKNEY", 1000, 20, 9000, report("ORKNEY", "SKYE")), listing])
    assert [(one.name, one.pe1) for one in orkney.facts.every(ListedMember) if not one.own] == [("SKYE", -1.0)]
    (orkney, *_) = captures([day("ORKNEY", 1000, 20, 9000, report("ORKNEY", "SKYE", "BARRA")), listing])
    assert not orkney.facts.every(ListedMember)
