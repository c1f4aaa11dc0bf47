"""The numbers of the PRISMA 2020 flow diagram.

Page et al., The PRISMA 2020 statement: an updated guideline for reporting systematic reviews, BMJ 372:n71, 2021.
"""

from __future__ import annotations

from collections import Counter

from broadsheet.model.screening import Label, PrismaCounts, ReviewEvent, SourceKind, Stage
from broadsheet.screen.reports import statement_fields
from broadsheet.screen.rules import NOT_RETRIEVED
from broadsheet.screen.sources import sources_of
from broadsheet.screen.state import State

NO_REASON = "no reason given"


def prisma_counts(state: State) -> PrismaCounts:
    """The numbers as they stand: of groups, by their final labels; of a blinded review when all have decided.

    An exclusion at full text counts by its first reason. Reports that are not read yet count as sought only.
    """
    first, second = state.track(Stage.ABSTRACT), state.track(Stage.FULL_TEXT)
    sources = _by_name(state)
    excluded = [group for group, step in second.of.items() if step.label is Label.EXCLUDE]
    reasons = Counter(_reason(state.deciding(group, Stage.FULL_TEXT)) for group in excluded)
    missing = reasons.pop(NOT_RETRIEVED, 0)
    texts = {criterion.code: criterion.text for criterion in state.review.plan.criteria}
    ordered = sorted(reasons.items(), key=lambda one: (-one[1], one[0] == NO_REASON, one[0]))
    not_screened = len(state.groups) - len(first.of)
    return PrismaCounts(
        identified=tuple((name, count) for (name, _), count in sources.items()),
        duplicates=len(state.records) - len(state.groups),
        removed_other=sum(source.refused for source in sources_of(state)),
        not_screened=not_screened,
        screened=len(first.of),
        excluded=len(first.of) - first.included,
        sought=first.included,
        not_retrieved=missing,
        assessed=len(second.of) - missing,
        reasons=tuple((texts.get(code, code), count) for code, count in ordered),
        included=second.included,
        kinds=tuple(kind for _, kind in sources),
        unread_because=_why_unread(state) if not_screened else "",
    )


def _by_name(state: State) -> Counter[tuple[str, SourceKind]]:
    """How many entries each source had: what has one name and kind is one; databases first, then registers."""
    entries: Counter[tuple[str, SourceKind]] = Counter()
    for source in sources_of(state):
        entries[source.name, source.kind] += source.entries
    order = list(SourceKind)
    return Counter(dict(sorted(entries.items(), key=lambda one: order.index(one[0][1]))))


def _why_unread(state: State) -> str:
    """Why records are left unread: by which rule screening was stopped, if it was."""
    if not state.is_stopped(Stage.ABSTRACT):
        return "not screened yet"
    stops = [event for (stage, _), event in state.stopped.items() if stage is Stage.ABSTRACT]
    kept = statement_fields(max(stops, key=lambda event: event.id).detail).get("report")
    report = kept if isinstance(kept, dict) else {}
    rule = report.get("rule")
    if not rule:
        return "left unread when screening was stopped"
    if not report.get("stop"):
        return f"left unread when screening was ended, before the stopping rule “{rule}” said stop"
    return f"left unread by the stopping rule “{rule}”"


def _reason(event: ReviewEvent | None) -> str:
    if event is None or not event.reasons:
        return NO_REASON
    return NOT_RETRIEVED if NOT_RETRIEVED in event.reasons else event.reasons[0]
