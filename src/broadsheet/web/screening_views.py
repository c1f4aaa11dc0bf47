"""How a systematic review reads on a page: highlights, labels, why a record is offered, what happened. All pure."""

from __future__ import annotations

import json
import math
from collections.abc import Iterable, Sequence
from dataclasses import replace
from datetime import datetime, tzinfo
from itertools import pairwise
from typing import Any

from markupsafe import Markup, escape

from ..model.screening import (
    Chosen,
    Criterion,
    GuaranteeClass,
    Highlight,
    Label,
    Offer,
    PoolRecord,
    ReviewEvent,
    ReviewEventKind,
    Stage,
    StoppingPlan,
    StopReport,
)
from .views import number, percent

LABEL_NAMES = {Label.INCLUDE: "Include", Label.EXCLUDE: "Exclude", Label.LATER: "Later"}
LABEL_DONE = {Label.INCLUDE: "Included", Label.EXCLUDE: "Excluded", Label.LATER: "Put off"}
STAGE_NAMES = {Stage.ABSTRACT: "Title and abstract", Stage.FULL_TEXT: "Full text"}
MODES = {
    "auto": "as the stopping rule wants",
    "ranked": "likeliest first",
    "audit": "the audit’s order",
    "random": "at random",
}
CHOSEN_NAMES = {
    Chosen.PRIOR: "Known before",
    Chosen.RANKED: "Ranked",
    Chosen.AUDIT: "Audit",
    Chosen.RANDOM: "At random",
    Chosen.MANUAL: "Picked by hand",
}
WHY_CHOSEN = {
    Chosen.RANKED: "By what was decided so far.",
    Chosen.AUDIT: "Drawn at random, whatever the ranking thinks of it.",
    Chosen.PRIOR: "Known before screening began.",
}
SHOWN_LABELS = {
    "": "All",
    "unread": "Unread",
    "include": "Included",
    "exclude": "Excluded",
    "later": "Put off",
    "conflict": "In conflict",
    "prior": "Known before",
    "repeat": "Repeats",
}
RULES = {
    "rank-advantage": (
        "Rank advantage",
        GuaranteeClass.ASSUMPTION,
        "Every ranked label is evidence, if the ranking finds relevant records at least b times as fast as random "
        "reading would. Random audit draws watch that assumption and can refute it.",
    ),
    "distribution-free": (
        "Distribution-free",
        GuaranteeClass.DISTRIBUTION_FREE,
        "True whatever the ranking does: only random draws from the unread records count as evidence. It reads more.",
    ),
    "hypergeometric": (
        "Hypergeometric",
        GuaranteeClass.NONE,
        "The test of the unread records that is common in the literature, for comparison.",
    ),
    "two-phase": (
        "Two phases",
        GuaranteeClass.NONE,
        "The same test of a random sample, looked at after every draw: the more looks, the more often it errs.",
    ),
    "irrelevant-in-a-row": (
        "Irrelevant in a row",
        GuaranteeClass.NONE,
        "Stops after so many irrelevant records in a row. Common, and often far from its target.",
    ),
    "chao": ("Chao’s estimate", GuaranteeClass.NONE, "Stops by an estimate of how many relevant records there are."),
    "budget": ("Budget", GuaranteeClass.NONE, "Stops after so many records."),
}
"""Stopping rules: name, class, and what it does."""
CLASS_ABOUT = {
    GuaranteeClass.ASSUMPTION: (
        "The statement is true with the confidence above if the ranking keeps what is assumed of it. Nobody can know "
        "that beforehand: random draws watch it, and refute it where it does not hold."
    ),
    GuaranteeClass.DISTRIBUTION_FREE: (
        "The statement is true with the confidence above whatever the ranking does, a useless or a hostile one too. It "
        "reads the most."
    ),
    GuaranteeClass.NONE: (
        "Rules of thumb, for comparison. What they say may be far from the truth, and nothing here can tell how far: "
        "do not rest a published recall on them."
    ),
}
"""What a class of stopping rules promises, and what it does not."""
RULE_CLASSES = [(kind, [(key, *of) for key, of in RULES.items() if of[1] is kind]) for kind in CLASS_ABOUT]
"""The stopping rules by class: (class, [(key, name, class, what it does)])."""
DEFAULT_MODEL = "default"
COMPOSITIONS = {
    DEFAULT_MODEL: (
        "Words and meaning, in turns",
        "Two rankings take turns: one of words, beside an encoder’s vectors where there are any, and one of words from "
        "the labels alone.",
    ),
    "words": ("Words alone", "Without an encoder’s vectors."),
    "labels-only": (
        "Words, from labels alone",
        "Learns from labelled records alone and at a fixed ratio, near to what ASReview does by default.",
    ),
    "naive-bayes": ("Naive Bayes", "On words: simple and quick, and mostly worse than the others."),
}
"""What orders the records: the names of ``learn.screening`` with a name and a sentence for the reader."""
QUERIERS = {
    "max-relevance": ("Likeliest first", "Finds soonest, and only this order gives the rank advantage its evidence."),
    "uncertainty": (
        "Most doubtful first",
        "Teaches the ranking where it is least sure, and finds later. The rank advantage hardly learns from it.",
    ),
    "mixed": ("Likeliest, some at random", "One in twenty is drawn at random, against tunnel vision."),
    "random": ("At random", "No ranking at all: as much is read as without a tool."),
    "anchors": (
        "Near changing anchors",
        "Likeliest first within a small part of the pool that changes from round to round: for large pools with few "
        "relevant records.",
    ),
}
"""In which order records come."""
CLASS_WORDS = {
    GuaranteeClass.DISTRIBUTION_FREE: "Guaranteed without assumptions",
    GuaranteeClass.ASSUMPTION: "Guaranteed under a stated assumption",
    GuaranteeClass.NONE: "No guarantee",
}
UNSAID_WORDS = {
    GuaranteeClass.DISTRIBUTION_FREE: "Rule without assumptions",
    GuaranteeClass.ASSUMPTION: "Rule under a stated assumption",
    GuaranteeClass.NONE: "Rule without a guarantee",
}
"""The same as long as the rule says nothing: nothing is guaranteed yet."""
EVENT_WORDS = {
    ReviewEventKind.CREATE: "Review created",
    ReviewEventKind.PLAN: "Plan changed",
    ReviewEventKind.ADD: "Records added",
    ReviewEventKind.SOURCE: "Source named",
    ReviewEventKind.UNDO: "Taken back",
    ReviewEventKind.TWIN: "Said to repeat",
    ReviewEventKind.DIFFERENT: "Said to be another work",
    ReviewEventKind.APART: "Said to stand alone",
    ReviewEventKind.AUDIT: "Audit begun",
    ReviewEventKind.STOP: "Screening stopped",
    ReviewEventKind.REOPEN: "Screening taken up again",
}
LONGEST_DETAIL = 400


