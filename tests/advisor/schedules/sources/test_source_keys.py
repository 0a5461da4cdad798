"""Passwords are sealed with keys of their own; a wrong, missing or changed key is told, and breaks nothing."""

import stat
import subprocess
import sys
from io import StringIO
from pathlib import Path

import pytest
from django.core.management import CommandError, call_command
from pytest_django import Settings

from advisor.core.models import JournalEntry
from advisor.core.records import Refused
from advisor.schedules.models import DataSource
from advisor.schedules.sources import data_sources, keys
from advisor.systems.models import System
from tests.advisor.people import AsUser, People, text_of
from tests.advisor.schedules.sources.asked import KEY, OTHER_KEY, SECRET, make_source
from tests.longer import first_of
from tests.servers import PATIENCE

pytestmark = pytest.mark.postgres


def test_a_password_is_sealed_in_the_database_and_opens_again(people: People, system: System) -> None:
    source = make_source(system, people.owner)
    row = str(DataSource.objects.filter(pk=source.pk).values().get())
    assert SECRET not in row
    assert source.password_sealed
    assert keys.unseal(source.password_sealed, data_sources.belongs_to(source)) == SECRET


def test_the_mark_of_a_key_tells_nothing_of_it_and_is_always_the_same() -> None:
    sealed = keys.seal(SECRET, "a")
    assert sealed.mark == keys.ring().newest == keys.seal("other", "b").mark
    assert len(sealed.mark) == 16
    assert sealed.mark not in KEY


def test_a_seal_is_good_for_one_address_alone(people: People, system: System) -> None:
    source = make_source(system, people.owner)
    DataSource.objects.filter(pk=source.pk).update(host="127.0.0.1")  # as somebody who can write to the database
    source.refresh_from_db()
    with pytest.raises(keys.NoKey, match="sealed for another address or user: type the password again"):
        data_sources.options(source)


def test_a_new_key_before_the_old_one_opens_what_the_old_one_sealed_and_seals_itself(settings: Settings) -> None:
    old = keys.seal(SECRET, "a")
    settings.SOURCE_KEYS = [OTHER_KEY, KEY]
    assert keys.unseal(old.text, "a") == SECRET
    assert keys.seal(SECRET, "a").mark != old.mark


def test_resealing_makes_the_old_key_needless(people: People, system: System, settings: Settings) -> None:
    source = make_source(system, people.owner)
    settings.SOURCE_KEYS = [OTHER_KEY, KEY]
    out = StringIO()
    call_command("reseal", stdout=out)
    assert out.getvalue().startswith("sealed anew: 1, with the newest key already: 0\n")
    settings.SOURCE_KEYS = [OTHER_KEY]
    source.refresh_from_db()
    assert keys.unseal(source.password_sealed, data_sources.belongs_to(source)) == SECRET
    assert JournalEntry.objects.get(action="data sources resealed").what == "1 passwords, with the newest key"
    again = StringIO()
    call_command("reseal", stdout=again)
    assert "sealed anew: 0, with the newest key already: 1" in again.getvalue()


def test_resealing_names_what_no_key_opens_and_goes_on(people: People, system: System, settings: Settings) -> None:
    lost = make_source(system, people.owner, name="lost")
    settings.SOURCE_KEYS = [OTHER_KEY]
    kept = make_source(system, people.owner, name="kept")
    settings.SOURCE_KEYS = ["a third key, which is long enough for that", OTHER_KEY]
    errors = StringIO()
    with pytest.raises(SystemExit) as ended:
        call_command("reseal", stdout=StringIO(), stderr=errors)
    assert ended.value.code == 1
    assert "not opened: lost of TIDEWAY" in errors.getvalue()
    kept.refresh_from_db()
    assert kept.key_mark == keys.ring().newest
    lost.refresh_from_db()
    assert lost.key_mark not in keys.ring().marks


def test_resealing_without_a_key_says_what_to_set(settings: Settings, db: None, tmp_path: Path) -> None:
    settings.SOURCE_KEYS, settings.SOURCE_KEY_FILE = [], tmp_path / "none"
    with pytest.raises(CommandError, match="there is no key for passwords of data sources: set LOCKWRIGHT_KEY"):
        call_command("reseal")


def test_the_service_makes_a_key_file_for_its_owner_alone_and_never_another(settings: Settings, tmp_path: Path) -> None:
    path = tmp_path / "source_key"
    settings.SOURCE_KEYS, settings.SOURCE_KEY_FILE, settings.SOURCE_KEY_FILE_GIVEN = [], path, False
    keys.make_file()
    made = path.read_text()
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    assert len(made.strip()) >= 64
    sealed = keys.seal(SECRET, "a")
    keys.make_file()
    assert path.read_text() == made
    assert keys.unseal(sealed.text, "a") == SECRET


