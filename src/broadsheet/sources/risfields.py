"""What the tags of RIS mean, by type of reference: tags and values → a draft of a record.

After the RIS specification of 2011 (one table for each type) with the tags of 2001 beside it, as EndNote, Zotero,
Mendeley, Ovid, Scopus, Embase, ProQuest, Web of Science, Rayyan and ASReview write them. EndNote's own formats say the
same in other signs, so their readers translate to these tags.
"""

from __future__ import annotations

import re
from collections.abc import Iterable

from broadsheet.identifiers import find_identifiers
from broadsheet.sources.notices import without_mark
from broadsheet.sources.tagged import (
    Draft,
    Field,
    When,
    earliest,
    notice_of_note,
    one_line,
    page_range,
    pmc_id,
    standard_numbers,
    stated_identifier,
    when,
    with_commas,
)
from broadsheet.sources.values import FieldError, code_links

KINDS = {
    "JOUR": "article", "EJOUR": "article", "INPR": "article", "MGZN": "article", "NEWS": "article", "ABST": "article",
    "JFULL": "periodical", "BOOK": "book", "EBOOK": "book", "CLSWK": "book", "ANCIENT": "book", "SER": "book",
    "EDBOOK": "collection", "CHAP": "incollection", "ECHAP": "incollection", "ENCYC": "inreference",
    "DICT": "inreference", "CONF": "inproceedings", "CPAPER": "inproceedings", "THES": "thesis", "RPRT": "report",
    "GOVDOC": "report", "ELEC": "online", "BLOG": "online", "ICOMM": "online", "MULTI": "online", "COMP": "software",
    "DATA": "dataset", "AGGR": "dataset", "DBASE": "dataset", "UNPB": "unpublished", "UNPD": "unpublished",
    "MANSCPT": "unpublished", "PCOMM": "letter", "PAT": "patent", "STAND": "standard", "PAMP": "booklet",
    "SOUND": "audio", "MUSIC": "music", "MPCT": "movie", "VIDEO": "video", "ADVS": "video", "ART": "artwork",
    "FIGURE": "image", "CHART": "image", "MAP": "image", "BILL": "legislation", "STAT": "legislation",
    "LEGAL": "legislation", "HEAR": "legal", "CASE": "jurisdiction", "UNBILL": "legislation",
}  # fmt: skip
"""Type of reference → BibLaTeX entry type; every other type is ``misc``."""
_NAMES = {
    "journal article": "JOUR", "article": "JOUR", "journal": "JOUR", "electronic article": "EJOUR",
    "magazine article": "MGZN", "newspaper article": "NEWS", "book": "BOOK", "edited book": "EDBOOK",
    "electronic book": "EBOOK", "book section": "CHAP", "book chapter": "CHAP", "electronic book section": "ECHAP",
    "conference paper": "CPAPER", "conference proceedings": "CONF", "conference proceeding": "CONF", "thesis": "THES",
    "dissertation": "THES", "report": "RPRT", "government document": "GOVDOC", "web page": "ELEC", "blog": "BLOG",
    "online multimedia": "MULTI", "computer program": "COMP", "dataset": "DATA", "online database": "DBASE",
    "aggregated database": "AGGR", "unpublished work": "UNPB", "manuscript": "MANSCPT", "patent": "PAT",
    "personal communication": "PCOMM", "standard": "STAND", "pamphlet": "PAMP", "serial": "SER",
    "encyclopedia": "ENCYC", "dictionary": "DICT", "classical work": "CLSWK", "ancient text": "ANCIENT",
    "generic": "GEN", "case": "CASE",
    "hearing": "HEAR", "bill": "BILL", "statute": "STAT", "legal rule or regulation": "LEGAL", "artwork": "ART",
    "figure": "FIGURE", "chart or table": "CHART", "map": "MAP", "music": "MUSIC", "film or broadcast": "MPCT",
    "audiovisual material": "ADVS", "equation": "EQUA", "catalog": "CTLG", "grant": "GRANT", "webpage": "ELEC",
}  # fmt: skip
_ARTICLES = frozenset(("article", "periodical"))
_PARTS = frozenset(("inproceedings", "incollection", "inreference"))
_WHOLES = frozenset(("book", "collection", "report", "software", "image", "booklet"))
# Tags that go into a detail as they are.
_PLAIN = {
    "VL": "volume", "IS": "number", "CP": "number", "CY": "address", "PP": "address", "PI": "address", "ET": "edition",
    "LA": "language", "NV": "volumes", "C7": "eid", "AD": "affiliation", "AV": "library", "Y2": "urldate", "M3": "type",
    "CN": "library", "OP": "origtitle",
}  # fmt: skip
_FULL_NAMES = ("JF", "T2", "JO", "BT", "JA", "J2", "J1", "JI", "J9")
_SHORT_NAMES = ("JA", "J2", "J1", "JI", "JO", "J9")
_CONTAINERS = frozenset((*_FULL_NAMES, *_SHORT_NAMES, "C3"))
_IDS = ("ID", "AN", "UT", "U2")
_STATING = ("DO", "DI", "L3", "M1", "M2", "M3", "N1", "AN", "ID", "UT", "C1", "C2", "C6", "C7", "U1", "U2", "U3", "U4")
_LINKS = {"UR": "url", "L1": "pdf", "L2": "url", "L4": "url", "LK": "url"}
_CITED = re.compile(r"(?:cited by|times cited(?: in [^:\n]{1,60})?)\s*:\s*(\d{1,7})", re.IGNORECASE)
_REFERENCES = re.compile(r"references:\s", re.IGNORECASE)
_QUOTED = re.compile(r"""'(?:[^'\\]|\\.)*'|"(?:[^"\\]|\\.)*\"""")
_LIST = re.compile(rf"\[(?:{_QUOTED.pattern})(?:,(?:{_QUOTED.pattern}))*\]")
_PUBMED = re.compile(r"\b(?:pubmed|medline|nlm)\b", re.IGNORECASE)
_KNOWN = frozenset(
    "TY ID TI T1 CT ST TT T3 AU A1 A2 A3 A4 ED AB N2 PY Y1 DA SP EP SN PB PU KW N1 ER RN".split()  # noqa: SIM905
)
TAGS = _KNOWN.union(_PLAIN, _FULL_NAMES, _SHORT_NAMES, _IDS, _STATING, _LINKS, (f"C{i}" for i in range(1, 9))).union(
    "DB DP TA J1 LB M1 M2 RP SE RI CA U5 NL AI PA WE FX JP DC TS M4 VO".split()  # noqa: SIM905
)
"""Tags that are known, for lines that lack the two spaces."""


