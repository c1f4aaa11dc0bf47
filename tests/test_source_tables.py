"""Tables in and out: delimiters, quotes, encodings, the usual exports' headings, damaged rows, formulas, workbooks."""

from __future__ import annotations

import csv
import io
import zipfile
from collections.abc import Iterator
from dataclasses import replace
from datetime import UTC, date, datetime
from pathlib import Path

import openpyxl
import orjson
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from broadsheet.errors import InputError
from broadsheet.ingest import derive
from broadsheet.model import Area, Identifier, Link, LinkKind, Paper, Record, Refusal, Scheme
from broadsheet.sources import out_csv, read_file, tables, xlsx
from broadsheet.sources.base import Entry, Limits
from broadsheet.sources.csvform import COLUMNS, bare, guarded
from broadsheet.sources.headings import KNOWN, heading, kind_of
from tests.shared import shared

LIMITS = Limits(100_000, 50)


def rows(text: str | bytes, name: str = "x.csv") -> list[Entry]:
    return list(tables.read(name, text.encode() if isinstance(text, str) else text, LIMITS))


def one(text: str | bytes, name: str = "x.csv") -> Record:
    [entry] = rows(text, name)
    assert isinstance(entry, Record), entry
    return entry


def titles(entries: list[Entry]) -> list[str]:
    return [entry.title for entry in entries if isinstance(entry, Record)]


def refused(entries: list[Entry]) -> list[tuple[int, str]]:
    return [(entry.line, entry.reason) for entry in entries if isinstance(entry, Refusal)]


# --- how a table is written ------------------------------------------------------------------------------------------

CELLS = [
    ["Title", "Abstract", "Year"],
    ["Bees, and; more\tof|them", 'She said "hum".\nThen left.', "2019"],
    ["Zweiter Aufsatz", "Über Bienen", "2020"],
]


def written(delimiter: str, end: str, quoting: int) -> str:
    out = io.StringIO(newline="")
    csv.writer(out, delimiter=delimiter, lineterminator=end, quoting=quoting).writerows(CELLS)  # type: ignore[arg-type]
    return out.getvalue()


@pytest.mark.parametrize("delimiter", [",", ";", "\t", "|"])
@pytest.mark.parametrize("end", ["\n", "\r\n", "\r"])
@pytest.mark.parametrize("quoting", [csv.QUOTE_MINIMAL, csv.QUOTE_ALL])
@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig", "utf-16", "cp1252"])
def test_every_way_of_writing_a_table(delimiter: str, end: str, quoting: int, encoding: str) -> None:
    data = written(delimiter, end, quoting).encode(encoding)
    assert tables.sniff(data, "x")
    found = rows(data)
    assert titles(found) == ["Bees, and; more\tof|them", "Zweiter Aufsatz"]
    assert [e.abstract for e in found if isinstance(e, Record)] == ['She said "hum".\nThen left.', "Über Bienen"]
    assert [e.year for e in found if isinstance(e, Record)] == [2019, 2020]


def test_chinese_in_gbk() -> None:
    found = one(
        "题名,作者,摘要,年\n蜜蜂的飞行,王小明;李四,本文研究蜜蜂的飞行路线与花的分布之间的关系。,2021\n".encode("gbk")
    )
    assert (found.title, found.authors, found.year) == ("蜜蜂的飞行", ("王小明", "李四"), 2021)


@pytest.mark.parametrize(
    "before", ["", "\n\n", "sep=,\n", "Search: bees AND honey\n\n", '"Exported, 12 papers",,\n', "a,b,c,d,e,f,g,h\n"]
)
def test_lines_before_the_headings(before: str) -> None:
    found = rows(f"{before}title,abstract\nOne,x\nTwo\n")
    assert titles(found) == ["One"]
    assert [line for line, _ in refused(found)] == [before.count("\n") + 3]


def test_empty_columns_at_the_end_and_blank_rows_are_nothing() -> None:
    assert titles(rows("title,abstract,,\nOne,x,,\n,,,\n\n  \nTwo,y\nThree,z,,,,\n")) == ["One", "Two", "Three"]


def test_a_table_of_one_column() -> None:
    assert titles(rows("title\nOne\nTwo\n")) == ["One", "Two"]


