"""One paper or two: the field's papers from four collections in one library, what was merged, and what was missed.

``python -m bench merging`` imports them (time, memory) and writes two samples of merges to ``bench/judged`` unless
these are there: 200 random ones, and 100 random ones among those without a common identifier. Verdicts are put in by
hand (column ``verdict``: ``right``, ``wrong`` or ``unsure``, and why) and counted here. Then the same records without
any identifier go into a second library: of the pairs that do share one, how many find each other all the same?
"""

from __future__ import annotations

import csv
import json
import random
import shutil
import sys
import time
from collections import Counter
from collections.abc import Iterator
from dataclasses import replace
from datetime import UTC, datetime
from itertools import combinations
from pathlib import Path
from typing import Any

from bench.common import CACHE, SHARED, in_child, peak_mb, save
from broadsheet.ingest import import_items, read
from broadsheet.ingest.compare import Verdict, compare
from broadsheet.library import open_library
from broadsheet.model import Record, Scheme, StoredRecord
from broadsheet.settings import load_settings
from broadsheet.sources import Item, read_file
from broadsheet.store import open_store

DATA = SHARED / "data"
FILES = (
    DATA / "conference_papers" / "papers.jsonl.gz",
    DATA / "conference_papers" / "papers_no_abstract.jsonl.gz",
    DATA / "acl_anthology" / "acl_anthology_abstracts.jsonl.gz",
    DATA / "arxiv_daily" / "arxiv_daily_2025-03_2026-07.jsonl.gz",
    DATA / "hf_daily" / "hf_daily_weekly_snapshots.jsonl.gz",
    DATA / "hf_daily" / "hf_daily_by_date.jsonl.gz",
    DATA / "hf_daily" / "hf_papers_upvotes_2024q1.jsonl.gz",
)
JUDGED = Path(__file__).resolve().parent / "judged"
SAMPLES = {"merges": 200, "merges_without_identifier": 100}
HOME = CACHE / "merging"
SEED = 3
_FACTS = ("source", "key", "title", "authors", "venue", "year", "ids")
_COLUMNS = ("number", "rule", *(f"{name}_a" for name in _FACTS), *(f"{name}_b" for name in _FACTS), "verdict", "why")


def import_all(home: Path) -> dict[str, Any]:
    """Every collection through the public API, in this process."""
    settings = replace(load_settings(home, environ={}), encoder="none")
    start = time.perf_counter()
    with open_library(settings=settings) as library:
        summary = library.import_files(FILES)
        seconds = time.perf_counter() - start
        status = library.status()
    return {
        "read": summary.read,
        "merged": summary.merged,
        "refused": summary.refused,
        "papers": status.papers,
        "records": status.records,
        "seconds until searchable": round(seconds, 1),
        "records/s": round(summary.read / seconds),
        "peak MB": peak_mb(),
    }


def merged_papers(home: Path) -> Iterator[list[StoredRecord]]:
    """The records of every paper that has several, oldest first."""
    with open_store(f"sqlite:///{home / 'broadsheet.db'}", read_only=True) as store:
        several = Counter(stored.paper_id for stored in store.iterate_records())
        ids = sorted(paper for paper, count in several.items() if count > 1)
        for at in range(0, len(ids), 1000):
            yield from store.records_of(ids[at : at + 1000]).values()


def write_samples(home: Path) -> None:
    """The lists to be judged, where they are not there yet."""
    joins: dict[str, list[tuple[Record, Record]]] = {"merges": [], "merges_without_identifier": []}
    for records in merged_papers(home):
        first = records[0].record
        for stored in records[1:]:
            joins["merges"].append((first, stored.record))
            if compare(read(first), read(stored.record)) is not Verdict.IDENTIFIED:
                joins["merges_without_identifier"].append((first, stored.record))
    for name, pairs in joins.items():
        path = JUDGED / f"{name}.tsv"
        if not path.exists():
            chosen = random.Random(SEED).sample(pairs, min(SAMPLES[name], len(pairs)))
            _write_sample(path, chosen)


