"""The list of the source documents: nothing in it is made up, and nothing of the documents is left out."""

import ast
import functools
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

from advisor.audits.services.documents import KINDS, Document
from rules.engine import rules
from tests.documents.listed import DOCUMENTS, numbers_in
from tests.facts_yml import load

ROOT = Path(__file__).resolve().parent.parent.parent
SEEDS = ROOT.parent / "shared" / "seeds"
every_document = pytest.mark.parametrize("document", DOCUMENTS, ids=lambda one: one.number)


@functools.cache
def names_in(path: Path) -> frozenset[str]:
    """The names of the test functions of a file, without running it."""
    parsed = ast.parse(path.read_text(encoding="utf-8"))
    return frozenset(node.name for node in parsed.body if isinstance(node, ast.FunctionDef))


@functools.cache
def cases_of(path: Path) -> frozenset[str]:
    return frozenset(load(path))


def is_there(test: str) -> bool:
    """Whether a test that an entry names exists."""
    if "::" in test:
        name, function = test.split("::")
        return (ROOT / name).is_file() and function in names_in(ROOT / name)
    if "#" in test:
        name, case = test.split("#")
        return (ROOT / name).is_file() and case in cases_of(ROOT / name)
    return test.startswith(("tests/exports/", "advisor/examples/audits/")) and (ROOT / test).exists()


def is_module(name: str) -> bool:
    path = ROOT / name.replace(".", "/")
    return path.with_suffix(".py").is_file() or (path / "__init__.py").is_file()


@every_document
def test_every_entry_names_tests_that_exist(document: Document) -> None:
    assert [entry.place for entry in document.entries if not entry.tests] == []
    named = [(entry.place, test) for entry in document.entries for test in entry.tests]
    assert [one for one in named if not is_there(one[1])] == []


@every_document
def test_every_entry_names_rules_and_modules_that_exist(document: Document) -> None:
    ids = {one.id for one in rules()}
    assert [entry.place for entry in document.entries if not entry.used_by] == []
    named = [(entry.place, name) for entry in document.entries for name in entry.used_by]
    assert [one for one in named if one[1] not in ids and not is_module(one[1])] == []


@every_document
def test_every_entry_says_what_it_shows_and_what_is_done_with_it(document: Document) -> None:
    for entry in document.entries:
        assert entry.kind in KINDS, entry.place
        assert entry.shows.endswith("."), entry.place
        assert entry.used.endswith("."), entry.place
        without = entry.kind in ("chart", "statement")
        assert entry.figures or without, f"{entry.place}: what is no picture has its figures in the text"
        assert not (entry.figures and entry.kind == "statement"), f"{entry.place}: a statement has no figure"
        assert not (entry.quoted and without), entry.place


def test_a_test_that_is_not_there_is_noticed() -> None:
    assert not is_there("tests/documents/test_documents.py::test_of_no_such_name")
    assert not is_there("tests/documents/no_such_file.py::test_of_no_such_name")
    assert not is_there("rules/openvms/examples/spinlock_hot.yml#a case that nobody wrote")
    assert not is_there("advisor/examples/audits/no_such_story")
    assert not is_there("README.md")


def test_the_documents_are_the_five_in_order_and_no_place_is_told_twice() -> None:
    assert [one.number for one in DOCUMENTS] == ["000", "001", "002", "003", "004"]
    for document in DOCUMENTS:
        places = [entry.place for entry in document.entries]
        assert len(set(places)) == len(places)


