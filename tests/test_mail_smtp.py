"""Giving mail to real servers on the loopback: encryption by port, and the name of the step that fails (H01)."""

from __future__ import annotations

import logging
import socket
from collections.abc import Callable
from dataclasses import replace
from email.message import EmailMessage
from pathlib import Path
from typing import Any

import pytest

from broadsheet.errors import DeliveryError, SettingsError
from broadsheet.mail import smtp
from broadsheet.mail.smtp import Security, Server, check, send, server_of
from broadsheet.mail_address import mailbox
from broadsheet.settings import load_settings
from tests.mailserver import PASSWORD, USER, Certificates, mail_server, scripted_server, silent_server

pytestmark = pytest.mark.filterwarnings("ignore:Requiring AUTH while not requiring TLS")
TO = mailbox("reader@example.org", "to")
SENDER = mailbox("论文日报 <paper@example.org>", "from")


@pytest.fixture(scope="module")
def certificates(tmp_path_factory: pytest.TempPathFactory) -> Certificates:
    return Certificates(tmp_path_factory.mktemp("certificates"))


def message() -> EmailMessage:
    made = EmailMessage()
    made["From"], made["To"], made["Subject"] = SENDER, TO, "Today"
    made.set_content(".A line that begins with a dot\nand 中文\n")
    return made


def at(port: int, security: Security, certificates: Certificates, **more: Any) -> Server:
    given = {"host": "localhost", "sender": SENDER, "port": port, "security": security, "timeout": 5.0}
    return Server(**{**given, "ca_file": certificates.ca_file, **more})


def failure(act: Callable[[], object], step: str) -> DeliveryError:
    with pytest.raises(DeliveryError) as caught:
        act()
    assert caught.value.step == step
    assert f"failed at {step}: " in str(caught.value)
    return caught.value


@pytest.mark.parametrize("login", [False, True])
@pytest.mark.parametrize(
    ("kind", "security"),
    [
        ("ssl", Security.SSL),
        ("starttls", Security.STARTTLS),
        ("starttls", Security.AUTO),
        ("plain", Security.PLAIN),
    ],
)
def test_a_message_arrives(kind: str, security: Security, login: bool, certificates: Certificates) -> None:
    with mail_server(kind, certificates, auth=login) as (port, inbox):
        server = at(port, security, certificates, **({"user": USER, "password": PASSWORD} if login else {}))
        told = check(server, TO)
        assert inbox.envelopes == []
        assert "DATA" not in inbox.said
        send(server, TO, message())
    assert ("with encryption" in told) is (kind != "plain")
    assert told.endswith("takes mail from paper@example.org for reader@example.org")
    (envelope,) = inbox.envelopes
    assert (envelope.mail_from, envelope.rcpt_tos) == ("paper@example.org", ["reader@example.org"])
    assert inbox.messages[0].get_content().splitlines() == [".A line that begins with a dot", "and 中文"]
    assert {said for said in inbox.said if said.startswith("EHLO")} == {"EHLO [127.0.0.1]"}


def test_auto_goes_on_unencrypted_only_where_there_is_no_password(certificates: Certificates) -> None:
    with mail_server("plain", certificates) as (port, inbox):
        send(at(port, Security.AUTO, certificates), TO, message())
        assert len(inbox.envelopes) == 1
        refused = failure(
            lambda: send(at(port, Security.AUTO, certificates, user=USER, password=PASSWORD), TO, message()), "TLS"
        )
        assert "the password is not sent without" in str(refused)
        assert len(inbox.envelopes) == 1


def test_starttls_is_never_given_up(certificates: Certificates) -> None:
    with mail_server("plain", certificates) as (port, inbox):
        failure(lambda: send(at(port, Security.STARTTLS, certificates), TO, message()), "TLS")
    assert inbox.envelopes == []


@pytest.mark.parametrize(
    ("port", "security", "usual", "encrypted_at_once"),
    [
        (0, Security.AUTO, 465, True),
        (465, Security.AUTO, 465, True),
        (587, Security.AUTO, 587, False),
        (25, Security.AUTO, 25, False),
        (0, Security.SSL, 465, True),
        (2465, Security.SSL, 2465, True),
        (0, Security.STARTTLS, 587, False),
        (465, Security.STARTTLS, 465, False),
        (0, Security.PLAIN, 25, False),
    ],
)
def test_security_by_port(port: int, security: Security, usual: int, encrypted_at_once: bool) -> None:
    server = Server("mail.example.org", SENDER, port, security)
    assert (server.usual_port, server.starts_encrypted) == (usual, encrypted_at_once)
    assert str(server) == f"mail.example.org:{usual}"


