"""What a reader follows and mutes: whether a paper is meant, and one spelling for each interest. Pure.

A keyword is meant where its words stand one after another in the title, in the abstract or in the authors' keywords.
Words are compared by their stems, as in the index, so that a keyword means what a search for it finds: ``diffusion
model`` means "diffusion models". Chinese, Japanese and Korean are compared character by character. Forms that are no
words (``c++``, ``c#``, ``.net``) are compared as they stand; ``pre-training``, ``pre training`` and ``pretraining`` are
one.
"""

from __future__ import annotations

from collections.abc import Iterable
from functools import lru_cache

from broadsheet.errors import InputError
from broadsheet.feed.areas import AREA_NAMES
from broadsheet.model import Area, Paper
from broadsheet.model.reading import Interest, InterestKind
from broadsheet.text import display_name, fold, forms, name_key, same_person, stem, to_plain, words
from broadsheet.text.tokens import joined_pairs
from broadsheet.venues import venue_key, venue_name

LONGEST = 200  # characters of an interest
_ARCHIVES = {key.partition(".")[0] for key in AREA_NAMES}
_CATEGORIES = {name.lower(): name for name in (*_ARCHIVES, *AREA_NAMES)}


def matches(paper: Paper, interest: Interest) -> bool:
    """Whether an interest means a paper."""
    if interest.kind is InterestKind.AUTHOR:
        return any(same_person(author, interest.value) for author in paper.authors)
    if interest.kind is InterestKind.AREA:
        wanted = fold(interest.value)
        return any(wanted in _names_of(area) for area in paper.areas)
    if interest.kind is InterestKind.VENUE:
        wanted = venue_key(interest.value).lower()
        return any(venue_key(venue).lower() == wanted for venue in _venues(paper))
    texts = (paper.title, paper.abstract, *paper.keywords)
    return any(_has(text, interest.value) for text in texts if text)


def is_central(paper: Paper, interest: Interest) -> bool:
    """Whether an interest means a paper more than in passing: a keyword by its title or the authors' keywords, an area
    by being the paper's first, under which it was submitted.
    """
    if interest.kind is InterestKind.AREA:
        return bool(paper.areas) and fold(interest.value) in _names_of(paper.areas[0])
    if interest.kind is not InterestKind.KEYWORD:
        return matches(paper, interest)
    return any(_has(text, interest.value) for text in (paper.title, *paper.keywords) if text)


def matching(paper: Paper, interests: Iterable[Interest]) -> list[Interest]:
    """The interests that mean a paper, in their order."""
    return [interest for interest in interests if matches(paper, interest)]


def is_muted(paper: Paper, mutes: Iterable[Interest]) -> bool:
    """Whether a mute means a paper; nothing that is followed, searched or drawn overrules it."""
    return any(matches(paper, mute) for mute in mutes)


def same_interest(a: Interest, b: Interest) -> bool:
    """Whether two interests are one: equal, or names of one author written in two ways."""
    if a.kind is not b.kind:
        return False
    if a.kind is InterestKind.AUTHOR:
        return name_key(a.value) == name_key(b.value) and same_person(a.value, b.value)
    if a.kind is InterestKind.VENUE:
        return venue_key(a.value).lower() == venue_key(b.value).lower()
    return fold(a.value) == fold(b.value)


def with_interest(interests: tuple[Interest, ...], wanted: Interest) -> tuple[Interest, ...]:
    """These interests and one more, unless it is among them, however it is written."""
    return interests if any(same_interest(one, wanted) for one in interests) else (*interests, wanted)


def without_interest(interests: tuple[Interest, ...], gone: Interest) -> tuple[Interest, ...]:
    """These interests without one, however it is written."""
    return tuple(one for one in interests if not same_interest(one, gone))


def normalised(interest: Interest) -> Interest:
    """An interest in the one spelling in which it is kept: keywords folded, authors as shown, areas as arXiv writes
    them.

    Raises InputError for one that says nothing or is longer than 200 characters.
    """
    value = " ".join(interest.value.split()).strip(" ,;")
    if len(value) > LONGEST:
        raise InputError(f"{interest.kind} {value[:40]}…: too long; give at most {LONGEST} characters")
    shown = _spelled(interest.kind, value)
    if not shown or not (words(shown) or _signs(shown)):
        raise InputError(f"{interest.kind} {interest.value!r} says nothing; give a word, a name, an area or a venue")
    if interest.kind is InterestKind.AUTHOR and not name_key(shown)[0]:
        raise InputError(f"author {interest.value!r} is no name that can be compared; write it as in a paper")
    return Interest(interest.kind, shown)


def _spelled(kind: InterestKind, value: str) -> str:
    if kind is InterestKind.AUTHOR:
        while (shorter := display_name(value)) != value:  # marks of a footnote come off one after another
            value = shorter
        return value
    if kind is InterestKind.VENUE:
        return venue_name(value)
    if kind is InterestKind.AREA:
        return _area_spelled(value)
    return " ".join(fold(value).split())


def _area_spelled(value: str) -> str:
    """``CS.lg`` → ``cs.LG``, ``Physics.Optics`` → ``physics.optics``; what is no category of arXiv stays as it is."""
    return _CATEGORIES.get(value.lower(), value)


def _names_of(area: Area) -> set[str]:
    return {fold(name) for name in (area.name, area.subarea, str(area)) if name}


def _venues(paper: Paper) -> set[str]:
    return {venue for venue in (paper.venue, *(place.venue for place in paper.places)) if venue}


def _has(text: str, keyword: str) -> bool:
    stems, single, shapes = _read(text)
    wanted, joined, signs = _asked(keyword)
    if not wanted or not signs <= shapes:
        return False
    if f" {wanted} " in stems:
        return True
    return not signs and any(f" {form} " in single or form in shapes for form in joined)


@lru_cache(maxsize=8192)  # a day's papers are compared with many interests
def _read(text: str) -> tuple[str, str, frozenset[str]]:
    """The stems of a text between blanks, its words between blanks, and the exact forms in it."""
    plain = to_plain(text)
    found = [word.text for word in words(plain)]
    return f" {' '.join(map(stem, found))} ", f" {' '.join(found)} ", frozenset(forms(plain))


@lru_cache(maxsize=1024)
def _asked(keyword: str) -> tuple[str, frozenset[str], frozenset[str]]:
    """The stems of a keyword, the ways to write it as one word, and its forms that words cannot tell."""
    found = [word.text for word in words(keyword)]
    joined = {form for form in forms(keyword) if form.isalnum()}
    if len(found) == 2:
        joined |= {pair for pair in joined_pairs(found) if pair.isascii() and not pair.isdigit()}
    elif len(found) == 1:
        joined |= set(found)
    return " ".join(map(stem, found)), frozenset(joined), _signs(keyword)


def _signs(keyword: str) -> frozenset[str]:
    return frozenset(form for form in forms(keyword) if form[-1] in "+#" or form[0] == ".")
