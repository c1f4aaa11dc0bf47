"""Lists of names in BibTeX and BibLaTeX: split, shown, and sorted by family name. For reader and writer alike."""

from __future__ import annotations

import re
from functools import lru_cache

from broadsheet.text import display_name, split_authors
from broadsheet.text.symbols import listed

_AND = re.compile(r"\s+and(?=\s)", re.IGNORECASE)
_BRACE_OR_AND = re.compile(r"\\[\s\S]|[{}]|\s+and(?=\s)", re.IGNORECASE)
_OTHERS = re.compile(r"(?:^|\s+and\s+|[,;]\s*|\s+)(?:others|et\.?\s*al\.?|\.\.\.|…)\s*$", re.IGNORECASE)
_PART = re.compile(r"\s*([A-Za-z][A-Za-z-]*)\s*=\s*(\"[^\"]*\"|\{(?:[^{}]|\{[^{}]*\})*\}|[^,]*?)\s*(?:,|$)")
_PART_NAMES = listed("given family prefix suffix useprefix given-i family-i prefix-i suffix-i")
_SUFFIX = re.compile(r"^(jr|sr|ii|iii|iv)\.?$", re.IGNORECASE)
_PARTICLES = listed("von van de der den del della di da dos du la le ten ter te zu zur al bin el y af")
# With a capital the others are given names as well (Bin, Al, Du, Da).
_CAPITAL_PARTICLES = listed("Von Van De Der Den Del Della Di Dos La Le")
_ORGANISATION = re.compile(
    r"\b(?:and|of|for|the|Team|Group|Collaboration|Consortium|University|Institute|Labs?|Laboratory|Inc|Ltd|Corp"
    r"|Foundation|Project|Committee|Society|Association|Cent(?:er|re)|Department|Network|Initiative|Research)\b|[&,\d]"
)
_INVERTED = r"[^{},]+,(?:\s?[^\W\d_]\.-?)+"
_PEOPLE_IN_BRACES = re.compile(rf"\{{({_INVERTED}(?:\sand\s{_INVERTED})+)\}}")
"""Names with initials: braces as round an organisation's name were put round a whole list."""
_INNERMOST = re.compile(r"\{[^{}]*\}")
_EAST_ASIAN = re.compile("[\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af]")


def names_of(value: str) -> tuple[tuple[str, ...], bool]:
    """The names of a list in order, each as written, and whether the list says that it was cut (``and others``).

    Names of BibLaTeX's extended form (``given=…, family=…``) become ``prefix family, suffix, given``.
    """
    text = " ".join(value.split())
    if people := _PEOPLE_IN_BRACES.fullmatch(text):
        text = people[1]
    names = [name for part in _split(text) if (name := part.strip(" ,;"))]
    cut = False
    if names and names[-1].lower().rstrip(".") in ("others", "et al", "..", "…"):
        names.pop()
        cut = True
    elif names and "{" not in names[-1] and (shortened := _OTHERS.sub("", names[-1])) != names[-1]:
        names[-1] = shortened.strip(" ,;")
        cut = True
    if any(";" in name or name.count(",") > 2 for name in names):  # lists written with other separators
        names, cut = _listed(names, cut)
    return tuple(_extended(name) if "=" in name else name for name in names if name), cut


def _split(text: str) -> list[str]:
    """The parts between the "and"s outside of braces. (bibtexparser's own function loses an accent after an "and".)"""
    if "{" not in text:
        return _AND.split(f" {text} ")
    padded = f" {text} "
    parts: list[str] = []
    at = depth = 0
    for found in _BRACE_OR_AND.finditer(padded):
        if found[0] == "{":
            depth += 1
        elif found[0] == "}":
            depth -= 1
        elif depth <= 0 and found[0][0] != "\\":
            parts.append(padded[at : found.start()])
            at = found.end()
    return [*parts, padded[at:]]


def _listed(names: list[str], cut: bool) -> tuple[list[str], bool]:
    out: list[str] = []
    for name in names:
        if "{" in name or "=" in name or not (";" in name or name.count(",") > 2):
            out.append(name)
        else:
            found, shortened = split_authors(name)
            out += found
            cut = cut or shortened
    return out, cut


def _extended(name: str) -> str:
    parts: dict[str, str] = {}
    at = 0
    while at < len(name) and (found := _PART.match(name, at)):
        key, value = found[1].lower(), found[2]
        if key not in _PART_NAMES:
            return name
        parts[key] = value[1:-1] if value[:1] in ('"', "{") and len(value) > 1 else value
        at = found.end()
    if at < len(name) or not ("family" in parts or "given" in parts):
        return name
    family = " ".join(filter(None, (parts.get("prefix", ""), parts.get("family", ""))))
    return ", ".join(filter(None, (family, parts.get("suffix", ""), parts.get("given", ""))))


@lru_cache(maxsize=8192)
def shown(name: str) -> str:
    """A name of a list as it is shown: given name first, a name in braces as it is."""
    return display_name(name)


def is_wellformed(value: str) -> bool:
    """Whether each name of a list has the two commas of ``von Last, Jr, First`` or fewer, none of them at its end."""
    return all(_commas(part) <= 2 and not part.rstrip().endswith(",") for part in _split(" ".join(value.split())))


def _commas(name: str) -> int:
    """How many commas a name has outside of braces."""
    while (outer := _INNERMOST.sub("", name)) != name:
        name = outer
    return name.count(",")


def is_person(name: str) -> bool:
    """Whether a name as it is shown is a person's, whose family name comes last."""
    words = name.split()
    special = any(word.lower() in ("and", "others") for word in words)
    unnamed = (len(words) > 1 and words[0] in _PARTICLES) or (len(words) == 2 and bool(_SUFFIX.match(words[1])))
    return not special and not unnamed and not _ORGANISATION.search(name)


def sorted_name(name: str) -> str:
    """A person's name in display order as ``Family, Given``, particles before and suffixes after the family name."""
    words = name.split()
    if len(words) < 2:
        return name
    if _EAST_ASIAN.search(name):
        return f"{words[0]}, {' '.join(words[1:])}"
    suffix = words.pop() if len(words) > 2 and _SUFFIX.match(words[-1]) else ""
    particles = (i for i in range(1, len(words) - 1) if words[i] in _PARTICLES or words[i] in _CAPITAL_PARTICLES)
    start = next(particles, len(words) - 1)
    parts = [" ".join(words[start:]), *([suffix] if suffix else []), " ".join(words[:start])]
    return ", ".join(parts)
