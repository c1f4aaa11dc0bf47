"""What concerns readers: who they are, what they did, the editions printed for them, and the papers to choose from."""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Sequence
from contextlib import AbstractContextManager
from datetime import date, datetime, timedelta
from hashlib import sha256
from typing import Any

from sqlalchemy import Connection, Row, Select, delete, func, insert, or_, select, true, update

from broadsheet.errors import NotFoundError
from broadsheet.model import Paper, PaperId
from broadsheet.model.reading import Action, Edition, Event, EventId, Profile, Reader
from broadsheet.store import schema as s
from broadsheet.store.codec import from_micros, to_micros
from broadsheet.store.codec_reading import (
    edition_from_bytes,
    edition_to_bytes,
    interest_from_json,
    interest_to_json,
    profile_from_json,
    profile_to_json,
)
from broadsheet.store.database import any_of
from broadsheet.store.reads import with_relations
from broadsheet.store.types import Delivery, ShownPaper
from broadsheet.store.writes import take_numbers

_UNSTORABLE = re.compile("[\0\ud800-\udfff]")
_SENT, _SENDING = "sent", "sending"
_CLAIM = timedelta(minutes=10)  # longer than any sending takes; after it, who claimed it is thought dead

Transaction = Callable[[], AbstractContextManager[Connection]]


