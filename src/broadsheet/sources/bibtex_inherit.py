"""What an entry has from others: BibLaTeX's ``xdata`` (all fields) and ``crossref`` (the volume that a paper is in).

The rules are those of the BibLaTeX manual's appendix B, for the fields that say where and when something appeared. A
volume's DOI, address, abstract, note or keywords are never those of its papers.
"""

from __future__ import annotations

from collections.abc import Callable

from broadsheet.sources.bibtex_syntax import Fields
from broadsheet.text.symbols import listed

Parent = Callable[[str], tuple[str, Fields] | None]

_DEEPEST = 10
_INHERITED = listed(
    "booktitle editor editortype publisher address location series volume volumes number isbn issn organization "
    "institution edition eventtitle eventtitleaddon eventdate venue journal journaltitle issue issuetitle maintitle "
    "mainsubtitle year month date howpublished language bookauthor booksubtitle booktitleaddon shortjournal"
)
_TITLES = (("title", ""), ("subtitle", "sub"), ("titleaddon", "addon"))
_PARTS = listed("inproceedings conference incollection inbook bookinbook suppbook suppcollection inreference")
_MAIN = listed("mvbook mvcollection mvproceedings mvreference")
_DATES = listed("year month date")


def inherited(kind: str, own: dict[str, str], parent: Parent) -> dict[str, str]:
    """``own`` fields of an entry, and after them what it inherits; what it says itself counts more."""
    return _with_parents(kind, own, parent, 0)


def _with_parents(kind: str, own: dict[str, str], parent: Parent, depth: int) -> dict[str, str]:
    fields = dict(own)
    if depth > _DEEPEST:  # entries that name each other
        return fields
    for key in own.get("xdata", "").split(","):
        if found := parent(key):
            given = _with_parents(found[0], _filled(found[1]), parent, depth + 1)
            for name, value in given.items():
                if name not in ("ids", "xdata"):
                    fields.setdefault(name, value)
    if "crossref" in own and (found := parent(own["crossref"])):
        above = _with_parents(found[0], _filled(found[1]), parent, depth + 1)
        dated = "year" in fields or "date" in fields  # a date is inherited as a whole or not at all
        for name, value in _handed_down(found[0], kind, above).items():
            if not (dated and name in _DATES):
                fields.setdefault(name, value)
    return fields


def _filled(fields: Fields) -> dict[str, str]:
    return {name: value.strip() for name, value in fields if value.strip()}


def _handed_down(kind: str, child: str, fields: dict[str, str]) -> dict[str, str]:
    """A volume's fields under the names that they have in an entry of type ``child``."""
    down: dict[str, str] = {}
    prefix = "main" if kind in _MAIN else "book" if child in _PARTS else ""
    for name, part in _TITLES:
        if name in fields and (target := _title_of(prefix, part, kind, child)):
            down[target] = fields[name]
    if child in ("inbook", "bookinbook", "suppbook") and "author" in fields:
        down["author"] = down["bookauthor"] = fields["author"]
    elif kind == "mvbook" and child == "book" and "author" in fields:
        down["author"] = fields["author"]
    down |= {name: value for name, value in fields.items() if name in _INHERITED}
    return down


def _title_of(prefix: str, part: str, kind: str, child: str) -> str:
    if kind == "periodical" and child in ("article", "suppperiodical"):
        return {"": "journaltitle", "sub": "journalsubtitle"}.get(part, "")
    if not prefix:
        return ""
    return prefix + {"": "title", "sub": "subtitle", "addon": "titleaddon"}[part]
