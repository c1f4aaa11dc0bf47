"""The state of a review after any events in any order, against an independent reckoning."""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from dataclasses import replace

from hypothesis import given, settings
from hypothesis import strategies as st

from broadsheet.model.screening import Chosen, Label, Plan, PoolRecord, ReviewEvent, ReviewEventKind, Sharing, Stage
from broadsheet.screen.state import State
from tests.screen_makers import BLINDED, event, records, review, told

IN, OUT, LATER = Label.INCLUDE, Label.EXCLUDE, Label.LATER
FULL = Stage.FULL_TEXT


def state(*lines: str, plan: Plan | None = None, pool: Sequence[PoolRecord] | None = None) -> State:
    return State.of(review(plan), pool or records(6), told(*lines))


# --- all orders of events, against an independent reckoning


def expected(plan: Plan, pool: Sequence[PoolRecord], events: Sequence[ReviewEvent]) -> dict[str, object]:
    """What holds, reckoned from the end: no group, list or count is kept up."""
    undone: set[int] = set()
    kinds = {one.id: one.kind.value for one in events}
    for one in reversed(events):
        undoes = one.kind is ReviewEventKind.UNDO and one.id not in undone and one.undoes < one.id
        if undoes and kinds.get(one.undoes) in ("decide", "resolve", "twin", "apart", "undo"):
            undone.add(one.undoes)
    hold = [one for one in events if one.id not in undone]
    groups = [{record.number} for record in pool]

    def of(number: int) -> set[int]:
        return next(group for group in groups if number in group)

    for record in pool:
        if record.twin and of(record.twin) is not of(record.number):
            one, other = of(record.twin), of(record.number)
            groups[:] = [group for group in groups if group not in (one, other)] + [one | other]
    for act in hold:
        if act.kind is ReviewEventKind.TWIN and of(act.record) is not of(act.other):
            one, other = of(act.record), of(act.other)
            groups[:] = [group for group in groups if group not in (one, other)] + [one | other]
        if act.kind is ReviewEventKind.APART and len(of(act.record)) > 1:
            rest = of(act.record) - {act.record}
            groups[:] = [group for group in groups if act.record not in group] + [rest, {act.record}]

    def label(group: set[int], stage: Stage, view: str) -> Label | str | None:
        mine = [e for e in hold if e.kind.value in ("decide", "resolve") and e.record in group and e.stage is stage]
        given = [record.label for record in pool if record.number in group and record.label and stage is Stage.ABSTRACT]
        known = (IN if IN in given else given[-1]) if given else None
        if plan.sharing is Sharing.SHARED:
            last = mine[-1].label if mine else known
            return None if last is LATER else last
        prior = [e.label for e in mine if e.chosen is Chosen.PRIOR and e.kind is ReviewEventKind.DECIDE]
        known = prior[-1] if prior else known
        known = None if known is LATER else known
        resolved = [e.label for e in mine if e.kind is ReviewEventKind.RESOLVE]
        if resolved:
            return resolved[-1]
        last_of = {}
        for e in mine:
            if e.chosen is not Chosen.PRIOR:
                last_of[e.screener] = e.label
        if view:
            own = last_of.get(view, known)
            return None if own is LATER else own
        named = {name: last_of[name] for name in plan.screeners if name in last_of}
        final = {one for one in named.values() if one is not LATER}
        if not named:
            return known
        if len(final) > 1:
            return "conflict"
        return final.pop() if final and LATER not in named.values() and len(named) == len(plan.screeners) else None

    found: dict[str, object] = {}
    views = ["", *plan.screeners] if plan.sharing is Sharing.BLINDED else [""]
    included = [group for group in groups if label(group, Stage.ABSTRACT, "") is IN]
    for stage, there in ((Stage.ABSTRACT, groups), (FULL, included)):
        for view in views:
            of_view = {min(group): label(group, stage, view) for group in there}
            found[f"{stage} {view}"] = {n: one for n, one in of_view.items() if isinstance(one, Label)}
            if not view:
                found[f"{stage} conflicts"] = sorted(n for n, one in of_view.items() if one == "conflict")
    found["groups"] = sorted(min(group) for group in groups)
    return found


def reckoned(found: State) -> dict[str, object]:
    result: dict[str, object] = {"groups": sorted(found.groups)}
    for stage in Stage:
        for view in found.views():
            track = found.track(stage, view)
            assert track.included == sum(one.label is IN for one in track.of.values())
            assert [one.key for one in track.steps] == sorted(one.key for one in track.steps)
            assert {one.group for one in track.steps} == set(track.of) | set(track.put_off)
            assert not set(track.of) & set(track.put_off)
            result[f"{stage} {view}"] = dict(sorted(found.labels(stage, view).items()))
            unread = set(found.pool(stage)) - set(track.of)
            assert set(found.unread(stage, view)) == unread
        result[f"{stage} conflicts"] = found.conflicts(stage)
    return result


