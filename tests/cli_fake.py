"""A library that answers the command line with fixed values and remembers what it was asked."""

from __future__ import annotations

import json
import sys
import types
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from datetime import UTC, date, datetime
from pathlib import Path
from typing import Any, BinaryIO

import pytest

from broadsheet.cli import run
from broadsheet.errors import InputError
from broadsheet.model import (
    Area,
    FacetValue,
    Hit,
    Identifier,
    ImportSummary,
    Link,
    LinkKind,
    Paper,
    Record,
    Refusal,
    Results,
    Scheme,
    SourceReport,
    SourceState,
    SourceStatus,
    Status,
    StoredRecord,
)

PAPER = Paper(
    id=7,
    title="Noise-robust training of $k$-means",
    abstract="We train with *noisy* labels.",
    authors=("Ada Byron", "Emmy Noether"),
    identifiers=(Identifier(Scheme.ARXIV, "2401.00001"),),
    areas=(Area("Theory", "Learning Theory"),),
    venue="icml",
    year=2024,
    published=date(2024, 1, 2),
    links=(Link(LinkKind.CODE, "https://example.org/code"),),
)
HIT = Hit(PAPER, 0.9, {"words": 0.9}, "trained with <mark>noisy</mark> labels &amp; more", "<mark>Noise</mark>-robust")
SUMMARY = ImportSummary(read=3, new=2, refused=1, refusals=(Refusal("x.bib", 4, "no title"),))
STORED = StoredRecord(3, 7, Record("arxiv", "2401.00001", raw="{}"), datetime(2026, 1, 2, tzinfo=UTC))


REPORTS = (
    SourceReport(
        "arxiv:cs.LG", SourceState.OK, new=1200, updated=3, merged=2, withdrawn=1,
        due=datetime(2026, 12, 1, 5, 30, tzinfo=UTC),
    ),
    SourceReport(
        "huggingface", SourceState.FAILED, "answered 503 four times", refused=1,
        refusals=(Refusal("page", 4, "no title"),),
    ),
)  # fmt: skip
STATUSES = (
    SourceStatus(
        "arxiv:cs.LG", SourceState.QUIET, "No announcement: weekend.", newest="2611.12345", day=date(2026, 11, 27),
        records=1200,
    ),
    SourceStatus("huggingface"),
)  # fmt: skip


@dataclass
class Check:
    name: str
    ok: bool
    message: str


@dataclass
class FakeLibrary:
    """Answers with the values above, and remembers what it was asked."""

    settings: Any = None
    calls: list[tuple[Any, ...]] = field(default_factory=list)
    fault: BaseException | None = None
    papers: int = 1
    summary: ImportSummary = SUMMARY
    checks: tuple[Check, ...] = (Check("database", True, "in order"),)
    hits: tuple[Hit, ...] = (HIT,)
    reports: tuple[SourceReport, ...] = REPORTS
    statuses: tuple[SourceStatus, ...] = STATUSES
    daily: Any = None

    def _asked(self, *call: Any) -> None:
        self.calls.append(call)
        if self.fault:
            raise self.fault

    def __enter__(self) -> FakeLibrary:
        return self

    def __exit__(self, *_: object) -> None:
        self.calls.append(("closed",))

    def search(self, text: str, **options: Any) -> Results:
        self._asked("search", text, options)
        facets = {"venue": (FacetValue("icml", 1),)}
        return Results(
            text, self.hits, len(self.hits), 1, options["page"], 20, facets, 0.5, options["sort"], ("A note.",)
        )

    def paper(self, key: int | str) -> Paper:
        self._asked("paper", key)
        return replace(PAPER, id=key) if isinstance(key, int) else PAPER

    def records(self, paper_id: int) -> list[StoredRecord]:
        return [STORED]

    def bibtex(self, paper_id: int) -> str:
        return "@misc{byron2024,\n}\n"

    def similar(self, paper_id: int, limit: int, reader: str | None = None) -> tuple[Hit, ...]:
        self._asked("similar", paper_id, limit, *([reader] if reader is not None else []))
        return self.hits

    def status(self) -> Status:
        self._asked("status")
        return Status(
            "home", self.papers, 2, 1, 0, 0, "e5-small", "", {"disk_free": 5, "sources": {"arxiv": 1_200, "jsonl:x": 7}}
        )

    def import_files(self, paths: list[Path], *, on_progress: Callable[..., None]) -> ImportSummary:
        self._asked("import", [path.name for path in paths])
        if paths[0].name == "missing.bib":
            raise InputError("missing.bib: no such file; check its name")
        return self.summary

    def import_stream(self, file: BinaryIO, *, on_progress: Callable[..., None]) -> ImportSummary:
        self._asked("import stream", file.read())
        return self.summary

    def import_sample(self) -> ImportSummary:
        self._asked("import sample")
        return self.summary

    def encode(self, on_progress: Callable[..., None], **options: Any) -> int:
        self._asked("encode", options)
        on_progress(1, 2)
        return 1

    def merge(self, a: int, b: int, why: str) -> None:
        self._asked("merge", a, b, why)

    def split(self, record: int, why: str) -> int:
        self._asked("split", record, why)
        return 8

    def rebuild_index(self, on_batch: Callable[[int], None]) -> None:
        self._asked("rebuild_index")
        on_batch(1)

    def doctor(self) -> list[Check]:
        return list(self.checks)

    def export_records(self) -> Iterator[dict[str, Any]]:
        self._asked("export")
        yield from ({"id": i, "title": "题"} for i in range(3))

    def export(self, form: str, *, query: str = "", ids: Sequence[int] = ()) -> Iterator[str]:
        if ids:
            yield from map(self.bibtex, ids)
            return
        self._asked("export papers", form, query)
        yield f"{form} of {query or 'all'}\n"

    def update(self, names: tuple[str, ...], *, on_source: Callable[[SourceReport], None]) -> list[SourceReport]:
        self._asked("update", names)
        for report in self.reports:
            on_source(report)
        return list(self.reports)

    def sources(self) -> list[SourceStatus]:
        self._asked("sources")
        return list(self.statuses)


def install(monkeypatch: pytest.MonkeyPatch) -> FakeLibrary:
    """A fake library that every command of the test opens."""
    from tests.cli_fake_daily import FakeDaily

    library = FakeLibrary()
    library.daily = FakeDaily(library)

    def open_library(*, settings: Any, read_only: bool, say: Callable[[str], None]) -> FakeLibrary:
        library.settings = settings
        library.calls.append(("open", settings.home, read_only))
        return library

    module = types.ModuleType("broadsheet.library")
    module.open_library = open_library  # type: ignore[attr-defined]
    monkeypatch.setitem(sys.modules, "broadsheet.library", module)
    return library


@dataclass
class Done:
    """What a command left behind: its exit status and what it wrote."""

    code: int
    out: str
    err: str

    @property
    def json(self) -> Any:
        return json.loads(self.out)


Call = Callable[..., Done]


def caller(capsys: pytest.CaptureFixture[str]) -> Call:
    """Runs a command line within the test."""

    def call(*arguments: str) -> Done:
        capsys.readouterr()
        code = run(arguments)
        out, err = capsys.readouterr()
        return Done(code, out, err)

    return call
