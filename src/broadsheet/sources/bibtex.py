"""A paper as a BibTeX entry, for biber and for plain BibTeX with UTF-8.

BibTeX counts braces whether or not a backslash stands before them, so none is written that has no partner. Styles make
titles small: words whose capitals must stay stand in braces, but never a whole title or name.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from broadsheet.identifiers import url_of
from broadsheet.model import LinkKind, Paper, Scheme
from broadsheet.text import fold
from broadsheet.text.emphasis import strip_emphasis
from broadsheet.text.mathtext import HELD, hold_math
from broadsheet.venues import venue_name

_ESCAPES = {c: f"\\{c}" for c in "&%#_$"} | {
    "~": r"\textasciitilde{}",
    "^": r"\textasciicircum{}",
    "\\": r"\textbackslash{}",
    "{": r"\textbraceleft{}",
    "}": r"\textbraceright{}",
}
_SPECIAL = re.compile(r"[&%#_{}$~^\\]")
_URL_ESCAPES = {c: f"%{ord(c):02X}" for c in '{}\\ "<>^`|'}
# Hyphens part words, so that only the half with the capitals is held; "R&D", "C++" and "C#" are words.
_WORD = re.compile(r"[^\W_](?:[\w&'’]*[^\W_])?[+#]*")
_SMALL = frozenset(
    """a an the on of for in to and or with from by at as is are how what why when do does can via into over under than
    that through without within between across against among about beyond toward towards using""".split()  # noqa: SIM905
)
_SENTENCE_CASE = 0.25
"""Share of small words among the telling ones from which a title counts as written like a sentence."""
_SUFFIX = re.compile(r"^(jr|sr|ii|iii|iv)\.?$", re.IGNORECASE)
_PARTICLES = frozenset("von van de der den del della di da dos du la le ten ter te zu zur al bin el y af".split())  # noqa: SIM905
# With a capital the others are given names as well (Bin, Al, Du, Da).
_CAPITAL_PARTICLES = frozenset("Von Van De Der Den Del Della Di Dos La Le".split())  # noqa: SIM905
_ORGANISATION = re.compile(
    r"\b(?:and|of|for|the|Team|Group|Collaboration|Consortium|University|Institute|Labs?|Laboratory|Inc|Ltd|Corp"
    r"|Foundation|Project|Committee|Society|Association|Cent(?:er|re)|Department|Network|Initiative|Research)\b|[&,\d]"
)
_EAST_ASIAN = re.compile("[\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af]")
_LONGEST_NAME_IN_KEY = 40


def escape(text: str) -> str:
    """Plain text with TeX's special characters escaped."""
    return _SPECIAL.sub(lambda found: _ESCAPES[found[0]], text)


def _title(markup: str) -> str:
    """A title: emphasis left out, mathematics as it is, and braces round words whose capitals must stay."""
    held_text, formulas = hold_math(" ".join(markup.split()))
    text = strip_emphasis(held_text).replace(r"\$", "$")
    like_sentence = _is_like_sentence(HELD.sub(" ", text))
    out: list[str] = []
    at = 0
    for found in HELD.finditer(text):
        out += [_words(text[at : found.start()], like_sentence, first=at == 0), _formula(formulas[int(found[1])][1])]
        at = found.end()
    return "".join([*out, _words(text[at:], like_sentence, first=at == 0)])


def _formula(tex: str) -> str:
    tex = re.sub(r"(?<!\\)%", r"\\%", tex)
    if not is_balanced(tex):
        tex = re.sub(r"\\([{}])\s*", lambda found: r"\lbrace " if found[1] == "{" else r"\rbrace ", tex)
    if not is_balanced(tex):
        return escape(f"${tex}$")  # damaged: no formula of any program
    return f"{{${tex}$}}" if re.search("[A-Z]", tex) else f"${tex}$"


def is_balanced(tex: str) -> bool:
    """Whether braces are balanced as BibTeX counts them: escaped ones too."""
    depth = 0
    for brace in re.findall("[{}]", tex):
        depth += 1 if brace == "{" else -1
        if depth < 0:
            return False
    return depth == 0


