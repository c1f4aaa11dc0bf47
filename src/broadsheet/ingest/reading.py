"""A record as it is compared and merged: texts cleaned once, and the keys by which equal papers find each other."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

from broadsheet.identifiers import implied_identifiers
from broadsheet.model import Identifier, Record
from broadsheet.text import clean, display_name, fold, name_key, title_fingerprint, to_plain

SHORTEST_IDENTITY = 12
"""Letters and digits that a title needs to say which paper it is."""
LONG_TITLE = 40
"""Letters and digits from which a title alone is rarely shared by two papers of one year."""
ABSTRACT_HEAD = 200
"""Letters and digits of an abstract that are compared; sources cut it further on."""
SHORTEST_ABSTRACT = 100
DAMAGED = "\ufffd"
"""Stands where a letter was lost: such a title or name is no key."""

_GENERIC = """
Abstract; Abstracts; Acknowledgments; Acknowledgements; Announcement; Announcements; Appendix; Author Index;
Awards; Book Review; Book Reviews; Chair's Message; Committees; Commentary; Comments; Conclusion;
Conclusions; Conference Committee; Conference Organization; Contents; Contributors; Copyright; Correction;
Corrections; Correspondence; Corrigendum; Discussion; Editor's Note; Editorial; Editorial Board; Editors'
Introduction; Epilogue; Errata; Erratum; Foreword; Front Cover; Front Matter; Frontmatter; Full Paper;
General Chair's Message; Guest Editorial; Guest Editors' Introduction; In Memoriam; Index; Introduction;
Introduction to the Issue; Introduction to the Special Issue; Introduction to the Special Section; Invited
Speakers; Invited Talk; Invited Talks; Keynote; Keynote Speakers; Keynote Talk; Keynotes; List of Reviewers;
Masthead; Message from the Chairs; Message from the General Chair; Message from the General Chairs; Message
from the Program Chairs; News; Obituary; Organizing Committee; Organization; Organizers; Panel; Poster;
Posters; Preface; Prefaces; Proceedings; Program; Program Committee; Program Committees; Publication
Information; Reply; Response; Review; Reviewers; Special Issue; Sponsors; Subject Index; Summary;
Supplementary Material; Supplement; Table of Contents; Title Page; Tutorial; Tutorials; Untitled; Welcome;
Welcome Message; Workshop; Workshops
"""
GENERIC_TITLES = frozenset(map(title_fingerprint, " ".join(_GENERIC.split()).split(";")))
"""Fingerprints of titles that many works bear."""

_EDITION = (
    r"extended(?: version| abstract| edition| report)?|full(?: version| paper)|journal version|long version"
    r"|short version|technical report|preliminary version|supplementary material|abstract|with appendix"
)
_EDITION_END = re.compile(rf"[\s:,–—-]*[(\[]?\b(?:{_EDITION})\b[)\]]?\s*$", re.IGNORECASE)
_SUBTITLE = re.compile(r"\s*[:：]\s|\s+[-–—]\s+|\s*——")
_NUMBERING = re.compile(r"^(?:v?\d+|[ivx]+)$")
_WORD = re.compile(r"[^\W_]+")
# Single letters that are words of a sentence and not Roman numbers.
_LETTERS = frozenset(("i", "v", "x"))


@dataclass(frozen=True, slots=True)
class Reading:
    """What merging looks at in one record. Empty strings and tuples mean unknown.

    ``fingerprint`` is the title's letters and digits, also of a generic title; empty if the title was derived from
    the abstract or lost letters. ``core`` is the fingerprint without subtitle and edition. ``head`` is the abstract's
    first letters and digits, empty for an abstract of our own making. ``match_keys`` are shared with papers that may
    be the same or related.
    """

    record: Record
    title: str
    abstract: str
    authors: tuple[str, ...]
    identifiers: frozenset[Identifier]
    fingerprint: str
    core: str
    head: str
    match_keys: tuple[str, ...]

    @property
    def key(self) -> tuple[str, str]:
        """(source, key) of the record."""
        return self.record.source, self.record.key

    @property
    def people(self) -> tuple[str, ...]:
        """The authors as far as their names came undamaged; others say nothing about who they are."""
        return tuple(name for name in self.authors if DAMAGED not in name)

    @property
    def year(self) -> int | None:
        """The year it is from, as far as is known."""
        if self.record.year:
            return self.record.year
        return self.record.published.year if self.record.published else None

    @property
    def some_year(self) -> int | None:
        """The year it is from, else that in which a list showed it."""
        return self.year or (self.record.listed.year if self.record.listed else None)

    @property
    def names_itself(self) -> bool:
        """Whether the title is long and particular enough to say which paper it is."""
        return particular(self.fingerprint)


def particular(fingerprint: str) -> bool:
    """Whether a title with this fingerprint is not one of those that many works bear."""
    return len(fingerprint) >= SHORTEST_IDENTITY and fingerprint not in GENERIC_TITLES


def _unquoted(text: str) -> str:
    """Without the quotation marks in which some pages put a whole abstract."""
    whole = len(text) > 2 and text[0] == text[-1] == '"' and text.count('"') == 2
    return text[1:-1].strip() if whole else text


def read(record: Record) -> Reading:
    """Clean a record's texts and make its keys."""
    title, abstract = clean(record.title), _unquoted(clean(record.abstract))
    fingerprint = core = ""
    if not record.title_derived and DAMAGED not in title:
        fingerprint = title_fingerprint(title)
        core = _core(title, fingerprint)
    # What a DOI implies does not count beside an identifier that says otherwise: one of the two is a slip.
    named = {identifier.scheme for identifier in record.identifiers}
    implied = [j for i in record.identifiers for j in implied_identifiers(i) if j.scheme not in named]
    authors = tuple(name for author in record.authors if any(map(str.isalpha, name := display_name(author))))
    head = "" if record.summarised else _head(abstract)
    return Reading(
        record=record,
        title=title,
        abstract=abstract,
        authors=authors,
        identifiers=frozenset((*record.identifiers, *implied)),
        fingerprint=fingerprint,
        core=core,
        head=head,
        match_keys=tuple(_match_keys(record, fingerprint, core, head, authors)),
    )


