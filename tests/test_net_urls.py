"""Addresses as messages show them, and as mirrors have them."""

from __future__ import annotations

from urllib.parse import parse_qsl

import httpx
import pytest
from hypothesis import given
from hypothesis import strategies as st

from broadsheet.errors import FetchError, SettingsError
from broadsheet.net.urls import Mirrors, parse_url, shown

SECRET = ["key", "api_key", "apikey", "API-Key", "mailto", "email", "token", "access_token", "password", "x%5Fkey"]
SEEN = ["q", "query", "keyword", "keys", "monkey", "resumptionToken", "author", "cursor", "verb"]


@pytest.mark.parametrize("name", SECRET)
def test_secrets_are_not_shown(name: str) -> None:
    for url in (f"https://a.org/x?{name}=hush", f"https://a.org/x?q=1&{name}=hush&n=2"):
        assert shown(url) == url.replace("hush", "***")


@pytest.mark.parametrize("name", SEEN)
def test_the_rest_is_shown(name: str) -> None:
    assert shown(f"https://a.org/x?{name}=seen") == f"https://a.org/x?{name}=seen"


@pytest.mark.parametrize(
    ("given", "expected"),
    [
        ("https://u:p@a.org/x", "https://a.org/x"),
        ("https://u:p@q@a.org/x", "https://a.org/x"),
        ("//u@a.org", "//a.org"),
        ("u:p@a.org/x", "a.org/x"),
        ("https://a.org/@u/x", "https://a.org/@u/x"),
        ("https://a.org/x?q=a@b#part", "https://a.org/x?q=a@b"),
        ("https://a.org/x?token", "https://a.org/x?token"),
        ("https://a.org/x?token=", "https://a.org/x?token="),
    ],
)
def test_who_logs_in_is_not_shown(given: str, expected: str) -> None:
    assert shown(given) == expected
    assert shown(expected) == expected


@pytest.mark.parametrize("url", ["https://u:hu/sh@a.org/", "https://u:hush@a.org:port/", "https://hush\n@a.org/"])
def test_a_wrong_address_does_not_show_who_logs_in(url: str) -> None:
    with pytest.raises(FetchError, match=r"a\.org") as caught:
        parse_url(url)
    assert "hu" not in str(caught.value) + caught.value.url


@given(st.dictionaries(st.text(min_size=1, max_size=10), st.text(max_size=20), max_size=5))
def test_parameters_come_back(params: dict[str, str]) -> None:
    url = parse_url("https://a.org/x", params)
    assert parse_qsl(url.query.decode(), keep_blank_values=True) == list(params.items())


@pytest.mark.parametrize(
    ("base", "url", "led"),
    [
        ("http://m.lan:81/arxiv/", "https://a.org/x?y=%20z", "http://m.lan:81/arxiv/x?y=%20z"),
        ("https://m.org", "http://a.org/", "https://m.org/"),
        ("https://m.org/b", "http://a.org/", "https://m.org/b/"),
        ("https://m.org/b", "http://A.org:8080/x", "https://m.org/b/x"),
    ],
)
def test_mirrors_lead_and_bring_back(base: str, url: str, led: str) -> None:
    mirrors = Mirrors({"a.org": base})
    asked = parse_url(url)
    assert str(mirrors.lead(asked)) == led
    assert mirrors.back(asked, httpx.URL(led)) == asked


def test_what_is_not_of_the_mirror_stays() -> None:
    mirrors = Mirrors({"a.org": "http://m.lan/a"})
    asked = parse_url("https://a.org/x")
    for other in (
        "http://m.lan/ab/x",
        "http://m.lan/x",
        "http://m.lan:81/a/x",
        "https://m.lan/a/x",
        "http://b.org/a/x",
    ):
        assert mirrors.back(asked, httpx.URL(other)) == httpx.URL(other)
    assert mirrors.back(parse_url("https://b.org/"), httpx.URL("http://m.lan/a/x")) == httpx.URL("http://m.lan/a/x")
    assert mirrors.lead(parse_url("https://sub.a.org/")) is None


@pytest.mark.parametrize("base", ["m.lan/a", "ftp://m.lan", "http://", "http://m.lan/?q="])
def test_a_mirror_that_is_none(base: str) -> None:
    with pytest.raises(SettingsError, match=r"the mirror of a\.org"):
        Mirrors({"a.org": base})
