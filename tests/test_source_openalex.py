"""OpenAlex: works by DOI, arXiv id and PubMed id."""

from __future__ import annotations

import gzip
import json
from datetime import date
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from broadsheet.model import Identifier, LinkKind, Notice, NoticeKind, Record, Refusal, Scheme
from broadsheet.sources.base import Page
from broadsheet.sources.catalogue import Options
from broadsheet.sources.enrichment import cursor_of
from broadsheet.sources.openalex import OpenAlex, abstract_of
from tests.fakeweb import Answer, FakeWeb
from tests.makers import identifier
from tests.shared import shared

HOST = "api.openalex.org"
JOURNAL = {"source": {"display_name": "Journal of Rivers", "type": "journal", "issn_l": "1234-5678"}}


def work(**fields: Any) -> dict[str, Any]:
    plain = {"id": "https://openalex.org/W1", "doi": "https://doi.org/10.1000/rivers", "title": "Slow rivers"}
    return plain | fields


def body(*works: Any) -> bytes:
    return json.dumps({"meta": {"count": len(works)}, "results": list(works)}).encode()


def entries(*works: Any, asked: tuple[Identifier, ...] = ()) -> list[Any]:
    return list(OpenAlex().parse(Page("https://api.openalex.org/works?filter=x", body(*works), cursor_of(asked))))


def read(**fields: Any) -> Record:
    (entry,) = entries(work(**fields))
    assert isinstance(entry, Record), entry
    return entry


def test_recorded_works() -> None:
    recorded = gzip.decompress(shared("data", "api_fixtures", "researchradar__openalex_works.json.gz").read_bytes())
    first, second = OpenAlex().parse(Page("u", recorded, ""))
    assert isinstance(first, Record) and isinstance(second, Record)
    assert (first.key, first.venue, first.year) == ("doi:10.1038/s41586-021-03534-y", "Nature", 2021)
    assert (first.published, first.kind, dict(first.counts)) == (date(2021, 5, 19), "article", {"citations": 768})
    assert "Caroline W. Reiss" in first.authors  # as the paper has it; the person's page says C.W. Reiss
    assert second.authors == ("Andrew V. Anzalone", "Luke W. Koblan", "David R. Liu")
    assert dict(second.details)["journal"] == "Nature Biotechnology"


@pytest.mark.parametrize(
    ("index", "text"),
    [
        ({"Boats": [0], "flow": [1, 3], "and": [2]}, "Boats flow and flow"),
        ({"second": [7], "First": [2]}, "First second"),
        ({}, ""),
        (None, ""),
        ([], ""),
        ({"a": None, "b": ["x"], "c": [0]}, "c"),
        ({"far": [10**15], "near": [0]}, "near far"),
    ],
)
def test_abstracts_are_put_together(index: Any, text: str) -> None:
    assert abstract_of(index) == text


@given(st.lists(st.text(st.characters(whitelist_categories=("L", "N", "P")), min_size=1, max_size=5), max_size=40))
def test_any_text_survives_its_index(words: list[str]) -> None:
    index: dict[str, list[int]] = {}
    for place, word in enumerate(words):
        index.setdefault(word, []).append(place)
    assert abstract_of(index) == " ".join(words)


def test_retraction_by_flag_and_by_title() -> None:
    retracted = (Notice(NoticeKind.RETRACTED),)
    assert read(is_retracted=True).notices == retracted
    marked = read(title="RETRACTED ARTICLE: Slow rivers", is_retracted=True)
    assert (marked.title, marked.notices) == ("Slow rivers", retracted)
    assert read(is_retracted=False).notices == ()


@pytest.mark.parametrize(
    ("given_date", "published", "month_only"),
    [
        ("2021-05-19", date(2021, 5, 19), False),
        ("2021-05-01", date(2021, 5, 1), True),  # also what is known to the month is written so
        ("2021-01-01", None, False),  # and what is known to the year
        (None, None, False),
    ],
)
def test_dates_are_trusted_as_far_as_they_can_be(given_date: Any, published: date | None, month_only: bool) -> None:
    entry = read(publication_date=given_date, publication_year=2021)
    assert (entry.published, entry.month_only, entry.year) == (published, month_only, 2021)


@pytest.mark.parametrize(
    ("fields", "kind"),
    [
        ({"type": "article"}, "article"),
        ({"type": "article", "primary_location": {"source": {"type": "conference"}}}, "inproceedings"),
        ({"type": "article", "primary_location": {"raw_type": "proceedings-article"}}, "inproceedings"),
        ({"type": "preprint", "primary_location": {"raw_type": "Preprint"}}, "online"),
        ({"type": "dissertation"}, "thesis"),
        ({"type": "paratext"}, "misc"),
        ({}, ""),
    ],
)
def test_kinds(fields: dict[str, Any], kind: str) -> None:
    assert read(**fields).kind == kind


