"""Exports of 100,000 papers in every format: seconds, and the most memory that a process took. Goal: under 500 MB."""

from __future__ import annotations

import json
import sys
import time
from dataclasses import replace
from typing import Any

from bench.common import CACHE, in_child, peak_mb, save
from bench.merging import FILES
from broadsheet.library import open_library
from broadsheet.settings import load_settings
from broadsheet.sources.writing import FORMS

PAPERS = 100_000
HOME = CACHE / "exporting"


def export(form: str) -> dict[str, Any]:
    """One export in this process, to nowhere."""
    settings = replace(load_settings(HOME, environ={}), encoder="none")
    start, size = time.perf_counter(), 0
    with open_library(settings=settings, read_only=True) as library:
        for piece in library.export(form):
            size += len(piece.encode())
        papers = library.status().papers
    seconds = time.perf_counter() - start
    return {"papers": papers, "seconds": round(seconds, 1), "MB written": round(size / 1e6, 1), "peak MB": peak_mb()}


def prepare() -> dict[str, Any]:
    """A library of at least 100,000 papers: conference papers with and without abstracts."""
    settings = replace(load_settings(HOME, environ={}), encoder="none")
    with open_library(settings=settings) as library:
        if library.status().papers < PAPERS:
            library.import_files(FILES[:2])
        return {"papers": library.status().papers}


def main() -> None:
    """Each format in a process of its own, also the import: a child's peak counts from what its parent had."""
    in_child("bench.exporting", "prepare")
    save("exporting", {form: in_child("bench.exporting", form) for form in FORMS})


if __name__ == "__main__":
    print(json.dumps(prepare() if sys.argv[1] == "prepare" else export(sys.argv[1])))
