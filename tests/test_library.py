"""The facade: everything that pages, commands and programs do with a library, on real files."""

from __future__ import annotations

import io
import json
import re
import shutil
from collections.abc import Callable, Iterator
from datetime import date
from pathlib import Path

import orjson
import pytest

from broadsheet.errors import InputError, NotFoundError, StoreError
from broadsheet.library import Library
from broadsheet.model import Paper
from tests.libraries import entry, library_in, papers_file, word, write_entries
from tests.library_makers import SAMPLE, counts

LISTING = """Daily Papers

30 June 2026

Theory · Learning Theory
Rivers that learn where they are going
Ana Lima, Bo Chen, Carla Diaz
We show how rivers learn where they are going, although nobody ever taught them to, and for how long they may go on.
arXiv:2606.01234
"""


@pytest.fixture(scope="module")
def template(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The home of a library with the sample in it, closed."""
    home = tmp_path_factory.mktemp("template") / "home"
    with library_in(home) as library:
        assert counts(library.import_sample()) == (SAMPLE, SAMPLE, 0, 0, 0)
    return home


@pytest.fixture
def sample(template: Path, tmp_path: Path) -> Iterator[Library]:
    """A library with the sample in it, and no encoder."""
    shutil.copytree(template, tmp_path / "home")
    with library_in(tmp_path / "home") as library:
        yield library


@pytest.fixture
def empty(tmp_path: Path) -> Iterator[Library]:
    with library_in(tmp_path / "home") as library:
        yield library


def found(library: Library, text: str) -> list[str]:
    return [hit.paper.title for hit in library.search(text).hits]


# --- opening and closing


def test_a_new_library_is_made_with_its_folder(tmp_path: Path) -> None:
    home = tmp_path / "a" / "b"
    with library_in(home) as library:
        assert library.status().papers == 0
        assert library.search("anything").total == 0
        assert library.newest() == [] and library.days() == []
    assert (home / "broadsheet.db").is_file()


def test_it_may_be_closed_twice_and_then_says_that_it_is_closed(tmp_path: Path) -> None:
    library = library_in(tmp_path)
    library.import_sample()
    library.close()
    library.close()
    for act in (library.status, lambda: library.paper(1), lambda: library.search("river"), library.import_sample):
        with pytest.raises(StoreError, match="closed; open it again"):
            act()


def test_a_missing_library_is_not_made_to_be_read(tmp_path: Path) -> None:
    with pytest.raises(NotFoundError, match=r"no library at .*; import something first"):
        library_in(tmp_path / "none", read_only=True)
    assert list(tmp_path.iterdir()) == []


def test_a_library_opened_to_be_read_is_not_changed(sample: Library) -> None:
    home = sample.settings.home
    with library_in(home, read_only=True) as reader:
        assert reader.status().papers == SAMPLE
        assert reader.search("Byzantine").total > 0
        for act in (reader.import_sample, lambda: reader.merge(1, 2), reader.update_index, reader.rebuild_index):
            with pytest.raises(StoreError, match="reading only"):
                act()


def test_a_home_that_cannot_be_made_is_named(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(StoreError, match=r"file/home: cannot be made .*--home"):
        library_in(tmp_path / "file" / "home")


# --- importing and reading


def test_the_sample_can_be_read_in_every_way(sample: Library) -> None:
    status = sample.status()
    assert (status.papers, status.records, status.indexed, status.pending_changes) == (SAMPLE, SAMPLE, SAMPLE, 0)
    assert (status.encoded, status.encoder, status.home) == (0, "none", str(sample.settings.home))
    paper = sample.paper("2506.18020")
    assert paper.title.startswith("Tight Stability Bounds for Robust Distributed Learning")
    assert paper.authors[0] == "Thomas Boudou"
    assert sample.paper(paper.id) == paper
    (record,) = sample.records(paper.id)
    assert (record.record.source, record.record.key) == ("jsonl:sample", "sample-001")
    results = sample.search("Byzantine failures hurt generalization")
    assert results.hits[0].paper == paper
    assert results.notes == ("Searched by words alone: there is no encoder.",)
    similar = sample.similar(paper.id, limit=5)
    assert len(similar) == 5 and paper.id not in [hit.paper.id for hit in similar]
    assert sample.bibtex(paper.id).startswith("@inproceedings{boudou2026tight-")
    assert all(check.ok for check in sample.doctor() if check.name != "space")


def test_every_paper_of_the_sample_is_found_by_its_title(sample: Library) -> None:
    for paper in sample.store.iterate_papers():
        assert sample.search(paper.title, page_size=1).hits[0].paper.id == paper.id


def test_newest_pages_through_all_papers_by_day(sample: Library) -> None:
    seen: list[Paper] = []
    while page := sample.newest(20, (seen[-1].day, seen[-1].id) if seen else None):
        seen += page
    assert len({paper.id for paper in seen}) == len(seen) == SAMPLE
    dated = [paper.day for paper in seen if paper.day]
    assert dated == sorted(dated, reverse=True)
    days = sample.days(1000)
    assert [day for day, _ in days] == sorted(set(dated), reverse=True)
    assert sum(count for _, count in days) == len(dated)


def test_a_search_can_be_narrowed_sorted_and_paged(sample: Library) -> None:
    both = [sample.search("learning", page=page, page_size=5) for page in (1, 2)]
    assert len({hit.paper.id for results in both for hit in results.hits}) == 10
    area = both[0].facets["area"][0]
    narrowed = sample.search("learning", facets={"area": [area.value]})
    assert narrowed.hits and all(area.value in [a.name for a in hit.paper.areas] for hit in narrowed.hits)
    by_day = [hit.paper.day for hit in sample.search("", sort="newest", page_size=100).hits if hit.paper.day]
    assert by_day == sorted(by_day, reverse=True)
    with pytest.raises(InputError, match="sort"):
        sample.search("learning", sort="best")


def test_a_second_import_of_the_same_changes_nothing(sample: Library) -> None:
    before = (sample.store.counts(), list(sample.store.iterate_papers()))
    for _ in range(2):
        assert counts(sample.import_sample()) == (SAMPLE, 0, 0, SAMPLE, 0)
    assert (sample.store.counts(), list(sample.store.iterate_papers())) == before


def test_a_stopped_import_goes_on_where_it_was(empty: Library, tmp_path: Path) -> None:
    file = papers_file(tmp_path / "p.jsonl", 2500)
    told: list[tuple[int, int | None, str]] = []

    def stop(done: int, total: int | None, note: str) -> None:
        told.append((done, total, note))
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        empty.import_files([file], on_progress=stop)
    assert told == [(told[0][0], file.stat().st_size, "1,000 new")]
    assert empty.store.counts().papers == 1000
    assert counts(empty.import_files([file])) == (1500, 1500, 0, 0, 0)
    assert counts(empty.import_files([file])) == (2500, 0, 0, 2500, 0)
    status = empty.status()
    assert (status.papers, status.indexed, status.pending_changes) == (2500, 2500, 0)
    for number in (0, 999, 1000, 2499):
        assert found(empty, word(number))[0] == entry(number)["title"]


def test_several_files_are_summed_and_one_that_is_missing_is_named(empty: Library, tmp_path: Path) -> None:
    files = [papers_file(tmp_path / "a.jsonl", 3), write_entries(tmp_path / "b.jsonl", [entry(7), b"{", b"[1]"])]
    summary = empty.import_files(files)
    assert counts(summary) == (6, 4, 0, 0, 2)
    assert [str(refusal).split(" (")[0] for refusal in summary.refusals] == [
        "b.jsonl:2: not JSON",
        "b.jsonl:3: a list, not an object with the fields of a paper",
    ]
    missing = tmp_path / "none.jsonl"
    with pytest.raises(InputError, match=f"{missing}: cannot be read .*check its name"):
        empty.import_files([missing])


def test_a_folder_gives_what_its_files_hold_and_an_empty_one_is_named(empty: Library, tmp_path: Path) -> None:
    folder = tmp_path / "export"
    folder.mkdir()
    with pytest.raises(InputError, match="export"):
        empty.import_files([folder])
    papers_file(folder / "a.jsonl", 3)
    (folder / "b.bib").write_text("@article{k, title={How bees decide}, year=2024}", "utf-8")
    assert empty.import_files([folder]).new == 4
    assert empty.import_files([folder]).unchanged == 4


def test_papers_come_from_a_pipe(empty: Library, tmp_path: Path) -> None:
    file = io.BytesIO(b"@article{k, title={How bees decide}, year=2024}")
    assert empty.import_stream(file).new == 1
    assert empty.store.sources() == {"bibtex:stdin": 1}


@pytest.mark.parametrize(
    "text",
    [
        "2506.18020",
        "2506.18020v3",
        "arXiv:2506.18020",
        "https://arxiv.org/abs/2506.18020v1",
        "http://arxiv.org/pdf/2506.18020.pdf",
        "10.48550/arXiv.2506.18020",
        "\u200b2506.18020\n",
    ],
)
def test_a_paper_has_many_names(sample: Library, text: str) -> None:
    assert sample.paper(text).authors[0] == "Thomas Boudou"
    assert [hit.paper.authors[0] for hit in sample.search(text).hits] == ["Thomas Boudou"]


@pytest.mark.parametrize(
    ("fields", "names"),
    [
        ({"doi": "10.1093/MOLBEV/MSL010"}, ["10.1093/molbev/msl010", "https://doi.org/10.1093/MolBev/msl010"]),
        ({"doi": "10.1093/MOLBEV/MSL010"}, ["doi:10.1093/molbev/msl010"]),
        ({"acl": "2020.acl-main.1"}, ["2020.acl-main.1", "https://aclanthology.org/2020.acl-main.1/"]),
        ({"acl": "2020.acl-main.1"}, ["10.18653/v1/2020.acl-main.1"]),
        ({"openreview": "Hkx1qkrKPr"}, ["https://openreview.net/forum?id=Hkx1qkrKPr", "openreview:Hkx1qkrKPr"]),
        ({"pmid": "31452104"}, ["pmid:31452104", "https://pubmed.ncbi.nlm.nih.gov/31452104/"]),
        ({"arxiv": "quant-ph/0112019"}, ["quant-ph/0112019", "https://arxiv.org/abs/quant-ph/0112019v1"]),
    ],
)  # fmt: skip
def test_every_scheme_of_identifiers_leads_to_the_paper(
    empty: Library, tmp_path: Path, fields: dict[str, str], names: list[str]
) -> None:
    empty.import_files([write_entries(tmp_path / "p.jsonl", [entry(1, **fields), entry(2)])])
    for name in names:
        assert empty.paper(name).title == entry(1)["title"], name
        assert found(empty, name) == [entry(1)["title"]]


@pytest.mark.parametrize("key", [0, -1, 140, 2**63, 10**30, "2401.99999", "no such thing", "", "12"])
def test_a_paper_that_is_not_there_is_said_so(sample: Library, key: int | str) -> None:
    with pytest.raises(NotFoundError, match="there is no paper"):
        sample.paper(key)


@pytest.mark.parametrize("number", [0, -5, 140, 2**63])
def test_what_acts_on_a_missing_paper_says_so(sample: Library, number: int) -> None:
    acts: list[Callable[[], object]] = [
        lambda: sample.records(number),
        lambda: sample.similar(number),
        lambda: sample.bibtex(number),
        lambda: sample.merge(1, number),
        lambda: sample.merge(number, 1),
        lambda: sample.split(number),
    ]
    for act in acts:
        with pytest.raises(NotFoundError):
            act()
    assert sample.status().papers == SAMPLE


# --- a person's word


def test_two_papers_are_merged_and_split_again_and_the_index_follows(empty: Library, tmp_path: Path) -> None:
    file = papers_file(tmp_path / "p.jsonl", 3)
    empty.import_files([file])
    first, second = (empty.search(word(i)).hits[0].paper.id for i in (0, 1))
    kept = empty.merge(first, second, "the same river")
    assert kept == first
    assert empty.paper(second).id == kept  # the number that is gone leads to the one that stayed
    assert (
        [h.paper.id for h in empty.search(word(0)).hits] == [h.paper.id for h in empty.search(word(1)).hits] == [kept]
    )
    assert (empty.status().papers, empty.status().indexed) == (2, 2)
    assert empty.merge(kept, second) == kept  # one already

    assert counts(empty.import_files([file])) == (3, 0, 0, 3, 0)
    changed = write_entries(file, [entry(0), entry(1, abstract="Boats made of stone."), entry(2)])
    assert counts(empty.import_files([changed])) == (3, 0, 1, 2, 0)
    assert empty.status().papers == 2 and empty.paper(second).id == kept

    taken = next(record for record in empty.records(kept) if record.record.key == "k1")
    made = empty.split(taken.id, "two rivers after all")
    assert made not in (first, second)
    assert [h.paper.id for h in empty.search(word(1)).hits] == [made]
    assert [h.paper.id for h in empty.search(word(0)).hits] == [kept]
    assert (empty.status().papers, empty.status().indexed) == (3, 3)
    assert counts(empty.import_files([write_entries(file, [entry(0, year=1999), entry(1), entry(2)])]))[:3] == (3, 0, 2)
    assert empty.status().papers == 3


# --- export


def test_an_export_makes_the_same_records_and_papers_again(tmp_path: Path) -> None:
    rows = [
        entry(1, arxiv="2401.00001", categories="cs.LG stat.ML", keywords=["boats", "rivers"], status="Poster"),
        {"id": 7, "abstract": "A paper that has no title. It is about boats.", "tldr": "Boats."},
        {"title": "Only a summary of boats and rivers", "summary": "Boats go down.", "authors": "Ana Lima et al."},
        {"title": "Dates of rivers in the north", "published": "2026-06", "listed": "2026-07-01", "doi": "10.1000/A_b"},
        {"title": "Odd \u0000 signs \ud7ff and 'quotes' of rivers", "venue": "Journal of R&D", "year": "2019.0"},
    ]
    (tmp_path / "page.txt").write_text(LISTING, "utf-8")
    with library_in(tmp_path / "one") as one, library_in(tmp_path / "two") as two:
        one.import_sample()
        one.import_files([write_entries(tmp_path / "rows.jsonl", rows), tmp_path / "page.txt"])
        exported = tmp_path / "export.jsonl"
        exported.write_bytes(b"".join(orjson.dumps(row) + b"\n" for row in one.export_records()))
        total = SAMPLE + len(rows) + 1
        assert counts(two.import_files([exported])) == (total, total, 0, 0, 0)
        assert [r.record for r in two.store.iterate_records()] == [r.record for r in one.store.iterate_records()]
        assert list(two.store.iterate_papers()) == list(one.store.iterate_papers())
        assert two.paper("2606.01234").listed == date(2026, 6, 30)
        # Its own library knows every record of it.
        assert counts(one.import_files([exported])) == (total, 0, 0, total, 0)


def test_an_exported_entry_holds_the_raw_one_and_says_where_it_went(sample: Library) -> None:
    first = next(iter(sample.export_records()))
    assert (first["source"], first["key"], first["paper"]) == ("jsonl:sample", "sample-001", 1)
    assert json.loads(first["raw"])["id"] == "sample-001"
    assert first["seen"].endswith("+00:00")


@pytest.mark.parametrize(
    ("change", "reason"),
    [
        ({"broadsheet_record": 2}, "broadsheet_record: format 2 is of a newer Broadsheet"),
        ({"source": ""}, "source: missing"),
        ({"title": "", "abstract": ""}, "title: missing"),
        ({"title": 5}, "title: not as `broadsheet export` writes it"),
        ({"authors": "Ana"}, "authors: not as"),
        ({"authors": ["Ana"] * 20_000}, "authors: 20000 names, more than the 10000 allowed"),
        ({"identifiers": ["nothing"]}, "identifiers: not as .*'nothing' is no identifier"),
        ({"links": [{"kind": "page", "url": "javascript:alert(1)"}]}, "links: not as .*must begin with http"),
        ({"links": [{"kind": "x", "url": "https://a.b"}]}, "links: not as"),
        ({"areas": [["a", "b"]]}, "areas: not as"),
        ({"published": "soon"}, "published: not as"),
        ({"year": True}, "year: not as"),
        ({"year": 10**9}, "year: not as"),
        ({"summarised": "yes"}, "summarised: not as"),
    ],
)
def test_an_export_that_was_changed_is_refused_by_line(
    empty: Library, tmp_path: Path, change: dict[str, object], reason: str
) -> None:
    good = {
        "broadsheet_record": 1,
        "source": "x",
        "key": "k",
        "raw": "{}",
        "title": "A river of its own",
        "abstract": "A.",
    }
    summary = empty.import_files([write_entries(tmp_path / "e.jsonl", [good | change, good])])
    assert counts(summary) == (2, 1, 0, 0, 1)
    (refusal,) = summary.refusals
    assert refusal.line == 1
    assert re.search(reason, refusal.reason), refusal.reason


# --- two libraries


def test_two_libraries_never_meet(tmp_path: Path) -> None:
    with library_in(tmp_path / "one") as one, library_in(tmp_path / "two") as two:
        one.import_files([papers_file(tmp_path / "a.jsonl", 3)])
        two.import_files([papers_file(tmp_path / "b.jsonl", 4, start=10)])
        assert (one.status().papers, two.status().papers) == (3, 4)
        assert found(one, word(10)) == [] and found(two, word(0)) == []
        one.merge(1, 2)
        assert (one.status().papers, two.status().papers) == (2, 4)
        one.rebuild_index()
        assert (one.status().indexed, two.status().indexed) == (2, 4)


# --- decisions in an export


def test_what_people_decided_goes_with_an_export(empty: Library, tmp_path: Path) -> None:
    same = {"title": "How bees decide where to go", "authors": ["Ada Lovelace", "Alan Turing"], "year": 2024}
    files = [write_entries(tmp_path / f"{name}.jsonl", [{"id": name, **same}]) for name in ("one", "two")]
    other = write_entries(tmp_path / "three.jsonl", [{"id": "three", "title": "On a wholly different matter"}])
    empty.import_files([*files, other])
    records = {stored.record.key: stored for stored in empty.store.iterate_records()}
    assert records["one"].paper_id == records["two"].paper_id
    empty.split(records["two"].id, why="another paper of that name")
    empty.merge(records["one"].paper_id, records["three"].paper_id, why="they say so")

    def together(library: Library) -> set[frozenset[str]]:
        papers: dict[int, set[str]] = {}
        for stored in library.store.iterate_records():
            papers.setdefault(stored.paper_id, set()).add(stored.record.key)
        return {frozenset(keys) for keys in papers.values()}

    assert together(empty) == {frozenset(("one", "three")), frozenset(("two",))}
    lines = list(empty.export_records())
    file = write_entries(tmp_path / "export.jsonl", lines)
    with library_in(tmp_path / "other") as copy:
        assert copy.import_files([file]).read == len(lines) == 5
        assert together(copy) == together(empty)
        assert [(j.kind, j.why) for j in copy.store.judgements()] == [(j.kind, j.why) for j in empty.store.judgements()]
        assert copy.import_files([file]).unchanged == 5
        assert [line for line in copy.export_records() if "broadsheet_judgement" in line]


@pytest.mark.parametrize(
    ("change", "reason"),
    [
        ({"broadsheet_judgement": 2}, "newer Broadsheet"),
        ({"kind": "maybe"}, "not as `broadsheet export` writes it"),
        ({"a": ["x"]}, "not as `broadsheet export` writes it"),
        ({"made": "2026-01-01"}, "not as `broadsheet export` writes it"),
    ],
)
def test_a_decision_that_cannot_be_read_is_refused(
    empty: Library, tmp_path: Path, change: dict[str, object], reason: str
) -> None:
    line = {
        "broadsheet_judgement": 1,
        "kind": "merge",
        "a": ["s", "1"],
        "b": ["s", "2"],
        "made": "2026-01-01T00:00:00Z",
    }
    summary = empty.import_files([write_entries(tmp_path / "x.jsonl", [{**line, **change}, line])])
    assert (summary.refused, summary.new) == (1, 1)
    assert reason in summary.refusals[0].reason
