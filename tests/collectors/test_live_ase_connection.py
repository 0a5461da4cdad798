"""Where to connect: strings of any driver pass as they are, FreeTDS gets what it needs, no password is shown."""

import pytest

from collectors.live.ase.collecting import order_of
from collectors.live.ase.connection import LONGEST, Connection, parse, scrub
from collectors.live.registry import CollectorFailed

SECRET = "Plover; {42}=quay"


def test_an_address_becomes_a_string_for_freetds_with_what_it_needs() -> None:
    found = parse("ase://monitor@harbour:5012/", "secret")
    assert found.odbc() == (
        "DRIVER={FreeTDS};SERVER=harbour;PORT=5012;UID=monitor;TDS_Version=5.0;ClientCharset=UTF-8;APP=lockwright;"
        "Encryption=require;PWD=secret;"
    )
    assert found.where == "harbour:5012"
    assert parse("ase://harbour").where == "harbour:5000"
    assert parse("ase://a%40b@[::1]:5000/").user == "a@b"


def test_what_freetds_was_told_is_not_told_otherwise() -> None:
    found = parse("driver={FreeTDS};Server=harbour;port=5000;uid=m;tds_version=5.0;ENCRYPTION=request;app=ours", "x")
    assert found.odbc() == (
        "driver={FreeTDS};Server=harbour;port=5000;uid=m;tds_version=5.0;ENCRYPTION=request;app=ours;"
        "ClientCharset=UTF-8;PWD=x;"
    )


@pytest.mark.parametrize(
    "given",
    [
        "DRIVER={SAP ASE ODBC Driver};server=harbour;port=5000;uid=monitor;EncryptPassword=2",
        "Driver=Adaptive Server Enterprise;Server=harbour;Port=5000;UID=monitor;PacketSize=2048",
        "DSN=harbour;UID=monitor",
        "DRIVER=SQLite3;Database=some file",
    ],
)
def test_another_driver_gets_its_string_as_it_was_given(given: str) -> None:
    assert parse(given, "x").odbc() == f"{given};PWD=x;"
    assert parse(given).odbc() == f"{given};"


def test_a_string_without_driver_and_port_is_for_freetds_at_the_usual_port() -> None:
    found = parse("SERVER=harbour;UID=monitor")
    assert found.without_password() == "DRIVER={FreeTDS};SERVER=harbour;UID=monitor;PORT=5000"


@pytest.mark.parametrize("name", ["PWD", "pwd", "Password"])
def test_a_password_in_the_string_is_taken_out_and_counts_before_the_other(name: str) -> None:
    inside = SECRET.replace("}", "}}")
    found = parse(f"SERVER=harbour;{name}={{{inside}}};UID=monitor", "other")
    assert found.password == SECRET
    assert SECRET not in found.without_password()
    assert SECRET not in repr(found)
    assert parse("ase://monitor:s%20e@harbour/").password == "s e"


@pytest.mark.parametrize("password", ["plain", "with space", "a=b", "brace}", "ünï", "quote'\""])
def test_a_password_without_semicolon_is_written_as_it_is(password: str) -> None:
    assert parse("ase://u@h", password).odbc().endswith(f";PWD={password};")


@pytest.mark.parametrize("password", ["a;b", "{a", " a", "a ", "a;b}c", "a;}", SECRET])
def test_a_password_that_would_end_the_string_is_braced_and_read_back(password: str) -> None:
    whole = parse("DRIVER=other;UID=u", password).odbc()
    assert "PWD={" in whole
    assert parse(whole).password == password


def test_freetds_doubles_no_brace_so_what_it_cannot_be_told_is_refused() -> None:
    assert parse("ase://u@h", "a;b}c").odbc().endswith(";PWD={a;b}c};")
    with pytest.raises(CollectorFailed, match="cannot be passed to FreeTDS"):
        parse("ase://u@h", "a;b}").odbc()


@pytest.mark.parametrize(
    "bad",
    [
        "",
        "harbour",
        "http://harbour/",
        "ase://",
        "ase://harbour:port/",
        "ase://harbour/orders",
        "ase://harbour/?x=1",
        "ase://[::1",
        "SERVER=a;;nonsense",
        "SERVER={a",
        "SERVER=a\nUID=b",
        "x" * 5000,
        "=" * 4000,
        "a={" * 1300,
    ],
)
def test_what_is_no_connection_is_refused_with_the_forms_it_may_have(bad: str) -> None:
    with pytest.raises(CollectorFailed, match=r"cannot be read.*ase://USER@HOST:PORT/"):
        parse(bad)


