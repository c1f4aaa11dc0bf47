"""The public API: ``open_library`` wires everything; ``Library`` is what pages, commands and programs call."""

from broadsheet.library.checks import Check
from broadsheet.library.facade import Library, open_library
from broadsheet.library.screening_views import EXPORT_FORMS, Screened, offer_token

__all__ = ["EXPORT_FORMS", "Check", "Library", "Screened", "offer_token", "open_library"]
