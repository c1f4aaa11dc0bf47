"""An edition as an e-mail: its size, its headers, its links, and that nothing in it is more than text."""

from __future__ import annotations

import re
from base64 import b64encode
from dataclasses import replace
from datetime import date, timedelta
from email import message_from_bytes
from email.headerregistry import Address
from email.message import EmailMessage
from email.policy import default
from html.parser import HTMLParser
from urllib.parse import parse_qs, urlsplit

import lxml.html
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from broadsheet.errors import InputError, SettingsError
from broadsheet.mail.message import MAX_BYTES, Desk, compose
from broadsheet.mail.wording import checked_site
from broadsheet.mail_address import mailbox
from broadsheet.model import Link, LinkKind, Notice, NoticeKind, Paper
from broadsheet.model.reading import Edition, Entry, Reader, Reason
from broadsheet.signing import Order, Verb, verified
from tests.editions import DAY, NOW, READER, SENTENCE, changed, edition, entry, paper, usual

SITE = "https://papers.example.org"
SENDER = mailbox("论文日报 <paper@example.org>", "mail_from")
TO = mailbox("reader@example.org", "to")


def sent(printed: Edition, site: str = SITE, reader: Reader = READER, sender: Address = SENDER) -> EmailMessage:
    """The message as a mail program reads it: from its bytes."""
    data = compose(printed, reader, TO, Desk(sender, site), NOW).as_bytes()
    assert len(data) <= MAX_BYTES
    assert all(len(line) <= 998 for line in data.split(b"\r\n"))
    read = message_from_bytes(data, policy=default)
    assert isinstance(read, EmailMessage)
    assert not read.defects
    assert [part.get_content_type() for part in read.iter_parts()] == ["text/plain", "text/html"]
    assert not any(part.defects for part in read.iter_parts())
    return read


def text(message: EmailMessage) -> str:
    return str(next(iter(message.iter_parts())).get_content())


def html(message: EmailMessage) -> str:
    return str(list(message.iter_parts())[1].get_content())


def links(source: str) -> dict[str, list[str]]:
    found: dict[str, list[str]] = {}
    for anchor in lxml.html.fromstring(source).iter("a"):
        found.setdefault(anchor.text_content(), []).append(str(anchor.get("href")))
    return found


def in_words(source: str) -> str:
    return " ".join(lxml.html.fromstring(source).text_content().split())


# What it says


def test_every_paper_is_told_with_its_reasons_in_both_parts() -> None:
    message = sent(usual())
    for part in (" ".join(text(message).split()), in_words(html(message))):
        for number in range(1, 12):
            assert f"Sorting pebbles, part {number} " in f"{part} "
        assert part.count("like 3 papers you saved on tides") == 11
        assert "Tuesday, 1 December 2026" in part
        assert "11 papers chosen from 512" in part
        assert part.count("We sort pebbles on a beach") >= 11
        assert "arXiv 2611.00001" in part
    assert message["Subject"] == "Broadsheet, 1 December 2026: Sorting pebbles, part 1"
    assert message["Date"].datetime == NOW
    assert message["To"] == "reader@example.org"


def test_notes_and_notices_are_told() -> None:
    withdrawn = changed(usual(), notices=(Notice(NoticeKind.CONCERN, "figures"),))
    message = sent(replace(withdrawn, notes=("Two days were caught up.",)))
    for part in (text(message), in_words(html(message))):
        assert "Two days were caught up." in part
        assert "expression of concern" in part.lower()


def test_discoveries_are_marked_where_no_heading_says_it() -> None:
    front = replace(usual().sections[0], entries=(entry(paper(1)), entry(paper(2), explored=True)))
    message = sent(replace(usual(), sections=(front, usual().sections[3])))
    assert text(message).count("DISCOVERY: ") == 1
    assert "DISCOVERY: Sorting pebbles, part 2" in text(message)
    assert html(message).count(">Discovery</b>") == 1


def test_mathematics_is_plain_unicode() -> None:
    told = changed(
        usual(),
        title=r"Rates of $O(n^{-1/2}\log n)$ for $\ell_2$ and $x^2$, at \$5",
        abstract=r"Let $\alpha \leq \beta_i$.",
    )
    message = sent(told)
    for part in (text(message), in_words(html(message))):
        assert "Rates of O(n^(-1/2) log n) for ℓ₂ and x², at $5" in part
        assert "Let α ≤ β_i." in part
        assert "\\" not in part


def test_chinese_and_greek_survive() -> None:
    message = sent(changed(usual(), title="大模型的检索增强生成", authors=("王小明", "Ελένη Παππά")))
    for part in (text(message), in_words(html(message)), message["Subject"]):
        assert "大模型的检索增强生成" in part
    assert "王小明, Ελένη Παππά" in text(message)


