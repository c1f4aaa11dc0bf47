"""The daily paper of ``FakeLibrary``: readers, editions and events in memory, without any ranking."""

from __future__ import annotations

from calendar import monthrange
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import UTC, date, datetime, timedelta
from typing import TYPE_CHECKING, Any

from broadsheet.errors import InputError, NotFoundError
from broadsheet.model import Paper
from broadsheet.model.reading import (
    Action,
    Edition,
    Entry,
    Event,
    Interest,
    InterestCentre,
    InterestKind,
    MemoryView,
    Period,
    Profile,
    Reader,
    Reason,
    RememberedPaper,
    SavedSearch,
    Section,
    SectionKind,
    Today,
)

if TYPE_CHECKING:
    from tests.fake_library import FakeLibrary

MADE = datetime(2026, 6, 12, 6, 30, tzinfo=UTC)
TODAY = date(2026, 6, 12)
SECRET = "mine-0123456789abcdefghijklmnop"
OTHER_SECRET = "adas-0123456789abcdefghijklmnop"
DAYS = (TODAY, date(2026, 6, 11), date(2026, 6, 8), date(2026, 5, 29))
EXPECTED = datetime(2026, 6, 15, 0, 0, tzinfo=UTC)
WEEKEND = "No announcement: weekend. Next expected Sunday 20:00 ET (2026-06-14)."
MARKING = (Action.SAVE, Action.LIKE, Action.DISMISS)


def _entry(paper: Paper, place: int, *reasons: Reason, explored: bool = False) -> Entry:
    given = reasons or (Reason("words", f"about {paper.title.split()[0].lower()} and bounds", 0.4),)
    return Entry(paper, 1 - place / 100, {"memory": 0.4, "words": 0.2}, given, 0.5 if explored else 1.0, explored)


def edition_of(papers: Mapping[int, Paper], reader: str, day: date, numbers: Sequence[int]) -> Edition:
    """An edition with these papers, in an order that fills every kind of section."""
    entries = [_entry(papers[number], place) for place, number in enumerate(numbers) if number in papers]
    if entries:
        by_author = Reason("author", "by Emmy Noether, whom you follow", 0.7)
        similar = Reason("similar", "like 3 papers you saved on sparse recovery", 0.9, (7, 8, 9))
        entries[0] = replace(entries[0], reasons=(by_author, similar))
    found = [replace(entry, explored=True, propensity=0.1) for entry in entries[28:30]]
    upvoted = [replace(e, reasons=(Reason("notice", "41 upvotes on Hugging Face", 0.1),)) for e in entries[25:28]]
    sections = (
        Section(SectionKind.FRONT, "front", "Front page", tuple(entries[:10])),
        Section(SectionKind.AREA, "area-cs.LG", "Machine Learning", tuple(entries[10:16])),
        Section(SectionKind.AREA, "area-stat.ML", "Statistics <b>", tuple(entries[16:20])),
        Section(SectionKind.AREA, "area-Theory · Learning Theory", "Learning Theory", tuple(entries[20:22])),
        Section(SectionKind.SEARCH, "search-1", "Your search “bandits”", tuple(entries[22:25])),
        Section(SectionKind.ELSEWHERE, "elsewhere", "Elsewhere", tuple(upvoted)),
        Section(SectionKind.DISCOVERY, "discovery", "Discovery", tuple(found)),
    )
    return Edition(
        reader=reader,
        day=day,
        made=datetime.combine(day, MADE.time(), UTC),
        since=day - timedelta(days=1),
        through=day,
        sections=tuple(section for section in sections if section.entries),
        considered=230,
        newest_paper=max(papers, default=0),
        basis="memory",
        notes=("One source had not answered when this was printed.",) if day == DAYS[1] else (),
    )


