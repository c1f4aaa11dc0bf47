"""The daily paper as the library offers it: readers, what they say, their editions and what is remembered of them."""

from __future__ import annotations

import secrets
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from datetime import UTC, date, datetime
from itertools import islice
from typing import TYPE_CHECKING, Any

from broadsheet.errors import InputError, NotFoundError
from broadsheet.feed import archive
from broadsheet.feed.asking import check_interest, check_question
from broadsheet.feed.marks import ABOUT_A_PAPER, already, marks
from broadsheet.feed.options import checked_name, checked_options, composed_name
from broadsheet.feed.profile import is_muted, normalised, with_interest, without_interest
from broadsheet.feed.window import expected, is_due, why_nothing
from broadsheet.ingest import time_of
from broadsheet.library.asking import meant
from broadsheet.library.deeds import came_with_another, undoing
from broadsheet.library.personal import Tastes, holding
from broadsheet.library.press import Chosen, Press, holidays_of
from broadsheet.library.transfer import exported, imported
from broadsheet.model import Paper, PaperId
from broadsheet.model.reading import (
    Action,
    Edition,
    Event,
    EventId,
    Interest,
    MemoryView,
    Period,
    Profile,
    Reader,
    SavedSearch,
    Today,
)

if TYPE_CHECKING:
    from broadsheet.library.facade import Library
    from broadsheet.search.searcher import Likeness

_FEED = 50


