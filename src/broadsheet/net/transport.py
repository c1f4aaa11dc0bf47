"""Connections: made only to addresses that were checked, through a proxy where there is one, and never for too long."""

from __future__ import annotations

import ssl
import threading
import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from functools import cached_property
from typing import Any

import httpcore
import httpx

from broadsheet.errors import SettingsError
from broadsheet.net.addresses import literal, only_public
from broadsheet.net.faults import FinalError, PassingError

Resolver = Callable[[str, int], Sequence[str]]

_CONNECT = 10.0  # seconds, at most
_KEEP = 15.0  # seconds that an idle connection is kept


class Deadline(threading.local):
    """By when the exchange that runs in this thread must be over."""

    def __init__(self) -> None:
        self._until = float("inf")
        self._allowed = float("inf")

    @contextmanager
    def within(self, seconds: float) -> Iterator[None]:
        """Allow so many seconds."""
        self._until, self._allowed = time.monotonic() + seconds, seconds
        try:
            yield
        finally:
            self._until = float("inf")

    def left(self, timeout: float | None) -> float:
        """``timeout`` or what is left, whichever is shorter; raises FinalError where nothing is left."""
        left = self._until - time.monotonic()
        if left <= 0:
            raise FinalError(f"is too slow: its answer was not complete after {self._allowed:.3g} s")
        return left if timeout is None else min(left, timeout)

    @contextmanager
    def minded(self) -> Iterator[None]:
        """A time-out within the context is a FinalError where it was the deadline that ended it."""
        try:
            yield
        except httpcore.TimeoutException:
            self.left(None)
            raise


class _Stream(httpcore.NetworkStream):
    """A connection that minds the deadline: a server that sends a byte now and then never meets a read time-out."""

    def __init__(self, inner: httpcore.NetworkStream, deadline: Deadline) -> None:
        self._inner = inner
        self._deadline = deadline

    def read(self, max_bytes: int, timeout: float | None = None) -> bytes:
        with self._deadline.minded():
            return self._inner.read(max_bytes, self._deadline.left(timeout))

    def write(self, buffer: bytes, timeout: float | None = None) -> None:
        with self._deadline.minded():
            self._inner.write(buffer, self._deadline.left(timeout))

    def start_tls(
        self, ssl_context: ssl.SSLContext, server_hostname: str | None = None, timeout: float | None = None
    ) -> httpcore.NetworkStream:
        try:
            with self._deadline.minded():
                inner = self._inner.start_tls(ssl_context, server_hostname, self._deadline.left(timeout))
        except httpcore.ConnectError as error:
            if isinstance(error.__cause__, ssl.SSLCertVerificationError):
                raise FinalError(f"has no valid certificate ({error.__cause__.verify_message})") from error
            raise
        return _Stream(inner, self._deadline)

    def close(self) -> None:
        self._inner.close()

    def get_extra_info(self, info: str) -> Any:
        return self._inner.get_extra_info(info)


class Backend(httpcore.NetworkBackend):
    """Resolves a name once, checks the addresses, and connects to those very addresses.

    So a name that resolves differently the next time leads nowhere else (DNS rebinding). ``check=False`` is for
    addresses that the settings name.
    """

    def __init__(
        self, resolve: Resolver, deadline: Deadline, *, check: bool, inner: httpcore.NetworkBackend | None = None
    ) -> None:
        self._resolve = resolve
        self._deadline = deadline
        self._check = check
        self._inner = inner or httpcore.SyncBackend()

    def connect_tcp(
        self,
        host: str,
        port: int,
        timeout: float | None = None,
        local_address: str | None = None,
        socket_options: Iterable[Any] | None = None,
    ) -> httpcore.NetworkStream:
        """Connect to the first address that answers. Raises PrivateAddressError where none is public."""
        failure: Exception | None = None
        for address in self._addresses(host, port):
            left = self._deadline.left(timeout)
            try:
                stream = self._inner.connect_tcp(address, port, left, local_address, socket_options)
            except (httpcore.ConnectError, httpcore.ConnectTimeout) as error:
                failure = error
            else:
                return _Stream(stream, self._deadline)
        raise failure or PassingError("its name has no address")

    def _addresses(self, host: str, port: int) -> Sequence[str]:
        spelled = literal(host)
        try:
            addresses = self._resolve(host, port) if spelled is None else [str(spelled)]
        except (OSError, UnicodeError) as error:
            raise PassingError(f"cannot be found ({error}); is there a network, and is the name right?") from error
        return only_public(host, addresses) if self._check else addresses


