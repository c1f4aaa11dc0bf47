"""PubMed's format (MEDLINE), files named ``.nbib`` or ``.txt``: four places for the tag, a hyphen, the value.

Tags: https://pubmed.ncbi.nlm.nih.gov/help/#pubmed-format. Wrapped lines begin with six spaces; an entry begins behind
a blank line, or with a second ``PMID``. Read as well: tags without their blanks (``TI-``) of older programs.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from broadsheet.model import Notice, NoticeKind
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
    one_line,
    page_range,
    pmc_id,
    standard_numbers,
    stated_identifier,
    when,
)

NAME = "PubMed (nbib)"
_TAG = re.compile(r"([A-Z][A-Z0-9]{1,4}) {0,3}-(.*)")
_SIGN = re.compile(r"^(?:PMID ?- ?\d|OWN - |STAT- |PMCR- )", re.MULTILINE)
_PLAIN = {
    "VI": "volume", "IP": "number", "TA": "shortjournal", "PL": "address", "LA": "language", "AD": "affiliation",
    "VTI": "volumetitle", "CTI": "series", "TT": "origtitle", "EN": "edition", "PB": "publisher", "CP": "chapter",
}  # fmt: skip
_READ = frozenset(
    """PMID TI BTI AB OAB AU FAU CN DP DEP EDAT CRDT JT IS ISBN PG LID AID PMC PT MH OT FED ED SO RIN ECI
    OWN STAT DCOM LR DA MHDA PHST PST OTO PMCR IRAD""".split()  # noqa: SIM905
)
"""Tags that the record holds in fields of its own, or that say how NLM works."""
_TAGS = _READ.union(_PLAIN, "ROF ROFA CI JID RN NM SB GR MID OID COIS CON CIN SI AUID IR FIR".split())  # noqa: SIM905
_LONG = ("TI", "BTI", "AB", "OAB", "AD")
"""Tags whose values may go on without the six spaces, in files that went through an editor."""
_AUTHOR = re.compile(r"(?P<family>.+?) (?P<given>[^\W\d_a-z]{1,4})(?: (?P<suffix>Jr|Sr|2nd|3rd|[456]th|II|III))?")
KINDS = (
    ("preprint", "online"),
    ("dataset", "dataset"),
    ("retraction of publication", "article"),
    ("technical report", "report"),
    ("academic dissertation", "thesis"),
    ("book", "book"),
)
"""Type of publication (its beginning, in small letters) → BibLaTeX entry type; the first that fits, else an article."""


def sniff(head: bytes, name: str) -> bool:
    """Whether a line has PubMed's id or status, and none begins an entry of RIS."""
    text = beginning(head)
    return bool(_SIGN.search(text)) and not re.search(r"^TY  -", text, re.MULTILINE)


def read(name: str, data: bytes, limits: Limits) -> Iterator[Entry]:
    """The entries of a file."""
    records = Records(name, "nbib", limits)
    return records.of_blocks(_blocks(data, limits.max_entry_bytes), _draft, "PMID- 1")


def _blocks(data: bytes, most: int) -> Iterator[Block]:
    block: Block | None = None
    gap = True
    for number, line in lines_of(data):
        found = _TAG.match(line)
        tag = found[1] if found and (found.start(2) == 5 or found[1] in _TAGS) else ""
        if found and tag:
            if block and (gap or (tag == "PMID" and block.has("PMID"))):
                yield block
                block = None
            block = block or Block(number, most)
            block.add(tag, found[2], number, line)
            gap = False
        elif not line.strip():
            gap = True
        elif block and (line[0].isspace() or (not gap and block.ends_with(*_LONG))):
            block.wrap(line)
            gap = False
        elif block and not gap:
            block.keep(line)
    if block:
        yield block


def title_of(text: str) -> tuple[str, tuple[Notice, ...]]:
    """A title without what NLM puts around it: the full stop, and brackets where it is a translation."""
    text = one_line(text)
    if text.endswith(".") and not text.endswith(".."):
        text = text[:-1]
    if text.startswith("[") and text.endswith("]") and text.count("[") == 1:
        text = text[1:-1].rstrip(".")
    return without_mark(text)


