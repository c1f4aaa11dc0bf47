"""What the API tells of how a systematic review stands: progress, conflicts, agreement and the flow diagram."""

from __future__ import annotations

from collections.abc import Mapping

from pydantic import BaseModel, Field

from ..model.screening import Agreement, Conflict, PrismaCounts, ReviewProgress, StopReport
from .api_screening_models import PoolRecordOut, ReviewEventOut


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
    superseded: str = Field(description="What happened after the statement that was kept on stopping; else empty.")
    model: str
    training: bool

    @classmethod
    def of(cls, progress: ReviewProgress) -> ReviewProgressOut:
        """The answer for progress."""
        own = ("stage", "report", "others", "curve")
        return cls(
            **{name: getattr(progress, name) for name in cls.model_fields if name not in own},
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
    kinds: list[str] = Field(description="Of each of these: database, register or other.")
    duplicates: int
    removed_other: int = Field(description="Entries that could not be screened: without title and abstract.")
    not_screened: int = Field(description="Removed before screening: left unread.")
    unread_because: str = Field(description="Why they are left unread, such as the stopping rule; empty for none.")
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
            **{n: getattr(counts, n) for n in cls.model_fields if n not in ("identified", "kinds", "reasons")},
            identified=[CountedOut(name=name, count=count) for name, count in counts.identified],
            kinds=list(counts.kinds or ("database",) * len(counts.identified)),
            reasons=_counted(dict(counts.reasons)),
        )


def _counted(counts: Mapping[str, int]) -> list[CountedOut]:
    return [CountedOut(name=name, count=count) for name, count in counts.items()]