def _write_sample(path: Path, pairs: list[tuple[Record, Record]]) -> None:
    path.parent.mkdir(exist_ok=True)
    with path.open("w", newline="", encoding="utf-8") as stream:
        table = csv.writer(stream, delimiter="\t", lineterminator="\n")
        table.writerow(_COLUMNS)
        for number, (a, b) in enumerate(pairs, 1):
            rule = compare(read(a), read(b)).name.lower()
            table.writerow([number, rule, *_facts(a), *_facts(b), "", ""])


def _facts(record: Record) -> list[str]:
    authors = "; ".join(record.authors[:12]) + (f" … {len(record.authors)}" if len(record.authors) > 12 else "")
    title = "(none)" if record.title_derived else " ".join(record.title.split())
    ids = " ".join(map(str, record.identifiers))
    return [record.source, record.key, title, authors, record.venue, str(record.year or record.listed or ""), ids]


def verdicts() -> dict[str, Any]:
    """How many of the judged merges are right."""
    found: dict[str, Any] = {}
    for name in SAMPLES:
        path = JUDGED / f"{name}.tsv"
        with path.open(encoding="utf-8", newline="") as stream:
            counts = Counter(row["verdict"] or "not judged" for row in csv.DictReader(stream, delimiter="\t"))
        judged = sum(counts.values()) - counts["not judged"]
        found[name] = {**counts, "precision": round(counts["right"] / judged, 4) if judged else None}
    return found


def hidden_recall(home: Path, other: Path) -> dict[str, Any]:
    """Pairs of records from two collections that share a DOI or an arXiv id, and whether they meet without it."""
    pairs: dict[str, list[tuple[tuple[str, str], tuple[str, str]]]] = {}
    by_id: dict[object, list[Record]] = {}
    with open_store(f"sqlite:///{home / 'broadsheet.db'}", read_only=True) as store:
        for stored in store.iterate_records():
            for identifier in stored.record.identifiers:
                if identifier.scheme in (Scheme.DOI, Scheme.ARXIV):
                    by_id.setdefault(identifier, []).append(replace(stored.record, raw="", abstract=""))
    for records in by_id.values():
        for a, b in combinations(records, 2):
            if a.source != b.source:
                kind = " + ".join(sorted((a.source.removeprefix("jsonl:"), b.source.removeprefix("jsonl:"))))
                pairs.setdefault(kind, []).append(((a.source, a.key), (b.source, b.key)))
    wanted = {key for found in pairs.values() for pair in found for key in pair}
    papers = import_without_identifiers(other)
    where = {key: paper for key, paper in papers.items() if key in wanted}
    met = {kind: sum(where[a] == where[b] for a, b in found) for kind, found in pairs.items()}
    total = sum(map(len, pairs.values()))
    return {
        "pairs": total,
        "recall": round(sum(met.values()) / total, 4),
        "by collections": {
            kind: {"pairs": len(found), "recall": round(met[kind] / len(found), 4)}
            for kind, found in sorted(pairs.items())
        },
    }


def import_without_identifiers(home: Path) -> dict[tuple[str, str], int]:
    """The same records with their identifiers taken away, in a store of their own; the paper of each."""

    def hidden() -> Iterator[Item]:
        for path in FILES:
            for item in read_file(path, max_entry_bytes=4_000_000, max_authors=10_000):
                if isinstance(item.entry, Record):
                    yield replace(item, entry=replace(item.entry, identifiers=(), raw="hidden"))

    home.mkdir(parents=True)
    with open_store(f"sqlite:///{home / 'broadsheet.db'}") as store:
        import_items(store, hidden(), now=lambda: datetime.now(UTC))
        return {(s.record.source, s.record.key): s.paper_id for s in store.iterate_records()}


def main() -> None:
    """Import, sample, count the verdicts, and measure the recall."""
    shutil.rmtree(HOME, ignore_errors=True)
    imported = in_child("bench.merging", str(HOME / "all"))
    write_samples(HOME / "all")
    recall = hidden_recall(HOME / "all", HOME / "hidden")
    save("merging", {"import": imported, "judged by hand": verdicts(), "recall without identifiers": recall})


if __name__ == "__main__":
    print(json.dumps(import_all(Path(sys.argv[1]))))
