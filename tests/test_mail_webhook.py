"""Posts to web hooks: Slack's limits, inert texts, no redirects, and no error that repeats the address."""

from __future__ import annotations

import json
from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from broadsheet.errors import DeliveryError, SettingsError
from broadsheet.mail.webhook import LONGEST_HEADING, LONGEST_SECTION, MOST_BLOCKS, host_of, payload, post
from broadsheet.model import Link, LinkKind
from broadsheet.model.reading import Edition
from broadsheet.net import Client
from tests.editions import SENTENCE, changed, edition, paper, usual
from tests.fakeweb import Answer, FakeWeb

SITE = "https://papers.example.org"
SECRET = "T012/B345/abcdefSECRET"
URL = f"https://hooks.example.org/services/{SECRET}"


def texts(made: dict[str, Any]) -> list[str]:
    """Every text of every block."""
    found = []
    for block in made["blocks"]:
        parts = block.get("elements") or [block["text"]]
        found += [part["text"] for part in parts]
    return found


def assert_within_limits(made: dict[str, Any]) -> None:
    assert 2 <= len(made["blocks"]) <= MOST_BLOCKS
    assert all(0 < len(text) <= LONGEST_SECTION for text in texts(made))
    assert len(made["blocks"][0]["text"]["text"]) <= LONGEST_HEADING
    assert all(len(block.get("elements", [])) <= 10 for block in made["blocks"])
    assert len(made["text"]) <= 2_000  # Discord takes no more, Slack twenty times that


def test_a_usual_day() -> None:
    made = payload(replace(usual(), notes=("Two days were caught up.",)), SITE)
    assert_within_limits(made)
    assert [block["type"] for block in made["blocks"]] == ["header", "context", *["section"] * 16]
    assert texts(made)[:4] == [
        "Broadsheet, Tuesday, 1 December 2026",
        "11 papers chosen from 512",
        "_Two days were caught up._",
        "*Front page*",
    ]
    first = texts(made)[4].split("\n")
    assert first[0] == f"*<{SITE}/paper/1|Sorting pebbles, part 1>*"
    assert first[1] == "Ada Byron, Emmy Noether · cs.LG · arXiv 2611.00001"
    assert first[-1] == "_Why: like 3 papers you saved on tides_"
    assert texts(made)[-1] == f"<{SITE}/edition/2026-12-01|this edition on the site>"
    lines = made["text"].split("\n")
    assert lines[0] == "*Broadsheet, Tuesday, 1 December 2026*"
    assert len([line for line in lines if line.startswith("• ")]) == 10
    assert lines[-1] == f"1 more paper: <{SITE}/edition/2026-12-01|see the rest>"


def test_without_a_site_papers_are_linked_where_they_are() -> None:
    made = payload(usual())
    assert "<https://arxiv.org/abs/2611.00001|Sorting pebbles, part 1>" in texts(made)[3]
    assert "papers.example.org" not in json.dumps(made)


def test_long_editions_say_how_much_is_left_out() -> None:
    numbers = iter(range(1, 1000))
    made = payload(
        edition(*([paper(next(numbers), abstract=SENTENCE * 99) for _ in range(60)] for _ in range(4))), SITE
    )
    assert_within_limits(made)
    told = sum("/paper/" in text for text in texts(made))
    assert texts(made)[-1].startswith(f"{240 - told} more papers: <")
    assert len(made["blocks"]) == MOST_BLOCKS


def test_long_titles_leave_room_for_the_way_to_the_rest() -> None:
    made = payload(edition([paper(n, title=SENTENCE * 9) for n in range(1, 12)]), SITE)
    *_, last = lines = made["text"].split("\n")
    told = len([line for line in lines if line.startswith("• ")])
    assert 3 <= told < 10
    assert last == f"{11 - told} more papers: <{SITE}/edition/2026-12-01|see the rest>"
    assert len(made["text"]) <= 2_000


def test_hostile_texts_are_inert() -> None:
    bad = "<!channel> <https://evil.example|click> *bold* & `code` <@U1> @everyone [click](https://evil.example)"
    hostile = changed(
        usual(), title=bad, abstract=bad, authors=(bad,), venue=bad, identifiers=(),
        links=(Link(LinkKind.PAGE, "https://e.org/a|b>c?x=1&y=2"),),
    )  # fmt: skip
    made = payload(replace(hostile, notes=(bad,)))
    for text in [made["text"], *texts(made)[1:]]:
        assert "<!" not in text
        assert "<@" not in text
        assert "<https://evil" not in text
        assert "*bold*" not in text
        assert "@everyone" not in text
        assert "](" not in text
    assert "<https://e.org/a%7Cb%3Ec?x=1&amp;y=2|&lt;!channel&gt;" in made["text"]


