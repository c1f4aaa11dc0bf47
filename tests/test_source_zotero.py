"""Zotero: its CSV export as a whole library, and its database."""

from __future__ import annotations

import hashlib
import sqlite3
from collections.abc import Iterator
from contextlib import closing
from datetime import UTC, date, datetime
from pathlib import Path

import pytest

from broadsheet.errors import InputError
from broadsheet.ingest import derive, import_items
from broadsheet.model import Identifier, Record, Scheme
from broadsheet.store import Store, open_store
from tests.makers import NOW
from tests.shared import shared
from tests.zotero_makers import items, records, refusals


@pytest.fixture
def store(tmp_path: Path) -> Iterator[Store]:
    with open_store(f"sqlite:///{tmp_path / 'papers.db'}") as opened:
        yield opened


# --- the CSV export


def test_a_real_library_imports_whole(store: Store) -> None:
    path = shared("data", "zotero_library", "zotero_export.csv.gz")
    found = items(path)
    summary = import_items(store, found, now=lambda: NOW)
    assert (summary.read, summary.new, summary.refused) == (803, 803, 0)
    assert summary.read - summary.merged == sum(1 for _ in store.iterate_papers())
    stored = [s.record for s in store.iterate_records()]
    assert {r.source for r in stored} == {"zotero:zotero_export"}
    added = sorted(r.added for r in stored if r.added)
    assert len(added) == 803
    assert added[0] == datetime(2020, 2, 7, 10, 52, 54, tzinfo=UTC)
    assert added[-1].date() == date(2024, 1, 31)
    assert sum(any(i.scheme is Scheme.ARXIV for i in r.identifiers) for r in stored) >= 687
    assert sum(bool(r.abstract) for r in stored) == 742
    assert all(r.kind for r in stored)
    assert not any("attachment" in r.kind or r.title.endswith("PDF") for r in stored)
    again = import_items(store, items(path), now=lambda: NOW)
    assert (again.unchanged, again.new, again.updated) == (803, 0, 0)


def test_duplicates_of_a_real_library_can_be_listed(store: Store) -> None:
    summary = import_items(store, items(shared("data", "zotero_library", "zotero_export.csv.gz")), now=lambda: NOW)
    by_paper: dict[int, list[Record]] = {}
    for stored in store.iterate_records():
        by_paper.setdefault(stored.paper_id, []).append(stored.record)
    twice = [found for found in by_paper.values() if len(found) > 1]
    assert sum(len(found) - 1 for found in twice) == summary.merged > 0
    members = {f"{record.source}:{record.key}" for found in twice for record in found}
    assert len(summary.joined) == summary.merged == 3
    assert {joined.record for joined in summary.joined} <= members
    assert {joined.paper for joined in summary.joined} <= by_paper.keys()


HEAD = (
    '"Key","Item Type","Publication Year","Author","Title","Publication Title","DOI","Url","Abstract Note","Date",'
    '"Date Added","Access Date","Number","Extra","Manual Tags","Automatic Tags","Editor"\n'
)


def exported(tmp_path: Path, *rows: str) -> list[Record]:
    path = tmp_path / "My Library.csv"
    path.write_text("\ufeff" + HEAD + "\n".join(rows), "utf-8")
    return records(path)


def test_fields_of_the_export(tmp_path: Path) -> None:
    [found] = exported(
        tmp_path,
        '"K1","conferencePaper","2019","van der Berg, Jan; Ba, Ann","Bees","Hives 2019","10.1000/B","","Hum.",'
        '"2019-07","2020-02-07 10:52:54","2021-03-04 05:06:07","","Citation Key: berg2019 arXiv: 1907.00001 [cs.LG]",'
        '"⭐️; to read","Biology - Bees; Health","Lee, Cy; Do, Ed"',
    )
    assert (found.source, found.key, found.kind) == ("zotero:My Library", "K1", "inproceedings")
    assert derive(1, [found]).authors == ("Jan van der Berg", "Ann Ba")
    assert set(found.identifiers) == {Identifier(Scheme.DOI, "10.1000/b"), Identifier(Scheme.ARXIV, "1907.00001")}
    assert (found.published, found.month_only, found.year) == (date(2019, 7, 1), True, 2019)
    assert found.added == datetime(2020, 2, 7, 10, 52, 54, tzinfo=UTC)
    assert found.keywords == ("to read", "Biology - Bees", "Health")
    details = dict(found.details)
    assert (details["booktitle"], details["citekey"], details["urldate"]) == ("Hives 2019", "berg2019", "2021-03-04")
    assert (details["editor"], details["label"]) == ("Lee, Cy and Do, Ed", "⭐️")


