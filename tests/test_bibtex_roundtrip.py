"""BibTeX → papers → BibTeX: every field of real files comes back, and other programs read the same."""

from __future__ import annotations

import re
import shutil
import subprocess
from pathlib import Path
from typing import Any
from urllib.parse import unquote

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from pybtex.database import BibliographyData, parse_string

from broadsheet.ingest.derive import derive
from broadsheet.model import Area, Identifier, Link, LinkKind, Paper, Record, Refusal, Scheme
from broadsheet.sources.base import Limits
from broadsheet.sources.bibtex import citation_key, to_bibtex, write
from broadsheet.sources.bibtex_in import read
from broadsheet.sources.bibtex_names import names_of
from broadsheet.sources.bibtex_syntax import blocks, entry_of, macro_of
from broadsheet.sources.bibtex_text import MONTHS, NAME_FIELDS, decoded, month_number, plain_address
from broadsheet.sources.encodings import decode
from broadsheet.text import display_name, to_plain
from tests.shared import shared

LIMITS = Limits(max_entry_bytes=1_000_000, max_authors=10_000)
REAL = (
    "biber__papers.bib",
    "jabref__testjabref.bib",
    "jabref__CitaviXmlImporterTest2.bib",
    "citation-js__biblatex-input.bib",
    "citation-js__bibtex-input.bib",
    "citation-js__commands.bib",
    "citation-js__uppercase_and.bib",
    "citation-js__whitespace_and_unknown_fields.bib",
    "jabref__crossref.bib",
    "jabref__utf8-bom.bib",
    "jabref__bibWithMixedContent.bib",
    "jabref__issue_181_1.8.0_51-b16.bib",
    "biber__crossrefs.bib",
    "biber__encoding1.bib",
    "biber__translit.bib",
    "biber__xdata.bib",
    "bibtexparser__features2.bib",
    "bibtexparser__gbk_test.bib",
    "bibtexparser__multiple_entries_and_comments.bib",
    "bibtexparser__string.bib",
    "bibtexparser__article_missing_coma.bib",
    "bibtexparser__article_with_special_characters.bib",
)
SUCCESSORS = {"crossref": "xref"}
ADDRESSES = frozenset(("url", "doi", "eprint", "biburl", "link", "pdf"))


def imported(data: bytes, name: str = "library.bib") -> list[Record]:
    return [entry for entry in read(name, data, LIMITS) if isinstance(entry, Record)]


def papers(data: bytes) -> list[Paper]:
    return [derive(i + 1, [record]) for i, record in enumerate(imported(data))]


def exported(data: bytes) -> str:
    return "".join(write(papers(data)))


def fields_of(text: str) -> list[tuple[str, str, dict[str, str]]]:
    """Type, key and non-empty fields of every entry that can be read; of equal names the first."""
    macros: dict[str, str] = {}
    found = []
    for block in blocks(text):
        raw = text[block.start : block.end]
        if block.kind == "string":
            macro = macro_of(raw, macros)
            assert macro
            macros[macro[0]] = macro[1]
        elif block.kind not in ("comment", "preamble") and not block.problem:
            key, fields = entry_of(raw, macros)
            found.append((block.kind, key, {name: value for name, value in reversed(fields) if value.strip()}))
    return found


def meaning(name: str, value: str) -> Any:
    """What a field says, whatever it is written like."""
    if name in NAME_FIELDS:
        names, cut = names_of(value)
        return [display_name(written) for written in names], cut
    if name in ADDRESSES:
        return unquote(plain_address(value)).replace(" ", "")
    if name == "month" and (number := month_number(decoded(value))):
        return number
    return re.sub(r"\s+(?=[,.;:!?)])", "", to_plain(decoded(value)))


def one(made: Paper) -> Any:
    (entry,) = parse_string(to_bibtex(made), "bibtex").entries.values()
    return entry


def paper(**fields: Any) -> Paper:
    return Paper(**{"id": 1, "title": "A Map of Rivers", **fields})


# --- real files


