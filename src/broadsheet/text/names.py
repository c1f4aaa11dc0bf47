"""People's names: shown, compared, and split out of author lines."""

from __future__ import annotations

import re
import unicodedata
from functools import lru_cache

from .clean import clean
from .folding import fold
from .symbols import listed

_EMAIL = re.compile(r"[<(\[]?\s*(?:mailto:)?[\w.+%-]+@[\w-]+(?:\.[\w-]+)+\s*[>)\]]?")
_NUMBER = "[0-9¹²³⁴⁵⁶⁷⁸⁹⁰]+"
_MARKS = re.compile(rf"[*†‡§¶∗⋆#✉]+|(?<=[^\W\d_])\s*{_NUMBER}(?:,\s*{_NUMBER})*(?=\s*(?:,|;|$))")
_SUFFIX = re.compile(r"(?:[Jj][Rr]|[Ss][Rr]|II|III|IV|2nd|3rd|4th|Ph\.? ?D)\.?")  # not "Xi" or "V": given names
_PARTICLES = listed(
    "van von der den de del della di da do dos das du des la le lo ten ter te zu zur zum af av el al bin ibn ben "
    "bint st san 't y e het op vom"
)
_HAN = re.compile("[\u3400-\u9fff\uf900-\ufaff\u3040-\u30ff\uac00-\ud7a3]")
_DOUBLE_SURNAMES = listed(
    "欧阳 司马 上官 诸葛 东方 皇甫 尉迟 公孙 慕容 令狐 宇文 长孙 "
    "司徒 夏侯 端木 西门 南宫 独孤 歐陽 司馬 諸葛 東方 尉遲 公孫 長孫 南宮 獨孤"
)
_SHORT_SURNAMES = listed(
    "LI YU XU HU MA WU HE LU DU SU GU QI XI AN BO KO NG HO OH YI YE FU ZHU LIU SUN SHI HAN LIN GAO GUO HUI PAN "
    "LAI FAN CUI CAO DAI DAO FEI GAN GAI GE HAI HAO HUA JI JIA JIN KIM LEE LE LEI LUO MAO MEI MIN MO MU NI NIE OU "
    "PEI PU QIN QIU QU RAO REN RUI SHA SHE SHU TAN TAO TU WAN WEI WEN XIA XIE XIN YAN YAO YAN YI YIN YOU YUE YUN "
    "ZHA ZHE ZHI ZHU ZOU ZU BAI BAO BI BU DO VO VU TA TO IM JO NA NO RO SO"
)


def display_name(raw: str) -> str:
    """A name as it is shown, given name first: ``Shieber, Stuart M.`` → ``Stuart M. Shieber``.

    TeX and character references are decoded. E-mail addresses, footnote marks and braces are dropped.
    Chinese names stay in their order. A name that stands in braces as a whole is an organisation's, and its commas
    part nothing (``{Task Force, Rivers Department}``).
    """
    text = _EMAIL.sub(" ", raw)
    if _is_braced(text.strip()):
        return " ".join(clean(text).replace("{", "").replace("}", "").split())
    text = clean(text).replace("{", "").replace("}", "").replace("$", "").replace("*", "")
    text = " ".join(_MARKS.sub("", text).split()).strip(" ,;")
    parts = [part for part in (piece.strip() for piece in re.split("[,，]", text)) if part]
    if not parts:
        return ""
    suffixes = [part for part in parts[1:] if _SUFFIX.fullmatch(part)]
    rest = [parts[0], *(part for part in parts[1:] if part not in suffixes)]
    if len(rest) == 1:
        return " ".join([rest[0], *suffixes])
    family, given = rest[0], " ".join(rest[1:])
    if _HAN.search(family) and _HAN.search(given):
        return f"{family}{given}"
    words = family.split()
    if len(words) > 1 and _SUFFIX.fullmatch(words[-1]):
        family, suffixes = " ".join(words[:-1]), [words[-1], *suffixes]
    return " ".join([given, family, *suffixes])


def _is_braced(text: str) -> bool:
    """Whether the first brace opens the text, and its partner ends it."""
    if not (text.startswith("{") and text.endswith("}")):
        return False
    depth = 0
    for brace in re.finditer("[{}]", text[:-1]):
        depth += 1 if brace[0] == "{" else -1
        if not depth:
            return False
    return True


def name_key(name: str) -> tuple[str, str]:
    """The folded family name without particles, and the folded first initial; ("", "") for a damaged or empty name."""
    given, family = _given_and_family(name)
    return family, given[0][0] if given else ""


@lru_cache(maxsize=1 << 14)  # the same names are compared over and over
def _given_and_family(name: str) -> tuple[tuple[str, ...], str]:
    """Folded given names and the family name of a name in any written form."""
    if "\ufffd" in name:
        return (), ""
    shown = display_name(name)
    if _HAN.search(shown):
        return _east_asian(shown)
    words = [word for word in re.split(r"[\s.]+", shown) if word.strip("-'’`")]
    while len(words) > 1 and _SUFFIX.fullmatch(words[-1]):
        words.pop()
    if not words:
        return (), ""
    if len(words) >= 2 and _are_initials(words[-1]) and "." not in shown and (len(words[0]) > 1 or len(words) == 2):
        family_words, given_words = words[:-1], list(words[-1])
    else:
        start = len(words) - 1
        for i in range(1, len(words) - 1):
            if fold(words[i]) in _PARTICLES:
                start = i
                break
        family_words, given_words = words[start:], words[:start]
    while len(family_words) > 1 and fold(family_words[0]) in _PARTICLES:
        family_words = family_words[1:]
    given = tuple(folded for folded in (_letters(word) for word in given_words) if folded)
    return given, " ".join(_letters(word) for word in family_words)


