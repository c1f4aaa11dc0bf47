"""Signed addresses: what was signed comes back, and nothing else does."""

from __future__ import annotations

import hashlib
import hmac
import re
from base64 import urlsafe_b64decode
from datetime import date

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from broadsheet.errors import InputError
from broadsheet.signing import LONGEST_TOKEN, Order, Verb, act_url, sign, verified

SECRET = "s3cret-of-me"
DAY = date(2026, 12, 1)
ORDER = Order(Verb.SAVE, 1234, DAY, "me")

NAMES = st.text(st.characters(categories=("L", "Nd"), include_characters="._-"), min_size=1, max_size=40)
ABOUT_PAPERS = st.builds(
    Order, st.sampled_from([Verb.SAVE, Verb.LIKE, Verb.DISMISS]), st.integers(1, 10**18 - 1), st.dates(), NAMES
)
ORDERS = ABOUT_PAPERS | st.builds(Order, st.just(Verb.UNSUBSCRIBE), st.just(0), st.dates(), NAMES)
SECRETS = st.text(st.characters(codec="utf-8"), min_size=1, max_size=40)


def opened(token: str, secret: str | None = SECRET) -> Order:
    return verified(token, lambda name: secret)


@given(ORDERS, SECRETS)
def test_what_was_signed_comes_back_and_is_url_safe(order: Order, secret: str) -> None:
    token = sign(order, secret)
    assert opened(token, secret) == order
    assert re.fullmatch(r"[A-Za-z0-9_-]+\.[A-Za-z0-9_-]{22}", token)
    assert len(token) <= LONGEST_TOKEN


@given(ORDERS, SECRETS, SECRETS)
def test_another_secret_opens_nothing(order: Order, secret: str, other: str) -> None:
    if secret == other:
        return
    with pytest.raises(InputError, match="no longer valid"):
        opened(sign(order, secret), other)


@given(ORDERS, ORDERS)
def test_a_signature_is_of_one_order_only(first: Order, second: Order) -> None:
    if first == second:
        return
    forged = f"{sign(first, SECRET).partition('.')[0]}.{sign(second, SECRET).partition('.')[2]}"
    with pytest.raises(InputError):
        opened(forged)


@given(ORDERS, st.data())
def test_any_other_letter_anywhere_makes_it_invalid(order: Order, data: st.DataObject) -> None:
    token = sign(order, SECRET)
    at = data.draw(st.integers(0, len(token) - 1))
    letter = data.draw(st.characters(codec="utf-8").filter(lambda c: c != token[at]))
    with pytest.raises(InputError):
        opened(token[:at] + letter + token[at + 1 :])


@given(st.text(max_size=500))
@example("")
@example(".")
@example("a.b.c")
@example("=.=")
@example("\ud800")
@example(sign(ORDER, SECRET) + "=")
@example(sign(ORDER, SECRET) + "\n")
@example(" " + sign(ORDER, SECRET))
@example("A" * 1_000_000)
def test_anything_else_is_refused_and_never_crashes(token: str) -> None:
    with pytest.raises(InputError):
        opened(token)


def test_an_unknown_reader_is_told_as_a_wrong_signature_is() -> None:
    token = sign(ORDER, SECRET)
    messages = []
    for secret in (None, "", "wrong"):
        with pytest.raises(InputError) as error:
            opened(token, secret)
        messages.append(str(error.value))
    assert len(set(messages)) == 1


def test_a_reader_cannot_sign_for_another() -> None:
    secrets = {"ada": "secret of ada", "emmy": "secret of emmy"}
    forged = sign(Order(Verb.SAVE, 7, DAY, "emmy"), secrets["ada"])
    with pytest.raises(InputError):
        verified(forged, secrets.get)


def test_the_secret_is_asked_for_by_the_name_in_the_order() -> None:
    asked = []
    verified(sign(ORDER, SECRET), lambda name: asked.append(name) or SECRET)
    assert asked == ["me"]


@pytest.mark.parametrize(
    ("order", "secret"),
    [
        (Order(Verb.SAVE, 0, DAY, "me"), SECRET),
        (Order(Verb.SAVE, -1, DAY, "me"), SECRET),
        (Order(Verb.SAVE, 10**18, DAY, "me"), SECRET),
        (Order(Verb.UNSUBSCRIBE, 5, DAY, "me"), SECRET),
        (Order(Verb.SAVE, 5, DAY, ""), SECRET),
        (ORDER, ""),
    ],
)
def test_orders_that_no_link_may_hold(order: Order, secret: str) -> None:
    with pytest.raises(ValueError, match=r"cannot be about|signed for a reader"):
        sign(order, secret)


def test_the_mac_is_hmac_sha256_over_the_order_cut_to_128_bits() -> None:
    """Written out by hand (RFC 2104), so that the format cannot change by accident: links in old mails must work."""
    said, mac = (urlsafe_b64decode(part + "=" * (-len(part) % 4)) for part in sign(ORDER, SECRET).split("."))
    assert said == b"save\n1234\n2026-12-01\nme"
    whole = hmac.new(SECRET.encode(), b"broadsheet order 1\n" + said, hashlib.sha256).digest()
    assert mac == whole[:16]


def test_the_address() -> None:
    token = sign(ORDER, SECRET)
    for site in ("https://papers.example.org", "https://papers.example.org/"):
        assert act_url(site, ORDER, SECRET) == f"https://papers.example.org/r/act?t={token}"
    assert act_url("https://example.org/papers/", ORDER, SECRET).startswith("https://example.org/papers/r/act?t=")
