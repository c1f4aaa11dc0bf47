"""JSON objects to records: every field and alias, keys, venues, refusals."""

from __future__ import annotations

import re
from dataclasses import replace
from datetime import UTC, date, datetime
from pathlib import Path
from typing import Any
from unittest.mock import ANY

import orjson
import pytest

from broadsheet.ingest import derive
from broadsheet.model import (
    Area,
    Identifier,
    Link,
    LinkKind,
    Notice,
    NoticeKind,
    Record,
    Refusal,
    Scheme,
    Version,
)
from broadsheet.sources import jsonl
from broadsheet.sources.base import Limits
from broadsheet.sources.jsonl import parse_entry
from broadsheet.sources.out_jsonl import paper_to_json
from tests.shared import ROOT
from tests.test_sources_stream import items, refusals, titles, written


def parsed(line: bytes, *, authors: int = 100) -> Record | Refusal:
    return parse_entry(line, source="jsonl:x", where="x.jsonl", number=3, limits=Limits(4_000_000, authors))


def record(**fields: Any) -> Record:
    found = parsed(orjson.dumps({"title": "T", **fields}))
    assert isinstance(found, Record), found
    return found


def test_the_line_is_kept_as_it_came() -> None:
    line = '{ "title":"Ü",  "unknown": [1, null] }'
    found = parsed(line.encode() + b"  ")
    assert isinstance(found, Record)
    assert found.raw == line
    assert found == Record(source="jsonl:x", key=found.key, raw=line, title="Ü")


@pytest.mark.parametrize("name", ["abstract", "text", "paperAbstract"])
def test_abstract(name: str) -> None:
    found = record(**{name: "A b c.", "tldr": "no"})
    assert (found.abstract, found.summarised) == ("A b c.", False)


@pytest.mark.parametrize("name", ["summary", "gist", "tldr"])
def test_a_summary_stands_in_and_says_so(name: str) -> None:
    found = record(**{"abstract": None, name: "In short."})
    assert (found.abstract, found.summarised) == ("In short.", True)


def test_a_paper_without_title_gets_its_first_sentence() -> None:
    found = parsed(b'{"abstract": "We show a thing. Then more."}')
    assert isinstance(found, Record)
    assert (found.title, found.title_derived) == ("We show a thing", True)
    assert not record().title_derived


@pytest.mark.parametrize("name", ["authors", "author", "creators"])
def test_authors(name: str) -> None:
    assert record(**{name: ["A B", "C D"]}).authors == ("A B", "C D")


def test_authors_truncated() -> None:
    assert record(authors=["A B", "et al."]).authors_truncated
    assert record(authors=["A B"], authors_truncated=True).authors_truncated
    assert not record(authors=["A B"], authors_truncated="no").authors_truncated


ARXIV = Identifier(Scheme.ARXIV, "2401.12345")
DOI = Identifier(Scheme.DOI, "10.1093/molbev/msl010")


