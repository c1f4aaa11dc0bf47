"""The polite HTTP client."""

from __future__ import annotations

import random as random_module
import time
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from functools import cache
from http import HTTPStatus
from importlib.metadata import PackageNotFoundError, version
from itertools import count
from types import TracebackType
from typing import Any, Self

import httpcore
import httpx
import orjson

from broadsheet.errors import FetchError, ForbiddenAddressError, SettingsError, ThrottledError
from broadsheet.net.addresses import check_url, resolve
from broadsheet.net.body import ACCEPTED, read_body
from broadsheet.net.faults import FinalError, HeldError, PassingError, PrivateAddressError
from broadsheet.net.spacing import LONGEST, Spacing
from broadsheet.net.transport import Resolver, Transport
from broadsheet.net.urls import Mirrors, parse_url, shown, without_login
from broadsheet.net.values import Response, Validators, is_throttling, retry_after

_REDIRECTS = frozenset({301, 302, 303, 307, 308})
_MOST_REDIRECTS = 10
_PASSING = frozenset({408, 425})  # and all from 500
_ERROR_PAGE = 65_536  # bytes that are read of an error's page
_FIRST_PAUSE = 1.0  # seconds before the second try; twice as long before each further one
_FIRST_THROTTLED = 3.0  # the same where the server asks for fewer requests
# All that is sent on where a redirect leads to another host; any other header may be a key.
_HARMLESS = frozenset({"accept", "accept-language", "content-type", "if-none-match", "if-modified-since"})


@dataclass(frozen=True, slots=True)
class _Job:
    """A request as it is meant: ``url`` is the true address, also where a mirror answers for it.

    ``follow`` says whether it may go where a redirect leads.
    """

    method: str
    url: httpx.URL
    headers: Mapping[str, str]
    body: bytes = b""
    follow: bool = True


@dataclass(frozen=True, slots=True)
class _Trouble:
    """Why a try did not succeed. ``wait``: seconds that the server asks to wait."""

    job: _Job
    what: str
    status: int | None = None
    throttled: bool = False
    wait: float | None = None


