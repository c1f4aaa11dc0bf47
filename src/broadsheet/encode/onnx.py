"""A text encoder that runs on onnxruntime: tokens from ``tokenizers``, vectors from the converted int8 graph."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path

import numpy as np

from broadsheet.encode.base import Floats
from broadsheet.encode.weights import UnigramVocabulary

MAX_TOKENS = 256  # 20 % faster than the model's 512 on abstracts of about 200 words


def unigram_tokenizer_json(vocabulary: UnigramVocabulary) -> str:
    """The ``tokenizers`` definition (JSON) of a SentencePiece unigram vocabulary with XLM-R's ``<s> … </s>``."""
    from tokenizers import Regex, Tokenizer, models, normalizers, pre_tokenizers, processors

    tokenizer = Tokenizer(models.Unigram(vocabulary.pieces, unk_id=vocabulary.unknown))
    tokenizer.normalizer = normalizers.Replace(Regex(" {2,}"), " ")
    tokenizer.pre_tokenizer = pre_tokenizers.Metaspace(replacement="\u2581", prepend_scheme="always")
    tokenizer.post_processor = processors.TemplateProcessing(
        single="<s> $A </s>", special_tokens=[("<s>", vocabulary.bos), ("</s>", vocabulary.eos)]
    )
    return str(tokenizer.to_str())


class OnnxEncoder:
    """An encoder read from a model folder (see ``registry.prepare``).

    ``encode_queries`` and ``encode_passages`` take n texts and give float32 [n, dimensions], each row of length 1.
    """

    def __init__(self, folder: Path, *, query_prefix: str, passage_prefix: str, threads: int = 1) -> None:
        import onnxruntime as ort
        from tokenizers import Tokenizer

        self.query_prefix = query_prefix
        self.passage_prefix = passage_prefix
        self._tokenizer = Tokenizer.from_file(str(folder / "tokenizer.json"))
        self._tokenizer.no_padding()  # some definitions pad to 128, and one text at a time needs none
        self._tokenizer.enable_truncation(MAX_TOKENS)
        characters = folder / "characters.json"
        table = json.loads(characters.read_text("utf-8")) if characters.exists() else {}
        self._characters = {int(k): v for k, v in table.items()}
        self._words = np.load(folder / "words.npy", mmap_mode="r")
        self._scale = np.load(folder / "scale.npy")
        self._positions = np.load(folder / "positions.npy")
        options = ort.SessionOptions()
        options.intra_op_num_threads = threads
        options.inter_op_num_threads = 1
        options.log_severity_level = 3
        self._session = ort.InferenceSession(str(folder / "model.onnx"), options, providers=["CPUExecutionProvider"])
        self.dimensions = int(self._words.shape[1])

    def encode_queries(self, texts: Sequence[str]) -> Floats:
        """Vectors of questions."""
        return self._encode([self.query_prefix + t for t in texts])

    def encode_passages(self, texts: Sequence[str]) -> Floats:
        """Vectors of documents."""
        return self._encode([self.passage_prefix + t for t in texts])

    def embed(self, text: str) -> Floats:
        """What enters the graph for one prefixed text: float32 [1, tokens, hidden]."""
        ids = self._tokenizer.encode(text.translate(self._characters)).ids
        embedded: Floats = self._words[ids].astype(np.float32)
        embedded *= self._scale[ids]
        embedded += self._positions[: len(ids)]
        return embedded[None]

    def run(self, embedded: Floats) -> Floats:
        """The graph alone: float32 [1, tokens, hidden] to [1, dimensions]."""
        mask = np.ones(embedded.shape[:2], dtype=np.int32)
        (vector,) = self._session.run(None, {"embedded": embedded, "mask": mask})
        return np.asarray(vector, dtype=np.float32)

    def _encode(self, texts: Sequence[str]) -> Floats:
        # One text at a time: on a CPU a batch pads to its longest text and loses.
        out = np.empty((len(texts), self.dimensions), dtype=np.float32)
        for i, text in enumerate(texts):
            out[i] = self.run(self.embed(text))[0]
        return out