HEADINGS: dict[str, tuple[tuple[str, str], ...]] = {
    "000": (
        ("Methodology", "Methodology"),
        ("Issues with the Lock Manager", "Issues with the Lock Manager"),
        ("Sample Dataset", "Sample Dataset"),
        ("Observations for BL870c", "Observations for BL870c"),
        ("Lessons from BL870", "Lessons from BL870"),
        ("Effects of The Dedicated Lock Manager", "Effects of The Dedicated Lock Manager"),
        ("Lessons from RX4640", "Lessons from RX4640"),
        ("Performance of 2 4-CPU ES40’s", "Performance of 2 4-CPU ES40's"),
        ("Lessons from 2 ES40’s", "Lessons from 2 ES40's"),
        ("Emulators vs. Hardware (ES40 Hardware and Emulator)", "Emulators vs. Hardware (ES40 Hardware and Emulator)"),
        ("Lessons from Emulator vs. Hardware", "Lessons from Emulator vs. Hardware"),
        ("Effect of Remote Locking", "Effect of Remote Locking"),
        ("Very Different Node Performance", "Very Different Node Performance"),
        ("Pandora and Jason Pandora and Jason Remote", "Pandora and Jason (first chart)"),
        ("Pandora and Jason Pandora and Jason Remote", "Pandora and Jason (second chart)"),
        ("Remote Locking Comparison", "Remote Locking Comparison"),
        ("Comparative Decrease", "Comparative Decrease"),
        ("Results from Pandora and Jason", "Results from Pandora and Jason"),
        ("Comparison With 3 Nodes", "Comparison With 3 Nodes"),
        ("Results from Three Nodes", "Results from Three Nodes"),
        ("Time to Obtain Lock", "Time to Obtain Lock"),
        ("Argo and Atlas are Emulated Systems", "Argo and Atlas are Emulated Systems"),
        ("Time to Obtain Lock with Alpha hardware", "Time to Obtain Lock with Alpha hardware"),
        ("Observations on Internode Lock Time", "Observations on Internode Lock Time"),
        ("Potential Max Locks/Second One CPU", "Potential Max Locks/Second One CPU"),
        ("Lessons From Cluster", "Lessons From Cluster"),
        ("Additional Notes for Cluster", "Additional Notes for Cluster: 15 metres"),
        ("25 KM", "Additional Notes for Cluster: 25 km"),
        ("about 100 times worse", "Additional Notes for Cluster: about 100 times worse"),
        ("Effects of Varying Resource Hash Table Size", "Effects of Varying Resource Hash Table Size"),
        ("Conclusion Regarding RHT Size", "Conclusion Regarding RHT Size"),
        ("Effect of Lock Value Block", "Effect of Lock Value Block"),
        ("Effect of Using Lock Value Block BL870", "Effect of Using Lock Value Block BL870"),
        ("Conclusions from LVB Data", "Conclusions from LVB Data"),
        ("Effects of Hyper Threading", "Effects of Hyper Threading"),
        ("What is Hyper Threading?", "What is Hyper Threading?"),
        ("VMS Utilization of CPUs", "VMS Utilization of CPUs"),
        ("Disabling Co-thread CPUs", "Disabling Co-thread CPUs"),
        ("There are Conflicts for Cores", "There are Conflicts for Cores"),
        ("Interference", "Interference"),
        ("Threaded Systems Can Perform Worse", "Threaded Systems Can Perform Worse Without Management"),
        ("Comparisons", "Comparisons"),
        ("What Does All of this Mean for Rdb Customers?", "What Does All of this Mean for Rdb Customers?"),
        ("What Does this Mean for Rdb Customers?", "What Does this Mean for Rdb Customers?"),
    ),
    "001": (
        ("40 cores/80 threads", "The system that was tested"),
        ("beyond 24 engines", "Contention beyond 24 engines"),
        ("wasn’t finishing in well over 5 minutes", "Execution times"),
        ("1031 rows (known as hash buckets)", "The documentation on lock address spinlock ratio"),
        ("1031/5=206.2 or 207 spinlocks", "A ratio of 5"),
        ("2% or 5% spinlock contention", "After the ratio of 5"),
        ("10% spinlock contention usually triggers", "10 % starts the search"),
        ("30-40% spinlock contention", "DES and IDES spinlocks"),
        ("also protects 99 more", "One spinlock, 99 more descriptors"),
        ("This is where ASE 16 shines", "ASE 16"),
        ("100,000 over ~2 minutes", "Relinkages of the system tables"),
        ("10%-15% cache spinlock contention", "Relaxed cache, what remained"),
        ("a 1 million page table scan", "One scan, a million relinkages"),
        ("Grant Fidler", "Comment of a reader (Grant Fidler)"),
    ),
    "002": (
        ("CPU – VUPS test program", "CPU – VUPS test program"),
        ("Time to Process a Work Unit", "Time to Process a Work Unit"),
        ("Memory Bandwidth", "Memory Bandwidth"),
        ("rx4640 (mx2)", "Memory Bandwidth (legend)"),
        ("Memory Latency", "Memory Latency"),
        ("IO Performance – single process", "IO Performance – single process"),
        ("IO Performance – two processes", "IO Performance – two processes"),
        ("Gigabit Transmit MBytes/Sec", "Gigabit Transmit MBytes/Sec"),
        ("Gigabit Transmit CPU Utilization", "Gigabit Transmit CPU Utilization"),
        ("Gigabit Transmit/Receive MBytes/Sec", "Gigabit Transmit/Receive MBytes/Sec"),
        ("Gigabit Transmit/Receive CPU Utilization", "Gigabit Transmit/Receive CPU Utilization"),
        ("System Services – X8.2 vs. 7.3-2", "System Services – X8.2 vs. 7.3-2"),
        ("Lock Manager Stress Test", "Lock Manager Stress Test"),
        ("XFC Cached 1 Block IOs", "XFC Cached 1 Block IOs"),
        ("XFC Cached 4 Block IOs", "XFC Cached 4 Block IOs"),
        ("XFC Cached 16 Block IOs", "XFC Cached 16 Block IOs"),
        ("RMS1 (RAMdisk)", "RMS1 (RAMdisk)"),
        ("rx4640 vs. rx4640-8 (mx2 module)", "rx4640 vs. rx4640-8 (mx2 module)"),
        ("OpenVMS InfoServer CPU Usage", "OpenVMS InfoServer CPU Usage"),
        ("Apache Requests Per Second", "Apache Requests Per Second"),
        ("Apache – CPU Utilization", "Apache – CPU Utilization"),
        ("Various Improvement Successes - Heavy", "Various Improvement Successes"),
        ("OTS\\$MOVE and OTS\\$MOVEM", "OTS$MOVE and OTS$MOVEM"),
        ("Queue Instructions", "Queue Instructions, as system services"),
        ("They now use the EPC", "Queue Instructions, through EPC"),
        ("Areas that are Slower on IPF", "Areas that are Slower on IPF"),
        ("Projected Performance Crossover Point", "Projected Performance Crossover Point"),
        ("Conclusions", "Conclusions"),
    ),
    "003": (
        ("more expensive (by about 30%)", "Coarse against fine, clock time"),
        ("Figure20.6", "Figure 20.6 (referred to)"),
        ("Figure20.7", "Figure 20.7 (referred to)"),
        ("almost five times", "Blocking with four processes"),
        ("ΔSys", "Figure 20.8 (referred to): ΔSys"),
        ("almost twice as long", "Clock frequency"),
        ("The values in the first row of Figure20.8", "First row of Figure 20.8 against Figure 20.7"),
    ),
    "004": (
        ("Overview", "Overview and Summary"),
        ("Methodology", "Methodology"),
        ("specifics of the application workload", "Workload"),
        ("Figure 1. Reduction in", "Figure 1. Reduction in Time Spent Spinning on CP Locks"),
        ("Figure 2. Reduction in", "Figure 2. Reduction in CP CPU Time per Transaction"),
        ("In the 3-way LPAR comparison", "Results, 3-way"),
        ("in the 9-way LPAR comparison", "Results, 9-way"),
        ("With the 16-way LPAR configuration", "Results, 16-way"),
        ("Table 1. Reduced Scheduler Lock Contention", "Table 1. Reduced Scheduler Lock Contention"),
        ("Ratios", "Table 1, Ratios"),
    ),
}
"""Every heading or phrase of the documents under which something is shown, with the entry it is listed as."""