def _match_keys(record: Record, fingerprint: str, core: str, head: str, authors: tuple[str, ...]) -> Iterator[str]:
    if particular(fingerprint):
        yield f"title:{fingerprint}"
        if core != fingerprint:
            yield f"title:{core}"
    if head:
        yield f"abstract:{head}"
    if len(authors) >= 2 and (record.title_derived or record.summarised):
        yield "people:" + "|".join(" ".join(name_key(name)) for name in authors[:2])


def _head(abstract: str) -> str:
    # Enough characters for ABSTRACT_HEAD letters and digits of prose, whatever its spaces and formulas.
    head = title_fingerprint(abstract[: 3 * ABSTRACT_HEAD])[:ABSTRACT_HEAD]
    return head if len(head) >= SHORTEST_ABSTRACT else ""


def _core(title: str, fingerprint: str) -> str:
    whole = _EDITION_END.sub("", title)
    main = _SUBTITLE.split(whole, maxsplit=1)[0]
    if main == title:
        return fingerprint
    for shorter in (main, whole):
        core = title_fingerprint(shorter)
        if particular(core):
            return core
    return fingerprint


def title_words(title: str) -> frozenset[str]:
    """The folded words of a title."""
    return frozenset(_WORD.findall(fold(to_plain(title))))


def numbering(title: str) -> frozenset[str]:
    """Numbers in a title, Arabic or Roman: papers whose titles differ in them are parts or versions, not copies."""
    words = _WORD.findall(fold(to_plain(title)))
    return frozenset(
        w for i, w in enumerate(words) if _NUMBERING.match(w) and (w not in _LETTERS or i == len(words) - 1)
    )
