"""Text of unknown encoding: marks, UTF-16 without one, declarations, guesses, and nothing that fails."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from broadsheet.sources.encodings import decode
from tests.shared import shared

GERMAN = "@book{a, title = {Über die Flüsse}, note = {größer}}\n"
FRENCH = "title = {Une méthode générale à l’été, où l’on mesure}, author = {François Müller and José Núñez}"
CZECH = "Příliš žluťoučký kůň úpěl ďábelské ódy, Dvořák a Novák"
RUSSIAN = "Методы машинного обучения для рекомендательных систем"
CHINESE = "基于深度学习的推荐系统研究综述。本文介绍了图神经网络、强化学习等方法在推荐系统中的应用。"
JAPANESE = "深層学習を用いた推薦システムの研究について 山田 太郎"
KOREAN = "딥러닝 기반 추천 시스템에 관한 연구 김철수"


@pytest.mark.parametrize("text", ["", "a", GERMAN, CHINESE, "𝒳 and 😀"])
@pytest.mark.parametrize(
    ("encoding", "name"),
    [
        ("utf-8", "utf-8"),
        ("utf-8-sig", "utf-8"),
        ("utf-16", "utf-16-le"),
        ("utf-32", "utf-32-le"),
    ],
)
def test_unicode_by_its_mark(text: str, encoding: str, name: str) -> None:
    assert decode(text.encode(encoding)) == (text, name)


def test_utf_16_of_the_other_order_by_its_mark() -> None:
    assert decode(b"\xfe\xff" + GERMAN.encode("utf-16-be")) == (GERMAN, "utf-16-be")


@pytest.mark.parametrize("encoding", ["utf-16-le", "utf-16-be"])
def test_utf_16_without_a_mark(encoding: str) -> None:
    assert decode(GERMAN.encode(encoding)) == (GERMAN, encoding)


@pytest.mark.parametrize(
    ("text", "encoding", "name"),
    [
        (GERMAN, "cp1252", "cp1252"),
        (FRENCH, "cp1252", "cp1252"),
        ("abstract = {25° C},", "cp1252", "cp1252"),
        ("the “best” method — it’s fine", "cp1252", "cp1252"),
        (CZECH, "cp1250", "cp1250"),
        (RUSSIAN, "cp1251", "cp1251"),
        (RUSSIAN, "koi8_r", "koi8_r"),
        (CHINESE, "gbk", "gb18030"),
        (JAPANESE, "shift_jis", "shift_jis"),
        (JAPANESE, "euc_jp", "euc_jp"),
        (KOREAN, "euc_kr", "euc_kr"),
    ],
)
def test_older_encodings_are_guessed(text: str, encoding: str, name: str) -> None:
    assert decode(text.encode(encoding)) == (text, name)


def test_ascii_around_them_does_not_hide_a_few_letters() -> None:
    text = "@article{a, title = {Rivers and Boats}}\n" * 5000 + GERMAN
    assert decode(text.encode("cp1252")) == (text, "cp1252")


@pytest.mark.parametrize(
    ("line", "encoding"),
    [
        ("% Encoding: ISO8859_15\n", "iso8859-15"),
        ("% -*- coding: latin-9-unix -*-\n", "iso8859-15"),
        ("% Encoding: windows-1250\n", "cp1250"),
    ],
)
def test_what_the_file_declares_is_believed(line: str, encoding: str) -> None:
    text = line + "Šome"
    assert decode(text.encode(encoding)) == (text, encoding)


@pytest.mark.parametrize("line", ["% Encoding: UTF-8\n", "% Encoding: klingon\n"])
def test_what_the_file_declares_is_not_believed_against_its_bytes(line: str) -> None:
    text = line + GERMAN
    assert decode(text.encode("cp1252")) == (text, "cp1252")


def test_a_foreign_byte_does_not_spoil_a_utf_8_file() -> None:
    before, after = GERMAN * 20, CHINESE
    data = before.encode() + "25°".encode("cp1252") + after.encode()
    assert decode(data) == (f"{before}25°{after}", "utf-8")


def test_the_undefined_bytes_of_windows_1252_are_kept_apart() -> None:
    text, name = decode(b"caf\xe9 \x81 caf\xe9")
    assert (text, name) == ("caf\xe9 \x81 caf\xe9", "latin-1")


@pytest.mark.parametrize(
    ("file", "wanted"),
    [
        ("biber__encoding1.bib", "TITLE = {Šome title}"),
        ("biber__encoding3.bib", "TITLE = {Söme title}"),
        ("bibtexparser__gbk_test.bib", "author = {凯撒}"),
        ("bibtexparser__article_start_with_bom.bib", "Jean Césa"),
        ("jabref__encoding-utf-16BE-with-header.bib", "{Ü ist ein Umlaut}"),
        ("jabref__encoding-utf-16BE-without-header.bib", "{Ü ist ein Umlaut}"),
        ("jabref__encoding-windows-1252-without-header.bib", "{25° C}"),
        ("jabref__encoding-windows-1252-but-utf-8-declared--decoding-fails.bib", "{Test\xa0I. Last}"),
    ],
)
def test_files_of_other_parsers(file: str, wanted: str) -> None:
    text, _ = decode(shared("data", "bib_fixtures", file).read_bytes())
    assert wanted in text
    assert not text.startswith("\ufeff")


@given(st.binary(max_size=200))
def test_any_bytes_are_some_text(data: bytes) -> None:
    text, name = decode(data)
    assert isinstance(text, str)
    assert name


@given(st.text(st.characters(codec="utf-8", exclude_characters="\0"), max_size=200))
def test_utf_8_is_never_taken_for_anything_else(text: str) -> None:
    if not text.startswith("\ufeff"):
        assert decode(text.encode()) == (text, "utf-8")
