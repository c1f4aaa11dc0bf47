"""Prints editions: asks the store what is new, lets the desk rank and lay it out, and keeps the result."""

from __future__ import annotations

import threading
import zlib
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import date, datetime, timedelta
from typing import TYPE_CHECKING

import numpy as np

from broadsheet.errors import IndexDamagedError
from broadsheet.feed import archive
from broadsheet.feed.marks import last_actions
from broadsheet.feed.profile import is_muted
from broadsheet.feed.quiet import nothing_near
from broadsheet.feed.window import Window, next_window, notes_on
from broadsheet.learn.memory import day_of, in_force, replayed
from broadsheet.model import Paper, PaperId, SourceStatus
from broadsheet.model.reading import (
    Action,
    Edition,
    Entry,
    Event,
    EventId,
    InterestCentre,
    InterestKind,
    MemoryView,
    Reader,
    Section,
    SectionKind,
)
from broadsheet.sources.arxiv_calendar import missed_days
from broadsheet.text import to_plain

if TYPE_CHECKING:
    from broadsheet.feed.compose import Draw, Placed, Shape
    from broadsheet.feed.desk import Liked, Ranking
    from broadsheet.feed.features import Encoded, Features
    from broadsheet.feed.reasons import Known
    from broadsheet.learn.space import TextSpace
    from broadsheet.library.facade import Library
    from broadsheet.settings import Settings

MOST = 5000  # papers that one edition is chosen from
FITTED = 4000  # recent papers from which words and topics are learned
_AHEAD = 500  # papers dated ahead of today
_DAYS = 100
_GROWTH, _MOST_TIMES = 0.25, 2.0  # of an edition with each further announcement that it takes in, and at most
_HITS = 200  # papers that a saved search looks at


@dataclass(frozen=True)
class Chosen:
    """What an edition is chosen from. ``found`` counts what was new before mutes and what the reader knows were left
    out.

    ``newest`` is the greatest number that any paper had when it was asked, ``last_event`` that of what the reader had
    done.
    """

    window: Window
    papers: tuple[Paper, ...]
    found: int
    newest: PaperId
    last_event: EventId


