"""The curve of a review as SVG: the lower bound on recall, and what was found, against the records read."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from itertools import pairwise

from markupsafe import Markup

from ..model.screening import CurvePoint
from . import screening_views as views
from .views import number

WIDTH, HEIGHT = 600, 404
LEFT, RIGHT, TOP, BOTTOM = 62, 20, 14, 52
BOUND_HEIGHT, FOUND_HEIGHT = 190, 114
MOST_POINTS = 300
Place = Callable[[float], float]
_STEPS = (1, 2, 2.5, 5, 10)


def ticks(highest: int, most: int = 6) -> list[int]:
    """Round numbers from 0 up to at most ``highest``, at most ``most`` of them beside the 0."""
    if highest <= 0:
        return [0]
    magnitude = 1
    while True:
        for factor in _STEPS:
            step = factor * magnitude
            if step == int(step) and highest / step <= most:
                return list(range(0, highest + 1, int(step)))
        magnitude *= 10


def thinned(points: Sequence[CurvePoint], most: int = MOST_POINTS) -> list[CurvePoint]:
    """At most about ``most`` points, always with the first and the last."""
    if len(points) <= most:
        return list(points)
    step = -(-len(points) // most)
    kept = list(points[::step])
    return kept if kept[-1] == points[-1] else [*kept, points[-1]]


def curve(points: Sequence[CurvePoint], *, target: float, records: int) -> Markup:
    """The picture; empty where nothing was read.

    The bound, in percent, and the records found have a panel each: on one, any number of finds would seem to reach the
    target. Colours come from the style sheet by class.
    """
    shown = thinned(points)
    if not shown or not shown[-1].read:
        return Markup("")
    across, found = max(shown[-1].read, 1), max(shown[-1].found, 1)
    width = WIDTH - LEFT - RIGHT

    def x(read: float) -> float:
        return round(LEFT + width * read / across, 1)

    def y(share: float) -> float:
        return round(TOP + BOUND_HEIGHT * (1 - share), 1)

    def y_found(count: float) -> float:
        return round(HEIGHT - BOTTOM - FOUND_HEIGHT * count / found, 1)

    parts = [_axes(across, found, x, y, y_found)]
    parts.append(_line("target", [(LEFT, y(target)), (WIDTH - RIGHT, y(target))]))
    parts.append(_text(LEFT + 6, y(target) + 16, "target", "start", "target-name"))
    parts.append(_line("found", _stairs([(x(p.read), y_found(p.found)) for p in shown])))
    for run in _runs(shown):
        parts.append(_line("bound", _stairs([(x(p.read), y(p.recall or 0.0)) for p in run])))
    last = shown[-1]
    bound = "no estimate" if last.recall is None else views.bound(last.recall)
    title = (
        f"After {number(last.read)} of {number(records)} records, {number(last.found)} relevant ones were found; "
        f"lower bound on recall: {bound}."
    )
    body = Markup("").join(parts)
    return Markup('<svg class="curve" viewBox="0 0 {} {}" role="img" aria-label="{}"><title>{}</title>{}</svg>').format(
        WIDTH, HEIGHT, title, title, body
    )


def _axes(across: int, found: int, x: Place, y: Place, y_found: Place) -> Markup:
    parts = []
    for share in (0, 0.25, 0.5, 0.75, 1.0):
        parts.append(_line("grid", [(LEFT, y(share)), (WIDTH - RIGHT, y(share))]))
        parts.append(_text(LEFT - 8, y(share) + 5, f"{share * 100:g}\u202f%", "end"))
    for read in ticks(across):
        parts.append(_text(x(read), HEIGHT - BOTTOM + 20, number(read), "middle"))
    for count in ticks(found, 4):
        parts.append(_line("grid", [(LEFT, y_found(count)), (WIDTH - RIGHT, y_found(count))]))
        parts.append(_text(LEFT - 8, y_found(count) + 5, number(count), "end"))
    parts.append(_text(LEFT + (WIDTH - LEFT - RIGHT) / 2, HEIGHT - 5, "records read", "middle", "axis-name"))
    return Markup("").join(parts)


def _runs(points: Sequence[CurvePoint]) -> list[list[CurvePoint]]:
    """Stretches of points that have a bound."""
    runs: list[list[CurvePoint]] = [[]]
    for point in points:
        if point.recall is None:
            runs.append([])
        else:
            runs[-1].append(point)
    return [run for run in runs if run]


def _stairs(points: Sequence[tuple[float, float]]) -> list[tuple[float, float]]:
    """A line that keeps each height until the next point: what was known then held until something was read."""
    steps = list(points[:1])
    for (_, height), (across, now) in pairwise(points):
        steps += [(across, height), (across, now)] if now != height else [(across, now)]
    return steps


def _line(kind: str, points: Sequence[tuple[float, float]]) -> Markup:
    path = " ".join(f"{across:g},{down:g}" for across, down in points)
    return Markup('<polyline class="{}" points="{}"/>').format(kind, path)


def _text(across: float, down: float, text: str, anchor: str, kind: str = "tick") -> Markup:
    return Markup('<text class="{}" x="{}" y="{}" text-anchor="{}">{}</text>').format(
        kind, f"{across:g}", f"{down:g}", anchor, text
    )
