"""Crossref: works by DOI."""

from __future__ import annotations

import base64
import gzip
import json
import re
from collections.abc import Iterator
from datetime import date
from pathlib import Path
from typing import Any

import pytest

from broadsheet.errors import FetchError, InputError
from broadsheet.identifiers import parse_identifier, url_of
from broadsheet.model import Identifier, LinkKind, Notice, NoticeKind, Record, Refusal, Scheme
from broadsheet.sources.base import Page
from broadsheet.sources.crossref import Crossref, record_of
from broadsheet.sources.enrichment import cursor_of
from broadsheet.store import open_store
from broadsheet.text import clean, display_name, is_damaged
from tests.fakeweb import Answer, FakeWeb
from tests.makers import identifier, put, record
from tests.shared import shared

HOST = "api.crossref.org"
BRACKETS = "10.1002/(sici)1097-4598(199605)19:5<621::aid-mus10>3.3.co;2-c"


def work(**fields: Any) -> dict[str, Any]:
    return {"DOI": "10.1000/rivers", "type": "journal-article", "title": ["Slow rivers and their boats"]} | fields


def page(*works: Any, asked: tuple[Identifier, ...] = ()) -> Page:
    body = json.dumps({"status": "ok", "message": {"items": list(works)}})
    return Page("https://api.crossref.org/works?filter=x", body.encode(), cursor_of(asked))


def read(**fields: Any) -> Record:
    (entry,) = Crossref().parse(page(work(**fields)))
    assert isinstance(entry, Record), entry
    return entry


def day_of(*parts: int | None) -> dict[str, Any]:
    return {"date-parts": [list(parts)]}


# --- recorded answers ------------------------------------------------------------------------------------------------


def recorded_bodies(path: Path) -> Iterator[bytes]:
    """The bodies in a cassette of VCR: base64 of gzip."""
    opened = gzip.open if path.suffix == ".gz" else open
    with opened(path, "rt", encoding="utf-8") as file:
        text = file.read()
    for block in re.findall(r"!!binary \|\n((?: {8}\S+\n)+)", text):
        raw = base64.b64decode("".join(block.split()))
        yield gzip.decompress(raw) if raw[:2] == b"\x1f\x8b" else raw


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("crossref_habanero__test_cursor.yaml", 20),
        ("crossref_habanero__test_random_dois.yaml.gz", 10),
        ("crossref_habanero__test_works_query.yaml", 2),
        ("crossref_habanero__test_works_with_many_ids.yaml.gz", 5),
        ("crossref_habanero__test_works_with_one_id.yaml", 1),
    ],
)
def test_every_work_of_recorded_answers_is_read(name: str, expected: int) -> None:
    bodies = recorded_bodies(shared("data", "api_fixtures", name))
    entries = [entry for body in bodies for entry in Crossref().parse(Page("u", body, ""))]
    records = [entry for entry in entries if isinstance(entry, Record)]
    assert len(records) == len(entries) == expected
    for entry in records:
        assert entry.title and entry.key.startswith("doi:10.") and entry.source == "crossref"
        assert json.loads(entry.raw)["DOI"].lower() == entry.key.removeprefix("doi:")
        assert dict(entry.counts).keys() == {"citations"}


def test_a_recorded_correction_is_no_retraction() -> None:
    (body,) = recorded_bodies(shared("data", "api_fixtures", "crossref_habanero__test_works_with_one_id.yaml"))
    (entry,) = Crossref().parse(Page("u", body, ""))
    assert isinstance(entry, Record)
    assert json.loads(entry.raw)["updated-by"][0]["type"] == "correction"
    assert entry.notices == ()
    assert (entry.venue, entry.year, entry.published) == ("PLoS ONE", 2012, date(2012, 3, 21))
    assert dict(entry.counts) == {"citations": 72}
    details = dict(entry.details)
    assert details["editor"] == "Cesario V. Borlongan"
    assert (details["volume"], details["number"], details["pages"]) == ("7", "3", "e33693")
    assert len(entry.references) == 65
    assert len(set(entry.references)) == 65


