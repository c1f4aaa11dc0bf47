"""The terms that texts are compared by, and how they are shown to a person."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from functools import cache

from broadsheet.text import fold, stem, words

_HAN_AND_KANA = "\u3005\u3007\u3041-\u3096\u30a1-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff\U00020000-\U0003ffff"
_CJK_RUN = re.compile(f"[{_HAN_AND_KANA}\uac00-\ud7a3]+")
_WORD = re.compile(r"\b[^\W\d]\w+\b")
_VERSION = re.compile(r"[a-z]\d+")  # v2, r1: says nothing without what it is a version of
_BETWEEN = re.compile(r"[\s\-‐‑–/]{1,3}")

# What nearly every abstract says. A term with one of the first is not shown: they are how authors speak of their work,
# and what is left of an address. One of the second is not shown alone (*model*, but *world model*).
_NEVER = """
ability able abstract accepted according accuracy achieve achieved achieves achieving across additional additionally
address addresses addressing aim aims al allow allows appendix approach approaches art arxiv available based baseline
baselines best better capable cc challenge challenges challenging com comparable compared competitive comprehensive
conduct consider consistently consists crucial demonstrate demonstrated demonstrates demonstrating despite different
difficult diverse effective effectively effectiveness eg empirically enable enables enabling enhance enhanced enhances
enhancing ensure ensuring especially essential et evaluate evaluations existing experiment experimental experiments
explore extensive finally findings furthermore gap github given highlight highly html http https ie importance
important importantly improve improved improvement improvements improves improving include includes including increase
increasingly insights introduce introduced introduces introducing investigate involve issue issues key known lack
largely leading leads leverage leverages leveraging like limit limitations limited main mainly maintain make makes
making method methods moreover need needs notably novel number observe obtain offer offering offers org outperform
outperforming outperforms paper papers particular particularly performance potential practical present presented
presents previous promising propose proposed proposes provide provided provides providing publicly recent recently
related relies rely remain remains require required requires respect respectively result resulting results section
show showing shown shows significant significantly specifically state strong studies study suggest superior technique
techniques term terms use used useful using validate variety various way ways wide widely within work works www yield
yields
"""
_ALONE = """
agents analysis anti application applications benchmark benchmarks capabilities capability co code common complex
content context cost current data dataset datasets deep design development domain domains dynamic efficiency efficient
end evaluation features focus framework frameworks general generalize generation global high human id image images
information input insight instance inter knowledge language large learn learned learning level local low machine
methodology metrics model modeling models multi multiple natural network networks neural new non open output page
pages parameters post pre prior problem problems process project public quality range real representation
representations research robust robustness scale scenario scenarios self semi set setting settings simple single
solution space specific standard strategies strategy structure sub support system systems task tasks test testing time
tool tools traditional train trained training type types unified user users vision world
"""
_VAGUE = """
accurate accurately acting actions adaptive agnostic appear arbitrary assess augmented aware capture captures central
change changes closed compact compare computing consistent construct correct cross decisions depend described detailed
difference differences direct directly discover distinct distinguish double driven dual early easily efficiently
empirical entire exact explicit explicitly express extend extended extending external fast final fine fixed flexible
following form free full fully given great group hard help helps higher hybrid identify implement implementation
implementing implicit individual initial internal involving joint jointly just later likely list little long longer
lose loss lower major many match matched means measure mechanism minimal mode moderate modern modular monitor natively
natural naturally numbers numerous observed ongoing operate optimal order original overall pair paired partial perform
place plus point points popular pure rapid rapidly rate ratio rational reach reduce reduces relative reliable
remaining report reported resource rich run running sample samples second select selected separate series share shared
sharp short side size small smaller soft source stable stage stages standard starting step steps strict strictly
struggle subject subsequent substantial successful sufficient target targets term tone top total track tracking
unclear unconstrained underlying uniform unique unknown unlike usually valid value values view weak whole wise
"""
_EMPTY_CJK = """
我们 们提 本文 文提 提出 一种 一个 基于 方法 通过 进行 研究 结果 实验 表明 可以 以及 问题 使用 利用 实现
不同 现有 有效 性能 相关 其中 这些 这种 此外 但是 因此 由于 然而 本研 究提 出了 了一 种基
する こと れる ため した
"""
_LITTLE_WORDS = "a an and are as at by can for from in is it its of on or our that the this to we which with"
_IS_NEVER, _IS_ALONE, _IS_FILLER, _IS_LITTLE = (
    frozenset(table.split()) for table in (_NEVER, f"{_ALONE} {_VAGUE}", _EMPTY_CJK, _LITTLE_WORDS)
)
_HYPHENS = frozenset("-‐‑")
_LONGEST_GROWN = 8
_LONGEST_PHRASE = 4
_NEARLY_ALWAYS = 0.8
_MOST_TEXTS = 100
_LONGEST_TEXT = 20_000  # characters

_Place = tuple[int, int, int]
"""A text, and the first and last of some of its words."""


def terms(text: str, stop_words: frozenset[str]) -> Iterator[str]:
    """Words and pairs of neighbouring words of a text, folded; of Chinese, Japanese and Korean pairs of characters.

    Words have two characters or more and begin with a letter; stop words are left out before pairs are made, so that
    on English text these are the terms that scikit-learn finds with ``ngram_range=(1, 2)`` and the token pattern of
    arxiv-sanity-lite (``compute.py``). A run of CJK characters gives its overlapping pairs, as is usual where no
    dictionary cuts words; a single character gives itself.
    """
    text = fold(text)
    kept = _WORD.findall(text if text.isascii() else _CJK_RUN.sub(" ", text))
    kept = [word for word in kept if word not in stop_words]
    yield from kept
    for n in range(1, len(kept)):
        yield f"{kept[n - 1]} {kept[n]}"
    if not text.isascii():
        for run in _CJK_RUN.findall(text):
            yield from (run[n : n + 2] for n in range(max(1, len(run) - 1)))


@cache
def stop_words() -> frozenset[str]:
    """scikit-learn's English stop words, from which the ranker's figures were measured."""
    from sklearn.feature_extraction.text import ENGLISH_STOP_WORDS

    return frozenset(ENGLISH_STOP_WORDS)


def shown(ranked: Iterable[str], texts: Sequence[str], count: int) -> dict[str, str]:
    """At most ``count`` of the terms, best first: how each is written in the (plain) texts, and the term it stands for.

    Left out is what would tell a person nothing: words of every abstract, pairs that never stand side by side in these
    texts (names of authors, or words with a stop word between), fragments of Chinese, and what says again what a
    better one says already (``splatting`` after ``Gaussian splatting``, ``models`` after ``model``). A part of a fixed
    phrase becomes the phrase (``augmented generation`` → ``retrieval-augmented generation``). Only the first
    hundred texts are looked at, and of each the first 20,000 characters.
    """
    ranked = list(ranked)
    written = _Written([text[:_LONGEST_TEXT] for text in texts[:_MOST_TEXTS]], frozenset(ranked))
    chosen: list[tuple[frozenset[str], str, str]] = []
    for term in ranked:
        is_cjk = _CJK_RUN.match(term) is not None
        surface = _grown_cjk(term, written.texts) if is_cjk else written.surface(term)
        if surface is None:
            continue
        parts = frozenset(surface if is_cjk else (stem(word.text) for word in words(surface)))
        if any(parts <= other for other, _, _ in chosen):
            continue
        narrower = [n for n, (other, _, _) in enumerate(chosen) if other < parts]
        if narrower:
            chosen[narrower[0]] = (parts, surface, term)
            chosen = [one for n, one in enumerate(chosen) if n not in narrower[1:]]
        elif len(chosen) < count:
            chosen.append((parts, surface, term))
        else:
            break
    return {surface: term for _, surface, term in chosen}


class _Written:
    """How some terms, words and pairs of neighbouring words, are written in some texts."""

    def __init__(self, texts: Sequence[str], wanted: frozenset[str]) -> None:
        self.texts = texts
        self._tokens = [words(text) for text in texts]
        self._places: dict[str, list[_Place]] = {}
        firsts = {term.partition(" ")[0] for term in wanted if " " in term}
        for n, tokens in enumerate(self._tokens):
            before = ""
            for at, token in enumerate(tokens):
                word = token.text
                if word in wanted:
                    self._places.setdefault(word, []).append((n, at, at))
                if before in firsts and (pair := f"{before} {word}") in wanted and self._adjoins(n, at - 1):
                    self._places.setdefault(pair, []).append((n, at - 1, at))
                before = word

    def surface(self, term: str) -> str | None:
        """The usual way of writing it; small letters where they occur, since titles and sentences begin with capitals.

        None for what does not stand there or would tell a person nothing.
        """
        parts, places = frozenset(term.split()), self._places.get(term)
        if places is None or parts & _IS_NEVER or _VERSION.fullmatch(term):
            return None
        if len(parts) > 1:
            places = self._grown(self._grown(places, -1), 1)
        else:
            whole = [(n, *self._hyphened(n, at)) for n, at, _ in places]
            halves = [place for place in whole if place[1] != place[2]]
            if len(halves) >= _NEARLY_ALWAYS * len(places):  # it is half a word: long-term, domain-agnostic
                places = [place for place in halves if not self._says_nothing(place)]
                if not places:
                    return None
            elif term in _IS_ALONE:
                return None
        ways = Counter(
            self.texts[n][self._tokens[n][first].start : self._tokens[n][last].end] for n, first, last in places
        )
        small = [way for way in ways if way == way.lower()]
        return min(small or ways, key=lambda way: (-ways[way], way))

    def _hyphened(self, n: int, at: int) -> tuple[int, int]:
        """The first and the last of the words that hyphens join to a word."""
        tokens, text = self._tokens[n], self.texts[n]
        first = last = at
        while first > 0 and text[tokens[first - 1].end : tokens[first].start] in _HYPHENS:
            first -= 1
        while last + 1 < len(tokens) and text[tokens[last].end : tokens[last + 1].start] in _HYPHENS:
            last += 1
        return first, last

    def _says_nothing(self, place: _Place) -> bool:
        """Whether a phrase has a word of every abstract or a number, or is too long for one."""
        n, first, last = place
        found = [token.text for token in self._tokens[n][first : last + 1]]
        vague = all(word in _IS_ALONE or word in _IS_LITTLE for word in found)
        return vague or len(found) > _LONGEST_PHRASE or any(word in _IS_NEVER or word.isdigit() for word in found)

    def _grown(self, places: list[_Place], step: int) -> list[_Place]:
        """The phrase with the words before it (``step`` −1) or after it (1) that nearly always go with it."""
        while places[0][2] - places[0][1] + 1 < _LONGEST_PHRASE:
            nexts = [self._beside(place, step) for place in places]
            word, times = Counter(nexts).most_common(1)[0]
            if not word or times < 2 or times < _NEARLY_ALWAYS * len(places):
                break
            same = [place for place, beside in zip(places, nexts, strict=True) if beside == word]
            places = [(n, first + min(step, 0), last + max(step, 0)) for n, first, last in same]
        return places

    def _beside(self, place: _Place, step: int) -> str:
        """The stem of the word before or after a place; "" where there is none that a phrase could go on with."""
        n, first, last = place
        at = first - 1 if step < 0 else last + 1
        if not 0 <= at < len(self._tokens[n]) or not self._adjoins(n, min(at, last)):
            return ""
        word = self._tokens[n][at].text
        return "" if word in _IS_NEVER or word in _IS_LITTLE else stem(word)

    def _adjoins(self, n: int, at: int) -> bool:
        """Whether nothing but a space or hyphen is between a word and the next."""
        tokens = self._tokens[n]
        return _BETWEEN.fullmatch(self.texts[n], tokens[at].end, tokens[at + 1].start) is not None


def _grown_cjk(term: str, texts: Sequence[str]) -> str | None:
    """Two characters grown to the word that they are part of: while four fifths of the places go on alike.

    None for what occurs once only or stays a fragment of filler.
    """
    places = [(text, found.start()) for text in texts for found in re.finditer(re.escape(term), text)]
    if len(places) < 2 or term in _IS_FILLER:
        return None
    start, end = 0, len(term)
    for before in (False, True):
        while end - start < _LONGEST_GROWN:
            nexts = Counter(_character(text, at + (start - 1 if before else end)) for text, at in places)
            character, times = nexts.most_common(1)[0]
            if not _CJK_RUN.match(character) or times < _NEARLY_ALWAYS * len(places):
                break
            start, end = (start - 1, end) if before else (start, end + 1)
    if end - start >= _LONGEST_GROWN:
        return None  # a sentence that several texts share
    return Counter(text[at + start : at + end] for text, at in places).most_common(1)[0][0]


def _character(text: str, at: int) -> str:
    return text[at] if 0 <= at < len(text) else " "