@first_of(1, "times", [1, 5])
def test_of_several_processes_that_start_at_once_each_reads_the_same_whole_key(tmp_path: Path, times: int) -> None:
    code = (
        "import os, sys; from pathlib import Path; from types import SimpleNamespace\n"
        "from advisor.schedules.sources import keys\n"
        "keys.settings = SimpleNamespace(SOURCE_KEYS=[], SOURCE_KEY_FILE=sys.argv[1], SOURCE_KEY_FILE_GIVEN=False)\n"
        "sys.stdin.readline(); keys.make_file(); print(Path(sys.argv[1]).read_text(), end='')"
    )
    for number in range(times):
        path = tmp_path / f"key {number}"
        command = [sys.executable, "-c", code, str(path)]
        started = [
            subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) for _ in range(4)
        ]
        for one in started:
            assert one.stdin
            one.stdin.write("\n")
            one.stdin.flush()
        told = {one.communicate(timeout=PATIENCE)[0] for one in started}
        assert [one.returncode for one in started] == [0] * 4
        assert told == {path.read_text()}
        assert len(path.read_text().strip()) >= 64
        assert stat.S_IMODE(path.stat().st_mode) == 0o600
    assert len(list(tmp_path.iterdir())) == times, "nothing else is left"


def test_a_given_key_has_no_file_made(settings: Settings, tmp_path: Path) -> None:
    settings.SOURCE_KEY_FILE, settings.SOURCE_KEY_FILE_GIVEN = tmp_path / "source_key", False
    keys.make_file()
    settings.SOURCE_KEYS, settings.SOURCE_KEY_FILE_GIVEN = [], True
    keys.make_file()
    assert not list(tmp_path.iterdir())


def test_a_key_file_that_others_may_read_is_refused(settings: Settings, tmp_path: Path) -> None:
    path = tmp_path / "source_key"
    path.write_text(KEY)
    path.chmod(0o640)
    settings.SOURCE_KEYS, settings.SOURCE_KEY_FILE, settings.SOURCE_KEY_FILE_GIVEN = [], path, False
    with pytest.raises(keys.NoKey, match="chmod 600"):
        keys.ring()
    settings.SOURCE_KEY_FILE_GIVEN = True  # a mounted secret is as its operator mounts it
    assert len(keys.ring().boxes) == 1


@pytest.mark.parametrize("text", [b"", b"short", b"\xff\xfe\xff", b" , \n"])
def test_a_key_file_that_holds_no_key_is_told(settings: Settings, tmp_path: Path, text: bytes) -> None:
    path = tmp_path / "key"
    path.write_bytes(text)
    settings.SOURCE_KEYS, settings.SOURCE_KEY_FILE, settings.SOURCE_KEY_FILE_GIVEN = [], path, True
    with pytest.raises(keys.NoKey):
        keys.ring()
    path.unlink()
    with pytest.raises(keys.NoKey, match="LOCKWRIGHT_KEY_FILE names is not there"):
        keys.ring()


def test_keys_of_a_file_stand_newest_first_a_line_each(settings: Settings, tmp_path: Path) -> None:
    sealed = keys.seal(SECRET, "a")
    path = tmp_path / "key"
    path.write_text(f"{OTHER_KEY}\n{KEY}\n")
    settings.SOURCE_KEYS, settings.SOURCE_KEY_FILE, settings.SOURCE_KEY_FILE_GIVEN = [], path, True
    assert keys.unseal(sealed.text, "a") == SECRET
    assert keys.seal(SECRET, "a").mark != sealed.mark
    path.write_text(OTHER_KEY)
    with pytest.raises(keys.NoKey, match="sealed with another key than this machine has"):
        keys.unseal(sealed.text, "a")


@pytest.mark.parametrize("held", ["another", "none", "short"])
def test_a_wrong_or_missing_key_is_a_trouble_on_the_overview_and_breaks_no_page(
    people: People, system: System, as_user: AsUser, settings: Settings, tmp_path: Path, held: str
) -> None:
    source = make_source(system, people.owner)
    olga = as_user(people.owner)
    assert "cannot be opened" not in text_of(olga, "/")
    settings.SOURCE_KEY_FILE = tmp_path / "none"
    settings.SOURCE_KEYS = {"another": [OTHER_KEY], "none": [], "short": ["short"]}[held]
    page = text_of(olga, "/")
    assert "1 password of data sources cannot be opened" in page
    assert {
        "another": "sealed with another key than this machine has",
        "none": "there is no key for passwords of data sources",
        "short": "shorter than 32 characters",
    }[held] in page
    for address in ("/sources/", f"/sources/{source.pk}/"):
        assert "cannot be opened" in text_of(olga, address)
    assert text_of(olga, f"/sources/{source.pk}/change/")
    assert "cannot be opened" not in text_of(as_user(people.stranger), "/"), "it is not theirs"


def test_without_a_key_a_password_is_refused_with_what_to_do_and_nothing_is_kept(
    people: People, system: System, settings: Settings, tmp_path: Path
) -> None:
    settings.SOURCE_KEYS, settings.SOURCE_KEY_FILE = [], tmp_path / "none"
    with pytest.raises(Refused, match="Have an operator set LOCKWRIGHT_KEY") as refused:
        make_source(system, people.owner)
    assert refused.value.field == "password"
    assert not DataSource.objects.exists()
