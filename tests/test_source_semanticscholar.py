"""Semantic Scholar: papers by nearly any identifier."""

from __future__ import annotations

import gzip
import json
from datetime import date
from pathlib import Path
from typing import Any

import pytest

from broadsheet.errors import FetchError
from broadsheet.model import Identifier, LinkKind, Record, Refusal
from broadsheet.sources.base import Page
from broadsheet.sources.catalogue import Options
from broadsheet.sources.enrichment import cursor_of
from broadsheet.sources.semanticscholar import SemanticScholar
from broadsheet.store import open_store
from tests.fakeweb import Answer, FakeWeb
from tests.makers import identifier, put
from tests.shared import shared

HOST, PATH = "api.semanticscholar.org", "/graph/v1/paper/batch"
ARXIV = identifier("arXiv:2401.12345")


def paper(**fields: Any) -> dict[str, Any]:
    return {
        "paperId": "a" * 40,
        "externalIds": {"ArXiv": "2401.12345"},
        "title": "Slow rivers and their boats",
    } | fields


def entries(*papers: Any, asked: tuple[Identifier, ...] = ()) -> list[Any]:
    return list(SemanticScholar().parse(Page("u", json.dumps(papers).encode(), cursor_of(asked))))


def read(**fields: Any) -> Record:
    (entry,) = entries(paper(**fields))
    assert isinstance(entry, Record), entry
    return entry


def test_recorded_papers() -> None:
    recorded = shared("data", "api_fixtures", "sotawhat__semantic_scholar_transformer.json").read_bytes()
    found = {
        entry.key: entry for entry in SemanticScholar().parse(Page("u", recorded, "")) if isinstance(entry, Record)
    }
    assert len(found) == 5
    swin = found["arxiv:2103.14030"]
    assert swin.identifiers == (identifier("arXiv:2103.14030"), identifier("10.1109/iccv48922.2021.00986"))
    assert (swin.authors[0], swin.authors[-1], len(swin.authors)) == ("Ze Liu", "B. Guo", 8)
    assert [(link.kind, link.url) for link in swin.links] == [(LinkKind.PDF, "http://arxiv.org/pdf/2103.14030")]
    # The service has the year of the preprint, DBLP's key that of the conference (AAAI 2021).
    assert (found["arxiv:2012.07436"].year, found["arxiv:2012.07436"].published) == (2021, date(2020, 12, 14))


def test_every_recorded_paper_of_a_person_is_read() -> None:
    raw = gzip.decompress(shared("data", "api_fixtures", "semanticscholar__Author.json.gz").read_bytes())
    papers = json.loads(raw)["papers"]
    found = entries(*papers)
    assert len(found) == len(papers) == 60
    assert all(isinstance(entry, Record) and entry.title for entry in found)
    dates = [entry.published for entry in found if entry.published]
    assert dates and all((day.month, day.day) != (1, 1) for day in dates)


def test_answers_stand_in_the_order_of_the_questions_and_null_is_unknown() -> None:
    asked = (identifier("10.1000/unknown"), ARXIV, identifier("10.1000/other"))
    found = entries(None, paper(), paper(externalIds=None), asked=asked)
    assert [entry.key for entry in found] == ["arxiv:2401.12345", "doi:10.1000/other"]


def test_two_answers_with_one_doi_become_one_paper(tmp_path: Path) -> None:
    asked = (identifier("arXiv:2401.12345"), identifier("10.23915/distill.00033"))
    external = {"ArXiv": "2401.12345", "DOI": "10.23915/distill.00033"}
    one, two = paper(externalIds=external), paper(paperId="b" * 40, externalIds={"DOI": "10.23915/distill.00033"})
    with open_store(f"sqlite:///{tmp_path}/papers.db") as store:  # B10
        summary = put(store, *entries(one, two, asked=asked))
    assert (summary.new, summary.merged) == (2, 1)


def test_a_paper_without_an_abstract_is_kept() -> None:
    assert read(abstract=None).abstract == ""  # B09
    assert read(abstract=" They flow. ").abstract == "They flow."


