"""Which addresses are of the public web. What feeds and redirects name must not lead into the reader's own network.

The ranges are those of the IANA special-purpose registries (RFC 6890 and its successors), written out because what
``ipaddress`` calls private or global differs between versions of Python.
"""

from __future__ import annotations

import re
import socket
from collections.abc import Sequence
from ipaddress import IPv4Address, IPv6Address, ip_address, ip_network

import httpx

from broadsheet.net.faults import PassingError, PrivateAddressError

_CLOSED_4 = tuple(
    map(
        ip_network,
        (
            "0.0.0.0/8",  # this host
            "10.0.0.0/8",  # private
            "100.64.0.0/10",  # carrier-grade NAT; one cloud has its metadata here
            "127.0.0.0/8",  # loopback
            "168.63.129.16/32",  # the wire server of one cloud, in a public range
            "169.254.0.0/16",  # link-local, and the metadata of most clouds
            "172.16.0.0/12",  # private
            "192.0.0.0/24",  # protocol assignments
            "192.0.2.0/24",  # documentation
            "192.88.99.0/24",  # 6to4 relays
            "192.168.0.0/16",  # private
            "198.18.0.0/15",  # benchmarks
            "198.51.100.0/24",  # documentation
            "203.0.113.0/24",  # documentation
            "224.0.0.0/4",  # multicast
            "240.0.0.0/4",  # reserved, and broadcast
        ),
    )
)
_OPEN_6 = ip_network("2000::/3")  # all that is handed out as global unicast
_CLOSED_6 = tuple(
    map(
        ip_network,
        (
            "2001::/23",  # protocol assignments, Teredo among them
            "2001:db8::/32",  # documentation
            "2002::/16",  # 6to4, which embeds any IPv4 address
            "3fff::/20",  # documentation
        ),
    )
)
# Behind these 96 bits stands an IPv4 address that is what counts: IPv4-mapped (RFC 4291) and NAT64 (RFC 6052).
_EMBEDDING_6 = (ip_network("::ffff:0:0/96"), ip_network("64:ff9b::/96"))

# Names that mean this machine or this network: RFC 6761, RFC 6762, RFC 8375, and ICANN's reservation of .internal.
_LOCAL_NAMES = ("localhost", "local", "internal", "home.arpa")
_NAME = re.compile(r"[a-z0-9_]([a-z0-9_-]*[a-z0-9_])?(\.[a-z0-9_]([a-z0-9_-]*[a-z0-9_])?)+\.?")
_NUMBERS = re.compile(r"(0x[0-9a-f]*|[0-9]+)(\.(0x[0-9a-f]*|[0-9]+)){0,3}")


def is_public(address: IPv4Address | IPv6Address) -> bool:
    """Whether the address belongs to the public internet."""
    if isinstance(address, IPv4Address):
        return not any(address in network for network in _CLOSED_4)
    if any(address in network for network in _EMBEDDING_6):
        return is_public(IPv4Address(int(address) & 0xFFFFFFFF))
    return address in _OPEN_6 and not any(address in network for network in _CLOSED_6)


def literal(host: str) -> IPv4Address | IPv6Address | None:
    """The address that a host of a URL spells out, in any form that a resolver takes (127.1, 2130706433, 0x7f.1)."""
    host = host.strip("[]").rstrip(".").lower()
    try:
        return ip_address(host)
    except ValueError:
        if not _NUMBERS.fullmatch(host):
            return None
    try:
        return IPv4Address(socket.inet_aton(host))
    except OSError:
        return None


def check_url(url: httpx.URL) -> None:
    """Raise PrivateAddressError for an address that is not of the public web by its looks.

    What its name resolves to is checked when the connection is made.
    """
    host = url.raw_host.decode("ascii").lower()
    address = literal(host)
    if address is not None:
        if not is_public(address):
            raise PrivateAddressError(f"{host} is an address of a private network")
        return
    if any(host.rstrip(".") == name or host.rstrip(".").endswith(f".{name}") for name in _LOCAL_NAMES):
        raise PrivateAddressError(f"{host} is a name of this machine's own network")
    if not _NAME.fullmatch(host) or _NUMBERS.fullmatch(host.rstrip(".").rsplit(".", 1)[-1]):
        raise PrivateAddressError(f"{host!r} is not the name of a host on the web")


def resolve(host: str, port: int) -> list[str]:
    """All addresses of a host. Raises OSError where it has none."""
    found = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)
    return list(dict.fromkeys(str(address[0]) for *_, address in found))


def only_public(host: str, addresses: Sequence[str]) -> list[str]:
    """Those addresses of a host that are public; raises PrivateAddressError where none is."""
    if not addresses:
        raise PassingError("its name has no address")
    public = [address for address in addresses if is_public(ip_address(address))]
    if not public:
        raise PrivateAddressError(f"{host} resolves to {addresses[0]}, an address of a private network")
    return public
