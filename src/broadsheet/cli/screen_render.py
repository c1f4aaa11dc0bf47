"""Reviews, records and statements as text for a terminal. Everything from a source passes through ``safe``."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Sequence
from typing import TYPE_CHECKING

import click

from broadsheet.cli.common import safe
from broadsheet.cli.render import authors_line, columns, highlighted, paint, table, wrapped
from broadsheet.identifiers import shown_value
from broadsheet.venues import venue_name

if TYPE_CHECKING:
    from broadsheet.library import Screened
    from broadsheet.model.screening import (
        Agreement,
        Conflict,
        Highlight,
        Offer,
        Plan,
        PoolRecord,
        PrismaCounts,
        Review,
        ReviewEvent,
        ReviewProgress,
        StopReport,
    )

SHOWN_TERMS = 8
_WHY = {
    "ranked": "the model's best",
    "audit": "drawn for the audit",
    "random": "drawn at random",
    "manual": "picked by hand",
    "prior": "known before",
}
_STAGES = {"abstract": "title and abstract", "full-text": "full text"}


def plan_lines(review: Review) -> Iterator[str]:
    """What a review is about and how it is done."""
    plan, stopping = review.plan, review.plan.stopping
    who = ", ".join(plan.screeners) or "anyone"
    rows = [
        ("review", f"{review.name}, begun {review.created.date().isoformat()}"),
        ("question", plan.question or "-"),
        ("rule", stopping.rule),
        ("target", f"{stopping.target:.4g} of the relevant records, with confidence {stopping.confidence:.4g}"),
        ("advantage", f"{stopping.advantage:g} times better than random (assumed)"),
        ("floor", f"{stopping.floor:g} of the relevant records must be sure without that"),
        ("screeners", f"{who}, {plan.sharing}"),
        ("model", f"{plan.model or 'the default'}, {plan.querier}"),
        ("seed", str(plan.seed)),
    ]
    rows += [("description", plan.description)] if plan.description else []
    rows += [("terms", ", ".join(plan.terms))] if plan.terms else []
    yield from table(rows)
    yield from criteria_lines(plan)


def criteria_lines(plan: Plan) -> Iterator[str]:
    """The criteria; those that exclude are numbered as the keys that choose them."""
    number = 0
    for criterion in plan.criteria:
        if criterion.excludes:
            number += 1
            yield wrapped(safe(f"{number}  exclude {criterion.code}: {criterion.text}"), 2)
        else:
            yield wrapped(safe(f"   include {criterion.code}: {criterion.text}"), 2)


def offer_lines(offer: Offer) -> Iterator[str]:
    """A record as a screener reads it: why it is shown, its texts, and what speaks for and against it."""
    record = offer.record
    place = f", {offer.place + 1:,} of {offer.unread:,} unread" if offer.unread else ""
    yield click.style(f"Record {record.number} - {_WHY[offer.chosen]}{place}", dim=True)
    title = highlighted(record.title or "(no title)", _spans(offer.title_highlights, record.title))
    yield paint(wrapped(title, 0), bold=True)
    yield from record_facts(record)
    yield ""
    if record.abstract:
        yield paint(wrapped(highlighted(record.abstract, _spans(offer.abstract_highlights, record.abstract)), 0))
    else:
        yield "(no abstract)"
    yield from _evidence(offer)


def record_facts(record: PoolRecord) -> Iterator[str]:
    """Authors, and where it appeared."""
    if record.authors:
        yield wrapped(authors_line(record.authors), 0)
    where = " ".join(part for part in (venue_name(record.venue), str(record.year or "")) if part)
    named = (f"{each.scheme}:{shown_value(each)}" for each in record.identifiers[:2])
    facts = " | ".join(part for part in (where, *named, record.url) if part)
    if facts:
        yield wrapped(safe(facts), 0)


def _spans(highlights: Sequence[Highlight], text: str) -> list[tuple[int, int]]:
    """What speaks for inclusion, without the sentence: it is shown by itself."""
    return [(each.start, each.end) for each in highlights if each.weight > 0 and each.origin != "sentence"]


def _evidence(offer: Offer) -> Iterator[str]:
    texts = ((offer.title_highlights, offer.record.title), (offer.abstract_highlights, offer.record.abstract))
    spoken = [(each, text[each.start : each.end]) for highlights, text in texts for each in highlights]
    for name, sign in (("for", 1), ("against", -1)):
        chosen = sorted((each for each in spoken if each[0].weight * sign > 0), key=lambda one: -abs(one[0].weight))
        words = dict.fromkeys(text.casefold() for each, text in chosen if each.origin != "sentence")
        if words:
            yield wrapped(safe(f"Speaks {name}: {', '.join(list(words)[:SHOWN_TERMS])}"), 0)
    for each, text in spoken:
        if each.origin == "sentence":
            yield wrapped(safe(f"Decided most: {text}"), 0)


def progress_lines(progress: ReviewProgress) -> Iterator[str]:
    """How far it is, what the declared rule says, what others would say, and the sentence for a paper."""
    share = f" ({progress.read / progress.records:.1%})" if progress.records else ""
    more = [
        *([f"{progress.repeats:,} repeats are not counted"] if progress.repeats else []),
        *([f"{progress.later:,} put off"] if progress.later else []),
        *([f"{progress.conflicts:,} in conflict"] if progress.conflicts else []),
    ]
    yield wrapped(
        safe(
            f"{progress.review.name}, {_STAGES[progress.stage]}: {progress.read:,} of {progress.records:,} records "
            f"read{share}, {progress.found:,} included" + "".join(f"; {each}" for each in more) + "."
        ),
        0,
    )
    phase = {"ranked": "reading by rank", "audit": "the audit", "done": "done"}.get(progress.phase, progress.phase)
    yield f"Phase: {phase}" + (f". Model: {safe(progress.model)}" if progress.model else "")
    if progress.superseded:
        yield wrapped(safe(progress.superseded), 0)
    yield ""
    yield wrapped(safe(f"{progress.report.rule} ({progress.report.guarantee}): {progress.report.sentence}"), 0)
    if progress.report.advantage is not None:
        yield wrapped(safe(_advantage(progress.report)), 4)
    for report in progress.others:
        yield wrapped(safe(f"{report.rule} ({report.guarantee}): {report.sentence}"), 4)
    if progress.methods:
        yield ""
        yield wrapped(safe(f"For the methods section: {progress.methods}"), 0)


def _advantage(report: StopReport) -> str:
    """What the audit's finds say of the ranking."""
    low, high = report.advantage_interval or (None, None)
    interval = f" (95 %: {low:.1f} to {high:.1f})" if low is not None and high is not None else ""
    return f"By the audit's finds, the ranking is {report.advantage:.1f} times better than random{interval}."


