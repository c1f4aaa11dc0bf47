r"""What an entry of a file says of its own screening: the label, the screeners' notes and reasons.

Read are the conventions of

- ASReview (docs of version 1, data readers of version 3): notes ``ASReview_relevant``, ``ASReview_irrelevant`` and
  ``ASReview_not_seen`` in RIS, also in the paragraphs that Zotero makes of notes; the columns in ``COLUMNS``; and what
  its exports say in ``asreview_note``;
- Rayyan: ``RAYYAN-INCLUSION: {"Anna"=>"Included"} | RAYYAN-EXCLUSION-REASONS: … | RAYYAN-LABELS: … | USER-NOTES: …``
  in the notes of RIS, CSV and BibTeX;
- Covidence: the reason in the notes of an excluded study (``Exclusion reason: …;``). Its exports name no decision;
- this project's own exports (``out_screening``).

A record's ``details`` and ``raw`` hold all of this, so reading it changes nothing about what an import stores.
"""

from __future__ import annotations

import html
import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from functools import lru_cache
from typing import Any

import orjson

from broadsheet.model import Record, Refusal
from broadsheet.model.screening import Label
from broadsheet.sources.base import Item
from broadsheet.sources.bibtex_text import decoded
from broadsheet.sources.columns import list_of, shown_cell
from broadsheet.sources.headings import heading

COLUMNS = (
    *("asreview label", "included", "label", "final included", "label included", "included label", "included final"),
    *("included flag", "include", "label final", "final label", "relevant", "abstract included", "label full text"),
    *("label abstract", "label abstract screening", "decision", "screening decision", "inclusion", "rayyan decision"),
    *("标签", "是否纳入", "纳入"),
)
"""Headings of columns with labels; of several the first that is not empty counts, so later stages before earlier."""
SCREENING_NOTES = ("screening note", "asreview note", "file note")
"""Headings of columns with screeners' notes."""
PLAIN_NOTES = ("note", "notes", "备注")
"""Headings of columns with notes of any kind. As databases fill them, they count only in entries that were screened."""
REASON_COLUMNS = ("reasons", "reason", "exclusion reason", "exclusion reasons", "asreview reasons")
NOTE = "Screening note: "
REASONS = "Screening reasons: "
STAGE = "Screening label, "
HOW = "Screened: "
"""How the lines begin in which ``out_screening`` says in RIS what ASReview has no sign for."""

_VALUES: dict[Label | None, str] = {
    Label.INCLUDE: "1; yes; y; true; include; included; relevant; asreview_relevant; 是; 纳入",
    Label.EXCLUDE: "0; no; n; false; exclude; excluded; irrelevant; not relevant; asreview_irrelevant; 否; 排除",
    Label.LATER: "maybe; later; unsure; unclear",
    None: "-1; undecided; not seen; not_seen; asreview_not_seen; unseen; unread; unlabelled; unlabeled; unscreened",
}
VALUES = {value: label for label, values in _VALUES.items() for value in values.split("; ")}
"""Label by the value of a cell, in small letters; every other value cannot be read."""
_NUMBER = re.compile(r"(1|0|-1)[.,]0+")
"""A whole number as spreadsheets write it, some with a comma."""
_USABLE = "a label is 1, 0 or empty, or a word such as include, exclude, maybe"
_KEPT = "the record is kept without a label"

