"""Papers as a table (CSV, RFC 4180), for spreadsheets and for ``tables``, which reads it back.

It begins with a byte order mark, without which Excel does not read UTF-8. Titles and abstracts keep their mathematics
as ``$…$``. Lists stand in one cell, divided by "; ". No cell begins like a formula (see ``csvform``).
"""

from __future__ import annotations

import csv
import io
from collections.abc import Iterable, Iterator

from broadsheet.identifiers import shown_value
from broadsheet.model import LinkKind, Paper
from broadsheet.sources.csvform import COLUMNS, MARK, guarded
from broadsheet.sources.decoded import decoded
from broadsheet.venues import venue_name

_LINKS = {"url": LinkKind.PAGE, "pdf": LinkKind.PDF, "code": LinkKind.CODE}


def write(papers: Iterable[Paper]) -> Iterator[str]:
    """The heading, then a row a paper."""
    yield "\ufeff" + _row(COLUMNS)
    for paper in papers:
        cells = cells_of(paper)
        yield _row([guarded(cells.get(name, "")) for name in COLUMNS])


def _row(cells: Iterable[str]) -> str:
    line = io.StringIO(newline="")
    csv.writer(line, lineterminator="\r\n").writerow(cells)
    return line.getvalue()


def cells_of(paper: Paper) -> dict[str, str]:
    """The cells of a paper by column; of several identifiers of a scheme the first, of links of a kind likewise."""
    cells = {name: decoded(name, value) for name, value in paper.details if name in COLUMNS}
    cells |= {i.scheme.value: shown_value(i) for i in reversed(paper.identifiers)}
    for name, kind in _LINKS.items():
        cells[name] = next((link.url for link in paper.links if link.kind is kind), "")
    published = paper.published.isoformat() if paper.published else ""
    citations = paper.count("citations")
    return cells | {
        "id": f"broadsheet-{paper.id}",
        "title": "" if paper.title_derived else paper.title,
        "authors": _list([*paper.authors, *(["et al."] if paper.authors_truncated else [])]),
        "year": str(paper.year or ""),
        "published": published[:7] if paper.month_only else published,
        "venue": venue_name(paper.venue),
        "kind": paper.kind,
        "abstract": paper.abstract,
        "keywords": _list(paper.keywords),
        "areas": _list(map(str, paper.areas)),
        "citations": "" if citations is None else str(citations),
        "status": paper.status,
        "added": paper.added.isoformat() if paper.added else "",
    }


def _list(texts: Iterable[str]) -> str:
    return f"{MARK} ".join(text.replace(MARK, ",") for text in texts)
