"""Whether what a reader follows or saves as a search asks anything."""

from __future__ import annotations

import pytest

from broadsheet.errors import InputError
from broadsheet.feed.asking import check_interest, check_question, counted, doubts, question_of
from broadsheet.model.reading import Interest, InterestKind


def keyword(value: str) -> Interest:
    return Interest(InterestKind.KEYWORD, value)


@pytest.mark.parametrize("value", ["the", "The", "of the", "we", "a", "in"])
def test_words_of_every_paper_are_refused(value: str) -> None:
    with pytest.raises(InputError, match="nearly every paper"):
        check_interest(keyword(value))


@pytest.mark.parametrize("value", ["the web", "state of the art", "a*", "c++", "大模型", "learning", "a#"])
def test_words_of_a_subject_are_taken(value: str) -> None:
    if value != "a*":
        check_interest(keyword(value))
    check_interest(Interest(InterestKind.AUTHOR, "The"))


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("author:(", "says nothing after author: – write it as author:word"),
        ("author:", "says nothing after author"),
        ('author:"', "says nothing after author"),
        ("venue:()", "says nothing after venue"),
        ("作者：", "says nothing after 作者"),
        ("", "asks for nothing"),
        ('""', "asks for nothing"),
        ("?!", "asks for nothing"),
        ("OR", "OR has nothing to search for"),
        ("NOT", "asks for nothing"),
        ("-survey", "only excludes"),
        ("-survey NOT title:review", "only excludes"),
        ("the", "words of nearly every paper"),
        ("of the", "words of nearly every paper"),
    ],
)
def test_a_question_that_asks_nothing_is_refused(text: str, message: str) -> None:
    with pytest.raises(InputError, match=message):
        check_question(text)


@pytest.mark.parametrize(
    "text",
    [
        *("author:noether", "author", "title", "the web", "bandits -survey", "year:2026", "since:2026", "has:code"),
        *("author:(noether OR hilbert)", "dough OR yeast", "C++", "大模型", "area:cs.LG", "AND gates", "note:x"),
    ],
)
def test_a_question_that_asks_something_is_taken(text: str) -> None:
    check_question(text)


def test_how_many_papers_are_meant() -> None:
    assert [counted(n) for n in (None, 0, 1, 1200)] == [
        "", "no paper so far", "1 paper of this library", "1,200 papers of this library",
    ]  # fmt: skip


def test_what_may_be_wrong() -> None:
    def area(value: str) -> list[str]:
        return doubts(Interest(InterestKind.AREA, value), 0, 100)

    assert area("cs.XX")[0].startswith("arXiv has no category cs.XX")
    assert area("math.PRR") == ["arXiv has no category math.PRR; did you mean math.PR?"]
    for known in ("cs.LG", "math", "Theory", "Theory · Learning Theory", "Node.js", "hep-th"):
        assert area(known) == [], known
    assert doubts(keyword("learning"), 30, 100) == [
        "That is 30% of them: a word that so many papers have tells few apart."
    ]
    assert doubts(keyword("learning"), 29, 100) == doubts(keyword("learning"), 30, 40) == []
    assert doubts(keyword("learning"), None, 100) == doubts(Interest(InterestKind.AREA, "cs.LG"), 100, 100) == []


def test_the_question_of_an_interest() -> None:
    assert question_of(keyword('active "learning')) == '+"active learning"'
    assert question_of(Interest(InterestKind.AUTHOR, "Emmy Noether")) == 'author:"Emmy Noether"'
