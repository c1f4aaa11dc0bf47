"""The PRISMA 2020 flow diagram as SVG: black on white, whatever page it stands on.

Laid out after the template for new reviews of databases and registers (Page et al., BMJ 372:n71, 2021), with one
line more before screening: the records that are left unread, and why.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Sequence
from dataclasses import dataclass, replace
from html import escape

from broadsheet.model.screening import PrismaCounts, SourceKind

_FONT = "Helvetica, Arial, 'Liberation Sans', 'DejaVu Sans', 'Noto Sans CJK SC', 'WenQuanYi Zen Hei', sans-serif"
_SIZE, _LEADING, _PADDING = 14, 19, 12
_MARGIN, _BAR, _GAP = 20, 34, 18  # round the drawing, the phases' bars, and between bars and boxes
_MAIN, _SIDE, _BETWEEN, _DOWN = 330, 330, 46, 34  # widths of the columns; room for the arrows
_PHASE, _EM = 13.0, 0.62  # of the names of phases: their size, and the mean width of a letter
_MOST_LINES = 14  # sources or reasons in a box; what is more is added up
_NOT_XML = re.compile("[^\t\n\r\u0020-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")
_CJK = "\u2e80-\u2fff\u3040-\u9fff\uac00-\ud7a3\uf900-\ufaff"
_PIECE = re.compile(rf"[ \t\n\r]+|[{_CJK}][\u3000-\u303f\uff00-\uff0f\uff1a-\uff20]*|[^ \t\n\r{_CJK}]+")
_KINDS = {
    SourceKind.DATABASE: "Databases, in all",
    SourceKind.REGISTER: "Registers, in all",
    SourceKind.OTHER: "Other methods, in all",
}
_NARROW, _WIDE = frozenset("iljtfrI.,;:'|!()[]- "), frozenset("mwMW@%—…")


@dataclass(frozen=True)
class _Box:
    """A box's lines; the first is bold where ``heading``."""

    lines: tuple[str, ...]
    heading: bool = False

    @property
    def height(self) -> int:
        return len(self.lines) * _LEADING + 2 * _PADDING


@dataclass(frozen=True)
class _Row:
    """A box of the main column with what goes out of it to the side."""

    phase: str
    main: _Box
    side: tuple[_Box, ...] = ()
    is_alone: bool = True  # of its phase, whose name must fit beside it

    @property
    def height(self) -> int:
        sides = sum(box.height for box in self.side) + 12 * max(len(self.side) - 1, 0)
        least = 12 + round(_PHASE * _EM * len(self.phase)) if self.is_alone else 0
        return max(self.main.height, sides, least)


def prisma_svg(counts: PrismaCounts, title: str = "") -> str:
    """The diagram as an SVG document of its own, ``title`` above it where one is given."""
    rows = _rows(counts)
    heading = _wrapped(title, _BAR + _GAP + _MAIN + _BETWEEN + _SIDE, 17) if title.strip() else []
    top = _MARGIN + (24 * len(heading) + 12 if heading else 0)
    tops, at = [], top
    for row in rows:
        tops.append(at)
        at += row.height + _DOWN
    height, width = at - _DOWN + _MARGIN, 2 * _MARGIN + _BAR + _GAP + _MAIN + _BETWEEN + _SIDE
    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{width}" height="{height}" viewBox="0 0 {width} {height}" '
        f'role="img" aria-labelledby="prisma-title prisma-text" font-family="{escape(_FONT)}" font-size="{_SIZE}">',
        f'<title id="prisma-title">{_text(title.strip() or "PRISMA 2020 flow diagram")}</title>',
        f'<desc id="prisma-text">{_text(_in_words(rows))}</desc>',
        '<defs><marker id="prisma-arrow" markerWidth="9" markerHeight="9" refX="8" refY="4" orient="auto">'
        '<path d="M0,0 L8,4 L0,8 z" fill="#000000"/></marker></defs>',
        f'<rect width="{width}" height="{height}" fill="#ffffff"/>',
        *(
            f'<text x="{_MARGIN}" y="{_MARGIN + 18 + 24 * n}" font-size="17" font-weight="bold" fill="#000000">'
            f"{_text(line)}</text>"
            for n, line in enumerate(heading)
        ),
        *_phases(rows, tops),
        *_arrows(rows, tops),
        *(part for row, y in zip(rows, tops, strict=True) for part in _drawn(row, y)),
        "</svg>",
    ]
    return "\n".join(parts) + "\n"