@pytest.mark.parametrize("kind", ["ssl", "starttls"])
def test_a_certificate_that_nobody_trusts(kind: str, certificates: Certificates) -> None:
    with mail_server(kind, certificates) as (port, inbox):
        untrusting = at(port, Security(kind), certificates, ca_file="")
        assert "not trusted" in str(failure(lambda: send(untrusting, TO, message()), "TLS"))
    assert inbox.envelopes == []


def test_a_certificate_of_another_host(certificates: Certificates, monkeypatch: pytest.MonkeyPatch) -> None:
    real = socket.getaddrinfo

    def resolved(host: str, *rest: Any, **more: Any) -> Any:
        return real("127.0.0.1" if host == "mail.example.org" else host, *rest, **more)

    monkeypatch.setattr(socket, "getaddrinfo", resolved)
    with mail_server("ssl", certificates) as (port, _):
        other = at(port, Security.SSL, certificates, host="mail.example.org")
        assert "smtp_ca_file" in str(failure(lambda: check(other, TO), "TLS"))


def test_tls_where_the_port_begins_without(certificates: Certificates) -> None:
    with mail_server("plain", certificates) as (port, _):
        error = failure(lambda: check(at(port, Security.SSL, certificates), TO), "TLS")
    assert "set smtp_security to starttls or plain" in str(error)


def test_no_tls_where_the_port_begins_with_it(certificates: Certificates) -> None:
    with mail_server("ssl", certificates) as (port, _):
        error = failure(lambda: check(at(port, Security.STARTTLS, certificates, timeout=0.5), TO), "connect")
    assert "set smtp_security to ssl" in str(error)
    assert error.passing


@pytest.mark.parametrize("kind", ["ssl", "starttls", "plain"])
def test_a_wrong_password(kind: str, certificates: Certificates, caplog: pytest.LogCaptureFixture) -> None:
    with mail_server(kind, certificates, auth=True) as (port, inbox), caplog.at_level(logging.DEBUG):
        server = at(port, Security(kind), certificates, user=USER, password="of-the-web-site")
        error = failure(lambda: check(server, TO), "login")
    assert "535" in str(error)
    assert "made for programs" in str(error)
    assert not error.passing
    assert "of-the-web-site" not in str(error) + repr(error) + repr(server) + caplog.text
    assert "MAIL" not in inbox.said


def test_a_server_that_repeats_the_password_is_not_quoted(certificates: Certificates) -> None:
    answers: dict[bytes, bytes | None] = {
        b"EHLO": b"250-hello\r\n250 AUTH PLAIN\r\n",
        b"AUTH": b"535 no such password: s3cret\x1b[31m\r\n",
    }
    with scripted_server(answers) as port:
        server = at(port, Security.PLAIN, certificates, user=USER, password="s3cret")
        error = failure(lambda: check(server, TO), "login")
    assert "s3cret" not in str(error)
    assert "no such password: ***" in str(error)
    assert str(error).isprintable()


@pytest.mark.parametrize(("user", "password"), [("me", "пароль"), ("имя", "x")])
def test_letters_that_no_login_can_carry(user: str, password: str, certificates: Certificates) -> None:
    with mail_server("ssl", certificates, auth=True) as (port, _):
        server = at(port, Security.SSL, certificates, user=user, password=password)
        error = failure(lambda: check(server, TO), "login")
    assert password not in str(error)
    assert error.__cause__ is None
    assert error.__suppress_context__


def test_a_server_without_logins(certificates: Certificates) -> None:
    with mail_server("ssl", certificates) as (port, _):
        server = at(port, Security.SSL, certificates, user=USER, password=PASSWORD)
        assert "AUTH" in str(failure(lambda: check(server, TO), "login"))


@pytest.mark.parametrize("passing", [True, False])
@pytest.mark.parametrize("step", ["sender", "recipient", "message"])
def test_what_the_server_refuses(step: str, passing: bool, certificates: Certificates) -> None:
    answer = "451 4.3.0 later, please" if passing else "550 5.1.1 not here"
    with mail_server("starttls", certificates, refusals={step: answer}) as (port, inbox):
        server = at(port, Security.STARTTLS, certificates)
        error = failure(lambda: send(server, TO, message()), step)
        if step != "message":
            failure(lambda: check(server, TO), step)
    assert answer in str(error)
    assert error.passing is passing
    assert inbox.envelopes == []


@pytest.mark.parametrize(
    ("word", "step"),
    [
        (b"EHLO", "connect"),
        (b"STARTTLS", "TLS"),
        (b"AUTH", "login"),
        (b"MAIL", "sender"),
        (b"RCPT", "recipient"),
        (b"DATA", "message"),
    ],
)
def test_a_server_that_hangs_up(word: bytes, step: str, certificates: Certificates) -> None:
    answers: dict[bytes, bytes | None] = {b"EHLO": b"250-hello\r\n250-STARTTLS\r\n250 AUTH PLAIN\r\n", word: None}
    security = Security.STARTTLS if step == "TLS" else Security.PLAIN
    with scripted_server(answers) as port:
        server = at(port, security, certificates, user=USER, password=PASSWORD)
        error = failure(lambda: send(server, TO, message()), step)
    assert "hung up" in str(error)
    assert error.passing


