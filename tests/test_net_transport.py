"""Proxies and encrypted connections."""

from __future__ import annotations

import base64
import os
import shutil
import socket
import ssl
import subprocess
import threading
from collections.abc import Iterator
from pathlib import Path

import pytest

from broadsheet.errors import FetchError, ForbiddenAddressError, SettingsError
from broadsheet.net import Client
from broadsheet.settings import proxies as environment_proxies
from tests.fakeweb import Answer, FakeWeb


def proxied(fakeweb: FakeWeb, **proxies: str) -> Client:
    return fakeweb.client(mirrors={}, tries=1, proxies=proxies)


def test_a_proxy_is_asked_for_everything(fakeweb: FakeWeb) -> None:
    fakeweb.on("papers.example.org", "/a", Answer("by proxy"))
    for proxies in ({"http": fakeweb.base}, {"all": fakeweb.base}, {"http": fakeweb.base.removeprefix("http://")}):
        response = proxied(fakeweb, **proxies).get("http://papers.example.org/a?b=%20c")
        assert (response.text, response.url) == ("by proxy", "http://papers.example.org/a?b=%20c")
    assert {request.headers["host"] for request in fakeweb.requests} == {"papers.example.org"}


def test_a_proxy_that_wants_a_login(fakeweb: FakeWeb) -> None:
    fakeweb.on("papers.example.org", "/a", Answer("x"))
    proxied(fakeweb, http=fakeweb.base.replace("//", "//ada:p%40ss@")).get("http://papers.example.org/a")
    sent = fakeweb.requests[0].headers
    assert sent["proxy-authorization"] == "Basic " + base64.b64encode(b"ada:p@ss").decode()
    assert "authorization" not in sent


@pytest.mark.parametrize(
    ("no", "direct"),
    [
        ("papers.example.org", True),
        ("example.org", True),
        (".example.org", True),
        ("other.org, example.ORG", True),
        ("*", True),
        ("papers.example.org:80", True),
        ("example.org:80", True),
        ("papers.example.org:81", False),
        ("ample.org", False),
        ("other.org", False),
        ("", False),
        (",", False),
    ],
)
def test_hosts_that_are_asked_without_the_proxy(fakeweb: FakeWeb, no: str, direct: bool) -> None:
    fakeweb.on("papers.example.org", "/a", Answer("by proxy"))
    client = proxied(fakeweb, http=fakeweb.base, no=no)
    if direct:
        with pytest.raises(FetchError, match="has no host"):  # there is no way but the proxy here
            client.get("http://papers.example.org/a")
    else:
        assert client.get("http://papers.example.org/a").text == "by proxy"


def test_each_scheme_has_its_proxy(fakeweb: FakeWeb) -> None:
    fakeweb.on("papers.example.org", "/a", Answer("by proxy"))
    client = proxied(fakeweb, https=fakeweb.base)
    with pytest.raises(FetchError, match="has no host"):
        client.get("http://papers.example.org/a")
    with pytest.raises(FetchError, match=r"cannot be reached through the proxy \(501.*check the proxy's settings"):
        client.get("https://papers.example.org/a")


@pytest.mark.parametrize("url", ["http://127.0.0.1/", "http://2130706433/", "http://localhost/", "http://intranet/"])
def test_a_proxy_is_not_asked_for_private_addresses(fakeweb: FakeWeb, url: str) -> None:
    with pytest.raises(ForbiddenAddressError):
        proxied(fakeweb, http=fakeweb.base).get(url)
    assert fakeweb.requests == []


@pytest.mark.parametrize("proxy", ["socks5://127.0.0.1:1080", "http://", "http://[::1"])
def test_a_proxy_that_cannot_be_used(proxy: str) -> None:
    with pytest.raises(SettingsError, match="proxy"):
        Client(proxies={"https": proxy})


