"""Document 000, a cluster: who is lock master, and how far away."""

from rules.documents.kit import Entry

RESULTS = "tests/documents/test_document_000.py"
MASTERS = "tests/rules/test_mastering.py"
DISTANCE = "tests/rules/test_distance.py"

CLUSTER = (
    Entry(
        "Effect of Remote Locking",
        "table",
        "The three nodes of the runs below: a BL870c (4 cores), an rx4640 (8 cores) and an emulated ES40 (4 CPUs); one "
        "process per node.",
        "Their names and clocks order two nodes of these models without a measurement; figures are told for as many "
        "nodes as were run, and for no other number.",
        (
            f"{MASTERS}::test_two_machines_are_ordered_only_where_something_orders_them",
            f"{MASTERS}::test_nothing_is_told_between_the_published_runs",
        ),
        (
            "BL870c (1.59 Ghz,/9.0MB), Pandora, 4 cores",
            "RX4640 (1.10 GHz/4.0MB), Jason, 8 cores",
            "ES40 emulator on AMD Opteron 6174 @ 2.2 GHz, Atlas, 4 CPUs",
        ),
        ("openvms/lock_master_on_slow_node", "rules.laws.mastering", "rules.judging.openvms.hardware"),
    ),
    Entry(
        "Very Different Node Performance",
        "chart",
        "Lock operations of each of the three nodes by itself.",
        "Which of two is faster, never by how much: the BL870c is before the rx4640, the emulator last.",
        (f"{MASTERS}::test_two_machines_are_ordered_only_where_something_orders_them",),
        (),
        ("rules.judging.openvms.hardware",),
    ),
    *(
        Entry(
            f"Pandora and Jason ({which} chart)",
            "chart",
            "Two nodes, each as lock master in turn.",
            "Its result alone: 85 and 57 %, below.",
            (f"{MASTERS}::test_two_and_three_nodes_give_the_published_shares_by_rank",),
            (),
            ("rules.laws.mastering",),
        )
        for which in ("first", "second")
    ),
    Entry(
        "Remote Locking Comparison",
        "chart",
        "Lock rates of one node and of two.",
        "Its result alone: 85 and 57 %, below.",
        (f"{MASTERS}::test_two_and_three_nodes_give_the_published_shares_by_rank",),
        (),
        ("rules.laws.mastering",),
    ),
    Entry(
        "Comparative Decrease",
        "chart",
        "Distributed locking reduces the aggregate considerably.",
        "The advice: local locks, one node, partitioned lock trees.",
        (
            "tests/findings/openvms/locks_mastered_remotely.yml#most of the node's own requests are served by another "
            "node",
        ),
        (),
        ("openvms/locks_mastered_remotely",),
    ),
    Entry(
        "Results from Pandora and Jason",
        "figure",
        "Two nodes together do 85 % of the fastest node alone, 57 % with the slower one as master.",
        "What each of two nodes gives as lock master, and what moving mastership may be expected to give.",
        (
            f"{MASTERS}::test_two_and_three_nodes_give_the_published_shares_by_rank",
            "tests/findings/openvms/lock_master_on_slow_node.yml#two nodes, the slower one is master, by published "
            "machines",
            "tests/audits/two_nodes_slow_master",
        ),
        ("85% of fastest node", "57% of fastest node"),
        ("openvms/lock_master_on_slow_node", "openvms/locks_mastered_remotely", "rules.laws.mastering"),
        quoted=True,
    ),
    Entry(
        "Comparison With 3 Nodes",
        "chart",
        "Three nodes, each as lock master in turn.",
        "Its result alone: 84, 55 and 25 %, below.",
        (f"{MASTERS}::test_two_and_three_nodes_give_the_published_shares_by_rank",),
        (),
        ("rules.laws.mastering",),
    ),
    Entry(
        "Results from Three Nodes",
        "figure",
        "With a third, slow node 84 % of the fastest alone, 55 % with the second as master, 25 % with the emulator.",
        "As above, for three nodes.",
        (
            f"{MASTERS}::test_two_and_three_nodes_give_the_published_shares_by_rank",
            "tests/findings/openvms/lock_master_on_slow_node.yml#three nodes, the middle one is master",
            "tests/audits/emulator_masters_the_trees",
        ),
        ("84% when Pandora is lock master", "55% when Jason", "25% when Atlas (emulator)"),
        ("openvms/lock_master_on_slow_node", "openvms/emulated_lock_master", "rules.laws.mastering"),
        quoted=True,
    ),
    Entry(
        "Time to Obtain Lock",
        "figure",
        "How it was measured: tools of the Freeware CD, PE1 = -1 so that no tree moves, microseconds per lock.",
        "The matrix such a run gives is read; PE1 = -1 is left alone while one is measured, else +1 is advised.",
        (
            "tests/findings/openvms/remastering_switched_off.yml#off while latencies were measured is what the measure "
            "needs",
            "tests/exports/openvms/locktime/pairs.yml",
        ),
        ("PE1 = -1", "Atlas hardware is 666 MHz ES40", "Argo hardware is 500 MHz ES40"),
        ("openvms/remastering_switched_off", "collectors.reports.openvms.locktime"),
        quoted=True,
    ),
    Entry(
        "Argo and Atlas are Emulated Systems",
        "chart",
        "Microseconds to obtain a lock, by node and master, two emulators on one host.",
        "Not hard-coded: latencies are judged from the user's own LOCKTIME matrix. Pairs with an emulator are left to "
        "the rule for emulators.",
        ("tests/findings/openvms/cluster_far_apart.yml#an emulator's network takes as long as any distance",),
        (),
        ("openvms/cluster_far_apart", "openvms/emulated_lock_master"),
    ),
    Entry(
        "Time to Obtain Lock with Alpha hardware",
        "chart",
        "The same of two ES40s.",
        "Not hard-coded: as above.",
        ("tests/findings/openvms/cluster_far_apart.yml#one rack", "tests/exports/openvms/locktime/pairs.yml"),
        (),
        ("openvms/cluster_far_apart",),
    ),
    Entry(
        "Observations on Internode Lock Time",
        "statement",
        "Remote locks are vastly more expensive than local ones; an emulator as lock master makes them much slower "
        "still, as another emulator was seen to do.",
        "Keep locks local; an emulator that serves other nodes is found by itself, and no latency between nodes is "
        "blamed on distance where one side is an emulator.",
        (
            "tests/findings/openvms/locks_mastered_remotely.yml#most of the node's own requests are served by another "
            "node",
            "tests/findings/openvms/emulated_lock_master.yml#an emulator that gives its own name serves others",
            "tests/findings/openvms/cluster_far_apart.yml#an emulator's network takes as long as any distance",
        ),
        (),
        ("openvms/locks_mastered_remotely", "openvms/emulated_lock_master", "openvms/cluster_far_apart"),
    ),
    Entry(
        "Potential Max Locks/Second One CPU",
        "chart",
        "The most one process can do: one lock after the other, each as long as the previous charts measured.",
        "The reciprocal, of the user's own figures.",
        (f"{RESULTS}::test_one_process_can_do_at_most_the_reciprocal_of_its_lock_time",),
        (),
        ("openvms/concurrency_past_peak", "rules.laws.distance"),
    ),
    Entry(
        "Lessons From Cluster",
        "statement",
        "Distributed locking reduces what the cluster's lock manager does considerably; the total is better where the "
        "lock master is the fastest node.",
        "The advice where locks cross, and which node is to be master.",
        (
            "tests/findings/openvms/locks_mastered_remotely.yml#most of the node's own requests are served by another "
            "node",
            "tests/findings/openvms/lock_master_on_slow_node.yml#two nodes, the slower one is master, by published "
            "machines",
        ),
        (),
        ("openvms/locks_mastered_remotely", "openvms/lock_master_on_slow_node"),
    ),
    Entry(
        "Additional Notes for Cluster: 15 metres",
        "arithmetic",
        "Under 15 m of Ethernet a signal needs about 5*10-8 s; a lock takes 1/371,357 s = 2.7*10-6 s, about 27 times "
        "a round trip.",
        "The law of distance: what a signal takes, counted in local locks.",
        (
            f"{DISTANCE}::test_fifteen_metres_take_what_the_slide_prints",
            f"{DISTANCE}::test_the_local_lock_is_that_of_a_bl870c",
            f"{DISTANCE}::test_fifteen_metres_and_back_are_a_twenty_seventh_of_a_lock",
        ),
        ("15 meters", "~ 5*10-8 seconds", "(1/371,357) seconds or 2.7*10-6", "27 times longer"),
        ("openvms/cluster_far_apart", "rules.laws.distance"),
    ),
    Entry(
        "Additional Notes for Cluster: 25 km",
        "arithmetic",
        "25 km one way, times two for the round trip, are 92 lock operations.",
        "The law of distance, with the exponent corrected.",
        (
            f"{DISTANCE}::test_twenty_five_kilometres_are_a_tenth_of_what_the_slide_prints",
            f"{DISTANCE}::test_only_the_corrected_figure_gives_the_slides_own_factor",
            "tests/audits/far_apart_sites",
        ),
        ("25 KM", "1.25*10-3 seconds", "factor of 92"),
        ("openvms/cluster_far_apart", "rules.laws.distance"),
        slip="The slide prints 1.25*10-3 s; 25 km at the speed of light in glass are 1.25*10-4 s, and only that gives "
        "its own factor of 92. 1.25*10-4 s is used.",
    ),
    Entry(
        "Additional Notes for Cluster: about 100 times worse",
        "arithmetic",
        "Distributed locking over a wide area is about 100 times worse than in one rack, entirely by propagation.",
        "A remote lock of many times a local one is found in the matrix; only keeping locks local helps.",
        (
            f"{RESULTS}::test_a_lock_over_25_kilometres_takes_about_a_hundred_times_as_long",
            "tests/findings/openvms/cluster_far_apart.yml#two sites, and many locks cross",
        ),
        ("about 100 times worse",),
        ("openvms/cluster_far_apart",),
    ),
)
