"""Whatever a live collection says is to be done can be done: by the page, by the command, or by a DBA or operator.

The sentences are read from the code, where they are written: `CollectorFailed(says, do)` and what is like it.
"""

import ast
import re
from collections.abc import Iterator, Mapping
from pathlib import Path

from advisor.schedules.management.commands.collect import Command
from advisor.schedules.source_forms import SourceForm
from advisor.schedules.sources import data_sources
from advisor.systems.models import System
from tests.advisor.people import AsUser, People, text_of
from tests.advisor.schedules.sources.asked import make_source

ROOT = Path(__file__).parents[4]
PLACES = (
    *(one for one in (ROOT / "collectors/live").rglob("*.py") if "locklab" not in one.parts),
    *(ROOT / "advisor/schedules/sources").glob("*.py"),
    ROOT / "advisor/schedules/services/collecting.py",
)
"""`locklab` asks no server: it measures this machine."""
DO = {
    **dict.fromkeys(("CollectorFailed", "Silent", "Late", "TooMuch", "OtherServer", "kind"), 1),
    **dict.fromkeys(("Failed", "NotAsked", "NoKey", "Lack"), 1),
    **dict.fromkeys(("leave", "_leave"), 2),
}
"""Which argument of a call says what to do."""
Scope = Mapping[str, list[ast.expr]]
OURS = (
    "add one: on its page, under Data sources",
    "give each question longer (--question-seconds; of a data source: Change, Seconds for one question), "
    "or leave questions out (--without; of a data source: Change, Questions left out)",
    "have fewer of them left out (--without; of a data source: Change, Questions left out)",
    "leave questions out (--without; of a data source: Change, Questions left out)",
    "leave questions out (--without; of a data source: Change, Questions left out), and see that it is an"
    " Oracle Rdb database",
    "leave questions out (--without; of a data source: Change, Questions left out), and see that it is an SAP ASE",
    "leave questions out (--without; of a data source: Change, Questions left out), or let all of it take"
    " longer (--total-seconds; of a data source: TASK_SECONDS of the service)",
    "look at its address; if it is meant, take it on: on the page of the data source",
    "see that the database is open and no transaction holds it up, or give each question longer (--questi"
    "on-seconds; of a data source: Change, Seconds for one question)",
    "take them closer together (--seconds; of a data source: Change, Seconds between the two snapshots)",
)
"""On a page of ours, or an option of the command: named in the sentence, and looked up below."""
TYPED = (
    "choose a server inside what the operator allows, or have ALLOWED_SOURCES name it",
    "choose another collector",
    "give 60",
    "give HH:MM:SS, at most one hour: 00:01:00",
    "give a value without them: drivers differ in where it ends",
    "give an ODBC connection string: DSN=name;UID=user (odbc.ini), or DRIVER={name};… as its driver wants it",
    "give an ODBC connection string: DSN=name;UID=user (odbc.ini), or DRIVER={name};… as its driver wants"
    " it; no line breaks, at most … characters",
    "give ase://USER@HOST:PORT/ or an ODBC connection string: DRIVER={FreeTDS};SERVER=host;PORT=5000;UID=user",
    "give ase://USER@HOST:PORT/ or an ODBC connection string: DRIVER={FreeTDS};SERVER=host;PORT=5000;UID="
    "user; no line breaks, at most … characters",
    "give one without line breaks, of at most … characters",
    "give the login a password without semicolons and braces",
    "give the login another one",
    "give the system a data source",
    "give up to … seconds",
    "give … s or more, and time for two samples",
    "one connection does one after the other: ask for one",
    "give … to … seconds",
    "it is one of …",
    "leave it away",
    "leave one of them away",
    "leave one of them out: drivers differ in which one they follow",
    "leave … away",
    "look at host and port, and at its server",
    "look at user and password",
    "name a driver that passes it on, or upload RMU/DUMP/HEADER",
    "name one host, its port apart, or one DSN",
    "name the server itself",
    "part the keywords by semicolons, and give the password apart",
    "rename the system: its name must not begin with a hyphen, as options do, nor hold what controls",
    "say in the schedule which system it collects from",
    "see that address and port are right",
    "see that address and port are those of an Adaptive Server",
    "see that it is an SAP ASE, and ask its DBA",
    "see that it is an SAP ASE, and that it runs",
    "see that its name is right",
    "see that login and password are right and the login is not locked (sp_displaylogin)",
    "see that the port is right (sp_helpserver, the interfaces file) and that the server runs",
    "taken are …; what else the driver wants belongs into odbc.ini: name it by DSN=",
    "type the password again",
    "with DSN leave … out, for odbc.ini says where a DSN leads; or leave DSN out, and write DRIVER, SERVER and PORT",
)
"""What was typed, into a field of the page or the command line, is to be typed otherwise."""
MACHINE = (
    "apt-get install unixodbc tdsodbc (or what this system calls them)",
    "call it by hand in an empty folder: … …",
    "have it registered on this machine (odbcinst.ini) and name it: DRIVER={name}",
    "have it write less",
    "have it write less at a time",
    "install it; on Debian: apt-get install unixodbc tdsodbc; for SAP's own driver see its installation guide",
    "install the driver and name it as odbcinst.ini does, or the data source as odbc.ini does",
    "it must begin with #! and its interpreter, or be a program of this machine",
    "look at who owns it",
    "make room on the disk with the temporary folder (TMPDIR), and see that it may be written to",
    "put it back",
    "put its program into … of every machine with a worker, or choose another one",
    "put that key behind the newest one",
    "put that key behind the ones of LOCKWRIGHT_KEY or of its file, or type the password again",
    "put the right file there",
    "see that Python runs on this machine",
    "see that it writes its exports into the folder it is called in, or prints them",
    "see that no firewall stands between",
    "see that the machine of the workers knows it",
    "set LOCKWRIGHT_KEY to a random text of 32 characters or more, or LOCKWRIGHT_KEY_FILE to a file that holds one",
    "take that away: chmod 600 …",
    "update the ODBC driver; if it stays, tell who maintains Lockwright",
)
"""An operator's step on the machine of the workers."""
SERVER = (
    "add the login to that database (sp_adduser), or leave it: the others were asked",
    "ask by a login with mon_role alone, or take it back: sp_role 'revoke', …, <login>",
    "ask it by hand",
    "ask it by hand and upload the answer",
    "ask it by hand with this login and see what the server says",
    "upload exports by hand: releases before ….… are not asked",
    "collect again when nobody holds that lock (DDL that is not committed?): the others were asked",
    "collect again when that database is online: the others were asked",
    "collect again: it was chosen as the victim of a deadlock twice",
    "grant the role it names: sp_role 'grant', <role>, <login>",
    "have SQL$SAMPLE:INFO_TABLES.SQL of this release run in the database, or upload RMU/DUMP/HEADER",
    "look into the error log of the server, and at the network between",
    "run the script installmaster of this release",
    "run the script installmontables, or installmaster of this release",
    "see that it is not stopped or overloaded, and try again",
    "see that it is … that is not stopped or overloaded, and try again",
    "see what the login may read: ask by hand",
    "set what it names by sp_configure, 'enable monitoring' first",
    "sp_configure '…', 1 (by a login with sa_role; dynamic; cost: …)",
    "sp_role 'grant', {role}, <login> (or: grant role {role} to <login>)",
    "sp_sysmon needs it: keep a login of its own for that, and ask by one with mon_role alone otherwise",
)
"""A DBA's step at the server, or by its listings."""