def test_dark_mode_is_provided_for() -> None:
    source = html(sent(usual()))
    assert '<meta name="color-scheme" content="light dark">' in source
    assert "prefers-color-scheme: dark" in source
    assert "<img" not in source  # nothing is loaded when the mail is opened
    assert not re.search(r"url\(|@import|<link|<script", source)


# Links


def test_actions_are_signed_for_paper_reader_and_day() -> None:
    found = links(html(sent(usual())))
    for name, verb in (("Save", Verb.SAVE), ("Like", Verb.LIKE), ("Not for me", Verb.DISMISS)):
        orders = []
        for url in found[name]:
            parts = urlsplit(url)
            assert f"{parts.scheme}://{parts.netloc}{parts.path}" == f"{SITE}/r/act"
            orders.append(verified(parse_qs(parts.query)["t"][0], {"me": READER.secret}.get))
        assert orders == [Order(verb, number, DAY, "me") for number in range(1, 12)]
    assert found["Sorting pebbles, part 3"] == [f"{SITE}/paper/3"]
    assert found["This edition on the site"] == [f"{SITE}/edition/2026-12-01"]


def test_without_a_site_papers_are_linked_where_they_are_and_nothing_can_be_clicked() -> None:
    message = sent(usual(), site="")
    found = links(html(message))
    assert found["Sorting pebbles, part 3"] == ["https://arxiv.org/abs/2611.00003"]
    assert set(found) & {"Save", "Like", "Not for me", "Unsubscribe", "This edition on the site"} == set()
    assert message["List-Unsubscribe"] == "<mailto:paper@example.org?subject=unsubscribe%20me>"
    assert message["List-Unsubscribe-Post"] is None
    assert "https://arxiv.org/abs/2611.00003" in text(message)


def test_one_click_unsubscribing() -> None:
    """RFC 8058: an https address and the header that says it takes a POST; neither folded nor encoded."""
    data = compose(usual(), READER, TO, Desk(SENDER, SITE), NOW).as_bytes()
    (line,) = re.findall(rb"^List-Unsubscribe: <(https://[^>]+)>\r$", data, re.MULTILINE)
    order = verified(parse_qs(urlsplit(line.decode()).query)["t"][0], {"me": READER.secret}.get)
    assert order == Order(Verb.UNSUBSCRIBE, 0, DAY, "me")
    message = sent(usual())
    assert message["List-Unsubscribe-Post"] == "List-Unsubscribe=One-Click"
    assert links(html(message))["Unsubscribe"] == [line.decode()]
    assert line.decode() in text(message)


def test_a_long_address_is_not_broken() -> None:
    site = "https://papers.example.org/" + "a" * 250
    message = sent(usual(), site=site, reader=replace(READER, name="读者" * 20))
    assert message["List-Unsubscribe"].startswith(f"<{site}/r/act?t=")


def test_http_has_no_one_click() -> None:
    message = sent(usual(), site="http://127.0.0.1:8765/")
    assert message["List-Unsubscribe"].startswith("<http://127.0.0.1:8765/r/act?t=")
    assert message["List-Unsubscribe-Post"] is None


@pytest.mark.parametrize(
    "url",
    [
        "papers.example.org",
        "ftp://example.org",
        "https://",
        "javascript:alert(1)",
        "https://e.org/?a=1",
        "https://e.org/\r\nX: y",
        "https://e.org/ b",
        "https://e.org/" + "a" * 400,
    ],
)
def test_a_site_that_is_no_address(url: str) -> None:
    with pytest.raises(SettingsError, match="site_url"):
        checked_site(url)
    with pytest.raises(SettingsError, match="site_url"):
        compose(usual(), READER, TO, Desk(SENDER, url), NOW)


# Headers


def test_only_the_name_is_encoded() -> None:
    data = compose(usual(), READER, TO, Desk(SENDER, SITE), NOW).as_bytes()
    (line,) = re.findall(rb"^From: (.*)\r$", data, re.MULTILINE)
    assert line == b"=?utf-8?b?6K665paH5pel5oql?= <paper@example.org>"
    assert data.isascii()


def test_the_identity_is_that_of_reader_address_and_day() -> None:
    def identity(printed: Edition, reader: Reader = READER, to: str = "reader@example.org", later: int = 0) -> str:
        made = compose(printed, reader, mailbox(to, "to"), Desk(SENDER, SITE), NOW + timedelta(hours=later))
        return str(made["Message-ID"])

    first = identity(usual())
    assert re.fullmatch(r"<broadsheet\.20261201\.[0-9a-f]{24}@example\.org>", first)
    assert identity(changed(usual(), title="Another"), later=5) == first
    assert identity(usual(), replace(READER, secret="new")) == first
    others = {
        identity(replace(usual(), day=date(2026, 12, 2))),
        identity(usual(), replace(READER, name="you")),
        identity(usual(), replace(READER, created=NOW)),
        identity(usual(), to="other@example.org"),
    }
    assert len(others | {first}) == 5


