"""The frozen ranker and the peers on two other collections, which nobody tuned anything on.

CiteULike (50 whole libraries of 2004 to 2010): it is not known when a user added a paper, only when anybody first did.
That day stands for both, listing and adding. The 1,929 papers in the order of these days are cut into windows of 50;
a user is asked in every window that holds papers of theirs, knowing what of theirs stands in earlier windows.

One physicist's Zotero library, with the day on which each paper was added: no stream of physics is among the shared
data, so that the papers of each month are hidden among strangers: CiteULike's papers, and those of the arXiv days that
have a category of physics, each in one month only. That is easy, and shows only whether anything fails.

No encoder, no expected notice: words and topics only, fitted on each collection.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable
from datetime import date
from functools import cached_property

import numpy as np
from scipy import sparse

from bench.common import SHARED, rows
from bench.feed.ours import Memory
from bench.feed.readers import Reader, steady
from bench.feed.replay import Makers, Replay
from bench.feed.stream import PAPERS, Pick, Stream, topics_of, words_of
from bench.peers import PEERS

CITEULIKE = SHARED / "data" / "citeulike_subset"
ZOTERO = SHARED / "data" / "zotero_library" / "library.jsonl.gz"
WINDOW = 50
PHYSICS = ("quant-ph", "hep-", "gr-qc", "cond-mat", "math-ph", "physics", "nlin", "astro-ph", "nucl-")
NEED = ("zotero-arxiv-daily, encoder", "mean embedding")  # peers that need an encoder's vectors


class Collection(Stream):
    """A stream without an encoder, of which every day counts."""

    @cached_property
    def words(self) -> sparse.csr_matrix:
        return words_of(self.papers)

    @cached_property
    def topics(self) -> np.ndarray:
        return topics_of(self.words)

    @cached_property
    def vectors(self) -> np.ndarray:
        return np.zeros((len(self.papers), 1), np.float32)

    @cached_property
    def complete(self) -> frozenset[int]:
        return frozenset(self.days.tolist())


def citeulike() -> tuple[Stream, list[Reader]]:
    """The papers by window, each dated by its last paper, and the users."""
    items = sorted(rows(CITEULIKE / "items.jsonl.gz"), key=lambda item: (item["posted_at"], item["item"]))
    posted = np.array([date.fromisoformat(item["posted_at"][:10]).toordinal() for item in items])
    windows = np.arange(len(items)) // WINDOW
    last = np.maximum.accumulate(np.r_[posted[WINDOW - 1 :: WINDOW], posted[-1:]])
    last = last[: windows[-1] + 1] + np.arange(windows[-1] + 1)  # a day later each, so that no two windows share one
    stream = Collection(items, last[windows].astype(np.int64))
    place = {item["item"]: n for n, item in enumerate(items)}
    users = [user for user in rows(CITEULIKE / "users.jsonl.gz") if user["complete"]]
    return stream, _readers(stream, {f"user {user['user']}": [place[item] for item in user["items"]] for user in users})


def zotero() -> tuple[Stream, list[Reader]]:
    """The library's papers by month, and strangers dealt out to the months in turn."""
    own = [row for row in rows(ZOTERO) if row.get("abstract")]
    strangers = [row for row in rows(PAPERS) if any(name.startswith(PHYSICS) for name in row["categories"])]
    strangers += list(rows(CITEULIKE / "items.jsonl.gz"))
    months = sorted({row["date_added"][:7] for row in own})
    order = np.random.default_rng(0).permutation(len(strangers))
    dated = [(row["date_added"][:7], True, row) for row in own]
    dated += [(months[turn % len(months)], False, strangers[n]) for turn, n in enumerate(order.tolist())]
    dated.sort(key=lambda one: one[0])
    days = np.array([date.fromisoformat(f"{month}-01").toordinal() for month, _, _ in dated], np.int64)
    stream = Collection([row for _, _, row in dated], days)
    return stream, _readers(stream, {"library": [n for n, (_, mine, _) in enumerate(dated) if mine]})


def _readers(stream: Stream, papers: dict[str, list[int]]) -> list[Reader]:
    made = []
    for name, places in papers.items():
        picks = sorted((Pick(n, int(stream.days[n]), int(stream.days[n])) for n in places), key=lambda one: one.added)
        reader = steady(name, "elsewhere", [picks])
        if reader.wanted:
            made.append(reader)
    return made


def makers_for(stream: Stream) -> Makers:
    """The ranker and all peers that need no encoder."""
    silence = np.zeros(len(stream.papers))
    peers = {name: maker for name, maker in PEERS.items() if name not in NEED}
    return {**peers, "memory": lambda: Memory(silence, encoder=False)}


def by_model(replays: Iterable[Replay]) -> dict[str, list[Replay]]:
    """Replays by model, in the order of readers."""
    found: dict[str, list[Replay]] = defaultdict(list)
    for one in sorted(replays, key=lambda one: one.reader.name):
        found[one.model].append(one)
    return dict(found)
