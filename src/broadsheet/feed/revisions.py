"""New versions of papers that a reader's editions printed: told of once each, and never printed again. Pure."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import date, timedelta

from broadsheet.feed.profile import is_muted
from broadsheet.model import Paper, PaperId
from broadsheet.model.reading import Action, Edition, Interest
from broadsheet.text import shortened, to_plain

LOOKED_BACK = timedelta(days=60)  # editions whose papers are looked at
NEWS = timedelta(days=14)  # how old a version of a known day may be and still be news
MOST = 5  # papers that are named; of the others the number is told
_LONGEST = 70  # characters of a title
_REST = "more papers of your earlier editions have new versions."


def revisions(
    editions: Sequence[Edition],
    papers: Mapping[PaperId, Paper],
    done: Mapping[PaperId, Action],
    mutes: Sequence[Interest],
    today: date,
) -> list[str]:
    """Sentences for the next edition, one for each paper that has a later version than when it was printed or told of.

    ``editions`` are those printed before, oldest first; ``papers`` the library's of today by the numbers under which
    they were printed; ``done`` what the reader did with each. Papers that the reader cares for come first, then those
    printed last; what was dismissed, muted or withdrawn since is not told of, nor a version of more than two weeks ago.
    What earlier editions said is read from their notes.
    """
    said = {note for edition in editions for note in edition.notes}
    found: dict[PaperId, tuple[bool, date, str]] = {}
    for edition in editions:
        for entry in edition.entries:
            now = papers.get(entry.paper.id)
            if now is None or (version := _newest(now)) <= max(1, _newest(entry.paper)):
                continue
            day = next(one.day for one in now.versions if one.number == version)
            if day is not None and today - day > NEWS:
                continue
            action = done.get(now.id)
            if now.is_withdrawn or action is Action.DISMISS or is_muted(now, mutes):
                continue
            cared = action in {Action.SAVE, Action.LIKE, Action.EXAMPLE}
            found[entry.paper.id] = (cared, edition.day, sentence(entry.paper, version, edition.day))
    told = sorted((one for one in found.values() if one[2] not in said), key=lambda one: (one[0], one[1]), reverse=True)
    lines = [text for _, _, text in told[:MOST]]
    left = len(told) - len(lines)
    return [*lines, f"{left:,} {_REST}"] if left > 0 else lines


def sentence(printed: Paper, version: int, day: date) -> str:
    """``v3 of a paper in your edition of 2026-11-30: “Title” (paper 12).``, of the title as it was printed."""
    title = shortened(to_plain(printed.title), _LONGEST)
    return f"v{version} of a paper in your edition of {day}: “{title}” (paper {printed.id})."


def _newest(paper: Paper) -> int:
    return max((version.number for version in paper.versions), default=0)