def record_lines(found: Sequence[Screened]) -> list[str]:
    """Records in a table: number, how it stands, title."""
    from broadsheet.cli.render import cut, width

    rows = [
        (str(each.record.number), _standing(each), cut(safe(each.record.title or each.record.abstract), width() - 24))
        for each in found
    ]
    return columns(("record", "label", "title"), rows, right=(0,))


def _standing(found: Screened) -> str:
    if found.conflict:
        return "conflict"
    label = found.label or found.own
    repeats = found.record.number > min(found.twins, default=found.record.number)
    return " ".join(part for part in (str(label or "-"), "(repeat)" * repeats, "(prior)" * found.prior) if part)


def conflict_lines(found: Iterable[Conflict]) -> Iterator[str]:
    """Each record in conflict, and what everyone said."""
    for conflict in found:
        yield click.style(wrapped(safe(f"{conflict.record.number}. {conflict.record.title}"), 0), bold=True)
        for event in conflict.decisions:
            yield wrapped(safe(f"{event.screener}: {event.label}{_why(event)}"), 4)


def _why(event: ReviewEvent) -> str:
    reasons = f" [{', '.join(event.reasons)}]" if event.reasons else ""
    return reasons + (f" - {event.note}" if event.note else "")


def event_line(event: ReviewEvent) -> str:
    """One thing that happened."""
    what = [f"{event.id}", event.moment.astimezone().strftime("%Y-%m-%d %H:%M"), event.screener or "-", event.kind]
    what += [f"record {event.record}"] if event.record else []
    what += [f"of {event.other}"] if event.other else []
    what += [f"event {event.undoes}"] if event.undoes else []
    what += [event.label] if event.label else []
    what += [f"({_WHY[event.chosen]})"] if event.chosen else []
    what += [_detailed(event)] if event.detail and event.kind in ("add", "source", "stop") else []
    return safe("  ".join(what) + _why(event))


def _detailed(event: ReviewEvent) -> str:
    """What came into the pool, what it is called, or the statement that was kept."""
    detail = json.loads(event.detail)
    if event.kind == "source":
        numbers = ", ".join(map(str, detail["additions"]))
        return f"no. {numbers}: {', '.join(filter(None, (detail.get('called'), detail.get('kind'))))}"
    if event.kind == "add":
        return f"{detail['source']}: {detail['added']:,} records, {detail['repeats']:,} of them repeats"
    return str(detail.get("report", {}).get("sentence", ""))


def agreement_lines(found: Iterable[Agreement]) -> list[str]:
    """Each two screeners: how many both decided, the share that agrees, kappa with its interval."""
    rows = []
    for each in found:
        kappa = "-" if each.kappa is None else f"{each.kappa:.3f}"
        kappa += f" ({each.interval[0]:.3f} to {each.interval[1]:.3f})" if each.interval else ""
        agreed = "-" if each.agreed is None else f"{each.agreed:.1%}"
        rows.append((safe(each.first), safe(each.second), f"{each.both:,}", agreed, kappa))
    return columns(("first", "second", "both decided", "agreed", "kappa (95 % interval)"), rows, right=(2, 3))


def prisma_lines(counts: PrismaCounts) -> Iterable[str]:
    """The numbers of the flow diagram, from the top down."""
    kinds = [f" ({kind})" for kind in counts.kinds] if len(set(counts.kinds)) > 1 else [""] * len(counts.identified)
    rows = [
        (f"identified: {safe(source)}{kind}", f"{count:,}")
        for (source, count), kind in zip(counts.identified, kinds, strict=True)
    ]
    why = f" ({safe(counts.unread_because)})" if counts.unread_because else ""
    rows += [
        (name.replace("_", " "), f"{getattr(counts, name):,}" + why * (name == "not_screened"))
        for name in (
            "duplicates",
            "removed_other",
            "not_screened",
            "screened",
            "excluded",
            "sought",
            "not_retrieved",
            "assessed",
        )
    ]
    rows += [(f"excluded at full text: {safe(reason)}", f"{count:,}") for reason, count in counts.reasons]
    return table([*rows, ("included", f"{counts.included:,}")])
