"""Encoders that need an extra: a sentence-transformers model, or a server that speaks OpenAI's embeddings protocol."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property
from typing import Any

import numpy as np

from broadsheet.encode.base import Floats, unit_rows
from broadsheet.errors import EncoderUnavailableError, MissingExtraError, SettingsError

_BATCH = 64


class SentenceTransformerEncoder:
    """A model of the sentence-transformers library, with its own query and document prompts where it has them."""

    def __init__(self, name: str) -> None:
        try:
            from sentence_transformers import SentenceTransformer
        except ImportError as error:
            raise MissingExtraError(
                f"the encoder sentence-transformers:{name} needs an extra: "
                "pip install 'broadsheet[sentence-transformers]'"
            ) from error
        try:
            self._model: Any = SentenceTransformer(name)
        except (OSError, ValueError) as error:
            raise EncoderUnavailableError(
                f"sentence-transformers cannot load {name!r}: {error}; search works by words alone"
            ) from error
        self.dimensions = int(self._model.get_sentence_embedding_dimension())

    def encode_queries(self, texts: Sequence[str]) -> Floats:
        """Vectors of questions."""
        return self._encode(texts, "query")

    def encode_passages(self, texts: Sequence[str]) -> Floats:
        """Vectors of documents."""
        return self._encode(texts, "passage")

    def _encode(self, texts: Sequence[str], prompt: str) -> Floats:
        chosen = prompt if prompt in (getattr(self._model, "prompts", None) or {}) else None
        vectors = self._model.encode(list(texts), prompt_name=chosen, batch_size=_BATCH, show_progress_bar=False)
        return unit_rows(np.asarray(vectors, dtype=np.float32))


class OpenAIEncoder:
    """A server with ``POST URL/embeddings``. The spec is ``URL#MODEL``; ``key`` is sent where it is not empty."""

    def __init__(self, spec: str, key: str = "") -> None:
        url, _, self._model = spec.partition("#")
        if not url.startswith(("http://", "https://")) or not self._model:
            raise SettingsError(f"encoder: openai:{spec} must be openai:URL#MODEL, such as openai:http://host/v1#name")
        import httpx

        headers = {"Authorization": f"Bearer {key}"} if key else {}
        self._client = httpx.Client(base_url=url.rstrip("/"), headers=headers, timeout=60.0)
        self._error = httpx.HTTPError

    @cached_property
    def dimensions(self) -> int:
        """Length of a vector, learned from the server once."""
        return int(self._encode(["dimensions"]).shape[1])

    def encode_queries(self, texts: Sequence[str]) -> Floats:
        """Vectors of questions."""
        return self._encode(texts)

    def encode_passages(self, texts: Sequence[str]) -> Floats:
        """Vectors of documents."""
        return self._encode(texts)

    def _encode(self, texts: Sequence[str]) -> Floats:
        parts = [self._request(texts[i : i + _BATCH]) for i in range(0, len(texts), _BATCH)]
        return unit_rows(np.concatenate(parts))

    def _request(self, texts: Sequence[str]) -> Floats:
        # An empty string is an error for some servers.
        body = {"model": self._model, "input": [t or " " for t in texts]}
        try:
            answer = self._client.post("/embeddings", json=body)
            answer.raise_for_status()
            rows = sorted(answer.json()["data"], key=lambda row: row["index"])
            vectors = np.asarray([row["embedding"] for row in rows], dtype=np.float32)
        except (self._error, ValueError, KeyError, TypeError) as error:
            raise EncoderUnavailableError(
                f"the embeddings server did not answer as expected: {error}; search works by words alone"
            ) from error
        if vectors.ndim != 2 or len(vectors) != len(texts):
            raise EncoderUnavailableError(f"the embeddings server gave {len(vectors)} vectors for {len(texts)} texts")
        return vectors
