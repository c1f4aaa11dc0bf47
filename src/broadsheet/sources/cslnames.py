"""CSL's types and variables, and what BibLaTeX calls them (CSL 1.0.2 specification, appendices III and IV).

Both ways of ``docs/import.md``'s table: ``csl`` reads with it, ``out_csl`` writes with it.
"""

from __future__ import annotations

_TYPES = """
article-journal: article, review, suppperiodical
article-magazine article-newspaper:
paper-conference: inproceedings, conference
book: book, mvbook, collection, mvcollection, proceedings, mvproceedings, reference, mvreference, manual
chapter: incollection, inbook, bookinbook, suppbook, suppcollection
entry-encyclopedia entry entry-dictionary: inreference
thesis: thesis, phdthesis, mastersthesis
report: report, techreport
manuscript speech: unpublished
webpage post post-weblog: online, electronic, www
dataset: dataset
software: software
patent: patent
standard: standard
periodical: periodical
pamphlet: booklet
legislation bill: legislation
legal_case hearing: jurisdiction
regulation treaty: legal
personal_communication: letter
motion_picture broadcast: video, movie
song musical_score: audio, music
graphic map figure: artwork, image
performance: performance
document event interview: misc
"""
_LIKE = {"article-magazine": "article", "article-newspaper": "article", "classic": "book", "review": "review"} | {
    # Crossref answers requests for CSL-JSON with its own types (https://api.crossref.org/types).
    "review-book": "review",
    "journal-article": "article",
    "proceedings-article": "inproceedings",
    "book-chapter": "incollection",
    "posted-content": "online",
    "dissertation": "thesis",
    "monograph": "book",
    "edited-book": "collection",
    "reference-book": "reference",
    "reference-entry": "inreference",
    "peer-review": "review",
}

KIND_OF: dict[str, str] = dict(_LIKE)
"""The BibLaTeX type of each CSL type but ``article``, which means a preprint unless it names a journal."""
TYPE_OF: dict[str, str] = {}
"""The CSL type of each BibLaTeX type."""
for _line in _TYPES.strip().splitlines():
    _csl, _, _kinds = _line.partition(":")
    for _type in _csl.split():
        if _kinds.strip():
            KIND_OF.setdefault(_type, _kinds.split(",")[0].strip())
    for _kind in _kinds.split(","):
        if _kind.strip():
            TYPE_OF[_kind.strip()] = _csl.split()[0]

TEXTS: dict[str, str] = {
    "volume": "volume",
    "page": "pages",
    "publisher-place": "address",
    "collection-title": "series",
    "edition": "edition",
    "version": "version",
    "ISBN": "isbn",
    "ISSN": "issn",
    "language": "language",
    "chapter-number": "chapter",
    "number-of-pages": "pagetotal",
    "number-of-volumes": "volumes",
    "genre": "type",
    "note": "note",
    "annote": "annotation",
    "title-short": "shorttitle",
    "container-title-short": "shortjournal",
    "event-title": "eventtitle",
    "event-place": "venue",
    "original-title": "origtitle",
    "original-publisher": "origpublisher",
    "original-publisher-place": "origlocation",
    "medium": "howpublished",
    "call-number": "library",
    "status": "pubstate",
    "citation-key": "citekey",
}
"""Text variables and the BibLaTeX fields of the same meaning."""
OTHER_TEXTS = {"shortTitle": "shorttitle", "journalAbbreviation": "shortjournal", "event": "eventtitle"}
"""What older programs call some of them."""
KEPT = (
    "section",
    "archive",
    "archive_location",
    "archive-place",
    "authority",
    "dimensions",
    "scale",
    "source",
    "PMCID",
)
"""Text variables that BibLaTeX has no field for; they keep their names, in small letters."""
DATES = {"accessed": "urldate", "event-date": "eventdate", "original-date": "origdate"}
NAMES = {
    "editor": "editor",
    "translator": "translator",
    "container-author": "bookauthor",
    "collection-editor": "editora",
    "director": "director",
    "composer": "composer",
    "recipient": "recipient",
    "reviewed-author": "reviewedauthor",
    "original-author": "origauthor",
}
IN_JOURNAL = frozenset(("article", "review", "periodical", "suppperiodical"))
"""Types whose container is a journal, and whose ``number`` is an issue."""
INSTITUTIONAL = frozenset(("thesis", "phdthesis", "mastersthesis", "report", "techreport"))
"""Types that have an institution where others have a publisher."""
NUMBERED = frozenset(("report", "techreport", "patent", "standard", "legislation", "manual", "dataset", "software"))
"""Types whose ``number`` is their own, not their place in a series."""
