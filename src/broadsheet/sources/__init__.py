"""Readers of files: bytes in, records and refusals out."""

from __future__ import annotations

from broadsheet.sources.base import Entry, Item
from broadsheet.sources.detect import read_file, read_stream, read_text

__all__ = ["Entry", "Item", "read_file", "read_stream", "read_text"]
