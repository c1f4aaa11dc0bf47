"""The Tantivy schema: fields, analyzers, and the document made of a paper.

Every text is folded (``text.fold``) before it enters Tantivy and every query before it is analysed. Nothing is stored:
ids come back through the fast field ``id``.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from datetime import MAXYEAR, MINYEAR, date

import tantivy

from ..model import IndexDocument
from ..text import TOKEN_PATTERN, fold, forms
from .base import FACET_FIELDS, SUBAREA_SEPARATOR

FORMAT = 1
"""Number of this layout; any change of fields, analyzers or folding needs a new one."""

MARKER = "__applied__"
"""Key of the document that carries the applied ``seq`` (Tantivy's commits have no payload in Python). It has no other
field."""

_CJK_PATTERN = r"[\p{Han}\p{Hiragana}\p{Katakana}\p{Hangul}]"
_LONGEST_TOKEN = 100  # bytes; longer ones are URLs or damage, and nobody asks for them
_ID_BITS = 40
_UNDATED = 3_000_000  # days since 1970; date.max is 2,932,896

STEMMED, PLAIN, FORMS = "stemmed", "plain", "forms"
ANALYZER_OF = {
    "title": STEMMED,
    "abstract": STEMMED,
    "body": STEMMED,
    "topics": STEMMED,
    "titles": STEMMED,
    "authors": PLAIN,
    "forms": FORMS,
}
COUNTED_TEXTS = ("area", "subarea", "venue", "code")
_EPOCH = date(1970, 1, 1).toordinal()


def analyzers() -> dict[str, tantivy.TextAnalyzer]:
    """The analyzers by name; to be registered after every open, before writing."""
    words = tantivy.Tokenizer.regex(TOKEN_PATTERN)
    lower, short = tantivy.Filter.lowercase(), tantivy.Filter.remove_long(_LONGEST_TOKEN)
    build = tantivy.TextAnalyzerBuilder
    return {
        STEMMED: build(words).filter(short).filter(lower).filter(tantivy.Filter.stemmer("english")).build(),
        PLAIN: build(words).filter(short).filter(lower).build(),
        FORMS: build(tantivy.Tokenizer.whitespace()).filter(short).filter(lower).build(),
    }


def cjk_analyzer() -> tantivy.TextAnalyzer:
    """Finds the Chinese, Japanese and Korean characters of a text, one token each."""
    return tantivy.TextAnalyzerBuilder(tantivy.Tokenizer.regex(_CJK_PATTERN)).build()


def build_schema() -> tantivy.Schema:
    """The schema. ``newest`` and ``oldest`` are sort keys without ties: day, then id."""
    builder = tantivy.SchemaBuilder()
    builder.add_text_field("key", tokenizer_name="raw", index_option="basic")
    for name, analyzer in ANALYZER_OF.items():
        option = "freq" if analyzer == FORMS else "position"
        builder.add_text_field(name, tokenizer_name=analyzer, index_option=option)
    for name in COUNTED_TEXTS:
        builder.add_text_field(name, fast=True, tokenizer_name="raw", index_option="basic")
    for name in FACET_FIELDS:
        builder.add_text_field(exact_field(name), tokenizer_name="raw", index_option="basic")
    for name in ("id", "year", "day"):
        builder.add_integer_field(name, indexed=True, fast=True)
    for name in ("newest", "oldest", "seq"):
        builder.add_integer_field(name, fast=True)
    return builder.build()


def exact_field(facet: str) -> str:
    """The field with a facet's folded values, to filter by; the facet's own field has them as given, to count."""
    return f"{facet}_exact"


def exact(value: str) -> str:
    """A facet's or identifier's value as it is compared."""
    return fold(value).strip().casefold()


def day_number(day: date) -> int:
    """Days since 1970-01-01."""
    return day.toordinal() - _EPOCH


def to_tantivy(paper: IndexDocument) -> tantivy.Document:
    """The document of a paper."""
    document = tantivy.Document()
    document.add_text("key", str(paper.id))
    document.add_integer("id", paper.id)
    for name, value in _texts(paper):
        document.add_text(name, value)
    if paper.year is not None:
        document.add_integer("year", paper.year)
    if paper.day is not None:
        document.add_integer("day", day_number(paper.day))
    newest, oldest = _sort_keys(paper)
    document.add_integer("newest", newest)
    document.add_integer("oldest", oldest)
    return document


def marker(seq: int) -> tantivy.Document:
    """The document that carries the applied ``seq``."""
    document = tantivy.Document()
    document.add_text("key", MARKER)
    document.add_integer("seq", seq)
    return document


def _texts(paper: IndexDocument) -> Iterator[tuple[str, str]]:
    title, abstract = fold(paper.title), fold(paper.abstract)
    yield "title", title
    yield "abstract", abstract
    yield "body", f"{title}\n{abstract}"
    yield "forms", " ".join(forms(f"{paper.title}\n{paper.abstract}"))
    yield from (("authors", value) for author in paper.authors for value in (fold(author), initials(fold(author))))
    yield from (("topics", fold(topic)) for topic in _topics(paper))
    yield from (("titles", fold(title)) for title in paper.other_titles)
    for name, value in _facets(paper):
        yield exact_field(name), exact(value)
        if name in COUNTED_TEXTS:
            yield name, value


def _facets(paper: IndexDocument) -> Iterator[tuple[str, str]]:
    names = [area.name for area in paper.areas if area.name]
    subareas = [area for area in paper.areas if area.subarea]
    yield from (("area", name) for name in _once(names))
    yield from (("subarea", value) for value in _once(f"{a.name}{SUBAREA_SEPARATOR}{a.subarea}" for a in subareas))
    yield from (("category", value) for value in _once([*names, *(area.subarea for area in subareas)]))
    if paper.venue:
        yield "venue", paper.venue
    yield from (("identifier", identifier) for identifier in paper.identifiers)
    yield "code", "yes" if paper.has_code else "no"
    yield from (("has", what) for what, there in (("abstract", paper.abstract), ("pdf", paper.has_pdf)) if there)


def _topics(paper: IndexDocument) -> Iterator[str]:
    yield from _once(part for area in paper.areas for part in (area.name, area.subarea) if part)
    yield from paper.keywords
    yield paper.venue


def initials(author: str) -> str:
    """Initials that people cite a (folded) author by: ``Stephen M. Kops`` → ``S M SM``, so that ``Kops, S M`` finds it.

    The family name is the last word, or what stands before a comma.
    """
    _, comma, given = author.partition(",")
    words = (given if comma else author).replace(".", " ").replace("-", " ").split()
    letters = [word[0] for word in (words if comma else words[:-1]) if word[0].isalpha()]
    joined = ["".join(letters)] if len(letters) > 1 else []
    return " ".join([*letters, *joined])


def _sort_keys(paper: IndexDocument) -> tuple[int, int]:
    """Keys for descending and ascending order by day, then id; papers without day and year last in both.

    A paper of which only the year is known stands at the beginning of that year.
    """
    first_of_year = date(paper.year, 1, 1) if paper.year and MINYEAR <= paper.year <= MAXYEAR else None
    day = paper.day or first_of_year
    if day is None:
        return paper.id - (_UNDATED << _ID_BITS), paper.id + (_UNDATED << _ID_BITS)
    key = (day_number(day) << _ID_BITS) + paper.id
    return key, key


def _once(values: Iterable[str]) -> list[str]:
    return list(dict.fromkeys(values))
