"""Labels and notes of a screening in files: ASReview's, Rayyan's and Covidence's ways, and what cannot be read."""

from __future__ import annotations

import io
from contextlib import closing
from pathlib import Path

import openpyxl
import pytest

from broadsheet.errors import InputError
from broadsheet.ingest import group, import_items, pool_record
from broadsheet.model import Refusal
from broadsheet.model.screening import Label
from broadsheet.sources import read_file, read_stream, read_text
from broadsheet.sources.base import Limits
from broadsheet.sources.exported import export_record, exported_record
from broadsheet.sources.labels import COLUMNS, VALUES, Labelled, labelled, value_of
from broadsheet.store import open_store
from tests.makers import NOW
from tests.shared import shared

LIMITS = {"max_entry_bytes": 1_000_000, "max_authors": 1000}


def entries(text: str, name: str) -> list[Labelled | Refusal]:
    return [entry for _, entry in labelled(read_text(name, text, **LIMITS), name)]


def found(text: str, name: str = "hits.ris") -> list[Labelled]:
    read = entries(text, name)
    assert all(isinstance(entry, Labelled) for entry in read), read
    return [entry for entry in read if isinstance(entry, Labelled)]


def one(text: str, name: str = "hits.ris") -> Labelled:
    [entry] = found(text, name)
    return entry


def ris(*notes: str, tag: str = "N1") -> str:
    return "TY  - JOUR\nTI  - Bees count\n" + "".join(f"{tag}  - {note}\n" for note in notes) + "ER  - \n"


def labels(text: str, name: str) -> list[Label | None]:
    return [entry.label for entry in found(text, name)]


# --- ASReview --------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("sign", "label"),
    [
        ("ASReview_relevant", Label.INCLUDE),
        ("ASReview_irrelevant", Label.EXCLUDE),
        ("ASReview_not_seen", None),
        ("<p>ASReview_relevant</p>", Label.INCLUDE),
        ("ASReview_prior, ASReview_irrelevant", Label.EXCLUDE),
        ("ASReview_validate_relevant", None),
    ],
)
def test_ris_notes_of_asreview(sign: str, label: Label | None) -> None:
    entry = one(ris(sign))
    assert (entry.label, entry.note, entry.problem) == (label, "", None)


def test_other_notes_of_a_screened_entry_are_kept() -> None:
    entry = one(
        ris("my own note", "ASReview_relevant", "Cited By :20", 'asreview_note: "see \\"fig\\" 2"', "asreview_time: 9")
    )
    assert entry.label is Label.INCLUDE
    assert entry.note == 'see "fig" 2\nmy own note'


def test_notes_of_databases_are_no_notes_of_screeners() -> None:
    assert one(ris("CODEN: PSYCD", "Export Date: 9 July 2021")).note == ""
    assert found("title,notes\nBees count,Language: English\n", "x.csv")[0].note == ""


def test_notes_of_zotero_are_html() -> None:
    entry = one(ris('<div data-schema-version="8"><p>ASReview_relevant</p> <p>a &lt; b &amp; <b>c</b></p></div>'))
    assert (entry.label, entry.note) == (Label.INCLUDE, "a < b & c")


def test_signs_in_other_tags_and_formats() -> None:
    assert one(ris("ASReview_irrelevant", tag="U1")).label is Label.EXCLUDE
    assert one(ris("ASReview_irrelevant", tag="KW")).label is Label.EXCLUDE
    nbib = "PMID- 12345678\nOWN - NLM\nTI  - Bees count.\nAB  - They hum.\nGN  - ASReview_relevant\n"
    assert one(nbib, "x.nbib").label is Label.INCLUDE
    for field in ("note", "annote", "keywords"):
        bib = f"@article{{a, title = {{Bees count}}, {field} = {{ASReview\\_irrelevant}}}}"
        assert one(bib, "x.bib").label is Label.EXCLUDE, field
    csl = '[{"id": "a", "type": "book", "title": "Bees", "author": [{"family": "Ba"}], "note": "ASReview_relevant"}]'
    assert one(csl, "x.json").label is Label.INCLUDE


def test_a_sign_that_does_not_exist_is_named_with_its_line() -> None:
    second = found(ris("ASReview_relevant") + "\n" + ris("ASReview_maybe"))[1]
    assert second.label is None
    assert second.problem == Refusal(
        "hits.ris",
        6,
        "note: 'ASReview_maybe' is no sign of ASReview's; they are ASReview_relevant, ASReview_irrelevant, "
        "ASReview_not_seen; the record is kept without a label",
    )


