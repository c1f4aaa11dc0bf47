"""Records of a pool that look like one, but not enough for the rules that make one of them. Pure.

Candidates are pairs with one title, with one abstract, or with titles that have most words in common; these are found
by their rarest words (prefix filtering; Chaudhuri, Ganti and Kaushik, ICDE 2006; Bayardo, Ma and Srikant, WWW 2007), so
that no more than a few of all pairs are looked at. What is numbered differently, as parts and versions are, is none.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from difflib import SequenceMatcher
from itertools import combinations
from math import ceil

from broadsheet.ingest.reading import ABSTRACT_HEAD, DAMAGED, SHORTEST_ABSTRACT, numbering, particular, title_words
from broadsheet.model import Scheme
from broadsheet.model.screening import PoolRecord
from broadsheet.text import title_fingerprint

WORDS_IN_COMMON = 0.6
"""Share of the words of two titles that are in both, from which their letters are compared."""
ALIKE = 0.9
"""Likeness of the letters and digits of two titles from which they may be one."""
MOST_TOGETHER = 20
"""Records with one title or abstract, above which it is no sign: so many have ``Editorial``."""
MOST_BEHIND = 100
"""Titles behind one of the rarer words of a title, above which it finds none: it is not rare."""
_LEAST_WORDS = 3


@dataclass(frozen=True, slots=True)
class Likeness:
    """Two records by their places, the lower first: ``titles`` from 0 to 1, and why they may be one."""

    one: int
    other: int
    titles: float
    why: str


@dataclass(frozen=True, slots=True)
class _Looked:
    """What is compared of a record."""

    fingerprint: str
    head: str
    words: frozenset[str]
    numbers: frozenset[str]
    year: int | None
    identifiers: tuple[tuple[str, str], ...]
    people: tuple[str, ...]


def likenesses(records: Sequence[PoolRecord]) -> list[Likeness]:
    """All pairs of records that may be one, the likest first, whether they are known to be one or not."""
    looked = [_looked(record) for record in records]
    found = [pair for one, other in _candidates(looked) if (pair := _pair(looked, one, other))]
    return sorted(found, key=lambda pair: (-pair.titles, pair.one, pair.other))


def _looked(record: PoolRecord) -> _Looked:
    """Of texts that are plain already, so that they are folded once and not cleaned again."""
    fingerprint = title_fingerprint(record.title) if DAMAGED not in record.title else ""
    head = title_fingerprint(record.abstract[: 3 * ABSTRACT_HEAD])[:ABSTRACT_HEAD]
    words = title_words(record.title)
    named = particular(fingerprint)
    return _Looked(
        fingerprint if named else "",
        head if len(head) >= SHORTEST_ABSTRACT else "",
        words if named else frozenset(),
        numbering(record.title),
        record.year,
        tuple(sorted((i.scheme.value, i.value) for i in record.identifiers)),
        tuple(name.split()[-1].casefold() for name in record.authors[:1]),
    )


def _candidates(looked: Sequence[_Looked]) -> Iterator[tuple[int, int]]:
    """Pairs of places to look at, each once."""
    sharing: dict[tuple[str, str], list[int]] = defaultdict(list)
    for place, each in enumerate(looked):
        for name in ("fingerprint", "head"):
            if key := getattr(each, name):
                sharing[name, key].append(place)
    pairs = {pair for places in sharing.values() if len(places) <= MOST_TOGETHER for pair in combinations(places, 2)}
    pairs.update(_with_words_in_common(looked))
    yield from sorted(pairs)


def _with_words_in_common(looked: Sequence[_Looked]) -> Iterator[tuple[int, int]]:
    frequency = Counter(word for each in looked for word in each.words)
    behind: dict[str, list[int]] = defaultdict(list)
    for place, each in enumerate(looked):
        if len(each.words) < _LEAST_WORDS:
            continue
        rarest = sorted(each.words, key=lambda word: (frequency[word], word))
        # Titles with so large a share in common have one of these words in common, the rarest first.
        prefix = rarest[: len(rarest) - ceil(WORDS_IN_COMMON * len(rarest)) + 1]
        near: set[int] = set()
        for word in prefix:
            if len(behind[word]) <= MOST_BEHIND:
                near.update(behind[word])
                behind[word].append(place)
        for other in near:
            both = len(each.words & looked[other].words)
            if both >= WORDS_IN_COMMON * (len(each.words) + len(looked[other].words) - both):
                yield other, place


def _pair(looked: Sequence[_Looked], one: int, other: int) -> Likeness | None:
    a, b = looked[one], looked[other]
    if a.numbers != b.numbers:
        return None
    if a.fingerprint and a.fingerprint == b.fingerprint:
        return Likeness(one, other, 1.0, _why("The same title", a, b))
    alike = _alike(a.fingerprint, b.fingerprint)
    if alike >= ALIKE:
        return Likeness(one, other, alike, _why("Nearly the same title", a, b))
    if a.head and a.head == b.head:
        return Likeness(one, other, alike, _why("The same abstract, another title", a, b))
    return None


def _alike(one: str, other: str) -> float:
    """The share of letters in common, in their order; 0 where it is below ``ALIKE`` for sure."""
    if not one or not other:
        return 0.0
    matcher = SequenceMatcher(None, one, other, autojunk=False)
    if matcher.real_quick_ratio() < ALIKE or matcher.quick_ratio() < ALIKE:
        return 0.0
    return matcher.ratio()


def _why(what: str, a: _Looked, b: _Looked) -> str:
    """What speaks for two records being one, and what against it."""
    against = []
    if a.year and b.year and a.year != b.year:
        against.append(f"the years are {a.year} and {b.year}")
    if a.people and b.people and a.people != b.people:
        against.append("the first authors differ")
    for scheme in Scheme:
        left, right = ({value for name, value in each.identifiers if name == scheme.value} for each in (a, b))
        if left and right and not left & right:
            against.append(f"they have different {_NAMES.get(scheme, scheme.value)}")
    if not against and not (a.people and b.people):
        against.append("authors are missing")
    return f"{what}; {', '.join(against)}." if against else f"{what}."


_NAMES = {Scheme.DOI: "DOIs", Scheme.PMID: "PubMed numbers", Scheme.ARXIV: "arXiv numbers"}
