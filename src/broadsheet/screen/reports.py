"""Where screening stands, in numbers and in sentences: what a stopping rule says, and what a paper's methods can say.

Nothing here says that a review is safe: a rule's statement comes with its confidence and its assumption, and where
nothing was found no estimate is possible.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass, replace
from typing import TYPE_CHECKING, Any

import orjson

from broadsheet.model.screening import (
    Chosen,
    GuaranteeClass,
    Stage,
    StoppingPlan,
    StopReport,
)
from broadsheet.screen.fold import WHOLE
from broadsheet.screen.state import State

if TYPE_CHECKING:
    from broadsheet.learn.stoppers import Verdict

RULES = 2
"""Counts changes of what rules say of the same trail; kept in every statement (none: 1)."""
COMPARED = ("distribution-free", "irrelevant-in-a-row", "chao", "hypergeometric")
"""The rules shown beside the declared one."""

NOTHING_PASSED = "No record has been included by title and abstract: there is no full text to read."
ALL_READ = "All records were read, and nothing relevant was found, so that recall is not defined."
NO_ESTIMATE = "Nothing relevant has been found, so that no estimate of recall is possible."


@dataclass(frozen=True)
class Counts:
    """What was read of a pool: ``groups`` to read, ``read`` of them with a label, ``found`` included, ``known`` labels
    from before screening, ``read_by_chance`` in audits and random draws; ``known_late`` were given as known only after
    reading had begun."""

    groups: int
    repeats: int
    read: int
    found: int
    known: int
    read_by_chance: int
    known_late: int = 0

    @classmethod
    def of(cls, state: State, stage: Stage, screener: str = WHOLE) -> Counts:
        """The counts of a state, as the screener sees it."""
        track = state.track(stage, screener)
        chosen = [step.chosen for step in track.of.values()]
        by_chance = chosen.count(Chosen.AUDIT) + chosen.count(Chosen.RANDOM)
        repeats = len(state.records) - len(state.groups) if stage is Stage.ABSTRACT else 0
        known = chosen.count(Chosen.PRIOR)
        first = min((step.event for step in track.steps if step.chosen is not Chosen.PRIOR), default=state.last_event)
        late = sum(step.chosen is Chosen.PRIOR and step.event > first for step in track.of.values())
        return cls(state.pool_size(stage), repeats, len(track.of), track.included, known, by_chance, late)


def report_of(verdict: Verdict) -> StopReport:
    """A rule's verdict as it is shown and kept."""
    return StopReport(
        rule=verdict.rule,
        guarantee=GuaranteeClass(verdict.guarantee),
        stop=bool(verdict.stop),
        sentence=verdict.sentence,
        target=float(verdict.target),
        confidence=float(verdict.confidence),
        recall=None if verdict.recall is None else float(verdict.recall),
        missing=None if verdict.missing is None else int(verdict.missing),
        further=None if verdict.further is None else int(verdict.further),
        assumption=verdict.assumption,
        refuted=bool(verdict.refuted),
        advantage=None if verdict.advantage is None else float(verdict.advantage),
        advantage_interval=_interval(verdict.advantage_interval),
        wants=verdict.wants,
    )


def of_pool(state: State, stage: Stage, report: StopReport) -> StopReport:
    """A report, or what is to be said where there is nothing to read at a stage: nothing follows from that."""
    if state.pool_size(stage):
        return report
    empty = "The review has no records yet: add some." if stage is Stage.ABSTRACT else NOTHING_PASSED
    return replace(report, stop=False, sentence=empty, recall=None, missing=None, further=None, wants="")


def _interval(ends: tuple[float, float] | None) -> tuple[float, float] | None:
    return None if ends is None else (float(ends[0]), float(ends[1]))


