"""People's names: shown, compared, split."""

from __future__ import annotations

import unicodedata

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from broadsheet.text import display_name, is_damaged, name_key, same_person, split_authors


@pytest.mark.parametrize(
    ("raw", "shown"),
    [
        ("Shieber, Stuart M.", "Stuart M. Shieber"),
        ("Stuart M. Shieber", "Stuart M. Shieber"),
        ("de Bruyn Kops, S M", "S M de Bruyn Kops"),  # D10
        ("William III, J", "J William III"),  # D12
        ("X SJ", "X SJ"),
        ("van der Berg, Jan, Jr.", "Jan van der Berg Jr."),
        ("van der Berg, Jr., Jan", "Jan van der Berg Jr."),
        ("Jan van der Berg, Jr.", "Jan van der Berg Jr."),
        ("Li, Xi", "Xi Li"),  # not a suffix
        ("Curry, V", "V Curry"),
        ("王小明", "王小明"),
        ("苏, 子昊", "苏子昊"),
        (r"Czerwi\'nski, W.", "W. Czerwiński"),  # C05
        ("J&ouml;rg M&uuml;ller", "Jörg Müller"),  # B17
        (r"Fran{\c{c}}ois", "François"),
        ("Ann Lee <ann@x.org>", "Ann Lee"),
        ("Ann Lee (ann.lee@x.org)", "Ann Lee"),
        ("rss-help@arxiv.org", ""),  # A31
        ("{Google Research}", "Google Research"),
        ("Jane Doe1,2*", "Jane Doe"),
        ("Jane Doe†", "Jane Doe"),
        ("Jane Doe¹", "Jane Doe"),
        ("  Jane\n Doe , ", "Jane Doe"),
        ("Toby Saunders-A'Court", "Toby Saunders-A'Court"),
        ("R&D Group", "R&D Group"),
        ("", ""),
    ],
)
def test_display_name(raw: str, shown: str) -> None:
    assert display_name(raw) == shown
    assert display_name(shown) == shown


@pytest.mark.parametrize(
    ("name", "key"),
    [
        ("Mikel Artetxe", ("artetxe", "m")),
        ("M. Artetxe", ("artetxe", "m")),
        ("Artetxe, Mikel", ("artetxe", "m")),
        ("Müller, Jörg", ("muller", "j")),
        ("de Bruyn Kops, S M", ("bruyn kops", "s")),
        ("S M de Bruyn Kops", ("bruyn kops", "s")),
        ("William III, J", ("william", "j")),
        ("J William III", ("william", "j")),
        ("X SJ", ("x", "s")),
        ("Smith JA", ("smith", "j")),
        ("Li XU", ("xu", "l")),
        ("Jan van der Berg Jr.", ("berg", "j")),
        ("Erdős, P.", ("erdos", "p")),
        ("Toby Saunders-A'Court", ("saundersacourt", "t")),
        ("王小明", ("王", "小")),
        ("欧阳修", ("欧阳", "修")),
        ("Plato", ("plato", "")),
        ("M\ufffdller, A", ("", "")),
        ("", ("", "")),
    ],
)
def test_name_key(name: str, key: tuple[str, str]) -> None:
    assert name_key(name) == key


@pytest.mark.parametrize("form", ["NFC", "NFD"])
def test_name_key_does_not_depend_on_normal_form(form: str) -> None:  # E06
    assert name_key(unicodedata.normalize(form, "Müller, Zoë")) == ("muller", "z")