HOSTILE = "Sorting\r\nBcc: thief@example.org\r\n\r\n<script>alert(1)</script>\x00\u2028\u202egnp.exe"


def test_no_header_can_be_added() -> None:
    told = changed(usual(), title=HOSTILE, authors=(HOSTILE,), venue=HOSTILE)
    front = replace(told.sections[0], title=HOSTILE)
    told = replace(told, sections=(front, *told.sections[1:]), notes=(HOSTILE,))
    data = compose(told, replace(READER, name="me\r\nBcc: thief@example.org"), TO, Desk(SENDER, SITE), NOW).as_bytes()
    head, _, _ = data.partition(b"\r\n\r\n")
    names = re.findall(rb"^([A-Za-z-]+):", head, re.MULTILINE)
    assert sorted(names) == sorted(set(names))
    assert b"Bcc" not in names
    message = message_from_bytes(data, policy=default)
    assert message["Subject"].startswith("Broadsheet, 1 December 2026: Sorting Bcc: thief@example.org <script>")
    assert "\u202e" not in message["Subject"]


def encoded_word(text: str) -> str:
    return f"=?utf-8?b?{b64encode(text.encode()).decode()}?="


@pytest.mark.parametrize(
    "word",
    [
        encoded_word("x\r\nBcc: thief@example.org"),
        encoded_word("\r\n\r\nanother body"),
        "=?utf-8?q?x=0D=0ABcc:_thief@example.org?=",
        "=?utf-8?q?a?= =?us-ascii?q?=0D=0ABcc:_t?=",
        "=?=?utf-8?q?=0ABcc:_t?=",
    ],
)
def test_what_looks_encoded_in_a_title_is_not_decoded_into_a_header(word: str) -> None:
    """Python's email package decodes RFC 2047 in what it is given, line breaks included, and writes them bare."""
    data = compose(changed(usual(), title=f"On {word}"), READER, TO, Desk(SENDER, SITE), NOW).as_bytes()
    head = message_from_bytes(data, policy=default)
    assert len(head.keys()) == 11
    assert head["Bcc"] is None
    assert " ".join(str(head["Subject"]).split()).startswith("Broadsheet, 1 December 2026: On = ?")


@pytest.mark.parametrize("written", ["{} <a@example.org>", '"{}" <a@example.org>', "{}@example.org"])
@pytest.mark.parametrize("text", ["\r\nBcc: t", "a@example.org, b"])
def test_what_looks_encoded_is_no_address(written: str, text: str) -> None:
    with pytest.raises(InputError, match="encoded"):
        mailbox(written.format(encoded_word(text)), "to")


@given(st.text(max_size=80))
@settings(deadline=None)
def test_whatever_is_taken_as_an_address_is_one_line_of_ascii(written: str) -> None:
    try:
        found = mailbox(written, "to")
    except InputError:
        return
    assert found.addr_spec.isascii()
    assert found.addr_spec.isprintable()
    data = compose(usual(), READER, found, Desk(found, SITE), NOW).as_bytes()
    head = message_from_bytes(data.partition(b"\r\n\r\n")[0] + b"\r\n\r\n", policy=default)
    assert [address.addr_spec for address in head["To"].addresses] == [found.addr_spec]
    assert [address.addr_spec for address in head["From"].addresses] == [found.addr_spec]
    assert len(head.keys()) == 11


# Nothing in it is more than text (C10)

FORBIDDEN = {"script", "svg", "img", "iframe", "object", "form", "input", "link", "base", "embed", "video"}


class Tags(HTMLParser):
    """All tags and attributes of a source, read by a second parser."""

    def __init__(self) -> None:
        super().__init__()
        self.tags: set[str] = set()
        self.attributes: set[str] = set()
        self.hrefs: set[str] = set()

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.add(tag)
        self.attributes |= {name for name, _ in attrs}
        self.hrefs |= {value or "" for name, value in attrs if name == "href"}


def assert_inert(source: str) -> None:
    tags = Tags()
    tags.feed(source)
    assert tags.tags & FORBIDDEN == set()
    assert not any(name.startswith("on") for name in tags.attributes)
    assert all(href.startswith(("https://", "http://")) for href in tags.hrefs)


