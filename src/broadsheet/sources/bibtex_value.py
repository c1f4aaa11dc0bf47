"""Values as they are written into BibTeX fields: sound TeX, its braces balanced as BibTeX counts them."""

from __future__ import annotations

import re

from broadsheet.sources.bibtex_text import decoded
from broadsheet.text import to_plain
from broadsheet.text.emphasis import strip_emphasis
from broadsheet.text.mathtext import HELD, Part, hold_math, release_math
from broadsheet.text.symbols import listed

_ESCAPES = {c: f"\\{c}" for c in "&%#_$"} | {
    "~": r"\textasciitilde{}",
    "^": r"\textasciicircum{}",
    "\\": r"\textbackslash{}",
    "{": r"\textbraceleft{}",
    "}": r"\textbraceright{}",
}
_SPECIAL = re.compile(r"[&%#_{}$~^\\]")
# What TeX would stumble over: signs that nobody escaped. Addresses in \url may hold any.
_BARE = re.compile(r"\\(?:url|path|nolinkurl|href)\s*\{[^{}]*\}|\\[\s\S]|[&%#_$^]")
_ESCAPED_BRACE = re.compile(r"(?<!\\)\\([{}])")
_ESCAPED = re.compile(r"\\[\s\S]")
_URL_ESCAPES = {c: f"%{ord(c):02X}" for c in '{}\\ "<>^`|'}
# Hyphens part words, so that only the half with the capitals is held; "R&D", "C++" and "C#" are words.
_WORD = re.compile(r"[^\W_](?:[\w&'’]*[^\W_])?[+#]*")
SMALL = listed(
    "a an the on of for in to and or with from by at as is are how what why when do does can via into over under than "
    "that through without within between across against among about beyond toward towards using"
)
"""Words that titles write small."""
_SENTENCE_CASE = 0.25
"""Share of small words among the telling ones from which a title counts as written like a sentence."""


# Commands that read or write files, run programs or redefine others: what a source sent must not do that to a reader's
# document. "^^5c" is a backslash.
_DANGEROUS = re.compile(
    r"\\(?:input|include|verbatiminput|lstinputlisting|openin|openout|read|write|immediate|newread|newwrite|special"
    r"|directlua|latelua|luaexec|ShellEscape|catcode|csname|def|edef|gdef|xdef|let|futurelet|newcommand|renewcommand"
    r"|providecommand|expandafter|scantokens|usepackage|RequirePackage|loop|everypar|aftergroup|bibitem|endinput)"
    r"(?![A-Za-z])|\^\^"
)


def escape(text: str) -> str:
    """Plain text with TeX's special characters escaped."""
    return _SPECIAL.sub(lambda found: _ESCAPES[found[0]], text)


def is_balanced(tex: str) -> bool:
    """Whether braces are balanced as BibTeX counts them: escaped ones too."""
    depth = 0
    for brace in re.findall("[{}]", tex):
        depth += 1 if brace == "{" else -1
        if depth < 0:
            return False
    return depth == 0


def value_of(raw: str) -> str:
    """A value that may be TeX or plain text, as it came wherever TeX can read it."""
    text = raw.strip()
    if _SPECIAL.search(text) is None:
        return text
    if _DANGEROUS.search(text):
        return escape(to_plain(decoded(text)))
    held, formulas = hold_math(text)
    sound = _BARE.sub(_escaped_sign, held)
    sound = release_math(sound, [_as_it_was(part) for part in formulas])
    if not _is_closed(sound):
        sound = _ESCAPED_BRACE.sub(lambda found: _ESCAPES[found[1]], sound)
    if _is_closed(sound):
        return sound
    return escape(to_plain(decoded(text)))


def _escaped_sign(found: re.Match[str]) -> str:
    sign = found[0]
    return sign if len(sign) > 1 else _ESCAPES[sign]


def _as_it_was(part: Part) -> str:
    kind, tex = part
    tex = re.sub(r"(?<!\\)%", r"\\%", tex)
    return f"$${tex}$$" if kind == "display" else f"${tex}$"


def _is_closed(text: str) -> bool:
    """Whether a field of this text ends where it should, by programs that count escaped braces and others."""
    if "\\" not in text:
        return is_balanced(text)
    # Some take the last of two backslashes for one that escapes the field's own brace.
    return not text.endswith("\\") and is_balanced(text) and is_balanced(_ESCAPED.sub("", text))


def verbatim(raw: str) -> str:
    """A value in which TeX means nothing, as it came; what would end the field early is encoded as in addresses."""
    text = raw.strip()
    if _is_closed(text):
        return text
    if re.search(r"\s", text):
        return value_of(text)
    return text.replace("{", "%7B").replace("}", "%7D").replace("\\", "%5C")


def address(url: str) -> str:
    """A URL as it is: the field is verbatim, so only what cannot stand in a URL is percent-encoded."""
    return "".join(_URL_ESCAPES.get(c, c) for c in url if c.isprintable())


def running(markup: str) -> str:
    """Running text: emphasis left out, mathematics as it is."""
    held, formulas = hold_math(" ".join(markup.split()))
    text = escape(strip_emphasis(held).replace(r"\$", "$"))
    return release_math(text, [_formula(tex, protect=False) for _, tex in formulas])


def title_value(markup: str) -> str:
    """A title: emphasis left out, mathematics as it is, and braces round words whose capitals must stay."""
    held_text, formulas = hold_math(" ".join(markup.split()))
    text = strip_emphasis(held_text).replace(r"\$", "$")
    like_sentence = _is_like_sentence(HELD.sub(" ", text))
    out: list[str] = []
    at = 0
    for found in HELD.finditer(text):
        out += [_words(text[at : found.start()], like_sentence, first=at == 0), _formula(formulas[int(found[1])][1])]
        at = found.end()
    return "".join([*out, _words(text[at:], like_sentence, first=at == 0)])


def _formula(tex: str, *, protect: bool = True) -> str:
    tex = re.sub(r"(?<!\\)%", r"\\%", tex)
    if not is_balanced(tex):
        tex = re.sub(r"\\([{}])\s*", lambda found: r"\lbrace " if found[1] == "{" else r"\rbrace ", tex)
    if not is_balanced(tex) or _DANGEROUS.search(tex):
        return escape(f"${tex}$")  # damaged or worse: no formula of any program
    return f"{{${tex}$}}" if protect and re.search("[A-Z]", tex) else f"${tex}$"


def _is_like_sentence(text: str) -> bool:
    """Whether only names have capitals, so that these must stay; in other titles most words have one."""
    words = [word for word in _WORD.findall(text)[1:] if len(word) > 2 and word.lower() not in SMALL]
    small = sum(word.islower() for word in words)
    return bool(words) and small >= _SENTENCE_CASE * len(words)


def _words(text: str, like_sentence: bool, *, first: bool) -> str:
    out: list[str] = []
    at = 0
    for found in _WORD.finditer(text):
        before, word = text[at : found.start()], found[0]
        opening = (first and not out) or before.rstrip().endswith((":", ".", "?", "!"))
        keeps = _keeps_capitals(word) or (like_sentence and not opening and word[0].isupper())
        out += [escape(before), f"{{{escape(word)}}}" if keeps else escape(word)]
        at = found.end()
    return "".join([*out, escape(text[at:])])


def _keeps_capitals(word: str) -> bool:
    lone = len(word.rstrip("+#")) == 1 and word[0].isupper() and word != "A"
    return lone or any(map(str.isupper, word[1:]))
