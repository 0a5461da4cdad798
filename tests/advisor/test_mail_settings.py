"""The mail settings: sealed, checked, and tried out against real SMTP servers on the loopback."""

import email
import re
import socket
import ssl
import threading
import time
from collections.abc import Callable, Iterator
from datetime import timedelta
from email.message import EmailMessage
from email.policy import default
from html import unescape
from pathlib import Path
from typing import Any

import pytest
from aiosmtpd.controller import Controller
from aiosmtpd.smtp import AuthResult, Envelope, LoginPassword
from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.x509.oid import NameOID
from django.http import HttpResponse
from django.test import Client
from django.urls import reverse
from django.utils import timezone
from pytest_django import Settings

from advisor.mail import kit
from advisor.mail.sealing import Unsealable, seal, unseal
from advisor.models import JournalEntry, Site, User
from advisor.web.administration import mail
from tests.advisor.people import People

AsUser = Callable[[User], Client]
Serve = Callable[..., int]
SECRET = "a password % of the mail server"


class Postbox:
    """Takes mail, or refuses what it is told to refuse."""

    def __init__(self, **refuse: str) -> None:
        self.refuse = refuse
        self.mails: list[Envelope] = []

    async def handle_MAIL(self, server: Any, session: Any, envelope: Any, address: str, options: Any) -> str:
        if said := self.refuse.get("sender"):
            return said
        envelope.mail_from = address
        return "250 OK"

    async def handle_RCPT(self, server: Any, session: Any, envelope: Any, address: str, options: Any) -> str:
        if said := self.refuse.get("recipient"):
            return said
        envelope.rcpt_tos.append(address)
        return "250 OK"

    async def handle_DATA(self, server: Any, session: Any, envelope: Envelope) -> str:
        if said := self.refuse.get("data"):
            return said
        self.mails.append(envelope)
        return "250 2.0.0 queued as 4711"


def free_port() -> int:
    with socket.socket() as one:
        one.bind(("127.0.0.1", 0))
        port: int = one.getsockname()[1]
    return port


@pytest.fixture
def serve() -> Iterator[Serve]:
    """Start a real SMTP server on a free port, and stop it when the test is done."""
    running: list[Controller] = []

    def start(box: Postbox, **options: Any) -> int:
        controller = Controller(box, hostname="127.0.0.1", port=free_port(), **options)
        controller.start()
        running.append(controller)
        port: int = controller.port
        return port

    yield start
    for controller in running:
        controller.stop()


@pytest.fixture
def silence() -> Iterator[int]:
    """The port of a server that takes connections and never says a word."""
    with socket.create_server(("127.0.0.1", 0)) as server:
        yield server.getsockname()[1]


@pytest.fixture
def client(people: People, as_user: AsUser) -> Client:
    """The administrator's browser."""
    return as_user(people.administrator)


@pytest.fixture
def tls(tmp_path: Path) -> tuple[ssl.SSLContext, Path]:
    """A server's side of TLS for `localhost` with a certificate of its own, and that certificate."""
    key = ec.generate_private_key(ec.SECP256R1())
    name = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, "localhost")])
    made = (
        x509.CertificateBuilder()
        .subject_name(name)
        .issuer_name(name)
        .public_key(key.public_key())
        .serial_number(x509.random_serial_number())
        .not_valid_before(timezone.now() - timedelta(days=1))
        .not_valid_after(timezone.now() + timedelta(days=1))
        .add_extension(x509.SubjectAlternativeName([x509.DNSName("localhost")]), critical=False)
        .add_extension(x509.BasicConstraints(ca=True, path_length=None), critical=True)
        .sign(key, hashes.SHA256())
    )
    certificate, secret = tmp_path / "certificate.pem", tmp_path / "key.pem"
    certificate.write_bytes(made.public_bytes(serialization.Encoding.PEM))
    secret.write_bytes(
        key.private_bytes(serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8, serialization.NoEncryption())
    )
    context = ssl.create_default_context(ssl.Purpose.CLIENT_AUTH)
    context.load_cert_chain(certificate, secret)
    return context, certificate


