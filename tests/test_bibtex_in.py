"""BibTeX files in: syntax, whole files, what is BibTeX at all, and faults of real files (F01, F03, F04, F06)."""

from __future__ import annotations

import json
import re
from datetime import date

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from broadsheet.ingest.derive import derive
from broadsheet.model import Record, Refusal
from broadsheet.sources.base import Limits
from broadsheet.sources.bibtex_in import read, sniff
from broadsheet.sources.encodings import decode
from broadsheet.text import to_plain
from tests.bibtex_reading import LIMITS, details, entries, record, records
from tests.shared import shared, shared_root

# --- syntax


@pytest.mark.parametrize(
    "text",
    [
        "@article{k, title = {Rivers}, year = 2019}",
        "@ARTICLE{k,title={Rivers},year={2019}}",
        '@article{k, title = "Rivers", year = "2019",}',
        "@article(k, title = {Rivers}, year = 2019)",
        '@article(k, title = "Rivers", note = "(a) and b)", year = 2019)',
        "@ article { k , title = {Rivers} , year = 2019 }",
        "@article{k,\ttitle\t=\t{Rivers}\r\n,\r\nyear = {2019}\r\n}",
        "text before @article{k, title = {Rivers}, year = 2019} text after",
        "@article{k, title = {Rivers}\n year = {2019}}",  # a comma is missing
        "@article{k title = {Rivers}, year = 2019}",
        "@article{k,, title = {Rivers},, year = {2019},,}",
        "@article{k, % the key\n title = {Rivers}, % remark\n % another\n year = 2019}",
        "@article{k, title = {Riv} # {ers}, year = 20 # 19}",
        '@string{r = "Riv"} @article{k, title = r # "ers", year = {2019}}',
        '@string(R = "Riv")\n@article{k, title = r # {ers}, year = {2019}}',
        '@string{a = "R"}@string{b = A # "iv"}@article{k, title = B # {ers}, year = 2019}',
        '@preamble{"\\newcommand{\\x}{y}"} @article{k, title = {Rivers}, year = 2019}',
        "@comment{jabref-meta: groups:\n0 All:;\n} @article{k, title = {Rivers}, year = 2019}",
        "@comment{@article{other,\n title = {Lakes}\n}\n}\n@article{k, title = {Rivers}, year = 2019}",
        "@comment Rivers\n@article{k, title = {Rivers}, year = 2019}",
        "% @article{other, title = {Lakes}}\n@article{k, title = {Rivers}, year = 2019}",
        "mail ann@example.org (or @bob (see above)) @article{k, title = {Rivers}, year = 2019}",
    ],
)
def test_one_entry_however_it_is_written(text: str) -> None:
    (found,) = records(text)
    assert (found.kind, found.key, found.title, found.year) == ("article", "k", "Rivers", 2019)
    assert found.raw.startswith("@")
    assert found.source == "bibtex:library"


@pytest.mark.parametrize("text", ["", "  \n", "% only remarks\n", "no entries here", "@comment{x}", '@string{a = "b"}'])
def test_a_file_may_hold_no_entry(text: str) -> None:
    assert entries(text) == []


def test_an_undefined_macro_is_its_name() -> None:
    assert details("journal = jacm,")["journal"] == "jacm"


def test_a_macro_means_what_it_meant_last() -> None:
    text = '@string{v = "A"} @misc{a, title = v} @string{v = "B"} @misc{b, title = v}'
    assert [found.title for found in records(text)] == ["A", "B"]