# --- damaged rows ----------------------------------------------------------------------------------------------------


def test_rows_with_too_many_or_too_few_cells_are_refused_by_their_first_line() -> None:
    found = rows('title,abstract\nOne,"a\nb\nc"\nTwo\nThree,x,y\n"Fo\nur",z,w\nFive,v\n')
    assert titles(found) == ["One", "Five"]
    assert [line for line, _ in refused(found)] == [5, 6, 7]
    assert refused(found)[1][1].startswith("3 cells in a table of 2 columns")


def test_a_quote_that_is_never_closed_costs_its_own_row() -> None:
    found = rows('title,abstract,year\nOne,a,2001\n"Two,b,2002\nThree,c,2003\nFour,"d, e",2004\n')
    assert titles(found) == ["One", "Three", "Four"]
    assert [line for line, _ in refused(found)] == [3]


def test_a_quote_without_end_in_a_long_table() -> None:
    many = "".join(f"Paper {i},{'word ' * 30},2001\n" for i in range(3_000))
    found = rows(f'title,abstract,year\n{many}"Broken,x,2002\n{many}')
    assert len(titles(found)) == 6_000
    assert [line for line, _ in refused(found)] == [3_002]


def test_quotes_inside_of_a_cell_that_are_not_doubled() -> None:
    found = rows('title,abstract\n"The "bee" in us",a\nTwo, "b, c"\n"""Three""",d\n')
    assert titles(found) == ['The bee" in us"', "Two", '"Three"']
    assert [e.abstract for e in found if isinstance(e, Record)] == ["a", "b, c", "d"]


@pytest.mark.parametrize("quote", ['"', ""])
def test_a_cell_that_is_longer_than_any_spreadsheet_holds_is_refused(quote: str) -> None:
    found = rows(f"title,abstract\nOne,a\n{quote}{'x' * 140_000}{quote},b\nThree,c\n")
    assert titles(found) == ["One", "Three"]
    assert [line for line, _ in refused(found)] == [3]


