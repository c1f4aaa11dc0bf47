"""The usual query for a reader's words: each word, its exact forms, and neighbours written as one."""

from __future__ import annotations

from collections.abc import Mapping
from itertools import pairwise

from ..text import fold, forms, joined_pairs, words
from .base import STOP_WORDS, All, Either, Match, TextQuery


def match_words(text: str, boosts: Mapping[str, float], forms_boost: float = 1.0) -> TextQuery:
    """Papers with any word of ``text``, which may be anything at all.

    Words are looked for in the fields of ``boosts``; as exact forms (so that ``YOLO`` meets ``YOLOv8``) in the field
    ``forms`` with ``forms_boost``; two neighbours joined (``pre training``, ``pre-training`` → ``pretraining``) in
    both. What is nothing without its symbols (``C++``, ``.NET``) is looked for as an exact form only.
    """
    exact = dict.fromkeys(forms(text))
    rest = fold(text)
    for form in filter(_needs_symbols, exact):
        rest = rest.replace(form, " ")
    tokens = [token.text for token in words(rest)]
    pairs = zip(pairwise(tokens), joined_pairs(tokens), strict=True)
    joined = dict.fromkeys(pair for neighbours, pair in pairs if _joinable(*neighbours))
    exact |= dict.fromkeys([*(word for word in tokens if _joinable(word)), *joined])
    # A joined pair is looked for in the texts alone: in names and topics it would only cost time.
    texts = {"body": boosts["body"]} if "body" in boosts else boosts
    children: list[TextQuery] = [Match(rest, boosts), *(Match(pair, texts) for pair in joined)]
    if forms_boost:
        children += [Match(form, {"forms": forms_boost}) for form in exact]
    return Either(tuple(children))


def match_phrase(text: str, boosts: Mapping[str, float], forms_boost: float = 1.0) -> TextQuery:
    """Papers with the words of ``text`` one after the other in a field of ``boosts``.

    A single hyphenated word is met in its other spellings too (``"pre-training"`` → ``pretraining``); what is nothing
    without its symbols must be there with them (``"C++"``).
    """
    exact, joined = forms(text), "".join(token.text for token in words(text))
    phrase = Match(text, boosts, "phrase")
    needed = [Match(form, {"forms": forms_boost}) for form in exact if _needs_symbols(form)]
    if needed:
        return All((phrase, *needed))
    if len(text.split()) > 1 or joined not in exact:
        return phrase
    spellings = [form for form in exact if form == joined or not form.isalpha()]  # of YOLOv8 not the bare yolo
    return Either((phrase, Match(joined, boosts), *(Match(form, {"forms": forms_boost}) for form in spellings)))


def _needs_symbols(form: str) -> bool:
    return form[-1] in "+#" or form[0] == "."


def _joinable(*tokens: str) -> bool:
    """Not stop words, and not single CJK characters, whose pairs ``Match`` makes by itself."""
    return all(token not in STOP_WORDS and (token.isascii() or len(token) > 1) for token in tokens)
