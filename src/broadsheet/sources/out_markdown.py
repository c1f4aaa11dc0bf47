"""Papers as a list in Markdown (CommonMark): title with its link, authors, venue and year, identifiers, abstract.

Whatever a source said is text: every character that Markdown or HTML could take for a sign is escaped, and addresses in
a title do not become links where a program makes them of bare text.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator

from broadsheet.identifiers import shown_value, url_of
from broadsheet.model import Identifier, LinkKind, Paper, Scheme
from broadsheet.sources.tagged import writable
from broadsheet.text import to_plain
from broadsheet.venues import venue_name

_SIGNS = re.compile(
    r"[\\`*_\[\]<~|$@]|&(?=#?\w+;)|:(?=//)|(?<=\bwww)\.|(?<=\w)\.(?=[^\W\d_]{2})"
    r"|^[#>+=-]|(?<=^\d)[.)]|(?<=^\d\d)[.)]|(?<=^\d{3})[.)]|(?<=^\d{4})[.)]",  # what begins a heading, a list…
    re.IGNORECASE,
)
_UNSAFE = re.compile(r"[^A-Za-z0-9:/?#@!$&'*+,;=._~%-]")
_LABELS = {Scheme.ARXIV: "arXiv", Scheme.DOI: "doi", Scheme.OPENREVIEW: "OpenReview", Scheme.ACL: "ACL"}


def write(papers: Iterable[Paper], *, abstracts: bool = True) -> Iterator[str]:
    """One item of the list a paper, with its abstract as a quotation below it where ``abstracts`` are wanted."""
    for paper in papers:
        yield to_markdown(paper, abstract=abstracts)


def to_markdown(paper: Paper, *, abstract: bool = True) -> str:
    """The item of a paper."""
    lines = [_title(paper), _people(paper), " · ".join(_facts(paper))]
    item = "\\\n  ".join(line for line in lines if line)
    text = escape(to_plain(paper.abstract)) if abstract else ""
    return f"- {item}\n\n" + (f"  > {text}\n\n" if text else "")


def escape(text: str) -> str:
    """Text on one line in which nothing is a sign of Markdown, HTML or a bare address."""
    return _SIGNS.sub(lambda found: f"\\{found[0]}", writable(text))


def address(url: str) -> str:
    """An http(s) address as it can stand in a link; empty for any other."""
    if not re.match(r"https?://", url, re.IGNORECASE):
        return ""
    return _UNSAFE.sub(lambda found: "".join(f"%{byte:02X}" for byte in found[0].encode("utf-8", "replace")), url)


def _linked(text: str, url: str) -> str:
    target = address(url)
    return f"[{text}]({target})" if target else text


def _title(paper: Paper) -> str:
    page = next((link.url for link in paper.links if link.kind is LinkKind.PAGE), "")
    url = url_of(paper.identifiers[0]) if paper.identifiers else page
    marks = "".join(f"**{notice.kind.value.capitalize()}:** " for notice in paper.notices)
    return marks + _linked(escape(to_plain(paper.title)) or "Untitled", url)


def _people(paper: Paper) -> str:
    names = [name for author in paper.authors if (name := escape(author))]
    return ", ".join([*names, *(["et al."] if paper.authors_truncated else [])])


def _facts(paper: Paper) -> Iterator[str]:
    venue = escape(venue_name(paper.venue))
    when = " ".join(filter(None, (f"*{venue}*" if venue else "", str(paper.year or ""))))
    if when:
        yield when
    for identifier in paper.identifiers:
        yield _linked(escape(_named(identifier)), url_of(identifier))
    for link in paper.links:
        if link.kind is not LinkKind.PAGE:
            yield _linked(link.kind.value.upper() if link.kind is LinkKind.PDF else link.kind.value, link.url)


def _named(identifier: Identifier) -> str:
    label = _LABELS.get(identifier.scheme, identifier.scheme.value.upper())
    return f"{label}:{shown_value(identifier)}"
