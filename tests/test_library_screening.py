"""Reviews through the library: plans, pools, decisions, what several processes see, and what comes out again."""

from __future__ import annotations

import io
import json
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from pathlib import Path

import pytest

from broadsheet.errors import InputError, NotFoundError
from broadsheet.library import EXPORT_FORMS, Library, offer_token
from broadsheet.library.screening import Screening
from broadsheet.model.screening import (
    Chosen,
    Criterion,
    Label,
    Offer,
    Plan,
    PoolRecord,
    ReviewEventKind,
    Sharing,
    Stage,
    StoppingPlan,
)
from tests.libraries import library_in, papers_file
from tests.screening_pools import is_relevant, pool_file, title

INCLUDE, EXCLUDE, LATER = Label.INCLUDE, Label.EXCLUDE, Label.LATER
SEEDED = Plan(seed=7)


@pytest.fixture
def library(tmp_path: Path) -> Iterator[Library]:
    with library_in(tmp_path / "home") as opened:
        yield opened


@pytest.fixture
def screening(library: Library) -> Screening:
    return library.screening


@pytest.fixture
def boats(screening: Screening, tmp_path: Path) -> Screening:
    """A review of twenty records, of which 1, 6, 11 and 16 are relevant."""
    screening.create("boats", SEEDED)
    screening.add_files("boats", [pool_file(tmp_path / "hits.csv")])
    return screening


def screen(screening: Screening, name: str, who: str = "", count: int = 10**6, **options: object) -> int:
    """Decide of what comes next as the records truly are; how many were decided."""
    for done in range(count):
        offer = screening.next(name, who, **options)  # type: ignore[arg-type]
        if offer is None:
            return done
        label = INCLUDE if is_relevant(offer.record.number) else EXCLUDE
        screening.decide(name, offer.record.number, label, who, offer=offer)
    return count


# --- reviews and plans


def test_a_review_is_found_by_name_and_by_id(screening: Screening) -> None:
    made = screening.create("boats", SEEDED, question="Are boats slow?", target=0.9)
    assert made.plan.question == "Are boats slow?"
    assert made.plan.stopping == StoppingPlan(target=0.9)
    assert screening.review("boats") == screening.review(made.id) == made
    assert screening.reviews() == [made]
    assert [event.kind for event in screening.history("boats")] == [ReviewEventKind.CREATE]


def test_what_there_is_not_is_named_with_what_there_is(screening: Screening) -> None:
    screening.create("boats")
    with pytest.raises(NotFoundError, match=r"no review 'bread' in this library; there are: boats"):
        screening.review("bread")


def test_a_name_is_taken_once(screening: Screening) -> None:
    screening.create("boats")
    with pytest.raises(InputError, match="another name"):
        screening.create("boats")


def test_a_seed_is_drawn_once_where_none_is_given(screening: Screening) -> None:
    seeds = {screening.create(name).plan.seed for name in ("a", "b", "c")}
    assert len(seeds) == 3
    assert 0 not in seeds
    assert screening.create("d", SEEDED).plan.seed == 7


@pytest.mark.parametrize(
    "changes",
    [
        {"target": 0.0}, {"target": 1.0}, {"target": 1.2}, {"confidence": 1.0}, {"confidence": -0.1},
        {"advantage": 0.5}, {"rule": "until it feels right"}, {"sharing": Sharing.BLINDED},
        {"criteria": (Criterion("TWO WORDS", "text"),)}, {"criteria": (Criterion("POP", " "),)}, {"seed": 2**63},
        {"budget": 2**63}, {"in_a_row": 10**30}, {"criteria": (Criterion("A", "x"), Criterion("A", "y"))},
        {"model": "nothing-of-the-kind"}, {"querier": "crystal ball"},
    ],
)  # fmt: skip
def test_a_plan_that_cannot_be_is_refused_and_nothing_is_made(screening: Screening, changes: dict[str, object]) -> None:
    with pytest.raises(InputError):
        screening.create("boats", SEEDED, **changes)
    assert screening.reviews() == []
    screening.create("boats", SEEDED)
    with pytest.raises(InputError):
        screening.change("boats", **changes)
    assert screening.review("boats").plan == SEEDED
    assert len(screening.history("boats")) == 1


