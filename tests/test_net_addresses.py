"""Nothing leads into a private network: not an address, not a name, not a redirect, not a second answer of the DNS."""

from __future__ import annotations

from collections.abc import Iterable
from ipaddress import IPv4Address, IPv6Address, ip_address, ip_network
from typing import Any

import httpcore
import httpx
import pytest
from hypothesis import given
from hypothesis import strategies as st

from broadsheet.errors import FetchError, ForbiddenAddressError
from broadsheet.net.addresses import check_url, is_public, literal, resolve
from broadsheet.net.faults import PassingError, PrivateAddressError
from broadsheet.net.transport import Backend, Deadline
from tests.fakeweb import Answer, FakeWeb

PUBLIC = ["1.1.1.1", "9.9.9.9", "100.63.0.1", "172.15.0.1", "172.32.0.1", "192.169.0.1", "223.255.255.255"]
PUBLIC_6 = ["2606:4700:4700::1111", "2a00:1450:4001::1", "::ffff:1.1.1.1", "64:ff9b::101:101"]
PRIVATE = [
    "0.0.0.0", "0.1.2.3", "10.0.0.1", "100.64.0.1", "100.100.100.200", "127.0.0.1", "127.255.0.9", "168.63.129.16",
    "169.254.0.1", "169.254.169.254", "172.16.0.1", "172.31.255.255", "192.0.0.192", "192.0.2.1", "192.88.99.1",
    "192.168.1.1", "198.18.0.1", "198.19.9.9", "198.51.100.7", "203.0.113.9", "224.0.0.1", "239.1.1.1", "240.0.0.1",
    "255.255.255.255",
]  # fmt: skip
PRIVATE_6 = [
    "::", "::1", "::127.0.0.1", "::ffff:127.0.0.1", "::ffff:10.0.0.1", "::ffff:a9fe:a9fe", "64:ff9b::7f00:1",
    "64:ff9b::a9fe:a9fe", "64:ff9b:1::1", "100::1", "2001::1", "2001:db8::1", "2002:7f00:1::", "3fff::1", "fc00::1",
    "fd00:ec2::254", "fe80::1", "fe80::1%eth0", "fec0::1", "ff02::1", "5f00::1", "::ffff:0:127.0.0.1",
]  # fmt: skip
# The same addresses, spelled as some parsers and resolvers take them.
SPELLINGS = ["2130706433", "0x7f000001", "0x7f.1", "127.1", "127.0.1", "017700000001", "0", "0x0", "2852039166"]
NAMES = [
    "localhost", "LOCALHOST", "localhost.", "a.localhost", "printer.local", "metadata.google.internal", "nas.home.arpa",
    "intranet", "router.", "bad_.-name.org", "-x.org", "1.2.3.4.5", "example.0x7f", "08.1.1.1", "256.1.1.1",
]  # fmt: skip


@pytest.mark.parametrize("address", PUBLIC + PUBLIC_6)
def test_public(address: str) -> None:
    assert is_public(ip_address(address))


@pytest.mark.parametrize("address", PRIVATE + PRIVATE_6)
def test_private(address: str) -> None:
    assert not is_public(ip_address(address))


@given(st.ip_addresses(v=4))
def test_embedding_an_address_changes_nothing(address: IPv4Address) -> None:
    for prefix in ("::ffff:0:0", "64:ff9b::"):
        assert is_public(IPv6Address(int(IPv6Address(prefix)) | int(address))) == is_public(address)


# Public in the registries although Python's table has them, or the other way round, for reasons told in the module.
DIFFERENT = [ip_network(n) for n in ("168.63.129.16/32", "192.0.0.0/24", "192.88.99.0/24", "224.0.0.0/4")]
DIFFERENT_6 = [ip_network(n) for n in ("::ffff:0:0/96", "64:ff9b::/96", "2001::/23", "2002::/16", "3fff::/20")]


@given(st.ip_addresses(v=4) | st.sampled_from(PRIVATE).map(IPv4Address))
def test_same_as_python_where_python_knows(address: IPv4Address) -> None:
    if not any(address in network for network in DIFFERENT):
        assert is_public(address) == address.is_global


@given(st.ip_addresses(v=6))
def test_no_stranger_range_than_python_has(address: IPv6Address) -> None:
    if is_public(address) and not any(address in network for network in DIFFERENT_6):
        assert address.is_global


