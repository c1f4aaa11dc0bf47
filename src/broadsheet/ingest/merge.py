"""To which paper an incoming record belongs. Pure: the candidates are given, nothing is read or written."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from broadsheet.ingest.compare import Verdict, compare
from broadsheet.ingest.reading import Reading
from broadsheet.model import Judgement, JudgementKind, PaperId, RecordKey, Scheme

_ONE_EACH = (Scheme.DOI, Scheme.ACL, Scheme.PMID)
"""A paper usually has one of each, so two different ones speak against a merge by title.

Not so OpenReview: a paper that was rejected and submitted again has two forums.
"""


@dataclass(frozen=True, slots=True)
class Candidate:
    """A paper that shares a key with the incoming record; ids below 0 are papers of the same batch, not yet stored."""

    id: PaperId
    readings: tuple[Reading, ...]


@dataclass(frozen=True, slots=True)
class Intent:
    """Where a record goes: into ``paper`` (None: a new one), which papers ``merged`` into it, which are ``linked``."""

    paper: PaperId | None
    merged: tuple[PaperId, ...] = ()
    linked: tuple[PaperId, ...] = ()


class Judgements:
    """People's decisions, by pair of records."""

    def __init__(self, judgements: Iterable[Judgement] = ()) -> None:
        self._kinds = {frozenset((j.a, j.b)): j.kind for j in judgements}
        self._named: dict[RecordKey, set[RecordKey]] = {}
        for pair in self._kinds:
            for key in pair:
                self._named.setdefault(key, set()).update(pair - {key})

    def named_with(self, key: RecordKey) -> set[RecordKey]:
        """The records about which something was decided together with this one."""
        return self._named.get(key, set())

    def between(self, some: Iterable[RecordKey], others: Sequence[RecordKey]) -> JudgementKind | None:
        """What was decided of records of two papers; one split outweighs any merge."""
        if not self._kinds:
            return None
        kinds = {self._kinds.get(frozenset((a, b))) for a in some for b in others}
        if JudgementKind.SPLIT in kinds:
            return JudgementKind.SPLIT
        return JudgementKind.MERGE if JudgementKind.MERGE in kinds else None


NO_JUDGEMENTS = Judgements()


def _keys(readings: Sequence[Reading]) -> list[RecordKey]:
    return [reading.key for reading in readings]


def _values(readings: Sequence[Reading], scheme: Scheme) -> set[str]:
    return {i.value for reading in readings for i in reading.identifiers if i.scheme is scheme}


def _apart(a: Sequence[Reading], b: Sequence[Reading], scheme: Scheme) -> bool:
    """Whether both have identifiers of a scheme, and none in common."""
    left, right = _values(a, scheme), _values(b, scheme)
    return bool(left) and bool(right) and not left & right


def _contradict(a: Sequence[Reading], b: Sequence[Reading]) -> bool:
    """Whether identifiers say that two papers which seem the same are not.

    Two arXiv ids are two works, whatever else is in common. Any other identifier in common outweighs those that differ,
    but a DOI does not: it may be a slip, or that of a whole issue.
    """
    if _apart(a, b, Scheme.ARXIV):
        return True
    if any(_values(a, scheme) & _values(b, scheme) for scheme in Scheme if scheme is not Scheme.DOI):
        return False
    return any(_apart(a, b, scheme) for scheme in _ONE_EACH)


def standing(
    a: Sequence[Reading], b: Sequence[Reading], judgements: Judgements = NO_JUDGEMENTS
) -> tuple[Verdict, bool]:
    """How two papers stand to each other, and whether a person said so."""
    judged = judgements.between(_keys(a), _keys(b))
    if judged is JudgementKind.SPLIT:
        return Verdict.DIFFERENT, True
    if judged is JudgementKind.MERGE:
        return Verdict.IDENTIFIED, True
    verdict = max(compare(x, y) for x in a for y in b)
    if verdict >= Verdict.SAME and _contradict(a, b):
        return Verdict.LINKED, False
    return verdict, False


def _age(paper: PaperId) -> tuple[bool, int]:
    """Stored papers first, by id; then new ones in their order."""
    return paper < 0, abs(paper)


def decide(
    incoming: Reading,
    candidates: Sequence[Candidate],
    judgements: Judgements = NO_JUDGEMENTS,
    home: PaperId | None = None,
) -> Intent:
    """Where a record belongs among the papers that may be its own.

    Of several that are the same, all become one, unless they contradict each other; the oldest id stays. ``home`` is
    the paper that the record, read before, is in already: it stays there unless a person or its new arXiv id says
    otherwise. ``home``'s candidate holds the paper's other records, and may hold none.
    """
    joined: list[PaperId] = []
    linked: list[PaperId] = []
    group: list[Reading] = [incoming]
    ranked: list[tuple[bool, Verdict, Candidate]] = []
    for candidate in candidates:
        verdict, by_word = (
            standing((incoming,), candidate.readings, judgements) if candidate.readings else (Verdict.DIFFERENT, False)
        )
        if candidate.id == home and _stays(incoming, candidate, by_word and verdict is Verdict.DIFFERENT):
            joined.append(candidate.id)
            group += candidate.readings
        elif verdict >= Verdict.SAME:
            ranked.append((by_word, verdict, candidate))
        elif verdict is Verdict.LINKED:
            linked.append(candidate.id)
    # The surest first, so that of two papers that contradict each other the surer one is joined.
    for by_word, _, candidate in sorted(ranked, key=lambda r: (not r[0], -r[1], _age(r[2].id))):
        split = judgements.between(_keys(group), _keys(candidate.readings)) is JudgementKind.SPLIT
        if split or (not by_word and _contradict(group, candidate.readings)):
            linked.append(candidate.id)
        else:
            group += candidate.readings
            joined.append(candidate.id)
    others = tuple(sorted(linked, key=_age))
    if not joined:
        return Intent(None, (), others)
    kept, *merged = sorted(joined, key=_age)
    return Intent(kept, tuple(merged), others)


def _stays(incoming: Reading, home: Candidate, judged_apart: bool) -> bool:
    return not judged_apart and not _apart((incoming,), home.readings, Scheme.ARXIV)