@pytest.mark.parametrize("file", REAL)
def test_every_field_of_a_real_file_comes_back(file: str) -> None:
    data = shared("data", "bib_fixtures", file).read_bytes()
    text = decode(data)[0].replace("\r\n", "\n").replace("\r", "\n")
    records = imported(data, file)
    raws = {record.raw for record in records}
    kept = [entry for entry, block in zip(fields_of(text), _entry_blocks(text), strict=True) if block in raws]
    out = exported(data)
    back = fields_of(out)
    assert len(kept) == len(back) == len(records)
    for (kind, key, fields), (new_kind, new_key, new_fields) in zip(kept, back, strict=True):
        assert new_kind == kind
        if key:
            assert new_key == key
        for name, value in fields.items():
            new_name = SUCCESSORS.get(name, name)
            assert new_name in new_fields, (key, name)
            assert meaning(name, new_fields[new_name]) == meaning(name, value), (key, name)


def _entry_blocks(text: str) -> list[str]:
    none = ("comment", "preamble", "string")
    return [text[b.start : b.end] for b in blocks(text) if b.kind not in none and not b.problem]


@pytest.mark.parametrize("file", REAL)
def test_the_second_export_is_the_first(file: str) -> None:
    once = exported(shared("data", "bib_fixtures", file).read_bytes())
    again = exported(once.encode())
    if "-1," not in once:  # made keys come back as the entry's own
        assert again == once
    assert [(r.title, r.authors, r.year, r.identifiers) for r in imported(again.encode())] == [
        (r.title, r.authors, r.year, r.identifiers) for r in imported(once.encode())
    ]


@pytest.mark.parametrize("file", REAL)
def test_pybtex_agrees_on_keys_names_and_titles(file: str) -> None:
    data = shared("data", "bib_fixtures", file).read_bytes()
    made = papers(data)
    found = parse_string("".join(write(made)), "bibtex")
    assert len(found.entries) == len(made)
    _agree(found, made)


def _agree(found: BibliographyData, made: list[Paper]) -> None:
    by_key = {key.lower(): entry for key, entry in found.entries.items()}
    used: set[str] = set()
    for wanted in made:
        own = dict(wanted.details).get("citekey", "")
        key = own if own and own.lower() in by_key and own.lower() not in used else citation_key(wanted)
        used.add(key.lower())
        entry = by_key[key.lower()]
        title = decoded(entry.fields["title"])
        assert wanted.title.startswith(title)  # a subtitle has a field of its own
        people = [display_name(str(person)) for person in entry.persons.get("author", [])]
        people = [name for name in people if name != "others"]
        assert people == list(wanted.authors)


@pytest.mark.skipif(not shutil.which("biber"), reason="biber is not installed")
@pytest.mark.parametrize("file", ["jabref__testjabref.bib", "citation-js__biblatex-input.bib", "jabref__crossref.bib"])
def test_biber_reads_it_and_agrees(file: str, tmp_path: Path) -> None:
    made = papers(shared("data", "bib_fixtures", file).read_bytes())
    source, result = tmp_path / "in.bib", tmp_path / "out.bib"
    source.write_text("".join(write(made)), encoding="utf-8")
    command = ["biber", "--tool", "--validate-datamodel", "--output-file", str(result), str(source)]
    run = subprocess.run(command, capture_output=True, text=True, timeout=120, check=False, cwd=tmp_path)
    assert run.returncode == 0, run.stdout
    assert "ERROR" not in run.stdout
    assert not re.search(r"WARN - (?!Datamodel|legacy)", run.stdout), run.stdout
    found = parse_string(result.read_text(encoding="utf-8"), "bibtex")
    assert len(found.entries) == len(made)
    _agree(found, made)


# --- single fields


