"""The reader's search syntax: expected trees and notes."""

from __future__ import annotations

from datetime import date

import pytest

from broadsheet import query as q
from broadsheet.query import (
    And,
    Everything,
    Field,
    Has,
    Id,
    Node,
    Not,
    Or,
    Phrase,
    Since,
    SinceAgo,
    Term,
    Until,
    Words,
    YearRange,
    parse,
    to_text,
)
from tests.query_makers import AU, TI, A, B, C, D


def words(*texts: str) -> Words:
    return Words(tuple(map(Term, texts)))


LITERALS: dict[str, Node | None] = {
    # D01: a hyphen inside a word excludes nothing
    "non-invasive": words("non-invasive"),
    "non invasive": words("non", "invasive"),
    # D02
    "multi-agent": words("multi-agent"),
    "a'b": words("a'b"),
    # D04
    "C++": words("C++"),
    "C#": words("C#"),
    "GPT-4": words("GPT-4"),
    "AT&T": words("AT&T"),
    "2401.12345": words("2401.12345"),
    "ti:foo": Term("foo", TI),
    '"': None,
    "*": None,
    "NEAR(": words("NEAR"),
    "a OR": words("a"),
    "OR a": words("a"),
    '"C++"': Words((Phrase("C++"),)),
    "YOLO": words("YOLO"),
    "YOLOv8": words("YOLOv8"),
    "pre-training": words("pre-training"),
    '"pre-training"': Words((Phrase("pre-training"),)),
    r"$\alpha$": words(r"$\alpha$"),
    "α": words("α"),
    "Schr\u00f6dinger": words("Schr\u00f6dinger"),
    "Schro\u0308dinger": words("Schr\u00f6dinger"),
    r"Schr\"odinger": words(r"Schr\"odinger"),
    # D07
    "c++": words("c++"),
    "foo-bar": words("foo-bar"),
    "something_2020-07-13_words": words("something_2020-07-13_words"),
    # D10, D12: names with particles and suffixes
    "de Bruyn Kops, S M": words("de", "Bruyn", "Kops", "S", "M"),
    'au:"de Bruyn Kops, S M"': Phrase("de Bruyn Kops, S M", AU),
    "au:(de Bruyn Kops)": And((Term("de", AU), Term("Bruyn", AU), Term("Kops", AU))),
    "William III, J": words("William", "III", "J"),
    "X SJ": words("X", "SJ"),
    'au:"X SJ"': Phrase("X SJ", AU),
    # D13: numbers that are no page or year
    "10^9": words("10^9"),
    "page:abc": words("page:abc"),
    # other text that looks like syntax
    "foo:bar": words("foo:bar"),
    "ti:": words("ti:"),
    "ti: foo": words("ti:", "foo"),
    "std::vector": words("std::vector"),
    "http://arxiv.org/abs/2401.12345v2": words("http://arxiv.org/abs/2401.12345v2"),
    "12:30": words("12:30"),
    "10.1002/(sici)1097-4598(199605)19:5<621::aid-mus10>3.3.co;2-c": words(
        "10.1002/(sici)1097-4598(199605)19:5<621::aid-mus10>3.3.co;2-c"
    ),
    "(((": None,
    ")": None,
    "(((a": words("a"),
    "a)))": words("a"),
    ")a(": words("a"),
    "()": None,
    '""': None,
    "-": None,
    "- a": words("a"),
    "a - b": words("a", "b"),
    "--flag": words("--flag"),
    "+": None,
    "1e-5": words("1e-5"),
    "f(x)": words("f(x)"),
    "f(模(x))": words("f(模(x))"),
    'f(模"x")': words('f(模"x")'),
    "O(n log n)": words("O", "n", "log", "n"),
    "O(n": words("O", "n"),
    '5" disk': words('5"', "disk"),
    "and or not": words("and", "or", "not"),
    "AND": words("and"),
    "NOT": words("not"),
    "OR OR": words("or", "or"),
    "AND,": words("and"),
    "a AND * ": words("a"),
    "a NOT": words("a"),
    "-* a": words("a"),
    '-" a': words("a"),
    "": None,
    " \t\n\u3000": None,
    "\x00": None,
    "a\x00b": words("a", "b"),
    "\u200b2402.13284\n": words("2402.13284"),
    "\ud800a": words("a"),
}
TREES: dict[str, Node] = {
    "a b": Words((A, B)),
    '"a  b" c': Words((Phrase("a b"), C)),
    '"a b': Words((A, B)),
    "(a b)": Words((A, B)),
    "(a) (b)": Words((A, B)),
    # operators
    "a AND b": And((A, B)),
    "a OR b": Or((A, B)),
    "a OR b OR c": Or((A, B, C)),
    "(a OR b) OR c": Or((A, B, C)),
    "a OR b AND c": Or((A, And((B, C)))),
    "(a OR b) AND c": And((Or((A, B)), C)),
    "a b OR c": Or((And((A, B)), C)),
    "a b AND c": And((A, B, C)),
    "a AND(b OR c)": And((A, Or((B, C)))),
    "a (b OR c)": And((Words((A,)), Or((B, C)))),
    "a ANDNOT b": And((Words((A,)), Not(B))),
    "a AND NOT b": And((Words((A,)), Not(B))),
    "a NOT b": And((Words((A,)), Not(B))),
    "a b -c d": And((Words((A, B, D)), Not(C))),
    "NOT NOT a": Words((A,)),
    "NOT -a": Words((A,)),
    "+a b": And((Words((B,)), A)),
    "+a +b": And((A, B)),
    "+(a b) c": And((Words((C,)), A, B)),
    "+a": A,
    # exclusions
    '-"a b" c': And((Words((C,)), Not(Phrase("a b")))),
    "-au:smith a": And((Words((A,)), Not(Term("smith", AU)))),
    "-(a b) c": And((Words((C,)), Not(And((A, B))))),
    "-(a OR b) c": And((Words((C,)), Not(Or((A, B))))),
    "-a": And((Everything(), Not(A))),
    "-a -b": And((Everything(), Not(A), Not(B))),
    "a OR -b": Or((A, And((Everything(), Not(B))))),
    "-(-a) b": And((Words((B,)), Not(And((Everything(), Not(A)))))),
    # fields
    "title:a": Term("a", TI),
    "TI:a": Term("a", TI),
    "abs:a": Term("a", Field.ABSTRACT),
    "abstract:a": Term("a", Field.ABSTRACT),
    "author:a": Term("a", AU),
    'area:"Learning Theory"': Phrase("Learning Theory", Field.AREA),
    "cat:cs.LG": Term("cs.LG", Field.CATEGORY),
    "venue:ICML": Term("ICML", Field.VENUE),
    "all:a": Words((A,)),
    "-all:a b": And((Words((B,)), Not(A))),
    "ti:(a b)": And((Term("a", TI), Term("b", TI))),
    "ti:(a OR b)": Or((Term("a", TI), Term("b", TI))),
    "ti:(a au:b)": And((Term("a", TI), Term("b", AU))),
    "ti:(a -b)": And((Term("a", TI), Not(Term("b", TI)))),
    "ti:-a": Term("-a", TI),
    "ti::a": Term(":a", TI),
    'ti:"a': Term("a", TI),
    "ti:a b": And((Words((B,)), Term("a", TI))),
    "au:del_maestro AND ti:checkerboard": And((Phrase("del maestro", AU), Term("checkerboard", TI))),
    "au:smith_": Term("smith", AU),
    "id:2401.12345": Id("2401.12345"),
    "id:arxiv:2401.12345": Id("arxiv:2401.12345"),
    'id:"10.1000/a b"': Id("10.1000/a b"),
    "has:code": Has("code"),
    "has:Abstract": Has("abstract"),
    "has:pdf": Has("pdf"),
    # filters
    "year:2020": YearRange(2020, 2020),
    "year:2020..2024": YearRange(2020, 2024),
    "year:2020-2024": YearRange(2020, 2024),
    "year:2020–2024": YearRange(2020, 2024),
    "year:2024..2020": YearRange(2020, 2024),
    "year:2020..": YearRange(2020, None),
    "year:..2020": YearRange(None, 2020),
    "year:>=2020": YearRange(2020, None),
    "year:>2020": YearRange(2021, None),
    "year:<=2020": YearRange(None, 2020),
    "year:<2020": YearRange(None, 2019),
    "year:(2020 OR 2022)": Or((YearRange(2020, 2020), YearRange(2022, 2022))),
    "year:2020, a": And((Words((A,)), YearRange(2020, 2020))),
    "since:2026-05-03": Since(date(2026, 5, 3)),
    "since:2026-5-3": Since(date(2026, 5, 3)),
    "since:2026-05": Since(date(2026, 5, 1)),
    "since:2026": Since(date(2026, 1, 1)),
    "until:2026-05-03": Until(date(2026, 5, 3)),
    "until:2024-02": Until(date(2024, 2, 29)),
    "until:2026": Until(date(2026, 12, 31)),
    "since:7d": SinceAgo(7),
    "since:2w": SinceAgo(14),
    "since:3m": SinceAgo(90),
    "since:1Y": SinceAgo(365),
    "a AND year:2020": And((Words((A,)), YearRange(2020, 2020))),
    "a b AND cat:cs.LG AND NOT c": And((Words((A, B)), Term("cs.LG", Field.CATEGORY), Not(C))),
    "a OR b year:2020": And((Or((A, B)), YearRange(2020, 2020))),
    "a OR b -c": And((Or((A, B)), Not(C))),
    "a AND (year:2020 OR year:2022)": And((Words((A,)), Or((YearRange(2020, 2020), YearRange(2022, 2022))))),
    "a OR b (year:2020 OR year:2022)": And((Or((A, B)), Or((YearRange(2020, 2020), YearRange(2022, 2022))))),
    "a OR (b year:2020)": Or((A, And((B, YearRange(2020, 2020))))),
    "a OR b AND year:2020": Or((A, And((B, YearRange(2020, 2020))))),
    "year:2020 OR year:2022": Or((YearRange(2020, 2020), YearRange(2022, 2022))),
    "-c year:2020 (a OR b) d": And((Words((D,)), Or((A, B)), YearRange(2020, 2020), Not(C))),
    # Chinese, full width
    "大模型 检索增强": words("大模型", "检索增强"),
    "扩散模型，综述": words("扩散模型", "综述"),
    "标题：扩散模型": Term("扩散模型", TI),
    "（a OR b）AND c": And((Or((A, B)), C)),
    "“a b” 作者：张三": And((Words((Phrase("a b"),)), Term("张三", AU))),
    "关于“扩散模型”的综述（2024）": Words((Term("关于"), Phrase("扩散模型"), Term("的综述"), Term("2024"))),
    "综述 年份：2023": And((words("综述"), YearRange(2023, 2023))),
    "year:２０２３": YearRange(2023, 2023),
}


