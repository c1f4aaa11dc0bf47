"""Pasted listing pages: the shapes of lines, pages of several layouts, and the two real pages."""

from __future__ import annotations

from datetime import date
from typing import Any

import orjson
import pytest

from broadsheet.model import Area, Identifier, LinkKind, Record, Refusal, Scheme
from broadsheet.sources import read_file
from broadsheet.sources.base import Entry, Limits
from broadsheet.sources.listing import Kind, kind_of, parse_listing
from tests.shared import shared

ONE = (
    "Bees decide together where the swarm will live, and they do so without a leader. We model the dance by which "
    "scouts report a site, and prove that the swarm finds the best of $n$ sites with high probability. Code is at "
    "github.com/bees/dance."
)
TWO = (
    "Ants that search alone meet few other ants, yet their nest learns of food quickly. We *measure* how often two "
    "ants meet, fit a model of random walks, and show that a few fast walkers carry most of what the nest learns."
)
THREE = (
    "Wasps build paper nests whose cells are hexagons from the first day. We film twelve nests, follow every cell "
    "wall, and find that walls are moved after they were built, which no earlier account of nest building allows for."
)


def parse(text: str, *, limit: int = 100_000, authors: int = 50) -> list[Entry]:
    return parse_listing("page.txt", text, Limits(limit, authors))


def records(text: str) -> list[Record]:
    entries = parse(text)
    assert all(isinstance(entry, Record) for entry in entries), entries
    return [entry for entry in entries if isinstance(entry, Record)]


@pytest.mark.parametrize(
    ("line", "kind"),
    [
        ("Theory · Learning Theory", Kind.AREA),
        ("Applications · Health / Medicine", Kind.AREA),
        ("Deep Learning • Everything Else", Kind.AREA),
        ("Ada Lovelace, Alan Turing", Kind.AUTHORS),
        ("Ada Lovelace and Alan Turing", Kind.AUTHORS),
        ("Wenyuan XIE, SHURAN ZHENG, H Peter Hofstee, Batiste Le Bars", Kind.AUTHORS),
        ("Ludwig van der Berg, Aurélien Bellet, Zaid Al-Ars, Ng Wei", Kind.AUTHORS),
        ("Ada Lovelace, Alan Turing, Grace Hopper 等", Kind.AUTHORS),
        ("Ada Lovelace et al.", Kind.AUTHORS),
        ("张三，李四，王小五", Kind.AUTHORS),
        ("张三、李四等", Kind.AUTHORS),
        (ONE, Kind.ABSTRACT),
        ("我们研究蜜蜂如何在没有首领的情况下共同选择新的巢穴，" * 3 + "并给出证明。", Kind.ABSTRACT),
        ("How Bees Decide: Dances, Sites, and Swarms", Kind.LONE),
        ("Attention, Bees and Other Stories of the Hive", Kind.LONE),
        ("https://arxiv.org/abs/2401.12345", Kind.LINK),
        ("arXiv:2401.12345", Kind.LINK),
        ("https://example.org/x", Kind.LINK),
        ("2026-10-12", Kind.DAY),
        ("Monday, Oct 12, 2026", Kind.DAY),
        ("12 October 2026", Kind.DAY),
        ("Load more", Kind.NOISE),
        ("加载更多", Kind.NOISE),
        ("Paper page", Kind.NOISE),
        ("12", Kind.NOISE),
        ("1.2k", Kind.NOISE),
        ("5 upvotes · 3 comments", Kind.NOISE),
        ("arXiv · PDF · Code", Kind.NOISE),
        ("1 2 3 … 9", Kind.LONE),
        ("3 days ago", Kind.NOISE),
        ("Submitted by someone", Kind.NOISE),
    ],
)
def test_shapes(line: str, kind: Kind) -> None:
    assert kind_of(line) is kind