@pytest.mark.parametrize(
    ("given_as", "written"),
    [
        ("title = {{M}onte {C}arlo and {the {BERT}}}", "title = {{M}onte {C}arlo and {the {BERT}}}"),  # F11
        ("title = {Rivers and BERT}", "title = {Rivers and {BERT}}"),  # F11
        (r"note = {Qu{\'i}mica Nova}", r"note = {Qu{\'i}mica Nova}"),  # F14
        (r"journal = {Computing in Science {\&} Engineering}", r"journal = {Computing in Science {\&} Engineering}"),
        ("journal = {Computing in Science & Engineering}", r"journal = {Computing in Science \& Engineering}"),  # F08
        ("note = {100 % sustainable α}", r"note = {100 \% sustainable α}"),  # F09
        ("note = {a_b #1 x^2 $y_1$}", r"note = {a\_b \#1 x\textasciicircum{}2 $y_1$}"),  # F12
        (r"note = {$a \to b$ for 5 $}", r"note = {$a \to b$ for 5 \$}"),  # F12
        (r"note = {see \url{http://a.org/b_c%20d}}", r"note = {see \url{http://a.org/b_c%20d}}"),  # F10
        (r"note = {a lone \} here}", r"note = {a lone \textbraceright{} here}"),
        (r"note = {ends in \textbackslash}", r"note = {ends in \textbackslash}"),
        ("url = {http://a.org/b_c%20d?x=1&y=~2}", "url = {http://a.org/b_c%20d?x=1&y=~2}"),  # F10
        (r"url = {http://a.org/b\_c\&d}", "url = {http://a.org/b_c&d}"),  # F10: no %5C&
        ("doi = {10.1109/JSSC.2008_12}", "doi = {10.1109/JSSC.2008_12}"),  # F10
        (r"file = {:C\:\\Maps\\a_b.pdf:PDF}", r"file = {:C\:\\Maps\\a_b.pdf:PDF}"),
        ("groups = {a_b & c}", "groups = {a_b & c}"),
        ("month = apr", "month = apr"),
        ("month = {April}", "month = apr"),
        ("month = 4", "month = apr"),
        ("month = {July 30th}", "month = {July 30th}"),
        ("date = {2004-03/2005~}", "date = {2004-03/2005~}"),
        ("year = {1999--2009}", "year = {1999--2009}"),
        ("author = {Lima, Ana and {{R&D Group}}}", r"author = {Lima, Ana and {{R\&D Group}}}"),
        ("author = {San Martín Suárez, Lara and others}", "author = {San Martín Suárez, Lara and others}"),
        ("author = {Born, L. et al.}", "author = {Born, L. and others}"),
        ("author = {May, Keith, and Lima, Ana}", "author = {May, Keith and Lima, Ana}"),
        ("author = {given=Ana, family=Lima, prefix=de}", "author = {given=Ana, family=Lima, prefix=de}"),
        ("editor = {A, B, C, D, E and Bo Chen}", "editor = {A and B and C and D and E and Bo Chen}"),
        ("eprint = {1604.03410v2}, archiveprefix = {arXiv}", "eprint = {1604.03410v2}"),
        ("eprint = {5500723}, eprinttype = {pubmed}", "eprint = {5500723}"),
        ("keywords = {rivers; {Lakes}, small}", "keywords = {rivers; {Lakes}, small}"),
        ("abstract = {A \\emph{long} 50\\% of $x_1$ {Rivers}.}", r"abstract = {A long 50\% of $x_1$ Rivers.}"),
        ("author+an = {1=x}", "author+an = {1=x}"),
        ("crossref = {v_1}", "xref = {v_1}"),
        ("subtitle = {A {Life}}", "subtitle = {A {Life}}"),
    ],
)
def test_a_field_comes_back(given_as: str, written: str) -> None:
    title = "" if given_as.startswith("title") else "title = {Rivers}, "
    out = exported(f"@article{{k, {title}{given_as}}}".encode())
    lines = [re.sub(r"^  (\S+) += (.*),$", r"\1 = \2", line) for line in out.splitlines()]
    assert written in lines, out
    assert len(parse_string(out, "bibtex").entries) == 1


def test_what_another_source_corrected_is_not_written_as_it_came() -> None:
    record = imported(b"@article{k, title = {{Rivers} of X}, author = {{Lima}, Ana}, year = {2018a}, doi = {10.1/A}}")[
        0
    ]
    made = derive(1, [record])
    from dataclasses import replace

    corrected = replace(
        made,
        title="Rivers of Y",
        authors=("Ana Lima", "Bo Chen"),
        year=2019,
        identifiers=(Identifier(Scheme.DOI, "10.2000/b"),),
    )
    entry = one(corrected)
    assert entry.fields["title"] == "Rivers of {Y}"
    assert [str(person) for person in entry.persons["author"]] == ["Lima, Ana", "Chen, Bo"]
    assert (entry.fields["year"], entry.fields["doi"]) == ("2019", "10.2000/b")


