"""The polite client against real HTTP on the loopback: limits of time and size, redirects, secrets, threads."""

from __future__ import annotations

import base64
import socket
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager

import pytest

from broadsheet.errors import FetchError, ForbiddenAddressError
from broadsheet.net import Client, Validators
from tests.fakeweb import Answer, FakeWeb
from tests.net_makers import ARXIV, QUERY


@contextmanager
def raw_server(send: bytes, *, every: float = 0.0, close: bool = False) -> Iterator[str]:
    """Says the bytes to whoever connects, one at a time where there is a pause; then hangs up or falls silent."""

    def serve() -> None:
        while True:
            try:
                connection, _ = listener.accept()
            except OSError:
                return
            held.append(connection)
            connection.recv(65536)
            for piece in [send[i : i + 1] for i in range(len(send))] if every else [send]:
                try:
                    connection.sendall(piece)
                except OSError:
                    break
                time.sleep(every)
            if close:
                connection.shutdown(socket.SHUT_WR)

    held: list[socket.socket] = []
    with socket.create_server(("127.0.0.1", 0)) as listener:
        threading.Thread(target=serve, daemon=True).start()
        yield f"http://127.0.0.1:{listener.getsockname()[1]}"
        listener.shutdown(socket.SHUT_RDWR)
    for connection in held:
        connection.close()


# --- time and size


def test_silence_ends_after_the_timeout(fakeweb: FakeWeb) -> None:
    fakeweb.on(ARXIV, "/api/query", Answer("late", delay=0.5), Answer("soon"))
    # More tries than two for a machine that is so busy that the soon one comes late as well.
    assert fakeweb.client(timeout=0.2, tries=20).get(QUERY).text == "soon"
    assert len(fakeweb.requests) >= 2
    fakeweb.on(ARXIV, "/api/query", Answer("late", delay=0.5))
    client = fakeweb.client(timeout=0.2, tries=2)
    with pytest.raises(FetchError, match=r"did not answer within 0\.2 s 2 times"):
        client.get(QUERY)


def test_a_body_that_drips_ends_after_the_total_time(fakeweb: FakeWeb) -> None:
    fakeweb.on(ARXIV, "/api/query", Answer("x" * 1000, drip=0.05), Answer("quick"))
    client = fakeweb.client(timeout=10.0, total=0.3)
    begun = time.monotonic()
    with pytest.raises(FetchError, match=r"too slow: its answer was not complete after 0\.3 s"):
        client.get(QUERY)
    assert time.monotonic() - begun < 30  # of 50
    assert client.get(QUERY).text == "quick"  # the time is each exchange's own


def test_the_total_time_ends_silence_as_well() -> None:
    with raw_server(b"") as base, Client(allow_private=True, timeout=60.0, total=0.2) as client:
        begun = time.monotonic()
        with pytest.raises(FetchError, match=r"too slow: its answer was not complete after 0\.2 s"):
            client.get(base)
        assert time.monotonic() - begun < 30


def test_headers_that_drip_end_after_the_total_time() -> None:
    headers = b"HTTP/1.1 200 OK\r\nX-Long: " + b"x" * 1000 + b"\r\nContent-Length: 2\r\n\r\nok"
    with raw_server(headers, every=0.05) as base:
        begun = time.monotonic()
        with Client(allow_private=True, timeout=10.0, total=0.3) as client, pytest.raises(FetchError, match="too slow"):
            client.get(base)
        assert time.monotonic() - begun < 30  # of 50


def test_what_is_no_http_is_told() -> None:
    with (
        raw_server(b"220 mail.example.org ESMTP\r\n", close=True) as base,
        Client(allow_private=True, tries=1) as client,
        pytest.raises(FetchError, match=r"127\.0\.0\.1 broke off"),
    ):
        client.get(base)


def test_an_announced_size_is_refused_before_reading() -> None:
    # The body never comes: whoever tried to read it would run into the time-out.
    begun = time.monotonic()
    with (
        raw_server(b"HTTP/1.1 200 OK\r\nContent-Length: 1001\r\n\r\n") as base,
        Client(allow_private=True, max_bytes=1000, timeout=60) as client,
        pytest.raises(FetchError, match="sends more than the 1,000 bytes that are allowed"),
    ):
        client.get(base)
    assert time.monotonic() - begun < 30


def test_an_unannounced_size_is_refused_while_reading() -> None:
    with (
        raw_server(b"HTTP/1.1 200 OK\r\nConnection: close\r\n\r\n" + b"x" * 5000) as base,
        Client(allow_private=True, max_bytes=1000, timeout=60) as client,
        pytest.raises(FetchError, match="sends more than the 1,000 bytes"),
    ):
        client.get(base)


def test_exactly_the_limit_is_allowed(fakeweb: FakeWeb) -> None:
    fakeweb.on(ARXIV, "/", Answer(b"x" * 1000))
    assert len(fakeweb.client(max_bytes=1000).get(f"https://{ARXIV}/").body) == 1000