def test_a_page_with_areas_and_authors() -> None:
    one, two, three = records(
        f"论文检索\n\nTheory · Bees\n\nAda Lovelace, Alan Turing 等\n\n{ONE}\n\n"
        f"Grace Hopper, Alan Turing\n\n{TWO}\n\nField · Wasps\n\n{THREE}"
    )
    assert one.areas == (Area("Theory", "Bees"),)
    assert (one.authors, one.authors_truncated) == (("Ada Lovelace", "Alan Turing"), True)
    assert one.abstract == ONE
    assert (one.title, one.title_derived) == (
        "Bees decide together where the swarm will live, and they do so without a leader",
        True,
    )
    assert [link.url for link in one.links] == ["https://github.com/bees/dance"]
    assert one.source == "listing"
    assert one.raw == f"Theory · Bees\nAda Lovelace, Alan Turing 等\n{ONE}"
    assert (two.areas, two.authors, two.authors_truncated) == ((), ("Grace Hopper", "Alan Turing"), False)
    assert (three.areas, three.authors) == ((Area("Field", "Wasps"),), ())


def test_a_page_of_abstracts_alone() -> None:
    assert [r.abstract for r in records(f"Daily Papers\n\n{ONE}\n\n{TWO}\n\n{THREE}\n")] == [ONE, TWO, THREE]


def test_a_page_with_titles_links_and_buttons() -> None:
    page = f"""
My papers

Oct 12, 2026

How Bees Decide
Ada Lovelace, Alan Turing
{ONE}
https://arxiv.org/abs/2401.12345
12 upvotes
PDF

Few Fast Ants
Grace Hopper
{TWO}
arXiv:2401.54321v2

2026-10-11

Moving Walls
Ada Lovelace, Grace Hopper
{THREE}

Load more
"""
    one, two, three = records(page)
    assert [r.title for r in (one, two, three)] == ["How Bees Decide", "Few Fast Ants", "Moving Walls"]
    assert [r.authors for r in (one, two, three)] == [
        ("Ada Lovelace", "Alan Turing"),
        ("Grace Hopper",),
        ("Ada Lovelace", "Grace Hopper"),
    ]
    assert not any(r.title_derived for r in (one, two, three))
    assert one.identifiers == (Identifier(Scheme.ARXIV, "2401.12345"),)
    assert [link.kind for link in one.links] == [LinkKind.PAGE, LinkKind.CODE]
    assert two.identifiers == (Identifier(Scheme.ARXIV, "2401.54321"),)
    assert [r.listed for r in (one, two, three)] == [date(2026, 10, 12), date(2026, 10, 12), date(2026, 10, 11)]


def test_titles_without_authors() -> None:
    found = records(f"How Bees Decide\n\n{ONE}\n\nFew Fast Ants\n\n{TWO}\n\n")
    assert [r.title for r in found] == ["How Bees Decide", "Few Fast Ants"]


def test_a_single_author_on_a_page_without_titles() -> None:
    page = f"论文检索\n\nTheory · Bees\n\nAda Lovelace, Alan Turing\n\n{ONE}\n\nTheory · Ants\n\nGrace Hopper\n\n{TWO}"
    assert [(r.authors, r.title_derived) for r in records(page)] == [
        (("Ada Lovelace", "Alan Turing"), True),
        (("Grace Hopper",), True),
    ]


def test_an_unknown_header_is_no_title() -> None:
    found = records(f"What I read in autumn\n\n{ONE}\n\n{TWO}\n\n{THREE}")
    assert [r.title_derived for r in found] == [True, True, True]


def test_labels() -> None:
    [found] = records(f"Title: How Bees Decide\nAuthors: Ada Lovelace\nAbstract: {ONE}")
    assert (found.title, found.authors, found.abstract) == ("How Bees Decide", ("Ada Lovelace",), ONE)


def test_wrapped_abstracts_are_joined() -> None:
    def wrapped(text: str, width: int) -> str:
        rows, row = [], ""
        for word in text.split():
            if len(row) + len(word) >= width:
                rows.append(row)
                row = ""
            row = f"{row} {word}".strip()
        return "\n".join([*rows, row])

    one = f"Theory · Bees\nAda Lovelace, Alan Turing\n{wrapped(ONE, 80)}"
    two = f"Field · Ants\n\nGrace Hopper, Alan Turing\n{wrapped(TWO, 72)}"
    page = f"{one}\n\n{two}\n"
    assert [(r.abstract, len(r.authors)) for r in records(page)] == [(ONE, 2), (TWO, 2)]


