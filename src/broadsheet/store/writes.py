"""One batch of writes inside one transaction. The number of statements does not depend on the size of the batch."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence
from typing import Any

from sqlalchemy import Connection, Table, bindparam, delete, insert, select, update

from broadsheet.model import Identifier, Judgement, PaperId
from broadsheet.store import schema as s
from broadsheet.store.codec import hash64, pack, paper_to_json, signed, text_digest, to_micros
from broadsheet.store.database import any_of
from broadsheet.store.types import PaperWrite, RecordWrite, WriteBatch, Written

Rows = list[dict[str, Any]]


def take_numbers(connection: Connection, **amounts: int) -> dict[str, int]:
    """The first of ``amount`` fresh numbers of each counter. Locks the counters until the transaction ends."""
    asked = select(s.counters.c.name, s.counters.c.value).with_for_update()
    last = {row.name: row.value for row in connection.execute(asked)}
    change = update(s.counters).where(s.counters.c.name == bindparam("counter"))
    rows = [{"counter": name, "value": last[name] + amount} for name, amount in amounts.items() if amount]
    _execute(connection, change, rows)
    return {name: last[name] + 1 for name in amounts}


def apply_batch(connection: Connection, batch: WriteBatch) -> Written:
    """Write everything of the batch and its entries of the change log."""
    fresh = [write.paper.id for write in batch.papers if write.paper.id < 0]
    merged = _checked_merges(batch.merged)
    new_records = sum(write.record_id is None for write in batch.records)
    first = take_numbers(connection, paper=len(fresh), record=new_records)
    ids = {reference: first["paper"] + i for i, reference in enumerate(sorted(fresh, reverse=True))}

    _merge(connection, merged)
    _write_records(connection, batch, ids, first["record"])
    _move_records(connection, [(record, _resolved(paper, ids)) for record, paper in batch.moved])
    _write_papers(connection, batch.papers, ids)
    links = [(_resolved(a, ids), _resolved(b, ids)) for a, b in batch.links]
    linked = add_relations(connection, links)
    touched = dict.fromkeys(
        [_resolved(write.paper.id, ids) for write in batch.papers] + sorted(linked) + [gone for gone, _ in merged]
    )
    seq = log_changes(connection, touched)
    add_judgements(connection, batch.judgements)
    if batch.progress:
        _set_progress(connection, batch.progress, to_micros(batch.now))
    return Written(seq, ids)


def log_changes(connection: Connection, papers: Collection[PaperId]) -> int:
    """Append papers to the change log; the last number of the log."""
    first = take_numbers(connection, change=len(papers))["change"]
    _execute(connection, insert(s.changes), [{"seq": first + i, "paper_id": p} for i, p in enumerate(papers)])
    return first + len(papers) - 1


def _execute(connection: Connection, statement: Any, rows: Rows) -> None:
    if rows:
        connection.execute(statement, rows)


def _resolved(paper_id: PaperId, ids: dict[PaperId, PaperId]) -> PaperId:
    # NumPy's integers are bound as bytes by some drivers.
    return ids[paper_id] if paper_id < 0 else int(paper_id)


def _checked_merges(merged: Sequence[tuple[PaperId, PaperId]]) -> list[tuple[PaperId, PaperId]]:
    gone = {pair[0] for pair in merged}
    if len(gone) < len(merged) or any(kept in gone or kept < 0 or lost < 0 for lost, kept in merged):
        raise ValueError("each paper merges once, and into a stored one that stays")
    return list(merged)


def _write_records(connection: Connection, batch: WriteBatch, ids: dict[PaperId, PaperId], first_id: int) -> None:
    seen = to_micros(batch.now)

    def row(write: RecordWrite, number: int) -> dict[str, Any]:
        return {
            "id": number,
            "source": write.record.source,
            "key": write.record.key,
            "paper_id": _resolved(write.paper_id, ids),
            "digest": write.record.digest,
            "seen": seen,
            "content": pack(write.record.data),
        }

    fresh = [write for write in batch.records if write.record_id is None]
    _execute(connection, insert(s.records), [row(write, first_id + i) for i, write in enumerate(fresh)])
    known = [row(write, int(write.record_id)) for write in batch.records if write.record_id is not None]
    for changed in known:
        changed["record"] = changed.pop("id")
    columns: dict[str, Any] = {
        name: bindparam(name) for name in ("source", "key", "paper_id", "digest", "seen", "content")
    }
    _execute(connection, update(s.records).where(s.records.c.id == bindparam("record")).values(columns), known)


def _move_records(connection: Connection, moved: Sequence[tuple[int, PaperId]]) -> None:
    change = update(s.records).where(s.records.c.id == bindparam("record")).values(paper_id=bindparam("paper"))
    _execute(connection, change, [{"record": int(record), "paper": paper} for record, paper in moved])


def _write_papers(connection: Connection, writes: Sequence[PaperWrite], ids: dict[PaperId, PaperId]) -> None:
    if not writes:
        return
    known = [write.paper.id for write in writes if write.paper.id > 0]
    if known:
        forget_papers(connection, known)
    rows, names, keys = [], [], []
    for write in writes:
        paper, number = write.paper, _resolved(write.paper.id, ids)
        day = paper.day
        rows.append(
            {
                "id": number,
                "day": day.toordinal() if day else 0,
                "year": paper.year,
                "text_digest": signed(text_digest(paper)),
                "document": paper_to_json(paper),
            }
        )
        names += [{"value": i.value, "scheme": i.scheme.value, "paper_id": number} for i in set(paper.identifiers)]
        keys += [{"hash": h, "paper_id": number} for h in {hash64(key) for key in write.match_keys}]
    connection.execute(insert(s.papers), rows)
    _execute(connection, insert(s.identifiers), names)
    _execute(connection, insert(s.match_keys), keys)


def forget_papers(connection: Connection, papers: Collection[PaperId]) -> None:
    """Delete what is derived of papers; their records stay."""
    derived: tuple[tuple[Table, str], ...] = ((s.papers, "id"), (s.identifiers, "paper_id"), (s.match_keys, "paper_id"))
    for table, column in derived:
        connection.execute(delete(table).where(any_of(connection, table.c[column], papers)))


def _merge(connection: Connection, merged: Sequence[tuple[PaperId, PaperId]]) -> None:
    if not merged:
        return
    pairs = [{"lost": lost, "into": into} for lost, into in merged]
    records, aliases = s.records, s.aliases
    move = update(records).where(records.c.paper_id == bindparam("lost")).values(paper_id=bindparam("into"))
    connection.execute(move, pairs)
    forget_papers(connection, [lost for lost, _ in merged])
    move = update(aliases).where(aliases.c.kept == bindparam("lost")).values(kept=bindparam("into"))
    connection.execute(move, pairs)
    connection.execute(insert(aliases), [{"gone": lost, "kept": into} for lost, into in merged])
    _merge_relations(connection, dict(merged))


def _merge_relations(connection: Connection, merged: dict[PaperId, PaperId]) -> None:
    relations = s.relations
    touched = any_of(connection, relations.c.paper_id, merged) | any_of(connection, relations.c.other_id, merged)
    pairs = [(row.paper_id, row.other_id) for row in connection.execute(select(relations).where(touched))]
    if pairs:
        connection.execute(delete(relations).where(touched))
        add_relations(connection, [(merged.get(a, a), merged.get(b, b)) for a, b in pairs])


def add_relations(connection: Connection, links: Iterable[tuple[PaperId, PaperId]]) -> set[PaperId]:
    """Relate pairs of papers both ways; the papers for which that was news."""
    wanted = {pair for a, b in links if a != b for pair in ((a, b), (b, a))}
    if not wanted:
        return set()
    relations = s.relations
    asked = select(relations).where(any_of(connection, relations.c.paper_id, {a for a, _ in wanted}))
    missing = sorted(wanted - {(row.paper_id, row.other_id) for row in connection.execute(asked)})
    _execute(connection, insert(relations), [{"paper_id": a, "other_id": b} for a, b in missing])
    return {a for a, _ in missing}


def add_judgements(connection: Connection, judgements: Sequence[Judgement]) -> None:
    """Keep decisions about pairs of records, each in place of an earlier one about the same two."""
    if not judgements:
        return
    j = s.judgements.c
    names = ("source_a", "key_a", "source_b", "key_b")
    same_pair = delete(s.judgements).where(*(j[name] == bindparam(f"the_{name}") for name in names))
    pairs = [(*x, *y) for judgement in judgements for x, y in ((judgement.a, judgement.b), (judgement.b, judgement.a))]
    _execute(
        connection,
        same_pair,
        [{f"the_{name}": value for name, value in zip(names, pair, strict=True)} for pair in pairs],
    )
    first = take_numbers(connection, judgement=len(judgements))["judgement"]
    rows = [
        {"id": first + i, "kind": judgement.kind.value, "made": to_micros(judgement.made), "why": judgement.why}
        | dict(zip(names, (*judgement.a, *judgement.b), strict=True))
        for i, judgement in enumerate(judgements)
    ]
    _execute(connection, insert(s.judgements), rows)


def _set_progress(connection: Connection, progress: tuple[str, int], now: int) -> None:
    digest, ordinal = progress
    connection.execute(delete(s.imports).where(s.imports.c.digest == digest))
    if ordinal:
        connection.execute(insert(s.imports), {"digest": digest, "ordinal": ordinal, "seen": now})


def replace_source(connection: Connection, name: str, cursor: str, document: str) -> None:
    """Keep a source's state in place of the one before."""
    connection.execute(delete(s.sources).where(s.sources.c.name == name))
    connection.execute(insert(s.sources), {"name": name, "cursor": cursor, "document": document})


def replace_lookups(connection: Connection, service: str, identifiers: Collection[Identifier], asked: int) -> None:
    """Keep when a service was asked about each identifier."""
    t = s.lookups.c
    rows = [{"of": service, "the_value": i.value, "the_scheme": i.scheme.value} for i in set(identifiers)]
    same = (t.service == bindparam("of"), t.value == bindparam("the_value"), t.scheme == bindparam("the_scheme"))
    _execute(connection, delete(s.lookups).where(*same), rows)
    names = [{"service": service, "value": i.value, "scheme": i.scheme.value, "asked": asked} for i in set(identifiers)]
    _execute(connection, insert(s.lookups), names)
