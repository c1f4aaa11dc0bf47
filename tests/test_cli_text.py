"""Text and progress for a terminal, and files that are written whole."""

from __future__ import annotations

import io
import time
from collections.abc import Iterator
from dataclasses import replace
from datetime import date
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from broadsheet.cli.common import safe
from broadsheet.cli.manage import write_whole
from broadsheet.cli.progress import Progress, duration
from broadsheet.cli.render import (
    authors_line,
    cells,
    cut,
    facts_line,
    html_to_text,
    paint,
    paper_lines,
    results_lines,
    wrapped,
)
from broadsheet.errors import BroadsheetError, StoreError
from broadsheet.model import Notice, NoticeKind, Place, Results, Version
from tests.cli_fake import HIT

# --- text for terminals


@pytest.mark.parametrize(
    ("html", "text"),
    [
        ("a <mark>b</mark> c", "a \x02b\x03 c"),
        ("&lt;script&gt; &amp; x", "<script> & x"),
        ("x <math><mi>k</mi><annotation encoding='application/x-tex'>k^2</annotation></math> y", "x $k^2$ y"),
        ("x <math><mi>a</mi><mo>+</mo><mi>b</mi></math> y", "x a+b y"),
        ("a\x1b[31m\x02b", "a[31mb"),
        ("<em>in</em>\n  vitro", "in vitro"),
        ("", ""),
    ],
)
def test_html_becomes_text(html: str, text: str) -> None:
    assert html_to_text(html) == text


def test_marks_become_colour() -> None:
    assert paint("a \x02b\x03 c") == "a \x1b[1;33mb\x1b[0m c"
    assert paint("a \x02b\x03 c", bold=True) == "\x1b[1ma \x1b[1;33mb\x1b[0;1m c\x1b[0m"


WORDS = st.lists(st.tuples(st.text("ab 题", min_size=1, max_size=30), st.booleans()), max_size=30)


@given(words=WORDS, indent=st.sampled_from([0, 4]))
def test_marks_take_no_room_in_a_line(words: list[tuple[str, bool]], indent: int) -> None:
    marked = " ".join(f"\x02{word}\x03" if mark else word for word, mark in words)
    lines = wrapped(marked, indent)
    assert lines.translate({2: None, 3: None}) == wrapped(marked.translate({2: None, 3: None}), indent)
    assert [c for c in lines if c in "\x02\x03"] == [c for c in marked if c in "\x02\x03"]


def test_a_mark_ends_with_its_word() -> None:
    lines = wrapped(" ".join(["word \x02noisy\x03"] * 20), 4)
    assert lines.count("\x02noisy\x03") == 20
    assert len(lines.splitlines()) == 3


@pytest.mark.parametrize("text", ["\x1b[2J", "a\x00b", "\x9b31m", "\u202egnp.exe", "\r"])
def test_unsafe_characters_go(text: str) -> None:
    assert all(c.isprintable() for c in safe(text))


def test_words_of_double_width_count_twice() -> None:
    assert all(len(line) <= 50 for line in wrapped("题" * 200, 0).splitlines())
    assert max(len(line) for line in wrapped("x" * 200, 0).splitlines()) == 100


@given(text=st.text("ab 题", max_size=60), room=st.integers(10, 40))
def test_a_text_is_cut_to_columns_of_the_terminal(text: str, room: int) -> None:
    shown = cut(text, room)
    assert cells(shown) <= room
    assert shown == text or (shown.endswith("...") and text.startswith(shown[:-3]) and cells(text) > room)


def test_large_numbers_have_commas() -> None:
    results = Results("x", (HIT,), 10_000, 99_999, 60, 20, {}, 1.0, "relevance")
    assert "1,181 to 1,181 of 10,000." in list(results_lines(results))


def test_author_lists_are_shortened() -> None:
    assert authors_line(["A", "B"]) == "A, B"
    assert authors_line(["A", "B"], truncated=True) == "A, B and others"
    assert authors_line([str(n) for n in range(9)]) == "0, 1, 2, 3, 4, 5 and 3 more"
    assert authors_line([]) == ""


