"""The PRISMA 2020 flow diagram: its numbers, and a drawing that holds whatever the names are."""

from __future__ import annotations

import json
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st
from lxml import etree

from broadsheet.errors import InputError
from broadsheet.model.screening import Criterion, Label, Plan, PrismaCounts, ReviewEvent, SourceKind
from broadsheet.screen import NOT_RETRIEVED, check_event, prisma_svg
from broadsheet.screen.prisma import prisma_counts
from broadsheet.screen.sources import sources_of
from broadsheet.screen.state import State
from tests.screen_makers import BLINDED, event, records, review, told

PLAN = Plan(
    criteria=(Criterion("pop", "Wrong population"), Criterion("rct", "Not a trial"), Criterion("in", "x", False))
)
COUNTS = PrismaCounts(
    (("pubmed.ris", 40), ("embase.csv", 20)), 5, 0, 10, 45, 33, 12, 1, 11, (("Wrong population", 7),), 4
)
SVG = "{http://www.w3.org/2000/svg}"


def with_reasons(events: list[ReviewEvent], reasons: dict[int, tuple[str, ...]]) -> list[ReviewEvent]:
    return [replace(one, reasons=reasons.get(one.id, ())) for one in events]


def drawn(counts: PrismaCounts, title: str = "") -> list[str]:
    root = etree.fromstring(prisma_svg(counts, title).encode())
    return ["".join(text.itertext()) for text in root.iter(f"{SVG}text")]


def test_the_numbers() -> None:
    pool = records(10, twins={10: 9}, labels={8: Label.EXCLUDE})
    pool[0] = replace(pool[0], source="embase.csv")
    lines = told(
        *("ann in 1", "ann in 2", "ann in 3", "ann in 4", "ann out 5", "ann later 6"),
        *("ann out 1 full-text", "ann out 2 full-text", "ann in 3 full-text", "bo out 4 full-text"),
    )
    events = with_reasons(lines, {7: ("pop", "rct"), 8: (NOT_RETRIEVED,), 10: ()})
    found = prisma_counts(State.of(review(PLAN), pool, events))
    assert found == PrismaCounts(
        identified=(("embase.csv", 1), ("pubmed.ris", 9)),
        duplicates=1,
        removed_other=0,
        not_screened=3,
        screened=6,
        excluded=2,
        sought=4,
        not_retrieved=1,
        assessed=3,
        reasons=(("Wrong population", 1), ("no reason given", 1)),
        included=1,
        kinds=(SourceKind.DATABASE, SourceKind.DATABASE),
        unread_because="not screened yet",
    )
    assert sum(count for _, count in found.identified) == found.duplicates + found.not_screened + found.screened


def test_entries_without_text_are_removed_for_other_reasons() -> None:
    detail = '{"source":"pubmed.ris","entries":5,"added":3,"refused":2}'
    adds = [event(1, "add", detail=detail), event(2, "add", detail='{"source":"b.csv","added":0,"refused":1}')]
    found = prisma_counts(State.of(review(PLAN), records(3), adds))
    assert (found.identified, found.removed_other) == ((("pubmed.ris", 5), ("b.csv", 1)), 3)
    assert sum(n for _, n in found.identified) == found.removed_other + found.not_screened
    lines = " ".join(drawn(replace(COUNTS, removed_other=3))).replace("\u00a0", " ")
    assert "Removed for other reasons: neither title nor abstract (n = 3)" in lines
    assert "other reasons" not in " ".join(drawn(COUNTS))


def test_the_reason_is_that_of_the_decision_that_holds() -> None:
    lines = told("ann in 1", "ann out 1 full-text", "bo out 1 full-text", "bo undo #3")
    found = prisma_counts(State.of(review(PLAN), records(2), with_reasons(lines, {2: ("rct",), 3: ("pop",)})))
    assert found.reasons == (("Not a trial", 1),)


def test_a_blinded_review_counts_what_all_decided() -> None:
    lines = told("ann in 1", "bo in 1", "ann in 2", "bo out 2", "ann out 3")
    found = prisma_counts(State.of(review(BLINDED), records(4), lines))
    assert (found.screened, found.not_screened, found.sought) == (1, 3, 1)


def test_all_numbers_are_drawn() -> None:
    lines = drawn(COUNTS, "Statins")
    assert lines[0] == "Statins"
    for said in (
        "pubmed.ris (n\u00a0=\u00a040)",
        "embase.csv (n\u00a0=\u00a020)",
        "Duplicate records removed (n\u00a0=\u00a05)",
        "Records screened (n\u00a0=\u00a045)",
        "Records excluded (n\u00a0=\u00a033)",
        "Reports sought for retrieval (n\u00a0=\u00a012)",
        "Reports not retrieved (n\u00a0=\u00a01)",
        "Reports assessed for eligibility (n\u00a0=\u00a011)",
        "Wrong population (n\u00a0=\u00a07)",
        "Studies included in review (n\u00a0=\u00a04)",
    ):
        assert said in lines
    assert "Records not screened (n = 10)" in " ".join(lines).replace("\u00a0", " ")


