"""What holds for every page: a login, a strict policy, nothing of another team."""

import os
import re
import subprocess
import sys
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any, cast

import pytest
from django.contrib.auth.hashers import make_password
from django.core.files.uploadedfile import SimpleUploadedFile
from django.http import HttpResponse
from django.test import Client, RequestFactory
from django.urls import URLPattern, URLResolver, get_resolver
from pytest_django import Settings

from advisor.accounts.login_failures import name_typed
from advisor.accounts.models import User
from advisor.audits.models import Audit
from advisor.core.concurrency import few_at_a_time
from advisor.core.models import JournalEntry
from advisor.core.views import Asked
from advisor.operations.management.commands.up import web_options
from advisor.uploads.models import Upload
from tests.advisor.people import PASSWORD, AsUser, People
from tests.servers import PATIENCE

ROOT = Path(__file__).resolve().parents[3]
OPEN = {"/login/", "/logout/", "/healthz"}


def addresses(patterns: list[Any] | None = None, before: str = "/") -> Iterator[str]:
    """Every address of the service, with 1 for a number and a word for a text."""
    for one in get_resolver().url_patterns if patterns is None else patterns:
        route = before + re.sub(r"<(\w+:)?\w+>", lambda m: "1" if m[1] == "int:" else "x", str(one.pattern)).strip("^$")
        if isinstance(one, URLResolver):
            yield from addresses(one.url_patterns, route)
        elif isinstance(one, URLPattern):
            yield route.replace("\\Z", "").replace("{rule_id}", "x")


def test_there_is_no_page_without_a_login(people: People) -> None:
    found = sorted(set(addresses()))
    assert len(found) > 40
    for address in found:
        if address in OPEN:
            continue
        for verb in ("get", "post"):
            answer = getattr(Client(), verb)(address)
            let_in = answer.status_code in (302, 401, 403, 404, 405)
            assert let_in, f"{verb} {address} answered {answer.status_code} to nobody"
            if answer.status_code == 302:
                assert answer["Location"].startswith("/login/"), address


def test_no_page_breaks_on_an_address_that_names_nothing(people: People, as_user: AsUser) -> None:
    adam = as_user(people.administrator)
    for address in sorted(set(addresses())):
        if address not in OPEN:
            assert adam.get(address).status_code < 500, address


def test_a_stranger_finds_no_object_at_any_address(people: People, storm_audit: Audit, as_user: AsUser) -> None:
    upload = Upload.objects.get()
    sten = as_user(people.stranger)
    number = {"uploads": upload.pk, "audits": storm_audit.pk, "systems": storm_audit.system_id}
    tried = 0
    for address in sorted(set(addresses())):
        kind = next((kind for kind in number if f"/{kind}/1" in address), None)
        if kind is None:
            continue
        tried += 1
        real = address.replace(f"/{kind}/1", f"/{kind}/{number[kind]}")
        for verb in ("get", "post", "put", "delete"):
            answer = getattr(sten, verb)(real)
            assert answer.status_code in (400, 404, 405, 422), f"{verb} {real} answered {answer.status_code}"
            assert "CLAIMS1" not in answer.content.decode()
    assert tried > 12


def test_every_page_has_a_policy_that_lets_no_inline_script_run(people: People, as_user: AsUser) -> None:
    for address in ("/", "/upload/", "/rules/", "/account/", "/api/docs"):
        answer = as_user(people.owner).get(address)
        policy = answer["Content-Security-Policy"]
        assert "script-src 'self'" in policy
        assert "style-src 'self'" in policy
        assert "unsafe" not in policy
        page = answer.content.decode()
        assert not re.search(r"<script(?![^>]*\bsrc=)|\sstyle=|\son\w+=|<style", page), address
        assert answer["X-Frame-Options"] == "DENY"
        assert "no-store" in answer["Cache-Control"], "a shared machine keeps nothing"


def test_passwords_are_kept_by_argon2(settings: Settings) -> None:
    shipped = subprocess.run(  # the settings as shipped, not those of the tests
        [sys.executable, "-c", "from advisor.config import settings; print(settings.PASSWORD_HASHERS[0])"],
        capture_output=True,
        text=True,
        check=True,
        cwd=ROOT,
    )
    settings.PASSWORD_HASHERS = [shipped.stdout.strip()]
    assert make_password("x").startswith("argon2$argon2id$")


def test_five_wrong_passwords_lock_the_name_at_that_address_and_are_noted(people: People) -> None:
    client = Client()
    for _ in range(5):
        answer = client.post("/login/", {"username": "olga", "password": "wrong"})
    assert answer.status_code == 429
    for spelling in ("olga", "OLGA"):
        assert client.post("/login/", {"username": spelling, "password": PASSWORD}).status_code == 429
    assert client.post("/login/", {"username": "mats", "password": PASSWORD}).status_code == 302
    noted = dict(JournalEntry.objects.filter(who="olga").values_list("action", "count"))
    assert noted == {"login failed": 7, "locked out": 3}


