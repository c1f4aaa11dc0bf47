"""Desks of small pools about statins and soil, and how they are read, for the tests of the screening desk."""

from __future__ import annotations

from dataclasses import replace

from broadsheet.model.screening import (
    Label,
    Offer,
    Plan,
    PoolRecord,
    ReviewEvent,
    Stage,
    StoppingPlan,
)
from broadsheet.screen import Desk
from tests.screen_makers import START, event, records, review, told

IN, OUT, LATER = Label.INCLUDE, Label.EXCLUDE, Label.LATER
FREE = Plan(stopping=StoppingPlan(rule="distribution-free", target=0.8))


def pool(count: int, relevant: frozenset[int] | None = None) -> list[PoolRecord]:
    """Records about statins where they are relevant and about soil where they are not."""
    relevant = frozenset(range(5, count + 1, 8)) if relevant is None else relevant
    words = ("moss", "clay", "sand", "peat", "loam", "silt", "rock")
    made = []
    for record in records(count):
        word = words[record.number % 7]
        about = (
            f"Statins lower cholesterol, {word} trial" if record.number in relevant else f"The soil of {word} fields"
        )
        made.append(replace(record, title=about, abstract=f"We studied {about.lower()} in {record.number} plots."))
    return made


def is_relevant(record: PoolRecord) -> bool:
    return "Statins" in record.title


def desk(*lines: str, plan: Plan | None = None, of: list[PoolRecord] | None = None) -> Desk:
    return Desk(review(plan), of or pool(40), told(*lines), background=False)


def decide(at: Desk, offer: Offer, label: Label, screener: str = "ann", stage: Stage = Stage.ABSTRACT) -> ReviewEvent:
    made = event(
        at.state.last_event + 1,
        "decide",
        screener,
        record=offer.record.number,
        label=label,
        chosen=offer.chosen,
        model=offer.model,
        place=offer.place,
        unread=offer.unread,
        stage=stage,
    )
    at.check(made)
    at.refresh([made])
    return made


def read(at: Desk, count: int, screener: str = "ann") -> list[ReviewEvent]:
    """Reads as the desk wants it and decides by what is true; gives the events."""
    events = []
    for _ in range(count):
        begun = at.due(screener, Stage.ABSTRACT, START)
        if begun is not None:
            events.append(replace(begun, id=at.state.last_event + 1))
            at.refresh(events[-1:])
        offer = at.offer(screener)
        if offer is None:
            break
        events.append(decide(at, offer, IN if is_relevant(offer.record) else OUT, screener))
    return events


def some(offer: Offer | None) -> Offer:
    assert offer is not None
    return offer
