"""What the fields of BibTeX entries become: titles, names, dates, identifiers, links and venues."""

from __future__ import annotations

from datetime import UTC, date, datetime

import pytest

from broadsheet.ingest.derive import derive
from broadsheet.model import Area, Identifier, Link, LinkKind, Paper, Scheme, Version
from tests.bibtex_reading import details, record, records


def paper(fields: str, title: str = "title = {A Map of Rivers},") -> Paper:
    return derive(1, [record(fields, title=title)])


# --- titles and texts


@pytest.mark.parametrize(
    ("tex", "title"),
    [
        ("{The {BERT} of {Monte Carlo}}", "The BERT of Monte Carlo"),
        ("{{Program-Adaptive Fuzzing}}", "Program-Adaptive Fuzzing"),
        ("{{P}i {C}alculus {V}ersus}", "Pi Calculus Versus"),
        ("{{[}Aziz, {GPT}{-}4}", "[Aziz, GPT-4"),
        (r"{Computing in Science {\&} Engineering}", "Computing in Science & Engineering"),  # F08
        (r"{\^{i}le, Gedenk\"uberlieferung, Gr{\=u}z{\=i}tis}", "île, Gedenküberlieferung, Grūzītis"),  # F06
        (r"{Ljube{\v s}i{\'c}, Ne{\v s}pore-B{\=e}rzkalne}", "Ljubešić, Nešpore-Bērzkalne"),  # F06
        (r"{Qu\'{\i}mica {N}ova, Erd{\H{o}}s}", "Química Nova, Erdős"),
        (r"{Nerve fibres of \textit{{X}enopos {L}aevis}}", "Nerve fibres of *Xenopos Laevis*"),
        (r"{Time {$O(n \log N)$} and $x_{i}$}", r"Time $O(n \log N)$ and $x_{i}$"),
        ("{Rivers\n   and  Lakes}", "Rivers and Lakes"),
        (r"{Phi: $\Phi$ at 100\%}", r"Phi: $\Phi$ at 100%"),
        (r"{\textbackslash{}x \textbraceleft{}a, b\textbraceright{} c\textasciicircum{}2}", "∖x {a, b} c^2"),
    ],
)
def test_titles(tex: str, title: str) -> None:
    assert paper("", title=f"title = {tex},").title == title


@pytest.mark.parametrize(
    ("fields", "title"),
    [
        ("title = {Hopper}, subtitle = {A {Life}},", "Hopper: A Life"),
        ("title = {Who?}, subtitle = {Nobody},", "Who? Nobody"),
    ],
)
def test_a_subtitle_is_part_of_the_title(fields: str, title: str) -> None:
    found = record("", title=fields)
    assert found.title == title
    assert "subtitle" in dict(found.details)


def test_a_collection_without_title_is_called_by_its_booktitle() -> None:
    (found,) = records("@collection{k, booktitle = {Special {Issue}}, year = 1993}")
    assert (found.title, found.venue, dict(found.details)["booktitle"]) == ("Special Issue", "", "Special {Issue}")


def test_without_a_title_the_abstract_gives_one() -> None:
    (found,) = records("@misc{k, abstract = {Rivers move. They bend.}}")
    assert (found.title, found.title_derived, found.abstract) == ("Rivers move", True, "Rivers move. They bend.")


# --- names


