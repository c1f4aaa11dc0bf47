"""The search desk."""

from broadsheet.search.compose import Boosts
from broadsheet.search.searcher import Searcher, Tuning

__all__ = ["Boosts", "Searcher", "Tuning"]
