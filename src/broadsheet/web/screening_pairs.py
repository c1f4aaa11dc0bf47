"""Records beside each other: pairs that may be the same work, and records that are known before screening."""

from __future__ import annotations

from dataclasses import dataclass

from starlette.responses import Response

from ..model.screening import PoolRecord
from .acting import Post, see
from .forms import Form
from .params import MAX_ID, ParameterError, clean, whole_number
from .screening_protocol import ScreenedLike
from .screening_visit import DONE, Visit, address, posted, visited
from .site import Page

PAIRS = 25
MOST_LINES = 50
MOST_MATCHES = 10
LONGEST_LINES = 16_000


def repeats(visit: Visit) -> Response:
    """Pairs of records that may be the same work, surest first."""
    offset = whole_number("offset", visit.request.query_params.get("offset") or "0", low=0, high=MAX_ID)
    found = visit.screening.possible_repeats(visit.name, limit=PAIRS + 1, offset=offset)
    here = visit.url("/repeats", offset=offset)
    return visit.render(
        "review_repeats.html",
        current="records",
        pairs=found[:PAIRS],
        offset=offset,
        more=visit.url("/repeats", offset=offset + PAIRS) if len(found) > PAIRS else "",
        here=here,
        note=DONE.get(visit.request.query_params.get("done", ""), ""),
    )


def same(visit: Visit, form: Form) -> Response:
    """Say that two records are the same work: the later one repeats the earlier one."""
    visit.screening.twin(visit.name, *_two(visit, form)[::-1], visit.screener)
    return see(form.back(visit.url("/repeats")))


def different(visit: Visit, form: Form) -> Response:
    """Say that two records are different works."""
    visit.screening.different(visit.name, *_two(visit, form), visit.screener)
    return see(form.back(visit.url("/repeats")))


def _two(visit: Visit, form: Form) -> tuple[int, int]:
    """The records that a form names, the earlier one first. Raises NotFoundError for one that there is not."""
    first, second = sorted((form.number("record"), form.number("other")))
    visit.have(first, second)
    return first, second


@dataclass(frozen=True, slots=True)
class Asked:
    """A line that was asked for, and the records that it names."""

    line: str
    found: list[ScreenedLike]

    @property
    def is_certain(self) -> bool:
        """Whether the line names one record alone, or several that are one work."""
        first = self.found[0] if self.found else None
        return first is not None and all(one.record.number in first.twins for one in self.found[1:])


def known(visit: Visit) -> Response:
    """What is known before screening, found by titles, DOIs and numbers."""
    text = visit.request.query_params.get("q", "")
    return visit.render(
        "review_known.html",
        current="overview",
        text=text,
        looked_up=[Asked(line, _named(visit, line)) for line in lines_of(text)],
        note=DONE.get(visit.request.query_params.get("done", ""), ""),
    )


def lines_of(text: str) -> list[str]:
    """What is asked for, a title, identifier or number in each line. Raises ParameterError where it is too much."""
    if len(text) > LONGEST_LINES:
        raise ParameterError("q", f"may have at most {LONGEST_LINES:,} characters")
    found = list(dict.fromkeys(filter(None, map(clean, text.splitlines()))))
    if len(found) > MOST_LINES:
        raise ParameterError("q", f"has {len(found)} lines; at most {MOST_LINES} can be looked up at once")
    return found


def _named(visit: Visit, line: str) -> list[ScreenedLike]:
    found: list[PoolRecord] = list(visit.screening.named(visit.name, line, limit=MOST_MATCHES))
    return [visit.record(record.number) for record in found]


PAGES: list[tuple[str, Page]] = [address("/repeats", visited(repeats)), address("/known", visited(known))]
POSTS: list[tuple[str, Post]] = [address("/same", posted(same)), address("/different", posted(different))]