def test_every_change_of_the_plan_is_an_event(screening: Screening) -> None:
    screening.create("boats", SEEDED)
    changed = screening.change("boats", question="Why?", confidence=0.9, screener="ada")
    assert (changed.plan.question, changed.plan.stopping.confidence) == ("Why?", 0.9)
    assert screening.review("boats") == changed
    assert screening.change("boats", question="Why?") == changed
    events = screening.history("boats")
    assert [(event.kind, event.screener) for event in events[1:]] == [(ReviewEventKind.PLAN, "ada")]


def test_a_removed_review_is_gone_with_its_cache(boats: Screening, library: Library) -> None:
    review = boats.review("boats")
    boats.next("boats")
    folder = library.settings.index_dir / "screening" / str(review.id)
    folder.mkdir(parents=True, exist_ok=True)
    boats.remove("boats")
    assert boats.reviews() == []
    assert not folder.exists()
    with pytest.raises(NotFoundError):
        boats.next("boats")


# --- the pool


def test_a_file_fills_the_pool(boats: Screening) -> None:
    event = boats.history("boats")[-1]
    assert event.kind is ReviewEventKind.ADD
    assert json.loads(event.detail)["added"] == 20
    assert [found.record.number for found in boats.records("boats")] == list(range(1, 21))
    first = boats.record("boats", 1).record
    assert (first.title, first.year, first.source) == (title(1), 2001, "hits.csv")
    assert first.authors == ("B Chen", "Ada Byron")


def test_what_repeats_is_kept_beside_and_counts_once(boats: Screening, tmp_path: Path) -> None:
    [summary] = boats.add_files("boats", [pool_file(tmp_path / "more.csv", 5, start=18)])
    assert (summary.added, summary.repeats, summary.refused) == (5, 3, 0)
    assert [found.record.twin for found in boats.records("boats", after=20)] == [18, 19, 20, 0, 0]
    progress = boats.progress("boats")
    assert (progress.records, progress.repeats) == (22, 3)
    assert [found.record.number for found in boats.records("boats", label="repeat")] == [21, 22, 23]


def table(path: Path, *rows: str) -> Path:
    """A CSV with these rows below its head."""
    path.write_text("\n".join(["title,abstract,doi,pmid", *rows]) + "\n", "utf-8")
    return path


def test_a_record_that_is_like_two_joins_them(screening: Screening, tmp_path: Path) -> None:
    screening.create("boats", SEEDED)
    apart = table(tmp_path / "two.csv", "Slow boats of the north,Rowed,10.1000/boats,", "Slow boats,Rowed,,31415926")
    assert screening.add_files("boats", [apart])[0].repeats == 0
    screening.decide("boats", 2, INCLUDE)
    both = table(tmp_path / "one.csv", "Slow boats of the north,Rowed,10.1000/boats,31415926")
    assert screening.add_files("boats", [both])[0].repeats == 1
    assert screening.record("boats", 1).twins == (2, 3)
    assert screening.record("boats", 1).label is INCLUDE
    assert (screening.progress("boats").records, screening.progress("boats").found) == (1, 1)
    assert screening.history("boats")[-1].kind is ReviewEventKind.TWIN


def test_what_a_person_set_apart_stays_apart(screening: Screening, tmp_path: Path) -> None:
    screening.create("boats", SEEDED)
    screening.add_files("boats", [pool_file(tmp_path / "hits.csv", 3)])
    screening.add_files("boats", [pool_file(tmp_path / "again.csv", 3)])
    screening.apart("boats", 5)
    assert screening.record("boats", 2).twins == ()
    screening.add_files("boats", [pool_file(tmp_path / "third.csv", 3)])
    assert screening.record("boats", 2).twins in ((), (8,))
    assert 2 not in screening.record("boats", 5).twins
    assert screening.record("boats", 1).twins == (4, 7)


def test_labels_of_a_file_are_prior_knowledge(screening: Screening, tmp_path: Path) -> None:
    screening.create("boats", SEEDED)
    path = pool_file(tmp_path / "old.csv", 10, labels={1: "1", 2: "0", 3: "perhaps not"})
    [summary] = screening.add_files("boats", [path])
    assert summary.labelled == 2
    assert len(summary.problems) == 1
    assert "old.csv" in summary.problems[0]
    assert [found.record.number for found in screening.records("boats", label="prior")] == [1, 2]
    assert screening.record("boats", 1).label is INCLUDE
    assert screening.progress("boats").read == 2


