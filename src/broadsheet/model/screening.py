"""Systematic reviews: the records to screen, what screeners decided, and what can be said about what was missed.

A review owns its records: they are kept as they came, whatever becomes of the library's papers later. Everything that
changes a review is an event, append-only; its state, the ranking and every statement are derived from records and
events, so that an exported review can be replayed.
"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum

from broadsheet.model import Identifier, Link, PaperId

ReviewId = int
RecordNumber = int
"""The place of a record in its review's pool, from 1; never used again."""
ReviewEventId = int

DEFAULT_TARGET = 0.95
DEFAULT_CONFIDENCE = 0.95


class Stage(StrEnum):
    """The two stages of screening; the second has the records that were included in the first."""

    ABSTRACT = "abstract"
    FULL_TEXT = "full-text"


class Label(StrEnum):
    """What was decided of a record. ``later`` counts as unread: nothing is concluded from it."""

    INCLUDE = "include"
    EXCLUDE = "exclude"
    LATER = "later"


class Chosen(StrEnum):
    """How a record came before the screener: what the stopping rules may conclude from it depends on this.

    ``prior``: known before screening; ``ranked``: the best by the model's order; ``audit``: the next of the audit's
    random order; ``random``: drawn by the screener's wish, outside an audit; ``manual``: picked by a person.
    """

    PRIOR = "prior"
    RANKED = "ranked"
    AUDIT = "audit"
    RANDOM = "random"
    MANUAL = "manual"


class Sharing(StrEnum):
    """``shared``: each record is decided once, by any screener; ``blinded``: by every screener, not seeing others."""

    SHARED = "shared"
    BLINDED = "blinded"


class GuaranteeClass(StrEnum):
    """What a stopping rule's statement rests on."""

    DISTRIBUTION_FREE = "distribution-free"
    ASSUMPTION = "under a stated assumption"
    NONE = "no guarantee"


@dataclass(frozen=True, slots=True)
class Criterion:
    """An inclusion or exclusion criterion; ``code`` is short, unique in its plan, and what a reason refers to."""

    code: str
    text: str
    excludes: bool = True


STOPPING_RULES = (
    "rank-advantage",
    "distribution-free",
    "hypergeometric",
    "two-phase",
    "irrelevant-in-a-row",
    "chao",
    "budget",
)
"""The names of all stopping rules; but for the first two they are rules of thumb."""


@dataclass(frozen=True, slots=True)
class StoppingPlan:
    """When to stop: declared before it is looked at, and shown with every statement.

    ``rule`` is one of ``STOPPING_RULES``, or several joined by "and" or by "or". ``target`` recall and ``confidence``
    lie in (0, 1). ``advantage`` is b ≥ 1 of the assumption "the ranking finds at least b times as fast as random
    reading"; ``floor`` the recall that must hold whatever the ranking does before a statement under the assumption is
    made. ``in_a_row`` and ``budget`` (records) are of the rules of thumb.
    """

    rule: str = "rank-advantage"
    target: float = DEFAULT_TARGET
    confidence: float = DEFAULT_CONFIDENCE
    advantage: float = 2.0
    floor: float = 0.5
    in_a_row: int = 50
    budget: int = 0


@dataclass(frozen=True, slots=True)
class Plan:
    """What a review is about and how it is done; every change of it is an event.

    ``description`` is prior knowledge in words: it ranks records before any is known to be relevant. ``terms`` are
    the screener's own words to highlight; those that start with ``-`` speak against. ``screeners`` may be empty: then
    anyone may decide. ``model`` names a composition of ``learn.screening``; empty is the default. ``seed`` decides all
    that is random.
    """

    question: str = ""
    criteria: tuple[Criterion, ...] = ()
    description: str = ""
    terms: tuple[str, ...] = ()
    sharing: Sharing = Sharing.SHARED
    screeners: tuple[str, ...] = ()
    stopping: StoppingPlan = StoppingPlan()
    model: str = ""
    querier: str = "max-relevance"
    seed: int = 0


@dataclass(frozen=True, slots=True)
class Review:
    """A review with the plan as it stands. ``name`` is unique in its library."""

    id: ReviewId
    name: str
    created: datetime
    plan: Plan = Plan()