def texts(node: ast.expr, scope: Scope) -> set[str]:
    """What an expression may say, with `…` for what is filled in; empty: it is passed on from elsewhere."""
    match node:
        case ast.Constant(value=str(text)):
            return {text}
        case ast.JoinedStr(values=values):
            found = {""}
            for one in values:
                inner = texts(one.value, scope) if isinstance(one, ast.FormattedValue) else texts(one, scope)
                found = {before + text for before in found for text in inner or {"…"}}
            return found
        case ast.IfExp(body=body, orelse=other):
            return texts(body, scope) | texts(other, scope)
        case ast.BoolOp(values=values):
            return set().union(*(texts(one, scope) for one in values))
        case ast.Name(id=name):
            rest = {other: values for other, values in scope.items() if other != name}
            return set().union(*(texts(one, rest) for one in scope.get(name, [])))
        case ast.Call(func=ast.Attribute(value=value, attr="format")):
            return texts(value, scope)
    return set()


def remedies() -> set[str]:
    """Every sentence that says what to do."""
    trees = [ast.parse(place.read_text(encoding="utf-8")) for place in PLACES]
    everywhere: dict[str, list[ast.expr]] = {}
    for tree in trees:
        for name, value in assigned(tree.body):
            everywhere.setdefault(name, []).append(value)
    found: set[str] = set()
    for tree in trees:
        for function in (one for one in ast.walk(tree) if isinstance(one, ast.FunctionDef)):
            here: dict[str, list[ast.expr]] = {}
            for name, value in assigned(ast.walk(function)):
                here.setdefault(name, []).append(value)
            for said in said_in(function):
                found |= texts(said, {**everywhere, **here})
    return found - {""}


