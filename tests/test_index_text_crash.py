"""kill -9 at any moment: what is left is exactly what the last commit made, and the index says which that was."""

from __future__ import annotations

import os
import random
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from broadsheet.index import Everything, Match, open_text_index
from broadsheet.model import IndexDocument

ROUNDS = 10
COLOURS = ("red", "blue", "green")


def _batch(seq: int) -> tuple[dict[int, str], list[int]]:
    """What commit ``seq`` writes and deletes."""
    rng = random.Random(seq)
    upserts = {rng.randrange(300): rng.choice(COLOURS) for _ in range(20)}
    return upserts, [rng.randrange(300) for _ in range(5)]


def _expected(seq: int) -> dict[int, str]:
    papers: dict[int, str] = {}
    for number in range(1, seq + 1):
        upserts, deletes = _batch(number)
        papers = {i: colour for i, colour in papers.items() if i not in deletes} | upserts
    return papers


def _write_for_ever(folder: Path) -> None:
    index = open_text_index(folder, heap_bytes=15_000_000)
    seq = index.applied_seq()
    while True:
        seq += 1
        upserts, deletes = _batch(seq)
        papers = [IndexDocument(i, c, c, (), (), (), "", None, None, False, ()) for i, c in upserts.items()]
        index.apply(papers, deletes, seq=seq)
        sys.stdout.write(f"{seq}\n")
        sys.stdout.flush()


@pytest.mark.slow
@pytest.mark.timeout(300)
@pytest.mark.skipif(not hasattr(signal, "SIGKILL"), reason="needs kill -9")
def test_after_kill_9_the_index_is_as_of_its_last_commit(tmp_path: Path) -> None:
    rng, last = random.Random(9), 0
    for _ in range(ROUNDS):
        said = _run_and_kill(tmp_path, commits=rng.randrange(3, 8), delay=rng.uniform(0, 0.06))
        index = open_text_index(tmp_path, heap_bytes=15_000_000)
        seq = index.applied_seq()
        assert said <= seq <= said + 1 and seq > last
        papers = _expected(seq)
        assert index.count() == len(papers) and set(index.ids(Everything())) == set(papers)
        for colour in COLOURS:
            assert set(index.ids(Match(colour, {"body": 1.0}))) == {i for i, c in papers.items() if c == colour}
        index.verify()
        last = seq


def _run_and_kill(folder: Path, *, commits: int, delay: float) -> int:
    """The last commit that the writer spoke of before it was killed."""
    environment = os.environ | {"PYTHONPATH": os.pathsep.join(sys.path)}
    child = subprocess.Popen(
        [sys.executable, __file__, str(folder)], stdout=subprocess.PIPE, text=True, env=environment
    )
    assert child.stdout is not None
    with child.stdout as lines:
        for _ in range(commits):
            said = lines.readline().strip()
            assert said, "the writer stopped by itself"
        time.sleep(delay)
        child.kill()
        rest = lines.read().split()
    child.wait()
    return int(rest[-1] if rest else said)


if __name__ == "__main__":
    _write_for_ever(Path(sys.argv[1]))
