"""The weights of a ranking as a person is told them."""

from __future__ import annotations

import pytest

from broadsheet.feed.options import told_weights


def test_what_counts_against_a_newer_likeness_is_told_as_that() -> None:
    """0.36 lately − 0.2 lasting = 0.16 lately + 0.2 (lately − lasting)."""
    found = told_weights({"classifier": 0.4, "lasting": -0.2, "lately": 0.36})
    assert found == {"classifier": 0.4, "newer": 0.2, "lately": 0.16}
    lately, lasting = 0.7, 0.3
    told = found["lately"] * lately + found["newer"] * (lately - lasting)
    assert told == pytest.approx(0.36 * lately - 0.2 * lasting)


@pytest.mark.parametrize(
    "parts",
    [
        {"lately": 0.3, "lasting": 0.4},
        {"popular": 1.0},
        {"lately": 0.0, "lasting": -0.2},  # the reader turned "lately" off: then the other does push away
        {},
    ],
)
def test_all_else_is_told_as_it_is(parts: dict[str, float]) -> None:
    assert told_weights(parts) == parts
