"""Data sources: made, changed, removed, handed to a collector. Everything is noted, no secret ever is."""

from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from datetime import timedelta
from urllib.parse import quote

from django.db.models import QuerySet
from django.http import HttpRequest
from django.views.decorators.debug import sensitive_variables

from advisor.accounts.models import Team, User
from advisor.core import journal
from advisor.core.records import Records, Refused
from advisor.schedules.models import DataSource, SourceTry
from advisor.schedules.sources import host_policy, keys, strings
from advisor.systems.models import System
from advisor.systems.services import aliases
from advisor.uploads.services.uploads import clean_text
from collectors.live import ase, rdb
from collectors.live.registry import CollectorFailed

PRODUCTS = ("ase", "rdb")
LONGEST = 80
LONGEST_PASSWORD = 200
LONGEST_WITHOUT = 500
QUESTION_SECONDS = (30, 600)
"""Each question has 30 anyway; all of them together have what TASK_SECONDS leaves."""
SECONDS = (5, 600)
"""Between two snapshots, and of one sp_sysmon (this project's bounds: shorter shows chance, longer holds up others)."""


@dataclass(frozen=True)
class SourceSpec:
    """What a data source is to be, as typed: reached by `host`, `port` and `user`, or by `odbc`."""

    name: str
    host: str = ""
    port: int | None = None
    user: str = ""
    odbc: str = ""
    password: str = field(default="", repr=False)
    """Empty: the stored one stays."""
    remove_password: bool = False
    seconds: int = 60
    sysmon: str = ""
    without: str = ""
    question_seconds: int | None = None


@dataclass(frozen=True)
class Reached:
    """How a source is reached just now, with its secret. Not for any text."""

    connection: str = field(repr=False)
    password: str = field(repr=False)


class DataSources(Records[DataSource]):
    """Data sources as they are kept."""

    model, kind, related = DataSource, "data source", ("system__team",)
    taken = "Meanwhile somebody gave this name to another data source. Load this page again."

    def told(self, deed: str, row: DataSource) -> str:
        """What it is and where it leads."""
        return told(row)

    def words(self, row: DataSource) -> dict[str, str]:
        """What of it is told with the value before and after: no user, no connection string."""
        return {
            "name": row.name,
            "address": place(row),
            "seconds": str(row.seconds),
            "sp_sysmon": row.sysmon or "none",
            "questions left out": row.without or "none",
            "seconds for one question": str(row.question_seconds or "none of its own"),
        }

    def told_change(self, row: DataSource, before: Mapping[str, str], said: list[str]) -> str:
        """What it is now, and what it was."""
        return f"{told(row)} (changed: {', '.join(said) or 'nothing'})"


SOURCES = DataSources()


@sensitive_variables("wish")
def make(system: System, wish: SourceSpec, by: User, request: HttpRequest | None = None) -> DataSource:
    """Add a source to a system. Raises `Refused`."""
    source = DataSource(system=system, by=by)
    with SOURCES.adding(source, by, request):
        _take(source, wish)
        source.save()
    return source


@sensitive_variables("wish")
def change(source: DataSource, wish: SourceSpec, by: User, request: HttpRequest | None = None) -> list[str]:
    """Change a source; gives what is other than before, in words. Raises `Refused`, `DataSource.DoesNotExist`."""
    with SOURCES.changing(source, by, request) as change:
        stored = change.row
        led, reached = place(stored), (belongs_to(stored), stored.password_sealed)
        way, user = (stored.host, stored.port, stored.odbc), stored.user
        _take(stored, wish)
        stored.save()
        if (belongs_to(stored), stored.password_sealed) != reached:  # what was found is true no more
            stored.tries.filter(state__in=(SourceTry.State.DONE, SourceTry.State.FAILED)).update(
                state=SourceTry.State.DONE, found={}, error=""
            )
        other_way = (stored.host, stored.port, stored.odbc) != way
        change.said += ["connection string"] if other_way and place(stored) == led else []
        change.said += ["user"] if stored.user != user else []
        change.said += _of_password(wish)
    return change.said


def remove(source: DataSource, by: User, request: HttpRequest | None = None) -> None:
    """Remove a source with its password and its tries; what it brought stays. One that has gone already is fine."""
    with suppress(DataSource.DoesNotExist):
        SOURCES.remove(source, by, request)


def system_for(team: Team, product: str, name: str, by: User, request: HttpRequest | None = None) -> System:
    """The system of this name, or which had it; made where there is none. Raises `Refused`."""
    name = clean_text(name, 120)
    if product not in PRODUCTS:
        raise Refused("Choose SAP ASE or Oracle Rdb.", "product")
    if not name:
        raise Refused("Say which system it is of: choose one, or write the name of a new one.", "system")
    if known := aliases.find(team, product, name):
        return known
    made, new = System.objects.get_or_create(
        team=team, product=product, key=aliases.key_of(name), defaults={"name": name}
    )
    if new:
        journal.note(by, "system added", made.name, about=made, request=request)
    return made