class ReaderStore:
    """Readers, their events and their editions; reached as ``store.reading``.

    As in Store: from any thread, StoreError and its kinds. What is written about a reader that there is not raises
    NotFoundError; reading about one gives nothing. Events and editions keep the id that a paper had then; the methods
    give the id under which it lives today, where it was merged since.

    Who changes a profile by what stands in it holds ``store.writing()`` from reading it to writing it.
    """

    def __init__(self, reading: Transaction, writing: Transaction) -> None:
        self._reading = reading
        self._writing = writing

    # Readers

    def readers(self) -> list[Reader]:
        """All readers, oldest first."""
        with self._reading() as connection:
            rows = connection.execute(select(s.readers).order_by(s.readers.c.created, s.readers.c.name)).all()
        return [_reader(row) for row in rows]

    def reader(self, name: str) -> Reader | None:
        """A reader by name."""
        with self._reading() as connection:
            if _UNSTORABLE.search(name):  # no database takes these as a question either
                return None
            return _reader_named(connection, name)

    def reader_by_secret(self, secret: str) -> Reader | None:
        """The reader whose secret this is."""
        # Looked up by its digest: how long that takes says nothing about the secret.
        with self._reading() as connection:
            row = connection.execute(select(s.readers).where(s.readers.c.digest == _digest(secret))).one_or_none()
        return _reader(row) if row else None

    def add_reader(self, reader: Reader) -> Reader:
        """Keep a new reader. Where one of that name is stored already, writes nothing and gives the stored one.

        So two processes that make the default reader at once get the same.
        """
        row = {
            "name": reader.name,
            "secret": reader.secret,
            "digest": _digest(reader.secret),
            "created": to_micros(reader.created),
            "profile": profile_to_json(reader.profile),
        }
        with self._writing() as connection:
            stored = _reader_named(connection, reader.name)
            if stored is None:
                connection.execute(insert(s.readers), row)
        return stored or reader

    def set_profile(self, name: str, profile: Profile) -> None:
        """Replace a reader's profile."""
        with self._writing() as connection:
            _change_reader(connection, name, profile=profile_to_json(profile))

    def set_secret(self, name: str, secret: str) -> None:
        """Replace a reader's secret: addresses with the old one lead nowhere any more."""
        with self._writing() as connection:
            _change_reader(connection, name, secret=secret, digest=_digest(secret))

    def remove_reader(self, name: str) -> None:
        """Delete a reader with all events, editions and deliveries, in one transaction."""
        with self._writing() as connection:
            _check_readers(connection, {name})
            for table in (s.events, s.editions, s.shown, s.deliveries):
                connection.execute(delete(table).where(table.c.reader == name))
            connection.execute(delete(s.readers).where(s.readers.c.name == name))

    # Events

    def add_event(self, event: Event, profile: Profile | None = None) -> Event:
        """Keep an event and, in the same transaction, the profile that it changed; the event with its id.

        Raises ValueError for a time without zone.
        """
        with self._writing() as connection:
            if profile is not None:
                _change_reader(connection, event.reader, profile=profile_to_json(profile))
            first = _insert_events(connection, [event])
            row = connection.execute(_events(connection, event.reader).where(s.events.c.id == first)).one()
        return _event(row)

    def add_events(
        self, events: Sequence[Event], profile: tuple[str, Profile] | None = None, *, apart: bool = False
    ) -> int:
        """Keep events in this order and, in the same transaction, the profile of a reader by name; how many events.

        Their ids follow one another. With ``apart`` a number is left free before the first and after the last, by which
        these events can be told from others later (see ``feed.marks.together``).
        ``undoes`` below 0 names another of these events, which gets its id only now: −1 is the first.
        """
        if events or profile:
            with self._writing() as connection:
                if profile:
                    _change_reader(connection, profile[0], profile=profile_to_json(profile[1]))
                if events:
                    _insert_events(connection, events, apart=apart)
        return len(events)

    def events(self, reader: str, *, after: EventId = 0) -> list[Event]:
        """A reader's events after ``after``, in order."""
        with self._reading() as connection:
            return [_event(row) for row in connection.execute(_events(connection, reader, after))]

    def last_event(self, reader: str) -> EventId:
        """The number of the reader's newest event; 0 where there is none."""
        asked = select(func.max(s.events.c.id)).where(s.events.c.reader == reader)
        with self._reading() as connection:
            return connection.scalar(asked) or 0

    def newest_events(
        self, reader: str, actions: Collection[Action], limit: int, *, before: EventId | None = None
    ) -> list[Event]:
        """A reader's events of these actions, newest first; only those below ``before``."""
        with self._reading() as connection:
            asked = _events(connection, reader).where(s.events.c.action.in_([action.value for action in actions]))
            if before is not None:
                asked = asked.where(s.events.c.id < int(before))
            newest = asked.order_by(None).order_by(s.events.c.id.desc()).limit(limit)
            return [_event(row) for row in connection.execute(newest)]

    def events_of(self, reader: str, papers: Collection[PaperId]) -> dict[PaperId, list[Event]]:
        """A reader's events about papers, by the ids asked for, in order; papers without any are left out.

        A reset is about no paper: ask for 0 as well to have those.
        """
        found: dict[PaperId, list[Event]] = {}
        with self._reading() as connection:
            names = _names(connection, papers)
            asked = _events(connection, reader).where(any_of(connection, s.events.c.paper_id, names))
            for event in map(_event, connection.execute(asked)):
                found.setdefault(event.paper, []).append(event)
        return {int(paper): found[names[int(paper)]] for paper in papers if names[int(paper)] in found}

    def events_with_reason(self, reader: str) -> list[Event]:
        """A reader's dismissals that named a reason, in order."""
        with self._reading() as connection:
            asked = _events(connection, reader).where(s.events.c.because.is_not(None))
            return [_event(row) for row in connection.execute(asked)]

    # Editions

    def add_edition(self, edition: Edition) -> Edition:
        """Keep an edition and what it shows in one transaction; the stored one.

        Where the reader has an edition of that day already, writes nothing and gives that one. Raises ValueError for
        numbers that are not finite, a propensity outside (0, 1], or a time without zone.
        """
        content = edition_to_bytes(edition)
        rows = _shown_rows(edition)
        with self._writing() as connection:
            _check_readers(connection, {edition.reader})
            stored = connection.scalar(_contents(edition.reader).where(s.editions.c.day == edition.day.toordinal()))
            if stored is None:
                row = {"reader": edition.reader, "day": edition.day.toordinal(), "content": content}
                connection.execute(insert(s.editions), row)
                if rows:
                    connection.execute(insert(s.shown), rows)
        return edition_from_bytes(stored or content)

    def edition(self, reader: str, day: date) -> Edition | None:
        """A reader's edition of a day."""
        return self._one_edition(_contents(reader).where(s.editions.c.day == day.toordinal()))

    def last_edition(self, reader: str) -> Edition | None:
        """A reader's newest edition."""
        return self._one_edition(_contents(reader).order_by(s.editions.c.day.desc()).limit(1))

    def edition_days(self, reader: str, limit: int | None = None) -> list[date]:
        """The days of a reader's editions, newest first."""
        e = s.editions.c
        asked = select(e.day).where(e.reader == reader).order_by(e.day.desc()).limit(limit)
        with self._reading() as connection:
            return [date.fromordinal(day) for day in connection.scalars(asked)]

    def editions_between(self, reader: str, first: date, last: date) -> list[Edition]:
        """A reader's editions of these days, both included, oldest first."""
        e = s.editions.c
        asked = _contents(reader).where(e.day.between(first.toordinal(), last.toordinal())).order_by(e.day)
        with self._reading() as connection:
            contents = list(connection.scalars(asked))
        return [edition_from_bytes(content) for content in contents]

    def _one_edition(self, asked: Select[Any]) -> Edition | None:
        with self._reading() as connection:
            content = connection.scalar(asked)
        return None if content is None else edition_from_bytes(content)

    def shown(self, reader: str, papers: Collection[PaperId]) -> set[PaperId]:
        """Which of these papers an edition of the reader has shown, under this id or any that was merged with it."""
        with self._reading() as connection:
            names = _names(connection, papers)
            asked = select(s.shown.c.paper_id).where(
                s.shown.c.reader == reader, any_of(connection, s.shown.c.paper_id, names)
            )
            seen = {names[paper] for paper in connection.scalars(asked)}
        return {int(paper) for paper in papers if names[int(paper)] in seen}

    def shown_log(self, reader: str, section: str | None = None) -> list[ShownPaper]:
        """Everything that the reader's editions have shown, or what a section has, by day and position."""
        x = s.shown.c
        alive = func.coalesce(s.aliases.c.kept, x.paper_id)
        asked = (
            select(x.day, alive, x.section, x.position, x.propensity, x.explored)
            .join(s.aliases, s.aliases.c.gone == x.paper_id, isouter=True)
            .where(x.reader == reader, x.section == section if section else true())
            .order_by(x.day, x.position)
        )
        with self._reading() as connection:
            return [ShownPaper(date.fromordinal(day), *rest) for day, *rest in connection.execute(asked)]

    def claim_delivery(self, reader: str, day: date, channel: str, *, now: datetime) -> bool:
        """Take it on oneself to send an edition by a channel, and to add the delivery then.

        False where it was sent, or where another took it within the last ten minutes: so of several servers one sends.
        """
        with self._writing() as connection:
            known = connection.execute(_delivery(reader, day, channel)).one_or_none()
            if known and (known.state == _SENT or (known.state == _SENDING and now - from_micros(known.made) < _CLAIM)):
                return False
            _keep_delivery(connection, Delivery(reader, day, channel, _SENDING, "", now))
        return True

    def add_delivery(self, reader: str, day: date, channel: str, state: str, message: str, *, now: datetime) -> None:
        """Keep what became of sending an edition by a channel, in place of the attempt before.

        What was ``sent`` stays so: a later attempt that is not changes nothing.
        """
        with self._writing() as connection:
            known = connection.execute(_delivery(reader, day, channel)).one_or_none()
            if known is None or known.state != _SENT or state == _SENT:
                _keep_delivery(connection, Delivery(reader, day, channel, state, message, now))

    def deliveries(self, reader: str, day: date) -> list[Delivery]:
        """The last attempt by each channel to send the reader's edition of a day."""
        d = s.deliveries.c
        asked = select(s.deliveries).where(d.reader == reader, d.day == day.toordinal()).order_by(d.channel)
        with self._reading() as connection:
            rows = connection.execute(asked).all()
        return [Delivery(r.reader, day, r.channel, r.state, r.message, from_micros(r.made)) for r in rows]

    # Papers to choose from

    def newest_paper(self) -> PaperId:
        """The greatest id that was ever given to a paper; 0 in an empty library.

        Read before ``candidates``: what is stored in between is then a late arrival of the next edition, not lost.
        """
        with self._reading() as connection:
            return connection.scalar(select(s.counters.c.value).where(s.counters.c.name == "paper")) or 0

    def candidates(
        self, since_day: date | None, through: date, newer_than: PaperId, late_since: date, limit: int
    ) -> list[Paper]:
        """Papers to choose an edition from, by day, then id, newest first.

        Those of the days after ``since_day`` (of any day where it is None) up to ``through``, and of the days from
        ``late_since`` on those with an id above ``newer_than``, which came late. Without undated papers.
        """
        p = s.papers.c
        after = since_day.toordinal() if since_day else 0
        # One range of the index by day and id, which also holds what tells the late ones apart.
        asked = (
            select(p.id, p.document)
            .where(p.day > max(min(after, late_since.toordinal() - 1), 0), p.day <= through.toordinal())
            .where(or_(p.day > after, p.id > int(newer_than)))
            .order_by(p.day.desc(), p.id.desc())
            .limit(limit)
        )
        with self._reading() as connection:
            return with_relations(connection, [(row.id, row.document) for row in connection.execute(asked)])

    def recent_papers(self, limit: int, before: date | None = None) -> list[Paper]:
        """The newest dated papers, those of days before ``before`` where it is given; newest first."""
        p = s.papers.c
        asked = select(p.id, p.document).where(p.day > 0).order_by(p.day.desc(), p.id.desc()).limit(limit)
        if before:
            asked = asked.where(p.day < before.toordinal())
        with self._reading() as connection:
            return with_relations(connection, [(row.id, row.document) for row in connection.execute(asked)])