@pytest.mark.parametrize(
    ("fields", "venue", "kind"),
    [
        ({"venue": "arXiv.org", "publicationTypes": ["JournalArticle"]}, "arXiv", "online"),
        (
            {
                "publicationVenue": {"name": "European Rowing Conference"},
                "venue": "ERC",
                "publicationTypes": ["Conference"],
            },
            "European Rowing Conference",
            "inproceedings",
        ),
        (
            {"venue": "", "journal": {"name": "J. Rivers"}, "publicationTypes": ["JournalArticle", "Review"]},
            "J. Rivers",
            "article",
        ),
        ({"venue": None, "journal": None, "publicationVenue": None, "publicationTypes": None}, "", ""),
    ],
)
def test_venues_and_kinds(fields: dict[str, Any], venue: str, kind: str) -> None:
    entry = read(**fields)
    assert (entry.venue, entry.kind) == (venue, kind)


@pytest.mark.parametrize(
    ("year", "key", "expected"),
    [
        (2020, "conf/aaai/ZhouZPZLXZ21", 2021),
        (2021, "conf/nips/Brook20a", 2020),
        (2021, "conf/icml/2021-1", 2021),
        (2021, "journals/corr/abs-2004-05150", 2021),
        (2021, "conf/old/Brook99", 2021),
        (1999, "conf/old/Brook99", 1999),
        (None, "conf/nips/Brook20", 2020),
        (2021, None, 2021),
    ],
)
def test_the_year_is_that_of_the_conference(year: int | None, key: str | None, expected: int) -> None:
    assert read(year=year, externalIds={"DBLP": key, "ArXiv": "2401.12345"}).year == expected


def test_counts_references_and_details() -> None:
    entry = read(
        citationCount=7,
        publicationTypes=["JournalArticle"],
        journal={"name": "J. Rivers", "volume": "3", "pages": "4\n  - 9"},
        references=[
            {"externalIds": {"ArXiv": "1706.03762", "DOI": "10.1000/x"}},
            {"externalIds": {"DOI": "10.1000/Y"}},
            {"externalIds": {"DOI": "10.1000/y"}},
            {"externalIds": None},
            {"externalIds": {"CorpusId": 5}},
        ],
    )
    assert dict(entry.counts) == {"citations": 7}
    assert entry.references == (identifier("arXiv:1706.03762"), identifier("10.1000/y"))
    assert dict(entry.details) == {"journal": "J. Rivers", "volume": "3", "pages": "4 - 9"}
    assert read(journal={"volume": "abs/2401.12345"}).details == ()


def test_bad_papers_are_refused_and_the_others_kept() -> None:
    found = entries(paper(title=None), paper(), "text")
    assert [type(entry) for entry in found] == [Refusal, Record, Refusal]


def test_asking(fakeweb: FakeWeb) -> None:
    fakeweb.on(HOST, PATH, Answer(json.dumps([paper(), None, None, None])))
    asked = [ARXIV, identifier("10.1000/Rivers"), identifier("acl:2020.acl-main.1"), identifier("pmid:1234")]
    service = SemanticScholar.of(Options(semanticscholar_key="s3cret"))
    (page,) = service.fetch(fakeweb.client(), [*asked, identifier("openreview:abcdefghij")])
    (request,) = fakeweb.requests
    assert request.method == "POST"
    ids = ["ARXIV:2401.12345", "DOI:10.1000/rivers", "ACL:2020.acl-main.1", "PMID:1234"]
    assert json.loads(request.body) == {"ids": ids}
    assert {"title", "externalIds", "references.externalIds"} <= set(request.query["fields"][0].split(","))
    assert request.headers["x-api-key"] == "s3cret"
    assert [entry.key for entry in service.parse(page) if isinstance(entry, Record)] == ["arxiv:2401.12345"]
    assert "s3cret" not in repr(service) + repr(page)


def test_no_key_no_header_and_never_more_than_a_batch(fakeweb: FakeWeb) -> None:
    fakeweb.on(HOST, PATH, Answer("[]"))
    list(SemanticScholar().fetch(fakeweb.client(), [identifier(f"10.1000/{n}") for n in range(230)]))
    assert [len(json.loads(request.body)["ids"]) for request in fakeweb.requests] == [100, 100, 30]
    assert "x-api-key" not in fakeweb.requests[0].headers


def test_none_known_is_no_failure_but_a_broken_server_is(fakeweb: FakeWeb) -> None:
    fakeweb.on(HOST, PATH, Answer('{"error": "No valid paper ids given"}', status=400), Answer(status=500))
    (page,) = SemanticScholar().fetch(fakeweb.client(), [ARXIV])
    assert (page.body, list(SemanticScholar().parse(page))) == (b"", [])
    assert "knows none of 1" in page.remark
    with pytest.raises(FetchError):
        list(SemanticScholar().fetch(fakeweb.client(), [ARXIV]))