def test_a_work_edited_by_hand_with_all_its_traps() -> None:
    raw = json.loads(shared("data", "api_fixtures", "fatcat__crossref-works.single.json").read_text(encoding="utf-8"))
    entry = record_of(raw)
    assert entry.authors[:2] == ("Marcelo D. Radicioni", "Carlos G. Diaz")
    assert len(entry.authors) == 3  # the nameless fourth is none
    assert (entry.year, entry.published) == (1998, None)
    assert dict(entry.details)["editor"] == "A B"
    assert dict(entry.details)["isbn"] == "85-359-0277-5, 978-3-16-148410-0"
    assert entry.identifiers[0].value == "10.1002/(sici)1097-461x(1998)66:4<261::aid-qua1>3.0.co;2-t"


def test_a_recorded_dump_is_read() -> None:
    with gzip.open(shared("data", "api_fixtures", "fatcat__crossref-works.2018-01-21.badsample.json.gz"), "rt") as file:
        works = [json.loads(line) for line in file]
    entries = [record_of(one) for one in works]
    assert len(entries) == 14
    assert {entry.kind for entry in entries} == {"article"}


# --- fields ----------------------------------------------------------------------------------------------------------


def test_names_in_either_form_of_unicode_are_shown_composed() -> None:
    entry = read(author=[{"given": "He\u0301le\u0300ne", "family": "Dupont"}])  # B11
    assert display_name(entry.authors[0]) == "Hélène Dupont"


def test_a_damaged_name_stays_marked_and_another_source_is_preferred(tmp_path: Path) -> None:
    broken = read(author=[{"given": "Jo", "family": "M\ufffdller"}, {"given": "Ada", "family": "Brook"}])  # B12
    assert broken.authors[0] == "Jo M\ufffdller"
    assert is_damaged(broken.authors[0])
    whole = record("Slow rivers and their boats", "doi:10.1000/rivers", authors="Jo Müller, Ada Brook", source="dblp")
    store = open_store(f"sqlite:///{tmp_path}/papers.db")
    assert put(store, broken, whole).merged == 1
    paper = store.papers([1])[1]
    store.close()
    assert paper.authors == ("Jo Müller", "Ada Brook")
    assert not paper.damaged


@pytest.mark.parametrize(
    ("title", "shown"),
    [
        ("<i>\n In vitro\n </i> assay", "*In vitro* assay"),  # B14
        ("Boats\n   of the\n  river", "Boats of the river"),
        ("Effects on <i>E. coli</i>", "Effects on *E. coli*"),
        ("CO<sub>2</sub> in rivers", "CO₂ in rivers"),
        ("R&amp;D in Boats", "R&D in Boats"),
        ("Boats in <scp>DNA</scp> &amp;amp; mud", "Boats in DNA & mud"),
    ],
)
def test_markup_and_line_breaks_in_titles(title: str, shown: str) -> None:
    assert clean(read(title=[title]).title) == shown


@pytest.mark.parametrize(
    ("title", "subtitle", "whole"),
    [
        ("Slow rivers", "A study of boats", "Slow rivers: A study of boats"),
        ("Why do rivers flow?", "A study", "Why do rivers flow? A study"),
        ("Slow rivers: a study of boats", "A study of boats", "Slow rivers: a study of boats"),
    ],
)
def test_a_subtitle_belongs_to_the_title(title: str, subtitle: str, whole: str) -> None:
    assert read(title=[title, "Langsame Flüsse"], subtitle=[subtitle]).title == whole


def test_an_abstract_keeps_its_markup_but_not_the_word_abstract() -> None:
    entry = read(
        abstract="<jats:title>Abstract</jats:title>\n<jats:p>Rivers are <jats:italic>slow</jats:italic>.</jats:p>"
    )
    assert clean(entry.abstract) == "Rivers are *slow*."
    structured = read(abstract="<jats:sec><jats:title>Aims</jats:title><jats:p>To row.</jats:p></jats:sec>")
    assert clean(structured.abstract) == "Aims To row."


