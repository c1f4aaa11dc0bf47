"""Daily Papers of Hugging Face (https://huggingface.co/papers): what people put on the list, and how it is voted.

One request a day of the list: ``/api/daily_papers?date=YYYY-MM-DD&limit=100&p=0`` (https://huggingface.co/docs/hub/api).

Two days are kept apart. ``listed`` is the day of the list as Hugging Face names it; its days are those of UTC.
``published`` is the day in UTC of ``paper.publishedAt``; the field of the same name beside ``paper`` has been seen four
hours, and so a day, too early. Votes go on for days, so each update asks for the last days again.

Not taken: ``ai_summary`` and ``ai_keywords``, which are a model's and not the authors' (``raw`` has them).
"""

from __future__ import annotations

from collections.abc import Iterator
from datetime import UTC, date, datetime, timedelta
from typing import TYPE_CHECKING, Any, ClassVar, Self
from urllib.parse import quote

from broadsheet.errors import FetchError, SettingsError
from broadsheet.identifiers import parse_identifier
from broadsheet.model import Link, LinkKind, Record, Scheme, SourceState
from broadsheet.sources.answers import answer_of, entries_of, fields_of, load_json, raw_of, read_cursor, write_cursor
from broadsheet.sources.base import Entry, Page
from broadsheet.sources.values import FieldError, authors_of, date_of, link_of, text_of

if TYPE_CHECKING:
    from broadsheet.net import Client
    from broadsheet.sources.catalogue import Options

_ADDRESS = "https://huggingface.co/api/daily_papers"
_FIRST_DAYS = 7
_OVERLAP_DAYS = 3
_PAGE_SIZE = 100  # the most that the service gives
_MOST_PAGES = 20
_SATURDAY = 5


class HuggingFace:
    """The list, day by day. The cursor is the last day that was over when it was read."""

    kind: ClassVar[str] = "huggingface"
    usage: ClassVar[str] = "huggingface (the Daily Papers of huggingface.co)"

    def __init__(self) -> None:
        self.name = self.kind
        self.every = timedelta(hours=3)

    @classmethod
    def of(cls, rest: str, options: Options | None = None) -> Self:
        """The list has no parts."""
        if rest:
            raise SettingsError(f"source huggingface:{rest}: write huggingface, with nothing after it")
        return cls()

    def fetch(self, client: Client, cursor: str, now: datetime) -> Iterator[Page]:
        """Every day since the last one, and three days before it for their votes. ``now`` has a time zone."""
        today = now.astimezone(UTC).date()
        done = _day_of(cursor)
        first = min(done + timedelta(days=1), today) - timedelta(days=_OVERLAP_DAYS) if done else None
        day = first or today - timedelta(days=_FIRST_DAYS - 1)
        while day <= today:
            after = done if day == today else max(done or day, day)
            yield from self._day(client, day, today, before=done, after=after)
            done = after
            day += timedelta(days=1)

    def _day(
        self, client: Client, day: date, today: date, *, before: date | None, after: date | None
    ) -> Iterator[Page]:
        seen: set[str] = set()
        for number in range(_MOST_PAGES):
            params = {"date": day.isoformat(), "limit": str(_PAGE_SIZE), "p": str(number)}
            try:
                response = client.get(_ADDRESS, params=params)
            except FetchError as error:
                if day < today or error.status not in (400, 404):
                    raise
                # Before the list of a day is out, the service calls the day an error.
                yield Page(_ADDRESS, b"", _cursor(after), _quiet(day, today), SourceState.QUIET, day=day)
                return
            ids = _ids(answer_of(response))
            new = [i for i in ids if i not in seen]
            seen.update(new)
            ended = len(ids) < _PAGE_SIZE
            if not ids and not number:
                yield Page(response.url, b"", _cursor(after), _quiet(day, today), SourceState.QUIET, day=day)
            elif new or not number:
                yield Page(response.url, response.body, _cursor(after if ended else before), newest=max(ids), day=day)
            if ended:
                return
            if not new:
                break
        remark = f"{day}: incomplete after {len(seen)} papers, the same page came again"
        yield Page(_ADDRESS, b"", _cursor(before), remark, SourceState.INCOMPLETE, day=day)

    def parse(self, page: Page) -> Iterator[Entry]:
        """A record for each paper of the list."""
        if not page.body:
            return
        items = _items(load_json(page.body, page.url))
        yield from entries_of(page.url, items, lambda item: _record(fields_of(item), page.day))


def _cursor(day: date | None) -> str:
    return write_cursor({"day": day.isoformat()}) if day else ""


def _day_of(cursor: str) -> date | None:
    return date_of(read_cursor(cursor).get("day"), "day", whole=True)


def _items(answer: Any) -> list[Any]:
    items = answer.get("papers") if isinstance(answer, dict) else answer
    return items if isinstance(items, list) else []


def _ids(answer: Any) -> list[str]:
    papers = [item.get("paper") for item in _items(answer) if isinstance(item, dict)]
    return [str(paper.get("id", "")) for paper in papers if isinstance(paper, dict)]


def _quiet(day: date, today: date) -> str:
    if day.weekday() >= _SATURDAY:
        return f"{day}: no papers were listed, a weekend"
    return f"{day}: the list of today is not out yet" if day == today else f"{day}: no papers were listed"


def _record(item: dict[str, Any], day: date | None) -> Record:
    given = item.get("paper")
    paper: dict[str, Any] = given if isinstance(given, dict) else {}
    key = text_of(paper.get("id"), "paper.id")
    title = text_of(paper.get("title") or item.get("title"), "title")
    if not key or not title:
        raise FieldError(f"{'title' if key else 'paper.id'}: missing")
    parsed = parse_identifier(key)
    arxiv = parsed[0] if parsed and parsed[0].scheme is Scheme.ARXIV else None
    submitter = _submitter(item) or _submitter(paper)
    return Record(
        source=HuggingFace.kind,
        key=arxiv.value if arxiv else key,
        raw=raw_of(item),
        title=title,
        abstract=text_of(paper.get("summary") or item.get("summary"), "summary"),
        authors=authors_of(paper.get("authors"))[0],
        identifiers=(arxiv,) if arxiv else (),
        published=date_of(paper.get("publishedAt"), "publishedAt"),
        listed=day or date_of(paper.get("submittedOnDailyAt"), "submittedOnDailyAt"),
        links=(Link(LinkKind.PAGE, f"https://huggingface.co/papers/{quote(key)}"), *_links(paper)),
        counts=tuple(_counts(item, paper)),
        details=(("submitter", submitter),) if submitter else (),
    )


def _links(paper: dict[str, Any]) -> Iterator[Link]:
    for name, kind in (("githubRepo", "github"), ("projectPage", "project")):
        if link := link_of(kind, text_of(paper.get(name), name)):
            yield link


def _counts(item: dict[str, Any], paper: dict[str, Any]) -> Iterator[tuple[str, int]]:
    for name, value in (("comments", item.get("numComments")), ("upvotes", paper.get("upvotes"))):
        if isinstance(value, int) and not isinstance(value, bool):
            yield name, value


def _submitter(holder: dict[str, Any]) -> str:
    person = holder.get("submittedBy") or holder.get("submittedOnDailyBy")
    if not isinstance(person, dict):
        return ""
    return text_of(person.get("fullname") or person.get("name") or person.get("user"), "submittedBy")
