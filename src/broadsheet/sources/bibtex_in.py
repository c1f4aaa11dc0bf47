r"""BibTeX and BibLaTeX files, read entry by entry.

Every ``@type{…}`` but ``@string``, ``@preamble`` and ``@comment`` is one record or one refusal with its line. Of two
entries with one key both are kept; the key of the second record ends in ``#2``. What ``crossref`` and ``xdata`` name is
inherited by BibLaTeX's rules, as far as the fields say where a paper appeared; addresses, identifiers and texts of a
volume are not those of its papers. ``@preamble`` holds TeX for one document and is not kept.

In ``details`` stands every field that a record has no place for or keeps only in part, as it was written: ``title`` if
braces keep its capitals, ``author`` if the parts of a name cannot be told from how it is shown, ``year`` if it is more
than a year. An empty field counts as absent; the second of two fields of one name gets the name ``note-2``.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, field, replace

from broadsheet.model import Record, Refusal
from broadsheet.sources.base import Entry, Limits, too_long
from broadsheet.sources.bibtex_inherit import inherited
from broadsheet.sources.bibtex_record import record_of
from broadsheet.sources.bibtex_syntax import Block, BlockError, Fields, blocks, entry_of, macro_of
from broadsheet.sources.encodings import decode
from broadsheet.sources.jsonl import digest_of
from broadsheet.sources.naming import source_of

NAME = "BibTeX"
_NO_ENTRY = ("string", "preamble", "comment")
_SIGN = re.compile(
    r"^[ \t]*@[ \t]*(?:(?:string|preamble|comment)\s*[{(]|[A-Za-z][\w-]*\s*[{(][^{}()=\n]{0,200},)", re.I | re.M
)
_MOST_LINES_BEFORE = 12
_RELATIONS = [case(word) for word in ("crossref", "xdata") for case in (str.lower, str.upper, str.title)] + ["CrossRef"]
_TARGETS = re.compile(r"\b(?:crossref|xdata)\s*=\s*[{\"]([^{}\"]*)[}\"]", re.IGNORECASE)
_ALIASES = re.compile(r"\bids\s*=\s*[{\"]([^{}\"]*)[}\"]", re.IGNORECASE)
_KEY = re.compile(r"@\s*[\w-]+\s*[{(]\s*([^\s,{}()=\"#%]*)")
_LONGEST_KEY = 200


def sniff(head: bytes, name: str) -> bool:
    """Whether it begins like BibTeX: an entry after at most a few lines of other text; by its name if it holds none."""
    text = decode(head)[0].lstrip()
    if text.startswith(("<", "[")) or (text.startswith("{") and '"' in text[:80]):
        return False
    found = _SIGN.search(text)
    if found is None:
        return bool(re.search(r"\.bib(?:la)?(?:tex)?(?:\.\w+)?$", name, re.IGNORECASE)) and "  - " not in text[:200]
    before = [line for line in text[: found.start()].splitlines() if line.strip() and not line.lstrip().startswith("%")]
    return len(before) <= _MOST_LINES_BEFORE or name.lower().endswith(".bib")


def read(name: str, data: bytes, limits: Limits) -> Iterator[Entry]:
    """The entries of a file in order; see the module. ``name`` stands in refusals and names the source."""
    text = decode(data)[0].replace("\0", "")
    if "\r" in text:
        text = text.replace("\r\n", "\n").replace("\r", "\n")
    file = _File(text)
    source = source_of(name, "bibtex")
    for block in file.blocks:
        if block.kind in _NO_ENTRY:
            if block.kind == "string":
                file.learn(block)
            continue
        try:
            yield file.record(block, source, limits)
        except BlockError as error:
            yield Refusal(name, block.line + error.line, f"@{block.kind}{_called(file, block)}: {error}")


def _called(file: _File, block: Block) -> str:
    found = _KEY.match(file.text, block.start)
    return f" {found[1]}" if found and found[1] else ""


@dataclass(slots=True)
class _File:
    """What entries of one file share: macros, the entries that others inherit from, the keys used so far."""

    text: str
    blocks: list[Block] = field(default_factory=list)
    macros: dict[str, str] = field(default_factory=dict)
    keys: dict[str, int] = field(default_factory=dict)
    parents: dict[str, Block] = field(default_factory=dict)
    known: dict[str, tuple[str, Fields]] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self.blocks = list(blocks(self.text))
        if any(word in self.text for word in _RELATIONS):
            self._find_parents({k.strip().lower() for found in _TARGETS.findall(self.text) for k in found.split(",")})

    def _find_parents(self, targets: set[str]) -> None:
        for block in self.blocks:
            if block.problem or block.kind in _NO_ENTRY:
                continue
            found = _KEY.match(self.text, block.start)
            aliases = _ALIASES.search(self.text, block.start, block.end)
            names = [found[1] if found else "", *(aliases[1].split(",") if aliases else ())]
            for key in (name.strip().lower() for name in names):
                if key in targets:
                    self.parents.setdefault(key, block)

    def learn(self, block: Block) -> None:
        """Take in an ``@string``."""
        found = None if block.problem else macro_of(self.text[block.start : block.end], self.macros)
        if found:
            self.macros[found[0]] = found[1]

    def parent(self, key: str) -> tuple[str, Fields] | None:
        """Type and fields of the entry that others call ``key``; None where there is none that can be read."""
        key = key.strip().lower()
        block = self.parents.get(key)
        if block is None:
            return None
        if key not in self.known:
            try:
                fields = entry_of(self.text[block.start : block.end], self.macros)[1]
            except BlockError:  # refused in its own place
                return None
            self.known[key] = block.kind, fields
        return self.known[key]

    def record(self, block: Block, source: str, limits: Limits) -> Record:
        """The record of a block. Raises BlockError."""
        if block.problem:
            raise BlockError(block.problem)
        raw = self.text[block.start : block.end]
        if len(raw) > limits.max_entry_bytes // 4 and (size := len(raw.encode())) > limits.max_entry_bytes:
            raise BlockError(too_long(size, limits))
        citekey, own = entry_of(raw, self.macros)
        if block.kind == "xdata":
            raise BlockError("no paper but data for other entries, which have inherited them")
        fields = _distinct(own)
        if self.parents and ("crossref" in fields or "xdata" in fields):
            fields = inherited(block.kind, fields, self.parent)
        record = record_of(block.kind, citekey, fields, limits)
        return replace(record, source=source, key=self._key(record, citekey), raw=raw, line=block.line)

    def _key(self, record: Record, citekey: str) -> str:
        """The citation key, or without one a digest of what tells papers apart; unique in the file."""
        key = citekey or digest_of("\n".join((record.kind, record.title, *record.authors, str(record.year))))
        key = key if len(key) <= _LONGEST_KEY else digest_of(key)
        count = self.keys[key] = self.keys.get(key, 0) + 1
        return key if count == 1 else f"{key}#{count}"


def _distinct(own: Fields) -> dict[str, str]:
    """Fields by name, empty ones left out; a second one of a name that says something else gets a number."""
    fields: dict[str, str] = {}
    for name, value in own:
        text = value.strip()
        if not text:
            continue
        number, unique = 1, name
        while unique in fields and fields[unique] != text:
            number += 1
            unique = f"{name}-{number}"
        fields[unique] = text
    return fields
