"""Text and progress for a terminal, and files that are written whole."""

from __future__ import annotations

import io
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from broadsheet.cli.common import safe
from broadsheet.cli.manage import write_whole
from broadsheet.cli.progress import Progress, duration
from broadsheet.cli.render import authors_line, html_to_text, paint, wrapped
from broadsheet.errors import StoreError

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


@pytest.mark.parametrize("text", ["\x1b[2J", "a\x00b", "\x9b31m", "\u202egnp.exe", "\r"])
def test_unsafe_characters_go(text: str) -> None:
    assert all(c.isprintable() for c in safe(text))


def test_words_of_double_width_count_twice() -> None:
    assert all(len(line) <= 50 for line in wrapped("题" * 200, 0).splitlines())
    assert max(len(line) for line in wrapped("x" * 200, 0).splitlines()) == 100


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
