"""The numbers of the PRISMA 2020 flow diagram.

Page et al., The PRISMA 2020 statement: an updated guideline for reporting systematic reviews, BMJ 372:n71, 2021.
"""

from __future__ import annotations

from collections import Counter

from broadsheet.model.screening import Label, PrismaCounts, ReviewEvent, ReviewEventKind, Stage
from broadsheet.screen.fold import detail_of
from broadsheet.screen.rules import NOT_RETRIEVED
from broadsheet.screen.state import State

NO_REASON = "no reason given"


def prisma_counts(state: State) -> PrismaCounts:
    """The numbers as they stand: of groups, by their final labels; of a blinded review when all have decided.

    An exclusion at full text counts by its first reason. Reports that are not read yet count as sought only.
    """
    first, second = state.track(Stage.ABSTRACT), state.track(Stage.FULL_TEXT)
    sources, refused = _sources(state)
    excluded = [group for group, step in second.of.items() if step.label is Label.EXCLUDE]
    reasons = Counter(_reason(state.deciding(group, Stage.FULL_TEXT)) for group in excluded)
    missing = reasons.pop(NOT_RETRIEVED, 0)
    texts = {criterion.code: criterion.text for criterion in state.review.plan.criteria}
    ordered = sorted(reasons.items(), key=lambda one: (-one[1], one[0] == NO_REASON, one[0]))
    return PrismaCounts(
        identified=tuple(sources.items()),
        duplicates=len(state.records) - len(state.groups),
        removed_other=refused,
        not_screened=len(state.groups) - len(first.of),
        screened=len(first.of),
        excluded=len(first.of) - first.included,
        sought=first.included,
        not_retrieved=missing,
        assessed=len(second.of) - missing,
        reasons=tuple((texts.get(code, code), count) for code, count in ordered),
        included=second.included,
    )


def _sources(state: State) -> tuple[Counter[str], int]:
    """How many entries each source had; and how many of all could not be taken, since they had no text."""
    entries = Counter(record.source for record in state.records.values())
    refused = 0
    for event in state.events:
        if event.kind is ReviewEventKind.ADD:
            said = detail_of(event)
            count = int(said.get("refused", 0))
            if count:
                entries[str(said.get("source", ""))] += count
                refused += count
    return entries, refused


def _reason(event: ReviewEvent | None) -> str:
    if event is None or not event.reasons:
        return NO_REASON
    return NOT_RETRIEVED if NOT_RETRIEVED in event.reasons else event.reasons[0]