def _is_like_sentence(text: str) -> bool:
    """Whether only names have capitals, so that these must stay; in other titles most words have one."""
    words = [word for word in _WORD.findall(text)[1:] if len(word) > 2 and word.lower() not in _SMALL]
    small = sum(word.islower() for word in words)
    return bool(words) and small >= _SENTENCE_CASE * len(words)


def _words(text: str, like_sentence: bool, *, first: bool) -> str:
    out: list[str] = []
    at = 0
    for found in _WORD.finditer(text):
        before, word = text[at : found.start()], found[0]
        opening = (first and not out) or before.rstrip().endswith((":", ".", "?", "!"))
        keeps = _keeps_capitals(word) or (like_sentence and not opening and word[0].isupper())
        out += [escape(before), f"{{{escape(word)}}}" if keeps else escape(word)]
        at = found.end()
    return "".join([*out, escape(text[at:])])


def _keeps_capitals(word: str) -> bool:
    lone = len(word.rstrip("+#")) == 1 and word[0].isupper() and word != "A"
    return lone or any(map(str.isupper, word[1:]))


def _author(name: str) -> str:
    """A name as it stands between two "and"s."""
    return escape(sorted_name(name)) if _is_person(name) else f"{{{escape(name)}}}"


def _is_person(name: str) -> bool:
    words = name.split()
    special = any(word.lower() in ("and", "others") for word in words)
    unnamed = (len(words) > 1 and words[0] in _PARTICLES) or (len(words) == 2 and bool(_SUFFIX.match(words[1])))
    return not special and not unnamed and not _ORGANISATION.search(name)


def sorted_name(name: str) -> str:
    """A person's name in display order as ``Family, Given``, particles before and suffixes after the family name."""
    words = name.split()
    if len(words) < 2:
        return name
    if _EAST_ASIAN.search(name):
        return f"{words[0]}, {' '.join(words[1:])}"
    suffix = words.pop() if len(words) > 2 and _SUFFIX.match(words[-1]) else ""
    particles = (i for i in range(1, len(words) - 1) if words[i] in _PARTICLES or words[i] in _CAPITAL_PARTICLES)
    start = next(particles, len(words) - 1)
    parts = [" ".join(words[start:]), *([suffix] if suffix else []), " ".join(words[:start])]
    return ", ".join(parts)


def _ascii(text: str) -> str:
    return re.sub(r"[^a-z0-9]", "", fold(text))


def citation_key(paper: Paper) -> str:
    """``family2024word-12``, with ``paper`` for a name without Latin letters: ``[a-z0-9-]``, another for each paper.

    It ends in the paper's number, since an author may begin two titles of one year with the same word.
    """
    family = ""
    if paper.authors:
        first = paper.authors[0]
        family = _ascii(sorted_name(first).split(",")[0] if _is_person(first) else first)[:_LONGEST_NAME_IN_KEY]
    words = (w for w in re.findall(r"[^\W_]+", fold(paper.title)) if w not in _SMALL)
    word = next((w for w in map(_ascii, words) if w), "")[:_LONGEST_NAME_IN_KEY]
    start = family if family[:1].isalpha() else f"paper{family}"
    return f"{start}{paper.year or ''}{word}-{paper.id}"


def _address(url: str) -> str:
    """A URL as it is: the field is verbatim, so only what cannot stand in a URL is percent-encoded."""
    return "".join(_URL_ESCAPES.get(c, c) for c in url if c.isprintable())


def _fields(paper: Paper) -> Iterator[tuple[str, str]]:
    yield "title", _title(paper.title)
    names = [name for author in paper.authors if (name := " ".join(author.split()))]
    if names:
        yield "author", " and ".join([*map(_author, names), *(["others"] if paper.authors_truncated else [])])
    if paper.venue:
        yield "booktitle", escape(" ".join(venue_name(paper.venue).split()))
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
        yield "url", _address(url)


def to_bibtex(paper: Paper) -> str:
    """The entry: ``@inproceedings`` where a venue is known, else ``@misc``."""
    kind = "inproceedings" if paper.venue else "misc"
    lines = [f"  {name:<13} = {{{value}}}," for name, value in _fields(paper)]
    return "\n".join([f"@{kind}{{{citation_key(paper)},", *lines, "}"]) + "\n"
