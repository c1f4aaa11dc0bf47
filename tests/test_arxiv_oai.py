"""arXiv's metadata by OAI-PMH: records in both formats, and harvests that break off."""

from __future__ import annotations

import time
from datetime import date
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from broadsheet.errors import FetchError, InputError, ThrottledError
from broadsheet.model import NoticeKind, Record, Refusal, SourceState, Version
from broadsheet.sources.arxiv_oai import Harvested, Window, harvest, parse_oai, read_answer, set_of
from broadsheet.sources.base import Entry
from tests.arxiv_bodies import oai, oai_record
from tests.fakeweb import Answer, FakeWeb
from tests.shared import shared

URL = "https://oaipmh.arxiv.org/oai?verb=ListRecords"
HOST, PATH = "oaipmh.arxiv.org", "/oai"
WINDOW = Window(date(2026, 8, 10), date(2026, 8, 14))


def fixture(name: str) -> bytes:
    path: Path = shared("data", "api_fixtures", name)
    return path.read_bytes()


def parsed(body: bytes) -> list[Entry]:
    return [entry for entry, _ in parse_oai(URL, body)]


def record(text: str) -> Record:
    (found,) = parsed(oai(text).encode())
    assert isinstance(found, Record), found
    return found


@pytest.mark.parametrize(
    ("category", "wanted"),
    [
        ("cs.LG", "cs:cs:LG"),
        ("stat.ML", "stat:stat:ML"),
        ("q-bio.NC", "q-bio:q-bio:NC"),
        ("hep-th", "physics:hep-th"),
        ("cond-mat.str-el", "physics:cond-mat:str-el"),
        ("physics.optics", "physics:physics:optics"),
        ("cs", "cs:cs"),
    ],
)
def test_sets(category: str, wanted: str) -> None:
    assert set_of(category) == wanted


# --- reading ---


def test_everything_a_raw_record_says() -> None:
    versions = (("Mon, 10 Aug 2026 23:59:59 GMT", "401kb"), ("Wed, 12 Aug 2026 00:10:00 GMT", "12kb"))
    found = record(oai_record("2608.10001", versions=versions, comments="9 pages & more"))
    assert (found.source, found.key) == ("arxiv", "2608.10001")
    assert found.authors == ("Ann Lee", "Bo Li")
    assert found.versions == (Version(1, date(2026, 8, 10)), Version(2, date(2026, 8, 12)))
    assert found.published == date(2026, 8, 10)
    assert found.listed is None  # the day of change is not the day of announcement
    assert [str(area) for area in found.areas] == ["cs.LG", "stat.ML"]
    assert dict(found.details)["comment"] == "9 pages & more"
    assert dict(found.details)["license"].startswith("http://arxiv.org/licenses/")
    assert found.notices == ()


def test_the_day_of_change() -> None:
    ((_, changed),) = parse_oai(URL, oai(oai_record("2608.10001", stamp="2026-08-12T01:00:00Z")).encode())
    assert changed == date(2026, 8, 12)


def test_the_format_with_names_in_parts() -> None:
    text = (
        "<record><header><identifier>oai:arXiv.org:cmp-lg/9808001</identifier><datestamp>2026-08-12</datestamp></header>"
        '<metadata><arXiv xmlns="http://arxiv.org/OAI/arXiv/"><id>cmp-lg/9808001</id><created>1998-08-01</created>'
        "<updated>1998-09-01</updated><authors><author><keyname>Lee</keyname><forenames>Ann B.</forenames>"
        "<affiliation>MIT</affiliation><affiliation>ETH</affiliation></author><author><keyname>Davis</keyname>"
        "<forenames>Sammy</forenames><suffix>Jr</suffix></author><author><keyname>Big Collaboration</keyname></author>"
        "</authors><title>Old\n  Paper</title><categories>cmp-lg cs.CL</categories><doi>10.1000/x</doi>"
        "<journal-ref>J. Test 1</journal-ref><abstract>Long ago.</abstract></arXiv></metadata></record>"
    )
    found = record(text)
    assert found.key == "cmp-lg/9808001"
    assert found.title == "Old Paper"
    assert found.authors == ("Ann B. Lee", "Sammy Davis Jr", "Big Collaboration")
    assert dict(found.details)["affiliation"] == "Ann B. Lee (MIT, ETH)"
    assert dict(found.details)["journal_ref"] == "J. Test 1"
    assert found.versions == (Version(1, date(1998, 8, 1)),)  # the number of the newest is not said
    assert found.published == date(1998, 8, 1)
    assert [str(i) for i in found.identifiers] == ["arxiv:cmp-lg/9808001", "doi:10.1000/x"]