def test_one_author_with_a_name_of_three_words(tmp_path: Path) -> None:
    [found] = exported(tmp_path, '"K1","book","2019","van der Berg, Jan","Bees"' + ',""' * 12)
    assert derive(1, [found]).authors == ("Jan van der Berg",)


# --- the database


SCHEMA = """
CREATE TABLE itemTypes (itemTypeID INTEGER PRIMARY KEY, typeName TEXT);
CREATE TABLE fields (fieldID INTEGER PRIMARY KEY, fieldName TEXT);
CREATE TABLE creatorTypes (creatorTypeID INTEGER PRIMARY KEY, creatorType TEXT);
CREATE TABLE libraries (libraryID INTEGER PRIMARY KEY, type TEXT NOT NULL);
CREATE TABLE items (
    itemID INTEGER PRIMARY KEY, itemTypeID INT NOT NULL, dateAdded TIMESTAMP, libraryID INT NOT NULL, key TEXT NOT NULL,
    UNIQUE (libraryID, key)
);
CREATE TABLE itemDataValues (valueID INTEGER PRIMARY KEY, value UNIQUE);
CREATE TABLE itemData (itemID INT, fieldID INT, valueID, PRIMARY KEY (itemID, fieldID));
CREATE TABLE creators (creatorID INTEGER PRIMARY KEY, firstName TEXT, lastName TEXT, fieldMode INT);
CREATE TABLE itemCreators (itemID INT, creatorID INT, creatorTypeID INT, orderIndex INT);
CREATE TABLE tags (tagID INTEGER PRIMARY KEY, name TEXT NOT NULL UNIQUE);
CREATE TABLE itemTags (itemID INT, tagID INT, type INT);
CREATE TABLE collections (collectionID INTEGER PRIMARY KEY, collectionName TEXT, parentCollectionID INT);
CREATE TABLE collectionItems (collectionID INT, itemID INT, orderIndex INT);
CREATE TABLE deletedItems (itemID INTEGER PRIMARY KEY, dateDeleted);
INSERT INTO libraries VALUES (1, 'user'), (2, 'group'), (3, 'feed');
INSERT INTO creatorTypes VALUES (1, 'author'), (2, 'editor'), (3, 'programmer');
"""
TYPES = ("journalArticle", "preprint", "attachment", "note", "annotation", "computerProgram", "book", "bookSection")


class Library:
    """A database as Zotero makes it."""

    def __init__(self, folder: Path) -> None:
        folder.mkdir(exist_ok=True)
        self.path = folder / "zotero.sqlite"
        self.database = sqlite3.connect(self.path)
        self.database.executescript(SCHEMA)
        self.database.executemany("INSERT INTO itemTypes VALUES (?, ?)", enumerate(TYPES, 1))

    def add(self, key: str, kind: str, *, library: int = 1, **fields: str) -> int:
        number = self.database.execute(
            "INSERT INTO items (itemTypeID, dateAdded, libraryID, key) VALUES (?, '2020-02-07 10:52:54', ?, ?)",
            (TYPES.index(kind) + 1, library, key),
        ).lastrowid
        assert number
        for name, value in fields.items():
            field = self._id("fields", "fieldID", "fieldName", name)
            self.database.execute(
                "INSERT INTO itemData VALUES (?, ?, ?)",
                (number, field, self._id("itemDataValues", "valueID", "value", value)),
            )
        return number

    def people(self, item: int, *names: tuple[str, str, int]) -> None:
        for at, (last, first, role) in enumerate(names):
            person = self.database.execute(
                "INSERT INTO creators (firstName, lastName, fieldMode) VALUES (?, ?, ?)", (first, last, int(not first))
            ).lastrowid
            # Zotero's row ids say nothing about the order.
            self.database.execute("INSERT INTO itemCreators VALUES (?, ?, ?, ?)", (item, person, role, at))

    def tag(self, item: int, name: str, automatic: int = 0) -> None:
        self.database.execute(
            "INSERT INTO itemTags VALUES (?, ?, ?)", (item, self._id("tags", "tagID", "name", name), automatic)
        )

    def run(self, sql: str) -> None:
        self.database.execute(sql)

    def close(self) -> Path:
        self.database.commit()
        self.database.close()
        return self.path

    def _id(self, table: str, column: str, by: str, value: str) -> int:
        found = self.database.execute(f"SELECT {column} FROM {table} WHERE {by} = ?", (value,)).fetchone()
        if found:
            return int(found[0])
        return self.database.execute(f"INSERT INTO {table} ({by}) VALUES (?)", (value,)).lastrowid or 0


