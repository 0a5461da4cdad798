"""Connection strings: taken apart and rid of their password; what loads a library or writes a file is refused."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from advisor.schedules.sources import strings

FREETDS = "DRIVER={FreeTDS};SERVER=db1.example.org;PORT=5000;UID=reader"


def test_keywords_are_read_without_regard_to_case_blanks_and_braces() -> None:
    pairs = strings.parsed(" Driver = {Adaptive Server Enterprise} ; server=db1;Uid={a;b}}c};;")
    assert pairs == [("driver", "Adaptive Server Enterprise"), ("server", "db1"), ("uid", "a;b}c")]
    assert strings.written(pairs) == "DRIVER={Adaptive Server Enterprise};SERVER=db1;UID={a;b}}c};"


@given(st.lists(st.tuples(st.sampled_from(strings.TAKEN), st.text("ab;{}= ]", max_size=8)), max_size=5))
def test_what_is_written_is_read_the_same(pairs: list[tuple[str, str]]) -> None:
    assert strings.parsed(strings.written(pairs)) == pairs


@pytest.mark.parametrize(
    ("typed", "left", "password"),
    [
        (f"{FREETDS};PWD=tiger", "DRIVER=FreeTDS;SERVER=db1.example.org;PORT=5000;UID=reader;", "tiger"),
        ("PWD={t;i}}g};DSN=prod", "DSN=prod;", "t;i}g"),
        ("dsn=prod;Password = tiger ", "DSN=prod;", "tiger"),
        ("dsn=prod", "dsn=prod", ""),
        ("dsn=prod;pwd={tiger", "dsn=prod", ""),
        ("dsn=prod; PASSWORD=tig;er", "dsn=prod", ""),
        ("pwd=tiger;{", "", ""),
    ],
)
def test_a_password_typed_into_the_string_is_taken_out_of_it(typed: str, left: str, password: str) -> None:
    assert strings.taken_out(typed) == (left, password)
    assert "ig" not in strings.taken_out(typed)[0]


@pytest.mark.parametrize(
    ("typed", "why"),
    [
        ("SERVER=db1;UID=x", "names no driver"),
        ("DRIVER={FreeTDS};DSN=prod;SERVER=db1", "leave DSN out, and write DRIVER"),
        ("DRIVER=/tmp/evil.so;SERVER=db1", "not a path"),
        ("DRIVER={..\\evil};SERVER=db1", "not a path"),
        ("DSN=/etc/passwd", "not a path"),
        ("FILEDSN=/tmp/x;DRIVER={FreeTDS}", "A keyword of it is not taken"),
        (f"{FREETDS};SAVEFILE=/tmp/x", "A keyword of it is not taken"),
        (f"{FREETDS};DumpFile=/tmp/x", "A keyword of it is not taken"),
        (f"{FREETDS};Dump File=/tmp/x", "A keyword of it is not taken"),
        (f"{FREETDS};ServerName=elsewhere", "A keyword of it is not taken"),
        (f"{FREETDS};SERVER=other", "stands in it twice"),
        (f"{FREETDS};HOST=elsewhere", "SERVER and HOST at once"),
        (f"{FREETDS};Network Address=elsewhere", "SERVER and NETWORKADDRESS at once"),
        (f"{FREETDS};NA=elsewhere", "SERVER and NA at once"),
        (f"{FREETDS};USER=elsewhere", "UID and USER at once"),
        (f"{FREETDS};ServerPort=1", "PORT and SERVERPORT at once"),
        ("DSN=prod;SERVER=elsewhere", "DSN and SERVER at once"),
        ("DSN=prod;PORT=1", "DSN and PORT at once"),
        (f"{FREETDS};SecondaryHost=elsewhere", "A keyword of it is not taken"),
        (f"{FREETDS};DSURL=ldap://elsewhere", "A keyword of it is not taken"),
        ("DRIVER={FreeTDS};SERVER={db1;Driver=elsewhere}", "a brace or a semicolon"),
        ("DRIVER={FreeTDS}};Driver={elsewhere};SERVER=db1", "a brace or a semicolon|KEYWORD=value"),
        (f"{FREETDS};PWD=x", "has a field of its own"),
        ("DRIVER={FreeTDS};SERVER=db1,5000", "its port stands apart"),
        ("DRIVER={FreeTDS};SERVER=/var/run/socket", "host name or an IP address"),
        ("DRIVER={FreeTDS};SERVER=db1;DATABASE=/tmp/x", "holds a path"),
        ("DRIVER={FreeTDS};SERVER", "written KEYWORD=value"),
        ("DRIVER={FreeTDS", "not closed"),
        ("DSN=a\nb", "control characters"),
        ("DSN=" + "a" * 1000, "more than 1,000 characters"),
    ],
)
def test_a_string_that_says_more_than_where_and_who_is_refused(typed: str, why: str) -> None:
    with pytest.raises(strings.BadString, match=why) as refused:
        strings.checked(typed)
    assert "evil" not in str(refused.value)
    assert "elsewhere" not in str(refused.value), "it may be a part of a password"


def test_a_long_hostile_string_is_read_in_no_time() -> None:
    for text in ("{" * 1000, "a=" * 500, ";" * 1000, "a={" + "}}" * 498, "pwd" * 333):
        strings.taken_out(text)