def test_a_real_raw_record() -> None:
    (found,) = parsed(fixture("fatcat__arxivraw_1810.09584.xml"))
    assert isinstance(found, Record)
    assert found.key == "1810.09584"
    assert found.authors == ("Raphael Chetrite", "Shamik Gupta", "Izaak Neri", r"\'Edgar Rold\'an")
    assert found.versions == (Version(1, date(2018, 10, 22)), Version(2, date(2019, 1, 13)))
    assert found.published == date(2018, 10, 22)
    assert [str(i) for i in found.identifiers] == ["arxiv:1810.09584", "doi:10.1209/0295-5075/124/60006"]
    assert dict(found.details)["journal_ref"] == "EPL 124,60006 (2018)"


@pytest.mark.parametrize(
    ("sizes", "comments", "reason"),
    [
        (("401kb", "0kb"), "", "the newest version on arXiv has no files"),
        (("401kb", "0kb"), "Wrong in Section 2", "Wrong in Section 2"),
        (("401kb", "0kb"), "Withdrawn due to an error", "Withdrawn due to an error"),
        (("401kb", "12kb"), "Withdrawn due to an error", "Withdrawn due to an error"),
        (("0kb", "12kb"), "", None),  # it came back
        (("401kb",), "", None),
    ],
)
def test_withdrawn(sizes: tuple[str, ...], comments: str, reason: str | None) -> None:
    versions = [(f"{10 + n} Aug 2026 10:00:00 GMT", size) for n, size in enumerate(sizes)]
    found = record(oai_record("2608.10001", versions=versions, comments=comments))
    assert [(n.kind, n.reason) for n in found.notices] == ([(NoticeKind.WITHDRAWN, reason)] if reason else [])


def test_a_version_that_arxiv_ignores_is_withdrawn() -> None:
    text = oai_record("2608.10001").replace("<source_type>D<", "<source_type>I<")
    assert record(text).notices


def test_versions_are_sorted_by_number_not_by_text() -> None:
    versions = [(f"Mon, 10 Aug 2026 {n:02}:00:00 GMT", "1kb") for n in range(12)]
    text = oai_record("2608.10001", versions=versions)
    assert [version.number for version in record(text).versions] == list(range(1, 13))


def test_deleted_and_foreign_records_are_told() -> None:
    found = list(parsed(fixture("oaipmh_sickle__ListRecords.xml")))
    assert [type(entry) for entry in found] == [Refusal, Refusal]
    assert "deleted at the source" in str(found[0])
    assert "not a paper of arXiv" in str(found[1])
    assert "without identifier: deleted" in str(parsed(fixture("oaipmh_sickle__ListRecords4.xml"))[0])


def test_a_record_without_metadata() -> None:
    text = "<record><header><identifier>oai:arXiv.org:2608.10001</identifier></header></record>"
    (found,) = parsed(oai(text).encode())
    assert "no metadata" in str(found)


def test_broken_xml_costs_the_broken_record_only() -> None:
    broken = oai_record("2608.10002", title="an <b>open tag")
    ampersand = oai_record("2608.10003", title="D&D agents")
    body = oai(oai_record("2608.10001"), broken, ampersand, token="next&amp;page").encode()
    found = parsed(body)
    assert [type(entry) for entry in found] == [Record, Refusal, Record]
    assert isinstance(found[2], Record)
    assert found[2].title == "D&D agents"
    answer = read_answer(URL, body)
    assert (answer.records, answer.token, answer.whole) == (3, "next&amp;page", True)


@pytest.mark.parametrize(
    ("name", "code"),
    [
        ("badArgument", "badArgument"),
        ("badResumptionToken", "badResumptionToken"),
        ("cannotDisseminateFormat", "cannotDisseminateFormat"),
        ("idDoesNotExist", "idDoesNotExist"),
        ("noSetHierarchy", "noSetHierarchy"),
        ("undefinedError", "undefinedError"),
    ],
)
def test_errors_are_refusals(name: str, code: str) -> None:
    body = fixture(f"oaipmh_sickle__{name}.xml")
    assert read_answer(URL, body).error == code
    (found,) = parsed(body)
    assert isinstance(found, Refusal)
    assert code in found.reason


def test_no_records_match_is_no_error() -> None:
    body = fixture("oaipmh_sickle__noRecordsMatch.xml")
    assert read_answer(URL, body).error == "noRecordsMatch"
    assert parsed(body) == []


def test_no_oai_document_at_all() -> None:
    with pytest.raises(InputError, match="broken xml"):
        list(parsed(fixture("oaipmh_sickle__ListRecordsBroken.xml")))


