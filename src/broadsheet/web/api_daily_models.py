"""The shapes of the API's answers about the daily paper, and of what it takes."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import date, datetime
from typing import Literal

from pydantic import BaseModel, ConfigDict, Field

from ..model.reading import (
    Edition,
    Entry,
    Event,
    Interest,
    InterestCentre,
    InterestKind,
    MemoryView,
    Reader,
    Reason,
    RememberedPaper,
    SavedSearch,
    Section,
    Today,
)
from .api_models import PaperOut

Marking = Literal["open", "save", "like", "dismiss"]
Kind = Literal["keyword", "author", "area", "venue"]


class _In(BaseModel):
    model_config = ConfigDict(extra="forbid")


class InterestIn(_In):
    """Something to follow or to mute."""

    kind: Kind = Field(description="What sort of thing it is.")
    value: str = Field(min_length=1, max_length=500, description="A word or phrase, a name, `cs.LG`, `ICML`.")

    def interest(self) -> Interest:
        """The interest."""
        return Interest(InterestKind(self.kind), self.value)


class EventIn(_In):
    """Something that a reader did with a paper."""

    action: Marking = Field(description="open, save, like or dismiss.")
    paper: int | str = Field(description="The paper's number, or any identifier of it.")
    because: InterestIn | None = Field(None, description="Why it is dismissed; what is named is muted from then on.")
    edition: date | None = Field(None, description="Day of the edition in which the paper stood.")


class SearchIn(_In):
    """A question to keep."""

    query: str = Field(min_length=1, max_length=32_000, description="In the syntax of the search box.")
    name: str = Field("", max_length=200, description="A name for it; may be empty.")


class InterestOut(BaseModel):
    """Something that is followed or muted."""

    kind: str = Field(description="keyword, author, area or venue.")
    value: str

    @classmethod
    def of(cls, interest: Interest) -> InterestOut:
        """The answer for an interest."""
        return cls(kind=interest.kind, value=interest.value)


class SavedSearchOut(BaseModel):
    """A saved search."""

    id: int
    name: str
    query: str
    created: datetime

    @classmethod
    def of(cls, search: SavedSearch) -> SavedSearchOut:
        """The answer for a saved search."""
        return cls(id=search.id, name=search.name, query=search.query, created=search.created)


class ProfileOut(BaseModel):
    """What a reader decided; addresses and secrets stay with the library."""

    reader: str
    follows: list[InterestOut]
    mutes: list[InterestOut]
    searches: list[SavedSearchOut]
    risk: float = Field(description="In [0, 0.5]: the share of entries the reader is ready to reject for discoveries.")
    emphasis: dict[str, float] = Field(description="What the weights of parts of the score are multiplied by.")

    @classmethod
    def of(cls, reader: Reader) -> ProfileOut:
        """The answer for a reader's profile."""
        profile = reader.profile
        return cls(
            reader=reader.name,
            follows=[InterestOut.of(interest) for interest in profile.follows],
            mutes=[InterestOut.of(interest) for interest in profile.mutes],
            searches=[SavedSearchOut.of(search) for search in profile.searches],
            risk=profile.risk,
            emphasis=dict(profile.emphasis),
        )


class ReasonOut(BaseModel):
    """Why a paper is in an edition."""

    kind: str = Field(
        description="author, area, venue, keyword, search, similar, words, notice, usual, variety, discovery or newest."
    )
    text: str
    weight: float = Field(description="Its share of the score, from 0.")
    papers: list[int] = Field(description="The papers it speaks of, such as saved ones.")

    @classmethod
    def of(cls, reason: Reason) -> ReasonOut:
        """The answer for a reason."""
        return cls(kind=reason.kind, text=reason.text, weight=reason.weight, papers=list(reason.papers))


class EntryOut(BaseModel):
    """A paper as it was printed."""

    paper: PaperOut
    score: float
    parts: dict[str, float] = Field(description="The parts of the score.")
    reasons: list[ReasonOut]
    propensity: float = Field(description="In (0, 1]: the probability with which it was put there.")
    explored: bool = Field(description="Whether it is a discovery.")

    @classmethod
    def of(cls, entry: Entry) -> EntryOut:
        """The answer for an entry."""
        return cls(
            paper=PaperOut.of(entry.paper),
            score=entry.score,
            parts=dict(entry.parts),
            reasons=[ReasonOut.of(reason) for reason in entry.reasons],
            propensity=entry.propensity,
            explored=entry.explored,
        )


class SectionOut(BaseModel):
    """A part of an edition."""

    kind: str = Field(description="front, area, search, elsewhere or discovery.")
    key: str = Field(description="The same from day to day; also the name of the section's feed.")
    title: str
    entries: list[EntryOut]

    @classmethod
    def of(cls, section: Section) -> SectionOut:
        """The answer for a section."""
        entries = [EntryOut.of(entry) for entry in section.entries]
        return cls(kind=section.kind, key=section.key, title=section.title, entries=entries)