def test_an_upload_is_a_source_of_its_own(screening: Screening, tmp_path: Path) -> None:
    screening.create("boats")
    with pool_file(tmp_path / "hits.csv", 3).open("rb") as file:
        summary = screening.add_stream("boats", file, "upload.csv", screener="ada")
    assert (summary.source, summary.added) == ("upload.csv", 3)
    assert screening.history("boats")[-1].screener == "ada"


def test_entries_without_title_and_abstract_are_refused_by_line(screening: Screening, tmp_path: Path) -> None:
    path = tmp_path / "hits.ris"
    path.write_text("TY  - JOUR\nTI  - Slow boats\nER  - \nTY  - JOUR\nPY  - 2001\nER  - \n")
    screening.create("boats")
    [summary] = screening.add_files("boats", [path])
    assert (summary.entries, summary.added, summary.refused) == (2, 1, 1)
    assert summary.problems[0].startswith("hits.ris:")


def test_a_file_that_is_no_file_is_named(screening: Screening, tmp_path: Path) -> None:
    screening.create("boats")
    with pytest.raises(InputError, match=r"nothing\.ris"):
        screening.add_files("boats", [tmp_path / "nothing.ris"])
    assert len(screening.history("boats")) == 1


def test_papers_of_the_library_come_by_number_and_by_search(library: Library, tmp_path: Path) -> None:
    library.import_files([papers_file(tmp_path / "papers.jsonl", 30)])
    screening = library.screening
    screening.create("boats")
    assert screening.add_papers("boats", [3, 3, 4]).added == 2
    summary = screening.add_search("boats", "slow river boats", limit=10)
    assert (summary.source, summary.added) == ("search: slow river boats", 10)
    search = library.daily.save_search("slow river", "rivers")
    assert screening.add_saved_search("boats", search.id, limit=5).added == 5
    found = screening.record("boats", 1).record
    assert found.paper == 3
    assert found.title == library.paper(3).title
    assert screening.progress("boats").records < 17  # what came twice counts once


def test_a_search_that_is_cut_says_how_much_it_finds(library: Library, tmp_path: Path) -> None:
    library.import_files([papers_file(tmp_path / "papers.jsonl", 30)])
    library.screening.create("boats")
    cut = library.screening.add_search("boats", "slow river boats", limit=10)
    assert (cut.entries, cut.added, cut.refused) == (10, 10, 0)
    assert cut.problems == (
        "search: slow river boats: the best 10 of 30 papers found were taken; raise the limit for more",
    )
    whole = library.screening.add_search("boats", "slow river boats", limit=30)
    assert (whole.added, whole.problems) == (30, ())


def test_what_there_is_not_adds_nothing(library: Library, tmp_path: Path) -> None:
    library.import_files([papers_file(tmp_path / "papers.jsonl", 3)])
    library.screening.create("boats")
    for add in (
        lambda: library.screening.add_papers("boats", [1, 99]),
        lambda: library.screening.add_papers("boats", []),
        lambda: library.screening.add_saved_search("boats", 9),
    ):
        with pytest.raises(NotFoundError):
            add()
    assert library.screening.records("boats") == []


# --- looking


def test_records_are_narrowed_by_words_and_label(boats: Screening) -> None:
    boats.decide("boats", 6, INCLUDE)
    boats.decide("boats", 2, LATER)
    numbers = lambda **options: [found.record.number for found in boats.records("boats", **options)]  # noqa: E731
    assert numbers(query="BOATS row") == [1, 6, 11, 16]
    assert numbers(query="boats", after=6, limit=1) == [11]
    assert numbers(label="include") == [6]
    assert numbers(label="unread", query="boats") == [1, 11, 16]
    assert numbers(label="conflict") == []
    with pytest.raises(InputError, match="label"):
        numbers(label="good")


def test_a_record_that_there_is_not(boats: Screening) -> None:
    for ask in (
        lambda: boats.record("boats", 21),
        lambda: boats.look("boats", 0),
        lambda: boats.history("boats", 99),
        lambda: boats.decide("boats", 21, INCLUDE),
        lambda: boats.twin("boats", 1, 21),
    ):
        with pytest.raises((NotFoundError, InputError), match="no record"):
            ask()


