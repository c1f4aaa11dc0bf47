"""What the reviews of ``FakeLibrary`` hold: a plan, twelve records, highlights, statements and pictures.

Titles, abstracts and numbers are made up for these tests; authors are names from the history of mathematics.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from broadsheet.model import Identifier, Scheme
from broadsheet.model.screening import (
    Criterion,
    GuaranteeClass,
    Highlight,
    Plan,
    PoolRecord,
    StoppingPlan,
    StopReport,
)

HOSTILE = 'Walks <script>alert(1)</script> & "bounds"'
CHINESE = "压缩感知中稀疏恢复的界"
SVG = (
    '<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 680 420" width="680" height="420">'
    '<rect width="680" height="420" fill="#fff"/>'
    '<rect x="40" y="30" width="300" height="60" fill="none" stroke="#000"/>'
    '<text x="60" y="65" font-size="16">Records identified (n = 12)</text></svg>'
)
PNG = b"\x89PNG\r\n\x1a\n made up"
ABSTRACT = (
    "Background: A seeded walk on a sparse graph visits most vertices early. Whether the rest is ever reached has been "
    "argued about since the first such walk was drawn.\nMethods: We compared 40 walks of 1,000 steps with random "
    "restarts against walks without, and measured how many vertices were left.\nResults: Restarts left fewer vertices "
    "(12 of 1,000 against 96 of 1,000), and the sparse parts were reached first.\nConclusions: Random restarts are "
    "worth their price wherever a graph has sparse parts, and a bound on what was missed can be given at any step."
)
PLAN = Plan(
    question="Do random restarts help walks on sparse graphs to reach every vertex?",
    criteria=(
        Criterion("GRAPH", "Walks on sparse graphs", excludes=False),
        Criterion("RESTART", "Compares walks with and without restarts", excludes=False),
        Criterion("DENSE", "Dense graphs only"),
        Criterion("NODATA", "No measurements of its own"),
        Criterion("SURVEY", "A survey of other work"),
    ),
    terms=("sparse", "restarts", "-survey"),
    stopping=StoppingPlan(target=0.9, advantage=3),
)


def pool() -> list[PoolRecord]:
    """Twelve records: with markup, in Chinese, without title, without abstract, and one that repeats another."""
    authors = ("Emmy Noether", "Paul Erdős", "Sofia Kovalevskaya")
    doi = (Identifier(Scheme.DOI, "10.1000/walks.1"),)
    found = [
        PoolRecord(
            1, "Random restarts of walks on sparse graphs", ABSTRACT, authors, 2021, "Journal of Lost Walks", doi
        ),
        PoolRecord(2, HOSTILE, "An abstract with <b>markup</b> & an ampersand.", authors[:1], 2019),
        PoolRecord(
            3, CHINESE, "本文研究稀疏恢复的界，并给出随机重启的实验。" * 6, ("祖冲之", "刘徽"), 2020, "计算数学"
        ),
        PoolRecord(4, "", "Only an abstract came with this record about sparse walks.", year=2018),
        PoolRecord(5, "A survey of sparse walks without an abstract", "", authors, 2015),
        PoolRecord(6, "Random restarts of walks on sparse graphs.", "", authors, 2021, twin=1, source="b.ris"),
    ]
    for number in range(7, 13):
        found.append(
            PoolRecord(
                number,
                f"Measured walks, part {number}: sparse and dense graphs beside each other",
                ABSTRACT,
                authors[: number % 3 + 1],
                2000 + number,
                "Annals of Steps",
                keywords=("walks", "restarts"),
                source="hits.ris",
                key=f"entry {number}",
                note="seen before" if number == 9 else "",
            )
        )
    return found


def highlights(text: str) -> Iterator[Highlight]:
    for word, weight, origin in (
        ("sparse", 0.9, "reader"),
        ("survey", -0.8, "reader"),
        ("walks", 0.5, "model"),
        ("dense", -0.4, "model"),
        ("稀疏", 0.7, "reader"),
    ):
        if (at := text.find(word)) >= 0:
            yield Highlight(at, at + len(word), weight, origin)
    if (at := text.find("Results:")) >= 0:
        yield Highlight(at, text.find("\n", at), 0.6, "sentence")


def report(found: int, unread: int) -> StopReport:
    assumption = "from here on the ranking finds relevant records at least 3 times as fast as random reading"
    shared: dict[str, Any] = {"target": 0.9, "confidence": 0.95, "assumption": assumption, "wants": "ranked"}
    kind = GuaranteeClass.ASSUMPTION
    if not found:
        return StopReport(
            "rank-advantage", kind, False, "No estimate is possible: nothing relevant was found.", **shared
        )
    sentence = f"Recall is at least 83 % with 95 % confidence, assuming that {assumption}; {unread} more for 90 %."
    return StopReport("rank-advantage", kind, False, sentence, recall=0.834, missing=2, further=unread, **shared)


def thumb() -> StopReport:
    sentence = "4 irrelevant in a row of the 50 that were set."
    return StopReport("irrelevant-in-a-row", GuaranteeClass.NONE, False, sentence, 0.9, 0.95)