# --- progress


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


def test_progress_off_a_terminal_is_a_line_every_few_seconds() -> None:
    now = [0.0]
    stream = io.StringIO()
    with Progress("a.bib", "B", stream=stream, clock=lambda: now[0]) as progress:
        for now[0] in (1.0, 4.0, 10.0, 11.0, 20.0):
            progress.update(int(now[0] * 1000), 40_000, "5 read")
    assert stream.getvalue().splitlines() == [
        "a.bib: 10.0 kB of 40.0 kB, 1.0 kB/s, 30 s left, 5 read",
        "a.bib: 20.0 kB of 40.0 kB, 1.0 kB/s, 20 s left, 5 read",
    ]


def test_progress_without_a_known_total() -> None:
    now = [0.0]
    stream = io.StringIO()
    with Progress("encode", "papers", stream=stream, clock=lambda: now[0]) as progress:
        now[0] = 8.0
        progress.update(20, None)
    assert stream.getvalue() == "encode: 20 papers, 2.5 papers/s\n"


def test_progress_on_a_terminal_is_a_bar() -> None:
    stream = Terminal()
    with Progress("encode", "papers", stream=stream) as progress:
        progress.update(5, 10)
        time.sleep(0.15)  # the bar is drawn at most ten times a second
        progress.update(10, 10)
    assert "encode:" in stream.getvalue()
    assert "10/10" in stream.getvalue()


@pytest.mark.parametrize(
    ("seconds", "text"), [(0, "0 s"), (59.4, "59 s"), (59.6, "1 min 0 s"), (200, "3 min 20 s"), (7500, "2 h 5 min")]
)
def test_durations(seconds: float, text: str) -> None:
    assert duration(seconds) == text


# --- files


def test_a_paper_says_what_became_of_it_and_where_it_appeared() -> None:
    found = replace(
        HIT.paper,
        notices=(Notice(NoticeKind.WITHDRAWN, "Lemma 3 is *wrong*.", date(2026, 3, 2)), Notice(NoticeKind.CONCERN)),
        places=(Place("pmlr", "icml", 2024), Place("huggingface", listed=date(2024, 1, 5))),
        versions=(Version(1, date(2024, 1, 2)), Version(2)),
    )
    lines = list(paper_lines(found, [], []))
    assert "WITHDRAWN on 2026-03-02: Lemma 3 is wrong." in lines
    assert "EXPRESSION OF CONCERN" in lines
    assert {"Appeared: ICML 2024", "Appeared: huggingface, listed 2024-01-05"} <= set(lines)
    assert "Versions: v1 of 2024-01-02, v2" in lines
    assert facts_line(found).startswith("WITHDRAWN | EXPRESSION OF CONCERN | ICML 2024 | ")


def test_one_place_and_one_version_are_not_listed() -> None:
    found = replace(HIT.paper, places=(Place("pmlr", "icml", 2024),), versions=(Version(1),))
    assert not [line for line in paper_lines(found, [], []) if line.startswith(("Appeared", "Versions", "WITHDRAWN"))]


def test_a_failed_export_leaves_the_old_file(tmp_path: Path) -> None:
    target = tmp_path / "out.jsonl"
    target.write_bytes(b"old")

    def lines() -> Iterator[bytes]:
        yield b"new"
        raise StoreError("disk full")

    with pytest.raises(StoreError):
        write_whole(target, lines())
    assert target.read_bytes() == b"old"
    assert list(tmp_path.iterdir()) == [target]


def test_a_file_that_cannot_be_written_is_named_as_it_was_given(tmp_path: Path) -> None:
    with pytest.raises(BroadsheetError, match=r"out\.jsonl: cannot be written \(No such file or directory\); choose"):
        write_whole(tmp_path / "missing" / "out.jsonl", iter([b"x"]))