# --- screening


def test_every_record_comes_once_and_then_nothing(boats: Screening) -> None:
    assert screen(boats, "boats") == 20
    progress = boats.progress("boats")
    assert (progress.read, progress.found, progress.phase) == (20, 4, "done")
    assert boats.next("boats") is None


def test_a_decision_carries_how_its_record_was_chosen(boats: Screening) -> None:
    boats.prior("boats", [1], INCLUDE)
    boats.prior("boats", [2], EXCLUDE)
    offer = boats.next("boats", "ada", mode="ranked")
    assert offer is not None
    event = boats.decide("boats", offer.record.number, EXCLUDE, "ada", reasons=(), note=" no ", offer=offer)
    assert (event.chosen, event.model, event.place, event.unread) == (
        offer.chosen,
        offer.model,
        offer.place,
        offer.unread,
    )
    assert (event.screener, event.note, event.stage) == ("ada", "no", Stage.ABSTRACT)


def test_the_offer_is_remembered_or_carried_by_its_token(boats: Screening) -> None:
    offer = boats.next("boats")
    assert offer is not None
    assert boats.decide("boats", offer.record.number, EXCLUDE).chosen is offer.chosen
    token = offer_token(Offer(PoolRecord(0, ""), Chosen.RANKED, "nb/tfidf@7", 3, 12))
    event = boats.decide("boats", 20, EXCLUDE, offer=token)
    assert (event.chosen, event.place, event.unread, event.model) == (Chosen.RANKED, 3, 12, "nb/tfidf@7")
    assert boats.decide("boats", 19, EXCLUDE).chosen is Chosen.MANUAL


@pytest.mark.parametrize(
    "token", ["", "best", "ranked:1", "prior:0:0:", "ranked:5:3:m", "ranked:-1:3:m", "ranked:a:b:"]
)
def test_a_token_that_next_never_gave_is_refused(boats: Screening, token: str) -> None:
    with pytest.raises(InputError, match="offer"):
        boats.decide("boats", 1, INCLUDE, offer=token)


def test_an_offer_of_another_record_is_refused(boats: Screening) -> None:
    offer = boats.look("boats", 3)
    with pytest.raises(InputError, match="record 3"):
        boats.decide("boats", 4, INCLUDE, offer=offer)


def test_the_same_decision_twice_is_one(boats: Screening) -> None:
    first = boats.decide("boats", 1, INCLUDE)
    assert boats.decide("boats", 1, INCLUDE) == first
    assert boats.decide("boats", 1, INCLUDE, note="sure").id == first.id + 1
    assert boats.decide("boats", 1, EXCLUDE).id == first.id + 2
    assert boats.decide("boats", 1, INCLUDE).id == first.id + 3
    assert boats.record("boats", 1).label is INCLUDE


def test_reasons_are_codes_of_the_plan(screening: Screening, tmp_path: Path) -> None:
    screening.create("boats", replace(SEEDED, criteria=(Criterion("DRY", "not on water"),)))
    screening.add_files("boats", [pool_file(tmp_path / "hits.csv", 3)])
    screening.decide("boats", 2, EXCLUDE, reasons=["DRY"], note="bread")
    found = screening.record("boats", 2)
    assert (found.label, found.reasons, found.note) == (EXCLUDE, ("DRY",), "bread")
    with pytest.raises(InputError, match="WET"):
        screening.decide("boats", 3, EXCLUDE, reasons=["WET"])


def test_undo_goes_back_step_by_step_and_an_undo_can_be_undone(boats: Screening) -> None:
    boats.decide("boats", 1, INCLUDE)
    boats.decide("boats", 1, EXCLUDE)
    undone = boats.undo("boats")
    assert undone is not None
    assert boats.record("boats", 1).label is INCLUDE
    boats.undo("boats", event=undone.id)
    assert boats.record("boats", 1).label is EXCLUDE
    boats.undo("boats")
    boats.undo("boats")
    assert boats.record("boats", 1).label is None
    assert boats.undo("boats") is None
    assert len(boats.history("boats", 1)) == 6