def test_too_large_is_not_tried_again(fakeweb: FakeWeb) -> None:
    fakeweb.on(ARXIV, "/", Answer(b"x" * 1001))
    with pytest.raises(FetchError):
        fakeweb.client(max_bytes=1000).get(f"https://{ARXIV}/")
    assert len(fakeweb.requests) == 1


# --- what has not changed


def test_conditional_request(fakeweb: FakeWeb) -> None:
    headers = {"ETag": '"v1"', "Last-Modified": "Mon, 06 Jul 2026 00:00:00 GMT"}
    fakeweb.on(ARXIV, "/rss", Answer("<rss/>", headers=headers), Answer(status=304))
    client = fakeweb.client()
    first = client.get(f"https://{ARXIV}/rss")
    assert first.validators == Validators('"v1"', "Mon, 06 Jul 2026 00:00:00 GMT")
    second = client.get(f"https://{ARXIV}/rss", validators=first.validators)
    asked = fakeweb.requests[1].headers
    assert (asked["if-none-match"], asked["if-modified-since"]) == ('"v1"', "Mon, 06 Jul 2026 00:00:00 GMT")
    assert second.not_modified and second.status == 304 and second.body == b""
    assert second.validators == first.validators  # a 304 need not repeat them


def test_no_validators_no_condition(fakeweb: FakeWeb) -> None:
    fakeweb.on(ARXIV, "/rss", Answer("<rss/>"))
    response = fakeweb.client().get(f"https://{ARXIV}/rss", validators=Validators())
    assert not {"if-none-match", "if-modified-since"} & set(fakeweb.requests[0].headers)
    assert response.validators == Validators()


# --- redirects


@pytest.mark.parametrize("status", [301, 302, 303, 307, 308])
def test_redirects_are_followed_to_other_hosts(fakeweb: FakeWeb, status: int) -> None:
    fakeweb.on(ARXIV, "/old", Answer(status=status, headers={"Location": "https://arxiv.org/new?x=1#part"}))
    fakeweb.on("arxiv.org", "/new", Answer("here"))
    response = fakeweb.client().get(f"https://{ARXIV}/old")
    assert (response.text, response.url) == ("here", "https://arxiv.org/new?x=1")


@pytest.mark.parametrize("location", ["/new?x=1", "new?x=1", "../new?x=1", f"//{ARXIV}/new?x=1", "/./a/../new?x=1"])
def test_relative_redirects_are_of_the_true_address(fakeweb: FakeWeb, location: str) -> None:
    fakeweb.on(ARXIV, "/old", Answer(status=302, headers={"Location": location}))
    fakeweb.on(ARXIV, "/new", Answer("here"))
    assert fakeweb.client().get(f"https://{ARXIV}/old").url == f"https://{ARXIV}/new?x=1"


def test_a_mirror_may_redirect_to_itself(fakeweb: FakeWeb) -> None:
    fakeweb.on(ARXIV, "/new", Answer("here"))
    fakeweb.on(ARXIV, "/old", Answer(status=302, headers={"Location": f"{fakeweb.base}/{ARXIV}/new"}))
    assert fakeweb.client().get(f"https://{ARXIV}/old").url == f"https://{ARXIV}/new"


def test_a_circle_of_redirects_ends(fakeweb: FakeWeb) -> None:
    fakeweb.on(ARXIV, "/a", Answer(status=302, headers={"Location": "/b"}))
    fakeweb.on(ARXIV, "/b", Answer(status=302, headers={"Location": "/a"}))
    with pytest.raises(FetchError, match="redirects more than 10 times; check the address"):
        fakeweb.client().get(f"https://{ARXIV}/a")
    assert len(fakeweb.requests) == 11


@pytest.mark.parametrize("location", ["ftp://arxiv.org/x", "file:///etc/passwd", "http://[::1", "javascript:alert(1)"])
def test_a_redirect_to_no_address_is_refused(fakeweb: FakeWeb, location: str) -> None:
    fakeweb.on(ARXIV, "/a", Answer(status=302, headers={"Location": location}))
    with pytest.raises(FetchError):
        fakeweb.client().get(f"https://{ARXIV}/a")
    assert len(fakeweb.requests) == 1


def test_a_redirect_without_a_place_is_an_error(fakeweb: FakeWeb) -> None:
    fakeweb.on(ARXIV, "/a", Answer(status=302))
    with pytest.raises(FetchError, match="answered 302"):
        fakeweb.client().get(f"https://{ARXIV}/a")


@pytest.mark.parametrize(("status", "method"), [(301, "GET"), (302, "GET"), (303, "GET"), (307, "POST"), (308, "POST")])
def test_a_redirected_post(fakeweb: FakeWeb, status: int, method: str) -> None:
    fakeweb.on("api.example.org", "/old", Answer(status=status, headers={"Location": "/new"}))
    fakeweb.on("api.example.org", "/new", Answer("[]"))
    fakeweb.client().post("https://api.example.org/old", json=[1])
    last = fakeweb.requests[1]
    assert (last.method, last.body) == (method, b"[1]" if method == "POST" else b"")
    assert ("content-type" in last.headers) == (method == "POST")


KEYS = {"Authorization": "Bearer hush", "x-api-key": "hush", "Cookie": "hush", "X-Anything": "hush"}


