"""Addresses: read, given a query, shown without keys, and led to a mirror."""

from __future__ import annotations

import re
from base64 import b64encode
from collections.abc import Mapping
from urllib.parse import quote, unquote_plus, urlencode

import httpx

from broadsheet.errors import FetchError, SettingsError

_SECRETS = re.compile(
    r"(.*[_-])?(key|token|secret|password|passwd|signature|sig|auth)|apikey|mailto|email|accesstoken|authorization",
    re.IGNORECASE,
)
_SCHEMES = ("http", "https")


def parse_url(text: str, params: Mapping[str, str] | None = None) -> httpx.URL:
    """The address with ``params`` added to its query. Raises FetchError for what is no http or https address.

    ``params`` are plain text and are encoded once, a space as ``%20``. A query that ``text`` has is encoded already:
    ``+TO+`` and ``%20TO%20`` in it stay as they are.
    """
    try:
        url = httpx.URL(text).copy_with(fragment=None)
    except httpx.InvalidURL:
        # What comes before an @ may be a password, wherever the address is wrong; so may be what the error quotes.
        name = shown(text.rpartition("@")[2])
        raise FetchError(f"{name!r} is not a valid address; correct it where it was given", url=name) from None
    if url.scheme not in _SCHEMES or not url.host or (url.port or 1) > 65535:
        raise FetchError(f"{shown(text)} cannot be fetched; give an http:// or https:// address", url=shown(text))
    if params:
        added = urlencode(params, quote_via=quote)
        url = url.copy_with(query=b"&".join(part for part in (url.query, added.encode()) if part))
    return url


def without_login(url: httpx.URL) -> tuple[httpx.URL, str]:
    """The address without user and password, and what they are as a value of ``Authorization``."""
    if not url.userinfo:
        return url, ""
    login = f"{url.username}:{url.password}".encode()
    return url.copy_with(userinfo=b""), f"Basic {b64encode(login).decode()}"


def shown(url: httpx.URL | str) -> str:
    """The address as messages and records may show it: no user, no password, no keys, no fragment."""
    text, _, _ = str(url).partition("#")
    text, mark, query = text.partition("?")
    text = re.sub(r"^([^/]*//)?[^/]*@", r"\1", text)
    return text + mark + "&".join(map(_without_value, query.split("&")))


def _without_value(part: str) -> str:
    name, equals, value = part.partition("=")
    return f"{name}=***" if value and _SECRETS.fullmatch(unquote_plus(name)) else name + equals + value


class Mirrors:
    """Hosts that are asked at another place. ``bases`` is looked at again for every request."""

    def __init__(self, bases: Mapping[str, str]) -> None:
        self._bases = bases
        for host in bases:
            self._base(host)

    def lead(self, url: httpx.URL) -> httpx.URL | None:
        """Where the mirror of the address's host has it; None where the host has no mirror."""
        if url.host not in self._bases:
            return None
        base = self._base(url.host)
        return base.copy_with(raw_path=base.raw_path.rstrip(b"/") + url.raw_path)

    def back(self, asked: httpx.URL, given: httpx.URL) -> httpx.URL:
        """What an address stands for that the mirror of ``asked`` gives, if it is one of the mirror itself."""
        if asked.host not in self._bases:
            return given
        base = self._base(asked.host)
        path = base.raw_path.rstrip(b"/")
        if (base.scheme, base.netloc) != (given.scheme, given.netloc) or not given.raw_path.startswith(path + b"/"):
            return given
        return asked.copy_with(raw_path=given.raw_path.removeprefix(path))

    def _base(self, host: str) -> httpx.URL:
        try:
            base = parse_url(self._bases[host])
        except FetchError as error:
            raise SettingsError(f"the mirror of {host}: {error}") from None
        if base.query:
            raise SettingsError(f"the mirror of {host}: {shown(base)} must have no query")
        return base
