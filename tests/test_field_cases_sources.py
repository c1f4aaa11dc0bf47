"""Faults that users of other paper systems reported, from what a source sends to what the library says and gives out.

Each room has tests of its own for its part of these; here the doors are those of a reader: an update of sources on a
loopback web, a file that is imported, an export. The ids in names and comments are those of the reports.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator
from datetime import UTC, date, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest

from broadsheet.cli import run
from broadsheet.library import Library
from broadsheet.model import ImportSummary, SourceState
from tests.arxiv_bodies import item, listing, oai, oai_record, rss, rss_item, section
from tests.fakeweb import Answer, FakeWeb, Request
from tests.libraries import library_in

CLOCK = "broadsheet.library.updating._now"
NOON = datetime(2026, 8, 12, 16, tzinfo=UTC)  # of Wednesday in New York
THURSDAY = NOON + timedelta(days=1)
WEDNESDAY = "Wed, 12 Aug 2026 00:00:00 -0400"


@pytest.fixture
def at(monkeypatch: pytest.MonkeyPatch) -> Callable[[datetime], None]:
    """Sets the clock of updates."""

    def set_clock(moment: datetime) -> None:
        monkeypatch.setattr(CLOCK, lambda: moment)

    set_clock(NOON)
    return set_clock


@pytest.fixture
def library(tmp_path: Path) -> Iterator[Library]:
    with library_in(tmp_path / "home") as made:
        yield made


def serving(fakeweb: FakeWeb, home: Path, *sources: str, **settings: Any) -> Library:
    """A library whose sources are answered by the fake web, and whose client waits for nobody."""
    mirrors = tuple(f"{host}={url}" for host, url in fakeweb.mirrors.items())
    return library_in(home, sources=sources, mirrors=mirrors, **settings)


def update(library: Library, *names: str) -> Any:
    """The reports of an update that does not really wait between its requests."""
    reports = library.updater.run(names, pause=lambda seconds: None)
    return reports[0] if len(reports) == 1 else reports


def day(moment: date) -> str:
    return f"{moment:%a, %d %b %Y} 00:00:00 -0400"


def bring(library: Library, name: str, text: str | bytes) -> ImportSummary:
    file = library.settings.home / name
    file.write_bytes(text.encode() if isinstance(text, str) else text)
    return library.import_files([file])


def exported(library: Library, form: str) -> str:
    return "".join(library.export(form))


# --- A: arXiv


FEED = ("rss.arxiv.org", "/rss/cs.LG")
OAI = ("oaipmh.arxiv.org", "/oai")


@pytest.mark.parametrize(
    ("moment", "answer", "reason"),
    [
        (datetime(2026, 8, 15, 12, tzinfo=UTC), Answer(rss(day="Sat, 15 Aug 2026 00:00:00 -0400")), "weekend"),
        (datetime(2026, 8, 16, 12, tzinfo=UTC), Answer(rss(day="Sun, 16 Aug 2026 00:00:00 -0400")), "weekend"),
        (datetime(2025, 6, 20, 12, tzinfo=UTC), Answer(rss(day="Fri, 20 Jun 2025 00:00:00 -0400")), "Juneteenth"),
        (datetime(2026, 8, 15, 12, tzinfo=UTC), Answer(status=304), "weekend"),
    ],
)
def test_a24_a25_no_announcement_is_no_failure(  # noqa: PLR0917
    fakeweb: FakeWeb,
    tmp_path: Path,
    at: Callable[[datetime], None],
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    moment: datetime,
    answer: Answer,
    reason: str,
) -> None:
    before = moment - timedelta(days=1)
    while before.weekday() > 4 or before.date() == date(2025, 6, 20):
        before -= timedelta(days=1)
    shown = Answer(rss(rss_item("2508.00001", day=day(before.date())), day=day(before.date())), headers={"ETag": '"1"'})
    fakeweb.on(*FEED, shown, answer)
    monkeypatch.setenv("BROADSHEET_HOME", str(tmp_path))
    monkeypatch.setenv("BROADSHEET_ENCODER", "none")
    monkeypatch.setenv("BROADSHEET_SOURCES", "arxiv:cs.LG")
    monkeypatch.setenv("BROADSHEET_MIRRORS", " ".join(f"{host}={url}" for host, url in fakeweb.mirrors.items()))
    at(before)
    assert run(["update"]) == 0
    at(moment)
    capsys.readouterr()
    assert run(["update"]) == 0
    said = capsys.readouterr()
    assert re.search(rf"No announcement today: .*{reason}.*; next expected \w+", said.err)
    assert "quiet" in said.out and "failed" not in said.out
    assert run(["sources"]) == 0
    assert reason in capsys.readouterr().out


def test_a27_papers_are_of_the_day_that_announced_them(
    fakeweb: FakeWeb, tmp_path: Path, at: Callable[[datetime], None]
) -> None:
    at(THURSDAY.replace(hour=5))  # Thursday's feed is not there yet
    fakeweb.on(*FEED, Answer(rss(rss_item("2608.00001", day=WEDNESDAY), day=WEDNESDAY)))
    with serving(fakeweb, tmp_path, "arxiv:cs.LG") as library:
        report = update(library)
        assert (report.state, report.new) == (SourceState.OK, 1)
        assert library.days() == [(date(2026, 8, 12), 1)]
        assert library.sources()[0].day == date(2026, 8, 12)


TYPES = ("new", "cross", "replace", "replace-cross")


def _typed() -> str:
    items = (
        rss_item(f"2608.1000{i}", kind, title=f"How swarm {i} decides where to go", authors=f"Ann Lee{i}")
        for i, kind in enumerate(TYPES)
    )
    return rss(*items)


@pytest.mark.usefixtures("at")
def test_a30_every_type_is_read_and_only_what_is_new_is_of_the_day(fakeweb: FakeWeb, tmp_path: Path) -> None:
    fakeweb.on(*FEED, Answer(_typed()))
    with serving(fakeweb, tmp_path / "all", "arxiv:cs.LG") as library:
        update(library)
        assert library.status().papers == 4
        assert library.days() == [(date(2026, 8, 12), 2)]
    with serving(fakeweb, tmp_path / "some", "arxiv:cs.LG?types=new,cross") as library:
        assert update(library).new == 2
        assert library.paper("2608.10001").title == "How swarm 1 decides where to go"


@pytest.mark.usefixtures("at")
def test_a31_links_are_canonical_and_the_channel_is_no_author(fakeweb: FakeWeb, tmp_path: Path) -> None:
    odd = rss_item("2608.00001", host="https://rss.arxiv.org", authors="rss-help@arxiv.org")
    fakeweb.on(*FEED, Answer(rss(odd)))
    with serving(fakeweb, tmp_path, "arxiv:cs.LG") as library:
        update(library)
        paper = library.paper("2608.00001")
        assert paper.authors == ()
        assert "https://arxiv.org/abs/2608.00001" in [link.url for link in paper.links]
        assert not [link for link in paper.links if "rss.arxiv.org" in link.url]


def test_a26_a32_a_feed_that_lags_is_stale_and_the_listing_page_gives_its_first_day_alone(
    fakeweb: FakeWeb, tmp_path: Path, at: Callable[[datetime], None]
) -> None:
    def feed(category: str, number: int, moment: date) -> Answer:
        one = rss_item(
            f"2608.{number:05}", categories=(category,), day=day(moment), title=f"How swarm {number} decides",
            authors=f"Ann Lee{number}",
        )  # fmt: skip
        return Answer(rss(one, day=day(moment), title=f"{category} updates on arXiv.org"))

    wednesday, thursday = date(2026, 8, 12), date(2026, 8, 13)
    # The same papers under Thursday's date, as if nothing had happened.
    again = Answer(str(feed("cs.AI", 9930, wednesday).body).replace("12 Aug", "13 Aug").replace("Wed", "Thu"))
    fakeweb.on("rss.arxiv.org", "/rss/cs.AI", feed("cs.AI", 9930, wednesday), again)
    fakeweb.on("rss.arxiv.org", "/rss/cs.CL", feed("cs.CL", 9700, wednesday), feed("cs.CL", 11200, thursday))
    page = listing(
        section("Thu, 13 Aug 2026 (showing 1 of 1 entries)", item("2608.11100", title="How swarm 11100 decides")),
        section("Wed, 12 Aug 2026 (showing 1 of 1 entries)", item("2608.09000", title="How swarm 9000 decides")),
        day="",
    )
    fakeweb.on("arxiv.org", "/list/cs.AI/new", Answer(status=404), Answer(page))
    with serving(fakeweb, tmp_path, "arxiv:cs.AI", "arxiv:cs.CL") as library:
        at(NOON)
        update(library)
        at(THURSDAY)
        stale, current = update(library)
        assert (stale.state, current.state) == (SourceState.STALE, SourceState.OK)
        assert "cs.AI is stale" in stale.message
        due = library.sources()[0].due
        assert due is not None and due <= THURSDAY + timedelta(minutes=15)
        mended, _ = update(library)
        assert (mended.state, mended.new) == (SourceState.OK, 1)
        assert library.paper("2608.11100").listed == thursday
        assert library.status().papers == 4, "Wednesday's paper of the listing page is of another day"


@pytest.mark.parametrize(
    ("answers", "new"),
    [
        ([Answer("Rate exceeded."), Answer(_typed())], 2),  # A11
        ([Answer(status=406), Answer(_typed())], 2),  # A12
        ([Answer(status=429), Answer(_typed())], 2),  # A13
        ([Answer(status=429, headers={"Retry-After": "7"}), Answer(_typed())], 2),
        ([Answer("Rate exceeded.")], 0),
        ([Answer(status=429, headers={"Retry-After": "4000"})], 0),
    ],
)
@pytest.mark.usefixtures("at")
def test_a11_a12_a13_throttling_is_waited_out_or_told(
    fakeweb: FakeWeb, tmp_path: Path, answers: list[Answer], new: int
) -> None:
    fakeweb.on(*FEED, *answers)
    slept: list[float] = []
    with serving(fakeweb, tmp_path, "arxiv:cs.LG") as library:
        (report,) = library.updater.run(pause=slept.append)
        assert report.new == new
        if new:
            assert report.state is SourceState.OK
            assert max(slept) >= float(answers[0].headers.get("Retry-After", 3)) - 0.5  # a little of it has passed
        else:
            assert report.state is SourceState.FAILED
            assert report.message
            status = library.sources()[0]
            assert status.due is not None
            wait = float(answers[0].headers.get("Retry-After", 0))
            assert status.due >= NOON + timedelta(seconds=wait)


def _harvest(fail_at: str) -> Callable[[Request], Answer]:
    """OAI-PMH with three pages by tokens, of which one is refused: the days must be asked for again."""
    pages = {
        "": oai(oai_record("2607.00001", stamp="2026-07-01", title="How swarm 1 decides"), token="two"),
        "two": oai(oai_record("2607.00002", stamp="2026-07-05", title="How swarm 2 decides"), token="three"),
        "three": oai(oai_record("2607.00003", stamp="2026-07-09", title="How swarm 3 decides"), token=""),
    }

    def answer(request: Request) -> Answer:
        token = request.query.get("resumptionToken", [""])[0]
        if token == fail_at:
            return Answer(oai(error=("badResumptionToken", "expired")))
        since = request.query.get("from", [""])[0]
        if not token and since > "2026-07-01":
            return Answer(oai(oai_record("2607.00003", stamp="2026-07-09", title="How swarm 3 decides")))
        return Answer(pages[token])

    return answer


@pytest.mark.usefixtures("at")
def test_a34_a_token_that_expired_loses_nothing(fakeweb: FakeWeb, tmp_path: Path) -> None:
    fakeweb.on(*FEED, Answer(rss(rss_item("2608.00001"))))
    fakeweb.on(*OAI, _harvest("three"))
    with serving(fakeweb, tmp_path, "arxiv:cs.LG?since=2026-07-01") as library:
        assert update(library).state is SourceState.OK
        for number in ("2607.00001", "2607.00002", "2607.00003", "2608.00001"):
            assert library.paper(number)
        assert fakeweb.requests[-1].query["from"] == ["2026-07-05"], "from the last day seen"


@pytest.mark.usefixtures("at")
def test_a35_the_same_token_for_ever_ends_with_a_message(fakeweb: FakeWeb, tmp_path: Path) -> None:
    fakeweb.on(*FEED, Answer(rss(rss_item("2608.00001"))))
    fakeweb.on(*OAI, Answer(oai(oai_record("2607.00001", stamp="2026-07-01"), token="again")))
    with serving(fakeweb, tmp_path, "arxiv:cs.LG?since=2026-07-01") as library:
        report = update(library)
        assert report.state is SourceState.INCOMPLETE
        assert "incomplete: the service gives the same resumption token again" in report.message
        assert len(fakeweb.requests) < 6


def test_a37_e10_a_replacement_shows_the_newest_text_once_under_its_first_day(
    fakeweb: FakeWeb, tmp_path: Path, at: Callable[[datetime], None]
) -> None:
    monday, thursday = date(2026, 8, 10), date(2026, 8, 13)
    first = rss_item("2608.00001", abstract="It is about herons.", authors="Ann Lee", day=day(monday))
    later = rss_item(
        "2608.00001", "replace", version=3, abstract="It is about cranes.", authors="Ann Lee", day=day(thursday)
    )
    fakeweb.on(*FEED, Answer(rss(first, day=day(monday))), Answer(rss(later, day=day(thursday))))
    fakeweb.on(*OAI, Answer(oai(error=("noRecordsMatch", "none"))))
    with serving(fakeweb, tmp_path, "arxiv:cs.LG") as library:
        at(datetime(2026, 8, 10, 12, tzinfo=UTC))
        assert update(library).new == 1
        at(THURSDAY)
        report = update(library)
        assert (report.new, report.updated) == (0, 1)
        paper = library.paper("2608.00001")
        assert paper.abstract == "It is about cranes."
        assert [version.number for version in paper.versions] == [1, 3]
        assert library.days() == [(monday, 1)]
        assert library.search("herons").total == 0


def test_a20_a22_dates_in_any_spelling_stand_in_order(library: Library) -> None:
    rows = [
        "title,published",
        "How swarm 1 decides,2026-6-30",
        "How swarm 2 decides,2026-07-15",
        "How swarm 3 decides,2020-03-13T13:15:14.804113+00:00",
        "How swarm 4 decides,2020-03-13T13:15:14Z",
        "How swarm 5 decides,2025-06-30T00:00:00-04:00",
    ]
    assert bring(library, "days.csv", "\n".join(rows)).new == 5
    shown = [(paper.title.split()[2], str(paper.published)) for paper in library.newest()]
    assert shown[:3] == [("2", "2026-07-15"), ("1", "2026-06-30"), ("5", "2025-06-30")]
    assert {value for _, value in shown[3:]} == {"2020-03-13"}


# --- B: the services


def _note(key: str, **content: Any) -> dict[str, Any]:
    told = {"title": f"How swarm {key} decides", "abstract": "They dance.", "authors": ["Ann Lee"], **content}
    nested = {name: {"value": value} for name, value in told.items() if value is not None}
    return {"id": key, "forum": key, "content": nested, "pdate": 1690000000000}


def test_b01_b04_a_venue_is_asked_in_both_apis_and_either_shape_is_read(fakeweb: FakeWeb, tmp_path: Path) -> None:
    venue = {"venueid": "ICML.cc/2023/Conference", "venue": "ICML 2023 poster"}
    nested = [_note("one", **venue), _note("two", abstract=None, **venue), {"id": "bad", "content": {}}]
    flat = {"id": "three", "forum": "three", "content": {"title": "How swarm three decides", **venue}}
    fakeweb.on("api2.openreview.net", "/notes", Answer(json.dumps({"notes": nested, "count": 3})))
    with serving(fakeweb, tmp_path / "new", "openreview:ICML.cc/2023/Conference") as library:
        report = update(library)
        assert (report.new, report.refused) == (2, 1)
        assert "API 2" in report.message
    fakeweb.on("api2.openreview.net", "/notes", Answer(json.dumps({"notes": [], "count": 0})))
    fakeweb.on("api.openreview.net", "/notes", Answer(json.dumps({"notes": [flat], "count": 1})))
    with serving(fakeweb, tmp_path / "old", "openreview:ICML.cc/2023/Conference") as library:
        report = update(library)
        assert (report.new, report.refused) == (1, 0)
        assert "API 1" in report.message
        assert library.newest()[0].venue == "icml"


def test_b06_b07_the_day_of_listing_is_not_that_of_publication(
    fakeweb: FakeWeb, tmp_path: Path, at: Callable[[datetime], None]
) -> None:
    at(datetime(2025, 3, 31, 23, 50, tzinfo=UTC))  # the first of April in Shanghai
    daily = {
        "paper": {
            "id": "2503.16419",
            "title": "How swarms decide",
            "summary": "They dance.",
            "authors": [{"name": "Ann Lee"}],
            "publishedAt": "2025-03-20T23:50:00.000Z",
        }
    }

    def answer(request: Request) -> Answer:
        return Answer(json.dumps([daily] if request.query["date"] == ["2025-03-31"] else []))

    fakeweb.on("huggingface.co", "/api/daily_papers", answer)
    with serving(fakeweb, tmp_path, "huggingface") as library:
        update(library)
        paper = library.paper("2503.16419")
        assert (paper.published, paper.listed) == (date(2025, 3, 20), date(2025, 3, 31))
        assert max(request.query["date"][0] for request in fakeweb.requests) == "2025-03-31"


SICI = "10.1002/(sici)1097-4598(199605)19:5<621::aid-mus10>3.3.co;2-c"


@pytest.mark.usefixtures("at")
def test_b11_b12_b14_b15_what_crossref_says_of_a_paper(fakeweb: FakeWeb, tmp_path: Path) -> None:
    work = {
        "DOI": SICI.upper(),
        "title": ["<i>\n In vitro\n </i> assay of muscles and nerves"],
        "author": [{"given": "He\u0301le\u0300ne", "family": "Dupont"}, {"given": "Jo", "family": "M\ufffdller"}],
        "container-title": ["Muscle"],
        "type": "journal-article",
        "issued": {"date-parts": [[1996]]},
    }
    fakeweb.on("api.crossref.org", "/works", Answer(json.dumps({"status": "ok", "message": {"items": [work]}})))
    fakeweb.on(*FEED, Answer(_typed()))
    with serving(fakeweb, tmp_path, "arxiv:cs.LG", enrich=("crossref",)) as library:
        known = {"id": "a", "title": "In vitro assay of muscles and nerves", "doi": SICI, "authors": ["Hélène Dupont"]}
        bring(library, "mine.jsonl", json.dumps(known))
        assert [report.state for report in update(library)] == [SourceState.OK, SourceState.OK]
        paper = library.paper(SICI)
        assert paper.venue == "Muscle"
        assert "In vitro assay" in paper.title.replace("*", "")
        assert paper.authors == ("Hélène Dupont",), "a damaged list of names takes no sound one's place"
        assert f"doi = {{{SICI}}}" in re.sub(" +", " ", library.bibtex(paper.id))
        assert library.search(SICI).total == 1


# --- E: one paper


def test_e01_e02_e03_one_paper_with_two_places_or_two_that_are_linked(library: Library) -> None:
    text = """
