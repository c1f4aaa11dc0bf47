"""First sentences, snippets and highlighting."""

from __future__ import annotations

import re
from collections.abc import Callable
from html import escape

from .mathtext import dollars, hold_math, release_math
from .tokens import Token, stem, word_around, word_start, words_that

_LONGEST_TITLE = 120
_SENTENCE_END = re.compile(r"[.!?]+[\"'”’)*\]]*(?=\s|$)|[。！？]+")
_ABBREVIATION = re.compile(
    r"(?:^|[\s(\[“\"‘])(?:[A-Z]|e\.g|i\.e|et al|etc|cf|vs|w\.r\.t|a\.k\.a|viz|resp|approx|Figs?|Eqs?|Secs?|Tab|Refs?"
    r"|Dr|Mr|Mrs|Ms|Prof|St|No|Nos|vol|pp|[A-Z]\.[A-Z]|[a-z]\.[a-z]|U\.S|Ph\.D|al|ca|incl|Thm|Def|Lem|Prop|Alg)$"
)
_HEADING = re.compile(
    r"^[*_]*(?:Abstract|Introduction|Background|Purpose|Objectives?|Motivation|Aims?|Summary)[*_]*\s*[.:—–-][*_]*\s+",
    re.I,
)
_CJK = re.compile("[\u3040-\u30ff\u3400-\u9fff\uac00-\ud7a3]")


def first_sentence(markup: str) -> str:
    """A title for a paper without one: the first sentence, without its full stop, at most about 120 characters.

    Cut at a word with "…" where it is longer; never inside of a formula. Abbreviations do not end it.
    """
    text, held = hold_math(_HEADING.sub("", markup.strip()))
    shown = [dollars(kind, tex) for kind, tex in held]
    end = len(text)
    for found in _SENTENCE_END.finditer(text):
        if not _is_abbreviation(text, found):
            end = found.end()
            break
    sentence = text[:end].rstrip()
    sentence = re.sub(r"[.。]([\"'”’)*\]]*)$", r"\1", sentence) if not sentence.endswith("...") else sentence
    if len(release_math(sentence, shown)) > _LONGEST_TITLE:
        sentence = _cut(sentence, shown)
    return release_math(sentence, shown)


def _is_abbreviation(text: str, found: re.Match[str]) -> bool:
    if found[0][0] != ".":
        return False
    following = text[found.end() :].lstrip()[:1]
    if following.islower():
        return True
    return found[0] == "." and _ABBREVIATION.search(text[: found.start()]) is not None


def _cut(sentence: str, formulas: list[str]) -> str:
    pieces = (
        re.findall(r"\s*\S+", sentence)
        if not _CJK.search(sentence[:_LONGEST_TITLE])
        else re.findall(r"\ufdd0\d+\ufdd1|[\s\S]", sentence)
    )
    kept = ""
    for piece in pieces:
        if len(release_math(kept + piece, formulas)) > _LONGEST_TITLE:
            break
        kept += piece
    return (kept or pieces[0]).rstrip(" ,;:(") + "…"


def shortened(plain: str, limit: int) -> str:
    """The beginning of plain text, at most ``limit`` characters and " …"; a text that fits stays as it is.

    Whole sentences, if one ends in the last half of what fits. Else it is cut at a word, and within a word only where
    that is longer than the limit.
    """
    if len(plain) <= limit:
        return plain
    ends = [found.end() for found in _SENTENCE_END.finditer(plain, 0, limit + 1) if found.end() <= limit]
    whole = [end for end in ends if end > limit // 2 and _ends_sentence(plain, end)]
    end = whole[-1] if whole else _word_end(plain, limit) or limit
    return plain[:end].rstrip(" ,;:(") + "\u00a0…"


def _ends_sentence(plain: str, end: int) -> bool:
    found = next((f for f in _SENTENCE_END.finditer(plain, max(0, end - 12)) if f.end() == end), None)
    return found is not None and not _is_abbreviation(plain, found)


Matches = Callable[[str], bool]


def highlight(plain: str, matches: Matches) -> str:
    """``plain`` as HTML, with ``<mark>`` round the words whose folded form or stem ``matches`` takes."""
    return _marked(plain, 0, len(plain), _matched(plain, matches))


def snippet(plain: str, matches: Matches, *, width: int = 280) -> str:
    """The window of about ``width`` characters with the most distinct matched words, as HTML with ``<mark>``.

    It starts at a sentence where one is near, else at a word; "…" stands where text was cut off.
    """
    hits = _matched(plain, matches)
    start, end = _window(plain, hits, width)
    lead = "… " if start > 0 else ""
    tail = " …" if end < len(plain) else ""
    return f"{lead}{_marked(plain, start, end, hits)}{tail}"


def _matched(plain: str, matches: Matches) -> list[Token]:
    return words_that(plain, lambda text: matches(text) or matches(stem(text)))


def _window(plain: str, hits: list[Token], width: int) -> tuple[int, int]:
    if len(plain) <= width:
        return 0, len(plain)
    first = _best_start(hits, width)
    start = _boundary_before(plain, first, _last_in(hits, first, width), width)
    end = _word_end(plain, start + width)
    return start, end


def _best_start(hits: list[Token], width: int) -> int:
    """Start of the hit from which ``width`` characters hold the most distinct, then the most words; the earliest."""
    best, best_score, right = 0, (0, 0), 0
    counts: dict[str, int] = {}
    stems = [stem(hit.text) for hit in hits]
    for left, hit in enumerate(hits):
        while right < len(hits) and (right == left or hits[right].end <= hit.start + width):
            counts[stems[right]] = counts.get(stems[right], 0) + 1
            right += 1
        score = (len(counts), right - left)
        if score > best_score:
            best, best_score = hit.start, score
        counts[stems[left]] -= 1
        if not counts[stems[left]]:
            del counts[stems[left]]
    return best


def _last_in(hits: list[Token], first: int, width: int) -> int:
    return max((hit.end for hit in hits if first <= hit.start and hit.end <= first + width), default=first)


def _boundary_before(plain: str, first: int, last: int, width: int) -> int:
    """A start at or before ``first`` from which ``last`` is still in the window: a sentence's, else a word's."""
    earliest = max(0, last - width)
    starts = [0] + [found.end() for found in re.finditer(r"[.!?][\"'”’)]*\s+|[。！？；]", plain[:first])]
    sentence = starts[-1]
    if sentence >= earliest:
        return sentence
    context = max(earliest, first - width // 4)
    return min(word_start(plain, context), first)


def _word_end(plain: str, limit: int) -> int:
    if limit >= len(plain):
        return len(plain)
    return len(plain[: word_around(plain, limit)].rstrip())


def _marked(plain: str, start: int, end: int, hits: list[Token]) -> str:
    """HTML of ``plain[start:end]``; hits that touch (Chinese characters) share one mark."""
    pieces: list[str] = []
    at = start
    for first, last in _merged(plain, hits):
        if first < at or last > end:
            continue
        pieces += [escape(plain[at:first]), "<mark>", escape(plain[first:last]), "</mark>"]
        at = last
    return "".join([*pieces, escape(plain[at:end])])


def _merged(plain: str, hits: list[Token]) -> list[tuple[int, int]]:
    merged: list[tuple[int, int]] = []
    for hit in hits:
        if merged and hit.start <= merged[-1][1]:
            merged[-1] = (merged[-1][0], max(hit.end, merged[-1][1]))
        else:
            merged.append((hit.start, hit.end))
    return merged