def type_code(text: str) -> str:
    """The code of a type of reference from the code itself or from EndNote's name for it."""
    text = one_line(text)
    return _NAMES.get(text.lower(), text.upper())


class Tags:
    """The values of an entry by tag, in the order of the file, empty ones left out."""

    def __init__(self, fields: Iterable[Field]) -> None:
        """Of the fields of an entry."""
        self.fields = [item for item in fields if item.value]
        self._by_tag: dict[str, list[str]] = {}
        for item in self.fields:
            self._by_tag.setdefault(item.tag, []).append(item.value)

    def all(self, *tags: str) -> list[str]:
        """All values of some tags, those of the first tag first."""
        return [value for tag in tags for value in self._by_tag.get(tag, ())]

    def first(self, *tags: str) -> str:
        """The first value of the first tag that has one, on one line."""
        return next((text for tag in tags for value in self._by_tag.get(tag, ()) if (text := one_line(value))), "")

    def lines(self, *tags: str) -> list[str]:
        """Each line of the values as they come in the file: EndNote writes lists so."""
        return [line for item in self.fields if item.tag in tags for line in item.value.split("\n") if line]

    @property
    def names(self) -> tuple[str, ...]:
        """The tags."""
        return tuple(self._by_tag)


def draft_of(fields: Iterable[Field]) -> Draft:
    """The draft of an entry. Raises FieldError for what cannot be made out."""
    tags = Tags(fields)
    draft = Draft()
    code = type_code(tags.first("TY"))
    in_journal = bool(tags.first("JF", "JO", "JA"))
    draft.kind = KINDS.get(code, "misc") if code else "article" if in_journal else "misc"
    if code and CODES.get(draft.kind) != code:
        draft.detail("ris-ty", code)
    _titles(draft, tags)
    _authors(draft, tags)
    _people(draft, tags)
    _dates(draft, tags)
    _container(draft, tags)
    _numbers(draft, tags)
    _identify(draft, tags)
    _notes(draft, tags)
    _rest(draft, tags)
    return draft


def _authors(draft: Draft, tags: Tags) -> None:
    lines = tags.lines("AU", "A1")
    whole = _reassembled(lines)
    if whole is None and len(lines) > 3 and max(map(len, lines)) == 1 and not "".join(lines).isalpha():
        raise FieldError("authors: one character a line instead of one name a line; export the file again")
    draft.authors = _names(whole or lines)
    if draft.authors and re.fullmatch(r"(?:et\.? al\.?|others|等)", draft.authors[-1].lower()):
        draft.authors.pop()
        draft.authors_truncated = True


