"""Giving a message to a mail server, step by step, so that what fails is named.

The steps are connect, TLS, login, sender, recipient, message (RFC 5321, RFC 3207, RFC 4954). Certificates are always
checked, and no password is ever in an error or a log.
"""

from __future__ import annotations

import contextlib
import re
import smtplib
import ssl
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from email.headerregistry import Address
from email.message import EmailMessage
from enum import StrEnum

from broadsheet.errors import DeliveryError, InputError, SettingsError
from broadsheet.mail.wording import one_line
from broadsheet.mail_address import mailbox
from broadsheet.settings import Settings

SSL_PORT, SUBMISSION_PORT, PLAIN_PORT = 465, 587, 25
TIMEOUT = 30.0  # seconds for each answer of the server
_LONGEST_ANSWER = 200  # characters of a server's answer in a message
# What smtplib says of itself where a machine has no name; so no name server is asked, and no name is told.
_OWN_NAME = "[127.0.0.1]"


class Security(StrEnum):
    """How the connection is encrypted."""

    AUTO = "auto"
    SSL = "ssl"
    STARTTLS = "starttls"
    PLAIN = "plain"


@dataclass(frozen=True, slots=True)
class Server:
    """A mail server and how to reach it. ``port`` 0 is the usual one of ``security``; see the settings."""

    host: str
    sender: Address
    port: int = 0
    security: Security = Security.AUTO
    user: str = ""
    password: str = field(default="", repr=False)
    ca_file: str = ""
    timeout: float = TIMEOUT

    @property
    def usual_port(self) -> int:
        """The port that is connected to. RFC 8314 prefers TLS from the start, so that is what ``auto`` begins with."""
        usual = {Security.STARTTLS: SUBMISSION_PORT, Security.PLAIN: PLAIN_PORT}
        return self.port or usual.get(self.security, SSL_PORT)

    @property
    def starts_encrypted(self) -> bool:
        """Whether TLS comes before everything else."""
        return self.security is Security.SSL or (self.security is Security.AUTO and self.usual_port == SSL_PORT)

    def __str__(self) -> str:
        return f"{self.host}:{self.usual_port}"


def server_of(settings: Settings) -> Server:
    """The server that the settings name. Raises SettingsError for what is lacking or cannot be used."""
    if not settings.smtp_host:
        raise SettingsError("smtp_host is not set: name the mail server in the settings (see docs/delivery.md)")
    if not settings.mail_from:
        raise SettingsError('mail_from is not set: name the sender, such as "Daily paper <paper@example.org>"')
    if not re.fullmatch(r"[\w.:-]+", settings.smtp_host):
        raise SettingsError(f"smtp_host: {settings.smtp_host!r} must be the name of a server alone; see smtp_port")
    try:
        security = Security(settings.smtp_security)
    except ValueError:
        kinds = ", ".join(Security)
        raise SettingsError(f"smtp_security: {settings.smtp_security!r} is none of {kinds}") from None
    if settings.smtp_password and not settings.smtp_user:
        raise SettingsError("smtp_password is set but smtp_user is not: name the user, often the whole mail address")
    return Server(
        host=settings.smtp_host,
        sender=_sender(settings.mail_from),
        port=settings.smtp_port,
        security=security,
        user=settings.smtp_user,
        password=settings.smtp_password,
        ca_file=settings.smtp_ca_file,
    )


def _sender(text: str) -> Address:
    try:
        return mailbox(text, "mail_from")
    except InputError as error:
        raise SettingsError(str(error)) from None


def check(server: Server, to: Address) -> str:
    """Go through all steps but the message, so that what would fail is known before there is an edition to send.

    Returns a sentence that says how. Raises DeliveryError, which names the step, and SettingsError.
    """
    with _session(server) as session:
        how = session.opened()
        session.addressed(to)
        with session.step("recipient"):
            session.smtp.rset()
    return f"{server} {how} and takes mail from {server.sender.addr_spec} for {to.addr_spec}"


def send(server: Server, to: Address, message: EmailMessage) -> None:
    """Hand a message over. Raises DeliveryError, which names the step, and SettingsError."""
    with _session(server) as session:
        session.opened()
        session.addressed(to)
        with session.step("message"):
            # A dot at the start of a line is doubled, and single again at the server only where lines end in CR LF.
            code, answer = session.smtp.data(message.as_bytes(policy=message.policy.clone(linesep="\r\n")))
            if code != 250:
                raise smtplib.SMTPDataError(code, answer)


@contextmanager
def _session(server: Server) -> Iterator[_Session]:
    session = _Session(server)
    try:
        yield session
    finally:
        session.close()


