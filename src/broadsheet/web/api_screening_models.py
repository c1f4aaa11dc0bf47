"""The shapes of the API's answers about systematic reviews."""

from __future__ import annotations

from datetime import datetime

from pydantic import BaseModel, Field

from ..model.screening import (
    Chosen,
    Highlight,
    Label,
    Offer,
    Plan,
    PoolRecord,
    PoolSource,
    PoolSummary,
    PossibleRepeat,
    Review,
    ReviewEvent,
    Stage,
    Standing,
    StoppingPlan,
)
from .screening_protocol import ScreenedLike


class CriterionOut(BaseModel):
    """A criterion."""

    code: str
    text: str
    excludes: bool


class StoppingOut(BaseModel):
    """When to stop."""

    rule: str
    target: float
    confidence: float
    advantage: float
    floor: float
    in_a_row: int
    budget: int

    @classmethod
    def of(cls, stopping: StoppingPlan) -> StoppingOut:
        """The answer for a stopping plan."""
        return cls(**{name: getattr(stopping, name) for name in cls.model_fields})


class PlanOut(BaseModel):
    """What a review is about and how it is done."""

    question: str
    criteria: list[CriterionOut]
    description: str
    terms: list[str]
    sharing: str = Field(description="shared or blinded.")
    screeners: list[str]
    stopping: StoppingOut
    model: str
    querier: str
    seed: int

    @classmethod
    def of(cls, plan: Plan) -> PlanOut:
        """The answer for a plan."""
        return cls(
            question=plan.question,
            criteria=[CriterionOut(code=c.code, text=c.text, excludes=c.excludes) for c in plan.criteria],
            description=plan.description,
            terms=list(plan.terms),
            sharing=plan.sharing.value,
            screeners=list(plan.screeners),
            stopping=StoppingOut.of(plan.stopping),
            model=plan.model,
            querier=plan.querier,
            seed=plan.seed,
        )


class ReviewOut(BaseModel):
    """A review."""

    id: int = Field(description="Names it in addresses.")
    name: str
    created: datetime
    plan: PlanOut

    @classmethod
    def of(cls, review: Review) -> ReviewOut:
        """The answer for a review."""
        return cls(id=review.id, name=review.name, created=review.created, plan=PlanOut.of(review.plan))


class StandingOut(BaseModel):
    """Where a review stands at its first stage; `progress` says what its stopping rule makes of that."""

    id: int
    name: str
    records: int = Field(description="To screen; repeats are not counted.")
    read: int
    found: int
    conflicts: int
    last: datetime | None = Field(description="When anything last happened to it.")
    stopped: bool

    @classmethod
    def of(cls, standing: Standing) -> StandingOut:
        """The answer for a standing."""
        values = {name: getattr(standing, name) for name in cls.model_fields if name not in ("id", "name")}
        return cls(id=standing.review.id, name=standing.review.name, **values)


class ReviewsOut(BaseModel):
    """All reviews."""

    reviews: list[ReviewOut]
    standings: list[StandingOut] = Field(description="Of the same reviews, in the same order.")


class RemovedOut(BaseModel):
    """A review that was removed."""

    removed: str


class PoolSummaryOut(BaseModel):
    """What came of filling a pool: entries = added + refused; repeats are of those added."""

    source: str
    entries: int
    added: int
    repeats: int
    refused: int
    labelled: int = Field(description="Came with a label.")
    problems: list[str] = Field(description="What was refused and why, the first few hundred.")

    @classmethod
    def of(cls, summary: PoolSummary) -> PoolSummaryOut:
        """The answer for a summary."""
        values = {name: getattr(summary, name) for name in cls.model_fields if name != "problems"}
        return cls(**values, problems=list(summary.problems))


class PoolSourceOut(BaseModel):
    """An addition to the pool: entries = added + refused."""

    number: int
    source: str = Field(description="The file or search.")
    name: str = Field(description="What it is called in reports.")
    kind: str = Field(description="database, register or other.")
    entries: int
    added: int
    refused: int

    @classmethod
    def of(cls, source: PoolSource) -> PoolSourceOut:
        """The answer for a source."""
        return cls(**{name: getattr(source, name) for name in cls.model_fields})


class PoolSourcesOut(BaseModel):
    """What was added to the pool, in order."""

    sources: list[PoolSourceOut]


class PoolRecordOut(BaseModel):
    """A record to screen, as it came."""

    number: int
    title: str
    abstract: str
    authors: list[str]
    year: int | None
    venue: str
    identifiers: list[str] = Field(description="Such as `doi:10.1000/x`.")
    keywords: list[str]
    url: str
    source: str = Field(description="The file or search that it came from.")
    key: str = Field(description="Its entry there.")
    paper: int = Field(description="The paper of this library, or 0.")
    twin: int = Field(description="The record that it repeats, or 0.")
    note: str = Field(description="What the file noted.")

    @classmethod
    def of(cls, record: PoolRecord) -> PoolRecordOut:
        """The answer for a record."""
        lists = ("authors", "keywords")
        plain = {n: getattr(record, n) for n in cls.model_fields if n not in (*lists, "identifiers")}
        identifiers = [f"{i.scheme.value}:{i.value}" for i in record.identifiers]
        return cls(**plain, authors=list(record.authors), keywords=list(record.keywords), identifiers=identifiers)