class Press:
    """Makes editions for the readers of one library. Safe to use from threads: one edition is made at a time."""

    def __init__(self, library: Library) -> None:
        self._library = library
        self._lock = threading.Lock()
        self._features: tuple[str, Features] | None = None
        self._kept_space: TextSpace | None = None

    def chosen(self, reader: Reader, last: Edition | None, today: date) -> Chosen | None:
        """The papers of the reader's next edition; None for a library without dated papers."""
        store = self._library.store
        # Before the papers: what is stored in between comes late, and is not lost.
        newest, last_event = store.reading.newest_paper(), store.reading.last_event(reader.name)
        window = next_window(store.days(_DAYS), last, today)
        if window is None:
            return None
        found = [paper for paper in _asked(self._library, window) if window.holds(paper)]
        numbers = [paper.id for paper in found]
        said = store.reading.events_of(reader.name, [*numbers, 0]).values()
        # What was taken back leaves no trace here; what an edition has shown once is not shown again, come what may.
        known = {event.paper for event in in_force(event for some in said for event in some)}
        known |= store.reading.shown(reader.name, numbers)
        left = [
            paper
            for paper in found
            if paper.id not in known and not paper.is_withdrawn and not is_muted(paper, reader.profile.mutes)
        ]
        return Chosen(window, tuple(left), len(found), newest, last_event)

    def printed(
        self,
        reader: Reader,
        last: Edition | None,
        chosen: Chosen,
        sources: Sequence[SourceStatus],
        now: datetime,
        *,
        wait: float | None = None,
    ) -> Edition | None:
        """The edition of ``now``'s day from what was chosen (at least one paper), stored unless the library is read
        only.

        Where another thread or process printed one meanwhile, be it of the evening before, that one. Where the reader
        said something meanwhile, such as a mute, it is made again by that, and is None where nothing is left. Another
        writer is waited for ``wait`` seconds (None: the store's own), then BusyError is raised.
        """
        store = self._library.store
        with self._lock:
            if found := self._newer(reader, last):
                return found
            made = self._composed(reader, last, chosen, sources, now)
            if store.read_only:
                return made
            with store.writing(wait):
                if found := self._newer(reader, last):
                    return found
                fresh = store.reading.reader(reader.name)
                reader, before = fresh or reader, reader
                if reader != before or store.reading.last_event(reader.name) != chosen.last_event:
                    again = self.chosen(reader, last, now.date())
                    if again is None or not again.papers:
                        return None
                    made = self._composed(reader, last, again, sources, now)  # nobody says anything now
                return store.reading.add_edition(made)

    def _newer(self, reader: Reader, last: Edition | None) -> Edition | None:
        """The reader's newest edition, if it is newer than the last one known of."""
        newest = self._library.store.reading.last_edition(reader.name)
        return newest if newest is not None and (last is None or newest.day > last.day) else None

    def noted(self, edition: Edition) -> Edition:
        """An edition as it is shown: as it was printed, with the notices that its papers have today."""
        papers = self._library.store.papers([entry.paper.id for entry in edition.entries])
        return archive.noted(edition, papers)

    def portrait(self, reader: Reader, now: datetime) -> MemoryView:
        """What the paper thinks the reader likes."""
        from broadsheet.feed.desk import Mind, sides
        from broadsheet.feed.portrait import portrait

        store = self._library.store
        events = store.reading.events(reader.name)
        memory = replayed(events)
        mind = Mind(memory, store.papers(memory.papers_), reader.profile)
        with self._lock:
            features = self._features_of(self._newest_day(now.date()))
            liked, _ = sides(features, mind, day_of(now))
            return portrait(reader.name, events, mind, features, centres_of(features, liked), now=now)

    def space(self, today: date) -> TextSpace:
        """A text space for work that is not of a day: that in use, else the one that was kept, be it of another day;
        where there is neither, that of the newest day is made, which takes seconds.
        """
        from broadsheet.learn.space import TextSpace

        if self._features is not None:
            return self._features[1].space
        if self._kept_space is None:
            path = self._library.settings.index_dir / "daily" / "space.npz"
            try:
                self._kept_space = TextSpace.load(path)[0]
            except (FileNotFoundError, IndexDamagedError):
                with self._lock:
                    self._kept_space = self._kept_space or self._fitted(self._stamp(self._newest_day(today)))[1]
        return self._kept_space

    def _composed(
        self, reader: Reader, last: Edition | None, chosen: Chosen, sources: Sequence[SourceStatus], now: datetime
    ) -> Edition:
        from broadsheet.feed.compose import RELEVANCE, UNKNOWN_RELEVANCE, lay_out
        from broadsheet.feed.desk import Mind, rank
        from broadsheet.feed.reasons import interests_of, speaks_for

        library, settings = self._library, self._library.settings
        events = library.store.reading.events(reader.name)
        memory = replayed(events)
        features = self._features_of(chosen.window.through)
        found_by, trouble = self._found_by(reader, chosen.papers, now.date())
        seed = zlib.crc32(f"{reader.name} {now.date()}".encode())
        mind = Mind(memory, library.store.papers(memory.papers_), reader.profile)
        ranking = rank(chosen.papers, features, mind, found_by, now=now, seed=seed)
        known = known_of(reader, features, ranking.liked, events)
        cap, draw = self._explorer(reader, ranking, features, events, seed)
        shape = _shape(settings, chosen.window, last)
        placed = lay_out(
            ranking.papers,
            ranking.scores,
            ranking.rows.vectors,
            shape,
            found_by=found_by,
            searches=reader.profile.searches,
            areas=ranking.areas,
            followed={one.value for one in reader.profile.follows if one.kind is InterestKind.AREA},
            draw=draw,
            groups=interests_of(ranking, known.centres),
            relevance=UNKNOWN_RELEVANCE if ranking.basis == "nothing" else RELEVANCE,
            speaks=(lambda row: speaks_for(ranking, row, known)) if ranking.basis == "memory" else None,
        )
        sections = tuple(_written(section, ranking, known) for section in placed)
        notes = nothing_near(sections, len(chosen.papers), ranking.basis)
        notes += [*notes_on(chosen.window, last, sources, holidays_of(settings)), *ranking.notes, *trouble]
        notes += self._revised(reader, events, now.date())
        if len(chosen.papers) >= MOST:
            notes.append(f"More than {MOST:,} papers are new; this edition is chosen from the newest of them.")
        return Edition(
            reader=reader.name,
            day=now.date(),
            made=now,
            since=None if last is None else chosen.window.since,
            through=chosen.window.through,
            sections=sections,
            considered=len(chosen.papers),
            newest_paper=chosen.newest,
            basis=ranking.basis,
            notes=tuple(dict.fromkeys(notes)),
            risk=reader.profile.risk,
            cap=cap,
        )

    def _revised(self, reader: Reader, events: Sequence[Event], today: date) -> list[str]:
        """What there is to say of new versions of papers that earlier editions printed."""
        from broadsheet.feed.revisions import LOOKED_BACK, revisions

        reading = self._library.store.reading
        printed = reading.editions_between(reader.name, today - LOOKED_BACK, today - timedelta(days=1))
        papers = self._library.store.papers({entry.paper.id for edition in printed for entry in edition.entries})
        return revisions(printed, papers, last_actions(events), reader.profile.mutes, today)

    def _explorer(
        self, reader: Reader, ranking: Ranking, features: Features, events: Sequence[Event], seed: int
    ) -> tuple[float, Draw]:
        """The cap that the declared risk allows by what became of earlier discoveries, and the draw under it."""
        from broadsheet.feed.discover import drawing
        from broadsheet.learn.explore import calibrated_cap, trials

        store = self._library.store
        log = store.reading.shown_log(reader.name, "discovery")
        holding = in_force(events)  # also of the editions looked at: after a reset nobody knows what was rejected there
        dismissed = {event.paper for event in holding if event.action is Action.DISMISS}
        looked_at = {event.edition for event in holding if event.edition}
        cap = calibrated_cap(trials(log, dismissed, looked_at), reader.profile.risk)
        return cap, drawing(ranking, features, cap, seed, risk=reader.profile.risk)

    def _features_of(self, through: date) -> Features:
        from broadsheet.feed.features import Features, kept_rows

        library = self._library
        stamp = self._stamp(through)
        if self._features is not None and self._features[0] == stamp:
            return self._features[1]
        recent, space = self._fitted(stamp)
        folder, save = library.settings.index_dir / "daily", not library.store.read_only
        of = zlib.crc32(" ".join(str(paper.id) for paper in recent).encode())
        made = kept_rows(folder / "rows.npz", f"{stamp} {of}", recent, space, save=save)
        self._features = stamp, Features(space, recent, made, self._encoded())
        return self._features[1]

    def _newest_day(self, today: date) -> date:
        """The day through which an edition of today goes: papers may bear days to come, which no edition reaches."""
        window = next_window(self._library.store.days(_DAYS), None, today)
        return today if window is None else window.through

    def _stamp(self, through: date) -> str:
        # A library that has grown to twice its size is another one, be the day the same.
        return f"{through} {self._library.store.counts().papers.bit_length()}"

    def _fitted(self, stamp: str) -> tuple[list[Paper], TextSpace]:
        """The recent papers, and the text space that is fitted on them or kept under this stamp."""
        from broadsheet.learn.space import kept_space, text_of

        library = self._library
        recent = library.store.reading.recent_papers(FITTED)

        def texts() -> list[str]:
            return [text_of(paper) for paper in recent]

        path = library.settings.index_dir / "daily" / "space.npz"
        return recent, kept_space(path, stamp, texts, save=not library.store.read_only)

    def _encoded(self) -> Encoded:
        """The vectors in service, where there are any; opens the encoder that made them."""
        vectors = self._library.vectors

        def encoded(papers: Sequence[PaperId]) -> np.ndarray | None:
            pair = vectors.answering() if vectors.count() else None  # another encoder may be in service meanwhile
            return None if pair is None else pair.vectors.get(np.array(papers, np.int64))[0]

        return encoded

    def _found_by(self, reader: Reader, papers: Sequence[Paper], today: date) -> tuple[dict[int, list[int]], list[str]]:
        """Rows that each saved search finds, and what there is to say where they could not be asked."""
        from broadsheet.feed.searches import new_hits

        if not reader.profile.searches:
            return {}, []

        def ask(text: str, sort: str) -> list[PaperId]:
            found = self._library.searcher.search(text, page_size=_HITS, sort=sort, today=today)
            return [hit.paper.id for hit in found.hits]

        try:
            return {one.id: new_hits(one.query, papers, ask, today) for one in reader.profile.searches}, []
        except IndexDamagedError as error:
            return {}, [f"Saved searches could not be asked: {error}"]