@pytest.mark.parametrize(
    ("fields", "identifiers"),
    [
        ({"arxiv_id": "2401.12345v2"}, [ARXIV]),
        ({"arxiv": "arXiv:2401.12345"}, [ARXIV]),
        ({"arxivId": "2401.12345"}, [ARXIV]),
        ({"eprint": "2401.12345"}, [ARXIV]),
        ({"id": "2401.12345"}, [ARXIV]),
        ({"id": "http://arxiv.org/abs/2401.12345v1"}, [ARXIV]),
        ({"id": "quant-ph/0112019"}, [Identifier(Scheme.ARXIV, "quant-ph/0112019")]),
        ({"url": "https://arxiv.org/abs/2401.12345"}, [ARXIV]),
        ({"pdf": "https://arxiv.org/pdf/2401.12345v3"}, [ARXIV]),
        ({"links": {"arxiv": "2401.12345v2"}}, [ARXIV]),
        ({"links": {"doi": "10.1093/MOLBEV/MSL010"}}, [DOI]),
        ({"doi": "https://doi.org/10.1093/MOLBEV/MSL010"}, [DOI]),
        ({"DOI": "10.1093/molbev/msl010"}, [DOI]),
        ({"doi": "10.48550/arXiv.2401.12345"}, [ARXIV]),
        ({"pmid": "10024335"}, [Identifier(Scheme.PMID, "10024335")]),
        ({"pmid": 10024335}, [Identifier(Scheme.PMID, "10024335")]),
        ({"pubmed_id": "10024335.0"}, [Identifier(Scheme.PMID, "10024335")]),
        ({"openreview": "05T81ScPFb"}, [Identifier(Scheme.OPENREVIEW, "05T81ScPFb")]),
        (
            {"links": {"site": "https://openreview.net/forum?id=05T81ScPFb"}},
            [Identifier(Scheme.OPENREVIEW, "05T81ScPFb")],
        ),
        ({"acl_id": "2020.acl-main.1"}, [Identifier(Scheme.ACL, "2020.ACL-MAIN.1")]),
        ({"id": "J74-1001", "url": "https://aclanthology.org/J74-1001"}, [Identifier(Scheme.ACL, "J74-1001")]),
        ({"externalIds": {"ArXiv": "2401.12345", "PubMed": 7, "CorpusId": 5}}, [ARXIV, Identifier(Scheme.PMID, "7")]),
        ({"identifiers": ["arxiv:2401.12345", "doi:10.1093/molbev/msl010", 5]}, [ARXIV, DOI]),
        (
            {"arxiv_id": "2401.12345", "doi": "10.1093/molbev/msl010", "abs": "https://arxiv.org/abs/2401.12345"},
            [ARXIV, DOI],
        ),
        # What must not count: running numbers, odd ids, links of projects and code, a number for an address.
        ({"id": "10024335"}, []),
        ({"id": "3dv-2025-00000", "source_id": "05T81ScPFb"}, []),
        ({"url": "24514094"}, []),
        ({"links": {"project": "https://arxiv.org/abs/2401.12345"}}, []),
        ({"links": {"github": "https://arxiv.org/abs/2401.12345"}}, []),
        ({"doi": "n/a", "arxiv": "", "pmid": None}, []),
    ],
)
def test_identifiers(fields: dict[str, Any], identifiers: list[Identifier]) -> None:
    assert list(record(**fields).identifiers) == identifiers


@pytest.mark.parametrize(
    ("fields", "venue", "year"),
    [
        ({"venue": "icml", "year": 2019}, "icml", 2019),
        ({"venue": "ICML 2026"}, "icml", 2026),
        ({"venue": "NeurIPS'24"}, "neurips", 2024),
        ({"venue": "acl-2020"}, "acl", 2020),
        ({"venue": "ICML 2026", "year": 2025}, "icml", 2025),
        ({"venue": "3dv"}, "3dv", None),
        ({"venues": ["acl"], "booktitle": "Proceedings of the 62nd Meeting"}, "acl", None),
        ({"journal": "Physical Review Letters"}, "Physical Review Letters", None),
        ({"journal": {"name": "Nature"}}, "Nature", None),
        ({"journal": "Oncotarget"}, "Oncotarget", None),
        ({"journal": "Nature 2021"}, "Nature", 2021),
        ({"journal": "arXiv:2401.12345 [cond-mat, physics:quant-ph]"}, "arxiv", None),
        ({"journal": "arXiv:math-ph/0310065"}, "arxiv", None),
        ({"conference": "ICLR"}, "iclr", None),
        ({"booktitle": "Proceedings of a Meeting"}, "Proceedings of a Meeting", None),
        ({"booktitle": "Proceedings", "id": "P19-1001"}, "acl", None),
        ({"booktitle": "Proceedings", "id": "2020.emnlp-main.5"}, "emnlp", None),
        ({"booktitle": "Workshop on X", "id": "W19-1001"}, "Workshop on X", None),
        ({"venue": None}, "", None),
        ({"venues": []}, "", None),
    ],
)
def test_venues(fields: dict[str, Any], venue: str, year: int | None) -> None:
    found = record(**fields)
    assert (found.venue, found.year) == (venue, year)


@pytest.mark.parametrize(
    ("fields", "published", "listed", "year"),
    [
        ({"published": "2023-11-30T10:40:34Z"}, date(2023, 11, 30), None, 2023),
        ({"publication_date": "2023-1-2"}, date(2023, 1, 2), None, 2023),
        ({"published_month": "2023-11"}, date(2023, 11, 1), None, 2023),
        ({"date": "2019-07-02", "year": "2019"}, date(2019, 7, 2), None, 2019),
        ({"date": "2019"}, None, None, 2019),
        ({"date": "2024-09-10", "hf_names": []}, None, date(2024, 9, 10), None),
        ({"seen_on": "2024-06-21"}, None, date(2024, 6, 21), None),
        ({"list_date": "2025-03-18"}, None, date(2025, 3, 18), None),
        ({"listed": "2025-03-31", "published": "2025-03-20"}, date(2025, 3, 20), date(2025, 3, 31), 2025),  # B06
        ({"year": 1974, "month": "September"}, date(1974, 9, 1), None, 1974),
        ({"month": "2014-01"}, None, None, None),
        ({"date_added": "2020-02-07 10:52:54"}, None, None, None),
        ({"year": "n.d."}, None, None, None),
    ],
)
def test_dates(fields: dict[str, Any], published: date | None, listed: date | None, year: int | None) -> None:
    found = record(**fields)
    assert (found.published, found.listed, found.year) == (published, listed, year)


