"""Discoveries: what ``learn.explore`` draws of the papers that no other section printed."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from broadsheet.feed.compose import Draw, Drawn
from broadsheet.feed.desk import Ranking
from broadsheet.feed.features import Features
from broadsheet.learn.explore import draw, explorer_scores


def drawing(ranking: Ranking, features: Features, cap: float, seed: int, *, risk: float) -> Draw:
    """The draw for one edition. The explorer goes by the notice that a paper is expected to get."""
    worth = explorer_scores(len(ranking.papers), features.notice(ranking.papers))

    def drawn(free: Sequence[int], wanted: int) -> list[Drawn]:
        rows = np.asarray(free, np.intp)
        picks = draw(ranking.scores[rows], worth[rows], wanted, cap, seed, risk=risk)
        return [Drawn(int(rows[pick.index]), pick.propensity, pick.explored) for pick in picks]

    return drawn
