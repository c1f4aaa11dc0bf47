"""What all pages share: library, templates, static files, clock, and who is reading."""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Callable
from datetime import date, datetime
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from types import CodeType
from typing import Any

from jinja2 import BytecodeCache, Environment, FileSystemLoader, StrictUndefined
from jinja2.bccache import Bucket
from starlette.requests import Request
from starlette.responses import HTMLResponse, Response

from ..errors import BusyError
from ..identifiers import url_of
from ..model import SourceStatus, Status
from ..model.reading import Reader
from . import atom, daily_views, facts, identity, params, screening_views, standing, views
from .assets import Assets
from .protocol import LibraryLike

TEMPLATES = Path(__file__).parent / "templates"
STATUS_SECONDS = 5.0  # how old the figures at the foot of a page may be
AREAS_SECONDS = 300.0
AREA_PAPERS = 1_000  # newest papers whose areas are offered to a new reader
PRIVATE = {"cache-control": "private, no-cache", "vary": "cookie, authorization"}


def _version() -> str:
    try:
        return version("broadsheet")
    except PackageNotFoundError:  # run from a source tree that was never installed
        return "0+source"


VERSION = _version()


class _Compiled(BytecodeCache):
    """Compiles each template once in a process, however many sites it makes; a changed one is compiled again."""

    def __init__(self) -> None:
        self._code: dict[tuple[str, str], CodeType | None] = {}

    def load_bytecode(self, bucket: Bucket) -> None:
        bucket.code = self._code.get((bucket.key, bucket.checksum))

    def dump_bytecode(self, bucket: Bucket) -> None:
        self._code[bucket.key, bucket.checksum] = bucket.code


_COMPILED = _Compiled()


class Site:
    """What all pages share. ``local`` says whether only this machine can ask: then nobody need say who is reading.

    ``authority`` is the name by which feeds call their entries, whatever name the site is asked by.
    """

    def __init__(
        self, library: LibraryLike, *, now: Callable[[], datetime], local: bool = True, authority: str = atom.OURS
    ) -> None:
        self.library = library
        self.assets = Assets()
        self.now = now
        self.local = local
        self.authority = authority
        self._status: tuple[float, Status] | None = None
        self._sources: tuple[float, list[SourceStatus]] | None = None
        self._areas: tuple[float, list[tuple[str, int]]] | None = None
        self._templates = Environment(
            loader=FileSystemLoader(TEMPLATES),
            autoescape=True,
            undefined=StrictUndefined,
            trim_blocks=True,
            lstrip_blocks=True,
            bytecode_cache=_COMPILED,
        )
        self._templates.filters.update(views.FILTERS | facts.FILTERS | daily_views.FILTERS | screening_views.FILTERS)
        self._templates.globals.update(views.GLOBALS | daily_views.GLOBALS | screening_views.GLOBALS)
        self._templates.filters["local_day"] = self._local_day
        self._templates.globals.update(asset=self.assets.url, version=VERSION, url_of=url_of)

    def status(self) -> Status:
        """The library's figures, at most ``STATUS_SECONDS`` old: every page shows them and they cost counting."""
        clock = time.monotonic()
        if self._status is None or clock - self._status[0] > STATUS_SECONDS:
            self._status = (clock, self.library.status())
        return self._status[1]

    def standings(self) -> list[standing.Standing]:
        """How the configured sources stand, as told at most ``STATUS_SECONDS`` ago."""
        clock = time.monotonic()
        if self._sources is None or clock - self._sources[0] > STATUS_SECONDS:
            self._sources = (clock, list(self.library.sources()))
        return standing.standings(self._sources[1], self.now())

    def areas(self) -> list[tuple[str, int]]:
        """Areas of the newest papers, most papers first, with their numbers."""
        clock = time.monotonic()
        if self._areas is None or clock - self._areas[0] > AREAS_SECONDS:
            papers = self.library.newest(limit=AREA_PAPERS)
            counted = Counter(str(area) for paper in papers for area in paper.areas)
            self._areas = (clock, sorted(counted.items(), key=lambda found: (-found[1], found[0])))
        return self._areas[1]

    def reader(self, request: Request) -> Reader | None:
        """Who is reading; None where nobody says so and others than this machine can ask."""
        try:
            return identity.reader_of(request, self.library.daily, local=self.local)
        except BusyError:  # nobody was made yet, while a first import goes on: the papers can be read all the same
            return None

    def known(self, request: Request) -> Reader:
        """Who is reading, for what only a reader can ask for. Raises NobodyError, BusyError."""
        reader = identity.reader_of(request, self.library.daily, local=self.local)
        if reader is None:
            raise identity.NobodyError
        return reader

    def text(self, template: str, **values: Any) -> str:
        """A rendered template."""
        return self._templates.get_template(template).render(**values)

    def render(self, template: str, *, status: int = 200, reader: Reader | None = None, **values: Any) -> Response:
        """A page. ``foot`` is the library's status, None where it is not known (an error page asks nothing)."""
        values.setdefault("foot", None)
        values.setdefault("asked", params.SearchRequest(""))
        body = self.text(template, today=self.now().date(), reader=reader, **values)
        headers = dict(PRIVATE) if reader else {"cache-control": "no-cache"}
        if "<math" in body:  # the font of formulas would else be asked for late, and the lines would move
            headers["link"] = f"<{self.assets.url('broadsheet-math.woff2')}>; rel=preload; as=font; crossorigin"
        return HTMLResponse(body, status_code=status, headers=headers)

    def _local_day(self, moment: datetime) -> date:
        """The date of a moment where the server stands."""
        return moment.astimezone(self.now().tzinfo).date()

    def date(self) -> date:
        """Today's date, where the server stands."""
        return self.now().date()


Page = Callable[[Site, Request], Response]