def known_of(reader: Reader, features: Features, liked: Liked | None, events: Sequence[Event]) -> Known:
    """What reasons speak of."""
    from broadsheet.feed.reasons import Known

    return Known(features.space, centres_of(features, liked), reader.profile.searches, last_actions(events))


def centres_of(features: Features, liked: Liked | None) -> tuple[InterestCentre, ...]:
    """The reader's several topics, by what is remembered for long."""
    from broadsheet.learn.centres import interest_centres

    if liked is None:
        return ()
    return interest_centres(
        [paper.id for paper in liked.papers],
        liked.traces[:, -1],
        words=liked.rows.words,
        topics=liked.rows.topics,
        space=features.space,
        texts={paper.id: f"{to_plain(paper.title)}. {to_plain(paper.abstract)}" for paper in liked.papers},
    )


def _shape(settings: Settings, window: Window, last: Edition | None) -> Shape:
    """How large an edition is: one that catches up grows by a quarter with each further announcement, to twice."""
    from broadsheet.feed.compose import Shape

    days = (
        1 if last is None else len(missed_days(last.through, window.through + timedelta(days=1), holidays_of(settings)))
    )
    times = min(1 + _GROWTH * max(days - 1, 0), _MOST_TIMES)
    front, section = (round(size * times) for size in (settings.front_size, settings.section_size))
    return Shape(front, section, settings.sections, settings.discovery_size)


