"""Whether what a reader follows, mutes or saves as a search asks anything: what is refused, and what there is to say of
the rest. Pure."""

from __future__ import annotations

import re
from difflib import get_close_matches

from broadsheet import query as q
from broadsheet.errors import InputError
from broadsheet.feed.areas import AREA_NAMES
from broadsheet.model.reading import Interest, InterestKind
from broadsheet.text import words

MANY, ENOUGH = 0.3, 50  # a keyword of so great a share of the papers tells few apart, where there are so many papers
_CATEGORY = re.compile(r"[a-z-]+\.[A-Za-z-]+")
_ARCHIVES = {key.partition(".")[0] for key in AREA_NAMES}
# Words that stand in nearly every English abstract, whatever it is about.
_COMMON = (
    "a about all also an and any are as at be been between but by can do does for from has have how i if in "
    "into is it its may more most no not of on one only or other our over such than that the their them then "
    "there these they this those through to two under up use used using via was we were what when where which "
    "while who will with within without you your"
)
_EVERYWHERE = frozenset(_COMMON.split())
_OPERATORS = frozenset({"or", "and", "not", "andnot"})
_FIELDS = frozenset(
    [
        *("ti", "title", "abs", "abstract", "au", "author", "area", "cat", "venue", "year", "since", "until", "has"),
        *("id", "all", "标题", "摘要", "作者", "领域", "分类", "会议", "年份"),
    ]
)


def check_interest(interest: Interest) -> None:
    """Refuse a keyword that nearly every paper has. Raises InputError."""
    found = [word.text for word in words(interest.value)] if interest.kind is InterestKind.KEYWORD else []
    if found and all(word in _EVERYWHERE for word in found) and not re.search(r"[+#]", interest.value):
        raise InputError(
            f"keyword {interest.value!r} is in nearly every paper, so it tells none from another; give a word or a "
            "phrase of a subject"
        )


def doubts(interest: Interest, matching: int | None, papers: int) -> list[str]:
    """Sentences of what may be wrong with an interest; ``matching`` of the library's ``papers`` are meant (None: that
    could not be counted).
    """
    said = []
    if unknown := _no_category(interest):
        said.append(unknown)
    common = interest.kind is InterestKind.KEYWORD and papers >= ENOUGH
    if common and matching is not None and matching >= MANY * papers:
        said.append(f"That is {matching / papers:.0%} of them: a word that so many papers have tells few apart.")
    return said


def counted(matching: int | None) -> str:
    """How many papers are meant: "no paper so far", "1 paper of this library"; empty where it is not known."""
    if matching is None:
        return ""
    if not matching:
        return "no paper so far"
    return f"{matching:,} {'paper' if matching == 1 else 'papers'} of this library"


def question_of(interest: Interest) -> str:
    """The question whose hits are the papers that an interest means, in the syntax of the search."""
    value = " ".join(interest.value.replace('"', " ").split())
    return f'+"{value}"' if interest.kind is InterestKind.KEYWORD else f'{interest.kind}:"{value}"'


def check_question(text: str) -> None:
    """Refuse a question that every new paper answers, or that has lost what it asks for. Raises InputError."""
    parsed = q.parse(text)
    if parsed.empty:
        raise InputError(f"the search {text!r} asks for nothing; give a word to look for")
    root = parsed.root
    if isinstance(root, q.And) and all(isinstance(each, q.Everything | q.Not) for each in root.children):
        raise InputError(f"the search {text!r} only excludes, so nearly every new paper would be found; add a word")
    if not isinstance(root, q.Words):
        return
    asked = [leaf.text.strip(":").casefold() for leaf in q.soft_words(parsed)]
    if ":" in text.replace("\uff1a", ":") and all(word in _FIELDS | _OPERATORS for word in asked):
        field = asked[0]
        raise InputError(f"the search {text!r} says nothing after {field}: – write it as {field}:word")
    if parsed.notes and all(word in _OPERATORS for word in asked):
        raise InputError(f"the search {text!r} asks for nothing: {parsed.notes[0]} Give a word to look for")
    if all(word in _EVERYWHERE for word in asked):
        raise InputError(f"the search {text!r} has only words of nearly every paper; give one of a subject")


def _no_category(interest: Interest) -> str:
    value = interest.value
    if interest.kind is not InterestKind.AREA or not _CATEGORY.fullmatch(value) or value in AREA_NAMES:
        return ""
    if value.partition(".")[0] not in _ARCHIVES:
        return ""
    near = get_close_matches(value, AREA_NAMES, n=1, cutoff=0.7)
    return f"arXiv has no category {value}{f'; did you mean {near[0]}?' if near else '.'}"