@pytest.mark.parametrize(
    ("dates", "published", "month_only", "year"),
    [
        ({"issued": day_of(2020, 5, 17)}, date(2020, 5, 17), False, 2020),
        ({"issued": day_of(2020, 5)}, date(2020, 5, 1), True, 2020),
        ({"issued": day_of(2020)}, None, False, 2020),
        ({"issued": day_of(None)}, None, False, None),
        ({"issued": {"date-parts": [[]]}}, None, False, None),
        ({"issued": day_of(2020, 13, 1)}, None, False, 2020),
        ({"issued": day_of(2021, 2, 30)}, None, False, 2021),
        ({"issued": day_of(0)}, None, False, None),
        ({"published-print": day_of(2020, 5), "published-online": day_of(2020, 5, 17)}, date(2020, 5, 17), False, 2020),
        ({"published-print": day_of(2021, 1), "published-online": day_of(2020, 11, 3)}, date(2020, 11, 3), False, 2020),
        ({"published-print": day_of(2019), "issued": day_of(2020, 11, 3)}, None, False, 2019),
        ({"event": {"name": "Rowing 2005", "start": day_of(2005, 7, 4)}}, None, False, 2005),
        ({}, None, False, None),
    ],
)
def test_dates_are_as_precise_as_they_were_given(
    dates: dict[str, Any], published: date | None, month_only: bool, year: int | None
) -> None:
    entry = read(**dates)
    assert (entry.published, entry.month_only, entry.year) == (published, month_only, year)


@pytest.mark.parametrize(
    ("fields", "kind", "venue", "expected"),
    [
        ({"container-title": ["J. Rivers"]}, "article", "J. Rivers", {"journal": "J. Rivers"}),
        (
            {"type": "proceedings-article", "container-title": ["Proc. Rowing"]},
            "inproceedings",
            "Proc. Rowing",
            {"booktitle": "Proc. Rowing"},
        ),
        (
            {"type": "book-chapter", "container-title": ["Lecture Notes in Rowing", "Boats – ECR 2016"]},
            "incollection",
            "Boats – ECR 2016",
            {"booktitle": "Boats – ECR 2016", "series": "Lecture Notes in Rowing"},
        ),
        (
            {
                "type": "book-chapter",
                "container-title": ["Lecture Notes in Rowing", "Boats – ECR 2016"],
                "assertion": [{"name": "conference_name", "value": "European Conference on Rowing"}],
            },
            "inproceedings",
            "Boats – ECR 2016",
            {"eventtitle": "European Conference on Rowing"},
        ),
        ({"type": "posted-content", "institution": [{"name": "bioRxiv"}]}, "online", "bioRxiv", {}),
        ({"type": "dissertation", "institution": [{"name": "U"}]}, "thesis", "", {}),
        ({"type": "peer-review"}, "misc", "", {}),
        ({"article-number": "77"}, "article", "", {"eid": "77"}),
        (
            {"volume": "3", "issue": "4-5", "page": "6-7", "publisher": "P", "ISSN": ["1-2", "3-4"], "language": "fr"},
            "article",
            "",
            {"volume": "3", "number": "4-5", "pages": "6-7", "publisher": "P", "issn": "1-2, 3-4", "language": "fr"},
        ),
        (
            {"editor": [{"given": "A", "family": "B"}, {"name": "Rowers and Boats Ltd"}]},
            "article",
            "",
            {"editor": "A B and {Rowers and Boats Ltd}"},
        ),
    ],
)
def test_kind_venue_and_details(fields: dict[str, Any], kind: str, venue: str, expected: dict[str, str]) -> None:
    entry = read(**fields)
    assert (entry.kind, entry.venue) == (kind, venue)
    assert expected.items() <= dict(entry.details).items()


def test_authors_keep_their_order_suffixes_and_bodies() -> None:
    people = [
        {"given": "Ann", "family": "Li", "suffix": "Jr."},
        {"name": "The River Team"},
        {"given": "", "family": ""},
    ]
    assert read(author=people).authors == ("Ann Li Jr.", "The River Team")


def test_preprint_and_publication_are_one_paper_by_their_relation() -> None:
    relation = {
        "has-preprint": [{"id-type": "doi", "id": "10.48550/arXiv.2401.12345", "asserted-by": "subject"}],
        "has-review": [{"id-type": "doi", "id": "10.1000/review"}],
        "is-preprint-of": [{"id-type": "uri", "id": "https://example.org/x"}],
    }
    assert read(relation=relation).identifiers == (identifier("10.1000/rivers"), identifier("arXiv:2401.12345"))