def _asked(library: Library, window: Window) -> list[Paper]:
    reading = library.store.reading
    found = reading.candidates(window.since, window.through, window.newer_than, window.late_since, MOST)
    ahead = reading.candidates(date.max, date.max, window.newer_than, window.ahead + timedelta(days=1), _AHEAD)
    return list({paper.id: paper for paper in [*found, *ahead]}.values())


def _written(placed: Placed, ranking: Ranking, known: Known) -> Section:
    from broadsheet.feed.reasons import reasons_for

    entries = []
    front = placed.kind is SectionKind.FRONT
    best = set(np.argsort(-ranking.scores, kind="stable")[: len(placed.rows)].tolist()) if front else set()
    for place, row in enumerate(placed.rows):
        parts = {name: round(float(values[row]), 4) for name, values in ranking.parts.items() if values[row]}
        entries.append(
            Entry(
                paper=ranking.papers[row],
                score=round(float(ranking.scores[row]), 4),
                parts=parts,
                reasons=reasons_for(
                    ranking,
                    row,
                    placed.kind,
                    known,
                    explored=row in placed.drawn and placed.drawn[row].explored,
                    area=placed.key.removeprefix("area-") if placed.kind is SectionKind.AREA else "",
                    varied=placed.rows[:place] if front and row not in best else (),
                ),
                propensity=placed.drawn[row].propensity if row in placed.drawn else 1.0,
                explored=row in placed.drawn and placed.drawn[row].explored,
            )
        )
    return Section(placed.kind, placed.key, placed.title, tuple(entries))


def holidays_of(settings: Settings) -> frozenset[date]:
    """The days of the setting ``arxiv_holidays``; what is no day is told when the sources are opened."""
    found = set()
    for text in settings.arxiv_holidays:
        try:
            found.add(date.fromisoformat(text))
        except ValueError:
            continue
    return frozenset(found)