def test_a_date_needs_no_year_beside_it() -> None:
    assert "year" not in one(paper(year=2019, details=(("date", "2019-03-01"),))).fields
    assert one(paper(year=2020, details=(("date", "2019-03-01"),))).fields["year"] == "2020"


@pytest.mark.parametrize(
    ("kind", "details", "field"),
    [
        ("", (), "booktitle"),
        ("article", (), "journal"),
        ("inproceedings", (), "booktitle"),
        ("misc", (), "howpublished"),
        ("misc", (("howpublished", "Online"),), "booktitle"),
        ("article", (("journaltitle", "J. of Maps"),), ""),
    ],
)
def test_the_venue_stands_where_the_type_wants_it(kind: str, details: tuple[tuple[str, str], ...], field: str) -> None:
    entry = one(paper(venue="maps", kind=kind, details=details))
    assert entry.type == (kind or "inproceedings")
    assert [name for name, value in entry.fields.items() if value == "MAPS"] == ([field] if field else [])


@pytest.mark.parametrize(
    ("kind", "written"),
    [("dataset", "dataset"), ("comment", "misc"), ("string", "misc"), ("a b", "misc"), ("x{", "misc"), ("", "misc")],
)
def test_types(kind: str, written: str) -> None:
    assert one(paper(kind=kind)).type == written


def test_field_names_that_bibtex_cannot_read() -> None:
    made = paper(
        details=(("a b=c", "1"), ("a-b-c", "2"), ("9x", "3"), ("größe", "4"), ("crossref", "k"), ("xref", "l"))
    )
    assert dict(one(made).fields) == {
        "title": "A Map of Rivers",
        "a-b-c": "1",
        "a-b-c-2": "2",
        "x-9x": "3",
        "gr-e": "4",
        "xref": "k",
        "xref-2": "l",
    }


def test_abstract_and_keywords_are_written() -> None:
    fields = one(paper(abstract="Rivers & lakes, *slowly*: $x_1 < 5%$.", keywords=("R&D", "maps"))).fields
    assert fields["abstract"] == r"Rivers \& lakes, slowly: $x_1 < 5\%$."
    assert fields["keywords"] == r"R\&D, maps"
    assert "abstract" not in one(paper(abstract="Ours.", summarised=True)).fields
    merged = one(paper(keywords=("maps", "Lakes", "sea"), details=(("keywords", "{Lakes}; maps"),))).fields
    assert merged["keywords"] == "{Lakes}; maps; sea"


# --- keys (F15, F17)


def keys(*made: Paper) -> list[str]:
    return re.findall(r"^@\w+\{([^,]*),$", "".join(write(made)), re.MULTILINE)


def with_key(key: str, number: int = 1) -> Paper:
    return paper(id=number, authors=("Ana Lima",), year=2019, details=(("citekey", key),))


@pytest.mark.parametrize(
    "key", ["Lima2019", "DBLP:conf/wicsa/2015", "10.1145/1499402.1499562", "a+b", "x_1-2", "Müller99", "AardalHLT02"]
)
def test_a_readers_own_key_is_kept(key: str) -> None:
    assert keys(with_key(key)) == [key]


@pytest.mark.parametrize(
    "key", ["", "a b", "R&D", "50%", "a,b", "a{b", "谢昕,王小增", "a'b", "a~b", "-x", "a\\b", 'a"', "$a"]
)
def test_a_key_that_programs_do_not_take_is_replaced(key: str) -> None:
    assert keys(with_key(key)) == ["lima2019map-1"]


def test_keys_are_unique_in_an_export_and_the_same_in_the_next() -> None:
    made = [
        with_key("Lima", 1),
        with_key("lima", 2),
        with_key("lima2019map-4", 3),
        with_key("", 4),
        with_key("Lima", 5),
    ]
    found = keys(*made)
    assert found == ["Lima", "lima2019map-2", "lima2019map-4", "lima2019map-4-2", "lima2019map-5"]
    assert keys(*made) == found
    assert len(parse_string("".join(write(made)), "bibtex").entries) == 5


def test_names_without_latin_letters_have_keys() -> None:  # F15
    assert keys(
        paper(authors=("苏子昊",), title="河流", year=2014), paper(id=2, authors=("苏子昊",), title="河流")
    ) == [
        "paper2014-1",
        "paper-2",
    ]