def test_only_ones_own_deeds_are_taken_back(boats: Screening) -> None:
    event = boats.decide("boats", 1, INCLUDE, "ada")
    assert boats.undo("boats", "bob") is None
    with pytest.raises(NotFoundError, match="no event 99"):
        boats.undo("boats", "ada", event=99)
    assert boats.undo("boats", "ada", event=event.id) is not None
    assert boats.undo("boats", "ada", event=event.id) is None


def test_a_label_carries_to_the_twin(boats: Screening) -> None:
    boats.decide("boats", 11, INCLUDE)
    boats.twin("boats", 16, 11)
    assert boats.record("boats", 16).label is INCLUDE
    assert boats.record("boats", 16).twins == (11,)
    assert (boats.progress("boats").found, boats.progress("boats").records) == (1, 19)
    boats.apart("boats", 16)
    assert boats.record("boats", 16).label is None


def test_the_second_stage_has_what_the_first_included(boats: Screening) -> None:
    screen(boats, "boats")
    full = Stage.FULL_TEXT
    assert boats.progress("boats", stage=full).records == 4
    offer = boats.next("boats", stage=full)
    assert offer is not None
    assert is_relevant(offer.record.number)
    boats.decide("boats", offer.record.number, INCLUDE, stage=full, offer=offer)
    assert boats.progress("boats", stage=full).found == 1
    assert boats.prisma("boats").included == 1


def test_a_stop_keeps_its_statement_and_reopening_goes_on(boats: Screening) -> None:
    screen(boats, "boats", count=12)
    event = boats.stop("boats", "ada")
    assert event.kind is ReviewEventKind.STOP
    assert json.loads(event.detail)
    assert boats.progress("boats").phase == "done"
    boats.reopen("boats")
    assert boats.progress("boats").phase != "done"
    assert event in boats.history("boats")


# --- several screeners


@pytest.fixture
def blinded(screening: Screening, tmp_path: Path) -> Screening:
    screening.create("boats", replace(SEEDED, sharing=Sharing.BLINDED, screeners=("ada", "bob")))
    screening.add_files("boats", [pool_file(tmp_path / "hits.csv", 6)])
    return screening


def test_a_blinded_screener_does_not_see_what_others_decided(blinded: Screening) -> None:
    blinded.decide("boats", 1, INCLUDE, "ada", note="yes")
    seen = blinded.record("boats", 1, screener="bob")
    assert (seen.label, seen.own, seen.note, seen.conflict) == (None, None, "", False)
    assert blinded.record("boats", 1, screener="ada").own is INCLUDE
    kinds = [event.kind for event in blinded.history("boats", screener="bob")]
    assert kinds == [ReviewEventKind.CREATE, ReviewEventKind.ADD]
    assert blinded.progress("boats", "bob").read == 0
    assert blinded.progress("boats", "ada").read == 1
    blinded.decide("boats", 1, EXCLUDE, "bob")
    assert blinded.record("boats", 1, screener="bob").conflict
    assert len(blinded.history("boats", screener="bob")) == 4


def test_conflicts_are_listed_and_resolved_for_all(blinded: Screening) -> None:
    blinded.decide("boats", 1, INCLUDE, "ada")
    blinded.decide("boats", 1, EXCLUDE, "bob")
    [conflict] = blinded.conflicts("boats")
    assert (conflict.record.number, [event.label for event in conflict.decisions]) == (1, [INCLUDE, EXCLUDE])
    blinded.resolve("boats", 1, INCLUDE, "ada", note="agreed")
    assert blinded.conflicts("boats") == []
    assert blinded.record("boats", 1).label is INCLUDE


def test_each_screener_reads_all_and_kappa_is_known(blinded: Screening) -> None:
    assert screen(blinded, "boats", "ada") == screen(blinded, "boats", "bob") == 6
    [found] = blinded.agreement("boats")
    assert (found.both, found.agreed, found.kappa) == (6, 1.0, 1.0)


def test_who_is_not_of_the_review_does_not_decide(blinded: Screening) -> None:
    with pytest.raises(InputError, match="ada"):
        blinded.decide("boats", 1, INCLUDE, "eve")


# --- several threads