@dataclass(frozen=True, slots=True)
class PoolRecord:
    """A record to screen, as it came: plain text, title or abstract may be empty but not both.

    ``twin`` is the number of the record that it repeats, by the rules of merging when it was added, or 0: such a record
    is not screened itself. ``source`` is the file or search it came from, ``key`` its entry there. ``paper`` is the
    library's paper, or 0. ``label`` and ``note`` are what the file said (``ASReview_relevant`` and its like), else None
    and empty; a label that came so is prior knowledge.

    ``kind`` is the type of publication and ``details`` are further bibliographic fields, as in ``Record``;
    ``published`` is the day or the month of it in ISO 8601, and ``links`` are addresses beside ``url``. They are for
    exports: nothing is learned from them.
    """

    number: RecordNumber
    title: str
    abstract: str = ""
    authors: tuple[str, ...] = ()
    year: int | None = None
    venue: str = ""
    identifiers: tuple[Identifier, ...] = ()
    keywords: tuple[str, ...] = ()
    url: str = ""
    source: str = ""
    key: str = ""
    paper: PaperId = 0
    twin: RecordNumber = 0
    label: Label | None = None
    note: str = ""
    kind: str = ""
    published: str = ""
    links: tuple[Link, ...] = ()
    details: tuple[tuple[str, str], ...] = ()


class ReviewEventKind(StrEnum):
    """What happened to a review.

    ``create`` and ``plan`` carry the plan in ``detail``; ``add`` the source, how many entries it had, were kept, were
    refused and repeat others (JSON in ``detail``). ``source`` gives additions a name and a kind (JSON in ``detail``:
    their numbers, counted from 1, as ``additions``, ``called`` and ``kind``). ``decide`` is one screener's decision,
    ``resolve`` the decision on a conflict, ``undo`` takes back the event ``undoes``. ``twin`` says that ``record``
    repeats ``other``, ``apart`` that it repeats none of those it was taken for, ``different`` that it is not ``other``,
    however alike they look. ``audit`` begins the audit: the seed of its order is in ``detail``. ``stop`` keeps a stop
    statement, ``reopen`` takes screening up again.
    """

    CREATE = "create"
    PLAN = "plan"
    ADD = "add"
    SOURCE = "source"
    DECIDE = "decide"
    RESOLVE = "resolve"
    UNDO = "undo"
    TWIN = "twin"
    APART = "apart"
    DIFFERENT = "different"
    AUDIT = "audit"
    STOP = "stop"
    REOPEN = "reopen"


@dataclass(frozen=True, slots=True)
class ReviewEvent:
    """One thing that happened to a review; append-only.

    ``model`` is the version of the ranking that offered the record: the composition's name, its features and, after
    ``@``, the last event it had learned from. ``place`` is the record's place in that ranking among ``unread`` records
    then (0 is the top), both 0 where it was not ranked. ``detail`` is JSON, or empty.
    """

    id: ReviewEventId
    review: ReviewId
    kind: ReviewEventKind
    screener: str
    moment: datetime
    record: RecordNumber = 0
    stage: Stage = Stage.ABSTRACT
    label: Label | None = None
    chosen: Chosen | None = None
    reasons: tuple[str, ...] = ()
    note: str = ""
    other: RecordNumber = 0
    undoes: ReviewEventId = 0
    model: str = ""
    place: int = 0
    unread: int = 0
    detail: str = ""


@dataclass(frozen=True, slots=True)
class Highlight:
    """A span of a text, in characters, and what it speaks for: above 0 for inclusion, below against.

    ``origin`` is ``reader`` (a term of the plan), ``model`` or ``sentence`` (the sentence that decided most).
    """

    start: int
    end: int
    weight: float
    origin: str


@dataclass(frozen=True, slots=True)
class Offer:
    """A record put before a screener, how it was chosen, and what is to be seen in it."""

    record: PoolRecord
    chosen: Chosen
    model: str = ""
    place: int = 0
    unread: int = 0
    title_highlights: tuple[Highlight, ...] = ()
    abstract_highlights: tuple[Highlight, ...] = ()


@dataclass(frozen=True, slots=True)
class StopReport:
    """What one stopping rule says at one moment.

    ``recall`` is the lower bound on recall that holds with ``confidence``, None where no estimate is possible (also for
    rules without a guarantee); ``missing`` the upper bound on relevant records unread. ``further`` estimates how many
    more records it takes to reach the target if nothing more is found, None where unknown. ``refuted`` says that the
    audit has refuted the assumption. ``advantage`` estimates how many times better than random the ranking is, from
    where the audit's finds stood in it, with its 95 % interval ``advantage_interval``; None where there was no such
    find. ``wants`` is what should be read next: ``ranked``, ``audit`` or empty.
    ``sentence`` says all of it in words.
    """

    rule: str
    guarantee: GuaranteeClass
    stop: bool
    sentence: str
    target: float
    confidence: float
    recall: float | None = None
    missing: int | None = None
    further: int | None = None
    assumption: str = ""
    refuted: bool = False
    advantage: float | None = None
    advantage_interval: tuple[float, float] | None = None
    wants: str = ""