@dataclass
class FakeDaily:
    """Does what ``library.daily`` promises for readers ``me`` and ``ada``. ``calls`` are the methods called."""

    library: FakeLibrary
    calls: list[str] = field(default_factory=list)
    is_new: bool = True
    note: str = ""
    readers_: dict[str, Reader] = field(default_factory=dict)
    events_: list[Event] = field(default_factory=list)
    taken: list[Mapping[str, Any]] = field(default_factory=list)

    def __post_init__(self) -> None:
        search = SavedSearch(1, "bandits", "bandits -video", MADE)
        follows = (Interest(InterestKind.AUTHOR, "Emmy Noether"), Interest(InterestKind.AREA, "cs.LG"))
        mutes = (Interest(InterestKind.KEYWORD, "blockchain"),)
        profile = Profile(follows=follows, mutes=mutes, searches=(search,), emphasis=(("words", 0.5),))
        self.readers_ = {
            "me": Reader("me", SECRET, MADE, profile),
            "ada": Reader("ada", OTHER_SECRET, MADE, Profile()),
        }
        order = sorted(self.library.papers, key=lambda n: (n % 7, n))
        self._editions: dict[tuple[str, date], Edition] = {}
        if order:
            for place, day in enumerate(DAYS):
                numbers = [n for n in order if n % len(DAYS) == place] if place else [1, 2, 4, *order[:40]]
                self._editions["me", day] = edition_of(self.library.papers, "me", day, list(dict.fromkeys(numbers)))
            self._editions["ada", TODAY] = edition_of(self.library.papers, "ada", TODAY, order[:12])

    def _called(self, name: str) -> None:
        self.calls.append(name)
        if self.library.fault:
            raise self.library.fault

    def _kept(self, reader: Reader, **changes: Any) -> Reader:
        self.readers_[reader.name] = replace(reader, profile=replace(reader.profile, **changes))
        return self.readers_[reader.name]

    def reader(self, name: str = "") -> Reader:
        self._called("reader")
        if (name or "me") not in self.readers_:
            raise NotFoundError(f"there is no reader {name}; there are ada, me")
        return self.readers_[name or "me"]

    def reader_by_secret(self, secret: str) -> Reader:
        self._called("reader_by_secret")
        for reader in self.readers_.values():
            if reader.secret == secret:
                return reader
        raise NotFoundError(f"no reader has the secret {secret}")

    def renew_secret(self, name: str = "") -> Reader:
        reader = self.reader(name)
        self.readers_[reader.name] = replace(reader, secret=f"new-{reader.secret}")
        return self.readers_[reader.name]

    def _changed(self, name: str, which: str, interest: Interest, *, add: bool) -> Reader:
        reader = self.reader(name)
        if not any(c.isalnum() for c in interest.value):
            raise InputError(f"{interest.kind} {interest.value!r} says nothing; give a word")
        others = tuple(known for known in getattr(reader.profile, which) if known != interest)
        return self._kept(reader, **{which: (*others, interest) if add else others})

    def follow(self, interest: Interest, name: str = "") -> Reader:
        return self._changed(name, "follows", interest, add=True)

    def meant(self, interest: Interest) -> list[str]:
        return ["12 papers of this library."]

    def unfollow(self, interest: Interest, name: str = "") -> Reader:
        return self._changed(name, "follows", interest, add=False)

    def mute(self, interest: Interest, name: str = "") -> Reader:
        return self._changed(name, "mutes", interest, add=True)

    def unmute(self, interest: Interest, name: str = "") -> Reader:
        return self._changed(name, "mutes", interest, add=False)

    def save_search(self, query: str, label: str = "", name: str = "") -> SavedSearch:
        reader = self.reader(name)
        if not any(c.isalnum() for c in query):
            raise InputError("the search asks for nothing")
        known = reader.profile.searches
        search = SavedSearch(max((s.id for s in known), default=0) + 1, label, query, MADE)
        self._kept(reader, searches=(*known, search))
        return search

    def drop_search(self, id: int, name: str = "") -> Reader:
        reader = self.reader(name)
        return self._kept(reader, searches=tuple(s for s in reader.profile.searches if s.id != id))

    def set_options(
        self,
        name: str = "",
        *,
        risk: float | None = None,
        email: str | None = None,
        webhook: str | None = None,
        emphasis: Mapping[str, float] | None = None,
    ) -> Reader:
        given = {"risk": risk, "email": email, "webhook": webhook}
        changes: dict[str, Any] = {key: value for key, value in given.items() if value is not None}
        if emphasis is not None:
            changes["emphasis"] = tuple(emphasis.items())
        return self._kept(self.reader(name), **changes)

    def today(self, name: str = "") -> Today:
        self._called("today")
        days = self.edition_days(name)
        shown = self._editions[name or "me", days[0]] if days else None
        note = self.note or ("" if shown else "This library has no dated papers yet, so nothing can be printed.")
        return Today(shown, bool(shown) and self.is_new, note, EXPECTED)

    def edition(self, day: date, name: str = "") -> Edition:
        self._called("edition")
        if found := self._editions.get((name or "me", day)):
            return found
        raise NotFoundError(f"there is no edition of {day}; the nearest are of {DAYS[-1]} and {DAYS[0]}")

    def edition_days(self, name: str = "") -> list[date]:
        return sorted((day for reader, day in self._editions if reader == (name or "me")), reverse=True)

    def period(self, kind: str, day: date, name: str = "") -> Period:
        self._called("period")
        first = day - timedelta(days=day.weekday()) if kind == "week" else day.replace(day=1)
        last = (
            first + timedelta(days=6)
            if kind == "week"
            else date(day.year, day.month, monthrange(day.year, day.month)[1])
        )
        days = [known for known in self.edition_days(name) if first <= known <= last]
        if not days:
            raise NotFoundError(f"there is no edition in the {kind} of {day}; the nearest is of {TODAY}")
        entries = [(d, e) for d in days for e in self._editions[name or "me", d].entries]
        entries.sort(key=lambda found: -found[1].score)
        earlier = [known for known in self.edition_days(name) if known < first]
        later = [known for known in self.edition_days(name) if known > last]
        unique: dict[int, tuple[date, Entry]] = {}
        for found in entries:
            unique.setdefault(found[1].paper.id, found)
        shown = tuple(unique.values())[:20]
        return Period(kind, first, last, shown, tuple(days), max(earlier, default=None), min(later, default=None))

    def _standing(self, name: str) -> list[Event]:
        taken_back = {event.undoes for event in self.events_ if event.undoes}
        mine = [e for e in self.events_ if e.reader == (name or "me") and e.id not in taken_back and not e.undoes]
        resets = [e.id for e in mine if e.action is Action.RESET]
        forgotten = {e.paper: e.id for e in mine if e.action is Action.FORGET}
        after = max(resets, default=0)
        return [e for e in mine if e.id > max(after, forgotten.get(e.paper, 0))]

    def _noted(self, action: Action, paper: int, name: str, **more: Any) -> Event:
        event = Event(len(self.events_) + 1, name or "me", action, paper, MADE, **more)
        self.events_.append(event)
        return event

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
        self._called("act")
        number = self.library.paper(paper).id
        for event in self._standing(name):
            if (event.action, event.paper, event.because) == (action, number, because):
                return event
        if because:
            self.mute(because, name)
        return self._noted(action, number, name, because=because, edition=edition)

    def undo(self, name: str = "", *, event: int | None = None) -> Event | None:
        self._called("undo")
        if event is not None and not any(e.id == event and e.reader == (name or "me") for e in self.events_):
            raise NotFoundError(f"there is no event {event}")
        standing = [e for e in self._standing(name) if event in (None, e.id) and e.action in MARKING]
        if not standing:
            return None
        if cause := standing[-1].because:
            self.unmute(cause, name)
        return self._noted(Action.UNDO, standing[-1].paper, name, undoes=standing[-1].id)

    def remembers(self, name: str = "") -> bool:
        self._called("remembers")
        return any(event.action is not Action.DISMISS for event in self._standing(name))

    def marks(self, papers: Sequence[int], name: str = "") -> dict[int, dict[Action, int]]:
        self._called("marks")
        found: dict[int, dict[Action, int]] = {}
        for event in self._standing(name):
            if event.paper in papers:
                found.setdefault(event.paper, {})[event.action] = event.id
        return found

    def saved(self, name: str = "", limit: int = 50, before: int | None = None) -> list[tuple[Paper, Event]]:
        self._called("saved")
        events = [e for e in reversed(self._standing(name)) if e.action is Action.SAVE]
        chosen = [e for e in events if before is None or e.id < before][:limit]
        return [(self.library.papers[event.paper], event) for event in chosen]

    def examples(self, papers: Iterable[int | str], name: str = "") -> int:
        numbers = [self.library.paper(paper).id for paper in papers]
        for number in numbers:
            self._noted(Action.EXAMPLE, number, name)
        return len(numbers)

    def examples_from_library(self, name: str = "", *, sources: Sequence[str] = ()) -> int:
        return self.examples([p.id for p in self.library.papers.values() if p.added], name)

    def memory(self, name: str = "") -> MemoryView:
        self._called("memory")
        events = [e for e in self._standing(name) if e.action not in (Action.FORGET, Action.RESET)]
        papers = dict.fromkeys(e.paper for e in events)
        titles = {number: self.library.papers[number].title for number in papers}
        last = {e.paper: e for e in events}
        remembered = tuple(
            RememberedPaper(
                n, titles[n], (-0.8, -0.5, -0.2) if e.action is Action.DISMISS else (0.9, 0.6, 0.3), e.action, e.moment
            )
            for n, e in last.items()
        )
        centres = (InterestCentre(("sparse", "recovery", "bounds"), tuple(papers), 0.7), InterestCentre((), (), 0.3))
        return MemoryView(
            reader=name or "me",
            events=len(events),
            papers=remembered,
            centres=centres if events else (),
            words=(("sparse", 0.8), ("<script>alert(1)</script>", 0.5), ("blockchain", -0.4)) if events else (),
            authors=(("Emmy Noether", 0.9),) if events else (),
            areas=(("cs.LG", 0.5), ("Theory · Learning Theory", 0.2)) if events else (),
            parts={"memory": 0.6, "words": 0.3, "popularity": 0.1},
            size=1_234 * len(events),
        )

    def forget(self, paper: int | str, name: str = "") -> Event:
        return self._noted(Action.FORGET, self.library.paper(paper).id, name)

    def reset(self, name: str = "") -> Event:
        return self._noted(Action.RESET, 0, name)

    def export(self, name: str = "") -> dict[str, Any]:
        reader = self.reader(name)
        return {"format": 1, "reader": reader.name, "events": [e.action.value for e in self._standing(name)]}

    def import_(self, record: Mapping[str, Any], name: str = "") -> dict[str, int]:
        if record.get("format") != 1:
            raise InputError("format: must be 1")
        self.taken.append(record)
        return {"events": len(record.get("events", []))}

    def search_feed(self, search_id: int, name: str = "") -> list[Paper]:
        return [hit.paper for hit in self.library.search("steps", page_size=5, sort="newest").hits]
