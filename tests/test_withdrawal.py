"""Withdrawals in free words: this paper's own and no other's."""

from __future__ import annotations

import gzip
import json

import pytest

from broadsheet.model import Notice, NoticeKind
from broadsheet.sources.withdrawal import withdrawal
from tests.shared import shared

WITHDRAWN_COMMENTS = [
    "This paper has been withdrawn by the author due to a crucial sign error in equation 1",
    "This paper has been withdrawn by the authors due to an error in Lemma 2.",
    "Withdrawn",
    "withdrawn.",
    "WITHDRAWN: the proof has a gap",
    "Paper withdrawn",
    "Paper withdrawn by the authors",
    "Withdrawn due to errors in the proof",
    "12 pages, 3 figures. This paper has been withdrawn",
    "12 pages; withdrawn because of an error in section 3",
    "This article has been temporarily withdrawn pending an inquiry",
    "The manuscript was withdrawn by the authors",
    "arXiv admin note: submission has been withdrawn by arXiv administrators due to disputed authorship",
    "arXiv admin note: This version withdrawn by arXiv administrators",
    "This submission is withdrawn because it repeats arXiv:2401.12345",
    "The authors have withdrawn this paper",
    "We withdraw this submission because Theorem 1 is wrong",
    "I have withdrawn the paper",
    "This work has been withdrawn and replaced by arXiv:2401.12345",
    "The paper has been withdrawn from arXiv",
    "(This paper has been withdrawn)",
    "This\npaper has\nbeen withdrawn",
]

NOT_WITHDRAWN_COMMENTS = [
    "",
    "12 pages",
    "We study withdrawn papers",
    "Withdrawn papers of arXiv, 2010-2020; data at the address below",
    "A previous version of this paper has been withdrawn",
    "The previous version was withdrawn",
    "v1 of this paper was withdrawn; this is the corrected text",
    "v1 withdrawn due to an error",
    "This paper was withdrawn from ICML 2025",
    "Submission withdrawn from ICLR 2024, now at TMLR",
    "ICLR 2024 submission (withdrawn)",
    "ICLR 2024 submission, withdrawn",
    "Replaces the withdrawn paper arXiv:2401.12345",
    "Supersedes withdrawn submission arXiv:2401.12345",
    "Some results of the paper are withdrawn",
    "Theorem 4 has been retracted",
    "Code withdrawal experiments added",
]


@pytest.mark.parametrize("comment", WITHDRAWN_COMMENTS)
def test_a_comment_that_withdraws(comment: str) -> None:
    notice = withdrawal(comment, "We show that small models learn.")
    assert notice is not None
    assert notice.kind is NoticeKind.WITHDRAWN


@pytest.mark.parametrize("comment", NOT_WITHDRAWN_COMMENTS)
def test_a_comment_that_does_not(comment: str) -> None:
    assert withdrawal(comment, "We show that small models learn.") is None


@pytest.mark.parametrize(
    "abstract",
    [
        "This paper has been withdrawn by the authors due to an error.",
        "This paper has been withdrawn.",
        "We show a bound. This paper has been withdrawn by the author, since the bound is wrong.",
        "The paper has been withdrawn by the authors.",
        "Withdrawn by the author.",
        "Paper withdrawn due to a flaw in Section 2",
        "We withdraw this paper because of an error.",
        "[This paper has been withdrawn.] We show a bound.",
    ],
)
def test_an_abstract_that_withdraws(abstract: str) -> None:
    assert withdrawal("", abstract) is not None


@pytest.mark.parametrize(
    "abstract",
    [
        "We study withdrawn papers and why they are withdrawn.",
        "Withdrawn papers are still cited.",
        "After the paper was withdrawn by its authors, it went on being cited.",
        "Once support is withdrawn by the teacher, students fail.",
        "A famous paper has been withdrawn by its authors; we ask why.",
        "Drugs that were withdrawn from the market are listed. The paper was withdrawn from publication by nobody.",
        "We ask how a reader learns that this paper has been withdrawn.",
    ],
)
def test_an_abstract_about_withdrawal(abstract: str) -> None:
    assert withdrawal("", abstract) is None


def test_the_reason_is_the_sentence_that_says_so() -> None:
    comment = "12 pages. This paper has been withdrawn by the author due to an error in Eq. (3). Thanks to all readers"
    assert withdrawal(comment, "") == Notice(
        NoticeKind.WITHDRAWN, "This paper has been withdrawn by the author due to an error in Eq. (3)."
    )


def test_a_retraction_is_graver() -> None:
    notice = withdrawal("This article has been retracted by the authors", "")
    assert notice is not None
    assert notice.kind is NoticeKind.RETRACTED


def test_comment_before_abstract() -> None:
    notice = withdrawal("Withdrawn due to an error", "This paper has been withdrawn.")
    assert notice is not None
    assert notice.reason == "Withdrawn due to an error"


def test_seven_thousand_real_papers() -> None:
    """Of a month of real announcements with their comments, nothing but true withdrawals is taken for one."""
    taken = []
    with gzip.open(shared("data", "arxiv_daily", "sample_2026-05_all_days.jsonl.gz")) as lines:
        for line in lines:
            entry = json.loads(line)
            notice = withdrawal(entry.get("comment") or "", entry["abstract"])
            if notice:
                taken.append(notice.reason)
    assert all("withdrawn" in reason.lower() or "retracted" in reason.lower() for reason in taken)
    assert len(taken) <= 10
