"""Whether two records speak of the same paper. Pure; in doubt the answer is no, because a wrong merge hides a paper.

The rules, in order (``compare``):

1. A shared identifier means the same paper. Not so a shared DOI if the titles are clearly different (a DOI of a whole
   issue or book stands on each of its papers), nor another shared identifier if titles and authors are both different
   (a slip): linked.
2. Equal titles that are not generic, enough common authors, and years at most ``YEAR_GAP`` apart (``PREPRINT_GAP``
   between a preprint and its publication): the same. Years further apart: linked, two editions. Authors unknown on
   either side: the same only if the title is long and the year is known and equal, or if both were listed within
   ``LISTED_TOGETHER`` days. No common author: different papers
   of one name.
3. A title that was derived from the abstract cannot be compared: equal beginnings of the abstracts, and enough common
   authors where both sides have authors: the same.
4. A summary of our own with a true title, against a listed abstract without one: the same if both name the same two
   or more authors in the same order, no area contradicts, and the abstract uses the words of title and summary.
5. Enough common authors on both sides, and one title is the other with something added: linked, an extended version.
   Equal abstracts under different titles: linked.

What stands above a pair is decided for whole papers in ``merge``: two different arXiv ids never merge; two different
DOIs, ACL or PubMed ids never merge without a shared identifier; a person's word overrules everything.
"""

from __future__ import annotations

from collections.abc import Sequence
from enum import IntEnum

from broadsheet.ingest.reading import LONG_TITLE, Reading, numbering, title_words
from broadsheet.model import Scheme
from broadsheet.text import fold, same_person, to_plain

YEAR_GAP = 1
PREPRINT_GAP = 3
LISTED_TOGETHER = 45
"""Days within which two lists that name no authors mean one paper by one title.

Of 4,528 such pairs on 75,000 arXiv papers and two years of daily papers, two were of two works: a resubmission each.
"""
DIFFERENT_TITLES = 0.5
"""Share of the shorter title's long words below which two titles with one DOI are of two works."""
SUMMARY_WORDS = 0.3
SUMMARY_WORDS_OF_TWO = 0.45
"""Shares of the long words of title and summary that the abstract must have (rule 4); the second for two authors.

Measured on 139 summaries and their abstracts: own 0.34 to 0.78 (median 0.53), best other one 0.18 to 0.47 (median
0.28).
"""
PREPRINTS = frozenset(("", "arxiv", "corr", "arxivpreprint", "biorxiv", "medrxiv", "ssrn", "preprint", "openreview"))
_MOST_NAMES = 40
"""Longer author lists are compared by their first names: collaborations list thousands."""


class Verdict(IntEnum):
    """How two records stand to each other; the larger, the closer."""

    DIFFERENT = 0
    LINKED = 1
    SAME = 2
    IDENTIFIED = 3  # the same by an identifier


def common_authors(a: Sequence[str], b: Sequence[str]) -> int:
    """How many of the first names of ``a`` are also in ``b``, each counted once."""
    left, right = list(a[:_MOST_NAMES]), list(b[:_MOST_NAMES])
    equal = set(left) & set(right)
    rest = [name for name in right if name not in equal]
    found = len(equal)
    for name in left:
        if name not in equal:
            match = next((other for other in rest if same_person(name, other)), None)
            if match is not None:
                rest.remove(match)
                found += 1
    return found


def enough_authors(a: Sequence[str], b: Sequence[str]) -> bool:
    """Whether two author lists, both known, are of the same people: half of the shorter, or the first and one more."""
    if not a or not b:
        return False
    common = common_authors(a, b)
    shorter = min(len(a), len(b), _MOST_NAMES)
    return common * 2 >= shorter or (common >= 2 and same_person(a[0], b[0]))


def is_preprint(reading: Reading) -> bool:
    """Whether the record names no venue, or only a preprint server."""
    return "".join(fold(reading.record.venue).split()) in PREPRINTS


def clearly_different(a: Reading, b: Reading) -> bool:
    """Whether both titles are true ones and of different works. Titles in different scripts cannot be told apart."""
    if not a.fingerprint or not b.fingerprint or a.fingerprint == b.fingerprint:
        return False
    if a.fingerprint.isascii() != b.fingerprint.isascii():
        return False
    if numbering(a.title) != numbering(b.title):
        return True
    words_a, words_b = _long_words(a.title), _long_words(b.title)
    return len(words_a & words_b) < DIFFERENT_TITLES * min(len(words_a), len(words_b))


