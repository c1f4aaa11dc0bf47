"""RIS out: what is written is read again as it was, by us and by rispy."""

from __future__ import annotations

from dataclasses import replace
from datetime import date

import pytest
import rispy  # type: ignore[import-untyped]
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from broadsheet.ingest import derive
from broadsheet.model import Identifier, Link, LinkKind, Notice, NoticeKind, Paper, Record, Scheme
from broadsheet.sources import nbib, out_ris, pubmed_xml, ris
from broadsheet.sources.base import Limits
from broadsheet.sources.notices import without_mark
from broadsheet.sources.risfields import CODES, KINDS
from broadsheet.sources.tagged import writable
from broadsheet.text import display_name, to_plain
from tests.makers import identifier
from tests.shared import shared

LIMITS = Limits(10_000_000, 100_000)


def again(paper: Paper) -> Record:
    text = "".join(out_ris.write([paper]))
    (found,) = ris.read("again.ris", text.encode(), LIMITS)
    assert isinstance(found, Record), found
    return found


def lines(paper: Paper) -> list[str]:
    return out_ris.to_ris(paper).split("\n")


def values(paper: Paper, tag: str) -> list[str]:
    return [line[6:] for line in lines(paper) if line.startswith(f"{tag}  - ")]


PAPER = Paper(
    7,
    "On *slow* rivers and $\\alpha$",
    "Water flows.",
    authors=("Anna M. van der Berg", "Martin L. King Jr.", "王小明", "OpenAI Research"),
    identifiers=(identifier("1706.03762"), identifier("10.1000/x"), identifier("pmid:5")),
    venue="icml",
    year=2020,
    published=date(2019, 12, 30),
    links=(Link(LinkKind.PAGE, "https://a.org/x"), Link(LinkKind.PDF, "https://a.org/x.pdf"), Link(LinkKind.CODE, "https://github.com/a/b")),
    keywords=("rivers", "lakes"),
    kind="inproceedings",
    details=(
        ("pages", "97--105"), ("editor", "Foot, Bo and Knee, C."), ("note", "one\ntwo"), ("volume", "6"),
        ("ris-jp", "x"),
    ),
)  # fmt: skip


def test_the_entry_of_a_paper() -> None:
    assert lines(PAPER) == [
        "TY  - CONF",
        "ID  - vanderberg2020slow-7",
        "TI  - On slow rivers and α",
        "AU  - van der Berg, Anna M.",
        "AU  - King, Martin L., Jr.",
        "AU  - 王小明",
        "AU  - OpenAI Research",
        "PY  - 2020",
        "DA  - 2019/12/30/",
        "T2  - ICML",
        "SP  - 97",
        "EP  - 105",
        "A2  - Foot, Bo",
        "A2  - Knee, C.",
        "VL  - 6",
        "DO  - 10.1000/x",
        "UR  - https://a.org/x",
        "UR  - https://arxiv.org/abs/1706.03762",
        "UR  - https://pubmed.ncbi.nlm.nih.gov/5/",
        "L1  - https://a.org/x.pdf",
        "L2  - https://github.com/a/b",
        "AB  - Water flows.",
        "KW  - rivers",
        "KW  - lakes",
        "N1  - one",
        "N1  - two",
        "JP  - x",
        "ER  - ",
        "",
        "",
    ]


def test_it_is_read_as_it_was() -> None:
    found = again(PAPER)
    assert (found.title, found.abstract, found.kind, found.year) == (
        "On slow rivers and α",
        PAPER.abstract,
        PAPER.kind,
        2020,
    )
    assert tuple(map(display_name, found.authors)) == PAPER.authors
    assert set(found.identifiers) == set(PAPER.identifiers)
    assert (found.published, found.keywords) == (PAPER.published, PAPER.keywords)
    assert {link.url for link in PAPER.links} <= {link.url for link in found.links}
    assert dict(found.details).items() >= {
        "pages": "97-105", "editor": "Foot, Bo and Knee, C.", "note": "one\ntwo", "volume": "6", "ris-jp": "x",
    }.items()  # fmt: skip


