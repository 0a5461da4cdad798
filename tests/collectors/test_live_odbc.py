"""Who answers by an ODBC connection of any driver: asked in a process that can be ended, and nothing is collected."""

import time

import pytest

from collectors.live import odbc
from collectors.live.kit import CollectorFailed, Target
from collectors.live.odbc import NO_COLLECTING, try_it
from tests.live.running import Serving, serving


def by(server: Serving, password: str) -> dict[str, str]:
    parts = f"DRIVER={{FreeTDS}};SERVER={server.host};PORT={server.port};UID={server.user};TDS_Version=5.0"
    return {"connection": f"{parts};Encryption=require;", "password": password}


def test_driver_and_server_say_who_they_are_and_that_nothing_is_collected() -> None:
    with serving("15.7", password="a;b c {d=") as server:
        found = try_it(by(server, server.password), 20)
        batches = " ".join(server.batches()).lower()
    assert found.driver.startswith("libtdsodbc")
    assert found.release
    assert found.problems == (NO_COLLECTING,)
    assert "insert" not in batches
    assert "update" not in batches
    assert "begin" not in batches


def test_a_refused_login_is_told_without_the_password() -> None:
    with serving("15.7") as server, pytest.raises(CollectorFailed) as failed:
        try_it(by(server, "not-the-password"), 20)
    assert failed.value.says.startswith("the login is refused (")
    assert failed.value.do == "look at user and password"
    assert "not-the-password" not in str(failed.value)


def test_a_driver_that_is_not_installed_says_what_to_do() -> None:
    for connection in ("DRIVER={Oracle Rdb Driver};SERVER=vms1;UID=x;", "DSN=nowhere;"):
        with pytest.raises(CollectorFailed) as failed:
            try_it({"connection": connection, "password": "s3cr3t"}, 20)
        assert failed.value.says.startswith("the driver cannot be used (")
        assert "odbcinst.ini" in failed.value.do
        assert "s3cr3t" not in str(failed.value)


def test_nobody_there_is_told() -> None:
    connection = "DRIVER={FreeTDS};SERVER=127.0.0.1;PORT=1;UID=x;TDS_Version=5.0;"
    with pytest.raises(CollectorFailed, match=r"^no connection \("):
        try_it({"connection": connection}, 20)


def test_a_server_that_says_nothing_is_ended_in_time() -> None:
    began = time.monotonic()
    with (
        serving("15.7", faults=("silent-accept",)) as server,
        pytest.raises(CollectorFailed, match="no answer within 3 s"),
    ):
        try_it(by(server, server.password), 3)
    assert time.monotonic() - began < 30


def test_a_process_that_tells_nothing_is_told(monkeypatch: pytest.MonkeyPatch, tmp_path: object) -> None:
    monkeypatch.setattr(odbc, "CHILD", "/dev/null")
    with pytest.raises(CollectorFailed, match="ended with status 0 and told nothing"):
        try_it({"connection": "DSN=x;"}, 10)


def test_a_target_shows_nothing_of_its_options() -> None:
    assert "s3cr3t" not in repr(Target("A", "ase", {"password": "s3cr3t"}))


@pytest.mark.parametrize(
    "options",
    [
        {"connection": "DRIVER={A};UID=x;", "password": "quay} 42"},
        {"connection": "DRIVER={A};UID=x;PWD={quay}} 42};"},
        {"connection": "DRIVER={A};UID=x;pwd = quay} 42"},
    ],
)
def test_a_driver_that_repeats_the_password_is_not_repeated(
    options: dict[str, str], monkeypatch: pytest.MonkeyPatch
) -> None:
    told = {"state": "HY000", "text": "cannot log in as x with quay} 42 (quay}} 42)"}
    monkeypatch.setattr(odbc, "_answer", lambda order, seconds: told)
    with pytest.raises(CollectorFailed) as failed:
        try_it(options, 5)
    assert "quay" not in str(failed.value)
