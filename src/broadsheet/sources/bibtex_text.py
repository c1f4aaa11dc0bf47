"""What the values of BibTeX fields mean: braces, months, addresses. For the reader and the writer alike."""

from __future__ import annotations

import re

from broadsheet.text import clean
from broadsheet.text.mathtext import hold_math, release_math
from broadsheet.text.symbols import listed

MONTHS = ("jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec")
"""The macros of months that every style knows."""
_MONTH = re.compile(
    r"(jan(?:uary)?|feb(?:ruary)?|mar(?:ch)?|apr(?:il)?|may|june?|july?|aug(?:ust)?|sept?(?:ember)?|oct(?:ober)?"
    r"|nov(?:ember)?|dec(?:ember)?)\.?|0?([1-9])|(1[0-2])",
    re.IGNORECASE,
)
NAME_FIELDS = listed(
    "author editor editora editorb editorc translator annotator commentator introduction foreword afterword"
    " bookauthor holder namea nameb namec"
)
VERBATIM = listed(
    "doi url eprint file verba verbb verbc pdf urlraw biburl link pmid pmcid isbn issn crossref xref xdata ids related "
    "entryset groups owner timestamp creationdate modificationdate date-added date-modified comment review"
)
"""Fields that no style typesets, so that TeX means nothing in them: addresses, keys, names of files, readers' notes."""

_BRACES = re.compile(r"\\[\s\S]|[{}]")
# What stands before a brace that opens an argument: a command (with options), an accent, another argument, ^ or _.
_TAKES_ARGUMENT = re.compile(r"(?:\\(?:[A-Za-z]+\*?|['\"^`~=.])\s*(?:\[[^\[\]]*\])?|[\^_])$")
_ESCAPED = re.compile(r"\\([%&_#${}~])(?:\{\})?|\{\\([%&_#$])\}")
_WRAP = re.compile(r"\s*\n\s*")
_URL_COMMAND = re.compile(r"\\url\s*\{([^{}]*)\}|\\href\s*\{([^{}]*)\}\s*\{[^{}]*\}")


def month_number(value: str) -> int | None:
    """1 to 12 from a month alone, as a macro, a name or a number; None for anything more or other."""
    found = _MONTH.fullmatch(value.strip().rstrip("."))
    if not found:
        return None
    return MONTHS.index(found[1][:3].lower()) + 1 if found[1] else int(found[2] or found[3])


def unprotect(tex: str) -> str:
    """One line without the braces that only keep capitals: those of arguments, TeX groups and formulas stay."""
    text = " ".join(tex.split())
    if "{" not in text and "}" not in text:
        return text
    held, formulas = hold_math(text)
    held = _unbraced(held) if "{" in held else held
    return release_math(held, [f"$${body}$$" if kind == "display" else f"${body}$" for kind, body in formulas])


def _unbraced(text: str) -> str:
    pieces: list[str] = []
    kept: list[bool] = []  # for each open brace
    at = after_argument = 0
    for found in _BRACES.finditer(text):
        sign = found[0]
        if sign[0] == "\\":
            continue
        pieces.append(text[at : found.start()])
        at = found.end()
        if sign == "{":
            before = text[max(0, found.start() - 60) : found.start()]
            argument = bool(_TAKES_ARGUMENT.search(before)) or after_argument == found.start() > 0
            keeps = argument or text[at : at + 1] == "\\" or text[at : at + 1] == "}"
            kept.append(keeps)
            pieces.append("{" if keeps else "")
        else:
            keeps = kept.pop() if kept else True
            pieces.append("}" if keeps else "")
            after_argument = at if keeps else 0
    return "".join([*pieces, text[at:]])


def plain_address(value: str) -> str:
    """An address or identifier without the TeX that some programs write into it (``\\_``, ``\\url{…}``)."""
    text = " ".join((_WRAP.sub("", value) if "://" in value else value).split())
    if "\\" not in text and "{" not in text:
        return text
    if found := _URL_COMMAND.search(text):
        text = found[1] if found[1] is not None else found[2]
    text = text.replace("\\textasciitilde{}", "~").replace("\\textasciitilde", "~").replace("\\string", "")
    text = _ESCAPED.sub(lambda found: found[1] or found[2], text)
    return text[1:-1] if text.startswith("{") and text.endswith("}") else text


def decoded(value: str) -> str:
    """The text that a field's value stands for, whatever braces and TeX it is written with."""
    return clean(unprotect(value))


def with_subtitle(title: str, subtitle: str) -> str:
    """A title and its subtitle in one."""
    if not title or not subtitle:
        return title or subtitle
    return f"{title} {subtitle}" if title[-1] in ".:?!" else f"{title}: {subtitle}"