def _are_initials(word: str) -> bool:
    return 1 <= len(word) <= 3 and word.isalpha() and word.isupper() and word.isascii() and word not in _SHORT_SURNAMES


def _letters(word: str) -> str:
    return re.sub(r"[\W_]+", "", fold(word))


def _east_asian(shown: str) -> tuple[tuple[str, ...], str]:
    name = re.sub(r"[\s·・]+", "", shown)
    length = 2 if name[:2] in _DOUBLE_SURNAMES else 1
    given = name[length:]
    return ((given,) if given else ()), name[:length]


def same_person(a: str, b: str) -> bool:
    """Whether two written names can be one person's: same family name, and given names that agree
    as far as both are spelled.

    Family name first or last, accents, hyphens, initials and missing middle names do not matter.
    Damaged names never match.
    """
    given_a, family_a = _given_and_family(a)
    given_b, family_b = _given_and_family(b)
    if not family_a or not family_b:
        return False
    if _same_family(family_a, family_b):
        return _agree(given_a, given_b)
    turned = given_a and given_b and sorted([*given_a, family_a]) == sorted([*given_b, family_b])
    return bool(turned and len(given_a) == 1)


def _same_family(a: str, b: str) -> bool:
    """Equal, or one is the other's last part (``San Martín Suárez`` is often cut to ``Suárez``)."""
    return a == b or f" {a}".endswith(f" {b}") or f" {b}".endswith(f" {a}")


def _agree(a: tuple[str, ...], b: tuple[str, ...]) -> bool:
    if not a or not b:
        return not a and not b
    if "".join(a) == "".join(b):
        return True
    return all(_same_given(x, y) for x, y in zip(a, b, strict=False))


def _same_given(x: str, y: str) -> bool:
    return x == y or ((_is_initial(x) or _is_initial(y)) and x[0] == y[0])


def _is_initial(given: str) -> bool:
    """Whether a given name is cut to its first letter; one letter of Chinese or Korean is a whole name."""
    return len(given) == 1 and unicodedata.east_asian_width(given) not in "WF"


_TRUNCATED = re.compile(
    r"(?:[,，;；、\s]|\band\b|&)*(?:\bet\.?\s+al\b\.?|等(?:人|著)?|\.{3,}|…+|(?:\b[0-9]+\s+)?\bothers\b\.?)\s*$", re.I
)
_BRACKETED = re.compile(r"\s*[(（][^()（）]*(?:\([^()]*\)[^()]*)*[)）]")
_AND = re.compile(r"\s+(?:and|&|und|et)\s+|\s*[,，]\s*(?:and|&)\s+", re.I)
_LISTING = re.compile(r"\s*[;；]\s*")
_COMMA = re.compile(r"\s*[,，、]\s*")
_INITIALS = re.compile(r"(?:[A-Z]\.?[\s-]?){1,4}")


def split_authors(line: str) -> tuple[tuple[str, ...], bool]:
    """The names of an author line as shown, and whether the line says that it was cut (``等``, ``et al.``, ``...``)."""
    text = " ".join(_BRACKETED.sub("", line).split())
    shortened = _TRUNCATED.sub("", text)
    truncated = shortened != text
    names: list[str] = []
    for part in _parts(shortened):
        if name := display_name(part):
            names.append(name)
    return tuple(names), truncated


def _parts(text: str) -> list[str]:
    if _LISTING.search(text):
        return _LISTING.split(text)
    by_and = _AND.split(text)
    if len(by_and) > 1 and all(_is_inverted(part) for part in by_and):
        return by_and
    parts = [part for piece in by_and for part in _with_suffixes(_COMMA.split(piece))]
    if len(parts) % 2 == 0 and _alternate(parts):
        return [f"{family}, {given}" for family, given in zip(parts[::2], parts[1::2], strict=True)]
    if len(parts) == 2 and len(by_and) == 1 and " " not in parts[0] and not _HAN.search(text):
        return [text]
    return parts


def _alternate(parts: list[str]) -> bool:
    """``Smith, J., Doe, A. B.``: every second part is nothing but initials, and no other one is."""
    return all(_INITIALS.fullmatch(part) for part in parts[1::2]) and not any(
        _INITIALS.fullmatch(part) for part in parts[::2]
    )


def _is_inverted(part: str) -> bool:
    """``Family, Given``, as BibTeX writes it between its "and"s; a name without a comma is one name too."""
    commas = _COMMA.split(part)
    if len(commas) == 1:
        return True
    return len(commas) <= 3 and (" " not in commas[0] or fold(commas[0].split()[0]) in _PARTICLES)


def _with_suffixes(parts: list[str]) -> list[str]:
    joined: list[str] = []
    for part in parts:
        if joined and _SUFFIX.fullmatch(part):
            joined[-1] += f", {part}"
        else:
            joined.append(part)
    return joined