@pytest.mark.parametrize(
    "host", [*PRIVATE, *(f"[{a}]" for a in PRIVATE_6 if "%" not in a), *SPELLINGS, "[fe80::1%25eth0]"]
)
def test_an_address_of_a_private_network_is_not_asked(fakeweb: FakeWeb, host: str) -> None:
    try:
        httpx.URL(f"http://{host}/")
    except httpx.InvalidURL:
        pytest.skip("not even an address")
    with pytest.raises(ForbiddenAddressError, match="unless the settings allow private addresses") as caught:
        fakeweb.client().get(f"http://{host}:{fakeweb.base.rpartition(':')[2]}/x")
    assert caught.value.url.startswith("http://")
    assert (fakeweb.requests, fakeweb.slept) == ([], [])


@pytest.mark.parametrize("host", NAMES)
def test_a_name_of_a_private_network_is_not_asked(fakeweb: FakeWeb, host: str) -> None:
    with pytest.raises(FetchError) as caught:
        fakeweb.client().get(f"http://{host}/x")
    assert isinstance(caught.value, ForbiddenAddressError) or "not a valid address" in str(caught.value)
    assert fakeweb.slept == []


@pytest.mark.parametrize(
    "host", ["arxiv.org", "export.arxiv.org.", "a_b.example.org", "xn--r8jz45g.jp", "例え.jp", "1.1.1.1"]
)
def test_an_ordinary_name_passes(host: str) -> None:
    check_url(httpx.URL(f"http://{host}/"))


@pytest.mark.parametrize(
    "url",
    [
        "http://export.arxiv.org@127.0.0.1/",
        "http://export.arxiv.org:80@127.0.0.1/",
        "http://export.arxiv.org\\@127.0.0.1/",
        "http://export.arxiv.org%2f@127.0.0.1/",
        "http://127.0.0.1#@export.arxiv.org/",
        "http://127.0.0.1?@export.arxiv.org/",
        "http://127.0.0.1\\.export.arxiv.org/",
        "http://127.0.0.1%00.export.arxiv.org/",
        "http://①②⑦.⓪.⓪.①/",
        "http://１２７.０.０.１/",
        "http://127。0。0。1/",
    ],
)
def test_disguised_addresses(fakeweb: FakeWeb, url: str) -> None:
    fakeweb.on("export.arxiv.org", "/", Answer("fooled"))
    with pytest.raises(FetchError):
        fakeweb.client().get(url)
    assert (fakeweb.requests, fakeweb.slept) == ([], [])


@pytest.mark.parametrize(
    ("spelled", "meant"),
    [
        ("127.1", "127.0.0.1"),
        ("0x7f.1", "127.0.0.1"),
        ("2130706433", "127.0.0.1"),
        ("1.1.1.1.", "1.1.1.1"),
        ("[::1]", "::1"),
        ("example.org", None),
        ("4294967296", None),
        ("1.2.3.4.5", None),
        ("0xfg", None),
        ("", None),
    ],
)
def test_literal(spelled: str, meant: str | None) -> None:
    assert literal(spelled) == (None if meant is None else ip_address(meant))


@pytest.mark.parametrize("private", [*PRIVATE, *PRIVATE_6])
def test_a_name_that_leads_into_a_private_network(fakeweb: FakeWeb, private: str) -> None:
    with pytest.raises(ForbiddenAddressError, match=r"evil\.example\.org resolves to"):
        fakeweb.client(resolve=lambda host, port: [private]).get("http://evil.example.org/")
    assert (fakeweb.requests, fakeweb.slept) == ([], [])


@pytest.mark.parametrize(
    "location",
    [
        "http://127.0.0.1/",
        "http://169.254.169.254/latest/meta-data/",
        "//10.0.0.1/x",
        "http://localhost/",
        "http://[::1]/",
        "http://inside.example.org/",
    ],
)
def test_each_hop_of_a_redirect_is_checked(fakeweb: FakeWeb, location: str) -> None:
    fakeweb.on("good.example.org", "/", Answer(status=302, headers={"Location": "https://other.example.org/"}))
    fakeweb.on("other.example.org", "/", Answer(status=302, headers={"Location": location}))
    with pytest.raises(ForbiddenAddressError):
        fakeweb.client(resolve=lambda host, port: ["192.168.0.9"]).get("https://good.example.org/")
    assert len(fakeweb.requests) == 2