def test_a_server_that_hangs_up_within_the_message(certificates: Certificates) -> None:
    answers: dict[bytes, bytes | None] = {b"DATA": b"354 go on\r\n", b".": None, b"": None, b"FROM:": None}
    with scripted_server(answers) as port:
        failure(lambda: send(at(port, Security.PLAIN, certificates), TO, message()), "message")


@pytest.mark.parametrize("greeting", [None, b"554 no service here\r\n", b"421 too busy\r\n"])
def test_a_server_that_does_not_greet(greeting: bytes | None, certificates: Certificates) -> None:
    with scripted_server({}, greeting) as port:
        error = failure(lambda: check(at(port, Security.PLAIN, certificates), TO), "connect")
    assert error.passing is (greeting is None or greeting.startswith(b"4"))


def test_a_server_that_says_nothing(certificates: Certificates) -> None:
    with silent_server() as port:
        error = failure(lambda: check(at(port, Security.PLAIN, certificates, timeout=0.3), TO), "connect")
    assert "no answer within 0.3 s" in str(error)


def test_no_server_at_all(certificates: Certificates) -> None:
    with socket.socket() as held:
        held.bind(("127.0.0.1", 0))  # without listening: refused, and nobody else takes the port meanwhile
        port = held.getsockname()[1]
        error = failure(lambda: check(at(port, Security.PLAIN, certificates), TO), "connect")
    assert "check smtp_host and smtp_port" in str(error)
    assert error.passing


def test_a_name_that_nobody_has(certificates: Certificates, monkeypatch: pytest.MonkeyPatch) -> None:
    def unknown(*_: Any, **__: Any) -> Any:
        raise socket.gaierror(socket.EAI_NONAME, "Name or service not known")

    monkeypatch.setattr(socket, "getaddrinfo", unknown)
    error = failure(lambda: check(at(25, Security.PLAIN, certificates, host="mail.invalid"), TO), "connect")
    assert "Name or service not known" in str(error)


@pytest.mark.parametrize("host", ["mail..example.org", ".example.org", f"{'a' * 64}.example.org"])
@pytest.mark.parametrize("security", [Security.PLAIN, Security.SSL])
def test_a_name_that_cannot_be_one(host: str, security: Security, certificates: Certificates) -> None:
    error = failure(lambda: check(at(25, security, certificates, host=host), TO), "connect")
    assert "check smtp_host" in str(error)
    assert not error.passing


@pytest.mark.parametrize("content", [None, "no certificate"])
def test_a_file_of_certificates_that_cannot_be_read(content: str | None, tmp_path: Path) -> None:
    file = tmp_path / "ca.pem"
    if content:
        file.write_text(content)
    with pytest.raises(SettingsError, match="smtp_ca_file"):
        check(Server("localhost", SENDER, ca_file=str(file)), TO)


def test_every_step_has_a_remedy() -> None:
    assert set(smtp._REMEDIES) == {"connect", "TLS", "login", "sender", "recipient", "message"}


WHOLE = {
    "smtp_host": "mail.example.org",
    "mail_from": "论文日报 <paper@example.org>",
    "smtp_user": "me",
    "smtp_password": "s3cret",
}


@pytest.mark.parametrize(
    ("changed", "message"),
    [
        ({"smtp_host": ""}, "smtp_host is not set"),
        ({"mail_from": ""}, "mail_from is not set"),
        ({"smtp_host": "mail.example.org/x"}, "smtp_host"),
        ({"smtp_host": "mail.example.org\r\nRCPT"}, "smtp_host"),
        ({"smtp_security": "tls"}, "none of auto, ssl, starttls, plain"),
        ({"smtp_user": ""}, "smtp_user is not"),
        ({"mail_from": "nobody"}, "mail_from: 'nobody' is no mail address"),
        ({"mail_from": "a@example.org\r\nBcc: b@example.org"}, "mail_from"),
    ],
)
def test_settings_that_cannot_be_used(changed: dict[str, str], message: str, tmp_path: Path) -> None:
    settings = replace(load_settings(tmp_path, {}), **{**WHOLE, **changed})
    with pytest.raises(SettingsError, match=message) as error:
        server_of(settings)
    assert "s3cret" not in str(error.value)


def test_settings_that_can(tmp_path: Path) -> None:
    server = server_of(replace(load_settings(tmp_path, {}), **WHOLE))
    assert (server.sender.display_name, server.sender.addr_spec) == ("论文日报", "paper@example.org")
    assert (server.usual_port, server.security) == (465, Security.AUTO)
    assert "s3cret" not in repr(server)
