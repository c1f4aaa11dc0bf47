"""The command that serves the site and the API."""

from __future__ import annotations

import errno
import signal
import socket
import threading
from typing import NoReturn

import click

from broadsheet.cli.common import Number, home_option, opened
from broadsheet.errors import BroadsheetError

_LONGEST_REQUEST = 262_144  # bytes of a request's head: two thousand Chinese words, nine bytes a character in a URL


@click.command(short_help="Serve the site and the API.")
@click.option("--host", help="Address to listen on; else the setting host.")
@click.option("--port", type=Number(0, 65535), help="Port; 0 takes any free one; else the setting port.")
@click.option("--open/--no-open", "browse", default=False, show_default=True, help="Open the site in a browser.")
@home_option
def serve(host: str | None, port: int | None, browse: bool) -> None:
    """Serve the site and the API until Ctrl-C; papers without vectors get them in the background.

    \b
    Examples:
      broadsheet serve
      broadsheet serve --port 9000 --open
    """
    given = {name: value for name, value in (("host", host), ("port", port)) if value is not None}
    signal.signal(signal.SIGTERM, _stop)
    with opened(changes=given) as library:
        listener = listen(library.settings.host, library.settings.port)
        url = address(listener)
        import uvicorn

        from broadsheet.mail.delivery import Deliverer
        from broadsheet.web import create_app

        app = create_app(
            library,
            host=library.settings.host,
            site_url=library.settings.site_url,
            max_upload=library.settings.max_upload_bytes,
        )
        library.start_background(on_edition=Deliverer(library))
        click.echo(f"Broadsheet is at {url} (Ctrl-C stops it)")
        if browse:
            _browse(url)
        config = uvicorn.Config(
            app, http="h11", log_level="warning", access_log=False, h11_max_incomplete_event_size=_LONGEST_REQUEST
        )
        try:
            uvicorn.Server(config).run(sockets=[listener])
        except KeyboardInterrupt:
            click.echo("Stopping: what is half done is finished first.")
    click.echo("Stopped.")


def listen(host: str, port: int) -> socket.socket:
    """A listening socket. Raises BroadsheetError, with what to do, where that address or port cannot be had."""
    try:
        family, kind, protocol, _, where = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)[0]
        listener = socket.socket(family, kind, protocol)
    except OSError as error:
        message = f"cannot listen on {host}: {error.strerror}; give --host a name or address of this machine"
        raise BroadsheetError(message) from error
    try:
        if hasattr(socket, "SO_EXCLUSIVEADDRUSE"):  # on Windows SO_REUSEADDR would let two servers share a port
            listener.setsockopt(socket.SOL_SOCKET, socket.SO_EXCLUSIVEADDRUSE, 1)
        else:
            listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        listener.bind(where)
        listener.listen(2048)
    except OSError as error:
        listener.close()
        raise BroadsheetError(_why_not(host, port, error)) from error
    return listener


def _why_not(host: str, port: int, error: OSError) -> str:
    if error.errno == errno.EADDRINUSE:
        return f"port {port} is in use, perhaps by another broadsheet; choose another: --port {port + 1}"
    if error.errno == errno.EACCES:
        return f"port {port} may not be used by this user; choose one above 1023, such as --port 8765"
    return f"cannot listen on {host}:{port}: {error.strerror}; give --host an address of this machine"


def address(listener: socket.socket) -> str:
    """The URL of a listening socket, as a browser on this machine reaches it."""
    host, port = listener.getsockname()[:2]
    shown = {"0.0.0.0": "127.0.0.1", "::": "[::1]"}.get(host, f"[{host}]" if ":" in host else host)
    return f"http://{shown}:{port}"


def _browse(url: str) -> None:
    import webbrowser

    # The socket listens already, so a browser that is too early waits instead of failing.
    threading.Thread(target=webbrowser.open, args=(url,), daemon=True).start()


def _stop(number: int, frame: object) -> NoReturn:
    """Let ``kill`` end the server as Ctrl-C does: with the library closed."""
    raise KeyboardInterrupt


COMMANDS = (serve,)