def test_two_signs_that_contradict_each_other() -> None:
    entry = one(ris("ASReview_relevant", "ASReview_irrelevant"))
    assert entry.label is None
    assert entry.problem is not None
    assert "contradicts itself, exclude in note 'ASReview_irrelevant' and include in" in entry.problem.reason


def test_real_files_of_asreview() -> None:
    path = shared("data", "bib_fixtures", "asreview__baseline_zotero.ris")
    read = [entry for _, entry in labelled(read_file(path, **LIMITS), path.name)]
    counts = [sum(isinstance(e, Labelled) and e.label is label for e in read) for label in (*Label, None)]
    text = path.read_text()
    assert counts == [text.count("ASReview_relevant"), text.count("ASReview_irrelevant"), 0, text.count("_not_seen")]
    for name, wanted in (("labels", [3, 3, 0]), ("partial_labels", [2, 2, 2]), ("labels_no_title", [3, 3, 0])):
        path = shared("data", "bib_fixtures", f"asreview__generic_{name}.csv")
        read = [entry for _, entry in labelled(read_file(path, **LIMITS), path.name)]
        told = [entry.label for entry in read if isinstance(entry, Labelled)]
        assert [told.count(Label.INCLUDE), told.count(Label.EXCLUDE), told.count(None)] == wanted


# --- columns ---------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("column", [*COLUMNS, "Included?", "LABEL_INCLUDED", "abstract_included"])
def test_columns_with_labels(column: str) -> None:
    text = f"title,{column}\nBees count,1\nWasps count,0\nAnts count,\nFlies count,-1\n"
    assert labels(text, "x.csv") == [Label.INCLUDE, Label.EXCLUDE, None, None]


@pytest.mark.parametrize("value", sorted(VALUES))
def test_values(value: str) -> None:
    assert value_of(f" {value.upper()} ") is VALUES[value]


@pytest.mark.parametrize(
    ("value", "label"), [("1.0", Label.INCLUDE), ("0.0", Label.EXCLUDE), ("-1.0", None), ("", None)]
)
def test_values_as_pandas_writes_them(value: str, label: Label | None) -> None:
    assert value_of(value) is label


@pytest.mark.parametrize("delimiter", [",", ";", "\t"])
def test_delimiters(delimiter: str) -> None:
    rows = [("id", "title", "included"), ("1", "Bees count", "yes"), ("2", "Wasps count", "no")]
    text = "\n".join(delimiter.join(row) for row in rows)
    assert labels(text, "x.tsv" if delimiter == "\t" else "x.csv") == [Label.INCLUDE, Label.EXCLUDE]


def test_workbook() -> None:
    book = openpyxl.Workbook()
    for row in (
        ("Title", "Label_Included"),
        ("Bees", 1),
        ("Wasps", 0.0),
        ("Ants", None),
        ("Flies", True),
        ("Bugs", "?"),
    ):
        book.active.append(row)
    file = io.BytesIO()
    book.save(file)
    file.seek(0)
    read = [entry for _, entry in labelled(read_stream("x.xlsx", file, **LIMITS), "x.xlsx")]
    told = [entry for entry in read if isinstance(entry, Labelled)]
    assert [entry.label for entry in told] == [Label.INCLUDE, Label.EXCLUDE, None, Label.INCLUDE, None]
    assert str(told[-1].problem).startswith("x.xlsx:6: Label_Included: '?' is no label; a label is 1, 0 or empty")


def test_json_lines() -> None:
    lines = (
        '{"title": "Bees", "label_included": 1}',
        '{"title": "Wasps", "label": false}',
        '{"title": "A", "label": null}',
    )
    text = "\n".join(lines)
    assert labels(text, "x.jsonl") == [Label.INCLUDE, Label.EXCLUDE, None]


def test_the_later_stage_counts_and_of_two_exports_the_newer() -> None:
    text = "title,label_abstract_screening,label_included\nBees,1,0\nWasps,1,\n"
    assert labels(text, "x.csv") == [Label.EXCLUDE, Label.INCLUDE]
    assert labels("title,included,asreview_label\nBees,0,1\nWasps,1,\n", "x.csv") == [Label.INCLUDE, Label.INCLUDE]