@pytest.fixture(scope="module")
def certificate(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A certificate of papers.example.org and its key, signed by itself."""
    openssl = shutil.which("openssl")
    if openssl is None:
        pytest.skip("openssl makes the certificate for this test")
    path = tmp_path_factory.mktemp("tls") / "both.pem"
    options = "req -x509 -newkey ec -pkeyopt ec_paramgen_curve:prime256v1 -nodes -days 2 -subj /CN=papers.example.org"
    names = ["-addext", "subjectAltName=DNS:papers.example.org"]
    files = ["-keyout", str(path), "-out", str(path.with_suffix(".crt"))]
    subprocess.run([openssl, *options.split(), *names, *files], check=True, capture_output=True)
    path.write_text(path.read_text() + path.with_suffix(".crt").read_text())
    return path


@pytest.fixture
def encrypted(certificate: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[int]:
    """The port of a server that answers everything, encrypted; its certificate is trusted."""
    monkeypatch.setenv("SSL_CERT_FILE", str(certificate.with_suffix(".crt")))
    context = ssl.create_default_context(ssl.Purpose.CLIENT_AUTH)
    context.load_cert_chain(certificate)

    def serve() -> None:
        while True:
            try:
                plain, _ = listener.accept()
            except OSError:
                return
            try:
                with context.wrap_socket(plain, server_side=True) as connection:
                    connection.recv(65536)
                    connection.sendall(b"HTTP/1.1 200 OK\r\nContent-Length: 6\r\nConnection: close\r\n\r\nsecret")
            except OSError:  # the client hung up, as it must in some tests
                plain.close()

    with socket.create_server(("127.0.0.1", 0)) as listener:
        threading.Thread(target=serve, daemon=True).start()
        yield listener.getsockname()[1]
        listener.shutdown(socket.SHUT_RDWR)


def test_an_encrypted_connection_to_the_address_that_was_resolved(fakeweb: FakeWeb, encrypted: int) -> None:
    client = fakeweb.client(mirrors={}, allow_private=True, resolve=lambda host, port: ["127.0.0.1"])
    assert client.get(f"https://papers.example.org:{encrypted}/").text == "secret"


def test_the_certificate_must_be_of_the_name(fakeweb: FakeWeb, encrypted: int) -> None:
    client = fakeweb.client(mirrors={}, allow_private=True, resolve=lambda host, port: ["127.0.0.1"])
    with pytest.raises(FetchError, match=r"other\.example\.org has no valid certificate .*mismatch"):
        client.get(f"https://other.example.org:{encrypted}/")
    assert fakeweb.slept == []  # it will not get better by trying again


def test_the_certificate_must_be_trusted(fakeweb: FakeWeb, encrypted: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("SSL_CERT_FILE")
    client = fakeweb.client(mirrors={}, allow_private=True, resolve=lambda host, port: ["127.0.0.1"])
    with pytest.raises(FetchError, match=r"has no valid certificate .*self-signed"):
        client.get(f"https://papers.example.org:{encrypted}/")


def test_a_proxy_that_cannot_be_used_does_not_show_its_password() -> None:
    with pytest.raises(SettingsError) as caught:
        Client(proxies={"https": "http://ada:hu/sh@proxy.lan:81"})
    assert "hu" not in str(caught.value)


def test_proxies_of_the_environment(monkeypatch: pytest.MonkeyPatch, fakeweb: FakeWeb) -> None:
    for name in [name for name in os.environ if name.lower().endswith("_proxy")]:
        monkeypatch.delenv(name)
    monkeypatch.setenv("HTTP_PROXY", fakeweb.base)
    monkeypatch.setenv("NO_PROXY", "other.example.org")
    fakeweb.on("papers.example.org", "/a", Answer("by proxy"))
    client = proxied(fakeweb, **environment_proxies())
    assert client.get("http://papers.example.org/a").text == "by proxy"
    with pytest.raises(FetchError, match="has no host"):
        client.get("http://other.example.org/a")


def test_a_closed_client_leaves_no_connection(fakeweb: FakeWeb) -> None:
    fakeweb.on("arxiv.org", "/", Answer("x"))
    with fakeweb.client() as client:
        client.get("https://arxiv.org/")
        [pool] = client._transport._pools.values()
        assert len(pool.connections) == 1
    assert len(pool.connections) == 0