class Daily:
    """Reached as ``library.daily``. ``name`` is a reader's name, "" the default reader's (setting ``reader``).

    Methods may be called from any thread. All raise NotFoundError for a reader that there is not (the default one is
    made when it is first needed), and StoreError and its kinds as the store does.
    """

    def __init__(self, library: Library) -> None:
        self._library = library
        self._press = Press(library)
        self._tastes = Tastes(library.store, self._press.space)

    @property
    def _store(self) -> Any:
        return self._library.store.reading

    # Readers

    def readers(self) -> list[Reader]:
        """All readers, oldest first."""
        found: list[Reader] = self._store.readers()
        return found

    def reader(self, name: str = "") -> Reader:
        """A reader. The default one is made when it is missing; for others NotFoundError names those there are."""
        wanted = composed_name(name or self._library.settings.reader)
        found: Reader | None = self._store.reader(wanted)
        if found is not None:
            return found
        if wanted != composed_name(self._library.settings.reader):
            there = ", ".join(reader.name for reader in self.readers()) or "none"
            raise NotFoundError(f"no reader {wanted!r}; there are: {there}. Add one: broadsheet readers add {wanted}")
        made = Reader(checked_name(wanted), _secret(), _now())
        if self._library.store.read_only:
            return made
        stored: Reader = self._store.add_reader(made)
        return stored

    def reader_by_secret(self, secret: str) -> Reader:
        """The reader whose addresses hold this secret. Raises NotFoundError, which does not repeat it."""
        found: Reader | None = self._store.reader_by_secret(secret)
        if found is None:
            raise NotFoundError("this address belongs to no reader; its secret may have been renewed")
        return found

    def add_reader(self, name: str) -> Reader:
        """Add a reader. Raises InputError for a name that cannot be or is taken.

        Names have up to 40 letters of any script, digits, dots, hyphens and underscores.
        """
        made = Reader(checked_name(name), _secret(), _now())
        stored: Reader = self._store.add_reader(made)
        if stored.secret != made.secret:
            raise InputError(f"there is a reader {made.name!r} already; choose another name")
        return stored

    def remove_reader(self, name: str) -> None:
        """Remove a reader with everything of theirs."""
        self._store.remove_reader(composed_name(name))

    def renew_secret(self, name: str = "") -> Reader:
        """The reader with a new secret: all addresses given out before lead nowhere."""
        reader = self.reader(name)
        self._store.set_secret(reader.name, _secret())
        return self.reader(reader.name)

    # What a reader decides

    def follow(self, interest: Interest, name: str = "") -> Reader:
        """Follow something, as a person writes it; what was muted before is not any more.

        Raises InputError for what says nothing, such as a word of every paper.
        """
        wanted = normalised(interest)
        check_interest(wanted)
        return self._change(
            name,
            lambda old: replace(
                old, follows=with_interest(old.follows, wanted), mutes=without_interest(old.mutes, wanted)
            ),
        )

    def unfollow(self, interest: Interest, name: str = "") -> Reader:
        """Follow something no longer."""
        wanted = normalised(interest)
        return self._change(name, lambda old: replace(old, follows=without_interest(old.follows, wanted)))

    def mute(self, interest: Interest, name: str = "") -> Reader:
        """Never print what this means; what was followed before is not any more. Raises InputError as ``follow``."""
        wanted = normalised(interest)
        check_interest(wanted)
        return self._change(
            name,
            lambda old: replace(
                old, mutes=with_interest(old.mutes, wanted), follows=without_interest(old.follows, wanted)
            ),
        )

    def unmute(self, interest: Interest, name: str = "") -> Reader:
        """Mute something no longer."""
        wanted = normalised(interest)
        return self._change(name, lambda old: replace(old, mutes=without_interest(old.mutes, wanted)))

    def meant(self, interest: Interest) -> list[str]:
        """What there is to say of an interest: how many papers of the library it means, and what may be wrong with it.
        Raises InputError for one that says nothing."""
        return meant(self._library, normalised(interest))

    def save_search(self, query: str, label: str = "", name: str = "") -> SavedSearch:
        """Keep a question whose new hits join the edition; one that is kept already takes the new label, if any.

        Raises InputError for a question that asks for nothing.
        """
        text, shown = " ".join(query.split()), " ".join(label.split())
        check_question(text)
        made: list[SavedSearch] = []

        def change(old: Profile) -> Profile:
            known = next((one for one in old.searches if one.query == text), None)
            if known is None:
                number = max((one.id for one in old.searches), default=0) + 1
                made.append(SavedSearch(number, shown or text, text, _now()))
                return replace(old, searches=(*old.searches, made[0]))
            made.append(replace(known, name=shown or known.name))
            return replace(old, searches=tuple(made[0] if one.id == known.id else one for one in old.searches))

        self._change(name, change)
        return made[0]

    def drop_search(self, id: int, name: str = "") -> Reader:
        """Keep a search no longer. Raises NotFoundError."""
        self._search(self.reader(name), id)
        return self._change(name, lambda old: replace(old, searches=tuple(one for one in old.searches if one.id != id)))

    def set_options(
        self,
        name: str = "",
        *,
        risk: float | None = None,
        email: str | None = None,
        webhook: str | None = None,
        emphasis: Mapping[str, float] | None = None,
    ) -> Reader:
        """Change what is given. Raises InputError for a value out of range or an address that cannot be one.

        ``risk`` in [0, 0.5]; ``emphasis`` in [0, 10] by part of the score replaces what was there.
        """
        changes = checked_options(risk, email, webhook, emphasis)
        return self._change(name, lambda old: replace(old, **changes))

    # Editions

    def today(self, name: str = "", *, now: datetime | None = None, wait: float | None = None) -> Today:
        """Print the reader's edition if one is due, and what there is to show now.

        ``now`` is in the reader's time zone (this machine's where it is left out): its date is the edition's. A
        library that is open for reading only shows what would be printed, and keeps nothing. Raises InputError for a
        ``now`` without a zone, BusyError while another process writes, after ``wait`` seconds (None: the store's own).
        """
        moment = _aware(now)
        reader = self.reader(name)
        last: Edition | None = self._store.last_edition(reader.name)
        if last is not None and last.day >= moment.date():
            return Today(self._press.noted(last), True)
        sources = self._library.sources()
        chosen = self._press.chosen(reader, last, moment.date())
        if chosen is not None and self._is_due(chosen, last, moment):
            made = self._press.printed(reader, last, chosen, sources, moment, wait=wait)
            if made is None:  # all of it was muted, or read, while the edition was made
                return self.today(reader.name, now=moment, wait=wait)
            unkept = "Not kept: the library is open for reading only." if self._library.store.read_only else ""
            return Today(made, made.day >= moment.date(), unkept)
        extra = holidays_of(self._library.settings)
        note = why_nothing(moment, sources, last, dated=chosen is not None, extra=extra)
        if chosen is not None and chosen.papers:
            note = f"Came late and joins the next edition: {len(chosen.papers):,}. {note}"
        elif chosen is not None and chosen.found:
            note = f"Nothing is left of what is new ({chosen.found:,}): muted, withdrawn, or known to you. {note}"
        shown = None if last is None else self._press.noted(last)
        return Today(shown, False, note, expected(moment, sources, extra))

    def newest(self, name: str = "", *, printing: bool = True, wait: float | None = None) -> Edition | None:
        """The reader's newest edition, printed now (as by ``today``) if one is due and ``printing`` is set; None before
        the first."""
        reader = self.reader(name)
        if printing:
            return self.today(reader.name, wait=wait).edition
        found: Edition | None = self._store.last_edition(reader.name)
        return None if found is None else self._press.noted(found)

    def due(self, name: str = "", *, now: datetime | None = None) -> bool:
        """Whether ``today`` would print an edition."""
        moment = _aware(now)
        reader = self.reader(name)
        last = self._store.last_edition(reader.name)
        if last is not None and last.day >= moment.date():
            return False
        chosen = self._press.chosen(reader, last, moment.date())
        return chosen is not None and self._is_due(chosen, last, moment)

    def edition(self, day: date, name: str = "") -> Edition:
        """The edition of a day. Raises NotFoundError, which names the nearest days."""
        reader = self.reader(name)
        found: Edition | None = self._store.edition(reader.name, day)
        if found is None:
            raise archive.not_printed(day, self._store.edition_days(reader.name))
        return self._press.noted(found)

    def edition_days(self, name: str = "") -> list[date]:
        """Days with an edition, newest first."""
        found: list[date] = self._store.edition_days(self.reader(name).name)
        return found

    def period(self, kind: str, day: date, name: str = "") -> Period:
        """The best of the ``week`` or ``month`` of a day. Raises InputError, NotFoundError where it has no edition."""
        reader = self.reader(name)
        first, last = archive.bounds(kind, day)
        editions = map(self._press.noted, self._store.editions_between(reader.name, first, last))
        return archive.period(kind, day, list(editions), self._store.edition_days(reader.name))

    # What a reader does

    def act(
        self,
        action: Action,
        paper: int | str,
        name: str = "",
        *,
        because: Interest | None = None,
        edition: date | None = None,
        wait: float | None = None,
    ) -> Event:
        """Note what a reader did with a paper; what holds already is not noted again (openings once a day).

        ``because`` (only with ``dismiss``) becomes a mute, and is no part of the event where the reader had muted it
        before. ``wait`` is how many seconds to wait for another writer (the store's own where it is None). Raises
        InputError for an action that is not about a paper, NotFoundError for a paper that there is not.
        """
        if action not in ABOUT_A_PAPER:
            raise InputError(f"{action} is not about one paper; use undo, forget or reset")
        if because is not None and action is not Action.DISMISS:
            raise InputError(f"a reason goes with {Action.DISMISS} only, not with {action}")
        reader, number = self.reader(name), self._library.paper(paper).id
        why, now = (normalised(because) if because else None), _now()
        with self._library.store.writing(wait):
            profile = self.reader(reader.name).profile
            muted = replace(profile, mutes=with_interest(profile.mutes, why)) if why else profile
            if why and muted == profile and not came_with_another(self._store, reader.name, why):
                why = None  # the reader's own mute, which no undo of this event is to take away
            events = self._store.events_of(reader.name, [number, 0])
            listed = sorted((event for some in events.values() for event in some), key=lambda event: event.id)
            if muted == profile and (known := already(listed, action, number, now.astimezone(), why)):
                return known
            made: Event = self._store.add_event(
                Event(0, reader.name, action, number, now, why, edition), muted if muted != profile else None
            )
        return made

    def undo(self, name: str = "", *, event: EventId | None = None) -> Event | None:
        """Take back an event, or the last thing done (openings apart); None where there is nothing to take back.

        Examples that were taken in together go together, unless one of them is named by ``event``, and so do their
        undos; the last of the new events is given then. A mute that came with a dismissal goes with it. Raises
        NotFoundError for an event that is not the reader's.
        """
        reader = self.reader(name)
        with self._library.store.writing():
            profile = self.reader(reader.name).profile
            targets, changed = undoing(self._store, reader.name, profile, event)
            made = [Event(0, reader.name, Action.UNDO, each.paper, _now(), undoes=each.id) for each in targets]
            if not made:
                return None
            if len(made) == 1 and targets[0].action is not Action.EXAMPLE:
                stored: Event = self._store.add_event(made[0], changed)
                return stored
            self._store.add_events(made, apart=True)
            last: Event = self._store.newest_events(reader.name, [Action.UNDO], 1)[0]
        return last

    def remembers(self, name: str = "") -> bool:
        """Whether anything speaks in a paper's favour: an opening, a saved or liked paper, an example."""
        return next(holding(self._store, self.reader(name).name, ABOUT_A_PAPER - {Action.DISMISS}), None) is not None

    def likeness(self, name: str = "", *, now: datetime | None = None, neighbours: bool = False) -> Likeness:
        """How near papers are to what the reader likes: numbers of papers to float64 [papers] in [0, 1], or None where
        nothing is remembered. Made for the order of search results, or of a paper's ``neighbours``: then no remembered
        paper speaks for itself. Raises InputError for a ``now`` without a zone.
        """
        return self._tastes.likeness(self.reader(name).name, _aware(now), neighbours=neighbours)

    def marks(self, papers: Sequence[PaperId], name: str = "") -> dict[PaperId, dict[Action, EventId]]:
        """What holds of papers, with the event that an undo takes back; those of which nothing does are left out."""
        # With the resets, which are about no paper. What a reader ever did may be long.
        events = self._store.events_of(self.reader(name).name, [*papers, 0]).values()
        found = marks(event for some in events for event in some)
        return {paper: found[paper] for paper in papers if paper in found}

    def saved(self, name: str = "", limit: int = 50, before: EventId | None = None) -> list[tuple[Paper, Event]]:
        """Saved papers with the event that saved them, newest first; only those of events below ``before``."""
        chosen = list(islice(holding(self._store, self.reader(name).name, [Action.SAVE], before), limit))
        papers = self._library.store.papers([event.paper for event in chosen])
        return [(papers[event.paper], event) for event in chosen if event.paper in papers]

    def examples(self, papers: Iterable[int | str], name: str = "") -> int:
        """Take papers as examples of what the reader likes; how many were new. Raises NotFoundError before any is
        taken.
        """
        found, now = [self._library.paper(paper) for paper in papers], _now()
        return self._add_examples(self.reader(name), [(paper.id, now) for paper in found])

    def examples_from_library(self, name: str = "", *, sources: Sequence[str] = ()) -> int:
        """Take every paper that the reader filed in a library of their own (Zotero, BibTeX), at the time it was filed.

        ``sources`` narrows to records of these sources. How many were new.
        """
        now, wanted = _now(), set(sources)
        filed = [
            (paper.id, min(paper.added.astimezone(UTC), now))
            for paper in self._library.store.iterate_papers()
            if paper.added and (not wanted or wanted & {place.source for place in paper.places})
        ]
        return self._add_examples(self.reader(name), sorted(filed, key=lambda pair: pair[1]))

    def events(self, name: str = "") -> list[Event]:
        """Everything the reader did, in order."""
        found: list[Event] = self._store.events(self.reader(name).name)
        return found

    # The memory

    def memory(self, name: str = "") -> MemoryView:
        """What the paper thinks the reader likes."""
        return self._press.portrait(self.reader(name), _aware(None))

    def forget(self, paper: int | str, name: str = "") -> Event:
        """Forget everything said of a paper before. Raises NotFoundError."""
        return self._noted(name, Action.FORGET, self._library.paper(paper).id)

    def reset(self, name: str = "") -> Event:
        """Forget everything said before; follows, mutes, searches and editions stay."""
        return self._noted(name, Action.RESET, 0)

    def export(self, name: str = "") -> dict[str, Any]:
        """Profile, events (their papers with identifiers and titles) and memory as values for JSON."""
        reader = self.reader(name)
        return exported(self._library.store, reader, self._store.events(reader.name))

    def import_(self, record: Mapping[str, Any], name: str = "") -> dict[str, int]:
        """Take what ``export`` gave, of this library or another, beside what is there.

        Counts: ``events`` taken, ``known`` already, ``missing`` (their papers are not in this library), ``interests``.
        Raises InputError naming the field that cannot be read; then nothing is taken.
        """
        with self._library.store.writing():
            return imported(self._library.store, self.reader(name), record)

    def search_feed(self, search_id: int, name: str = "") -> list[Paper]:
        """The newest papers that a saved search finds, without muted ones. Raises NotFoundError."""
        reader = self.reader(name)
        search = self._search(reader, search_id)
        hits = self._library.search(search.query, page_size=_FEED, sort="newest").hits
        return [hit.paper for hit in hits if not is_muted(hit.paper, reader.profile.mutes)]

    # Deliveries

    def delivered(self, name: str, day: date, channel: str) -> bool:
        """Whether the edition of a day was sent by a channel."""
        found = self._store.deliveries(self.reader(name).name, day)
        return any(one.channel == channel and one.state == "sent" for one in found)

    def claim_delivery(self, name: str, day: date, channel: str) -> bool:
        """Take it on oneself to send an edition and to record that; False where it was sent, or another is at it."""
        found: bool = self._store.claim_delivery(self.reader(name).name, day, channel, now=_now())
        return found

    def record_delivery(self, name: str, day: date, channel: str, state: str, message: str = "") -> None:
        """Keep what became of sending an edition: ``sent``, or ``failed`` and why."""
        self._store.add_delivery(self.reader(name).name, day, channel, state, message, now=_now())

    # Behind it

    def _is_due(self, chosen: Chosen, last: Edition | None, now: datetime) -> bool:
        return is_due(chosen.papers, last, now, time_of(self._library.settings.update_at))

    def _change(self, name: str, change: Callable[[Profile], Profile]) -> Reader:
        reader = self.reader(name)
        with self._library.store.writing():
            old = self.reader(reader.name)
            new = change(old.profile)
            if new != old.profile:
                self._store.set_profile(old.name, new)
        return replace(old, profile=new)

    def _search(self, reader: Reader, number: int) -> SavedSearch:
        found = next((one for one in reader.profile.searches if one.id == number), None)
        if found is None:
            known = ", ".join(f"{one.id} ({one.name})" for one in reader.profile.searches) or "none"
            raise NotFoundError(f"{reader.name} has no saved search {number}; there are: {known}")
        return found

    def _noted(self, name: str, action: Action, paper: PaperId) -> Event:
        made: Event = self._store.add_event(Event(0, self.reader(name).name, action, paper, _now()))
        return made

    def _add_examples(self, reader: Reader, papers: Sequence[tuple[PaperId, datetime]]) -> int:
        with self._library.store.writing():
            events = self._store.events_of(reader.name, [*(paper for paper, _ in papers), 0]).values()
            held = marks(event for some in events for event in some)
            known = {paper for paper, actions in held.items() if Action.EXAMPLE in actions}
            new = {paper: moment for paper, moment in papers if paper not in known}
            count: int = self._store.add_events(
                [Event(0, reader.name, Action.EXAMPLE, paper, moment) for paper, moment in new.items()], apart=True
            )
        return count


def _secret() -> str:
    return secrets.token_urlsafe(24)


def _aware(now: datetime | None) -> datetime:
    if now is None:
        return datetime.now().astimezone()
    if now.tzinfo is None:
        raise InputError("now: a time without a zone; give one such as datetime.now().astimezone()")
    return now


def _now() -> datetime:
    return datetime.now(UTC)