_ASREVIEW = re.compile(r"\bASReview_(\w+)\b", re.IGNORECASE)
_OF_ASREVIEW = {"relevant": Label.INCLUDE, "irrelevant": Label.EXCLUDE, "not_seen": None}
# Signs of version 1 that are no decisions: known before screening, and labels that were to be checked.
_NO_DECISION = frozenset(("prior", "validate_relevant", "validate_irrelevant", "validate_not_seen"))
_EXPORTED = re.compile(r"asreview_(\w+): ?(.*)", re.DOTALL)
_SIGNS = tuple(f"ASReview_{name}" for name in _OF_ASREVIEW)
_OF_RAYYAN = {"included": Label.INCLUDE, "excluded": Label.EXCLUDE, "maybe": Label.LATER}
_RAYYAN = re.compile(r"\b(RAYYAN-[A-Z]+(?:-[A-Z]+)*|USER-NOTES)\s*:\s*")
_SECTION = re.compile(r"\{(?:\"(?:[^\"\\]|\\.)*\"|[^{}\"])*\}|(?:(?!\s\|\s)[^\n])*", re.DOTALL)
_PAIR = re.compile(r"\"((?:[^\"\\]|\\.)*)\"\s*=>\s*\"((?:[^\"\\]|\\.)*)\"")
_QUOTED = re.compile(r"\"((?:[^\"\\]|\\.)*)\"(\s*=>)?")
_COVIDENCE = re.compile(r"\bExclusion reason:\s*([^;|\n]+);?", re.IGNORECASE)
_BY_PROGRAMS = re.compile(r"(?:cited by|times cited|export date)\b.*", re.IGNORECASE)
_HTML = re.compile(r"\s*<(?:p|div|ul|ol|h\d|span)\b[^>]*>", re.IGNORECASE)
_BREAK = re.compile(r"</(?:p|div|li|h\d)>|<br ?/?>", re.IGNORECASE)
_TAG = re.compile(r"</?[a-z][^<>]*>", re.IGNORECASE)
NOTES = re.compile(r"(?:note|annote|annotation|comment)(?:-\d+)?|nbib-(?:gn|n1)|ris-(?:u[1-5]|rn)")
"""Details that hold notes."""


@dataclass(frozen=True, slots=True)
class Labelled:
    """A record and what its file says of its screening. ``problem`` says why a label that is there was not taken;
    ``remarks`` are the notes in it that say nothing of its screening, by lines."""

    record: Record
    label: Label | None = None
    note: str = ""
    reasons: tuple[str, ...] = ()
    problem: Refusal | None = None
    remarks: tuple[str, ...] = ()


def labelled(items: Iterable[Item], where: str) -> Iterator[tuple[Item, Labelled | Refusal]]:
    """The entries of an input for screening, each with its item, in order: as ``label_of``, or why one is refused.

    ``where`` names the input in problems. What a person decided of a library's records is left out.
    """
    for item in items:
        if isinstance(item.entry, Record):
            yield item, label_of(item.entry, where)
        elif isinstance(item.entry, Refusal):
            yield item, item.entry


def label_of(record: Record, where: str) -> Labelled:
    """What an entry says of its screening; a label that cannot be read, or two that differ, are a ``problem``."""
    cells = _cells(record)
    said = _Said()
    for name in SCREENING_NOTES:
        said.lines += cells[name][1].split("\n") if name in cells else []
    for place, text in _plain_notes(record, cells):
        said.note(place, text)
    for name in REASON_COLUMNS:
        if name in cells:
            said.reasons += _parts(cells[name][1])
    claims = said.claims
    if column := next((name for name in COLUMNS if cells.get(name, ("", ""))[1]), ""):
        shown, value = cells[column]
        try:
            claims = [(f"column {shown!r}", value_of(value)), *claims]
        except ValueError as error:
            said.faults.append(f"{shown}: {error}")
    label, fault = _agreed(claims)
    if label is None and said.later:
        label = Label.LATER
    faults = [*said.faults, *([fault] if fault else ())]
    is_screened = bool(claims or faults or said.reasons)
    return Labelled(
        record,
        None if faults else label,
        "\n".join(dict.fromkeys(filter(None, [*said.lines, *(said.others if is_screened else ())]))),
        tuple(dict.fromkeys(said.reasons)),
        Refusal(where, record.line, f"{faults[0]}; {_KEPT}") if faults else None,
        tuple(dict.fromkeys(filter(None, said.remarks))),
    )