@pytest.mark.parametrize(
    ("value", "shown", "cut"),
    [
        ("Alfred Adler", ("Alfred Adler",), False),
        ("van Kluster, Jr., Kevin", ("Kevin van Kluster Jr.",), False),
        ("Pimentel, Jr. ,Joseph J.", ("Joseph J. Pimentel Jr.",), False),
        ("Van de Graaff, R. J.", ("R. J. Van de Graaff",), False),
        ("Ian {Iliad Ipswich}", ("Ian Iliad Ipswich",), False),
        ("{{CERN Collaboration}}", ("CERN Collaboration",), False),
        ("{Barnes and Noble, Inc.} and Ana Lima", ("Barnes and Noble, Inc.", "Ana Lima"), False),
        ("{{Psychological Association, Task Force}}", ("Psychological Association, Task Force",), False),
        ("Lesk, M. E. AND Kernighan, B. W.", ("M. E. Lesk", "B. W. Kernighan"), False),
        ("Ana Lima and\n   Bo Chen", ("Ana Lima", "Bo Chen"), False),
        ("Ana Lima and others", ("Ana Lima",), True),
        ("Born, L. et al.", ("L. Born",), True),
        ("May, Keith, and Ronzino, Paola", ("Keith May", "Paola Ronzino"), False),
        ("A and ,", ("A",), False),
        ("Smith, J.; Doe, A. B.", ("J. Smith", "A. B. Doe"), False),
        ("Ana Lima, Bo Chen, Cy Dee, Di Eff", ("Ana Lima", "Bo Chen", "Cy Dee", "Di Eff"), False),
        (r"{\v S}omeone Smith and J{\"u}rgen M\"uller", ("Šomeone Smith", "Jürgen Müller"), False),
        (r"Ana Lima and \'{E}ric Sol", ("Ana Lima", "Éric Sol"), False),
        ("{Lima and Co} and {} and and Bo Chen", ("Lima and Co", "Bo Chen"), False),
        (r"Roger P.{\,}G. van Gompel", ("Roger P. G. van Gompel",), False),
        ("given=Ana, family=Lima", ("Ana Lima",), False),
        ("family=Vries, given={Jan, Piet}, prefix=de, useprefix=true", ("Jan Piet de Vries",), False),
        ("given=Bo, family=Chen, suffix=Jr and Ana Lima", ("Bo Chen Jr", "Ana Lima"), False),
        ("苏, 子昊 and 谢昕", ("苏子昊", "谢昕"), False),
    ],
)
def test_names(value: str, shown: tuple[str, ...], cut: bool) -> None:
    found = paper(f"author = {{{value}}},")
    assert found.authors == shown
    assert found.authors_truncated is cut


def test_authors_keep_their_order() -> None:  # F18
    names = [f"{chr(90 - i)}ara Lima" for i in range(20)]
    assert list(paper(f"author = {{{' and '.join(names)}}},").authors) == names


@pytest.mark.parametrize(
    ("value", "kept"),
    [
        ("Lima, Ana and Chen, Bo", False),
        ("Ana Lima and Bo Chen", False),
        ("van Beethoven, Ludwig", False),
        ("San Martín Suárez, Lara", True),  # where the family name begins cannot be told from how it is shown
        ("Guy van den Broeck", True),
        ("{{CERN Collaboration}}", True),
        (r"M{\"u}ller, Jan", True),
    ],
)
def test_authors_are_kept_as_written_where_their_parts_would_be_lost(value: str, kept: bool) -> None:
    assert ("author" in details(f"author = {{{value}}},")) is kept


# --- dates


@pytest.mark.parametrize(
    ("fields", "year", "published", "month_only"),
    [
        ("year = 2019,", 2019, None, False),
        ("year = 2019, month = jan,", 2019, date(2019, 1, 1), True),  # F01
        ("year = {2019}, month=Apr,", 2019, date(2019, 4, 1), True),  # F01
        ("year = {2019}, month = {january},", 2019, date(2019, 1, 1), True),
        ("year = {2019}, month = 5, day = 14,", 2019, date(2019, 5, 14), False),
        ("year = {2019}, month = {July 30th},", 2019, date(2019, 7, 30), False),
        ("year = {2019}, month = {2 sep},", 2019, date(2019, 9, 2), False),
        ('year = {2019}, month = "10~" # jan,', 2019, date(2019, 1, 10), False),
        ("year = {2019}, month = {unknown},", 2019, None, False),
        ("year = {2019}, month = jun, day = 31,", 2019, date(2019, 6, 1), True),
        ("date = {2016-08-18},", 2016, date(2016, 8, 18), False),
        ("date = {2016-03},", 2016, date(2016, 3, 1), True),
        ("date = {2004-03-03/2005-08-09},", 2004, date(2004, 3, 3), False),
        ("date = {1988~},", 1988, None, False),
        ("date = {1723-05?},", 1723, date(1723, 5, 1), True),
        ("date = {2010-21},", 2010, None, False),  # spring
        ("date = {19XX},", None, None, False),
        ("year = {in press},", None, None, False),
        ("year = {2003a},", 2003, None, False),
        ("year = {1999--2009},", 1999, None, False),
    ],
)
def test_dates(fields: str, year: int | None, published: date | None, month_only: bool) -> None:
    found = record(fields)
    assert (found.year, found.published, found.month_only) == (year, published, month_only)


