"""Readers and what is made for them: events, profiles, editions, and what the paper thinks a reader likes."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import date, datetime
from enum import StrEnum

from broadsheet.model import Paper, PaperId

EventId = int
DEFAULT_RISK = 0.10
"""The share of entries that a reader is ready to reject for the sake of discoveries."""


class Action(StrEnum):
    """What a reader did. The first five are about a paper and feed the memory; the rest change what was said.

    ``example`` is a paper named at the start, or one from an imported library. ``undo`` takes back the event that
    ``Event.undoes`` names, ``forget`` everything said before about a paper, ``reset`` everything said before.
    """

    OPEN = "open"
    SAVE = "save"
    LIKE = "like"
    DISMISS = "dismiss"
    EXAMPLE = "example"
    UNDO = "undo"
    FORGET = "forget"
    RESET = "reset"


class InterestKind(StrEnum):
    """What can be followed or muted."""

    KEYWORD = "keyword"
    AUTHOR = "author"
    AREA = "area"
    VENUE = "venue"


@dataclass(frozen=True, slots=True, order=True)
class Interest:
    """Something that is followed or muted: a keyword (a word or phrase), an author, an area (``cs.LG``) or a venue."""

    kind: InterestKind
    value: str

    def __str__(self) -> str:
        return f"{self.kind}:{self.value}"


@dataclass(frozen=True, slots=True)
class SavedSearch:
    """A question in the reader's syntax whose new hits join the edition. ``id`` is unique for its reader, from 1."""

    id: int
    name: str
    query: str
    created: datetime


@dataclass(frozen=True, slots=True)
class Profile:
    """What a reader decided, as against what the memory learned.

    ``risk`` in [0, 0.5] is the share of entries the reader is ready to reject for discoveries. ``emphasis`` multiplies
    the weight of a part of the score by its name (1 where it is not named, 0 turns the part off). ``email`` and
    ``webhook`` say where editions are sent; empty is nowhere.
    """

    follows: tuple[Interest, ...] = ()
    mutes: tuple[Interest, ...] = ()
    searches: tuple[SavedSearch, ...] = ()
    risk: float = DEFAULT_RISK
    emphasis: tuple[tuple[str, float], ...] = ()
    email: str = ""
    webhook: str = ""


@dataclass(frozen=True, slots=True)
class Reader:
    """A reader of this library. ``secret`` is the unguessable part of the reader's own addresses."""

    name: str
    secret: str
    created: datetime
    profile: Profile = Profile()


@dataclass(frozen=True, slots=True)
class Event:
    """One thing a reader did; append-only. ``paper`` is 0 for ``reset`` and for the ``undo`` of one.

    ``because`` is why a paper was dismissed: it becomes a mute, which ``undo`` takes back with it. ``edition`` is the
    day of the edition in which the paper stood, where it stood in one.
    """

    id: EventId
    reader: str
    action: Action
    paper: PaperId
    moment: datetime
    because: Interest | None = None
    edition: date | None = None
    undoes: EventId = 0


class SectionKind(StrEnum):
    """The kinds of an edition's sections, in the order in which they are printed."""

    FRONT = "front"
    AREA = "area"
    SEARCH = "search"
    ELSEWHERE = "elsewhere"
    DISCOVERY = "discovery"


@dataclass(frozen=True, slots=True)
class Reason:
    """Why a paper is in the edition: a sentence's part for the reader, and what it was computed from.

    ``kind`` is ``author``, ``area``, ``venue``, ``keyword``, ``search``, ``similar``, ``words``, ``notice``,
    ``usual``, ``variety``, ``discovery`` or ``newest``; ``weight`` ≥ 0 its share of the score; ``papers`` those that it
    speaks of (saved ones).
    """

    kind: str
    text: str
    weight: float = 0.0
    papers: tuple[PaperId, ...] = ()


@dataclass(frozen=True, slots=True)
class Entry:
    """A paper as it was printed. ``parts`` of the score by name; ``propensity`` in (0, 1] is the probability with which
    the policy put it there; ``explored`` marks a discovery."""

    paper: Paper
    score: float
    parts: Mapping[str, float]
    reasons: tuple[Reason, ...]
    propensity: float = 1.0
    explored: bool = False


@dataclass(frozen=True, slots=True)
class Section:
    """A part of an edition. ``key`` is unique in the edition and stable over days (``front``, ``area-cs.LG``…)."""

    kind: SectionKind
    key: str
    title: str
    entries: tuple[Entry, ...]


@dataclass(frozen=True, slots=True)
class Edition:
    """One reader's paper of one day; once printed it does not change.

    ``since`` (exclusive, None for the first) and ``through`` are the announcement days it covers; ``considered`` is the
    number of papers it was chosen from, ``newest_paper`` the greatest id there was. ``basis`` says what the ranking
    went by: ``memory``, ``profile`` (follows only) or ``nothing`` (popularity and diversity). ``notes`` are sentences
    for the reader. ``risk`` and ``cap`` are the declared risk and the likelihood-ratio cap of its discoveries.
    """

    reader: str
    day: date
    made: datetime
    since: date | None
    through: date
    sections: tuple[Section, ...]
    considered: int
    newest_paper: PaperId
    basis: str
    notes: tuple[str, ...] = ()
    risk: float = DEFAULT_RISK
    cap: float = 1.0

    @property
    def entries(self) -> tuple[Entry, ...]:
        """All entries in the order of printing."""
        return tuple(entry for section in self.sections for entry in section.entries)

    def section(self, key: str) -> Section | None:
        """A section by its key."""
        return next((section for section in self.sections if section.key == key), None)


@dataclass(frozen=True, slots=True)
class Today:
    """What to show a reader now: the newest edition, whether it is today's, and what there is to say of today.

    ``note`` is a sentence such as "No announcement: weekend. Next expected Sunday 20:00 ET (2026-12-06)."; ``expected``
    is that moment. ``edition`` is None where nothing could be printed yet.
    """

    edition: Edition | None
    is_new: bool
    note: str = ""
    expected: datetime | None = None


@dataclass(frozen=True, slots=True)
class Period:
    """The best of a week or a month of editions: entries by score, each with the day of its edition.

    ``previous`` and ``following`` are days within the nearest other periods that have editions.
    """

    kind: str
    first: date
    last: date
    entries: tuple[tuple[date, Entry], ...]
    editions: tuple[date, ...]
    previous: date | None
    following: date | None


@dataclass(frozen=True, slots=True)
class RememberedPaper:
    """A paper in the memory: its traces (days, a month, a year) in [−1, 1], and the last action."""

    paper: PaperId
    title: str
    traces: tuple[float, ...]
    action: Action
    moment: datetime


@dataclass(frozen=True, slots=True)
class InterestCentre:
    """One of a reader's several topics: words that tell it apart, its papers, its share in [0, 1] of the memory."""

    words: tuple[str, ...]
    papers: tuple[PaperId, ...]
    share: float


@dataclass(frozen=True, slots=True)
class MemoryView:
    """What the paper thinks a reader likes. ``words``, ``authors``, ``areas`` with weights, greatest first; ``parts``
    of the score with the weights in use, ``size`` of the stored state in bytes."""

    reader: str
    events: int
    papers: tuple[RememberedPaper, ...]
    centres: tuple[InterestCentre, ...]
    words: tuple[tuple[str, float], ...]
    authors: tuple[tuple[str, float], ...]
    areas: tuple[tuple[str, float], ...]
    parts: Mapping[str, float] = field(default_factory=dict)
    size: int = 0