@pytest.mark.parametrize("text", LITERALS)
def test_text_that_is_no_syntax(text: str) -> None:
    query = parse(text)
    assert query.root == LITERALS[text]
    assert query.empty == (LITERALS[text] is None)


@pytest.mark.parametrize("text", TREES)
def test_tree(text: str) -> None:
    assert parse(text).root == TREES[text]


@pytest.mark.parametrize("text", [*LITERALS, *TREES])
def test_round_trip(text: str) -> None:
    query = parse(text)
    assert parse(to_text(query)) == query


@pytest.mark.parametrize(
    ("text", "printed"),
    [
        ("a  b", "a b"),
        ("-c year:>=2020 (a OR b) d", "d (a OR b) year:2020.. -c"),
        ("a AND b", "a AND b"),
        ("+a b", "b +a"),
        ("+a year:2020", "+a year:2020"),
        ("title:(a OR b)", "ti:a OR ti:b"),
        ("（综述）年份：2023", "综述 year:2023"),
        ("NOT a", "-a"),
        ("NOT --a", "-(--a)"),
        ('id:"a b"', 'id:"a b"'),
        ("since:1w until:2026", "since:7d until:2026-12-31"),
        ("", ""),
    ],
)
def test_printed(text: str, printed: str) -> None:
    assert to_text(parse(text)) == printed


