"""What a screener may see of a review's records and history, and how the choice of a record is carried by a form."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import islice
from typing import TYPE_CHECKING

from broadsheet.errors import InputError, NotFoundError
from broadsheet.identifiers import find_identifiers, parse_identifier
from broadsheet.model import Identifier
from broadsheet.model.screening import (
    Chosen,
    Label,
    Offer,
    PoolRecord,
    RecordNumber,
    ReviewEvent,
    ReviewEventKind,
    Stage,
    Standing,
)

if TYPE_CHECKING:
    from broadsheet.screen.state import State

EXPORT_FORMS = ("record", "ris", "bib", "csv", "tsv", "xlsx", "json")
"""What ``export`` writes: ``record`` is JSON Lines of everything, ``json`` a list of records with their decisions."""
LABELS = ("", "include", "exclude", "later", "unread", "conflict", "prior", "repeat")
"""What ``records`` can be narrowed to; "" is all."""


@dataclass(frozen=True, slots=True)
class Screened:
    """A record and how it stands, as far as its viewer may know.

    ``label`` is the final one, None where there is none or it may not be seen; ``own`` is the viewer's last decision.
    ``twins`` are the numbers of the records that it repeats or that repeat it. ``reasons`` and ``note`` are those of
    the decision that counts, else of the viewer's own.
    """

    record: PoolRecord
    label: Label | None = None
    own: Label | None = None
    conflict: bool = False
    prior: bool = False
    twins: tuple[RecordNumber, ...] = ()
    reasons: tuple[str, ...] = ()
    note: str = ""


def offer_token(offer: Offer) -> str:
    """How a record was chosen, as one word for a form or a command line."""
    return f"{offer.chosen}:{offer.place}:{offer.unread}:{offer.model}"


def parsed_token(token: str) -> tuple[Chosen, int, int, str]:
    """(how chosen, place, unread, model) of a token. Raises InputError for what ``offer_token`` did not make."""
    parts = token.split(":", 3)
    try:
        chosen, place, unread = Chosen(parts[0]), int(parts[1]), int(parts[2])
        if chosen is Chosen.PRIOR or not 0 <= place <= unread < 10**9:
            raise ValueError
        return chosen, place, unread, parts[3]
    except (ValueError, IndexError):
        raise InputError(f"offer: {token!r} does not say how a record was chosen; give it as `next` does") from None


class View:
    """A review's records at a stage as a viewer may see them; "" sees all."""

    def __init__(self, state: State, stage: Stage, viewer: str) -> None:
        self._state, self._stage, self._viewer = state, stage, viewer
        self._conflicts = conflicts(state, stage, viewer)

    def one(self, number: RecordNumber) -> Screened:
        """A record. Raises NotFoundError for a number that no record has."""
        record = self._state.records.get(number)
        if record is None:
            count = len(self._state.records)
            raise NotFoundError(f"the review {self._state.review.name!r} has no record {number}; it has {count:,}")
        return self._of(record)

    def find(self, label: str, query: str, limit: int, after: RecordNumber) -> list[Screened]:
        """The first records after a number with a label of ``LABELS`` and all words of a query in their texts, or with
        the identifier that it is."""
        held, words = self._state.records, query.casefold().split()
        identifiers = identifiers_in(query)
        pool = (held[number] for number in range(max(after, 0) + 1, len(held) + 1))
        if self._stage is Stage.FULL_TEXT:
            second = set(self._state.pool(self._stage))
            pool = (record for record in pool if self._state.group(record.number) in second)
        found = (
            self._of(record)
            for record in pool
            if not words or _mentions(record, words) or identifiers.intersection(record.identifiers)
        )
        return list(islice((each for each in found if not label or _has(each, label)), limit))

    def _of(self, record: PoolRecord) -> Screened:
        state, stage, number = self._state, self._stage, record.number
        own = state.own(number, stage, self._viewer) if self._viewer else None
        seen = may_see(state, number, stage, self._viewer)
        decided = (state.deciding(number, stage) if seen else None) or own
        members = state.members(number)
        return Screened(
            record=record,
            label=state.final(number, stage, "" if seen else self._viewer),
            own=own.label if own else None,
            conflict=members[0] in self._conflicts,
            prior=state.is_prior(number) if seen else self._is_known(members[0]),
            twins=tuple(each for each in members if each != number),
            reasons=decided.reasons if decided else (),
            note=decided.note if decided else record.note,
        )

    def _is_known(self, first: RecordNumber) -> bool:
        """Whether a group's label was known before screening, as far as the viewer can tell."""
        step = self._state.track(Stage.ABSTRACT, self._viewer).of.get(first)
        return step is not None and step.chosen is Chosen.PRIOR