def _digest(secret: str) -> bytes:
    return sha256(secret.encode("utf-8", "replace")).digest()


def _reader(row: Row[Any]) -> Reader:
    return Reader(row.name, row.secret, from_micros(row.created), profile_from_json(row.profile))


def _reader_named(connection: Connection, name: str) -> Reader | None:
    row = connection.execute(select(s.readers).where(s.readers.c.name == name)).one_or_none()
    return _reader(row) if row else None


def _check_readers(connection: Connection, names: Collection[str]) -> None:
    storable = {name for name in names if not _UNSTORABLE.search(name)}
    known = set(connection.scalars(select(s.readers.c.name).where(any_of(connection, s.readers.c.name, storable))))
    for name in names:
        if name not in known:
            raise _no_reader(name)


def _no_reader(name: str) -> NotFoundError:
    return NotFoundError(f"no reader {name!r}; `broadsheet readers` lists those there are")


def _change_reader(connection: Connection, name: str, **values: object) -> None:
    _check_readers(connection, {name})
    connection.execute(update(s.readers).where(s.readers.c.name == name).values(**values))


def _insert_events(connection: Connection, events: Sequence[Event], *, apart: bool = False) -> EventId:
    """Add events; the id of the first, the others follow."""
    _check_readers(connection, {event.reader for event in events})
    first = take_numbers(connection, event=len(events) + 2 * apart)["event"] + apart
    rows = [
        {
            "id": first + i,
            "reader": event.reader,
            "action": event.action.value,
            "paper_id": int(event.paper),
            "made": to_micros(event.moment),
            "because": interest_to_json(event.because),
            "edition": event.edition.toordinal() if event.edition else None,
            "undoes": int(event.undoes) if event.undoes >= 0 else first - 1 - int(event.undoes),
        }
        for i, event in enumerate(events)
    ]
    connection.execute(insert(s.events), rows)
    return first