def typed(port: int = 25, **other: object) -> dict[str, object]:
    """What the form holds, with changes."""
    held: dict[str, object] = {
        "mail_host": "127.0.0.1",
        "mail_port": port,
        "mail_security": "none",
        "mail_user": "",
        "mail_from": "advisor@example.org",
    }
    return {**held, **other}


def send(client: Client, do: str, **held: Any) -> HttpResponse:
    answer = client.post(reverse("administration-mail"), {**typed(**held), "do": do})
    assert isinstance(answer, HttpResponse)
    return answer


def tried(client: Client, **held: Any) -> str:
    """What the page says of a test."""
    text = send(client, "test", **held).content.decode()
    found = re.search(r'<div class="message (success|error)".*?</div>', text, re.DOTALL)
    assert found, text
    return unescape(" ".join(re.sub(r"<[^>]+>", " ", found[0]).split()))


def read(envelope: Envelope) -> EmailMessage:
    content = envelope.content
    assert isinstance(content, bytes)
    return email.message_from_bytes(content, policy=default)


def test_a_secret_is_sealed_and_opens_for_its_purpose_and_key_alone(settings: Settings) -> None:
    sealed = seal(SECRET)
    assert SECRET not in sealed
    assert sealed != seal(SECRET)
    assert unseal(sealed) == SECRET
    with pytest.raises(Unsealable):
        unseal(sealed, "something else")
    with pytest.raises(Unsealable):
        unseal(sealed[:-4] + "AAA=")
    first = settings.SECRET_KEY
    settings.SECRET_KEY = "another key, also long enough for everything one may want of it"
    with pytest.raises(Unsealable):
        unseal(sealed)
    settings.SECRET_KEY_FALLBACKS = [first]
    assert unseal(sealed) == SECRET


def test_the_settings_are_stored_with_a_sealed_password_that_no_page_and_no_journal_shows(client: Client) -> None:
    assert send(client, "store", port=587, mail_security="starttls", mail_user="u", password=SECRET).status_code == 302
    site = Site.get()
    assert (site.mail_host, site.mail_port, site.mail_security, site.mail_user) == ("127.0.0.1", 587, "starttls", "u")
    assert SECRET not in site.mail_password_sealed
    assert unseal(site.mail_password_sealed) == SECRET
    text = client.get(reverse("administration-mail")).content.decode()
    assert "A password is stored." in text
    assert SECRET not in text
    assert site.mail_password_sealed not in text
    entry = JournalEntry.objects.get(action="mail settings changed")
    assert (entry.who, entry.address) == ("adam", "127.0.0.1")
    assert entry.what == (
        "Host 127.0.0.1, Port 587, Security starttls, User u, Sender address advisor@example.org, password set"
    )


def test_an_empty_password_keeps_the_stored_one_and_the_box_removes_it(client: Client) -> None:
    send(client, "store", mail_user="u", password=SECRET)
    send(client, "store", mail_user="v", port=587)
    assert unseal(Site.get().mail_password_sealed) == SECRET
    send(client, "store", mail_user="v", port=587, remove_password="on")
    assert Site.get().mail_password_sealed == ""
    said = list(JournalEntry.objects.filter(action="mail settings changed").values_list("what", flat=True))
    assert said[:2] == ["password removed", "Port 587, User v"]