def standing(state: State) -> Standing:
    """How far the first stage of a whole review is."""
    track = state.track()
    return Standing(
        review=state.review,
        records=len(state.groups),
        repeats=len(state.records) - len(state.groups),
        read=len(track.of),
        found=track.included,
        conflicts=len(track.conflicts),
        last=state.events[-1].moment,
        stopped=state.is_stopped(Stage.ABSTRACT),
    )


def may_see(state: State, number: RecordNumber, stage: Stage, viewer: str) -> bool:
    """Whether a viewer may know what others decided of a record: a blinded screener only where that one decided, too,
    or its conflict was resolved for all. A label that was known before screening is no decision.
    """
    if not (state.is_blinded and viewer):
        return True
    own = state.own(number, stage, viewer)
    if own is not None and own.chosen is not Chosen.PRIOR and own.label is not Label.LATER:
        return True
    return any(event.kind is ReviewEventKind.RESOLVE for event in state.decisions(number, stage))


def conflicts(state: State, stage: Stage, viewer: str) -> set[RecordNumber]:
    """The first records of groups in conflict that a viewer may know of."""
    return {group for group in state.conflicts(stage, viewer) if may_see(state, group, stage, viewer)}


def identifiers_in(query: str) -> set[Identifier]:
    """The identifier that a query is, or those in an address that it is."""
    parsed = parse_identifier(query.strip())
    return {parsed[0]} if parsed else set(find_identifiers(query))


def _mentions(record: PoolRecord, words: Sequence[str]) -> bool:
    text = " ".join((record.title, record.abstract, *record.authors, record.venue, *record.keywords)).casefold()
    return all(word in text for word in words)


def _has(found: Screened, label: str) -> bool:
    repeats = found.record.number > min(found.twins, default=found.record.number)
    if label == "repeat":
        return repeats
    if label == "conflict":
        return found.conflict
    if label == "prior":
        return found.prior
    stands = found.label or found.own
    if label == "unread":
        return stands is None and not repeats and not found.conflict
    return stands == label


def visible_history(state: State, number: RecordNumber | None, viewer: str) -> list[ReviewEvent]:
    """Those of a review's events, or of a record's, that a viewer may see, oldest first."""
    events = state.events if number is None else state.history(number)
    return [event for event in events if state.visible(event, viewer) and not _is_hidden(state, event, viewer)]


def _is_hidden(state: State, event: ReviewEvent, viewer: str) -> bool:
    """Whether an event is another's decision, or takes back one, of a record that the viewer may not know about yet."""
    if event.screener == viewer:
        return False
    if event.kind is ReviewEventKind.UNDO:
        target = state.event(event.undoes)
        return target is not None and target.id < event.id and _is_hidden(state, target, viewer)
    if event.kind is not ReviewEventKind.DECIDE or event.chosen is Chosen.PRIOR or event.record not in state.records:
        return False
    return not may_see(state, event.record, event.stage, viewer)


def repeated(state: State, event: ReviewEvent) -> ReviewEvent | None:
    """The decision that a new one only repeats, such as a form that was sent twice; None where it says anything new."""
    who, stage, number = event.screener, event.stage, event.record
    held = state.own(number, stage, who) if state.is_blinded else next(reversed(state.decisions(number, stage)), None)
    if held is None or held.kind is not event.kind or held.chosen is Chosen.PRIOR:
        return None
    same = ("screener", "record", "label", "reasons", "note")
    return held if all(getattr(held, name) == getattr(event, name) for name in same) else None
