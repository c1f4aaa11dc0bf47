"""Questions to the store with what no database can hold, with more values than a statement takes."""

from __future__ import annotations

from collections.abc import Iterator
from enum import Enum
from pathlib import Path

import numpy as np
import pytest
from sqlalchemy import String

from broadsheet.model import Identifier, JudgementKind, Scheme
from broadsheet.model.reading import Action
from broadsheet.model.screening import Chosen, Label, ReviewEventKind, Stage
from broadsheet.store import Store, open_store, schema
from tests.makers import record, write

UNSTORABLE = ["\0", "a\0b", "\ud800", "10.1000/\0"]


@pytest.fixture
def store(tmp_path: Path) -> Iterator[Store]:
    with open_store(f"sqlite:///{tmp_path / 'papers.db'}") as opened:
        yield opened


@pytest.mark.parametrize("name", UNSTORABLE)
def test_what_no_database_holds_is_not_found(store: Store, name: str) -> None:
    write(store, record("A", source="s", key="k"))
    assert store.known_records("s", [name, "k"]).keys() == {"k"}
    assert store.records_with_keys([("s", "k"), ("s", name), (name, "k")]).keys() == {("s", "k")}
    asked = [Identifier(Scheme.DOI, name)]
    assert store.claimants(asked) == {}
    assert store.lookups("crossref", asked) == {}


@pytest.mark.parametrize("number", [2**31, 2**63 - 1, 2**63, -(2**63) - 1, 10**30])
def test_numbers_that_no_paper_can_have(store: Store, number: int) -> None:
    write(store, record("A"))
    assert store.papers([1, number]).keys() == {1}
    assert store.records_of([1, number]).keys() == {1}
    assert list(store.screening.records(1, [number])) == []
    assert store.reading.shown("me", [number]) == set()


def test_more_values_than_a_statement_takes_parameters(store: Store) -> None:
    write(store, record("A"), record("B"))
    assert store.papers(range(1, 70_000)).keys() == {1, 2}
    assert store.papers(np.arange(1, 70_000)).keys() == {1, 2}
    assert store.known_records("s", [f"k{n}" for n in range(70_000)]) == {}


def test_the_same_letters_in_another_case_are_another_name(store: Store) -> None:
    write(store, record("A", source="s", key="Key%"), record("B", source="s", key="key_"))
    assert store.known_records("s", ["Key%"])["Key%"].paper_id == 1
    assert store.known_records("s", ["KEY%", "K%", "key%", "key-"]) == {}


def test_writer_whose_command_is_no_text(store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    """A file's name may hold bytes that are no UTF-8."""
    monkeypatch.setattr("sys.argv", ["broadsheet", "import", "caf\udce9.bib"])
    write(store, record("A"))
    assert store.counts().papers == 1


def test_words_that_the_columns_hold_are_no_longer_than_they() -> None:
    """SQLite takes what is longer, other databases do not."""
    kept: list[tuple[type[Enum], str, str]] = [
        (JudgementKind, "judgements", "kind"),
        (Scheme, "identifiers", "scheme"),
        (Scheme, "lookups", "scheme"),
        (Action, "events", "action"),
        (ReviewEventKind, "review_events", "kind"),
        (Stage, "review_events", "stage"),
        (Label, "review_events", "label"),
        (Chosen, "review_events", "chosen"),
    ]
    for words, table, column in kept:
        kind = schema.metadata.tables[table].c[column].type
        assert isinstance(kind, String)
        assert kind.length
        assert max(len(word.value) for word in words) <= kind.length, (words, table)
