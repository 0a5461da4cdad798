"""The test mail that fails: refused, unanswered or without TLS, the page says why and what to do."""

import socket
import ssl
import threading
from collections.abc import Iterator
from datetime import timedelta
from pathlib import Path

import pytest
from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.x509.oid import NameOID
from django.test import Client
from django.utils import timezone

from advisor.core.models import JournalEntry
from advisor.notifications import backends
from tests.advisor.notifications.mail import mail_servers
from tests.advisor.notifications.mail.mail_servers import SECRET, Postbox, Serve, free_port, login_wanted, tried

client, serve = mail_servers.client, mail_servers.serve


@pytest.fixture
def silence() -> Iterator[int]:
    """The port of a server that takes connections and never says a word."""
    with socket.create_server(("127.0.0.1", 0)) as server:
        yield server.getsockname()[1]


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
    assert backends.TIMEOUT == 10
    monkeypatch.setattr(backends, "TIMEOUT", 0.3)
    said = tried(client, port=silence, mail_security=security)
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
