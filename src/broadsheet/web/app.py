"""The site as an ASGI application."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from datetime import datetime

from fastapi import FastAPI
from starlette.middleware.gzip import GZipMiddleware

from . import api, api_daily, api_screening, atom, pages
from .forms import MAX_POOL, BodyLimit
from .identity import is_loopback
from .problems import Problems
from .protocol import LibraryLike
from .security import Shell, allowed_names
from .site import VERSION, Site


def _local_now() -> datetime:
    return datetime.now().astimezone()


def create_app(
    library: LibraryLike,
    *,
    host: str = "127.0.0.1",
    allowed_hosts: Sequence[str] = (),
    site_url: str = "",
    max_upload: int = MAX_POOL,
    now: Callable[[], datetime] = _local_now,
) -> FastAPI:
    """The site and the API over a library.

    ``host`` is the address that the server listens on (``settings.host``): it decides which Host headers are answered,
    next to loopback names and ``allowed_hosts`` (``*`` for any), and whose paper it is: that of the library's default
    reader where only this machine can ask, else that of whoever shows a reader's secret. ``site_url`` is the setting:
    its host names the entries of feeds. ``max_upload`` is how many bytes may be
    sent at once to fill a review. ``now`` gives the date under the masthead.
    The application neither opens nor closes the library.
    """
    app = FastAPI(
        title="Broadsheet",
        version=VERSION,
        description="Search over the papers of this library, the daily paper of a reader, and systematic reviews.",
        openapi_url=None,
        docs_url=None,
        redoc_url=None,
    )
    site = Site(library, now=now, local=is_loopback(host), authority=atom.authority_of(site_url))
    app.state.site = site
    problems = Problems(site)
    problems.attach(app)
    app.include_router(api.routes(library, app, site))
    app.include_router(api_daily.routes(site))
    app.include_router(api_screening.routes(site))
    app.include_router(pages.routes(site), include_in_schema=False)
    app.add_middleware(BodyLimit, pool=max_upload)
    app.add_middleware(GZipMiddleware, minimum_size=1000)
    app.add_middleware(Shell, names=allowed_names(host, allowed_hosts), refuse=problems.refuse)
    return app
