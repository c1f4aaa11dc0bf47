"""Profiles and editions as the store keeps them: everything comes back, and what could not is refused."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import orjson
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from broadsheet.model import Paper
from broadsheet.model.reading import Edition, Interest, Profile
from broadsheet.store.codec import dumps, pack, unpack
from broadsheet.store.codec_reading import (
    edition_from_bytes,
    edition_to_bytes,
    interest_from_json,
    interest_to_json,
    profile_from_json,
    profile_to_json,
)
from tests.reading_makers import edition, editions, entry, interests, profiles


@settings(deadline=None)
@given(editions)
def test_edition_to_bytes_and_back(one: Edition) -> None:
    assert edition_from_bytes(edition_to_bytes(one)) == one


@given(profiles)
def test_profile_to_json_and_back(one: Profile) -> None:
    assert profile_from_json(profile_to_json(one)) == one


@given(st.none() | interests)
def test_interest_to_json_and_back(one: Interest | None) -> None:
    assert interest_from_json(interest_to_json(one)) == one


@pytest.mark.parametrize("wrong", [0, -0.1, 1.0001, float("nan")])
def test_a_propensity_is_a_probability_above_0(wrong: float) -> None:
    broken = edition(sections=())
    section = edition(1).sections[0]
    broken = replace(broken, sections=(replace(section, entries=(entry(1, propensity=wrong),)),))
    with pytest.raises(ValueError, match=r"paper 1: a propensity of .* is not in \(0, 1\]"):
        edition_to_bytes(broken)


@pytest.mark.parametrize("wrong", [float("nan"), float("inf"), -float("inf")])
@pytest.mark.parametrize("field", ["score", "parts", "risk", "cap"])
def test_numbers_that_json_would_lose_are_refused(field: str, wrong: float) -> None:
    value = {"memory": wrong} if field == "parts" else wrong
    broken = edition(1)
    if field in ("risk", "cap"):
        broken = replace(broken, **{field: value})
    else:
        section = replace(broken.sections[0], entries=(entry(1, **{field: value}),))
        broken = replace(broken, sections=(section,))
    with pytest.raises(ValueError, match="no number that can be stored"):
        edition_to_bytes(broken)


def test_numbers_of_numpy_come_back_as_pythons() -> None:
    made = entry(Paper(np.int64(7), "Seven"), score=np.float32(0.5), parts={"x": np.float64(0.1)})  # type: ignore[arg-type]
    section = replace(edition(1).sections[0], entries=(made,))
    [back] = edition_from_bytes(edition_to_bytes(replace(edition(1), sections=(section,)))).entries
    assert (back.paper.id, back.score, back.parts) == (7, 0.5, {"x": 0.1})


def test_what_a_newer_version_adds_is_passed_over_and_what_an_older_one_lacks_has_its_default() -> None:
    assert profile_from_json('{"colour": "red"}') == Profile()
    fields = orjson.loads(unpack(edition_to_bytes(edition(1, 2, risk=0.1, cap=1.0))))
    for late in ("notes", "risk", "cap"):
        del fields[late]
    fields["colour"] = "red"
    assert edition_from_bytes(pack(dumps(fields))) == edition(1, 2)
