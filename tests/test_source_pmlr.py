"""Volumes of PMLR: their BibTeX, and the page where there is none. Papers and people are invented."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest

from broadsheet.errors import FetchError, InputError, SettingsError
from broadsheet.model import Link, LinkKind, Record, Refusal, SourceState
from broadsheet.sources.base import Page
from broadsheet.sources.pmlr import Pmlr
from tests.fakeweb import Answer, FakeWeb

NOW = datetime(2026, 11, 30, 12, 0, tzinfo=UTC)
HOST, BIB, LIST = "proceedings.mlr.press", "/v267/assets/bib/bibliography.bib", "/v267/"
BOOK = "Proceedings of the 42nd International Conference on Machine Learning"


def entry(slug: str = "quill25a", title: str = "Lamps in {F}og", book: str = BOOK) -> str:
    return f"""
@InProceedings{{pmlr-v267-{slug},
  title = \t {{{title}}},
  author =       {{Quill, Ada and Reed, Bo}},
  booktitle = \t {{{book}}},
  pages = \t {{11--20}},
  year = \t {{2025}},
  editor = \t {{Itor, Ed and Rector, Di}},
  volume = \t {{267}},
  series = \t {{Proceedings of Machine Learning Research}},
  month = \t {{13--19 Jul}},
  publisher =    {{PMLR}},
  pdf = \t {{https://raw.githubusercontent.com/mlresearch/v267/main/assets/{slug}/{slug}.pdf}},
  url = \t {{https://proceedings.mlr.press/v267/{slug}.html}},
  abstract = \t {{We see 50\\% less.}}
}}
"""


def block(title: str = "Lamps in Fog", slug: str = "quill25a") -> str:
    return f"""<div class="paper"><p class="title">{title}</p>
<p class="details"><span class="authors">Ada Quill,&nbsp;Bo Reed</span>;
<span class="info"><i>{BOOK}</i>, PMLR 267:11-20</span></p>
<p class="links">[<a href="https://proceedings.mlr.press/v267/{slug}.html">abs</a>]
[<a href="https://proceedings.mlr.press/v267/{slug}/{slug}.pdf" target="_blank">Download PDF</a>]
[<a href="https://openreview.net/forum?id=abcDEF1234" target="_blank">OpenReview</a>]</p></div>"""


def listing(*blocks: str) -> bytes:
    head = "<h2>Volume 267: International Conference on Machine Learning, 13-19 July 2025, Vancouver</h2>"
    return f"<!DOCTYPE html><html><body>{head}{''.join(blocks)}</body></html>".encode()


def parsed(body: str | bytes, kind: str = "bibtex") -> list[Record | Refusal]:
    body = body.encode() if isinstance(body, str) else body
    return list(Pmlr.of("v267").parse(Page("u", body, "", kind=kind)))


def only(body: str | bytes, kind: str = "bibtex") -> Record:
    (found,) = parsed(body, kind)
    assert isinstance(found, Record), found
    return found


def test_a_paper_of_the_volumes_bibtex() -> None:
    record = only(entry())
    assert (record.source, record.key) == ("pmlr", "v267/quill25a")
    assert record.title == "Lamps in Fog"
    assert len(record.authors) == 2
    assert record.abstract.startswith("We see 50")
    assert (record.venue, record.year, record.kind) == ("icml", 2025, "inproceedings")
    details = dict(record.details)
    assert (details["pages"], details["volume"], details["publisher"]) == ("11--20", "267", "PMLR")
    assert details["editor"] == "Itor, Ed and Rector, Di"
    assert details["booktitle"] == BOOK
    assert {link.kind for link in record.links} == {LinkKind.PAGE, LinkKind.PDF}
    assert record.raw.startswith("@InProceedings{pmlr-v267-quill25a,")


@pytest.mark.parametrize(
    ("book", "venue"),
    [
        ("Proceedings of The 27th International Conference on Artificial Intelligence and Statistics", "aistats"),
        ("Proceedings of The 8th Conference on Robot Learning", "corl"),
        ("Proceedings of the 16th Asian Conference on Machine Learning", "acml"),
        ("Proceedings of Thirty Seventh Conference on Learning Theory", "colt"),
    ],
)
def test_conferences_have_short_names(book: str, venue: str) -> None:
    assert only(entry(book=book)).venue == venue


def test_a_workshop_is_not_its_conference() -> None:
    book = "Proceedings of the Workshop on Lamps at the International Conference on Machine Learning"
    assert only(entry(book=book)).venue == book


def test_a_bad_entry_is_refused_and_the_others_are_kept() -> None:
    found = parsed(entry("one25a") + "\n@InProceedings{pmlr-v267-two25a, year = {2025}}\n" + entry("three25a"))
    assert [item.key for item in found if isinstance(item, Record)] == ["v267/one25a", "v267/three25a"]
    (refusal,) = (item for item in found if isinstance(item, Refusal))
    assert (refusal.where, refusal.line > 10) == ("u", True)


def test_a_paper_of_the_page() -> None:
    record = only(listing(block()), "html")
    assert (record.source, record.key, record.title) == ("pmlr", "v267/quill25a", "Lamps in Fog")
    assert (record.authors, record.abstract) == (("Ada Quill", "Bo Reed"), "")
    assert (record.venue, record.year, record.kind) == ("icml", 2025, "inproceedings")
    assert record.links == (
        Link(LinkKind.PAGE, "https://proceedings.mlr.press/v267/quill25a.html"),
        Link(LinkKind.PDF, "https://proceedings.mlr.press/v267/quill25a/quill25a.pdf"),
    )
    assert record.details == (("booktitle", BOOK), ("volume", "267"), ("pages", "11-20"), ("publisher", "PMLR"))


def test_both_ways_give_the_same_keys() -> None:
    assert only(entry()).key == only(listing(block()), "html").key


def test_a_title_that_is_missing_is_refused() -> None:
    entries = parsed(listing(block(""), block()), "html")
    assert [type(item) for item in entries] == [Refusal, Record]


@pytest.mark.parametrize(
    ("body", "kind"), [("<html>", "bibtex"), ("text", "bibtex"), ("<html><p>", "html"), ("\n", "html")]
)
def test_what_is_no_volume_is_an_input_error(body: str, kind: str) -> None:
    with pytest.raises(InputError, match="nothing was taken"):
        parsed(body, kind)


def test_of() -> None:
    assert Pmlr.of("267").name == Pmlr.of("v267").name == "pmlr:v267"
    for rest in ("", "v0", "icml", "v267/x"):
        with pytest.raises(SettingsError, match="pmlr:v267"):
            Pmlr.of(rest)


def test_the_bibtex_is_fetched_and_asked_for_again_only_if_it_changed(fakeweb: FakeWeb) -> None:
    fakeweb.on(
        HOST, BIB, Answer(entry(), headers={"Last-Modified": "Mon, 01 Sep 2025 10:00:00 GMT"}), Answer(status=304)
    )
    source = Pmlr.of("v267")
    (page,) = source.fetch(fakeweb.client(), "", NOW)
    assert len(list(source.parse(page))) == 1
    (again,) = source.fetch(fakeweb.client(), page.cursor, NOW)
    assert (again.state, list(source.parse(again)), again.cursor) == (SourceState.QUIET, [], page.cursor)
    assert fakeweb.requests[-1].headers["if-modified-since"] == "Mon, 01 Sep 2025 10:00:00 GMT"


def test_without_bibtex_the_page_is_taken(fakeweb: FakeWeb) -> None:
    fakeweb.on(HOST, BIB, Answer("none", 404))
    fakeweb.on(HOST, LIST, Answer(listing(block())))
    source = Pmlr.of("v267")
    (page,) = source.fetch(fakeweb.client(), "", NOW)
    assert page.remark == "the volume has no BibTeX file: without abstracts"
    assert len(list(source.parse(page))) == 1


def test_bibtex_that_is_gone_for_a_while_does_not_cost_the_abstracts(fakeweb: FakeWeb) -> None:
    fakeweb.on(HOST, BIB, Answer(entry(), headers={"ETag": '"one"'}), Answer("none", 404))
    source = Pmlr.of("v267")
    (page,) = source.fetch(fakeweb.client(), "", NOW)
    with pytest.raises(FetchError):
        list(source.fetch(fakeweb.client(), page.cursor, NOW))


def test_a_volume_that_is_not_there_is_a_fetch_error(fakeweb: FakeWeb) -> None:
    fakeweb.on(HOST, BIB, Answer("none", 404))
    fakeweb.on(HOST, LIST, Answer("none", 404))
    with pytest.raises(FetchError):
        list(Pmlr.of("v267").fetch(fakeweb.client(), "", NOW))