@pytest.mark.parametrize(
    ("text", "note"),
    [
        ("year:abc", "“year:abc” is not a year or a range of years such as 2020..2024: searched as words."),
        ("year:99999", "“year:99999” is not a year"),
        ("year:0999", "“year:0999” is not a year"),
        ("year:>9999", "“year:>9999” is not a year"),
        ("since:yesterday", "“since:yesterday” is not a day"),
        ("since:2026-13", "“since:2026-13” is not a day"),
        ("since:2026-02-30", "“since:2026-02-30” is not a day"),
        ("since:0000", "“since:0000” is not a day"),
        ("until:7d", "“until:7d” is not a day"),
        ("has:video", "“has:video” is not one of code, abstract, pdf"),
    ],
)
def test_values_that_cannot_be_read_are_words(text: str, note: str) -> None:
    query = parse(text)
    assert query.root == words(text)
    assert query.notes[0].startswith(note)


def test_quoted_value_that_cannot_be_read_stays_a_phrase() -> None:
    assert parse('year:"last spring" a').root == Words((Phrase("last spring"), A))


@pytest.mark.parametrize(
    ("text", "note"),
    [
        ("year:.. a", "“year:..” has nothing to search for; it was left out."),
        ('ti:"" a', "“ti:” has nothing to search for; it was left out."),
        ("ti: a", "“ti:” has nothing right after it: searched as a word."),
        ('a "b', "A quotation mark is never closed; it was left out."),
        ('ti:"b', "A quotation mark is never closed; it was left out."),
        ("(a", "The brackets do not pair up; they were read as if they did."),
        ("a)", "The brackets do not pair up; they were read as if they did."),
        ("a OR", "OR has nothing to search for on one side; it was left out."),
        ("AND a", "AND has nothing to search for on one side; it was left out."),
        ("a NOT", "NOT or + has nothing after it; it was left out."),
        ("***", "There is no letter or digit to search for."),
        ("-a", "The query only excludes: all other papers are listed."),
        ("a OR b year:2020", "year:2020 holds on every side of OR; write brackets to bind it to one side."),
        ("year:2020 year:2021", "No paper can be of all these years at once; write year:2020..2024 for a range."),
        ("since:2026 until:2025", "The day after since: is later than the day after until:, so nothing can be found."),
    ],
)
def test_notes(text: str, note: str) -> None:
    assert note in parse(text).notes


@pytest.mark.parametrize(
    "text", ["", "  ", "a b", "non-invasive", "a AND b", "a -b", "a & b", "ti:(a OR b) year:2020", "C++"]
)
def test_no_note_where_all_was_understood(text: str) -> None:
    assert parse(text).notes == ()


def test_notes_do_not_make_a_query_another() -> None:
    assert parse("a OR") == parse("a")
    assert hash(parse("a OR")) == hash(parse("a"))


def test_notes_are_few() -> None:
    assert len(parse(" ".join(f"year:x{i}" for i in range(50))).notes) == q.MAX_NOTES
