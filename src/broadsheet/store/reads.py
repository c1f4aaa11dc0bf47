"""Reading papers inside a transaction; shared by the classes of the store."""

from __future__ import annotations

from collections.abc import Collection, Sequence

from sqlalchemy import Connection, select

from broadsheet.model import Paper, PaperId
from broadsheet.store import schema as s
from broadsheet.store.codec import paper_from_json
from broadsheet.store.database import any_of


def papers_by_id(connection: Connection, papers: Collection[PaperId]) -> dict[PaperId, Paper]:
    """Papers that live under these very ids."""
    p = s.papers.c
    rows = connection.execute(select(p.id, p.document).where(any_of(connection, p.id, papers)))
    return {paper.id: paper for paper in with_relations(connection, [(row.id, row.document) for row in rows])}


def with_relations(connection: Connection, rows: Sequence[tuple[PaperId, str]]) -> list[Paper]:
    """Papers of (id, document), with what they are related to in one query for all."""
    if not rows:
        return []
    r = s.relations.c
    related: dict[PaperId, list[PaperId]] = {}
    asked = select(s.relations).where(any_of(connection, r.paper_id, [paper for paper, _ in rows])).order_by(r.other_id)
    for paper, other in connection.execute(asked):
        related.setdefault(paper, []).append(other)
    return [paper_from_json(paper, document, tuple(related.get(paper, ()))) for paper, document in rows]