def assigned(nodes: "Iterator[ast.AST] | list[ast.stmt]") -> Iterator[tuple[str, ast.expr]]:
    """Names and what is given to them."""
    for node in nodes:
        if isinstance(node, ast.Assign):
            for target in node.targets:
                pairs = [(target, node.value)]
                if isinstance(target, ast.Tuple) and isinstance(node.value, ast.Tuple):
                    pairs = list(zip(target.elts, node.value.elts, strict=True))
                yield from ((name.id, value) for name, value in pairs if isinstance(name, ast.Name))


def said_in(function: ast.FunctionDef) -> Iterator[ast.expr]:
    """Where a function says what to do."""
    for node in ast.walk(function):
        if isinstance(node, ast.Call):
            name = node.func.id if isinstance(node.func, ast.Name) else getattr(node.func, "attr", "")
            if name in DO and len(node.args) > DO[name]:
                yield node.args[DO[name]]
        elif isinstance(node, ast.Dict):
            yield from (v for k, v in zip(node.keys, node.values, strict=True) if ast.unparse(k or v) == "'do'")
        elif isinstance(node, ast.Return) and function.name in ("_reason", "remedy"):
            yield node.value.elts[1] if isinstance(node.value, ast.Tuple) else node.value or ast.Constant("")


def test_whatever_is_to_be_done_is_known_to_be_possible() -> None:
    known = [*OURS, *TYPED, *MACHINE, *SERVER]
    assert len(known) == len(set(known))
    assert remedies() ^ set(known) == set(), "say in this file who can do it and where"


def test_what_names_a_field_or_an_option_or_a_setting_names_one_that_there_is() -> None:
    fields = {str(field.label) for field in SourceForm.base_fields.values()}
    options = {
        one for action in Command().create_parser("manage.py", "collect")._actions for one in action.option_strings
    }
    environment = (ROOT / "advisor/config/settings.py").read_text(encoding="utf-8")
    for sentence in OURS:
        named = re.findall(r"Change, ([^)]+)\)", sentence)
        assert named or " page" in sentence or "of the service" in sentence, sentence
        assert set(named) <= fields, sentence
        assert set(re.findall(r"\(--[a-z-]+", sentence)) <= {f"({one}" for one in options}, sentence
    for sentence in remedies():
        for name in re.findall(r"\b(?:TASK|ALLOWED|LOCKWRIGHT)_[A-Z_]+", sentence):
            assert f'"{name}' in environment, sentence


def test_the_pages_have_what_the_remedies_name(as_user: AsUser, people: People, system: System) -> None:
    source = make_source(system, people.owner)
    source.other = {"server": "B", "version": "", "engines": 1, "says": "x", "at": "then"}
    source.save()
    olga = as_user(people.owner)
    form, page = text_of(olga, f"/sources/{source.pk}/change/"), text_of(olga, f"/sources/{source.pk}/")
    for label in ("Questions left out", "Seconds for one question", "Seconds between the two snapshots"):
        assert label in form
    assert "Take it on" in page
    assert "Change" in page
    assert "Data sources" in text_of(olga, f"/systems/{system.pk}/")


def test_more_time_for_a_question_is_kept_and_told_to_the_collector(
    as_user: AsUser, people: People, system: System
) -> None:
    source = make_source(system, people.owner, host="127.0.0.1", question_seconds=90)
    assert data_sources.options(source)["question_seconds"] == "90"
    kept = {"name": "harbour", "host": "127.0.0.1", "port": 5000, "user": "reader", "seconds": 60}
    olga = as_user(people.owner)
    answer = olga.post(f"/sources/{source.pk}/change/", {**kept, "question_seconds": 29})
    assert answer.status_code == 400
    answer = olga.post(f"/sources/{source.pk}/change/", {**kept, "question_seconds": 240})
    assert answer.status_code == 302
    source.refresh_from_db()
    assert source.question_seconds == 240
    assert "at least 240 seconds" in text_of(olga, f"/sources/{source.pk}/")
