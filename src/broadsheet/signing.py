"""Addresses that act for a reader without a login, as they stand in mail: an order, signed with the reader's secret.

A token is ``base64url(order).base64url(MAC)``. The MAC is HMAC-SHA256 (RFC 2104, FIPS 180-4) cut to its first 128 bits,
which RFC 2104 section 5 allows and which keeps a hundred links in a mail short. Its key is the reader's secret, so
that a new secret ends all links sent before. Pure: nothing is looked up here.
"""

from __future__ import annotations

import binascii
import hmac
import re
from base64 import urlsafe_b64decode, urlsafe_b64encode
from collections.abc import Callable
from dataclasses import dataclass
from datetime import date
from enum import StrEnum
from hashlib import sha256

from broadsheet.errors import InputError
from broadsheet.model import PaperId

ACT_PATH = "/r/act"
LONGEST_TOKEN = 400  # characters; a reader's name has at most 40 letters
_MAC_BYTES = 16
_PURPOSE = b"broadsheet order 1\n"  # so that a MAC made with the same secret for anything else is none here
_DIGITS = re.compile(r"0|[1-9][0-9]{0,17}")
_REFUSED = "this link is damaged or no longer valid; use the one in the newest mail, or the site itself"


class Verb(StrEnum):
    """What a link in a mail can do. ``unsubscribe`` ends the mails themselves and is about no paper."""

    SAVE = "save"
    LIKE = "like"
    DISMISS = "dismiss"
    UNSUBSCRIBE = "unsubscribe"


@dataclass(frozen=True, slots=True)
class Order:
    """What a link asks for: ``verb`` about ``paper`` (0 for none) of the edition of ``day``, for ``reader``."""

    verb: Verb
    paper: PaperId
    day: date
    reader: str


def sign(order: Order, secret: str) -> str:
    """The token of an order: letters, digits, ``-``, ``_`` and one dot.

    Raises ValueError for an order that no link may hold: a negative number, a paper where none belongs, no secret.
    """
    if not secret or not order.reader:
        raise ValueError("an order is signed for a reader with a secret")
    if (order.paper > 0) is (order.verb is Verb.UNSUBSCRIBE) or not _DIGITS.fullmatch(str(order.paper)):
        raise ValueError(f"{order.verb} cannot be about paper {order.paper}")
    said = f"{order.verb}\n{order.paper}\n{order.day.isoformat()}\n{order.reader}".encode()
    return f"{_encoded(said)}.{_encoded(_mac(said, secret))}"


def verified(token: str, secret_of: Callable[[str], str | None]) -> Order:
    """The order of a token that was signed with its reader's secret.

    ``secret_of`` gives the secret of a reader by name, None where there is no such reader. Raises InputError for
    everything else than a token of ours, with one message: it does not tell an unknown reader from a wrong signature.
    """
    said_text, _, mac_text = token.partition(".") if len(token) <= LONGEST_TOKEN else ("", "", "")
    said, mac = _decoded(said_text), _decoded(mac_text)
    order = _read(said)
    secret = secret_of(order.reader) if order else None
    # Compared in constant time, also where there is nothing to compare with.
    genuine = hmac.compare_digest(_mac(said, secret or "no reader"), mac)
    if not (genuine and order and secret):
        raise InputError(_REFUSED)
    return order


def act_url(site: str, order: Order, secret: str) -> str:
    """The address at the site (such as ``https://papers.example.org``) that shows and takes an order."""
    return f"{site.rstrip('/')}{ACT_PATH}?t={sign(order, secret)}"


def _mac(said: bytes, secret: str) -> bytes:
    return hmac.new(secret.encode(), _PURPOSE + said, sha256).digest()[:_MAC_BYTES]


def _encoded(data: bytes) -> str:
    return urlsafe_b64encode(data).rstrip(b"=").decode("ascii")


def _decoded(text: str) -> bytes:
    """The bytes; empty for what is not written as ``_encoded`` writes it, so that an order has one token only."""
    try:
        data = urlsafe_b64decode(text.encode("ascii") + b"=" * (-len(text) % 4))
    except (UnicodeEncodeError, binascii.Error):
        return b""
    return data if _encoded(data) == text else b""


def _read(said: bytes) -> Order | None:
    try:
        verb, paper, day, reader = said.decode().split("\n", 3)
        order = Order(Verb(verb), int(paper), date.fromisoformat(day), reader)
    except ValueError:  # of text, of the number of parts, of the verb, of the number or of the day
        return None
    return order if reader and _DIGITS.fullmatch(paper) else None
