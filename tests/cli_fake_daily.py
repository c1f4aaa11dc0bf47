"""A daily paper that answers the command line with fixed values and remembers what it was asked. All is invented."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace
from datetime import UTC, date, datetime
from typing import Any

import pytest

from broadsheet.errors import InputError, NotFoundError
from broadsheet.model import Paper, PaperId
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
from tests.cli_fake import PAPER, FakeLibrary, install

MOMENT = datetime(2026, 12, 1, 6, 30, tzinfo=UTC)
DAY = date(2026, 12, 1)
DIFFUSION = Interest(InterestKind.KEYWORD, "diffusion")
SEARCH = SavedSearch(3, "bandits", "bandits -survey", MOMENT)
SOCIETY = Interest(InterestKind.AREA, "cs.CY")
READER = Reader("me", "s3cret", MOMENT, Profile(follows=(DIFFUSION,), mutes=(SOCIETY,), searches=(SEARCH,)))


def entry(paper: PaperId, title: str = "", *, explored: bool = False, why: str = "") -> Entry:
    reasons = (Reason("similar", why or "like 3 papers you saved on label noise", 0.6, (1, 2, 3)),)
    shown = replace(PAPER, id=paper, title=title or f"Paper number {paper}")
    return Entry(shown, 1.5, {"similar": 0.9, "fresh": 0.1}, reasons, 0.25 if explored else 1.0, explored)


EDITION = Edition(
    reader="me",
    day=DAY,
    made=MOMENT,
    since=date(2026, 11, 27),
    through=date(2026, 11, 30),
    sections=(
        Section(SectionKind.FRONT, "front", "Front page", (entry(7, PAPER.title), entry(8))),
        Section(SectionKind.AREA, "area-cs.LG", "Machine Learning", (entry(9),)),
        Section(SectionKind.DISCOVERY, "discovery", "Discovery", (entry(10, explored=True),)),
    ),
    considered=1231,
    newest_paper=1300,
    basis="memory",
    notes=("arxiv:cs.CL is stale.",),
)
TODAY = Today(EDITION, is_new=True)
PERIOD = Period(
    "week", date(2026, 11, 30), date(2026, 12, 6), ((DAY, entry(7)), (date(2026, 11, 30), entry(8))),
    (date(2026, 11, 30), DAY), date(2026, 11, 27), None,
)  # fmt: skip
MEMORY = MemoryView(
    reader="me",
    events=12,
    papers=(RememberedPaper(7, "Noise in *labels*", (0.5, 0.25, -0.125), Action.SAVE, MOMENT),),
    centres=(InterestCentre(("noise", "labels"), (7, 8), 0.75),),
    words=(("noise", 0.5), ("噪声", -0.25)),
    authors=(("Ada Byron", 0.4),),
    areas=(("cs.LG", 0.3),),
    parts={"similar": 0.7},
    size=12_345,
)


@dataclass
class FakeDaily:
    """Answers with the values above."""

    library: FakeLibrary
    found: Today = TODAY
    days: tuple[date, ...] = (DAY, date(2026, 11, 30))
    view: MemoryView = MEMORY
    profile: Profile = READER.profile
    names: tuple[str, ...] = ("me", "ada")
    log: list[Event] = field(default_factory=list)
    from_library: int = 40

    def _asked(self, *call: Any) -> None:
        self.library._asked(*call)

    def reader(self, name: str = "") -> Reader:
        if name and name not in self.names:
            raise NotFoundError(f"there is no reader {name}; there are: {', '.join(self.names)}")
        return replace(READER, name=name or "me", profile=self.profile)

    def readers(self) -> list[Reader]:
        self._asked("readers")
        return [self.reader(name) for name in self.names]

    def add_reader(self, name: str) -> Reader:
        self._asked("add reader", name)
        if name in self.names:
            raise InputError(f"there is a reader {name} already; choose another name")
        self.names += (name,)
        return self.reader(name)

    def remove_reader(self, name: str) -> None:
        self._asked("remove reader", name)

    def renew_secret(self, name: str = "") -> Reader:
        self._asked("renew", name)
        return replace(self.reader(name), secret="n3w")

    def set_options(self, name: str = "", **options: Any) -> Reader:
        self._asked("options", name, options)
        changed = {k: tuple(v.items()) if k == "emphasis" else v for k, v in options.items()}
        return replace(self.reader(name), profile=replace(self.profile, **changed))

    def _change(self, name: str, asked: str, **profile: Any) -> Reader:
        self.reader(name)
        self._asked(asked, name)
        self.profile = replace(self.profile, **profile)
        return self.reader(name)

    def follow(self, interest: Interest, name: str = "") -> Reader:
        return self._change(name, f"follow {interest}", follows=(*self.profile.follows, interest))

    def meant(self, interest: Interest) -> list[str]:
        return ["12 papers of this library."]

    def unfollow(self, interest: Interest, name: str = "") -> Reader:
        kept = tuple(each for each in self.profile.follows if each != interest)
        return self._change(name, f"unfollow {interest}", follows=kept)

    def mute(self, interest: Interest, name: str = "") -> Reader:
        return self._change(name, f"mute {interest}", mutes=(*self.profile.mutes, interest))

    def unmute(self, interest: Interest, name: str = "") -> Reader:
        kept = tuple(each for each in self.profile.mutes if each != interest)
        return self._change(name, f"unmute {interest}", mutes=kept)

    def save_search(self, query: str, label: str = "", name: str = "") -> SavedSearch:
        self._asked("save search", query, label, name)
        return SavedSearch(4, label or query, query, MOMENT)

    def drop_search(self, number: int, name: str = "") -> Reader:
        self._asked("drop search", number, name)
        return self._change(name, "dropped", searches=())

    def search_feed(self, number: int, name: str = "") -> list[Paper]:
        self._asked("search feed", number, name)
        return [PAPER]

    def today(self, name: str = "") -> Today:
        self.reader(name)
        self._asked("today", name)
        return self.found

    def edition(self, day: date, name: str = "") -> Edition:
        self._asked("edition", day, name)
        return EDITION

    def edition_days(self, name: str = "") -> list[date]:
        return list(self.days)

    def period(self, kind: str, day: date, name: str = "") -> Period:
        self._asked("period", kind, day, name)
        return replace(PERIOD, kind=kind)

    def act(
        self,
        action: Action,
        paper: int | str,
        name: str = "",
        *,
        because: Interest | None = None,
        edition: date | None = None,
    ) -> Event:
        self._asked("act", action.value, paper, name, because, edition)
        if paper == 404:
            raise NotFoundError("there is no paper 404 in this library")
        number = paper if isinstance(paper, int) else 7
        made = Event(len(self.log) + 1, name or "me", action, number, MOMENT, because, edition)
        self.log.append(made)
        return made

    def undo(self, name: str = "", *, event: int | None = None) -> Event | None:
        self._asked("undo", name, event)
        if not self.log:
            return None
        taken = self.log[-1] if event is None else self.log[event - 1]
        return Event(99, name or "me", Action.UNDO, taken.paper, MOMENT, undoes=taken.id)

    def events(self, name: str = "") -> list[Event]:
        return self.log

    def marks(self, papers: Sequence[PaperId], name: str = "") -> dict[PaperId, dict[Action, int]]:
        return {8: {Action.SAVE: 1}} if 8 in papers else {}

    def saved(self, name: str = "", limit: int = 50) -> list[tuple[Paper, Event]]:
        self._asked("saved", name, limit)
        return [(self.library.paper(event.paper), event) for event in self.log]

    def examples(self, papers: Iterable[int | str], name: str = "") -> int:
        papers = list(papers)
        self._asked("examples", papers, name)
        if 404 in papers:
            raise NotFoundError("there is no paper 404 in this library")
        return len(papers)

    def examples_from_library(self, name: str = "", *, sources: Sequence[str] = ()) -> int:
        self._asked("from library", name, tuple(sources))
        return self.from_library

    def memory(self, name: str = "") -> MemoryView:
        self.reader(name)
        self._asked("memory", name)
        return self.view

    def forget(self, paper: int | str, name: str = "") -> Event:
        return self.act(Action.FORGET, paper, name)

    def reset(self, name: str = "") -> Event:
        self._asked("reset", name)
        return Event(5, name or "me", Action.RESET, 0, MOMENT)

    def export(self, name: str = "") -> dict[str, Any]:
        self._asked("export", name)
        return {"reader": name or "me", "events": [{"title": "噪声"}]}

    def import_(self, record: Any, name: str = "") -> dict[str, int]:
        self._asked("import", record, name)
        if "events" not in record:
            raise InputError("events: missing; give a file that `broadsheet memory export` wrote")
        return {"events": 1_234, "unknown_papers": 5}


def install_daily(monkeypatch: pytest.MonkeyPatch) -> FakeDaily:
    """The daily paper of a fake library that every command of the test opens."""
    daily: FakeDaily = install(monkeypatch).daily
    return daily
