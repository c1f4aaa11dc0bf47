"""RIS in: what the tags mean, by type of reference."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import date
from pathlib import Path

import pytest

from broadsheet.ingest import import_items
from broadsheet.model import LinkKind, NoticeKind, Refusal
from broadsheet.sources import ris
from broadsheet.sources.base import Entry, Item
from broadsheet.sources.risfields import KINDS
from broadsheet.store import open_store
from tests.makers import NOW, identifier
from tests.refs import LIMITS, detail, entries, one, typed


@pytest.mark.parametrize(("code", "kind"), KINDS.items())
def test_kinds(code: str, kind: str) -> None:
    assert typed(code).kind == kind


@pytest.mark.parametrize(
    ("name", "kind"), [("Journal Article", "article"), ("XYZ", "misc"), ("GEN", "misc"), ("", "misc")]
)
def test_kinds_by_name_and_unknown_ones(name: str, kind: str) -> None:
    assert typed(name).kind == kind


@pytest.mark.parametrize("tag", ["TI", "T1", "CT"])
def test_tags_of_the_title(tag: str) -> None:
    assert one(f"TY  - JOUR\n{tag}  - On rivers\nER  - ").title == "On rivers"


def test_a_short_title_is_the_title_where_there_is_no_other() -> None:
    assert one("TY  - JOUR\nST  - Rivers\nER  - ").title == "Rivers"
    assert detail(typed("JOUR", "ST  - Rivers"), "shorttitle") == "Rivers"
    assert one("TY  - BOOK\nBT  - Rivers\nER  - ").title == "Rivers"


def test_a_second_title_is_kept() -> None:
    assert detail(typed("JOUR", "T1  - Sur les fleuves"), "titleaddon") == "Sur les fleuves"


@pytest.mark.parametrize("tag", ["AU", "A1"])
def test_authors_in_order_as_they_are_written(tag: str) -> None:
    found = typed("JOUR", f"{tag}  - van der Berg, Anna M.", f"{tag}  - King, M. L., Jr.", f"{tag}  - 王, 小明")
    assert found.authors == ("van der Berg, Anna M.", "King, M. L., Jr.", "王, 小明")


def test_authors_and_primary_authors_together() -> None:
    assert typed("JOUR", "A1  - Hand, A.", "AU  - Foot, B.").authors == ("Hand, A.", "Foot, B.")


def test_a_cut_list_of_authors() -> None:
    found = typed("JOUR", "AU  - Hand, A.", "AU  - et al.")
    assert (found.authors, found.authors_truncated) == (("Hand, A.",), True)


def test_family_names_first_without_a_comma() -> None:
    assert typed("JOUR", "AU  - de la Hand A.-B.", "AU  - Foot C").authors == ("de la Hand, A.-B.", "Foot, C")
    assert typed("JOUR", "AU  - Foot C", "AU  - Anna Hand").authors == ("Foot C", "Anna Hand")
    assert typed("JOUR", "AU  - LI WEI").authors == ("LI WEI",)
    assert typed("JOUR", "AU  - Bo LI", "AU  - Wei WU").authors == ("Bo LI", "Wei WU")
    assert typed("JOUR", "AU  - K. Hand", "AU  - X. Li").authors == ("K. Hand", "X. Li")


def test_all_authors_on_one_line() -> None:
    assert typed("JOUR", "AU  - 张三;李四；王五;").authors == ("张三", "李四", "王五")
    assert typed("JOUR", "A1  - Hand, A.; Foot, B.").authors == ("Hand, A.", "Foot, B.")


def one_character_a_line(text: str, tag: str = "A1") -> list[str]:
    return [f"{tag}  - {character}" for character in text]


def test_f19_authors_one_character_a_line_are_put_together() -> None:
    found = typed("JOUR", *one_character_a_line("['Mai, A.', 'O\\'Neil, Bo', 'Li, W.']"))
    assert found.authors == ("Mai, A.", "O'Neil, Bo", "Li, W.")


def test_f19_or_refused_with_the_reason() -> None:
    for text in ("['Mai, A.', 'O", "Mai, A. and Li, W.", "['Mai', 3", "['Mai', 3]", "[" * 500 + "]" * 500):
        (found,) = entries("\n".join(["TY  - JOUR", "TI  - On rivers", *one_character_a_line(text), "ER  - "]))
        assert isinstance(found, Refusal)
        assert "one character a line" in found.reason


def test_f19_short_names_are_names() -> None:
    assert typed("JOUR", "AU  - A", "AU  - B", "AU  - C", "AU  - D").authors == ("A", "B", "C", "D")


def test_other_people() -> None:
    found = typed("CHAP", "A2  - Foot, B.", "ED  - Knee, C.", "A3  - Toe, D.", "A4  - Ear, E.")
    assert detail(found, "editor") == "Knee, C. and Foot, B."
    assert (detail(found, "editora"), detail(found, "translator")) == ("Toe, D.", "Ear, E.")


@pytest.mark.parametrize(
    ("lines", "year", "published", "month_only"),
    [
        (["PY  - 2001/09/01/"], 2001, date(2001, 9, 1), False),
        (["PY  - 1996"], 1996, None, False),
        (["PY  - 2009///"], 2009, None, False),
        (["Y1  - 2014//"], 2014, None, False),
        (["PY  - 2016/12//"], 2016, date(2016, 12, 1), True),
        (["DA  - 2019/10//undefined", "PY  - 2019"], 2019, date(2019, 10, 1), True),
        (["Y1  - 2013/07/22", "PY  - 2013", "DA  - 2013/07/28"], 2013, date(2013, 7, 22), False),
        (["PY  - 2018", "DA  - SEP"], 2018, date(2018, 9, 1), True),
        (["PY  - 2018", "DA  - Jun 14"], 2018, date(2018, 6, 14), False),
        (["DA  - 15 June 2018"], 2018, date(2018, 6, 15), False),
        (["PY  - 2016", "Y1  - 27-30 June 2016"], 2016, date(2016, 6, 1), True),
        (["PY  - 2005/Jul/15"], 2005, date(2005, 7, 15), False),
        (["DA  - 2018-05-15T00:00:00Z"], 2018, date(2018, 5, 15), False),
        (["PY  - 07/08/2005"], 2005, None, False),
        (["PY  - 2018/02/30"], 2018, None, False),
        (["PY  - in press"], None, None, False),
        (["PY  - 2020", "DA  - 2019/12/30"], 2020, date(2019, 12, 30), False),
    ],
)
def test_dates(lines: list[str], year: int | None, published: date | None, month_only: bool) -> None:
    found = typed("JOUR", *lines)
    assert (found.year, found.published, found.month_only) == (year, published, month_only)


def test_a_date_that_the_record_cannot_hold_is_kept_as_it_is() -> None:
    assert detail(typed("JOUR", "PY  - 2018", "DA  - Spring"), "date") == "Spring"
    assert detail(typed("JOUR", "PY  - in press"), "date") == "in press"
    assert detail(typed("JOUR", "PY  - 2016", "Y1  - 27-30 June 2016"), "date") == "27-30 June 2016"
    assert detail(typed("JOUR", "DA  - 2018 Dec - 2019 Jan"), "date") == "2018 Dec - 2019 Jan"
    for told in (
        "2018/05/06",
        "2018/05//undefined",
        "20180506",
        "2018-05-15T00:00:00Z",
        "15 June 2018",
        "2018",
        "2018///",
    ):
        assert detail(typed("JOUR", f"DA  - {told}"), "date") == ""


@pytest.mark.parametrize("tag", ["T2", "JF", "JO", "JA", "J2", "BT"])
def test_names_of_a_journal(tag: str) -> None:
    found = typed("JOUR", f"{tag}  - Rivers Today")
    assert (found.venue, detail(found, "journal")) == ("Rivers Today", "Rivers Today")


def test_full_and_short_names_of_a_journal() -> None:
    found = typed("JOUR", "JO  - Riv. Tod.", "JF  - Rivers Today", "T2  - Rivers Today")
    assert (found.venue, detail(found, "shortjournal")) == ("Rivers Today", "Riv. Tod.")


@pytest.mark.parametrize(
    ("code", "lines", "venue", "details"),
    [
        ("CONF", ["T2  - Conf. on Water", "C3  - Proc. of Water"], "Proc. of Water",
         {"booktitle": "Proc. of Water", "eventtitle": "Conf. on Water"}),
        ("CPAPER", ["T2  - Conf. on Water"], "Conf. on Water", {"booktitle": "Conf. on Water"}),
        ("CHAP", ["T2  - A Book", "T3  - A Series"], "A Book", {"booktitle": "A Book", "series": "A Series"}),
        ("BOOK", ["T2  - A Series", "PB  - Press"], "", {"series": "A Series", "publisher": "Press"}),
        ("THES", ["T2  - Dept.", "PB  - Uni"], "", {"department": "Dept.", "institution": "Uni"}),
        ("RPRT", ["PB  - Agency", "M1  - 42"], "", {"institution": "Agency", "number": "42"}),
    ],
)  # fmt: skip
def test_where_it_appeared_by_type(code: str, lines: list[str], venue: str, details: dict[str, str]) -> None:
    found = typed(code, *lines)
    assert found.venue == venue
    assert dict(found.details).items() >= details.items()


def test_affiliations_of_web_of_science_are_no_proceedings() -> None:
    found = typed("CPAPER", "T2  - Proc. of Water", "C3  - University of A", "AN  - WOS:1")
    assert (found.venue, detail(found, "ris-c3")) == ("Proc. of Water", "University of A")


def test_a_further_name_of_the_journal_is_kept() -> None:
    found = typed("JOUR", "JF  - Rivers Today", "T2  - Special issue on flow", "JA  - Riv.")
    assert (found.venue, detail(found, "ris-t2"), detail(found, "ris-ja")) == (
        "Rivers Today",
        "Special issue on flow",
        "",
    )


@pytest.mark.parametrize(
    ("lines", "pages"),
    [
        (["SP  - 97", "EP  - 105"], "97-105"),
        (["EP  - 105", "SP  - 97"], "97-105"),
        (["SP  - 349-69"], "349-69"),
        (["SP  - 034708"], "034708"),
        (["SP  - 1375339", "EP  - 1375339"], "1375339"),
        (["SP  - No", "EP  - Specified"], ""),
        (["SP  - xii", "EP  - xx"], "xii-xx"),
        (["EP  - 423"], ""),
    ],
)
def test_pages(lines: list[str], pages: str) -> None:
    assert detail(typed("JOUR", *lines), "pages") == pages


def test_details_of_an_article() -> None:
    found = typed(
        "JOUR", "VL  - 6", "IS  - 3", "SN  - 1234-567X (Print)", "SN  - 1234567X", "PB  - Press", "CY  - Bern",
        "LA  - en", "ET  - 2", "C7  - e12", "AD  - Uni A", "AD  - Uni B", "JP  - CRISPR", "JP  - Direct", "DB  - Base",
    )  # fmt: skip
    assert dict(found.details) == {
        "volume": "6", "number": "3", "issn": "1234-567X", "publisher": "Press", "address": "Bern", "language": "en",
        "edition": "2", "eid": "e12", "affiliation": "Uni A; Uni B", "ris-jp": "CRISPR; Direct", "ris-db": "Base",
    }  # fmt: skip


def test_standard_numbers() -> None:
    assert detail(typed("BOOK", "SN  - 978-3-030-58167-1"), "isbn") == "978-3-030-58167-1"
    assert detail(typed("BOOK", "SN  - 0-306-40615-2 1895-5770"), "isbn") == "0-306-40615-2"
    assert detail(typed("JOUR", "SN  - 1895-5770 1895-5770"), "issn") == "1895-5770"
    assert detail(typed("JOUR", "SN  - 18602002", "SN  - 15361632"), "issn") == "18602002, 15361632"
    assert detail(typed("RPRT", "SN  - TR-12"), "number") == "TR-12"


@pytest.mark.parametrize(
    "line",
    [
        "DO  - 10.1063/1.4814070", "DO  - doi:10.1063/1.4814070", "DO  - http://dx.doi.org/10.1063/1.4814070",
        "DI  - 10.1063/1.4814070", "M3  - doi: 10.1063/1.4814070", "N1  - doi: 10.1063/1.4814070",
        "UR  - https://doi.org/10.1063/1.4814070", "L2  - http://dx.doi.org/10.1063%2F1.4814070",
        "L1  - https://onlinelibrary.wiley.com/doi/10.1063/1.4814070/pdf", "M1  - 10.1063/1.4814070",
    ],
)  # fmt: skip
def test_a_doi_wherever_it_stands(line: str) -> None:
    found = typed("JOUR", line)
    assert found.identifiers == (identifier("10.1063/1.4814070"),)
    assert "note" not in dict(found.details)
    assert "type" not in dict(found.details)


def test_other_identifiers() -> None:
    def ids(*lines: str) -> list[str]:
        return list(map(str, typed("JOUR", *lines).identifiers))

    assert ids("AN  - 21553931", "DP  - NLM") == ["pmid:21553931"]
    assert ids("AN  - 21553931", "DB  - PsycINFO") == []
    assert ids("L2  - http://www.ncbi.nlm.nih.gov/pubmed/22752652") == ["pmid:22752652"]
    assert ids("UR  - https://arxiv.org/abs/1706.03762v5") == ["arxiv:1706.03762"]
    assert ids("M1  - arXiv:1706.03762") == ["arxiv:1706.03762"]
    assert ids("M1  - 1706.03762") == []
    assert ids("C2  - 31627144", "DB  - Scopus") == ["pmid:31627144"]
    assert ids("C2  - 31627144") == []
    assert ids("N1  - As 10.1000/other showed") == []


def test_the_doi_of_a_publishers_page_is_not_believed_where_another_is_known() -> None:
    found = typed("JOUR", "DO  - 10.1000/own", "L1  - https://link.springer.com/content/pdf/10.1000/own/supplement-3")
    assert found.identifiers == (identifier("10.1000/own"),)


def test_links() -> None:
    found = typed(
        "JOUR",
        "UR  - //a.org/x; http://b.org/y",
        "L1  - https://c.org/z",
        "L2  - https://github.com/a/b",
        "L1  - internal-pdf://1.pdf",
    )
    assert [(link.kind, link.url) for link in found.links] == [
        (LinkKind.PAGE, "https://a.org/x"), (LinkKind.PAGE, "http://b.org/y"), (LinkKind.PDF, "https://c.org/z"),
        (LinkKind.CODE, "https://github.com/a/b"),
    ]  # fmt: skip
    assert detail(found, "file") == "internal-pdf://1.pdf"


def test_f27_the_abstract_of_either_tag() -> None:
    assert typed("JOUR", "AB  - Water flows.").abstract == "Water flows."
    assert typed("JOUR", "N2  - Water flows.").abstract == "Water flows."
    assert typed("JOUR", "N2  - ", "AB  - Water flows.").abstract == "Water flows."
    assert typed("JOUR", "N2  - Water flows.", "AB  - Water flows. Slowly.").abstract == "Water flows. Slowly."
    both = typed("JOUR", "N2  - L'eau coule.", "AB  - Water flows slowly.")
    assert (both.abstract, detail(both, "note")) == ("Water flows slowly.", "L'eau coule.")


def test_f27_merging_files_with_either_tag_loses_no_abstract(tmp_path: Path) -> None:
    def file(name: str, tag: str, numbers: range) -> Iterator[Entry]:
        made = (
            f"TY  - JOUR\nTI  - The very slow river number {i}\nAU  - Hand, Ana\nPY  - 2001\n"
            f"{tag}  - Water of river {i} flows.\nER  - \n"
            for i in numbers
        )
        return ris.read(name, "".join(made).encode(), LIMITS)

    read = [*file("a.ris", "AB", range(6)), *file("b.ris", "N2", range(3, 10))]
    with open_store(f"sqlite:///{tmp_path / 'x.db'}") as store:
        summary = import_items(store, [Item(i, i, None, entry) for i, entry in enumerate(read)], now=lambda: NOW)
        papers = list(store.iterate_papers())
    assert (summary.read, summary.new, summary.refused) == (13, 13, 0)
    assert (summary.merged, len(papers)) == (3, 10)
    assert all(paper.abstract for paper in papers)


def test_keywords() -> None:
    assert typed("JOUR", "KW  - *rivers", "KW  - lakes", "KW  - rivers").keywords == ("rivers", "lakes")
    assert typed("JOUR", "KW  - rivers; lakes;").keywords == ("rivers", "lakes")
    assert typed("JOUR", "KW  - rivers", "slow lakes", "Water/analysis").keywords == (
        "rivers",
        "slow lakes",
        "Water/analysis",
    )


def test_f19_keywords_one_character_a_line() -> None:
    assert typed("JOUR", *one_character_a_line("['rivers','lakes']", "KW")).keywords == ("rivers", "lakes")
    assert typed("JOUR", "KW  - 1", "KW  - 2", "KW  - C", "KW  - 4").keywords == ("1", "2", "C", "4")


def test_notes() -> None:
    found = typed("JOUR", "N1  - first", "* second", "N1  - ASReview_relevant", "N1  - Cited By :9")
    assert detail(found, "note") == "first\n* second\nASReview_relevant\nCited By :9"
    assert found.counts == (("citations", 9),)


def test_lists_of_references() -> None:
    found = typed(
        "JOUR", "N1  - References: Hand (1999), 10.1000/one;", "Foot (2000) doi: 10.1000/two", "DO  - 10.1000/own"
    )
    assert found.references == (identifier("10.1000/one"), identifier("10.1000/two"))
    assert "note" not in dict(found.details)
    found = typed("JOUR", *(f"M1  - Hand, A. ({year}). http://dx.doi.org/10.1000/{year}" for year in range(1990, 1995)))
    assert len(found.references) == 5
    assert "ris-m1" not in dict(found.details)
    found = typed("JOUR", "M1  - with 10.1000/other")
    assert (found.references, detail(found, "ris-m1")) == ((), "with 10.1000/other")
    found = typed("JOUR", "M1  - (Hand) Uni A", "M1  - (Foot) Uni B", "M1  - (Knee) Uni C")
    assert detail(found, "ris-m1") == "(Hand) Uni A; (Foot) Uni B; (Knee) Uni C"


@pytest.mark.parametrize(
    ("line", "kind"),
    [
        ("M3  - Retracted Publication", NoticeKind.RETRACTED),
        ("N1  - Retracted: the data are wrong", NoticeKind.RETRACTED),
        ("N1  - <p>Retracted article</p>", NoticeKind.RETRACTED),
        ("N1  - Retraction in: Rivers. 2003;5:1", NoticeKind.RETRACTED),
        ("N1  - Withdrawn by the authors", NoticeKind.WITHDRAWN),
        ("N1  - Expression of concern in: Rivers 2003", NoticeKind.CONCERN),
        ("N1  - Retracted papers are counted here", None),
        ("M3  - Retraction of Publication", None),
        ("N1  - Retraction of: Hand 1999", None),
    ],
)
def test_notices(line: str, kind: NoticeKind | None) -> None:
    assert [notice.kind for notice in typed("JOUR", line).notices] == ([kind] if kind else [])


def test_a_retraction_in_the_title() -> None:
    found = one("TY  - JOUR\nTI  - RETRACTED ARTICLE: On rivers\nER  - ")
    assert (found.title, [notice.kind for notice in found.notices]) == ("On rivers", [NoticeKind.RETRACTED])


def test_an_abstract_alone_is_a_paper() -> None:
    found = one("TY  - GEN\nN2  - Water flows. It is slow.\nER  -")
    assert (found.title, found.title_derived) == ("Water flows", True)