def test_references_by_doi_and_in_running_text() -> None:
    references = [
        {"DOI": "10.1000/A"},
        {"DOI": "10.1000/a"},
        {"unstructured": "Brook, A. Boats. arXiv:2401.12345 (2024)."},
        {"unstructured": "Brook, A. No identifier."},
    ]
    assert read(reference=references).references == (identifier("10.1000/a"), identifier("arXiv:2401.12345"))


def test_only_open_pdfs_are_linked() -> None:
    links = [{"URL": "https://example.org/a.pdf", "content-type": "application/pdf"}]
    licence = [{"URL": "https://creativecommons.org/licenses/by/4.0/"}]
    assert read(link=links).links == ()
    (link,) = read(link=links * 2, license=licence).links
    assert (link.kind, link.url) == (LinkKind.PDF, "https://example.org/a.pdf")


# --- retractions -----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("kind_of_update", "kind"),
    [
        ("retraction", NoticeKind.RETRACTED),
        ("removal", NoticeKind.RETRACTED),
        ("withdrawal", NoticeKind.WITHDRAWN),
        ("expression_of_concern", NoticeKind.CONCERN),
        ("partial_retraction", NoticeKind.CONCERN),
        ("correction", None),
        ("new_version", None),
    ],
)
def test_updated_by_stands_on_the_work(kind_of_update: str, kind: NoticeKind | None) -> None:
    update = {"DOI": "10.1000/notice", "type": kind_of_update, "label": "Label", "updated": day_of(2021, 3, 4)}
    reason = "Label (https://doi.org/10.1000/notice)"
    expected = (Notice(kind, reason, date(2021, 3, 4)),) if kind else ()
    assert read(**{"updated-by": [update]}).notices == expected


def test_update_to_stands_on_the_notice_which_is_no_retracted_paper() -> None:
    update = {"DOI": "10.1000/other", "type": "retraction", "label": "Retraction"}
    title = "Retraction notice to: Slow rivers"
    entry = read(title=[title], **{"update-to": [update]})
    assert (entry.notices, entry.title) == ((), title)


def test_a_work_retracted_in_place_updates_itself() -> None:
    update = {"DOI": "10.1000/RIVERS", "type": "retraction", "label": "Retraction"}
    assert read(**{"update-to": [update]}).notices == (Notice(NoticeKind.RETRACTED, "Retraction"),)


def test_the_mark_in_the_title_adds_nothing_to_a_notice_that_says_more() -> None:
    update = {"DOI": "10.1000/n", "type": "retraction", "label": "Retraction", "updated": day_of(2021, 3, 4)}
    entry = read(title=["RETRACTED: Slow rivers and their boats"], **{"updated-by": [update]})
    assert entry.title == "Slow rivers and their boats"
    assert entry.notices == (Notice(NoticeKind.RETRACTED, "Retraction (https://doi.org/10.1000/n)", date(2021, 3, 4)),)
    assert read(title=["RETRACTED: Slow rivers"]).notices == (Notice(NoticeKind.RETRACTED),)


# --- asking ----------------------------------------------------------------------------------------------------------


def answer(*works: Any) -> Answer:
    return Answer(json.dumps({"message": {"items": list(works)}}))


def test_all_are_asked_for_at_once_with_the_contact(fakeweb: FakeWeb) -> None:
    fakeweb.on(HOST, "/works", answer(work(), work(DOI="10.1000/b", title=["Another paper"])))
    asked = [identifier("10.1000/rivers"), identifier("10.1000/b"), identifier("10.1000/unknown")]
    service = Crossref("ada@example.org")
    (found,) = service.fetch(fakeweb.client(), asked)
    (request,) = fakeweb.requests
    assert request.query["filter"] == ["doi:10.1000/rivers,doi:10.1000/b,doi:10.1000/unknown"]
    assert (request.query["rows"], request.query["mailto"]) == (["3"], ["ada@example.org"])
    assert [entry.key for entry in service.parse(found) if isinstance(entry, Record)] == [
        "doi:10.1000/rivers",
        "doi:10.1000/b",
    ]
    assert "ada@example.org" not in found.url


