"""A Zotero library, read from its own database: the items that are not in the bin, with creators, tags and collections.

Schema: https://github.com/zotero/zotero, resource/schema/userdata.sql (5.0 and later). The file is opened read-only and
immutable: nothing is locked or written, and Zotero may run, unless it is writing at this moment. Each item becomes a
row with the headings of Zotero's own CSV export, so that both are read by the same rules and under the same keys.
Attachments, notes, annotations and the items of feeds are left out.
"""

from __future__ import annotations

import re
import sqlite3
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

from broadsheet.errors import InputError
from broadsheet.model import Refusal
from broadsheet.sources.base import Entry, Limits
from broadsheet.sources.columns import Columns
from broadsheet.sources.naming import Keys
from broadsheet.sources.tables import entry_of
from broadsheet.sources.zoterofields import AUTHORS, COLUMNS, LEFT_OUT, Item, listed, name_of

NAME = "a Zotero library"
_ITEMS = """
SELECT items.itemID, items.key, items.dateAdded, itemTypes.typeName, items.libraryID, libraries.type
FROM items
JOIN itemTypes ON itemTypes.itemTypeID = items.itemTypeID
JOIN libraries ON libraries.libraryID = items.libraryID
WHERE items.itemID NOT IN (SELECT itemID FROM deletedItems)
  AND itemTypes.typeName NOT IN (?, ?, ?)
  AND libraries.type <> 'feed'
ORDER BY items.itemID
"""
_FIELDS = """
SELECT itemData.itemID, fields.fieldName, itemDataValues.value
FROM itemData
JOIN fields ON fields.fieldID = itemData.fieldID
JOIN itemDataValues ON itemDataValues.valueID = itemData.valueID
"""
_CREATORS = """
SELECT itemCreators.itemID, creatorTypes.creatorType, creators.lastName, creators.firstName
FROM itemCreators
JOIN creators ON creators.creatorID = itemCreators.creatorID
JOIN creatorTypes ON creatorTypes.creatorTypeID = itemCreators.creatorTypeID
ORDER BY itemCreators.itemID, itemCreators.orderIndex
"""
_TAGS = """
SELECT itemTags.itemID, CASE itemTags.type WHEN 1 THEN 'automatic' ELSE 'manual' END, tags.name
FROM itemTags JOIN tags ON tags.tagID = itemTags.tagID
ORDER BY itemTags.itemID, tags.name
"""
_FILED = "SELECT itemID, collectionID FROM collectionItems ORDER BY itemID, collectionID"
_COLLECTIONS = "SELECT collectionID, collectionName, parentCollectionID FROM collections"


def read(path: Path, limits: Limits) -> Iterator[Entry]:
    """The items in the order in which they were added. Raises InputError for a database that is not Zotero's."""
    _refuse_unfinished(path)
    try:
        with closing(sqlite3.connect(f"{path.absolute().as_uri()}?mode=ro&immutable=1", uri=True)) as database:
            database.execute("PRAGMA trusted_schema = OFF")  # SQLite's advice for databases that others made
            database.text_factory = lambda text: text.decode("utf-8", "replace")
            items = _items(database)
    except sqlite3.Error as error:
        raise InputError(
            f"{path.name}: not a database of Zotero 5 or later, or a damaged one ({error}); open it in Zotero, or "
            "export the library from there"
        ) from error
    columns = Columns(list(COLUMNS.values()), path.parent.absolute().name, Keys())
    for item in items:
        entry = entry_of(path.name, columns, (0, item.cells), limits)
        yield Refusal(path.name, 0, f"item {item.key}: {entry.reason}") if isinstance(entry, Refusal) else entry


def _refuse_unfinished(path: Path) -> None:
    """A journal beside the database holds what belongs into it, or what must be taken back."""
    for ending in ("-journal", "-wal"):
        journal = path.with_name(path.name + ending)
        if journal.exists() and journal.stat().st_size:
            raise InputError(f"{path.name}: Zotero is still writing ({journal.name}); close it and try again")


def _items(database: sqlite3.Connection) -> list[Item]:
    items: dict[int, Item] = {}
    for number, key, added, kind, library, where in database.execute(_ITEMS, LEFT_OUT):
        item = items[number] = Item(key if where == "user" else f"{library}/{key}")
        item.add("itemType", kind)
        item.add("dateAdded", added)
    names = _collections(database)
    for number, name, value in _parts(database, names):
        if number in items:
            items[number].add(name, value)
    for item in items.values():
        _date(item)
    return list(items.values())


def _parts(database: sqlite3.Connection, collections: dict[int, str]) -> Iterator[tuple[int, str, object]]:
    """(item, field, value) of everything that items consist of; what one cell holds together has no ";" in it."""
    for number, name, value in database.execute(_FIELDS):
        yield number, name, value
    for number, kind, last, first in database.execute(_CREATORS):
        yield number, "author" if kind in AUTHORS else kind, name_of(last, first)
    for number, kind, name in database.execute(_TAGS):
        yield number, kind, listed(name)
    for number, collection in database.execute(_FILED):
        yield number, "collections", collections.get(collection)


def _collections(database: sqlite3.Connection) -> dict[int, str]:
    """The path of each collection: ``Reading > Theory``."""
    rows = {number: (name, parent) for number, name, parent in database.execute(_COLLECTIONS)}
    paths = {}
    for number in rows:
        path: list[str] = []
        at: int | None = number
        while at in rows and len(path) < len(rows):  # a damaged library may go round in a circle
            name, at = rows[at]
            path.append(listed(name))
        paths[number] = " > ".join(reversed(path))
    return paths


def _date(item: Item) -> None:
    """Zotero stores a date twice: ``2019-07-00 July 2019``, with zeros for what is not known."""
    for text in item.texts("date")[:1]:
        if found := re.match(r"(\d{4})-(\d\d)-(\d\d)(?: |$)", text):
            known = [part for part in found.groups() if part.strip("0")]
            item.put("date", "-".join(known) if known[:1] == [found[1]] else text[11:])
            item.put("year", found[1].strip("0") and found[1])