def follow(system: System, other: System) -> None:
    """Hand the sources of a system to the one it is merged into; of two with one name, that one says whose it was."""
    taken = {name.lower() for name in other.sources.values_list("name", flat=True)}
    for source in system.sources.all():
        name, number = source.name, 2
        while name.lower() in taken:
            name, number = f"{source.name[: LONGEST - 6]} ({number})", number + 1
        taken.add(name.lower())
        DataSource.objects.filter(pk=source.pk).update(system=other, name=name)


def belongs_to(source: DataSource) -> str:
    """The address and user that its password is good for."""
    return source.odbc or f"{source.user}@{source.host.lower()}:{source.port}"


def place(source: DataSource) -> str:
    """Where it leads, for people who may work for it: no user."""
    if not source.odbc:
        return f"{source.host}, port {source.port}"
    named = [*strings.hosts(source.odbc), *([f"port {port}"] if (port := strings.of(source.odbc, "port")) else [])]
    dsn, driver = strings.of(source.odbc, "dsn"), strings.of(source.odbc, "driver")
    return ", ".join([*named, f"DSN {dsn}" if dsn else f"driver {driver}"])


def login(source: DataSource) -> str:
    """The login it is asked by; empty: a DSN says it."""
    return source.user or strings.of(source.odbc, *strings.USERS)


def told(source: DataSource) -> str:
    """What it is, in a line for the journal."""
    return f"{source.name} of {source.system.name}: {place(source)}"


@sensitive_variables()
def reach(source: DataSource) -> Reached:
    """How it is asked now: looked up, checked, unsealed. Raises `reaching.NotAsked`, `keys.NoKey`.

    Where we say the host to the driver, we say the address that was checked: a name server that answers otherwise the
    second time gains nothing.
    """
    if source.odbc:
        if dsn := strings.of(source.odbc, "dsn"):
            host_policy.check_dsn(dsn)
        connection = strings.pinned(source.odbc, host_policy.resolved)
    else:
        address = host_policy.resolved(source.host)
        host = f"[{address}]" if ":" in address else address
        connection = f"ase://{quote(source.user, safe='')}@{host}:{source.port}/"
    password = keys.unseal(source.password_sealed, belongs_to(source)) if source.password_sealed else ""
    return Reached(connection, password)


def options(source: DataSource) -> dict[str, str]:
    """What a collector is told of a source. Raises `reaching.NotAsked`, `keys.NoKey`."""
    reached = reach(source)
    asked = {"seconds": str(source.seconds), "sysmon": source.sysmon, "without": source.without}
    asked["question_seconds"] = str(source.question_seconds or "")
    return {"connection": reached.connection, "password": reached.password, **asked}


def unopened(sources: QuerySet[DataSource]) -> "tuple[int, keys.NoKey | None]":
    """How many passwords of these no key of this machine opens, and what is wrong with the keys, if anything is.

    Two cheap queries at most: each password carries the mark of its key.
    """
    with_password = sources.exclude(password_sealed="")
    marks = set(with_password.order_by().values_list("key_mark", flat=True).distinct())
    if not marks:
        return 0, None
    try:
        known = set(keys.ring().marks)
    except keys.NoKey as error:
        return with_password.count(), error
    return (with_password.exclude(key_mark__in=known).count() if marks - known else 0), None


def _take(source: DataSource, wish: SourceSpec) -> None:
    """Give a source what is wished, checked. Raises `Refused`."""
    name = clean_text(wish.name, LONGEST)
    if not name:
        raise Refused("A data source needs a name: it is what reports call it.", "name")
    same = DataSource.objects.filter(system=source.system, name__iexact=name)
    if same.exclude(pk=source.pk).exists():
        raise Refused("The system has a data source of this name: choose another one.", "name")
    before = belongs_to(source)
    source.name = name
    _take_address(source, wish)
    if not SECONDS[0] <= wish.seconds <= SECONDS[1]:
        raise Refused(f"Between two snapshots lie {SECONDS[0]} to {SECONDS[1]} seconds.", "seconds")
    source.seconds, source.sysmon = wish.seconds, _checked_sysmon(wish.sysmon)
    source.without = _checked_without(source.system.product, wish.without)
    if wish.question_seconds is not None and not QUESTION_SECONDS[0] <= wish.question_seconds <= QUESTION_SECONDS[1]:
        raise Refused(f"A question has {QUESTION_SECONDS[0]} to {QUESTION_SECONDS[1]} seconds.", "question_seconds")
    source.question_seconds = wish.question_seconds
    if belongs_to(source) != before:
        source.other, source.silent, source.warnings = (
            {},
            None,
            [],
        )  # it is looked at anew who answers there; who is meant stays
    _take_password(source, wish, moved=belongs_to(source) != before)