def _reassembled(lines: list[str]) -> list[str] | None:
    """The texts of a list that a program wrote one character a line: ``[``, ``'``, ``M``… of ``['Mai, A.']``.

    Blanks were lost with the lines that held nothing else; those behind commas are put back.
    """
    if len(lines) < 4 or any(len(line) > 1 for line in lines):
        return None
    text = "".join(lines)
    if not _LIST.fullmatch(text):
        return None
    found = (re.sub(r"\\(.)", r"\1", quoted[1:-1]) for quoted in _QUOTED.findall(text))
    return [re.sub(r",(?=\S)", ", ", one) for one in found if one]


def _names(lines: list[str]) -> list[str]:
    """The names of lines that should hold one each; some programs put them all on one line, with semicolons."""
    return with_commas([name for line in lines for part in re.split("[;；]", line) if (name := part.strip())])


def _titles(draft: Draft, tags: Tags) -> None:
    found = dict.fromkeys(one_line(text) for text in tags.all("TI", "T1", "CT"))
    if not found and draft.kind in ("book", "collection", "unpublished"):
        found = dict.fromkeys(one_line(text) for text in tags.all("BT"))
    short = tags.first("ST")
    titles = list(found) or ([short] if short else [])
    if titles:
        draft.title, notices = without_mark(titles[0])
        draft.notices.extend(notices)
        draft.detail("titleaddon", *titles[1:])
    if short not in titles:
        draft.detail("shorttitle", short)
    draft.detail("titletranslation", tags.first("TT"))
    draft.abstract = _abstract(draft, tags)
    draft.links.extend(code_links(draft.abstract))
    words = tags.lines("KW")
    parts = (part for text in _reassembled(words) or words for part in text.split(";"))
    draft.keywords = [word for part in parts if (word := one_line(part).strip("*, "))]


def _abstract(draft: Draft, tags: Tags) -> str:
    """The longest of all that call themselves one; what differs from it is kept as a note."""
    found = list(dict.fromkeys(one_line(text) for text in tags.all("AB", "N2")))
    if not found:
        return ""
    best = max(found, key=len)
    draft.detail("note", *(other for other in found if other not in best), between="\n")
    return best


def _people(draft: Draft, tags: Tags) -> None:
    roles = {"ED": "editor", "A2": "editor", "A3": "editora", "A4": "translator"}
    for tag, role in roles.items():
        draft.detail(role, *_names(tags.lines(tag)), between=" and ")


def _dates(draft: Draft, tags: Tags) -> None:
    given = [when(text) for text in tags.all("PY", "Y1")]
    draft.year = next((one.year for one in given if one.year), None)
    given += [when(text, draft.year) for text in tags.all("DA")]
    draft.year = draft.year or next((one.year for one in given if one.year), None)
    draft.published, draft.month_only = earliest(given)
    for text in tags.all("DA", "PY", "Y1"):
        if not _is_told(when(text, draft.year), text):
            draft.detail("date", one_line(text))


def _is_told(date: When, text: str) -> bool:
    """Whether the record's own fields say all that a date says: not of a season, a span or a strange one."""
    words = [word for word in re.findall(r"[^\W\d_]+", text) if word.lower() not in ("undefined", "t", "z")]
    numbers = [] if re.fullmatch(r"\s*\d{8}\s*", text) else map(int, re.findall(r"\d+", text.partition("T")[0]))
    return len(words) <= (1 if date.month else 0) and all(number in (0, *date) for number in numbers)


def _container(draft: Draft, tags: Tags) -> None:
    """Where it appeared: the journal, the book, the proceedings, the series."""
    full = tags.first(*_FULL_NAMES)
    if draft.kind in _ARTICLES:
        draft.venue = full
        draft.detail("journal", full)
    elif draft.kind in _PARTS:
        own = draft.kind == "inproceedings" and not tags.first("AN").startswith("WOS:")  # where it is an affiliation
        draft.venue = tags.first(*(("C3",) if own else ()), "T2", *_FULL_NAMES)
        draft.detail("booktitle", draft.venue)
        event = tags.first("T2")
        if event != draft.venue:
            draft.detail("eventtitle", event)
    elif draft.kind in _WHOLES:
        draft.detail("series", tags.first("T2", "JF", "JO"))
    elif draft.kind == "thesis":
        draft.detail("department", tags.first("T2"))
    else:
        draft.venue = tags.first("T2", "JF", "JO")
        draft.detail("booktitle", draft.venue)
    short = tags.first(*_SHORT_NAMES)
    if draft.venue and short != draft.venue:
        draft.detail("shortjournal", short)
    draft.detail("series", tags.first("T3"))
    issuer = "institution" if draft.kind in ("thesis", "report") else "publisher"
    draft.detail(issuer, *map(one_line, tags.all("PB", "PU")), between=", ")


