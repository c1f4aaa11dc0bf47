r"""Papers as BibTeX entries, for biber and for plain BibTeX with UTF-8.

What a file said comes back. A paper that was read from BibTeX keeps *every field* of its entry: each non-empty field
comes back under its own name, and with a value that decodes to the same text, where decoding means what TeX would show
(accents, escapes, quotation marks) without the braces that only protect capitals. A value is written exactly as it
came wherever it is sound TeX; where it is not (a bare ``&``, ``%`` or ``_``, a brace without partner), what is wrong in
it is escaped. Documented successors and exceptions:

- ``month`` comes back as the macro (``month = apr``) if it is a month and nothing more, whatever way it was written;
- ``crossref`` comes back as ``xref``: what it inherited now stands in the entry itself, and plain BibTeX would want the
  volume to follow; so does what ``xdata`` named;
- of ``abstract`` the words and formulas are kept, not its emphasis and paragraphs;
- in addresses, TeX escapes are taken back, since these fields are verbatim (``\_`` becomes ``_``);
- a field whose name BibTeX cannot read has ``-`` in place of what it cannot read;
- ``title``, ``author``, ``year``, ``doi`` and ``eprint`` are the paper's: another source may have corrected them. As
  long as they say the same, they are written as they came.

BibTeX counts braces whether or not a backslash stands before them, so none is written that has no partner. Styles make
titles small: words whose capitals must stay stand in braces, but never a whole title or name.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator

from broadsheet.identifiers import parse_identifier, url_of
from broadsheet.model import LinkKind, Paper, Scheme
from broadsheet.sources.bibtex_names import is_person, is_wellformed, names_of, shown, sorted_name
from broadsheet.sources.bibtex_text import (
    MONTHS,
    NAME_FIELDS,
    VERBATIM,
    decoded,
    month_number,
    plain_address,
    with_subtitle,
)
from broadsheet.sources.bibtex_value import (
    SMALL,
    address,
    escape,
    is_balanced,
    running,
    title_value,
    value_of,
    verbatim,
)
from broadsheet.sources.values import year_of
from broadsheet.text import fold
from broadsheet.venues import venue_name

__all__ = ["citation_key", "escape", "is_balanced", "sorted_name", "to_bibtex", "write"]

_CONTAINERS = ("journal", "journaltitle", "booktitle")
_OTHER_CONTAINER = {"article": "journal", "periodical": "journal", "misc": "howpublished", "online": "howpublished"}
_OF_THE_PAPER = frozenset(("citekey", "title", "author", "year", "doi", "eprint", "archiveprefix", "url", "keywords"))
_KIND = re.compile(r"[a-z][a-z0-9_-]*")
_NOT_KINDS = frozenset(("string", "preamble", "comment", "xdata"))
_NOT_IN_NAMES = re.compile(r"[^A-Za-z0-9_:.+/-]+")
_CITEKEY = re.compile(r"\w[\w:./+!?;*<>|@\[\]-]*")
_LONGEST_NAME_IN_KEY = 40


def write(papers: Iterable[Paper]) -> Iterator[str]:
    """One entry a paper, each with a key of its own; keys that differ only in case count as one."""
    used: set[str] = set()
    for i, paper in enumerate(papers):
        yield ("\n" if i else "") + _entry(paper, _unused_key(paper, used))


def to_bibtex(paper: Paper) -> str:
    """The entry of one paper; see the module for what it keeps."""
    return _entry(paper, _unused_key(paper, set()))


def _entry(paper: Paper, key: str) -> str:
    lines = [f"  {name:<13} = {value}," for name, value in _fields(paper)]
    return "\n".join([f"@{_kind(paper)}{{{key},", *lines, "}"]) + "\n"


def _kind(paper: Paper) -> str:
    """The paper's own type; without one ``inproceedings`` where a venue is known, else ``misc``."""
    if _KIND.fullmatch(paper.kind) and paper.kind not in _NOT_KINDS:
        return paper.kind
    return "inproceedings" if paper.venue and not paper.kind else "misc"


# --- keys


def _unused_key(paper: Paper, used: set[str]) -> str:
    """The key under which a reader's own file has the paper, if programs take it; else ``citation_key``."""
    own = dict(paper.details).get("citekey", "")
    key = own if _CITEKEY.fullmatch(own) and own.casefold() not in used else citation_key(paper)
    number, unique = 1, key
    while unique.casefold() in used:
        number += 1
        unique = f"{key}-{number}"
    used.add(unique.casefold())
    return unique


def citation_key(paper: Paper) -> str:
    """``family2024word-12``, with ``paper`` for a name without Latin letters: ``[a-z0-9-]``, another for each paper.

    It ends in the paper's number, since an author may begin two titles of one year with the same word.
    """
    family = ""
    if paper.authors:
        first = paper.authors[0]
        family = _ascii(sorted_name(first).split(",")[0] if is_person(first) else first)[:_LONGEST_NAME_IN_KEY]
    words = (w for w in re.findall(r"[^\W_]+", fold(paper.title)) if w not in SMALL)
    word = next((w for w in map(_ascii, words) if w), "")[:_LONGEST_NAME_IN_KEY]
    start = family if family[:1].isalpha() else f"paper{family}"
    return f"{start}{paper.year or ''}{word}-{paper.id}"


def _ascii(text: str) -> str:
    return re.sub(r"[^a-z0-9]", "", fold(text))


# --- fields