def marked(text: str, highlights: Sequence[Highlight]) -> Markup:
    """A plain text as HTML with its highlights; where they overlap, each piece has the classes of all of them.

    A screener's own word stands before the model's, and what speaks for inclusion apart from what speaks against.
    """
    spans = [h for h in highlights if 0 <= h.start < h.end <= len(text)]
    cuts = sorted({0, len(text), *(h.start for h in spans), *(h.end for h in spans)})
    pieces = []
    for start, end in pairwise(cuts):
        over = [h for h in spans if h.start <= start and h.end >= end]
        pieces.append(_piece(text[start:end], over))
    return Markup("").join(pieces)


def paragraphs(text: str, highlights: Sequence[Highlight] = ()) -> Markup:
    """A plain text of several lines as paragraphs, each with its part of the highlights."""
    found = []
    start = 0
    for line in text.split("\n"):
        end = start + len(line)
        if line.strip():
            over = [h for h in highlights if h.start < end and h.end > start]
            cut = [replace(h, start=max(h.start - start, 0), end=min(h.end, end) - start) for h in over]
            found.append(Markup("<p>{}</p>").format(marked(line, cut)))
        start = end + 1
    return Markup("\n").join(found)


def _piece(text: str, over: Sequence[Highlight]) -> Markup:
    piece = escape(text)
    words = [h for h in over if h.origin != "sentence"]
    if words:
        first = min(words, key=lambda h: (h.origin != "reader", -abs(h.weight)))
        side = "against" if first.weight < 0 else "for"
        piece = Markup('<mark class="{}">{}</mark>').format(f"{first.origin} {side}", piece)
    if len(words) < len(over):
        piece = Markup('<span class="deciding-sentence">{}</span>').format(piece)
    return piece


