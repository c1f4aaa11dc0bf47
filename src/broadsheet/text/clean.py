"""From a source's raw text to markup.

The rule for character references and tags: the carrier (XML, JSON, BibTeX) has been read already, so a tag is a tag
only if it stands literally in what is left; references are decoded after the tags, as often as they were encoded, and
what they decode to is text and never a tag. Hence ``&amp;#39;`` is an apostrophe and ``ptr&lt;S&gt;`` is ``ptr<S>``.
"""

from __future__ import annotations

import html
import re
import unicodedata

from .markuptags import replace_tags
from .tex import decode_tex

_ROUNDS = 6
_REFERENCE = re.compile(r"&(?:#[0-9]{1,7}|#[xX][0-9a-fA-F]{1,6}|[A-Za-z][A-Za-z0-9]{1,30});")
_TEX_SIGNS = ("\\", "$", "``", "''", "--", "~", "{", "`")
_SURROGATES = re.compile("[\ud800-\udfff]")
# Zero-width (non-)joiners belong to the scripts that need them: they go where a neighbour is Latin.
_JOINERS = re.compile(
    "(?<![^\u0000-\u02ff\u200c\u200d])[\u200c\u200d]+|[\u200c\u200d]+(?![^\u0000-\u02ff\u200c\u200d])"
)
_DOTLESS = re.compile("ı(?=[\u0300-\u0304\u0306-\u030c])")
# What pdfminer writes for a glyph without a character: a soft hyphen, and the ligatures of TeX's fonts (OT1).
_GLYPH = re.compile(r"\(cid:([0-9]{1,5})\)(\s*)")
_GLYPHS = {"2": "fi", "11": "ff", "12": "fi", "13": "fl", "14": "ffi", "15": "ffl"}
_SOFT_HYPHEN = "173"
_UNDERSCORED = re.compile(r"(?<![\w*$\\/])_(?=[^\s_])([^_$\n\\]{1,300}?)(?<=[^\s_\\])_(?![\w/])")


def _windows_1252() -> dict[int, str]:
    """C1 controls are Windows-1252 characters that were read as Latin-1 (as the HTML standard also assumes)."""
    table: dict[int, str] = {}
    for code in range(0x80, 0xA0):
        table[code] = bytes([code]).decode("cp1252", errors="ignore")
    return table


def _unwanted() -> dict[int, str]:
    table = _windows_1252()
    invisible = (0x00AD, 0x061C, 0x180E, 0x200B, 0x200E, 0x200F, 0xFEFF, 0xFFFE, 0xFFFF)
    for code in (*range(0x09), *range(0x0E, 0x1C), 0x7F, *invisible):
        table[code] = ""
    for first, last in ((0x202A, 0x202E), (0x2060, 0x2069), (0xFDD0, 0xFDEF), (0xFFF9, 0xFFFB)):
        for code in range(first, last + 1):
            table[code] = ""
    return table


_UNWANTED = _unwanted()
_UNWANTED_SIGN = re.compile(f"[{re.escape(''.join(map(chr, _UNWANTED)))}\ud800-\udfff]")


def clean(raw: str) -> str:
    """The markup of a raw title or abstract: one line, NFC, mathematics as ``$…$``, emphasis as markdown.

    ``clean(clean(x)) == clean(x)`` for every text whose decoded references do not themselves spell a tag
    (``&lt;i&gt;`` becomes the text ``<i>``, which a second call would read as a tag).
    """
    text = raw
    if "<" in text:
        text = replace_tags(text)
    if "&" in text:
        text = _decode_references(text)
    if "(cid:" in text:
        text = _GLYPH.sub(_glyph, text)
    text = _normalise(text)
    if any(sign in text for sign in _TEX_SIGNS):
        return _decode_tex(text)
    return _emphasise_underscored(text) if "_" in text else text


def _decode_tex(text: str) -> str:
    """Decoded until nothing changes: arguments hold commands, and letters that TeX kept apart compose."""
    for _ in range(_ROUNDS):
        decoded = _emphasise_underscored(_normalise(decode_tex(text)))
        if decoded == text:
            break
        text = decoded
    return text


def _glyph(found: re.Match[str]) -> str:
    """The letters of a glyph that has no character; the replacement character where nobody knows them."""
    if found[1] == _SOFT_HYPHEN:
        return ""
    before, after = found.string[: found.start()][-1:], found.string[found.end() :][:1]
    within_word = before.isalpha() or (after.isalpha() and not found[2])
    return (_GLYPHS.get(found[1], "\ufffd") if within_word else "\ufffd") + found[2]


def _decode_references(text: str) -> str:
    while (decoded := _REFERENCE.sub(lambda found: html.unescape(found[0]), text)) != text:
        text = decoded
    return text


def _normalise(text: str) -> str:
    """NFC, without unwanted characters, every run of white space one space."""
    if not text.isascii():
        if _UNWANTED_SIGN.search(text):
            text = _SURROGATES.sub("\ufffd", text).translate(_UNWANTED)
        if not unicodedata.is_normalized("NFC", text):
            text = unicodedata.normalize("NFC", text)
        if "\u200c" in text or "\u200d" in text:
            text = unicodedata.normalize("NFC", _JOINERS.sub("", text))
        if "ı" in text:  # na{ı̈}ve: NFC composes an accent with i, not with ı
            text = unicodedata.normalize("NFC", _DOTLESS.sub("i", text))
    text = " ".join(text.split())
    if text.isascii() and not text.isprintable():
        text = " ".join(text.translate(_UNWANTED).split())
    return text


def _emphasise_underscored(text: str) -> str:
    if " _" not in text and not text.startswith("_") and "(_" not in text:
        return text
    return _UNDERSCORED.sub(r"*\1*", text)