def _rows(counts: PrismaCounts) -> list[_Row]:
    identified = _Box(_lines("Records identified from:", _sources(counts)), True)
    removed = [_counted("Duplicate records removed", counts.duplicates)]
    if counts.removed_other:
        removed.append(_counted("Removed for other reasons: neither title nor abstract", counts.removed_other))
    if counts.not_screened:
        why = f", {counts.unread_because}" if counts.unread_because else ""
        removed.append(_counted(f"Records not screened{why}", counts.not_screened))
    before = _Box(_lines("Records removed before screening:", removed), True)
    excluded = _Box(_lines(_counted("Records excluded", counts.excluded)))
    first = _Row("Identification", identified, (before,))
    read = _Row("Screening", _Box(_lines(_counted("Records screened", counts.screened))), (excluded,))
    if not counts.assessed and not counts.not_retrieved:
        pending = _lines(
            _counted("Records included by title and abstract", counts.sought), ["Full texts were not assessed"]
        )
        return [first, read, _Row("Included", _Box(pending))]
    reasons = _Box(_lines("Reports excluded:", _listed(list(counts.reasons)) or [_counted("In all", 0)]), True)
    sought = _Box(_lines(_counted("Reports sought for retrieval", counts.sought)))
    assessed = _Box(_lines(_counted("Reports assessed for eligibility", counts.assessed)))
    missing = _Box(_lines(_counted("Reports not retrieved", counts.not_retrieved)))
    return [
        first,
        replace(read, is_alone=False),
        _Row("Screening", sought, (missing,), is_alone=False),
        _Row("Screening", assessed, (reasons,), is_alone=False),
        _Row("Included", _Box(_lines(_counted("Studies included in review", counts.included)))),
    ]


def _sources(counts: PrismaCounts) -> list[str]:
    """The sources; where they are of several kinds, under the sums of these."""
    kinds = counts.kinds or (SourceKind.DATABASE,) * len(counts.identified)
    parts = []
    for kind in dict.fromkeys(kinds):
        there = [
            (name or "source not named", n)
            for (name, n), of in zip(counts.identified, kinds, strict=True)
            if of is kind
        ]
        heading = [_counted(_KINDS[kind], sum(n for _, n in there))]
        parts += [*(heading if set(kinds) != {SourceKind.DATABASE} else ()), *_listed(there)]
    return parts


def _listed(items: Sequence[tuple[str, int]]) -> list[str]:
    shown = [_counted(name, count) for name, count in items[:_MOST_LINES]]
    rest = items[_MOST_LINES:]
    return [*shown, _counted(f"{len(rest)} others", sum(count for _, count in rest))] if rest else shown


def _counted(what: str, count: int) -> str:
    """The count is kept on one line by spaces that do not break."""
    return f"{' '.join(what.split())} (n\u00a0=\u00a0{count:,})"


def _lines(first: str, rest: Sequence[str] = ()) -> tuple[str, ...]:
    inner = _MAIN - 2 * _PADDING
    return tuple(line for text in (first, *rest) for line in _wrapped(text, inner, _SIZE))


def _wrapped(text: str, width: float, size: float) -> list[str]:
    """Lines of at most ``width`` at a font size: broken at spaces and between Chinese characters, within a word only
    where it is longer than a line."""
    lines, line = [], ""
    for piece in _pieces(_NOT_XML.sub("\ufffd", text)):
        if line and _length(line + piece.rstrip(" "), size) > width:
            lines.append(line.rstrip(" "))
            line = ""
        rest = piece if line else piece.lstrip(" ")
        while _length(rest, size) > width and len(rest) > 1:
            cut = next(n for n in range(len(rest), 0, -1) if n == 1 or _length(rest[:n], size) <= width)
            lines.append(rest[:cut])
            rest = rest[cut:]
        line += rest
    return [*lines, line.rstrip(" ")] if line.strip(" ") or not lines else lines


def _pieces(text: str) -> list[str]:
    """What is not broken: spaces, words, and single wide characters with the marks that follow them."""
    return _PIECE.findall(text)