def why_offered(offer: Offer, held: Label | None = None, mode: str = "random") -> str:
    """Why this record, in a sentence; ``held`` is its label, where it was decided before, ``mode`` what was asked."""
    match offer.chosen:
        case Chosen.RANKED if offer.unread:
            place = "First" if not offer.place else f"Number {number(offer.place + 1)}"
            return f"{place} of {number(offer.unread)} unread by what was decided so far."
        case Chosen.RANDOM:
            by_wish = "by your wish from the unread records."
            return (
                f"Drawn {by_wish if mode == 'random' else 'from the unread records: there is no ranking of them yet.'}"
            )
        case Chosen.MANUAL:
            changed = "Decided before: a decision that is changed keeps its place in the evidence."
            picked = "Not chosen by the desk, so it is no evidence for the stopping rule."
            return changed if held in (Label.INCLUDE, Label.EXCLUDE) else picked
    return WHY_CHOSEN[offer.chosen]


def coded(criteria: Iterable[Criterion]) -> str:
    """Criteria as lines of a form: ``CODE: text``."""
    return "\n".join(f"{criterion.code}: {criterion.text}" for criterion in criteria)


def byline(record: PoolRecord, limit: int = 6) -> str:
    """“A. Author, B. Author and 3 more”."""
    more = len(record.authors) - limit
    return ", ".join(record.authors[:limit]) + (f" and {number(more)} more" if more > 0 else "")


def clock(moment: datetime, zone: tzinfo | None = None) -> str:
    """2026-12-01 09:30, where the server stands."""
    return f"{moment.astimezone(zone):%Y-%m-%d %H:%M}"


def event_words(event: ReviewEvent) -> str:
    """What happened, in a few words: “Included (ranked)”, “Records added: hits.ris”."""
    if event.kind in (ReviewEventKind.DECIDE, ReviewEventKind.RESOLVE):
        how = "Conflict resolved: " if event.kind is ReviewEventKind.RESOLVE else ""
        label = LABEL_DONE[event.label] if event.label else "Decided"
        chosen = f" ({CHOSEN_NAMES[event.chosen].lower()})" if event.chosen else ""
        return f"{how}{label.lower() if how else label}{chosen}"
    words = EVENT_WORDS[event.kind]
    if event.kind is ReviewEventKind.ADD and (source := details(event).get("source")):
        return f"{words}: {source}"
    return words


def details(event: ReviewEvent) -> dict[str, Any]:
    """The detail of an event; empty where it is no JSON object."""
    try:
        found = json.loads(event.detail) if event.detail else {}
    except ValueError:
        return {}
    return found if isinstance(found, dict) else {}


def detail_words(event: ReviewEvent) -> str:
    """The detail of an event in a line; the plans of ``create`` and ``plan`` are left to the export."""
    if event.kind in (ReviewEventKind.CREATE, ReviewEventKind.PLAN):
        return ""
    found = details(event)
    report = found.get("report")
    if isinstance(report, dict) and (sentence := report.get("sentence")):
        return str(sentence)[:LONGEST_DETAIL]
    plain = [f"{name.replace('_', ' ')} {value}" for name, value in found.items() if isinstance(value, int | str)]
    return ", ".join(part for part in plain if not part.startswith("source "))[:LONGEST_DETAIL]