@pytest.mark.parametrize(
    ("broken", "reason"),
    [
        ("@article{b,\n title = {Lakes,\n year = 2019\n}\n", "a brace is never closed"),
        ("@article{b,\n title = {Lakes},\n", "a brace is never closed"),
        ("@article{b,\n title = {Lakes}\n)\n", "a brace is never closed"),
        ("@article(b,\n title = {Lakes}\n}\n", "a parenthesis is never closed"),
        ("@article{b,\n title = {Lakes} Ponds,\n}\n", "'Ponds' stands after the end of the value"),
        ("@article{b,\n title = {Lakes}, year\n}\n", "Expected a `=`"),
        ("@article{b,\n title = ,\n year = 2019}\n", "neither title nor abstract"),
        ("@article{b,\n year = 2019}\n", "neither title nor abstract"),
        ("@xdata{b,\n title = {Lakes}}\n", "data for other entries"),
    ],
)
def test_a_broken_entry_costs_only_itself(broken: str, reason: str) -> None:
    before, after = "@misc{a, title = {Rivers}}\n\n", "@misc{c, title = {Ponds}}\n"
    first, refused, last = entries(before + broken + after)
    assert isinstance(refused, Refusal)
    assert reason in refused.reason
    assert " b: " in refused.reason
    assert 3 <= refused.line <= 5
    assert refused.where == "library.bib"
    assert isinstance(first, Record)
    assert isinstance(last, Record)
    assert (first.key, last.key) == ("a", "c")


def test_a_refusal_names_the_line_of_the_fault() -> None:
    (found,) = entries("\n\n@article{b,\n  title = {Lakes},\n  note = {a} b,\n}\n")
    assert isinstance(found, Refusal)
    assert str(found) == "library.bib:5: @article b: field note: 'b' stands after the end of the value"


@pytest.mark.parametrize("end", ["\n", "\r\n", "\r"])
def test_lines_are_counted_whatever_ends_them(end: str) -> None:
    text = end.join(["@misc{a,", "title = {Rivers}", "}", "", "@misc{b,", "year = 1", "}"])
    refused = entries(text)[1]
    assert isinstance(refused, Refusal)
    assert refused.line == 5


@pytest.mark.parametrize(
    ("value", "title"),
    [
        (r"{sets \} of rivers}", r"sets \} of rivers"),  # unbalanced as BibTeX counts, sound as TeX counts
        (r"{a \{ b}", r"a \{ b"),
        ('"a {"} b"', 'a " b'),
        ('"G{\\"u}nter"', 'G{\\"u}nter'),
        ("{an address: a @ {b}}", "an address: a @ b"),
        ("{}", ""),
    ],
)
def test_braces_and_quotation_marks_inside_values(value: str, title: str) -> None:
    (found,) = records(f"@misc{{k, title = {value}, abstract = {{T.}}, year = 2019}}\n@comment{{x}}")
    assert found.title == (title or "T")
    assert found.year == 2019


def test_an_entry_without_key_has_one_that_stays() -> None:
    text = "@article{,\n title = {Rivers}, year = 2019}\n@misc{title = {Lakes}}\n@misc{, title = {Lakes}}"
    first, second, third = records(text)
    again = records(text.replace("Rivers}, year", "Rivers}, note = {x}, year"))
    assert first.key == again[0].key
    assert re.fullmatch("[0-9a-f]{24}", first.key)
    assert third.key == f"{second.key}#2"
    assert "citekey" not in dict(first.details)


def test_of_two_entries_with_one_key_both_are_kept() -> None:
    found = records("@misc{k, title = {Rivers}}\n@misc{k, title = {Lakes}}\n@misc{k, title = {Ponds}}")
    assert [(r.key, r.title, dict(r.details)["citekey"]) for r in found] == [
        ("k", "Rivers", "k"),
        ("k#2", "Lakes", "k"),
        ("k#3", "Ponds", "k"),
    ]


def test_of_two_fields_with_one_name_both_are_kept() -> None:
    found = details("note = {one}, note = {two}, note = {one},")
    assert (found["note"], found["note-2"]) == ("one", "two")
    assert "note-3" not in found


def test_unknown_types_and_fields_are_kept() -> None:
    found = record("Groups = {a_b}, author+an = {1=x}, empty = {},", kind="Weird-Type")
    assert found.kind == "weird-type"
    assert found.details == (("citekey", "key"), ("groups", "a_b"), ("author+an", "1=x"))