class Client:
    """All of the program's access to the network; safe to use from several threads.

    One request at a time for each host, with a pause of ``spacing`` seconds after it (keys are domains, whose hosts
    share one clock; ``*`` is for all others). What may go better later is tried ``tries`` times, with growing pauses,
    or as long ones as the server asks for. An answer larger than ``max_bytes``, also unpacked, is refused. ``timeout``
    is in seconds and for one read; ``total`` is for a whole exchange, ten times as long by default.

    Addresses of private networks are refused, also where a redirect or a name leads to them, unless ``allow_private``.
    ``mirrors`` maps a host to the base address of where it is asked instead, which may be private.

    ``proxies`` maps ``http``, ``https`` or ``all`` to a proxy's address, and ``no`` to the hosts that are asked
    directly, as ``urllib.request.getproxies`` gives them. A proxy resolves names itself, so behind one they are checked
    by their looks only.
    """

    def __init__(
        self,
        *,
        contact: str = "",
        mirrors: Mapping[str, str] | None = None,
        allow_private: bool = False,
        spacing: Mapping[str, float] | None = None,
        timeout: float = 30.0,
        total: float | None = None,
        max_bytes: int = 100_000_000,
        tries: int = 4,
        proxies: Mapping[str, str] | None = None,
        sleep: Callable[[float], None] = time.sleep,
        clock: Callable[[], float] = time.monotonic,
        random: random_module.Random | None = None,
        resolve: Resolver = resolve,
    ) -> None:
        self._agent = _user_agent(contact)
        self._mirrors = Mirrors({} if mirrors is None else mirrors)
        self._allow_private = allow_private
        self._spacing = Spacing(spacing or {}, sleep, clock)
        self._timeout = timeout
        self._max_bytes = max_bytes
        self._tries = tries
        self._random = random or random_module.Random()
        self._transport = Transport(
            resolve=resolve,
            proxies=proxies or {},
            timeout=timeout,
            total=10 * timeout if total is None else total,
        )

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: type[BaseException] | None, value: BaseException | None, _: TracebackType | None) -> None:
        self.close()

    def close(self) -> None:
        """Close all connections."""
        self._transport.close()

    def get(
        self,
        url: str,
        *,
        params: Mapping[str, str] | None = None,
        headers: Mapping[str, str] | None = None,
        validators: Validators | None = None,
        throttled: Callable[[Response], bool] | None = None,
    ) -> Response:
        """Fetch an address; ``params`` (plain text) are added to its query.

        With ``validators`` of an earlier answer, one that has not changed since comes back as ``not_modified``.
        ``throttled`` says of an answer whether it asks for fewer requests in a way of its own.

        Raises FetchError; ThrottledError where the server goes on asking for fewer requests, with ``retry_after``;
        ForbiddenAddressError for an address of a private network.
        """
        known = {
            "If-None-Match": validators.etag if validators else "",
            "If-Modified-Since": validators.modified if validators else "",
        }
        response = self._fetch(_job("GET", url, params, {**known, **(headers or {})}), throttled)
        if response.not_modified and validators:
            kept = {"etag": validators.etag, "last-modified": validators.modified}
            return replace(response, headers={**kept, **response.headers})
        return response

    def post(
        self,
        url: str,
        *,
        json: Any,
        params: Mapping[str, str] | None = None,
        headers: Mapping[str, str] | None = None,
        throttled: Callable[[Response], bool] | None = None,
        follow: bool = True,
    ) -> Response:
        """Send ``json`` as a question that may be asked again: tries, errors and arguments are those of ``get``.

        Without ``follow`` a redirect is an error: what is sent is for that address alone.
        """
        sent = {"Content-Type": "application/json", **(headers or {})}
        job = _job("POST", url, params, sent, orjson.dumps(json))
        return self._fetch(replace(job, follow=follow), throttled)

    def when_free(self, host: str) -> float:
        """Seconds until the host may be asked again; 0 if at once."""
        return self._spacing.when_free(host)

    def _fetch(self, job: _Job, throttled: Callable[[Response], bool] | None) -> Response:
        for tries in count(1):
            found = self._attempt(job, throttled)
            if isinstance(found, Response):
                return found
            pause = self._pause(found, tries)
            last = tries >= self._tries or pause > LONGEST
            if found.throttled or not last:
                self._spacing.hold(found.job.url.host, pause)
            if last:
                raise _failure(found, tries, pause)
        raise AssertionError("unreachable")

    def _attempt(self, job: _Job, throttled: Callable[[Response], bool] | None) -> Response | _Trouble:
        for _ in range(_MOST_REDIRECTS + 1):
            found = self._exchange(job)
            if isinstance(found, _Trouble):
                return found
            location = found.headers.get("location", "")
            if found.status not in _REDIRECTS or not location:
                return _judge(job, found, throttled)
            if not job.follow:
                raise _error(
                    job, f"redirects ({found.status}), which is not followed; give the final address", found.status
                )
            job = self._redirected(job, found.status, location)
        raise _error(job, f"redirects more than {_MOST_REDIRECTS} times; check the address")

    def _exchange(self, job: _Job) -> Response | _Trouble:
        mirror = self._mirrors.lead(job.url)
        check = mirror is None and not self._allow_private
        try:
            if check:
                check_url(job.url)
            with self._spacing.turn(job.url.host):
                return self._send(job, mirror or job.url, check)
        except HeldError as error:
            raise _throttled(job, "asked", None, error.seconds) from None
        except PrivateAddressError as error:
            message = f"{error}; {shown(job.url)} is not fetched unless the settings allow private addresses"
            raise ForbiddenAddressError(message, url=shown(job.url)) from None
        except FinalError as error:
            raise _error(job, str(error)) from error
        except PassingError as error:
            return _Trouble(job, str(error))
        except (httpcore.NetworkError, httpcore.ProtocolError, httpcore.TimeoutException, httpcore.ProxyError) as error:
            return self._lost(job, error)

    def _send(self, job: _Job, target: httpx.URL, check: bool) -> Response:
        headers = {"User-Agent": self._agent, "Accept": "*/*", "Accept-Encoding": ACCEPTED, **job.headers}
        with self._transport.send(job.method, target, headers, job.body, check=check) as answer:
            got = _headers(answer.headers)
            body = self._body(answer, got)
        return Response(shown(job.url), answer.status, got, body, answer.status == HTTPStatus.NOT_MODIFIED)

    def _body(self, answer: httpcore.Response, headers: Mapping[str, str]) -> bytes:
        if answer.status in _REDIRECTS or answer.status == HTTPStatus.NOT_MODIFIED:
            return b""
        if answer.status < 400:
            return read_body(answer.iter_stream(), headers, self._max_bytes)
        try:
            return read_body(answer.iter_stream(), headers, _ERROR_PAGE)
        except (PassingError, FinalError):
            return b""  # the status says what is wrong; its page is only looked at for what it says of throttling

    def _lost(self, job: _Job, error: Exception) -> _Trouble:
        match error:
            case httpcore.ProxyError():
                what = f"cannot be reached through the proxy ({error}); check the proxy's settings"
                raise _error(job, what) from error
            case httpcore.ConnectTimeout():
                return _Trouble(job, "did not take the connection in time")
            case httpcore.TimeoutException():
                return _Trouble(job, f"did not answer within {self._timeout:.3g} s")
            case httpcore.ConnectError():
                return _Trouble(job, f"cannot be reached ({error})")
            case _:
                return _Trouble(job, f"broke off ({error or type(error).__name__})")

    def _redirected(self, job: _Job, status: int, location: str) -> _Job:
        try:
            given = parse_url(str(job.url.join(location)))
        except (httpx.InvalidURL, FetchError):
            raise _error(job, "redirects to what is no http or https address") from None
        url, _ = without_login(self._mirrors.back(job.url, given))
        headers, method, body = dict(job.headers), job.method, job.body
        if _origin(url) != _origin(job.url):
            headers = {name: value for name, value in headers.items() if name.lower() in _HARMLESS}
        if status in (301, 302, 303) and method == "POST":
            method, body = "GET", b""
            headers = {name: value for name, value in headers.items() if name.lower() != "content-type"}
        return _Job(method, url, headers, body)

    def _pause(self, trouble: _Trouble, tries: int) -> float:
        """Seconds until the next try: what the server asks for, else growing ones, and a random bit more."""
        first = _FIRST_THROTTLED if trouble.throttled else _FIRST_PAUSE
        pause = first * 2 ** (tries - 1) if trouble.wait is None else max(trouble.wait, _FIRST_PAUSE)
        return pause if pause > LONGEST else min(pause + self._random.uniform(0, min(pause / 4, 5.0)), LONGEST)


