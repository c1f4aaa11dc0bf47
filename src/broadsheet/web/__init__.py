"""The site: server-rendered pages and a JSON API over a library. Pages parse, make a library call, and render."""

from .app import create_app
from .protocol import LibraryLike

__all__ = ["LibraryLike", "create_app"]