def _long_words(title: str) -> frozenset[str]:
    """Words of four letters and more, as far as a title has any: the others are the same in all titles."""
    words = title_words(title)
    return frozenset(word for word in words if len(word) >= 4) or words


def _years_agree(a: Reading, b: Reading) -> bool:
    if a.year is None or b.year is None:
        return True
    gap = PREPRINT_GAP if is_preprint(a) != is_preprint(b) else YEAR_GAP
    return abs(a.year - b.year) <= gap


def _by_identifier(a: Reading, b: Reading) -> Verdict | None:
    shared = a.identifiers & b.identifiers
    if not shared:
        return None
    if not clearly_different(a, b):
        return Verdict.IDENTIFIED
    if all(identifier.scheme is Scheme.DOI for identifier in shared):
        return Verdict.LINKED
    strangers = bool(a.people and b.people) and not common_authors(a.people, b.people)
    return Verdict.LINKED if strangers else Verdict.IDENTIFIED


def _by_title(a: Reading, b: Reading) -> Verdict:
    if not a.people or not b.people:
        one_year = a.some_year is not None and a.some_year == b.some_year
        sure = (len(a.fingerprint) >= LONG_TITLE and one_year) or _listed_together(a, b)
        return Verdict.SAME if sure else Verdict.DIFFERENT
    if not enough_authors(a.people, b.people):
        return Verdict.DIFFERENT
    return Verdict.SAME if _years_agree(a, b) else Verdict.LINKED


def _listed_together(a: Reading, b: Reading) -> bool:
    first, second = a.record.listed, b.record.listed
    return first is not None and second is not None and abs((first - second).days) <= LISTED_TOGETHER


def _by_abstract(a: Reading, b: Reading) -> Verdict:
    if a.people and b.people and not enough_authors(a.people, b.people):
        return Verdict.DIFFERENT
    return Verdict.SAME if a.record.title_derived or b.record.title_derived else Verdict.LINKED


def _areas_agree(a: Reading, b: Reading) -> bool:
    names = [{fold(area.name) for area in reading.record.areas} for reading in (a, b)]
    return not names[0] or not names[1] or bool(names[0] & names[1])


def words_in_common(summary: Reading, listed: Reading) -> float:
    """Share of the long words of a summary and its title that an abstract has too, by their first six letters."""
    words = {w[:6] for w in title_words(f"{summary.title} {summary.abstract}") if len(w) >= 5}
    text = {w[:6] for w in title_words(to_plain(listed.abstract)) if len(w) >= 5}
    return len(words & text) / len(words) if words else 0.0


def _same_list(a: Reading, b: Reading) -> bool:
    """Whether two author lists name the same people in the same order; a cut one need only begin the other."""
    shorter, longer = sorted((a, b), key=lambda reading: len(reading.authors))
    if len(shorter.authors) < len(longer.authors) and not (
        shorter.record.authors_truncated and len(shorter.authors) >= 3
    ):
        return False
    return all(map(same_person, shorter.authors, longer.authors))


def _by_summary(a: Reading, b: Reading) -> Verdict:
    for summary, listed in ((a, b), (b, a)):
        described = summary.record.summarised and summary.fingerprint and listed.record.title_derived and listed.head
        people = min(len(a.people), len(b.people))
        if described and people >= 2 and _same_list(a, b) and _areas_agree(a, b):
            needed = SUMMARY_WORDS if people >= 3 else SUMMARY_WORDS_OF_TWO
            return Verdict.SAME if words_in_common(summary, listed) >= needed else Verdict.DIFFERENT
    return Verdict.DIFFERENT


def _by_extension(a: Reading, b: Reading) -> Verdict:
    if a.names_itself and b.names_itself and numbering(a.title) == numbering(b.title):
        shorter, longer = sorted((a, b), key=lambda reading: len(reading.fingerprint))
        words_added = title_words(shorter.title) < title_words(longer.title)
        part_added = a.core == b.core == shorter.fingerprint
        if (words_added or part_added) and enough_authors(a.people, b.people):
            return Verdict.LINKED
    return Verdict.DIFFERENT


def compare(a: Reading, b: Reading) -> Verdict:
    """How two records stand to each other by the rules above; symmetric."""
    by_identifier = _by_identifier(a, b)
    if by_identifier is not None:
        return by_identifier
    if a.fingerprint and a.fingerprint == b.fingerprint:
        return _by_title(a, b) if a.names_itself else Verdict.DIFFERENT
    if a.head and a.head == b.head:
        return _by_abstract(a, b)
    return max(_by_summary(a, b), _by_extension(a, b))