def test_venue_and_details() -> None:
    biblio = {"volume": "3", "issue": "4", "first_page": "5", "last_page": "9"}
    entry = read(type="article", primary_location=JOURNAL, biblio=biblio, language="fr")
    assert entry.venue == "Journal of Rivers"
    assert dict(entry.details) == {
        "journal": "Journal of Rivers",
        "volume": "3",
        "number": "4",
        "pages": "5-9",
        "issn": "1234-5678",
        "language": "fr",
    }
    one_page = read(biblio={"first_page": "5", "last_page": "5"})
    assert dict(one_page.details) == {"pages": "5"}
    preprint = read(primary_location={"source": {"display_name": "arXiv (Cornell University)", "type": "repository"}})
    assert (preprint.venue, preprint.details) == ("arXiv", ())


def test_a_list_that_was_cut_says_so() -> None:
    people = [{"author_position": "middle", "raw_author_name": f"A B{n}"} for n in range(100)]
    assert read(authorships=people).authors_truncated
    assert read(authorships=people[:3], is_authors_truncated=True).authors_truncated
    assert not read(authorships=[*people[:99], {"author_position": "last", "raw_author_name": "Z"}]).authors_truncated
    unnamed = [{"author": {"display_name": "Ann Li"}}, {"author": {"display_name": None}}, {"author": None}]
    assert read(authorships=unnamed).authors == ("Ann Li",)


def test_identifiers_of_its_places_but_no_further_doi() -> None:
    places = [
        {
            "landing_page_url": "http://arxiv.org/abs/2401.12345",
            "pdf_url": "https://arxiv.org/pdf/2401.12345",
            "is_oa": True,
        },
        {"landing_page_url": "https://doi.org/10.5281/zenodo.1"},
        {"landing_page_url": None},
    ]
    entry = read(locations=places, ids={"pmid": "https://pubmed.ncbi.nlm.nih.gov/1234"})
    expected = (identifier("10.1000/rivers"), identifier("pmid:1234"), identifier("arXiv:2401.12345"))
    assert entry.identifiers == expected
    assert [(link.kind, link.url) for link in entry.links] == [(LinkKind.PDF, "https://arxiv.org/pdf/2401.12345")]


def test_the_same_work_twice_is_one_row() -> None:
    twice = [  # B18
        work(authorships=[{"raw_author_name": "María Brook"}], cited_by_count=5),
        work(authorships=[{"raw_author_name": "Maria Brook"}], cited_by_count=3),
        work(id="https://openalex.org/W2", authorships=[{"raw_author_name": "M Brook"}], cited_by_count=4),
    ]
    for order in (twice, twice[::-1]):
        (entry,) = entries(*order)
        assert entry.authors == ("María Brook",)


def test_the_key_is_the_identifier_that_was_asked_for() -> None:
    place = {"landing_page_url": "https://arxiv.org/abs/2401.12345"}
    (entry,) = entries(work(locations=[place]), asked=(identifier("arXiv:2401.12345"),))
    assert entry.key == "arxiv:2401.12345"
    (other,) = entries(work(doi=None, id="https://openalex.org/W9"))
    assert other.key == "https://openalex.org/W9"


def test_bad_works_are_refused_and_the_others_kept() -> None:
    found = entries(work(title=None, display_name=None), work(), 7)
    assert [type(entry) for entry in found].count(Refusal) == 2
    assert [type(entry) for entry in found].count(Record) == 1


def test_asking(fakeweb: FakeWeb) -> None:
    fakeweb.on(HOST, "/works", Answer(body(work())))
    asked = [
        identifier("10.1000/Rivers"),
        identifier("arXiv:2401.12345"),
        identifier("pmid:1234"),
        identifier("acl:P18-1001"),
    ]
    service = OpenAlex.of(Options(contact="ada@example.org", openalex_key="s3cret"))
    pages = list(service.fetch(fakeweb.client(), asked))
    first, second = fakeweb.requests
    assert first.query["filter"] == ["doi:10.1000/rivers|10.48550/arxiv.2401.12345"]
    assert second.query["filter"] == ["pmid:1234"]
    assert (first.query["api_key"], first.query["mailto"]) == (["s3cret"], ["ada@example.org"])
    assert int(first.query["per_page"][0]) >= 2
    assert "title" in first.query["select"][0]
    assert [page.cursor for page in pages] == ['["doi:10.1000/rivers","arxiv:2401.12345"]', '["pmid:1234"]']
    assert not any("s3cret" in page.url or "s3cret" in page.cursor for page in pages)
    assert "s3cret" not in repr(service)


def test_what_would_break_the_filter_is_not_asked_for(fakeweb: FakeWeb) -> None:
    odd = [Identifier(Scheme.DOI, "10.1000/a,b"), Identifier(Scheme.DOI, "10.1000/a|b")]
    assert list(OpenAlex().fetch(fakeweb.client(), odd)) == []


def test_without_key_and_contact_neither_is_sent(fakeweb: FakeWeb) -> None:
    fakeweb.on(HOST, "/works", Answer(body()))
    dois = [identifier(f"10.1000/{n}") for n in range(60)]
    assert len(list(OpenAlex().fetch(fakeweb.client(), dois))) == 2
    assert not {"api_key", "mailto"} & fakeweb.requests[0].query.keys()
