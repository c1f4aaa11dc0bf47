"""What is marked in a record: the reader's terms, the model's, and the sentence that decided."""

from __future__ import annotations

from dataclasses import dataclass, replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from broadsheet.model.screening import Highlight
from broadsheet.screen.highlights import by_reader, highlights
from tests.screen_makers import records


@dataclass(frozen=True)
class Span:
    start: int
    end: int
    weight: float


@dataclass(frozen=True)
class Explained:
    title: tuple[Span, ...] = ()
    abstract: tuple[Span, ...] = ()
    sentence: Span | None = None


def marked(text: str, *terms: str) -> list[str]:
    return [("-" if span.weight < 0 else "") + text[span.start : span.end] for span in by_reader(text, terms)]


@pytest.mark.parametrize(
    ("text", "terms", "found"),
    [
        ("Statins and diabetes", ["statin"], ["Statins"]),
        ("STATINS, statin", ["statins"], ["STATINS", "statin"]),
        ("A randomised trial", ["randomised trial"], ["randomised trial"]),
        ("Randomised trials were", ["randomised trial"], ["Randomised trials"]),
        ("randomised clinical trial", ["randomised trial"], []),
        ("in mice and a mouse", ["-mice"], ["-mice"]),
        ("randomized, randomisation", ["random*"], ["randomized", "randomisation"]),
        ("clinical trials of trial-level", ["clinical tri*"], ["clinical trials"]),
        ("他汀类药物与糖尿病", ["糖尿病", "他汀"], ["他汀", "糖尿病"]),
        ("糖 尿 病", ["糖尿病"], ["糖 尿 病"]),
        ("naïve Bayes", ["naive bayes"], ["naïve Bayes"]),
        ("nothing here", ["", "-", " * "], []),
        ("type 2 diabetes mellitus", ["diabetes", "type 2 diabetes"], ["type 2 diabetes"]),  # the longest
        ("", ["statin"], []),
        ("a-b statin\n\tstatin", ["statin"], ["statin", "statin"]),
    ],
)
def test_the_readers_terms(text: str, terms: list[str], found: list[str]) -> None:
    assert marked(text, *terms) == found


def test_the_models_terms_and_the_sentence() -> None:
    record = replace(records(1)[0], title="Statins in mice", abstract="We tried. Statins lower risk. Done.")
    explained = Explained(
        (Span(0, 7, 0.5), Span(11, 15, -0.4)), (Span(10, 17, 0.6), Span(18, 23, 0.1)), Span(10, 29, 0.9)
    )
    title, abstract = highlights(record, ["statin"], explained)  # type: ignore[arg-type]
    assert title == (Highlight(0, 7, 1.0, "reader"), Highlight(11, 15, -0.4, "model"))
    assert abstract == (
        Highlight(10, 29, 0.9, "sentence"),
        Highlight(10, 17, 1.0, "reader"),
        Highlight(18, 23, 0.1, "model"),
    )
    assert highlights(record, ["statin"])[1] == (Highlight(10, 17, 1.0, "reader"),)


@given(st.text(max_size=60), st.lists(st.text(max_size=8), max_size=5))
def test_spans_are_in_the_text_in_order_and_apart(text: str, terms: list[str]) -> None:
    spans = by_reader(text, terms)
    at = 0
    for span in spans:
        assert at <= span.start < span.end <= len(text)
        at = span.end