@given(
    st.lists(st.integers(0, 30), max_size=4),
    st.text(max_size=50),
    st.sampled_from(["|", "<&>", "*", "鹅", "x" * 900, "pebble ", "\n", "$\\alpha_1$"]),
    st.integers(0, 60),
)
@settings(max_examples=40, deadline=None)
def test_it_is_always_within_the_limits(sizes: list[int], text: str, piece: str, times: int) -> None:
    numbers = iter(range(1, 1000))
    long = text + piece * times
    told = edition(
        *(
            [paper(next(numbers), title=long, abstract=long, authors=(long,) * 9, venue=long) for _ in range(n)]
            for n in sizes
        ),
        notes=(long,) * 9,
    )
    sections = tuple(replace(section, title=long) for section in told.sections)
    assert_within_limits(payload(replace(told, sections=sections), SITE))


# Posting


def once(web: FakeWeb) -> Client:
    return web.client(tries=1)


def refused(
    web: FakeWeb, printed: Edition | None = None, url: str = URL, client: Client | None = None
) -> DeliveryError:
    with pytest.raises(DeliveryError) as caught:
        post(url, printed or usual(), client or once(web), SITE)
    error = caught.value
    assert error.step == "post"
    assert str(error).startswith("the web hook at ")
    assert "SECRET" not in str(error)
    assert error.__cause__ is None
    assert error.__suppress_context__
    return error


def test_it_is_posted_as_json(fakeweb: FakeWeb) -> None:
    fakeweb.on("hooks.example.org", f"/services/{SECRET}", Answer("ok"))
    post(URL, usual(), once(fakeweb), SITE)
    (request,) = fakeweb.requests
    assert (request.method, request.headers["content-type"]) == ("POST", "application/json")
    assert json.loads(request.body) == payload(usual(), SITE)


@pytest.mark.parametrize(
    ("status", "passing", "said"),
    [
        (400, False, "answered 400"),
        (403, False, "answered 403"),
        (404, False, "check the address"),
        (410, False, "check the address"),
        (429, True, "fewer requests"),
        (500, True, "answered 500"),
        (503, True, "answered 503"),
    ],
)
def test_what_the_service_refuses(status: int, passing: bool, said: str, fakeweb: FakeWeb) -> None:
    fakeweb.on("hooks.example.org", f"/services/{SECRET}", Answer("no", status=status))
    error = refused(fakeweb)
    assert said in str(error)
    assert error.passing is passing
    assert len(fakeweb.requests) == 1  # a post that may have been taken is not made again at once


@pytest.mark.parametrize("status", [301, 302, 303, 307, 308])
@pytest.mark.parametrize("where", ["https://other.example.org/x", "/services/else", "http://127.0.0.1/x"])
def test_redirects_are_refused(status: int, where: str, fakeweb: FakeWeb) -> None:
    fakeweb.on("hooks.example.org", f"/services/{SECRET}", Answer(status=status, headers={"Location": where}))
    fakeweb.on("other.example.org", "/x", Answer("ok"))
    assert "not followed" in str(refused(fakeweb))
    assert len(fakeweb.requests) == 1


def test_a_connection_that_breaks_off(fakeweb: FakeWeb) -> None:
    cut = Answer("ok", headers={"Content-Length": "10"}, cut=1)
    fakeweb.on("hooks.example.org", f"/services/{SECRET}", cut)
    assert refused(fakeweb).passing


def test_a_host_that_is_not_there(fakeweb: FakeWeb) -> None:
    assert refused(fakeweb).passing


@pytest.mark.parametrize("host", ["127.0.0.1", "10.0.0.7", "localhost", "printer.local", "[::1]"])
def test_private_addresses_need_the_setting(host: str, fakeweb: FakeWeb) -> None:
    error = refused(fakeweb, url=f"http://{host}:1/services/{SECRET}")
    assert "allow private addresses" in str(error)
    assert not error.passing


def test_private_addresses_with_the_setting(fakeweb: FakeWeb) -> None:
    fakeweb.on("hooks", "/x", Answer("ok"))
    post(f"{fakeweb.base}/hooks/x", usual(), fakeweb.client(tries=1, allow_private=True))
    assert len(fakeweb.requests) == 1


@pytest.mark.parametrize(
    "url", ["", "hooks.example.org/x", "ftp://hooks.example.org", "javascript:alert(1)", "https://"]
)
def test_what_is_no_address(url: str, fakeweb: FakeWeb) -> None:
    with pytest.raises(SettingsError, match="no http"):
        post(url, usual(), once(fakeweb))
    with pytest.raises(SettingsError, match="no http"):
        host_of(url)