def _events(connection: Connection, reader: str, after: EventId = 0) -> Select[Any]:
    """A reader's events in order, each with the id under which its paper lives today."""
    alive = func.coalesce(s.aliases.c.kept, s.events.c.paper_id).label("alive")
    return (
        select(s.events, alive)
        .join(s.aliases, s.aliases.c.gone == s.events.c.paper_id, isouter=True)
        .where(s.events.c.reader == reader, s.events.c.id > int(after))
        .order_by(s.events.c.id)
    )


def _event(row: Row[Any]) -> Event:
    return Event(
        id=row.id,
        reader=row.reader,
        action=Action(row.action),
        paper=row.alive,
        moment=from_micros(row.made),
        because=interest_from_json(row.because),
        edition=None if row.edition is None else date.fromordinal(row.edition),
        undoes=row.undoes,
    )


def _names(connection: Connection, papers: Collection[PaperId]) -> dict[PaperId, PaperId]:
    """Every id that the papers ever had, those asked for among them, with the id under which each lives today."""
    a = s.aliases.c
    wanted = {int(paper) for paper in papers}
    gone = {
        row.gone: row.kept for row in connection.execute(select(s.aliases).where(any_of(connection, a.gone, wanted)))
    }
    alive = {gone.get(paper, paper) for paper in wanted}
    merged = connection.execute(select(s.aliases).where(any_of(connection, a.kept, alive)))
    return {paper: paper for paper in alive} | {row.gone: row.kept for row in merged}


def _contents(reader: str) -> Select[Any]:
    return select(s.editions.c.content).where(s.editions.c.reader == reader)


def _delivery(reader: str, day: date, channel: str) -> Select[Any]:
    d = s.deliveries.c
    return select(s.deliveries).where(d.reader == reader, d.day == day.toordinal(), d.channel == channel)


def _keep_delivery(connection: Connection, one: Delivery) -> None:
    """Keep a delivery in place of the one before."""
    _check_readers(connection, {one.reader})
    d = s.deliveries.c
    row = {
        "reader": one.reader,
        "day": one.day.toordinal(),
        "channel": one.channel,
        "state": one.state,
        "message": _UNSTORABLE.sub("\ufffd", one.message),
        "made": to_micros(one.moment),
    }
    same = (d.reader == row["reader"], d.day == row["day"], d.channel == row["channel"])
    connection.execute(delete(s.deliveries).where(*same))
    connection.execute(insert(s.deliveries), row)


def _shown_rows(edition: Edition) -> list[dict[str, Any]]:
    placed = [(section.key, entry) for section in edition.sections for entry in section.entries]
    return [
        {
            "reader": edition.reader,
            "day": edition.day.toordinal(),
            "position": position,
            "paper_id": int(entry.paper.id),
            "section": key,
            "propensity": float(entry.propensity),
            "explored": bool(entry.explored),
        }
        for position, (key, entry) in enumerate(placed)
    ]
