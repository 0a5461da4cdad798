"""SHOW FASTPATH, SHOW CPU and SYSGEN: the real displays, and whatever damage a file may have."""

import importlib
import io
import random
import textwrap
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from collectors.facts.base import ABSENT, Fact
from collectors.facts.openvms import Cpu, FastpathDevice, KernelService, Node, SysgenParameter
from collectors.read import Input, read_stream
from collectors.registry import kinds, starting

FIXTURES = Path(__file__).parent.parent / "exports" / "openvms"
REPORTS = ("show_fastpath", "show_cpu", "sysgen")
CASES = [path for name in REPORTS for path in sorted((FIXTURES / name).glob("*.txt"))]


def read_text(text: str) -> list[Input]:
    return read_stream("export.txt", io.BytesIO(text.encode()))


def facts_of(path: Path) -> list[Fact]:
    with path.open("rb") as stream:
        (found,) = read_stream(str(path), stream)
    assert not found.problems
    assert not found.leftovers
    return found.facts


def test_real_fastpath_display(real_exports: Path) -> None:
    facts = facts_of(real_exports / "openvms" / "show_fastpath.txt")
    (node,) = [fact for fact in facts if isinstance(fact, Node)]
    assert (node.name, node.hardware, node.active_cpus) == ("PANDOR", "HP BL870c (1.59GHz/9.0MB)", 8)
    assert str(node.at) == "2013-06-15 06:31:40.130000"
    devices = {fact.device: fact.cpu for fact in facts if isinstance(fact, FastpathDevice)}
    assert devices["EWC0"] == 2
    assert len(devices) == 8
    services = {fact.service: fact.cpu for fact in facts if isinstance(fact, KernelService)}
    assert services == {"OpenVMS TCP/IP": 4, "OpenVMS Lock Manager": 6}


def test_real_cpu_display(real_exports: Path) -> None:
    facts = facts_of(real_exports / "openvms" / "show_cpu_6_full.txt")
    (cpu,) = [fact for fact in facts if isinstance(fact, Cpu)]
    assert (cpu.number, cpu.state, cpu.cothread, cpu.full, cpu.running) == (6, "RUN", 2, True, True)
    assert (cpu.process, cpu.pid, cpu.node) == ("LCKMGR_SERVER", "3E606EC1", "PANDOR")


def test_real_parameter_listings(real_exports: Path) -> None:
    (vax,) = facts_of(real_exports / "openvms" / "sysgen_show_vax73.txt")
    assert isinstance(vax, SysgenParameter)
    assert (vax.name, vax.current, vax.default, vax.minimum, vax.maximum) == ("MAXSYSGROUP", 8, 8, 1, 32768)
    assert (vax.unit, vax.dynamic) == ("UIC Group", True)
    node, scsnode, startup = facts_of(real_exports / "openvms" / "sysboot_show_alpha84.txt")
    assert isinstance(node, Node)
    assert node.name == "ALPHA1"
    assert isinstance(scsnode, SysgenParameter)
    assert (scsnode.current, scsnode.default, scsnode.maximum, scsnode.unit) == ("ALPHA1", "", "ZZZZ", "Ascii")
    assert isinstance(startup, SysgenParameter)
    assert startup.maximum == "zzzz"


@pytest.mark.long
def test_nothing_but_their_own_displays_begins_one_of_these_reports(real_exports: Path) -> None:
    own = {"show_fastpath.txt", "show_cpu_6_full.txt", "sysgen_show_vax73.txt", "sysboot_show_alpha84.txt"}
    for path in sorted(real_exports.rglob("*.*")):
        if path.name in own or path.suffix == ".md":
            continue
        for line in path.read_text("latin-1").split("\n"):
            assert not {kind.id for kind in starting(line)} & {f"openvms/{name}" for name in REPORTS}, (path, line[:99])


@pytest.mark.parametrize("name", REPORTS)
def test_sample_of_the_docstring_is_read_without_leftovers(name: str) -> None:
    (kind,) = [kind for kind in kinds() if kind.id == f"openvms/{name}"]
    assert kind.read
    doc = importlib.import_module(kind.read.__module__).__doc__
    assert doc
    after = doc.split("Sample::\n")[1].split("\n")
    end = next(at for at, line in enumerate(after) if line and not line.startswith("    "))
    (found,) = read_text(textwrap.dedent("\n".join(after[:end])))
    assert found.report == kind.id
    assert found.facts
    assert (found.problems, found.leftovers) == ([], [])


def test_the_node_named_above_the_first_listing_is_taken() -> None:
    heading = "Parameter Name Current Default Minimum Maximum Unit Dynamic"
    (found,) = read_text(
        f"%SYSMAN-I-OUTPUT, command execution on node jura\n{heading}\nLOCKDIRWT 1 0 0 255 Pure-numbe\n"
    )
    (parameter,) = [fact for fact in found.facts if isinstance(fact, SysgenParameter)]
    assert parameter.node == "JURA"


def test_a_listing_of_ase_is_no_listing_of_sysgen() -> None:
    line = "Parameter Name                 Default     Memory Used Config Value Run Value    Unit                 Type"
    assert "openvms/sysgen" not in {kind.id for kind in starting(line)}


def test_digits_of_other_scripts_are_no_digits() -> None:
    heading = "Parameter Name Current Default Min. Max. Unit Dynamic"
    (found,) = read_text(f"{heading}\nLOCKIDTBL ٤١ 3840 1792 16776959 Entries\n")
    assert not found.facts
    (found,) = read_text("System: ORKNEY, HP rx6600\nCPU ٣    State: RUN\n")
    assert not found.facts


def test_five_thousand_digits_are_no_value() -> None:
    heading = "Parameter Name Current Default Min. Max. Unit Dynamic"
    (found,) = read_text(f"{heading}\nLOCKIDTBL {'9' * 5000} 3840 1792 {'0' + '7' * 5000} Entries\n")
    assert not found.facts
    (found,) = read_text(f"Fast Path preferred CPUs on X 03-FEB-2021 09:14:22.07 HP with {'9' * 5000} active CPUs\n")
    assert [fact.active_cpus for fact in found.facts if isinstance(fact, Node)] == [ABSENT]


def mutated(text: str, rng: random.Random) -> str:
    """Delete, double, cut and splice lines and characters."""
    lines = text.split("\n")
    for _ in range(rng.randint(1, 6)):
        at, other = rng.randrange(len(lines)), rng.randrange(len(lines))
        where = rng.randint(0, len(lines[at]))
        what = rng.randrange(6)
        if what == 0 and len(lines) > 1:
            del lines[at]
        elif what == 1:
            lines.insert(other, lines[at])
        elif what == 2:
            lines[at] = lines[at][:where]
        elif what == 3:
            lines[at] = lines[at][:where] + lines[other][rng.randint(0, len(lines[other])) :]
        elif what == 4:
            lines[at] = lines[at][:where] + rng.choice('0*"%-,:;$()\t٣é ') + lines[at][where:]
        else:
            lines[at] = lines[at][:where] + lines[at][where + 1 :]
    return "\n".join(lines)


@settings(deadline=None, max_examples=300)
@given(path=st.sampled_from(CASES), seed=st.integers(0, 2**32))
def test_damage_gives_facts_problems_or_leftovers_and_never_an_error(path: Path, seed: int) -> None:
    for found in read_text(mutated(path.read_text(), random.Random(seed))):
        for fact in found.facts:
            if isinstance(fact, Cpu):
                assert isinstance(fact.number, int)
                assert not (fact.cothread is not ABSENT and not isinstance(fact.cothread, float))
            assert 1 <= fact.source.first <= fact.source.last