@pytest.mark.parametrize("cell", [",", ", (", " ", "(", "[", "';", "\\'", "&", "a,", "= ", "10.1000/"])
def test_long_cells_cost_no_more_than_their_length(cell: str) -> None:
    long = cell * (100_000 // len(cell))
    [entry] = rows(f"title,authors,keywords,date,doi,source\nBees{5 * (f',{chr(34)}{long}{chr(34)}')}\n", "x.csv")
    assert "more than the" in getattr(entry, "reason", "")
    found = list(
        tables.read("x.csv", f'title,authors,keywords\nA,B C,"{long}"\nB,"{long}",x\n'.encode(), Limits(10**6, 10**6))
    )
    assert titles(found) == ["A", "B"]


def test_a_row_over_the_limit_and_one_of_too_many_authors() -> None:
    found = rows(f"title,authors\nOne,A B\n{'x' * 100_001},C D\nThree,{'; '.join(f'N{i} Y' for i in range(51))}\n")
    assert titles(found) == ["One"]
    assert [(line, reason.split(",")[0]) for line, reason in refused(found)] == [
        (3, "100004 bytes"),
        (4, "authors: 51 names"),
    ]


def test_no_title_and_no_abstract() -> None:
    assert refused(rows("title,abstract,doi\n,,10.1000/a\n")) == [
        (2, "neither title nor abstract; a paper needs one of the two")
    ]


@pytest.mark.parametrize("text", ["name,year\nx,2\n", "1,2,3\n4,5,6\n", "x", "name;year\n"])
def test_unknown_headings_refuse_the_file_and_are_named(text: str) -> None:
    with pytest.raises(InputError, match=r"x\.csv: the columns '.*' name neither; .*title.*abstract") as caught:
        rows(text)
    assert all(repr(cell) in str(caught.value) for cell in text.split("\n", maxsplit=1)[0].replace(";", ",").split(","))


@given(st.text(max_size=200), st.sampled_from(["title,abstract\n", "Title;Authors\n", "id\ttitle\n", ""]))
@settings(max_examples=200, deadline=None)
def test_any_text_gives_entries_or_an_input_error(text: str, header: str) -> None:
    data = (header + text).encode("utf-8", "replace")
    try:
        found = rows(data)
    except InputError as error:
        assert str(error).startswith("x.csv: ")
        return
    lines = [entry.line for entry in found if isinstance(entry, Refusal)]
    assert lines == sorted(lines)
    assert all(1 < line <= data.count(b"\n") + data.count(b"\r") + 1 for line in lines)
    assert len({entry.key for entry in found if isinstance(entry, Record)}) == len(
        {entry.raw for entry in found if isinstance(entry, Record)}
    )


# --- what headings and cells mean ------------------------------------------------------------------------------------

EXPORTS = {
    "scopus": (
        '"Authors","Author full names","Author(s) ID","Title","Year","Source title","Volume","Issue","Page start",'
        '"Page end","Cited by","DOI","Link","Abstract","Author Keywords","Document Type","Source","EID"\n'
        '"Ba A.; Lee C.","Ba, Ann (571); Lee, Cy (572)","571; 572","Bees","2020","Apis","3","2","10","19","7",'
        '"10.1000/Bee","https://example.org/b","On bees.","bees; hives","Article","Scopus","2-s2.0-1"\n'
    ),
    "web of science": (
        "Publication Type\tAuthors\tAuthor Full Names\tArticle Title\tSource Title\tDocument Type\tAuthor Keywords\t"
        "Abstract\tTimes Cited, WoS Core\tPublication Date\tPublication Year\tVolume\tIssue\tStart Page\tEnd Page\t"
        "DOI\tUT (Unique WOS ID)\n"
        "J\tBa, A; Lee, C\tBa, Ann; Lee, Cy\tBees\tApis\tArticle\tbees; hives\tOn bees.\t7\tMAR 15\t2020\t3\t2\t10\t"
        "19\t10.1000/bee\tWOS:000\n"
    ),
    "web of science, two letters": (
        "PT\tAU\tAF\tTI\tSO\tDT\tDE\tAB\tTC\tPY\tVL\tIS\tBP\tEP\tDI\tUT\n"
        "J\tBa, A; Lee, C\tBa, Ann; Lee, Cy\tBees\tApis\tArticle\tbees; hives\tOn bees.\t7\t2020\t3\t2\t10\t19\t"
        "10.1000/bee\tWOS:000\n"
    ),
    "ieee": (
        '"Document Title",Authors,"Publication Title",Date Added To Xplore,"Publication Year","Volume","Issue",'
        '"Start Page","End Page","Abstract","DOI",PDF Link,"Author Keywords","Article Citation Count"\n'
        '"Bees","Ann Ba; Cy Lee","Apis","1 Mar 2020","2020","3","2","10","19","On bees.","10.1000/bee",'
        '"https://example.org/b","bees; hives","7"\n'
    ),
    "rayyan": (
        "key,title,year,month,day,journal,issn,volume,issue,pages,authors,url,language,publisher,location,abstract,"
        "notes,doi,keywords\n"
        'rayyan-1,Bees,2020,3,15,Apis,,3,2,10--19,"Ba, Ann and Lee, Cy",https://example.org/b,,,,On bees.,,'
        '10.1000/bee,"bees, hives"\n'
    ),
    "covidence": (
        "Title,Authors,Abstract,Published Year,Published Month,Journal,Volume,Issue,Pages,Accession Number,DOI,Ref,"
        "Covidence #,Study,Notes,Tags\n"
        'Bees,"Ba, Ann; Lee, Cy",On bees.,2020,3,Apis,3,2,10--19,,10.1000/bee,,#12,Ba 2020,,bees; hives\n'
    ),
    "publish or perish": (
        '"Cites","Authors","Title","Year","Source","Publisher","ArticleURL","Type","DOI","Volume","Issue","StartPage",'
        '"EndPage","Abstract"\n'
        '7,"Ann Ba, Cy Lee","Bees",2020,"Apis","","https://example.org/b","","10.1000/bee",3,2,10,19,"On bees."\n'
    ),
    "cnki": (
        "Title-题名,Author-作者,Source-文献来源,Keyword-关键词,Summary-摘要,PubTime-发表时间,Year-年,Volume-卷,Period-期,"
        "PageCount-页码,DOI\n"
        "Bees,Ann Ba;Cy Lee,Apis,bees;hives,On bees.,2020-03-15,2020,3,2,10--19,10.1000/bee\n"
    ),
    "asreview": (
        "record_id,title,authors,abstract,keywords,doi,year,journal,volume,issue,pages,asreview_label\n"
        "5,Bees,\"['Ba, Ann', 'Lee, Cy']\",On bees.,\"['bees', 'hives']\",10.1000/bee,2020.0,Apis,3,2,10--19,1\n"
    ),
}


@pytest.mark.parametrize("kind", EXPORTS)
def test_the_exports_that_people_have(kind: str) -> None:
    assert tables.sniff(EXPORTS[kind].encode(), "x")
    found = one(EXPORTS[kind])
    shown = [derive(1, [found]).authors, found.title, found.abstract, found.year, found.venue]
    assert shown == [("Ann Ba", "Cy Lee"), "Bees", "On bees.", 2020, "Apis"]
    assert found.identifiers == (Identifier(Scheme.DOI, "10.1000/bee"),)
    details = dict(found.details)
    assert [details[name] for name in ("volume", "number", "pages", "journal")] == ["3", "2", "10--19", "Apis"]
    if "eywords" in EXPORTS[kind] or "Tags" in EXPORTS[kind] or "DE\t" in EXPORTS[kind] or "关键词" in EXPORTS[kind]:
        assert found.keywords == ("bees", "hives")
    if any(sign in EXPORTS[kind].lower() for sign in ("cite", "tc\t")):
        assert found.counts == (("citations", 7),)
    if kind in ("scopus", "web of science"):
        assert found.kind == "article"
    if kind in ("rayyan", "web of science", "cnki"):
        assert (found.published, found.month_only) == (date(2020, 3, 15), False)
    if kind == "covidence":
        assert (found.published, found.month_only) == (date(2020, 3, 1), True)


def test_pubmed() -> None:
    found = one(
        "PMID,Title,Authors,Citation,First Author,Journal/Book,Publication Year,Create Date,PMCID,NIHMS ID,DOI\n"
        '123,Bees,"Ba A, Lee C.",Apis. 2020,Ba A,Apis,2020,2020/03/16,,,10.1000/bee\n'
    )
    assert set(found.identifiers) == {Identifier(Scheme.PMID, "123"), Identifier(Scheme.DOI, "10.1000/bee")}
    assert (found.authors, found.venue, found.published) == (("Ba A", "Lee C"), "Apis", None)


def test_embase_writes_the_publication_into_one_cell() -> None:
    found = one(
        "Title,Author Names,Source,Abstract,keywords\n"
        'Bees,"Ba A., Lee C.D.",Apis Weekly (2014) 3:2 (152-160). Date of Publication: 2014,On bees.,'
        '"bee (sting, wax), hive"\n'
    )
    assert (found.venue, found.year) == ("Apis Weekly", 2014)
    assert found.details == (("journal", "Apis Weekly"), ("volume", "3"), ("number", "2"), ("pages", "152-160"))
    assert found.keywords == ("bee (sting, wax)", "hive")


@pytest.mark.parametrize(
    ("column", "field"),
    [
        *(
            ("Title", "title"),
            ("PRIMARY_TITLE", "title"),
            ("Article Title", "title"),
            ("题名", "title"),
            ("标题", "title"),
        ),
        *(("abstract", "abstract"), ("Abstract Note", "abstract"), ("摘 要", "abstract"), ("摘要", "abstract")),
        *(
            ("Author(s)", "authors"),
            ("作者", "authors"),
            ("Publication Year", "year"),
            ("年份", "year"),
            ("期刊", "venue"),
        ),
        *(("关键词", "keywords"), ("Keyword-关键词", "keywords"), ("\ufeffTitle", "title"), ("Ｔｉｔｌｅ", "title")),
        *(("label_included", "label"), ("DOI", "doi"), ("Pubmed ID", "pmid"), ("Link", "url"), ("arXiv-ID", "arxiv")),
    ],
)
def test_headings(column: str, field: str) -> None:
    assert KNOWN.get(heading(column), [(column, 0)])[0][0] == field


def test_two_letters_are_headings_only_in_a_table_of_web_of_science() -> None:
    found = one("title,ti,is,py\nBees,no,no,1999\n")
    assert (found.title, found.year, found.details) == ("Bees", None, ())


def test_a_summary_is_no_abstract_of_the_authors() -> None:
    found = one("title,tldr\nBees,They hum.\n")
    assert (found.abstract, found.summarised) == ("They hum.", True)


def test_only_id_abstract_and_label() -> None:
    found = rows("id,abstract,label\n1,We watch bees. They hum.,1\n2,We watch wasps.,0\n")
    first, second = (entry for entry in found if isinstance(entry, Record))
    assert (first.title, first.title_derived, first.details) == ("We watch bees", True, (("label", "1"),))
    assert second.details == (("label", "0"),)


@pytest.mark.parametrize("missing", ["", "nan", "NaN", "None", "NULL", "N/A", "NA", "<NA>", "#N/A", "  "])
def test_cells_that_mean_nothing(missing: str) -> None:
    found = one(f"title,abstract,authors,year,doi,keywords,journal\nBees,{','.join([missing] * 6)}\n")
    assert replace(found, key="", raw="") == Record(source="table:x", key="", raw="", title="Bees")
    assert orjson.loads(found.raw) == {"title": "Bees"}


@pytest.mark.parametrize(
    ("cell", "names"),
    [
        ("['Marx, Karl', \"O'Neil, Ann\"]", ("Karl Marx", "Ann O'Neil")),
        ('["Ba, Ann", "Lee, Cy"]', ("Ann Ba", "Cy Lee")),
        ("['Ba, A\\'nn']", ("A'nn Ba",)),
        ("[]", ()),
        ("Ann Ba; Cy Lee", ("Ann Ba", "Cy Lee")),
        ("Ann Ba|Cy Lee", ("Ann Ba", "Cy Lee")),
        ("Ann Ba, Cy Lee", ("Ann Ba", "Cy Lee")),
        ("Ann Ba and Cy Lee", ("Ann Ba", "Cy Lee")),
    ],
)
def test_lists_of_authors(cell: str, names: tuple[str, ...]) -> None:
    quoted = cell.replace('"', '""')
    found = one(f'title,authors\nBees,"{quoted}"\n')
    assert derive(1, [found]).authors == names


def test_other_rows_tell_how_the_authors_of_a_row_are_divided() -> None:
    found = rows('title,authors\nBees,"van der Berg, Jan"\nWasps,"Ba, Ann; Lee, Cy"\nAnts,"Lee, Cy; et al."\n')
    records = [entry for entry in found if isinstance(entry, Record)]
    assert [derive(1, [r]).authors for r in records] == [("Jan van der Berg",), ("Ann Ba", "Cy Lee"), ("Cy Lee",)]
    assert [r.authors_truncated for r in records] == [False, False, True]


def test_keys_are_stable_and_one_for_each_entry() -> None:
    text = "id,title,doi\n7,Bees,\n7,Wasps,\nx,Ants,\nx,Flies,\nx,Flies,\n,Moths,10.1000/m\n,Gnats,\n7.0,Bees,\n"
    found = [entry for entry in rows(text) if isinstance(entry, Record)]
    assert [r.key for r in found] == [r.key for r in rows(text) if isinstance(r, Record)]
    by_title = {r.title: r.key for r in found}
    assert len(set(by_title.values())) == 6
    assert by_title["Bees"].startswith("7#")
    assert by_title["Moths"] == "doi:10.1000/m"
    assert found[3].key == found[4].key  # the same row twice is one entry


def test_thirty_thousand_rows_with_running_numbers() -> None:
    text = "record_id,title\n" + "".join(f"{i},Paper {i}\n" for i in range(30_000))
    keys = [entry.key for entry in rows(text) if isinstance(entry, Record)]
    assert len(set(keys)) == 30_000
    assert keys[29_999].startswith("29999#")


@pytest.mark.parametrize(
    ("given", "kind"),
    [
        *(
            ("journalArticle", "article"),
            ("Conference Paper", "inproceedings"),
            ("JOUR", "article"),
            ("preprint", "online"),
        ),
        *(
            ("Article; Early Access", "article"),
            ("phdthesis", "phdthesis"),
            ("Book chapter", "incollection"),
            ("?", ""),
        ),
        *(
            ("incollection", "incollection"),
            ("学位论文", "thesis"),
            ("Review", "article"),
            ("computerProgram", "software"),
        ),
    ],
)
def test_types_of_publication(given: str, kind: str) -> None:
    assert kind_of(given) == kind


def test_a_type_that_is_not_known_is_kept() -> None:
    assert one("title,type\nBees,Sermon\n").details == (("type", "Sermon"),)


@pytest.mark.parametrize(
    ("name", "records", "refusals"),
    [
        *(("embase", 6, 0), ("embase_newpage", 6, 0), ("generic_labels", 6, 0), ("generic_labels_no_title", 6, 0)),
        *(("generic_partial_labels", 6, 0), ("generic_semicolon", 2, 0), ("generic_bad_record_id", 6, 0)),
        ("duplicate_records", 10, 4),
    ],
)
def test_real_tables(name: str, records: int, refusals: int) -> None:
    path = shared("data", "bib_fixtures", f"asreview__{name}.csv")
    found = [item.entry for item in read_file(path, max_entry_bytes=10**6, max_authors=99)]
    kept = [entry for entry in found if isinstance(entry, Record)]
    assert (len(kept), len(found) - len(kept)) == (records, refusals)
    assert len({record.key for record in kept}) == len({record.raw for record in kept})
    assert all(record.abstract for record in kept)
    if name.startswith("generic"):
        assert all(len(record.authors) == 2 and record.year and record.kind for record in kept)
    if "labels" in name:
        labels = [dict(record.details).get("label") for record in kept]
        assert labels.count(None) == (2 if "partial" in name else 0)
        assert set(labels) - {None} == {"0", "1"}


# --- out -------------------------------------------------------------------------------------------------------------

WORDS = st.text(st.characters(codec="utf-8", exclude_categories=("C", "Z")), min_size=1, max_size=12)
LINES = st.lists(
    WORDS | st.sampled_from(["=1+1", "@x", "-", "'=", "''+", "$x$", "*y*", "nan", "NA", ",", '"', ";"]), max_size=5
)
TEXTS = LINES.map(" ".join)
NAMES = st.lists(
    st.sampled_from(["Ann Ba", "Cy Lee", "Jan van der Berg", "王小明", "-Ed Day"]), max_size=4, unique=True
)
PAPERS = st.builds(
    Paper,
    id=st.integers(1, 10**6),
    title=TEXTS.filter(bool),
    abstract=TEXTS,
    authors=NAMES.map(tuple),
    authors_truncated=st.booleans(),
    year=st.none() | st.integers(1900, 2100),
    kind=st.sampled_from(["", "article", "inproceedings", "thesis", "misc", "review", "artwork"]),
    keywords=st.lists(st.sampled_from(["bees", "hive mind", "C++", "a-b"]), unique=True).map(tuple),
    areas=st.sampled_from([(), (Area("cs", "cs.LG"),), (Area("Theory", "Bees"), Area("Health"))]),
    counts=st.sampled_from([(), (("citations", 3),)]),
    identifiers=st.sampled_from(
        [
            (),
            (Identifier(Scheme.DOI, "10.1000/x"), Identifier(Scheme.ARXIV, "2401.00001")),
            (Identifier(Scheme.ACL, "P19-1001"),),
        ]
    ),
    links=st.sampled_from(
        [(), (Link(LinkKind.PAGE, "https://example.org/a"), Link(LinkKind.CODE, "https://github.com/a/b"))]
    ),
    added=st.none() | st.just(datetime(2024, 1, 2, 3, 4, 5, tzinfo=UTC)),
    details=st.sampled_from(
        [(), (("journal", "Apis"), ("volume", "3"), ("pages", "1--2")), (("booktitle", "=Hives"),)]
    ),
)


def table(*papers: Paper) -> str:
    return "".join(out_csv.write(papers))


def cells(text: str) -> list[dict[str, str]]:
    return list(csv.DictReader(io.StringIO(text.removeprefix("\ufeff"), newline="")))


@given(st.lists(PAPERS, min_size=1, max_size=3, unique_by=lambda paper: paper.id))
@settings(max_examples=150, deadline=None)
def test_what_is_written_is_read_again(papers: list[Paper]) -> None:
    found = rows(table(*papers))
    assert len(found) == len(papers)
    for record, paper in zip(found, papers, strict=True):
        assert isinstance(record, Record), record
        assert (record.title, record.abstract) == (paper.title, paper.abstract)
        assert record.authors == paper.authors
        assert record.authors_truncated == paper.authors_truncated
        assert (record.year, record.kind, record.added) == (paper.year, paper.kind, paper.added)
        assert (record.keywords, record.areas, record.counts) == (paper.keywords, paper.areas, paper.counts)
        assert set(record.identifiers) == set(paper.identifiers)
        assert (record.links, record.details) == (paper.links, paper.details)
        assert record.key == f"broadsheet-{paper.id}"


@pytest.mark.parametrize("day", [date(2020, 3, 15), date(2020, 3, 1)])
@pytest.mark.parametrize("month_only", [True, False])
def test_a_day_and_a_month_stay_apart(day: date, month_only: bool) -> None:
    if not month_only or day.day == 1:
        found = one(table(Paper(1, "Bees", published=day, month_only=month_only, year=2020)))
        assert (found.published, found.month_only) == (day, month_only)


@pytest.mark.parametrize(
    "text", ['=HYPERLINK("http://x","y")', "+1", "-2+3", "@SUM(A1)", "\t=1", "\r=1", "'=1", "''@x", "＝1+1", "－x"]
)
def test_no_cell_is_a_formula(text: str) -> None:
    assert guarded(text) == f"'{text}"
    assert bare(guarded(text)) == text
    [row] = cells(table(Paper(1, text, abstract=text, authors=(text,), venue=text, keywords=(text,))))
    assert row["title"] == f"'{text}"
    for cell in row.values():
        assert not cell.startswith(("=", "+", "-", "@", "\t", "\r", "＝", "－"))


@pytest.mark.parametrize("text", ["Bees = wasps", "'quoted'", "a-b", "x@y", "", "'", "1+1"])
def test_other_cells_stay_as_they_are(text: str) -> None:
    assert guarded(text) == bare(text) == text


def test_only_our_own_tables_lose_the_apostrophe() -> None:
    assert one("title,abstract\n'-omics and bees,x\n").title == "'-omics and bees"


def test_columns_and_what_a_spreadsheet_needs() -> None:
    text = table(Paper(1, "Bees"))
    assert text.startswith("\ufeffid,title,authors,year,")
    assert text.count("\r\n") == 2
    assert len(COLUMNS) == len(set(COLUMNS)) == len(cells(text)[0])


def test_a_table_grows_as_it_is_written() -> None:
    def endless() -> Iterator[Paper]:
        number = 0
        while True:
            number += 1
            yield Paper(number, f"Paper {number}")

    pieces = out_csv.write(endless())
    assert [next(pieces).split(",")[0] for _ in range(3)] == ["\ufeffid", "broadsheet-1", "broadsheet-2"]


# --- workbooks -------------------------------------------------------------------------------------------------------


def workbook(**sheets: list[list[object]]) -> bytes:
    book = openpyxl.Workbook()
    book.remove(book.active)  # type: ignore[arg-type]
    for name, lines in sheets.items():
        sheet = book.create_sheet(name)
        for line in lines:
            sheet.append(line)
    out = io.BytesIO()
    book.save(out)
    return out.getvalue()


def book_rows(data: bytes) -> list[Entry]:
    return list(xlsx.read("x.xlsx", data, LIMITS))


HEAD: list[object] = ["ID", "Title", "Abstract", "Year", "Date", "Authors", "Included"]


def test_cells_of_every_kind(tmp_path: Path) -> None:
    lines: list[list[object]] = [
        HEAD,
        [1, "Bees", "Hum", 2020.0, datetime(2020, 3, 15), "Ba, Ann; Lee, Cy", True],
        [None] * 7,
        [2, "Wasps", None, 2021, date(2021, 4, 2), None, False],
    ]
    path = tmp_path / "x.xlsx"
    path.write_bytes(workbook(Papers=lines))
    items = list(read_file(path, max_entry_bytes=10**6, max_authors=9))
    first, second = (item.entry for item in items)
    assert isinstance(first, Record)
    assert isinstance(second, Record)
    assert (first.title, first.year, first.published) == ("Bees", 2020, date(2020, 3, 15))
    assert (first.source, first.authors, first.details) == ("table:x", ("Ba, Ann", "Lee, Cy"), (("label", "true"),))
    assert (second.published, second.details) == (date(2021, 4, 2), (("label", "false"),))
    assert items[0].total == items[0].position == path.stat().st_size
    assert list(read_file(path, max_entry_bytes=10**6, max_authors=9, skip=1)) == items[1:]


def test_every_sheet_with_headings_counts() -> None:
    data = workbook(
        Notes=[["to do"], ["sleep"]],
        One=[["My list"], [], ["title", "doi"], ["Bees", "10.1000/b"], ["Bees", ""], ["", "10.1000/c"]],
        Two=[["Abstract", "Label"], ["We watch wasps.", 1]],
    )
    found = book_rows(data)
    assert [e.title for e in found if isinstance(e, Record)] == ["Bees", "Bees", "We watch wasps"]
    assert {e.source for e in found if isinstance(e, Record)} == {"table:x"}
    [refusal] = [e for e in found if isinstance(e, Refusal)]
    assert (refusal.where, refusal.line) == ("x.xlsx, sheet One", 6)


def test_a_workbook_without_headings_names_what_it_found() -> None:
    with pytest.raises(InputError, match=r"x\.xlsx: the columns 'name', 'age' of its sheets name neither"):
        book_rows(workbook(One=[["name", "age"], ["x", 1]]))


def test_a_workbook_that_unpacks_to_much_is_refused() -> None:
    out = io.BytesIO(workbook(One=[["title"], ["Bees"]]))
    with zipfile.ZipFile(out, "a", zipfile.ZIP_DEFLATED) as archive, archive.open("xl/media/a.xml", "w") as part:
        for _ in range(320):
            part.write(bytes(2**20))
    assert len(out.getvalue()) < 2**20
    with pytest.raises(InputError, match="a workbook that unpacks to 320 MB"):
        book_rows(out.getvalue())


def replaced(data: bytes, name: str, new: bytes | None) -> bytes:
    out = io.BytesIO()
    with zipfile.ZipFile(io.BytesIO(data)) as old, zipfile.ZipFile(out, "w") as archive:
        for part in old.namelist():
            if part != name:
                archive.writestr(part, old.read(part))
            elif new is not None:
                archive.writestr(part, new)
    return out.getvalue()


@pytest.mark.parametrize(
    "name", ["xl/worksheets/sheet1.xml", "xl/workbook.xml", "xl/sharedStrings.xml", "[Content_Types].xml"]
)
@pytest.mark.parametrize("new", [None, b"", b"<worksheet><sheetData><row><c", b"\xff\xfe", b"<x/>"])
def test_damaged_workbooks_are_errors_or_entries(name: str, new: bytes | None) -> None:
    data = replaced(workbook(One=[["title"], ["Bees"]]), name, new)
    try:
        found = book_rows(data)
    except InputError as error:
        assert str(error).startswith("x.xlsx: ")
    else:
        assert all(isinstance(entry, Record) for entry in found)


def test_entities_of_a_workbook_do_not_grow() -> None:
    levels = "".join(f'<!ENTITY e{i} "{f"&e{i - 1};" * 20}">' for i in range(1, 9))
    bomb = (
        f'<!DOCTYPE worksheet [<!ENTITY e0 "bees">{levels}]><worksheet><sheetData><row r="1"><c t="inlineStr"><is><t>'
    )
    data = replaced(
        workbook(One=[["title"], ["Bees"]]),
        "xl/worksheets/sheet1.xml",
        f"{bomb}&e8;</t></is></c></row></sheetData></worksheet>".encode(),
    )
    with pytest.raises(InputError):
        book_rows(data)