def _take_address(source: DataSource, wish: SourceSpec) -> None:
    host, odbc = wish.host.strip(), wish.odbc.strip()
    if bool(host) == bool(odbc):
        raise Refused("Say how it is reached: by host, port and user, or by an ODBC connection string.", "host")
    try:
        if odbc:
            source.host, source.port, source.user, source.odbc = "", None, "", strings.checked(odbc)
            if source.system.product != "ase" and strings.freetds(source.odbc):
                raise Refused("FreeTDS speaks to SAP ASE: name the driver of Oracle Rdb.", "odbc")
            for one in strings.hosts(source.odbc):
                host_policy.check(one)
            if dsn := strings.of(source.odbc, "dsn"):
                host_policy.check_dsn(dsn)
            return
        if source.system.product != "ase":
            raise Refused("Oracle Rdb is reached by an ODBC connection string alone.", "host")
        if not (strings.HOST.fullmatch(host) or host_policy.literal(host)):
            raise Refused("Write a host name (letters, digits, dots, hyphens) or an IP address.", "host")
        if wish.port is None or not 1 <= wish.port <= 65535:
            raise Refused("Write the port the server listens on, 1 to 65535.", "port")
        if not wish.user.strip() or not wish.user.isprintable():
            raise Refused("Write the login it is asked by.", "user")
        if strings.ENDS & set(wish.user):
            raise Refused("A login with a brace or a semicolon cannot be passed to the driver.", "user")
        host_policy.check(host)
    except strings.BadString as why:
        raise Refused(str(why), "odbc") from None
    except host_policy.NotAsked as why:
        raise Refused(f"{why.says[:1].upper()}{why.says[1:]}: {why.do}.", "odbc" if odbc else "host") from None
    source.host, source.port, source.user, source.odbc = host.strip("[]"), wish.port, wish.user.strip(), ""


@sensitive_variables("wish")
def _take_password(source: DataSource, wish: SourceSpec, *, moved: bool) -> None:
    if len(wish.password) > LONGEST_PASSWORD or not (wish.password.isprintable() or not wish.password):
        raise Refused(f"A password has at most {LONGEST_PASSWORD} signs, none of which controls.", "password")
    if "};" in wish.password:  # FreeTDS, and who knows which driver of Rdb, takes what follows for keywords
        raise Refused(
            "A password with }; in it cannot be passed to every driver: give the login another one.", "password"
        )
    if wish.password:
        try:
            sealed = keys.seal(wish.password, belongs_to(source))
        except keys.NoKey as why:
            raise Refused(f"The password cannot be kept: {why.says}. Have an operator {why.do}.", "password") from None
        source.password_sealed, source.key_mark = sealed.text, sealed.mark
    elif wish.remove_password:
        source.password_sealed = source.key_mark = ""
    elif moved and source.password_sealed:
        says = "The address or the user is another one: type its password, or remove the stored one. It is not sent "
        raise Refused(f"{says}where it was not typed for.", "password")


def _checked_sysmon(text: str) -> str:
    text = text.strip()
    if not text:
        return ""
    parts = text.split(":")
    if len(parts) != 3 or any(not (one.isascii() and one.isdigit() and len(one) == 2) for one in parts):
        raise Refused("Write how long sp_sysmon shall sample as HH:MM:SS, or nothing.", "sysmon")
    hours, minutes, seconds = map(int, parts)
    length = timedelta(hours=hours, minutes=minutes, seconds=seconds).total_seconds()
    if minutes > 59 or seconds > 59 or not SECONDS[0] <= length <= SECONDS[1]:
        raise Refused("sp_sysmon samples from 00:00:05 to 00:10:00.", "sysmon")
    return text


def _checked_without(product: str, text: str) -> str:
    """Names of questions with commas between. Raises `Refused`."""
    names = list(dict.fromkeys(name.strip() for name in text.split(",") if name.strip()))
    try:
        if product == "ase":
            ase.order_of(without=names)
        else:
            rdb.order_of(names)
    except CollectorFailed as why:
        raise Refused(f"{why.says[:1].upper()}{why.says[1:]}: {why.do}.", "without") from None
    if len(text := ", ".join(names)) > LONGEST_WITHOUT:
        raise Refused("So many questions cannot be left out: nothing would be left.", "without")
    return text


def _of_password(wish: SourceSpec) -> list[str]:
    if wish.password:
        return ["password set"]
    return ["password removed"] if wish.remove_password else []
