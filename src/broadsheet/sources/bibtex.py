"""A paper as a BibTeX entry, for biber and for plain BibTeX with UTF-8."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterator

from broadsheet.identifiers import url_of
from broadsheet.model import LinkKind, Paper, Scheme
from broadsheet.text import fold, split_math

_ESCAPES = {c: f"\\{c}" for c in "&%#_{}$"} | {
    "~": r"\textasciitilde{}",
    "^": r"\textasciicircum{}",
    "\\": r"\textbackslash{}",
}
_SPECIAL = re.compile(r"[&%#_{}$~^\\]")
_EMPHASIS = re.compile(r"(\*{1,2}|`)(?=\S)(.+?)(?<=\S)\1")
# A word with a capital after its first letter, or a lone capital inside a title: styles would make it small.
_CAPITALS = re.compile(r"(?<![\\{\w])(\w*[A-Z]\w*[A-Z]\w*|\w+[A-Z]\w*)")
_STOP = frozenset(["a", "an", "the", "on", "of", "for", "in", "to", "and", "with", "from", "by", "at", "is", "are", "how", "what", "why", "when", "do", "does", "can"])
_SUFFIX = re.compile(r"^(jr|sr|ii|iii|iv)\.?$", re.IGNORECASE)
_PARTICLES = frozenset(["von", "van", "de", "der", "den", "del", "della", "di", "da", "dos", "du", "la", "le", "ten", "ter", "zu", "zur", "al", "bin", "el"])


def escape(text: str) -> str:
    """Text with TeX's special characters escaped; mathematics is left as it is."""
    parts = []
    for kind, part in split_math(text):
        plain = kind == "text"
        parts.append(_SPECIAL.sub(lambda m: _ESCAPES[m[0]], part) if plain else f"${part.strip('$')}$")
    return "".join(parts)


def _title(markup: str) -> str:
    """A title with braces round words whose capitals must stay."""
    out = []
    for kind, part in split_math(_EMPHASIS.sub(r"\2", markup)):
        if kind == "text":
            escaped = _SPECIAL.sub(lambda m: _ESCAPES[m[0]], part)
            out.append(_CAPITALS.sub(r"{\1}", escaped))
        else:
            out.append(f"${part.strip('$')}$")
    return "".join(out)


def sorted_name(name: str) -> str:
    """A name in display order as ``Family, Given``, with particles before the family name and suffixes after it."""
    words = name.split()
    if len(words) < 2 or re.search("[\u3040-\u30ff\u4e00-\u9fff\uac00-\ud7af]", name):
        return name
    suffix = words.pop() if len(words) > 2 and _SUFFIX.match(words[-1]) else ""
    start = len(words) - 1
    while start > 1 and words[start - 1].lower() in _PARTICLES:
        start -= 1
    parts = [" ".join(words[start:]), *([suffix] if suffix else []), " ".join(words[:start])]
    return ", ".join(parts)


def _ascii(text: str) -> str:
    folded = unicodedata.normalize("NFKD", fold(text))
    return re.sub(r"[^a-z0-9]", "", folded)


def citation_key(paper: Paper) -> str:
    """``family2024word``, or ``paper12`` where the names and title have no Latin letters; stable and ``[a-z0-9]`` only."""
    family = _ascii(sorted_name(paper.authors[0]).split(",")[0]) if paper.authors else ""
    first = (w for w in re.findall(r"[^\W_]+", fold(paper.title)) if w not in _STOP)
    word = next((w for w in map(_ascii, first) if w), "")
    year = str(paper.year or "")
    return f"{family}{year}{word}" if family or word else f"paper{paper.id}"


def _fields(paper: Paper) -> Iterator[tuple[str, str]]:
    yield "title", _title(paper.title)
    if paper.authors:
        names = [escape(sorted_name(n)) for n in paper.authors]
        # A name with the word "and" in it must not become two.
        yield (
            "author",
            " and ".join(f"{{{n}}}" if re.search(r"\band\b", n) else n for n in names)
            + (" and others" if paper.authors_truncated else ""),
        )
    if paper.venue:
        yield "booktitle", escape(paper.venue.upper() if len(paper.venue) <= 6 else paper.venue)
    if paper.year:
        yield "year", str(paper.year)
    arxiv, doi = paper.identifier(Scheme.ARXIV), paper.identifier(Scheme.DOI)
    if doi:
        yield "doi", doi.replace("{", "%7B").replace("}", "%7D")
    if arxiv:
        yield "eprint", arxiv
        yield "archiveprefix", "arXiv"
    page = next((link.url for link in paper.links if link.kind is LinkKind.PAGE), None)
    url = page or (url_of(paper.identifiers[0]) if paper.identifiers else None)
    if url:
        yield "url", url.replace("{", "%7B").replace("}", "%7D")


def to_bibtex(paper: Paper) -> str:
    """The entry: ``@inproceedings`` where a venue is known, else ``@misc``."""
    kind = "inproceedings" if paper.venue else "misc"
    lines = [f"  {name:<13} = {{{value}}}," for name, value in _fields(paper)]
    return "\n".join([f"@{kind}{{{citation_key(paper)},", *lines, "}"]) + "\n"