@pytest.mark.parametrize(
    "elsewhere",
    ["https://evil.example.org/b", "http://api.example.org/b", "https://api.example.org:444/b"],
    ids=["other host", "in the clear", "other port"],
)
def test_keys_do_not_follow_a_redirect_elsewhere(fakeweb: FakeWeb, elsewhere: str) -> None:
    fakeweb.on("api.example.org", "/a", Answer(status=307, headers={"Location": elsewhere}))
    fakeweb.on("api.example.org", "/b", Answer())
    fakeweb.on("evil.example.org", "/b", Answer())
    fakeweb.client().get("https://api.example.org/a", headers={**KEYS, "Accept": "text/html"})
    first, second = fakeweb.requests
    assert all(first.headers[name.lower()] == value for name, value in KEYS.items())
    assert "hush" not in str(second.headers.values())
    assert second.headers["accept"] == "text/html"
    assert second.headers["user-agent"].startswith("broadsheet/")


def test_keys_follow_a_redirect_of_the_same_host(fakeweb: FakeWeb) -> None:
    fakeweb.on("api.example.org", "/a", Answer(status=302, headers={"Location": "/b"}))
    fakeweb.on("api.example.org", "/b", Answer())
    fakeweb.client().get("https://api.example.org/a", headers=KEYS)
    assert fakeweb.requests[1].headers["x-api-key"] == "hush"


# --- secrets


def test_user_and_password_of_an_address_are_sent_and_not_shown(fakeweb: FakeWeb) -> None:
    fakeweb.on("feeds.example.org", "/a", Answer("x"), Answer(status=404))
    client = fakeweb.client()
    response = client.get("https://ada:p%40ss@feeds.example.org/a")
    assert fakeweb.requests[0].headers["authorization"] == "Basic " + base64.b64encode(b"ada:p@ss").decode()
    assert response.url == "https://feeds.example.org/a"
    with pytest.raises(FetchError) as caught:
        client.get("https://ada:p%40ss@feeds.example.org/a")
    assert "ada" not in str(caught.value) + caught.value.url


def test_an_answer_does_not_name_the_key_it_was_asked_with(fakeweb: FakeWeb) -> None:
    fakeweb.on("api.example.org", "/a", Answer("x"))
    response = fakeweb.client().get("https://api.example.org/a", params={"api_key": "hush", "q": "seen"})
    assert response.url == "https://api.example.org/a?api_key=***&q=seen"
    assert fakeweb.requests[0].query["api_key"] == ["hush"]


@pytest.mark.parametrize(
    "answer",
    [Answer(status=404), Answer(status=429), Answer(status=500), Answer("x", cut=0), Answer(b"x" * 2000)],
    ids=["404", "429", "500", "cut", "large"],
)
def test_no_error_shows_a_key(fakeweb: FakeWeb, answer: Answer) -> None:
    fakeweb.on("api.example.org", "/a", answer)
    with pytest.raises(FetchError) as caught:
        fakeweb.client(max_bytes=1000, tries=2).get(
            "https://u:hush@api.example.org/a?token=hush", params={"api_key": "hush", "q": "seen"}
        )
    error: BaseException | None = caught.value
    assert "q=seen" in str(error)
    while error:
        assert "hush" not in f"{error} {getattr(error, 'url', '')}"
        error = error.__cause__


def test_a_redirect_shows_no_key_either(fakeweb: FakeWeb) -> None:
    fakeweb.on("api.example.org", "/a", Answer(status=302, headers={"Location": "http://u:hush@10.0.0.1/?key=hush"}))
    with pytest.raises(ForbiddenAddressError) as caught:
        fakeweb.client().get("https://api.example.org/a")
    assert "hush" not in str(caught.value) + caught.value.url
    assert "10.0.0.1" in str(caught.value)


# --- from several threads


def test_one_connection_at_a_time_for_each_host(fakeweb: FakeWeb) -> None:
    inside, most = 0, 0
    lock = threading.Lock()

    def slowly(_: object) -> Answer:
        nonlocal inside, most
        with lock:
            inside += 1
            most = max(most, inside)
        time.sleep(0.03)
        with lock:
            inside -= 1
        return Answer("x")

    fakeweb.on(ARXIV, "/", slowly)
    client = fakeweb.client()
    found: list[str] = []
    threads = [
        threading.Thread(target=lambda: found.append(client.get(f"https://{ARXIV}/").text), daemon=True)
        for _ in range(6)
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(60)
    assert found == ["x"] * 6
    assert most == 1


def test_different_hosts_do_not_wait_for_each_other(fakeweb: FakeWeb) -> None:
    both = threading.Barrier(2, timeout=60)

    def together(_: object) -> Answer:
        both.wait()  # breaks unless the other request is under way as well
        return Answer("x")

    client = fakeweb.client(tries=1)
    found: list[str] = []
    for host in ("a.example.org", "b.example.org"):
        fakeweb.on(host, "/", together)
    threads = [
        threading.Thread(target=lambda host=host: found.append(client.get(f"https://{host}/").text), daemon=True)
        for host in ("a.example.org", "b.example.org")
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(60)
    assert found == ["x", "x"]
