"""The tagged export of Web of Science ("ISI"): two letters, a blank, the value; wrapped lines begin with three blanks.

Tags: https://images.webofknowledge.com/images/help/WOS/hs_wos_fieldtags.html. An entry goes from ``PT`` to ``ER``.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from broadsheet.identifiers import find_identifiers
from broadsheet.sources.base import Entry, Limits
from broadsheet.sources.notices import without_mark
from broadsheet.sources.risfields import Tags
from broadsheet.sources.tagged import (
    Block,
    Draft,
    Field,
    Records,
    beginning,
    earliest,
    lines_of,
    notice_of_note,
    one_line,
    page_range,
    standard_numbers,
    stated_identifier,
    when,
)

NAME = "Web of Science (ISI)"
_SIGN = re.compile(r"^(?:FN (?:ISI|Clarivate|Thomson)|VR 1\.0|PT [JBSPC])\s*", re.MULTILINE)
_TAG = re.compile(r"([A-Z][A-Z0-9])(?: (.*)|\s*)$")
_PLAIN = {
    "VL": "volume", "IS": "number", "PN": "part", "AR": "eid", "LA": "language", "C1": "affiliation", "PI": "address",
    "PU": "publisher", "SE": "series", "BS": "seriessubtitle", "CT": "eventtitle", "CL": "venue", "CY": "eventdate",
    "DT": "type",
}  # fmt: skip
_HELD = frozenset(
    "PT AU AF CA GP BA BF TI SO AB DE ID PY PD EA EY BP EP SN EI BN DI D2 PM UT CR TC BE ED J9 JI ER EF FN VR".split()  # noqa: SIM905
)
_OTHER = """RP EM RI OI FU FX FP NR Z9 Z1 Z2 Z3 Z4 Z5 Z6 Z7 Z8 ZA ZB ZR ZS U1 U2 PA SI SU SP HO MA PG P2 WC WE SC GA OA
HP HC DA BP SU PN C3 DL"""
_TAGS = _HELD.union(_PLAIN, _OTHER.split())
_KINDS = {"J": "article", "B": "book", "S": "incollection", "P": "patent", "C": "inproceedings"}


def sniff(head: bytes, name: str) -> bool:
    """Whether the file says so in its first lines, or a line begins an entry."""
    return bool(_SIGN.search(beginning(head)))


def read(name: str, data: bytes, limits: Limits) -> Iterator[Entry]:
    """The entries of a file."""
    records = Records(name, "isi", limits)
    return records.of_blocks(_blocks(data, limits.max_entry_bytes), _draft, "PT J")


def _blocks(data: bytes, most: int) -> Iterator[Block]:
    block: Block | None = None
    for number, line in lines_of(data):
        found = _TAG.match(line)
        tag = found[1] if found and found[1] in _TAGS else ""
        if found is None or not tag:
            if block:
                block.wrap(line)
            continue
        if tag in ("FN", "VR", "EF"):
            continue
        if tag == "ER":
            if block:
                block.keep(line)
                yield block
            block = None
            continue
        if block and tag == "PT":  # its ER is missing
            yield block
            block = None
        block = block or Block(number, most)
        block.add(tag, found[2] or "", number, line)
    if block:
        yield block


def _draft(fields: list[Field]) -> Draft:
    tags = Tags(fields)
    draft = Draft(own=tags.first("UT"))
    draft.title, notices = without_mark(tags.first("TI"))
    draft.notices.extend(notices)
    draft.abstract = tags.first("AB")
    short, full = tags.lines("AU"), tags.lines("AF")
    book_short, book_full = tags.lines("BA"), tags.lines("BF")
    draft.authors = full if len(full) == len(short) else short or full
    draft.authors = draft.authors or (book_full if len(book_full) == len(book_short) else book_short)
    draft.authors += tags.lines("CA", "GP")
    if draft.authors and re.fullmatch(r"et al\.?|\[?anonymous\]?", draft.authors[-1].lower()):
        draft.authors_truncated = draft.authors.pop().lower().startswith("et")
    draft.detail("editor", *tags.lines("BE", "ED"), between=" and ")
    _container(draft, tags)
    _dates(draft, tags)
    _identify(draft, tags)
    words = [word for tag in ("DE", "ID") for word in tags.first(tag).split(";")]
    draft.keywords = [word.strip() for word in words if word.strip()]
    for kind in tags.first("DT").split(";"):
        draft.notice(notice_of_note(kind.strip()))
    if tags.first("TC").isdecimal():
        draft.counts["citations"] = int(tags.first("TC"))
    for tag in tags.names:
        if tag not in _HELD:
            draft.detail(_PLAIN.get(tag, f"isi-{tag.lower()}"), *map(one_line, tags.all(tag)))
    return draft


def _container(draft: Draft, tags: Tags) -> None:
    form = tags.first("DT").lower()
    draft.kind = _KINDS.get(tags.first("PT")[:1], "misc")
    if "proceedings paper" in form and (draft.kind != "article" or tags.first("BN")):
        draft.kind = "inproceedings"
    elif draft.kind == "book" and tags.first("SO") not in ("", tags.first("TI")):
        draft.kind = "incollection"
    draft.venue = tags.first("SO")
    draft.detail("journal" if draft.kind == "article" else "booktitle", draft.venue)
    draft.detail("shortjournal", tags.first("JI", "J9"))


def _dates(draft: Draft, tags: Tags) -> None:
    draft.year = when(tags.first("PY")).year
    early = when(tags.first("EA"))
    draft.published, draft.month_only = earliest((when(tags.first("PD"), draft.year), early))
    draft.year = draft.year or early.year


def _identify(draft: Draft, tags: Tags) -> None:
    for value in tags.all("DI"):
        draft.identify(stated_identifier(one_line(value)))
    draft.pmid(tags.first("PM"))
    draft.detail("pages", page_range(tags.first("BP"), tags.first("EP")))
    issns, _ = standard_numbers(" ; ".join(tags.all("SN", "EI")))
    _, isbns = standard_numbers(" ; ".join(tags.all("BN")))
    draft.detail("issn", ", ".join(issns))
    draft.detail("isbn", ", ".join(isbns))
    for line in tags.lines("CR"):
        draft.references |= dict.fromkeys(find_identifiers(line))
