"""Tables in: delimiters, quotes, encodings, the usual exports' headings, damaged rows."""

from __future__ import annotations

import csv
import io
from dataclasses import replace
from datetime import date

import orjson
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from broadsheet.errors import InputError
from broadsheet.ingest import derive
from broadsheet.model import Identifier, Record, Refusal, Scheme
from broadsheet.sources import read_file, tables
from broadsheet.sources.base import Entry, Limits
from broadsheet.sources.headings import KNOWN, heading, kind_of
from tests.shared import shared
from tests.table_reading import one, rows


def titles(entries: list[Entry]) -> list[str]:
    return [entry.title for entry in entries if isinstance(entry, Record)]


def refused(entries: list[Entry]) -> list[tuple[int, str]]:
    return [(entry.line, entry.reason) for entry in entries if isinstance(entry, Refusal)]


# --- how a table is written


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


# --- damaged rows


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


# --- what headings and cells mean


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


def test_names_without_latin_letters_are_divided_at_any_comma() -> None:
    cells = ("van der Berg, Jan; Lee, Cy", "张三；李四", "王伟，李娜", "赵敏、钱多")
    text = "title,authors\n" + "".join(f'Bees {at},"{cell}"\n' for at, cell in enumerate(cells))
    records = [entry for entry in rows(text) if isinstance(entry, Record)]
    assert [r.authors for r in records][1:] == [("张三", "李四"), ("王伟", "李娜"), ("赵敏", "钱多")]
    assert len(records[0].authors) == 2


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