def test_more_than_a_batch_is_asked_for_in_parts(fakeweb: FakeWeb) -> None:
    fakeweb.on(HOST, "/works", answer())
    pages = list(Crossref().fetch(fakeweb.client(), [identifier(f"10.1000/{n}") for n in range(120)]))
    assert [request.query["rows"] for request in fakeweb.requests] == [["50"], ["50"], ["20"]]
    assert [list(Crossref().parse(one)) for one in pages] == [[], [], []]


def test_doi_with_brackets_survives_address_search_and_answer(fakeweb: FakeWeb) -> None:
    fakeweb.on(HOST, "/works", answer(work(DOI=BRACKETS.upper())))  # B15
    asked = identifier(BRACKETS)
    (found,) = Crossref().fetch(fakeweb.client(), [asked])
    assert fakeweb.requests[0].query["filter"] == [f"doi:{BRACKETS}"]
    (entry,) = Crossref().parse(found)
    assert isinstance(entry, Record)
    assert (entry.identifiers, entry.key) == ((asked,), f"doi:{BRACKETS}")
    again = parse_identifier(url_of(asked))
    assert again and again[0] == asked


def test_a_doi_with_a_comma_is_asked_for_alone(fakeweb: FakeWeb) -> None:
    odd = Identifier(Scheme.DOI, "10.1000/a,b<c>")
    fakeweb.on(HOST, "/works", answer(work()))
    fakeweb.on(HOST, "/works/10.1000/a,b<c>", Answer(json.dumps({"message": work(DOI=odd.value)})))
    pages = list(Crossref().fetch(fakeweb.client(), [odd, identifier("10.1000/rivers")]))
    keys = [entry.key for one in pages for entry in Crossref().parse(one) if isinstance(entry, Record)]
    assert keys == ["doi:10.1000/rivers", str(odd)]
    assert fakeweb.requests[0].query["filter"] == ["doi:10.1000/rivers"]


def test_a_single_unknown_doi_is_no_failure_but_a_broken_server_is(fakeweb: FakeWeb) -> None:
    odd = Identifier(Scheme.DOI, "10.1000/a,b")
    fakeweb.on(HOST, "/works/10.1000/a,b", Answer("Resource not found.", status=404), Answer(status=500))
    (found,) = Crossref().fetch(fakeweb.client(), [odd])
    assert (found.body, list(Crossref().parse(found))) == (b"", [])
    assert "does not know" in found.remark
    with pytest.raises(FetchError):
        list(Crossref().fetch(fakeweb.client(), [odd]))


def test_identifiers_of_other_schemes_are_not_asked_for(fakeweb: FakeWeb) -> None:
    assert list(Crossref().fetch(fakeweb.client(), [identifier("arXiv:2401.12345")])) == []


def test_a_bad_work_is_refused_and_the_others_kept() -> None:
    entries = list(Crossref().parse(page(work(title=[]), work(), "text", work(title=[{"a": 1}]))))
    refused = [entry.reason for entry in entries if isinstance(entry, Refusal)]
    assert len(entries) == 4
    assert [type(entry) for entry in entries].count(Record) == 1
    assert "title" in refused[0] and "entry 1" in refused[0]
    assert "title" in refused[2]


def test_what_is_no_json_is_said_to_be_none() -> None:
    with pytest.raises(InputError, match="web page where JSON was expected"):
        list(Crossref().parse(Page("https://api.crossref.org/works", b"<html>hotel login</html>", "")))
    assert list(Crossref().parse(Page("u", b"[]", ""))) == []
    assert list(Crossref().parse(Page("u", b"", ""))) == []


# --- one paper -------------------------------------------------------------------------------------------------------


def test_a_doi_that_points_at_a_whole_issue_merges_nothing(tmp_path: Path) -> None:
    issue = read(DOI="10.26421/qic16.15-16", title=["Quantum Information and Computation, volume 16, issue 15"])  # B19
    paper = record("A slow algorithm for fast boats", "arXiv:1604.04062", "10.26421/qic16.15-16", authors="Bo Chen")
    same = read(DOI="10.26421/qic16.15-16", title=["A slow algorithm for fast boats"])
    for number, (other, merged) in enumerate(((issue, 0), (same, 1))):
        store = open_store(f"sqlite:///{tmp_path}/papers{number}.db")
        assert put(store, paper, other).merged == merged
        store.close()