def test_what_a_date_says_beyond_record_fields_is_kept() -> None:
    found = details("date = {2004-03/2005}, year = {2004}, month = mar, urldate = {2021-01-23},")
    assert found["date"] == "2004-03/2005"
    assert (found["year"], found["month"], found["urldate"]) == ("2004", "mar", "2021-01-23")
    assert details("year = {1988??},")["year"] == "1988??"
    assert "year" not in details("year = {1988},")


@pytest.mark.parametrize(
    ("fields", "added"),
    [
        ("timestamp = {2013.03.11},", datetime(2013, 3, 11, tzinfo=UTC)),
        ("timestamp = {2020-11-05},", datetime(2020, 11, 5, tzinfo=UTC)),
        ("date-added = {2009-05-12 14:22:21 -0400},", datetime(2009, 5, 12, 18, 22, 21, tzinfo=UTC)),
        ("creationdate = {2022-01-02T03:04:05},", datetime(2022, 1, 2, 3, 4, 5, tzinfo=UTC)),
        ("timestamp = {Mon, 27 Jul 2015 18:21:36 +0200},", datetime(2015, 7, 27, 16, 21, 36, tzinfo=UTC)),
        ("timestamp = {Mon, 27 Jul 2015 18:21:36 +0200}, bibsource = {dblp},", None),  # when DBLP's editors changed it
        ("timestamp = {10.04.15.11.41},", None),
        ("timestamp = {2013.13.41},", None),
    ],
)
def test_when_a_reader_filed_it(fields: str, added: datetime | None) -> None:
    assert record(fields).added == added
    assert any(name in ("timestamp", "date-added", "creationdate") for name, _ in record(fields).details)


# --- identifiers, links, venues


@pytest.mark.parametrize(
    ("fields", "identifiers"),
    [
        ("journal = {arXiv:1604.03410 [cs]},", ["arxiv:1604.03410"]),  # F03
        ("eprint = {2512.23700}, archivePrefix = {arXiv}, primaryClass = {math.GT},", ["arxiv:2512.23700"]),  # F04
        ("eprint = {2512.23700v2},", ["arxiv:2512.23700"]),
        ("eprint = {cs/0112019}, eprinttype = {arxiv},", ["arxiv:cs/0112019"]),
        ("eprint = {5500723}, eprinttype = {pubmed},", ["pmid:5500723"]),
        ("eprint = {12345}, eprinttype = {jstor},", []),
        ("journal = {CoRR}, volume = {abs/1604.03410},", ["arxiv:1604.03410"]),
        ("journal = {arXiv preprint arXiv:1604.03410}, year = 2016,", ["arxiv:1604.03410"]),
        ("howpublished = {\\url{https://arxiv.org/abs/1604.03410}},", ["arxiv:1604.03410"]),
        ("note = {a reply to arXiv:1604.03410},", []),  # another paper's
        ("doi = {10.1109/JSSC.2008.2010997},", ["doi:10.1109/jssc.2008.2010997"]),
        ("doi = {https://doi.org/10.1007/978-3-031-72567-8\\_12},", ["doi:10.1007/978-3-031-72567-8_12"]),  # F10
        ("doi = {10.48550/arXiv.1604.03410},", ["arxiv:1604.03410"]),
        ("pmid = {5500723},", ["pmid:5500723"]),
        ("url = {https://www.aclweb.org/anthology/W19-2516.pdf},", ["acl:W19-2516"]),
        ("url = {https://openreview.net/forum?id=abc_DEF123},", ["openreview:abc_DEF123"]),
    ],
)
def test_identifiers(fields: str, identifiers: list[str]) -> None:
    assert sorted(map(str, record(fields).identifiers)) == identifiers


