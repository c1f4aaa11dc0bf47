"""What the API takes about systematic reviews."""

from __future__ import annotations

from typing import Any, Literal

from pydantic import BaseModel, ConfigDict, Field

from ..model.screening import STOPPING_RULES, Criterion, Sharing

LabelWord = Literal["include", "exclude", "later"]
FinalWord = Literal["include", "exclude"]
StageWord = Literal["abstract", "full-text"]
ModeWord = Literal["auto", "ranked", "audit", "random"]
ChosenWord = Literal["ranked", "audit", "random", "manual"]
RecordNumber = int


class _In(BaseModel):
    model_config = ConfigDict(extra="forbid")


class CriterionIn(_In):
    """A criterion."""

    code: str = Field(min_length=1, max_length=20, description="Short and unique; what a reason refers to.")
    text: str = Field(max_length=2_000)
    excludes: bool = Field(True, description="Whether it is a reason to exclude.")


class StoppingIn(_In):
    """When to stop; what is left out stays as it is."""

    rule: str | None = Field(None, description=f"{', '.join(STOPPING_RULES)}, or two joined by `and` or `or`.")
    target: float | None = Field(None, description="Recall to reach, in (0, 1).")
    confidence: float | None = Field(None, description="In (0, 1).")
    advantage: float | None = Field(None, description="b of the assumption, at least 1.")
    floor: float | None = Field(None, description="Recall that must hold without the assumption, in (0, 1).")
    in_a_row: int | None = Field(None, description="Irrelevant records in a row.")
    budget: int | None = Field(None, description="Records.")


class PlanIn(_In):
    """Changes of a plan; what is left out stays as it is."""

    question: str | None = Field(None, max_length=20_000)
    criteria: list[CriterionIn] | None = None
    description: str | None = Field(None, max_length=20_000, description="What is looked for, in words.")
    terms: list[str] | None = Field(None, description="Words to highlight; with a minus those that speak against.")
    sharing: Literal["shared", "blinded"] | None = None
    screeners: list[str] | None = Field(None, description="Readers who decide; empty means anybody.")
    model: str | None = Field(None, description="A composition of the ranking; empty is the default.")
    querier: str | None = None
    seed: int | None = Field(None, description="Decides all that is random.")
    stopping: StoppingIn | None = None

    def changes(self) -> dict[str, Any]:
        """Fields of ``Plan`` and of ``StoppingPlan`` that are given."""
        found: dict[str, Any] = self.model_dump(exclude_none=True, exclude={"stopping", "criteria"})
        found |= {name: tuple(found[name]) for name in ("terms", "screeners") if name in found}
        if "sharing" in found:
            found["sharing"] = Sharing(found["sharing"])
        if self.criteria is not None:
            found["criteria"] = tuple(Criterion(c.code, c.text, c.excludes) for c in self.criteria)
        return found | (self.stopping.model_dump(exclude_none=True) if self.stopping else {})


class ReviewIn(_In):
    """A review to begin."""

    name: str = Field(min_length=1, max_length=200)
    plan: PlanIn | None = None


class SearchFillIn(_In):
    """Records to add from a search of this library, or from a saved one."""

    query: str = Field("", max_length=32_000, description="In the syntax of the search box.")
    saved: int | None = Field(None, ge=1, description="Instead of a query: the number of a saved search.")
    limit: int = Field(1_000, ge=1, le=100_000)


class PapersFillIn(_In):
    """Papers of this library to add."""

    papers: list[int | str] = Field(min_length=1, max_length=10_000, description="Numbers, or any identifiers.")


class PriorIn(_In):
    """What is known of records before they are screened."""

    records: list[RecordNumber] = Field(min_length=1, max_length=500)
    label: FinalWord
    stage: StageWord = "abstract"


class DecisionIn(_In):
    """A decision; what the offer said of how the record was chosen goes back with it."""

    record: RecordNumber = Field(ge=1)
    label: LabelWord
    stage: StageWord = "abstract"
    reasons: list[str] = Field([], max_length=50, description="Codes of criteria.")
    note: str = Field("", max_length=20_000)
    chosen: ChosenWord = Field("manual", description="As the offer said; `manual` is no evidence for stopping.")
    place: int = Field(0, ge=0)
    unread: int = Field(0, ge=0)
    model: str = Field("", max_length=200)


class ResolutionIn(_In):
    """The decision on a conflict."""

    record: RecordNumber = Field(ge=1)
    label: FinalWord
    stage: StageWord = "abstract"
    reasons: list[str] = Field([], max_length=50)
    note: str = Field("", max_length=20_000)


class UndoIn(_In):
    """What to take back."""

    event: int | None = Field(None, ge=1, description="The event; without it the last decision.")


class TwinIn(_In):
    """Records that are the same work."""

    record: RecordNumber = Field(ge=1)
    other: RecordNumber | None = Field(None, ge=1, description="What it repeats; without it, it repeats nothing.")


class StageIn(_In):
    """A stage of screening."""

    stage: StageWord = "abstract"