def test_a_mirror_lets_nobody_else_in(fakeweb: FakeWeb) -> None:
    """The place of a mirror may be private, but only what is asked of the mirrored host goes there."""
    fakeweb.on("export.arxiv.org", "/", Answer("x"))
    fakeweb.on("evil.example.org", "/", Answer(status=302, headers={"Location": f"{fakeweb.base}/export.arxiv.org/"}))
    client = fakeweb.client()
    assert client.get("https://export.arxiv.org/").text == "x"
    for url in (f"{fakeweb.base}/export.arxiv.org/", "https://evil.example.org/"):
        with pytest.raises(ForbiddenAddressError):
            client.get(url)


def test_a_pooled_connection_of_a_mirror_lets_nobody_else_in(fakeweb: FakeWeb) -> None:
    """A mirror known by a name: its open connection must not serve whoever names the same host without a mirror."""
    fakeweb.on("export.arxiv.org", "/", Answer("x"))
    base = fakeweb.mirrors["export.arxiv.org"].replace("127.0.0.1", "mirror.example.org")
    client = fakeweb.client(mirrors={"export.arxiv.org": base}, resolve=lambda host, port: ["127.0.0.1"])
    assert client.get("https://export.arxiv.org/").text == "x"
    with pytest.raises(ForbiddenAddressError):
        client.get(f"{base}/")
    assert len(fakeweb.requests) == 1


def test_private_addresses_can_be_allowed(fakeweb: FakeWeb) -> None:
    fakeweb.on("lab", "/feed", Answer("x"))
    client = fakeweb.client(mirrors={}, allow_private=True, resolve=lambda host, port: ["127.0.0.1"])
    assert client.get(f"{fakeweb.base}/lab/feed").text == "x"
    assert client.get(f"{fakeweb.base.replace('127.0.0.1', 'intranet')}/lab/feed").text == "x"


class _Recording(httpcore.NetworkBackend):
    """Takes note of where a connection would be made."""

    def __init__(self, dead: Iterable[str] = ()) -> None:
        self.asked: list[str] = []
        self._dead = set(dead)

    def connect_tcp(self, host: str, port: int, *_: Any) -> httpcore.NetworkStream:
        self.asked.append(host)
        if host in self._dead:
            raise httpcore.ConnectError("no route")
        return httpcore.MockStream([])


def _connect(inner: _Recording, *answers: list[str], check: bool = True) -> None:
    left = list(answers)
    backend = Backend(lambda host, port: left.pop(0), Deadline(), check=check, inner=inner)
    backend.connect_tcp("name.example.org", 443, 1.0)


def test_the_connection_goes_to_the_address_that_was_checked() -> None:
    """DNS rebinding: whatever the name would mean the next time, it is not asked a second time."""
    inner = _Recording()
    _connect(inner, ["1.1.1.1"], ["127.0.0.1"])
    assert inner.asked == ["1.1.1.1"]


def test_private_addresses_among_public_ones_are_passed_over() -> None:
    inner = _Recording(dead=["1.1.1.1"])
    _connect(inner, ["127.0.0.1", "1.1.1.1", "::1", "10.0.0.1", "2606:4700::1"])
    assert inner.asked == ["1.1.1.1", "2606:4700::1"]


def test_the_last_failure_is_told_where_no_address_answers() -> None:
    inner = _Recording(dead=["1.1.1.1", "9.9.9.9"])
    with pytest.raises(httpcore.ConnectError, match="no route"):
        _connect(inner, ["1.1.1.1", "9.9.9.9"])
    assert inner.asked == ["1.1.1.1", "9.9.9.9"]


@pytest.mark.parametrize("check", [True, False])
def test_a_name_without_addresses(check: bool) -> None:
    with pytest.raises(PassingError, match="no address"):
        _connect(_Recording(), [], check=check)


def test_the_resolver_of_the_system() -> None:
    assert "127.0.0.1" in resolve("localhost", 80)
    for spelled in SPELLINGS:
        # Whatever the system makes of it, it was refused before.
        with pytest.raises(PrivateAddressError):
            check_url(httpx.URL(f"http://{spelled}/"))