@pytest.mark.parametrize(
    ("a", "b", "same"),
    [
        ("M. Artetxe", "Mikel Artetxe", True),
        ("Shieber, Stuart M.", "Shieber, Stuart", True),  # E01
        ("María Pérez", "Maria Perez", True),  # B18
        ("Wei-Chiu Ma", "Weichiu Ma", True),
        ("Wang Xiaoming", "Xiaoming Wang", True),
        ("Lara San Martín Suárez", "Suárez, Lara", True),
        ("S M de Bruyn Kops", "de Bruyn Kops, S.", True),
        ("Smith JA", "John Smith", True),
        ("王小明", "王小明", True),
        ("John A. Smith", "John B. Smith", False),
        ("Mikel Artetxe", "Maria Artetxe", False),
        ("M. Artetxe", "K. Artetxe", False),
        ("王小明", "王大明", False),
        ("张三", "张三丰", False),  # one character is a whole given name, not an initial
        ("김철", "김철수", False),
        ("Ann Lee", "Ann Leeson", False),
        ("M\ufffdller", "M\ufffdller", False),  # B12: never a key
        ("", "", False),
        ("Plato", "Plato", True),
        ("Plato", "J. Plato", False),
    ],
)
def test_same_person(a: str, b: str, same: bool) -> None:
    assert same_person(a, b) is same
    assert same_person(b, a) is same


def test_damaged_names_are_flagged() -> None:  # B12
    assert is_damaged("M\ufffdller")
    assert not is_damaged("Müller")


@pytest.mark.parametrize(
    ("line", "names", "truncated"),
    [
        ("Linli Yao, Yuancheng Wei, Lingpeng Kong 等", ("Linli Yao", "Yuancheng Wei", "Lingpeng Kong"), True),
        ("Ann Lee, Bo Chen et al.", ("Ann Lee", "Bo Chen"), True),
        ("Ann Lee, et al", ("Ann Lee",), True),
        ("Ann Lee, Bo Chen, ...", ("Ann Lee", "Bo Chen"), True),
        ("Ann Lee, Bo Chen…", ("Ann Lee", "Bo Chen"), True),
        ("Ann Lee and others", ("Ann Lee",), True),
        ("Ann Lee, Bo Chen, and 5 others", ("Ann Lee", "Bo Chen"), True),
        ("Ann Lee, Bo Chen, and Cy Dole", ("Ann Lee", "Bo Chen", "Cy Dole"), False),
        ("Ann Lee & Bo Chen", ("Ann Lee", "Bo Chen"), False),
        ("Ann Lee; Bo Chen;", ("Ann Lee", "Bo Chen"), False),
        ("Lee, Ann; Chen, Bo", ("Ann Lee", "Bo Chen"), False),
        ("Lee, Ann and Chen, Bo", ("Ann Lee", "Bo Chen"), False),
        ("van der Berg, Jan and Chen, Bo", ("Jan van der Berg", "Bo Chen"), False),
        ("Lee, A., Chen, B. C.", ("A. Lee", "B. C. Chen"), False),
        ("Shieber, Stuart M.", ("Stuart M. Shieber",), False),
        ("A B, C D, E F", ("A B", "C D", "E F"), False),
        ("王小明、李四", ("王小明", "李四"), False),
        ("王小明，李四，张三 等", ("王小明", "李四", "张三"), True),
        ("Martin King, Jr., Bo Chen", ("Martin King Jr.", "Bo Chen"), False),
        ("Ann Lee (MIT, Boston), Bo Chen (Tsinghua)", ("Ann Lee", "Bo Chen"), False),
        (
            "Paul Orland and Toby Saunders-A'Court and Lara San Martín Suárez and Josef Svoboda",  # F04
            ("Paul Orland", "Toby Saunders-A'Court", "Lara San Martín Suárez", "Josef Svoboda"),
            False,
        ),
        (r"Erd\H{o}s, P. and R{\'e}nyi, A.", ("P. Erdős", "A. Rényi"), False),
        ("Sandy Anders, Rolandas Rand", ("Sandy Anders", "Rolandas Rand"), False),
        ("Ann Lee <ann@x.org>, Bo Chen", ("Ann Lee", "Bo Chen"), False),
        ("", (), False),
    ],
)
def test_split_authors(line: str, names: tuple[str, ...], truncated: bool) -> None:
    assert split_authors(line) == (names, truncated)


@settings(max_examples=200, deadline=None)
@given(st.text(max_size=40))
def test_any_text_is_a_name_to_be_borne(text: str) -> None:
    shown = display_name(text)
    assert "\n" not in shown
    name_key(text)
    names, _ = split_authors(text)
    assert all(names)