def test_rispy_reads_it() -> None:
    (found,) = rispy.loads("".join(out_ris.write([PAPER])))
    assert found["title"] == "On slow rivers and α"
    assert found["authors"] == ["van der Berg, Anna M.", "King, Martin L., Jr.", "王小明", "OpenAI Research"]
    assert (found["doi"], found["year"], found["secondary_title"]) == ("10.1000/x", "2020", "ICML")
    assert (found["start_page"], found["end_page"], found["keywords"]) == ("97", "105", ["rivers", "lakes"])


@pytest.mark.parametrize("kind", sorted(set(KINDS.values()) | {"misc"}))
def test_every_kind_comes_back(kind: str) -> None:
    assert again(replace(PAPER, kind=kind, details=())).kind == kind


@pytest.mark.parametrize("code", KINDS)
def test_every_type_comes_back(code: str) -> None:
    (found,) = ris.read("x.ris", f"TY  - {code}\nTI  - On rivers\nER  - ".encode(), LIMITS)
    assert isinstance(found, Record)
    assert out_ris.type_of(derive(1, [found])) == code


@pytest.mark.parametrize(
    ("kind", "code"),
    [
        ("phdthesis", "THES"),
        ("techreport", "RPRT"),
        ("conference", "CONF"),
        ("inbook", "CHAP"),
        ("nothing-known", "GEN"),
    ],
)
def test_kinds_of_bibtex(kind: str, code: str) -> None:
    assert out_ris.type_of(replace(PAPER, kind=kind)) == code


def test_types_where_the_kind_is_unknown() -> None:
    bare = Paper(1, "On rivers")
    assert out_ris.type_of(bare) == "GEN"
    assert out_ris.type_of(replace(bare, venue="icml")) == "CONF"
    assert out_ris.type_of(replace(bare, venue="Rivers", details=(("journal", "Rivers"),))) == "JOUR"
    assert out_ris.type_of(replace(bare, identifiers=(identifier("1706.03762"),))) == "UNPB"


def test_every_code_is_one_that_is_read() -> None:
    assert set(CODES.values()) - {"GEN"} <= set(KINDS)


def test_f23_no_empty_tag_is_written() -> None:
    assert lines(Paper(1, "On rivers")) == ["TY  - GEN", "ID  - paperrivers-1", "TI  - On rivers", "ER  - ", "", ""]
    hollow = replace(
        PAPER,
        title=" ",
        authors=("",),
        venue="\n",
        keywords=("",),
        details=(("note", "\n\n"), ("pages", ""), ("editor", " and ")),
    )
    assert all(line[6:].strip() for line in lines(hollow) if line and not line.startswith("ER"))


def test_f24_one_type_and_one_end() -> None:
    wicked = replace(
        PAPER,
        title="x\nER  - \nTY  - BOOK",
        details=(("ris-ty", "BOOK\nTY  - X"), ("ris-er", "x"), ("note", "a\rTY  - X")),
    )
    text = out_ris.to_ris(wicked)
    assert [line[:5] for line in text.splitlines() if line.startswith(("TY", "ER"))] == ["TY  -", "ER  -"]
    assert again(wicked).title == "x ER - TY - BOOK"


def test_f19_one_author_a_line() -> None:
    assert len(values(PAPER, "AU")) == len(PAPER.authors)
    assert values(replace(PAPER, authors=("Wei Wang", "Wei Wang")), "AU") == ["Wang, Wei", "Wang, Wei"]


def test_a_title_of_ours_is_not_written() -> None:
    derived = replace(PAPER, title_derived=True)
    assert values(derived, "TI") == []
    assert again(derived).title_derived


@pytest.mark.parametrize(
    ("year", "published", "month_only", "expected"),
    [
        (2020, date(2020, 5, 6), False, ["PY  - 2020", "DA  - 2020/05/06/"]),
        (2020, date(2020, 5, 1), True, ["PY  - 2020", "DA  - 2020/05//"]),
        (None, date(2019, 5, 6), False, ["PY  - 2019", "DA  - 2019/05/06/"]),
        (2020, None, False, ["PY  - 2020"]),
        (None, None, False, []),
    ],
)
def test_dates(year: int | None, published: date | None, month_only: bool, expected: list[str]) -> None:
    paper = replace(PAPER, year=year, published=published, month_only=month_only)
    assert [line for line in lines(paper) if line.startswith(("PY", "DA"))] == expected
    found = again(paper)
    assert (found.published, found.month_only) == (published, month_only)