@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig", "utf-16", "cp1252"])
def test_encodings(encoding: str) -> None:
    text = "@book{a,\n title = {Über die Flüsse},\n author = {Jürgen Müller},\n year = 1999}\n"
    (found,) = records(text.encode(encoding))
    assert (found.title, found.authors) == ("Über die Flüsse", ("Jürgen Müller",))


def test_limits() -> None:
    many = " and ".join(f"Ann {chr(65 + i // 26)}{chr(97 + i % 26)}" for i in range(51))
    found = entries(f"@misc{{a, title = {{Rivers}}, author = {{{many}}}}}\n@misc{{b, title = {{{'x' * 100_001}}}}}")
    assert [str(entry) for entry in found] == [
        "library.bib:1: @misc a: authors: 51 names, more than the 50 allowed (setting max_authors)",
        "library.bib:2: @misc b: 100021 bytes, more than the 100000 allowed (setting max_entry_bytes)",
    ]


# --- inheritance


def test_a_paper_inherits_from_its_volume_what_says_where_it_appeared() -> None:
    text = """
    @inproceedings{p, title = {Rivers}, author = {Ana Lima}, crossref = {V}, pages = {1--9}}
    @proceedings{v, title = {Proc. of {MAPS}}, subtitle = {Short Papers}, editor = {Bo Chen}, publisher = {Press},
      year = {2019}, month = jun, doi = {10.1000/volume}, url = {https://example.org/v}, abstract = {All.},
      note = {of the volume}, keywords = {maps}}"""
    found = records(text)[0]
    assert (found.venue, found.year, found.published) == ("Proc. of MAPS", 2019, date(2019, 6, 1))
    assert found.details == (
        ("citekey", "p"),
        ("crossref", "V"),
        ("pages", "1--9"),
        ("booktitle", "Proc. of {MAPS}"),
        ("booksubtitle", "Short Papers"),
        ("editor", "Bo Chen"),
        ("publisher", "Press"),
        ("month", "jun"),
    )
    assert (found.identifiers, found.links, found.abstract, found.keywords) == ((), (), "", ())


def test_inheritance_of_other_programs_test_files() -> None:
    text = shared("data", "bib_fixtures", "biber__crossrefs.bib").read_bytes()
    found = {entry.key: entry for entry in entries(text) if isinstance(entry, Record)}
    first = dict(found["cr1"].details)
    assert (first["booktitle"], first["publisher"], first["editor"]) == (
        "Graphs of the Continent",
        "Grimble",
        "Edgar Erbriss",
    )
    assert found["cr1"].year == 1974
    assert dict(found["cr6"].details)["booktitle"] == "Manual booktitle"
    assert dict(found["cr6"].details)["eventtitle"] == "Title of the event"
    assert dict(found["cr7"].details)["bookauthor"] == "Brian Bookauthor"
    assert dict(found["cr7"].details)["booktitleaddon"] == "Book Titleaddon"
    assert found["cr7"].year == 2010
    assert dict(found["ccr2"].details)["maintitle"] == "Stuff Concerning Varia"  # by an alias
    assert found["ccr3"].title == "Perhaps, Perchance, Possibilities?"
    assert dict(found["ccr3"].details)["maintitle"] == "Stuff Concerning Varia"  # through another volume
    assert found["mcr"].year is None  # its volume is missing


def test_xdata_gives_all_its_fields_but_what_the_entry_says_itself_counts_more() -> None:
    text = """
    @xdata{pub, ids = {house}, publisher = {Press}, address = {Here}, xdata = {more, pub}}
    @xdata{more, note = {N}}
    @book{b, title = {Rivers}, address = {There}, xdata = {house, missing}}"""
    refused, also, found = entries(text)
    assert isinstance(refused, Refusal)
    assert isinstance(also, Refusal)
    assert isinstance(found, Record)
    assert dict(found.details) == {
        "citekey": "b",
        "address": "There",
        "xdata": "house, missing",
        "publisher": "Press",
        "note": "N",
    }


