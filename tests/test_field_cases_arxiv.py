"""Faults of arXiv's feeds, pages and API that users of other paper systems reported, through an update of a library.

The ids in names and comments are those of the reports.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from datetime import UTC, date, datetime, timedelta
from pathlib import Path

import pytest

from broadsheet.cli import run
from broadsheet.library import Library
from broadsheet.model import SourceState
from tests.arxiv_bodies import item, listing, oai, oai_record, rss, rss_item, section
from tests.fakeweb import Answer, FakeWeb, Request
from tests.field_cases import CLOCK, FEED, NOON, bring, of_each_kind, serving, update
from tests.libraries import library_in

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


def day(moment: date) -> str:
    return f"{moment:%a, %d %b %Y} 00:00:00 -0400"


# --- A: arXiv


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


@pytest.mark.usefixtures("at")
def test_a30_every_type_is_read_and_only_what_is_new_is_of_the_day(fakeweb: FakeWeb, tmp_path: Path) -> None:
    fakeweb.on(*FEED, Answer(of_each_kind()))
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
        ([Answer("Rate exceeded."), Answer(of_each_kind())], 2),  # A11
        ([Answer(status=406), Answer(of_each_kind())], 2),  # A12
        ([Answer(status=429), Answer(of_each_kind())], 2),  # A13
        ([Answer(status=429, headers={"Retry-After": "7"}), Answer(of_each_kind())], 2),
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
