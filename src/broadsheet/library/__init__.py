"""The public API: ``open_library`` wires everything; ``Library`` is what pages, commands and programs call."""

from broadsheet.library.checks import Check
from broadsheet.library.facade import Library, open_library

__all__ = ["Check", "Library", "open_library"]
