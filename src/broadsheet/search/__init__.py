"""The search desk."""

from broadsheet.search.compose import Boosts
from broadsheet.search.searcher import FOR_YOU, Searcher, Tuning

__all__ = ["FOR_YOU", "Boosts", "Searcher", "Tuning"]
