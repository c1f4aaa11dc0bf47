"""Drawings as PNG, by resvg."""

from __future__ import annotations

from functools import lru_cache
from importlib import import_module
from typing import Any

from broadsheet.errors import MissingExtraError

_PROBE = '<svg xmlns="http://www.w3.org/2000/svg" width="20" height="20"><text y="16">{}</text></svg>'


def prisma_png(svg: str, zoom: float = 2.0) -> bytes:
    """An SVG drawing as PNG, ``zoom`` pixels for each of its own.

    Raises MissingExtraError where resvg is not installed, or the system has no font to write with.
    """
    try:
        resvg = import_module("resvg_py")
    except ImportError as error:
        raise MissingExtraError('PNG needs resvg: pip install "broadsheet[png]", or take the SVG') from error
    if not _has_fonts(resvg):
        raise MissingExtraError("PNG needs a font, and this system has none: install one (DejaVu), or take the SVG")
    return bytes(resvg.svg_to_bytes(svg_string=svg, zoom=zoom))


@lru_cache(maxsize=1)
def _has_fonts(resvg: Any) -> bool:
    """Without any font texts are left out in silence."""
    empty, written = (resvg.svg_to_bytes(svg_string=_PROBE.format(text)) for text in ("", "n"))
    return bool(empty != written)