def snapshot(found: State) -> object:
    tracks = {
        (stage, view): (tuple(found.track(stage, view).steps), sorted(found.track(stage, view).later.items()))
        for stage in Stage
        for view in found.views()
    }
    orders = {(stage, view): found.audit_order(stage, view) for stage in Stage for view in found.views()}
    return tracks, orders, sorted(found.groups), found.grew, found.plan_changes, found.review


POOL = records(5, twins={5: 2}, labels={4: IN, 3: OUT})
NUMBERS = st.integers(1, 5)
ACTS = st.one_of(
    st.tuples(
        st.just("decide"),
        st.sampled_from(["ann", "bo", "cy"]),
        NUMBERS,
        st.sampled_from([IN, IN, OUT, LATER]),
        st.sampled_from([Stage.ABSTRACT, Stage.ABSTRACT, FULL]),
        st.sampled_from([Chosen.RANKED, Chosen.AUDIT, Chosen.PRIOR]),
    ),
    st.tuples(st.just("resolve"), st.just("ann"), NUMBERS, st.sampled_from([IN, OUT]), st.sampled_from(list(Stage))),
    st.tuples(st.just("twin"), st.just("ann"), NUMBERS, NUMBERS),
    st.tuples(st.just("apart"), st.just("bo"), NUMBERS),
    st.tuples(st.just("undo"), st.just("bo"), st.integers(1, 14)),
    st.tuples(st.just("audit"), st.just("ann"), st.integers(0, 9), st.sampled_from(list(Stage))),
)
PLANS = st.sampled_from(
    [Plan(), Plan(screeners=("ann", "bo")), BLINDED, replace(BLINDED, screeners=("bo", "cy", "ann"))]
)


def happened(acts: Sequence[tuple[object, ...]]) -> list[ReviewEvent]:
    events = []
    for number, (kind, screener, *rest) in enumerate(acts, 1):
        names = {
            "decide": ("record", "label", "stage", "chosen"),
            "resolve": ("record", "label", "stage"),
            "twin": ("record", "other"),
            "apart": ("record",),
            "undo": ("undoes",),
            "audit": ("detail", "stage"),
        }[str(kind)]
        fields = dict(zip(names, rest, strict=True))
        if kind == "audit":
            fields["detail"] = f'{{"seed":{rest[0]}}}'
        events.append(event(number, str(kind), str(screener), **fields))
    return events


@given(PLANS, st.lists(ACTS, max_size=14))
@settings(max_examples=600, deadline=None)
def test_any_events_give_what_they_say(plan: Plan, acts: list[tuple[object, ...]]) -> None:
    events = happened(acts)
    assert reckoned(State.of(review(plan), POOL, events)) == expected(plan, POOL, events)


@given(PLANS, st.lists(ACTS, max_size=14), st.lists(st.integers(0, 14), max_size=4))
@settings(max_examples=300, deadline=None)
def test_one_by_one_is_all_at_once(plan: Plan, acts: list[tuple[object, ...]], cuts: list[int]) -> None:
    events = happened(acts)
    once = State.of(review(plan), POOL, events)
    bit_by_bit = State.of(review(plan), POOL)
    for start, end in itertools.pairwise([0, *sorted(cuts), len(events)]):
        bit_by_bit.apply(events[start:end])
        reckoned(bit_by_bit)  # looking changes nothing
        bit_by_bit.audit_order()
    assert snapshot(bit_by_bit) == snapshot(once)


@given(PLANS, st.lists(ACTS, max_size=10), ACTS)
@settings(max_examples=300, deadline=None)
def test_an_undo_takes_back_all_that_the_event_did(
    plan: Plan, acts: list[tuple[object, ...]], last: tuple[object, ...]
) -> None:
    if last[0] == "audit":
        return
    before = happened(acts)
    done = happened([*acts, last])
    undone = [*done, event(len(done) + 1, "undo", undoes=len(done))]
    again = [*undone, event(len(undone) + 1, "undo", undoes=len(undone))]
    whole = State.of(review(plan), POOL, before)
    assert reckoned(State.of(review(plan), POOL, undone)) == reckoned(whole)
    assert [s.key for s in State.of(review(plan), POOL, undone).track().steps] == [s.key for s in whole.track().steps]
    assert reckoned(State.of(review(plan), POOL, again)) == reckoned(State.of(review(plan), POOL, done))


@given(st.lists(ACTS, max_size=12), st.lists(ACTS, max_size=4))
@settings(max_examples=200, deadline=None)
def test_others_decisions_do_not_show_in_a_blinded_view(
    acts: list[tuple[object, ...]], more: list[tuple[object, ...]]
) -> None:
    hidden = [act for act in more if act[0] == "decide" and act[1] != "ann" and act[-1] is not Chosen.PRIOR]
    hidden = [act for act in hidden if act[4] is Stage.ABSTRACT]
    found = State.of(review(BLINDED), POOL, happened(acts))
    first = snapshot_of(found, "ann")
    found.apply(happened([*acts, *hidden])[len(acts) :])
    assert snapshot_of(found, "ann") == first


def snapshot_of(found: State, name: str) -> object:
    track = found.track(Stage.ABSTRACT, name)
    return tuple(track.steps), sorted(track.later), found.audit_order(Stage.ABSTRACT, name), found.unread(screener=name)