def test_storing_mail_leaves_days_alone_that_were_stored_meanwhile(
    client: Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    Site.get()
    stale = Site.get()
    Site.objects.update(keep_bytes_days=7)
    monkeypatch.setattr(Site, "get", lambda: stale)
    send(client, "store")
    assert Site.objects.values_list("mail_host", "keep_bytes_days").get() == ("127.0.0.1", 7)


def test_a_stored_password_goes_to_no_server_it_was_not_typed_for(client: Client, serve: Serve) -> None:
    send(client, "store", mail_host="mail.example.org", mail_user="u", password=SECRET)
    seen: list[Any] = []
    port = serve(Postbox(), authenticator=lambda *args: seen.append(args[-1]), auth_require_tls=False)
    for do in ("test", "store"):
        answer = send(client, do, port=port, mail_user="u")
        assert "type its password" in answer.content.decode()
    assert not seen
    assert Site.get().mail_host == "mail.example.org"


@pytest.mark.parametrize(
    "host",
    [
        "two words",
        "a\r\nRCPT TO:<x@y>",
        "http://mail",
        "mail:25",
        "-mail.org",
        "a..b",
        "x" * 64,
        "mäil.org",
        "a,b",
        "a@b",
    ],
)
def test_a_host_that_is_none_is_refused(host: str, client: Client) -> None:
    assert "errorlist" in send(client, "store", mail_host=host).content.decode()
    assert Site.get().mail_host == ""


@pytest.mark.parametrize(
    ("host", "stored"),
    [("mail.example.org", "mail.example.org"), (" relay ", "relay"), ("10.0.0.1", "10.0.0.1"), ("[::1]", "::1")],
)
def test_a_host_name_or_an_address_is_taken(host: str, stored: str, client: Client) -> None:
    assert send(client, "store", mail_host=host).status_code == 302
    assert Site.get().mail_host == stored


@pytest.mark.parametrize(
    "wrong",
    [
        {"port": 0},
        {"port": 65536},
        {"port": "smtp"},
        {"mail_security": "ssl3"},
        {"mail_from": ""},
        {"mail_from": "nobody"},
        {"mail_from": "a@example.org\nBcc: b@example.org"},
        {"mail_user": "ü"},
        {"mail_user": "a\tb"},
        {"password": "pässword"},
        {"password": "a\r\nb"},
    ],
)
def test_what_no_mail_server_could_use_is_refused(wrong: dict[str, Any], client: Client) -> None:
    assert "errorlist" in send(client, "store", **wrong).content.decode()
    assert Site.get().mail_host == ""


def test_no_host_means_no_mail_and_may_be_stored(client: Client) -> None:
    send(client, "store")
    assert send(client, "store", mail_host="", mail_from="").status_code == 302
    assert Site.get().mail_host == ""


def test_the_test_sends_a_real_mail_of_text_and_html_and_stores_nothing(client: Client, serve: Serve) -> None:
    box = Postbox()
    said = tried(client, port=serve(box))
    assert said.startswith("The test mail is sent.")
    assert "adam@example.org: 250 2.0.0 queued as 4711" in said
    assert Site.get().mail_host == ""
    (envelope,) = box.mails
    assert (envelope.mail_from, envelope.rcpt_tos) == ("advisor@example.org", ["adam@example.org"])
    got = read(envelope)
    assert got["Subject"] == "Lockwright: test mail"
    assert got["From"] == "Lockwright <advisor@example.org>"
    assert got["Auto-Submitted"] == "auto-generated"
    assert got["Message-ID"]
    assert got.get_content_type() == "multipart/alternative"
    for kind in ("plain", "html"):
        part = got.get_body((kind,))
        assert part is not None
        body = part.get_content()
        assert "Mail from Lockwright reaches you." in body
        assert "adam asked for this test" in body
        assert "127.0.0.1, port" in body
        assert "http://127.0.0.1:8000" in body
    entry = JournalEntry.objects.get(action="test mail sent")
    assert entry.who == "adam"
    assert "250 2.0.0 queued as 4711" in entry.what


def test_the_test_goes_to_the_address_that_was_given(client: Client, serve: Serve) -> None:
    box = Postbox()
    assert "dba@example.net" in tried(client, port=serve(box), test_to="dba@example.net")
    assert box.mails[0].rcpt_tos == ["dba@example.net"]


@pytest.mark.parametrize("to", ["nobody", "a@b.org\r\nBcc: c@d.org", "a@b.org, c@d.org"])
def test_a_test_to_what_is_no_address_sends_nothing(to: str, client: Client, serve: Serve) -> None:
    box = Postbox()
    assert "errorlist" in send(client, "test", port=serve(box), test_to=to).content.decode()
    assert not box.mails


def test_a_test_needs_an_address_and_a_host(people: People, as_user: AsUser) -> None:
    User.objects.filter(pk=people.administrator.pk).update(email="")
    client = as_user(User.objects.get(pk=people.administrator.pk))
    text = send(client, "test", mail_host="").content.decode()
    assert "You have no e-mail address here" in text
    assert "A test needs a host." in text


def login_wanted(user: str, password: str) -> dict[str, Any]:
    def check(server: Any, session: Any, envelope: Any, mechanism: str, data: LoginPassword) -> AuthResult:
        right = (data.login.decode(), data.password.decode()) == (user, password)
        return AuthResult(success=right, handled=False)

    return {"authenticator": check, "auth_required": True, "auth_require_tls": False}


@pytest.mark.filterwarnings("ignore:Requiring AUTH while not requiring TLS")
def test_a_typed_password_logs_in_and_is_stored_after_the_test_without_typing_it_again(
    client: Client, serve: Serve
) -> None:
    box = Postbox()
    port = serve(box, **login_wanted("mailer", SECRET))
    answer = send(client, "test", port=port, mail_user="mailer", password=SECRET)
    text = answer.content.decode()
    assert len(box.mails) == 1
    assert SECRET not in unescape(text)
    assert "no-store" in answer["Cache-Control"]
    carried = re.search(r'name="carried" value="([^"]+)"', text)
    assert carried
    assert send(client, "store", port=port, mail_user="mailer", carried=carried[1]).status_code == 302
    assert unseal(Site.get().mail_password_sealed) == SECRET
    assert tried(client, port=port, mail_user="mailer").startswith("The test mail is sent.")
    assert len(box.mails) == 2


def test_a_carried_password_is_of_one_person_and_one_hour(
    client: Client, people: People, as_user: AsUser, monkeypatch: pytest.MonkeyPatch
) -> None:
    User.objects.filter(pk=people.mate.pk).update(role="administrator")
    tested = send(client, "test", port=free_port(), password=SECRET).content.decode()
    carried = re.findall(r'name="carried" value="([^"]+)"', tested)[0]
    send(as_user(people.mate), "store", carried=carried)
    send(client, "store", carried=seal(SECRET))
    send(client, "store", carried="nonsense")
    assert Site.get().mail_password_sealed == ""
    with monkeypatch.context() as later:
        later.setattr(mail, "CARRIED_SECONDS", -1)
        send(client, "store", carried=carried)
        assert Site.get().mail_password_sealed == ""
    send(client, "store", carried=carried)
    assert unseal(Site.get().mail_password_sealed) == SECRET


@pytest.mark.filterwarnings("ignore:Requiring AUTH while not requiring TLS")
def test_a_login_that_is_missing_or_wrong_is_said(client: Client, serve: Serve) -> None:
    port = serve(Postbox(), **login_wanted("mailer", SECRET))
    said = tried(client, port=port)
    assert "The server wants a login or TLS first: 530" in said
    assert "Fill in user and password" in said
    said = tried(client, port=port, mail_user="mailer", password="wrong")
    assert "The server refused the login of mailer: 535" in said
    assert "Check user name and password." in said
    assert not JournalEntry.objects.filter(action="test mail sent").exists()
    assert JournalEntry.objects.filter(action="test mail failed", who="adam").count() == 2


def test_a_server_without_a_login_is_said(client: Client, serve: Serve) -> None:
    said = tried(client, port=serve(Postbox()), mail_user="mailer", password=SECRET)
    assert "offers no login" in said
    assert "choose STARTTLS" in said


def test_a_refused_sender_recipient_or_mail_is_said_with_the_words_of_the_server(client: Client, serve: Serve) -> None:
    said = tried(client, port=serve(Postbox(sender="550 5.1.8 who are <b>you</b>")))
    assert "The server refused the sender advisor@example.org: 550 5.1.8 who are <b>you</b>" in said
    said = tried(client, port=serve(Postbox(recipient="550 5.1.1 no such user")))
    assert "The server refused the recipient. adam@example.org: 550 5.1.1 no such user" in said
    assert "Check the address." in said
    said = tried(client, port=serve(Postbox(data="554 5.7.1 looks like spam " + "x" * 400)))
    assert "The server refused the mail itself: 554 5.7.1 looks like spam" in said
    assert "x" * 300 not in said


def test_a_port_where_nobody_listens_is_said(client: Client) -> None:
    port = free_port()
    said = tried(client, port=port)
    assert f"127.0.0.1, port {port} refuses the connection" in said
    assert "Check the port" in said


def test_a_name_that_nobody_knows_is_said(client: Client) -> None:
    said = tried(client, mail_host="no-such-host.invalid")
    assert "Nobody knows a host of the name no-such-host.invalid" in said


@pytest.mark.parametrize("security", ["none", "starttls", "tls"])
def test_a_server_that_never_answers_is_waited_for_no_longer_than_the_time_out(
    security: str, silence: int, client: Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert kit.TIMEOUT == 10
    monkeypatch.setattr(kit, "TIMEOUT", 0.3)
    begun = time.monotonic()
    said = tried(client, port=silence, mail_security=security)
    assert time.monotonic() - begun < 5
    assert f"127.0.0.1, port {silence} did not answer within 0.3 s." in said


def test_a_server_that_hangs_up_is_said(client: Client) -> None:
    with socket.create_server(("127.0.0.1", 0)) as server:

        def hang_up() -> None:
            server.accept()[0].close()

        thread = threading.Thread(target=hang_up)
        thread.start()
        said = tried(client, port=server.getsockname()[1])
        thread.join()
    assert "ended the connection" in said or "broke the connection" in said


def test_a_server_that_greets_with_a_refusal_is_said(client: Client) -> None:
    with socket.create_server(("127.0.0.1", 0)) as server:

        def refuse() -> None:
            line = server.accept()[0]
            with line:
                line.sendall(b"554 no service for you\r\n")
                line.recv(100)

        thread = threading.Thread(target=refuse)
        thread.start()
        said = tried(client, port=server.getsockname()[1])
        thread.join()
    assert "took the connection and then refused to talk: 554 no service for you" in said


def test_tls_that_is_not_offered_is_said(client: Client, serve: Serve) -> None:
    port = serve(Postbox())
    said = tried(client, port=port, mail_security="starttls")
    assert "offers no STARTTLS" in said
    said = tried(client, port=port, mail_security="tls")
    assert "could not agree on TLS" in said
    assert "choose STARTTLS" in said


@pytest.mark.parametrize("security", ["starttls", "tls"])
def test_a_certificate_that_is_not_trusted_is_said_and_one_that_is_carries_mail(
    security: str, client: Client, serve: Serve, tls: tuple[ssl.SSLContext, Path], monkeypatch: pytest.MonkeyPatch
) -> None:
    context, certificate = tls
    box = Postbox()
    options = {"tls_context": context, "require_starttls": True} if security == "starttls" else {"ssl_context": context}
    port = serve(box, **options)
    said = tried(client, port=port, mail_security=security, mail_host="localhost")
    assert f"The certificate of localhost, port {port} is not trusted" in said
    monkeypatch.setenv("SSL_CERT_FILE", str(certificate))
    assert "4711" in tried(client, port=port, mail_security=security, mail_host="localhost")
    assert len(box.mails) == 1
    said = tried(client, port=port, mail_security=security, mail_host="127.0.0.1")
    assert "is not trusted" in said
    assert "Write the name that is in the certificate" in said


def test_a_password_sealed_with_a_lost_key_is_said_and_the_page_still_opens(
    client: Client, as_user: AsUser, people: People, settings: Settings
) -> None:
    send(client, "store", mail_user="u", password=SECRET)
    settings.SECRET_KEY = "another key, also long enough for everything one may want of it"
    client = as_user(people.administrator)
    assert client.get(reverse("administration-mail")).status_code == 200
    said = tried(client, mail_user="u")
    assert "the secret key of this site has changed" in said
    assert "Type the password again." in said


def test_a_stored_password_that_would_cross_the_network_in_plain_is_warned_of(client: Client) -> None:
    send(client, "store", mail_user="u", password=SECRET)
    assert "in plain" in client.get(reverse("administration-mail")).content.decode()
    send(client, "store", mail_user="u", mail_security="starttls")
    assert "in plain" not in client.get(reverse("administration-mail")).content.decode()
