"""From the change log into the text index.

The index says itself up to which change it is: killed at any moment, it goes on there.
"""

from __future__ import annotations

import threading
from collections.abc import Callable
from itertools import islice
from types import TracebackType

from broadsheet.index import TextIndex
from broadsheet.model import IndexDocument, Paper
from broadsheet.store import Store
from broadsheet.text import to_plain


def index_document(paper: Paper) -> IndexDocument:
    """What the index holds of a paper."""
    return IndexDocument(
        id=paper.id,
        title="" if paper.title_derived else to_plain(paper.title),  # its words are the abstract's own
        abstract=to_plain(paper.abstract),
        authors=paper.authors,
        areas=paper.areas,
        keywords=tuple(map(to_plain, paper.keywords)),
        venue=paper.venue,
        year=paper.year,
        day=paper.day,
        has_code=paper.has_code,
        has_pdf=paper.has_pdf,
        identifiers=tuple(map(str, paper.identifiers)),
        other_titles=tuple(map(to_plain, paper.other_titles)),
    )


def drain(store: Store, index: TextIndex, *, batch: int = 2000, should_stop: Callable[[], bool] = lambda: False) -> int:
    """Apply all changes that the index does not have yet, ``batch`` of them a commit; how many changes there were.

    An index that knows of later changes than the store belongs to another database (or this one was restored from a
    backup): it is built again.
    """
    applied = index.applied_seq()
    if applied > store.last_seq():
        rebuild(store, index)
        return 0
    done = 0
    while not should_stop() and (changes := store.changes_since(applied, batch)):
        ids = {change.paper_id for change in changes}
        found = store.papers(ids)
        # A merged id gives the paper that survived, which has a change of its own; the old id leaves the index.
        present = [paper for asked, paper in found.items() if paper.id == asked]
        gone = ids - {paper.id for paper in present}
        applied = changes[-1].seq
        index.apply([index_document(paper) for paper in present], sorted(gone), seq=applied)
        done += len(changes)
    return done


def rebuild(store: Store, index: TextIndex, *, batch: int = 5000, on_batch: Callable[[int], None] | None = None) -> int:
    """Make the index again from all papers; how many there are. ``on_batch`` gets the number done so far.

    Changes made meanwhile come after the number that the index is marked with, so the next ``drain`` applies them.
    """
    seq = store.last_seq()
    index.clear()
    papers, done = store.iterate_papers(), 0
    while some := list(islice(papers, batch)):
        index.add([index_document(paper) for paper in some], ())
        done += len(some)
        if on_batch:
            on_batch(done)
    index.commit(seq)
    return done


class Follower:
    """Keeps an index up to date in a thread of its own, while an import goes on in another.

    Use as a context manager and call ``notify`` after each batch. At the end the index has every change, unless the
    body raised; what the thread raised is raised then. Half of the work of both happens outside of Python's global
    lock.
    """

    def __init__(self, store: Store, index: TextIndex, *, batch: int = 4000) -> None:
        self._store, self._index, self._batch = store, index, batch
        self._work = threading.Event()
        self._ending = threading.Event()
        self._error: BaseException | None = None
        self._thread = threading.Thread(target=self._run, name="broadsheet-index", daemon=True)

    def __enter__(self) -> Follower:
        self._thread.start()
        self._work.set()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._ending.set()
        self._work.set()
        self._thread.join()
        if error is None and self._error is not None:
            raise self._error
        if error is None:
            drain(self._store, self._index, batch=self._batch)

    def notify(self) -> None:
        """Say that there are new changes."""
        self._work.set()

    def _run(self) -> None:
        try:
            while not self._ending.is_set():
                self._work.wait()
                self._work.clear()
                drain(self._store, self._index, batch=self._batch, should_stop=self._ending.is_set)
        except BaseException as error:  # handed to the thread that waits for this one
            self._error = error