class Transport:
    """Pools of connections, apart for the public web, for addresses that the settings name, and for each proxy.

    So a connection to a private address is never used again for an address that must be public. ``timeout`` and
    ``total`` are seconds: for one read, and for a whole exchange.
    """

    def __init__(self, *, resolve: Resolver, proxies: Mapping[str, str], timeout: float, total: float) -> None:
        self._resolve = resolve
        self._proxies = proxies
        self._total = total
        self._deadline = Deadline()
        self._pools: dict[tuple[str, str, bool], httpcore.ConnectionPool] = {}
        self._lock = threading.Lock()
        self._timeouts = {"connect": min(timeout, _CONNECT), "read": timeout, "write": timeout, "pool": timeout}
        for scheme in {"http", "https", "all"} & set(proxies):
            self._proxy(proxies[scheme])

    @contextmanager
    def send(
        self, method: str, url: httpx.URL, headers: Mapping[str, str], body: bytes, *, check: bool
    ) -> Iterator[httpcore.Response]:
        """Send a request; the answer's body is read within the context."""
        target = httpcore.URL(scheme=url.raw_scheme, host=url.raw_host, port=url.port, target=url.raw_path)
        sent = {"Host": url.netloc.decode("ascii"), **headers}
        if body:
            sent["Content-Length"] = str(len(body))
        with (
            self._deadline.within(self._total),
            self._pool(url, check).stream(
                method,
                target,
                headers=list(sent.items()),
                content=body or None,
                extensions={"timeout": self._timeouts},
            ) as answer,
        ):
            yield answer

    def close(self) -> None:
        """Close all connections."""
        with self._lock:
            for pool in self._pools.values():
                pool.close()
            self._pools.clear()

    def _pool(self, url: httpx.URL, check: bool) -> httpcore.ConnectionPool:
        proxy = self._proxies.get(url.scheme) or self._proxies.get("all") or ""
        if proxy and _is_direct(url, self._proxies.get("no", "")):
            proxy = ""
        # A proxy resolves the names itself, and it is for whoever runs it to say what it may reach.
        check = check and not proxy
        key = (url.scheme, proxy, check)
        with self._lock:
            if key not in self._pools:
                context = self._ssl if url.scheme == "https" else None  # it takes a while to load
                backend = Backend(self._resolve, self._deadline, check=check)
                self._pools[key] = self._new_pool(proxy, ssl_context=context, network_backend=backend)
            return self._pools[key]

    def _new_pool(self, proxy: str, **options: Any) -> httpcore.ConnectionPool:
        if not proxy:
            return httpcore.ConnectionPool(keepalive_expiry=_KEEP, **options)
        url = self._proxy(proxy)
        login = (url.username, url.password) if url.userinfo else None
        address = str(url.copy_with(userinfo=b""))
        return httpcore.HTTPProxy(address, proxy_auth=login, keepalive_expiry=_KEEP, **options)

    @staticmethod
    def _proxy(address: str) -> httpx.URL:
        try:
            url = httpx.URL(address if "://" in address else f"http://{address}")
        except httpx.InvalidURL:  # which may quote a password
            raise SettingsError("the proxy is no valid address; give http://HOST:PORT") from None
        if url.scheme not in ("http", "https") or not url.host:
            raise SettingsError(f"a proxy of the kind {url.scheme!r} cannot be used; give http://HOST:PORT")
        return url

    @cached_property
    def _ssl(self) -> ssl.SSLContext:
        return httpx.create_ssl_context()


def _is_direct(url: httpx.URL, exceptions: str) -> bool:
    """Whether ``NO_PROXY`` names the host: by itself, by a domain it is in (with or without a dot), or by ``*``."""
    host = url.host.lower()
    with_port = f"{host}:{url.port or {'http': 80, 'https': 443}[url.scheme]}"
    names = [name.strip().lower().lstrip(".") for name in exceptions.split(",")]
    return any(name == "*" or f".{place}".endswith(f".{name}") for name in names if name for place in (host, with_port))
