"""A reader of one category of arXiv, days in August 2026, and what the services answer on them."""

from __future__ import annotations

from datetime import UTC, date, datetime, timedelta
from zoneinfo import ZoneInfo

from broadsheet.model import Record
from broadsheet.sources.arxiv import ArxivCategory
from broadsheet.sources.base import Page
from tests.arxiv_bodies import rss, rss_item
from tests.fakeweb import Answer, FakeWeb

RSS = ("rss.arxiv.org", "/rss/cs.LG")
OAI = ("oaipmh.arxiv.org", "/oai")
LIST = ("arxiv.org", "/list/cs.LG/new")
DAYS = {  # August 2026
    "Wed": "Wed, 12 Aug 2026 00:00:00 -0400",
    "Thu": "Thu, 13 Aug 2026 00:00:00 -0400",
    "Fri": "Fri, 14 Aug 2026 00:00:00 -0400",
    "Sat": "Sat, 15 Aug 2026 00:00:00 -0400",
    "Mon": "Mon, 17 Aug 2026 00:00:00 -0400",
}
WEDNESDAY, THURSDAY, FRIDAY, SATURDAY, SUNDAY, MONDAY = (date(2026, 8, 12) + timedelta(days=n) for n in range(6))


def eastern(day: date, hour: int = 9, minute: int = 0) -> datetime:
    return datetime(day.year, day.month, day.day, hour, minute, tzinfo=ZoneInfo("America/New_York")).astimezone(UTC)


def feed(day: str, *keys: str, etag: str = "") -> Answer:
    """The feed of a day with these papers."""
    body = rss(*(rss_item(key, day=DAYS[day]) for key in keys), day=DAYS[day])
    return Answer(body, headers={"ETag": etag} if etag else {})


class Reader:
    """What the update does: it keeps the cursor of each page and the records."""

    def __init__(self, web: FakeWeb, source: ArxivCategory | None = None) -> None:
        self.web = web
        self.source = source or ArxivCategory("cs.LG")
        self.cursor = ""
        self.records: list[Record] = []

    def ask(self, now: datetime, *, again: bool = False, stop_after: int | None = None) -> list[Page]:
        fetch = self.source.fetch_again if again else self.source.fetch
        pages = []
        for page in fetch(self.web.client(), self.cursor, now):
            pages.append(page)
            self.records.extend(entry for entry in self.source.parse(page) if isinstance(entry, Record))
            self.cursor = page.cursor
            if len(pages) == stop_after:
                break
        return pages

    @property
    def keys(self) -> list[str]:
        return [record.key for record in self.records]