@pytest.mark.parametrize(
    ("pages", "read"),
    [
        ("97-105", "97-105"),
        ("97--105", "97-105"),
        ("S1–S9", "S1-S9"),
        ("e12", "e12"),
        ("xii", "xii"),
        ("1-3, 7", "1-3, 7"),
    ],
)
def test_pages(pages: str, read: str) -> None:
    assert dict(again(replace(PAPER, details=(("pages", pages),))).details)["pages"] == read


@pytest.mark.parametrize(
    "notice",
    [
        Notice(NoticeKind.RETRACTED),
        Notice(NoticeKind.RETRACTED, "the data are wrong"),
        Notice(NoticeKind.RETRACTED, "Retracted: the data are wrong"),
        Notice(NoticeKind.RETRACTED, "Retraction in: Rivers 2004"),
        Notice(NoticeKind.WITHDRAWN, "by the authors"),
        Notice(NoticeKind.CONCERN, "images"),
    ],
)
def test_notices_come_back_and_do_not_grow(notice: Notice) -> None:
    first = again(replace(PAPER, notices=(notice,)))
    assert [found.kind for found in first.notices] == [notice.kind]
    assert notice.reason in first.notices[0].reason
    if notice.reason.startswith("Retract"):
        assert first.notices == (notice,)
    assert again(derive(1, [first])).notices == first.notices


def test_nothing_is_said_twice() -> None:
    retracted = Notice(NoticeKind.RETRACTED, "Retracted Publication")
    paper = replace(
        PAPER,
        notices=(retracted,),
        details=(("type", "Retracted Publication"), ("ris-c2", "PMC123"), ("pmcid", "PMC123")),
    )
    assert (values(paper, "N1"), values(paper, "M3"), values(paper, "C2")) == (
        [],
        ["Retracted Publication"],
        ["PMC123"],
    )


def test_where_it_appeared() -> None:
    details = (
        ("booktitle", "Proceedings of Water"),
        ("eventtitle", "Conf. on Water"),
        ("series", "LNCS"),
        ("institution", "Uni"),
    )
    paper = replace(PAPER, venue="Proceedings of Water", details=details)
    assert (values(paper, "C3"), values(paper, "T2"), values(paper, "T3")) == (
        ["Proceedings of Water"],
        ["Conf. on Water"],
        ["LNCS"],
    )
    found = again(paper)
    assert (found.venue, dict(found.details)["eventtitle"]) == ("Proceedings of Water", "Conf. on Water")
    book = replace(PAPER, kind="book", venue="", details=(("series", "LNCS"), ("publisher", "Press")))
    assert dict(again(book).details) == {"series": "LNCS", "publisher": "Press", "citekey": "vanderberg2020slow-7"}


def test_joiners_of_persian_stay_and_controls_go() -> None:
    assert values(replace(PAPER, title="می\u200cخواهم\x00\x85 a\ud800b"), "TI") == ["می\u200cخواهم a\ufffdb"]


def papers_of(name: str, folder: str = "bib_fixtures") -> list[Paper]:
    form = nbib if name.endswith(".nbib") else pubmed_xml if name.endswith(".xml") else ris
    data = shared("data", folder, name).read_bytes()
    return [derive(i, [entry]) for i, entry in enumerate(form.read(name, data, LIMITS), 1) if isinstance(entry, Record)]


REAL = [
    "asreview___baseline.ris", "asreview__baseline_zotero.ris", "asreview__embase.ris",
    "asreview__ovid_psycinfo.ris", "asreview__proquest.ris", "asreview__pubmed_endnote.txt",
    "asreview__ris_issue_1099.txt", "asreview__ris_issue_992.txt", "asreview__scopus.ris",
    "asreview__web_of_science.txt", "rispy__example_utf_chars.ris", "jabref__NbibImporterTest.nbib",
    "jabref__MedlineImporterTestArticleItalics.xml",
]  # fmt: skip