NO_FIGURES: dict[str, dict[float, str]] = {
    "000": {8.4: "the release of OpenVMS", 34: "a slide's number", 2014: "of the date and the copyright"},
    "001": {
        1990: "the decade of one big cache",
        52752: "of the address of another blog",
        775357: "of the address of a webcast",
        223: "of the same address",
    },
    "002": {
        2001: "a date",
        2004: "a date",
        7.3: "V7.3-2, the release on Alpha",
        8: "of rx4640-8",
        16: "of the heading of a chart of cached I/O",
        25: "a date",
        64: "bits of the bus of a network card, in the legend of four charts",
        66: "megahertz of that bus",
        5701: "a network chip, in the same legend",
        5703: "another one",
    },
    "003": {1: "the copy's mark", 20.9: "the section", 785: "the page"},
    "004": {2: "a footnote"},
}
"""Numbers of the documents that are neither of a table nor a figure: what they are."""


def seed(document: Document) -> str:
    """The text of a document on one line; skips where it is not there."""
    found = sorted(SEEDS.glob(f"{document.number}_*.txt"))
    if not found:
        pytest.skip("no ../shared/seeds here")
    return " ".join(found[0].read_text(encoding="utf-8").split())


@every_document
def test_every_heading_of_a_document_has_its_entry_and_every_entry_its_heading(document: Document) -> None:
    text = seed(document)
    assert [heading for heading, _ in HEADINGS[document.number] if heading not in text] == []
    assert sorted(place for _, place in HEADINGS[document.number]) == sorted(one.place for one in document.entries)


def figures_of(document: Document) -> Iterator[float]:
    for entry in document.entries:
        for text in entry.figures:
            yield from numbers_in(text)


@every_document
def test_every_number_of_a_document_is_in_an_entry_or_known_to_be_none_of_a_figure(document: Document) -> None:
    missing = set(numbers_in(seed(document))) - set(figures_of(document)) - set(NO_FIGURES[document.number])
    assert missing == set()


@every_document
def test_every_figure_of_an_entry_stands_in_its_document(document: Document) -> None:
    printed = set(numbers_in(seed(document)))
    assert [number for number in figures_of(document) if number not in printed] == []


@every_document
def test_the_numbers_that_are_no_figures_are_in_the_document_and_in_no_entry(document: Document) -> None:
    known = set(NO_FIGURES[document.number])
    assert known <= set(numbers_in(seed(document)))
    assert not known & set(figures_of(document))
    assert all(re.search(r"\w", why) for why in NO_FIGURES[document.number].values())
