"""What every encoder offers."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float32]


class Encoder(Protocol):
    """Texts to unit vectors; questions and documents may be treated differently."""

    @property
    def dimensions(self) -> int:
        """Length of a vector."""

    def encode_queries(self, texts: Sequence[str]) -> Floats:
        """Vectors of n questions: float32 [n, dimensions], each row of length 1."""

    def encode_passages(self, texts: Sequence[str]) -> Floats:
        """Vectors of n documents: float32 [n, dimensions], each row of length 1."""


def unit_rows(vectors: Floats) -> Floats:
    """Rows scaled to length 1; rows of zeros stay zero."""
    lengths = np.linalg.norm(vectors, axis=1, keepdims=True)
    lengths[lengths == 0] = 1
    return np.asarray(vectors / lengths, dtype=np.float32)
