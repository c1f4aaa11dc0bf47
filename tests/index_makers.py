"""What the tests of the text index share."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from typing import Any

from broadsheet.index import (
    TextQuery,
    open_text_index,
)
from broadsheet.index.tantivy_text import TantivyIndex
from broadsheet.model import IndexDocument

BODY = {"body": 1.0}


def paper(id: int, title: str = "", abstract: str = "", **fields: Any) -> IndexDocument:
    values: dict[str, Any] = {
        "authors": (), "areas": (), "keywords": (), "venue": "", "year": None, "day": None, "has_code": False,
        "identifiers": (),
    }  # fmt: skip
    return IndexDocument(id=id, title=title, abstract=abstract, **(values | fields))


def index_of(folder: Path, papers: Iterable[IndexDocument]) -> TantivyIndex:
    index = open_text_index(folder)
    index.apply(list(papers), [], seq=1)
    return index


def found(index: TantivyIndex, query: TextQuery) -> set[int]:
    hits = index.search(query, limit=1000)
    assert hits.total == len(hits.ids) == len(set(hits.ids))
    return set(hits.ids)
