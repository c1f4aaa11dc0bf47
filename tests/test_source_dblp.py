"""DBLP: records by DOI."""

from __future__ import annotations

import pytest

from broadsheet.errors import FetchError, InputError
from broadsheet.model import Record, Refusal
from broadsheet.sources.base import Page
from broadsheet.sources.dblp import Dblp
from broadsheet.sources.enrichment import cursor_of
from broadsheet.text import clean, display_name
from tests.fakeweb import Answer, FakeWeb
from tests.makers import identifier

HOST = "dblp.org"
DOI = identifier("10.1000/rivers")


def xml(inside: str, kind: str = "inproceedings", key: str = "conf/row/LiC24") -> bytes:
    return f'<?xml version="1.0" encoding="US-ASCII"?>\n<dblp>\n<{kind} key="{key}">{inside}</{kind}>\n</dblp>'.encode()


def read(inside: str, kind: str = "inproceedings") -> Record:
    (entry,) = Dblp().parse(Page("https://dblp.org/doi/10.1000/rivers.xml", xml(inside, kind), cursor_of([DOI])))
    assert isinstance(entry, Record), entry
    return entry


def test_a_paper_of_a_conference() -> None:
    entry = read(
        '<author pid="1">Wei Wang 0001</author><author>J&ouml;rg M&#252;ller</author><author>Bo Chen Jr.</author>'
        "<title>Slow <i>k</i>-means of rivers &amp; boats.</title><pages>4-9</pages><year>2024</year>"
        "<booktitle>ROW</booktitle><ee>https://doi.org/10.1000/RIVERS</ee><url>db/conf/row/row2024.html#LiC24</url>"
    )
    assert entry.authors == ("Wei Wang", "Jörg Müller", "Bo Chen Jr.")  # B17, namesakes
    assert clean(entry.title) == "Slow *k*-means of rivers & boats"
    assert (entry.venue, entry.year, entry.kind) == ("ROW", 2024, "inproceedings")
    assert dict(entry.details) == {"booktitle": "ROW", "pages": "4-9"}
    assert (entry.key, entry.identifiers, entry.source) == ("doi:10.1000/rivers", (DOI,), "dblp")


def test_an_article_of_a_journal() -> None:
    entry = read(
        "<title>Rivers...</title><journal>J. Rivers</journal><volume>3</volume><number>2</number><year>2023</year>"
        "<editor>Ann Li</editor><editor>Bo Chen 0002</editor>",
        "article",
    )
    assert (entry.title, entry.venue, entry.kind) == ("Rivers...", "J. Rivers", "article")
    assert dict(entry.details) == {"journal": "J. Rivers", "volume": "3", "number": "2", "editor": "Ann Li and Bo Chen"}


def test_corr_is_arxiv() -> None:
    entry = read(
        "<title>Rivers.</title><journal>CoRR</journal><volume>abs/2401.12345</volume><year>2024</year>", "article"
    )
    assert entry.identifiers == (identifier("arXiv:2401.12345"),)
    assert (entry.venue, entry.kind, entry.details) == ("arXiv", "online", ())


@pytest.mark.parametrize(
    ("written", "shown"),
    [
        ("J&ouml;rg M&uuml;ller", "Jörg Müller"),
        ("J&amp;ouml;rg M&amp;uuml;ller", "Jörg Müller"),
        ("J&#246;rg M&#xfc;ller", "Jörg Müller"),
        ("Wei Wang 0001", "Wei Wang"),
        ("Louis XIV", "Louis XIV"),
    ],
)
def test_names_are_decoded_as_often_as_they_were_encoded(written: str, shown: str) -> None:
    (author,) = read(f"<title>Rivers.</title><author>{written}</author>").authors
    assert display_name(author) == shown


def test_comparison_signs_in_a_title_are_text() -> None:
    assert clean(read("<title>When x &lt; y &amp; y &lt;i&gt; z.</title>").title) == "When x < y & y <i> z"


def test_unknown_references_and_entities_of_its_own_do_no_harm() -> None:
    assert clean(read("<title>A &nosuch; B.</title>").title) == "A &nosuch; B"
    bomb = b'<!DOCTYPE dblp [<!ENTITY a "ha">]><dblp><article key="k"><title>Rivers.</title></article></dblp>'
    (entry,) = Dblp().parse(Page("u", bomb, ""))
    assert isinstance(entry, Record)
    assert (entry.title, entry.key) == ("Rivers", "k")


def test_a_record_without_a_title_is_refused() -> None:
    (entry,) = Dblp().parse(Page("u", xml("<year>2024</year>"), ""))
    assert isinstance(entry, Refusal)
    assert "conf/row/LiC24" in entry.reason


@pytest.mark.parametrize("body", [b"<html><body>Too busy</body></html>", b"hello", b"<dblp><article>"])
def test_what_is_no_record_is_said_to_be_none(body: bytes) -> None:
    with pytest.raises(InputError, match=r"https://dblp\.org/doi/x"):
        list(Dblp().parse(Page("https://dblp.org/doi/x", body, "")))


def test_asking_one_by_one_where_the_unknown_is_no_failure(fakeweb: FakeWeb) -> None:
    known, unknown = Answer(xml("<title>Rivers.</title>")), Answer("not found", status=404)
    fakeweb.on(HOST, "/doi/10.1000/rivers.xml", known)
    fakeweb.on(HOST, "/doi/10.1000/a<b>.xml", unknown)
    asked = [DOI, identifier("10.1000/a<b>"), identifier("arXiv:2401.12345")]
    first, second = Dblp().fetch(fakeweb.client(), asked)
    assert [entry.key for entry in Dblp().parse(first) if isinstance(entry, Record)] == ["doi:10.1000/rivers"]
    assert (second.body, list(Dblp().parse(second))) == (b"", [])
    assert "does not know doi:10.1000/a<b>" in second.remark


def test_a_broken_server_is_a_failure(fakeweb: FakeWeb) -> None:
    fakeweb.on(HOST, "/doi/10.1000/rivers.xml", Answer(status=500))
    with pytest.raises(FetchError):
        list(Dblp().fetch(fakeweb.client(), [DOI]))
