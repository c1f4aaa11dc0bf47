"""Static files under names that hold a hash of their content, so that browsers may keep them for ever."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass
from pathlib import Path

STATIC = Path(__file__).parent / "static"
MEDIA_TYPES = {
    ".css": "text/css; charset=utf-8",
    ".js": "text/javascript; charset=utf-8",
    ".svg": "image/svg+xml",
    ".woff2": "font/woff2",
}


@dataclass(frozen=True, slots=True)
class Asset:
    """A static file: ``url`` changes whenever ``body`` does."""

    url: str
    media_type: str
    body: bytes


class Assets:
    """All static files, read once. Where a style sheet says ``url("x.woff2")``, the file's hashed address is put in."""

    def __init__(self, folder: Path = STATIC) -> None:
        self._by_name: dict[str, Asset] = {}
        self._by_hashed: dict[str, Asset] = {}
        paths = [path for path in sorted(folder.iterdir()) if path.suffix in MEDIA_TYPES]
        for path in sorted(paths, key=lambda path: path.suffix == ".css"):  # what they name comes first
            body = path.read_bytes()
            if path.suffix == ".css":
                for name, asset in self._by_name.items():
                    body = body.replace(f'url("{name}")'.encode(), f'url("{asset.url}")'.encode())
            hashed = f"{path.stem}.{hashlib.sha256(body).hexdigest()[:12]}{path.suffix}"
            asset = Asset(f"/static/{hashed}", MEDIA_TYPES[path.suffix], body)
            self._by_name[path.name] = self._by_hashed[hashed] = asset

    def url(self, name: str) -> str:
        """The address of a file; raises KeyError for an unknown name."""
        return self._by_name[name].url

    def named(self, name: str) -> Asset:
        """A file by its plain name; raises KeyError."""
        return self._by_name[name]

    def hashed(self, name: str) -> Asset | None:
        """A file by its hashed name, if that is the present one."""
        return self._by_hashed.get(name)