def test_what_an_answer_says_of_itself() -> None:
    records = [oai_record("2608.10001", stamp="2026-08-11"), oai_record("hep-th/0601001", stamp="2026-08-12")]
    answer = read_answer(URL, oai(*records, token="t1").encode())
    assert (answer.token, answer.error, answer.records, answer.newest) == ("t1", "", 2, "2608.10001")
    assert (answer.first, answer.last, answer.rising) == (date(2026, 8, 11), date(2026, 8, 12), True)
    assert not read_answer(URL, oai(*reversed(records)).encode()).rising
    assert read_answer(URL, oai(token="").encode()).token == ""


@given(st.binary(max_size=300))
def test_no_bytes_bring_it_down(noise: bytes) -> None:
    body = oai(oai_record("2608.00001"), oai_record("2608.00002"), token="t1").encode()
    middle = body.index(b"<record>", body.index(b"<record>") + 1)
    body = body[:middle] + noise + body[middle:]
    assert any(isinstance(entry, Record) for entry in parsed(body))
    assert read_answer(URL, body).records >= 1


def test_a_page_of_a_thousand_is_fast() -> None:
    records = [oai_record(f"2608.{n:05}", abstract="We show that small models learn. " * 40) for n in range(1, 1001)]
    body = oai(*records, token="t1").encode()
    start = time.process_time()
    assert read_answer(URL, body).records == 1000
    assert len(parsed(body)) == 1000
    assert time.process_time() - start < 4


# --- harvesting ---


def page(*numbers: int, token: str | None = None, stamp: str = "2026-08-12") -> Answer:
    return Answer(oai(*(oai_record(f"2608.{n:05}", stamp=stamp) for n in numbers), token=token))


def refused(code: str = "badResumptionToken") -> Answer:
    return Answer(oai(error=(code, "told so")))


def run(web: FakeWeb, window: Window = WINDOW) -> list[Harvested]:
    return list(harvest(web.client(), "cs:cs:LG", window))


def keys_of(pages: list[Harvested]) -> list[str]:
    return [e.key for got in pages for e, _ in parse_oai(got.url, got.body) if isinstance(e, Record)]


def test_all_pages(fakeweb: FakeWeb) -> None:
    fakeweb.on(HOST, PATH, page(1, 2, token="a b/+"), page(3, token=""))
    pages = run(fakeweb)
    assert keys_of(pages) == ["2608.00001", "2608.00002", "2608.00003"]
    assert [got.state for got in pages] == [SourceState.OK] * 2
    assert pages[-1].left is None
    first, second = fakeweb.requests
    assert {name: value[0] for name, value in first.query.items()} == {
        "verb": "ListRecords",
        "metadataPrefix": "arXivRaw",
        "set": "cs:cs:LG",
        "from": "2026-08-10",
        "until": "2026-08-14",
    }
    assert second.query == {"verb": ["ListRecords"], "resumptionToken": ["a b/+"]}  # and nothing else beside it


def test_going_on_with_the_token_of_a_stored_page(fakeweb: FakeWeb) -> None:
    fakeweb.on(HOST, PATH, page(1, token="t1"), page(2, token="t2"), page(3))
    left = run(fakeweb)[0].left
    assert left == Window(WINDOW.since, WINDOW.until, "t1", date(2026, 8, 12), True)
    fakeweb.on(HOST, PATH, page(2, token="t2"), page(3))
    assert keys_of(run(fakeweb, left)) == ["2608.00002", "2608.00003"]
    assert fakeweb.requests[-2].query["resumptionToken"] == ["t1"]


def test_nothing_changed(fakeweb: FakeWeb) -> None:
    fakeweb.on(HOST, PATH, refused("noRecordsMatch"))
    (got,) = run(fakeweb)
    assert (got.state, got.left) == (SourceState.QUIET, None)
    assert "nothing" in got.remark


def test_a_token_that_expired_is_replaced_by_the_days_left(fakeweb: FakeWeb) -> None:
    fakeweb.on(HOST, PATH, page(1, token="t1"), page(2, token="t2", stamp="2026-08-13"), refused(), page(2, 3))
    pages = run(fakeweb)
    assert keys_of(pages) == ["2608.00001", "2608.00002", "2608.00002", "2608.00003"]  # twice does no harm
    assert fakeweb.requests[-1].query["from"] == ["2026-08-13"]
    assert fakeweb.requests[-1].query["until"] == ["2026-08-14"]
    assert pages[-1].left is None


def test_days_that_did_not_only_rise_are_asked_for_from_the_beginning(fakeweb: FakeWeb) -> None:
    fakeweb.on(HOST, PATH, page(1, token="t1", stamp="2026-08-13"), page(2, token="t2"), refused(), page(1, 2, 3))
    run(fakeweb)
    assert fakeweb.requests[-1].query["from"] == ["2026-08-10"]


def test_a_token_stored_by_an_earlier_run_may_have_expired(fakeweb: FakeWeb) -> None:
    fakeweb.on(HOST, PATH, refused(), page(3))
    window = Window(WINDOW.since, WINDOW.until, "old", date(2026, 8, 12), True)
    assert keys_of(run(fakeweb, window)) == ["2608.00003"]
    assert fakeweb.requests[-1].query["from"] == ["2026-08-12"]


