"""What holds for every page: a login, a strict policy, nothing of another team."""

import os
import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from django.contrib.auth.hashers import make_password
from django.test import Client
from django.urls import URLPattern, URLResolver, get_resolver
from pytest_django import Settings

from advisor.models import Audit, JournalEntry, Upload
from tests.advisor.people import PASSWORD, AsUser, People

ROOT = Path(__file__).resolve().parent.parent.parent
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
        [sys.executable, "-c", "from advisor import settings; print(settings.PASSWORD_HASHERS[0])"],
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
    actions = [entry.action for entry in JournalEntry.objects.filter(who="olga")]
    assert actions.count("login failed") >= 4
    assert "locked out" in actions


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


@pytest.mark.parametrize("value", ["UPLOAD_MB=lots", "UPLOAD_MB=0", "BEHIND_TLS_PROXY=perhaps", "SECRET_KEY_FILE=/no"])
def test_a_bad_value_of_the_environment_stops_the_start_and_is_named(value: str) -> None:
    name, _, text = value.partition("=")
    command = [sys.executable, "manage.py", "check"]
    done = subprocess.run(command, capture_output=True, text=True, env={**os.environ, name: text}, cwd=ROOT)
    assert done.returncode != 0
    assert name in done.stderr
