"""The text of a file whose encoding is not known, and the name of the encoding that it was read with.

In order: a byte order mark, UTF-16 by its NUL bytes, UTF-8 (even with a few foreign bytes in it), what the first lines
declare (``% Encoding: windows-1252`` of JabRef, ``-*- coding: latin-9 -*-`` of Emacs), then a guess. Nothing fails:
bytes that mean nothing become U+FFFD, or the Latin-1 letter of the same number.
"""

from __future__ import annotations

import codecs
import re

_MARKS: tuple[tuple[bytes, str], ...] = (
    (codecs.BOM_UTF8, "utf-8"),
    (codecs.BOM_UTF32_LE, "utf-32-le"),  # before UTF-16, with whose mark it begins
    (codecs.BOM_UTF32_BE, "utf-32-be"),
    (codecs.BOM_UTF16_LE, "utf-16-le"),
    (codecs.BOM_UTF16_BE, "utf-16-be"),
)
_LOOK = 4096
_DECLARED = re.compile(rb"(?:coding|charset)[ \t]*[:=][ \t]*[\"']?([A-Za-z][\w.-]*)", re.IGNORECASE)
_LINE_ENDS = ("-unix", "-dos", "-mac")  # of Emacs' names
_HIGH = re.compile(rb"[\x80-\xff]+")
_HIGH_LINE = re.compile(rb"[^\r\n]*[\x80-\xff][^\r\n]*")
_SAMPLE = 64 * 1024
_UTF8_SIGN = re.compile(rb"[\xc2-\xdf][\x80-\xbf]|[\xe0-\xef][\x80-\xbf]{2}|[\xf0-\xf4][\x80-\xbf]{3}")
_FOREIGN_SHARE = 0.1  # of the signs beyond ASCII, up to which a text is UTF-8 that something foreign was pasted into
_WORD_SHARE = 0.2  # of the high bytes in runs of four and more, up to which they are letters among ASCII letters
_CENTRAL_EUROPEAN_BYTES = 12  # fewer high bytes say nothing about the language
_CANDIDATES = ["gb18030", "big5", "shift_jis", "euc_jp", "euc_kr", "cp1251", "koi8_r", "cp1253", "cp1252", "cp1250"]
# Of Korean and Japanese: the letters of their own, and the most that Chinese characters make of such a text.
_OWN_SCRIPT = {"euc_kr": (re.compile("[\uac00-\ud7af]"), 0.1), "euc_jp": (re.compile("[\u3040-\u30ff]"), 0.8)}
_HAN = re.compile("[\u3400-\u9fff]")


def decode(data: bytes) -> tuple[str, str]:
    """The text of ``data`` without its byte order mark, and the encoding by Python's name for it."""
    for mark, name in _MARKS:
        if data.startswith(mark):
            return _decoded_utf8(data[len(mark) :]) if name == "utf-8" else _replacing(data[len(mark) :], name)
    if wide := _wide(data):
        return _replacing(data, wide)
    try:
        return data.decode("utf-8"), "utf-8"
    except UnicodeDecodeError:
        return _not_utf8(data)


def _replacing(data: bytes, name: str) -> tuple[str, str]:
    return data.decode(name, "replace"), name


def _wide(data: bytes) -> str:
    """UTF-16 without a mark: text with ASCII in it has NUL bytes at every other place."""
    head = data[:_LOOK]
    half = len(head) // 2
    if len(data) % 2 or not half or b"\0" not in head:
        return ""
    even, odd = head[0::2].count(0) / half, head[1::2].count(0) / half
    if odd > 0.2 and even < 0.02:
        return "utf-16-le"
    return "utf-16-be" if even > 0.2 and odd < 0.02 else ""


def _not_utf8(data: bytes) -> tuple[str, str]:
    good = sum(1 for _ in _UTF8_SIGN.finditer(data))
    if good:
        bad = sum(map(len, _HIGH.findall(_UTF8_SIGN.sub(b"", data))))
        if bad <= _FOREIGN_SHARE * good:
            return _decoded_utf8(data)
    name = _declared(data) or _guessed(data)
    try:
        return data.decode(name), name
    except UnicodeDecodeError:  # the sample fitted, the rest does not
        return data.decode("latin-1"), "latin-1"


def _decoded_utf8(data: bytes) -> tuple[str, str]:
    """UTF-8 in which each byte that is none is read as windows-1252, the encoding of what is pasted into such files."""
    return data.decode("utf-8", _FOREIGN), "utf-8"


def _foreign(error: UnicodeError) -> tuple[str, int]:
    if not isinstance(error, UnicodeDecodeError):
        raise error
    return error.object[error.start : error.end].decode("cp1252", "replace"), error.end


_FOREIGN = "broadsheet.windows-1252"
codecs.register_error(_FOREIGN, _foreign)


def _declared(data: bytes) -> str:
    """The encoding that the first kilobyte names, if the data are in it."""
    found = _DECLARED.search(data[:1024])
    if not found:
        return ""
    name = found[1].decode("ascii").lower()
    for end in _LINE_ENDS:
        name = name.removesuffix(end)
    name = re.sub(r"^latin-(\d+)$", r"latin\1", name)
    try:
        known = codecs.lookup(name).name
        data.decode(known)
    except (LookupError, UnicodeDecodeError):
        return ""
    return known


def _guessed(data: bytes) -> str:
    lines: list[bytes] = []
    size = 0
    for found in _HIGH_LINE.finditer(data):
        lines.append(found[0])
        size += len(found[0])
        if size > _SAMPLE:
            break
    sample = b"\n".join(lines)
    runs = _HIGH.findall(sample)
    high = sum(map(len, runs))
    western = _western(data)
    in_words = sum(len(run) for run in runs if len(run) >= 4)
    lone = in_words <= _WORD_SHARE * high and any(len(run) % 2 for run in runs)
    if lone and high < _CENTRAL_EUROPEAN_BYTES:
        return western
    ranked = _ranked(sample)
    if lone:
        return "cp1250" if ranked[:1] == ["cp1250"] and "cp1252" not in ranked else western
    if not ranked:
        return western
    best = ranked[0]
    if best in _OWN_SCRIPT and "gb18030" in ranked:
        own, most = _OWN_SCRIPT[best]
        text = sample.decode(best, "replace")
        chinese = len(_HAN.findall(text))
        if chinese > most * (chinese + len(own.findall(text))):
            return "gb18030"
    return best


def _western(data: bytes) -> str:
    """windows-1252, or Latin-1 where the data hold one of the five bytes that mean nothing in the former."""
    return "latin-1" if re.search(rb"[\x81\x8d\x8f\x90\x9d]", data) else "cp1252"


def _ranked(sample: bytes) -> list[str]:
    """Encodings of the sample, the likeliest first."""
    from charset_normalizer import from_bytes

    matches = from_bytes(sample, cp_isolation=_CANDIDATES)
    return [name for match in matches for name in match.could_be_from_charset]
