"""Whenever a reader asks, and whatever fails in between: no announced paper is lost, and none is dated wrongly."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import UTC, date, datetime, timedelta
from typing import Any, cast

from hypothesis import given
from hypothesis import strategies as st

from broadsheet.errors import FetchError
from broadsheet.model import Record
from broadsheet.net import Client, Response, Validators
from broadsheet.sources.arxiv import ArxivCategory, Cursor
from broadsheet.sources.arxiv_calendar import EASTERN, is_announcement_day, missed_days
from tests.arxiv_bodies import oai, oai_record, rss, rss_item

# Juneteenth, Independence Day, weekends, and an end of a month lie in this span.
BEGIN = datetime(2026, 6, 15, 12, tzinfo=UTC)
PAPERS_A_DAY = 3
PAGE = 4


class Arxiv:
    """A small arXiv with its own clock. ``lead``: days by which the day of change lies before the mailing day."""

    def __init__(self, lead: int) -> None:
        self.now = BEGIN
        self.lead = lead
        self.fails = False
        self.tokens_expire = False

    @staticmethod
    def keys(day: date) -> list[str]:
        return [f"{day:%y%m}.{(day.day * 1000 + n):05}" for n in range(1, PAPERS_A_DAY + 1)]

    def get(
        self, url: str, *, params: Mapping[str, str] | None = None, validators: Validators | None = None
    ) -> Response:
        if self.fails:
            raise FetchError("down", url=url, status=503)
        return self._oai(url, params) if params else self._feed(url, validators)

    def _feed(self, url: str, validators: Validators | None) -> Response:
        day = self.now.astimezone(EASTERN).date()
        etag = f'"{day}"'
        if validators and validators.etag == etag:
            return Response(url, 304, {}, b"", True)
        written = f"{day:%a, %d %b %Y} 00:00:00 -0400"
        keys = self.keys(day) if is_announcement_day(day) else []
        body = rss(*(rss_item(key, day=written) for key in keys), day=written)
        return Response(url, 200, {"etag": etag}, body.encode())

    def _oai(self, url: str, params: Mapping[str, str]) -> Response:
        token = params.get("resumptionToken", "")
        if token and self.tokens_expire:
            self.tokens_expire = False
            return Response(url, 200, {}, oai(error=("badResumptionToken", "expired")).encode())
        since, until, skip = token.split("/") if token else (params["from"], params["until"], "0")
        today = self.now.astimezone(EASTERN).date()
        records = []
        for day in missed_days(BEGIN.date() - timedelta(days=9), today + timedelta(days=1)):
            stamp = f"{day - timedelta(days=self.lead)}"
            if since <= stamp <= until:
                records += [oai_record(key, stamp=stamp) for key in self.keys(day)]
        if not records:
            return Response(url, 200, {}, oai(error=("noRecordsMatch", "")).encode())
        end = int(skip) + PAGE
        left = f"{since}/{until}/{end}" if end < len(records) else None
        return Response(url, 200, {}, oai(*records[int(skip) : end], token=left).encode())


STEPS = st.lists(
    st.fixed_dictionaries(
        {
            "hours": st.integers(1, 150),
            "fails": st.booleans(),
            "stop": st.sampled_from([None, None, 1, 2]),
            "expired": st.booleans(),
        }
    ),
    max_size=8,
)


@given(STEPS, st.integers(0, 1))
def test_no_paper_is_lost(steps: list[dict[str, Any]], lead: int) -> None:
    arxiv, source, cursor = Arxiv(lead), ArxivCategory("cs.LG"), ""
    met: dict[str, Record] = {}
    begun: date | None = None
    for step in [*steps, {"hours": 30}, {"hours": 1}]:
        arxiv.now += timedelta(hours=step["hours"])
        arxiv.fails, arxiv.tokens_expire = step.get("fails", False), step.get("expired", False)
        try:
            for count, page in enumerate(source.fetch(cast(Client, arxiv), cursor, arxiv.now), 1):
                for entry in source.parse(page):
                    assert isinstance(entry, Record)
                    met[entry.key] = entry
                    if entry.listed:
                        assert entry.key in arxiv.keys(entry.listed)
                cursor = page.cursor
                begun = begun or arxiv.now.astimezone(EASTERN).date()
                if count == step.get("stop"):
                    break
        except FetchError:
            assert arxiv.fails
    assert begun is not None
    today = arxiv.now.astimezone(EASTERN).date()
    wanted = [
        key for day in missed_days(begun - timedelta(days=1), today + timedelta(days=1)) for key in arxiv.keys(day)
    ]
    assert [key for key in wanted if key not in met] == []
    assert Cursor.read(cursor).window is None
