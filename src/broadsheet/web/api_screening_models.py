"""The shapes of the API's answers about systematic reviews."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime

from pydantic import BaseModel, Field

from ..model.screening import (
    Agreement,
    Chosen,
    Conflict,
    Highlight,
    Label,
    Offer,
    Plan,
    PoolRecord,
    PoolSummary,
    PrismaCounts,
    Review,
    ReviewEvent,
    ReviewProgress,
    Stage,
    StoppingPlan,
    StopReport,
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


class ReviewsOut(BaseModel):
    """All reviews."""

    reviews: list[ReviewOut]


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

    offer: OfferOut | None = Field(description="null where nothing is left.")

    @classmethod
    def of(cls, offer: Offer | None) -> NextOut:
        """The answer for what comes next."""
        return cls(offer=OfferOut.of(offer) if offer else None)


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


class StopReportOut(BaseModel):
    """What a stopping rule says."""

    rule: str
    guarantee: str = Field(description="distribution-free, under a stated assumption, or no guarantee.")
    stop: bool
    sentence: str
    target: float
    confidence: float
    recall: float | None = Field(description="Lower bound; null where no estimate is possible.")
    missing: int | None = Field(description="Upper bound on relevant records unread.")
    further: int | None = Field(description="About so many more to read until the target, if nothing more is found.")
    assumption: str
    refuted: bool = Field(description="Whether the audit has refuted the assumption.")
    advantage: float | None = Field(description="How many times better than random the audit's finds say it is.")
    advantage_interval: list[float] | None = Field(description="Its 95 % interval: low, high.")
    wants: str = Field(description="What should be read next: ranked, audit or empty.")

    @classmethod
    def of(cls, report: StopReport) -> StopReportOut:
        """The answer for a report."""
        values = {name: getattr(report, name) for name in cls.model_fields if name != "advantage_interval"}
        interval = list(report.advantage_interval) if report.advantage_interval else None
        return cls(**values, advantage_interval=interval)


class CurvePointOut(BaseModel):
    """A point of the curve."""

    read: int
    found: int
    recall: float | None = Field(description="Lower bound then.")


class ReviewProgressOut(BaseModel):
    """Where screening stands; in a blinded review that of the reader."""

    stage: str
    records: int = Field(description="To screen; repeats are not counted.")
    repeats: int
    read: int = Field(description="With a final label.")
    found: int
    later: int
    conflicts: int
    phase: str = Field(description="ranked, audit or done.")
    report: StopReportOut = Field(description="Of the declared rule.")
    others: list[StopReportOut] = Field(description="Of other rules, for comparison.")
    curve: list[CurvePointOut]
    methods: str = Field(description="A sentence for a paper's methods section.")
    model: str
    training: bool

    @classmethod
    def of(cls, progress: ReviewProgress) -> ReviewProgressOut:
        """The answer for progress."""
        plain = ("records", "repeats", "read", "found", "later", "conflicts", "phase", "methods", "model", "training")
        return cls(
            **{name: getattr(progress, name) for name in plain},
            stage=progress.stage.value,
            report=StopReportOut.of(progress.report),
            others=[StopReportOut.of(report) for report in progress.others],
            curve=[CurvePointOut(read=p.read, found=p.found, recall=p.recall) for p in progress.curve],
        )


class ConflictOut(BaseModel):
    """A record that screeners decided differently."""

    record: PoolRecordOut
    stage: str
    decisions: list[ReviewEventOut]

    @classmethod
    def of(cls, conflict: Conflict) -> ConflictOut:
        """The answer for a conflict."""
        return cls(
            record=PoolRecordOut.of(conflict.record),
            stage=conflict.stage.value,
            decisions=[ReviewEventOut.of(event) for event in conflict.decisions],
        )


class ConflictsOut(BaseModel):
    """Conflicts that the reader may see."""

    conflicts: list[ConflictOut]


class AgreementOut(BaseModel):
    """How far two screeners agree."""

    first: str
    second: str
    both: int = Field(description="Records that both decided.")
    agreed: float | None
    kappa: float | None = Field(description="Cohen's; null where it cannot be said.")
    interval: list[float] | None = Field(description="Its 95 % interval: low, high.")

    @classmethod
    def of(cls, agreement: Agreement) -> AgreementOut:
        """The answer for an agreement."""
        values = {name: getattr(agreement, name) for name in cls.model_fields if name != "interval"}
        return cls(**values, interval=list(agreement.interval) if agreement.interval else None)


class AgreementsOut(BaseModel):
    """How far each two screeners agree."""

    pairs: list[AgreementOut]


class CountedOut(BaseModel):
    """A name and a number."""

    name: str
    count: int


class PrismaOut(BaseModel):
    """The numbers of the PRISMA 2020 flow diagram."""

    identified: list[CountedOut] = Field(description="By source.")
    duplicates: int
    removed_other: int = Field(description="Entries that could not be screened: without title and abstract.")
    not_screened: int = Field(description="Unread when screening stopped.")
    screened: int
    excluded: int
    sought: int
    not_retrieved: int
    assessed: int
    reasons: list[CountedOut] = Field(description="Exclusions at full text by reason.")
    included: int

    @classmethod
    def of(cls, counts: PrismaCounts) -> PrismaOut:
        """The answer for the numbers."""
        return cls(
            **{n: getattr(counts, n) for n in cls.model_fields if n not in ("identified", "reasons")},
            identified=_counted(dict(counts.identified)),
            reasons=_counted(dict(counts.reasons)),
        )


def _counted(counts: Mapping[str, int]) -> list[CountedOut]:
    return [CountedOut(name=name, count=count) for name, count in counts.items()]