@pytest.fixture
def library(tmp_path: Path) -> Library:
    return Library(tmp_path / "Zotero")


def test_an_item_with_everything(library: Library) -> None:
    item = library.add(
        "ABCD2345",
        "journalArticle",
        title="Bees",
        abstractNote="They hum.",
        date="2019-07-02 2 July 2019",
        DOI="10.1000/B",
        publicationTitle="Apis Weekly",
        volume="3",
        issue="2",
        pages="10-19",
        extra="arXiv: 1907.00001",
        journalAbbreviation="Apis",
        accessDate="2021-03-04 05:06:07",
    )
    library.people(item, ("Do", "Ed", 2), ("van der Berg", "Jan", 1), ("Hive Group; East", "", 1), ("Ba", "Ann", 1))
    library.run("UPDATE itemCreators SET rowid = -orderIndex")
    library.tag(item, "Health; care")
    library.tag(item, "⭐")
    library.tag(item, "Biology", automatic=1)
    library.run("INSERT INTO collections VALUES (5, 'Theory', 4), (4, 'Reading', NULL), (6, 'Later', NULL)")
    library.run(f"INSERT INTO collectionItems VALUES (5, {item}, 0), (6, {item}, 0)")
    [found] = records(library.close())
    assert (found.source, found.key, found.kind) == ("zotero:Zotero", "ABCD2345", "article")
    assert (found.title, found.abstract, found.venue) == ("Bees", "They hum.", "Apis Weekly")
    assert found.authors == ("van der Berg, Jan", "Hive Group, East", "Ba, Ann")
    assert (found.published, found.month_only, found.year) == (date(2019, 7, 2), False, 2019)
    assert found.added == datetime(2020, 2, 7, 10, 52, 54, tzinfo=UTC)
    assert set(found.identifiers) == {Identifier(Scheme.DOI, "10.1000/b"), Identifier(Scheme.ARXIV, "1907.00001")}
    assert found.keywords == ("Health, care", "Biology")
    details = dict(found.details)
    assert details["groups"] == "Reading > Theory; Later"
    assert (details["editor"], details["label"], details["shortjournal"]) == ("Do, Ed", "⭐", "Apis")
    assert [details[name] for name in ("volume", "number", "pages", "urldate")] == ["3", "2", "10-19", "2021-03-04"]


@pytest.mark.parametrize(
    ("stored", "day", "month_only", "year"),
    [
        ("2019-07-02 2019-07-02", date(2019, 7, 2), False, 2019),
        ("2019-07-00 July 2019", date(2019, 7, 1), True, 2019),
        ("2019-00-00 2019", None, False, 2019),
        ("0000-00-00 in press", None, False, None),
        ("in press", None, False, None),
    ],
)
def test_dates_as_zotero_stores_them(
    library: Library, stored: str, day: date | None, month_only: bool, year: int | None
) -> None:
    library.add("A", "book", title="Bees", date=stored)
    [found] = records(library.close())
    assert (found.published, found.month_only, found.year) == (day, month_only, year)