def test_a_cell_that_is_no_label_is_named_with_its_line_and_the_record_is_kept() -> None:
    text = 'title,abstract,included\nBees,"They\nhum.",1\nWasps,They sting.,perhaps\n'
    bees, wasps = found(text, "x.csv")
    assert (bees.label, bees.problem) == (Label.INCLUDE, None)
    assert (wasps.record.title, wasps.label) == ("Wasps", None)
    assert str(wasps.problem) == (
        "x.csv:4: included: 'perhaps' is no label; a label is 1, 0 or empty, or a word such as include, exclude, "
        "maybe; the record is kept without a label"
    )


def test_notes_and_reasons_in_columns() -> None:
    entry = one(
        "title,included,notes,asreview_note,exclusion_reason\nBees,0,mine,of ASReview,no humans; no bees\n", "x.csv"
    )
    assert (entry.note, entry.reasons) == ("of ASReview\nmine", ("no humans", "no bees"))


# --- Rayyan, Covidence -----------------------------------------------------------------------------------------------

RAYYAN = (
    'RAYYAN-INCLUSION: {"Kofi"=>"Excluded", "Ama B"=>"Excluded"} | RAYYAN-LABELS: ML,Hospital | '
    'RAYYAN-EXCLUSION-REASONS: wrong population,foreign language | USER-NOTES: {"Kofi"=>["check \\"it\\" later", "no"]}'
)


def test_rayyan() -> None:
    cell = RAYYAN.replace('"', '""')
    for text, name in (
        (ris(RAYYAN), "x.ris"),
        (f'key,title,notes\nrayyan-1,Bees count,"{cell}"\n', "x.csv"),
        (f"@article{{a, title = {{Bees count}}, note = {{{RAYYAN}}}}}", "x.bib"),
    ):
        entry = one(text, name)
        assert (entry.label, entry.problem) == (Label.EXCLUDE, None), name
        assert entry.reasons == ("wrong population", "foreign language"), name
        assert entry.note == 'Labels: ML,Hospital\ncheck "it" later\nno', name


@pytest.mark.parametrize(
    ("word", "label"), [("Included", Label.INCLUDE), ("Excluded", Label.EXCLUDE), ("Maybe", Label.LATER)]
)
def test_decisions_in_rayyan(word: str, label: Label) -> None:
    assert one(ris(f'Old note | RAYYAN-INCLUSION: {{"Ann"=>"{word}"}}')).label is label
    entry = one(ris(f"<p>RAYYAN-INCLUSION: {{&quot;Ann&quot;=&gt;&quot;{word}&quot;}}</p>"))
    assert (entry.label, entry.note) == (label, "")


def test_rayyan_keeps_what_stands_around_its_sections() -> None:
    entry = one(ris('Before | RAYYAN-INCLUSION: {"Ann"=>"Included"} | behind'))
    assert (entry.label, entry.note) == (Label.INCLUDE, "Before\nbehind")


def test_screeners_who_differ_in_rayyan_are_a_problem() -> None:
    entry = one(ris('RAYYAN-INCLUSION: {"Ann"=>"Included", "Bo"=>"Excluded"}'))
    assert entry.label is None
    assert "decided differently in Rayyan (Ann Included, Bo Excluded)" in str(entry.problem)
    unknown = one(ris('RAYYAN-INCLUSION: {"Ann"=>"Accepted"}'))
    assert unknown.label is None
    assert "not all Included, Excluded or Maybe" in str(unknown.problem)


def test_nobody_decided_in_rayyan() -> None:
    entry = one(ris("RAYYAN-INCLUSION: {} | RAYYAN-LABELS: ML"))
    assert (entry.label, entry.problem) == (None, None)


def test_covidence_gives_reasons_and_no_decision() -> None:
    row = "Bees count,Ba A,#17,Ba 2019,Exclusion reason: Wrong study design; ,x"
    entry = one(f"Title,Authors,Covidence #,Study,Notes,Tags\n{row}\n", "x.csv")
    assert (entry.label, entry.reasons, entry.note) == (None, ("Wrong study design",), "")


# --- the whole way ---------------------------------------------------------------------------------------------------


def test_title_or_abstract_is_enough_and_labels_need_no_other_column() -> None:
    """F26."""
    text = "id,abstract,label\n1,We watch bees. They hum.,1\n2,,0\n3,We watch wasps.,\n"
    first, refused, third = entries(text, "x.csv")
    assert isinstance(first, Labelled)
    assert isinstance(third, Labelled)
    assert (first.label, third.label) == (Label.INCLUDE, None)
    assert pool_record(first, 1, "x.csv").title == ""
    assert refused == Refusal("x.csv", 3, "neither title nor abstract; a paper needs one of the two")
    with pytest.raises(InputError, match="a table needs a column `title` or `abstract`"):
        entries("id,heading,label\n1,We watch bees,1\n", "x.csv")


