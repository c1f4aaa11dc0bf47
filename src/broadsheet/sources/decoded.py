"""Details of a paper for formats that know no TeX."""

from __future__ import annotations

from broadsheet.text import clean

_VERBATIM = frozenset(("citekey", "url", "file", "doi", "eprint"))


def decoded(name: str, value: str) -> str:
    """A detail, which stays as its source wrote it, with TeX's accents and braces read."""
    if name in _VERBATIM or not ("\\" in value or "{" in value):
        return value
    return clean(value)
