"""The daily paper of a library: printing, immutability, what a reader does and decides."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest
from sqlalchemy import event as sql

from broadsheet.errors import InputError, NotFoundError
from broadsheet.learn.explore import calibrated_cap
from broadsheet.library import Library
from broadsheet.library.press import Press
from broadsheet.model import Notice, NoticeKind, SourceStatus
from broadsheet.model.reading import Action, Edition, Interest, InterestKind, SectionKind
from tests.daily_library import day, listing, morning, of_topic, paper, printed, take
from tests.libraries import library_in, python, word
from tests.makers import put, record

K = InterestKind


@pytest.fixture
def library(tmp_path: Path) -> Iterator[Library]:
    """A library with the papers of one day."""
    with library_in(tmp_path / "home", discovery_size=1) as found:
        take(found, listing(0, 24))
        yield found


# --- editions


def test_the_first_edition_from_nothing(library: Library) -> None:
    found = library.daily.today(now=morning(0))
    edition = found.edition
    assert edition is not None
    assert found.is_new
    assert (edition.reader, edition.day, edition.basis) == ("me", day(0), "nothing")
    assert (edition.since, edition.through, edition.considered) == (None, day(0), 24)
    assert any("Nothing is known of you yet" in note for note in edition.notes)
    assert edition.sections[0].kind is SectionKind.FRONT
    assert len(edition.sections[0].entries) == 10
    topics = {entry.paper.title.split(" in the ")[1].split(" ")[0] for entry in edition.sections[0].entries}
    assert len(topics) == 4  # diverse
    assert all(entry.reasons for entry in edition.entries)
    assert len(printed(edition)) == len(set(printed(edition))) >= 20


def test_an_edition_is_printed_once_a_day(library: Library) -> None:
    first = library.daily.today(now=morning(0))
    take(library, listing(0, 6, first=50), "more")
    again = library.daily.today(now=morning(0, 22))
    assert again == first
    assert not library.daily.due(now=morning(0, 22))
    assert library.daily.edition_days() == [day(0)]


def test_what_comes_late_is_in_the_next_edition_and_nothing_twice(library: Library) -> None:
    first = library.daily.today(now=morning(0)).edition
    take(library, listing(0, 6, first=50), "more")
    assert not library.daily.due(now=morning(1, 5))  # before the day's update: late ones wait
    assert library.daily.today(now=morning(1, 5)).note.startswith("Came late and joins the next edition: 6.")
    second = library.daily.today(now=morning(1)).edition
    assert second is not None
    assert len(printed(second)) == 6
    assert not set(printed(second)) & set(printed(first))
    assert (second.since, second.through) == (day(0), day(0))


def test_no_edition_is_printed_empty(library: Library) -> None:
    first = library.daily.today(now=morning(0)).edition
    found = library.daily.today(now=morning(1))
    assert (found.edition, found.is_new) == (first, False)
    assert found.note == "Nothing new came in, and no source is configured. Add one: broadsheet sources add arxiv:cs.LG"
    assert library.daily.edition_days() == [day(0)]


def test_a_library_without_dated_papers_says_so(tmp_path: Path) -> None:
    with library_in(tmp_path / "home") as library:
        found = library.daily.today(now=morning(0))
        assert found.edition is None
        assert "no dated papers" in found.note


def test_weekends_and_trouble_are_said(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with library_in(tmp_path / "home") as library:
        take(library, listing(4))
        quiet = SourceStatus("arxiv:cs.AI", day=day(4))
        monkeypatch.setattr(library.updater, "statuses", lambda now: [quiet])
        assert library.daily.today(now=morning(4)).edition
        found = library.daily.today(now=morning(5, 18))
        assert found.note == "No announcement: weekend. Next expected Sunday 20:00 ET (2026-03-08)."
        assert found.expected is not None
        assert found.expected.astimezone(UTC) == datetime(2026, 3, 9, 0, tzinfo=UTC)


def test_an_edition_catches_up_after_days_off(library: Library) -> None:
    library.daily.today(now=morning(0))
    for n in (1, 2, 3):
        take(library, listing(n), f"day{n}")
    found = library.daily.today(now=morning(3)).edition
    assert found is not None
    assert found.considered == 36
    assert "Catches up on 3 days, from 3 March 2026 to 5 March 2026." in found.notes


def test_a_printed_edition_never_changes(library: Library) -> None:
    first = library.daily.today(now=morning(0)).edition
    assert first is not None
    changed = [one | {"title": f"Changed: {one['title']}", "abstract": "Other."} for one in listing(0, 24)]
    take(library, changed, "changed")
    assert all("Changed" in one.title for one in library.newest(24))
    library.merge(printed(first)[0], printed(first)[1])
    assert library.daily.edition(day(0)) == first
    assert not any("Changed" in entry.paper.title for entry in first.entries)


def test_a_merged_paper_is_not_printed_again(library: Library) -> None:
    """H08, E10: what a second source brings of a printed paper is the same paper, whichever number survives."""
    first = library.daily.today(now=morning(0)).edition
    take(library, [paper(900, "rivers", 1), paper(901, "bees", 1)], "next")
    new = {one.title: one.id for one in library.newest(2)}
    kept = library.merge(printed(first)[0], next(number for title, number in new.items() if "rivers" in title))
    second = library.daily.today(now=morning(1)).edition
    assert kept not in printed(second)
    assert [entry.paper.title for entry in second.entries if entry] == [t for t in new if "bees" in t]  # type: ignore[union-attr]


def test_an_issue_to_come_is_printed_once_and_not_again_on_its_day(library: Library) -> None:
    take(library, [paper(9900, "rivers", 9)], "ahead")
    ahead = library.newest(1)[0].id
    assert ahead in printed(library.daily.today(now=morning(0)).edition)
    take(library, listing(9, 4), "next")
    later = library.daily.today(now=morning(9)).edition
    assert later is not None
    assert later.through == day(9)
    assert len(printed(later)) == 4
    assert ahead not in printed(later)


def test_one_paper_of_two_sources_is_one_item_with_its_votes(library: Library) -> None:
    """H08."""
    seen = paper(3, "bread", 0)
    record = {"broadsheet_record": 1, "source": "huggingface", "key": seen["arxiv_id"], "raw": "{}"}
    record |= {"title": seen["title"], "identifiers": [f"arxiv:{seen['arxiv_id']}"], "counts": {"upvotes": 41}}
    take(library, [record], "votes")
    edition = library.daily.today(now=morning(0)).edition
    assert edition is not None
    entries = [entry for entry in edition.entries if word(3) in entry.paper.title.split()]
    assert [entry.paper.count("upvotes") for entry in entries] == [41]
    assert "41 upvotes on Hugging Face" in [reason.text for reason in entries[0].reasons]
    assert edition.considered == 24


def test_a_read_only_library_shows_and_keeps_nothing(library: Library) -> None:
    home = library.settings.home
    library.close()
    with library_in(home, read_only=True) as reading:
        found = reading.daily.today(now=morning(0))
        assert found.edition is not None
        assert found.is_new
        assert "reading only" in found.note
        assert reading.daily.edition_days() == []
        assert reading.daily.readers() == []
    assert not (home / "index" / "daily").exists()
    with library_in(home) as writing:
        assert writing.daily.edition_days() == []


def test_days_and_their_neighbours(library: Library) -> None:
    """A28: a day without an edition names the nearest."""
    with pytest.raises(NotFoundError, match="none has been printed yet"):
        library.daily.edition(day(0))
    library.daily.today(now=morning(0))
    take(library, listing(3), "next")
    library.daily.today(now=morning(3))
    assert library.daily.edition_days() == [day(3), day(0)]
    with pytest.raises(NotFoundError, match="nearest are of 2026-03-02 and 2026-03-05"):
        library.daily.edition(day(1))
    assert library.daily.edition(day(3)).day == day(3)


def test_weeks_and_months(library: Library) -> None:
    library.daily.today(now=morning(0))
    take(library, listing(1), "next")
    library.daily.today(now=morning(1))
    take(library, listing(8), "week")
    library.daily.today(now=morning(8))
    week = library.daily.period("week", day(3))
    assert (week.first, week.last, week.editions) == (day(0), day(6), (day(0), day(1)))
    assert (week.previous, week.following) == (None, day(8))
    assert {when for when, _ in week.entries} == {day(0), day(1)}
    month = library.daily.period("month", day(20))
    assert month.editions == (day(0), day(1), day(8))
    with pytest.raises(NotFoundError, match="nearest are of 2026-03-10"):
        library.daily.period("week", day(30))
    with pytest.raises(InputError, match="week or month"):
        library.daily.period("year", day(0))


def test_the_clock_must_have_a_zone(library: Library) -> None:
    with pytest.raises(InputError, match="zone"):
        library.daily.today(now=datetime(2026, 3, 2, 9))
    assert library.daily.today().edition is not None


def test_two_threads_print_one_edition(library: Library, monkeypatch: pytest.MonkeyPatch) -> None:
    composed = []
    compose = Press._composed

    def counted(*arguments: Any) -> Edition:
        composed.append(1)
        return compose(*arguments)

    monkeypatch.setattr(Press, "_composed", counted)
    found: list[Edition | None] = []
    threads = [
        threading.Thread(target=lambda: found.append(library.daily.today(now=morning(0)).edition)) for _ in range(4)
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(found) == 4
    assert all(one == found[0] for one in found)
    assert library.daily.edition_days() == [day(0)]
    assert len(composed) == 1  # whoever waited took what was printed


def test_two_processes_print_one_edition(library: Library) -> None:
    home = library.settings.home
    code = (
        "from datetime import datetime, UTC\nfrom tests.libraries import library_in\nfrom pathlib import Path\n"
        f"with library_in(Path({str(home)!r})) as library:\n"
        "    edition = library.daily.today(now=datetime(2026, 3, 2, 9, tzinfo=UTC)).edition\n"
        "    print(edition.made.isoformat(), [e.paper.id for e in edition.entries])"
    )
    library.close()
    running = [python(code) for _ in range(2)]
    told = [process.communicate(timeout=120)[0].strip() for process in running]
    assert told[0] == told[1] != ""


# --- what is never printed


def test_mutes_win_over_everything(library: Library) -> None:
    daily = library.daily
    bees = of_topic(library, "bees")
    daily.examples(bees[:3])
    daily.follow(Interest(K.KEYWORD, "hive"))
    daily.save_search("bees")
    daily.mute(Interest(K.AREA, "cs.LG"))
    edition = daily.today(now=morning(0)).edition
    assert edition is not None
    assert not set(printed(edition)) & set(bees)
    assert edition.considered == 18


def test_withdrawn_papers_and_those_acted_on_are_not_printed(tmp_path: Path) -> None:
    with library_in(tmp_path / "home") as library:
        gone = paper(5, "bees", 0) | {"comment": "This paper has been withdrawn by the authors"}
        take(library, [*listing(0, 4), gone])
        known = of_topic(library, "rivers")[0]
        library.daily.act(Action.SAVE, known)
        edition = library.daily.today(now=morning(0)).edition
        assert edition is not None
        withdrawn = [one.id for one in library.newest(9) if one.is_withdrawn]
        assert known not in printed(edition)
        assert edition.considered == 4 - 1 + 1 - len(withdrawn)
        assert not set(withdrawn) & set(printed(edition))


def test_what_was_withdrawn_since_says_so_in_the_archive(tmp_path: Path) -> None:
    with library_in(tmp_path / "home") as library:
        take(library, listing(0, 4))
        daily = library.daily
        edition = daily.today(now=morning(0)).edition
        assert edition is not None
        told = edition.entries[1].paper
        notice = Notice(NoticeKind.WITHDRAWN, "an error in theorem 2")
        put(library.store, record(told.title, *map(str, told.identifiers), authors=told.authors, notices=(notice,)))
        gone = next(one.id for one in library.newest(9) if one.is_withdrawn)
        period = daily.period("week", day(0))
        looked = [daily.edition(day(0)), daily.today(now=morning(0)).edition, daily.today(now=morning(1)).edition]
        looked.append(daily.newest(printing=False))
        for shown in [*(one.entries for one in looked if one), tuple(entry for _, entry in period.entries)]:
            assert [entry.paper.id for entry in shown if entry.paper.is_withdrawn] == [gone]
        assert len(list(filter(None, looked))) == 4
        kept = library.store.reading.edition(edition.reader, day(0))
        assert kept == edition, "the archive is as it was printed"


def test_where_everything_new_is_muted_that_is_said(library: Library) -> None:
    library.daily.mute(Interest(K.AREA, "cs"))
    found = library.daily.today(now=morning(0))
    assert found.edition is None
    assert found.note.startswith("Nothing is left of what is new (24): muted, withdrawn, or known to you.")


# --- a reader who is known


def test_what_a_reader_likes_comes_first_and_says_why(library: Library) -> None:
    daily = library.daily
    take(library, listing(1, 60), "next")
    daily.examples(of_topic(library, "bees")[:4])
    edition = daily.today(now=morning(1)).edition
    assert edition is not None
    assert edition.basis == "memory"
    front = edition.sections[0].entries
    bees = set(of_topic(library, "bees"))
    assert [entry.paper.id in bees for entry in front[:4]] == [True] * 4
    assert any(reason.kind == "similar" and "of your examples" in reason.text for reason in front[0].reasons)
    areas = [section.key for section in edition.sections if section.kind is SectionKind.AREA]
    assert areas[0] == "area-cs.LG"


def test_dismissed_topics_go_down(library: Library) -> None:
    daily = library.daily
    take(library, listing(1, 24), "next")
    bees, rivers = of_topic(library, "bees"), of_topic(library, "rivers")
    daily.examples([*bees[:3], *rivers[:3]])
    for number in rivers[3:5]:
        daily.act(Action.DISMISS, number)
    edition = daily.today(now=morning(1)).edition
    assert edition is not None
    place = {entry.paper.id: n for n, entry in enumerate(sorted(edition.entries, key=lambda entry: -entry.score))}
    penalties = {entry.paper.id: entry.parts.get("dismissed", 0.0) for entry in edition.entries}
    assert min(penalties.values()) < 0
    assert all(penalties[number] == 0 for number in bees if number in penalties)
    assert min(place[n] for n in bees if n in place) < min(place[n] for n in rivers if n in place)


def test_follows_and_searches_without_a_memory(library: Library) -> None:
    daily = library.daily
    search = daily.save_search("pendulum", "swinging")
    daily.follow(Interest(K.KEYWORD, word(7)))
    daily.follow(Interest(K.AUTHOR, f"{word(2).title()}, Ana"))
    edition = daily.today(now=morning(0)).edition
    assert edition is not None
    assert edition.basis == "profile"
    by_title = {reason.text: entry.paper.title for entry in edition.entries for reason in entry.reasons}
    assert word(7) in by_title[f"matches '{word(7)}', which you follow"]
    assert f"by Ana {word(2).title()}, whom you follow" in by_title
    front = [entry.paper.title for entry in edition.sections[0].entries]
    assert any(word(7) in title for title in front)
    found = [entry for entry in edition.entries if any(reason.kind == "search" for reason in entry.reasons)]
    assert found
    assert all("pendulum" in f"{entry.paper.title} {entry.paper.abstract}".lower() for entry in found)
    assert any(r.text == "matches 'swinging' in your saved searches" for entry in found for r in entry.reasons)
    assert [one.title for one in daily.search_feed(search.id)] != []


def test_hits_of_a_search_that_the_front_page_has_no_room_for(tmp_path: Path) -> None:
    with library_in(tmp_path / "home", front_size=5) as library:
        take(library, listing(0, 40))
        library.daily.examples(of_topic(library, "bees")[:2])
        number = library.daily.save_search("dough OR yeast", "baking").id
        edition = library.daily.today(now=morning(0)).edition
        assert edition is not None
        section = edition.section(f"search-{number}")
        assert section is not None
        assert section.title == "baking"
        assert all(entry.reasons[0].kind == "search" for entry in section.entries)
        assert len(printed(edition)) == len(set(printed(edition)))


def test_emphasis_multiplies_a_part(library: Library) -> None:
    daily = library.daily
    daily.examples(of_topic(library, "bees")[:2])
    plain = daily.today(now=morning(0)).edition
    daily.add_reader("other")
    daily.examples(of_topic(library, "bees")[:2], "other")
    daily.set_options("other", emphasis={"classifier": 0.0, "lasting": 3.0})
    turned = daily.today("other", now=morning(0)).edition
    assert plain is not None
    assert turned is not None
    before, after = ({e.paper.id: e.parts for e in one.entries} for one in (plain, turned))
    shared = before.keys() & after.keys()
    assert all("classifier" not in after[number] for number in shared)
    for number in shared:
        if "lasting" in before[number]:
            assert after[number]["lasting"] == pytest.approx(3 * before[number]["lasting"], abs=2e-3)


def test_liked_papers_without_a_text_are_no_fault(tmp_path: Path) -> None:
    """H03: an empty library of likes, or one without abstracts."""
    with library_in(tmp_path / "home") as library:
        bare = [paper(500 + n, "bees", -30, abstract="", title="On the", authors=[]) for n in range(3)]
        take(library, [*listing(0, 24), *bare])
        numbers = [one.id for one in library.newest(40) if not one.abstract]
        assert len(numbers) == 3
        library.daily.examples(numbers)
        edition = library.daily.today(now=morning(0)).edition
        assert edition is not None
        assert edition.basis == "nothing"
        assert any("no text that could be compared" in note for note in edition.notes)


def test_a_single_paper_makes_an_edition(tmp_path: Path) -> None:
    with library_in(tmp_path / "home") as library:
        take(library, [paper(1, "bees", 0), paper(2, "bees", -90)])
        library.daily.examples([of_topic(library, "bees")[1]])
        edition = library.daily.today(now=morning(0)).edition
        assert edition is not None
        assert len(printed(edition)) == 1
        take(library, [{"title": "", "abstract": "一 二", "listed": f"{day(1)}", "arxiv_id": "2603.55555"}], "odd")
        library.daily.today(now=morning(1))


# --- discoveries


def test_propensities_are_kept_for_every_entry(library: Library) -> None:
    library.daily.examples(of_topic(library, "bees")[:3])
    edition = library.daily.today(now=morning(0)).edition
    assert edition is not None
    drawn = edition.section("discovery")
    assert drawn is not None
    assert edition.cap == pytest.approx(calibrated_cap([], 0.1)) != 0
    for section in edition.sections:
        for entry in section.entries:
            assert (0 < entry.propensity < 1) if section.key == "discovery" else entry.propensity == 1
    log = library.store.reading.shown_log("me")
    assert [(row.paper, row.propensity) for row in log] == [(e.paper.id, e.propensity) for e in edition.entries]


def test_a_reset_takes_back_what_discoveries_were_allowed_by(library: Library) -> None:
    """The rejections before it count no more, so the editions in which they were said do not, either."""
    for n in range(14):
        take(library, listing(n + 1), f"day{n}")
        edition = library.daily.today(now=morning(n + 1)).edition
        found = edition.section("discovery") if edition else None
        assert edition is not None and found is not None
        library.daily.act(Action.DISMISS, found.entries[0].paper.id, edition=edition.day)
    assert edition.cap == 0
    library.daily.reset()
    take(library, listing(20), "after")
    edition = library.daily.today(now=morning(20)).edition
    assert edition is not None
    assert edition.cap == pytest.approx(calibrated_cap([], 0.1))


def test_a_risk_of_nothing_discovers_nothing(library: Library) -> None:
    library.daily.set_options(risk=0.0)
    edition = library.daily.today(now=morning(0)).edition
    assert edition is not None
    assert edition.section("discovery") is None
    assert (edition.cap, edition.risk) == (0.0, 0.0)


# --- speed


def test_an_edition_asks_the_database_as_often_for_many_papers_as_for_few(tmp_path: Path) -> None:
    counts = []
    for size in (16, 64):
        with library_in(tmp_path / f"home{size}") as library:
            take(library, listing(0, size))
            library.daily.examples(of_topic(library, "bees")[:2])
            library.daily.today("me", now=morning(0))
            take(library, listing(1, size), "next")
            asked: list[str] = []

            def note(*arguments: object, asked: list[str] = asked) -> None:
                asked.append(str(arguments[2]))

            sql.listen(library.store.engine, "before_cursor_execute", note)
            assert library.daily.today(now=morning(1)).is_new
            sql.remove(library.store.engine, "before_cursor_execute", note)
            counts.append(len(asked))
    assert counts[0] == counts[1] < 60