@pytest.mark.parametrize(
    ("given", "says"),
    [
        ("DRIVER={FreeTDS};SERVER=a;Servername=evil", "a keyword that is not taken"),
        ("DRIVER={FreeTDS};Server Name=evil", "a keyword that is not taken"),
        ("DRIVER={FreeTDS};SERVER=a;SecondaryHost=evil;SecondaryPort=1", "a keyword that is not taken"),
        ("DRIVER={Adaptive Server Enterprise};SERVER=a;DSURL=ldap://evil/", "a keyword that is not taken"),
        ("DRIVER={FreeTDS};SERVER=a;Dump File=/tmp/x", "read or write files"),
        ("DRIVER={FreeTDS};SERVER=a;HOST=evil", "SERVER and HOST: leave one"),
        ("DRIVER={FreeTDS};SERVER=a;Network Address=evil", "SERVER and NETWORKADDRESS: leave one"),
        ("DRIVER={FreeTDS};SERVER=a;UID=u;USER=evil", "UID and USER: leave one"),
        ("DRIVER={FreeTDS};SERVER=a;PORT=1;ServerPort=2", "PORT and SERVERPORT: leave one"),
        ("DRIVER={FreeTDS};DSN=evil", "DRIVER and DSN: with DSN leave DRIVER out"),
        ("DSN=prod;SERVER=evil", "DSN and SERVER: with DSN leave SERVER out"),
        ("DSN=prod;PORT=9", "DSN and PORT: with DSN leave PORT out"),
        ("DRIVER={FreeTDS};SERVER={a;Driver=evil}", "a brace or a semicolon within its SERVER"),
        ("DRIVER={FreeTDS};SERVER={a}};Driver={evil}", "a brace or a semicolon within its SERVER"),
        ("DRIVER={FreeTDS};SERVER={a};Driver=evil;}", "cannot be read|twice"),
        ("DRIVER={FreeTDS};D R I V E R=evil;SERVER=a", "driver twice"),
        ("DRIVER={FreeTDS};SERVER=a,evil", "the SERVER of the connection is none"),
        ("DRIVER={FreeTDS};SERVER=a;PORT=1,evil", "the PORT of the connection is none"),
        ("DSN=/tmp/evil.dsn", "the DSN of the connection is none"),
        ("DRIVER={FreeTDS};SERVER=a;UID=u PWD=evil", "a password within its UID"),
        ("ase://u%0Aevil@a/", "a control character within its UID"),
    ],
)
def test_a_string_names_one_server_one_driver_and_one_login_and_nothing_unknown(given: str, says: str) -> None:
    for paths in (False, True):
        with pytest.raises(CollectorFailed, match=says) as refused:
            parse(given, paths=paths)
        assert "evil" not in str(refused.value), "it may be a piece of a password"


@pytest.mark.parametrize("driver", ["FreeTDS", "Adaptive Server Enterprise"])
def test_no_password_ends_its_braces_and_goes_on_as_keywords(driver: str) -> None:
    with pytest.raises(CollectorFailed, match=r"a password with \}; in it") as refused:
        parse(f"DRIVER={{{driver}}};SERVER=a;UID=u", "x};Driver=/tmp/evil.so;APP={y")
    assert "evil" not in str(refused.value)


@pytest.mark.parametrize("part", ["DumpFile=/tmp/x", "dumpfile=/tmp/x", "FILEDSN=/tmp/x", "SaveFile=/tmp/x"])
def test_parts_that_have_a_driver_write_the_password_to_a_file_are_refused(part: str) -> None:
    with pytest.raises(CollectorFailed, match="makes a driver read or write files: leave"):
        parse(f"DRIVER={{FreeTDS}};SERVER=a;{part}", paths=True)


def test_a_driver_by_its_path_is_for_the_command_line_alone() -> None:
    given = "DRIVER={/opt/sap/libsybdrvodb.so};server=a"
    assert parse(given, paths=True).driver == "/opt/sap/libsybdrvodb.so"
    with pytest.raises(CollectorFailed, match="a driver is named by its path"):
        parse(given)


@pytest.mark.parametrize(
    "said",
    [
        "Login failed for PWD={Plover; {42}}=quay};",
        f"cannot log in with {SECRET}",
        "cannot log in with Plover; {42}}=quay",
        "connection pwd = other;UID=monitor",
        "Password={a b};",
    ],
)
def test_no_message_keeps_a_password(said: str) -> None:
    found = Connection((), SECRET).scrub(said)
    assert "***" in found
    assert "Plover" not in found
    assert "other" not in found
    assert "a b" not in found


def test_a_message_controls_no_terminal_and_is_bounded() -> None:
    assert scrub("a\x1b[2J\nb") == "a [2J b"
    assert len(scrub("x" * 10_000)) == 500


@pytest.mark.parametrize(
    ("given", "says"),
    [
        ("ase://u@h;dumpfile=x:5000/", "cannot be read"),
        ("ase://u@h;driver=other:5000/", "cannot be read"),
        ("ase://u%7D;DumpFile=x@h:5000/", "a brace or a semicolon within its UID"),
        ("DRIVER={FreeTDS};SERVER=h;UID={u}};DumpFile=x}", "a brace or a semicolon within its UID"),
        ("DRIVER={FreeTDS};DRIVER=/tmp/x.so;SERVER=h", "driver twice"),
        ("ase://u:a%0Ab@h/", "password cannot be passed"),
        ("ase://u:a%00b@h/", "password cannot be passed"),
    ],
)
def test_no_part_can_be_smuggled_in_that_a_driver_sees_and_we_do_not(given: str, says: str) -> None:
    with pytest.raises(CollectorFailed, match=says):
        parse(given)


def test_a_password_too_long_for_the_pipe_is_refused_and_hangs_nobody() -> None:
    with pytest.raises(CollectorFailed, match="password cannot be passed") as failed:
        parse("ase://u@h/", "x" * 100_000)
    assert "xxx" not in str(failed.value)


def test_only_questions_that_are_there_can_be_left_out() -> None:
    assert order_of(without=["tables"]).without == ("tables",)
    with pytest.raises(CollectorFailed, match="there is no question 'nothing' to leave out"):
        order_of(without=["tables", "nothing"])


def test_a_connection_may_be_as_long_as_the_refusal_says() -> None:
    text = "DRIVER=FreeTDS;SERVER=ledger;PORT=5000;UID=" + "x" * 5000
    with pytest.raises(CollectorFailed, match="the connection cannot be read"):
        parse(text[: LONGEST + 1])
    with pytest.raises(CollectorFailed) as refused:
        parse("no connection " + "x" * (LONGEST - 14))
    assert f"at most {LONGEST} characters" not in refused.value.do