def pending(plan: StoppingPlan) -> StopReport:
    """What is shown of a rule that has not caught up with what was read."""
    sentence = (
        "The stopping rule is being reckoned from all decisions: ask again soon. No estimate is given until then."
    )
    return StopReport(
        plan.rule, GuaranteeClass.NONE, False, sentence, float(plan.target), float(plan.confidence), wants="ranked"
    )


def compared(plan: StoppingPlan) -> tuple[StoppingPlan, ...]:
    """The plans of the rules to be shown beside the declared one, with its target and confidence."""
    return tuple(replace(plan, rule=rule) for rule in COMPARED if rule != plan.rule)


def methods(
    state: State, report: StopReport, stage: Stage, screener: str = WHOLE, *, software: str = "", model: str = ""
) -> str:
    """Sentences for a paper's methods section: what was read, by which rule, and what can be said of the rest."""
    counts = Counts.of(state, stage, screener)
    what = "titles and abstracts" if stage is Stage.ABSTRACT else "full texts"
    repeats = f" after {_number(counts.repeats, 'duplicate was', 'duplicates were')} removed" if counts.repeats else ""
    sentences = [
        f"We screened the {what} of {counts.read:,} of {_number(counts.groups, 'record', 'records')}{repeats}.",
        _how(state, counts, _by_hand(state, stage, screener), software, model),
        _declared(state, report),
        _result(counts, report),
        _renewed(state, report, stage, screener) if counts.found and counts.read < counts.groups else "",
        advantage_sentence(report),
        f"{_number(counts.found, 'record was', 'records were')} included, "
        f"and {_number(counts.groups - counts.read, 'record was', 'records were')} left unread.",
    ]
    return " ".join(sentence for sentence in sentences if sentence)


def _result(counts: Counts, report: StopReport) -> str:
    if counts.found or not counts.groups:
        return report.sentence
    return NO_ESTIMATE if counts.read < counts.groups else ALL_READ


def statement(report: StopReport, counts: Counts, text: str, *, model: str, software: str) -> str:
    """What a STOP event keeps, as JSON."""
    texts = {"methods": text, "model": model, "software": software}
    kept = {"report": asdict(report), "counts": asdict(counts), "rules": RULES, **texts}
    return orjson.dumps(kept, option=orjson.OPT_SORT_KEYS).decode()


def statement_fields(detail: str) -> dict[str, Any]:
    """The parts of a kept statement by name; empty for what is none."""
    try:
        kept = orjson.loads(detail or "{}")
    except orjson.JSONDecodeError:
        return {}
    return kept if isinstance(kept, dict) else {}


def not_compared(kept: Mapping[str, Any], plan: StoppingPlan) -> frozenset[str]:
    """Fields of a report that an older statement may have otherwise: sentences are other ones now, and joined rules and
    Chao's said other things."""
    words = plan.rule.split(" ")
    if kept.get("rules", 1) >= RULES:
        return frozenset()
    joined = {"target", "confidence"} if {"or", "and"}.intersection(words) else set()
    chao = {"stop", "wants", "further"} if "chao" in words else set()
    return frozenset({"sentence", *joined, *chao})


def advantage_sentence(report: StopReport) -> str:
    """What the audit's finds say of the ranking; empty where there was none."""
    if report.advantage is None:
        return ""
    sentence = (
        f"By the places of the audit's finds, the ranking is about {report.advantage:.1f} times better than random"
    )
    if report.advantage_interval is None:
        return f"{sentence}."
    low, high = report.advantage_interval
    return f"{sentence} (95 %: {low:.1f} to {high:.1f})."


def _by_hand(state: State, stage: Stage, screener: str) -> int:
    """How many records a person picked; what a querier other than by relevance offered has a model's version."""
    steps = [step for step in state.track(stage, screener).of.values() if step.chosen is Chosen.MANUAL]
    events = [state.event(step.event) for step in steps]
    return sum(event is None or not event.model for event in events)


