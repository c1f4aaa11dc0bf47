"""Reviews through the library: plans, what several processes see, and what comes out again."""

from __future__ import annotations

import io
import json
from dataclasses import replace
from pathlib import Path

import pytest

from broadsheet.errors import InputError, NotFoundError
from broadsheet.library import EXPORT_FORMS, Library
from broadsheet.library.screening import Screening
from broadsheet.model.screening import (
    Chosen,
    Criterion,
    ReviewEventKind,
    Sharing,
    Stage,
    StoppingPlan,
)
from tests import library_reviews
from tests.libraries import library_in
from tests.library_reviews import EXCLUDE, INCLUDE, SEEDED, screen
from tests.screening_pools import is_relevant, pool_file

library, screening, boats = library_reviews.FIXTURES

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