@pytest.mark.parametrize("secure", [True, False])
def test_the_deployment_check_is_clean_with_an_address_of_https(secure: bool, tmp_path: Path) -> None:
    environment = {
        **{name: value for name, value in os.environ.items() if name != "DJANGO_SETTINGS_MODULE"},
        "SITE_URL": "https://lockwright.example.org" if secure else "http://127.0.0.1:8000",
        "SECRET_KEY": "".join(chr(40 + n % 80) for n in range(70)),
        "RUN_DIR": str(tmp_path),
    }
    command = [sys.executable, "manage.py", "check", "--deploy", "--fail-level", "WARNING"]
    done = subprocess.run(command, capture_output=True, text=True, env=environment, cwd=ROOT)
    assert (done.returncode == 0) is secure, done.stderr


def test_without_a_key_the_deployment_check_refuses(tmp_path: Path) -> None:
    environment = {**os.environ, "SITE_URL": "https://lockwright.example.org", "RUN_DIR": str(tmp_path)}
    environment.pop("SECRET_KEY", None)
    command = [sys.executable, "manage.py", "check", "--deploy"]
    done = subprocess.run(command, capture_output=True, text=True, env=environment, cwd=ROOT)
    assert "advisor.E001" in done.stderr
    assert done.returncode == 1


@pytest.mark.parametrize("value", ["UPLOAD_MB=lots", "UPLOAD_MB=0", "PROXIES=two", "SECRET_KEY_FILE=/no"])
def test_a_bad_value_of_the_environment_stops_the_start_and_is_named(value: str) -> None:
    name, _, text = value.partition("=")
    command = [sys.executable, "manage.py", "check"]
    done = subprocess.run(command, capture_output=True, text=True, env={**os.environ, name: text}, cwd=ROOT)
    assert done.returncode != 0
    assert name in done.stderr


@pytest.mark.django_db
def test_another_host_name_is_a_bad_request_in_plain_words() -> None:
    answer = Client().get("/login/", headers={"host": "evil.example"})
    assert answer.status_code == 400
    assert answer["Content-Type"].startswith("text/plain")


def test_files_are_cut_off_where_nobody_wants_them_and_from_nobody(people: People, as_user: AsUser) -> None:
    for client, address in ((Client(), "/login/"), (Client(), "/upload/"), (as_user(people.owner), "/password/")):
        big = SimpleUploadedFile("x.txt", b"x" * 1000)
        request = client.post(address, {"files": big}).wsgi_request
        assert not request.FILES, address


def test_a_letter_that_only_looks_like_another_opens_nothing(people: People) -> None:
    User.objects.create_user("admin", PASSWORD)
    assert Client().post("/login/", {"username": "ADMIN", "password": PASSWORD}).status_code == 302
    assert Client().post("/login/", {"username": "adm\u0131n", "password": PASSWORD}).status_code == 200
    assert name_typed(None, {"username": "adm\u0131n"}) == "admin", "and counts as a wrong password of that name"


@pytest.mark.parametrize("query", ["q=%00", "product=%00", "severity=%00", "only=%00", "page=%00", "q=%E2%80%AE"])
def test_letters_no_database_takes_break_no_search(people: People, as_user: AsUser, query: str) -> None:
    olga = as_user(people.owner)
    assert olga.get(f"/?{query}").status_code == 200
    assert olga.get(f"/api/systems?{query.replace('page', 'limit')}").status_code in (200, 400)
    assert olga.get(f"/api/findings?{query.replace('q=', 'rule=')}").status_code in (200, 400)


@pytest.mark.django_db
def test_a_name_typed_at_the_login_is_one_line_in_the_journal() -> None:
    Client().post("/login/", {"username": "x\n2026 olga: did\u202e", "password": "wrong"})
    assert all(c.isprintable() for c in JournalEntry.objects.latest("id").who)


def test_an_upload_is_extended_by_its_number_alone(people: People, as_user: AsUser) -> None:
    for odd in ("\u00b2", "-1", "1e3", "99999999999999999999"):
        assert as_user(people.owner).get("/upload/", {"to": odd}).status_code == 404


def test_without_a_key_nothing_is_served(tmp_path: Path) -> None:
    environment = {**os.environ, "SECRET_KEY": "", "RUN_DIR": str(tmp_path)}
    command = [sys.executable, "-c", "import advisor.config.wsgi"]
    done = subprocess.run(command, capture_output=True, text=True, env=environment, cwd=ROOT)
    assert done.returncode != 0
    assert "There is no secret key" in done.stderr


def test_what_costs_much_is_made_a_few_at_a_time() -> None:
    inside, leave = threading.Event(), threading.Event()

    @few_at_a_time(1)
    def slow(request: Asked) -> HttpResponse:
        inside.set()
        leave.wait(PATIENCE)
        return HttpResponse("made")

    request = cast(Asked, RequestFactory().get("/"))
    answers: list[int] = []
    first = threading.Thread(target=lambda: answers.append(slow(request).status_code))
    first.start()
    assert inside.wait(PATIENCE)
    second = slow(request)
    assert (second.status_code, second["Retry-After"]) == (503, "5")
    leave.set()
    first.join()
    assert answers == [200]
    assert slow(request).status_code == 200, "there is room again"


def test_a_proxy_is_believed_only_where_the_settings_name_one(settings: Settings) -> None:
    settings.PROXIES = 0
    assert not [option for option in web_options() if "proxy" in option]
    settings.PROXIES = 2
    assert {"--trusted-proxy=127.0.0.1", "--trusted-proxy-count=2"} <= set(web_options())