def test_screeners_at_once_do_not_read_the_same(boats: Screening) -> None:
    with ThreadPoolExecutor(3) as threads:
        jobs = [threads.submit(screen, boats, "boats", who) for who in ("ada", "bob", "eve")]
        counts = [job.result(timeout=120) for job in jobs]
    decided = [event.record for event in boats.history("boats") if event.kind is ReviewEventKind.DECIDE]
    assert sum(counts) == len(decided)
    assert set(decided) == set(range(1, 21))
    # What others have before them comes only when nothing else is left: each of two others holds one at most.
    assert len(decided) <= 20 + 3 * 2


def test_reading_goes_on_while_records_are_added_and_the_plan_changes(boats: Screening, tmp_path: Path) -> None:
    path = pool_file(tmp_path / "more.csv", 20, start=40)
    with ThreadPoolExecutor(3) as threads:
        reading = threads.submit(screen, boats, "boats", "ada", 15)
        adding = threads.submit(boats.add_files, "boats", [path])
        changing = threads.submit(boats.change, "boats", question="Why?")
        assert reading.result(timeout=120) == 15
        assert adding.result(timeout=120)[0].added == 20
        changing.result(timeout=120)
    progress = boats.progress("boats")
    assert (progress.records, progress.read) == (40, 15)
    assert [event.id for event in boats.history("boats")] == list(range(1, len(boats.history("boats")) + 1))


# --- several processes


def test_what_another_process_did_is_seen_at_once(boats: Screening, tmp_path: Path) -> None:
    offer = boats.next("boats")
    assert offer is not None
    with library_in(tmp_path / "home") as other:
        other.screening.decide("boats", offer.record.number, EXCLUDE, "bob")
        other.screening.add_files("boats", [pool_file(tmp_path / "more.csv", 2, start=40)])
        other.screening.change("boats", question="Changed?")
    again = boats.next("boats")
    assert again is not None
    assert again.record.number != offer.record.number
    assert (boats.progress("boats").records, boats.progress("boats").read) == (22, 1)
    assert boats.progress("boats").review.plan.question == "Changed?"
    with library_in(tmp_path / "home") as other:
        other.screening.remove("boats")
    with pytest.raises(NotFoundError):
        boats.progress("boats")


def test_a_library_open_for_reading_shows_and_refuses(boats: Screening, tmp_path: Path) -> None:
    with library_in(tmp_path / "home", read_only=True) as reading:
        screening = reading.screening
        assert len(screening.records("boats")) == 20
        assert screening.progress("boats").records == 20
        for write in (
            lambda: screening.create("bread"),
            lambda: screening.change("boats", question="?"),
            lambda: screening.decide("boats", 1, INCLUDE),
            lambda: screening.prior("boats", [1], INCLUDE),
            lambda: screening.undo("boats"),
            lambda: screening.stop("boats"),
            lambda: screening.add_files("boats", [tmp_path / "hits.csv"]),
            lambda: screening.remove("boats"),
        ):
            with pytest.raises(InputError, match="reading only"):
                write()


# --- in and out


def test_a_whole_review_goes_to_another_library_and_is_replayed(boats: Screening, tmp_path: Path) -> None:
    screen(boats, "boats", count=15)
    boats.stop("boats")
    content = b"".join(boats.export("boats", "record"))
    found = boats.replay(io.BytesIO(content))
    assert (found.statements, found.differences) == (1, ())
    with library_in(tmp_path / "other") as other:
        review = other.screening.import_(io.BytesIO(content))
        assert review.name == "boats"
        assert other.screening.history("boats") == [
            replace(event, review=review.id) for event in boats.history("boats")
        ]
        here, there = boats.progress("boats"), other.screening.progress("boats")
        assert (here.report, here.read, here.found) == (there.report, there.read, there.found)
        assert b"".join(other.screening.export("boats", "record")) == content
        with pytest.raises(InputError, match="another name"):
            other.screening.import_(io.BytesIO(content))
        assert other.screening.import_(io.BytesIO(content), "boats 2").name == "boats 2"


def test_a_replay_names_what_was_changed(boats: Screening) -> None:
    screen(boats, "boats", count=15)
    boats.stop("boats")
    lines = b"".join(boats.export("boats", "record")).splitlines(keepends=True)
    changed = [
        line.replace(b'"label":"include"', b'"label":"exclude"') if b'"label":"include"' in line else line
        for line in lines
    ]
    assert changed != lines
    found = boats.replay(io.BytesIO(b"".join(changed)))
    assert found.differences


