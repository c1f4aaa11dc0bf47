"""Reviews, records and events in a few words, for the tests of the screening desk."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace
from datetime import UTC, datetime, timedelta

from broadsheet.model.screening import (
    Chosen,
    Label,
    Plan,
    PoolRecord,
    Review,
    ReviewEvent,
    ReviewEventKind,
    Sharing,
    Stage,
)
from broadsheet.screen.state import State
from broadsheet.screen.trail import trail

START = datetime(2026, 3, 2, 9, tzinfo=UTC)
BLINDED = Plan(sharing=Sharing.BLINDED, screeners=("ann", "bo"))
_LABELS = {"in": Label.INCLUDE, "out": Label.EXCLUDE, "later": Label.LATER}


def review(plan: Plan | None = None) -> Review:
    return Review(1, "Statins", START, plan or Plan())


def records(
    count: int, *, twins: dict[int, int] | None = None, labels: dict[int, Label] | None = None
) -> list[PoolRecord]:
    return [
        PoolRecord(
            number,
            f"Title of the record {number}",
            "An abstract.",
            source="pubmed.ris",
            twin=(twins or {}).get(number, 0),
            label=(labels or {}).get(number),
        )
        for number in range(1, count + 1)
    ]


def event(number: int, kind: str, screener: str = "ann", **fields: object) -> ReviewEvent:
    made = ReviewEvent(number, 1, ReviewEventKind(kind), screener, START + timedelta(minutes=number))
    return replace(made, **fields)  # type: ignore[arg-type]


def told(*lines: str, first: int = 1) -> list[ReviewEvent]:
    """Events from lines such as ``ann in 7``, ``bo out 7 full-text``, ``ann undo #2`` (of the second line),
    ``ann twin 3 4``, ``ann apart 3``, ``ann resolve-in 7``, ``ann audit 5`` (its seed), ``ann prior-in 3``, ``- add 4``
    (records).

    A word ``by:audit`` says how the record was chosen; ranked where it is not said.
    """
    return [_told(number, line.split()) for number, line in enumerate(lines, first)]


def _told(number: int, words: list[str]) -> ReviewEvent:
    chosen = Chosen(next((word[3:] for word in words if word.startswith("by:")), "ranked"))
    stage = Stage.FULL_TEXT if "full-text" in words else Stage.ABSTRACT
    screener, what, *rest = [word for word in words if not word.startswith("by:") and word != "full-text"]
    about = int(rest[0].lstrip("#")) if rest else 0
    if what in ("undo", "twin", "apart", "audit", "add", "reopen"):
        fields: dict[str, dict[str, object]] = {
            "undo": {"undoes": about},
            "twin": {"record": about, "other": int(rest[-1].lstrip("#"))} if rest else {},
            "apart": {"record": about},
            "audit": {"detail": f'{{"seed":{about}}}', "stage": stage},
            "add": {"detail": f'{{"added":{about}}}'},
            "reopen": {"stage": stage},
        }
        return event(number, what, screener, **fields[what])
    kind, _, label = what.rpartition("-")
    chosen = Chosen.PRIOR if kind == "prior" else chosen
    return event(
        number,
        "resolve" if kind == "resolve" else "decide",
        screener,
        record=about,
        stage=stage,
        label=_LABELS[label],
        chosen=None if kind == "resolve" else chosen,
    )


def numbered(events: Iterable[ReviewEvent]) -> list[ReviewEvent]:
    """The same events with ids from 1."""
    return [replace(one, id=number) for number, one in enumerate(events, 1)]


def labels(found: dict[int, Label]) -> dict[int, str]:
    """Labels by record in the words of ``told``."""
    words = {label: word for word, label in _LABELS.items()}
    return {number: words[label] for number, label in found.items()}


def words(found: Sequence[ReviewEvent]) -> list[str]:
    return [f"{one.screener} {one.label} {one.record}" for one in found]


def state(*lines: str, plan: Plan | None = None, pool: Sequence[PoolRecord] | None = None) -> State:
    return State.of(review(plan), pool or records(10), told(*lines))


def seen(found: State, screener: str = "") -> list[str]:
    """Steps as words: chosen, label, unread before, place in the audit's order."""
    words = {True: "in", False: "out", None: "?"}
    return [f"{s.chosen} {words[s.relevant]} {s.unread} {s.place}" for s in trail(found, screener=screener).steps]