def _numbers(draft: Draft, tags: Tags) -> None:
    if tags.first("SP"):
        draft.detail("pages", page_range(tags.first("SP"), tags.first("EP")))
    else:
        draft.detail("ris-ep", tags.first("EP"))
    numbers = " ; ".join(tags.all("SN"))
    issns, isbns = standard_numbers(numbers)
    draft.detail("issn", ", ".join(issns))
    draft.detail("isbn", ", ".join(isbns))
    if numbers and not issns and not isbns:
        draft.detail("number" if draft.kind in ("report", "patent") else "issn", one_line(numbers))


def _identify(draft: Draft, tags: Tags) -> None:
    for tag in _STATING:
        for value in tags.all(tag):
            for piece in re.split(r"(?<![;\s])[;\s]+(?=10\.|https?:)", value) if tag == "DO" else (value,):
                draft.identify(stated_identifier(one_line(piece)))
    database = " ".join(tags.all("DB", "DP"))
    accession = tags.first("AN")
    if accession.isdecimal() and _PUBMED.search(database):
        draft.pmid(accession)
    # Scopus and Embase give the PubMed id in fields of their own.
    for tag, name in (("C2", "scopus"), ("C5", "embase")):
        if (value := tags.first(tag)).isdecimal() and name in database.lower():
            draft.pmid(value)
    for tag, name in _LINKS.items():
        for value in tags.all(tag):
            for url in re.split(r"(?<![;\s])[;\s]+(?=https?://|//)", value):
                draft.link(name, one_line(url))
    pmc = next((found for text in tags.all("C2", "L2", "UR", "N1") if (found := pmc_id(text))), "")
    draft.detail("pmcid", pmc)
    draft.own = tags.first(*_IDS)
    citekey = tags.first("ID")
    if citekey and not citekey.isdecimal():
        draft.detail("citekey", citekey)


def _notes(draft: Draft, tags: Tags) -> None:
    for value in tags.all("N1", "RN"):
        if _REFERENCES.match(value):
            draft.references |= dict.fromkeys(find_identifiers(value))
        elif stated_identifier(one_line(value)) not in draft.identifiers:
            draft.detail("note", value, between="\n")
        draft.notice(notice_of_note(re.sub(r"^\s*<p>", "", value)))
    for value in tags.all("M3"):
        draft.notice(notice_of_note(value))
    for value in tags.all("N1", "U3"):
        if cited := _CITED.search(value):
            draft.counts.setdefault("citations", int(cited[1]))


def _rest(draft: Draft, tags: Tags) -> None:
    """Everything else, under its BibLaTeX name or as ``ris-`` and the tag."""
    cited = tags.all("M1")
    listed = [found for value in cited for found in find_identifiers(value)] if len(cited) > 2 else []
    draft.references |= dict.fromkeys(listed)
    for tag in tags.names:
        values = tags.all(tag)
        if tag == "M1" and listed:  # Ovid puts the references there
            continue
        if tag in _PLAIN or not (tag in _KNOWN or tag in _LINKS):
            told = set(draft.details.values()) if tag in _CONTAINERS else ()
            texts = (text for text in map(one_line, values) if text not in told)
            name = _PLAIN.get(tag, f"ris-{tag.lower()}")
            draft.detail(name, *(text for text in texts if stated_identifier(text) not in draft.identifiers))
    if draft.kind == "report" and "number" not in draft.details:
        draft.detail("number", draft.details.pop("ris-m1", ""))


CODES = {
    "article": "JOUR", "periodical": "JFULL", "book": "BOOK", "mvbook": "BOOK", "manual": "BOOK", "booklet": "PAMP",
    "collection": "EDBOOK", "proceedings": "EDBOOK", "incollection": "CHAP", "inbook": "CHAP", "inreference": "ENCYC",
    "reference": "ENCYC", "inproceedings": "CONF", "conference": "CONF", "thesis": "THES", "phdthesis": "THES",
    "mastersthesis": "THES", "report": "RPRT", "techreport": "RPRT", "online": "ELEC", "www": "ELEC",
    "electronic": "ELEC", "software": "COMP", "dataset": "DATA", "data": "DATA", "unpublished": "UNPB",
    "letter": "PCOMM", "patent": "PAT", "standard": "STAND", "audio": "SOUND", "music": "MUSIC", "movie": "MPCT",
    "video": "VIDEO", "artwork": "ART", "image": "FIGURE", "legislation": "STAT", "legal": "HEAR",
    "jurisdiction": "CASE", "misc": "GEN",
}  # fmt: skip
"""BibLaTeX (or BibTeX) entry type → type of reference."""