@pytest.mark.parametrize("content", [b"", b"\xff\xfe\x00", b"no json\n", b"{}\n", b"[1, 2]\n"])
def test_what_is_no_review_is_refused(screening: Screening, content: bytes) -> None:
    for take in (screening.import_, screening.replay):
        with pytest.raises(InputError):
            take(io.BytesIO(content))
    assert screening.reviews() == []


@pytest.mark.parametrize("form", [form for form in EXPORT_FORMS if form not in ("record", "json")])
def test_labels_come_back_from_every_form(boats: Screening, tmp_path: Path, form: str) -> None:
    boats.decide("boats", 1, INCLUDE, note="a boat, surely")
    boats.decide("boats", 2, EXCLUDE)
    path = tmp_path / f"out.{form}"
    path.write_bytes(b"".join(boats.export("boats", form)))
    boats.create("again", SEEDED)
    [summary] = boats.add_files("again", [path])
    assert (summary.added, summary.labelled, summary.problems) == (20, 2, ())
    assert boats.record("again", 1).label is INCLUDE
    assert "a boat, surely" in boats.record("again", 1).record.note


def test_json_has_every_record_with_its_decision(boats: Screening) -> None:
    boats.decide("boats", 1, INCLUDE, "ada")
    found = json.loads(b"".join(boats.export("boats", "json")))
    assert len(found) == 20
    assert (found[0]["number"], found[0]["label"], found[0]["screener"]) == (1, "include", "ada")
    assert (found[1]["label"], found[1]["moment"]) == (None, None)


def test_only_what_was_included_is_written_and_repeats_once(boats: Screening) -> None:
    boats.decide("boats", 1, INCLUDE)
    boats.decide("boats", 2, EXCLUDE)
    boats.decide("boats", 3, INCLUDE)
    boats.twin("boats", 4, 3)
    found = json.loads(b"".join(boats.export("boats", "json", only=INCLUDE)))
    assert [record["number"] for record in found] == [1, 3]
    boats.decide("boats", 3, EXCLUDE, stage=Stage.FULL_TEXT)
    found = json.loads(b"".join(boats.export("boats", "json", only=INCLUDE)))
    assert [record["number"] for record in found] == [1], "the full text has the last word"
    assert b"".join(boats.export("boats", "ris", only=INCLUDE)).count(b"TY  - ") == 1
    with pytest.raises(InputError, match="whole"):
        boats.export("boats", "record", only=INCLUDE)


def test_an_unknown_form_is_refused_at_once(boats: Screening) -> None:
    with pytest.raises(InputError, match="ris"):
        boats.export("boats", "docx")


def test_the_flow_diagram_is_drawn(boats: Screening) -> None:
    svg = boats.prisma_svg("boats")
    assert svg.lstrip().startswith(("<svg", "<?xml"))
    assert boats.prisma("boats").identified == (("hits.csv", 20),)


def test_every_offer_can_be_made_again(boats: Screening) -> None:
    boats.prior("boats", [1], INCLUDE)
    boats.prior("boats", [2], EXCLUDE)
    for _ in range(6):
        offer = boats.next("boats", mode="ranked")
        assert offer is not None
        boats.decide("boats", offer.record.number, EXCLUDE, offer=offer)
        with boats.desk("boats") as desk:
            assert desk.settle(60)
    content = b"".join(boats.export("boats", "record"))
    assert boats.replay(io.BytesIO(content), offers=True).differences == ()
    changed = content.replace(b'"unread":13', b'"place":5,"unread":13')
    assert changed != content
    assert boats.replay(io.BytesIO(changed), offers=True).differences


def test_a_patient_library_does_not_draw_the_first_record_at_random(tmp_path: Path) -> None:
    with library_in(tmp_path / "home") as library:
        library.screening.create("boats", SEEDED, description="slow boats on a river")
        library.screening.add_files("boats", [pool_file(tmp_path / "hits.csv")])
    with library_in(tmp_path / "home") as library:
        library.screening.be_patient(120)
        offer = library.screening.next("boats")
        assert offer is not None
        assert offer.chosen is Chosen.RANKED
        assert is_relevant(offer.record.number)