def _length(text: str, size: float) -> float:
    """About how wide a text is: fonts differ, so that it errs to the wide side."""
    return size * sum(map(_em, text))


def _em(character: str) -> float:
    if unicodedata.combining(character):
        return 0.0
    if unicodedata.east_asian_width(character) in "WF":
        return 1.02
    if character in _NARROW:
        return 0.34
    if character in _WIDE:
        return 0.95
    return 0.72 if character.isupper() else 0.58


def _phases(rows: Sequence[_Row], tops: Sequence[int]) -> list[str]:
    drawn = []
    for phase in dict.fromkeys(row.phase for row in rows):
        of_phase = [(y, y + row.height) for row, y in zip(rows, tops, strict=True) if row.phase == phase]
        top, bottom = of_phase[0][0], of_phase[-1][1]
        size = min(_PHASE, (bottom - top - 6) / (_EM * len(phase)))
        middle, x = (top + bottom) / 2, _MARGIN + _BAR / 2
        drawn += [
            f'<rect x="{_MARGIN}" y="{top}" width="{_BAR}" height="{bottom - top}" rx="6" fill="#dbe6f2" '
            'stroke="#000000" stroke-width="1"/>',
            f'<text x="{x:g}" y="{middle:g}" transform="rotate(-90 {x:g} {middle:g})" text-anchor="middle" '
            f'dominant-baseline="central" font-size="{size:.3g}" font-weight="bold" fill="#000000">{phase}</text>',
        ]
    return drawn


def _arrows(rows: Sequence[_Row], tops: Sequence[int]) -> list[str]:
    drawn, left = [], _MARGIN + _BAR + _GAP
    for n, (row, y) in enumerate(zip(rows, tops, strict=True)):
        x = left + _MAIN / 2
        main = y + (row.height - row.main.height) / 2
        if n + 1 < len(rows):
            following = rows[n + 1]
            end = tops[n + 1] + (following.height - following.main.height) / 2
            drawn.append(_arrow(x, main + row.main.height, x, end))
        for box, top in _stacked(row, y):
            middle = top + box.height / 2
            inside = min(max(middle, main + 8), main + row.main.height - 8)
            drawn.append(_arrow(left + _MAIN, inside, left + _MAIN + _BETWEEN, middle))
    return drawn


def _arrow(x1: float, y1: float, x2: float, y2: float) -> str:
    bend = f"H{(x1 + x2) / 2:g} V{y2:g} " if x1 != x2 and y1 != y2 else ""
    return (
        f'<path d="M{x1:g},{y1:g} {bend}L{x2:g},{y2:g}" fill="none" stroke="#000000" stroke-width="1.3" '
        'marker-end="url(#prisma-arrow)"/>'
    )


def _stacked(row: _Row, y: int) -> list[tuple[_Box, float]]:
    total = sum(box.height for box in row.side) + 12 * max(len(row.side) - 1, 0)
    at, found = y + (row.height - total) / 2, []
    for box in row.side:
        found.append((box, at))
        at += box.height + 12
    return found


def _drawn(row: _Row, y: int) -> list[str]:
    left = _MARGIN + _BAR + _GAP
    drawn = _boxed(row.main, left, y + (row.height - row.main.height) / 2)
    for box, top in _stacked(row, y):
        drawn += _boxed(box, left + _MAIN + _BETWEEN, top)
    return drawn


def _boxed(box: _Box, x: float, y: float) -> list[str]:
    lines = []
    for n, line in enumerate(box.lines):
        weight = ' font-weight="bold"' if box.heading and n == 0 else ""
        baseline = y + _PADDING + 14 + n * _LEADING
        lines.append(f'<text x="{x + _PADDING:g}" y="{baseline:g}" fill="#000000"{weight}>{_text(line)}</text>')
    frame = (
        f'<rect x="{x:g}" y="{y:g}" width="{_MAIN}" height="{box.height}" rx="3" fill="#ffffff" stroke="#000000" '
        'stroke-width="1.2"/>'
    )
    return [frame, *lines]


def _in_words(rows: Sequence[_Row]) -> str:
    boxes = [box for row in rows for box in (row.main, *row.side)]
    return "; ".join(" ".join(box.lines) for box in boxes).replace("\u00a0", " ")


def _text(text: str) -> str:
    return escape(_NOT_XML.sub("\ufffd", text))
