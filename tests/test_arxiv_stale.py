"""Which categories lag behind the others."""

from __future__ import annotations

import gzip
import json
from collections import defaultdict

import pytest
from hypothesis import given
from hypothesis import strategies as st

from broadsheet.sources.arxiv import stale
from tests.shared import shared


def test_one_category_lags() -> None:
    newest = {"cs.AI": "2608.09930", "cs.CL": "2608.11200", "cs.LG": "2608.11180"}
    wanted = {"cs.AI": "cs.AI is stale: newest id 2608.09930, others have 2608.11200"}
    assert stale(newest) == wanted
    assert stale(newest, {"cs.AI": "2608.09930", "cs.CL": "2608.09955", "cs.LG": "2608.09941"}) == wanted


def test_a_small_category_need_not_lag() -> None:
    """Its newest id is well below the others' but above all of the batch before."""
    newest = {"stat.ML": "2608.10100", "cs.CL": "2608.11200"}
    assert stale(newest, {"stat.ML": "2608.09000", "cs.CL": "2608.09955"}) == {}


@pytest.mark.parametrize(
    ("newest", "wanted"),
    [
        ({}, []),
        ({"cs.AI": "2608.09930"}, []),
        ({"cs.AI": "2608.09930", "cs.CL": ""}, []),
        ({"cs.AI": "2607.30000", "cs.CL": "2608.00020"}, ["cs.AI"]),  # the month turned
        ({"cs.AI": "2608.11000", "cs.CL": "2608.11200"}, []),
        ({"cs.AI": "2608.01000", "cs.LG": "2608.01000", "cs.CL": "2608.11200"}, ["cs.AI", "cs.LG"]),
    ],
)
def test_who_lags(newest: dict[str, str], wanted: list[str]) -> None:
    assert list(stale(newest)) == wanted


def test_nothing_new_anywhere() -> None:
    newest = {"stat.ML": "2608.10100", "cs.CL": "2608.11200"}
    assert stale(newest, newest) == {}


def test_on_real_days() -> None:
    """Fifteen months of real batches: told what came before, hardly a category is called stale for being small."""
    newest: dict[str, dict[str, str]] = defaultdict(dict)
    with gzip.open(shared("data", "arxiv_daily", "arxiv_daily_2025-03_2026-07.jsonl.gz")) as lines:
        for line in lines:
            entry = json.loads(line)
            assert entry["id"][4] == "."
            of_day = newest[entry["list_date"]]
            for category in ("cs.CV", "cs.CL", "cs.AI", "cs.LG", "stat.ML", "cs.GT", "cs.RO"):
                if category in entry["categories"]:
                    of_day[category] = max(of_day.get(category, ""), entry["id"])
    before: dict[str, str] = {}
    wrong: dict[str, int] = defaultdict(int)
    far: dict[str, int] = defaultdict(int)
    for day in sorted(newest):
        if len(newest[day]) >= 5:
            for category in stale(newest[day], before):
                wrong[category] += 1
            for category in stale(newest[day]):
                far[category] += 1
        for category, value in newest[day].items():
            before[category] = max(before.get(category, ""), value)
    assert max(wrong.values(), default=0) <= 3, dict(wrong)
    large = ("cs.CV", "cs.CL", "cs.AI", "cs.LG")
    assert sum(far[category] for category in large) <= 3, dict(far)
    assert far["stat.ML"] > wrong["stat.ML"]


@given(st.dictionaries(st.sampled_from(["cs.AI", "cs.CL", "cs.LG", "stat.ML"]), st.integers(1, 40000), min_size=1))
def test_the_newest_of_all_never_lags(numbers: dict[str, int]) -> None:
    newest = {category: f"2608.{number:05}" for category, number in numbers.items()}
    head = max(newest.values())
    assert all(newest[category] < head for category in stale(newest))
