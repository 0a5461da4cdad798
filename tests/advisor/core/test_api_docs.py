"""The description of the API, and the page that draws it."""

import re
from collections.abc import Callable

from django.contrib.staticfiles import finders
from django.test import Client

from advisor.accounts.models import User
from advisor.config.api import description
from tests.advisor.people import People


def test_the_page_loads_its_parts_from_this_host_and_holds_no_code(
    people: People, as_user: Callable[[User], Client]
) -> None:
    answer = as_user(people.colleague).get("/api/docs")
    page = answer.content.decode()
    assert answer.status_code == 200
    assert 'data-description="/api/openapi.json"' in page
    scripts = re.findall(r"<script([^>]*)>(.*?)</script>", page, re.S)
    assert all("src=" in attributes and not code.strip() for attributes, code in scripts)
    assert " style=" not in page
    assert "<style" not in page
    assert not re.search(r"\son\w+=", page)
    loaded = re.findall(r'(?:src|href)="/static/([^"]+)"', page)
    assert {"ninja/swagger-ui-bundle.js", "ninja/swagger-ui.css", "advisor/api-docs.js"} <= set(loaded)
    assert all(finders.find(name) for name in loaded)
    assert not re.search(r'(?:src|href)="(?:https?:)?//', page)


def test_the_page_wants_a_login(db: None) -> None:
    assert Client().get("/api/docs").status_code == 302
    assert Client().get("/api/").status_code == 302


def test_every_operation_says_what_it_does_takes_and_answers(db: None) -> None:
    schema = description()
    ids = []
    for methods in schema["paths"].values():
        for operation in methods.values():
            ids.append(operation["operationId"])
            assert operation["description"]
            assert operation["tags"]
            assert operation["security"] == [{"BearerToken": []}, {"Session": []}]
            good = [status for status in operation["responses"] if status < 300]
            assert good
            assert all("content" in operation["responses"][status] for status in good)
            assert {401, 403, 404} <= set(operation["responses"])
    assert len(ids) == len(set(ids))
    assert schema["components"]["securitySchemes"]["BearerToken"] == {"type": "http", "scheme": "bearer"}
    upload = schema["paths"]["/api/uploads"]["post"]["requestBody"]["content"]["multipart/form-data"]["schema"]
    assert upload["properties"]["files"]["items"]["format"] == "binary"
    assert upload["required"] == ["files"]