def test_entries_that_inherit_from_each_other_are_read() -> None:
    text = "@book{a, title = {A}, crossref = {b}}\n@book{b, title = {B}, crossref = {a}, publisher = {P}}"
    assert [dict(found.details).get("publisher") for found in records(text)] == ["P", "P"]


# --- whole files


FILES = sorted(path.name for path in (shared_root() / "data" / "bib_fixtures").glob("*.bib"))


@pytest.mark.parametrize("file", FILES or ["biber__papers.bib"])
def test_every_entry_of_every_file_is_kept_or_refused_with_a_line(file: str) -> None:
    data = shared("data", "bib_fixtures", file).read_bytes()
    text = decode(data)[0].replace("\r\n", "\n").replace("\r", "\n")
    begun = re.findall(r"^[ \t]*@(?!comment|string|preamble)\w+[ \t]*[{(]", text, re.IGNORECASE | re.MULTILINE)
    found = entries(data, file, Limits(1_000_000, 10_000))
    assert len(found) == len(begun)
    rows = text.split("\n")
    for entry in found:
        if isinstance(entry, Refusal):
            assert entry.reason
            assert 1 <= entry.line <= len(rows)
        else:
            assert entry.raw in text
            assert entry.title
    assert len({entry.key for entry in found if isinstance(entry, Record)}) == sum(isinstance(e, Record) for e in found)
    assert sniff(data[:65536], file)


def test_what_is_refused_of_the_real_files_has_no_title() -> None:
    for file, kept, refused in (
        ("biber__papers.bib", 2145, 12),
        ("jabref__testjabref.bib", 156, 0),
        ("jabref__CitaviXmlImporterTest2.bib", 58, 0),
    ):
        found = entries(shared("data", "bib_fixtures", file).read_bytes(), file, Limits(1_000_000, 10_000))
        refusals = [entry for entry in found if isinstance(entry, Refusal)]
        assert (len(found) - len(refusals), len(refusals)) == (kept, refused)
        assert all("neither title nor abstract" in refusal.reason for refusal in refusals)


def test_titles_names_and_dates_agree_with_another_parser() -> None:
    data = shared("data", "bib_fixtures", "citation-js__biblatex-input.bib").read_bytes()
    expected = json.loads(shared("data", "bib_fixtures", "citation-js__biblatex-csl.json").read_text())
    found = {entry.key: derive(1, [entry]) for entry in entries(data) if isinstance(entry, Record)}
    assert list(found) == [item["id"] for item in expected]
    for item in expected:
        made = found[item["id"]]
        assert to_plain(made.title) == re.sub("<[^>]+>", "", item["title"])
        day = [made.year, made.published.month if made.published else None, made.published and made.published.day]
        wanted = item["issued"]["date-parts"][0]
        assert day[: len(wanted)] == wanted
        names = [" ".join(filter(None, (n.get("given"), n["family"]))) for n in item.get("author", []) if "family" in n]
        if item["id"] not in ("doerr:report", "cdli:Born2019", "radboud:manual"):  # a stray comma; "et al."; a body
            assert list(made.authors) == names


def test_the_structure_agrees_with_bibtexparser() -> None:
    from bibtexparser.entrypoint import parse_string

    for file in ("biber__papers.bib", "jabref__testjabref.bib"):
        data = shared("data", "bib_fixtures", file).read_bytes()
        known = {entry.key: entry for entry in parse_string(decode(data)[0]).entries}
        kept = [e for e in entries(data, file, Limits(1_000_000, 10_000)) if isinstance(e, Record)]
        for found in kept:
            other = known[dict(found.details)["citekey"]]
            assert found.kind == other.entry_type.lower()
            names = {field.key.lower() for field in other.fields if str(field.value).strip()}
            assert {name for name, _ in found.details} - {"citekey"} <= names