class EditionOut(BaseModel):
    """One reader's paper of one day; once printed it does not change."""

    reader: str
    day: date
    made: datetime
    since: date | None = Field(description="The announcements it covers begin after this day; null for the first.")
    through: date = Field(description="The last day of announcements that it covers.")
    sections: list[SectionOut]
    considered: int = Field(description="How many papers it was chosen from.")
    basis: str = Field(description="What the ranking went by: memory, profile or nothing.")
    notes: list[str] = Field(description="Sentences for the reader.")
    risk: float = Field(description="The declared risk of its discoveries.")
    cap: float = Field(description="The cap on the likelihood ratio of its discoveries.")

    @classmethod
    def of(cls, edition: Edition) -> EditionOut:
        """The answer for an edition."""
        return cls(
            reader=edition.reader,
            day=edition.day,
            made=edition.made,
            since=edition.since,
            through=edition.through,
            sections=[SectionOut.of(section) for section in edition.sections],
            considered=edition.considered,
            basis=edition.basis,
            notes=list(edition.notes),
            risk=edition.risk,
            cap=edition.cap,
        )


class TodayOut(BaseModel):
    """What there is to read now."""

    edition: EditionOut | None = Field(description="The newest edition; null where none could be printed yet.")
    is_new: bool = Field(description="Whether it is today's.")
    note: str = Field(description="What there is to say of today, such as that nothing is announced on weekends.")
    expected: datetime | None = Field(description="When the next announcement is expected.")

    @classmethod
    def of(cls, today: Today) -> TodayOut:
        """The answer for today."""
        return cls(
            edition=EditionOut.of(today.edition) if today.edition else None,
            is_new=today.is_new,
            note=today.note,
            expected=today.expected,
        )


class EditionsOut(BaseModel):
    """Days that have an edition."""

    days: list[date] = Field(description="The newest first.")


class EventOut(BaseModel):
    """Something that a reader did."""

    id: int
    action: str
    paper: int = Field(description="0 where it is about no paper.")
    moment: datetime
    because: InterestOut | None
    edition: date | None
    undoes: int = Field(description="The event that an undo takes back; else 0.")

    @classmethod
    def of(cls, event: Event) -> EventOut:
        """The answer for an event."""
        return cls(
            id=event.id,
            action=event.action,
            paper=event.paper,
            moment=event.moment,
            because=InterestOut.of(event.because) if event.because else None,
            edition=event.edition,
            undoes=event.undoes,
        )


class DoneOut(BaseModel):
    """What was done, and what holds of the paper now."""

    event: EventOut | None = Field(description="Null where there was nothing to take back.")
    paper: int = Field(description="The paper it is about; 0 for none.")
    marks: dict[str, int] = Field(description="What holds of the paper: save, like or dismiss, each with its event.")

    @classmethod
    def of(cls, event: Event | None, paper: int, marks: Mapping[str, int]) -> DoneOut:
        """The answer for an event."""
        return cls(event=EventOut.of(event) if event else None, paper=paper, marks=dict(marks))


class WeightOut(BaseModel):
    """A word, an author or an area, and its weight."""

    name: str
    weight: float

    @classmethod
    def of(cls, weight: tuple[str, float]) -> WeightOut:
        """The answer for a weight."""
        return cls(name=weight[0], weight=weight[1])


class RememberedOut(BaseModel):
    """A paper in the memory."""

    paper: int
    title: str
    traces: list[float] = Field(description="In [-1, 1]: over days, a month, a year.")
    action: str = Field(description="What was done with it last.")
    moment: datetime

    @classmethod
    def of(cls, found: RememberedPaper) -> RememberedOut:
        """The answer for a remembered paper."""
        traces = list(found.traces)
        return cls(paper=found.paper, title=found.title, traces=traces, action=found.action, moment=found.moment)


class CentreOut(BaseModel):
    """One of a reader's topics."""

    words: list[str] = Field(description="Words that tell it apart.")
    papers: list[int]
    share: float = Field(description="In [0, 1]: its share of the memory.")

    @classmethod
    def of(cls, centre: InterestCentre) -> CentreOut:
        """The answer for a topic."""
        return cls(words=list(centre.words), papers=list(centre.papers), share=centre.share)


class MemoryOut(BaseModel):
    """What the paper thinks a reader likes."""

    reader: str
    events: int
    papers: list[RememberedOut]
    centres: list[CentreOut]
    words: list[WeightOut]
    authors: list[WeightOut]
    areas: list[WeightOut]
    parts: dict[str, float] = Field(description="Weights of the parts of the score.")
    size: int = Field(description="Of the stored state, in bytes.")

    @classmethod
    def of(cls, view: MemoryView) -> MemoryOut:
        """The answer for a memory."""
        return cls(
            reader=view.reader,
            events=view.events,
            papers=[RememberedOut.of(paper) for paper in view.papers],
            centres=[CentreOut.of(centre) for centre in view.centres],
            words=[WeightOut.of(weight) for weight in view.words],
            authors=[WeightOut.of(weight) for weight in view.authors],
            areas=[WeightOut.of(weight) for weight in view.areas],
            parts=dict(view.parts),
            size=view.size,
        )
