"""Document 000, the hash table, value blocks and co-threads."""

from rules.documents.kit import Entry

SHARED = "tests/findings/openvms/lock_manager_cpu_shared.yml"
RESULTS = "tests/documents/test_document_000.py"

TABLES = (
    Entry(
        "Effects of Varying Resource Hash Table Size",
        "chart",
        "Lock operations of the BL870 by size of the resource hash table.",
        "Its conclusion alone: far too small is very bad, too large costs memory. Chains are worked out by the law of "
        "random hashing; no gain in throughput is promised.",
        (
            "tests/findings/openvms/resource_hash_table_undersized.yml#twelve resources in every bucket all day",
            "tests/findings/openvms/resource_hash_table_undersized.yml#a generous table costs memory and nothing else",
            "tests/rules/test_hashing.py::test_the_law_is_what_throwing_names_into_buckets_gives",
        ),
        (),
        ("openvms/resource_hash_table_undersized", "rules.laws.hashing"),
    ),
    Entry(
        "Conclusion Regarding RHT Size",
        "statement",
        "A table that is far too small takes a large part of the throughput; of one that is too large the test tells "
        "little, but that it consumes memory. Do not be afraid of a large one.",
        "A table with short chains is in order, a generous one too; no gain in throughput is promised.",
        (
            "tests/findings/openvms/resource_hash_table_undersized.yml#twelve resources in every bucket all day",
            "tests/findings/openvms/resource_hash_table_undersized.yml#a generous table costs memory and nothing else",
        ),
        (),
        ("openvms/resource_hash_table_undersized",),
    ),
    Entry(
        "Effect of Lock Value Block",
        "figure",
        "A lock may have a value block, of 16 or 64 bytes.",
        "Said where a display names value blocks.",
        (
            "tests/findings/openvms/value_block_not_the_cause.yml#SDA's summary names value blocks",
            f"{RESULTS}::test_value_blocks_cost_less_than_runs_differ_by",
        ),
        ("16 or 64 bytes",),
        ("openvms/value_block_not_the_cause",),
        quoted=True,
    ),
    Entry(
        "Effect of Using Lock Value Block BL870",
        "chart",
        "Lock operations at 1 to 6 processes without a value block, with one of 16 and with one of 64 bytes. Only the "
        "marks of its axes are in the text.",
        "Its conclusions alone, below.",
        (f"{RESULTS}::test_the_chart_of_value_blocks_is_of_other_runs_than_the_sample_dataset",),
        (
            "50,000, 100,000, 150,000, 200,000, 250,000, 300,000 lock operations",
            "0 1 2 3 4 5 6 7 processes",
            "no LVB, 16-byte LVB, 64-byte LVB",
        ),
        ("openvms/value_block_not_the_cause",),
        slip="Its axis ends at 300,000 and the sample dataset of this machine at 490,199: other runs, so nothing but "
        "the per cent is taken.",
    ),
    Entry(
        "Conclusions from LVB Data",
        "figure",
        "Any value block costs 1 % of the highest lock rate, one of 64 bytes another 0.5 %.",
        "The advice not to look there: both are less than what runs differ by.",
        (
            "tests/findings/openvms/value_block_not_the_cause.yml#Rdb counts invalid lock blocks on a node that locks "
            "much",
            f"{RESULTS}::test_value_blocks_cost_less_than_runs_differ_by",
        ),
        ("1%", "0.5%"),
        ("openvms/value_block_not_the_cause",),
        quoted=True,
    ),
    Entry(
        "Effects of Hyper Threading",
        "statement",
        "A core has several units of each kind, many of them idle; threading is to keep more of them busy.",
        "Threads that compute may gain, so co-threads are not advised against under such a load.",
        ("tests/findings/openvms/cothreads_hurt.yml#compute-bound threads gain from co-threads",),
        (),
        ("openvms/cothreads_hurt",),
    ),
    Entry(
        "What is Hyper Threading?",
        "statement",
        "A core presents itself as two co-threads, each likely slower than the core without threads; how much depends "
        "on the workload.",
        "The loss is measured and never quoted: before and after the co-threads are stopped.",
        (
            "tests/findings/openvms/cothreads_hurt.yml#a lock-bound load on eight co-threads, all of them read",
            "tests/findings/openvms/cothreads_hurt.yml#an Alpha has no co-threads",
        ),
        (),
        ("openvms/cothreads_hurt",),
    ),
    Entry(
        "VMS Utilization of CPUs",
        "statement",
        "OpenVMS takes each co-thread for a CPU and runs its null job on idle ones, so that a lightly loaded system "
        "may become slower; fast path and the dedicated lock manager suffer from it, too.",
        "A light load on co-threads is found; what shares the core of the lock manager has a rule of its own.",
        (
            "tests/findings/openvms/cothreads_hurt.yml#a light load, one full display only, names only the pair that "
            "was read",
            f"{SHARED}#the lock manager shares CPU 6 with the network device on CPU 2, as published",
        ),
        (),
        ("openvms/cothreads_hurt", "openvms/lock_manager_cpu_shared"),
    ),
    Entry(
        "Disabling Co-thread CPUs",
        "display",
        "SHOW FASTPATH of a BL870c with 8 active CPUs: a CPU for each device, TCP/IP on CPU 4, the lock manager on 6.",
        "Read, also glued and wrapped as the slide has it.",
        (
            "tests/test_real_exports.py::test_the_bl870c_shares_the_core_of_its_lock_manager",
            "tests/exports/openvms/show_fastpath/integrity_glued_and_wrapped.yml",
            f"{SHARED}#the lock manager shares CPU 6 with the network device on CPU 2, as published",
        ),
        (
            "15-JUN-2013 06:31:40.13 HP BL870c (1.59GHz/9.0MB) with 8 active CPUs",
            "EWA0 4, EWB0 3, EWC0 2, EWD0 1, FGB0 5, FGA0 7, PEA0 5, PKA0 0",
            "TCP/IP on CPU 4, Lock Manager on CPU 6",
        ),
        ("openvms/lock_manager_cpu_shared", "openvms/cothreads_hurt", "collectors.reports.openvms.show_fastpath"),
    ),
    Entry(
        "There are Conflicts for Cores",
        "display",
        "SHOW CPU 6/FULL: its co-thread is CPU 2, where the network device EWC0 is.",
        "Read; the pair is taken from `Cothd` and never computed.",
        (
            "tests/test_real_exports.py::test_the_bl870c_shares_the_core_of_its_lock_manager",
            f"{SHARED}#the lock manager shares CPU 6 with the network device on CPU 2, as published",
            "tests/rules/test_cpu_layout.py::test_a_pair_is_read_from_either_side_and_never_from_the_numbers",
            "tests/exports/openvms/show_cpu/integrity_full_wrapped.yml",
        ),
        (
            "CPU 6, HP BL870c (1.59GHz/9.0MB), State RUN, CPUDB 891CEB00, Handle 000063D0",
            "Owner 000004C8, Current 000004C8, Partition 0, ChgCnt 2, Cothd 2",
            "LCKMGR_SERVER, PID 3E606EC1",
        ),
        ("openvms/lock_manager_cpu_shared", "collectors.reports.openvms.show_cpu"),
    ),
    Entry(
        "Interference",
        "figure",
        "Stopping CPU 2 ends the contention for the lock manager's core.",
        "The change: STOP/CPU, its check and START/CPU as the way back.",
        (
            f"{SHARED}#the lock manager shares CPU 6 with the network device on CPU 2, as published",
            "tests/rules/test_openvms_cpu.py::test_one_cpu_is_stopped_after_a_look_and_checked_afterwards",
        ),
        ("CPU 2",),
        ("openvms/lock_manager_cpu_shared", "rules.changes.openvms_cpu"),
        quoted=True,
    ),
    Entry(
        "Threaded Systems Can Perform Worse Without Management",
        "chart",
        "Lock operations with co-threads, with and without the dedicated lock manager and with CPU 2 stopped.",
        "Its comparison alone, below.",
        ("tests/findings/openvms/cothreads_hurt.yml#a lock-bound load on eight co-threads, all of them read",),
        (),
        ("openvms/cothreads_hurt",),
    ),
    Entry(
        "Comparisons",
        "arithmetic",
        "With the dedicated lock manager and CPU 2 off 499,842 operations per second, essentially the 490,000 of the "
        "unthreaded machine; 3.9*10-6 s per operation against 2.7*10-6 s.",
        "Said as the published ceiling of one dedicated CPU and as what a stopped co-thread gives back; the two times "
        "differ in two things at once, so neither is called the price of co-threads.",
        (
            f"{RESULTS}::test_with_the_co_thread_stopped_the_peak_is_that_of_the_unthreaded_machine",
            "tests/findings/openvms/lock_manager_saturated.yml#the dedicated CPU is full in the busy part of the day",
            f"{SHARED}#the lock manager shares CPU 6 with the network device on CPU 2, as published",
        ),
        ("499,842", "490,000", "3.9*10-6 seconds", "2.7*10-6 seconds"),
        ("openvms/lock_manager_cpu_shared", "openvms/lock_manager_saturated", "openvms/cothreads_hurt"),
    ),
    Entry(
        "What Does All of this Mean for Rdb Customers?",
        "statement",
        "A resource hash table large enough; local locks: partitioned lock trees where several nodes must have the "
        "database open, better one node, and a database marked for one; then row caches eliminate a large number of "
        "page locks. Rdb remote can often improve throughput, and the network has limits of its own.",
        "Each is a rule; one node is advised only where no other is seen to have the database open.",
        (
            "tests/findings/rdb/database_open_on_many_nodes.yml#every other member of the cluster lists no database, "
            "or others",
            "tests/findings/rdb/lock_tree_unpartitioned.yml#two nodes, one lock tree, and most of the locking crosses",
            "tests/findings/rdb/row_cache_missing.yml#page locks dominate and everything that a row cache needs is "
            "missing",
            "tests/audits/payroll_page_locks",
        ),
        (),
        (
            "openvms/resource_hash_table_undersized",
            "rdb/database_open_on_many_nodes",
            "rdb/lock_tree_unpartitioned",
            "rdb/row_cache_missing",
            "rdb/use_remote_access",
        ),
    ),
    Entry(
        "What Does this Mean for Rdb Customers?",
        "statement",
        "The dedicated lock manager belongs on the fastest system, and that should master the database's tree; fewer "
        "lock operations; threads may be no advantage; an application does more than lock, so results will vary.",
        "Said with the advice; no published rate is promised to another application.",
        (
            "tests/findings/openvms/lock_master_on_slow_node.yml#two nodes, the slower one is master, by published "
            "machines",
            "tests/findings/openvms/cothreads_hurt.yml#a lock-bound load on eight co-threads, all of them read",
            "tests/findings/rdb/page_locks_dominate.yml#most of the node's own locking is page locks of one database",
        ),
        (),
        ("openvms/lock_master_on_slow_node", "openvms/cothreads_hurt", "rdb/page_locks_dominate"),
    ),
)
