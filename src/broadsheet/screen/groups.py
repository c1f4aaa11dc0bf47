"""Which records of a pool are one and the same: groups that grow, are joined and are taken apart again."""

from __future__ import annotations

from collections.abc import Callable, Iterator

from broadsheet.model.screening import RecordNumber, ReviewEventId

Group = RecordNumber
"""A group of records that repeat each other, named by its least number."""

_ADD, _JOIN, _PART = range(3)


class Groups:
    """Records in groups; a record alone is a group, too. What was done can be taken back by ``redo``."""

    def __init__(self) -> None:
        self._done: list[tuple[int, ReviewEventId, RecordNumber, RecordNumber]] = []
        self._group: dict[RecordNumber, Group] = {}
        self._members: dict[Group, tuple[RecordNumber, ...]] = {}

    def __len__(self) -> int:
        return len(self._members)

    def __iter__(self) -> Iterator[Group]:
        """All groups, in the order in which their first records came."""
        return iter(self._members)

    def __contains__(self, group: Group) -> bool:
        return group in self._members

    def group(self, number: RecordNumber) -> Group:
        """The group of a record; KeyError for one that is not there."""
        return self._group[number]

    def members(self, group: Group) -> tuple[RecordNumber, ...]:
        """The records of a group, ascending."""
        return self._members[group]

    def add(self, number: RecordNumber, twin: RecordNumber = 0, event: ReviewEventId = 0) -> None:
        """A new record; it joins the group of ``twin``, if there is such a record."""
        self._done.append((_ADD, event, number, twin))
        self._add(number, twin)

    def join(self, one: RecordNumber, other: RecordNumber, event: ReviewEventId) -> set[Group]:
        """The groups of two records become one; gives the groups of before and after that are concerned."""
        self._done.append((_JOIN, event, one, other))
        return self._join(one, other)

    def part(self, number: RecordNumber, event: ReviewEventId) -> set[Group]:
        """A record leaves its group and is alone; gives the groups of before and after that are concerned."""
        self._done.append((_PART, event, number, 0))
        return self._part(number)

    def redo(self, holds: Callable[[ReviewEventId], bool]) -> set[Group]:
        """All again, without the joining and parting by events that do not hold; gives the groups that changed."""
        before = self._members
        self._group, self._members = {}, {}
        for kind, event, number, other in self._done:
            if kind == _ADD:
                self._add(number, other)
            elif holds(event):
                if kind == _JOIN:
                    self._join(number, other)
                else:
                    self._part(number)
        same = {group for group, members in self._members.items() if before.get(group) == members}
        return (set(before) | set(self._members)) - same

    def _add(self, number: RecordNumber, twin: RecordNumber) -> None:
        group = self._group.get(twin, number)
        if group == number:
            self._group[number] = number
            self._members[number] = (number,)
        else:
            self._set((*self._members.pop(group), number))

    def _join(self, one: RecordNumber, other: RecordNumber) -> set[Group]:
        first, second = self._group[one], self._group[other]
        if first == second:
            return set()
        self._set(self._members.pop(first) + self._members.pop(second))
        return {first, second}

    def _part(self, number: RecordNumber) -> set[Group]:
        group = self._group[number]
        if len(self._members[group]) == 1:
            return set()
        rest = tuple(member for member in self._members.pop(group) if member != number)
        self._set(rest)
        self._set((number,))
        return {group, self._group[rest[0]], number}

    def _set(self, members: tuple[RecordNumber, ...]) -> None:
        ordered = tuple(sorted(members))
        self._members[ordered[0]] = ordered
        for member in ordered:
            self._group[member] = ordered[0]
