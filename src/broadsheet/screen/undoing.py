"""Taking back: which events hold, when what takes back can be taken back itself."""

from __future__ import annotations

from broadsheet.model.screening import ReviewEventId


class Undoing:
    """An event holds unless an event that holds takes it back; so undoing an undo brings back what it undid."""

    def __init__(self) -> None:
        self._against: dict[ReviewEventId, int] = {}
        self._target: dict[ReviewEventId, ReviewEventId] = {}

    def holds(self, event: ReviewEventId) -> bool:
        """Whether an event has not been taken back."""
        return not self._against.get(event)

    def undo(self, event: ReviewEventId, target: ReviewEventId) -> dict[ReviewEventId, bool]:
        """A new event takes an earlier one back; gives each event that now holds again, or no longer."""
        self._target[event] = target
        changed: dict[ReviewEventId, bool] = {}
        holder, holds = event, True
        while holder in self._target:  # down the chain, as long as what stands at its next place changes
            one = self._target[holder]
            before = self.holds(one)
            self._against[one] = self._against.get(one, 0) + (1 if holds else -1)
            after = self.holds(one)
            if before == after:
                break
            changed[one] = after
            holder, holds = one, after
        return changed