class PoolRecordsOut(BaseModel):
    """Records of a pool."""

    records: list[PoolRecordOut]


class PossibleRepeatOut(BaseModel):
    """Two records that may be the same work."""

    record: PoolRecordOut
    other: PoolRecordOut
    likeness: float = Field(description="Of the titles, from 0 to 1.")
    why: str

    @classmethod
    def of(cls, pair: PossibleRepeat) -> PossibleRepeatOut:
        """The answer for a pair."""
        first, second = PoolRecordOut.of(pair.record), PoolRecordOut.of(pair.other)
        return cls(record=first, other=second, likeness=pair.likeness, why=pair.why)


class PossibleRepeatsOut(BaseModel):
    """Pairs that may be the same work, surest first."""

    pairs: list[PossibleRepeatOut]
    next: int | None = Field(description="The `offset` of the next part, or null.")


class HighlightOut(BaseModel):
    """A span of a text."""

    start: int = Field(description="In characters, from 0.")
    end: int
    weight: float = Field(description="Above 0 it speaks for inclusion, below against.")
    origin: str = Field(description="reader, model or sentence.")

    @classmethod
    def of(cls, highlight: Highlight) -> HighlightOut:
        """The answer for a highlight."""
        return cls(start=highlight.start, end=highlight.end, weight=highlight.weight, origin=highlight.origin)


class OfferOut(BaseModel):
    """A record to decide, and how it was chosen."""

    record: PoolRecordOut
    chosen: str = Field(description="ranked, audit, random or manual.")
    model: str = Field(description="The version of the ranking.")
    place: int = Field(
        description="Its place in the ranking among the `unread`, 0 the top; both are 0 where it was not ranked."
    )
    unread: int
    title_highlights: list[HighlightOut]
    abstract_highlights: list[HighlightOut]

    @classmethod
    def of(cls, offer: Offer) -> OfferOut:
        """The answer for an offer."""
        return cls(
            record=PoolRecordOut.of(offer.record),
            chosen=offer.chosen.value,
            model=offer.model,
            place=offer.place,
            unread=offer.unread,
            title_highlights=[HighlightOut.of(h) for h in offer.title_highlights],
            abstract_highlights=[HighlightOut.of(h) for h in offer.abstract_highlights],
        )


class NextOut(BaseModel):
    """What to decide next."""

    offer: OfferOut | None = Field(description="null where nothing is left, or where an audit is due.")
    audit_due: bool = Field(
        description="Whether an audit is to be begun first, by `POST …/audit`, which answers with its first record."
    )

    @classmethod
    def of(cls, offer: Offer | None, *, audit_due: bool = False) -> NextOut:
        """The answer for what comes next."""
        return cls(offer=OfferOut.of(offer) if offer else None, audit_due=audit_due)


class ReviewEventOut(BaseModel):
    """Something that happened to a review."""

    id: int
    kind: str
    screener: str
    moment: datetime
    record: int
    stage: str
    label: str | None
    chosen: str | None
    reasons: list[str]
    note: str
    other: int = Field(description="The record that it repeats, for `twin`.")
    undoes: int = Field(description="The event that it takes back, or 0.")
    model: str
    place: int
    unread: int
    detail: str = Field(description="JSON, or empty.")

    @classmethod
    def of(cls, event: ReviewEvent) -> ReviewEventOut:
        """The answer for an event."""
        values = {name: getattr(event, name) for name in cls.model_fields if name != "reasons"}
        return cls(**values, reasons=list(event.reasons))


class UndoneOut(BaseModel):
    """What was taken back."""

    event: ReviewEventOut | None = Field(description="null where there was nothing to take back.")


class ReviewHistoryOut(BaseModel):
    """What happened, oldest first."""

    events: list[ReviewEventOut]
    next: int | None = Field(description="The `after` of the next part, or null.")


class ScreenedOut(BaseModel):
    """A record and what was decided of it, as the reader may see it."""

    record: PoolRecordOut
    label: str | None = Field(description="The final one of its group, or null.")
    own: str | None = Field(description="The reader's own.")
    conflict: bool
    prior: bool = Field(description="Whether it was known before screening.")
    twins: list[int] = Field(description="The others of its group.")
    reasons: list[str]
    note: str

    @classmethod
    def of(cls, found: ScreenedLike) -> ScreenedOut:
        """The answer for a record."""
        return cls(
            record=PoolRecordOut.of(found.record),
            label=_word(found.label),
            own=_word(found.own),
            conflict=found.conflict,
            prior=found.prior,
            twins=list(found.twins),
            reasons=list(found.reasons),
            note=found.note,
        )


def _word(label: Label | Chosen | Stage | None) -> str | None:
    return label.value if label else None


class ScreenedPageOut(BaseModel):
    """Records of a pool by number."""

    records: list[ScreenedOut]
    next: int | None = Field(description="The `after` of the next part, or null.")
