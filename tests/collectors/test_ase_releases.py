"""Which release a server is, down to service pack and patch level, and what its version leaves open."""

import pytest

from collectors.facts.ase import Server
from collectors.facts.base import Source

OLD = "12.5.4/EBF 15400 ESD#7.1/P/Sun_svr4/OS 5.8/ase1254/2097/64-bit/FBO/Thu Jan 17 07:42:59 2008"
ESD = "15.7.0/EBF 16748 SMP ESD#4.2 /P/x86_64/Enterprise Linux/ase157/2820/64-bit/FBO/Fri Nov 1 05:39:38 2013"
PACK = "15.7/EBF 23288 SMP SP104  ONE-OFF/P/x86_64/Enterprise Linux/ase157sp101/3449/64-bit/FBO/Mon Jul 28 2014"
CUT = "15.7/EBF 21708 SMP SP110 /P/x"
BRANCH = "15.7/EBF 19495 SMP /P/x86_64/Enterprise Linux/ase157sp12x/3100/64-bit/FBO/Mon Jan 2 2012"
LATE = "16.0 SP02 PL08/EBF 28003 SMP/P/x86_64/Enterprise Linux/ase160sp02pl08x/3205/64-bit/FBO/Tue May 1 2018"
FIRST = "16.0 GA PL01/EBF 22544 SMP/P/x86_64/Enterprise Linux/ase160sp00pl01/3523/64-bit/FBO/Tue Apr 15 2014"
NEWEST = "16.1/EBF 31234 SMP SP01 PL01/P/x86_64/Enterprise Linux/ase161sp01/3900/64-bit/OPT/Mon Mar 3 2025"


@pytest.mark.parametrize(
    ("version", "wanted", "answer"),
    [
        (OLD, "15.7 ESD#2", False),
        (OLD, "12.5.2", True),
        (OLD, "12.5.4 ESD#8", False),
        ("15.0.3/EBF 17770 ESD#4/P/Sun", "15.0.2", True),
        (ESD, "15.7 ESD#2", True),
        (ESD, "15.7 ESD#4.3", False),
        (ESD, "15.7 SP100", False),
        (PACK, "15.7 ESD#2", True),
        (PACK, "15.7 SP100", True),
        (PACK, "15.7 SP110", False),
        (CUT, "15.7 SP110", True),
        (BRANCH, "15.7 ESD#2", None),
        (BRANCH, "15.7", True),
        (BRANCH, "16.0", False),
        (LATE, "16.0 SP02", True),
        (LATE, "16.0 SP02 PL08", True),
        (LATE, "16.0 SP02 PL09", False),
        (LATE, "16.0 SP03", False),
        (FIRST, "16.0 SP02", False),
        (FIRST, "16.0", True),
        (NEWEST, "16.0 SP04 PL03", True),
        (NEWEST, "16.1 SP01 PL02", False),
        ("16.0 SP02/EBF 25320 SMP/P/x", "16.0 SP02 PL04", None),
        ("16.0/EBF 25320 SMP/P/x", "16.0 SP02", None),
        ("sixteen", "16.0", None),
        (None, "16.0", None),
    ],
)
def test_whether_a_server_reached_a_level(version: str | None, wanted: str, answer: bool | None) -> None:
    assert Server(source=Source("v.txt", 1, 1), version=version).reached(wanted) is answer


def test_what_is_no_release_cannot_be_asked_for() -> None:
    with pytest.raises(ValueError, match="no release"):
        Server(source=Source("v.txt", 1, 1), version=LATE).reached("the next one")