def test_areas_and_categories() -> None:
    fields = {"primary_area": "theory->learning_theory", "categories": ["cs.HC", "cs.CV"], "primary_category": "cs.CV"}
    assert record(**fields).areas == (Area("Theory", "Learning Theory"), Area("cs", "cs.CV"), Area("cs", "cs.HC"))
    assert record(categories="cs.LG stat.ML").areas == (Area("cs", "cs.LG"), Area("stat", "stat.ML"))
    assert record(area="A · B", primary_area="C").areas == (Area("A", "B"),)
    assert record(areas=[{"name": "A", "subarea": None}]).areas == (Area("A"),)


def test_keywords_without_a_readers_marks() -> None:
    found = record(
        keywords="Aged; Pain, Intractable", manual_tags=["⭐️", "To Read"], automatic_tags=["⛔ none", "Aged"]
    )
    assert found.keywords == ("Aged", "Pain, Intractable", "To Read")


def test_links_of_all_fields_and_texts() -> None:
    found = record(
        links={"site": "https://a.org/1", "pdf": "https://a.org/1.pdf", "github": "Not provided", "bad": 5},
        url="https://a.org/1",
        abstract="See https://github.com/a/b.",
        comment="Code: https://github.com/c/d",
    )
    assert found.links == (
        Link(LinkKind.PAGE, "https://a.org/1"),
        Link(LinkKind.PDF, "https://a.org/1.pdf"),
        Link(LinkKind.CODE, "https://github.com/a/b"),
        Link(LinkKind.CODE, "https://github.com/c/d"),
    )
    assert record(links=5).links == record(links="none").links == ()


def test_status() -> None:
    assert record(status="Spotlight").status == "Spotlight"


def test_keys() -> None:
    assert record(id="3dv-2025-00000").key == "3dv-2025-00000"
    assert record(key="7WU8BFRX").key == "7WU8BFRX"
    assert record(id=" ", source_id="s1").key == "s1"
    assert record(arxiv_id="2401.12345").key == "arxiv:2401.12345"
    assert len(record(id="x" * 500).key) == 24


def test_a_running_number_is_no_key_by_itself() -> None:
    """Two files called ``corpus.jsonl`` may both have a paper 1."""
    one, other = record(_id="1", title="One"), record(_id="1", title="Other")
    assert one.key != other.key
    assert one.key == record(_id=1, title="One", text="with its abstract now").key
    assert record(item=0).key.startswith("0#")


def test_without_id_the_key_is_of_the_line() -> None:
    assert record(abstract="a").key == record(abstract="a").key != record(abstract="b").key


@pytest.mark.parametrize(
    ("line", "reason"),
    [
        (b"nonsense", "not JSON"),
        (b'{"title": "cut', "not JSON"),
        (b'{"title": "x", "year": NaN}', "not JSON"),
        (b'{"title": "\\ud800"}', "not JSON"),
        (b'{"title": ' + b"[" * 5_000, "not JSON"),
        (b'{"title": "caf\xe9"}', "not UTF-8 at byte 15 of the line"),
        (b"[1, 2]", "a list, not an object"),
        (b'"text"', "a text, not an object"),
        (b"7", "a single value, not an object"),
        (b"null", "a single value, not an object"),
        (b"{}", "neither title nor abstract"),
        (b'{"title": "", "abstract": null}', "neither title nor abstract"),
        (b'{"titel": "x"}', "neither title nor abstract"),
        (b'{"title": {"a": 1}}', "title: must be text, not a mapping"),
        (b'{"title": true}', "title: must be text, not true or false"),
        (b'{"title": "x", "abstract": ["a", "b"]}', "abstract: must be text, not a list"),
        (b'{"title": "x", "authors": 7}', "authors: must be a list of names, not a number"),
        (b'{"title": "x", "year": [2019]}', "year: must be a number, not a list"),
        (b'{"title": "x", "keywords": {"a": 1}}', "keywords: must be a list of texts, not a mapping"),
        (b'{"title": "x", "doi": {"a": 1}}', "doi: must be text, not a mapping"),
        (b'{"title": "x", "published": [1]}', "published: must be a date, not a list"),
        (b'{"title": "x", "venue": {"a": 1}}', "venue: must be text, not a mapping"),
    ],
)
def test_refusals_name_line_and_field(line: bytes, reason: str) -> None:
    found = parsed(line)
    assert isinstance(found, Refusal)
    assert (found.where, found.line) == ("x.jsonl", 3)
    assert reason in found.reason


