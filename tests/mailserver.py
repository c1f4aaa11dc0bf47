"""Mail servers on the loopback (aiosmtpd), with certificates of an authority of their own, and ones that misbehave."""

from __future__ import annotations

import asyncio
import socket
import socketserver
import ssl
import threading
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from email import message_from_bytes
from email.message import EmailMessage
from email.policy import default
from pathlib import Path
from typing import Any

import trustme
from aiosmtpd.controller import Controller
from aiosmtpd.smtp import SMTP, AuthResult, Envelope, LoginPassword, Session

USER, PASSWORD = "me@example.org", "app-password-7"


class Certificates:
    """An authority, a certificate for ``localhost`` and 127.0.0.1, and the file that trusts it."""

    def __init__(self, folder: Path) -> None:
        authority = trustme.CA()
        self.ca_file = str(folder / "ca.pem")
        authority.cert_pem.write_to_path(self.ca_file)
        self.context = ssl.create_default_context(ssl.Purpose.CLIENT_AUTH)
        authority.issue_cert("localhost", "127.0.0.1").configure_cert(self.context)


class Inbox:
    """What a server took, and the words it refuses with (``sender``, ``recipient``, ``message`` → an SMTP answer)."""

    def __init__(self, refusals: dict[str, str]) -> None:
        self.refusals = refusals
        self.envelopes: list[Envelope] = []
        self.said: list[str] = []

    @property
    def messages(self) -> list[EmailMessage]:
        parsed = [message_from_bytes(envelope.content, policy=default) for envelope in self.envelopes]  # type: ignore[arg-type]
        return [message for message in parsed if isinstance(message, EmailMessage)]

    async def handle_EHLO(self, server: SMTP, session: Session, envelope: Envelope, hostname: str, replies: Any) -> Any:  # noqa: N802
        session.host_name = hostname
        self.said.append(f"EHLO {hostname}")
        return replies

    async def handle_MAIL(self, server: SMTP, session: Any, envelope: Envelope, address: str, options: Any) -> str:  # noqa: N802
        self.said.append("MAIL")
        envelope.mail_from = address
        return self.refusals.get("sender", "250 OK")

    async def handle_RCPT(self, server: SMTP, session: Any, envelope: Envelope, address: str, options: Any) -> str:  # noqa: N802
        self.said.append("RCPT")
        envelope.rcpt_tos.append(address)
        return self.refusals.get("recipient", "250 OK")

    async def handle_DATA(self, server: SMTP, session: Any, envelope: Envelope) -> str:  # noqa: N802
        self.said.append("DATA")
        if "message" in self.refusals:
            return self.refusals["message"]
        self.envelopes.append(envelope)
        return "250 taken"


class _Controller(Controller):
    """Listens on a port that the system chooses."""

    trusting: ssl.SSLContext

    def _trigger_server(self) -> None:
        """A first connection, which makes the server complete."""
        self.port = int(self.server.sockets[0].getsockname()[1])  # type: ignore[union-attr]
        with ExitStack() as stack:
            connection = stack.enter_context(socket.create_connection(("127.0.0.1", self.port), 2.0))
            if self.ssl_context:
                connection = stack.enter_context(self.trusting.wrap_socket(connection, server_hostname="localhost"))
            connection.recv(1024)


def _login(server: SMTP, session: Any, envelope: Any, mechanism: str, data: Any) -> AuthResult:
    good = isinstance(data, LoginPassword) and (data.login, data.password) == (USER.encode(), PASSWORD.encode())
    return AuthResult(success=good, handled=good)  # where it is not handled, aiosmtpd answers 535


@contextmanager
def mail_server(
    kind: str, certificates: Certificates, *, auth: bool = False, refusals: dict[str, str] | None = None
) -> Iterator[tuple[int, Inbox]]:
    """A server of a kind (``plain``, ``starttls``, ``ssl``): its port and what it takes."""
    inbox = Inbox(refusals or {})
    options: dict[str, Any] = {"authenticator": _login, "auth_required": True} if auth else {}
    if kind == "starttls":
        options |= {"tls_context": certificates.context, "require_starttls": True}
    else:
        options |= {"auth_require_tls": False} if auth else {}
    controller = _Controller(
        inbox,
        hostname="127.0.0.1",
        port=0,
        ssl_context=certificates.context if kind == "ssl" else None,
        **options,
    )
    controller.trusting = ssl.create_default_context(cafile=certificates.ca_file)
    controller.start()
    try:
        inbox.said.clear()
        yield controller.port, inbox
    finally:
        controller.stop()


@contextmanager
def scripted_server(answers: dict[bytes, bytes | None], greeting: bytes | None = b"220 ready\r\n") -> Iterator[int]:
    """A server that answers by a line's first word, else ``250 OK``, and hangs up where the answer is None."""

    class Handler(socketserver.StreamRequestHandler):
        def handle(self) -> None:
            if greeting is None:
                return
            self.wfile.write(greeting)
            for line in self.rfile:
                word = line.split()[0].upper() if line.split() else b""
                answer = answers.get(word, b"235 OK\r\n" if word == b"AUTH" else b"250 OK\r\n")
                if answer is None:
                    return
                self.wfile.write(answer)

    class Server(socketserver.ThreadingTCPServer):
        daemon_threads = True
        allow_reuse_address = True

        def handle_error(self, request: Any, client_address: Any) -> None:
            """Say nothing of clients that hung up."""

    with Server(("127.0.0.1", 0), Handler) as server:
        threading.Thread(target=server.serve_forever, args=(0.02,), daemon=True).start()
        yield int(server.server_address[1])
        server.shutdown()


@contextmanager
def silent_server() -> Iterator[int]:
    """A server that takes the connection and says nothing."""

    async def silent(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await reader.read()
        writer.close()

    loop = asyncio.new_event_loop()
    server = loop.run_until_complete(asyncio.start_server(silent, "127.0.0.1", 0))
    thread = threading.Thread(target=loop.run_forever, daemon=True)
    thread.start()
    try:
        yield int(server.sockets[0].getsockname()[1])
    finally:
        loop.call_soon_threadsafe(loop.stop)
        thread.join()
        server.close()
        loop.run_until_complete(asyncio.sleep(0.05))
        loop.close()
