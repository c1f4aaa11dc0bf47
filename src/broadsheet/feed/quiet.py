"""What an edition of a few papers says of itself where none of them is near to its reader. Pure."""

from __future__ import annotations

from collections.abc import Sequence

from broadsheet.model.reading import Section

FEW = 10
"""Papers to choose from, as on a weekend when a source files some late."""
NOTHING_NEAR = "Few papers are new, and nothing near to what you read is among them."
_NEAR = frozenset({"author", "area", "venue", "keyword", "search", "similar", "words"})


def nothing_near(sections: Sequence[Section], considered: int, basis: str) -> list[str]:
    """The sentence, where at most ``FEW`` papers were ``considered`` and no reason of any tells of the reader.

    Where the ranking knew nothing of its reader (``basis``), there is nothing to be near to.
    """
    entries = [entry for section in sections for entry in section.entries]
    if considered > FEW or basis == "nothing" or not entries:
        return []
    return [] if any(reason.kind in _NEAR for entry in entries for reason in entry.reasons) else [NOTHING_NEAR]
