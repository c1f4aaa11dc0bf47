"""The screening desk: what a review's records and events amount to, what to read next, when to stop, and what to print.

``fold`` and ``state`` take the events, ``trail`` makes of them what the stopping rules look at, ``offers`` chooses what
is read next, ``trainer`` learns in the background, ``reports`` says where things stand, ``agreement``, ``prisma`` and
``svg`` are for the report of a review, ``journal`` writes a whole review and replays it, ``simulate`` tries a plan on
labelled records. All decisions are functions of records, events, a clock and a seed.
"""

from __future__ import annotations

from broadsheet.screen.desk import Desk
from broadsheet.screen.fold import added
from broadsheet.screen.journal import export_lines, read_lines
from broadsheet.screen.png import prisma_png
from broadsheet.screen.replay import replay
from broadsheet.screen.rules import NOT_RETRIEVED, check_event, check_plan
from broadsheet.screen.simulate import Labelled, Run, Simulation, Stop, simulate
from broadsheet.screen.state import State
from broadsheet.screen.svg import prisma_svg

__all__ = [
    "NOT_RETRIEVED",
    "Desk",
    "Labelled",
    "Run",
    "Simulation",
    "State",
    "Stop",
    "added",
    "check_event",
    "check_plan",
    "export_lines",
    "prisma_png",
    "prisma_svg",
    "read_lines",
    "replay",
    "simulate",
]
