"""Parts of what is sent: mail addresses, web addresses, formulas without MathML, bylines."""

from __future__ import annotations

import re
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from broadsheet.errors import InputError
from broadsheet.mail import wording
from broadsheet.mail.formulas import as_html, as_text, marked_line
from broadsheet.mail.wording import byline, story, web_address
from broadsheet.mail_address import mailbox
from broadsheet.text import shortened
from tests.editions import SENTENCE, entry, paper


@pytest.mark.parametrize(
    ("written", "name", "address"),
    [
        ("a@example.org", "", "a@example.org"),
        ("  a@example.org ", "", "a@example.org"),
        ("论文日报 <a@b>", "论文日报", "a@b"),
        ("A. Name <first.last+x@mail.example.org>", "A. Name", "first.last+x@mail.example.org"),
        ('"Last, First" <a@example.org>', "Last, First", "a@example.org"),
        ("<a@example.org>", "", "a@example.org"),
        ("Name <a@bücher.example>", "Name", "a@xn--bcher-kva.example"),
    ],
)
def test_addresses(written: str, name: str, address: str) -> None:
    found = mailbox(written, "to")
    assert (found.display_name, found.addr_spec) == (name, address)


@pytest.mark.parametrize(
    "written",
    [
        "",
        "a",
        "@",
        "a@",
        "@b",
        "a b@example.org",
        "a@b@c",
        "a@example.org, b@example.org",
        "a@exa mple.org",
        "a@-b.org",
        "a@example.org\r\nBcc: b@example.org",
        "N\r\nBcc: b@c <a@b>",
        "a@example.org\x00",
        "имя@example.org",
        ".a@b",
        "a..b@c",
        "Name <a@b",
        "Name <>",
        "a@" + "b" * 64,
        "a" * 65 + "@b",
        "a@" + "b." * 130 + "c",
        "x" * 101 + " <a@b>",
        "a@b\u2028c",
        "a@straße.example",
        "a@λόγος.example",
    ],
)
def test_what_is_no_address(written: str) -> None:
    with pytest.raises(InputError, match=r"^to: "):
        mailbox(written, "to")


@pytest.mark.parametrize(
    ("url", "shown"),
    [
        ("https://example.org/a?b=c&d=%20#e", "https://example.org/a?b=c&d=%20#e"),
        ('https://example.org/"><b>', "https://example.org/%22%3E%3Cb%3E"),
        ("https://example.org/é", "https://example.org/%C3%A9"),
        ("javascript:alert(1)", ""),
        ("data:text/html,x", ""),
        ("https:///x", ""),
        ("http://[", ""),
        ("https://example.org/a\nb", ""),
        ("https://example.org/" + "a" * 500, ""),
    ],
)
def test_web_addresses(url: str, shown: str) -> None:
    assert web_address(url) == shown


@pytest.mark.parametrize(
    ("markup", "plain", "tagged"),
    [
        (
            "no mathematics, snake_case and x^2",
            "no mathematics, snake_case and x^2",
            "no mathematics, snake_case and x^2",
        ),
        ("$x_i^2$", "x_i²", "x<sub>i</sub><sup>2</sup>"),
        ("$O(n^{-1/2})$", "O(n^(-1/2))", "O(n<sup>-1/2</sup>)"),
        ("$a < b_1$", "a < b₁", "a &lt; b<sub>1</sub>"),
        ("*very* $\\beta_{k+1}$ `code`", "very β_(k+1) code", "very β<sub>k+1</sub> code"),
        ("\ue000up\ue002 \ue001", "up", "up"),
        ("at \\$5", "at $5", "at $5"),
    ],
)
def test_formulas(markup: str, plain: str, tagged: str) -> None:
    line = marked_line(markup)
    assert as_text(line) == plain
    assert as_html(line) == tagged


@given(st.text(alphabet="$x_^{}12a<>&*\ue000\ue001\ue002 \\", max_size=40), st.integers(0, 40))
def test_formulas_that_were_cut_stay_whole_html(markup: str, cut: int) -> None:
    line = marked_line(markup)[:cut]
    assert not re.search("[\ue000-\ue002]", as_text(line) + as_html(line))
    tagged = re.sub(r"<(sup|sub)>[^<>]*</\1>", "", str(as_html(line)))
    assert not re.search("[<>]", tagged)


@pytest.mark.parametrize(
    ("count", "truncated", "shown"),
    [
        (0, False, ""),
        (1, False, "A0"),
        (7, False, "A0, A1, A2, A3, A4, A5, A6"),
        (8, False, "A0, A1, A2, A3, A4, A5 and 2 more"),
        (2, True, "A0, A1 and others"),
    ],
)
def test_bylines(count: int, truncated: bool, shown: str) -> None:
    told = paper(1, authors=tuple(f"A{n}" for n in range(count)), authors_truncated=truncated)
    assert byline(told) == shown


@pytest.mark.parametrize(
    ("text", "limit", "shown"),
    [
        ("One. Two.", 20, "One. Two."),
        ("Things by Smith et al. in depth. Then more of it.", 40, "Things by Smith et al. in depth.\xa0…"),
        ("Things by Smith et al. in depth and more", 24, "Things by Smith et al.\xa0…"),
        ("A short one. Then a sentence that goes on for long", 40, "A short one. Then a sentence that goes\xa0…"),
        ("x" * 50, 10, "x" * 10 + "\xa0…"),
        ("我们研究检索增强生成。它提高了准确性，但是也带来了新的问题", 14, "我们研究检索增强生成。\xa0…"),
    ],
)
def test_texts_are_cut_where_they_can_be(text: str, limit: int, shown: str) -> None:
    assert shortened(text, limit) == shown


@given(st.text(max_size=200) | st.just(SENTENCE * 5), st.integers(1, 150))
def test_a_text_that_is_cut_is_its_beginning_and_short_enough(text: str, limit: int) -> None:
    cut = shortened(text, limit)
    assert len(cut) <= limit + 2
    assert text.startswith(cut.removesuffix("\xa0…"))
    assert len(text) > limit or cut == text


def test_of_an_endless_abstract_the_beginning_is_read(monkeypatch: pytest.MonkeyPatch) -> None:
    read: list[int] = []

    def counting(markup: str) -> str:
        read.append(len(markup))
        return marked_line(markup)

    monkeypatch.setattr(wording, "marked_line", counting)
    long = paper(1, abstract="We sort $x_i^{2}$ pebbles on a beach and count them all again. " * 10_000)
    short = replace(long, abstract=long.abstract[:3_000])
    assert story(entry(long), 400).abstract == story(entry(short), 400).abstract
    assert max(read) <= 10_000
