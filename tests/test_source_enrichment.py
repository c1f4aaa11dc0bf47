"""Whom to ask about which papers, and the marks of retractions in titles."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from datetime import UTC, date, datetime, timedelta
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from broadsheet.ingest import derive
from broadsheet.model import Identifier, Notice, NoticeKind, Paper, Scheme
from broadsheet.net import Client
from broadsheet.sources.base import Enricher, Entry, Page
from broadsheet.sources.catalogue import Options, open_enrichers
from broadsheet.sources.enrichment import (
    ASK_AGAIN,
    GIVES,
    RETRACTION_EVERY,
    asked_on,
    batches,
    cursor_of,
    key_of,
    missing,
    names_of,
    wanted,
)
from broadsheet.sources.notices import united, without_mark
from tests.makers import identifier, record

NOW = datetime(2026, 11, 30, 12, 0, tzinfo=UTC)
TIERS = open_enrichers(list(GIVES), Options())
CROSSREF, OPENALEX, SEMANTIC, DBLP = TIERS
DOI, ARXIV = identifier("10.1000/rivers"), identifier("arXiv:2401.12345")
WHOLE: dict[str, Any] = {
    "authors": ("Ann Li",),
    "venue": "Journal of Rivers",
    "year": 2024,
    "abstract": "They flow slowly.",
    "counts": (("citations", 3),),
}


def paper(*ids: str, **fields: Any) -> Paper:
    return derive(1, [record("Slow rivers and their boats", *ids, **(WHOLE | fields))])


def ask(*papers: Paper, tiers: Sequence[Enricher] = TIERS, **asked: int) -> dict[str, list[str]]:
    """Whom to ask; ``asked`` says how many days ago a service was asked about anything."""

    def when(service: str, _: Identifier) -> datetime | None:
        return NOW - timedelta(days=asked[service]) if service in asked else None

    return {name: [str(i) for i in found] for name, found in wanted(papers, tiers, when, NOW).items()}


def test_the_table_of_what_services_give_names_all_of_them() -> None:
    assert [tier.name for tier in TIERS] == list(GIVES)
    fields = {"title", "authors", "venue", "year", "doi", "abstract", "citations", "retraction"}
    assert all(given <= fields for given in GIVES.values())


@pytest.mark.parametrize(
    ("ids", "fields", "lacks"),
    [
        (["10.1000/rivers"], {}, set()),
        (["arXiv:2401.12345"], {}, {"doi"}),
        (["10.1000/rivers"], {"venue": "arXiv", "abstract": "", "counts": ()}, {"venue", "abstract", "citations"}),
        (["10.1000/rivers"], {"venue": "", "year": None}, {"venue", "year"}),
        (["10.1000/rivers"], {"authors_truncated": True, "summarised": True}, {"authors", "abstract"}),
        (["10.1000/rivers"], {"authors": (), "title_derived": True}, {"authors", "title"}),
    ],
)
def test_what_a_paper_lacks(ids: list[str], fields: dict[str, Any], lacks: set[str]) -> None:
    assert missing(paper(*ids, **fields)) == lacks


def test_a_whole_paper_is_only_checked_for_a_retraction_by_the_first_who_can() -> None:
    whole = paper("10.1000/rivers")
    assert ask(whole) == {"crossref": ["doi:10.1000/rivers"]}
    assert ask(whole, tiers=[DBLP, OPENALEX, CROSSREF]) == {"openalex": ["doi:10.1000/rivers"]}
    assert ask(whole, tiers=[SEMANTIC, DBLP]) == {}


def test_the_check_is_renewed_after_thirty_days() -> None:
    whole = paper("10.1000/rivers")
    assert ask(whole, crossref=RETRACTION_EVERY.days - 1) == {}
    assert ask(whole, crossref=RETRACTION_EVERY.days) == {"crossref": ["doi:10.1000/rivers"]}


def test_a_retracted_paper_is_not_checked_again_but_a_doubted_one_is() -> None:
    retracted, doubted = (
        paper("10.1000/rivers", notices=(Notice(kind),)) for kind in (NoticeKind.RETRACTED, NoticeKind.CONCERN)
    )
    assert ask(retracted) == {}
    assert ask(doubted) == {"crossref": ["doi:10.1000/rivers"]}


def test_tiers_are_asked_one_after_the_other() -> None:
    lacking = paper("10.1000/rivers", "arXiv:2401.12345", abstract="")
    assert ask(lacking) == {"crossref": ["doi:10.1000/rivers"]}
    assert ask(lacking, crossref=1) == {"openalex": ["doi:10.1000/rivers"]}
    assert ask(lacking, crossref=1, openalex=1) == {"semanticscholar": ["arxiv:2401.12345"]}
    assert ask(lacking, crossref=1, openalex=1, semanticscholar=1) == {}


def test_a_service_that_could_not_help_is_asked_again_after_a_fortnight() -> None:
    lacking = paper("arXiv:2401.12345")
    days = ASK_AGAIN.days
    assert ask(lacking, openalex=days - 1, semanticscholar=days - 1) == {}
    assert ask(lacking, openalex=days, semanticscholar=days - 1) == {"openalex": ["arxiv:2401.12345"]}
    assert ask(lacking, openalex=days - 1, semanticscholar=days) == {"semanticscholar": ["arxiv:2401.12345"]}


def test_nobody_is_asked_for_what_they_cannot_give_or_do_not_know() -> None:
    assert ask(paper("10.1000/rivers", abstract=""), tiers=[DBLP]) == {}
    assert ask(paper("10.1000/rivers", venue=""), tiers=[DBLP]) == {"dblp": ["doi:10.1000/rivers"]}
    assert ask(paper("openreview:abcdefghij", venue="")) == {}
    assert ask(paper("acl:P18-1001", abstract="")) == {"semanticscholar": ["acl:P18-1001"]}
    assert ask(paper(venue="")) == {}


def test_a_check_and_a_gap_may_go_to_two_services() -> None:
    lacking = paper("10.1000/rivers", "arXiv:2401.12345", abstract="")
    found = ask(lacking, tiers=[SEMANTIC, CROSSREF])
    assert found == {"semanticscholar": ["arxiv:2401.12345"], "crossref": ["doi:10.1000/rivers"]}


def test_identifiers_are_asked_for_once_in_the_papers_order() -> None:
    papers = [paper("10.1000/b"), paper("10.1000/a"), paper("10.1000/b")]
    assert ask(*papers) == {"crossref": ["doi:10.1000/b", "doi:10.1000/a"]}
    assert ask() == {}


class Stranger:
    """A service that nobody has described."""

    name = "stranger"
    schemes: tuple[Scheme, ...] = (Scheme.DOI,)
    batch = 1

    def fetch(self, client: Client, identifiers: Sequence[Identifier]) -> Iterator[Page]:
        raise NotImplementedError

    def parse(self, page: Page) -> Iterator[Entry]:
        raise NotImplementedError


def test_a_service_that_is_not_in_the_table_is_asked_for_everything() -> None:
    assert ask(paper("10.1000/rivers", abstract=""), tiers=[Stranger()]) == {"stranger": ["doi:10.1000/rivers"]}
    assert ask(paper("10.1000/rivers"), tiers=[Stranger()]) == {"stranger": ["doi:10.1000/rivers"]}


@given(
    st.sets(st.sampled_from(("authors", "venue", "year", "abstract", "counts"))),
    st.sets(st.sampled_from(("10.1000/rivers", "arXiv:2401.12345", "pmid:1234", "acl:P18-1001"))),
    st.dictionaries(st.sampled_from(list(GIVES)), st.integers(0, 60)),
    st.permutations(TIERS),
)
def test_once_everybody_was_asked_nobody_is_asked(
    absent: set[str], ids: set[str], days: dict[str, int], tiers: list[Enricher]
) -> None:
    empty = {"authors": (), "venue": "", "year": None, "abstract": "", "counts": ()}
    one = paper(*ids, **{name: empty[name] for name in absent})
    moments = {name: NOW - timedelta(days=count) for name, count in days.items()}
    for _ in range(len(tiers) + 1):
        found = wanted([one], tiers, lambda name, _: moments.get(name), NOW)
        for name, identifiers in found.items():
            assert len(identifiers) == 1
            assert identifiers[0] in one.identifiers
            assert NOW - moments.get(name, NOW - timedelta(days=99)) >= ASK_AGAIN
            moments[name] = NOW
    assert found == {}


# --- what the services share -----------------------------------------------------------------------------------------


@given(st.lists(st.sampled_from((DOI, ARXIV, identifier("acl:P18-1001"), identifier("10.1002/(sici)1:2<3::a>4;5")))))
def test_a_page_remembers_what_was_asked(identifiers: list[Identifier]) -> None:
    assert asked_on(Page("u", b"", cursor_of(identifiers))) == identifiers


def test_keys_names_and_batches() -> None:
    assert asked_on(Page("u", b"", "")) == []
    assert key_of([DOI, ARXIV], [ARXIV], "x") == "arxiv:2401.12345"
    assert key_of([DOI], [ARXIV], "x") == "doi:10.1000/rivers"
    assert key_of([], [ARXIV], "x") == "x"
    assert names_of(["Ann Li", "Rowers and Boats Ltd"]) == "Ann Li and {Rowers and Boats Ltd}"
    assert [len(part) for part in batches([DOI] * 5, 2)] == [2, 2, 1]
    assert list(batches([], 2)) == []


# --- marks in titles -------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("title", "rest", "kind"),
    [
        ("RETRACTED: Slow rivers", "Slow rivers", NoticeKind.RETRACTED),
        ("Retracted: Slow rivers", "Slow rivers", NoticeKind.RETRACTED),
        ("RETRACTED ARTICLE: Slow rivers", "Slow rivers", NoticeKind.RETRACTED),
        ("Retracted Article: Slow rivers", "Slow rivers", NoticeKind.RETRACTED),
        ("Retracted Chapter: Slow rivers", "Slow rivers", NoticeKind.RETRACTED),
        ("[Retracted] Slow rivers", "Slow rivers", NoticeKind.RETRACTED),
        ("[RETRACTED ARTICLE]: Slow rivers", "Slow rivers", NoticeKind.RETRACTED),
        ("(Retracted) Slow rivers", "Slow rivers", NoticeKind.RETRACTED),
        ("RETRACTED – Slow rivers", "Slow rivers", NoticeKind.RETRACTED),
        ("Slow rivers [Retracted]", "Slow rivers", NoticeKind.RETRACTED),
        ("Slow rivers (Retracted article. See vol. 3, pg. 4, 2020)", "Slow rivers", NoticeKind.RETRACTED),
        ("WITHDRAWN: Slow rivers", "Slow rivers", NoticeKind.WITHDRAWN),
        ("Withdrawn: a novel", None, None),
        ("Retraction notice to: Slow rivers", None, None),
        ("Retraction: Slow rivers", None, None),
        ("Expression of Concern: Slow rivers", None, None),
        ("Retracted papers in rowing", None, None),
        ("Retracted papers: a survey", None, None),
        ("Why papers are retracted", None, None),
        ("[Retracted]", None, None),
        ("RETRACTED:", None, None),
        ("", None, None),
    ],
)
def test_marks(title: str, rest: str | None, kind: NoticeKind | None) -> None:
    assert without_mark(title) == (title if rest is None else rest, (Notice(kind),) if kind else ())


def test_a_bare_notice_yields_to_one_that_says_more() -> None:
    bare, told = Notice(NoticeKind.RETRACTED), Notice(NoticeKind.RETRACTED, "Fraud", date(2020, 1, 2))
    concern = Notice(NoticeKind.CONCERN)
    assert united((bare,), (told,)) == (told,)
    assert united((bare,), (bare, concern)) == (bare, concern)
    assert united() == ()
