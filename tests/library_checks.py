"""Whether a library is whole."""

from __future__ import annotations

from typing import Any

import numpy as np

from broadsheet.index import Everything, Match
from broadsheet.library import Library
from tests.embeddings import DIMENSIONS, vector_of
from tests.libraries import entry, word

BEHIND = "are not in the index yet and cannot be found; if this stays so, run: broadsheet doctor --rebuild-index"


def failed(library: Library) -> dict[str, str]:
    """What the doctor finds, but for the space of the machine that runs the tests."""
    return {check.name: check.message for check in library.doctor() if not check.ok and check.name != "space"}


def is_whole(library: Library, numbers: range) -> None:
    """Papers, records and index are exactly those of ``entry(n)``, and each is found by its own word."""
    assert library.store.problems() == []
    records = [stored.record.key for stored in library.store.iterate_records()]
    assert sorted(records) == sorted(f"k{n}" for n in numbers)
    papers = {paper.title: paper.id for paper in library.store.iterate_papers()}
    assert sorted(papers) == sorted(str(entry(n)["title"]) for n in numbers)
    assert library.index.ids(Everything()).tolist() == sorted(papers.values())
    for n in numbers:
        found = library.index.search(Match(word(n), {"body": 1.0}), limit=3)
        assert found.ids == (papers[str(entry(n)["title"])],)
    assert failed(library).keys() <= {"vectors"}


def are_right(vectors: Any, texts: dict[int, str]) -> None:
    """The vectors are those of exactly these texts, as far as 8 bits can tell."""
    ids = vectors.known()[0]
    assert ids.tolist() == sorted(texts)
    expected = np.array([vector_of("m", texts[i]) for i in ids.tolist()]).reshape(-1, DIMENSIONS)
    np.testing.assert_allclose(vectors.get(ids)[0], expected, atol=0.01)