def test_tokens_refused_time_and_again_end_the_harvest(fakeweb: FakeWeb) -> None:
    fakeweb.on(HOST, PATH, page(1, token="t1"), refused())
    with pytest.raises(FetchError, match=r"badResumptionToken: told so"):
        run(fakeweb)
    assert len(fakeweb.requests) == 3


def test_a_day_that_no_token_outlives(fakeweb: FakeWeb) -> None:
    first, again = page(1, token="t1"), page(1, token="t1")
    fakeweb.on(HOST, PATH, first, refused(), again, refused(), page(9))
    pages = run(fakeweb)
    assert len(fakeweb.requests) == 4
    assert pages[-1].state is SourceState.INCOMPLETE
    assert "before 2026-08-12 is through" in pages[-1].remark
    assert pages[-1].left == Window(date(2026, 8, 12), WINDOW.until)
    assert keys_of(pages[:-1]) == ["2608.00001", "2608.00001"]


def test_tokens_that_expire_on_every_day_do_no_harm(fakeweb: FakeWeb) -> None:
    days = [f"2026-08-{n}" for n in (11, 12, 13)]
    answers = [a for n, stamp in enumerate(days) for a in (page(n + 1, token=f"t{n}", stamp=stamp), refused())]
    fakeweb.on(HOST, PATH, *answers, page(4))
    assert keys_of(run(fakeweb)) == ["2608.00001", "2608.00002", "2608.00003", "2608.00004"]


def test_the_same_token_again(fakeweb: FakeWeb) -> None:
    fakeweb.on(HOST, PATH, page(1, token="t1"), page(2, token="t1"))
    pages = run(fakeweb)
    assert len(fakeweb.requests) == 2
    assert keys_of(pages) == ["2608.00001", "2608.00002"]
    assert pages[-1].state is SourceState.INCOMPLETE
    assert "same resumption token again" in pages[-1].remark
    assert pages[-1].left == Window(date(2026, 8, 12), WINDOW.until)


def test_tokens_in_a_circle(fakeweb: FakeWeb) -> None:
    fakeweb.on(HOST, PATH, page(1, token="a"), page(2, token="b"), page(3, token="a"))
    pages = run(fakeweb)
    assert len(fakeweb.requests) == 3
    assert pages[-1].state is SourceState.INCOMPLETE


def test_the_same_page_under_new_tokens(fakeweb: FakeWeb) -> None:
    fakeweb.on(HOST, PATH, page(1, token="a"), page(2, token="b"), page(2, token="c"))
    pages = run(fakeweb)
    assert len(fakeweb.requests) == 3
    assert pages[-1].state is SourceState.INCOMPLETE
    assert "same page again" in pages[-1].remark


def test_a_page_that_breaks_off_is_not_the_last(fakeweb: FakeWeb) -> None:
    body = oai(oai_record("2608.00001"), oai_record("2608.00002"), token="t1")
    fakeweb.on(HOST, PATH, Answer(body[: body.index("2608.00002") + 200]))
    (got,) = run(fakeweb)
    assert got.state is SourceState.INCOMPLETE
    assert "breaks off" in got.remark
    assert keys_of([got]) == ["2608.00001"]
    assert got.left == WINDOW


@pytest.mark.parametrize("code", ["badArgument", "cannotDisseminateFormat", "noSetHierarchy"])
def test_what_the_service_refuses(fakeweb: FakeWeb, code: str) -> None:
    fakeweb.on(HOST, PATH, refused(code))
    with pytest.raises(FetchError, match=f"cs:cs:LG: {code}: told so"):
        run(fakeweb)


def test_an_answer_that_is_no_oai_document(fakeweb: FakeWeb) -> None:
    fakeweb.on(HOST, PATH, page(1, token="t1"), Answer("<html>down</html>"))
    seen = []
    with pytest.raises(FetchError, match="no OAI-PMH document"):
        for got in harvest(fakeweb.client(), "cs:cs:LG", WINDOW):
            seen.append(got)
    assert len(seen) == 1


def test_a_service_that_is_down(fakeweb: FakeWeb) -> None:
    fakeweb.on(HOST, PATH, Answer("", status=503))
    with pytest.raises(ThrottledError):
        run(fakeweb)


def test_a_window_that_grows() -> None:
    with_token = Window(date(2026, 8, 10), date(2026, 8, 14), "t1", date(2026, 8, 12), True)
    assert with_token.until_later(date(2026, 8, 14)) == with_token
    assert with_token.until_later(date(2026, 8, 17)) == Window(date(2026, 8, 12), date(2026, 8, 17))