def test_an_export_of_arxiv() -> None:  # F04
    text = """@misc{orland2025knots, title={A Study of Knots},
      author={Paul Orland and Toby Saunders-A'Court and Lara San Martín Suárez and Josef Svoboda},
      year={2025}, eprint={2512.23700v2}, archivePrefix={arXiv}, primaryClass={math.GT},
      url={https://arxiv.org/abs/2512.23700}, }"""
    (found,) = records(text)
    assert found.authors == ("Paul Orland", "Toby Saunders-A'Court", "Lara San Martín Suárez", "Josef Svoboda")
    assert found.identifiers == (Identifier(Scheme.ARXIV, "2512.23700"),)
    assert found.versions == (Version(2),)
    assert found.areas == (Area("math", "math.GT"),)
    assert found.links == (Link(LinkKind.PAGE, "https://arxiv.org/abs/2512.23700"),)


@pytest.mark.parametrize(
    ("fields", "links"),
    [
        (r"url = {http://example.org/a\_b\%20c?x=1\&y=2},", ["page http://example.org/a_b%20c?x=1&y=2"]),
        ("url = {https://example.org/long/\n    address},", ["page https://example.org/long/address"]),
        ("howpublished = {Online: \\url{https://example.org/x}},", ["page https://example.org/x"]),
        ("pdf = {https://example.org/x.pdf},", ["pdf https://example.org/x.pdf"]),
        ("pdf = {fenz2010resource.pdf},", []),
        ("note = {Code: https://github.com/ana/rivers},", ["code https://github.com/ana/rivers"]),
    ],
)
def test_links(fields: str, links: list[str]) -> None:
    assert [f"{link.kind} {link.url}" for link in dict.fromkeys(record(fields).links)][: len(links) or None] == links


@pytest.mark.parametrize(
    ("fields", "kind", "venue"),
    [
        ("journal = {Zootaxa},", "article", "Zootaxa"),
        ("journaltitle = {Trans. {Faraday} Soc.},", "article", "Trans. Faraday Soc."),
        ("booktitle = {ICML},", "inproceedings", "icml"),
        ("booktitle = {ICML 2019},", "inproceedings", "icml"),
        ("booktitle = {Proc. of Maps}, series = {WikiSym '09},", "inproceedings", "wikisym"),
        ("booktitle = {Proc. of Maps}, series = {{CEUR} Workshop Proceedings},", "inproceedings", "Proc. of Maps"),
        ("journal = {arXiv:1604.03410 [cs]},", "article", ""),
        ("journal = {CoRR}, volume = {abs/1604.03410},", "article", ""),
        ("school = {University of Maps},", "phdthesis", ""),
    ],
)
def test_venues(fields: str, kind: str, venue: str) -> None:
    found = record(fields, kind)
    assert found.venue == venue
    assert fields.split(" = ", maxsplit=1)[0] in dict(found.details)


def test_keywords() -> None:
    assert record("keywords = {rivers, {Lakes}; sea maps,},").keywords == ("rivers, Lakes", "sea maps,")
    assert record("keywords = {rivers,Lakes,\n sea maps},").keywords == ("rivers", "Lakes", "sea maps")
    assert record("keyword = {rivers, lakes},").keywords == ("rivers", "lakes")