def _how(state: State, counts: Counts, by_hand: int, software: str, model: str) -> str:
    plan = state.review.plan
    sentences = []
    if counts.known:
        late = f" ({counts.known_late:,} given after reading had begun)" if counts.known_late else ""
        sentences.append(f"{_number(counts.known, 'label was', 'labels were')} known beforehand{late}.")
    learner = f"a model ({model.rpartition('@')[0]})" if model else "a model"
    by = f" ({software})" if software else ""
    sentences.append(f"The order of reading was that of {learner} which learned from each decision{by}.")
    if counts.read_by_chance:
        by_chance = _number(counts.read_by_chance, "record was", "records were")
        sentences.append(f"{by_chance} read in random order instead.")
    if by_hand:
        sentences.append(
            f"{_number(by_hand, 'record was', 'records were')} picked by hand, or read outside of these orders."
        )
    if len(plan.screeners) > 1:
        alone = "independently of each other" if state.is_blinded else "sharing the records"
        sentences.append(f"{len(plan.screeners)} screeners decided, {alone}.")
    return " ".join(sentences)


def _declared(state: State, report: StopReport) -> str:
    plan = state.review.plan.stopping
    rule = f"The stopping rule was {_in_words(plan)}"
    if report.guarantee is not GuaranteeClass.NONE:
        rule += f", with a target recall of {_percent(plan.target)} at {_percent(report.confidence)} confidence"
        if report.confidence != plan.confidence:
            rule += f" ({_percent(plan.confidence)} for each of the rules, of which one is enough)"
    elif report.confidence:
        rule += (
            f", with a target recall of {_percent(plan.target)} at {_percent(plan.confidence)} confidence for what has "
            "a guarantee; joined by “or” with a rule of thumb the whole has no guarantee"
        )
    changes = [change for change in state.plan_changes if change.read and _changed(change.before, change.after)]
    if not changes:
        return f"{rule}, declared before screening began."
    last = changes[-1]
    times = "" if len(changes) == 1 else f" ({len(changes)} changes in all)"
    read = _number(last.read, "record", "records")
    seed = " or its seed" if any(change.before.seed != change.after.seed for change in changes) else ""
    return f"{rule}; the plan of stopping{seed} was changed after {read} had been read{times}."


def _renewed(state: State, report: StopReport, stage: Stage, screener: str) -> str:
    """How often the evidence began anew: the errors of several beginnings add up."""
    count = state.renewals[stage, state.view(screener)]
    if not count or report.guarantee is GuaranteeClass.NONE:
        return ""
    times, error = "once" if count == 1 else f"{count:,} times", _percent(1 - report.confidence)
    return (
        f"More became unread {times} while reading went on (records that were added, decisions that were taken back): "
        f"the evidence began anew, and each beginning has an error of up to {error} of its own."
    )


def _in_words(plan: StoppingPlan) -> str:
    """A rule by its name, with what it is; joined rules one after the other."""
    what = {
        "distribution-free": "a random audit of unread records, whatever the order of reading",
        "rank-advantage": f"the order of reading taken to be at least {plan.advantage:g} times better than random",
        "irrelevant-in-a-row": f"{plan.in_a_row:,} irrelevant records in a row, a rule of thumb",
        "budget": f"after {plan.budget:,} records, a rule of thumb",
        "chao": "Chao's estimate of what is unseen, a rule of thumb",
        "hypergeometric": "a hypergeometric test of ranked records, a rule of thumb",
        "two-phase": "a hypergeometric test of a random sample, a rule of thumb",
    }
    words = plan.rule.split(" ")
    said = [f"“{word}” ({what[word]})" if word in what else word for word in words]
    return " ".join(said)


def _changed(before: Any, after: Any) -> bool:
    # The seed decides what is drawn at random.
    return bool((before.stopping, before.seed) != (after.stopping, after.seed))


def _percent(share: float) -> str:
    return f"{round(100 * share, 6):g} %"


def _number(count: int, one: str, many: str) -> str:
    return f"{count:,} {one if count == 1 else many}"
