"""What the API takes about systematic reviews.

Programs are told what is wrong, and with which field: a control character, a wrong kind of value, a field that there is
not. (A form of the site is cleaned instead: its text was typed or pasted by a person.)
"""

from __future__ import annotations

import unicodedata
from typing import Annotated, Any, Literal

from pydantic import AfterValidator, BaseModel, ConfigDict, Field, model_validator
from pydantic_core import PydanticCustomError

from ..model.screening import STOPPING_RULES, Criterion, Sharing
from .params import MAX_ID, clean

LabelWord = Literal["include", "exclude", "later"]
HeldWord = Literal["include", "exclude", "later", "unread"]
FinalWord = Literal["include", "exclude"]
StageWord = Literal["abstract", "full-text"]
ModeWord = Literal["auto", "ranked", "audit", "random"]
KindWord = Literal["database", "register", "other"]
ChosenWord = Literal["ranked", "audit", "random", "manual"]


def one_line(text: str) -> str:
    """A text without control characters, trimmed. Raises PydanticCustomError naming the first one."""
    return _without_control(text, "")


def lines(text: str) -> str:
    """A text whose only control characters are the ends of its lines and tabs, trimmed."""
    return _without_control(text.replace("\r\n", "\n"), "\n\t")


def _without_control(text: str, let: str) -> str:
    for place, character in enumerate(text, 1):
        if unicodedata.category(character) in ("Cc", "Cs") and character not in let:
            raise PydanticCustomError(
                "control_character",
                "has the control character U+{code} at place {place}; leave it out",
                {"code": f"{ord(character):04X}", "place": place},
            )
    return text.strip()


Line = Annotated[str, AfterValidator(one_line)]
Text = Annotated[str, Field(max_length=20_000), AfterValidator(lines)]
Code = Annotated[str, Field(min_length=1, max_length=40), AfterValidator(one_line)]
Name = Annotated[str, Field(min_length=1, max_length=200), AfterValidator(one_line)]
Known = Annotated[str, Field(max_length=200), AfterValidator(one_line)]
Number = Annotated[int, Field(ge=1, le=MAX_ID)]


class _In(BaseModel):
    """Values must be of the kind that is asked for: ``true`` is no number, nor is ``"3"``."""

    model_config = ConfigDict(extra="forbid", strict=True)

    @model_validator(mode="before")
    @classmethod
    def _only_known(cls, given: Any) -> Any:
        unknown = sorted(set(given) - set(cls.model_fields)) if isinstance(given, dict) else []
        if unknown:
            named = ", ".join(clean(str(name))[:40] for name in unknown[:5])
            raise PydanticCustomError(
                "unknown_field",
                "there is no field {named} here; there are {known}",
                {"named": named, "known": ", ".join(cls.model_fields)},
            )
        return given


class CriterionIn(_In):
    """A criterion."""

    code: Code = Field(description="Short and unique; what a reason refers to.")
    text: Annotated[str, Field(max_length=2_000), AfterValidator(lines)]
    excludes: bool = Field(True, description="Whether it is a reason to exclude.")


class StoppingIn(_In):
    """When to stop; what is left out stays as it is."""

    rule: Known | None = Field(None, description=f"{', '.join(STOPPING_RULES)}, or two joined by `and` or `or`.")
    target: float | None = Field(None, description="Recall to reach, in (0, 1).")
    confidence: float | None = Field(None, description="In (0, 1).")
    advantage: float | None = Field(None, description="b of the assumption, at least 1.")
    floor: float | None = Field(None, description="Recall that must hold without the assumption, in (0, 1).")
    in_a_row: int | None = Field(None, description="Irrelevant records in a row.")
    budget: int | None = Field(None, description="Records.")


class PlanIn(_In):
    """Changes of a plan; what is left out stays as it is."""

    question: Text | None = None
    criteria: list[CriterionIn] | None = Field(None, max_length=200)
    description: Text | None = Field(None, description="What is looked for, in words.")
    terms: list[Known] | None = Field(
        None, max_length=1_000, description="Words to highlight; with a minus those that speak against."
    )
    sharing: Literal["shared", "blinded"] | None = None
    screeners: list[Name] | None = Field(None, max_length=100, description="Readers who decide; empty means anybody.")
    model: Known | None = Field(None, description="A composition of the ranking; empty is the default.")
    querier: Known | None = None
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

    name: Name
    plan: PlanIn | None = None


class SearchFillIn(_In):
    """Records to add from a search of this library, or from a saved one."""

    query: Annotated[str, Field(max_length=32_000), AfterValidator(one_line)] = Field(
        "", description="In the syntax of the search box."
    )
    saved: Number | None = Field(None, description="Instead of a query: the number of a saved search.")
    limit: int = Field(1_000, ge=1, le=100_000)


class SourceIn(_In):
    """What a source is called in reports, or of which kind it is, or both."""

    called: Annotated[str, Field(max_length=200), AfterValidator(one_line)] = ""
    kind: KindWord | None = None


class PapersFillIn(_In):
    """Papers of this library to add."""

    papers: list[Number | Annotated[str, Field(max_length=500), AfterValidator(one_line)]] = Field(
        min_length=1, max_length=10_000, description="Numbers, or any identifiers."
    )


class PriorIn(_In):
    """What is known of records before they are screened."""

    records: list[Number] = Field(min_length=1, max_length=500)
    label: FinalWord
    stage: StageWord = "abstract"


class DecisionIn(_In):
    """A decision; what the offer said of how the record was chosen goes back with it."""

    record: Number
    label: LabelWord
    stage: StageWord = "abstract"
    reasons: list[Code] = Field([], max_length=50, description="Codes of criteria.")
    note: Text = ""
    chosen: ChosenWord = Field("manual", description="As the offer said; `manual` is no evidence for stopping.")
    place: int = Field(0, ge=0, le=MAX_ID)
    unread: int = Field(0, ge=0, le=MAX_ID)
    model: Known = ""
    held: HeldWord | None = Field(
        None,
        description="What was shown as decided of it: where something else stands meanwhile, nothing is kept, and the "
        "answer is 409. Without it, the newer decision counts.",
    )


class ResolutionIn(_In):
    """The decision on a conflict."""

    record: Number
    label: FinalWord
    stage: StageWord = "abstract"
    reasons: list[Code] = Field([], max_length=50)
    note: Text = ""


class UndoIn(_In):
    """What to take back."""

    event: Number | None = Field(None, description="The event; without it the last decision.")


class TwinIn(_In):
    """Records that are the same work."""

    record: Number
    other: Number | None = Field(None, description="What it repeats; without it, it repeats nothing.")


class DifferenceIn(_In):
    """Records that are different works, however alike they look."""

    record: Number
    other: Number


class StageIn(_In):
    """A stage of screening."""

    stage: StageWord = "abstract"


class AuditIn(_In):
    """An audit to begin, and in which order one goes on."""

    stage: StageWord = "abstract"
    mode: ModeWord = "auto"