@pytest.mark.parametrize("end", ["\n", "\r\n", "\r"])
@pytest.mark.parametrize("blank", ["", "  ", "\t"])
def test_line_ends_and_blank_lines_do_not_matter(end: str, blank: str) -> None:
    plain = f"Daily Papers\n\n{ONE}\n\n{TWO}"
    other = f"{end}{blank}{end}{blank}{end}".join(["Daily Papers", f"  {ONE} ", TWO, ""])
    assert [r.key for r in records(plain)] == [r.key for r in records(other)]
    assert [r.abstract for r in records(other)] == [ONE, TWO]


def test_the_same_block_is_the_same_record_and_copies_have_their_own_keys() -> None:
    page = records(f"Daily Papers\n\n{ONE}\n\n{TWO}\n\n{ONE}")
    again = records(f"论文检索\n\nTheory · Bees\n\n{ONE.upper()}")
    assert page[0].key == again[0].key
    assert page[2].key == f"{page[0].key}#2"
    assert len({r.key for r in page}) == 3


def test_what_is_not_enough_for_a_paper_is_refused_by_line() -> None:
    entries = parse(
        f"Daily Papers\n\nAda Lovelace, Alan Turing\n\nGrace Hopper, Alan Turing\n\n{ONE}\n\nAlan Turing, Ada Lovelace"
    )
    assert [(e.line, "no abstract follows" in e.reason) for e in entries if isinstance(e, Refusal)] == [
        (3, True),
        (9, True),
    ]
    assert [r.authors[0] for r in entries if isinstance(r, Record)] == ["Grace Hopper"]


def test_limits() -> None:
    many = ", ".join(f"Ada Lovelace {chr(65 + i % 26)}" for i in range(60))
    entries = parse(f"{many}\n\n{ONE}\n\n{TWO * 20}\n\n{THREE}", limit=2_000)
    assert [(e.line, e.reason.split()[0]) for e in entries if isinstance(e, Refusal)] == [
        (1, "authors:"),
        (5, "4360"),
    ]
    assert [r.abstract for r in entries if isinstance(r, Record)] == [THREE]


def test_bytes_that_are_not_utf8_are_refused_by_line() -> None:
    text = f"Daily Papers\n\ncaf\udce9 au lait\n\n{ONE}"
    entries = parse(text)
    assert entries[0] == Refusal("page.txt", 3, "not UTF-8 at byte 4 of the line; save the file as UTF-8")
    assert len(entries) == 2


def _truth(number: str) -> list[dict[str, Any]]:
    rows = [orjson.loads(line) for line in shared("seeds", "papers.jsonl").read_bytes().splitlines()]
    return [row for row in rows if row["file"] == number]


def _real(name: str) -> list[Record]:
    found = [i.entry for i in read_file(shared("seeds", name), max_entry_bytes=100_000, max_authors=100)]
    assert all(isinstance(entry, Record) for entry in found)
    return [entry for entry in found if isinstance(entry, Record)]


def test_the_real_page_with_areas() -> None:
    """20 blocks of 19 papers: one stands there twice, the second time without its area."""
    found = _real("000_0f91b468ae07c93e.txt")
    assert len(found) == 20
    assert len({r.key for r in found}) == 20
    matched: list[int] = []
    for row in _truth("000"):
        copies = [r for r in found if r.abstract.startswith(row["first_words"])]
        matched.append(len(copies))
        assert (str(copies[0].areas[0]) if copies[0].areas else None) == row["area"]
        assert all(list(r.authors) == row["authors"][: len(r.authors)] for r in copies)
        assert all(r.authors_truncated == (len(r.authors) < len(row["authors"])) for r in copies)
    assert sorted(matched) == [1] * 18 + [2]
    assert sum(r.authors_truncated for r in found) == 1


def test_the_real_page_of_abstracts() -> None:
    found = _real("002_5ff8dcbc7c619299.txt")
    truth = _truth("002")
    assert len(found) == len(truth) == 120
    assert all(r.abstract.startswith(row["first_words"]) for r, row in zip(found, truth, strict=True))
    assert not any(r.authors or r.areas for r in found)
    assert all(r.title_derived and r.title and len(r.title) < 130 for r in found)


def test_a_page_of_many_days_or_of_one_endless_paragraph_takes_no_time() -> None:
    assert len(records("2026-10-12\n" * 20_000 + ONE)) == 1
    row = "words of a paragraph that goes on and on, and never comes to its end at all\n"
    assert len(parse(row * 20_000, limit=10_000_000)) == 1
