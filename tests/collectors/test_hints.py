"""A file that no reader takes is told what it is and how to have it read, where that can be seen."""

import io

import pytest

from collectors.read import read_stream

SCREEN = (
    "Summary of the terminal\n locks requested      120       70     88.2\n rqsts not queued      1      2      3.0\n"
)


@pytest.mark.parametrize(
    ("text", "hint"),
    [
        ("<table>\n<tr><th>Config</th></tr>\n<td>sp_configure</td>\n", "isql -w 2000 -o FILE, then sp_configure"),
        ("<html>\n<th>Cache Name</th>\n<td>default data cache</td>\n", "isql -w 2000 -o FILE, then sp_cacheconfig"),
        ("<html><body>Hello</body></html>\n", "a page of HTML: save it as plain text"),
        (SCREEN, "a screen of RMU/SHOW STATISTICS without its title"),
        ("1,100\n2,180\n4,290\n8,310\n", "rows of figures without a heading"),
        (
            "users,BERGEN,TROMSO\n1,100,90\n2,180,170\n4,290,260\n6,300,280\n8,310,290\n",
            "a heading that is not understood",
        ),
        ("1;100,5\n2;180,5\n4;290,5\n", "rows of figures without a heading"),
    ],
)
def test_what_can_be_told_is_told(text: str, hint: str) -> None:
    (found,) = read_stream("x", io.BytesIO(text.encode()))
    assert not found.facts
    (problem,) = found.problems
    assert problem.startswith("not read: ")
    assert hint in problem


@pytest.mark.parametrize(
    "text", ["Dear all,\n\n1 and 2 are 3.\n", "1,100\n", "a,b\n1,2\nc,d\n3,4\n", "1 2\n3 4 5\n6\n7 8 9 1\n"]
)
def test_no_guess_is_made_of_anything_else(text: str) -> None:
    (found,) = read_stream("x", io.BytesIO(text.encode()))
    assert "no export that Lockwright knows" in found.problems[0]


@pytest.mark.parametrize(
    ("text", "hint"),
    [
        (
            "1> select convert(char(26), getdate(), 109) SampleTime, * from master..monLicense\n2> go\n SampleTime"
            "                 IOs IOTime LogicalName\n -------------------------- --- ------ -----------\n"
            " Mar 10 2026 10:00:00:000AM 455   9000 data01\n",
            "monLicense is no monitoring table that is read here",
        ),
        (
            "1> select * from master..monWaitEventInfo\n2> go\n WaitEventID WaitClassID Description\n ----------- "
            "----------- -----------\n         150           5 waiting for a lock\n",
            "put this answer into the file of monSysWaits",
        ),
        (
            "1> select * from master..monSpinlockActivity\n2> go\n addrlockspins 0 771203 401299 308481 40.0\n",
            "expected are rows below a heading with the columns",
        ),
    ],
)
def test_a_monitoring_table_that_gives_nothing_says_what_was_expected(text: str, hint: str) -> None:
    (found,) = read_stream("x", io.BytesIO(text.encode()))
    assert not found.facts
    assert hint in found.problems[0], found.problems


def test_what_is_read_gets_no_hint() -> None:
    (found,) = read_stream("x", io.BytesIO(b"users,throughput\n1,100\n2,180\n4,290\n"))
    assert found.facts
    assert not found.problems
