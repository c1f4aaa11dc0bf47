"""The screening desk at 40,000 records: filling, opening, the time from a decision to the next record, and memory.

The pool is real: the records of the shared reviews, and papers of the conferences up to the number. A record is
relevant where its review included it; the vectors of 384 dimensions are made up and stand for an encoder's. Goals:
the next record in 100 ms after a decision, whatever is being learned in the background meanwhile.
"""

from __future__ import annotations

import csv
import json
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np

from bench.common import CONFERENCES, SHARED, in_child, peak_mb, percentiles, rows, save, timed
from broadsheet.library import Library, open_library
from broadsheet.library.screening_vectors import RecordVectors, record_text
from broadsheet.model.screening import Label, Plan
from broadsheet.settings import Settings

RECORDS = 40_000
DECISIONS = 300
DIMENSIONS = 384
REVIEW = "desk"


def texts() -> Iterator[tuple[str, str, int]]:
    """Title, abstract, and whether it is relevant."""
    for path in sorted((SHARED / "data" / "screening").glob("*.jsonl.gz")):
        for row in rows(path):
            title, abstract = row.get("title") or "", row.get("abstract") or ""
            if title or abstract:
                yield title, abstract, int(row["label_included"])
    for row in rows(CONFERENCES):
        yield row["title"], row.get("abstract") or "", 0


def pool(folder: Path, count: int) -> tuple[Path, list[bool]]:
    """A CSV of so many records, and whether each is relevant."""
    path, relevant = folder / "pool.csv", []
    with path.open("w", newline="", encoding="utf-8") as file:
        written = csv.writer(file)
        written.writerow(["title", "abstract"])
        for title, abstract, included in texts():
            if len(relevant) == count:
                break
            written.writerow([title, abstract])
            relevant.append(bool(included))
    return path, relevant


def opened(home: Path, encoder: str = "none") -> Library:
    """The library of this run."""
    return open_library(settings=Settings(home=home, encoder=encoder))


def filled(home: str, path: str) -> dict[str, Any]:
    """In a process of its own: the pool from its file."""
    with opened(Path(home)) as library:
        library.screening.create(REVIEW, Plan(seed=1))
        spent, [summary] = timed(library.screening.add_files, REVIEW, [path])
    return {
        "from a CSV to the pool, s": round(spent / 1000, 1),
        "records": summary.added,
        "of them repeats": summary.repeats,
        "peak memory, MB": peak_mb(),
    }


def made_up_vectors(home: Path) -> None:
    """Vectors for every record, in the desk's own file."""
    from broadsheet.encode import encoder_id
    from broadsheet.index import vectors_folder

    random = np.random.default_rng(1)

    def encode(some: Any) -> np.ndarray:
        made = random.normal(size=(len(some), DIMENSIONS)).astype(np.float32)
        return made / np.linalg.norm(made, axis=1, keepdims=True)

    with opened(home) as library:
        review = library.screening.review(REVIEW)
        kept = list(map(record_text, library.store.screening.records(review.id)))
        name = f"{vectors_folder(encoder_id('e5-small'))}-{DIMENSIONS}.rows"
        RecordVectors(library.settings.index_dir / "screening" / str(review.id) / name, DIMENSIONS).add(kept, encode)


def screened(home: str, truth: str, encoder: str) -> dict[str, Any]:
    """In a process of its own: opening the desk, and deciding one record after another without a pause."""
    relevant = json.loads(Path(truth).read_text("utf-8"))
    with opened(Path(home), encoder) as library:
        screening = library.screening
        opening, offer = timed(screening.next, REVIEW)
        at_rest = peak_mb()
        first = [number for number, label in enumerate(relevant, 1) if label][:2]
        screening.prior(REVIEW, first[:1], Label.INCLUDE)
        screening.prior(REVIEW, [2 if first[0] != 2 else 3], Label.EXCLUDE)
        offers, decisions, worked, start = [], [], [], time.perf_counter()
        for _ in range(DECISIONS):
            began = time.thread_time()
            spent, offer = timed(screening.next, REVIEW)
            offers.append(spent)
            assert offer is not None
            label = Label.INCLUDE if relevant[offer.record.number - 1] else Label.EXCLUDE
            number, given = offer.record.number, offer
            spent, _ = timed(lambda n=number, o=given, la=label: screening.decide(REVIEW, n, la, offer=o))
            decisions.append(spent)
            worked.append((time.thread_time() - began) * 1000)
        passed = time.perf_counter() - start
        whole = [a + b for a, b in zip(offers, decisions, strict=True)]
        report, progress = timed(screening.progress, REVIEW)
        again, _ = timed(screening.progress, REVIEW)
        listed, _ = timed(lambda: screening.records(REVIEW, query="randomised"))
        trained = _training(library)
    return {
        "first record after opening, s": round(opening / 1000, 2),
        "memory then, MB": at_rest,
        "next record, ms": percentiles(offers),
        "decision, ms": percentiles(decisions),
        "both, ms": percentiles(whole) | {"max": round(max(whole), 1)},
        "of both processor time of the calling thread, ms": percentiles(worked),
        "goal for both, ms": 100,
        "decisions a second without a pause": round(DECISIONS / passed, 1),
        "learning once from all labels, s": trained,
        "progress with curve, ms": [round(report, 1), round(again, 1)],
        "first page of a search among the records, ms": round(listed, 1),
        "found": progress.found,
        "peak memory, MB": peak_mb(),
    }


def _training(library: Library) -> float:
    """Seconds until the model knows one more decision."""
    screening = library.screening
    offer = screening.next(REVIEW)
    assert offer is not None
    with screening.desk(REVIEW) as desk:
        desk.settle(120)
        screening.decide(REVIEW, offer.record.number, Label.EXCLUDE, offer=offer)
        screening.next(REVIEW)
        spent, _ = timed(desk.settle, 120)
    return round(spent / 1000, 2)


def main() -> None:
    """Measure, and keep the figures."""
    figures: dict[str, Any] = {}
    for count in (4_000, RECORDS):
        with tempfile.TemporaryDirectory() as folder:
            home = Path(folder) / "home"
            path, relevant = pool(Path(folder), count)
            truth = Path(folder) / "truth.json"
            truth.write_text(json.dumps(relevant), "utf-8")
            found = {"filling": in_child("bench.screening_desk", "filled", str(home), str(path))}
            found["words alone"] = in_child("bench.screening_desk", "screened", str(home), str(truth), "none")
            made_up_vectors(home)
            found["with vectors"] = in_child("bench.screening_desk", "screened", str(home), str(truth), "e5-small")
            figures[f"{count:,} records"] = found
    save("screening_desk", figures)


if __name__ == "__main__":
    if len(sys.argv) > 1:
        print(json.dumps(globals()[sys.argv[1]](*sys.argv[2:])))
    else:
        main()
