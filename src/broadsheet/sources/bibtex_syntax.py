"""The syntax of BibTeX: where the blocks of a file begin and end, and the fields of an entry.

A cheap scanner cuts the file into blocks, so that memory does not grow with the file and one broken block costs only
itself; each block then goes through bibtexparser's splitter. Mended here is what that leaves: macros and concatenation,
a missing or doubled comma, a missing key, remarks (``% …``) between fields.

A block ends where its braces are balanced, counting escaped ones as BibTeX does, or, where that makes no sense, without
them. One that is not closed before the next ``@type{key,`` at the start of a line ends there and counts as broken. As
in biber, a line that begins with ``%`` outside of blocks is a comment.
"""

from __future__ import annotations

import logging
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from bibtexparser.exceptions import BlockAbortedException
from bibtexparser.model import DuplicateFieldKeyBlock, Entry, ParsingFailedBlock
from bibtexparser.splitter import Splitter

# What the splitter cannot read is refused with a line and a reason; its own warnings would only repeat that.
logging.getLogger("bibtexparser").addHandler(logging.NullHandler())

# In parentheses, only what goes on like an entry: "@smith (see above)" is prose.
_BEGIN = re.compile(
    r"^[ \t]*%[^\n]*"
    r"|(?<![\w.])@[ \t]*(?P<type>[A-Za-z][\w-]*)\s*(?P<open>\{|\((?=\s*(?:[^\s,(){}=\"]*\s*[,=]|[\"{])))",
    re.MULTILINE,
)
_NEXT = re.compile(r"\n[ \t]*@[A-Za-z][\w-]*[ \t]*[{(][^\S\n]*[^\s,{}()=\"#%]*[^\S\n]*,")
_STRICT = re.compile(r"[{}]")
_LENIENT = re.compile(r"\\[{}]|[{}]")
_ROUND = re.compile(r"[{}\")]")

_HEAD = re.compile(r"@\s*[\w-]+\s*(?=[{(])")  # the splitter takes no types such as "data-set"
_KEYLESS = re.compile(r"(@\s*[\w-]+\s*[{(]\s*)(?=[A-Za-z][\w:.+/-]*\s*=)")
_COMMALESS = re.compile(r"(@\s*[\w-]+\s*[{(]\s*[^\s,=]+)(?=\s+[A-Za-z][\w:.+/-]*\s*=)")
_COMMAS = re.compile(r",(?:\s*,)+(?=\s*(?:[A-Za-z][\w:.+/-]*\s*=|[})]))")
_REMARKS = re.compile(r"(?<=[\w}\",])[ \t]*%[^\n]*$|^[ \t]*%[^\n]*$", re.MULTILINE)
_NAME = re.compile(r"\s*([^\s=,{}\"#%()]+)\s*=\s*")
_FIELD_NAME = re.compile(r"[^\s=,{}\"#%()]+")
_BARE = re.compile(r"[^\s#{}\"=,]+")
_QUOTE = re.compile(r'[{}"]')

Fields = list[tuple[str, str]]


class BlockError(Exception):
    """A block cannot be read; the message says why, ``line`` on which of its own lines, counted from 0."""

    def __init__(self, reason: str, line: int = 0) -> None:
        super().__init__(reason)
        self.line = line


@dataclass(frozen=True, slots=True)
class Block:
    """A block of a file: its type in lower case, where it lies, its first line (from 1), and what is wrong with it."""

    kind: str
    start: int
    end: int
    line: int
    problem: str = ""


def blocks(text: str) -> Iterator[Block]:
    """The blocks of a file in order, comments too. What stands between blocks is no part of any."""
    line, counted, at = 1, 0, 0
    while found := _BEGIN.search(text, at):
        at = found.end()
        if found["type"] is None:
            continue
        start = found.start()
        line += text.count("\n", counted, start)
        counted = start
        kind = found["type"].lower()
        end = _end(text, found, kind)
        if end is None:
            at = _next_entry(text, found.end())
            opener = "brace" if found["open"] == "{" else "parenthesis"
            yield Block(kind, start, at, line, f"a {opener} is never closed; close it and import the file again")
        else:
            at = end
            yield Block(kind, start, end, line)


def _next_entry(text: str, at: int) -> int:
    """Where the next line begins that looks like the first of an entry; the end of the text where there is none."""
    found = _NEXT.search(text, at)
    return found.start() + 1 if found else len(text)


def _end(text: str, begin: re.Match[str], kind: str) -> int | None:
    """Where a block that ``begin`` opens ends; None where it is never closed."""
    # A comment may hold entries, which it takes out of use.
    at, limit = begin.end(), len(text) if kind == "comment" else _next_entry(text, begin.end())
    if begin["open"] == "(":
        return _closed(text, at, limit)
    end = _balanced(text, at, limit, _STRICT)
    if end is None:
        return _balanced(text, at, limit, _LENIENT)
    if text.find("\\}", at, end) >= 0 and not re.match(r"\s*(?:[@%]|$)", text[end : end + 200]):
        # After the escaped brace the entry goes on.
        return _balanced(text, at, limit, _LENIENT) or end
    return end


def _balanced(text: str, at: int, limit: int, pattern: re.Pattern[str]) -> int | None:
    depth = 1
    for found in pattern.finditer(text, at, limit):
        sign = found[0]
        if sign == "{":
            depth += 1
        elif sign == "}":
            depth -= 1
            if not depth:
                return found.end()
    return None