@pytest.mark.parametrize("site", [SITE, ""])
@pytest.mark.parametrize(
    "bad",
    [
        "<script>alert(1)</script> Attention",
        '"><svg onload=alert(1)>',
        "$<img src=a onerror=alert(1)>%$",
        "</title><b>",
        "[x](javascript:alert(1))",
        r"$\href{javascript:alert(document.cookie)}{x}$",
        "{{ 7*7 }}{% raw %}",
        "<!--",
        "]]>",
    ],
)
def test_hostile_texts_are_inert(bad: str, site: str) -> None:
    hostile = paper(
        1,
        title=bad,
        abstract=bad,
        authors=(bad,),
        venue=bad,
        identifiers=(),
        links=(Link(LinkKind.PAGE, f"javascript:alert(1)//{bad}"), Link(LinkKind.PDF, f"https://e.org/{bad}")),
    )
    told = edition([hostile], notes=(bad,))
    front = replace(told.sections[0], title=bad, entries=(entry(hostile, bad),))
    source = html(sent(replace(told, sections=(front,)), site=site))
    assert_inert(source)
    assert "49" not in in_words(source)


@given(st.text(max_size=60), st.text(max_size=60))
@settings(max_examples=60, deadline=None)
def test_any_text_is_inert(title: str, other: str) -> None:
    told = changed(usual(), title=title, abstract=other, authors=(other,), venue=title)
    assert_inert(html(sent(told)))


# Its size (H06)


def long_edition(*sizes: int, abstract: str = SENTENCE * 40, title: str = "") -> Edition:
    numbers = iter(range(1, 10_000))

    def told(number: int) -> Paper:
        return paper(number, abstract=abstract, **({"title": f"{title} {number}"} if title else {}))

    return edition(*([told(next(numbers)) for _ in range(size)] for size in sizes))


@pytest.mark.parametrize("abstract", [SENTENCE * 40, "鹅卵石在海滩上按大小排列。" * 150])
def test_a_hundred_papers_are_cut_and_the_rest_is_linked(abstract: str) -> None:
    printed = long_edition(40, 30, 20, 10, abstract=abstract)
    message = sent(printed)
    source = html(message)
    shown = len(links(source)["Save"])
    left = [int(n) for n in re.findall(r"(\d+) more in this section", in_words(source))]
    assert shown + sum(left) == 100
    assert 0 < sum(left) < 100
    assert links(source)["see the rest"] == [f"{SITE}/edition/2026-12-01"] * len(left)
    assert [int(n) for n in re.findall(r"(\d+) more in this section", text(message))] == left
    assert len(message.as_bytes()) > MAX_BYTES * 0.85  # no more is left out than must be


def test_a_usual_day_is_whole() -> None:
    """Front page, six sections and discoveries, as the settings have them, with abstracts of a usual length."""
    source = html(sent(long_edition(10, 48, 8, 3, abstract=SENTENCE * 15)))
    assert len(links(source)["Save"]) == 69
    assert "more in this section" not in source


def test_nothing_is_promised_where_there_is_no_site() -> None:
    source = html(sent(long_edition(400, 300, 200, 100), site=""))
    assert "more in this section" in source
    assert "see the rest" not in source


def test_many_sections_are_cut_too() -> None:
    front = usual().sections[0]
    many = tuple(
        replace(front, key=f"s{n}", title=f"Section {n}", entries=(entry(paper(n, title="T" * 900)),))
        for n in range(1, 401)
    )
    source = html(sent(replace(usual(), sections=many)))
    shown = len(links(source)["Save"])
    assert f"{400 - shown} papers left out to keep this mail short" in in_words(source)
    assert 50 < shown < 400


sizes = st.lists(st.integers(0, 60), min_size=0, max_size=4)
words = st.sampled_from(["pebble ", "鹅卵石", "x" * 900, "é" * 300, "<&> ", "=", "\U0001f30a", "$\\alpha_{12}$ "])


@given(sizes, words, words, st.integers(0, 80), st.sampled_from([SITE, ""]))
@settings(max_examples=30, deadline=None)
def test_it_is_never_too_long(sizes: list[int], title: str, abstract: str, times: int, site: str) -> None:
    printed = long_edition(*sizes, abstract=abstract * times, title=title * (times // 4))
    reasons = tuple(Reason("words", title * times) for _ in range(5))
    front = printed.sections[:1]
    told = tuple(replace(s, entries=tuple(replace(e, reasons=reasons) for e in s.entries)) for s in front)
    sent(replace(printed, sections=(*told, *printed.sections[1:]), notes=(abstract * times,) * 30), site=site)


def test_an_edition_without_papers_or_reasons_is_still_a_mail() -> None:
    bare = Entry(paper(1, title="", abstract="", authors=(), areas=(), identifiers=()), 0.0, {}, ())
    told = replace(usual(), sections=(replace(usual().sections[0], entries=(bare,)),))
    assert "Without a title" in text(sent(told, site=""))
    assert "0 papers chosen from 512" in text(sent(replace(usual(), sections=())))