def test_what_is_no_item_of_the_library_is_left_out(library: Library) -> None:
    library.add("A", "book", title="Kept")
    for key, kind in (("B", "attachment"), ("C", "note"), ("D", "annotation")):
        library.add(key, kind, title="Part")
    bin_ = library.add("E", "book", title="In the bin")
    library.run(f"INSERT INTO deletedItems VALUES ({bin_}, '2024-01-01')")
    library.add("F", "journalArticle", library=3, title="Of a feed")
    library.add("A", "book", library=2, title="Of a group")
    library.add("G", "book")
    path = library.close()
    assert [(r.key, r.title) for r in records(path)] == [("A", "Kept"), ("2/A", "Of a group")]
    [refusal] = refusals(path)
    assert refusal.reason.startswith("item G: neither title nor abstract")


def test_fields_that_other_types_call_differently(library: Library) -> None:
    library.add("A", "preprint", title="Bees", archiveID="arXiv:2401.00001", repository="arXiv")
    program = library.add("B", "computerProgram", title="Hum", versionNumber="2.0", company="Hive")
    library.people(program, ("Ba", "Ann", 3))
    library.add("C", "bookSection", title="Wax", bookTitle="All of Bees")
    first, second, third = records(library.close())
    assert (first.identifiers, first.kind) == ((Identifier(Scheme.ARXIV, "2401.00001"),), "online")
    assert (second.authors, dict(second.details)["version"], second.kind) == (("Ba, Ann",), "2.0", "software")
    assert (third.venue, dict(third.details)["booktitle"]) == ("All of Bees", "All of Bees")


def digests(folder: Path) -> dict[str, str]:
    return {p.name: hashlib.blake2b(p.read_bytes()).hexdigest() for p in folder.iterdir()}


def test_the_database_is_not_touched_and_may_be_open_elsewhere(library: Library) -> None:
    library.add("A", "book", title="Bees")
    library.close()
    folder = library.path.parent
    before = digests(folder)
    with closing(sqlite3.connect(library.path, isolation_level=None)) as zotero:
        zotero.execute("PRAGMA locking_mode = EXCLUSIVE")
        zotero.execute("BEGIN EXCLUSIVE")
        assert [r.title for r in records(folder)] == ["Bees"]
        zotero.execute("COMMIT")
    assert digests(folder) == before
    library.path.chmod(0o400)
    assert [r.title for r in records(library.path)] == ["Bees"]


@pytest.mark.parametrize("ending", ["-journal", "-wal"])
def test_a_database_that_is_being_written_is_refused(library: Library, ending: str) -> None:
    library.add("A", "book", title="Bees")
    path = library.close()
    journal = path.with_name(path.name + ending)
    journal.write_bytes(b"")
    assert len(records(path)) == 1
    journal.write_bytes(b"x")
    with pytest.raises(InputError, match=r"Zotero is still writing.*close it and try again"):
        items(path)


def test_other_and_damaged_databases(tmp_path: Path) -> None:
    path = tmp_path / "zotero.sqlite"
    with closing(sqlite3.connect(path)) as database:
        database.execute("CREATE TABLE papers (title)")
    with pytest.raises(InputError, match=r"zotero\.sqlite: not a database of Zotero 5 or later.*no such table"):
        items(path)
    path.write_bytes(b"SQLite format 3\0" + b"\xff" * 5_000)
    with pytest.raises(InputError, match="or a damaged one"):
        items(path)


def test_a_circle_of_collections_ends(library: Library) -> None:
    item = library.add("A", "book", title="Bees")
    library.run("INSERT INTO collections VALUES (4, 'One', 5), (5, 'Two', 4)")
    library.run(f"INSERT INTO collectionItems VALUES (4, {item}, 0)")
    [found] = records(library.close())
    assert dict(found.details)["groups"] == "Two > One"


def test_skip_and_position_of_a_database(library: Library) -> None:
    for i in range(4):
        library.add(f"K{i}", "book", title=f"Book {i}")
    path = library.close()
    whole = items(path.parent)
    assert [item.ordinal for item in whole] == [0, 1, 2, 3]
    assert {(item.position, item.total) for item in whole} == {(path.stat().st_size,) * 2}
    assert [items(path, skip) for skip in range(5)] == [whole[skip:] for skip in range(5)]