# --- what is BibTeX


@pytest.mark.parametrize(
    ("head", "name", "is_bibtex"),
    [
        ("@article{k,\n title = {x}}", "a.txt", True),
        ("Scopus\nEXPORT DATE: 22 May 2024\n\n@ARTICLE{Lima2019,\n title = {x}}", "export.txt", True),
        ("% Encoding: UTF-8\n\n@string{a = {b}}", "x", True),
        ("\ufeff@comment{x}", "x", True),
        ("", "library.bib", True),
        ("% nothing yet", "library.bib.gz", True),
        ("", "x.txt", False),
        ('{"title": "@article{k,"}', "x.jsonl", False),
        ("[\n@article{k,", "x", False),
        ("<html>\n@article{k,\n", "x.html", False),
        ("TY  - JOUR\nTI  - Rivers\nAU  - @bob\nER  - \n", "x.ris", False),
        ("TY  - JOUR\nTI  - Rivers\n", "misnamed.bib", False),
        ("A Map of Rivers\nAna Lima\n" * 20 + "@article{k,\n title = {x}}", "page.txt", False),
        ("title,authors\n@bob (a), b", "x.csv", False),
    ],
)
def test_sniffing(head: str, name: str, is_bibtex: bool) -> None:
    assert sniff(head.encode(), name) is is_bibtex


def test_no_other_format_is_taken_for_bibtex() -> None:
    for path in sorted(shared("data", "bib_fixtures").iterdir()):
        if path.suffix != ".bib":
            assert not sniff(path.read_bytes()[:65536], path.name), path.name


# --- whatever comes


BLOCKS = ("@article{a,", "@misc{", "@string{", "@comment{", "@a(", "@book{b,\n", "crossref = {a}")
VALUES = ("title = ", "author = ", "{Rivers}", "{A and B}", "year = 2019", "month = jan")
SIGNS = ("{", "}", '"', ",", "#", "=", "\\", "\n", "%", "$x$", ")", "é")
PIECES = st.sampled_from((*BLOCKS, *VALUES, *SIGNS))


@given(st.lists(PIECES, max_size=40).map("".join))
@settings(deadline=None, max_examples=300)
def test_any_text_is_read_without_a_crash(text: str) -> None:
    found = entries(text)
    assert len(found) <= text.count("@")
    for entry in found:
        if isinstance(entry, Refusal):
            assert 1 <= entry.line <= text.count("\n") + 1


@given(st.binary(max_size=300))
def test_any_bytes_are_read_without_a_crash(data: bytes) -> None:
    assert isinstance(entries(b"@misc{a, title = {" + data), list)


@given(
    st.lists(st.sampled_from(["@misc{%s, title = {Rivers}}", "@misc{%s, title = {", "@misc{%s, year = 1}"]), max_size=8)
)
def test_entries_in_are_entries_kept_and_refused(forms: list[str]) -> None:
    text = "\n".join(form % f"k{i}" for i, form in enumerate(forms))
    found = entries(text)
    assert len(found) == len(forms)
    assert [isinstance(entry, Record) for entry in found] == [form.endswith("{Rivers}}") for form in forms]
    assert [e.line for e in found if isinstance(e, Refusal)] == [
        i + 1 for i, form in enumerate(forms) if not form.endswith("{Rivers}}")
    ]


def test_a_large_file_is_read_in_little_memory() -> None:
    import tracemalloc

    entry = "@article{k%d, title = {Rivers %d}, author = {Lima, Ana and Chen, Bo}, abstract = {%s}, year = 2019}\n"
    text = "".join(entry % (i, i, "Rivers bend. " * 60) for i in range(2000))
    data = text.encode()
    tracemalloc.start()
    count = sum(1 for _ in read("large.bib", data, LIMITS))
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert count == 2000
    assert peak < 3 * len(data) + 2_000_000
