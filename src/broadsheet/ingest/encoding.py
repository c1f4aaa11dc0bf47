"""Which papers lack a vector of their present text, and making those vectors, newest papers first.

Stops and resumes at any paper.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np
import numpy.typing as npt

from broadsheet.index import VectorIndex
from broadsheet.model import Paper, PaperId
from broadsheet.store import Store, text_digest
from broadsheet.text import to_plain

Encode = Callable[[list[str]], npt.NDArray[np.float32]]


def passage_text(paper: Paper) -> str:
    """The text that a paper's vector is made from: plain title and abstract with single spaces.

    A title derived from the abstract is left out, since it would only repeat its first sentence.
    """
    title = "" if paper.title_derived else to_plain(paper.title)
    return " ".join(f"{title} {to_plain(paper.abstract)}".split())


def _held(vectors: VectorIndex) -> dict[PaperId, int]:
    ids, digests = vectors.known()
    return dict(zip(ids.tolist(), digests.tolist(), strict=True))


def _lacking(store: Store, vectors: VectorIndex) -> set[PaperId]:
    held = _held(vectors)
    return {paper for paper, digest in store.text_digests() if held.get(paper) != digest}


def pending(store: Store, vectors: VectorIndex) -> list[PaperId]:
    """Papers without a vector of their present text, newest first (by day, then id; undated last)."""
    lacking = _lacking(store, vectors)
    return [paper for paper in store.newest_ids() if paper in lacking] if lacking else []


def pending_count(store: Store, vectors: VectorIndex) -> int:
    """How many papers lack a vector of their present text."""
    return len(_lacking(store, vectors))


def forget_gone(store: Store, vectors: VectorIndex) -> int:
    """Remove the vectors of papers that are no more; how many there were."""
    gone = sorted(_held(vectors).keys() - dict(store.text_digests()).keys())
    if gone:
        vectors.remove(np.array(gone, dtype=np.int64))
    return len(gone)


def encode_pending(
    store: Store,
    vectors: VectorIndex,
    encode: Encode,
    *,
    batch: int = 64,
    should_stop: Callable[[], bool] = lambda: False,
    on_progress: Callable[[int], None] | None = None,
) -> int:
    """Make the vectors that are lacking and add them batch by batch; how many were made.

    ``encode`` turns n texts into float32 [n, d]. ``should_stop`` is asked between batches. ``on_progress`` gets the
    number done so far. A paper that changes meanwhile gets the vector of the text that was read, and is pending
    again.
    """
    forget_gone(store, vectors)
    todo = pending(store, vectors)
    done = 0
    for start in range(0, len(todo), batch):
        if should_stop():
            break
        done += _encode(store, vectors, encode, todo[start : start + batch])
        if on_progress:
            on_progress(done)
    return done


def _encode(store: Store, vectors: VectorIndex, encode: Encode, ids: Sequence[PaperId]) -> int:
    found = store.papers(ids)
    papers = [found[paper] for paper in ids if paper in found and found[paper].id == paper]
    if not papers:
        return 0
    made = np.ascontiguousarray(encode([passage_text(paper) for paper in papers]), dtype=np.float32)
    digests = np.array([text_digest(paper) for paper in papers], dtype=np.uint64)
    vectors.add(np.array([paper.id for paper in papers], dtype=np.int64), digests, made)
    return len(papers)