def value_of(text: str) -> Label | None:
    """The label that a cell means, None for a record that was not screened. Raises ValueError for any other value."""
    value = " ".join(text.casefold().split())
    value = found[1] if (found := _NUMBER.fullmatch(value)) else value
    if value and value not in VALUES:
        shown = text if len(text) <= 60 else f"{text[:60]}…"
        raise ValueError(f"{shown!r} is no label; {_USABLE}")
    return VALUES.get(value)


def _agreed(claims: list[tuple[str, Label | None]]) -> tuple[Label | None, str]:
    """The label on which the places that name one agree, and what to say where they do not."""
    named = {label: place for place, label in reversed(claims) if label is not None}
    if len(named) <= 1:
        return next(iter(named), None), ""
    parts = " and ".join(f"{label} in {place}" for label, place in sorted(named.items()))
    return None, f"the entry contradicts itself, {parts}"


# --- where it is said ------------------------------------------------------------------------------------------------


@lru_cache(maxsize=4096)
def _heading(name: str) -> str:
    return heading(name)


def _cells(record: Record) -> Mapping[str, tuple[str, str]]:
    """Of tables and JSON: by heading, the name as it stands in the file and its text. Empty for every other format."""
    if not record.raw.startswith("{"):
        return {}
    try:
        entry = orjson.loads(record.raw)
    except orjson.JSONDecodeError:  # of a format that only begins like JSON
        return {}
    cells: dict[str, tuple[str, str]] = {}
    for name, value in entry.items():
        if text := _text(value):
            cells.setdefault(_heading(name), (name, text))
    return cells


def _text(value: Any) -> str:
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, int | float | str):
        return shown_cell(str(value))
    if isinstance(value, dict) and "value" in value:  # as OpenReview writes its fields
        return _text(value["value"])
    if isinstance(value, list):
        return "\n".join(filter(None, map(_text, value)))
    return ""


def _plain_notes(record: Record, cells: Mapping[str, tuple[str, str]]) -> Iterator[tuple[str, str]]:
    """(field, text) of the notes that may be anyone's, each text once."""
    found: dict[str, str] = {}
    for name in PLAIN_NOTES:
        if name in cells:
            found.setdefault(cells[name][1], cells[name][0])
    if not found:
        for name, value in record.details:
            if NOTES.fullmatch(name):
                found.setdefault(_without_tex(value) if record.raw.lstrip().startswith("@") else value, name)
    yield from ((name, text) for text, name in found.items())
    # Signs among the keywords only: the keywords themselves are no notes.
    if signs := [word for word in record.keywords if _ASREVIEW.fullmatch(word.replace("\\_", "_"))]:
        yield "keywords", "\n".join(signs).replace("\\_", "_")


def _parts(text: str) -> list[str]:
    return [part for piece in (list_of(text) or re.split("[;|\n]", text)) if (part := piece.strip())]


# --- what it says ----------------------------------------------------------------------------------------------------