def test_too_many_authors() -> None:
    line = orjson.dumps({"title": "x", "authors": [f"Author {i}" for i in range(20_000)]})
    found = parsed(line, authors=10_000)
    assert isinstance(found, Refusal)
    assert "authors: 20000 names, more than the 10000 allowed (setting max_authors)" in found.reason
    assert isinstance(parsed(line, authors=20_000), Record)


def test_control_characters_are_no_fault() -> None:
    assert record(title="a\u0000b\u0007c").title == "ab\u0007c"


def test_openreview_v2_notes_are_read() -> None:  # B04
    line = b'{"id": "abc", "title": {"value": "X"}, "abstract": {"value": "Y"}, "authors": {"value": ["A B"]}}'
    found = parsed(line)
    assert isinstance(found, Record)
    assert (found.title, found.abstract, found.authors) == ("X", "Y", ("A B",))


def test_the_source_is_the_files_name_wherever_it_lies(tmp_path: Path) -> None:
    (tmp_path / "b").mkdir()
    row = b'{"id":"p1","title":"One"}\n'
    found = [
        items(written(folder, row, name))[0].entry
        for folder in (tmp_path, tmp_path / "b")
        for name in ("set.jsonl", "set (1).jsonl", "set.jsonl.gz", "set.json")
    ]
    assert len(set(found)) == 1
    assert isinstance(found[0], Record)
    assert found[0].source == "jsonl:set"


def test_good_lines_between_bad_ones_are_kept(tmp_path: Path) -> None:
    found = items(written(tmp_path, b'{"title":"One"}\n[]\n{"title":"Two"}\n{"title":3}\n{\n'))
    assert titles(found) == ["One", "Two", "3"]
    assert [refusal.line for refusal in refusals(found)] == [2, 5]


def test_every_field_that_is_read_is_in_the_docs() -> None:
    page = (ROOT / "docs" / "import.md").read_text("utf-8")
    source = Path(jsonl.__file__).read_text("utf-8")
    assert jsonl.__doc__
    read = set(re.findall(r'entry\.get\("(\w+)"\)', source))
    for names in re.findall(r"_first\(entry, ([^)]+)\)", source):
        read |= set(re.findall(r'"([\w-]+)"', names))
    read |= {name for name, _ in jsonl.SCHEME_FIELDS} | {*jsonl.LINK_FIELDS, *jsonl.KEY_FIELDS, *jsonl.KEYWORD_FIELDS}
    assert len(read) > 50
    assert [name for name in sorted(read) if f"`{name}`" not in page] == []
    assert [name for name in sorted(read) if not re.search(rf"\b{name}\b", jsonl.__doc__)] == []


def test_a_paper_written_as_json_comes_back_with_all_that_it_has() -> None:
    first = Record(
        source="s",
        key="1",
        raw="{}",
        title="T",
        authors=("Ada Byron",),
        venue="Bee World",
        year=2024,
        kind="article",
        published=date(2024, 3, 1),
        month_only=True,
        versions=(Version(1, date(2024, 1, 2)), Version(2)),
        notices=(Notice(NoticeKind.RETRACTED, "Lemma 3.", date(2026, 3, 2)),),
        counts=(("citations", 7),),
        details=(("volume", "3"), ("pages", "1--9")),
        added=datetime(2025, 1, 2, 3, 4, tzinfo=UTC),
        former_titles=("An Older T",),
    )
    paper = derive(5, [first])
    assert derive(5, [record(**paper_to_json(paper))]) == replace(paper, places=ANY, origins=ANY)


def test_fields_of_the_same_names_in_other_files_mean_other_things() -> None:
    assert record(id="p-1", kind="oral", versions=3, details="none").kind == ""


def test_a_written_paper_that_was_changed_is_refused_with_the_field() -> None:
    found = parsed(b'{"id": "broadsheet-5", "title": "T", "versions": [{"number": "first"}]}')
    assert isinstance(found, Refusal)
    assert found.reason.startswith("versions: not as `broadsheet export` writes it")