def _job(
    method: str, url: str, params: Mapping[str, str] | None, headers: Mapping[str, str], body: bytes = b""
) -> _Job:
    address, login = without_login(parse_url(url, params))
    return _Job(method, address, _checked_headers({"Authorization": login, **headers}), body)


def _judge(job: _Job, response: Response, throttled: Callable[[Response], bool] | None) -> Response | _Trouble:
    status = response.status
    if response.not_modified:
        return response
    said = f"answered {status}" if status >= 400 else "answered that it was asked too often"
    if is_throttling(response) or (throttled is not None and throttled(response)):
        return _Trouble(job, said, status, throttled=True, wait=retry_after(response.headers, datetime.now(UTC)))
    if status >= 500 or status in _PASSING:
        return _Trouble(job, said, status, wait=retry_after(response.headers, datetime.now(UTC)))
    if status >= 300:
        raise _error(job, f"answered {status}{_phrase(status)}{_remedy(status)}", status)
    return response


def _failure(trouble: _Trouble, tries: int, pause: float) -> FetchError:
    times = f" {tries} times" if tries > 1 else ""
    if trouble.throttled:
        return _throttled(trouble.job, f"{trouble.what}{times} and asks", trouble.status, pause)
    return _error(trouble.job, f"{trouble.what}{times}; try again later", trouble.status, trouble.wait)


def _throttled(job: _Job, what: str, status: int | None, seconds: float) -> ThrottledError:
    address = shown(job.url)
    message = f"{job.url.host} {what} for fewer requests; try again in {seconds:.0f} s ({address})"
    return ThrottledError(message, url=address, status=status, retry_after=seconds)


def _error(job: _Job, what: str, status: int | None = None, wait: float | None = None) -> FetchError:
    address = shown(job.url)
    return FetchError(f"{job.url.host} {what} ({address})", url=address, status=status, retry_after=wait)


def _phrase(status: int) -> str:
    try:
        return f" ({HTTPStatus(status).phrase})"
    except ValueError:
        return ""


def _remedy(status: int) -> str:
    match status:
        case 401 | 403:
            return "; it may need a key, or another one"
        case 404 | 410:
            return "; check the address"
        case _:
            return "; the request is not what it expects"


def _origin(url: httpx.URL) -> tuple[str, str, int | None]:
    return url.scheme, url.host, url.port


def _headers(pairs: Iterable[tuple[bytes, bytes]]) -> dict[str, str]:
    """Names in lower case; values of one name joined, as RFC 9110 says."""
    found: dict[str, str] = {}
    for name_bytes, value_bytes in pairs:
        name = name_bytes.decode("ascii").lower()
        try:
            value = value_bytes.decode("utf-8")
        except UnicodeDecodeError:
            value = value_bytes.decode("latin-1")
        found[name] = f"{found[name]}, {value}" if name in found else value
    return found


def _checked_headers(headers: Mapping[str, str]) -> dict[str, str]:
    """Headers that have a value. The error does not repeat it, since it may be a key."""
    kept = {name.title(): value.strip() for name, value in headers.items() if value.strip()}
    for name, value in kept.items():
        if not (value.isascii() and value.isprintable()):
            raise SettingsError(f"the value for the header {name} has characters that cannot be sent; correct the key")
    return kept


def _user_agent(contact: str) -> str:
    contact = contact.strip()
    if not contact:
        return f"broadsheet/{_version()}"
    if not (contact.isascii() and contact.isprintable()):
        raise SettingsError(f"contact: {contact!r} must be a mail address or the address of a page")
    return f"broadsheet/{_version()} (+{contact if '://' in contact else f'mailto:{contact}'})"


@cache
def _version() -> str:
    try:
        return version("broadsheet")
    except PackageNotFoundError:  # run from the sources
        return "0"