def _closed(text: str, at: int, limit: int) -> int | None:
    """The end of a block in parentheses: the first closing one outside of braces and quotation marks."""
    depth, quoted = 0, False
    for found in _ROUND.finditer(text, at, limit):
        sign = found[0]
        if sign == "{":
            depth += 1
        elif sign == "}":
            depth -= 1
        elif sign == '"':
            quoted = quoted != (depth == 0)
        elif depth <= 0 and not quoted:
            return found.end()
    return None


def entry_of(text: str, macros: Mapping[str, str]) -> tuple[str, Fields]:
    """Key and fields (names in lower case, values with macros and concatenation resolved) of an entry's text.

    Raises BlockError.
    """
    entry = _split(text)
    fields: Fields = []
    for field in entry.fields:
        try:
            fields += _field(field.key.lower(), field.value, macros)
        except BlockError as error:
            raise BlockError(str(error), max(0, field.start_line or 0)) from error
    return entry.key, fields


def macro_of(text: str, macros: Mapping[str, str]) -> tuple[str, str] | None:
    """The name in lower case and the value of an ``@string`` block; None for one that cannot be read."""
    strings = Splitter(text).split().strings
    if not strings:
        return None
    try:
        return strings[0].key.lower(), _field("", strings[0].value, macros)[0][1]
    except BlockError:
        return None


def _split(text: str) -> Entry:
    failed = _attempt(text)
    if isinstance(failed, Entry):
        return failed
    mended = _COMMAS.sub(",", _REMARKS.sub("", text))
    mended = _KEYLESS.sub(r"\1,", mended, count=1)
    mended = _COMMALESS.sub(r"\1,", mended, count=1)
    entry = _attempt(mended) if mended != text else failed
    if isinstance(entry, Entry):
        return entry
    raise failed


def _attempt(text: str) -> Entry | BlockError:
    found = Splitter(_HEAD.sub("@entry", text, count=1)).split().blocks
    first = found[0] if found else None
    if isinstance(first, DuplicateFieldKeyBlock):
        first = first.ignore_error_block
    if isinstance(first, Entry):
        unread = next((field for field in first.fields if not _FIELD_NAME.fullmatch(field.key)), None)
        if unread is None:
            return first
        name = " ".join(unread.key.split())[:40]
        return BlockError(f"{name!r} is no name of a field", max(0, unread.start_line or 0))
    if isinstance(first, ParsingFailedBlock) and isinstance(first.error, BlockAbortedException):
        line = text.count("\n", 0, max(0, first.error.end_index - 1)) if first.error.end_index else 0
        return BlockError(" ".join(first.error.abort_reason.rstrip(".").split()), line)
    return BlockError("not an entry of the form @type{key, name = {value}, …}")


def _field(name: str, value: str, macros: Mapping[str, str]) -> Fields:
    """The field, and those after it that a missing comma joined to it."""
    fields: Fields = []
    while True:
        text, rest = _expression(name, value, macros)
        fields.append((name, text))
        if not rest:
            return fields
        following = _NAME.match(rest)
        if not following:
            raise BlockError(f"field {name}: {' '.join(rest.split())[:40]!r} stands after the end of the value")
        name, value = following[1].lower(), rest[following.end() :]


def _expression(name: str, value: str, macros: Mapping[str, str]) -> tuple[str, str]:
    """The text of ``{…} # "…" # macro # 12`` at the start of ``value``, and what follows it."""
    if value.startswith("{") and value.find("}") == len(value) - 1:  # most values
        return value[1:-1], ""
    pieces: list[str] = []
    rest = value.lstrip()
    while rest:
        piece, rest = _piece(name, rest, macros)
        pieces.append(piece)
        rest = rest.lstrip()
        if not rest.startswith("#"):
            break
        rest = rest[1:].lstrip()
    return "".join(pieces), rest


def _piece(name: str, rest: str, macros: Mapping[str, str]) -> tuple[str, str]:
    if rest[0] == "{":
        end = _closing(rest, _STRICT)
        if end is None or not re.match(r"\s*(?:$|#|[^\s=,{}\"#%()]+\s*=)", rest[end:]):
            lenient = _closing(rest, _LENIENT)
            end = lenient if lenient is not None else end
        if end is None:
            raise BlockError(f"field {name}: its braces are not balanced")
        return rest[1 : end - 1], rest[end:]
    if rest[0] == '"':
        end = _closing_quote(rest)
        if end is None:
            raise BlockError(f"field {name}: its quotation mark is never closed")
        return rest[1 : end - 1], rest[end:]
    found = _BARE.match(rest)
    if not found:
        raise BlockError(f"field {name}: {rest[:20]!r} is no value; put it in braces")
    words, rest = macros.get(found[0].lower(), found[0]), rest[found.end() :]
    while (more := re.match(r"\s*([^\s#{}\"=,]+)(?!\s*=)(?=\s|$)", rest)) is not None:  # pages = 1 -- 9
        words, rest = f"{words} {more[1]}", rest[more.end() :]
    return words, rest


def _closing(text: str, pattern: re.Pattern[str]) -> int | None:
    depth = 0
    for found in pattern.finditer(text):
        if found[0] == "{":
            depth += 1
        elif found[0] == "}":
            depth -= 1
            if not depth:
                return found.end()
    return None


def _closing_quote(text: str) -> int | None:
    depth = 0
    for found in _QUOTE.finditer(text, 1):
        sign = found[0]
        depth += {"{": 1, "}": -1}.get(sign, 0)
        if sign == '"' and depth <= 0 and text[found.start() - 1] != "\\":
            return found.end()
    return None