@dataclass(frozen=True, slots=True)
class CurvePoint:
    """After ``read`` records: how many were relevant, and the lower bound on recall then (None: no estimate)."""

    read: int
    found: int
    recall: float | None


@dataclass(frozen=True, slots=True)
class ReviewProgress:
    """Where screening stands. ``records`` are those to screen (repeats are not counted), ``read`` those with a final
    label, ``found`` those of them that are included; ``later`` and ``conflicts`` are unread. ``phase`` is ``ranked``,
    ``audit`` or ``done``. ``report`` is of the declared rule, ``others`` of rules for comparison. ``methods`` is a
    sentence for a paper's methods section. ``superseded`` says in a sentence that the statement which was kept when
    screening was stopped is not of these labels any more; empty where it is, or none was kept.
    """

    review: Review
    stage: Stage
    records: int
    repeats: int
    read: int
    found: int
    later: int
    conflicts: int
    phase: str
    report: StopReport
    others: tuple[StopReport, ...] = ()
    curve: tuple[CurvePoint, ...] = ()
    methods: str = ""
    model: str = ""
    training: bool = False
    superseded: str = ""


@dataclass(frozen=True, slots=True)
class Standing:
    """How far the first stage of a review is, by its decisions alone: for lists. ``last`` is when something happened
    last, ``stopped`` whether screening was ended."""

    review: Review
    records: int
    repeats: int
    read: int
    found: int
    conflicts: int
    last: datetime
    stopped: bool


@dataclass(frozen=True, slots=True)
class Conflict:
    """A record that screeners decided differently: each one's last decision."""

    record: PoolRecord
    stage: Stage
    decisions: tuple[ReviewEvent, ...]


@dataclass(frozen=True, slots=True)
class PossibleRepeat:
    """Two records that look like one, but not enough to be taken for it: a person says what they are.

    ``record`` came before ``other``; ``likeness`` is that of their titles, from 0 to 1; ``why`` says in a sentence what
    speaks for it, and what kept them apart.
    """

    record: PoolRecord
    other: PoolRecord
    likeness: float
    why: str


@dataclass(frozen=True, slots=True)
class Agreement:
    """How far two screeners agree on the ``both`` records that both decided (``later`` left out).

    ``kappa`` is Cohen's (1960), None where chance agreement is 1 or nothing was decided by both. ``interval`` is its
    95 % interval by the large-sample variance of Fleiss, Cohen and Everitt (1969), None with it.
    """

    first: str
    second: str
    both: int
    agreed: float | None
    kappa: float | None
    interval: tuple[float, float] | None


class SourceKind(StrEnum):
    """What a source is, as the PRISMA 2020 flow diagram tells them apart; ``other`` are websites, organisations,
    citation searching and the like."""

    DATABASE = "database"
    REGISTER = "register"
    OTHER = "other"


@dataclass(frozen=True, slots=True)
class PoolSource:
    """One addition to a pool: the ``number``-th, from 1 (0: records that were there before any). ``source`` is its file
    or search, ``name`` what it is called in reports, else the same. ``entries`` = ``added`` + ``refused``."""

    number: int
    source: str
    name: str
    kind: SourceKind
    entries: int
    added: int
    refused: int
    moment: datetime | None


@dataclass(frozen=True, slots=True)
class PrismaCounts:
    """The numbers of the PRISMA 2020 flow diagram for new reviews (Page et al., BMJ 372:n71, 2021).

    ``identified`` is by source, each with its kind in ``kinds`` (none: all are databases); ``removed_other`` are
    entries that could not be screened, without title and abstract; ``not_screened`` are records that are left unread,
    and ``unread_because`` says why. ``reasons`` counts the exclusions at full text by reason, most first.

    The counts of ``identified`` are those of ``duplicates``, ``removed_other``, ``not_screened`` and ``screened``.
    """

    identified: tuple[tuple[str, int], ...]
    duplicates: int
    removed_other: int
    not_screened: int
    screened: int
    excluded: int
    sought: int
    not_retrieved: int
    assessed: int
    reasons: tuple[tuple[str, int], ...]
    included: int
    kinds: tuple[SourceKind, ...] = ()
    unread_because: str = ""


@dataclass(frozen=True, slots=True)
class PoolSummary:
    """What came of filling a pool from one source. ``entries`` = ``added`` + ``refused``; ``repeats`` are of those
    added. ``labelled`` came with a label. ``problems`` name what was refused and where, the first few hundred."""

    source: str
    entries: int
    added: int
    repeats: int
    refused: int
    labelled: int
    problems: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Replay:
    """What came of replaying an exported review: every statement that was kept, made again from its events."""

    events: int
    statements: int
    differences: tuple[str, ...]