@inproceedings{a, title={Challenges in Data-to-Document Generation}, author={Wiseman, Sam and Shieber, Stuart
  and Rush, Alexander}, booktitle={EMNLP}, year=2017, doi={10.18653/V1/D17-1239}}
@misc{b, title={Challenges in Data-to-Document Generation}, author={Wiseman, Sam and Shieber, Stuart M. and
  Rush, Alexander M.}, doi={10.48550/ARXIV.1707.08052}, year=2017}
@article{c, title={Slow rivers and their boats in spring}, author={Lima, Ana and Chen, Bo}, year=2020,
  doi={10.1093/MOLBEV/MSL010}}
@article{d, title={Slow rivers and their boats in spring}, author={Lima, Ana and Chen, Bo}, year=2020,
  doi={10.1000/other}}
"""
    summary = bring(library, "refs.bib", text)
    assert (summary.new, summary.merged, summary.refused) == (4, 1, 0)
    paper = library.paper("10.18653/v1/d17-1239")
    assert library.paper("1707.08052") == paper
    assert paper.authors[1] == "Stuart M. Shieber"
    assert {place.venue for place in paper.places} == {"emnlp", "arxiv"}
    one, two = library.paper("10.1093/molbev/msl010"), library.paper("10.1000/other")
    assert one.related == (two.id,)


def test_e06_e11_names_and_lists_of_names(library: Library) -> None:
    names = [
        f"Ann {name}"
        for name in ["Lee", "Li", "Wu", "Ng", "Fox", "Hay", "Elm", "Oak", "Ash", "Fir", "Yew", "Box", "May"]
    ] + ["Jo\u0308rg Mu\u0308ller"]
    text = "".join(
        f"@article{{{key}, title={{Many hands on a slow river}}, year=2020, doi={{10.1000/many}},"
        f" author={{{' and '.join(people)}}}}}\n"
        for key, people in (("whole", names), ("cut", [*names[:10], "others"]))
    )
    bring(library, "refs.bib", text)
    bring(library, "more.bib", "@article{x, title={Something else of his}, author={Jörg Müller}, year=2021}")
    paper = library.paper("10.1000/many")
    assert paper.authors == (*names[:13], "Jörg Müller")
    assert not paper.authors_truncated
    assert library.search('au:"Jörg Müller"').total == 2


# --- F: files in and out


BIB_IN = {
    "F01": ("@misc{k, title={T one}, year=2019, month=Apr}", "published", date(2019, 4, 1)),
    "F01 unquoted": ("@misc{k, title={T one}, year=2019, month = jan}", "published", date(2019, 1, 1)),
    "F03": (
        "@article{Besard16, title={High-level {GPU} programming in {Julia}}, journal={arXiv:1604.03410 [cs]}}",
        "identifiers",
        ["arxiv:1604.03410"],
    ),
    "F04": (
        "@misc{orland2025, title={Knots}, author={Paul Orland and Toby Saunders-A'Court and Lara San Martín Suárez and"
        " Josef Svoboda}, eprint={2512.23700}, archivePrefix={arXiv}, primaryClass={math.GT}}",
        "authors",
        ("Paul Orland", "Toby Saunders-A'Court", "Lara San Martín Suárez", "Josef Svoboda"),
    ),
    "F06": (
        r"@misc{k, title={T one}, author={Gr{\=u}z{\=i}tis, N. and Ljube{\v s}i{\'c}, N. and"
        r" Ne{\v s}pore-B{\=e}rzkalne, G.}}",
        "authors",
        ("N. Grūzītis", "N. Ljubešić", "G. Nešpore-Bērzkalne"),
    ),
    "F06 title": (r"@misc{k, title={\^{i}le et Gedenk\"uberlieferung}}", "title", "île et Gedenküberlieferung"),
    "F08": (r"@article{k, title={T one}, journal={Computing in Science {\&} Engineering}}", "venue", None),
    "F11": ("@misc{k, title={T one}, author = {{Nowak, U. and Misra, A.}}}", "authors", ("U. Nowak", "A. Misra")),
    "F18": (
        "@misc{k, title={T one}, author={Zed, A. and Moe, B. and Abe, C.}}",
        "authors",
        ("A. Zed", "B. Moe", "C. Abe"),
    ),
}


@pytest.mark.parametrize("case", BIB_IN)
def test_bibtex_that_others_refused_or_mangled(library: Library, case: str) -> None:
    text, name, wanted = BIB_IN[case]
    assert bring(library, "refs.bib", text).new == 1
    (paper,) = library.newest()
    found = getattr(paper, name)
    if wanted is None:
        assert found == "Computing in Science & Engineering"
    elif name == "identifiers":
        assert [str(identifier) for identifier in found] == wanted
    else:
        assert found == wanted


def test_f08_f09_f10_f12_what_is_written_compiles_and_comes_back(library: Library, tmp_path: Path) -> None:
    address = "https://example.org/Ogden%20Richards%201923.pdf?a=1&b=2"
    entry = {
        "id": "a",
        "title": r"$a \to b$ transitions, 100 % sustainable & cheap at 5 $ with α",
        "authors": ["Ann Lee"],
        "doi": "10.1007/978-3-031-72567-8_12",
        "year": 2024,
    }
    bring(library, "a.jsonl", json.dumps(entry) + "\n" + json.dumps({"id": "b", "title": "Lakes", "url": address}))
    bring(library, "b.bib", f"@misc{{k, title={{Rivers in spring}}, doi={{10.1000/x_y}}, url={{{address}}}}}")
    written = exported(library, "bibtex")
    assert r"$a \to b$" in written and r"100 \% sustainable \& cheap at 5 \$ with α" in written
    assert re.search(r"doi += \{10\.1007/978-3-031-72567-8_12\}", written)
    assert len(re.findall(r"url += \{" + re.escape(address) + r"\}", written)) == 2
    with library_in(tmp_path / "again") as again:
        assert bring(again, "out.bib", written).new == 3
        assert exported(again, "bibtex") == written
        for old, new in zip(library.store.iterate_papers(), again.store.iterate_papers(), strict=True):
            assert (new.title, new.authors, new.identifiers) == (old.title, old.authors, old.identifiers)


def test_f15_f17_keys_are_plain_unique_and_stay(library: Library) -> None:
    entries = [
        {"id": "1", "title": "Rivers in spring time", "authors": ["苏, 子昊"], "year": 2014},
        {"id": "2", "title": "Rivers in spring and summer", "authors": ["Ann Lee"], "year": 2023},
        {"id": "3", "title": "Rivers in spring and winter", "authors": ["Ann Lee"], "year": 2023},
        {"id": "4", "title": "Prices, {and} 100 % more", "authors": ["R&D Group"], "year": 2020},
        {"id": "5", "title": "河流与船只的研究", "authors": ["谢昕", "王小增"], "year": 2008},
    ]
    bring(library, "a.jsonl", "\n".join(map(json.dumps, entries)))
    keys = re.findall(r"^@\w+\{(.*),$", exported(library, "bibtex"), re.MULTILINE)
    assert len(set(keys)) == len(entries)
    assert all(re.fullmatch(r"[A-Za-z0-9:_-]+", key) and not key.startswith("_") for key in keys)
    bring(library, "b.jsonl", json.dumps({"id": "6", "title": "Rivers in spring again", "authors": ["Ann Lee"]}))
    later = re.findall(r"^@\w+\{(.*),$", exported(library, "bibtex"), re.MULTILINE)
    assert set(keys) < set(later)


def test_f19_f23_f24_a_ris_entry_has_one_type_a_line_for_each_author_and_no_empty_tag(library: Library) -> None:
    bring(
        library,
        "a.jsonl",
        json.dumps({"id": "1", "title": "Rivers in spring time", "authors": ["Ann Lee", "Bo Li"]})
        + "\n"
        + json.dumps({"id": "2", "title": "A paper of nobody at all", "authors": None}),
    )
    written = exported(library, "ris")
    entries = [part for part in re.split(r"^ER  - ?\r?\n", written, flags=re.MULTILINE) if part.strip()]
    assert len(entries) == 2
    assert all(len(re.findall(r"^TY  - ", part, re.MULTILINE)) == 1 for part in entries)
    assert [re.findall(r"^(?:AU|A1)  - (.*?)\r?$", part, re.MULTILINE) for part in entries] == [
        ["Lee, Ann", "Li, Bo"],
        [],
    ]
    assert not re.findall(r"^(?!ER)\w\w  - *\r?$", written, re.MULTILINE)


RIS_IN = {
    "F20": ("\ufeff%0 Journal Article\n%T Ποτάμια και βάρκες\n%A Lee, Ann\n%D 2019\n", "Ποτάμια και βάρκες"),
    "F22": ("DB  - McK\nTY  - JOUR\nTI  - Rivers in spring\nAU  - Lee, Ann\nER  - \n", "Rivers in spring"),
    "F24": ("TY  - JOUR\nTY  - JOUR\nTI  - Rivers in spring\nAU  - Lee, Ann\nER  - \n", "Rivers in spring"),
}


@pytest.mark.parametrize("case", RIS_IN)
def test_ris_that_others_refused(library: Library, case: str) -> None:
    text, title = RIS_IN[case]
    summary = bring(library, "refs.ris", text)
    assert (summary.new, summary.refused) == (1, 0)
    (paper,) = library.newest()
    assert (paper.title, paper.authors) == (title, ("Ann Lee",))


@pytest.mark.parametrize(
    ("text", "new", "refused", "reason"),
    [
        ("id,abstract,label\n1,We measure slow rivers. It takes years.,1\n2,,0\n", 1, 1, "title"),
        ("foo,bar\n1,2\n3,4\n", 0, 1, "title"),
    ],
)
def test_f26_a_table_needs_a_title_or_an_abstract(
    library: Library, text: str, new: int, refused: int, reason: str
) -> None:
    from broadsheet.errors import InputError

    try:
        summary = bring(library, "table.csv", text)
    except InputError as error:
        assert new == 0 and reason in str(error)
    else:
        assert (summary.new, summary.refused) == (new, refused) or (not new and summary.refused == summary.read)
        assert reason in str(summary.refusals[0])


def test_f27_abstracts_add_up_whatever_tag_holds_them(library: Library) -> None:
    first = "".join(f"TY  - JOUR\nTI  - Rivers number {i} in spring\nAB  - We row.\nER  - \n" for i in range(3))
    second = "".join(f"TY  - JOUR\nTI  - Lakes number {i} in spring\nN2  - We sail.\nER  - \n" for i in range(4))
    bring(library, "a.ris", first)
    bring(library, "b.ris", second)
    assert [paper.abstract for paper in library.newest()].count("We row.") == 3
    assert [paper.abstract for paper in library.newest()].count("We sail.") == 4


# --- A: arXiv's API


API = ("export.arxiv.org", "/api/query")


def _entry(number: int, *, version: int = 1, updated: str = "2026-08-12T10:00:00Z", title: str = "") -> str:
    return (
        f"<entry><id>http://arxiv.org/abs/2608.{number:05}v{version}</id>"
        f"<published>2026-08-03T10:55:49Z</published><updated>{updated}</updated>"
        f"<title>{title or f'How swarm {number} decides'}</title><summary>They dance {number} times.</summary>"
        f"<author><name>Ann {'abcdefghij'[number % 10] * 3}</name></author></entry>"
    )


def _answer(*entries: str, total: int = 0) -> Answer:
    return Answer(
        '<?xml version="1.0"?><feed xmlns="http://www.w3.org/2005/Atom" '
        'xmlns:opensearch="http://a9.com/-/spec/opensearch/1.1/"><title>ArXiv Query: search_query=x</title>'
        f"<opensearch:totalResults>{total or len(entries)}</opensearch:totalResults>{''.join(entries)}</feed>"
    )


def _pages(total: int, hole: list[int]) -> Callable[[Request], Answer]:
    """All pages of a search; the one that begins with what ``hole`` holds is empty."""

    def answer(request: Request) -> Answer:
        start, size = (int(request.query[name][0]) for name in ("start", "max_results"))
        numbers = [] if start in hole else range(start + 1, min(start + size, total) + 1)
        return _answer(*map(_entry, numbers), total=total)

    return answer


@pytest.mark.usefixtures("at")
def test_a07_a09_an_error_or_the_feeds_own_title_is_no_paper(fakeweb: FakeWeb, tmp_path: Path) -> None:
    error = (
        "<entry><id>http://arxiv.org/api/errors#incorrect_id_format_for_x</id><title>Error</title>"
        "<summary>incorrect id format for x</summary></entry>"
    )
    fakeweb.on(*API, _answer(error), _answer())
    with serving(fakeweb, tmp_path, "arxiv-ids:2608.00001") as library:
        report = update(library)
        assert (report.new, report.refused) == (0, 1)
        assert "incorrect id format for x" in report.refusals[0].reason
        report = update(library)
        assert (report.new, report.refused) == (0, 0)
        assert "arXiv does not know 2608.00001" in report.message
        assert library.status().papers == 0


@pytest.mark.usefixtures("at")
def test_a10_an_empty_page_in_the_middle_is_incomplete_and_is_asked_for_again(fakeweb: FakeWeb, tmp_path: Path) -> None:
    hole = [200]
    fakeweb.on(*API, _pages(350, hole))
    with serving(fakeweb, tmp_path, "arxiv-search:swarm") as library:
        report = update(library)
        assert (report.state, report.new) == (SourceState.INCOMPLETE, 200)
        assert "incomplete: 200 of 350" in report.message
        hole.clear()
        fakeweb.requests.clear()
        report = update(library)
        assert (report.state, report.new) == (SourceState.OK, 150)
        assert fakeweb.requests[0].query["start"] == ["200"]


@pytest.mark.usefixtures("at")
def test_a14_a15_a16_a17_words_days_and_categories_stay_in_force(fakeweb: FakeWeb, tmp_path: Path) -> None:
    fakeweb.on(*API, _answer(_entry(1)))
    name = 'arxiv-search:"mixture of experts" OR MoE?cat=cs.LG,cs.CL&since=2025-12-07'
    with serving(fakeweb, tmp_path, name) as library:
        assert update(library).new == 1
    (request,) = fakeweb.requests
    (query,) = request.query["search_query"]
    assert 'ti:"mixture of experts" OR abs:"mixture of experts"' in query
    assert "(cat:cs.LG OR cat:cs.CL)" in query
    assert "submittedDate:[202512070000 TO" in query
    assert re.search("%20TO%20|[+]TO[+]", request.target) and "%2BTO" not in request.target


def test_a19_a23_a_search_goes_on_with_an_overlap_and_versions_keep_the_first_day(
    fakeweb: FakeWeb, tmp_path: Path, at: Callable[[datetime], None]
) -> None:
    fakeweb.on(*API, _pages(150, []))
    with serving(fakeweb, tmp_path, "arxiv-search:swarm") as library:
        assert update(library).new == 150
        fakeweb.requests.clear()
        late = [_entry(n, updated="2026-08-10T10:00:00Z") for n in range(201, 300)]  # the index lagged behind
        again = _entry(1, version=2, updated="2026-08-13T10:00:00Z", title="How swarm 1 really decides")
        old = [_entry(n, updated="2026-08-01T10:00:00Z") for n in range(301, 401)]
        fakeweb.on(*API, _answer(again, *late, total=900), _answer(*old, total=900))
        at(THURSDAY)
        report = update(library)
        assert (report.state, report.new, report.updated) == (SourceState.OK, 199, 1)
        assert len(fakeweb.requests) == 2, "no further than the overlap"
        paper = library.paper("2608.00001")
        assert (paper.title, paper.published) == ("How swarm 1 really decides", date(2026, 8, 3))
        assert [(version.number, version.day) for version in paper.versions] == [
            (1, date(2026, 8, 3)),
            (2, date(2026, 8, 13)),
        ]


@pytest.mark.parametrize(
    "name",
    [
        *("arxiv-search:", 'arxiv-search:"open', "arxiv-search:x?since=soon", "arxiv-search:x?sort=y"),
        *("arxiv-ids:", "arxiv-ids:abc"),
    ],
)
def test_a03_a09_what_cannot_be_asked_is_refused_with_the_usage(library: Library, name: str) -> None:
    from broadsheet.errors import SettingsError

    with pytest.raises(SettingsError, match="Usage: arxiv-"):
        library.update([name])


@pytest.mark.usefixtures("at")
def test_a01_a02_a03_a05_a06_ids_in_any_form_are_asked_for(fakeweb: FakeWeb, tmp_path: Path) -> None:
    fakeweb.on(*API, _answer())
    forms = (
        "https://arxiv.org/abs/quant-ph/0112019v1,cmp-lg/9808001,cs/9808001,\u200b2402.13284,10.48550/arXiv.1810.04805"
    )
    with serving(fakeweb, tmp_path, f"arxiv-ids:{forms}") as library:
        update(library)
    assert fakeweb.requests[0].query["id_list"] == [
        "quant-ph/0112019v1,cmp-lg/9808001,cs/9808001,2402.13284,1810.04805"
    ]