def rule_parts(rule: str) -> tuple[str, str, str]:
    """A stopping rule as (first, how it is joined, second), as the form of settings asks for it."""
    for word in ("or", "and"):
        first, joined, second = rule.partition(f" {word} ")
        if joined and first in RULES and second in RULES:
            return first, word, second
    return rule, "", ""


def rule_words(stopping: StoppingPlan) -> str:
    """The declared rule in a line, as what is aimed at: “Target: recall 95 % at 95 % confidence, by rank advantage
    (b = 3)”."""
    words = [RULES[part][0].lower() if part in RULES else part for part in stopping.rule.split(" ")]
    for rule, numbers in (
        ("rank-advantage", f" (b\u00a0=\u00a0{stopping.advantage:g})"),
        ("irrelevant-in-a-row", f" ({number(stopping.in_a_row)})"),
        ("budget", f" of {number(stopping.budget)} records"),
    ):
        words = [word + numbers if word == RULES[rule][0].lower() else word for word in words]
    how = " ".join(words).replace("chao", "Chao")
    return f"Target: recall {exact(stopping.target)} at {exact(stopping.confidence)} confidence, by {how}"


def badge(report: StopReport) -> str:
    """The class of a statement; as long as nothing is said, that of the rule which will say it."""
    if report.recall is not None:
        return CLASS_WORDS[report.guarantee]
    kinds = {RULES[part][1] for part in report.rule.split(" ") if part in RULES}
    return UNSAID_WORDS[kinds.pop() if len(kinds) == 1 else report.guarantee]


def exact(share: float) -> str:
    """A share that was set by a person, as percent with the digits it has: 97.5 %."""
    return f"{share * 100:.6g}\u202f%"


def assumed(report: StopReport) -> str:
    """The assumption, where the sentence does not say it already."""
    return "" if report.assumption in report.sentence else report.assumption


def advantage_words(report: StopReport) -> str:
    """How much better than random the audit's finds say that the ranking is; empty where there were none."""
    if report.advantage is None:
        return ""
    words = f"By the audit’s finds, the ranking is about {report.advantage:.1f} times better than random"
    if report.advantage_interval is None:
        return f"{words}."
    low, high = report.advantage_interval
    return f"{words} (95\u202f%: {low:.1f} to {high:.1f})."


def bound(share: float) -> str:
    """A lower bound in percent with one digit, rounded down: it must not say more than is known."""
    return f"{math.floor(share * 1000 + 1e-9) / 10:g}\u202f%"


def read_share(read: int, records: int) -> str:
    """How much is read, in whole percent, rounded down: only all is 100 %; what is below one percent is said so."""
    if 0 < read * 100 < records:
        return "under 1\u202f%"
    return f"{read * 100 // records if records else 0}\u202f%"


def kept_together(sentence: str) -> str:
    """A sentence of the desk for a page: no line ends between a number and its percent sign."""
    return sentence.replace(" %", "\u202f%")


def kappa(value: float | None) -> str:
    """A value of kappa with two digits; a dash where there is none."""
    return "–" if value is None else f"{value:.2f}".replace("-", "\u2212")


FILTERS = {
    "marked": marked,
    "paragraphs": paragraphs,
    "why_offered": why_offered,
    "read_share": read_share,
    "badge": badge,
    "coded": coded,
    "pool_byline": byline,
    "event_words": event_words,
    "detail_words": detail_words,
    "rule_words": rule_words,
    "exact": exact,
    "kappa": kappa,
    "bound": bound,
    "kept_together": kept_together,
    "assumed": assumed,
    "advantage_words": advantage_words,
    "share": percent,
}
GLOBALS = {
    "label_names": LABEL_NAMES,
    "label_done": LABEL_DONE,
    "stage_names": STAGE_NAMES,
    "chosen_names": CHOSEN_NAMES,
    "class_words": CLASS_WORDS,
    "class_about": CLASS_ABOUT,
    "rule_classes": RULE_CLASSES,
    "compositions": COMPOSITIONS,
    "queriers": QUERIERS,
    "shown_labels": SHOWN_LABELS,
    "stopping_rules": RULES,
    "modes": MODES,
}
