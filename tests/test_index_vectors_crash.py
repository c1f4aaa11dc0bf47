"""kill -9 at any moment: what is left is exactly what the last finished write made, and it can be written on."""

from __future__ import annotations

import os
import random
import signal
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import pytest

from broadsheet.index import open_vectors
from broadsheet.index.vectors import FlatVectors

ROUNDS = 10
D = 64
IDS = 1500
BASE = np.random.default_rng(0).normal(size=(IDS, D))


def _write(index: FlatVectors, number: int) -> None:
    """Write ``number``: mostly replacing adds, so that dead rows pile up and files are rewritten on the way."""
    rng = np.random.default_rng(number)
    ids = np.unique(rng.integers(0, IDS, 400))
    if number % 7 == 5:
        index.remove(ids)
    elif number % 11 == 10:
        index.compact()
    else:
        index.add(ids, np.full(len(ids), number, np.uint64), _vectors(ids, number))


def _vectors(ids: np.ndarray, numbers: np.ndarray | int) -> np.ndarray:
    vectors: np.ndarray = (BASE[ids] + np.reshape(np.sin(numbers), (-1, 1)) + 2).astype(np.float32)
    return vectors


def _expected(last: int) -> dict[int, int]:
    """Digests (the number of the write) by id after ``last`` writes."""
    model: dict[int, int] = {}
    for number in range(1, last + 1):
        ids = np.unique(np.random.default_rng(number).integers(0, IDS, 400)).tolist()
        if number % 7 == 5:
            model = {i: n for i, n in model.items() if i not in set(ids)}
        elif number % 11 != 10:
            model |= dict.fromkeys(ids, number)
    return model


def _write_for_ever(folder: Path, number: int) -> None:
    index = open_vectors(folder, D, "e")
    while True:
        _write(index, number)
        sys.stdout.write(f"{number}\n")
        sys.stdout.flush()
        number += 1


@pytest.mark.slow
@pytest.mark.timeout(300)
@pytest.mark.skipif(not hasattr(signal, "SIGKILL"), reason="needs kill -9")
def test_after_kill_9_the_files_are_as_of_their_last_write(tmp_path: Path) -> None:
    rng, done = random.Random(4), 0
    for _ in range(ROUNDS):
        said = _run_and_kill(tmp_path, done + 1, writes=rng.randrange(2, 6), delay=rng.uniform(0, 0.02))
        index = open_vectors(tmp_path, D, "e")
        index.verify()
        ids, numbers = index.known()
        found = dict(zip(ids.tolist(), numbers.tolist(), strict=True))
        done = said + (found == _expected(said + 1))
        assert found == _expected(done)
        vectors, _ = index.get(ids)
        wanted = _vectors(ids, numbers)
        wanted /= np.linalg.norm(wanted, axis=1, keepdims=True)
        np.testing.assert_allclose(vectors, wanted, atol=0.01)


def _run_and_kill(folder: Path, start: int, *, writes: int, delay: float) -> int:
    """The last write that the writer spoke of before it was killed."""
    environment = os.environ | {"PYTHONPATH": os.pathsep.join(sys.path)}
    command = [sys.executable, "-W", "ignore", __file__, str(folder), str(start)]
    child = subprocess.Popen(command, stdout=subprocess.PIPE, text=True, env=environment)
    assert child.stdout is not None
    with child.stdout as lines:
        for _ in range(writes):
            said = lines.readline().strip()
            assert said, "the writer stopped by itself"
        time.sleep(delay)
        child.kill()
        rest = lines.read().split()
    child.wait()
    return int(rest[-1] if rest else said)


if __name__ == "__main__":
    _write_for_ever(Path(sys.argv[1]), int(sys.argv[2]))
