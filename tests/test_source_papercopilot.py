"""Paper Copilot's lists of conference papers. The papers and people are invented; the fields are those of the lists."""

from __future__ import annotations

import json
from datetime import UTC, datetime
from typing import Any

import pytest

from broadsheet.errors import FetchError, InputError, SettingsError
from broadsheet.model import Area, Link, LinkKind, Record, Refusal, SourceState
from broadsheet.sources.base import Page
from broadsheet.sources.papercopilot import PaperCopilot
from tests.fakeweb import Answer, FakeWeb
from tests.makers import identifier

NOW = datetime(2026, 11, 30, 12, 0, tzinfo=UTC)
RAW, MEDIA = "raw.githubusercontent.com", "media.githubusercontent.com"
PATH, LARGE = (
    "/papercopilot/paperlists/main/icml/icml2025.json",
    "/media/papercopilot/paperlists/main/icml/icml2025.json",
)
POINTER = "version https://git-lfs.github.com/spec/v1\noid sha256:0\nsize 1\n"


def entry(**fields: Any) -> dict[str, Any]:
    values = {
        "id": "abcDEF1234",
        "title": "Lamps in Fog",
        "track": "main",
        "status": "Poster",
        "tldr": "",
        "abstract": "We see less.",
        "keywords": "fog;light",
        "primary_area": "deep_learning->theory",
        "author": "Ada Quill;Bo Reed",
        "gender": "F;M",
        "aff": "Fog House;Fog House",
        "bibtex": "@inproceedings{\nquill2025,\nbooktitle={International Conference on Fog},\nyear={2025}\n}",
        "github": "",
        "project": "",
        "site": "https://openreview.net/forum?id=abcDEF1234",
        "gs_citation": -1,
    }
    return values | fields


def parsed(*items: Any, source: str = "icml/2025") -> list[Record | Refusal]:
    return list(PaperCopilot.of(source).parse(Page("u", json.dumps(items, indent=1).encode(), "")))


def only(*items: Any, source: str = "icml/2025") -> Record:
    (found,) = parsed(*items, source=source)
    assert isinstance(found, Record), found
    return found


def test_every_field_has_its_place() -> None:
    record = only(
        entry(
            tldr="Fog hides lamps.",
            track="Position",
            gs_citation=12,
            github="https://github.com/quill/lamps",
            project="https://quill.github.io/lamps",
            pdf="/pdf/0123.pdf",
            arxiv="2501.01234",
            doi="10.1234/lamps",
        )
    )
    assert (record.source, record.key) == ("papercopilot", "icml/2025/abcDEF1234")
    assert set(record.identifiers) == {
        identifier("openreview:abcDEF1234"),
        identifier("arXiv:2501.01234"),
        identifier("doi:10.1234/lamps"),
    }
    assert (record.title, record.abstract, record.authors) == ("Lamps in Fog", "We see less.", ("Ada Quill", "Bo Reed"))
    assert (record.venue, record.year, record.status, record.kind) == ("icml", 2025, "Poster", "inproceedings")
    assert record.areas == (Area("Deep Learning", "Theory"),)
    assert record.keywords == ("fog", "light")
    assert record.counts == (("citations", 12),)
    assert record.details == (
        ("booktitle", "International Conference on Fog"),
        ("tldr", "Fog hides lamps."),
        ("track", "Position"),
    )
    assert set(record.links) == {
        Link(LinkKind.PAGE, "https://openreview.net/forum?id=abcDEF1234"),
        Link(LinkKind.PDF, "https://openreview.net/pdf/0123.pdf"),
        Link(LinkKind.CODE, "https://github.com/quill/lamps"),
        Link(LinkKind.PROJECT, "https://quill.github.io/lamps"),
    }
    assert json.loads(record.raw)["gender"] == "F;M"  # kept as it came, and nowhere else


def test_an_older_list_has_less() -> None:
    bare = {
        "title": "Old Lamps",
        "site": "https://openaccess.thecvf.com/content_cvpr_2013/html/Quill_Old_Lamps_paper.html",
        "author": "Ada Quill, Bo Reed",
        "pdf": "https://openaccess.thecvf.com/content_cvpr_2013/papers/Quill_Old_Lamps_paper.pdf",
        "arxiv": "",
    }
    record = only(bare, source="cvpr2013")
    assert (record.authors, record.abstract, record.counts, record.details) == (("Ada Quill", "Bo Reed"), "", (), ())
    assert record.key.startswith("cvpr/2013/")
    assert record == only(bare, source="cvpr2013")  # the key is stable


def test_names_that_a_list_repeats_are_taken_once() -> None:
    assert only(entry(author="Ada Quill;Bo Reed;Ada Quill")).authors == ("Ada Quill", "Bo Reed")