def boxes(counts: PrismaCounts) -> list[str]:
    """The texts of the boxes, from the top down, the main column before the side."""
    text = etree.fromstring(prisma_svg(counts).encode()).find(f"{SVG}desc").text
    return text.split("; ")


def test_what_is_left_unread_branches_off_before_the_records_screened() -> None:
    """Page et al. 2021: out of the records screened come only those excluded; the rest was removed before."""
    found = boxes(replace(COUNTS, unread_because="left unread by the stopping rule “rank-advantage”"))
    assert found[1] == (
        "Records removed before screening: Duplicate records removed (n = 5) "
        "Records not screened, left unread by the stopping rule “rank-advantage” (n = 10)"
    )
    assert found[2:4] == ["Records screened (n = 45)", "Records excluded (n = 33)"]
    root = etree.fromstring(prisma_svg(COUNTS).encode())
    assert len([path for path in root.iter(f"{SVG}path") if path.get("marker-end")]) == 8  # 4 down, 4 to the side
    assert sum(n for _, n in COUNTS.identified) == COUNTS.duplicates + COUNTS.not_screened + COUNTS.screened


@pytest.mark.parametrize(
    ("detail", "why"),
    [
        (
            '{"report":{"rule":"rank-advantage or budget","stop":true}}',
            "left unread by the stopping rule “rank-advantage or budget”",
        ),
        (
            '{"report":{"rule":"chao","stop":false}}',
            "left unread when screening was ended, before the stopping rule “chao” said stop",
        ),
        ("", "left unread when screening was stopped"),
    ],
)
def test_why_records_are_left_unread(detail: str, why: str) -> None:
    lines = [*told("ann in 1"), event(2, "stop", detail=detail)]
    state = State.of(review(PLAN), records(3), lines)
    assert prisma_counts(state).unread_because == why
    state.apply(told("ann reopen", first=3))
    assert prisma_counts(state).unread_because == "not screened yet"
    state.apply(told("ann out 2", "ann out 3", first=4))
    assert prisma_counts(state).unread_because == ""


def named(number: int, *additions: int, **said: str) -> ReviewEvent:
    return event(number, "source", detail=json.dumps({"additions": additions, **said}))


ADDED = [
    event(1, "add", detail='{"source":"export.ris","added":2}'),
    event(2, "add", detail='{"source":"export.ris","added":3,"refused":1}'),
    event(3, "add", detail='{"source":"trials.csv","added":1}'),
]


def test_sources_have_the_names_and_kinds_that_they_were_given() -> None:
    state = State.of(review(PLAN), records(7), ADDED)  # one was there before
    assert prisma_counts(state).identified == (("pubmed.ris", 1), ("export.ris", 6), ("trials.csv", 1))
    state.apply([named(4, 1, called="Scopus"), named(5, 2, called="Embase"), named(6, 3, kind="register")])
    found = prisma_counts(state)
    assert found.identified == (("pubmed.ris", 1), ("Scopus", 2), ("Embase", 4), ("trials.csv", 1))
    assert [str(kind) for kind in found.kinds] == ["database", "database", "database", "register"]
    state.apply([named(7, 1, 2, called="Scopus"), named(8, 1, kind="other"), named(9, 3, called="ICTRP")])
    found = prisma_counts(state)
    assert found.identified == (("pubmed.ris", 1), ("Scopus", 4), ("ICTRP", 1), ("Scopus", 2))
    assert [(one.number, one.source, one.name, one.entries, one.refused) for one in sources_of(state)] == [
        (0, "pubmed.ris", "pubmed.ris", 1, 0),
        (1, "export.ris", "Scopus", 2, 0),
        (2, "export.ris", "Scopus", 4, 1),
        (3, "trials.csv", "ICTRP", 1, 0),
    ]


def test_databases_registers_and_other_methods_are_kept_apart() -> None:
    one = "Records identified from: pubmed.ris (n = 40) embase.csv (n = 20)"
    assert boxes(COUNTS)[0] == one
    assert boxes(replace(COUNTS, kinds=(SourceKind.DATABASE,) * 2))[0] == one
    counts = replace(
        COUNTS,
        identified=(("PubMed", 40), ("Embase", 10), ("ICTRP", 7), ("citations", 3)),
        kinds=(SourceKind.DATABASE, SourceKind.DATABASE, SourceKind.REGISTER, SourceKind.OTHER),
    )
    assert boxes(counts)[0] == (
        "Records identified from: Databases, in all (n = 50) PubMed (n = 40) Embase (n = 10) "
        "Registers, in all (n = 7) ICTRP (n = 7) Other methods, in all (n = 3) citations (n = 3)"
    )


