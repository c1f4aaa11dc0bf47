"""Characters to tokens, in one pass and without a fault for any text."""

from __future__ import annotations

import re
import unicodedata
from dataclasses import dataclass
from enum import StrEnum

from broadsheet.query.tree import Field

_FULL_WIDTH = str.maketrans({**dict.fromkeys("“”„‟＂「」『』《》", '"'), **dict.fromkeys("，。、；！？", " "),
                             "（": "(", "）": ")", "：": ":", "－": "-", "＋": "+"})  # fmt: skip
_INVISIBLE = re.compile("[\u00ad\u200b\u200e\u200f\u2060\ufeff]")
_CONTROL = re.compile("[\x00-\x1f\x7f-\x9f\ud800-\udfff]")
_CJK = re.compile("[\u3005-\u3007\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff\U00020000-\U0003ffff]")


def clean(text: str) -> str:
    """NFC, without control and invisible characters, with ASCII for full-width punctuation."""
    text = _CONTROL.sub(" ", _INVISIBLE.sub("", text))
    return unicodedata.normalize("NFC", text.translate(_FULL_WIDTH))


def searchable(text: str) -> bool:
    """Whether there is a letter or digit, so that an index can hold it."""
    return any(character.isalnum() for character in text)


class Kind(StrEnum):
    """Kinds of tokens."""

    WORD = "word"
    PHRASE = "phrase"
    FIELD = "field"
    OPEN = "("
    CLOSE = ")"
    AND = "AND"
    OR = "OR"
    NOT = "NOT"
    MUST = "+"


@dataclass(frozen=True, slots=True)
class Token:
    """A token; ``text`` is that of words and phrases, and the short name of fields."""

    kind: Kind
    text: str = ""


PREFIXES = {Field.TITLE: "ti", Field.ABSTRACT: "abs", Field.AUTHOR: "au", Field.AREA: "area",
             Field.CATEGORY: "cat", Field.VENUE: "venue"}  # fmt: skip
_FIELDS = {"ti": "ti", "title": "ti", "标题": "ti", "標題": "ti", "abs": "abs", "abstract": "abs", "摘要": "abs",
           "au": "au", "author": "au", "作者": "au", "area": "area", "领域": "area", "領域": "area", "cat": "cat",
           "分类": "cat", "分類": "cat", "venue": "venue", "会议": "venue", "會議": "venue", "year": "year",
           "年份": "year", "since": "since", "until": "until", "has": "has", "id": "id", "all": "all"}  # fmt: skip
FIELD_OF = {prefix: name for name, prefix in PREFIXES.items()}
OPERATORS = {"AND": (Kind.AND,), "OR": (Kind.OR,), "NOT": (Kind.NOT,), "ANDNOT": (Kind.AND, Kind.NOT)}
_OPERATOR = re.compile(r'(ANDNOT|AND|OR|NOT)(?=[\s()"]|$)')
_FIELD = re.compile(r"([A-Za-z]{2,8}|[\u4e00-\u9fff]{2}):")
_RUN = re.compile(r'[^\s()"]+')
_BRACKET = re.compile(r"[()\s]")


def _brackets(text: str) -> dict[int, int]:
    """Pairs of brackets within one stretch free of white space: position of each to that of its partner."""
    pairs: dict[int, int] = {}
    stack: list[int] = []
    for match in _BRACKET.finditer(text):
        at, character = match.start(), match[0]
        if character == "(":
            stack.append(at)
        elif character == ")":
            if stack:
                pairs[at] = stack.pop()
                pairs[pairs[at]] = at
        else:
            stack.clear()
    return pairs


def _word_end(text: str, start: int, pairs: dict[int, int]) -> int:
    """Where the word that begins at ``start`` ends."""
    at, depth = start, 0
    while at < len(text):
        if run := _RUN.match(text, at):
            at = run.end()
            continue
        character = text[at]
        if character.isspace() or (character in '("' and not depth and at > start and _CJK.match(text[at - 1])):
            break
        if character != '"':
            if pairs.get(at, -1) < start:
                break
            depth += 1 if character == "(" else -1
        at += 1
    return at


def is_word(text: str) -> bool:
    """Whether a field's value can be printed without quotes."""
    whole = _word_end(text, 0, _brackets(text)) == len(text)
    return whole and text[:1] not in ("(", ")", '"') and text == text.rstrip(",;")


class Lexer:
    """Splits a cleaned text into tokens in one pass."""

    def __init__(self, text: str) -> None:
        self.text = text
        self.at = 0
        self.pairs = _brackets(text)
        self.tokens: list[Token] = []
        self.notes: list[str] = []

    def run(self) -> list[Token]:
        """All tokens; a field is always followed by its word, phrase or bracket."""
        while self.at < len(self.text):
            if self.text[self.at].isspace():
                self.at += 1
            else:
                self._token()
        return self.tokens

    def _emit(self, kind: Kind, end: int, text: str = "") -> None:
        self.tokens.append(Token(kind, text))
        self.at = end

    def _glued(self, at: int) -> bool:
        """Whether something that can be a unit follows at once."""
        return at < len(self.text) and not self.text[at].isspace() and self.text[at] != ")"

    def _token(self) -> None:
        text, at = self.text, self.at
        character = text[at]
        if character in "()":
            self._emit(Kind(character), at + 1)
        elif character == '"':
            self._quote()
        elif character in "-+" and self._glued(at + 1) and text[at + 1] not in "-+":
            self._emit(Kind.NOT if character == "-" else Kind.MUST, at + 1)
        elif operator := _OPERATOR.match(text, at):
            self.tokens += [Token(kind) for kind in OPERATORS[operator[1]]]
            self.at = operator.end()
        elif (name := _FIELD.match(text, at)) and name[1].lower() in _FIELDS:
            self._field(_FIELDS[name[1].lower()], name.end())
        else:
            self._word()

    def _word(self) -> None:
        end = _word_end(self.text, self.at, self.pairs)
        self._emit(Kind.WORD, end, self.text[self.at : end].rstrip(",;"))

    def _quote(self) -> None:
        close = self.text.find('"', self.at + 1)
        if close >= 0:
            self._emit(Kind.PHRASE, close + 1, " ".join(self.text[self.at + 1 : close].split()))
            return
        self.notes.append("A quotation mark is never closed; it was left out.")
        if self._glued(self.at + 1):
            self.at += 1
        else:  # a word without letters, so that a "-" before it does not reach the next unit
            self._emit(Kind.WORD, self.at + 1)

    def _field(self, name: str, end: int) -> None:
        value = end
        if self.text[end : end + 1] == '"' and self.text.find('"', end + 1) < 0:
            self.notes.append("A quotation mark is never closed; it was left out.")
            value += 1
        if not self._glued(value):
            typed = self.text[self.at : end]
            self.notes.append(f"“{typed}” has nothing right after it: searched as a word.")
            self._emit(Kind.WORD, value, typed)
        elif name == "all":
            self.at = value
        else:
            self._emit(Kind.FIELD, value, name)
            if self.text[value] not in '("':
                self._word()
