"""RIS, the tagged format of Reference Manager, as all the programs write it that call their files so.

An entry goes from ``TY`` to ``ER``. Read as well: tags before ``TY``, ``TY`` twice or not at all, ``ER`` missing, empty
tags, tags without the space behind the hyphen, wrapped lines, numbering and headings between entries, and a tag behind
``ER`` (Ovid), which belongs to the entry that has just ended.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from broadsheet.sources.base import Entry, Limits
from broadsheet.sources.risfields import TAGS, draft_of
from broadsheet.sources.tagged import Block, Records, beginning, lines_of
from broadsheet.sources.values import FieldError

NAME = "RIS"
_TAG = re.compile(r"([A-Z][A-Z0-9])  -[ \t]?(.*)")
_LOOSE_TAG = re.compile(r"\s*([A-Z][A-Z0-9])\s{0,3}-(?:\s(.*)|)$")
_LOOSE_TYPE = re.compile(r"\s*(TY)\s{0,3}-\s{0,3}([A-Z]{3,7}\s*)$")
_NUMBERING = re.compile(r"\n+(?:\d{1,7}\.|Record #?\d+ of \d+|<\d+>)$")
_CONTENT = ("TI", "T1", "CT", "AB", "N2")
_STARTS = re.compile(r"^[ \t]*TY[ \t]{0,3}-(?:\s|$|[A-Z])", re.MULTILINE)
_TAG_LINES = re.compile(r"^(?:TI|T1|AU|A1|AB|N2|JF|JO|PY|Y1|ER)  -", re.MULTILINE)
_MEDLINE = re.compile(r"^(?:PMID ?-|OWN -|STAT-)", re.MULTILINE)


def sniff(head: bytes, name: str) -> bool:
    """Whether a line begins an entry, or enough lines have tags of RIS and none is of PubMed's format."""
    text = beginning(head)
    if _STARTS.search(text):
        return not re.search("^%0 ", text, re.MULTILINE)
    return len(set(_TAG_LINES.findall(text))) >= 2 and not _MEDLINE.search(text)


def read(name: str, data: bytes, limits: Limits) -> Iterator[Entry]:
    """The entries of a file."""
    records = Records(name, "ris", limits)
    found = False
    for block in _blocks(data, limits.max_entry_bytes):
        found = True
        try:
            yield records.of(draft_of(block.fields), block.raw, block.line, block.size)
        except FieldError as error:
            yield records.refuse(block.line, str(error))
    if not found:
        yield records.refuse(1, "no entry found: no line begins with a tag such as 'TY  - JOUR'")


class _Cutter:
    """Cuts lines into entries. ``done`` is an entry whose end was read and that may still get a tag behind it."""

    def __init__(self, most: int) -> None:
        self._most = most
        self._block: Block | None = None
        self._done: Block | None = None
        self._typed = False  # whether the entry has its TY
        self._loose = False  # whether its tags may lack the two spaces: its TY does
        self._gap = False  # whether a line without a tag stood before this one
        self._behind = False  # whether the entry began right behind an ER

    def line(self, number: int, line: str) -> Iterator[Block]:
        """The entries that end with this line."""
        tag, value = self._tag(line)
        if not tag:
            yield from self._untagged(line)
            self._gap = True
            return
        if tag == "ER":
            yield from self._ended(line)
        else:
            if tag == "TY":
                yield from self._typed_again()
            if self._block is None:
                self._begin(number)
            assert self._block is not None
            if tag == "TY":
                self._typed = True
                if self._block.has("TY"):  # twice the same
                    value = ""
            self._block.add(tag, value, number, line)
        self._gap = False

    def end(self) -> Iterator[Block]:
        """The entries that are left at the end of the file."""
        yield from self._untagged("")
        if self._done:
            yield self._done
        if self._block:
            yield self._block

    def _tag(self, line: str) -> tuple[str, str]:
        if found := _TAG.match(line):
            if found[1] == "TY":
                self._loose = False
            return found[1], found[2]
        if found := _LOOSE_TYPE.match(line):
            self._loose = True
            return "TY", found[2]
        if self._loose and (found := _LOOSE_TAG.match(line)) and found[1] in TAGS:
            return found[1], found[2] or ""
        return "", ""

    def _begin(self, number: int) -> None:
        self._behind = self._done is not None
        self._block = Block(number, self._most)
        self._typed = False

    def _untagged(self, line: str) -> Iterator[Block]:
        block = self._block
        if block and self._behind and self._done and not self._typed and not block.has(*_CONTENT):
            self._done.extend(block)
            self._block = block = None
        if self._done:
            yield self._done
            self._done = None
        if block:
            block.wrap(line)

    def _ended(self, line: str) -> Iterator[Block]:
        if self._block is None:
            return
        if self._done:
            yield self._done
        self._block.keep(line)
        self._done, self._block = self._block, None

    def _typed_again(self) -> Iterator[Block]:
        """What to do with the entry so far when TY is read: go on with it, or end it where its ER is missing."""
        block = self._block
        if block is None:
            return
        content = block.has(*_CONTENT)
        same = not content and not self._gap if self._typed else not content or not self._gap
        if same:
            return
        if self._done:
            yield self._done
            self._done = None
        if block.fields:
            block.fields[-1].end_before(_NUMBERING)
        yield block
        self._block = None


def _blocks(data: bytes, most: int) -> Iterator[Block]:
    cutter = _Cutter(most)
    for number, line in lines_of(data):
        yield from cutter.line(number, line)
    yield from cutter.end()
