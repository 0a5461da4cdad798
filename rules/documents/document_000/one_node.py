"""Document 000, one node: its peak, its clock, its emulator."""

from rules.documents.kit import Entry

PEAK = "tests/findings/openvms/concurrency_past_peak.yml"
RESULTS = "tests/documents/test_document_000.py"

ONE_NODE = (
    Entry(
        "Methodology",
        "figure",
        "A lock space of one million sub-locks of one parent, so that one node is master of all; runs repeat within a "
        "few per cent.",
        "A fall from a measured peak within 5 % is noise; of two nodes whose latencies are "
        "within a quarter of each other none is called the faster.",
        (
            f"{PEAK}#five per cent less is still noise",
            f"{PEAK}#six per cent less is not",
            "tests/findings/openvms/lock_master_on_slow_node.yml#latencies within a few per cent of each other are "
            "equal",
        ),
        ("1 million locks", "a few percent"),
        ("openvms/concurrency_past_peak", "openvms/lock_master_on_slow_node", "rules.laws.clock"),
    ),
    Entry(
        "Issues with the Lock Manager",
        "statement",
        "The lock database is several structures behind one spinlock: one CPU at a time, so others stall; locking "
        "between nodes adds the overhead of their messages.",
        "MP synchronisation is taken for waiting for that spinlock only where locks are asked for, and a spinlock "
        "trace names it.",
        (
            "tests/findings/openvms/lock_manager_needs_own_cpu.yml#more than half of the machine spins",
            "tests/findings/openvms/locks_mastered_remotely.yml#most of the node's own requests are served by another "
            "node",
        ),
        (),
        ("openvms/lock_manager_needs_own_cpu", "openvms/spinlock_hot", "openvms/locks_mastered_remotely"),
    ),
    Entry(
        "Sample Dataset",
        "table",
        "Processor modes and lock operations per second of an HP BL870c (1.59GHz/9.0MB, 4 cores) at 1 to 6 processes.",
        "Read as a load series with its modes; a row whose parts do not give its total is refused. The scalability law "
        "fits it poorly (R² 0.748), with the load capped at the 4 cores well (0.993); both are said.",
        (
            f"{RESULTS}::test_every_row_of_the_sample_dataset_is_new_plus_converted_plus_released_locks",
            f"{RESULTS}::test_the_sample_dataset_has_one_new_lock_and_one_release_for_two_conversions",
            f"{PEAK}#two processes do most, six do a third less",
            "tests/findings/scaling/throughput_retrograde.yml#a poor fit speaks of the measured peak alone "
            "(figures of JCC Consulting's slides)",
            "tests/test_real_exports.py::test_the_load_table_peaks_at_two_processes_and_fits_only_capped_at_its_cores",
            "tests/rules/test_usl_shapes.py::test_the_bl870c_is_capped_at_its_four_cores",
            "tests/exports/scaling/load_series/lock_rate_by_processes.yml",
        ),
        (
            "# processes Idle MPSynch Kernel Exec Super User Total new ENQ, Convert ENQ, DEQ, Tot Lock",
            "1 299 0 73 0 0 27 399 93025 185311 93021 371,357",
            "2 199 40 123 0 0 39 401 122454 245715 122030 490,199",
            "3 100 149 116 0 0 32 397 104101 207995 104071 416,167",
            "4 0 273 95 0 0 28 396 85999 172520 86361 344,880",
            "5 0 272 101 0 0 30 403 85986 171529 85668 343,183",
            "6 0 272 98 0 0 30 400 85317 170886 85113 341,316",
        ),
        (
            "openvms/concurrency_past_peak",
            "scaling/throughput_retrograde",
            "rules.laws.usl",
            "collectors.reports.scaling.load_series",
        ),
    ),
    Entry(
        "Observations for BL870c",
        "chart",
        "The sample dataset, drawn.",
        "Drawn anew from the table above: a load series with its points, its curve and its peak.",
        ("tests/test_real_exports.py::test_the_load_table_peaks_at_two_processes_and_fits_only_capped_at_its_cores",),
        (),
        ("openvms/concurrency_past_peak",),
    ),
    Entry(
        "Lessons from BL870",
        "figure",
        "About 490,000 lock operations per second at most, reached after a little MP synchronisation; driving harder "
        "does less work.",
        "The advice of the rule: the peak, and neither processes nor CPUs to be added. Without a series a node is "
        "suspected from 30 % of its busy time in MP synchronisation on: between 20 % at this peak and 50 % beyond it.",
        (
            f"{RESULTS}::test_most_work_is_done_after_a_little_mp_synch",
            f"{PEAK}#just below thirty per cent of the busy time",
        ),
        ("490,000 per second",),
        ("openvms/concurrency_past_peak", "openvms/lock_manager_needs_own_cpu"),
    ),
    Entry(
        "Effects of The Dedicated Lock Manager",
        "chart",
        "Lock operations of an rx4640 of 8 cores with and without the dedicated lock manager.",
        "Its lessons alone, below.",
        ("tests/findings/openvms/lock_manager_needs_own_cpu.yml#more than half of the machine spins",),
        (),
        ("openvms/lock_manager_needs_own_cpu",),
    ),
    Entry(
        "Lessons from RX4640",
        "figure",
        "The dedicated lock manager takes one core and leaves 7; a slightly higher peak, a far gentler decline.",
        "What the advice says of cost and gain: one CPU, a little more at the peak. On four cores it is not advised.",
        (
            "tests/findings/openvms/lock_manager_needs_own_cpu.yml#more than three of seven CPUs spin while locks are "
            "asked for, and every CPU was read",
            "tests/findings/openvms/lock_manager_needs_own_cpu.yml#four CPUs spin, but a quarter of the machine is "
            "too much",
        ),
        ("1 core", "7 cores"),
        ("openvms/lock_manager_needs_own_cpu", "openvms/lock_manager_idle"),
        quoted=True,
    ),
    Entry(
        "Performance of 2 4-CPU ES40's",
        "chart",
        "Lock operations of two ES40s, of 500 and of 666 MHz, and the slower one's scaled by the clock.",
        "The arithmetic is done for any two load series whose titles give a clock.",
        ("tests/rules/test_series.py::test_the_slower_clock_is_scaled_to_the_faster_one",),
        (),
        ("rules.laws.clock",),
    ),
    Entry(
        "Lessons from 2 ES40's",
        "arithmetic",
        "500 MHz results × 666/500 are consistently higher than those of the 666 MHz processor: cache, memory.",
        "A comparison of two clocks of one model is normalised by the clock and says that this expects too much of the "
        "higher one; other models are not normalised at all.",
        (
            "tests/rules/test_series.py::test_the_slower_clock_is_scaled_to_the_faster_one",
            "tests/rules/test_platforms.py::test_one_model_at_two_clocks_is_normalised_and_the_limit_of_that_is_told",
        ),
        ("500MHz results by 666/500", "666 MHz"),
        ("rules.laws.clock", "rules.judging.openvms.platforms"),
    ),
    Entry(
        "Emulators vs. Hardware (ES40 Hardware and Emulator)",
        "chart",
        "Lock operations of an ES40 and of its emulator.",
        "Its lessons alone, below.",
        ("tests/rules/test_platforms.py::test_an_emulator_is_told_with_its_host_and_a_borrowed_name_as_a_question",),
        (),
        ("rules.laws.platforms",),
    ),
    Entry(
        "Lessons from Emulator vs. Hardware",
        "figure",
        "An obsolete version of an emulator on an AMD Opteron 6174 @ 2.2 GHz did about 40 % of a 666 MHz ES40, and "
        "approaches the 500 MHz hardware with saturation.",
        "Said of emulated lock masters and where one side of a comparison is an emulator, with its host and its age.",
        (
            "tests/findings/openvms/emulated_lock_master.yml#an emulator that gives its own name serves others",
            "tests/rules/test_platforms.py::test_an_emulator_is_never_normalised",
        ),
        (
            "AMD Opteron 6174 @ 2.2 GHz",
            "2 Alphas on this system with 4 ES40 CPUs, 12 cores total",
            "about 40% of the 666 MHz ES40 hardware",
            "500 MHz hardware",
        ),
        ("openvms/emulated_lock_master", "rules.laws.platforms"),
        quoted=True,
    ),
)