# --- nothing harmful (C10)


@pytest.mark.parametrize(
    "text",
    [
        "<script>alert(1)</script> Attention",
        '"><svg onload=alert(1)>',
        "=HYPERLINK(1)",
        "a}, note = {b",
        "a}\n@misc{b, title = {c",
        '" # x # "',
    ],
)
def test_a_text_stays_in_its_field(text: str) -> None:
    made = paper(title=text, authors=(text,), abstract=text, venue=text, keywords=(text,), details=(("note", text),))
    entry = one(made)
    assert set(entry.fields) == {"title", "booktitle", "note", "abstract", "keywords"}
    assert len(entry.persons["author"]) == 1
    (back,) = imported(to_bibtex(made).encode())
    assert to_plain(decoded(back.title)) == " ".join(text.split())


@pytest.mark.parametrize(
    "command", [r"\input{/etc/passwd}", r"\immediate\write18{ls}", r"\catcode`\%=12", "^^5cinput{x}", r"\directlua{x}"]
)
@pytest.mark.parametrize("place", ["{}", "${}$"])
def test_commands_that_touch_files_or_programs_are_written_as_text(command: str, place: str) -> None:
    text = place.format(command)
    out = to_bibtex(paper(title=text, abstract=text, details=(("note", text), ("title", text))))
    assert not re.search(r"\\(?:input|immediate|write|catcode|directlua)(?![A-Za-z])|\^\^", out)


# --- whatever comes

ODD = st.text(st.sampled_from("aAbZé苏 \\{}$%&#_^~*`[]()\"'@,.:-=\n<>0δ"), max_size=40)
DETAILS = """note journal file url editor month title author year doi eprint keywords date subtitle citekey
archiveprefix crossref comment"""
NAMES = st.sampled_from((*DETAILS.split(), "x y"))


@given(ODD.filter(str.split), st.lists(st.tuples(NAMES, ODD), max_size=6), st.lists(ODD.filter(str.split), max_size=2))
@settings(deadline=None, max_examples=200)
def test_any_paper_is_one_entry_that_three_parsers_read(
    title: str, details: list[tuple[str, str]], authors: list[str]
) -> None:
    made = paper(title=title, details=tuple(dict(details).items()), authors=tuple(authors), abstract=title)
    out = to_bibtex(made)
    assert len(parse_string(out, "bibtex").entries) == 1
    (entry,) = read("x.bib", out.encode(), LIMITS)
    assert isinstance(entry, Record) or (isinstance(entry, Refusal) and "neither title" in entry.reason)
    from bibtexparser.entrypoint import parse_string as parse

    assert len(parse(out).entries) == 1


TITLES = st.lists(
    st.sampled_from(["Rivers", "of", "BERT", "R&D", "50%", "$x_1$", "naïve", "Monte", "a_b", "C++", "苏", "“so”", "α"]),
    min_size=1,
    max_size=8,
).map(" ".join)


@given(
    TITLES,
    st.lists(st.sampled_from(["Ana Lima", "Jan de Vries", "苏子昊", "CERN Group", "J. Müller Jr."]), unique=True),
)
@settings(deadline=None)
def test_a_paper_comes_back_the_same(title: str, authors: list[str]) -> None:
    made = paper(
        title=title,
        authors=tuple(authors),
        abstract=title,
        year=2019,
        identifiers=(Identifier(Scheme.ARXIV, "1604.03410"), Identifier(Scheme.DOI, "10.1000/a_b")),
        links=(Link(LinkKind.PAGE, "https://example.org/a_b?c=1&d=%20"),),
        areas=(Area("cs", "cs.LG"),),
        kind="article",
        venue="J. of R&D",
    )
    (back,) = papers(to_bibtex(made).encode())
    assert back.title == made.title
    assert (back.authors, back.abstract, back.year) == (made.authors, made.abstract, made.year)
    assert (back.identifiers, back.kind, back.venue) == (made.identifiers, made.kind, made.venue)
    assert made.links[0] in back.links


def test_writing_streams() -> None:
    def endless() -> Any:
        number = 0
        while True:
            number += 1
            yield paper(id=number)

    chunks = write(endless())
    assert [next(chunks).count("@") for _ in range(3)] == [1, 1, 1]
    assert MONTHS[3] == "apr"
