"""What the form of a paper's entry says about how much notice it will be taken of, whatever it is about."""

from __future__ import annotations

import math
import re

# Names of the values of ``form_features``, in their order.
FORM_FEATURES = (
    "authors",
    "title length",
    "abstract length",
    "name in the title",
    "survey",
    "benchmark",
    "areas",
    "comment",
    "accepted somewhere",
    "report or preprint",
    "code",
    "project page",
    "release",
    "figures",
)
_SURVEY = re.compile(r"\b(survey|review|overview)\b", re.IGNORECASE)
_ACCEPTED = re.compile(r"\b(accepted|to appear|published|proceedings)\b", re.IGNORECASE)
_REPORT = re.compile(r"\b(preprint|work in progress|technical report|under review)\b", re.IGNORECASE)
_RELEASE = re.compile(r"\b(open[- ]sourced?|released?|publicly available)\b", re.IGNORECASE)
_PERCENT = re.compile(r"\d\s?\\?%")


def form_features(title: str, abstract: str, *, authors: int, areas: int, comment: str = "") -> list[float]:
    """One number for each of ``FORM_FEATURES``; counts and lengths (in characters) as logarithms, the rest 0 or 1.

    All of it is known on the day on which a paper is announced.
    """
    both = f"{abstract} {comment}".lower()
    return [
        math.log1p(authors),
        math.log1p(len(title)),
        math.log1p(len(abstract)),
        float(":" in title),
        float(bool(_SURVEY.search(title))),
        float("bench" in title.lower()),
        math.log1p(areas),
        float(bool(comment)),
        float(bool(_ACCEPTED.search(comment))),
        float(bool(_REPORT.search(both))),
        float("github.com" in both),
        float("project page" in both or ".github.io" in both),
        float(bool(_RELEASE.search(abstract))),
        math.log1p(len(_PERCENT.findall(abstract))),
    ]