@pytest.mark.parametrize("name", REAL)
def test_papers_of_real_files_come_back(name: str) -> None:
    papers = papers_of(name)
    text = "".join(out_ris.write(papers))
    back = [
        derive(i, [entry])
        for i, entry in enumerate(ris.read("x.ris", text.encode(), LIMITS), 1)
        if isinstance(entry, Record)
    ]
    theirs = rispy.loads(text)
    assert len(back) == len(theirs) == len(papers)
    for paper, found, other in zip(papers, back, theirs, strict=True):
        assert found.title_derived == paper.title_derived
        assert to_plain(found.title) == to_plain(paper.title)
        assert to_plain(found.abstract) == to_plain(paper.abstract)
        assert found.authors == paper.authors
        assert (found.year, found.published, found.month_only) == (paper.year, paper.published, paper.month_only)
        assert (found.kind, found.venue, set(found.identifiers)) == (paper.kind, paper.venue, set(paper.identifiers))
        assert dict(found.details).get("pages") == dict(paper.details).get("pages")
        assert found.keywords == paper.keywords
        assert len(other.get("authors", [])) == len(paper.authors)
        assert other.get("title", "") == ("" if paper.title_derived else writable(to_plain(paper.title)))


# --- any paper

_text = st.text(st.characters(blacklist_categories=()), max_size=60)
_word = st.text("abcdefghijklmnopqrstuvwxyzäéø", min_size=2, max_size=8).map(str.capitalize)
_name = st.builds(lambda given, family: f"{given} {family}", _word, _word)
_doi = st.from_regex(r"10\.[1-9][0-9]{3}/[a-z0-9]{1,8}[a-z0-9.()-]{0,8}[a-z0-9]", fullmatch=True)
_arxiv = st.from_regex(r"1[6-9]0[1-9]\.[0-9]{4}[1-9]", fullmatch=True)
_pmid = st.from_regex(r"[1-9][0-9]{0,7}", fullmatch=True)
_identifier = (
    st.builds(Identifier, st.just(Scheme.DOI), _doi)
    | st.builds(Identifier, st.just(Scheme.ARXIV), _arxiv)
    | st.builds(Identifier, st.just(Scheme.PMID), _pmid)
)
_identifiers = st.lists(_identifier, max_size=4, unique=True).map(tuple)
_dates = st.none() | st.dates(date(1000, 1, 1), date(2999, 12, 31))


@st.composite
def _papers(draw: st.DrawFn) -> Paper:
    return Paper(
        3,
        draw(_text),
        draw(_text),
        authors=tuple(draw(st.lists(_name, max_size=4))),
        identifiers=draw(_identifiers),
        year=draw(st.none() | st.integers(1000, 2999)),
        published=draw(_dates),
        kind=draw(st.sampled_from(sorted(set(KINDS.values()) | {"misc"}))),
        keywords=tuple(draw(st.lists(_word, max_size=3, unique=True))),
        details=(("pages", draw(st.sampled_from(["", "7", "7-9", "e3"]))), ("note", draw(_text))),
    )


@settings(max_examples=200, deadline=None)
@given(_papers())
def test_any_paper_comes_back(paper: Paper) -> None:
    plain = writable(to_plain(paper.title))
    assume(plain and without_mark(plain) == (plain, ()))
    found = again(paper)
    assert (found.title, found.abstract) == (plain, writable(to_plain(paper.abstract)))
    assert tuple(map(display_name, found.authors)) == paper.authors
    assert set(found.identifiers) >= set(paper.identifiers)
    assert found.year == (paper.year or (paper.published.year if paper.published else None))
    assert (found.published, found.kind, found.keywords) == (paper.published, paper.kind, paper.keywords)
    assert dict(found.details).get("pages", "") == dict(paper.details)["pages"]
    theirs = rispy.loads(out_ris.to_ris(paper))
    assert len(theirs) == 1
    assert theirs[0]["title"] == plain


def test_details_that_are_tex_are_written_as_text() -> None:
    paper = Paper(1, "On rivers", details=(("journal", r"{SODA}'99: {ACM}-{SIAM} \& more"), ("publisher", r"M\"uller")))
    assert values(paper, "T2") == ["SODA'99: ACM-SIAM & more"]
    assert values(paper, "PB") == ["Müller"]