@dataclass(slots=True)
class _Said:
    """What the notes of one entry say: labels with the place of each, screeners' lines and all others, reasons, and
    what is wrong."""

    claims: list[tuple[str, Label | None]] = field(default_factory=list)
    lines: list[str] = field(default_factory=list)
    others: list[str] = field(default_factory=list)
    remarks: list[str] = field(default_factory=list)
    reasons: list[str] = field(default_factory=list)
    faults: list[str] = field(default_factory=list)
    later: bool = False

    def note(self, name: str, text: str) -> None:
        """Take in a note. ``name`` is its field."""
        for part in list_of(text) or [text]:  # pandas writes the notes of RIS as a list
            for line in self._without_rayyan(name, _without_html(part)).split("\n"):
                self._line(name, line.strip(" |\t\r"))

    def _line(self, name: str, line: str) -> None:
        if exported := _EXPORTED.fullmatch(line):
            if exported[1] == "note":
                self.lines += _json_text(exported[2]).split("\n")
        elif line.startswith(NOTE):
            self.lines.append(line[len(NOTE) :])
        elif line.startswith(REASONS):
            self.reasons += _parts(line[len(REASONS) :])
        elif line.startswith(STAGE):
            self.later = self.later or line.endswith(f": {Label.LATER}")
        elif (sign := _ASREVIEW.fullmatch(line)) and not self._sign(name, sign):
            self.faults.append(f"{name}: {line!r} is no sign of ASReview's; they are {', '.join(_SIGNS)}")
        elif _BY_PROGRAMS.fullmatch(line):
            self.remarks.append(line)
        elif not line.startswith(HOW):
            self.reasons += [reason.strip() for reason in _COVIDENCE.findall(line)]
            rest = _ASREVIEW.sub(lambda found: "" if self._sign(name, found) else found[0], _COVIDENCE.sub("", line))
            self.others.append(rest.strip(" ;|,"))
            self.remarks.append(self.others[-1])

    def _sign(self, name: str, found: re.Match[str]) -> bool:
        """Take in a sign of ASReview's; whether it is one."""
        sign = found[1].lower()
        if sign in _OF_ASREVIEW:
            self.claims.append((f"{name} {found[0]!r}", _OF_ASREVIEW[sign]))
        return sign in _OF_ASREVIEW or sign in _NO_DECISION

    def _without_rayyan(self, name: str, text: str) -> str:
        """Take in the sections that Rayyan writes into a note, and give what is left of it."""
        rest: list[str] = []
        at = 0
        marks = list(_RAYYAN.finditer(text))
        ends = [*(mark.start() for mark in marks[1:]), len(text)]
        for mark, end in zip(marks, ends, strict=False):
            found = _SECTION.match(text, mark.end(), end)
            assert found  # it matches the empty text, too
            self._rayyan(name, mark[1], found[0])
            rest += text[at : mark.start()], text[found.end() : end]
            at = end
        return "\n".join([*rest, text[at:]])

    def _rayyan(self, name: str, section: str, text: str) -> None:
        if section == "RAYYAN-INCLUSION":
            self._decisions(name, _PAIR.findall(text))
        elif section == "RAYYAN-EXCLUSION-REASONS":
            self.reasons += [reason for part in text.split(",") if (reason := part.strip())]
        elif section == "RAYYAN-LABELS" and text.strip():
            self.lines.append(f"Labels: {text.strip()}")
        elif section == "USER-NOTES":
            self.lines += [note.replace('\\"', '"').strip() for note, names in _QUOTED.findall(text) if not names]

    def _decisions(self, name: str, decisions: list[tuple[str, str]]) -> None:
        told = ", ".join(f"{who} {word}" for who, word in decisions)
        labels = {_OF_RAYYAN.get(word.casefold()) for _, word in decisions}
        if None in labels:
            self.faults.append(f"{name}: Rayyan's decisions ({told}) are not all Included, Excluded or Maybe")
        elif len(labels) > 1:
            self.faults.append(f"{name}: the screeners decided differently in Rayyan ({told})")
        self.claims += [(f"{name} RAYYAN-INCLUSION", label) for label in labels]


def _without_tex(text: str) -> str:
    """A note of BibTeX as TeX would show it; Rayyan writes its braces there without escaping them."""
    lines = text.split("\n")
    return "\n".join(
        line.replace("\\_", "_").replace("\\&", "&") if "RAYYAN-" in line else decoded(line) for line in lines
    )


def _without_html(text: str) -> str:
    """A note without the marks of Zotero, which writes notes as HTML."""
    return html.unescape(_TAG.sub("", _BREAK.sub("\n", text))) if _HTML.match(text) else text


def _json_text(text: str) -> str:
    """ASReview writes its notes as JSON behind their names."""
    try:
        found = orjson.loads(text)
    except orjson.JSONDecodeError:
        return text
    return found if isinstance(found, str) else ""