def kind_of(types: list[str], has_journal: bool) -> str:
    """The entry type by the types of publication."""
    for text in types:
        for start, kind in KINDS:
            if text.lower().startswith(start):
                return kind
    return "article" if has_journal or types else "misc"


def _draft(fields: list[Field]) -> Draft:
    tags = Tags(fields)
    pmid = tags.first("PMID")
    draft = Draft(own=f"pmid:{pmid}" if pmid else "")
    title, book = one_line(" ".join(tags.all("TI"))), tags.first("BTI")
    draft.title, notices = title_of(title or book)
    draft.notices.extend(notices)
    draft.abstract = one_line(" ".join(tags.all("AB") or tags.all("OAB")))
    draft.keywords = [word for text in tags.all("MH", "OT") if (word := one_line(text).replace("*", ""))]
    types = [one_line(text) for text in tags.all("PT")]
    draft.kind = kind_of(types, bool(tags.first("JT", "TA")))
    if book and title:
        draft.kind = "incollection"
    draft.detail("type", "; ".join(types))
    draft.venue = tags.first("JT", "TA") or (book if title else "")
    draft.detail("journal" if draft.kind == "article" else "booktitle", draft.venue)
    _authors(draft, tags)
    _dates(draft, tags)
    _identify(draft, tags)
    _notices(draft, tags, types)
    for tag in tags.names:
        if tag not in _READ:
            draft.detail(_PLAIN.get(tag, f"nbib-{tag.lower()}"), *map(one_line, tags.all(tag)))
    return draft


def _authors(draft: Draft, tags: Tags) -> None:
    """Full names where there are any; a short one belongs to the full one right before it."""
    full = False
    for item in tags.fields:
        name = one_line(item.value)
        if item.tag in ("FAU", "CN"):
            draft.authors.append(name)
        elif item.tag == "AU" and not full:
            if name.lower().rstrip(".") == "et al":
                draft.authors_truncated = True
            else:
                draft.authors.append(_with_comma(name))
        full = item.tag == "FAU"
    editors = tags.all("FED") or map(_with_comma, tags.all("ED"))
    draft.detail("editor", *map(one_line, editors), between=" and ")


def _with_comma(name: str) -> str:
    """``de Vries J Jr`` as ``de Vries, J, Jr``."""
    found = _AUTHOR.fullmatch(one_line(name))
    return ", ".join(part for part in found.group("family", "given", "suffix") if part) if found else one_line(name)


def _dates(draft: Draft, tags: Tags) -> None:
    printed = when(tags.first("DP"))
    online = when(tags.first("DEP"))
    draft.year = printed.year or online.year
    draft.published, draft.month_only = earliest((printed, online))
    # A work of long ago that PubMed took in later has the day of publication as its EDAT.
    draft.listed = when(tags.first("EDAT") or tags.first("CRDT")).date
    if printed.month is None and printed.year and len(tags.first("DP")) > 4:
        draft.detail("date", tags.first("DP"))  # a season


def _identify(draft: Draft, tags: Tags) -> None:
    for value in tags.all("LID", "AID"):
        text, _, form = one_line(value).partition(" [")
        if form.startswith("pii"):
            draft.detail("pii", text)
        else:
            draft.identify(stated_identifier(text))
    draft.pmid(tags.first("PMID"))
    draft.detail("pmcid", pmc_id(" ".join(tags.all("PMC", "AID"))))
    first, _, last = tags.first("PG").partition("-")
    draft.detail("pages", page_range(first, last) or tags.first("PG"))
    issns, _ = standard_numbers(" ".join(tags.all("IS")))
    draft.detail("issn", ", ".join(issns))
    _, isbns = standard_numbers(" ".join(tags.all("ISBN")))
    draft.detail("isbn", ", ".join(isbns))


def _notices(draft: Draft, tags: Tags, types: list[str]) -> None:
    """``ROF`` stands in the notice of a retraction, which is a work of its own and not retracted."""
    for tag, kind in (("RIN", NoticeKind.RETRACTED), ("ECI", NoticeKind.CONCERN)):
        for value in tags.all(tag):
            draft.notice(Notice(kind, one_line(value)))
    if "retracted publication" in map(str.lower, types) and not tags.all("RIN"):
        draft.notice(Notice(NoticeKind.RETRACTED, "Retracted Publication"))