def _fields(paper: Paper) -> Iterator[tuple[str, str]]:
    """Names and values, these with their braces, in the order in which they are written."""
    details = _details(paper)
    titled, whole = _title(paper, details)
    yield "title", f"{{{titled}}}"
    if authors := _authors(paper, details):
        yield "author", f"{{{authors}}}"
    if paper.venue and not any(name in details for name in _CONTAINERS):
        yield _container(paper, details), f"{{{escape(' '.join(venue_name(paper.venue).split()))}}}"
    if year := _year(paper, details):
        yield "year", f"{{{year}}}"
        if month := _month(paper, details):
            yield "month", month
    for name, value in details.items():
        if name not in _OF_THE_PAPER and not (whole and name == "subtitle"):
            yield name, _written(name, value)
    yield from _identifying(paper, details)
    if paper.abstract and not paper.summarised:
        yield "abstract", f"{{{running(paper.abstract)}}}"
    if keywords := _keywords(paper, details):
        yield "keywords", f"{{{keywords}}}"


def _details(paper: Paper) -> dict[str, str]:
    """The paper's details under the names by which they are written."""
    details: dict[str, str] = {}
    for name, value in paper.details:
        written = _NOT_IN_NAMES.sub("-", "xref" if name == "crossref" else name)
        written = written if written[:1].isalpha() else f"x-{written}"
        while written in details:
            written += "-2"
        if value.strip():
            details[written] = value
    return details


def _written(name: str, value: str) -> str:
    if name in NAME_FIELDS:
        return f"{{{_people(value)}}}"
    if name == "month" and (number := month_number(decoded(value))):
        return MONTHS[number - 1]
    return f"{{{verbatim(value) if name in VERBATIM else value_of(value)}}}"


def _title(paper: Paper, details: dict[str, str]) -> tuple[str, bool]:
    """The title, and whether it holds what a field ``subtitle`` says."""
    own, subtitle = details.get("title", ""), details.get("subtitle", "")
    if own and with_subtitle(decoded(own), decoded(subtitle)) == paper.title:
        return value_of(own), False
    return title_value(paper.title), True


def _authors(paper: Paper, details: dict[str, str]) -> str:
    if own := details.get("author"):
        names, cut = names_of(own)
        if tuple(map(shown, names)) == paper.authors and cut == paper.authors_truncated:
            return _people(own)
    return _listed(paper.authors, paper.authors_truncated)


def _people(value: str) -> str:
    """A list of names as it came, unless one of them has commas that no name can have."""
    names, cut = names_of(value)
    joined = " and ".join([*names, *(["others"] if names and cut else [])])
    tex = value_of(value if is_wellformed(value) else joined)
    return tex if is_wellformed(tex) and names_of(tex)[0] else _listed(tuple(map(shown, names)), cut)


def _listed(authors: tuple[str, ...], cut: bool) -> str:
    names = [name for author in authors if (name := " ".join(author.split()))]
    return " and ".join([*map(_author, names), *(["others"] if names and cut else [])])


def _author(name: str) -> str:
    """A name as it stands between two "and"s."""
    return escape(sorted_name(name)) if is_person(name) else f"{{{escape(name)}}}"


def _container(paper: Paper, details: dict[str, str]) -> str:
    name = _OTHER_CONTAINER.get(_kind(paper), "booktitle")
    return "booktitle" if name in details else name


def _year(paper: Paper, details: dict[str, str]) -> str:
    own = details.get("year", "")
    if own and (not paper.year or year_of(decoded(own)) == paper.year):
        return value_of(own)
    if not paper.year or (not own and year_of(details.get("date", "").lstrip("~ ")) == paper.year):
        return ""
    return str(paper.year)


def _month(paper: Paper, details: dict[str, str]) -> str:
    """The month of publication, where the details tell none: not that of the preprint for what appeared in a venue."""
    day = paper.published
    if day is None or day.year != paper.year or "month" in details or "date" in details:
        return ""
    return "" if paper.venue and paper.identifier(Scheme.ARXIV) else MONTHS[day.month - 1]


def _identifying(paper: Paper, details: dict[str, str]) -> Iterator[tuple[str, str]]:
    doi, own = paper.identifier(Scheme.DOI), details.get("doi", "")
    if own and (doi is None or _is_of(paper, own)):
        yield "doi", f"{{{verbatim(plain_address(own))}}}"
    elif doi:
        yield "doi", f"{{{doi.replace('{', '%7B').replace('}', '%7D')}}}"
    yield from _eprint(paper, details)
    page = next((link.url for link in paper.links if link.kind is LinkKind.PAGE), None)
    named = url_of(paper.identifiers[0]) if paper.identifiers else ""
    url = page or named or next((link.url for link in paper.links if link.kind is LinkKind.PDF), "")
    if url := plain_address(details.get("url", "")) or url:
        yield "url", f"{{{address(url)}}}"


def _eprint(paper: Paper, details: dict[str, str]) -> Iterator[tuple[str, str]]:
    arxiv, own = paper.identifier(Scheme.ARXIV), details.get("eprint", "")
    archive = details.get("archiveprefix", "")
    if own and (arxiv is None or archive.lower() not in ("", "arxiv") or _is_of(paper, own)):
        yield "eprint", f"{{{verbatim(plain_address(own))}}}"
    elif arxiv:
        yield "eprint", f"{{{arxiv}}}"
        archive = archive or ("" if "eprinttype" in details else "arXiv")
    if archive:
        yield "archiveprefix", f"{{{value_of(archive)}}}"


def _is_of(paper: Paper, text: str) -> bool:
    parsed = parse_identifier(plain_address(text))
    return parsed is not None and parsed[0] in paper.identifiers


def _keywords(paper: Paper, details: dict[str, str]) -> str:
    own = details.get("keywords", "")
    missing = [word for word in paper.keywords if fold(word) not in fold(decoded(own))]
    separator = "; " if ";" in own or any("," in word for word in paper.keywords) else ", "
    return separator.join(([value_of(own)] if own else []) + [escape(word) for word in missing])