class _Session:
    """One connection. Each step either succeeds or raises a DeliveryError that names it."""

    def __init__(self, server: Server) -> None:
        self._server = server
        self._context = _context(server)
        self.smtp: smtplib.SMTP

    def opened(self) -> str:
        """Connected, encrypted and logged in as far as asked for; says how it is encrypted."""
        self._connect()
        encrypted = self._encrypt()
        if self._server.user:
            self._login()
        name = f"as {self._server.user}" if self._server.user else "without logging in"
        return f"answers {'with' if encrypted else 'without'} encryption {name}"

    def addressed(self, to: Address) -> None:
        """The envelope: from whom, for whom."""
        with self.step("sender"):
            code, answer = self.smtp.mail(self._server.sender.addr_spec)
            if code != 250:
                raise smtplib.SMTPSenderRefused(code, answer, self._server.sender.addr_spec)
        with self.step("recipient"):
            code, answer = self.smtp.rcpt(to.addr_spec)
            if code not in (250, 251):
                raise smtplib.SMTPResponseException(code, answer)

    def close(self) -> None:
        """Say good-bye; what was taken is taken, whatever comes of that."""
        if hasattr(self, "smtp"):
            with contextlib.suppress(smtplib.SMTPException, OSError):
                self.smtp.quit()
            self.smtp.close()

    @contextmanager
    def step(self, name: str) -> Iterator[None]:
        """What goes wrong in the context, as a DeliveryError of this step."""
        try:
            yield
        except smtplib.SMTPResponseException as error:
            what = f"refused: {self._said(error)}"
            raise self._error(name, f"{what}{_REMEDIES[name]}", passing=400 <= error.smtp_code < 500) from None
        except smtplib.SMTPServerDisconnected as error:
            late = isinstance(error.__context__, TimeoutError)
            raise self._error(name, f"{self._late if late else _GONE}{self._hint(name)}", passing=True) from None
        except smtplib.SMTPException as error:
            raise self._error(name, f"{self._shown(str(error))}{_REMEDIES[name]}") from None
        except ssl.SSLError as error:
            raise self._error("TLS", _about_tls(error)) from None
        except TimeoutError:
            raise self._error(name, f"{self._late}{self._hint(name)}", passing=True) from None
        except OSError as error:
            raise self._error(name, f"{error.strerror or error}{_REMEDIES[name]}", passing=True) from None
        except UnicodeError:  # from looking the host's name up; an empty or too long part of it
            raise self._error(name, f"{self._server.host} cannot be a host's name{_REMEDIES[name]}") from None

    @property
    def _late(self) -> str:
        return f"no answer within {self._server.timeout:.3g} s"

    def _connect(self) -> None:
        server = self._server
        with self.step("connect"):
            if server.starts_encrypted:
                self.smtp = smtplib.SMTP_SSL(
                    server.host, server.usual_port, _OWN_NAME, timeout=server.timeout, context=self._context
                )
            else:
                self.smtp = smtplib.SMTP(server.host, server.usual_port, _OWN_NAME, timeout=server.timeout)
            self.smtp.ehlo_or_helo_if_needed()

    def _encrypt(self) -> bool:
        """STARTTLS as the security asks for it; whether the connection is encrypted now."""
        server = self._server
        if server.starts_encrypted or server.security is Security.PLAIN:
            return server.starts_encrypted
        if server.security is Security.AUTO and not self.smtp.has_extn("starttls"):
            if server.user:
                what = "the server offers no encryption, and the password is not sent without"
                raise self._error("TLS", f"{what}{_REMEDIES['TLS']}")
            return False
        with self.step("TLS"):
            self.smtp.starttls(context=self._context)
            self.smtp.ehlo()
        return True

    def _login(self) -> None:
        with self.step("login"):
            try:
                self.smtp.login(self._server.user, self._server.password)
            except UnicodeEncodeError:  # which holds the password
                what = "smtp_user or smtp_password has letters that a mail server cannot be sent (outside ASCII)"
                raise self._error("login", f"{what}; copy them again") from None

    def _said(self, error: smtplib.SMTPResponseException) -> str:
        answer = error.smtp_error
        text = answer.decode("utf-8", "replace") if isinstance(answer, bytes) else str(answer)
        return f"{error.smtp_code} {self._shown(text)}"

    def _shown(self, text: str) -> str:
        """A server's words in one line, without the password, should it repeat it."""
        password = self._server.password
        return one_line(text.replace(password, "***") if password else text, _LONGEST_ANSWER)

    def _hint(self, step: str) -> str:
        """What silence may mean: a server that waits for TLS says nothing to who begins without."""
        if step != "connect" or self._server.starts_encrypted:
            return ""
        return "; if this port begins with TLS, as 465 does, set smtp_security to ssl"

    def _error(self, step: str, what: str, *, passing: bool = False) -> DeliveryError:
        return DeliveryError(f"mail by {self._server} failed at {step}: {what}", step=step, passing=passing)


_GONE = "the server hung up"
_REMEDIES = {
    "connect": "; check smtp_host and smtp_port, and that this machine may reach them",
    "TLS": "; set smtp_security to what the server offers, or smtp_port to one where it offers encryption",
    "login": "; check smtp_user and smtp_password: many providers want a password made for programs, not the usual one",
    "sender": "; mail_from must be an address that this account may send from",
    "recipient": "; check the reader's mail address",
    "message": "; the server did not take the message itself",
}


def _about_tls(error: ssl.SSLError) -> str:
    if isinstance(error, ssl.SSLCertVerificationError):
        what = f"the server's certificate is not trusted ({error.verify_message})"
        return f"{what}; check smtp_host, or name its authority's file in smtp_ca_file"
    if error.reason == "WRONG_VERSION_NUMBER":
        return "this port does not begin with TLS; set smtp_security to starttls or plain, or smtp_port to 465"
    return f"{error.reason or error}{_REMEDIES['TLS']}"


def _context(server: Server) -> ssl.SSLContext:
    try:
        return ssl.create_default_context(cafile=server.ca_file or None)
    except (OSError, ssl.SSLError) as error:
        why = error.strerror or error
        raise SettingsError(f"smtp_ca_file: {server.ca_file}: no certificates can be read ({why})") from error