@pytest.mark.parametrize(
    ("detail", "why"),
    [
        ('{"additions":[4],"called":"x"}', "from 1 to 3"),
        ('{"additions":[],"called":"x"}', "from 1 to 3"),
        ('{"additions":[true],"called":"x"}', "from 1 to 3"),
        ('{"additions":[1]}', "give the source a name"),
        ('{"additions":[1],"called":"a\\u0000b"}', "printable"),
        ('{"additions":[1],"called":7}', "must be texts"),
        ('{"additions":[1],"kind":"journal"}', "database, register, other"),
    ],
)
def test_a_source_is_not_named_in_vain(detail: str, why: str) -> None:
    state = State.of(review(PLAN), records(6), ADDED)
    with pytest.raises(InputError, match=why):
        check_event(state, event(4, "source", detail=detail))


def test_nothing_left_unread_and_full_texts_not_assessed() -> None:
    lines = " ".join(drawn(replace(COUNTS, not_screened=0, assessed=0, not_retrieved=0, reasons=(), included=0)))
    assert "not screened" not in lines
    assert "Full texts were not assessed" in lines
    assert "Studies included" not in lines


def test_the_names_of_phases_can_be_read() -> None:
    for counts in (COUNTS, replace(COUNTS, assessed=0, not_retrieved=0, reasons=(), included=0)):
        root = etree.fromstring(prisma_svg(counts).encode())
        sizes = [float(text.get("font-size")) for text in root.iter(f"{SVG}text") if text.get("transform")]
        assert sizes == [13.0] * 3


def test_many_sources_are_added_up() -> None:
    lines = drawn(replace(COUNTS, identified=tuple((f"source {n}", n) for n in range(30))))
    assert "16 others (n\u00a0=\u00a0344)" in lines
    assert "source 14 (n\u00a0=\u00a014)" not in lines


NAMES = st.text(st.characters(), max_size=120)


@given(NAMES, NAMES, NAMES)
def test_any_name_gives_a_document_and_lines_that_fit(title: str, source: str, reason: str) -> None:
    counts = replace(COUNTS, identified=((source, 3),), reasons=((reason, 2),))
    text = prisma_svg(counts, title)
    root = etree.fromstring(text.encode("utf-8"))
    boxes = [(float(r.get("x")), float(r.get("width"))) for r in root.iter(f"{SVG}rect") if r.get("width") == "330"]
    assert len(boxes) == 9
    for line in root.iter(f"{SVG}text"):
        written = "".join(line.itertext())
        if line.get("transform") is None and line.get("font-size") is None:
            # A letter is at least a quarter of its size wide: far longer lines would not fit.
            assert len(written) <= (330 - 24) / (0.25 * 14)


def test_long_lines_are_broken_where_one_may() -> None:
    source = "a very long name of a source that does not fit on one line of the box at all"
    lines = drawn(replace(COUNTS, identified=((source, 1234),)))
    at = lines.index("Records identified from:")
    assert " ".join(lines[at + 1 : at + 3]) == f"{source} (n\u00a0=\u00a01,234)"
    chinese = "中国知网检索结果他汀类药物与二型糖尿病风险的系统评价第一批导出，第二批"
    broken = drawn(replace(COUNTS, identified=((chinese, 1),)))
    at = broken.index("Records identified from:")
    assert "".join(broken[at + 1 : at + 3]).startswith(chinese)
    assert not any(line.startswith("，") for line in broken)


def test_boxes_do_not_touch_and_stay_on_the_page() -> None:
    root = etree.fromstring(prisma_svg(replace(COUNTS, reasons=tuple((f"reason {n}", n) for n in range(9)))).encode())
    height, width = float(root.get("height")), float(root.get("width"))
    boxes = [
        [float(rect.get(name)) for name in ("x", "y", "width", "height")]
        for rect in root.iter(f"{SVG}rect")
        if rect.get("rx") == "3"
    ]
    for n, (x, y, w, h) in enumerate(boxes):
        assert 0 <= x <= x + w <= width
        assert 0 <= y <= y + h <= height
        for other in boxes[n + 1 :]:
            apart = x + w <= other[0] or other[0] + other[2] <= x or y + h <= other[1] or other[1] + other[3] <= y
            assert apart


def test_it_is_black_on_white_on_any_page() -> None:
    root = etree.fromstring(prisma_svg(COUNTS).encode())
    page = next(root.iter(f"{SVG}rect"))
    assert (page.get("fill"), page.get("width")) == ("#ffffff", root.get("width"))
    assert {text.get("fill") for text in root.iter(f"{SVG}text")} == {"#000000"}
    assert root.find(f"{SVG}desc").text.startswith("Records identified from: pubmed.ris (n = 40)")


def test_a_drawing_as_png() -> None:
    pytest.importorskip("resvg_py")
    from broadsheet.screen import prisma_png

    image = prisma_png(prisma_svg(COUNTS), zoom=2)
    assert image.startswith(b"\x89PNG\r\n\x1a\n")
    assert int.from_bytes(image[16:20], "big") == 2 * 798