@pytest.mark.parametrize("status", ["Reject", "Desk Reject", "Withdraw", "Active"])
def test_what_was_not_accepted_is_left_out_unless_asked_for(status: str) -> None:
    assert parsed(entry(status=status)) == []
    assert only(entry(status=status), source="icml/2025/all").status == status


@pytest.mark.parametrize("status", ["Oral", "Spotlight", "Top-5%", "Technical Paper", "Findings", ""])
def test_what_was_accepted_is_kept_in_the_lists_own_words(status: str) -> None:
    assert only(entry(status=status)).status == status


def test_a_bad_entry_is_refused_with_its_line_and_the_others_are_kept() -> None:
    items = [
        '{"title": "A", "id": "1"}',
        '{"title": B}',
        '"text"',
        '{"title": "", "id": "2"}',
        '{"title": "C", "id": "3"}',
    ]
    body = "[\n" + ",\n".join(items) + "\n]"
    found = list(PaperCopilot.of("icml/2025").parse(Page("u", body.encode(), "")))
    assert [item.key for item in found if isinstance(item, Record)] == ["icml/2025/1", "icml/2025/3"]
    assert [(item.line, item.reason[:13]) for item in found if isinstance(item, Refusal)] == [
        (3, "entry: not JS"),
        (4, "not an object"),
        (5, "neither title"),
    ]


def test_not_a_number_is_taken_as_nothing() -> None:
    body = json.dumps([entry(gs_citation=float("nan"))]).encode()
    (record,) = PaperCopilot.of("icml/2025").parse(Page("u", body, ""))
    assert isinstance(record, Record)
    assert record.counts == ()


def test_what_is_no_list() -> None:
    with pytest.raises(InputError, match="not a list of papers"):
        list(PaperCopilot.of("icml/2025").parse(Page("u", b"<html>", "")))
    assert list(PaperCopilot.of("icml/2025").parse(Page("u", b"", ""))) == []
    assert parsed() == []


def test_of() -> None:
    assert PaperCopilot.of("NIPS/2017").name == "papercopilot:neurips/2017"
    assert PaperCopilot.of("iclr/2024/all").name == "papercopilot:iclr/2024/all"
    with pytest.raises(SettingsError, match="papercopilot:icml/2025"):
        PaperCopilot.of("icml")


def test_the_file_is_fetched_and_asked_for_again_only_if_it_changed(fakeweb: FakeWeb) -> None:
    fakeweb.on(RAW, PATH, Answer(json.dumps([entry()]), headers={"ETag": '"one"'}), Answer(status=304))
    source = PaperCopilot.of("icml/2025")
    (page,) = source.fetch(fakeweb.client(), "", NOW)
    assert len(list(source.parse(page))) == 1
    (again,) = source.fetch(fakeweb.client(), page.cursor, NOW)
    assert (again.state, again.body, again.cursor) == (SourceState.QUIET, b"", page.cursor)
    assert fakeweb.requests[-1].headers["if-none-match"] == '"one"'


def test_a_large_file_lies_elsewhere(fakeweb: FakeWeb) -> None:
    fakeweb.on(RAW, PATH, Answer(POINTER, headers={"ETag": '"pointer"'}))
    fakeweb.on(MEDIA, LARGE, Answer(json.dumps([entry()]), headers={"ETag": '"large"'}), Answer(status=304))
    source = PaperCopilot.of("icml/2025")
    (page,) = source.fetch(fakeweb.client(), "", NOW)
    assert len(list(source.parse(page))) == 1
    (again,) = source.fetch(fakeweb.client(), page.cursor, NOW)
    assert again.state is SourceState.QUIET
    assert [request.host for request in fakeweb.requests] == [RAW, MEDIA, MEDIA]
    assert fakeweb.requests[-1].headers["if-none-match"] == '"large"'


def test_neurips_lies_under_its_old_name(fakeweb: FakeWeb) -> None:
    fakeweb.on(RAW, "/papercopilot/paperlists/main/nips/nips2025.json", Answer(json.dumps([entry()])))
    source = PaperCopilot.of("neurips/2025")
    (page,) = source.fetch(fakeweb.client(), "", NOW)
    (record,) = source.parse(page)
    assert isinstance(record, Record)
    assert record.venue == "neurips"


def test_a_list_that_is_not_there_names_the_remedy(fakeweb: FakeWeb) -> None:
    fakeweb.on(RAW, PATH, Answer("404", 404))
    with pytest.raises(FetchError, match=r"github\.com/papercopilot/paperlists"):
        list(PaperCopilot.of("icml/2025").fetch(fakeweb.client(), "", NOW))