def test_abstracts_of_either_tag_count_and_nothing_is_lost() -> None:
    """F27."""
    files = [
        "".join(f"TY  - JOUR\nTI  - {word} {name} of rivers\n{tag}  - {text}\nER  - \n\n" for word, text in texts)
        for name, tag, texts in (
            ("floods", "AB", (("Early", "One."), ("Late", ""))),
            ("droughts", "N2", (("Early", "Two."), ("Late", "Three."))),
        )
    ]
    pool = [
        pool_record(entry, number, "hits.ris")
        for number, entry in enumerate((entry for text in files for entry in found(text)), 1)
    ]
    assert [record.abstract for record in pool] == ["One.", "", "Two.", "Three."]
    assert group(pool) == [0, 1, 2, 3]


def test_thirty_thousand_records() -> None:
    """F28: numbers stay plain integers."""
    rows = "".join(f"{i},Paper number {i} on screening,{i % 2}\n" for i in range(30_000))
    read = found("record_id,title,label_included\n" + rows, "x.csv")
    pool = [pool_record(entry, number, "x.csv") for number, entry in enumerate(read, 1)]
    assert len(pool) == 30_000
    assert sum(record.label is Label.INCLUDE for record in pool) == 15_000
    assert all(type(record.number) is int and type(record.twin) is int for record in pool)
    assert pool[-1].key.startswith("29999#")


def test_refusals_come_in_their_place_with_the_item() -> None:
    text = "title,included\nBees,1\nWasps,0,x,y\nAnts,0\n"
    pairs = list(labelled(read_text("x.csv", text, **LIMITS), "x.csv"))
    assert [type(entry) for _, entry in pairs] == [Labelled, Refusal, Labelled]
    assert [item.ordinal for item, _ in pairs] == [0, 1, 2]


def test_decisions_about_a_library_are_left_out() -> None:
    line = (
        '{"broadsheet_judgement": 1, "kind": "merge", "a": ["x", "1"], "b": ["x", "2"], '
        '"made": "2026-01-01T00:00:00+00:00", "why": ""}\n'
    )
    assert len(entries(line + '{"title": "Bees", "label": 1}\n', "x.jsonl")) == 1


def test_the_line_is_told_and_never_kept(tmp_path: Path) -> None:
    text = "\n\n" + ris("ASReview_relevant") + "\n" + ris()
    first, second = (entry.record for entry in found(text))
    assert (first.line, second.line) == (3, 8)
    assert "line" not in export_record(second)
    again = exported_record({**export_record(second), "line": 8}, Limits(1000, 10))
    assert (again, again.line) == (second, 0)
    with closing(open_store(f"sqlite:///{tmp_path / 'library.db'}")) as store:
        import_items(store, read_text("hits.ris", text, **LIMITS), now=lambda: NOW)
        summary = import_items(store, read_text("hits.ris", "\n" + text, **LIMITS), now=lambda: NOW)
    assert (summary.new, summary.unchanged) == (0, 2)


@pytest.mark.parametrize(
    ("name", "text", "line"),
    [
        ("x.bib", "\n\n@article{a, title = {Bees}}\n", 3),
        ("x.csv", "title\nBees\n", 2),
        ("x.jsonl", '\n{"title": "Bees"}\n', 2),
        ("x.nbib", "\nPMID- 1234567\nOWN - NLM\nTI  - Bees.\n", 2),
    ],
)
def test_lines_of_formats(name: str, text: str, line: int) -> None:
    assert one(text, name).record.line == line


@pytest.mark.parametrize(
    ("text", "label"),
    [("1,0", Label.INCLUDE), ("0,00", Label.EXCLUDE), ("1.00", Label.INCLUDE), ("-1,0", None), ("TRUE", Label.INCLUDE)],
)
def test_labels_as_spreadsheets_write_them(text: str, label: Label | None) -> None:
    assert value_of(text) is label


@pytest.mark.parametrize("text", ["1,5", "2.0", "10", "1.", "0.5"])
def test_other_numbers_are_no_labels(text: str) -> None:
    with pytest.raises(ValueError, match="is no label"):
        value_of(text)
